"""How stable is this profile, surely? Certificates, each with its witness."""
