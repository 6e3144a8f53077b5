"""What a comparison of two assignments says: for everybody together and for each person, and what of that is sure."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

import numpy as np

from coterie import __version__
from coterie.certificates.certificate import Certificate
from coterie.game.game import Value
from coterie.game.rules import Rules
from coterie.game.steps import Stability
from coterie.game.strategy import Strategy
from coterie.learn.options import RANGE
from coterie.learn.result import NAMED, STEPS, Together
from coterie.learn.team_names import called_in, shown_names
from coterie.learn.warnings import SAYS_NOTHING
from coterie.log.direction import Scale
from coterie.words import better_by, capitalised, counted, decimals, percent, signed, some

FORMAT = "coterie.comparison/1"

Verdict = Literal["gains", "loses", "same", "unclear"]
"""What is sure of somebody: more, less, that nothing changes, or none of these."""


@dataclass(frozen=True)
class Amount:
    """A value, or a difference of two."""

    low: float
    """What it surely is at least."""
    high: float
    """What it surely is at most."""
    expected: float
    """Given the log, over what it leaves possible."""
    estimate: float
    """If the averages in the log were the truth; pairs that never met count nothing."""

    def __truediv__(self, number: float) -> "Amount":
        return Amount(self.low / number, self.high / number, self.expected / number, self.estimate / number)

    def to_json(self) -> dict[str, float]:
        """Return its part of a file."""
        return {"low": self.low, "high": self.high, "expected": self.expected, "estimate": self.estimate}


@dataclass(frozen=True)
class Person:
    """What two assignments are to somebody."""

    agent: str
    before: tuple[str, ...]
    """Her coalitions in the first assignment."""
    after: tuple[str, ...]
    """Her coalitions in the second."""
    first: Amount
    """What the first is worth to her."""
    second: Amount
    change: Amount
    verdict: Verdict
    chance: float | None
    """How probable it is that she gains, given the log; None where that is not known."""
    is_counted: bool = True
    """Whether she is one of those whose values are added up."""
    is_new: bool = False
    """Whether the log knows nothing of her, so that what is expected of her is a guess."""

    def to_json(self) -> dict[str, Any]:
        """Return her entry of `people`."""
        return {
            "before": list(self.before),
            "after": list(self.after),
            "first": self.first.to_json(),
            "second": self.second.to_json(),
            "change": self.change.to_json(),
            "verdict": self.verdict,
            "chance": self.chance,
            "counted": self.is_counted,
            **({"new": True} if self.is_new else {}),
        }


@dataclass(frozen=True)
class Score:
    """What a team is expected to score, on the scale of the log."""

    expected: float
    range: tuple[float, float] | None
    """What it is with probability 80 %, as far as the log tells; None where that is not known."""


@dataclass(frozen=True)
class Side:
    """One of the two assignments."""

    label: str
    strategy: Strategy
    value: Amount
    """Of everybody who is counted together."""
    certificate: Certificate | None
    """How far anybody could gain by leaving it, on its own with probability 1 - delta; None if that takes too long."""
    violations: tuple[str, ...] = ()
    """The rules that it breaks."""
    range_gap: float | None = None
    """What the range of utilities says of the certificate without any data; None where that is not known."""
    scores: Mapping[str, Score] = field(default_factory=dict)
    """What teams are expected to score, where scores of teams were seen and everybody is in one team at most."""

    @property
    def says_something(self) -> bool:
        """Whether the certificate says more than the scale does."""
        found = self.certificate
        if found is None:
            return False
        return found.of_known < SAYS_NOTHING * (np.inf if self.range_gap is None else self.range_gap)

    def to_json(self) -> dict[str, Any]:
        """Return its entry of `assignments`."""
        return {
            "label": self.label,
            "strategy": self.strategy.to_json(),
            "violations": list(self.violations),
            "value": self.value.to_json(),
            "certificate": None if self.certificate is None else self.certificate.to_json(),
            **({"scores": {name: asdict(one) for name, one in self.scores.items()}} if self.scores else {}),
        }


@dataclass(frozen=True, repr=False)
class Comparison:
    """Two assignments on one log.

    All intervals, and with them who surely gains and who surely loses, hold together with probability 1 - delta: for
    all assignments at once, or, if they are `fresh`, for these two. The certificates hold each on its own.
    """

    one: Side
    two: Side
    change: Amount
    """Of everybody who is counted together: the second less the first."""
    range: tuple[float, float] | None
    """What that is with probability 80 %, as far as the log tells; None where that is not known."""
    people: tuple[Person, ...]
    moves: tuple[str, ...]
    """Who is in the first assignment, and elsewhere in the second."""
    arrivals: tuple[str, ...]
    """Who is nowhere in the first assignment, and somewhere in the second."""
    delta: float
    fresh: bool
    value: Value
    stability: Stability
    rules: Rules
    left_out: tuple[str, ...] = ()
    """Whose values are not added up: they are not on the staff, or were seen in too few samples."""
    warnings: tuple[str, ...] = ()
    assumes: tuple[str, ...] = ()
    is_contradicted: bool = False
    """Whether the log contradicts what the intervals take for granted."""
    together: Together | None = None
    """Who is put together in the second assignment without having been seen together; None where it is not known."""
    pooled: bool = False
    """Whether coalitions are interchangeable."""
    team_names: Mapping[str, str] = field(default_factory=dict)
    """What interchangeable coalitions are called in what was given, where that is known."""
    unit: str = ""
    """What outcomes are counted in, such as "stars"; only said, never computed with."""
    neutral: float = 0.0
    """What is as good as being alone, on the scale of the log; values count from there."""
    lower_is_better: bool = False
    """Whether less is better on that scale; of values and changes here more is in any case."""
    tells_scores: bool = False
    """Whether scores of teams were seen, of which what people have is their own part."""
    tells_own: bool = False
    """Whether the numbers of the log are what each person got in a team, and values are such numbers."""
    version: str = __version__

    @property
    def n_counted(self) -> int:
        """The number of people whose values are added up."""
        return sum(person.is_counted for person in self.people)

    @property
    def per_person(self) -> Amount:
        """The change divided by the number of people who are counted."""
        return self.change / max(1, self.n_counted)

    @property
    def is_per_teammate(self) -> bool:
        """Whether values are averages over the teammates of one team each."""
        sides = (self.one.strategy, self.two.strategy)
        return self.value == "average" and all(bool((one.sets.sum(axis=1) <= 1).all()) for one in sides)

    @property
    def counted_in(self) -> str:
        """What values of people are counted in."""
        if self.value != "average":
            of = "per person, over all teammates"
        else:
            whom = "per person" if self.tells_own else "per teammate"
            of = whom if self.is_per_teammate else f"{whom}, all teams added up"
            of = "per team" if self.is_per_teammate and self.tells_scores else of
        return f"{self.unit} {of}" if self.unit else of

    def changed_by(self, change: float, places: int | None = None) -> str:
        """Return a change as it is told: one per person with as many decimals as it deserves."""
        return (better_by if self.lower_is_better else signed)(change, self._places if places is None else places)

    @property
    def _scale(self) -> Scale:
        return Scale(self.neutral, self.lower_is_better)

    @property
    def is_on_scale(self) -> bool:
        """Whether values are told on the scale of the log."""
        return self.is_per_teammate and (self._scale.has_neutral or self.tells_scores)

    def shown(self, value: float) -> str:
        """Return what somebody has as it is told: on the scale of the log where that can be, else from 0 = alone."""
        if self.is_on_scale:
            return f"{self._scale.level(value):.{self._places}f}"
        return self.changed_by(value)

    def ends(self, amount: Amount) -> tuple[str, str]:
        """Return what a value surely is, as it is told, the smaller number first."""
        low, high = self.shown(amount.low), self.shown(amount.high)
        return (high, low) if self.lower_is_better and self.is_on_scale else (low, high)

    @property
    def _places(self) -> int:
        return decimals(() if self.range is None else [end / max(1, self.n_counted) for end in self.range])

    @property
    def _names(self) -> dict[str, str]:
        return shown_names(self.one.strategy.coalitions, self.team_names) if self.pooled else {}

    def teams(self, some: Sequence[str]) -> list[str]:
        """Return coalitions as people call them."""
        names = self._names
        return [names.get(one, one) for one in some]

    def called(self, text: str) -> str:
        """Return a sentence of ours in which teams are called as people call them."""
        return called_in(text, self._names)

    def who(self, verdict: Verdict) -> tuple[str, ...]:
        """Return those of whom something is sure."""
        return tuple(person.agent for person in self.people if person.is_counted and person.verdict == verdict)

    @property
    def gain(self) -> tuple[str, ...]:
        """Who surely gains, all together."""
        return self.who("gains")

    @property
    def lose(self) -> tuple[str, ...]:
        """Who surely loses, all together."""
        return self.who("loses")

    @property
    def says_nothing(self) -> bool:
        """Whether nothing is sure: not which is better, nor who gains or loses, nor a limit on what moving gains."""
        each = self.per_person
        return (
            self.one.strategy != self.two.strategy
            and each.low <= 0 <= each.high
            and each.low < each.high
            and not (self.gain or self.lose)
            and not any(side.says_something for side in (self.one, self.two))
        )

    # --- In words -----------------------------------------------------------------------------------

    def sentence(self) -> str:
        """Return what comes of it, for everybody together and for how many."""
        together = self._together()
        return f"{capitalised(together)} {self._how_many()}"

    def _together(self) -> str:
        each, sure = self.per_person, percent(1 - self.delta)
        one, two = self.one.label, self.two.label
        if self.one.strategy == self.two.strategy:
            return f"{one} and {two} are the same."
        if each.low == each.high == 0:
            return f"{one} and {two} are worth the same to everybody together."
        per, by = self.counted_in, f"{abs(each.expected):.{self._places}f}"
        same = float(by) == 0
        if not np.isfinite([each.low, each.high]).all():
            return (
                f"{two} is expected to change the value by {self.changed_by(each.expected)} {per}{self._likely()}; "
                "nothing is sure, as nothing bounds the utility of pairs that were never seen."
            )
        if each.low > 0 or each.high < 0:
            better, worse = (two, one) if each.low > 0 else (one, two)
            ends = sorted((abs(each.low), abs(each.high)))
            return (
                f"{better} is better than {worse} by {by} {per} (surely {ends[0]:.2f} to "
                f"{ends[1]:.2f} with {sure} confidence{self._likely(', ', '', each.high < 0)})."
            )
        if same:
            which = f"neither of {one} and {two} is expected to be better"
        else:
            better, worse = (two, one) if each.expected > 0 else (one, two)
            which = f"{better} is expected to be better than {worse} by {by} {per}"
        turned = each.expected < 0 and not same
        likely = self._likely(after=f" {per})" if same else ")", turned=turned)
        is_open = self.range is not None and self.range[0] <= 0 <= self.range[1]
        if is_open:
            which = f"no clear difference: {which}"
        if self.says_nothing:
            what = "anything" if is_open else "that, or anything else"
            return f"{which}{likely}; there are too few data to prove {what}."
        low, high = (-each.high, -each.low) if turned else (each.low, each.high)
        return (
            f"{which}{likely}{';' if is_open else ', but the log does not prove it:'} with {sure} confidence the "
            f"difference is {self.changed_by(low, 2)} to {self.changed_by(high, 2)}."
        )

    def guesses(self) -> str:
        """Return how many pairs of the second assignment were never seen together; "" where all were."""
        told = "" if self.together is None else self.together.told(pooled=self.pooled)
        teams = "the teams after the changes" if self.two.label == "after" else self.two.label
        return told.replace("in these teams", f"in {teams}", 1)

    def _likely(self, before: str = " (", after: str = ")", turned: bool = False) -> str:  # noqa: FBT001, FBT002
        if self.range is None:
            return ""
        low, high = (end / max(1, self.n_counted) for end in self.range)
        low, high = (-high, -low) if turned else (low, high)
        told = f"{self.changed_by(low)} to {self.changed_by(high)}"
        return f"{before}with {percent(RANGE)} probability {told}{after}"

    def _how_many(self) -> str:
        parts = [counted(len(self.moves), "person changes something", "people change something")]
        if self.arrivals:
            parts.append(counted(len(self.arrivals), "person comes in", "people come in"))
        if self.says_nothing:
            return "; ".join(parts) + "."
        for names, one, many in (
            (self.gain, "surely gains", "surely gain"),
            (self.lose, "surely loses", "surely lose"),
        ):
            who = f": {some(names, NAMED)}" if names else ""
            parts.append(f"{len(names) or 'nobody'} {one if len(names) < 2 else many}{who}")
        if unclear := self.who("unclear"):
            parts.append(f"of {len(unclear)} it is open")
        return "; ".join(parts) + "."

    def meaning(self) -> str:
        """Return in a sentence what the intervals promise."""
        together = (
            f"All intervals, and who surely gains or loses, hold together with {percent(1 - self.delta)} confidence"
        )
        if self.fresh:
            return f"{together}, if both assignments were fixed without looking at the outcomes of this log."
        return f"{together}, whichever assignments are compared: they may have been chosen on this very log."

    def stable(self) -> str:
        """Return in a sentence how stable both surely are."""
        return (
            f"How far anybody could gain {STEPS[self.stability]}{' within the rules' if self.rules else ''}: "
            f"{self.one.label} {_gap(self.one)}, {self.two.label} {_gap(self.two)} (each on its own with "
            f"{percent(1 - self.delta)} confidence)."
        )

    def broken(self) -> tuple[str, ...]:
        """Return a sentence for each assignment that breaks rules."""
        return tuple(
            f"{capitalised(side.label)} breaks rules: {'; '.join(map(self.called, side.violations))}."
            for side in (self.one, self.two)
            if side.violations
        )

    def __repr__(self) -> str:
        sure = [] if self.says_nothing else [self.meaning(), self.stable()]
        return "\n".join([*self.broken(), self.sentence(), *sure])

    def to_json(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return {
            "format": FORMAT,
            "version": self.version,
            "delta": self.delta,
            "fresh": self.fresh,
            "value": self.value,
            **({"unit": self.unit} if self.unit else {}),
            **({"team_names": dict(self.team_names)} if self.team_names else {}),
            "stability": self.stability,
            "rules": self.rules.to_json(),
            "assignments": [self.one.to_json(), self.two.to_json()],
            "neutral": self.neutral,
            **({"lower_is_better": True} if self.lower_is_better else {}),
            "difference": {**self.change.to_json(), "range": None if self.range is None else list(self.range)},
            "per_person": self.per_person.to_json(),
            "counted": self.n_counted,
            "gain": list(self.gain),
            "lose": list(self.lose),
            "same": list(self.who("same")),
            "unclear": list(self.who("unclear")),
            "moves": list(self.moves),
            "arrivals": list(self.arrivals),
            "people": {person.agent: person.to_json() for person in self.people},
            "left_out": list(self.left_out),
            "meaning": self.meaning(),
            "together": None if self.together is None else asdict(self.together),
            "assumes": list(self.assumes),
            "contradicted": self.is_contradicted,
            "warnings": list(self.warnings),
        }


def _gap(side: Side) -> str:
    if side.certificate is None:
        return "not worked out"
    gap = side.certificate.gap
    return "not at all" if gap == 0 else "without a bound" if np.isinf(gap) else f"at most {gap:.3g}"
