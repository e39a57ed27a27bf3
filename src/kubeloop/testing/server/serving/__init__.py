"""Requests in, answers out: paths, negotiation, streams, sockets."""
