"""Profiles that keep rules, and rules that contradict each other, against a look at every profile."""

import re
import signal
import threading
from functools import partial
from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.optimize
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie import ActionSpaces, InputError, Rules
from coterie.game.admissible import Admissible
from coterie.game.rules import TeamSize
from coterie.solve import feasible
from coterie.solve.control import Control, meanwhile
from coterie.solve.feasible import LIMIT_REACHED, OVERHEAD, Assignments, Effort, Sizes
from random_games import random_space
from random_rules import random_rules


def random_assignments(rng, often):
    n = int(rng.integers(1, 5))
    k = int(rng.integers(1, 3 if n == 4 else 4))
    spaces = (
        ActionSpaces.shared(random_space(rng, k), n)
        if rng.integers(2)
        else ActionSpaces(tuple(random_space(rng, k) for _ in range(n)))
    )
    agents, coalitions = [str(i + 1) for i in range(n)], [str(l + 1) for l in range(k)]
    today = rng.random((n, k)) < 0.4
    admissible = Admissible.of(random_rules(rng, n, k, often, moves=True), agents, coalitions, today=today)
    largest = rng.integers(0, n + 1, k) if rng.random() < 0.3 else None
    found = Assignments(admissible.spaces(spaces), admissible, agents, coalitions, largest=largest)
    return found, largest


def every_profile(n, k):
    numbers = np.arange(2 ** (n * k))
    return ((numbers[:, None] >> np.arange(n * k)) & 1).astype(bool).reshape(-1, n, k)


def kept(assignments, requirement, profile, largest):
    """Whether a profile keeps one requirement, the obvious way."""
    if requirement.rule is not None:
        return requirement.rule.excess(profile) == 0
    if requirement.agents:
        return all(assignments.spaces.spaces[i].contains(profile[[i]])[0] for i in requirement.agents)
    if requirement.is_limit:
        (l,) = [l for l, name in enumerate(assignments.coalitions) if f" in {name}, " in requirement.text]
        return profile[:, l].sum() <= largest[l]
    return assignments.admissible.moves(profile) <= assignments.admissible.max_moves


def keeps_all(assignments, profile, largest):
    fits = largest is None or (profile.sum(axis=0) <= largest).all()
    return bool(fits and assignments.spaces.contains(profile).all() and assignments.admissible.holds(profile))


@settings(max_examples=80, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_profiles_are_the_best_that_keep_all_rules(seed):
    rng = np.random.default_rng(seed)
    assignments, largest = random_assignments(rng, 0.25)
    n, k = assignments.n_agents, assignments.n_coalitions
    admitted = [profile for profile in every_profile(n, k) if keeps_all(assignments, profile, largest)]
    if not admitted:
        assert assignments.conflict() is not None
        with pytest.raises(InputError, match=r"no assignment keeps all rules(; these contradict each other)?: "):
            assignments.drawn()
        return
    assert assignments.conflict() is None
    weights = rng.standard_normal((n, k))
    found = assignments.best(weights)
    assert keeps_all(assignments, found, largest)
    assert weights[found].sum() == pytest.approx(max(weights[profile].sum() for profile in admitted))
    assert keeps_all(assignments, assignments.drawn(Control(seed)), largest)
    other = rng.random((n, k)) < 0.5
    fewest = min((profile != other).sum() for profile in admitted)
    assert (assignments.nearest(other) != other).sum() == fewest


@settings(max_examples=80, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_conflicts_are_irreducible(seed):
    rng = np.random.default_rng(seed)
    assignments, largest = random_assignments(rng, 0.6)
    profiles = every_profile(assignments.n_agents, assignments.n_coalitions)
    holds = {
        id(one): np.array([kept(assignments, one, profile, largest) for profile in profiles])
        for one in assignments.requirements
    }
    conflict = assignments.conflict()
    everything = np.array([holds[id(one)] for one in assignments.requirements]).reshape(-1, len(profiles))
    assert (conflict is None) == bool(everything.all(axis=0).any())
    if conflict is not None:
        assert conflict.is_irreducible
        blamed = [holds[id(one)] for one in conflict.requirements]
        assert not np.logical_and.reduce(blamed).any()
        for t in range(len(blamed)):
            rest = [one for s, one in enumerate(blamed) if s != t]
            assert not rest or np.logical_and.reduce(rest).any()


AGENTS, ROOMS = ("Ada", "Bo", "Cy", "Di", "Ed"), ("Finance", "Energy")


def refusal(rules, actions="one", today=None, **options):
    admissible = Admissible.of(rules, AGENTS, ROOMS, today=today)
    spaces = ActionSpaces.parse(actions, AGENTS, ROOMS)
    with pytest.raises(InputError) as problem:
        Assignments(admissible.spaces(spaces), admissible, AGENTS, ROOMS, **options).drawn()
    return str(problem.value).partition("each other: ")[2]


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        (
            {"team_size": ":2"},
            (
                "team size 0 to 2 (all teams); choices of everybody: exactly one team. "
                '5 people cannot be divided into 2 teams of 0 to 2; this would work: team_size=":3"'
            ),
        ),
        ({"fix": ["Ada=Finance"], "ban": ["Ada=Finance", "Bo=Energy"]}, "Ada is in Finance; Ada is not in Finance"),
        (
            {"together": ["Ada,Bo"], "fix": ["Ada=Finance", "Bo=Energy"]},
            "Ada and Bo together; Ada is in Finance; Bo is in Energy; choices of everybody: exactly one team",
        ),
        ({"staff": ["Ada", "Bo"], "fix": ["Cy=Energy"]}, "Cy is not on the staff; Cy is in Energy"),
        (
            {"staff": ["Ada", "Bo"], "team_size": {"Finance": 2, "Energy": 1}},
            (
                "team size of Finance: 2; team size of Energy: 1; Cy, Di and Ed are not on the staff; "
                "choices of everybody: exactly one team. 2 people cannot fill these teams, which need "
                "at least 3 members in all"
            ),
        ),
    ],
)
def test_contradictions_are_named(rules, message):
    assert refusal(Rules(**rules)) == message


