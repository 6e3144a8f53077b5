"""Simulated logs with known truth: utility models, exploration policies, whole logs."""

from coterie.simulate.logs import FEEDBACKS, Feedback, Simulation, draw_sets, numbered
from coterie.simulate.models import MODELS, NOISES, UtilityModel, utility_model
from coterie.simulate.policies import AROUND_PROFILE, POLICIES, Policy, exploration_policy
from coterie.simulate.writing import FORMATS

__all__ = [
    "AROUND_PROFILE",
    "FEEDBACKS",
    "FORMATS",
    "Feedback",
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
