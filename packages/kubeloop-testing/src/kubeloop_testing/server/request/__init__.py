"""Requests as values: path, query options and media types, parsed strictly."""
