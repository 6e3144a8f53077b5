"""Outcomes that nobody recorded: told, counted, and at their worst on request."""

import json
from dataclasses import replace

import numpy as np
import pytest
from typer.testing import CliRunner

import coterie
from coterie.assumptions.all_checks import checks_of
from coterie.assumptions.missing import missing_check
from coterie.certificates import evidence_from, fixed, paired
from coterie.cli.app import app
from coterie.errors import InputError
from coterie.estimate.intervals import Bounds, Moments, intervals
from coterie.game.actions import ActionSpaces
from coterie.log.inspection import inspect_log
from coterie.statistics.clues import Clues
from coterie.statistics.dependence import FALSE_ALARMS
from coterie.statistics.in_memory import reduced
from coterie.statistics.statistics import Statistics
from coterie.sums import Sums
from missing import drawn_batch, keep, setting_of, without_half_of_the_bad


def certificates_of(batch, strategy, spaces, delta, **options):
    setting = setting_of(batch, **options)
    whole = reduced(batch, np.zeros(len(batch.joined), dtype=np.int64), setting).whole
    evidence = evidence_from(whole)
    return [paired(evidence, strategy, spaces, delta).gap, fixed(evidence, strategy, spaces, delta).gap]


def profile(setting, room):
    sets = np.zeros((setting.n_agents, setting.n_coalitions), dtype=bool)
    sets[np.arange(setting.n_agents), room] = True
    return coterie.Strategy.pure(sets, setting.agents, setting.coalitions)


def test_half_of_the_bad_ratings_are_absent():
    """Four people in a room that is worth -0.2 per partner look stable: certificate 0, true gap 0.6.

    At the worst, the certificate is never below the gap.
    """
    for seed in range(200):
        rng = np.random.default_rng(seed)
        batch = without_half_of_the_bad(drawn_batch(rng, 6000 if seed < 3 else 1000, 4, 2, (-0.8, -0.2)), rng)
        setting = setting_of(batch)
        together, spaces = profile(setting, 1), ActionSpaces.parse("one", setting.agents, setting.coalitions)
        means = np.array([-0.8, -0.2])[:, None, None] * (1 - np.eye(4))
        names = {"agents": setting.agents, "coalitions": setting.coalitions}
        gap = coterie.Game(means=means, actions="one", **names).gap(together)
        assert gap == pytest.approx(0.6)
        assert min(certificates_of(batch, together, spaces, 0.5, missing="worst")) >= gap
        if seed < 3:
            assert certificates_of(batch, together, spaces, 0.01)[1] == 0


@pytest.mark.parametrize(
    "options", [{}, {"noise": "samples"}, {"sizes": "aware"}, {"pool_coalitions": True},
                {"pool_coalitions": True, "noise": "samples"}, {"sizes": "aware", "noise": "samples"}],
)  # fmt: skip
@pytest.mark.parametrize("symmetric", [True, False])
def test_no_completion_has_a_larger_certificate(options, symmetric):
    """Whatever the missing outcomes were, the certificate of the complete log is not above that at the worst."""
    for seed in range(6):
        rng = np.random.default_rng(seed)
        batch = drawn_batch(rng, 60, 4, 2, (0.3, -0.1), symmetric=symmetric, alone=False)
        batch = replace(batch, utility=np.round(rng.uniform(-1, 1, len(batch.utility)), 3))
        kept = rng.random(len(batch.utility)) < rng.uniform(0.3, 1)
        setting = setting_of(batch)
        strategy, spaces = profile(setting, seed % 2), ActionSpaces.parse("one", setting.agents, setting.coalitions)
        worst = certificates_of(keep(batch, kept), strategy, spaces, 0.1, missing="worst", **options)
        for end in (-1.0, 1.0, None):
            filled = rng.uniform(-1, 1, len(kept)) if end is None else np.full(len(kept), end)
            complete = replace(batch, utility=np.where(kept, batch.utility, filled))
            for ours, theirs in zip(worst, certificates_of(complete, strategy, spaces, 0.1, **options), strict=True):
                assert theirs <= ours + 1e-7


