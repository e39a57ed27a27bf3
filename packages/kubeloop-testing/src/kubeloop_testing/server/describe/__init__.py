"""Documents about the API itself: discovery, OpenAPI, the version."""
