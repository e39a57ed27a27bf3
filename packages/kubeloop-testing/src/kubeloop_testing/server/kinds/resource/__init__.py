"""The kinds of the group resource."""
