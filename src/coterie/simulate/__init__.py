"""Simulated logs with known truth: utility models, exploration policies, whole logs."""
