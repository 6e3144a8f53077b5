"""A simulated consulting firm: who works well with whom, in which domain, and what to recommend.

Everything is made up from a fixed seed. The firm has 24 consultants and five domains; every day
everybody works in one or two domains, and each pair of colleagues in a domain rates how well the
day went. The mean rating of a pair in a domain is

    BENEFIT * skill_i * skill_j + CHEMISTRY * (how well their styles fit) - EFFORT,

and FEUD instead for the few who cannot stand each other.
"""

from dataclasses import dataclass
from itertools import combinations, cycle

import numpy as np

from coterie.arrays import FloatArray
from coterie.game.game import Game
from coterie.game.strategy import Strategy
from coterie.simulate.logs import Simulation
from coterie.simulate.models import Normal
from coterie.simulate.policies import FromStrategy

CONSULTANTS = (
    *("Amara", "Bianca", "Chidi", "Dalia", "Emeka", "Farah", "Goran", "Hana"),
    *("Ines", "Jonas", "Kofi", "Leila", "Mateo", "Nadia", "Omar", "Priya"),
    *("Quentin", "Rosa", "Sanjay", "Tomoko", "Ulla", "Viktor", "Wei", "Yara"),
)
DOMAINS = ("finance", "logistics", "energy", "health", "retail")
FEUDS = (("Amara", "Viktor"), ("Goran", "Priya"), ("Jonas", "Rosa"), ("Leila", "Quentin"), ("Hana", "Omar"))

DAYS = 2000
TEAM_SIZE = "4:8"
"""How large teams should be."""
MOST_TEAMS = 2
SEED = 2024

BENEFIT, CHEMISTRY, EFFORT, FEUD = 0.9, 0.35, 0.4, -0.8
SPREAD = 0.25
"""Standard deviation of a day's rating around its mean."""


@dataclass(frozen=True, eq=False)
class Firm:
    """The firm: its true game, and the simulation of its daily records."""

    game: Game
    simulation: Simulation


def consulting_firm() -> Firm:
    """Build the firm, the same every time."""
    rng = np.random.default_rng(SEED)
    n, k = len(CONSULTANTS), len(DOMAINS)
    skill = rng.uniform(0.1, 0.5, (n, k))
    for i, strong in zip(range(n), cycle(combinations(range(k), 2))):  # two strong domains each
        skill[i, strong] = rng.uniform(0.7, 1.0, 2)
    together = skill.T[:, :, None] * skill.T[:, None, :]
    # Rounded, so that the firm does not depend on the last digits of a machine's linear algebra.
    mu = np.round(BENEFIT * together + CHEMISTRY * _chemistry(rng, n) - EFFORT, 3)
    for pair in FEUDS:
        i, j = (CONSULTANTS.index(name) for name in pair)
        mu[:, i, j] = mu[:, j, i] = FEUD
    model = Normal(mu, np.full_like(mu, SPREAD))
    game = model.game(f"up-to:{MOST_TEAMS}", CONSULTANTS, DOMAINS)
    policy = FromStrategy(_habits(game, skill))
    provenance = {"model": "consulting firm", "policy": "habits", "seed": SEED}
    return Firm(game, Simulation(model, policy, game, rng, provenance=provenance))


def _chemistry(rng: np.random.Generator, n: int) -> FloatArray:
    """Return how well working styles fit, between -1 and 1, symmetric."""
    style = rng.normal(size=(n, 3))
    style /= np.linalg.norm(style, axis=1, keepdims=True)
    fit = style @ style.T
    return np.asarray((fit + fit.T) / 2)


def _habits(game: Game, skill: FloatArray) -> Strategy:
    """Return how people were staffed so far: by skill, with everything tried now and then."""
    supports = []
    for i, space in enumerate(game.actions.spaces):
        sets = space.enumerate()
        appeal = np.exp(5 * (sets @ skill[i]) / sets.sum(axis=1))
        supports.append((sets, appeal / appeal.sum()))
    return Strategy.mixed(supports, game.agents, game.coalitions)


def todays_teams() -> Strategy:
    """Return who was where on the last of `DAYS` days, as in the records that a firm just built writes."""
    firm = consulting_firm()
    *_, last = firm.simulation.batches(DAYS)
    return Strategy.pure(last.joined[-1], firm.game.agents, firm.game.coalitions)
