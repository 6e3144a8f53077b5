"""Whole simulated logs: contents, files, determinism."""

import json
from collections import Counter, defaultdict

import numpy as np
import pyarrow.csv as pc
import pyarrow.parquet as pq
import pytest

import coterie
from coterie import Game, InputError, Strategy
from coterie.game.truth import read_truth
from coterie.log.options import MADE_BY
from coterie.simulate import logs
from coterie.simulate.logs import Simulation, draw_sets, numbered
from coterie.simulate.models import Normal, Uniform
from coterie.simulate.policies import FromStrategy, Independent, UniformOver


def simulation(seed=0, **options):
    return Simulation.draw(6, 4, np.random.default_rng(seed), **options)


def read(path, table_format):
    if table_format == "parquet":
        return pq.read_table(path).to_pylist()
    options = pc.ConvertOptions(column_types={"sample": "string", "agent": "string", "partner": "string"})
    return pc.read_csv(path, convert_options=options).to_pylist()


def content(folder):
    return {file.name: file.read_bytes() for file in sorted(folder.iterdir())}


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("table_format", ["csv", "parquet"])
def test_semi_bandit_log_satisfies_the_contract(tmp_path, table_format, symmetric):
    source = simulation(symmetric=symmetric)
    rows = source.write_log(tmp_path / "log", 50, table_format=table_format)
    assert set(content(tmp_path / "log")) == {
        f"memberships.{table_format}",
        f"pairs.{table_format}",
        "log.json",
        "truth.json",
    }
    memberships = read(tmp_path / "log" / f"memberships.{table_format}", table_format)
    pairs = read(tmp_path / "log" / f"pairs.{table_format}", table_format)
    assert rows == {"memberships": len(memberships), "pairs": len(pairs)}
    assert list(memberships[0]) == ["sample", "agent", "coalition"]
    assert list(pairs[0]) == ["sample", "coalition", "agent", "partner", "utility"]
    members = defaultdict(set)
    for row in memberships:
        members[row["sample"], row["coalition"]].add(row["agent"])
    assert {sample for sample, _ in members} == {str(number) for number in range(1, 51)}
    seen = Counter()
    for row in pairs:
        assert row["agent"] != row["partner"]
        assert {row["agent"], row["partner"]} <= members[row["sample"], row["coalition"]]
        assert -1 <= row["utility"] <= 1
        pair = (row["agent"], row["partner"])
        seen[row["sample"], row["coalition"], tuple(sorted(pair)) if symmetric else pair] += 1
    assert set(seen.values()) == {1}
    meetings = sum(len(group) * (len(group) - 1) for group in members.values())
    assert len(pairs) == (meetings // 2 if symmetric else meetings)
    described = json.loads((tmp_path / "log" / "log.json").read_text())
    described = {key: value for key, value in described.items() if key not in MADE_BY}
    assert described == {
        "format": "coterie.log/1",
        "feedback": "semi-bandit",
        "utility_range": [-1, 1],
        "symmetric": symmetric,
        "agents": list(source.game.agents),
        "coalitions": list(source.game.coalitions),
        "actions": source.game.actions.to_json(source.game.agents, source.game.coalitions),
    }
    chosen = defaultdict(list)
    for row in memberships:
        chosen[row["sample"], row["agent"]].append(row["coalition"])
    assert all(action in described["actions"] for action in chosen.values())


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("table_format", ["csv", "parquet"])
def test_totals_are_sums_of_the_same_draws(tmp_path, table_format, symmetric):
    simulation(5, symmetric=symmetric).write_log(tmp_path / "pairs", 40, table_format=table_format)
    simulation(5, symmetric=symmetric).write_log(tmp_path / "totals", 40, feedback="bandit", table_format=table_format)
    sums = Counter()
    for row in read(tmp_path / "pairs" / f"pairs.{table_format}", table_format):
        sums[row["sample"], row["agent"]] += row["utility"]
        if symmetric:
            sums[row["sample"], row["partner"]] += row["utility"]
    totals = read(tmp_path / "totals" / f"totals.{table_format}", table_format)
    assert len(totals) == 40 * 6
    assert list(totals[0]) == ["sample", "agent", "utility"]
    for row in totals:
        assert row["utility"] == pytest.approx(sums[row["sample"], row["agent"]], abs=1e-12)
    name = f"memberships.{table_format}"
    assert content(tmp_path / "pairs")[name] == content(tmp_path / "totals")[name]
    assert json.loads((tmp_path / "totals" / "log.json").read_text())["feedback"] == "bandit"


@pytest.mark.parametrize("table_format", ["csv", "parquet"])
def test_same_seed_same_bytes(tmp_path, table_format):
    for name, seed in (("a", 3), ("b", 3), ("c", 4)):
        simulation(seed).write_log(tmp_path / name, 30, table_format=table_format)
    assert content(tmp_path / "a") == content(tmp_path / "b")
    assert content(tmp_path / "a") != content(tmp_path / "c")


def test_both_formats_hold_the_same_values(tmp_path):
    for table_format in ("csv", "parquet"):
        simulation(3).write_log(tmp_path / table_format, 30, table_format=table_format)
    assert read(tmp_path / "csv" / "pairs.csv", "csv") == read(tmp_path / "parquet" / "pairs.parquet", "parquet")


def test_no_draw_repeats_on_the_same_object(tmp_path):
    source = simulation(model="uniform")
    first = source.write_log(tmp_path / "a", 30)
    source.write_log(tmp_path / "b", 30)
    utilities = [{row["utility"] for row in read(tmp_path / name / "pairs.csv", "csv")} for name in ("a", "b")]
    assert len(utilities[0]) == first["pairs"]
    assert not utilities[0] & utilities[1]
    joined = [np.concatenate([batch.joined for batch in source.batches(30)]) for _ in range(2)]
    assert not np.array_equal(*joined)


def test_no_draw_repeats_between_batches(monkeypatch):
    monkeypatch.setattr(logs, "CELLS_PER_BATCH", 3 * simulation().cells_per_sample)
    source = simulation(model="uniform")
    batches = list(source.batches(31))
    assert [batch.first for batch in batches] == [1, 4, 7, 10, 13, 16, 19, 22, 25, 28, 31]
    utility = np.concatenate([batch.utility for batch in batches])
    assert len(np.unique(utility)) == len(utility)


def test_game_does_not_depend_on_policy_noise_or_feedback():
    games = [
        simulation(9, policy=policy, noise=noise).game for policy, noise in (("random", None), ("1rand", "samples"))
    ]
    assert np.array_equal(games[0].utilities.means.values, games[1].utilities.means.values)
    assert np.array_equal(games[0].actions.spaces[0].enumerate(), games[1].actions.spaces[0].enumerate())


def test_truth_is_written_with_where_it_comes_from(tmp_path):
    source = simulation(model="size-gaussian")
    source.write_log(tmp_path / "log", 10)
    game = read_truth(tmp_path / "log" / "truth.json")
    strategy = game.uniform()
    assert np.array_equal(game.room_values(strategy), source.game.room_values(source.game.uniform()))
    note = json.loads((tmp_path / "log" / "truth.json").read_text())["simulation"]
    drawn = {"model": "size-gaussian", "clip": True, "noise": "pairs", "policy": "random", "samples": 10}
    assert note == {"version": coterie.__version__, **drawn}


def test_mixed_effects_declares_its_scale(tmp_path):
    source = Simulation.draw(4, 5, np.random.default_rng(0), model="mixed-effects", policy="coalition-size")
    source.write_log(tmp_path / "log", 10)
    described = json.loads((tmp_path / "log" / "log.json").read_text())
    assert described["sigma"] == 1
    assert described["actions"] == [["c1", "c2"], ["c1", "c3", "c5"], ["c4", "c5"]]


def test_a_failed_write_leaves_nothing(tmp_path):
    class Stop(Exception):  # noqa: N818
        pass

    def stop(done):
        raise Stop

    with pytest.raises(Stop):
        simulation().write_log(tmp_path / "log", 10, progress=stop)
    assert not list(tmp_path.iterdir())


def test_an_existing_folder_is_never_touched(tmp_path):
    (tmp_path / "log").mkdir()
    simulation().write_log(tmp_path / "log", 3)  # empty: taken
    before = content(tmp_path / "log")
    with pytest.raises(InputError, match="not an empty folder"):
        simulation(1).write_log(tmp_path / "log", 3)
    assert content(tmp_path / "log") == before


def test_progress_counts_samples(tmp_path, monkeypatch):
    monkeypatch.setattr(logs, "CELLS_PER_BATCH", 10 * simulation().cells_per_sample)
    done = []
    simulation().write_log(tmp_path / "log", 25, progress=done.append)
    assert done == [10, 20, 25]


def test_names_that_need_quotes_survive(tmp_path):
    model = Uniform(3, 1)
    game = model.game("one", ["a,b", 'say "x"', "plain"], ["c"])
    Simulation(model, Independent(game.actions), game, np.random.default_rng(0)).write_log(tmp_path / "log", 4)
    rows = pc.read_csv(tmp_path / "log" / "memberships.csv").to_pylist()
    assert {row["agent"] for row in rows} == {"a,b", 'say "x"', "plain"}


def test_agents_who_stay_out_have_total_zero():
    model = Normal(np.full((1, 2, 2), 0.5), np.full((1, 2, 2), 0.1))
    game = model.game([["1"], []])
    batch = next(Simulation(model, Independent(game.actions), game, np.random.default_rng(0)).batches(100))
    out = ~batch.joined.any(axis=2)
    assert out.any()
    assert (batch.totals()[out] == 0).all()


class Beyond(Normal):
    """Somebody's own model, which declares a range and forgets to keep to it."""

    utility_range = (-1, 1)
    sigma = None


def test_a_model_that_leaves_its_range_is_refused():
    """Sums would cut its values off, and certificates be about other means than its own."""
    model = Beyond(np.full((1, 3, 3), 0.9), np.full((1, 3, 3), 0.5), clip=False)
    game = model.game("one")
    source = Simulation(model, Independent(game.actions), game, np.random.default_rng(0))
    with pytest.raises(InputError, match=r"the model Beyond: utility 1\..* is outside the utility range \[-1, 1\]"):
        next(source.batches(50))
    kept = Beyond(np.full((1, 3, 3), 0.9), np.full((1, 3, 3), 1e-9), clip=False)
    next(Simulation(kept, source.policy, kept.game("one"), np.random.default_rng(0)).batches(50))


def test_means_outside_the_range_that_bounds_them_are_refused():
    """With a sigma the range bounds the means, which no row shows."""
    model = Normal(np.full((1, 3, 3), 1.2), np.full((1, 3, 3), 0.5), clip=False)
    game = model.game("one")
    with pytest.raises(InputError, match=r"mean utilities go from 1.2 to 1.2, outside its utility range \[-1, 1\]"):
        Simulation(model, Independent(game.actions), game, np.random.default_rng(0))


def test_drawn_sets_are_distinct_and_uniform():
    sets = draw_sets(np.random.default_rng(0), 25, 8)
    assert sets.shape == (8, 25)
    assert len(np.unique(sets, axis=0)) == 8
    assert sorted(map(tuple, draw_sets(np.random.default_rng(0), 2, 3).tolist())) == [
        (False, True),
        (True, False),
        (True, True),
    ]
    rng = np.random.default_rng(1)
    counts = np.zeros((2, 7))
    for _ in range(3500):
        for place, row in enumerate(draw_sets(rng, 3, 2)):
            counts[place, row @ [1, 2, 4] - 1] += 1
    assert (np.abs(counts - 500) < 5 * np.sqrt(500)).all()  # every set as likely, first and second


def test_numbered_names_are_padded():
    assert numbered("p", 9)[-1] == "p9"
    assert numbered("p", 10)[0] == "p01"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"noise": "loud"}, "unknown noise 'loud'"),
        ({"actions_per_agent": 16}, "expected at most 15"),
        ({"actions_per_agent": 0}, "expected at least 1"),
        ({"policy": "nowhere"}, "unknown policy"),
        ({"model": "mixed-effects"}, "has 5 coalitions"),
    ],
)
def test_refusals(options, message):
    with pytest.raises(InputError, match=message):
        simulation(**options)


