"""The kinds of the group apiregistration."""
