"""What changes against today and why, against sums over pairs."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from coterie import Game, Log, Rules, StableLearner, Strategy
from coterie.learn.changes import Change, Loss, Mate, changes_from, losses_from
from coterie.learn.result import Result


def wishes(staff=None, newcomers=(), broken=()):
    """As much of wishes as is looked at."""
    admissible = SimpleNamespace(staff=staff, violations=lambda _profile: list(broken), interchangeable=False)
    return SimpleNamespace(admissible=admissible, newcomers=newcomers)


def game_of(means, value="total", actions="any"):
    means = np.array(means, dtype=float)
    means[:, np.arange(means.shape[1]), np.arange(means.shape[1])] = 0
    return Game(means, actions=actions, symmetric=False).valued(value)


def pure(game, sets):
    return Strategy.pure(np.array(sets, dtype=bool), game.agents, game.coalitions)


@pytest.mark.parametrize("value", ["total", "average"])
@pytest.mark.parametrize("actions", ["one", "any"])
def test_changes_are_sums_over_those_who_come_and_go(value, actions):
    rng = np.random.default_rng(1)
    n, k = 7, 3
    game, staff = game_of(rng.uniform(-1, 1, (k, n, n)), value, actions), np.arange(n) != 6

    def drawn():
        return np.eye(k, dtype=bool)[rng.integers(0, k, n)] if actions == "one" else rng.random((n, k)) < 0.5

    def mean(l, i, j):
        return float(game.observed.means.matrix(l)[i, j])

    def worth(profile, i):
        total = 0.0
        for l in np.flatnonzero(profile[i]):
            others = [j for j in np.flatnonzero(profile[:, l]) if j != i]
            total += sum(mean(l, i, j) for j in others) / (len(others) if value == "average" and others else 1)
        return total

    def met(profile, i):
        """Return what i gets from everybody who shares a coalition with i."""
        shared = {j: [l for l in range(k) if profile[i, l] and profile[j, l]] for j in range(n) if j != i}
        found = {game.agents[j]: [mean(l, i, j) for l in rooms] for j, rooms in shared.items() if rooms}
        return {name: np.mean(all_) for name, all_ in found.items()}

    for _ in range(20):
        now, new = drawn(), drawn() & staff[:, None]
        found = changes_from(pure(game, now), pure(game, new), game, wishes(staff))
        assert [one.agent for one in found] == [
            game.agents[i] for i in range(n) if staff[i] and (now[i] != new[i]).any()
        ]
        for one in found:
            i = game.agents.index(one.agent)
            assert one.expected == pytest.approx(worth(new, i) - worth(now, i))
            before, after = met(now, i), met(new, i)
            for mates, here, there, sign in ((one.joined, after, before, 1), (one.left, before, after, -1)):
                every = sorted((-sign * value, name) for name, value in here.items() if name not in there)
                assert [(mate.name, -sign * mate.value) for mate in mates] == [
                    (name, pytest.approx(gain)) for gain, name in every[:2] if gain < 0
                ]
        gains = {i: worth(new, i) - worth(now, i) for i in range(n) if staff[i]}
        losses = losses_from(pure(game, now), pure(game, new), game, wishes(staff))
        assert [one.agent for one in losses] == [game.agents[i] for i in gains if gains[i] < 0 and now[i].any()]
        for one in losses:
            i = game.agents.index(one.agent)
            before, after = met(now, i), met(new, i)
            gone = sorted((-value, name) for name, value in before.items() if name not in after)
            come = sorted((value, name) for name, value in after.items() if name not in before)
            assert [mate.name for mate in one.without] == [name for _, name in gone[:2]]
            assert [mate.value for mate in one.instead] == [pytest.approx(value) for value, _ in come[:2]]
            assert one.expected == pytest.approx(-gains[i])
            team = [gains[game.agents.index(name)] for name in after]
            assert one.others == pytest.approx(np.mean(team) if team else 0.0)
            assert one.everybody == pytest.approx(np.mean(list(gains.values())))
            most = max(team if one.others > 0 else gains.values())
            assert (one.most is None) == (most <= 0)
            assert one.most is None or one.most.value == pytest.approx(most)


def test_whoever_moves_along_is_no_reason():
    game = game_of(np.full((2, 4, 4), -0.2))
    now, new = [[1, 0], [1, 0], [0, 1], [0, 1]], [[0, 1], [0, 1], [1, 0], [1, 0]]
    for one in changes_from(pure(game, now), pure(game, new), game, wishes(np.ones(4, dtype=bool))):
        assert (one.joined, one.left, one.expected, one.why()) == ((), (), 0.0, "")


def test_losses_have_a_reason_only_where_there_is_one():
    means = np.zeros((2, 3, 3))
    means[0, 0, 1], means[1, 0, 2], means[1, 2, 0] = 0.5, 0.1, 2.0
    game, everybody = game_of(means), np.ones(3, dtype=bool)
    now, new = pure(game, [[1, 0], [1, 0], [0, 1]]), pure(game, [[0, 1], [1, 0], [0, 1]])
    (one,) = changes_from(now, new, game, wishes(everybody))
    assert one.why() == "with 3 (+0.10); for the others: the teams as a whole gain"
    (back,) = changes_from(new, now, game, wishes(everybody))
    assert (back.worth(), back.why()) == ("+0.40", "with 2 (+0.50)")
    (forced,) = changes_from(now, new, game, wishes(everybody, broken=["team size"]))
    assert forced.why() == "with 3 (+0.10); today's teams break a rule: team size"
    (forced,) = changes_from(now, new, game, wishes(everybody, broken=["team size", "2 and 3 apart", "1 in x"]))
    assert forced.why().endswith("today's teams break a rule: team size, and 2 more rules")
    means[1, 2, 0] = 0.0
    game = game_of(means)
    (lost,) = changes_from(now, new, game, wishes(everybody))
    assert (lost.worth(), lost.why()) == ("-0.40", "with 3 (+0.10)")  # nobody gains: no reason is made up


def test_whoever_left_and_whoever_is_new():
    means = np.zeros((2, 4, 4))
    means[0, 0, 1], means[1, 0, 3] = 0.5, 0.9
    game, staff = game_of(means), np.array([True, False, True, True])
    now, new = pure(game, [[1, 0], [1, 0], [0, 1], [0, 0]]), pure(game, [[0, 1], [0, 0], [0, 1], [0, 1]])
    first, last = changes_from(now, new, game, wishes(staff, newcomers=("4",)))
    assert (first.joined, first.why()) == ((), "")  # what somebody new is worth is not known
    assert first.worth() == "+0.40"
    assert (last.agent, last.before, last.worth(), last.why()) == ("4", (), "-", "new")


def test_reasons_in_words():
    one = Change("a", ("x",), ("y",), -0.2, (Mate("b", 0.5),), (Mate("c", -0.4), Mate("d", -0.1)), "c left")
    assert one.why() == "with b (+0.50); without c (-0.40), d (-0.10); c left"
    assert Change("a", (), ("y",), 0.0).why() == ""


def test_a_loss_in_words():
    """Whoever loses is told whom they lose and get, what it brings to whom, and what to all."""
    one = Loss("a", 0.4, (Mate("b", 0.5),), (Mate("c", -0.1),), 0.3, Mate("c", 0.9), 0.2)
    words = one.told(lambda worth: f"{worth:+.1f}", lambda gain: f"{gain:.1f}")
    assert words == (
        "a is worse off than today by 0.4: without b (+0.5), now with c (-0.1). The others in their team gain 0.3 "
        "each on average, c most (0.9); all together gain 0.2 per person."
    )
    elsewhere = replace(one, others=-0.1, without=(), instead=())
    assert elsewhere.told(str, str) == (
        "a is worse off than today by 0.4. Others gain by it, c most (0.9); all together gain 0.2 per person."
    )
    nobody = replace(one, others=-0.1, most=None, everybody=-0.3)
    assert nobody.told(str, str) == "a is worse off than today by 0.4: without b (0.5), now with c (-0.1)."
    forced = replace(one, note="today's teams break a rule: team size")
    assert forced.told(str, str).endswith("now with c (-0.1). Today's teams break a rule: team size.")


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


def test_broken_sizes_of_teams_without_names_are_told_without_a_number():
    pairs = pd.DataFrame(
        [(t, "1", a, b, 0.5) for t in range(3) for a in "abcdef" for b in "abcdef" if a < b],
        columns=["sample", "coalition", "agent", "partner", "utility"],
    ).astype({"sample": str})
    log = Log.from_frames(pairs=pairs, pool_coalitions=True, coalitions=3)
    today = {name: ["Mur" if name in "abcd" else "Porte"] for name in "abcdef"}
    result = StableLearner(rules=Rules(team_size="2"), today=today, time_limit=1).fit(log).result_
    notes = {one.note for one in (*result.today.losses, *result.today.changes)}
    assert "today's teams break a rule: team size 2" in notes
    assert not any("of team" in note for note in notes)
