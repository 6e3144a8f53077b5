"""Plans under rules: enumeration finds nothing better, every sample can be formed, and what it buys is said."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import coterie
from coterie import ActionSpaces, InputError, Rules, Strategy
from coterie.certificates.against import Against, fixed_against, paired_against
from coterie.certificates.pair_evidence import PairEvidence
from coterie.collect import Outlook, plan_collection, plan_totals, samples_needed, what_to_collect
from coterie.collect.allowed import Allowed
from coterie.collect.worth import worth_of
from coterie.estimate.intervals import Bounds
from coterie.estimate.pair_means import PairEstimate
from coterie.estimate.unknowns import Aware, Pooled, SizeFree
from coterie.game.actions import exactly_one
from coterie.game.admissible import Admissible
from coterie.simulate import FirmPlan, Simulation, rated_firm
from coterie.solve import teams

DELTA = 0.05


def evidence_of(seed, n, k, *, seen=20, unknowns=None, new=()):
    """Evidence about a small game in which nothing is known of some agents."""
    rng, unknowns = np.random.default_rng(seed), unknowns or SizeFree()
    tables = 1 if unknowns.is_pooled else k
    shape = (tables, n, n, n + 1) if unknowns.by_size else (tables, n, n)
    count, mean = rng.integers(2, seen, shape).astype(float), rng.uniform(-0.5, 0.5, shape)
    upper = np.triu(np.ones((n, n), dtype=bool), 1)
    for i in new:
        upper[i] = upper[:, i] = False
    upper = upper[..., None] if unknowns.by_size else upper
    count, mean = count * upper, mean * upper
    count, mean = count + np.swapaxes(count, 1, 2), mean + np.swapaxes(mean, 1, 2)
    squares = count * (mean**2 + 0.1)
    estimate = PairEstimate.from_sums(unknowns, count, count * mean, squares, Bounds(-1.0, 1.0), n_coalitions=k)
    return PairEvidence(estimate)


def split(n, k):
    """Everybody in one coalition, dealt in turn."""
    return Strategy.pure(np.eye(k, dtype=bool)[np.arange(n) % k])


def allowed_by(rules, strategy, *, today=None, interchangeable=False, spaces=None):
    n, k = strategy.sets.shape
    admissible = Admissible.of(
        rules, strategy.agents, strategy.coalitions, today=today, interchangeable=interchangeable
    )
    spaces = ActionSpaces.shared(exactly_one(k), n) if spaces is None else spaces
    return Allowed.of(spaces, admissible, np.full(k, n), strategy)


# --- The best sample ----------------------------------------------------------------------------------


@st.composite
def tasks(draw):
    n, k = draw(st.integers(4, 6)), draw(st.integers(2, 3))
    strategy = split(n, k)
    agents, coalitions = strategy.agents, strategy.coalitions
    pairs = draw(st.lists(st.sampled_from([(i, j) for i in range(n) for j in range(i)]), max_size=2, unique=True))
    asked = {}
    if draw(st.booleans()):
        asked["team_size"] = (draw(st.integers(0, n // k)), draw(st.integers(-(-n // k), n)))
    if pairs:
        asked["together"] = [(agents[pairs[0][0]], agents[pairs[0][1]])]
    if len(pairs) > 1:
        asked["apart"] = [(agents[pairs[1][0]], agents[pairs[1][1]])]
    pooled = draw(st.booleans())
    if not pooled and draw(st.booleans()):  # where labels mean nothing, rules do not name them
        asked["ban"] = {agents[draw(st.integers(0, n - 1))]: [coalitions[0]]}
    if draw(st.booleans()):
        asked["staff"] = agents[: draw(st.integers(3, n))]
        asked = {name: value for name, value in asked.items() if name in {"staff", "ban"}}
    if draw(st.booleans()):
        asked["max_moves"] = draw(st.integers(0, n))
    return Rules(**asked), strategy, pooled, draw(st.integers(0, 10**6))


@settings(max_examples=25, deadline=None)
@given(tasks())
def test_the_best_sample_is_the_best_of_all_that_can_be_formed(task):
    rules, strategy, pooled, seed = task
    rng = np.random.default_rng(seed)
    (n, k), unknowns = strategy.sets.shape, Pooled() if pooled else SizeFree()
    pairs = rng.exponential(size=(1 if pooled else k, n, n))
    pairs = np.triu(pairs, 1) + np.swapaxes(np.triu(pairs, 1), 1, 2)
    today = strategy.sets if rules.max_moves is not None else None
    allowed = allowed_by(rules, strategy, today=today, interchangeable=pooled)
    staff = allowed.admissible.staff
    spaces = allowed.admissible.spaces(allowed.spaces)

    def worth(profile):
        return float((unknowns.observed(profile[None], [1]) * pairs).sum())

    everything = (profile for block in spaces.joint_actions() for profile in block)
    best = max((worth(profile) for profile in everything if allowed.admissible.holds(profile)), default=None)
    if best is None:
        with pytest.raises(InputError, match="no assignment keeps all rules"):
            allowed.best(unknowns, pairs, rng)
        return
    found = allowed.best(unknowns, pairs, rng)
    assert worth(found) == pytest.approx(best)
    assert allowed.admissible.holds(found)
    assert not found[~staff].any()
    assert found[staff].any(axis=1).all()
    if rules.max_moves is not None:
        assert allowed.moves(found) <= rules.max_moves


@pytest.mark.parametrize("seed", [0, 3])
def test_searching_finds_what_looking_at_all_finds(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    strategy = split(7, 3)
    pairs = rng.exponential(size=(3, 7, 7))
    pairs = np.triu(pairs, 1) + np.swapaxes(np.triu(pairs, 1), 1, 2)
    allowed = allowed_by(Rules(team_size="2:3", max_moves=4), strategy, today=strategy.sets)

    def worth(profile):
        return float((SizeFree().observed(profile[None], [1]) * pairs).sum())

    exact = worth(best := allowed.best(SizeFree(), pairs, np.random.default_rng(0)))
    monkeypatch.setattr(teams, "ENUMERATED", 0)
    assert worth(allowed.best(SizeFree(), pairs, np.random.default_rng(0))) == pytest.approx(exact)
    # What was planned before is kept unless something is better, however little all of it is worth.
    assert allowed.best(SizeFree(), pairs * 1e-12, np.random.default_rng(0), [best]) is best
    worse = strategy.sets
    assert (
        worth(worse) < worth(allowed.best(SizeFree(), pairs * 1e-12, np.random.default_rng(0), [worse])) <= exact + 1e-9
    )


# --- Certificates -------------------------------------------------------------------------------------


@pytest.mark.parametrize("unknowns", [SizeFree(), Aware(), Pooled()])
@pytest.mark.parametrize(
    ("stability", "value"),
    [("swap", "average"), ("swap", "total"), ("individual", "total"), ("contractual", "average")],
)
def test_what_is_certified_now_is_the_certificate_that_was_asked_for(stability, value, unknowns):
    evidence, strategy = evidence_of(1, 5, 2, unknowns=unknowns), split(5, 2)
    spaces = ActionSpaces.shared(exactly_one(2), 5)
    admissible = Admissible.of(Rules(team_size="1:4"), strategy.agents, strategy.coalitions)
    against = Against(spaces, stability, value, admissible)
    now = Outlook(evidence, strategy, spaces, DELTA, fresh=False, against=against).now()
    assert now == paired_against(evidence, strategy, against, DELTA).gap > 0
    fresh = Outlook(evidence, strategy, spaces, DELTA, fresh=True, against=against)
    many = fresh.with_counts(np.where(fresh.base + evidence.estimate.moments.count > 0, 50.0, 0.0))
    assert fresh.steps.gap(many) == fixed_against(many, strategy, against, DELTA).gap


@pytest.mark.parametrize("unknowns", [SizeFree(), Aware(), Pooled()])
def test_weights_are_the_gradient_of_the_rows_that_decide(unknowns):
    """Finite differences of sum over steps of w_d width_d sqrt(q_d), with w and the deciding rows held fixed."""
    evidence, strategy = evidence_of(3, 5, 2, unknowns=unknowns), split(5, 2)
    spaces = ActionSpaces.shared(exactly_one(2), 5)
    admissible = Admissible.of(Rules(team_size="2:3"), strategy.agents, strategy.coalitions)
    outlook = Outlook(
        evidence, strategy, spaces, DELTA, fresh=False, against=Against(spaces, "swap", "average", admissible)
    )
    base = outlook.base + 3 * (outlook.base > 0)
    found = worth_of(outlook, base).pairs
    rows, widths, _ = outlook.steps.deciding(outlook.with_counts(base))
    design, r2 = outlook.steps.design, evidence.estimate.bounds.half_range**2
    variance = np.where(base > 0, np.maximum(outlook.variance, 0.01 * r2), r2)

    def forms(count):
        places = design.places
        return np.bincount(design.row, design.weight**2 * variance[places] / count[places], len(design.owners))

    def value(count):
        return float((widths * np.sqrt(forms(count)[rows] / forms(base)[rows])).sum())

    tried = np.argwhere((found > 1e-6 * found.max()) & (base > 0))
    assert len(tried) >= 4
    for l, i, j, *size in tried.tolist():
        step = np.zeros_like(base)
        step[(l, i, j, *size)] = step[(l, j, i, *size)] = 1e-4
        slope = (value(base - step) - value(base + step)) / 2e-4
        assert found[(l, i, j, *size)] == pytest.approx(slope, rel=1e-4)


# --- Plans --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("unknowns", [SizeFree(), Aware(), Pooled()])
@pytest.mark.parametrize("fresh", [False, True])
def test_every_planned_sample_can_be_formed(unknowns, fresh):
    n, k = 6, 3
    strategy = split(n, k)
    agents = strategy.agents
    rules = Rules(team_size="1:3", apart=[(agents[0], agents[1])], staff=agents[:5], max_moves=2)
    pooled = unknowns.is_pooled
    allowed = allowed_by(rules, strategy, today=strategy.sets, interchangeable=pooled)
    profile = Strategy.pure(strategy.sets & allowed.admissible.staff[:, None], agents, strategy.coalitions)
    spaces = ActionSpaces.shared(exactly_one(k), n)
    against = Against(spaces, "swap", "average", allowed.admissible)
    plan = plan_collection(
        evidence_of(0, n, k, unknowns=unknowns), profile, spaces, DELTA, 60, np.random.default_rng(0), fresh=fresh,
        against=against, allowed=allowed,
    )  # fmt: skip
    assert sum(one.times for one in plan.plan) == 60
    for one in plan.plan:
        members = one.strategy.members()
        assert all(1 <= len(team) <= 3 for team in members.values())
        assert not any({agents[0], agents[1]} <= set(team) for team in members.values())
        assert not one.strategy.actions[agents[5]]
        assert one.moves == allowed.admissible.moves(one.strategy.sets) <= 2
        if not pooled:
            assert one.moves == (one.strategy.sets != profile.sets).any(axis=1).sum()
    assert plan.predicted <= plan.today + 1e-9 or fresh
    assert plan.predicted < plan.now
    assert plan.limit >= 0
    assert plan.newcomers == ()


def test_interchangeable_coalitions_are_renamed_so_that_fewest_move():
    """Nobody may move: today's teams, whatever they are called."""
    strategy = split(6, 2)
    allowed = allowed_by(Rules(max_moves=0), strategy, today=strategy.sets, interchangeable=True)
    swapped = strategy.sets[:, ::-1]
    assert allowed.moves(swapped) == 0
    spaces = ActionSpaces.shared(exactly_one(2), 6)
    evidence = evidence_of(0, 6, 2, unknowns=Pooled())
    plan = plan_collection(evidence, strategy, spaces, DELTA, 20, np.random.default_rng(0), allowed=allowed)
    for one in plan.plan:
        assert any((one.strategy.sets == same).all() for same in (strategy.sets, swapped))
    assert plan.predicted == pytest.approx(plan.today, rel=0.05)


