"""Generates the models and tables of `kubeloop.wire` from the OpenAPI document.

Only names and types are taken from the documents, never descriptions.
"""
