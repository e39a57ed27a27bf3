"""The kinds of the core group."""