SENIOR = {"label": "role", "equals": "senior"}
AT_MOST = "no assignment keeps all rules: at most 2 with role senior in each team: 3 teams have places for 6, and the"


@pytest.mark.parametrize(
    ("teams", "actions", "rules", "message"),
    [
        # Asked twice, it is needed once: sizes do not add up.
        (
            2,
            "one",
            {"quota": [SENIOR | {"at_least": 2}] * 2, "team_size": "5"},
            "no assignment keeps all rules; these contradict each other: team size 5 (all teams); choices of everybody",
        ),
        # Nobody can be in two teams and in one, whatever the quota.
        (
            3,
            "one",
            {"quota": [SENIOR | {"at_most": 2}], "per_person": (2, 2)},
            "no assignment keeps all rules; these contradict each other: teams per person: 2; choices of everybody",
        ),
        # Memberships are short of places, or places of memberships, not people.
        (
            3,
            "any",
            {"quota": [SENIOR | {"at_most": 2}], "per_person": (2, 2)},
            f"{AT_MOST} 4 such people have at least 8 memberships",
        ),
        (
            3,
            "any",
            {"quota": [SENIOR | {"at_least": 3}], "per_person": (2, 2), "team_size": "3:"},
            "each team: 3 teams would need 9, and the 4 such people have at most 8 memberships",
        ),
        (
            3,
            "any",
            {"quota": [SENIOR | {"at_least": 2}], "per_person": (1, 1), "team_size": "2:"},
            "each team: 3 teams would need 6, and there are 4 such people",
        ),
    ],
)
def test_a_quota_is_blamed_for_what_counting_shows(teams, actions, rules, message, monkeypatch):
    """No program is solved: for twelve people with a label in six teams that need three each, it took hours."""
    if "contradict" not in message:
        monkeypatch.setattr(scipy.optimize, "milp", None)
    agents, rooms = [f"p{i}" for i in range(8)], [f"t{l}" for l in range(teams)]
    labels = {name: {"role": "senior" if i < 4 else "junior"} for i, name in enumerate(agents)}
    admissible = Admissible.of(Rules(labels=labels, **rules), agents, rooms)
    with pytest.raises(InputError, match=re.escape(message)):
        Assignments(ActionSpaces.parse(actions, agents, rooms), admissible, agents, rooms).drawn()


