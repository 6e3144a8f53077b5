"""Agents who were in too few samples are left out of the promise, by name, and nothing else changes."""

import json

import numpy as np
import pandas as pd
import pytest

import coterie
from coterie import Game, InputError, Result, StableLearner, Statistics
from coterie.certificates import evidence_from, fixed, paired
from coterie.certificates.paper import paper_from
from coterie.learn.auto import recommend
from coterie.simulate import Simulation
from coterie.simulate.growing import Reading, setting_of
from coterie.solve.control import Control
from coterie.solve.exact import enumerate_profiles, mixed_integer
from coterie.solve.mixed import mixed
from coterie.solve.objective import GapObjective, HoldoutObjective, PairedObjective
from coterie.solve.pure import pure
from coterie.solve.smooth import SmoothGap, smooth_objective
from coterie.statistics.in_memory import reduced
from coterie.statistics.parts import PARTS

RARE = ("p3", "p5")


def with_rare_agents(folder, samples=300, kept=4):
    """Write a log in which some agents are there in the first few samples only, as pairs and as totals."""
    source = Simulation.draw(5, 3, np.random.default_rng(2), actions_per_agent=4)
    source.write_log(folder, samples)
    for name in ("memberships", "pairs"):
        frame = pd.read_csv(folder / f"{name}.csv", dtype={"sample": str})
        people = frame[[column for column in ("agent", "partner") if column in frame]]
        late = frame["sample"].astype(int) > kept
        frame[~(people.isin(RARE).any(axis=1) & late)].to_csv(folder / f"{name}.csv", index=False)
    return source.game


def totals_of(folder):
    """Return what each agent got in each sample, from a table of pairs."""
    pairs = pd.read_csv(folder / "pairs.csv", dtype={"sample": str})
    turned = pairs.rename(columns={"agent": "partner", "partner": "agent"})
    got = pd.concat([pairs, turned]).groupby(["sample", "agent"], as_index=False)["utility"].sum()
    return pd.read_csv(folder / "memberships.csv", dtype={"sample": str}), got


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("rare") / "log"
    with_rare_agents(place)
    return place


@pytest.fixture(scope="module")
def log(folder):
    return coterie.read_log(folder)


def attended(frames, agents):
    """How many samples each agent is a member in, counted row by row."""
    return [len({sample for sample, name, _ in frames if name == agent}) for agent in agents]


@pytest.mark.parametrize("table", ["pairs", "totals"])
@pytest.mark.parametrize("memberships", [True, False])
def test_samples_of_agents_are_counted(tables, tmp_path, table, memberships):
    made = tables(11, observed=0.5)
    if not memberships:
        if table == "totals":
            pytest.skip("totals need memberships")
        pairs = [(s, a, c) for s, c, i, j, _ in made.pairs for a in (i, j)]
        log = coterie.Log.from_frames(**made.frames("pairs"))
        assert Statistics.of(log, clues=False).attendance.tolist() == attended(pairs, log.agents)
        return
    log = coterie.Log.from_frames(**made.frames("memberships", table))
    whole = Statistics.of(log, parts=PARTS)
    assert whole.attendance.tolist() == attended(made.memberships, log.agents)
    whole.save(tmp_path / "kept.npz")
    assert Statistics.load(tmp_path / "kept.npz").attendance.tolist() == whole.attendance.tolist()
    samples = made.samples
    pieces = [
        Statistics.of(coterie.Log.from_frames(**made.only(set(some)).frames("memberships", table)), parts=PARTS)
        for some in (samples[:7], samples[7:])
    ]
    assert (pieces[1] + pieces[0]).attendance.tolist() == whole.attendance.tolist()


def test_samples_of_agents_are_counted_alike_on_spark(tables, spark, tmp_path):
    folder = tables(12).write(tmp_path / "log")
    ours, theirs = (coterie.read_log(folder, **options) for options in ({}, {"spark": spark}))
    found = [Statistics.of(one, clues=False).attendance.tolist() for one in (ours, theirs)]
    assert found[0] == found[1]


