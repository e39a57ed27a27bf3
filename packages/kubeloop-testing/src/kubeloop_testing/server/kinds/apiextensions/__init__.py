"""The kinds of the group apiextensions."""
