"""`StableLearner`, and `recommend` below it."""

import json
import pickle
import threading
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import coterie
from coterie import InputError, NotFittedError, StableLearner, Strategy
from coterie.certificates import paired
from coterie.certificates.holdout import Sealed
from coterie.certificates.paper import paper_evidence
from coterie.learn import auto
from coterie.learn.auto import recommend
from coterie.simulate import Simulation
from coterie.solve import search
from coterie.solve.control import Control
from coterie.solve.paper_scheme import paper as paper_scheme
from coterie.statistics.parts import PARTS
from coterie.statistics.statistics import Statistics


def simulated(folder, samples, seed=0, n=4, k=3, **options):
    feedback = options.pop("feedback", "semi-bandit")
    options.setdefault("actions_per_agent", min(4, 2**k - 1))
    source = Simulation.draw(n, k, np.random.default_rng([seed, n]), **options)
    source.write_log(folder, samples, feedback=feedback)
    return source.game, coterie.read_log(folder)


@pytest.fixture(scope="module")
def game_and_log(tmp_path_factory):
    return simulated(tmp_path_factory.mktemp("learner") / "log", 600)


def timeless(result):
    content = result.to_json()
    content["solver"] = {key: value for key, value in content["solver"].items() if key != "seconds"}
    return json.loads(json.dumps(content))


def test_learns_and_certifies(game_and_log):
    game, log = game_and_log
    learner = StableLearner().fit(log)
    assert game.gap(learner.strategy_) <= learner.certificate_.gap
    assert learner.certificate_.delta == 0.01
    assert learner.result_.strategy is learner.strategy_
    assert learner.coverage_.samples == 600
    assert set(learner.result_.certificates) == {"paper", "paired", "holdout"}


def test_same_seed_same_result_from_log_path_and_statistics(game_and_log, tmp_path):
    _, log = game_and_log
    results = [timeless(StableLearner(random_state=3).fit(log).result_) for _ in range(2)]
    assert results[0] == results[1]
    statistics = Statistics.of(log, parts=PARTS, seed=3)
    statistics.save(tmp_path / "kept.npz")
    from_file = timeless(StableLearner(random_state=3).fit(coterie.Statistics.load(tmp_path / "kept.npz")).result_)
    assert from_file == results[0]
    assert timeless(StableLearner(random_state=4).fit(log).result_)["data"]["sha256"] != results[0]["data"]["sha256"]


def test_scikit_learn_manners(game_and_log):
    _, log = game_and_log
    learner = StableLearner(delta=0.05, solver="pure")
    assert learner.get_params()["delta"] == 0.05
    assert learner.set_params(delta=0.1) is learner
    assert repr(learner) == "StableLearner(delta=0.1, solver='pure')"
    with pytest.raises(InputError, match="unknown parameter 'alpha'"):
        learner.set_params(alpha=1)
    for name in ("strategy_", "certificate_", "result_", "coverage_", "statistics_"):
        assert not hasattr(learner, name)
        with pytest.raises(NotFittedError, match="call fit"):
            getattr(learner, name)
    with pytest.raises(AttributeError, match="no attribute 'nothing_'"):
        _ = learner.nothing_
    assert learner.fit(log) is learner
    assert learner.game_.n_agents
    assert len(learner.draws(2)["gap"]) == 2
    copy = pickle.loads(pickle.dumps(learner))
    assert copy.game_.n_agents == learner.game_.n_agents
    assert timeless(copy.result_) == timeless(learner.result_)
    clone = type(learner)(**learner.get_params())
    assert clone.get_params() == learner.get_params()
    assert not hasattr(clone, "result_")


def test_what_says_stop_hinders_no_copies(game_and_log):
    base = pytest.importorskip("sklearn.base", reason="scikit-learn is not installed")
    event = threading.Event()
    learner = StableLearner(stop=event.is_set, random_state=np.random.default_rng(0)).fit(game_and_log[1])
    assert pickle.loads(pickle.dumps(learner)).stop is None
    assert base.clone(learner).stop == event.is_set
    assert base.clone(learner).random_state is not learner.random_state


def test_scikit_learn_clones_it():
    base = pytest.importorskip("sklearn.base", reason="scikit-learn is not installed")
    assert base.clone(StableLearner(delta=0.2)).delta == 0.2


