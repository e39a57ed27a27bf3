"""Server-side apply and managedFields: who owns which field, and what follows from it."""
