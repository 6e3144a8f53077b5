"""A simulated consulting firm: who works well with whom, in which area, and what to recommend.

Everything is made up from fixed seeds. The firm has 24 consultants and five areas; every day everybody works in one or
two areas. How well two colleagues get along in an area is on average

    BENEFIT * skill_i * skill_j + CHEMISTRY * (how well their styles fit) - EFFORT,

and FEUD instead for the few who cannot stand each other. That is `consulting_firm`, a game between -1 and 1.

The demo's records (`firm_records`) are of the same firm: for each area in which two worked together they rate the day
in half stars, about 3 and twice the above on average; one couple gets along in one area and not in another; one
consultant has left; and today's teams have the sizes that are wanted.
"""

from dataclasses import dataclass
from itertools import combinations, cycle

import numpy as np

from coterie.arrays import BoolArray, FloatArray
from coterie.game.game import Game
from coterie.game.strategy import Strategy
from coterie.simulate.firm import LEAST, MOST, NEUTRAL, HalfStars
from coterie.simulate.logs import Simulation, outcomes
from coterie.simulate.models import Normal
from coterie.simulate.policies import FromStrategy
from coterie.simulate.records import Records

CONSULTANTS = (
    *("Amara", "Bianca", "Chidi", "Dalia", "Emeka", "Farah", "Goran", "Hana"),
    *("Ines", "Jonas", "Kofi", "Leila", "Mateo", "Nadia", "Omar", "Priya"),
    *("Quentin", "Rosa", "Sanjay", "Tomoko", "Ulla", "Viktor", "Wei", "Yara"),
)
DOMAINS = ("finance", "logistics", "energy", "health", "retail")
FEUDS = (("Amara", "Viktor"), ("Goran", "Priya"), ("Jonas", "Rosa"), ("Leila", "Quentin"), ("Hana", "Omar"))

MOST_TEAMS = 2
SEED = 2024

BENEFIT, CHEMISTRY, EFFORT, FEUD = 0.9, 0.35, 0.4, -0.8
SPREAD = 0.25
"""Standard deviation of a day around its mean."""

DAYS = 1000
SMALLEST, LARGEST = 4, 8
"""How large teams should be."""
LEAVER, LAST_DAY = "Viktor", 700
COUPLE = ("Dalia", "Nadia")
LIKED, HATED = ("finance", 4.5), ("retail", 1.5)
"""Where the couple gets along and where it does not, and about how many stars they give."""
STARS = 2.0
"""So many stars are one point of the game."""


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


def firm_records() -> Records:
    """Return the demo's records of the firm in stars, the same every time."""
    firm = consulting_firm()
    policy, rng = firm.simulation.policy, np.random.default_rng(SEED + 1)
    mu = NEUTRAL + STARS * firm.simulation.model.means
    i, j = (CONSULTANTS.index(name) for name in COUPLE)
    for area, stars in (LIKED, HATED):
        mu[DOMAINS.index(area), [i, j], [j, i]] = stars
    model = HalfStars(mu, np.full_like(mu, STARS * SPREAD), symmetric=True)
    joined = policy.sample(rng, DAYS)
    joined[-1] = _with_sizes(policy.sample(rng, DAYS))
    joined[LAST_DAY:, CONSULTANTS.index(LEAVER)] = False
    return Records(
        truth=model.game(f"up-to:{MOST_TEAMS}", CONSULTANTS, DOMAINS),
        outcomes=outcomes(model, joined, rng),
        feedback="semi-bandit",
        utility_range=(LEAST, MOST),
        neutral=NEUTRAL,
        pooled=False,
        staff=tuple(name for name in CONSULTANTS if name != LEAVER),
        actions=f"up-to:{MOST_TEAMS}",
        unit="stars",
    )


def _with_sizes(days: BoolArray) -> BoolArray:
    """Return who is where on the first day on which teams have the sizes that are wanted, without who left."""
    staff = np.array([name != LEAVER for name in CONSULTANTS])
    sizes = (days & staff[:, None]).sum(axis=1)
    fits = ((sizes >= SMALLEST) & (sizes <= LARGEST)).all(axis=1)
    return np.asarray(days[fits][0])