@pytest.mark.parametrize("noise", ["pairs", "samples"])
@pytest.mark.parametrize("adaptive", [False, True])
def test_a_certificate_is_about_those_who_count(folder, noise, adaptive):
    statistics = Statistics.of(coterie.read_log(folder, adaptive=adaptive), noise=noise)
    whole, evidence = statistics.whole, evidence_from(statistics.whole)
    everybody = statistics.setting.actions
    rare = statistics.seen_less(5)
    assert tuple(statistics.agents[i] for i in rare) == RARE
    some = everybody.leaving_out(rare)
    strategy = evidence.game(everybody).strategy(everybody.sample(3, 1)[0])
    for certify in (
        lambda spaces: paired(evidence, strategy, spaces, 0.1),
        lambda spaces: fixed(evidence, strategy, spaces, 0.1),
        lambda spaces: paper_from(whole, strategy, spaces, 0.1),
    ):
        full, found = certify(everybody), certify(some)
        if full is None:
            assert found is None
            continue
        assert full.left_out == ()
        assert found.left_out == RARE
        assert found.per_agent == {agent: gap for agent, gap in full.per_agent.items() if agent not in RARE}
        assert found.gap == max(found.per_agent.values()) <= full.gap
        assert found.worst.agent not in RARE
        assert found.worst.bound == max(full.alternatives[agent].bound for agent in found.per_agent)
        assert found.alternatives == full.alternatives
        assert set(full.surely_stay) - set(RARE) <= set(found.surely_stay)
        assert not set(found.surely_stay) & set(RARE)
        assert "nobody who counts can gain" in str(found)


def test_a_game_s_gap_may_leave_agents_out():
    game = Game([[[0, 1, -1], [1, 0, 0.5], [-1, 0.5, 0]], [[0, -1, 0.25], [-1, 0, 0], [0.25, 0, 0]]])
    together = game.strategy([[1, 0]] * 3)
    gains = {one.agent: one.gain for one in game.best_responses(together)}
    for left_out in (["3"], ["1", "3"]):
        others = game.leaving_out(left_out)
        assert others.gap(together) == max(gain for agent, gain in gains.items() if agent not in left_out)
        assert others.worst(together).agent not in left_out
        stable = [s for s in map(game.strategy, _profiles(game)) if others.is_nash_stable(s)]
        assert {s.sets.tobytes() for s in others.stable_profiles()} == {s.sets.tobytes() for s in stable}
    assert game.worst(together).agent == "3"
    with pytest.raises(InputError, match="nobody is left"):
        game.leaving_out(game.agents)


def _profiles(game):
    return np.concatenate(list(game.actions.joint_actions()))


def test_searches_do_not_chase_those_who_are_left_out(log):
    statistics = Statistics.of(log)
    evidence = evidence_from(statistics.whole)
    spaces = statistics.setting.actions.leaving_out(statistics.seen_less(5))
    names = (log.agents, log.coalitions)
    for objective in (
        PairedObjective(evidence, spaces, 0.1, *names),
        PairedObjective(evidence, spaces, 0.1, *names, form="box"),
        HoldoutObjective(evidence, spaces, 0.1, *names),
        GapObjective(evidence.game(spaces)),
    ):
        profiles = spaces.sample(1, 6)
        margins = objective.margins(profiles)
        assert np.isneginf(margins[:, spaces.left_out]).all()
        assert np.isfinite(margins[:, spaces.counted]).all()
        best = enumerate_profiles(objective).value
        assert best <= enumerate_profiles(type(objective)(*_over_everybody(objective))).value
        assert pure(objective, Control(0)).value >= best - 1e-12
    box = PairedObjective(evidence, spaces, 0.1, *names, form="box")
    program = mixed_integer(box)
    assert program.value == pytest.approx(enumerate_profiles(box).value, abs=1e-6)
    assert program.bound <= program.value + 1e-6
    found = paired(evidence, program.strategy, spaces, 0.1, form="box")
    assert found.gap == pytest.approx(max(program.value, 0), abs=1e-9)
    for smooth in (smooth_objective(evidence, spaces, 0.1, *names), SmoothGap(evidence.game(spaces))):
        value = mixed(smooth, Control(0), starts=1).value
        assert value <= mixed(_unmasked(smooth, evidence, spaces, names), Control(0), starts=1).value + 1e-9


def _over_everybody(objective):
    """Return what makes the same objective with nobody left out."""
    spaces = objective.spaces.leaving_out(())
    if isinstance(objective, GapObjective):
        return (objective.game.leaving_out(()),)
    return objective.evidence, spaces, objective.delta


