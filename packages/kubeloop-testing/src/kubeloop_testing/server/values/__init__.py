"""JSON values: decoding them as Go's types do, and the field errors of invalid ones."""