def test_a_signal_ends_the_wait_for_a_program():
    """The solver looks up for none: only killing it ended the search."""
    released = threading.Event()

    def interrupt(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    try:
        with pytest.raises(KeyboardInterrupt):
            meanwhile(partial(released.wait, 600))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        released.set()


def test_what_fails_meanwhile_fails():
    assert meanwhile(lambda: 3) == 3
    with pytest.raises(ZeroDivisionError):
        meanwhile(lambda: 1 // 0)


def test_people_who_are_to_be_in_several_teams_are_counted_so():
    """Sixteen people can be divided into four teams of four, and were said not to."""
    agents, rooms = [f"p{i}" for i in range(16)], [f"t{l}" for l in range(4)]
    admissible = Admissible.of(Rules(team_size="4", per_person=(2, 2)), agents, rooms)
    with pytest.raises(InputError, match="16 people, each in at least 2 teams, cannot be divided into 4 teams of 4"):
        Assignments(ActionSpaces.parse("any", agents, rooms), admissible, agents, rooms).drawn()


def test_sizes_that_do_not_add_up_are_counted():
    """Forty people at tables of three: a program that tries every seating does not end."""
    agents, rooms = [f"p{i}" for i in range(40)], [f"t{l}" for l in range(14)]
    admissible = Admissible.of(Rules(team_size="0,3"), agents, rooms)
    found = Assignments(ActionSpaces.parse("one", agents, rooms), admissible, agents, rooms).conflict()
    assert found.is_irreducible
    assert found.summary == ("team size 0 or 3 (all teams)", "choices of everybody: exactly one team")


@given(st.tuples(*[st.integers(0, 9)] * 4), st.booleans(), st.booleans(), st.sets(st.integers(0, 12)))
def test_sizes_are_sets_of_numbers(ends, first_empty, second_empty, sums):
    one, two = Sizes(*ends[:2], first_empty), Sizes(*ends[2:], second_empty)
    listed = [{*range(each.least, each.most + 1), *([0] if each.or_empty else [])} for each in (one, two)]
    for sizes, numbers in ((one, listed[0]), (one & two, listed[0] & listed[1])):
        assert sizes.added_to(sum(1 << s for s in sums)) == sum(1 << s for s in {a + b for a in sums for b in numbers})


def test_other_things_that_contradict_rules():
    today = np.array([[1, 0]] * 5, dtype=bool)
    assert refusal(Rules(team_size={"Energy": "2:"}, max_moves=1), "any", today) == (
        "team size of Energy: at least 2; at most 1 person moves"
    )
    limited = refusal(Rules(), largest=np.array([3, 1]))
    assert limited == (
        "choices of everybody: exactly one team; at most 3 in Finance, the largest size seen; "
        "at most 1 in Energy, the largest size seen (any_size=True allows sizes never seen)"
    )
    own = {name: [["Finance"], ["Finance", "Energy"]] if name < "C" else "any" for name in AGENTS}
    assert refusal(Rules(ban=["Bo=Finance"]), own) == (
        "Bo is not in Finance; choices of Ada and Bo: Finance or Finance + Energy"
    )


def test_newcomers_and_leavers_do_not_move():
    today = np.zeros((5, 2), dtype=bool)
    today[[0, 1, 4], [0, 0, 1]] = True  # Cy and Di are new, Ed leaves
    rules = Rules(team_size=2, staff=AGENTS[:4], max_moves=0)
    admissible = Admissible.of(rules, AGENTS, ROOMS, today=today)
    found = Assignments(admissible.spaces(ActionSpaces.parse("one", AGENTS, ROOMS)), admissible, AGENTS, ROOMS).drawn()
    assert found.T.tolist() == [[True, True, False, False, False], [False, False, True, True, False]]


def test_the_same_seed_draws_the_same_and_others_others():
    names, rooms = [str(i) for i in range(12)], list("abc")
    admissible = Admissible.of(Rules(team_size={"*": TeamSize(3, 5)}), names, rooms)
    assignments = Assignments(ActionSpaces.parse("one", names, rooms), admissible, names, rooms)
    control = Control(5)
    drawn = [assignments.drawn(control) for _ in range(5)]
    assert len({profile.tobytes() for profile in drawn}) == 5
    assert (assignments.drawn(Control(5)) == drawn[0]).all()


def test_early_ends():
    names, rooms = [str(i) for i in range(12)], list("abc")
    admissible = Admissible.of(Rules(team_size=5), names, rooms)
    assignments = Assignments(ActionSpaces.parse("one", names, rooms), admissible, names, rooms)
    stopped = Control(0, stop=lambda: True)
    assert assignments.drawn(stopped) is None
    assert assignments.conflict(stopped) is None
    assert stopped.ended == "interrupted"


def assignments(n, k, size, *, interchangeable=False, **rules):
    agents, coalitions = tuple(f"p{i}" for i in range(n)), tuple(str(l + 1) for l in range(k))
    admissible = Admissible.of(Rules(team_size=size, **rules), agents, coalitions, interchangeable=interchangeable)
    return Assignments(ActionSpaces.parse("one", agents, coalitions), admissible, agents, coalitions)


def test_the_advice_names_sizes_that_can_be_formed():
    assert str(assignments(24, 6, 5).conflict().refusal()).endswith(
        '24 people cannot be divided into 6 teams of 5; this would work: team_size="4:5", team_size="0,5:6" or '
        'team_size="4"'
    )


ADVISED = re.compile(r'team_size="(?P<size>[^"]+)"(, coalitions=(?P<both>[0-9]+))?|coalitions=(?P<number>[0-9]+)')


@pytest.mark.parametrize("interchangeable", [False, True])
@pytest.mark.parametrize("rules", [{}, {"together": ["p0,p1", "p1,p2"], "apart": ["p0,p3"]}])
def test_whoever_follows_the_advice_about_sizes_gets_an_answer(interchangeable, rules):
    """Whatever the numbers: each of the advised options alone, in place of what was asked."""
    refused = 0
    for n, k, size in product((5, 11, 24), (1, 2, 3, 6), ("5", "4", "0,5", "6:7", "0,7:9", ":3", "9:", "2:3")):
        found = assignments(n, k, size, interchangeable=interchangeable, **rules).conflict()
        if found is None or "divided" not in found.advice:
            continue
        refused += 1
        advised = list(ADVISED.finditer(found.advice))
        assert advised or rules, (n, k, size, found.advice)  # two who are apart do not fit into one team
        for one in advised:
            number = int(one["both"] or one["number"] or k)
            assert interchangeable or number == k
            followed = assignments(n, number, one["size"] or size, interchangeable=interchangeable, **rules)
            assert followed.conflict() is None, (n, k, size, one[0])
    assert refused > 10


def test_sizes_never_seen_are_advised_only_where_they_help():
    assert "any_size" not in refusal(Rules(fix=["Ada=Finance"], ban=["Ada=Finance"]), largest=np.array([3, 1]))
    assert "any_size=True" in refusal(Rules(), largest=np.array([3, 1]))


def test_what_is_named_does_not_hang_on_the_clock(monkeypatch):
    """Neither the contradiction nor the advice: programs are given nodes, and no time."""
    asked, solved = [], scipy.optimize.milp

    def watched(*program, options, **how):
        asked.append(set(options))  # SciPy changes them
        return solved(*program, options=options, **how)

    monkeypatch.setattr(scipy.optimize, "milp", watched)
    names, places = [f"p{i}" for i in range(6)], ["c0", "c1"]
    rules = Rules(apart=[{"agents": pair} for pair in (["p0", "p1"], ["p1", "p2"], ["p0", "p2"], ["p3", "p4"])])
    assignments = Assignments(
        ActionSpaces.parse("one", names, places), Admissible.of(rules, names, places), names, places
    )
    found = assignments.conflict()
    assert found.is_irreducible
    assert [text for text in found.texts if "apart" in text] == [
        "p0 and p1 apart", "p1 and p2 apart", "p0 and p2 apart"
    ]  # fmt: skip
    assert not any("time_limit" in options for options in asked)
    limited = ["node_limit" in options for options in asked]
    assert limited == sorted(limited)  # the first is that there is a contradiction at all
    assert limited[-1]
    monkeypatch.setattr(feasible, "Effort", partial(Effort, left=OVERHEAD))
    cut = assignments.conflict()
    assert not cut.is_irreducible
    assert set(found.texts) <= set(cut.texts)
    assert assignments.conflict().texts == cut.texts


def test_effort_is_spent_on_nodes():
    def program(count, status):
        return SimpleNamespace(mip_node_count=count, status=status)

    effort, given = Effort(Control(), 100), []
    ends = iter([program(1, LIMIT_REACHED), program(5, 0), program(1, 0), program(1, LIMIT_REACHED), program(None, 2)])

    def solved(nodes):
        given.append(nodes)
        return next(ends)

    assert effort.spent_on(10, solved).status == 0  # one node, and then five of the nine that are left
    assert (given, effort.left) == ([1, 9], 40)
    assert effort.spent_on(10, solved).status == 0
    assert (given, effort.left) == ([1, 9, 1], 30)
    assert effort.spent_on(10, solved).status == 2  # it may have taken all
    assert (given, effort.left) == ([1, 9, 1, 1, 2], 0)
    assert effort.spent_on(10, solved) is None
