"""Why an agent is where she is."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pandas as pd
import pytest

import coterie
from coterie import InputError, Log, Result, StableLearner, explain
from coterie.cli.result_text import card
from coterie.game.rules import Rules
from coterie.learn.explanation import Explanation, Room
from coterie.learn.summary import people_rows, shown_value
from coterie.learn.worth import worth
from coterie.report import report_html
from coterie.report.knowledge import Knowledge
from coterie.simulate import Simulation
from coterie.words import signed


@pytest.fixture(scope="module", params=["semi-bandit", "bandit"])
def learnt(request, tmp_path_factory):
    source = Simulation.draw(4, 3, np.random.default_rng(8), actions_per_agent=4)
    folder = tmp_path_factory.mktemp("explain") / "log"
    source.write_log(folder, 800, feedback=request.param)
    return source.game, StableLearner().fit(folder)


def deviations(game, learner, i):
    """Yield every set that an agent could choose instead."""
    own = set(learner.strategy_.actions[game.agents[i]])
    for row in game.actions.spaces[i].enumerate():
        to = [name for name, inside in zip(game.coalitions, row, strict=True) if inside]
        if set(to) != own:
            yield to


@pytest.mark.parametrize("value", ["total", "average"])
@pytest.mark.parametrize(("feedback", "rounds"), [("semi-bandit", 12), ("semi-bandit", 60), ("bandit", 12)])
def test_one_estimate_everywhere(tmp_path, feedback, rounds, value):
    """What people get adds up to what is expected of the teams, never leaves the scale, and certify says the same."""
    source = Simulation.draw(9, 3, np.random.default_rng(5), actions_per_agent=7)
    source.write_log(tmp_path / "log", rounds, feedback=feedback)
    learner = StableLearner(rules={"team_size": "3", "per_person": 1}, value=value).fit(tmp_path / "log")
    result = learner.result_
    values = dict(zip(learner.game_.agents, learner.game_.values(result.strategy), strict=True))
    assert result.estimate.utility == pytest.approx(values)
    assert np.mean(list(values.values())) == pytest.approx(result.options[0].expected_value)
    low, high = learner.statistics_.setting.fixed_range
    partners = 1 if value == "average" else 2
    assert all(partners * low - 1e-9 <= one <= partners * high + 1e-9 for one in values.values())
    for agent in learner.game_.agents:
        assert learner.explain(agent).value == pytest.approx(values[agent])
    again = coterie.certify(tmp_path / "log", result)  # by more samples than learn it chooses what is independent
    assert again.estimate.utility == pytest.approx(values)
    each = worth(tmp_path / "log", result.strategy, value=value).people
    assert {agent: one.expected for agent, one in each.items()} == pytest.approx(values)
    known = Knowledge.of(result, learner.statistics_)
    game = known.evidence.unknowns.game(known.expected, learner.statistics_.setting.actions, *known.evidence.names)
    assert game.valued(value).values(result.strategy) == pytest.approx(list(values.values()))


def test_what_is_expected_is_within_what_is_sure():
    """A pair unlike all others is drawn towards them, and not beyond its interval."""
    rng, rows = np.random.default_rng(0), []
    for sample in range(1000):
        for t, pair in enumerate(np.sort(rng.permutation(16).reshape(8, 2), axis=1).tolist()):
            value = 0.95 if pair == [0, 1] else 0.98 * rng.choice([-1, 1])
            rows.append((sample, t + 1, *(f"P{i}" for i in pair), value))
    frame = pd.DataFrame(rows, columns=["sample", "coalition", "agent", "partner", "utility"])
    log = Log.from_frames(
        pairs=frame.astype({"sample": str, "coalition": str}), utility_range=(-1, 1), pool_coalitions=True
    )
    result = StableLearner(rules={"team_size": "2"}, noise="pairs", time_limit=2).fit(log).result_
    for agent, one in result.explanations.items():
        assert all(room.lower <= room.value <= room.upper for room in one.rooms)
        assert one.least <= one.alternative.estimated_gain <= one.alternative.bound
        assert result.estimate.utility[agent] == one.value


@pytest.mark.slow
def test_rooms_add_up_and_their_intervals_hold(learnt, tmp_path):
    game, learner = learnt
    true = game.room_values(learner.strategy_)
    for i, agent in enumerate(game.agents):
        found = learner.explain(agent)
        assert found.value == pytest.approx(learner.result_.estimate.utility[agent])
        assert [room.joined for room in found.rooms] == sorted((room.joined for room in found.rooms), reverse=True)
        rooms = {room.coalition: room.value for room in found.rooms}
        gains = [sum(rooms[name] for name in to) - found.value for to in deviations(game, learner, i)]
        assert found.alternative.estimated_gain == pytest.approx(max(gains))
        for room in found.rooms:
            l = game.coalitions.index(room.coalition)
            assert room.lower - 1e-9 <= true[i, l] <= room.upper + 1e-9
            assert room.lower <= room.value <= room.upper
            present = learner.strategy_.marginals[:, l].sum() - learner.strategy_.marginals[i, l]
            if present <= 3:
                assert room.value == pytest.approx(sum(partner.value for partner in room.partners))
            assert agent not in {partner.name for partner in room.partners}
    learner.result_.save(tmp_path / "result.json")
    again = Result.load(tmp_path / "result.json")
    assert [explain(again, agent) for agent in game.agents] == [learner.explain(agent) for agent in game.agents]
    assert str(explain(str(tmp_path / "result.json"), "p1")) == str(learner.explain("p1"))


def test_interval_of_the_best_alternative(learnt):
    game, learner = learnt
    true, strategy = game.room_values(learner.strategy_), learner.strategy_
    for i, agent in enumerate(game.agents):
        lower, upper = learner.result_.to_json()["gain_intervals"][agent]
        found = learner.explain(agent)
        deviation = found.alternative.deviation
        gain = (np.isin(game.coalitions, list(deviation)) - strategy.marginals[i]) @ true[i]
        assert lower - 1e-9 <= gain <= upper + 1e-9
        assert (lower, upper) == (found.least, found.alternative.bound)
        # The intervals of the coalitions prove a lower end too, and no better one.
        ends = [
            room.lower if room.coalition in deviation else -room.upper
            for room in found.rooms
            if (room.coalition in deviation) != bool(room.joined)
        ]
        assert lower >= sum(ends) - 1e-9


def test_says_it_in_sentences(learnt):
    _, learner = learnt
    said = str(learner.explain(learner.strategy_.agents[0]))
    assert "is expected to get" in said
    assert "Their best alternative" in said
    assert "surely" in said
    assert "at least and" in said


def test_nothing_has_no_sign():
    said = str(Explanation("a", -0.0, (Room("x", 1.0, 0.0, -0.001, 0.001, ()),), None))
    assert "+0.00" not in said
    assert "-0.00" not in said
    assert "surely 0.00 to 0.00" in said


def test_how_often_pairs_were_observed(tmp_path):
    (tmp_path / "pairs.csv").write_text(
        "sample,coalition,agent,partner,utility\n" + "".join(f"{s},x,a,b,0.5\n{s},y,c,a,-0.5\n" for s in range(40))
    )
    result = StableLearner().fit(tmp_path).result_
    rooms = {room.coalition: room for room in explain(result, "a").rooms}
    assert [(partner.name, partner.observed) for partner in rooms["x"].partners if partner.name == "b"] == [("b", 40)]


def test_refuses_what_it_cannot_explain(learnt):
    _, learner = learnt
    with pytest.raises(InputError, match="agent"):
        learner.explain("nobody")
    bare = replace(learner.result_, explanations={})
    with pytest.raises(InputError, match="no explanations"):
        explain(bare, learner.strategy_.agents[0])


def test_what_was_never_seen_is_called_a_guess_everywhere(tmp_path):
    """Of a and c nothing is known; that b and d broke even is. A number that is shown is never called not known."""
    rows = [("1", "x", "a", "b", 0.5), ("1", "y", "c", "d", 0.5), ("2", "x", "b", "d", 0.5), ("3", "x", "b", "d", -0.5)]
    log = Log.from_frames(pairs=pd.DataFrame(rows, columns=["sample", "coalition", "agent", "partner", "utility"]))
    result = coterie.certify(log, {"a": ["x"], "c": ["x"], "b": ["y"], "d": ["y"]})
    guess = f"{signed(result.estimate.utility['a'])} (a guess)"
    assert [shown_value(result, agent) for agent in "ac"] == [guess] * 2
    told = str(explain(result, "a"))
    assert told.startswith(f"a is expected to get {guess[:5]}, a guess: never seen with anybody there.")
    assert "  in x: worth " in told
    assert f"{guess[:5]}, a guess: never seen with anybody there (surely" in told
    head, *rows = people_rows(result)
    known = {row[0]: row[head.index("known")] for row in rows}
    never = "a guess: never seen with anybody there"
    elsewhere = "a guess: never seen there with any of them, but with 1 elsewhere"
    assert known == {"a": never, "b": elsewhere, "c": never, "d": elsewhere}  # b and d met, but never in y
    assert f", {elsewhere}." in str(explain(result, "b"))
    page = report_html(result)
    assert page.count("a guess") >= 4
    assert "not known" not in page.partition('id="people"')[2].partition('id="evidence"')[0]
    assert "not known" not in told + result._repr_html_()
    today = {"a": ["x"], "b": ["x"], "c": ["y"], "d": ["y"]}
    moved = coterie.compare(log, today, result.strategy.actions)
    assert moved.guesses().startswith("2 of the 2 pairs in B were never seen") or "No two people" in moved.guesses()
    result = coterie.certify(log, {"a": ["y"], "c": [], "b": ["x"], "d": ["x"]})
    assert [shown_value(result, agent) for agent in "ac"] == ["0.00"] * 2
    assert not any("guess" in shown_value(result, agent) for agent in "bd")


@pytest.mark.parametrize("joint", [True, False])
def test_what_is_not_known_from_totals(joint):
    """Totals of nothing are known, of teams that never met they are not, whatever is in the middle of the range."""
    rows = [(str(t), who, room) for t in range(15) for who, room in zip("abcd", "xxyy", strict=True)]
    log = Log.from_frames(
        memberships=pd.DataFrame(rows, columns=["sample", "agent", "coalition"]),
        totals=pd.DataFrame([(t, who, 2.0) for t, who, _ in rows], columns=["sample", "agent", "utility"]),
        utility_range=(1, 5), neutral=2, symmetric=joint, actions="any",
    )  # fmt: skip
    met = coterie.certify(log, {"a": ["x"], "b": ["x"], "c": ["y"], "d": ["y"]})
    assert not any("guess" in shown_value(met, agent) for agent in "abcd")
    assert not any(met.explanations[agent].unseen for agent in "abcd")
    apart = coterie.certify(log, {"a": ["x", "y"], "c": ["x"], "b": [], "d": ["x"]})
    assert [("guess" in shown_value(apart, agent)) for agent in "abcd"] == [True, False, True, True]
    assert shown_value(apart, "b") == "0.00"
    assert "never seen" in str(explain(apart, "a"))


def test_who_met_elsewhere_was_not_never_seen_together():
    """In y, a met c; b and a met in x alone, and a and d nowhere."""
    rows = [*[(str(s), "x", "a", "b", 0.5) for s in range(3)], ("4", "y", "a", "c", 0.5), ("5", "y", "b", "d", 0.5)]
    log = Log.from_frames(pairs=pd.DataFrame(rows, columns=["sample", "coalition", "agent", "partner", "utility"]))
    result = coterie.certify(log, {agent: ["y"] for agent in "abcd"})
    partners = {one.name: one for one in explain(result, "a").rooms[0].partners}
    assert (partners["b"].observed, partners["b"].elsewhere) == (0, 3)
    assert partners["b"].unseen == "a guess: never seen together there; 3 times elsewhere"
    assert replace(partners["b"], elsewhere=0).unseen == "a guess: never seen together"
    assert replace(partners["b"], elsewhere=None).unseen == "a guess: never seen together there"
    assert partners["b"].unseen in str(explain(result, "a"))
    assert partners["b"].unseen in report_html(result)
    assert Result.from_json(result.to_json()).explanations == result.explanations


def test_nobody_in_a_room_is_dropped_silently():
    pairs = [(one, two) for one, two in combinations("abcdef", 2)]
    rows = [("1", "x", one, two, 0.5) for one, two in pairs]
    log = Log.from_frames(pairs=pd.DataFrame(rows, columns=["sample", "coalition", "agent", "partner", "utility"]))
    result = coterie.certify(log, {agent: ["x"] for agent in "abcdef"})
    (room,) = explain(result, "a").rooms
    assert (len(room.partners), room.others) == (3, 2)
    assert str(explain(result, "a")).endswith(" and 2 more")
    assert " and 2 more</td>" in report_html(result)


def test_why_somebody_cannot_move_to_a_better_place():
    """Nobody may leave x, which then had one member; y is not full, z is."""
    rows = [("1", "x", "a", "b", 0.1), ("1", "y", "c", "d", 0.9), ("2", "y", "a", "c", 0.9), ("3", "z", "e", "f", 0.1)]
    table = pd.DataFrame(rows, columns=["sample", "coalition", "agent", "partner", "utility"])
    log = Log.from_frames(pairs=table, actions="one")
    teams = {"a": ["x"], "b": ["x"], "c": ["y"], "d": ["y"], "e": ["z"], "f": ["z"]}
    result = coterie.certify(log, teams, rules=Rules(team_size={"x": "2:3", "y": "1:4", "z": ":2"}))
    told = "\n".join(card(result, "a"))
    assert "  in x, which would be smaller than 2 without them: worth" in told
    assert "not in y: worth" in told
    assert "not in z, which is full (2 of at most 2): worth" in told
    assert '(here) <span class="soft">would be smaller than 2 without them</span>' in report_html(result)
    free = coterie.certify(log, teams, rules=Rules(team_size={"x": "2:3"}, left_behind="free"))
    assert "smaller than" not in "\n".join(card(free, "a"))
