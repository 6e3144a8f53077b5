"""What a page needs to answer "what if": pair values with their intervals, and the rules, as plain numbers.

With all intervals of the box form holding together (`coterie.certificates.widths.box`), a change c' theta lies between

    sum of c_e^+ lower_e - c_e^- upper_e    and    sum of c_e^+ upper_e - c_e^- lower_e,

whatever teams are compared, so a page may compute it for any (`box_changes` is the same in Python). Unknowns are listed
by table (coalition, or one if pooled), then pair (i < j row by row where both orders are one unknown, else all i, j),
then size where sizes count. Ends are rounded outwards to the numbers of a page.
"""

import base64
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie.arrays import BoolArray, FloatArray
from coterie.certificates.evidence import Evidence
from coterie.certificates.from_statistics import evidence_from
from coterie.certificates.gains import SmallerOf
from coterie.certificates.pair_evidence import PairEvidence
from coterie.errors import TooLargeError
from coterie.estimate.step_design import StepDesign
from coterie.estimate.value_design import summed, value_design
from coterie.game.admissible import PairRule, PerPersonRule, PlaceRule, QuotaRule, Rule, SizeRule, StaffRule
from coterie.game.game import Value
from coterie.game.strategy import Strategy
from coterie.learn.beliefs import beliefs_from
from coterie.learn.result import Result
from coterie.learn.wishes import Wishes, wishes_about
from coterie.statistics.pair_statistics import DENSE_AGENTS
from coterie.statistics.statistics import Statistics

MOST_CELLS = 700_000
"""So many unknowns at most are put into a page."""


@dataclass(frozen=True, eq=False)
class Knowledge:
    """What a log knows of pairs, for a result that was learnt from it or is about it."""

    result: Result
    wishes: Wishes
    evidence: Evidence
    expected: FloatArray
    """What each unknown is expected to be, in the shape of the estimates."""

    @classmethod
    def of(cls, result: Result, statistics: Statistics) -> "Knowledge":
        """Return what statistics know about the people of a result."""
        wider, wishes = wishes_about(
            statistics, rules=replace(result.rules, max_moves=None), value=result.value,
            stability=result.stability,
        )  # fmt: skip
        evidence = evidence_from(wider.whole)
        if evidence.unknowns.is_listed:
            raise TooLargeError(
                f'"what if" is answered for up to {DENSE_AGENTS} agents, this log has {len(wider.agents)}; `coterie '
                "certify` judges any assignment of them"
            )
        beliefs = beliefs_from(evidence, symmetric=wider.setting.symmetric)
        return cls(result, wishes, evidence, beliefs.middle)

    @property
    def pairs(self) -> PairEvidence | None:
        """The evidence where values of pairs were seen; None for totals."""
        return self.evidence if isinstance(self.evidence, PairEvidence) else None

    @property
    def n_agents(self) -> int:
        """The number of people."""
        return self.result.strategy.n_agents

    @property
    def fits(self) -> bool:
        """Whether all unknowns can be put into a page."""
        return self.expected.size <= 2 * MOST_CELLS

    def _listed(self, values: FloatArray) -> FloatArray:
        """Return unknowns in the order of the page."""
        n = self.n_agents
        if self.evidence.is_symmetric:
            one, two = np.triu_indices(n, 1)
        else:
            one, two = np.nonzero(~np.eye(n, dtype=bool))
        return np.asarray(values[:, one, two]).ravel()

    @property
    def checks_moves(self) -> bool:
        """Whether the page can count moves: where coalitions are interchangeable, it would have to rename them."""
        return self.result.today is not None and not self.evidence.unknowns.is_pooled

    def _moves(self) -> dict[str, Any] | None:
        """Return the limit on moves as a page checks it: against today, among the staff."""
        rules, today = self.result.rules, self.result.today
        if rules.max_moves is None or today is None or not self.checks_moves:
            return None
        limit = replace(self.wishes.admissible, max_moves=rules.max_moves)
        staff, sets = limit.staff.tolist(), today.strategy.sets
        return {
            "text": limit.moves_text,
            "most": rules.max_moves,
            "today": [np.flatnonzero(row).tolist() if here else [] for row, here in zip(sets, staff, strict=True)],
        }

    def to_json(self) -> dict[str, Any]:
        """Return everything as plain values, arrays as base64 of little-endian numbers."""
        bounds, unknowns = self.evidence.bounds, self.evidence.unknowns
        content: dict[str, Any] = {
            "n": self.n_agents,
            "k": self.result.strategy.n_coalitions,
            "pooled": unknowns.is_pooled,
            "bySize": unknowns.by_size,
            "symmetric": self.evidence.is_symmetric,
            "value": self.result.value,
            "low": bounds.low if np.isfinite(bounds.low) else None,
            "high": bounds.high if np.isfinite(bounds.high) else None,
            "rounding": bounds.rounding,
            "delta": self.result.certificate.delta,
            "counted": [agent not in self.result.left_out for agent in self.result.strategy.agents],
            "expected": _packed(self._listed(self.expected), "<f4"),
            "rules": [_plain(rule) for rule in self.wishes.admissible.rules],
            "moves": self._moves(),
            "neutral": self.result.data.neutral,
        }
        if self.pairs is not None:
            lower, upper = self.pairs.interval_arrays(self.result.certificate.delta)
            count = self._listed(self.pairs.estimate.moments.count)
            seen = np.flatnonzero(count > 0)
            content |= {
                "seen": _packed(seen, "<u4"),
                "lower": _packed(_outwards(self._listed(lower)[seen], -np.inf), "<f4"),
                "upper": _packed(_outwards(self._listed(upper)[seen], np.inf), "<f4"),
                "count": _packed(count[seen], "<u4"),
            }
        return content


