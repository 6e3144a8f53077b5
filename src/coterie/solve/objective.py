"""What a search over pure profiles minimises: the estimated or exact gap, or a certificate.

The *margin* of an agent is the largest bound on her gain over all real deviations. It is negative
where every move surely loses. The value of a profile is the largest margin, and the certificate is
its positive part. Margins are those of `coterie.certificates`, computed for many profiles at once.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from coterie.arrays import BoolArray, FloatArray, IntArray
from coterie.certificates.evidence import Bounding, D, Evidence, Form
from coterie.certificates.gains import (
    ENUMERATED,
    INFINITE,
    GainBound,
    LinearBound,
    LogTerm,
    SmallerOf,
    worst_deviations,
)
from coterie.certificates.holdout import holdout_bound
from coterie.certificates.pair_evidence import DependentBatches, PairEvidence
from coterie.certificates.paired import PROJECTED, PairedForm, paired_bound, union_terms
from coterie.certificates.widths import one_event
from coterie.estimate.design import BatchDesign, Design, MovedDesign
from coterie.estimate.unknowns import SizeFreeBatch
from coterie.game.actions import ActionSpace, ActionSpaces
from coterie.game.game import Game
from coterie.game.strategy import Strategy

if TYPE_CHECKING:
    from coterie.solve.margins import Margins

COMPILED = 100_000
"""From more than so many (moves x agents x actions) on, compiled code is worth loading: some 40 agents of 8 actions."""

MOST_CELLS = 20_000_000
"""Up to so many numbers the compiled code keeps at hand."""

CELLS = 400_000
"""How many numbers (profiles x agents x actions x coalitions) are handled at once."""

REMEMBERED = 10_000
"""The margins of so many profiles are kept where profiles must be taken one by one."""


class Objective(ABC):
    """A function of pure profiles that is to be made small."""

    label: str
    game: Game
    """The known or estimated game, for best-response dynamics and for the potential."""
    label_of_game: str = "estimate"
    margin_counts: bool = False
    """Whether a negative value is worth more than 0: it is for an expectation, not for a proof."""

    @property
    def spaces(self) -> ActionSpaces:
        """What agents may do."""
        spaces: ActionSpaces = self.game.actions
        return spaces

    def margins(self, profiles: BoolArray, agents: IntArray | None = None) -> FloatArray:
        """Return the margins of some agents (by default all) under profiles (b, n, k), shape (b, g).

        Agents are numbers, in increasing order.
        """
        agents = np.arange(self.game.n_agents) if agents is None else agents
        if self._compiled is not None:
            return self._compiled.margins(profiles, agents)
        step = self._step(agents)
        blocks = [self._margins(profiles[t : t + step], agents) for t in range(0, len(profiles), step)]
        return np.concatenate(blocks) if blocks else np.empty((0, len(agents)))

    def margins_of_moves(
        self,
        profile: BoolArray,
        movers: IntArray,
        actions: BoolArray,
        agents: IntArray | None = None,
        cut: float = np.inf,
    ) -> FloatArray:
        """Return the margins of some agents after each move from `profile`: by whom, to which set; shape (m, g).

        Of a move after which one of them is at least `cut`, no more than that need be known: its row holds one that
        is, and the others may be lower than they are.
        """
        agents = np.arange(self.game.n_agents) if agents is None else agents
        if self._compiled is not None:
            return self._compiled.margins_of_moves(profile, movers, actions, agents, cut)
        return self._margins_of_moves(profile, movers, actions, agents)

    def _margins_of_moves(
        self, profile: BoolArray, movers: IntArray, actions: BoolArray, agents: IntArray
    ) -> FloatArray:
        moved = np.repeat(profile[None], len(movers), axis=0)
        moved[np.arange(len(movers)), movers] = actions
        return self.margins(moved, agents)

    def softest_move(
        self, profile: BoolArray, movers: IntArray, actions: BoolArray, width: float, below: float
    ) -> tuple[int, FloatArray]:
        """Return the move after which `soft_maximum` is smallest, and the margins then; -1 if none is `below`."""
        if self._compiled is not None:
            return self._compiled.softest_move(profile, movers, actions, width, below)
        after = self.margins_of_moves(profile, movers, actions)
        soft = soft_maximum(after, width)
        best = int(soft.argmin()) if len(soft) else -1
        return (best, after[best]) if best >= 0 and soft[best] < below else (-1, np.empty(0))

    @cached_property
    def _compiled(self) -> "Margins | None":
        """The same in compiled code: where it is worth loading, and where all sums add up over partners."""
        n, k = self.game.n_agents, self.game.n_coalitions
        if any(space.size > ENUMERATED for space, _ in self.spaces.groups):
            return None
        sizes = [space.size for space, _ in self.spaces.groups]
        if (n * max(sizes)) ** 2 <= COMPILED or max(len(sizes) * max(sizes), 16 * n * n) * k > MOST_CELLS:
            return None
        bound_of = self._bound_of()
        if bound_of is None:
            return None
        from coterie.solve.margins import Margins, cells_of  # compiled: loaded where it is needed

        sets = [one for one in self._sets if one is not None]
        cells = cells_of(bound_of, sets, self._group, self.spaces.counted, self._forms())
        return None if cells is None else Margins(cells)

    def _bound_of(self) -> Callable[[BoolArray], GainBound] | None:
        """Return a function from profiles (b, n, k) to the bound of all rows; None where sums do not add up."""
        return None

    def _forms(self) -> FloatArray | None:
        """Return the matrix of each agent's unknowns that variances are forms of, shape (n, d, d), if they are."""
        return None

    def _step(self, agents: IntArray) -> int:
        """Return how many profiles to take at once."""
        largest = max(min(space.size, ENUMERATED) for space, _ in self.spaces.groups)
        return max(1, CELLS // (len(agents) * largest * self.game.n_coalitions))

    @abstractmethod
    def _margins(self, profiles: BoolArray, agents: IntArray) -> FloatArray:
        """Return margins of a block of profiles that fits into memory."""

    def moved_margins(self, profile: BoolArray, movers: IntArray, actions: BoolArray) -> FloatArray:
        """Return the margin of each mover herself after her move to `actions` (m, k), or -inf if that is slow.

        It is cheap, since the rooms of an agent do not depend on what she does.
        """
        del profile, actions
        return np.full(len(movers), -np.inf)

    def value(self, profile: BoolArray) -> float:
        """Return the largest margin of one profile (n, k), 0 where nobody has a choice."""
        found = float(self.margins(profile[None]).max())
        return found if np.isfinite(found) or found > 0 else 0.0

    def height(self, profile: BoolArray) -> float:
        """Return the potential of a profile, or the sum of utilities where there is no potential."""
        return self.game.height(self.strategy(profile))

    def strategy(self, profile: BoolArray) -> Strategy:
        """Return a profile as a strategy with names."""
        return Strategy.pure(profile, self.game.agents, self.game.coalitions)

    @cached_property
    def _group(self) -> IntArray:
        """Which group of equal action spaces an agent belongs to."""
        group = np.empty(self.spaces.n_agents, dtype=np.int64)
        for t, (_, agents) in enumerate(self.spaces.groups):
            group[agents] = t
        return group

    @cached_property
    def _sets(self) -> list[FloatArray | None]:
        """The enumerated actions of each group, None where they are too many."""
        return [
            space.enumerate().astype(np.float64) if space.size <= ENUMERATED else None
            for space, _ in self.spaces.groups
        ]

    def _largest(self, bound: GainBound, owners: IntArray) -> FloatArray:
        """Return the largest bound of every row over its owner's real deviations, -inf where she does not count."""
        values = np.empty(len(owners))
        groups = self._group[owners]
        for t, (space, _) in enumerate(self.spaces.groups):
            rows = slice(None) if len(self._sets) == 1 else np.flatnonzero(groups == t)
            sets = self._sets[t]
            if sets is None:
                chosen = np.arange(len(owners))[rows]
                if len(chosen):
                    some = ActionSpaces.shared(space, len(chosen))
                    values[rows] = worst_deviations(_Rows(bound, chosen), some).value
                continue
            found = bound.to_sets(sets, rows)
            if not bound.own_counts:
                own = bound.marginals[rows]
                # Two sets are the same if they have as many members as they share.
                shared = own @ sets.T
                found[(shared == own.sum(axis=1)[:, None]) & (shared == sets.sum(axis=1))] = -np.inf
            values[rows] = found.max(axis=1)
        return np.where(self.spaces.counted[owners], values, -np.inf)


class _Rows(GainBound):
    """Some rows of a bound, as a bound of their own."""

    def __init__(self, bound: GainBound, rows: IntArray) -> None:
        self.bound, self.rows, self.marginals = bound, rows, bound.marginals[rows]
        self.own_counts = bound.own_counts  # type: ignore[misc]

    def at(self, x: FloatArray, agents: IntArray) -> FloatArray:
        return self.bound.at(x, self.rows[agents])

    def relaxed(self, space: ActionSpace, agents: IntArray) -> tuple[FloatArray, BoolArray]:
        return self.bound.relaxed(space, self.rows[agents])


class GapObjective(Objective):
    """The exact gap of a game whose utilities are known, or taken to be the estimates."""

    def __init__(self, game: Game, label: str = "gap") -> None:
        self.game, self.label = game, label
        self.label_of_game = "game" if label == "gap" else "estimate"

    def _margins(self, profiles: BoolArray, agents: IntArray) -> FloatArray:
        owners = np.tile(agents, len(profiles))
        return self._largest(self._bound(profiles, agents), owners).reshape(len(profiles), -1)

    def _bound(self, profiles: BoolArray, agents: IntArray) -> LinearBound:
        k = self.game.n_coalitions
        rooms = self.game.utilities.pure_room_values(profiles, agents).reshape(-1, k)
        own = profiles[:, agents].astype(np.float64).reshape(-1, k)
        return LinearBound(own, rooms, rooms)

    def _bound_of(self) -> Callable[[BoolArray], GainBound] | None:
        everybody = np.arange(self.game.n_agents)
        return None if self.game.depends_on_size else lambda profiles: self._bound(profiles, everybody)

    def moved_margins(self, profile: BoolArray, movers: IntArray, actions: BoolArray) -> FloatArray:
        if self._compiled is not None:
            return self._compiled.moved_margins(profile, movers, actions)
        rooms = self.game.utilities.pure_room_values(profile[None])[0, movers]
        return self._largest(LinearBound(actions.astype(np.float64), rooms, rooms), movers)


def estimated_gap(
    evidence: Evidence,
    spaces: ActionSpaces,
    agents: Iterable[str] | None = None,
    coalitions: Iterable[str] | None = None,
) -> GapObjective:
    """Return the objective that takes the estimates for the truth."""
    return GapObjective(evidence.game(spaces, agents, coalitions), "estimated gap")


class CertificateObjective(Objective):
    """A certificate of pure profiles.

    Parameters
    ----------
    evidence
        What the log, or a part of it, proves.
    spaces
        What agents may do.
    delta
        The certificate's failure probability.
    agents, coalitions
        Names; "1", "2", ... by default.
    """

    def __init__(
        self,
        evidence: Evidence,
        spaces: ActionSpaces,
        delta: float,
        agents: Iterable[str] | None = None,
        coalitions: Iterable[str] | None = None,
    ) -> None:
        self.evidence, self.delta = evidence, delta
        self.game = evidence.game(spaces, agents, coalitions)
        self._kept: tuple[bytes, BatchDesign | None] | None = None
        self._remembered: dict[bytes, FloatArray] = {}

    @cached_property
    def _batched(self) -> Bounding[Design] | None:
        return self.evidence.batched(self.spaces)

    def _margins(self, profiles: BoolArray, agents: IntArray) -> FloatArray:
        design = self.evidence.unknowns.batch(profiles, agents)
        if self._batched is not None and design is not None:
            owners = np.tile(agents, len(profiles))
            return self._largest(self._bound(self._batched, design, owners), owners).reshape(len(profiles), -1)
        return np.array([self._one_by_one(profile)[agents] for profile in profiles])

    def _one_by_one(self, profile: BoolArray) -> FloatArray:
        """Return everybody's margin under one profile; an enumeration asks agent by agent."""
        key = profile.tobytes()
        if key not in self._remembered:
            if len(self._remembered) >= REMEMBERED:
                self._remembered.clear()
            everybody = np.arange(self.game.n_agents)
            bound = self._bound(self.evidence, self.evidence.design(self.strategy(profile)), everybody)
            self._remembered[key] = self._largest(bound, everybody)
        return self._remembered[key]

    def _bound_of(self) -> Callable[[BoolArray], GainBound] | None:
        source = self._batched
        if not isinstance(source, (PairEvidence, DependentBatches)):
            return None
        everybody, nobody = (
            np.arange(self.game.n_agents),
            np.zeros((1, self.game.n_agents, self.game.n_coalitions), bool),
        )
        if not isinstance(self.evidence.unknowns.batch(nobody, everybody), SizeFreeBatch):
            return None

        def bound(profiles: BoolArray) -> GainBound:
            design = self.evidence.unknowns.batch(profiles, everybody)
            assert design is not None
            return self._bound(source, design, np.tile(everybody, len(profiles)))

        return bound

    def _forms(self) -> FloatArray | None:
        return np.stack(self._batched.matrices) if isinstance(self._batched, DependentBatches) else None

    def moved_margins(self, profile: BoolArray, movers: IntArray, actions: BoolArray) -> FloatArray:
        if self._compiled is not None:
            return self._compiled.moved_margins(profile, movers, actions)
        base = self._base(profile)
        if self._batched is None or base is None:
            return super().moved_margins(profile, movers, actions)
        moved = MovedDesign(base, movers, actions)
        return self._largest(self._bound(self._batched, moved, movers), movers)

    def _margins_of_moves(
        self, profile: BoolArray, movers: IntArray, actions: BoolArray, agents: IntArray
    ) -> FloatArray:
        base, step, blocks = self._base(profile), self._step(agents), []
        for t in range(0, len(movers), step):
            some = slice(t, t + step)
            design = None if base is None else base.after_moves(movers[some], actions[some], agents)
            if design is None or self._batched is None:
                return super()._margins_of_moves(profile, movers, actions, agents)
            owners = np.tile(agents, len(movers[some]))
            blocks.append(self._largest(self._bound(self._batched, design, owners), owners).reshape(-1, len(agents)))
        return np.concatenate(blocks) if blocks else np.empty((0, len(agents)))

    def _base(self, profile: BoolArray) -> BatchDesign | None:
        """Return the design of one profile, kept while a search looks at moves from it."""
        key = profile.tobytes()
        if self._kept is None or self._kept[0] != key:
            everybody = np.arange(self.game.n_agents)
            self._kept = key, self.evidence.unknowns.batch(profile[None].copy(), everybody)
        return self._kept[1]

    @abstractmethod
    def _bound(self, source: Bounding[D], design: D, owners: IntArray) -> GainBound:
        """Return the bound of all rows of a design; `owners` says whose they are."""


class PairedObjective(CertificateObjective):
    """The `paired` certificate, see `coterie.certificates.paired`."""

    def __init__(
        self,
        evidence: Evidence,
        spaces: ActionSpaces,
        delta: float,
        agents: Iterable[str] | None = None,
        coalitions: Iterable[str] | None = None,
        *,
        form: PairedForm = "best",
    ) -> None:
        super().__init__(evidence, spaces, delta, agents, coalitions)
        self.form = form
        self.label = "paired certificate" if form == "best" else f"paired certificate ({form})"

    def _bound(self, source: Bounding[D], design: D, owners: IntArray) -> GainBound:
        union = None if self.form == "box" else self._log_terms(design.marginals, owners)
        return paired_bound(source, design, self.delta, union, self.form)

    @cached_property
    def _union(self) -> float | FloatArray:
        """The log terms for every agent, own action and deviation, shape (n, A, A), filled up on the right."""
        spaces = self.spaces
        largest = max(space.size for space in spaces.spaces)
        first = np.array([space.sample(np.random.default_rng(0), 1)[0] for space in spaces.spaces])
        if largest > PROJECTED or any(sets is None for sets in self._sets):
            term = union_terms(self.strategy(first), spaces, self.delta, self.form)
            assert isinstance(term, float)
            return term
        listed = [space.enumerate() for space in spaces.spaces]
        table = np.zeros((spaces.n_agents, largest, largest))
        for own in range(largest):
            profile = np.array([sets[min(own, len(sets) - 1)] for sets in listed])
            terms = union_terms(self.strategy(profile), spaces, self.delta, self.form)
            assert isinstance(terms, np.ndarray)
            table[:, own] = terms
        return table

    def _log_terms(self, own: FloatArray, owners: IntArray) -> LogTerm:
        if isinstance(self._union, float):
            return self._union
        place = np.zeros(len(owners), dtype=np.int64)
        groups = self._group[owners]
        for t, sets in enumerate(self._sets):
            assert sets is not None
            rows = groups == t
            # The own set shares as many members with itself as it has, and loses one for each that differs.
            shared = 2 * own[rows] @ sets.T - sets.sum(axis=1)
            place[rows] = shared.argmax(axis=1)
        return np.asarray(self._union[owners, place])


class HoldoutObjective(CertificateObjective):
    """The `holdout` certificate that is to be expected, see `coterie.certificates.holdout`.

    `evidence` is a preview: the counts of the certifying part with the means of the learning part.
    As it is an expectation, a larger margin is worth having.
    """

    margin_counts = True

    def __init__(
        self,
        evidence: Evidence,
        spaces: ActionSpaces,
        delta: float,
        agents: Iterable[str] | None = None,
        coalitions: Iterable[str] | None = None,
        *,
        form: Form = "both",
    ) -> None:
        super().__init__(evidence, spaces, delta, agents, coalitions)
        self.form, self.label = form, "expected holdout certificate"

    def _bound(self, source: Bounding[D], design: D, owners: IntArray) -> GainBound:
        del owners
        log_term = one_event(self.delta)
        if self.form != "both":
            return holdout_bound(source, design, log_term, self.form)
        return SmallerOf((source.range_bound(design), source.expected_bound(design, log_term)))


def soft_maximum(margins: FloatArray, width: float) -> FloatArray:
    """Return log sum exp(margin / width) of each row.

    (SciPy has it, but importing that would take longer than many a search.)
    """
    scaled = np.clip(margins / width, -INFINITE, INFINITE)
    top = scaled.max(axis=1, keepdims=True)
    return np.asarray(top[:, 0] + np.log(np.exp(scaled - top).sum(axis=1)))
