"""Search for stable strategies."""
