"""What the paper's text says about its figures, and what the tables say to that.

Every verdict is a rule on numbers of the summary, so a page with them can be made again from the tables. The rule is
the same for all: what the paper says is looked for in every curve (or panel, or step) that it is about, see `word`.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from coterie.reproduce.summary import FAR, Curve, Summary

CONFIRMED = "confirmed"
OTHER_CAUSE = "confirmed, with a different cause"
PARTLY = "partly confirmed"
NOT_CONFIRMED = "not confirmed"
NOT_TESTED = "not tested"

FALLS, STAYS = -0.3, -0.15
"""A curve that falls has an exponent below the first, one that stays above the second."""

ALL = ("S1", "S2", "S3", "S4", "S5", "S6")

ROOT = (-0.65, -0.4)
"""Exponents that pass for 1 / sqrt(M)."""

THEOREM_3 = {"n": 3.5, "k": 1.0}
"""The powers of n and k in eq. 10, without its logarithm and without c_size, which depends on n as well."""

C_SIZE = {
    "n": "besides c_size, which grows with n: it can be as large as the number of joint actions, 3 to the power n",
    "k": "c_size, which does not grow with k: it is at most the number of joint actions, 3 to the power n for any k",
}
"""What c_size does when numbers of agents or coalitions grow; agents have three actions in these games."""

MATCHES = 0.25
"""A fitted power this near to another passes for it."""


LOW = 1.0
"""A certificate up to what one colleague can be worth is low."""

RULE = (
    f"What the paper says is looked for in every curve, panel or pair of curves that it is about: *{CONFIRMED}* where "
    f"it is so in all of them (*{OTHER_CAUSE.partition(', ')[2]}*: not for the reason that is given), *{PARTLY}* in at "
    f"least half, *{NOT_CONFIRMED}* in fewer. A curve falls if the exponent of M that fits it best is below {FALLS:g}, "
    f"and stays if it is above {STAYS:g}; from {ROOT[0]:g} to {ROOT[1]:g} it passes for 1 / sqrt(M); a power of n or k "
    f"matches another within {MATCHES:g}; a certificate is low up to {LOW:g}, what one colleague can be worth. An "
    "upper bound is confirmed where it held in 99 % of the runs, as delta = 0.01 says."
)
"""How verdicts come about, for the page; see `word`."""

METHODS = ("paper", "auto")
"""Whose curves verdicts are about; tables without them have none."""


class Verdict(NamedTuple):
    """A word, and the numbers behind it in a sentence."""

    word: str
    numbers: str


@dataclass(frozen=True)
class Claim:
    """A statement of the paper about its figures."""

    text: str
    where: str
    figures: tuple[str, ...]
    """Which of our figures show it; all are needed for a verdict."""
    judge: Callable[[Summary], Verdict]


def span(values: Iterable[float | None], digits: int = 2) -> str:
    """Return "a to b", or one number where both are the same."""
    known = sorted(value for value in values if value is not None)
    if not known:
        return "no fit"
    low, high = f"{known[0]:.{digits}f}", f"{known[-1]:.{digits}f}"
    return low if low == high else f"{low} to {high}"


def _share(curves: Sequence[Curve]) -> str:
    runs = sum(curve.runs for curve in curves)
    stable = sum(curve.stable * curve.runs for curve in curves)
    return f"{round(stable)} of {runs}"


def _paper(summary: Summary, *figures: str) -> list[Curve]:
    return [curve for figure in figures for curve in summary.of(figure, method="paper")]


def _ours(summary: Summary, *figures: str) -> list[Curve]:
    return [curve for figure in figures for curve in summary.of(figure, method="auto")]


def word(seen: Sequence[bool], confirmed: str = CONFIRMED) -> str:
    """Return the verdict on a statement that was looked for so often: all, at least half, or fewer; see `RULE`."""
    if not seen:
        return NOT_TESTED
    return confirmed if all(seen) else PARTLY if 2 * sum(seen) >= len(seen) else NOT_CONFIRMED


def _falls(curve: Curve) -> bool:
    """Return whether a curve falls; one that reaches 0 has no exponent, and fell."""
    return curve.exponent < FALLS if curve.exponent is not None else curve.last < curve.first


def _is_low(curve: Curve) -> bool:
    return curve.last <= LOW


def _fails(curve: Curve) -> bool:
    """Return whether a curve stays where it is, and high."""
    return curve.exponent is not None and curve.exponent > STAYS and not _is_low(curve)


def _has_means(curve: Curve) -> bool:
    """Return whether there is anything to recover: with uniform utilities all means are 0."""
    return not curve.model.endswith("uniform")


def _low_under_random(summary: Summary) -> Verdict:
    theirs, ours = _paper(summary, "S1"), _ours(summary, "S1")
    degenerate = [curve for curve in theirs if not _has_means(curve)]
    learnt = [curve for curve in theirs if _has_means(curve)]
    return Verdict(
        word([_falls(c) and _is_low(c) for c in theirs], OTHER_CAUSE),
        f"The paper's certificate is {span((c.first for c in theirs), 1)} with fewest samples and "
        f"{span(c.last for c in theirs)} with most; it falls in {sum(map(_falls, theirs))} of {len(theirs)} curves, "
        f"and to at most {LOW:g}, what one colleague can be worth, in {sum(map(_is_low, theirs))}. In "
        f"{len(degenerate)} of {len(theirs)} curves all means are 0, so there is nothing to recover; in the others "
        f"the true gap of its strategy with most samples is {span(c.true_gap for c in learnt)}. Exactly stable "
        f"with most samples: {_share(theirs)} runs by the paper's certificate, {_share(ours)} by ours.",
    )


def _fails_under_one_rand(summary: Summary) -> Verdict:
    theirs, ours = _paper(summary, "S2"), _ours(summary, "S2")
    gaps, printed = ([c.true_gap for c in curves if _has_means(c)] for curves in (ours, theirs))
    worse = sum(mine > other for mine, other in zip(gaps, printed, strict=True))
    return Verdict(
        word([_fails(c) for c in theirs], OTHER_CAUSE),
        f"Exponents of M: {span(c.exponent for c in theirs)}; with most samples the paper's certificate is "
        f"{span((c.last for c in theirs), 1)}, ours {span((c.last for c in ours), 1)}. What is not seen is not known "
        f"to ours either: where means are not all 0, the true gap of its strategy with most samples is {span(gaps)}, "
        f"that of the paper's {span(printed)}, and ours is the larger one in {worse} of {len(gaps)} curves. The reason "
        "is pairs that "
        f"never meet, not sizes that do not occur ([finding 1](errata.md#finding-1)). By ours {_share(ours)} runs are "
        "exactly stable all the same: where one action lies within all others, everybody can take it and finds all "
        "other coalitions empty.",
    )


def _root(figure: str) -> Callable[[Summary], Verdict]:
    def judge(summary: Summary) -> Verdict:
        theirs, ours = _paper(summary, figure), _ours(summary, figure)
        near = [curve.exponent is not None and ROOT[0] <= curve.exponent <= ROOT[1] for curve in theirs]
        reached = [curve for curve in ours if curve.last == 0]
        return Verdict(
            word(near, OTHER_CAUSE),
            f"Fitted exponents of M: {span(c.exponent for c in theirs)} for the paper's certificate. It is the bonus "
            "that falls so, whatever the strategy: agents are charged for the uncertainty of what they keep. "
            f"Ours falls to exactly 0 in {len(reached)} of {len(ours)} curves, else with exponents "
            f"{span(c.exponent for c in ours if c.last > 0)}.",
        )

    return judge


def _growth(summary: Summary, varies: str, method: str) -> list[float]:
    found = [one for one in summary.growth if (one.figure, one.method, one.varies) == ("S1", method, varies)]
    return [one.exponent for one in found if one.exponent is not None]


def _more_agents(summary: Summary) -> Verdict:
    """Larger certificates with the same samples mean that more samples are needed for the same certificate."""
    panels: dict[str, list[Curve]] = {}
    for curve in sorted(_paper(summary, "S1"), key=lambda one: one.n):
        panels.setdefault(curve.panel, []).append(curve)
    steps = [
        larger.last > smaller.last
        for curves in panels.values()
        for smaller, larger in pairwise(curves)
        if smaller.n < larger.n
    ]
    if len(steps) <= len([curves for curves in panels.values() if len({one.n for one in curves}) > 1]):
        return Verdict(NOT_TESTED, "There are too few numbers of agents.")
    return Verdict(
        word(steps),
        f"From one number of agents to the next, the paper's certificate with most samples is larger in {sum(steps)} "
        f"of {len(steps)} cases; it grows like n to the power {span(_growth(summary, 'n', 'paper'))} (ours, where it "
        f"is not 0: {span(_growth(summary, 'n', 'auto'))}).",
    )


def _as_theorem_3(varies: str) -> Callable[[Summary], Verdict]:
    def judge(summary: Summary) -> Verdict:
        found, power = _growth(summary, varies, "paper"), THEOREM_3[varies]
        if not found:
            return Verdict(NOT_TESTED, f"There are too few values of {varies} for a fit.")
        below = " The bound holds, and is far above what happens." if max(found) < power - MATCHES else ""
        return Verdict(
            word([abs(one - power) <= MATCHES for one in found]),
            f"With most samples the paper's certificate grows like {varies} to the power {span(found)} (ours, where it "
            f"is not 0: {span(_growth(summary, varies, 'auto'))}); eq. 10 has the power {power:g}, and "
            f"{C_SIZE[varies]}.{below}",
        )

    return judge


def _similar(summary: Summary) -> Verdict:
    theirs = _paper(summary, "S1")
    sized = {(c.model.removeprefix("size-"), c.n, c.k): c for c in theirs if c.model.startswith("size-")}
    ratios = [sized[c.model, c.n, c.k].last / c.last for c in theirs if (c.model, c.n, c.k) in sized and c.last > 0]
    if not ratios:
        return Verdict(NOT_TESTED, "There are no twins.")
    return Verdict(
        word([0.5 <= ratio <= 2 for ratio in ratios]),
        f"The paper's certificate of a size-dependent model is {span(ratios)} times that of its size-free twin: the "
        "bonus does not look at utilities. Ours tells them apart, and is wider where each size has its own mean.",
    )


def _mixed(figure: str, *, expected: bool) -> Callable[[Summary], Verdict]:
    def judge(summary: Summary) -> Verdict:
        theirs, ours = _paper(summary, figure), _ours(summary, figure)
        far = [(sum(c.far * c.logs for c in curves), sum(c.logs for c in curves)) for curves in (theirs, ours)]
        unseen = (
            " A certificate that does not fall tells of teams within reach that never occur in the log: about these "
            f"no method knows more than the range. The true gap was above {FAR:g} in {far[0][0]:.0f} of {far[0][1]} "
            f"logs of all lengths with the paper's strategy, in {far[1][0]:.0f} of {far[1][1]} with ours."
        )
        return Verdict(
            word([_falls(c) and _is_low(c) if expected else _fails(c) for c in theirs]),
            f"Exponents of M: {span(c.exponent for c in theirs)}; with most samples the paper's certificate is "
            f"{span(c.last for c in theirs)}, at most {LOW:g} in {sum(map(_is_low, theirs))} of {len(theirs)} curves, "
            f"and the true gap of its strategy {span(c.true_gap for c in theirs)}. Ours: "
            f"{span(c.last for c in ours)}, true gap {span(c.true_gap for c in ours)}; {_share(ours)} runs certified "
            f"exactly stable.{'' if any(map(_falls, theirs)) else unseen}",
        )

    return judge


def _bounds(summary: Summary) -> Verdict:
    theirs, ours = _paper(summary, *ALL), _ours(summary, *ALL)
    held = [sum(c.held * c.logs for c in curves) / sum(c.logs for c in curves) for curves in (theirs, ours)]
    holds = held[0] >= 0.99
    generous = (
        " Its widths are so generous here that the conditions it leaves out do no harm; "
        "[finding 2](errata.md#finding-2) has games where they do."
    )
    return Verdict(
        CONFIRMED if holds else NOT_CONFIRMED,
        f"The paper's certificate was not below the true gap in {100 * held[0]:.1f} % of the runs, ours in "
        f"{100 * held[1]:.1f} %.{generous if holds else ''}",
    )


CLAIMS = (
    Claim(
        "Algorithm 1 consistently reaches a low approximation to Nash stability under the uniformly random policy",
        "Section 6, App. H.1.2",
        ("S1",),
        _low_under_random,
    ),
    Claim("It fails to do so under 1Rand", "Section 6, App. H.1.2", ("S2",), _fails_under_one_rand),
    Claim("The gap decreases like 1 / sqrt(M), quickly at first and slowly then", "Section 6", ("S1",), _root("S1")),
    Claim("It takes more samples with more agents", "Section 6", ("S1",), _more_agents),
    Claim("The scaling in n matches Theorem 3", "Section 6", ("S1",), _as_theorem_3("n")),
    Claim("The scaling in k matches Theorem 3", "Section 6", ("S1",), _as_theorem_3("k")),
    Claim("Size-independent models show similar trends", "Section 6, App. H.1", ("S1",), _similar),
    Claim("The approximate gap is an upper bound of the true gap", "Section 6", ALL, _bounds),
    Claim(
        "Mixed effects, semi-bandit: low under the uniformly random policy", "App. H.1.3", ("S3",),
        _mixed("S3", expected=True),
    ),
    Claim(
        "Mixed effects, semi-bandit: low under the coalition-size policy as well", "App. H.1.3", ("S4",),
        _mixed("S4", expected=True),
    ),
    Claim(
        "Mixed effects, bandit: low under the uniformly random policy", "App. H.2", ("S5",), _mixed("S5", expected=True)
    ),
    Claim(
        "Mixed effects, bandit: fails under the coalition-size policy", "App. H.2", ("S6",),
        _mixed("S6", expected=False),
    ),
)  # fmt: skip
