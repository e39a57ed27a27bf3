"""Admission webhooks and the life of namespaces."""
