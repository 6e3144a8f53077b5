"""A school class: who sat with whom, and what each pupil got out of it in total, with known truth.

What pupil i gets from pupil j at her table is normal around a mean of `coterie.simulate.effects`, the same at every
table, and clipped to [-1, 1]; what is recorded is only each pupil's sum over her table. Seats are drawn anew each time.
"""

import math
from dataclasses import dataclass

import numpy as np

from coterie import checks
from coterie.simulate.effects import Effects
from coterie.simulate.logs import numbered, outcomes, seeded
from coterie.simulate.models import Normal
from coterie.simulate.records import Records

LIKING = Effects(level=0.1, rater=0.08, rated=0.08, pair=0.2, mutual=0.5, symmetric=True)
"""How much pupils and pairs differ; the range is from -1 to 1."""


@dataclass(frozen=True)
class ClassPlan:
    """What a class is like."""

    n_agents: int = 28
    table_size: int = 4
    """Where tables cannot all be full, some have one pupil fewer."""
    terms: int = 30
    """How often seats were drawn."""
    effects: Effects = LIKING
    """With one part for each pupil and pair: tables are alike."""
    noise: float = 0.2
    """Standard deviation of what one gets from another in a term."""

    def __post_init__(self) -> None:
        for name, least in {"n_agents": 2, "table_size": 2, "terms": 1}.items():
            checks.whole(getattr(self, name), name, least)
        checks.number(self.noise, "noise", 0)

    @property
    def n_coalitions(self) -> int:
        """The number of tables."""
        return math.ceil(self.n_agents / self.table_size)


def school_class(seed: checks.Seed, plan: ClassPlan | None = None) -> Records:
    """Draw a class and its records; the same seed and plan give the same class."""
    plan, rng = plan or ClassPlan(), checks.generator(seed, "seed")
    n, k = plan.n_agents, plan.n_coalitions
    mu = np.repeat(plan.effects.draw(rng, 1, n), k, axis=0)
    model = Normal(mu, np.full_like(mu, plan.noise), symmetric=plan.effects.symmetric)
    game = model.game("one", numbered("p", n), numbered("t", k))
    table = rng.permuted(np.tile(np.arange(n) % k, (plan.terms, 1)), axis=1)
    return Records(
        truth=game,
        outcomes=outcomes(model, table[:, :, None] == np.arange(k), rng),
        feedback="bandit",
        utility_range=model.utility_range,
        neutral=0.0,
        pooled=True,
        staff=game.agents,
        unit="points",
        provenance={"model": "school class", **seeded(seed)},
    )
