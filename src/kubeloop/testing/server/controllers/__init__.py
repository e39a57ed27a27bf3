"""What runs beside requests: garbage collection, namespaces, definitions."""
