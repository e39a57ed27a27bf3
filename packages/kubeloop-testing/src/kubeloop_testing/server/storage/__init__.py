"""Stored objects, their versions and history, and the selections of lists and watches."""
