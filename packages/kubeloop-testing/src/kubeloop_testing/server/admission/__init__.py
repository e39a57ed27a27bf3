"""Admission: plugins, one file each in `plugins`, and webhooks."""
