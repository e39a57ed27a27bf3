"""Custom resources: CRDs, structural schemas, and their pruning, defaulting and validation."""