def test_scikit_learn_knows_whether_it_is_fitted(game_and_log):
    validation = pytest.importorskip("sklearn.utils.validation", reason="scikit-learn is not installed")
    exceptions = pytest.importorskip("sklearn.exceptions")
    learner = StableLearner()
    with pytest.raises(exceptions.NotFittedError):
        validation.check_is_fitted(learner)
    validation.check_is_fitted(learner.fit(game_and_log[1]))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"strategy": "both"}, 'strategy: expected "pure" or "mixed", got \'both\''),
        ({"certificate": "best"}, 'certificate: expected "auto", "holdout", "paired" or "paper", got'),
        ({"delta": 0}, "delta: expected a number between 0 and 1"),
        ({"delta": "small"}, "delta"),
        ({"random_state": -1}, "random_state: expected at least 0"),
        ({"random_state": "one"}, "random_state: expected a whole number, None or a"),
        ({"progress": 3}, "progress: expected a function"),
        ({"target_gap": -1}, "target_gap: expected a number from 0 up"),
        ({"solver": "mixed"}, "the solver mixed finds no pure strategies"),
        ({"strategy": "mixed", "solver": "exact"}, "finds no mixed strategies"),
        ({"time_limit": 0}, "time_limit: expected a positive number of seconds"),
        ({"time_limit": "long"}, "time_limit: expected a finite number"),
    ],
)
def test_parameters_are_checked_when_fitting(game_and_log, parameters, message):
    with pytest.raises(InputError, match=message):
        StableLearner(**parameters).fit(game_and_log[1])
    with pytest.raises(InputError, match="expected a Log"):
        StableLearner().fit([1, 2])


@pytest.fixture(scope="module")
def two_logs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("later")
    source = Simulation.draw(4, 3, np.random.default_rng(1), actions_per_agent=4)
    for name in ("one", "two"):
        source.write_log(folder / name, 300)
        # Sample names must differ between logs.
        for table in ("pairs", "memberships"):
            file = folder / name / f"{table}.csv"
            header, *rows = file.read_text().splitlines()
            file.write_text("\n".join([header, *(f"{name}-{row}" for row in rows)]) + "\n")
    return tuple(coterie.read_log(folder / name) for name in ("one", "two"))


@pytest.mark.slow
def test_logs_that_arrive_later(two_logs):
    one, two = two_logs
    parts = [Statistics.of(log, parts=PARTS) for log in (one, two)]
    both = timeless(StableLearner().fit(parts[0] + parts[1]).result_)
    assert timeless(StableLearner().fit(parts[0]).partial_fit(parts[1]).result_) == both
    assert timeless(StableLearner().partial_fit(one).partial_fit(two).result_)["strategy"] == both["strategy"]
    merged = StableLearner().fit(one).merge(StableLearner().fit(two))
    assert merged.statistics_.sha256 == (parts[0] + parts[1]).sha256


@pytest.mark.slow
def test_drawn_seeds_divide_merged_logs_as_they_were(two_logs):
    one, two = two_logs
    first = StableLearner(random_state=np.random.default_rng(3)).fit(one)
    copy = StableLearner(random_state=None).merge(first)
    assert copy.result_.seed == first.result_.seed == copy.statistics_.setting.seed
    both = first.merge(StableLearner(random_state=first.result_.seed).fit(two))
    assert both.result_.seed == copy.result_.seed


def test_equal_runs_give_equal_results_that_stand_for_their_strategies(game_and_log):
    game, log = game_and_log
    first, again = StableLearner().fit(log).result_, StableLearner().fit(log).result_
    assert first == again
    assert game.gap(first) == game.gap(first.strategy)
    for delta in (2, -1.0):
        with pytest.raises(InputError, match="delta: expected a number between 0 and 1"):
            recommend(Statistics.for_learning(log), delta)


