"""The kinds of the group node."""