def test_without_rules_nothing_changes():
    """To all digits what it was before there were rules, also where they say nothing."""
    rng = np.random.default_rng(2)
    n, k = 4, 2
    count = rng.integers(2, 20, (k, n, n)).astype(float)
    mean = rng.uniform(-0.5, 0.5, (k, n, n))
    count, mean = np.triu(count, 1), np.triu(mean, 1)
    count, mean = count + np.swapaxes(count, 1, 2), mean + np.swapaxes(mean, 1, 2)
    evidence = PairEvidence(
        PairEstimate.from_sums(SizeFree(), count, count * mean, count * (mean**2 + 0.1), Bounds(-1.0, 1.0))
    )
    spaces = ActionSpaces.shared(exactly_one(k), n)
    profile = Strategy.pure(spaces.sample(rng, 1)[0])
    free = Against(spaces, admissible=Admissible.of(Rules(), profile.agents, profile.coalitions))
    for against in (None, free):
        found = plan_collection(
            evidence, profile, spaces, DELTA, 30, np.random.default_rng(1), against=against
        ).to_json()
        assert found["certificate_now"] == pytest.approx(2.844459103858722, rel=1e-12)
        assert found["predicted"] == pytest.approx(1.8877444339918423, rel=1e-9)
        assert found["predicted_random"] == pytest.approx(2.340128555980748, rel=1e-9)
        assert found["no_plan_below"] == pytest.approx(1.570273327803592, rel=1e-12)
        assert [one["times"] for one in found["plan"]] == [22, 8]