def test_refusals_when_writing(tmp_path):
    source = simulation()
    for options, message in (
        ({"feedback": "all"}, "unknown feedback"),
        ({"table_format": "xls"}, "unknown format"),
    ):
        with pytest.raises(InputError, match=message):
            source.write_log(tmp_path / "log", 3, **options)
    with pytest.raises(InputError, match="n_samples: expected"):
        source.write_log(tmp_path / "log", 0)
    with pytest.raises(InputError, match="n_samples: expected"):
        next(source.batches(0))
    with pytest.raises(InputError, match="own three actions"):
        Simulation.draw(4, 5, np.random.default_rng(0), model="mixed-effects", actions_per_agent=4)
    assert not list(tmp_path.iterdir())


def test_the_game_is_a_plain_game():
    assert isinstance(simulation().game, Game)
    assert not simulation().game.depends_on_size
    assert simulation(model="size-uniform").game.depends_on_size


def test_the_game_must_be_the_models():
    source = simulation()
    with pytest.raises(InputError, match="the game is not the model's"):
        Simulation(Uniform(6, 3), source.policy, source.game, source.rng)
    with pytest.raises(InputError, match="the game is not the model's"):
        Simulation(Uniform(6, 4, symmetric=False), source.policy, source.game, source.rng)


def test_the_means_must_be_the_models():
    source = simulation()
    with pytest.raises(InputError, match="the game is not the model's"):
        Simulation(Uniform(6, 4), source.policy, source.game, source.rng)
    sized = simulation(model="size-gaussian")
    for game in (
        Game(sized.model.means, source.game.actions),
        Game(size_table=np.zeros((4, 6, 6, 7)), actions=source.game.actions),
    ):
        with pytest.raises(InputError, match="the game is not the model's"):
            Simulation(sized.model, sized.policy, game, sized.rng)


def test_the_policy_must_be_for_the_game():
    source = simulation()
    for policy in (
        Independent(Game(np.zeros((4, 5, 5))).actions),
        FromStrategy(Strategy.pure(np.ones((6, 3), dtype=bool))),
        UniformOver(np.ones((2, 7, 4), dtype=bool)),
    ):
        with pytest.raises(InputError, match="the game has 6 and 4"):
            Simulation(source.model, policy, source.game, source.rng)


def test_small_games_have_small_batches():
    source = Simulation.draw(2, 1, np.random.default_rng(0), actions_per_agent=1)
    assert len(next(source.batches(10**9)).joined) < 250_000


def test_provenance_says_nothing_of_clipping_where_there_is_none():
    assert simulation(model="uniform").provenance["clip"] is None
    assert simulation(model="size-uniform").provenance["clip"] is None
    assert simulation(model="size-gaussian", clip=False).provenance["clip"] is False
