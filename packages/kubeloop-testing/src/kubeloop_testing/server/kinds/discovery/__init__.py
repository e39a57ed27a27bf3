"""The kinds of the group discovery."""
