"""The kinds of the group storage."""
