"""Built-in kinds: their defaults, their validation, their conversion between versions."""
