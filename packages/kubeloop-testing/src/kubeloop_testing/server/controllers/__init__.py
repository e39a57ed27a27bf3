"""Controllers beside the requests: garbage collection, namespaces, CRDs."""
