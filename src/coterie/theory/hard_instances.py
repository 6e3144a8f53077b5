"""The constructions themselves: each function builds one `HardInstance`."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from coterie import checks
from coterie.arrays import FloatArray
from coterie.game.game import Game
from coterie.simulate.logs import Feedback
from coterie.simulate.policies import Independent, Policy, UniformOver


@dataclass(frozen=True, eq=False)
class HardInstance:
    """One or two games, how they are explored, and what that shows."""

    name: str
    source: str
    """The statement of the paper that the instance proves, or qualifies."""
    statement: str
    games: tuple[Game, ...]
    policy: Policy
    feedback: Feedback = "semi-bandit"
    noise: float = 0.0
    """Utilities are their mean plus or minus this, with equal probability."""
    worst_case_gap: float | None = None
    """The least worst-case gap of independent agents, where the instance is about that."""
    correlated_gap: float | None = None
    """The same over all distributions of joint actions."""


def theorem_2() -> HardInstance:
    """Return the two games of Theorem 2 (App. D): one coalition size unseen costs 1/2.

    Six agents choose between two rooms. Room 2 costs everybody in company 1/2 in total. In room 1
    a companion is worth 1, but -1 in company of three (game 1), or of six (game 2); only sizes 2, 4
    and 5 of room 1 are explored.
    """
    costs = [-1 / 2, -1 / 4, -1 / 6, -1 / 8, -1 / 10]
    games = (_anonymous([[1, -1, 1, 1, 1], costs], "one"), _anonymous([[1, 1, 1, 1, -1], costs], "one"))
    return HardInstance(
        name="theorem-2",
        source="Theorem 2, App. D",
        statement="Semi-bandit feedback that misses one coalition size leaves a worst-case gap of 1/2.",
        games=games,
        policy=UniformOver.where(games[0].actions, lambda a: np.isin(a[:, :, 0].sum(axis=1), (2, 4, 5))),
        worst_case_gap=1 / 2,
        correlated_gap=10 / 119,
    )


_ONE_OR_FIRST_TWO = [["1"], ["2"], ["3"], ["1", "2"]]


def theorem_4_as_printed() -> HardInstance:
    """Return the two games of Theorem 4 as printed (App. F), which share a stable profile.

    Three agents join room 1, 2, 3, or both 1 and 2. The utilities of room 3 are printed with the
    size of room 2, evidently for that of room 3.
    """
    third = [-1 / 2, -1 / 4]
    games = (
        _anonymous([[1, 1 / 2], [1, -1], third], _ONE_OR_FIRST_TWO),
        _anonymous([[1, -1 / 4], [1, -1 / 4], third], _ONE_OR_FIRST_TWO),
    )
    both, rooms = ["1", "2"], (["1"], ["2"])
    explored = [[both, both, both]]
    for i in range(3):
        explored.append([["3"] if j == i else both for j in range(3)])
        explored += [[room if j == i else ["3"] for j in range(3)] for room in rooms]
    return HardInstance(
        name="theorem-4-as-printed",
        source="Theorem 4, App. F",
        statement="Totals cannot tell the games apart, but ({2}, {2}, {3}) is stable in both: no gap is forced.",
        games=games,
        policy=_uniform_over(games[0], explored),
        feedback="bandit",
        worst_case_gap=0.0,
        correlated_gap=0.0,
    )


def theorem_4_repaired() -> HardInstance:
    """Return two size-free games that show what Theorem 4 claims: totals do not suffice.

    Two agents, the rooms and actions of Theorem 4. They like each other in room 1 and not in room
    2, or the other way round, and never in room 3. They are seen together in rooms 1 and 2 only
    when they are in both, where the two utilities cancel.
    """
    games = tuple(_one_pair(2, means, _ONE_OR_FIRST_TWO) for means in ((1, -1, -1), (-1, 1, -1)))
    both, one, two, three = ["1", "2"], ["1"], ["2"], ["3"]
    explored = [[both, both], [one, two], [two, one], [three, three], [three, one], [one, three]]
    return HardInstance(
        name="theorem-4-repaired",
        source="Theorem 4",
        statement="Every size and pair is covered, yet bandit feedback leaves a worst-case gap of 7/16.",
        games=games,
        policy=_uniform_over(games[0], explored),
        feedback="bandit",
        worst_case_gap=7 / 16,
        correlated_gap=1 / 4,
    )


def pair_coverage() -> HardInstance:
    """Return two size-free games in which all sizes are covered, but one pair is not.

    Of four agents in two rooms only the first two matter to each other: -1/2 in room 2, and 1 or
    -1 in room 1, where they are never seen together.
    """
    games = tuple(_one_pair(4, (mean, -1 / 2), "one") for mean in (1, -1))
    return HardInstance(
        name="pair-coverage",
        source="Assumption 1, Theorem 3",
        statement="Covering all coalition sizes is not enough: a pair never seen together leaves a gap.",
        games=games,
        policy=UniformOver.where(games[0].actions, lambda a: ~(a[:, 0, 0] & a[:, 1, 0])),
        worst_case_gap=(23 - 17**0.5) / 64,
        correlated_gap=2 / 7,
    )


def size_dependence() -> HardInstance:
    """Return a game whose utilities depend on size, on which size-free estimates mislead.

    Three agents, two rooms. In room 1 company is worth 0.8 to two and -0.6 to three, on average
    0.1 under uniform exploration: estimates that ignore size send everybody there.
    """
    game = _anonymous([[0.8, -0.6], [-0.5, -0.5]], "one")
    return HardInstance(
        name="size-dependence",
        source="Eq. 8 and 9, Lemma 2",
        statement="A certificate that takes utilities as size-free is false where they are not.",
        games=(game,),
        policy=Independent(game.actions),
        noise=0.2,
    )


def no_pure_stable_profile() -> HardInstance:
    """Return a symmetric game without any pure stable profile, the smallest possible.

    Three agents, two interchangeable rooms. Agents 2 and 3 like each other alone (1) and not in
    company (-1); agents 1 and 3 like each other in company only (1). With two agents a shared
    coalition always has size 2, and with one coalition nobody has a choice.
    """
    table = np.zeros((2, 3, 3, 4))
    for i, j, size, mean in ((0, 2, 3, 1.0), (1, 2, 2, 1.0), (1, 2, 3, -1.0)):
        table[:, i, j, size] = table[:, j, i, size] = mean
    game = Game(size_table=table, actions="one")
    return HardInstance(
        name="no-pure-stable-profile",
        source="Lemma 1, App. A",
        statement="Symmetric utilities that depend on size need not admit a pure stable profile.",
        games=(game,),
        policy=Independent(game.actions),
    )


def uniform_not_stable() -> HardInstance:
    """Return two agents and two rooms, of which they like each other in the first only."""
    game = _one_pair(2, (1, 0), "one")
    return HardInstance(
        name="uniform-not-stable",
        source="Remark after eq. 1",
        statement="Choosing a single coalition uniformly is not always stable: here it has gap 1/4.",
        games=(game,),
        policy=Independent(game.actions),
    )


def mixed_effects(n_agents: int = 3) -> HardInstance:
    """Return the mean utilities of the mixed-effects experiment (App. H.1.3).

    Coalition 1 costs |C_1| / (n + 1) per partner, coalition 5 pays |C_5| / (n + 1), coalitions 2
    and 4 cost 1, coalition 3 is worth 0. (The printed bonus of coalition 5 has |C_1|, which no
    utility of a coalition by its own size can express; the claim fails there, too.)
    """
    checks.whole(n_agents, "n_agents", 2)
    share = np.arange(2, n_agents + 1) / (n_agents + 1)
    game = _anonymous(
        [-share, -1 + 0 * share, 0 * share, -1 + 0 * share, share], [["1", "2"], ["1", "3", "5"], ["4", "5"]]
    )
    return HardInstance(
        name="mixed-effects",
        source="App. H.1.3",
        statement="Everybody in {1, 3, 5} is not stable: anybody gains by moving to {4, 5}.",
        games=(game,),
        policy=Independent(game.actions),
    )


HARD_INSTANCES: dict[str, Callable[[], HardInstance]] = {
    "theorem-2": theorem_2,
    "theorem-4-as-printed": theorem_4_as_printed,
    "theorem-4-repaired": theorem_4_repaired,
    "pair-coverage": pair_coverage,
    "size-dependence": size_dependence,
    "no-pure-stable-profile": no_pure_stable_profile,
    "uniform-not-stable": uniform_not_stable,
    "mixed-effects": mixed_effects,
}
"""Name -> function that builds the instance."""


def _anonymous(by_size: Sequence[Sequence[float] | FloatArray], actions: object) -> Game:
    """Return the game in which every pair has mean by_size[l][s - 2] in a coalition l of size s."""
    k, n = len(by_size), len(by_size[0]) + 1
    shift = np.zeros((k, n + 1))
    shift[:, 2:] = by_size
    return Game(np.zeros((k, n, n)), actions, size_shift=shift)


def _one_pair(n_agents: int, means: Sequence[float], actions: object) -> Game:
    """Return the size-free game in which only the first two agents matter to each other."""
    pairs = np.zeros((len(means), n_agents, n_agents))
    pairs[:, 0, 1] = pairs[:, 1, 0] = means
    return Game(pairs, actions)


def _uniform_over(game: Game, explored: Sequence[Sequence[Sequence[str]]]) -> UniformOver:
    rows = [[[name in chosen for name in game.coalitions] for chosen in joint_action] for joint_action in explored]
    return UniformOver(np.array(rows, dtype=bool))
