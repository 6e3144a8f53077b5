"""What to recommend, and everything that a result tells about it."""
