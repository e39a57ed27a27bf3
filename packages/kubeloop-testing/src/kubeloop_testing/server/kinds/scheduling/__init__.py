"""The kinds of the group scheduling."""
