"""From statistics to estimates of mean utilities, and how far they can be off."""
