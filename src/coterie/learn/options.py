"""What could be recommended: candidates with what is sure and what is expected of each, and the choice among them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple, dataclass, field
from typing import NamedTuple

import numpy as np

from coterie.arrays import BoolArray, FloatArray
from coterie.certificates.against import Against
from coterie.certificates.certificate import Certificate
from coterie.estimate.confidence import normal_width
from coterie.estimate.posterior import never
from coterie.estimate.step_design import GAINED, LOST
from coterie.estimate.value_design import value_design
from coterie.game.strategy import Strategy
from coterie.learn.beliefs import Beliefs
from coterie.learn.warnings import SAYS_NOTHING, says_nothing
from coterie.learn.wishes import Goal, Wishes

GAMES, DRAWS = 24, 400
"""Gaps are expected over so many games that the data leave possible, ranges of values over so many."""

ELSEWHERE = 60
"""How many could get a better place is counted in so many of them."""

FEWEST, FEWEST_DRAWS, HURRIED = 6, 40, 16
"""Where time is short, so many games at least, and so many for ranges of values; where it is up, so many for these, as
if they were normal: then the ends are known as well from 16 draws as from the tails of 40."""

DRAWN = 40_000_000
"""Ranges are over fewer games where that many numbers are drawn."""

MOST = 7
"""So many options are told at most."""

RANGE = 0.8
"""How probable it is that an improvement lies in the range that is told."""

SHOWN = 2
"""Options that agree in so many decimals are the same to whoever reads them."""

CLOSE = 1e-9

NEARLY = 0.002
"""A certificate that is smaller by more than what is lost may cost this share of what is expected."""


@dataclass(frozen=True)
class Option:
    """An assignment that could be recommended."""

    label: str
    """What it is best at: "recommended", "surest", "best expected", "fairest", "fewer moves" (some of those that are
    recommended), "fewest moves", "today" or "another"."""
    strategy: Strategy
    method: str
    """Of its certificate."""
    gap: float
    """Its certificate."""
    expected_value: float
    """Per person, mean over those who are assigned."""
    expected_gap: float
    moves: int | None
    """How many people are elsewhere than today; None where today is not known."""
    expected_least: float = 0.0
    """What whoever is worst off is expected to have."""
    expected_range: tuple[float, float] | None = None
    """Where the value per person lies with probability 80 %, as far as the log tells; only of the recommendation."""
    person_ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """Where what each person has lies with probability 80 %; only of the recommendation."""
    team_ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """Where what a teammate is worth in each team of several lies with probability 80 %; only of the recommendation."""
    elsewhere: tuple[int, int] | None = None
    """How many people could get a better place, with probability 80 %; only of the recommendation."""
    why: str = ""
    """Why it was taken, in a few words; only of the recommendation."""

    def to_json(self) -> dict[str, object]:
        """Return an entry of `options` in a result file."""
        ends: dict[str, object] = {} if self.expected_range is None else {"expected_range": list(self.expected_range)}
        for name in ("person_ranges", "team_ranges"):
            if ranges := getattr(self, name):
                ends[name] = {who: list(one) for who, one in ranges.items()}
        if self.elsewhere is not None:
            ends["elsewhere"] = list(self.elsewhere)
        if self.why:
            ends["why"] = self.why
        return {
            "label": self.label,
            "strategy": self.strategy.to_json(),
            "method": self.method,
            "gap": self.gap,
            "expected_value": self.expected_value,
            "expected_gap": self.expected_gap,
            "moves": self.moves,
            "expected_least": self.expected_least,
            **ends,
        }


def says_much(gap: float, by_range: float) -> bool:
    """Return whether a certificate is less than half of what the range of utilities says without any data."""
    return gap < by_range / 2


@dataclass(frozen=True, eq=False)
class Candidate:
    """A profile with its certificate, and how it was found."""

    strategy: Strategy
    certificate: Certificate
    by_range: float = np.inf
    """What the range of utilities says of the gap without any data."""

    @property
    def is_vacuous(self) -> bool:
        """Whether the certificate is 0 without any data."""
        return self.certificate.gap == self.by_range == 0

    @property
    def says_much(self) -> bool:
        """Whether data made the certificate much smaller than it is without any."""
        return says_much(self.certificate.gap, self.by_range)


@dataclass(frozen=True, eq=False)
class Expected:
    """What is expected of several profiles over the games that a log leaves possible."""

    values: FloatArray
    """The mean utility of those who are assigned, per profile."""
    least: FloatArray
    """The expected utility of whoever has least, per profile."""
    gaps: FloatArray

    def with_others(self, others: "Expected") -> "Expected":
        """Return these and then others."""
        every = zip(astuple(self), astuple(others), strict=True)
        return Expected(*(np.concatenate(both) for both in every))


def expected_of(
    strategies: Sequence[Strategy],
    beliefs: Beliefs,
    against: Against,
    staff: BoolArray,
    rng: np.random.Generator,
    is_late: Callable[[], bool] = never,
) -> Expected:
    """Return what is expected of profiles: values are linear, so those of the expected game; gaps over drawn games.

    Where it `is_late`, over few of them.
    """
    spaces = against.own_spaces
    middle = beliefs.game(spaces).valued(against.value)
    own = np.stack([middle.values(strategy)[staff] for strategy in strategies])
    gaps = np.zeros(len(strategies))
    drawn = 0
    steps = None if against.is_plain else [against.steps(strategy.sets) for strategy in strategies]
    for values in beliefs.drawing(rng, GAMES):
        if drawn >= FEWEST and is_late():
            break
        drawn += 1
        game = beliefs.game(spaces, values)
        for t, strategy in enumerate(strategies):
            gaps[t] += against.gap(game, strategy, None if steps is None else steps[t])
    return Expected(own.mean(axis=1), own.min(axis=1), gaps / drawn)


def draws_for(beliefs: Beliefs) -> int:
    """Return over how many games ranges of values are taken."""
    return int(np.clip(DRAWN // max(1, beliefs.middle.size), FEWEST_DRAWS, DRAWS))


Terms = list[tuple[float, BoolArray]]
"""Profiles, and how often each counts: what differs between two is one of the first and minus one of the second."""


@dataclass(frozen=True)
class Likely:
    """Where something lies, as far as a log tells."""

    expected: float
    range: tuple[float, float]
    """With probability 80 %; what is expected is in it."""
    chance: float | None
    """How probable it is that it is above 0; None where nothing is drawn."""


def likely_values(
    sums: Sequence[Terms],
    beliefs: Beliefs,
    wishes: Wishes,
    rng: np.random.Generator,
    is_late: Callable[[], bool] = never,
) -> tuple[list[Likely], list[Likely]]:
    """Return what the mean utility of those who are assigned is in sums of profiles, and what each has in the first.

    Values are drawn, never the profile anew: it was chosen for what the same log makes of it, which a posterior need
    not be corrected for. What is drawn beyond what the scale allows ends there. Where it `is_late`, few are drawn, and
    ranges are those of Student's t around what is expected.
    """
    staff = wishes.admissible.staff
    unknowns = beliefs.evidence.unknowns
    if unknowns.is_listed:  # nothing is drawn of these

        def rooms(terms: Terms) -> FloatArray:
            each = (sign * (sets * unknowns.at(sets.astype(np.float64)).linear(beliefs.middle)) for sign, sets in terms)
            return np.asarray(sum(one[staff].sum(axis=1) for one in each))

        own = [rooms(terms) for terms in sums]
        found = [float(one.sum()) / max(1, int(staff.sum())) for one in own]
        return [Likely(one, (one, one), None) for one in found], []
    designs = [value_design(unknowns, terms, wishes.value) for terms in sums]

    def felt(values: FloatArray) -> list[FloatArray]:
        return [design.linear(values)[staff] for design in designs]

    def told(gained: list[FloatArray], lost: list[FloatArray]) -> FloatArray:
        own = [one[:, GAINED] - other[:, LOST] for one, other in zip(gained, lost, strict=True)]
        return np.concatenate([[one.sum() / max(1, int(staff.sum())) for one in own], own[0]])

    bounds, now = beliefs.evidence.bounds, felt(beliefs.middle)
    worst, best = (felt(np.full_like(beliefs.middle, end)) for end in (bounds.low, bounds.high))
    middle = told(now, now)
    draws: list[FloatArray] = []
    for values in beliefs.drawing(rng, draws_for(beliefs)):
        possible = felt(values)
        draws.append(told(possible, possible))
        if len(draws) >= HURRIED and is_late():
            break
    if len(draws) < 2:
        all_of_them = [Likely(one, (one, one), None) for one in middle.tolist()]
    else:
        drawn, tail = np.clip(draws, told(worst, best), told(best, worst)), (1 - RANGE) / 2
        ends = np.quantile(drawn, [tail, 1 - tail], axis=0).tolist()
        if len(drawn) < FEWEST_DRAWS:
            spread = normal_width(tail, len(drawn) + 1) * np.sqrt(np.square(drawn - middle).mean(axis=0))
            ends = np.clip([middle - spread, middle + spread], told(worst, best), told(best, worst)).tolist()
        above = ((drawn > 0).sum(axis=0) + 1) / (len(drawn) + 2)  # Laplace's rule: a few draws make nothing certain
        all_of_them = [
            Likely(one, (min(low, one), max(high, one)), chance)
            for one, low, high, chance in zip(middle.tolist(), *ends, above.tolist(), strict=True)
        ]
    return all_of_them[: len(sums)], all_of_them[len(sums) :]


LITTLE, SMALLEST = 0.01, 0.005
"""Nobody is said to do better elsewhere by no more than this share of the range of utilities, or by less than this."""


def likely_elsewhere(
    strategy: Strategy,
    beliefs: Beliefs,
    against: Against,
    staff: BoolArray,
    rng: np.random.Generator,
    is_late: Callable[[], bool] = never,
) -> tuple[int, int]:
    """Return how many of the staff could get a better place, with probability 80 %: over games that are possible.

    By the best guess they are fewer: teams are chosen for what looks best by it, so by it few want to leave.
    """
    steps = None if against.is_plain else against.steps(strategy.sets)
    little = max(LITTLE * 2 * beliefs.evidence.bounds.half_range, SMALLEST)
    found: list[int] = []
    for values in beliefs.drawing(rng, ELSEWHERE):
        if len(found) >= FEWEST and is_late():
            break
        gains = against.gains(beliefs.game(against.own_spaces, values), strategy, steps)
        found.append(int((gains[staff] > little).sum()))
    tail = (1 - RANGE) / 2
    low, high = np.quantile(found, [tail, 1 - tail], method="nearest").tolist()
    return int(low), int(high)


LOTS, LOT_PAIRS = 40, 1_000_000
"""Teams are drawn by lot so many times, fewer where that makes more pairs than these, and never fewer than `FEWEST`."""


def by_lot(profile: BoolArray, free: BoolArray, rng: np.random.Generator) -> Terms | None:
    """Return what differs between a profile and teams of the same sizes drawn by lot; None where nothing can be drawn.

    The places stay as they are, and who of those who are `free` has which is drawn.
    """
    sizes = profile.sum(axis=0)
    times = min(LOTS, LOT_PAIRS // max(1, int((sizes * (sizes - 1)).sum())))
    places = np.flatnonzero(free)
    if times < FEWEST or (profile[places] == profile[places[:1]]).all():
        return None
    drawn: Terms = [(1.0, profile)]
    for _ in range(times):
        other = profile.copy()
        other[places] = profile[rng.permutation(places)]
        drawn.append((-1.0 / times, other))
    return drawn


# --- The choice ---------------------------------------------------------------------------------------


class Choice(NamedTuple):
    """Which candidate is recommended, and by which rule, in a few words."""

    place: int
    why: str


def chosen(candidates: Sequence[Candidate], expected: Expected, goal: Goal, target_gap: float | None) -> Choice:
    """Return which candidate is recommended, and why.

    Among those that nobody beats the one with the largest expected value less the expected gap; where some are surely
    stable, and not only for want of steps, the best of them. Where data say next to nothing about gaps, what is
    expected of them is mostly noise, and the best guess is the largest expected value. Where next to nothing of it is
    lost by that, the smallest certificate decides. Under `stability` it is the one with the smallest certificate.
    """
    gaps = np.array([one.certificate.gap for one in candidates])
    worth = expected.least if goal == "fairness" else expected.values
    counts = goal == "stability" or any(one.says_much for one in candidates)
    score = worth - (expected.gaps if counts else 0.0)
    if goal == "stability":
        return Choice(min(range(len(candidates)), key=lambda t: (gaps[t], -score[t])), "the smallest certificate")
    among = unbeaten(gaps, worth)
    keeps = target_gap is not None and any(gaps[t] <= target_gap for t in among)
    if target_gap is not None and keeps:
        among = [t for t in among if gaps[t] <= target_gap]
    sure = [t for t in among if gaps[t] == 0 and not candidates[t].is_vacuous]
    best = max(sure or among, key=lambda t: (score[t], -gaps[t]))
    lost = score[best] - score
    nearly = [
        t
        for t in sure or among
        if candidates[t].says_much and lost[t] <= NEARLY * abs(score[best]) and gaps[best] - gaps[t] > lost[t]
    ]
    taken = min([best, *nearly], key=lambda t: (gaps[t], lost[t]))
    most = "most for whoever has least" if goal == "fairness" else "worth most"
    if sure:  # nothing beats these, so that none that is surely stable is worth more
        return Choice(taken, f"{most} among those that are surely stable")
    if counts:
        most += " after the expected gain by moving is taken off"
    if keeps:
        most += ", among those certified within the target"
    rivals = score[gaps <= target_gap] if target_gap is not None and keeps else score
    if counts and rivals.max() > score[best] + CLOSE * abs(score[best]):
        most += ", among those that none beats in both value and certificate"
    if taken != best:
        return Choice(taken, f"next to nothing less than what is {most}, and surer")
    return Choice(taken, most if counts else f"{most}; too little is known of gains by moving to count them")


def unbeaten(gaps: FloatArray, worth: FloatArray) -> list[int]:
    """Return those of which none other is at least as good in certificate and value, and better in one."""
    found, close = [], CLOSE * float(np.abs(np.concatenate([worth, gaps[np.isfinite(gaps)]])).max(initial=0.0))
    for t in range(len(gaps)):
        as_good = (gaps <= gaps[t] + close) & (worth >= worth[t] - close)
        better = (gaps < gaps[t] - close) | (worth > worth[t] + close)
        if not (as_good & better).any():
            found.append(t)
    return found


def options_of(
    candidates: Sequence[Candidate],
    expected: Expected,
    choice: Choice,
    wishes: Wishes,
    today: int | None,
    fewer: Sequence[int] = (),
) -> tuple[Option, ...]:
    """Return the recommendation and what else nobody beats, at most `MOST`, each with a word for what it is best at.

    What another is at least as good as in everything that is shown, as it is shown, is left out, but for today. Some
    have `fewer` of the moves that are recommended.
    """
    first = choice.place
    gaps = np.array([one.certificate.gap for one in candidates])
    worth = expected.least if wishes.goal == "fairness" else expected.values
    kept = [first, *(t for t in unbeaten(gaps, worth) if t != first)]
    moves = [None if wishes.today is None else wishes.admissible.moves(one.strategy.sets) for one in candidates]
    if wishes.today is not None:
        fewest = min(range(len(candidates)), key=lambda t: (moves[t] or 0, gaps[t]))
        kept += [t for t in dict.fromkeys([fewest, *fewer]) if t not in kept and t != today]
    rounded = np.round(np.stack([expected.values, expected.least, -expected.gaps], axis=1), SHOWN)
    columns: FloatArray = np.column_stack([rounded, [-(one or 0) for one in moves]]).astype(np.float64)
    stay = [first, *([] if today is None or today == first else [today])]
    # A certificate is a column where it says something of one of them.
    certified = np.array([-float(f"{gap:.3g}") for gap in gaps])
    kept = distinct(np.column_stack([columns, certified]), kept, stay)
    without = candidates[first].by_range
    if says_nothing(candidates[first].certificate, without) and (gaps[kept] >= SAYS_NOTHING * without).all():
        kept = distinct(columns, kept, stay)
    others = [t for t in kept if t == first or t != today]
    kept = [*_few(others, gaps, MOST - len(stay) + 1), *stay[1:]]
    labels = dict.fromkeys(kept, "another") | {t: "fewer moves" for t in kept if t in fewer}
    if wishes.today is not None:
        labels[min((t for t in kept if t not in stay[1:]), key=lambda t: (moves[t] or 0, gaps[t]))] = "fewest moves"
    labels[max(kept, key=lambda t: (expected.least[t], -gaps[t]))] = "fairest"
    labels[max(kept, key=lambda t: (expected.values[t], -gaps[t]))] = "best expected"
    labels[min(kept, key=lambda t: (gaps[t], -expected.values[t]))] = "surest"
    labels[first] = "recommended"
    labels.update(dict.fromkeys(stay[1:], "today"))
    return tuple(
        Option(
            labels[t], candidates[t].strategy, candidates[t].certificate.method, float(gaps[t]),
            float(expected.values[t]), float(expected.gaps[t]), moves[t], float(expected.least[t]),
            why=choice.why if t == first else "",
        )
        for t in kept
    )  # fmt: skip


def distinct(columns: FloatArray, kept: Sequence[int], stay: Sequence[int]) -> list[int]:
    """Return those that `stay`, and then of the others those that none is at least as good as in every column.

    More is better in all of them. Of several that are alike the first remains.
    """
    every = [*stay, *(t for t in kept if t not in stay)]
    found = list(stay)
    for place, t in enumerate(every[len(stay) :], len(stay)):
        as_good = [u for u in every if u != t and (columns[u] >= columns[t]).all()]
        if not any((columns[u] > columns[t]).any() or u in every[:place] for u in as_good):
            found.append(t)
    return found


def _few(kept: list[int], gaps: FloatArray, most: int) -> list[int]:
    """Return at most so many, the first among them, the others spread over certificates."""
    if len(kept) <= most:
        return kept
    others = sorted(kept[1:], key=lambda t: gaps[t])
    places = np.unique(np.linspace(0, len(others) - 1, most - 1).round().astype(int))
    return [kept[0], *(others[place] for place in places.tolist())]
