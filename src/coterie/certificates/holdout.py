"""The `holdout` certificate: learn on one part of the log, certify on another.

For a profile chosen without looking at the certifying part, the gap is one number: the gain of the truly worst
deviation, which is not random. Each gain is one linear combination of unknowns, and the sum goes inside the root:

    g_i(a') = sum c_e estimate_e + width(c; L) + (never observed terms at their worst),   L = log(1 / delta)

It is valid only if nothing about the certifying part's utilities reached the choice of the
profile. `hold_out` makes that so: the caller hands in a function that sees the learning part
alone, and gets certificates for what it returns, with delta divided over all of them.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from weakref import WeakSet

from coterie import checks
from coterie.certificates.against import Against, fixed_against, fixed_gap, likely_against
from coterie.certificates.certificate import Certificate, among_known, certificate
from coterie.certificates.evidence import Bounding, D, Evidence, Form
from coterie.certificates.gains import GainBound, LogTerm, SmallerOf, is_enumerated, worst_deviations
from coterie.certificates.likely import likely_gap
from coterie.certificates.residual import SecondLook, expecting, second_looks
from coterie.certificates.widths import one_event
from coterie.errors import InputError
from coterie.estimate.design import StrategyDesign
from coterie.game.actions import ActionSpaces
from coterie.game.strategy import Strategy, StrategyLike
from coterie.statistics.second_pass import SecondPass
from coterie.words import said


def fixed(
    evidence: Evidence,
    strategy: StrategyLike,
    spaces: ActionSpaces,
    delta: float,
    *,
    form: Form = "both",
    learning: Evidence | None = None,
) -> Certificate:
    """Certify a profile that was fixed without looking at this evidence's utilities: the caller's word.

    Proof. Let d* be the deviation with the largest true gain; given the profile it is fixed. The bound of every
    deviation fails with probability at most delta, so that of d* does, and the largest bound is at least that of d*.
    So one event is paid for, not one per deviation. Deviations of agents who are left out do not count, see
    `certificate`. (Likewise an agent's own largest bound holds with probability 1 - delta on its own; all agents'
    together need one event each, see `Certificate.surely_stay`.)
    `learning`, evidence independent of these utilities, sharpens the width. Evidence that a `Sealed` part has opened
    is refused.
    """
    checks.one_of(form, Form, said("form"))
    checks.probability(delta, said("delta"), checks.LEAST_PART)
    if evidence in _OPENED:
        raise InputError(USED_ALREADY)
    return _fixed(evidence, evidence.strategy(strategy), spaces, delta, form, learning, None)


def _fixed(
    evidence: Evidence,
    strategy: Strategy,
    spaces: ActionSpaces | Against,
    delta: float,
    form: Form,
    learning: Evidence | None,
    look: SecondLook | None,
) -> Certificate:
    if isinstance(spaces, Against):
        if not spaces.is_plain:
            return fixed_against(evidence, strategy, spaces, delta, form=form, learning=learning)
        alone = _fixed(evidence, strategy, spaces.own_spaces, delta, form, learning, look)
        return among_known(alone, spaces.newcomers)
    design = evidence.design(strategy)
    found, together = (
        worst_deviations(_bound(evidence, design, spaces, one_event(share), form, learning, look), spaces)
        for share in (delta, delta / int(spaces.counted.sum()))
    )
    return certificate("holdout", delta, strategy, found, evidence, design, together)


def _bound(
    evidence: Evidence,
    design: StrategyDesign,
    spaces: ActionSpaces,
    log_term: float,
    form: Form,
    learning: Evidence | None,
    look: SecondLook | None,
) -> GainBound:
    if look is not None:
        return SmallerOf((evidence.range_bound(design), look.bound(log_term)))
    if learning is None or form != "both" or not all(is_enumerated(space) for space in spaces.spaces):
        return holdout_bound(evidence, design, log_term, form)
    return SmallerOf((evidence.range_bound(design), evidence.learnt_bound(design, log_term, learning)))


def holdout_bound(source: Bounding[D], design: D, log_term: LogTerm, form: Form = "both") -> GainBound:
    """Return the bound of every deviation: the smaller of the range and the width around the estimated gain.

    The width is that of one fixed combination of unknowns, with L the log term: `widths.hoeffding`, `widths.bernstein`
    or both with half of the share each for pairs, `widths.dependent` where those of a sample may depend on each other,
    `widths.totals` for totals. With a learning part it is `Tilted`, for totals that were read twice `Residual`.
    """
    return SmallerOf((source.range_bound(design), source.direction_bound(design, log_term, form)))


def _likely(evidence: Evidence, strategy: Strategy, spaces: ActionSpaces | Against, delta: float) -> float | None:
    if isinstance(spaces, Against):
        if not spaces.is_plain:
            return likely_against(evidence, strategy, spaces, delta)
        spaces = spaces.own_spaces
    return likely_gap(evidence, strategy, spaces, delta)


NOT_ADAPTIVE = "holdout needs teams that did not depend on earlier outcomes; for an adaptive log there is paired"

USED_ALREADY = "this part of the log was used for certifying already; a second look would not be held out"

_OPENED: WeakSet[Evidence] = WeakSet()
"""Evidence whose utilities have been looked at: the mark is on the data, not on the wrapper."""


class Sealed:
    """A certifying part: its counts may be looked at, its utilities only through certificates.

    `certify` takes all candidates at once, divides delta over them, and works once: so the best
    of them may be kept, and nothing that the certifying utilities say can reach another choice.
    `again` reads the part once more, see `coterie.certificates.residual`.
    """

    def __init__(self, evidence: Evidence, again: SecondPass | None = None) -> None:
        self.__evidence, self.__pass = evidence, again
        self.__again: Callable[[float], list[Certificate]] | None = None
        self.__likely: Callable[[int, float], float | None]

    def preview(self, learning: Evidence) -> Evidence:
        """Return these counts with the learning part's means: what a certificate is expected to be."""
        return expecting(self.__evidence.preview(learning), learning, self.__pass)

    def expected(
        self, candidates: Sequence[Strategy], learning: Evidence, against: Against, delta: float, *, form: Form = "both"
    ) -> list[float]:
        """Return about what each candidate would be certified to have if it alone were, to choose some by."""
        ahead = self.preview(learning)
        if not against.is_plain:
            return [fixed_gap(ahead, one, against, delta, form, learning) for one in candidates]
        # Certificates say more than this, such as who surely stays, at twice the price.
        bounds = (
            _bound(ahead, ahead.design(one), against.own_spaces, one_event(delta), form, learning, None)
            for one in candidates
        )
        return [max(0.0, worst_deviations(bound, against.own_spaces).largest) for bound in bounds]

    def certify(
        self,
        candidates: Sequence[Strategy],
        learning: Evidence | None,
        spaces: ActionSpaces | Against,
        delta: float,
        *,
        form: Form = "both",
        reading: AbstractContextManager[None] | None = None,
        check: Callable[[int, int], None] = lambda _done, _all: None,
    ) -> list[Certificate]:
        """Return a certificate for each candidate; all of them hold together with probability 1 - delta.

        They are about deviations within action spaces, or about whatever is said that profiles must hold against.
        Where the part is read again, `check` is told how far that is. It may raise what `reading` catches; then the
        part was read in vain, and certificates are those of one pass.
        """
        evidence = self.__evidence  # what is kept below knows it and not this object: both are gone at once
        if evidence in _OPENED:
            raise InputError(USED_ALREADY)
        _OPENED.add(evidence)
        looks: Sequence[SecondLook | None] = [None] * len(candidates)
        shared = one_event(delta / max(len(candidates), 1))
        plain = spaces if isinstance(spaces, ActionSpaces) else spaces.own_spaces if spaces.is_plain else None
        with reading or nullcontext():
            if plain is not None:
                looks = second_looks(evidence, learning, candidates, plain, shared, self.__pass, check) or looks
        sharper = learning if evidence.learns or plain is None else None  # what is not needed any more may be large

        def at(delta: float) -> list[Certificate]:
            each = delta / max(len(candidates), 1)
            found = (
                _fixed(evidence, strategy, spaces, each, form, sharper, look)
                for strategy, look in zip(candidates, looks, strict=True)
            )
            return [replace(one, delta=delta) for one in found]

        self.__again = at
        self.__likely = lambda index, delta: _likely(evidence, candidates[index], spaces, delta)
        return at(delta)

    def likely(self, index: int, delta: float) -> float | None:
        """Return what the gap of a certified candidate likely is at most, see `coterie.certificates.likely`."""
        if self.__again is None:
            raise InputError("nothing was certified yet")
        return self.__likely(index, delta)

    def again(self, delta: float) -> list[Certificate]:
        """Return what `certify` would have returned at another delta: the same candidates, so no new choice."""
        if self.__again is None:
            raise InputError("nothing was certified yet")
        return self.__again(delta)


def hold_out(
    learning: Evidence,
    certifying: Evidence,
    learn: Callable[[Evidence, Sealed], Sequence[Strategy]],
    spaces: ActionSpaces,
    delta: float,
    *,
    form: Form = "both",
    again: SecondPass | None = None,
) -> tuple[Strategy, Certificate]:
    """Let `learn` choose candidates from the learning part, and return the one that certifies best.

    `learn` gets the learning evidence and the sealed certifying part, of which it can see counts only.
    `again` reads the certifying part of a bandit log once more.
    """
    sealed = Sealed(certifying, again)
    candidates = list(learn(learning, sealed))
    if not candidates:
        raise InputError("nothing to certify: the learning part yielded no profile")
    certificates = sealed.certify(candidates, learning, spaces, delta, form=form)
    best = min(range(len(candidates)), key=lambda index: certificates[index].gap)
    return candidates[best], certificates[best]
