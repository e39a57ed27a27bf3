"""Server-side apply and managedFields, as structured-merge-diff implements them."""
