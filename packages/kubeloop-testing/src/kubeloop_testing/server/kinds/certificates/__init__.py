"""The kinds of the group certificates."""