def test_newcomers_come_first():
    n, k = 6, 2
    strategy = split(n, k)
    spaces = ActionSpaces.shared(exactly_one(k), n)
    rules = Rules(team_size=3)
    allowed = allowed_by(rules, strategy)
    plan = plan_collection(
        evidence_of(0, n, k, seen=60, new=[5]), strategy, spaces, DELTA, 40, np.random.default_rng(0),
        against=Against(spaces, "swap", "average", allowed.admissible), allowed=allowed,
    )  # fmt: skip
    assert plan.newcomers == ("6",)
    assert plan.newcomers_share > 0.5
    assert "6" in {plan.needs[0].agent, plan.needs[0].partner}
    assert all(one.strategy.actions["6"] for one in plan.plan)


@pytest.mark.slow
def test_targets_under_rules():
    n, k = 5, 2
    strategy, spaces = split(n, k), ActionSpaces.shared(exactly_one(k), n)
    allowed = allowed_by(Rules(team_size="2:3", max_moves=2), strategy, today=strategy.sets)
    options = {"against": Against(spaces, "swap", "average", allowed.admissible), "allowed": allowed}
    evidence, rng = evidence_of(4, n, k), np.random.default_rng(0)
    now = Outlook(evidence, strategy, spaces, DELTA, fresh=False, against=options["against"])
    target = (now.now() + now.limit(rng)) / 2
    needed, plan = samples_needed(evidence, strategy, spaces, DELTA, target, rng, most=5000, **options)
    assert needed == plan.samples
    assert plan.predicted <= 1.1 * target
    assert all(one.moves <= 2 for one in plan.plan)
    out_of_reach, plan = samples_needed(evidence, strategy, spaces, DELTA, 0.0, rng, most=16, **options)
    assert out_of_reach is None
    assert plan.samples == 16


