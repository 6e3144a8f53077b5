"""What is proven of a result, how, and what would prove more, in sentences that need no game theory."""

import math
from typing import TYPE_CHECKING

from coterie.learn.amounts import has_range
from coterie.learn.more_samples import LONGEST
from coterie.learn.result import NAMED, Result
from coterie.words import percent, some

if TYPE_CHECKING:
    from coterie.certificates.certificate import Doubt


ANY_TEAMS = "Proven for all teams at once, however these were chosen."


FOR_ANY_TEAMS = (
    f"{ANY_TEAMS} For teams of its own, learn may prove a smaller limit, as it sets rounds aside that do not choose."
)
"""Why `certify` and `coverage` say something else than `learn` of the same teams."""


TOO_LITTLE = "There are too few data to prove that nobody could get a better place"


REALISTIC = 10
"""Nobody waits for a log that is more than so many times as long."""


HELPFUL = 3
"""So many pairs are named of whom more data would help."""


NEXT = "Next: form them, go on recording, and run this again with the longer table."


NOTHING_SURE = f"{TOO_LITTLE}: these teams are a best guess, and what is known are the ranges above. {NEXT}"


NOTHING_KNOWN = (
    f"{TOO_LITTLE}, and no ranges are known either: these teams are a best guess, and may well be worth less than "
    f"expected, as the best of many uncertain guesses often is. {NEXT}"
)


def nothing_sure(result: Result) -> str:
    """Return what to make of teams of which nothing is certified: those that were given are nobody's guess."""
    if not result.options:
        return f"{TOO_LITTLE}."
    return NOTHING_SURE if has_range(result) else NOTHING_KNOWN


def more_needed(result: Result) -> str:
    """Return how much more would be needed to certify something, as an extrapolation; "" where nobody knows."""
    more, now = result.more_samples, result.data.samples
    if more is None or not now:
        return ""
    if not math.isfinite(more):
        if result.coverage is not None and not result.coverage.is_enough:
            return (
                "More rounds in which the same people are together would not do: what is missing are people who were "
                "never together, or seldom."
            )
        return f"Even {LONGEST:,} times as many rounds like these would not prove anything of use."
    about = (
        f"up to about {rounded(more):,} more rounds like the {now:,} so far to promise anything of use (an "
        "extrapolation; fewer where everybody meets everybody)"
    )
    if more > REALISTIC * now:
        return f"It would take {about}: more than is realistic."
    return f"It would take {about}."


def rounded(amount: float) -> int:
    """Return an amount to two digits: what is about so much is not known more closely."""
    digits = max(0, len(str(int(amount))) - 2)
    return int(round(amount, -digits))


def what_is_sure(result: Result) -> str:
    """Return the promise; where there is none one line, what to make of that and what would help."""
    is_open = result.says_nothing and math.isfinite(result.certificate.gap)
    return (
        nothing_sure(result) if is_open else " ".join(filter(None, (result.sentence(witness=False), how_much(result))))
    )


SHARES = {
    0.225: "a fifth",
    0.29: "a quarter",
    0.42: "a third",
    0.58: "half",
    0.71: "two thirds",
    0.85: "three quarters",
}
"""Shares in words, up to which they are called so."""


MUCH = 0.175
"""A promise that is a larger share of what the scale says by itself is told with that share."""


def how_much(result: Result) -> str:
    """Return how much a promise is of what the scale says by itself, where it is much: a number does not show that."""
    found = result.certificate
    share = found.gap / result.range_gap if result.range_gap else 0.0
    # What newcomers may gain is told beside what all others may.
    if not MUCH < share <= 1 or result.says_nothing or found.known_gap is not None:
        return ""
    words = next((f"about {name}" for end, name in SHARES.items() if share <= end), "nearly all")
    is_expected = found.worst is not None and found.worst.estimated_gain >= found.gap / 2
    more = "" if is_expected else "; more rounds can make it smaller"
    return f"That is {words} of what the scale would let anybody gain at all{more}."


