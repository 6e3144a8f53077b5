"""Simulated logs with known truth: utility models, exploration policies, whole logs, firms and school classes."""

from coterie.simulate.checking import check_model
from coterie.simulate.effects import Effects
from coterie.simulate.firm import FirmPlan, rated_firm
from coterie.simulate.logs import FEEDBACKS, Feedback, Simulation, draw_sets, log_of, numbered
from coterie.simulate.models import MODELS, NOISES, UtilityModel, utility_model
from coterie.simulate.policies import AROUND_PROFILE, POLICIES, Policy, exploration_policy
from coterie.simulate.records import Records
from coterie.simulate.school import ClassPlan, school_class
from coterie.simulate.writing import FORMATS

__all__ = [
    "AROUND_PROFILE",
    "ClassPlan",
    "Effects",
    "FEEDBACKS",
    "FORMATS",
    "Feedback",
    "FirmPlan",
    "MODELS",
    "NOISES",
    "POLICIES",
    "Policy",
    "Records",
    "Simulation",
    "UtilityModel",
    "check_model",
    "draw_sets",
    "exploration_policy",
    "log_of",
    "numbered",
    "rated_firm",
    "school_class",
    "utility_model",
]
