"""Admission webhooks, and the NamespaceLifecycle plugin."""
