"""The kinds of the group rbac."""
