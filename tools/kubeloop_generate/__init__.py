"""Writes the wire's models and tables from the API's own description.

Only names and types carry over from the documents, never their sentences.
"""
