"""What a reader of a result should be warned about: assumptions that fail, and data that mislead."""

from collections.abc import Collection, Iterator, Sequence

import numpy as np

from coterie.assumptions.check import Check
from coterie.assumptions.sample_dependence import TOO_FEW_TO_TELL
from coterie.assumptions.symmetry import TAKEN
from coterie.certificates.certificate import Certificate
from coterie.game.strategy import Strategy
from coterie.log.direction import MAY_BE_TURNED
from coterie.log.drawn_anew import MAY_MEAN_NOTHING
from coterie.log.engine import READ_AS
from coterie.log.names import MAY_BE_ONE, SPELLED
from coterie.log.refusals import SLIP
from coterie.statistics.setting import NoiseChoice
from coterie.statistics.statistics import Statistics
from coterie.words import said, some

TOO_FEW = "there are too few data to certify anything: the certificate says no more than the scale does"

NO_STABLE_PROFILE = (
    "by the best guess somebody would gain by moving, and there may be no teams in which nobody would; people who draw "
    "between several teams (a mixed strategy) may do better"
)

BY_AVERAGES = "a team is worth the average over teammates to each member, as this log says"
"""What is told where nobody said what a team is worth, and the log is one of averages."""

NAMED = 8
"""How many people a warning names."""

SAYS_NOTHING = 0.9
"""A certificate above this share of what the range alone says is as good as none."""


SPOILING = {MAY_BE_TURNED: " If less is better, these are the worst teams.", MAY_MEAN_NOTHING: ""}
"""How warnings begin of what would make all of an answer wrong, and what that comes to."""


def says_nothing(certificate: Certificate, range_gap: float) -> bool:
    """Return whether a certificate says no more than the range of utilities does, of what may well be stable."""
    worst = certificate.worst
    seems_stable = worst is not None and worst.estimated_gain < 0.5 * certificate.gap
    return certificate.of_known >= SAYS_NOTHING * range_gap > 0 and seems_stable


def cautions(
    statistics: Statistics, strategy: Strategy, checks: Sequence[Check], notes: Sequence[str] = ()
) -> list[str]:
    """Return one sentence per warning, those that matter most first: a short answer shows no others.

    First that names of teams may mean nothing, which spoils all that is learnt, then what else may make an answer
    wrong, broken assumptions among it (`checks` are what the log says about each), then other `notes`, then how
    the tables were read and what a team is worth, which was told when that was done, and last what makes promises
    weaker without being wrong, and which letters the tables are written in.
    """
    names = [note for note in statistics.clues.notes if note.startswith(MAY_MEAN_NOTHING)]
    slips = [note for note in statistics.clues.notes if any(mark in note for mark in (SLIP, SPELLED, MAY_BE_ONE))]
    usual = [note for note in notes if note.startswith(BY_AVERAGES)]
    return [
        *names,
        *slips,
        *(check.text for check in checks if check.verdict == "broken" or check.text.startswith(TAKEN)),
        *_one_sign(statistics),
        *_meaningless_labels(statistics),
        *_larger_than_seen(statistics, strategy),
        *(note for note in notes if note not in usual),
        *(note for note in statistics.clues.notes if note not in {*names, *slips} and READ_AS not in note),
        *usual,
        *(check.text for check in checks if check.verdict != "broken" and check.text.startswith(TOO_FEW_TO_TELL)),
        *(note for note in statistics.clues.notes if READ_AS in note),
    ]


def chosen_before(statistics: Statistics, noise: NoiseChoice, *, paper: bool) -> list[str]:
    """Return a warning where "auto" was asked for, and statistics were made with a choice that no test stands behind.

    Where there are enough samples, the whole log is tested all the same. The `paper`'s certificate leaves no choice.
    """
    setting = statistics.setting
    if noise != "auto" or paper or setting.feedback == "bandit" or setting.noise == "samples":
        return []
    if statistics.clues.decisive is not None or statistics.clues.excess.is_enough:
        return []
    made = f"these statistics were made with {said(noise='pairs')}: outcomes of one round are taken not to go together"
    return [f"{made}, and there are too few data to tell; make them with {said(noise='auto')} to do without that"]


def not_seen_lately(statistics: Statistics, staff: Collection[str] | None) -> list[str]:
    """Return who may have left and is given a place all the same, where nobody said who is on the staff."""
    found = statistics.clues.not_lately
    if staff is not None or not found:
        return []
    named = some((f"{name} (last in {sample})" for name, sample in found), NAMED)
    told = f"not seen in the last part of the log, and given a place all the same: {named}"
    return [f"{told}; if they have left, say with {said('staff')} who is there"]


def _one_sign(statistics: Statistics) -> Iterator[str]:
    """Yield a warning where nobody, or everybody, seems worth avoiding: the neutral point may be wrong."""
    extent, neutral = statistics.clues.extent, statistics.setting.neutral
    if extent is None or (statistics.setting.feedback == "bandit" and neutral != 0):
        return  # totals are compared with as many neutral points as they have terms
    low, high = (end - neutral for end in extent)
    if low >= 0 < high or high <= 0 > low:
        single = statistics.setting.actions.are_single
        company = "be with anybody than alone" if single else "join as many teams as possible"
        side, wish = statistics.setting.side(better=low < 0), company if low >= 0 else "be alone"
        yield (
            f"no outcome is {side} the neutral point {statistics.setting.told(neutral):g}, so everybody would rather "
            f"{wish}: say with {said('neutral')} which is worth as much as being alone"
        )


def _meaningless_labels(statistics: Statistics) -> Iterator[str]:
    setting = statistics.setting
    if setting.pool_coalitions or statistics.n_samples < 2 or setting.n_coalitions < 2:
        return
    used = statistics.whole.size_counts[:, 1:].sum(axis=1)
    if (used <= 1).all():
        yield (
            "every team occurs in one round only, so their labels seem to mean nothing: "
            f"use {said(pool_coalitions=True)} to treat them as interchangeable"
        )


def _larger_than_seen(statistics: Statistics, strategy: Strategy) -> Iterator[str]:
    counts = statistics.whole.size_counts
    sizes = np.arange(counts.shape[1])
    seen = np.where(counts > 0, sizes, 0).max(axis=1)
    largest: Sequence[int] = np.broadcast_to(seen, strategy.n_coalitions).tolist()
    expected = strategy.marginals.sum(axis=0)
    for name, members, most in zip(strategy.coalitions, expected.tolist(), largest, strict=True):
        # A mixed strategy has an expected size.
        if members > most + 1e-9 and members > 1:
            yield (
                f"{'team' if strategy.is_pure else 'on average, team'} {name} would have {members:.3g} "
                f"members, more than ever seen ({most}): what is expected takes it that size does not matter"
                if statistics.setting.sizes == "ignore"
                else f"team {name} would have {members:.3g} members, more than ever seen ({most}): nothing is "
                "known about it at that size"
            )
