"""What a client asks for: paths, options and formats of a request, read strictly."""
