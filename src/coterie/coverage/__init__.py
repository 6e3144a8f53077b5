"""Is a log enough for a profile, and what is missing? Made from statistics, or from a policy's probabilities."""

from coterie.coverage.coverage import Coverage, coverage, scarcest
from coterie.coverage.seen import Seen, seen_by, seen_in
from coterie.coverage.witnesses import Direction, PairWitness, SizeWitness, Term

__all__ = [
    "Coverage",
    "Direction",
    "PairWitness",
    "Seen",
    "SizeWitness",
    "Term",
    "coverage",
    "scarcest",
    "seen_by",
    "seen_in",
]
