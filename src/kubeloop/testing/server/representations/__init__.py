"""How objects are rendered: in their version, as metadata only, or as rows of a Table."""
