"""The kinds of the group events."""
