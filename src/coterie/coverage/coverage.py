"""Is a log enough, and what is missing? Sizes (Assumption 1), pairs, and directions of totals (Assumption 2)."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from os import PathLike
from typing import Any, Literal

import numpy as np

from coterie import checks
from coterie.arrays import BoolArray, FloatArray, IntArray
from coterie.certificates.widened import widened
from coterie.coverage.action_coverage import action_coverage, all_profiles
from coterie.coverage.reach import AnyReach, ProfileReach, Reach, smallest_action
from coterie.coverage.seen import Explores, Seen, seen_by, seen_in
from coterie.coverage.witnesses import Direction, Interval, PairWitness, SizeWitness
from coterie.errors import InputError
from coterie.estimate import confidence
from coterie.files import record
from coterie.game.actions import ActionSpaces, names_in
from coterie.game.strategy import Strategy, StrategyLike, as_strategy
from coterie.log.log import Log
from coterie.statistics.pair_statistics import PairStatistics
from coterie.statistics.setting import Sizes
from coterie.statistics.statistics import Statistics
from coterie.statistics.total_statistics import TotalStatistics
from coterie.words import counted, data_frame, html_table, said

INTERVAL_DELTA = 0.05
"""How often an interval may fail unless somebody says otherwise."""

LISTED = 1000
"""How many uncovered pairs are named; all of them are counted."""

PEOPLE = 10
"""How many people are named who are in most of them."""


@dataclass(frozen=True)
class Coverage:
    """How well a log covers what deviations from a profile can bring about."""

    samples: int | None
    """None for a policy."""
    pairs_unseen: int
    """Unordered pairs x coalitions that both action spaces allow and that never met (pooled: pairs)."""
    assumption_1: bool
    c_size: float
    """max Pr[|C_l| = s under a deviation] / rho_l(s), infinite where a reachable size is unseen."""
    assumption_2: bool | None
    """None for semi-bandit logs, and where it has no closed form."""
    c_act: float | None
    c_pair: float | None
    """max p_j(l) / rho_l(i, j) over reachable pairs; None where totals hide how often pairs met."""
    profile: Literal["pure", "mixed", "all"] | None = None
    """"all" is whatever the action spaces allow. From here on, files that others wrote may say nothing."""
    c_size_from_2: float | None = None
    """The same as c_size over sizes from 2 up: nobody gets anything from a smaller coalition."""
    c_size_seen: float | None = None
    """The same over seen sizes only, as eq. (7) is printed."""
    c_size_interval: Interval | None = None
    """Of c_size where frequencies stand for an unknown policy; None for a policy."""
    covers_pairs: bool = False
    """Whether every pair that a deviation can bring together was seen together."""
    c_pair_interval: Interval | None = None
    c_act_is_exact: bool = True
    n_uncovered_pairs: int = 0
    """Of two people whose order does not matter one pair is counted."""
    uncovered_people: tuple[tuple[str, int], ...] = ()
    """Who is in most of them, and in how many; at most `PEOPLE`."""
    delta: float = INTERVAL_DELTA
    """Each interval fails with probability at most delta."""
    uncovered_sizes: tuple[SizeWitness, ...] = ()
    uncovered_pairs: tuple[PairWitness, ...] = ()
    """The most probable of them, at most `LISTED`."""
    tightest_size: SizeWitness | None = None
    """Where c_size is attained among the sizes that were seen."""
    tightest_pair: PairWitness | None = None
    worst_direction: Direction | None = None
    one_way: bool = False
    """Whether pairs have an order: what one says of the other was seen, or not, and what the other says is another."""

    @property
    def is_enough(self) -> bool:
        """Whether nothing that a deviation can bring about is altogether unknown."""
        return self.covers_pairs and self.assumption_2 is not False

    def to_json(self) -> dict[str, Any]:
        """Return the `coverage` part of a result file, with all witnesses."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Coverage":
        """Read what `to_json` returned, or the `coverage` part of a result file."""
        # Where all pairs met, those that a deviation can bring together did.
        found: Coverage = record(cls, {"covers_pairs": data.get("pairs_unseen") == 0, **data}, "coverage")
        return found

    def _repr_html_(self) -> str:
        """Return the coefficients and what was never seen as a table, for notebooks."""
        rows = [("coverage", ""), ("", "enough" if self.is_enough else "not enough")]
        numbers = {"pairs (c_pair)": self.c_pair, "sizes (c_size)": self.c_size, "totals (c_act)": self.c_act}
        rows += [(name, f"{value:.4g}") for name, value in numbers.items() if value is not None]
        rows += [("never met", f"{one.agent}, {one.partner} in {one.coalition}") for one in self.uncovered_pairs[:10]]
        return html_table(rows)

    def to_frame(self) -> Any:
        """Return a pandas data frame of the pairs that a deviation can bring together and that never met."""
        rows = [(one.agent, one.partner, one.coalition, one.size) for one in self.uncovered_pairs]
        return data_frame([("agent", "partner", "coalition", "size"), *rows])

    def __repr__(self) -> str:
        about = "a policy" if self.samples is None else counted(self.samples, "sample")
        numbers = {"c_pair": self.c_pair, "c_size": self.c_size, "c_act": self.c_act}
        shown = ", ".join(f"{name} {value:.4g}" for name, value in numbers.items() if value is not None)
        missing = "" if not self.n_uncovered_pairs else f"; {counted(self.n_uncovered_pairs, 'pair')} never met"
        return f"Coverage({about}, {'enough' if self.is_enough else 'not enough'}: {shown}{missing})"