def _packed(values: npt.NDArray[Any], kind: str) -> str:
    return base64.b64encode(values.astype(kind).tobytes()).decode("ascii")


def _outwards(values: FloatArray, towards: float) -> FloatArray:
    """Return the nearest numbers of half the length that are not on the inner side."""
    short = values.astype(np.float32)
    inside = short > values if towards < 0 else short < values
    return np.where(inside, np.nextafter(short, np.float32(towards)), short).astype(np.float64)


def _plain(rule: Rule) -> dict[str, Any]:
    """Return a rule as a page checks it."""
    said: dict[str, Any] = {"text": rule.text}
    if isinstance(rule, SizeRule):
        size = rule.size
        return {**said, "kind": "size", "coalition": rule.coalition, "least": size.min, "most": size.max,
                "orEmpty": size.or_empty}  # fmt: skip
    if isinstance(rule, PerPersonRule):
        who = np.flatnonzero(rule.applies).tolist()
        return {**said, "kind": "person", "who": who, "least": rule.least, "most": rule.most}
    if isinstance(rule, PairRule):
        return {**said, "kind": "pair", "who": list(rule.agents), "coalition": rule.coalition, "share": rule.share}
    if isinstance(rule, PlaceRule):
        return {**said, "kind": "place", "who": [rule.agent], "coalition": rule.coalition, "inside": rule.inside}
    if isinstance(rule, StaffRule):
        return {**said, "kind": "staff", "who": [rule.agent]}
    assert isinstance(rule, QuotaRule)
    who = np.flatnonzero(rule.labelled).tolist()
    return {**said, "kind": "quota", "who": who, "coalition": rule.coalition, "least": rule.least, "most": rule.most,
            "orEmpty": rule.or_empty}  # fmt: skip


# --- The same in Python -------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Changes:
    """What changes between two assignments, to everybody and to all who are counted together."""

    expected: FloatArray
    low: FloatArray
    high: FloatArray
    together: tuple[float, float, float]
    """Expected, at least, at most."""


def box_changes(known: Knowledge, before: Strategy, after: Strategy) -> Changes:
    """Return what a page computes: changes with ends that hold for all pairs of assignments at once."""
    evidence, value = known.evidence, known.result.value
    people = _difference(evidence, before.sets, after.sets, value)
    low, high = _ends(evidence, people, known.result.certificate.delta)
    found = people.linear(known.expected)
    expected = np.asarray(found[:, 0] - found[:, 1])
    counted = np.array([agent not in known.result.left_out for agent in before.agents])
    total = summed(people, counted, symmetric=evidence.is_symmetric)
    least, most = _ends(evidence, total, known.result.certificate.delta)
    return Changes(expected, low, high, (float(expected[counted].sum()), float(least[0]), float(most[0])))


def _difference(evidence: Evidence, before: BoolArray, after: BoolArray, value: Value) -> StepDesign:
    return value_design(evidence.unknowns, [(1.0, after), (-1.0, before)], value)


def _ends(evidence: Evidence, design: StepDesign, delta: float) -> tuple[FloatArray, FloatArray]:
    sure = SmallerOf((evidence.range_bound(design), evidence.uniform_bound(design, delta)))
    rows = np.arange(len(design.owners))
    return 0.0 - sure.at(-design.moves, rows)[:, 0], sure.at(design.moves, rows)[:, 0]
