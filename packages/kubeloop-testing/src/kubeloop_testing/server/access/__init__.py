"""Authentication, authorization and admission: certificates, tokens, RBAC, reviews."""