def test_nothing_missing_changes_nothing():
    rng = np.random.default_rng(1)
    batch = drawn_batch(rng, 200, 4, 2, (0.3, -0.1))
    setting = setting_of(batch)
    strategy, spaces = profile(setting, 0), ActionSpaces.parse("one", setting.agents, setting.coalitions)
    ours, theirs = (certificates_of(batch, strategy, spaces, 0.1, missing=one) for one in ("ignore", "worst"))
    assert ours == pytest.approx(theirs, abs=1e-12)


@pytest.mark.parametrize("method", ["hoeffding", "kl", "bernstein", "best"])
def test_intervals_at_the_worst(method):
    """[(sum + U low) / (N + U) - w, (sum + U high) / (N + U) + w] with the width at N + U, as for Hoeffding."""
    rng = np.random.default_rng(3)
    for _ in range(50):
        n, u = rng.integers(1, 40), rng.integers(0, 20)
        values, hidden = rng.uniform(-1, 1, n), rng.choice([-1.0, 1.0, 0.2], u)
        everything = np.concatenate([values, hidden])
        own, count = np.array([values.var(ddof=1) if n > 1 else 0.0]), np.array([n + u])
        some = Moments(count, np.array([values.mean()]), own, 1, unrecorded=u / count)
        variance = everything.var(ddof=1) if n + u > 1 else 0.0
        whole = Moments(count, np.array([everything.mean()]), np.array([variance]), 1)
        bounds = Bounds(-1.0, 1.0)
        assert some.spread(bounds)[0] >= variance - 1e-12
        (lower,), (upper,) = intervals(some, bounds, 0.1, method)
        (inner,), (outer,) = intervals(whole, bounds, 0.1, method)
        assert lower <= inner + 1e-9
        assert upper >= outer - 1e-9
        if method == "hoeffding":
            width = np.sqrt(2 * np.log(2 / 0.1) / (n + u))
            assert upper == pytest.approx(min((values.sum() + u) / (n + u) + width, 1.0))
            assert lower == pytest.approx(max((values.sum() - u) / (n + u) - width, -1.0))


# --- From tables --------------------------------------------------------------------------------------


def log_of(made, names=("memberships", "pairs"), **options):
    return coterie.Log.from_frames(**made.frames(*names), threads=1, **options)


def counted(made, *, symmetric=True, pooled=False):
    """How many meetings of each pair there were, and how many of them have no row."""
    teams, found = {}, {}
    for sample, agent, coalition in made.memberships:
        teams.setdefault((sample, coalition), []).append(agent)
    rated = {(s, c, *(sorted((i, j)) if symmetric else (i, j))) for s, c, i, j, _ in made.pairs}
    for (sample, coalition), team in teams.items():
        for i in team:
            for j in team:
                if i < j or (i != j and not symmetric):
                    met = found.setdefault(("" if pooled else coalition, i, j), [0, 0])
                    met[0] += 1
                    met[1] += (sample, coalition, i, j) not in rated
    return found


def named(sums, setting):
    coalition = [""] if setting.pool_coalitions else setting.coalitions
    return {(coalition[l], setting.agents[i], setting.agents[j]): value[0]
            for (l, i, j, *_), value in zip(sums.keys.tolist(), sums.values.tolist(), strict=True)}  # fmt: skip


@pytest.mark.parametrize("options", [{}, {"symmetric": False}, {"pool_coalitions": True}])
def test_statistics_know_what_is_missing(tables, options):
    symmetric, pooled = options.get("symmetric", True), options.get("pool_coalitions", False)
    made = tables(95, symmetric=symmetric)
    expected = counted(made, symmetric=symmetric, pooled=pooled)
    for sizes in ("ignore", "aware"):
        found = Statistics.of(log_of(made, **options), sizes=sizes)
        assert named(found.clues.unrecorded, found.setting) == {pair: u for pair, (_, u) in expected.items() if u}
        assert found.parts[0].met is None
    worst = Statistics.of(log_of(made, missing="worst", **options))
    assert named(worst.whole.met, worst.setting) == {pair: met for pair, (met, _) in expected.items()}
    assert worst.whole.rows == len(made.pairs)
    made = tables(95, symmetric=symmetric, observed=1.0)
    assert not len(Statistics.of(log_of(made, **options)).clues.unrecorded.keys)
    assert Statistics.of(log_of(made, ("pairs",), **options)).clues.unrecorded is None