def coverage(
    log: Log | str | PathLike[str] | Statistics | PairStatistics | TotalStatistics | Explores | Seen,
    strategy: StrategyLike | None = None,
    actions: Any = None,
    *,
    delta: float = INTERVAL_DELTA,
    sizes: Sizes = "ignore",
) -> Coverage:
    """Return how well a log, or a known policy, covers the deviations from a profile.

    Everything is exact for strategies in which agents draw independently. Without a profile, the
    worst case over all profiles of the action spaces counts. For a bandit log c_act and c_pair need the
    sums without weights (`unweighted=True`); statistics without them leave these two None, and whether
    Assumption 2 holds is known all the same.

    Parameters
    ----------
    log
        What was seen: a log, or the folder or file that one is in; statistics of a log or of a part of it; or a
        policy, whose probabilities are exact (for the totals that it shows, `seen_by(policy, bandit=True)`).
    strategy
        The profile, pure or mixed (or what `as_strategy` takes); its own sets count as allowed. None for all profiles.
    actions
        What the agents may do, as for a `Game`; by default the log's actions, and the strategy's where it has others.
        A policy needs them.
    delta
        How often an interval of a coefficient may fail, over logs of independent samples.
    sizes
        Of a log: "aware" gives every size of a coalition its own unknowns. Statistics have made that choice.
    """
    checks.probability(delta, said("delta"))
    checks.one_of(sizes, Sizes, said("sizes"))
    if not isinstance(log, (Seen, Explores, Statistics, PairStatistics, TotalStatistics)):
        log = Statistics.for_coverage(log, sizes=sizes)
    seen = _seen(log, strategy)
    if strategy is not None:
        called = log.clues.called if isinstance(log, Statistics) else None
        strategy = as_strategy(strategy, seen.agents, seen.coalitions, "the log's", called)
    spaces = _spaces(actions, seen, strategy)
    reach: Reach = AnyReach(spaces) if strategy is None else ProfileReach(strategy, spaces)
    found = None
    if seen.bandit:
        found = all_profiles(seen, spaces) if strategy is None else action_coverage(seen, strategy, spaces)
    return Coverage(
        samples=seen.n_samples,
        profile="all" if strategy is None else "pure" if strategy.is_pure else "mixed",
        pairs_unseen=_pairs_unseen(seen, spaces),
        **_sizes(seen, reach, delta),
        **_pairs(seen, reach, delta),
        assumption_2=None if found is None else found.holds,
        c_act=None if found is None else found.coefficient,
        c_act_is_exact=found is None or found.is_exact,
        worst_direction=None if found is None else found.worst,
        delta=delta,
        one_way=_one_way(seen),
    )


def _seen(log: Any, strategy: Any) -> Seen:
    """Return what there is to see in whatever was given."""
    if isinstance(log, Seen):
        return log
    if isinstance(log, Explores):
        return seen_by(log, *((strategy.agents, strategy.coalitions) if isinstance(strategy, Strategy) else ()))
    return seen_in(log)


def _spaces(actions: Any, seen: Seen, strategy: Strategy | None) -> ActionSpaces:
    """Return what agents may do: as given, or as in the log, with the strategy's sets."""
    if actions is None:
        if seen.actions is None:
            raise InputError(f"{said('actions')}: a policy does not say what agents may do")
        return seen.actions if strategy is None else widened(seen.actions, strategy)[0]
    spaces = actions
    if not isinstance(spaces, ActionSpaces):
        spaces = ActionSpaces.parse(actions, seen.agents, seen.coalitions)
    if (len(seen.agents), len(seen.coalitions)) != (spaces.n_agents, spaces.n_coalitions):
        raise InputError("the action spaces are not those of the log's agents and coalitions")
    return spaces