@pytest.mark.parametrize("fresh", [False, True])
def test_totals_under_rules(tmp_path, fresh):
    from coterie.certificates import evidence_from
    from coterie.statistics.statistics import Statistics

    source = Simulation.draw(5, 2, np.random.default_rng(1), actions_per_agent=3)
    source.write_log(tmp_path / "log", 80, feedback="bandit")
    whole = Statistics.of(coterie.read_log(tmp_path / "log"), parts=(1.0,)).whole
    strategy = Strategy.pure(split(5, 2).sets, source.game.agents, source.game.coalitions)
    spaces = ActionSpaces.shared(exactly_one(2), 5)
    allowed = allowed_by(Rules(team_size="2:3", max_moves=2), strategy, today=strategy.sets)
    against = Against(spaces, "swap", "average", allowed.admissible)
    evidence = evidence_from(whole)
    plan = plan_totals(
        evidence, strategy, spaces, DELTA, 80, np.random.default_rng(0), fresh=fresh, against=against, allowed=allowed
    )
    if not fresh:
        assert plan.now == pytest.approx(paired_against(evidence, strategy, against, DELTA).gap)
    assert plan.predicted < plan.now
    assert sum(one.times for one in plan.plan) == 80
    for one in plan.plan:
        assert allowed.allows(one.strategy.sets)
        assert one.moves <= 2


# --- From a log ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def firm():
    return rated_firm(0, FirmPlan(n_agents=8, n_coalitions=2, months=24, sizes=(3, 5)))


