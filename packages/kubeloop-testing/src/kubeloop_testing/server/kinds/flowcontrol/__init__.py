"""The kinds of the group flowcontrol."""