def who_stays(result: Result) -> str:
    """Return how many surely stay and who is undecided; nothing where there is no such difference."""
    stay, left_out = set(result.certificate.surely_stay), set(result.left_out)
    everybody = [agent for agent in result.strategy.agents if agent not in left_out]
    undecided = [agent for agent in everybody if agent not in stay]
    chose = [agent for agent in stay if agent not in result.explanations or result.explanations[agent].alternative]
    if not chose or not undecided:  # who has no choice stays anyway
        return ""
    sure = f"(with {percent(1 - result.certificate.delta)} confidence, all of them together)"
    return (
        f"Proven to have nothing to gain: {len(stay)} of {len(everybody)} {sure}; not proven, whether they could "
        f"get a better place or not: {some(undecided, NAMED)}."
    )


def vacuous(result: Result) -> str:
    """Return a warning where the promise needs no data."""
    if not result.is_vacuous:
        return ""
    return (
        "That nobody gains by moving is so whatever the data say: what people could do under these rules and choices "
        "is never worth more than what they have. It is no sign of good teams."
    )


def likely(result: Result) -> str:
    """Return what is likely and no promise, where that says more than the certificate."""
    if result.says_nothing or result.likely is None or f"{result.likely:.3g}" == f"{result.certificate.gap:.3g}":
        return ""
    return f"Likely, but not proven: {result.nobody_gains(result.likely)}."


def tightest_case(result: Result) -> str:
    """Return who comes closest to gaining by moving, or gains most at most; "" where nobody has a choice."""
    worst = result.certificate.worst
    return "" if worst is None else f"The tightest case of that is {worst.agent} {result.moving(worst)}."


def kind_of_proof(result: Result, *, commands: bool = True) -> str:
    """Return why the certificate is what it is, and why other `commands` say something else of the same teams."""
    method, others = result.certificate.method, result.certificates
    given = result.solver.status == "given"
    paired = others.get("paired")
    if method == "holdout" and not given:
        proven = "Proven on rounds that were set aside while the teams were chosen."
        if not commands or paired is None or paired == result.certificate.gap:
            return proven
        return (
            f"{proven} Of the same teams certify and coverage say {_gap(paired)}: they take any teams, also such as "
            "were chosen on the very rounds that certify, and must allow for that."
        )
    if method == "holdout":
        return "Proven for teams that were fixed without looking at these outcomes."
    if method == "paired" and given:
        return FOR_ANY_TEAMS if commands else ANY_TEAMS
    if method == "paired":
        return "Proven for all teams at once, so it does not matter that the same rounds chose these."
    return "Proven by the published method."


def _gap(gap: float) -> str:
    return "0" if gap == 0 else f"{gap:.3g}"


def what_would_help(result: Result) -> list[str]:
    """Return what data would help most, from the pairs that the tightest case hangs on, a sentence for each team.

    Where nothing is proven the tightest case is anybody's: pairs help then of whom the guess knows nothing directly.
    """
    worst = result.certificate.worst
    if result.certificate.gap == 0 or worst is None:
        return []
    if result.says_nothing:
        together = result.together
        pairs = [] if together is None else together.pairs_named(pooled=result.data.pool_coalitions)[:HELPFUL]
        return [f"outcomes of those who were never seen together: {', '.join(pairs)}"] if pairs else []
    by_team: dict[str, list[Doubt]] = {}
    for doubt in worst.doubts[:HELPFUL]:
        by_team.setdefault("" if result.data.pool_coalitions else f" in {doubt.coalition}", []).append(doubt)
    return [
        f"more outcomes of {worst.agent}{where} with {some([one.partner for one in doubts], HELPFUL)} (uncertain by "
        f"{'up to' if len(doubts) > 1 else 'about'} {max(one.error for one in doubts):.2g})"
        for where, doubts in by_team.items()
    ]