def _unmasked(smooth, evidence, spaces, names):
    everybody = spaces.leaving_out(())
    if isinstance(smooth, SmoothGap):
        return SmoothGap(evidence.game(everybody))
    return smooth_objective(evidence, everybody, 0.1, *names)


@pytest.mark.parametrize(
    "options",
    [{"goal": "stability", "any_size": True}, {"strategy": "mixed", "certificate": "paired"}, {"certificate": "paper"}],
)
def test_learners_leave_out(log, options, tmp_path):
    full = StableLearner(**options).fit(log).result_
    learner = StableLearner(min_samples=5, **options).fit(log)
    found = learner.result_
    assert found.left_out == learner.certificate_.left_out == RARE
    assert full.left_out == ()
    assert learner.certificate_.gap < full.certificate.gap
    assert set(learner.strategy_.agents) == set(log.agents)  # they still take part
    assert "nobody who is counted can gain" in found.sentence()
    assert found.sentence().endswith("; not counted, seen in fewer than 5 rounds: p3, p5.")
    assert found.estimate.gap == evidence_from(learner.statistics_.whole).game(log.actions).leaving_out(RARE).gap(
        learner.strategy_
    )
    found.save(tmp_path / "result.json")
    assert Result.load(tmp_path / "result.json") == found
    assert json.loads((tmp_path / "result.json").read_text())["left_out"] == list(RARE)
    assert found.parameters["min_samples"] == 5
    assert StableLearner(min_samples=4, **options).fit(log).result_.left_out == ()
    given = coterie.certify(log, found, min_samples=5)
    assert given.left_out == RARE
    assert given.certificate.gap == pytest.approx(found.certificates["paired"])
    assert StableLearner(min_samples=5, **options).fit(learner.statistics_).result_.left_out == RARE


def test_it_is_refused_where_nothing_would_be_left_or_known(log):
    with pytest.raises(InputError, match="min_samples=1000: nobody was in so many samples, the most is 300"):
        StableLearner(min_samples=1000).fit(log)
    with pytest.raises(InputError, match="min_samples: expected at least 0"):
        StableLearner(min_samples=-1).fit(log)
    with pytest.raises(InputError, match="min_samples: expected"):
        coterie.certify(log, {}, min_samples=0.5)
    statistics = Statistics.of(log)
    older = Statistics(statistics.setting, statistics.parts)
    assert older.seen_less(0) == ()
    with pytest.raises(InputError, match="min_samples: these statistics do not say"):
        recommend(older, 0.1, min_samples=3)
    assert (older + Statistics(statistics.setting, statistics.parts)).attendance is None


def test_many_are_not_all_named_in_the_sentence(log):
    found = StableLearner(min_samples=5).fit(log).result_.to_json()
    found["certificate"]["left_out"] = [f"q{t}" for t in range(15)]
    assert Result.from_json(found).sentence().endswith("q10, q11 and 3 more.")


def test_bandit_logs_leave_out_too(tmp_path):
    game = with_rare_agents(tmp_path / "log", 60)
    memberships, totals = totals_of(tmp_path / "log")
    log = coterie.Log.from_frames(
        memberships=memberships, totals=totals, actions=coterie.read_log(tmp_path / "log").action_sets
    )
    found = StableLearner(min_samples=5).fit(log)
    assert found.result_.left_out == RARE
    assert found.certificate_.gap == max(found.certificate_.per_agent.values())
    assert game.leaving_out(RARE).gap(found.strategy_) <= game.gap(found.strategy_)


def test_promises_hold_for_those_who_count():
    """Over 200 logs, at delta = 0.2, the counted gap of a fixed profile is above its certificate no more often."""
    source = Simulation.draw(4, 2, np.random.default_rng(4), actions_per_agent=3)
    strategy = source.game.strategy(source.game.actions.sample(1, 1)[0])
    setting = setting_of(source, "semi-bandit", Reading(), (1.0,))
    wrong = 0
    for _ in range(200):
        (batch,) = source.batches(12)
        statistics = reduced(batch, np.zeros(12, dtype=int), setting)
        met = statistics.whole.counts.sum(axis=(0, 1))
        left_out = np.flatnonzero(met < met.max()).tolist()  # by counts, not by utilities
        found = fixed(evidence_from(statistics.whole), strategy, setting.actions.leaving_out(left_out), 0.2)
        assert found.left_out
        wrong += source.game.leaving_out(found.left_out).gap(strategy) > found.gap
    assert wrong <= 40