@pytest.mark.parametrize("noise", ["pairs", "samples"])
@pytest.mark.parametrize("options", [{}, {"pool_coalitions": True}])
def test_tables_and_arrays_agree(noise, options):
    rng = np.random.default_rng(5)
    complete = drawn_batch(rng, 50, 4, 2, (0.3, -0.1), alone=False)
    batch = keep(complete, rng.random(len(complete.utility)) < 0.6)
    sample, agent, room = np.nonzero(batch.joined)
    name, label = np.array([f"a{i}" for i in range(4)]), np.array(["x", "y"])
    # Samples are named by their numbers, from 1 up: names decide into which group of samples they fall.
    memberships = {"sample": sample + 1, "agent": name[agent], "coalition": label[room]}
    pairs = {"sample": batch.sample + 1, "coalition": label[batch.coalition], "agent": name[batch.agent],
             "partner": name[batch.partner], "utility": batch.utility}  # fmt: skip
    log = coterie.Log.from_frames(memberships=memberships, pairs=pairs, missing="worst", **options)
    ours = Statistics.of(log, noise=noise, parts=(1.0,)).whole
    setting = setting_of(batch, missing="worst", noise=noise, **options)
    theirs = reduced(batch, np.zeros(50, dtype=np.int64), setting).whole
    for key, array in theirs.arrays().items():
        if key != "n_samples":  # samples in which nobody is anywhere are in no table
            np.testing.assert_array_equal(ours.arrays()[key], array, err_msg=key)


@pytest.mark.parametrize("names", [("memberships", "pairs"), ("memberships", "totals")])
def test_what_is_missing_adds_up_and_is_saved(tables, tmp_path, names):
    made = tables(96)
    pieces = [made.only(set(made.samples[start::2])) for start in (0, 1)]
    if names[1] == "pairs":  # the second log knows fewer agents
        rest = [[row for row in table if "a0" not in row] for table in (pieces[1].memberships, pieces[1].pairs)]
        pieces[1] = pieces[1].__class__(*rest, [])
    options = {"missing": "worst"} if names[1] == "pairs" else {}
    ours, theirs = (Statistics.of(log_of(piece, names, **options)) for piece in pieces)
    both = pieces[0].__class__(*[getattr(pieces[0], table) + getattr(pieces[1], table)
                                 for table in ("memberships", "pairs", "totals")])  # fmt: skip
    whole = Statistics.of(log_of(both, names, **options))
    for found in (ours + theirs, theirs + ours):
        assert found.sha256 == whole.sha256
        assert (found.clues.unrecorded.keys == whole.clues.unrecorded.keys).all()
        assert (found.clues.unrecorded.values == whole.clues.unrecorded.values).all()
    whole.save(tmp_path / "s.npz")
    loaded = Statistics.load(tmp_path / "s.npz")
    assert loaded.sha256 == whole.sha256
    assert loaded.setting == whole.setting
    assert (loaded.clues.unrecorded.values == whole.clues.unrecorded.values).all()


def test_one_way_to_count_what_is_missing(tables):
    made = tables(96)
    pieces = [made.only(set(made.samples[start::2])) for start in (0, 1)]
    with pytest.raises(InputError, match="missing is 'worst' here and 'ignore' there"):
        _ = Statistics.of(log_of(pieces[0], missing="worst")) + Statistics.of(log_of(pieces[1]))


def test_what_is_missing_is_alike_on_every_engine(tables, spark):
    for names, options in ((("memberships", "pairs"), {"missing": "worst"}), (("memberships", "totals"), {})):
        frames = tables(97).frames(*names)
        ours, theirs = (Statistics.of(coterie.Log.from_frames(**frames, spark=one, **options)) for one in (None, spark))
        assert ours.sha256 == theirs.sha256
        assert (ours.clues.unrecorded.values == theirs.clues.unrecorded.values).all()


# --- What is told ---------------------------------------------------------------------------------------


def learner_on(log):
    return coterie.StableLearner().fit(log)


