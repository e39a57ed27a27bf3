"""What is kept, for how long, and who is told of changes."""