@pytest.mark.slow
def test_no_sample_counts_twice(two_logs):
    one, two = two_logs
    first, second, both = StableLearner().fit(one), StableLearner().fit(two), StableLearner().fit(one).partial_fit(two)
    for learner, other in ((first, both), (both, first), (both, second), (first, first), (both, both)):
        before = learner.statistics_
        with pytest.raises(InputError, match="both learners have seen the same log"):
            learner.merge(other)
        assert learner.statistics_ is before
    for again in (one, two, both.statistics_):
        with pytest.raises(InputError, match="this log was added before"):
            both.partial_fit(again)
    with pytest.raises(InputError, match="this log was added before"):
        first.set_params(random_state=5).partial_fit(one)
    with pytest.raises(NotFittedError):
        first.merge(StableLearner())
    merged = StableLearner().merge(both)
    assert merged.statistics_.n_samples == 600
    with pytest.raises(InputError, match="both learners have seen the same log"):
        merged.merge(second)


@pytest.mark.parametrize("certificate", ["holdout", "auto"])
def test_search_never_sees_certifying_utilities(tmp_path, monkeypatch, certificate):
    """Other utilities in the certifying samples leave the candidates as they are, and change the certificate."""
    _, log = simulated(tmp_path / "log", 200)
    statistics = Statistics.of(log, parts=PARTS)
    changed = []
    for index, part in enumerate(statistics.parts):
        values = part.entries.values.copy()
        if index >= 2:
            values[:, 1] = values[:, 1] // 2
        changed.append(replace(part, entries=replace(part.entries, values=values)))
    other = replace(statistics, parts=tuple(changed))
    certify, seen = Sealed.certify, []

    def spy(self, candidates, *rest, **options):
        certificates = certify(self, candidates, *rest, **options)
        seen.append(([one.actions for one in candidates], [one.gap for one in certificates]))
        return certificates

    monkeypatch.setattr(Sealed, "certify", spy)
    for one in (statistics, other):
        recommend(one, 0.01, certificate=certificate)
    (first, gaps), (second, other_gaps) = seen
    assert first == second
    assert gaps != other_gaps


@pytest.mark.parametrize("certificate", ["auto", "holdout", "paired", "paper"])
@pytest.mark.parametrize("feedback", ["semi-bandit", "bandit"])
def test_every_certificate_for_every_feedback(tmp_path, certificate, feedback):
    game, log = simulated(tmp_path / "log", 500, seed=2, feedback=feedback)
    learner = StableLearner(certificate=certificate).fit(log)
    found = learner.certificate_
    assert certificate in {found.method, "auto"}
    assert game.gap(learner.strategy_) <= found.gap
    alone = learner.result_.certificates
    assert (alone["holdout"] is None) == (found.method != "holdout")
    # The method alone has the whole of delta, the choice has paid for more.
    assert alone[found.method] <= found.gap + 1e-12
    assert alone["paper"] is not None


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["auto", "mixed", "paper"])
def test_mixed_strategies(tmp_path, solver):
    game, log = simulated(tmp_path / "log", 600, symmetric=False)
    learner = StableLearner(strategy="mixed", solver=solver, certificate="paired").fit(log)
    assert game.gap(learner.strategy_) <= learner.certificate_.gap
    if solver != "paper":
        pure = StableLearner(certificate="paired", solver="pure").fit(log)
        box = paired(auto.evidence_from(pure.statistics_.whole), pure.strategy_, game.actions, 0.005, form="box")
        assert learner.certificate_.gap <= box.gap + 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("options", [{"sizes": "aware"}, {"noise": "samples"}, {"sizes": "aware", "strategy": "mixed"}])
@pytest.mark.parametrize("feedback", ["semi-bandit", "bandit"])
def test_sizes_and_noise(tmp_path, options, feedback):
    game, log = simulated(tmp_path / "log", 300, n=3, k=2, feedback=feedback)
    learner = StableLearner(**options).fit(log)
    assert game.gap(learner.strategy_) <= learner.certificate_.gap
    assert learner.result_.data.sizes == options.get("sizes", "ignore")


def test_exact_solver_beyond_enumeration(tmp_path, monkeypatch):
    _, log = simulated(tmp_path / "log", 300)
    asked = {"certificate": "paired", "solver": "exact", "goal": "stability", "any_size": True}
    whole = StableLearner(**asked).fit(log)
    assert whole.result_.solver.status == "optimal"
    monkeypatch.setattr(search, "MOST_PROFILES", 10)
    program = StableLearner(**asked).fit(log)
    assert program.result_.solver.method == "mixed-integer program"


