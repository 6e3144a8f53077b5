"""Notions of stability, values and rules of known games, against direct enumeration."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie import Game, InputError, Rules
from coterie.game.admissible import Admissible
from coterie.game.changes import changes_of_all, changes_of_the_sum, gains_of_movers
from coterie.game.steps import steps_from
from random_games import drawn_games, random_strategy

NOTIONS = ("nash", "individual", "contractual", "contractual-individual", "swap")


# --- The slow, obvious way ----------------------------------------------------------------------------


def utility(table, sets, agent, value):
    """sum over l in a_i of the sum (or average) of d_ij^l(s) over the others in C_l."""
    total = 0.0
    for l in sets[agent]:
        others = [j for j in range(len(sets)) if j != agent and l in sets[j]]
        if others:
            own = sum(table[l, agent, j, len(others) + 1] for j in others)
            total += own if value == "total" else own / len(others)
    return total


def options(game):
    return [[frozenset(np.flatnonzero(row).tolist()) for row in space.enumerate()] for space in game.actions.spaces]


def obvious_steps(game, sets, stability):
    """Yield {mover: new set} and who must consent."""
    allowed = options(game)
    for i, own in enumerate(sets):
        for new in allowed[i]:
            if new != own:
                joined, left = new - own, own - new
                consent = set()
                if stability in {"individual", "contractual-individual"}:
                    consent |= {h for h in range(len(sets)) if h != i and sets[h] & joined}
                if stability in {"contractual", "contractual-individual"}:
                    consent |= {h for h in range(len(sets)) if h != i and sets[h] & left}
                yield {i: new}, consent
    if stability != "swap":
        return
    for i, j in combinations(range(len(sets)), 2):
        only_i, only_j = sets[i] - sets[j], sets[j] - sets[i]
        gives_i = [frozenset({l}) for l in only_i] + ([frozenset()] if not sets[i] else [])
        gives_j = [frozenset({l}) for l in only_j] + ([frozenset()] if not sets[j] else [])
        pairs = {(a, b) for a in gives_i for b in gives_j if a or b}
        if (only_i or not sets[i]) and (only_j or not sets[j]) and (only_i or only_j):
            pairs.add((only_i, only_j))
        for a, b in pairs:
            new_i, new_j = (sets[i] - a) | b, (sets[j] - b) | a
            if new_i in allowed[i] and new_j in allowed[j]:
                yield {i: new_i, j: new_j}, set()


def obvious_group_steps(game, sets, stability, groups):
    """Yield {mover: new set} of people who step as one; under swap also exchanges with one other, or another group."""
    allowed, rooms = options(game), range(game.n_coalitions)

    def given(some, others):
        """What all of some have and none of the others has, as sets of one; nothing where they are nowhere."""
        own = [{l} for l in rooms if all(l in sets[i] for i in some) and not any(l in sets[j] for j in others)]
        return own + ([set()] if not any(sets[i] for i in some) else [])

    for group in groups:
        alike = len({sets[i] for i in group}) == 1
        targets = (
            [dict.fromkeys(group, new) for new in allowed[group[0]] if new != sets[group[0]]]
            if alike
            else [
                {i: (sets[i] - {l}) | new for i in group}
                for l in rooms if all(l in sets[i] for i in group)
                for new in [set(), *({m} for m in rooms if not any(m in sets[i] for i in group))]
            ]
        )  # fmt: skip
        yield from (movers for movers in targets if all(frozenset(movers[i]) in allowed[i] for i in group))
    if stability != "swap":
        return
    inside = {i for group in groups for i in group}
    units = [*groups, *((i,) for i in range(len(sets)) if i not in inside)]
    for one, two in combinations(units, 2):
        if len(one) == len(two) == 1:
            continue
        pairs = [(a, b) for a in given(one, two) for b in given(two, one) if a or b]
        if all(len({sets[i] for i in some}) == 1 for some in (one, two)):
            a, b = sets[one[0]] - sets[two[0]], sets[two[0]] - sets[one[0]]
            if (a or not sets[one[0]]) and (b or not sets[two[0]]) and (a or b):
                pairs.append((a, b))
        for a, b in pairs:
            movers = {i: (sets[i] - a) | b for i in one} | {j: (sets[j] - b) | a for j in two}
            if all(frozenset(own) in allowed[i] for i, own in movers.items()):
                yield movers


def obvious_gap(game, table, sets, stability, value, admitted=lambda *_: True, groups=()):
    before = [utility(table, sets, h, value) for h in range(len(sets))]
    worst = 0.0
    together = []
    for movers in obvious_group_steps(game, sets, stability, groups):
        joined = set().union(*(new - sets[i] for i, new in movers.items())) if stability == "individual" else set()
        together.append((movers, {h for h, own in enumerate(sets) if h not in movers and own & joined}))
    for movers, consent in (*obvious_steps(game, sets, stability), *together):
        after = [movers.get(h, own) for h, own in enumerate(sets)]
        if not admitted(sets, after):
            continue
        change = [utility(table, after, h, value) - before[h] for h in range(len(sets))]
        if all(change[h] >= -1e-9 for h in consent):
            worst = max(worst, min(change[h] for h in movers))
    return worst


def as_sets(profile):
    return [frozenset(np.flatnonzero(row).tolist()) for row in profile]


# --- Compared ------------------------------------------------------------------------------------------


@settings(max_examples=150, deadline=None)
@given(drawn_games(), st.sampled_from(NOTIONS), st.sampled_from(["total", "average"]), st.integers(0, 2**32 - 1))
def test_gap_is_that_of_enumeration(drawn, stability, value, seed):
    game = drawn.game.valued(value)
    strategy = random_strategy(np.random.default_rng(seed), game.actions, pure=True)
    strategy = game.strategy(strategy.sets)
    expected = obvious_gap(game, drawn.table, as_sets(strategy.sets), stability, value)
    assert game.gap(strategy, stability) == pytest.approx(expected, abs=1e-9)
    assert game.values(strategy) == pytest.approx(
        [utility(drawn.table, as_sets(strategy.sets), i, value) for i in range(game.n_agents)], abs=1e-9
    )


@settings(max_examples=60, deadline=None)
@given(drawn_games(max_agents=3, max_coalitions=2), st.sampled_from(NOTIONS), st.sampled_from(["total", "average"]))
def test_stable_profiles_are_those_without_a_gap(drawn, stability, value):
    game = drawn.game.valued(value)
    found = {profile.sets.tobytes() for profile in game.stable_profiles(stability)}
    for block in game.actions.joint_actions():
        for profile in block:
            gap = obvious_gap(game, drawn.table, as_sets(profile), stability, value)
            if abs(gap - 1e-9) > 1e-10:
                assert (profile.tobytes() in found) == (gap <= 1e-9)


@settings(max_examples=60, deadline=None)
@given(drawn_games())
def test_notions_are_ordered(drawn):
    game, rng = drawn.game, np.random.default_rng(0)
    strategy = game.strategy(random_strategy(rng, game.actions, pure=True).sets)
    gaps = {stability: game.gap(strategy, stability) for stability in NOTIONS}
    assert gaps["contractual-individual"] <= gaps["individual"] <= gaps["nash"] <= gaps["swap"]
    assert gaps["contractual-individual"] <= gaps["contractual"] <= gaps["nash"]


@settings(max_examples=60, deadline=None)
@given(drawn_games(), st.integers(0, 2**32 - 1))
def test_changes_by_difference_are_those_of_the_profile_after(drawn, seed):
    game = drawn.game.valued(["total", "average"][seed % 2])
    profile = random_strategy(np.random.default_rng(seed), game.actions, pure=True).sets
    steps = steps_from(profile, game.actions, "swap")
    changes, gains = changes_of_all(game.utilities, profile, steps), gains_of_movers(game.utilities, profile, steps)
    sums = changes_of_the_sum(game.utilities, profile, steps)
    assert sums == pytest.approx(changes.sum(axis=1), abs=1e-9)
    for after, movers, own, all_own in zip(steps.after(profile), steps.movers, gains, changes, strict=True):
        expected = game.values(after) - game.values(profile)
        assert all_own == pytest.approx(expected, abs=1e-9)
        assert own[movers >= 0] == pytest.approx(expected[movers[movers >= 0]], abs=1e-9)


# --- Rules ----------------------------------------------------------------------------------------------


def random_rules(rng, n, k):
    """Rules of every kind, few enough to leave something."""
    names = [str(i + 1) for i in range(n)]
    rooms = [str(l + 1) for l in range(k)]
    found = {}
    if rng.random() < 0.7:
        least, most = sorted(rng.integers(0, n + 1, 2).tolist())
        found["team_size"] = {"*": {"min": least, "max": most, "or_empty": bool(rng.integers(2))}}
    if rng.random() < 0.3:
        found["per_person"] = tuple(sorted(rng.integers(0, k + 1, 2).tolist()))
    for kind in ("together", "apart"):
        if n > 1 and rng.random() < 0.4:
            pair = rng.choice(n, 2, replace=False)
            where = {"coalition": str(rng.choice(rooms))} if rng.random() < 0.3 else {}
            found[kind] = [{"agents": [names[i] for i in pair], **where}]
    for kind in ("fix", "ban"):
        if rng.random() < 0.3:
            found[kind] = {str(rng.choice(names)): [str(rng.choice(rooms))]}
    if rng.random() < 0.4:
        found["labels"] = {name: {"site": "Paris"} for name in names if rng.random() < 0.5} or {"1": {"site": "Paris"}}
        found["quota"] = [{"label": "site", "equals": "Paris", "at_most": int(rng.integers(0, 3))}]
    if rng.random() < 0.3:
        found["left_behind"] = "free"
    return Rules(**found)


def broken(rules, sets, k):
    """By how much each rule is broken, the obvious way: name -> amount."""
    n, found = len(sets), {}
    members = [[i for i in range(n) if l in sets[i]] for l in range(k)]

    def off(count, least, most):
        return max(least - count, 0) + (max(count - most, 0) if most is not None else 0)

    for l in range(k):
        size = rules.team_size.get(str(l + 1), rules.team_size.get("*"))
        if size is not None:
            amount = off(len(members[l]), size.min, size.max)
            found["size", l] = min(amount, len(members[l])) if size.or_empty else amount
        for t, quota in enumerate(rules.quota):
            inside = [i for i in members[l] if rules.labels.get(str(i + 1), {}).get(quota.label) == quota.equals]
            found["quota", t, l] = off(len(inside), quota.at_least, quota.at_most) if members[l] else 0
    for i in range(n):
        if rules.per_person is not None:
            found["per person", i] = off(len(sets[i]), *rules.per_person)
    for kind, pairs in (("together", rules.together), ("apart", rules.apart)):
        for t, pair in enumerate(pairs):
            i, j = (int(name) - 1 for name in pair.agents)
            shared = sets[i] & sets[j]
            if pair.coalition is not None:
                shared &= {int(pair.coalition) - 1}
            found[kind, t] = int(not shared) if kind == "together" else len(shared)
    for kind, places in (("fix", rules.fix), ("ban", rules.ban)):
        for name, rooms in places.items():
            for room in rooms:
                found[kind, name, room] = int((int(room) - 1 in sets[int(name) - 1]) != (kind == "fix"))
    return found


@settings(max_examples=200, deadline=None)
@given(drawn_games(), st.sampled_from(["nash", "individual", "swap"]), st.integers(0, 2**32 - 1))
def test_gap_under_rules_is_that_of_enumeration(drawn, stability, seed):
    rng, game = np.random.default_rng(seed), drawn.game
    rules = random_rules(rng, game.n_agents, game.n_coalitions)
    k, free = game.n_coalitions, rules.left_behind == "free"
    profile = random_strategy(rng, game.actions, pure=True).sets

    def admitted(before, after):
        was, now = broken(rules, before, k), broken(rules, after, k)
        for key in was:
            fewer = key[0] == "size" and sum(key[1] in own for own in after) < sum(key[1] in own for own in before)
            if now[key] > was[key] and not (free and fewer):
                return False
        return True

    compiled = Admissible.of(rules, game.agents, game.coalitions)
    groups = compiled.groups_in(profile)
    expected = obvious_gap(game, drawn.table, as_sets(profile), stability, "total", admitted, groups)
    assert game.gap(profile, stability, rules) == pytest.approx(expected, abs=1e-9)
    assert len(compiled.violations(profile)) == 0 or any(broken(rules, as_sets(profile), k).values())
    assert compiled.holds(profile) == (not any(broken(rules, as_sets(profile), k).values()))


def two_rooms(means, **options):
    return Game(np.array(means, dtype=float), actions="one", agents=["Ada", "Bo", "Cy", "Di"], coalitions=2, **options)


def test_those_who_must_be_together_step_as_one():
    means = np.zeros((4, 4))
    means[0, 2] = means[2, 0] = 1.0  # Ada wants to be with Cy
    means[1, 2] = means[2, 1] = 0.25  # Bo less so
    game = two_rooms(means)
    teams = {"Ada": ["1"], "Bo": ["1"], "Cy": ["2"], "Di": ["2"]}
    assert game.gap(teams) == 1.25  # Cy would like both
    rules = Rules(together=["Ada,Bo"])
    worst = game.worst(teams, rules=rules)
    assert worst.gain == pytest.approx(1.25)  # Cy comes to both of them
    assert game.gap(teams, rules=Rules(together=["Ada,Bo"], fix=["Cy=2"])) == pytest.approx(0.25)
    moved = game.worst(teams, rules=Rules(together=["Ada,Bo"], fix=["Cy=2"]))
    assert moved.movers == {"Ada": ("2",), "Bo": ("2",)}
    assert moved.agent == "Bo"


def test_those_who_must_be_together_exchange_as_one():
    """At fixed sizes a pair can go nowhere but in place of another pair."""
    means = np.zeros((2, 6, 6))
    for one, two, room in ((0, 1, 1), (2, 3, 0)):  # Ada and Bo do better in 2, Cy and Di in 1
        means[room, one, two] = means[room, two, one] = 1.0
    game = Game(means, actions="one", agents=["Ada", "Bo", "Cy", "Di", "Em", "Flo"])
    teams = {"Ada": ["1"], "Bo": ["1"], "Em": ["1"], "Cy": ["2"], "Di": ["2"], "Flo": ["2"]}
    pairs = Rules(team_size=3, together=["Ada,Bo", "Cy,Di"])
    worst = game.worst(teams, "swap", pairs)
    assert worst.gain == 1.0
    assert worst.movers == {"Ada": ("2",), "Bo": ("2",), "Cy": ("1",), "Di": ("1",)}
    assert game.gap(teams, "swap", Rules(team_size=3, together=["Ada,Bo"])) == 0  # Cy and Di are two agents
    assert game.gap(teams, "nash", pairs) == 0
    one_for_two = game.worst(teams, "swap", Rules(team_size="2:4", together=["Ada,Bo"], fix=["Cy=2", "Di=2", "Em=1"]))
    assert one_for_two.gain == 0  # Flo would gain nothing by it, and may not be made to
    assert game.gap(teams, "swap", Rules(team_size="1:5", together=["Ada,Bo"])) == 1.0  # they go alone


def test_with_fixed_sizes_only_swaps_are_possible():
    means = np.zeros((4, 4))
    means[0, 1] = means[1, 0] = means[2, 3] = means[3, 2] = 1.0
    game = two_rooms(means)
    teams = {"Ada": ["1"], "Cy": ["1"], "Bo": ["2"], "Di": ["2"]}
    rules = Rules(team_size=2)
    assert game.gap(teams, "nash", rules) == 0
    worst = game.worst(teams, "swap", rules)
    assert worst.gain == 1.0
    assert len(worst.movers) == 2
    assert "movers" in worst.to_json()


def test_a_team_that_is_too_large_may_shrink_and_not_grow():
    game = two_rooms(np.ones((4, 4)) - np.eye(4))
    rules = Rules(team_size={"1": ":2"})
    everybody = {name: ["1"] for name in game.agents}
    compiled = Admissible.of(rules, game.agents, game.coalitions)
    assert compiled.violations(game.strategy(everybody).sets) == ["team size of 1: 0 to 2"]
    steps, _ = game.steps(game.strategy(everybody).sets, "nash", compiled)
    assert len(steps) == 4  # everybody may leave
    three = {**everybody, "Di": ["2"]}
    steps, _ = game.steps(game.strategy(three).sets, "nash", compiled)
    assert sorted(steps.movers.ravel().tolist()) == [0, 1, 2]  # Di may not join


def test_averages_do_not_reward_crowds():
    means = np.full((4, 4), 0.1) - 0.1 * np.eye(4)
    total, average = two_rooms(means), two_rooms(means, value="average")
    pairs = {"Ada": ["1"], "Bo": ["1"], "Cy": ["2"], "Di": ["2"]}
    assert total.gap(pairs) == pytest.approx(0.1)
    assert average.gap(pairs) == pytest.approx(0.0, abs=1e-12)
    assert average.values(pairs) == pytest.approx([0.1] * 4)
    assert average.valued("total").gap(pairs) == total.gap(pairs)


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ({"team_size": {"Finance": "2"}}, "unknown team in team_size 'Finance'"),
        ({"together": ["Ada,Zoe"]}, "unknown person in together 'Zoe'"),
        ({"fix": ["Zoe=1"]}, "unknown person in fix 'Zoe'"),
        ({"staff": ["Zoe"]}, "unknown person in staff 'Zoe'"),
        ({"quota": ["site=Paris>=1"]}, "nobody has the label 'site'"),
    ],
)
def test_names_in_rules_are_checked(rules, message):
    game = two_rooms(np.zeros((4, 4)))
    with pytest.raises(InputError, match=message):
        game.gap({name: ["1"] for name in game.agents}, rules=Rules(**rules))


def test_rules_are_about_pure_strategies():
    game = two_rooms(np.zeros((4, 4)))
    with pytest.raises(InputError, match="about pure strategies"):
        game.gap(game.uniform(), "swap")
    with pytest.raises(InputError, match="stability: expected"):
        game.gap(game.uniform(), "strong")
