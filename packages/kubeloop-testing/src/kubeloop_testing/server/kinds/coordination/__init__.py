"""The kinds of the group coordination."""