def test_one_part_leaves_only_certificates_for_all_profiles(game_and_log):
    statistics = Statistics.of(game_and_log[1], parts=(1.0,))
    assert StableLearner().fit(statistics).certificate_.method == "paired"
    with pytest.raises(InputError, match="at least two parts"):
        StableLearner(certificate="holdout").fit(statistics)


@pytest.mark.slow
def test_few_data_lead_to_what_looks_stable(tmp_path):
    _, log = simulated(tmp_path / "log", 6, n=6)
    learner = StableLearner().fit(log)
    found = recommend(learner.statistics_, 0.01)
    assert found.certificate.gap > 1
    # Utilities are between -1 and 1, so r is 1.
    rule = [1 / (1 / one.gap + 1 / 2) + one.expected_gap for one in found.candidates]
    assert found.candidates[int(np.argmin(rule))].gap == found.certificate.gap
    assert found.guess != ""


@pytest.mark.slow
def test_among_empty_promises_the_gap_to_expect_decides(tmp_path, monkeypatch):
    _, log = simulated(tmp_path / "log", 6, n=6)
    statistics = Statistics.of(log, parts=PARTS)
    tried = []

    def says(chosen):
        def gaps(game, strategies):
            tried[:] = strategies
            return np.where(np.arange(len(strategies)) == chosen, 0.0, 10.0)

        return gaps

    for chosen in (0, 3, 5):
        monkeypatch.setattr(auto, "gaps", says(chosen))
        found = recommend(statistics, 0.01)
        assert min(one.gap for one in found.candidates) > 1
        assert found.strategy == tried[chosen]
        assert [one.expected_gap for one in found.candidates] == says(chosen)(None, tried).tolist()
    alone = recommend(statistics, 0.01, certificate="paired")
    assert [one.expected_gap for one in alone.candidates] == [None]


def test_expecting_may_be_interrupted(tmp_path, monkeypatch):
    _, log = simulated(tmp_path / "log", 6, n=6)
    statistics, games = Statistics.of(log, parts=PARTS), auto.possible_games

    def impatient(*arguments, **options):
        for number, game in enumerate(games(*arguments, **options)):
            if number == 6:
                raise KeyboardInterrupt
            yield game

    monkeypatch.setattr(auto, "possible_games", impatient)
    found = recommend(statistics, 0.01)
    assert found.solution.status == "interrupted"
    assert all(one.expected_gap > 0 for one in found.candidates)


def test_tells_when_nothing_can_be_certified(tmp_path):
    (tmp_path / "pairs.csv").write_text(
        "sample,coalition,agent,partner,utility\n1,x,a,b,0.5\n1,y,c,d,-0.5\n2,x,c,d,0.1\n2,y,a,b,0.2\n"
    )
    learner = StableLearner().fit(tmp_path)
    assert "too few data" in learner.result_.warnings[0]
    assert learner.result_.estimate.gap >= 0


def test_time_limit_and_interruption(tmp_path, monkeypatch):
    game, log = simulated(tmp_path / "log", 300, n=8, k=4)
    limited = StableLearner(time_limit=1e-6, solver="pure").fit(log)
    assert limited.result_.solver.status == "time"
    assert game.gap(limited.strategy_) <= limited.certificate_.gap
    asked = []

    def check(self):
        asked.append(1)
        if len(asked) == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr(Control, "check", check)
    stopped = StableLearner(solver="pure").fit(log)
    assert stopped.result_.solver.status == "interrupted"
    assert game.gap(stopped.strategy_) <= stopped.certificate_.gap


@pytest.mark.slow
def test_certificates_hold_for_learnt_profiles(tmp_path):
    """At delta = 0.2, `auto` must be wrong in at most a fifth of the logs; it is far from that."""
    wrong = 0
    for seed in range(15):
        game, log = simulated(tmp_path / str(seed), 60, seed=seed, n=3)
        learner = StableLearner(delta=0.2).fit(log)
        wrong += game.gap(learner.strategy_) > learner.certificate_.gap + 1e-9
    assert wrong <= 6


