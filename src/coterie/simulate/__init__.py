"""Simulated logs with known truth: utility models, exploration policies, whole logs."""

from coterie.simulate.logs import Batch, Simulation, draw_sets, numbered
from coterie.simulate.models import MODELS, NOISES, UtilityModel, utility_model
from coterie.simulate.policies import POLICIES, Policy, exploration_policy

__all__ = [
    "Batch",
    "MODELS",
    "NOISES",
    "POLICIES",
    "Policy",
    "Simulation",
    "UtilityModel",
    "draw_sets",
    "exploration_policy",
    "numbered",
    "utility_model",
]