def scarcest(seen: Seen, strategy: Strategy | None, spaces: ActionSpaces) -> FloatArray | None:
    """Return how often each two agents met per sample where a move can bring them together, at the rarest such place.

    Shape (n, n), symmetric; infinite where nothing brings them together. None where totals hide it.
    """
    if seen.meetings is None:
        return None
    reach: Reach = AnyReach(spaces) if strategy is None else ProfileReach(strategy, spaces)
    found, agents = np.full((spaces.n_agents, spaces.n_agents), np.inf), np.arange(spaces.n_agents)
    for l in range(spaces.n_coalitions):
        rates = np.where(reach.partners(l, agents, aware=seen.aware) > 0, seen.meetings(seen.table(l), agents), np.inf)
        found = np.minimum(found, rates if rates.ndim == 2 else rates.min(axis=2))
    return np.asarray(np.minimum(found, found.T))


def _sizes(seen: Seen, reach: Reach, delta: float) -> dict[str, Any]:
    """Return Assumption 1 and the forms of c_size (eq. 7) with their witnesses."""
    found: dict[tuple[int, int], SizeWitness] = {}
    for l, name in enumerate(seen.coalitions):
        here = reach.sizes(l)
        for s in np.flatnonzero(here.reached).tolist():
            agent = here.agent[s]
            witness = SizeWitness(
                name, s, float(here.probability[s]), float(seen.sizes[seen.table(l), s]),
                None if agent is None else seen.agents[agent],
                None if agent is None else _deviation(seen, reach, agent, l, joined=here.joined[s]),
            )  # fmt: skip
            key = (seen.table(l), s)
            if key not in found or witness.probability > found[key].probability:
                found[key] = witness
    ratios = {key: witness.ratio for key, witness in found.items()}
    shown = [witness for witness in found.values() if witness.seen > 0]
    interval = None
    if seen.n_samples is not None:
        rates = np.array([witness.seen for witness in found.values()])
        needed = np.array([witness.probability for witness in found.values()])
        interval = _interval(needed, rates, 1.0, seen.n_samples, len(rates), delta)
    return {
        "assumption_1": len(shown) == len(found),
        "c_size": max(ratios.values(), default=0.0),
        "c_size_from_2": max((ratio for (_, s), ratio in ratios.items() if s >= 2), default=0.0),
        "c_size_seen": max((witness.ratio for witness in shown), default=0.0),
        "c_size_interval": interval,
        "uncovered_sizes": tuple(witness for witness in found.values() if witness.seen == 0),
        "tightest_size": max(shown, key=lambda witness: witness.ratio, default=None),
    }


def _pairs(seen: Seen, reach: Reach, delta: float) -> dict[str, Any]:
    """Return pair coverage: rho_l(i, j) > 0 for every pair that a deviation can bring together."""
    unseen: list[tuple[float, Callable[[], PairWitness]]] = []  # of these few are named
    tightest: PairWitness | None = None
    n_unseen, n_reached = 0, 0
    cells = [(np.zeros(0), np.zeros(0))]
    done: dict[int, BoolArray] = {}
    often = np.zeros(len(seen.agents), dtype=np.int64)
    for l in range(len(seen.coalitions)):
        table = seen.table(l)
        agents = _who_may_meet(seen, reach, table)
        if not len(agents):
            continue
        probability, met = reach.partners(l, agents, aware=seen.aware), seen.met(table, agents)
        rates = None if seen.meetings is None else seen.meetings(table, agents)
        missing = (probability > 0) & (met == 0)
        before = done.get(table, np.zeros(met.shape, dtype=bool))
        once = _first_of_pair(missing, seen) & ~before
        done[table] = before | missing | (False if _one_way(seen) else np.swapaxes(missing, 0, 1))
        n_unseen += int(once.sum())
        places = np.argwhere(once)
        often += np.bincount(agents[places[:, :2]].ravel(), minlength=len(often))
        # Pairs that need nobody to move come first.
        strength = probability[once] + reach.is_at_home(l)[agents[places[:, 0]]]
        for t in np.argsort(-strength, kind="stable")[:LISTED].tolist():
            place = tuple(places[t].tolist())
            named = partial(_pair, seen, reach, l, agents, place, float(probability[place]), 0.0)
            unseen.append((float(strength[t]), named))
        if rates is not None:
            reached = probability > 0
            n_reached += int(np.count_nonzero(reached))
            cells.append(_largest_by_rate(probability[reached], rates[reached]))
            ratio = np.where(reached & (rates > 0), probability / np.where(rates > 0, rates, 1.0), -1.0)
            place = tuple(int(index) for index in np.unravel_index(int(ratio.argmax()), ratio.shape))
            if ratio[place] > (0.0 if tightest is None else tightest.ratio):
                tightest = _pair(seen, reach, l, agents, place, float(probability[place]), float(rates[place]))
    unseen.sort(key=lambda entry: -entry[0])
    result: dict[str, Any] = {
        "covers_pairs": n_unseen == 0,
        "n_uncovered_pairs": n_unseen,
        "uncovered_people": tuple(
            (seen.agents[i], int(often[i])) for i in np.argsort(-often, kind="stable")[:PEOPLE].tolist() if often[i]
        ),
        "uncovered_pairs": tuple(named() for _, named in unseen[:LISTED]),
        "tightest_pair": tightest,
        "c_pair": None,
        "c_pair_interval": None,
    }
    if seen.meetings is not None:
        weights, shares = (np.concatenate(column) for column in zip(*cells, strict=True))
        result["c_pair"] = float("inf") if n_unseen else 0.0 if tightest is None else tightest.ratio
        if seen.n_samples is not None:
            most = float(len(seen.coalitions)) if seen.pooled else 1.0
            result["c_pair_interval"] = _interval(weights, shares, most, seen.n_samples, n_reached, delta)
    return result