def test_statistics_must_be_what_the_learner_wants(game_and_log):
    statistics = Statistics.of(game_and_log[1], parts=PARTS)
    with pytest.raises(InputError, match='made with noise="pairs", wanted is noise="samples"'):
        StableLearner(noise="samples").fit(statistics)


def test_the_same_log_does_not_count_twice(game_and_log):
    learner = StableLearner().fit(game_and_log[1])
    with pytest.raises(InputError, match="added before"):
        learner.partial_fit(game_and_log[1])
    with pytest.raises(InputError, match="expected a Log"):
        learner.partial_fit([1])


@pytest.mark.slow
def test_a_target_is_preferred_to_what_looks_stable(tmp_path):
    _, log = simulated(tmp_path / "log", 30, n=6)
    free = StableLearner().fit(log)
    smallest = min(one.gap for one in free.result_.options)
    wanted = StableLearner(target_gap=smallest).fit(log)
    assert wanted.certificate_.gap <= smallest <= free.certificate_.gap
    with pytest.raises(InputError, match="target_gap: expected a number from 0 up"):
        StableLearner(target_gap=-1).fit(log)


def pennies(samples, noise=0.0):
    """Two agents, two rooms: a wants to meet b, b wants to be alone."""
    import pandas as pd

    rng = np.random.default_rng(0)
    rows = [
        (s, "xy"[s % 2], *pair, value + noise * rng.uniform(-1, 1))
        for s in range(samples)
        for pair, value in ((("a", "b"), 0.9), (("b", "a"), -0.9))
    ]
    frame = pd.DataFrame(rows, columns=["sample", "coalition", "agent", "partner", "utility"])
    return coterie.Log.from_frames(pairs=frame, symmetric=False, actions="one")


@pytest.mark.slow
def test_says_where_no_stable_pure_profile_exists():
    learner = StableLearner().fit(pennies(400))
    assert learner.result_.solver.status in {"optimal", "converged"}
    assert any('strategy="mixed"' in warning for warning in learner.result_.warnings)
    # There are data enough: it is the profile that is not stable.
    assert not any("too few data" in warning for warning in learner.result_.warnings)
    assert StableLearner(strategy="mixed").fit(pennies(4000)).certificate_.gap < learner.certificate_.gap


@pytest.mark.parametrize("strategy", ["pure", "mixed"])
@pytest.mark.parametrize("feedback", ["semi-bandit", "bandit"])
def test_utilities_without_bounds(tmp_path, strategy, feedback):
    simulated(tmp_path / "log", 200, n=3, feedback=feedback)
    (tmp_path / "log" / "log.json").unlink()
    log = coterie.read_log(tmp_path / "log", sigma=1.0)
    learner = StableLearner(strategy=strategy).fit(log)
    assert learner.result_.certificates["paper"] is None
    learner.result_.save(tmp_path / "result.json")
    again = coterie.Result.load(tmp_path / "result.json")
    assert again.range_gap == learner.result_.range_gap == float("inf")
    with pytest.raises(InputError, match="the paper's certificate is defined"):
        StableLearner(certificate="paper").fit(log)


@pytest.mark.parametrize("feedback", ["semi-bandit", "bandit"])
def test_the_paper_s_certificate_of_its_own_unbounded_games(tmp_path, feedback):
    game, log = simulated(
        tmp_path / "log", 400, n=3, k=5, model="mixed-effects", feedback=feedback, actions_per_agent=None
    )
    assert log.sigma == 1.0
    learner = StableLearner(certificate="paper", strategy="mixed", solver="paper").fit(log)
    found = learner.certificate_
    assert (found.method, learner.result_.certificates["paper"]) == ("paper", found.gap)
    assert any("sub-Gaussian with scale 1" in text for text in found.assumes)
    assert any("as printed" in text for text in found.assumes)
    statistics, spaces = learner.statistics_, game.actions
    again = paper_scheme(paper_evidence(statistics.whole), spaces, 0.01, Control(0), n_samples=400)
    assert found.gap == pytest.approx(again.certificate)
    if feedback == "semi-bandit":
        twice = StableLearner(certificate="paper", strategy="mixed", solver="paper").fit(
            coterie.read_log(tmp_path / "log", sigma=2.0)
        )
        # Twice the scale is twice the bonus; what is recommended hardly changes.
        assert twice.certificate_.gap > 1.5 * found.gap
    else:
        with pytest.raises(InputError, match='say solver="paper", or strategy="pure"'):
            StableLearner(certificate="paper", strategy="mixed").fit(log)


