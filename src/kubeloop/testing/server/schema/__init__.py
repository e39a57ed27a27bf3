"""Custom resources: definitions, structural schemas, what they validate, default and prune."""