def _who_may_meet(seen: Seen, reach: Reach, table: int) -> IntArray:
    """Return who may be in a coalition that the statistics keep there: nobody else matters to it."""
    if seen.aware:
        return np.arange(len(seen.agents))
    kept = [l for l in range(len(seen.coalitions)) if seen.table(l) == table]
    return np.flatnonzero(np.any([reach.may_be_there(l) for l in kept], axis=0))


def _one_way(seen: Seen) -> bool:
    """Return whether what one was seen to say of the other is not what the other was; totals say who met whom."""
    return not seen.symmetric and not seen.bandit


def _first_of_pair(missing: BoolArray, seen: Seen) -> BoolArray:
    """Keep one order of each pair where it does not matter, the one with the smaller agent where both are there."""
    if _one_way(seen):
        return missing
    turned = np.swapaxes(missing, 0, 1)
    lower = np.tril(np.ones(missing.shape[:2], dtype=bool))
    return np.asarray(missing & ~(turned & (lower if missing.ndim == 2 else lower[..., None])))


def _pair(
    seen: Seen,
    reach: Reach,
    coalition: int,
    agents: IntArray,
    place: tuple[int, ...],
    probability: float,
    rate: float,
) -> PairWitness:
    one, two = (int(agents[index]) for index in place[:2])
    return PairWitness(
        seen.agents[one],
        seen.agents[two],
        seen.coalitions[coalition],
        place[2] if seen.aware else None,
        probability,
        rate,
        _deviation(seen, reach, one, coalition, joined=True),
    )


def _deviation(seen: Seen, reach: Reach, agent: int, coalition: int, *, joined: bool) -> tuple[str, ...] | None:
    """Return the names of a smallest action that does it; None where the agent need not move."""
    if not reach.needs_move(agent, coalition, joined=joined):
        return None
    return tuple(names_in(smallest_action(reach.spaces, agent, coalition, joined=joined), seen.coalitions))


def _largest_by_rate(weights: FloatArray, rates: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the largest weight of each distinct rate, and these: the others do not matter to an interval."""
    distinct, where = np.unique(rates, return_inverse=True)
    largest = np.zeros(len(distinct))
    np.maximum.at(largest, where, weights)
    return largest, distinct


def _interval(weights: FloatArray, rates: FloatArray, most: float, samples: int, events: int, delta: float) -> Interval:
    """Return an interval for max of weights / rates from those of all rates together, of which there are `events`.

    A rate is the mean of `samples` independent values in [0, most], so the Chernoff interval holds
    for it; all together with probability 1 - delta.
    """
    if not len(rates):
        return 0.0, 0.0
    distinct, where = np.unique(rates, return_inverse=True)
    counts = np.full(distinct.shape, float(samples))
    lower, upper = confidence.kl_interval(distinct, counts, 0.0, most, events, delta)
    with np.errstate(divide="ignore"):
        largest = np.where(lower[where] > 0, weights / lower[where], np.inf).max()
    return float((weights / upper[where]).max()), float(largest)


def _pairs_unseen(seen: Seen, spaces: ActionSpaces) -> int:
    """Return `pairs_unseen`: pairs x coalitions that both spaces allow and that never met, in some order."""
    missing = []
    for table in range(seen.tables):
        joins = spaces.can_join if seen.pooled else spaces.can_join[:, [table]]
        agents = np.flatnonzero(joins.any(axis=1))
        met = seen.met(table, agents)
        if met.ndim == 3:
            met = met.sum(axis=2)
        meeting = joins[agents].astype(np.float64)
        allowed = meeting @ meeting.T > 0
        missing.append(int(np.triu(allowed & ((met == 0) | (met.T == 0)), 1).sum()))
    return sum(missing)
