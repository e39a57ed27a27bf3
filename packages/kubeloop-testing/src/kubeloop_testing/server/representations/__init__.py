"""The representations of an object: in a served version, metadata only, or as a Table."""
