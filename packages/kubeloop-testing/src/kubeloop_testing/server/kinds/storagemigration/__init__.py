"""The kinds of the group storagemigration."""
