"""What the server says of itself: discovery, OpenAPI, tables."""
