"""The HTTP side: listener, connections, dispatch of requests, streams."""