def test_the_paper_s_certificate_allows_for_pairs_that_never_met_also_with_a_small_scale():
    """With scale 0.05 the printed bonus of an unseen pair would be 0.2, and its mean may be 1."""
    pairs = pd.DataFrame({"sample": range(20), "coalition": "x", "agent": "a", "partner": "b", "utility": 0.1})
    alone = pd.DataFrame([(m, a, "y" if a == "c" else "x") for m in range(20) for a in "abc"])
    log = coterie.Log.from_frames(
        memberships=alone.set_axis(["sample", "agent", "coalition"], axis=1), pairs=pairs, sigma=0.05,
        utility_range=(-1, 1), actions="one",
    )  # fmt: skip
    today = {"a": ["x"], "b": ["x"], "c": ["y"]}
    found = coterie.certify(log, today, certificate="paper").certificate
    # Agent c may be worth 1 to a and to b, who may be worth -1 to each other there or here.
    means = np.array([[[0, 0.1, 1], [0.1, 0, 1], [1, 1, 0]]] * 2)
    game = coterie.Game(means, "one", agents=["a", "b", "c"], coalitions=["x", "y"])
    assert found.gap >= game.gap(today) == 2.0


def test_one_agent_is_refused(tmp_path):
    (tmp_path / "memberships.csv").write_text("sample,agent,coalition\n1,a,x\n2,a,y\n")
    (tmp_path / "totals.csv").write_text("sample,agent,utility\n1,a,0\n2,a,0\n")
    with pytest.raises(InputError, match="one agent only"):
        StableLearner().fit(tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("at", [2, 5, 9])
@pytest.mark.parametrize("strategy", ["pure", "mixed"])
def test_an_interruption_ends_everything(tmp_path, monkeypatch, at, strategy):
    _, log = simulated(tmp_path / "log", 20, n=5)
    asked = []

    def check(self):
        asked.append(1)
        if len(asked) == at:
            raise KeyboardInterrupt

    monkeypatch.setattr(Control, "check", check)
    stopped = StableLearner(strategy=strategy).fit(log)
    assert stopped.result_.solver.status == "interrupted"


def test_does_not_hope_for_coalitions_never_observed(tmp_path):
    """Three of four always choose {1, 3, 5}, so nobody meets in coalitions 2 and 4, where utilities are worst."""
    source = Simulation.draw(4, 5, np.random.default_rng(0), model="mixed-effects", policy="coalition-size")
    source.write_log(tmp_path / "log", 2000)
    log = coterie.read_log(tmp_path / "log", sigma=1.0)
    found = recommend(Statistics.of(log, sizes="aware", noise="samples", parts=PARTS), 0.01)
    game = source.game
    assert game.gap(Strategy.uniform(game.actions, game.agents, game.coalitions)) == pytest.approx(1.0)
    assert game.gap(found.strategy) < 0.3


def test_a_bandit_log_is_read_twice(tmp_path):
    """Its statistics alone can be read once only: the width is then that of the range of utilities."""
    source = Simulation.draw(5, 3, np.random.default_rng(4), actions_per_agent=3)
    source.write_log(tmp_path / "log", 3000, feedback="bandit", table_format="parquet")
    log = coterie.read_log(tmp_path / "log")
    told = []
    learner = StableLearner(certificate="holdout", progress=told.append).fit(log)
    alone = StableLearner(certificate="holdout").fit(learner.statistics_)
    found, once = learner.certificate_, alone.certificate_
    assert source.game.gap(learner.strategy_) <= found.gap
    assert found.worst.bound < once.worst.bound
    assert any(one.method == "second pass" for one in told)
    assert found.assumes == once.assumes
    assert StableLearner(certificate="holdout").fit(log).certificate_.gap == found.gap  # and the same again
    hurried = StableLearner(certificate="holdout", time_limit=1e-6).fit(log)
    assert source.game.gap(hurried.strategy_) <= hurried.certificate_.gap