def test_learners_warn_like_inspect(tables):
    log = log_of(tables(98, n=4, k=2))
    learner = learner_on(log)
    (warning,) = (text for text in learner.result_.warnings if "no row in pairs" in text)
    seen = inspect_log(log)
    assert f"{seen.unobserved:,} of {seen.n_meetings:,} meetings have no row in pairs" in warning
    assert 'use missing="worst"' in warning
    assert "outcomes that were not recorded would have been like those that were" in learner.certificate_.assumes
    worst = learner_on(log_of(tables(98, n=4, k=2), missing="worst"))
    assert not any("no row in pairs" in text for text in worst.result_.warnings)
    assert "outcomes that were not recorded are anything within the range" in worst.certificate_.assumes
    assert worst.certificate_.gap >= learner.certificate_.gap
    assert worst.result_.certificates["paper"] is None


def test_totals_warn_too(tables):
    statistics = Statistics.of(log_of(tables(98, n=4, k=2), ("memberships", "totals")))
    found = missing_check(statistics)
    assert found.verdict == "broken"
    assert "times a member has no total" in found.text
    assert "missing" not in found.text


def checked(met, missing):
    """Return the check of pairs that met so often, and whose rows are missing so often."""
    n = len(met)
    keys = np.stack([np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64), np.arange(1, n + 1)], axis=1)
    batch = drawn_batch(np.random.default_rng(0), 1, n + 1, 1, (0.0,))
    setting = setting_of(batch)
    rated = np.asarray(met) - missing
    part = reduced(batch, np.zeros(1, dtype=np.int64), setting).whole
    part = replace(part, entries=Sums(keys, np.stack([rated, rated, rated, 0 * rated], axis=1)))
    some = np.asarray(missing) > 0
    unrecorded = Sums(keys[some], np.asarray(missing)[some, None])
    return missing_check(Statistics(setting, (part,), Clues(unrecorded=unrecorded)))


def test_few_and_even_is_no_objection():
    assert checked([100] * 20, [3] * 20).verdict == "no objection"
    assert checked([100] * 20, [0] * 20).text == "every outcome was recorded"
    assert checked([100] * 20, [6] * 20).verdict == "broken"
    uneven = checked([100] * 20, [40] + [0] * 19)
    assert uneven.verdict == "broken"
    assert "unevenly spread (40 of 100 of a0 and a1 in x)" in uneven.text


def test_an_even_spread_is_not_called_uneven():
    found = 0
    for seed in range(300):
        rng = np.random.default_rng(seed)
        met = rng.integers(1, 60, 45)
        missing = rng.binomial(met, 0.03)
        found += "unevenly" in checked(met, np.maximum(missing, 0)).text
    assert found <= 300 * FALSE_ALARMS


def test_not_tested_without_memberships(tables):
    (found,) = (one for one in checks_of(Statistics.of(log_of(tables(99), ("pairs",)))) if one.assumption == "missing")
    assert found.verdict == "not tested"


def test_refusals(tables):
    made = tables(99)
    with pytest.raises(InputError, match='missing="worst" needs a table memberships'):
        log_of(made, ("pairs",), missing="worst")
    with pytest.raises(InputError, match=r'missing="worst" needs a table memberships, .* and a table pairs'):
        log_of(made, ("memberships", "totals"), missing="worst")
    with pytest.raises(InputError, match='missing="worst" needs utilities with bounds'):
        log_of(made, missing="worst", sigma=1.0)
    with pytest.raises(InputError, match='missing: expected "ignore" or "worst"'):
        log_of(made, missing="best")


def test_certify_takes_the_worst(tables, tmp_path):
    folder = tables(98, n=4, k=2).write(tmp_path / "log")
    teams = tmp_path / "teams.csv"
    teams.write_text("agent,coalition\n" + "".join(f"a{i},c0\n" for i in range(4)))
    gaps = []
    for options in ([], ["--missing", "worst"]):
        done = CliRunner().invoke(app, ["certify", str(folder), str(teams), "--json", *options])
        assert done.exit_code == 0, done.output
        found = json.loads(done.stdout)
        gaps.append(found["certificate"]["gap"])
        assert any("no row in pairs" in text for text in found["warnings"]) == (not options)
    assert gaps[0] < gaps[1]
