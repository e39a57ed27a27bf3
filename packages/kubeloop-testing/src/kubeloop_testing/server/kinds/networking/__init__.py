"""The kinds of the group networking."""
