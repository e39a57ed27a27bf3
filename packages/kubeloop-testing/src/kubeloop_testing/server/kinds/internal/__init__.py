"""The kinds of the group internal."""