def test_what_to_collect_from_a_log(firm):
    log, today = firm.log(), firm.today
    aim = what_to_collect(
        log, today, 400, value="average", today=today, keep_sizes=True, change_at_most=3, noise="pairs"
    )
    sizes = {name: len(team) for name, team in today.members().items()}
    certified = coterie.certify(log, today, value="average", noise="pairs", rules=Rules(team_size=sizes))
    assert aim.certificate == certified.certificate.gap
    assert aim.is_worthwhile
    assert aim.buys().startswith("400 more rounds by this plan are expected to prove that nobody can gain more than")
    assert "by moving or by a swap that both gain from" in aim.buys()
    for one in aim.plan.plan:
        assert {name: len(team) for name, team in one.strategy.members().items()} == sizes
        assert one.moves <= 3
    assert aim.to_json()["collect"]["plan"][0]["moves"] <= 3


def test_nothing_sensible_can_be_bought(firm):
    """Three samples certify nothing more; what would help is worked out."""
    aim = what_to_collect(
        firm.log(), firm.today, 3, value="average", today=firm.today, keep_sizes=True, change_at_most=0, noise="pairs"
    )
    assert not aim.is_worthwhile
    assert aim.buys().startswith("3 more rounds would prove")
    assert aim.would_help
    assert aim.newcomers() == ""


@pytest.mark.slow
def test_people_come_and_go(firm):
    agents = firm.truth.agents
    left, stays = agents[0], agents[1:]
    today = {agent: rooms for agent, rooms in firm.today.actions.items() if agent != left}
    aim = what_to_collect(
        firm.log(), {**today, "Zoe": ["c1"]}, 200, rules=Rules(staff=(*stays, "Zoe"), team_size="3:5"), today=today,
        value="average", change_at_most=4, noise="pairs",
    )  # fmt: skip
    assert aim.plan.newcomers == ("Zoe",)
    assert aim.is_worthwhile
    assert aim.newcomers().startswith("Newcomers first: nothing is known of Zoe yet, and pairs with newcomers have")
    for one in aim.plan.plan:
        assert not one.strategy.actions[left]
        assert len(one.strategy.actions["Zoe"]) >= 1
        assert one.moves <= 4
    assert aim.warnings == ()
    few = what_to_collect(
        firm.log(), {**today, "Zoe": ["c1"]}, 2, rules=Rules(staff=(*stays, "Zoe"), team_size="3:5"), delta=0.5,
        noise="pairs",
    )  # fmt: skip
    assert not few.is_worthwhile
    assert few.newcomers().startswith("Newcomers first")
    others = coterie.certify(
        firm.log(), {**today, "Zoe": ["c1"], left: []}, rules=Rules(staff=(*stays, "Zoe"), team_size="3:5"), delta=0.5,
        noise="pairs", min_samples=1,
    )  # fmt: skip
    gap = others.certificate.gap
    told = f"(min_samples=1): the others cannot gain more than {gap:.3g}, as the log proves"
    assert (f"to leave Zoe out of the promise {told}" in few.would_help) == (gap <= 0.95 * few.plan.predicted)
    nowhere = what_to_collect(
        firm.log(), today, 4, rules=Rules(staff=(*stays, "Zoe"), team_size="3:5"), value="average", noise="pairs"
    )
    assert any("newcomers are nowhere: Zoe" in note for note in nowhere.warnings)
    assert all(one.strategy.actions["Zoe"] for one in nowhere.plan.plan)  # she need not stay so


def test_bad_input_is_refused(firm):
    with pytest.raises(InputError, match="change_at_most needs to know who is where today: today"):
        what_to_collect(firm.log(), firm.today, 5, change_at_most=2)
    with pytest.raises(InputError, match="change_at_most: expected at least 0"):
        what_to_collect(firm.log(), firm.today, 5, change_at_most=-1, today=firm.today)
    with pytest.raises(InputError, match="no assignment keeps all rules"):
        what_to_collect(
            firm.log(), firm.today, 5, change_at_most=0, today=firm.today, rules=Rules(team_size=4, per_person=2)
        )
    with pytest.raises(InputError, match="collect: expected"):
        what_to_collect(firm.log(), firm.today, 0)
