"""What changes against today and why, against sums over pairs."""

import numpy as np
import pandas as pd
import pytest

from coterie import Game, Log, Rules, StableLearner, Strategy
from coterie.learn.changes import Change, Mate, changes_from
from coterie.learn.result import Result


@pytest.mark.parametrize("value", ["total", "average"])
@pytest.mark.parametrize("actions", ["one", "any"])
def test_changes_are_sums_over_those_who_come_and_go(value, actions):
    rng = np.random.default_rng(1)
    n, k = 7, 3
    means = rng.uniform(-1, 1, (k, n, n))
    means[:, np.arange(n), np.arange(n)] = 0
    game = Game(means, actions=actions, symmetric=False).valued(value)
    staff = np.arange(n) != 6
    draw = (
        (lambda: np.eye(k, dtype=bool)[rng.integers(0, k, n)]) if actions == "one" else lambda: rng.random((n, k)) < 0.5
    )
    for _ in range(20):
        today, new = draw(), draw() & staff[:, None]
        found = changes_from(*(Strategy.pure(one, game.agents, game.coalitions) for one in (today, new)), game, staff)
        now = today & staff[:, None]

        def worth(profile, i):
            total = 0.0
            for l in np.flatnonzero(profile[i]):
                others = [j for j in np.flatnonzero(profile[:, l]) if j != i]
                total += sum(means[l, i, j] for j in others) / (len(others) if value == "average" and others else 1)
            return total

        assert [one.agent for one in found] == [
            game.agents[i] for i in range(n) if staff[i] and (now[i] != new[i]).any()
        ]
        for one in found:
            i = game.agents.index(one.agent)
            assert one.expected == pytest.approx(worth(new, i) - worth(now, i))
            for mates, here, there, sign in ((one.joined, new, now, 1), (one.left, now, new, -1)):
                every = sorted(
                    (sign * means[l, i, j], game.agents[j])
                    for l in range(k)
                    for j in range(n)
                    if j != i and here[i, l] and here[j, l] and not (there[i, l] and there[j, l])
                )
                assert [(mate.name, sign * mate.value) for mate in mates] == [
                    (name, pytest.approx(gain)) for gain, name in every[::-1][:2] if gain > 0
                ]


def test_reasons_in_words():
    one = Change("a", ("x",), ("y",), -0.2, (Mate("b", 0.5),), (Mate("c", -0.4), Mate("d", -0.1)))
    assert one.why() == "with b (+0.50); without c (-0.40), d (-0.10); for the others: the teams as a whole gain"
    assert Change("a", (), ("y",), 0.0).why() == ""


def test_tables_without_names_keep_those_of_today(tmp_path):
    """Whoever stays with most of their table is told the number that it has today."""
    rng, people = np.random.default_rng(0), [f"p{i}" for i in range(9)]
    liked = {frozenset(people[3 * t + a] for a in pair) for t in range(3) for pair in ((0, 1), (0, 2), (1, 2))}
    rows = []
    for week in range(40):
        for table, members in enumerate(rng.permutation(people).reshape(3, 3), 1):
            rows += [(week, table, i, j, 0.9 if {i, j} in liked else -0.5) for i in members for j in members if i != j]
    log = Log.from_frames(
        pairs=pd.DataFrame(rows, columns=["sample", "coalition", "agent", "partner", "utility"]).astype(
            {"coalition": str}
        ),
        utility_range=(-1, 1), symmetric=False, pool_coalitions=True,
    )  # fmt: skip
    # The best teams are p0-p2, p3-p5 and p6-p8. Today p2 and p3 sit at each other's table.
    today = {"p0": "3", "p1": "3", "p3": "3", "p2": "1", "p4": "1", "p5": "1", "p6": "2", "p7": "2", "p8": "2"}
    learner = StableLearner(rules=Rules(team_size=3), today={who: [at] for who, at in today.items()}, random_state=0)
    found = learner.fit(log).result_
    assert found.strategy.actions == {who: [at] for who, at in (today | {"p2": "3", "p3": "1"}).items()}
    assert found.today.moves == 2
    assert [(one.agent, one.before, one.after) for one in found.today.changes] == [
        ("p2", ("1",), ("3",)),
        ("p3", ("3",), ("1",)),
    ]
    assert {mate.name for mate in found.today.changes[0].joined} == {"p0", "p1"}
    found.save(tmp_path / "result.json")
    assert Result.load(tmp_path / "result.json").today.changes == found.today.changes
