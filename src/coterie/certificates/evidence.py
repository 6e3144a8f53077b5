"""What an estimate proves about gains: bounds for all profiles at once, and for one fixed profile.

`Evidence` is the common face of semi-bandit and bandit logs (`coterie.certificates.pair_evidence`,
`coterie.certificates.total_evidence`). A *uniform* bound holds for every profile at once, so the profile may depend
on all data. A *direction* bound holds for directions that were fixed without looking at these data; `log_term` is
log(1 / share of delta) for each.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Literal, Protocol, Self, TypeVar

import numpy as np

from coterie import checks
from coterie.arrays import FloatArray
from coterie.certificates import widths
from coterie.certificates.gains import GainBound, LogTerm, RootBound
from coterie.errors import InputError
from coterie.estimate.design import Design, StrategyDesign
from coterie.estimate.intervals import Bounds
from coterie.estimate.unknowns import Unknowns
from coterie.game.actions import ActionSpaces
from coterie.game.game import Game
from coterie.game.strategy import Strategy, StrategyLike, as_strategy

Form = Literal["hoeffding", "bernstein", "both"]
"""Which width bounds a fixed direction; "both" takes the smaller one and pays for it."""

Names = tuple[tuple[str, ...], tuple[str, ...]]
"""The agents and the coalitions that evidence is about."""


D = TypeVar("D", bound=Design)
D_contra = TypeVar("D_contra", bound=Design, contravariant=True)


class Bounding(Protocol[D_contra]):
    """What certificates ask of evidence: bounds for the rows of a design, of one strategy or of many profiles."""

    def range_bound(self, design: D_contra) -> GainBound:
        """Return the bound that holds without any data, from the range of utilities alone."""

    def uniform_bound(self, design: D_contra, delta: float) -> GainBound:
        """Return a bound that holds for all profiles at once with probability 1 - delta."""

    def direction_bound(self, design: D_contra, log_term: LogTerm, form: Form = "both") -> GainBound:
        """Return a bound each of whose deviations fails with probability at most exp(-log_term)."""

    def expected_bound(self, design: D_contra, log_term: float) -> GainBound:
        """Return about what `Evidence.learnt_bound` will be; no bound itself, for searches."""


class Evidence(ABC):
    """A log's estimate together with what it proves about gains.

    Strategies enter as a `Design`, which `design` makes, so that bounds only ever see sums over coefficients.
    """

    names: Names | None

    @property
    @abstractmethod
    def unknowns(self) -> Unknowns:
        """The way the log is read."""

    @property
    @abstractmethod
    def bounds(self) -> Bounds:
        """What is known of realised utilities."""

    @property
    @abstractmethod
    def values(self) -> FloatArray:
        """The estimates of all unknowns, in the shape that `unknowns` gives them."""

    @property
    def is_bounded(self) -> bool:
        """Whether directions have bounds at all, be they ever so wide."""
        return True

    @property
    @abstractmethod
    def allows_dependence(self) -> bool:
        """Whether pairs of one sample may depend on each other."""

    @property
    @abstractmethod
    def is_symmetric(self) -> bool:
        """Whether both agents of a pair are taken to receive the same."""

    @property
    def covers_missing(self) -> bool:
        """Whether outcomes that were not recorded count at their worst."""
        return False

    def strategy(self, given: StrategyLike) -> Strategy:
        """Return the strategy of the log's agents and coalitions that was given in one form or another."""
        if self.names is not None:
            return as_strategy(given, *self.names, "the log's")
        if not isinstance(given, Strategy):
            raise InputError(f"strategy: expected a Strategy, as evidence has no names here, got {checks.shown(given)}")
        return given

    @property
    @abstractmethod
    def allows_adaptivity(self) -> bool:
        """Whether who met whom may have depended on earlier outcomes: then only uniform bounds hold."""

    def design(self, strategy: Strategy) -> StrategyDesign:
        """Return the coefficients with which a strategy weighs the unknowns."""
        if self.names is not None and self.names != (strategy.agents, strategy.coalitions):
            raise InputError("the strategy's agents and coalitions are not the log's, or not in its order")
        return self.unknowns.design(strategy)

    def game(
        self, spaces: ActionSpaces, agents: Iterable[str] | None = None, coalitions: Iterable[str] | None = None
    ) -> Game:
        """Return the game whose mean utilities are the estimates; names default to those of the log."""
        own_agents, own_coalitions = self.names or (None, None)
        return self.unknowns.game(
            self.values,
            spaces,
            own_agents if agents is None else agents,
            own_coalitions if coalitions is None else coalitions,
        )

    @abstractmethod
    def rooms(self, design: Design) -> FloatArray:
        """Return estimated room values, shape (n, k)."""

    def range_bound(self, design: Design) -> GainBound:
        """Return the bound that holds without any data."""
        return widths.at_range(design, self.bounds.low, self.bounds.high)

    @abstractmethod
    def uniform_bound(self, design: Design, delta: float) -> GainBound:
        """Return a bound that holds for all profiles at once with probability 1 - delta."""

    @abstractmethod
    def direction_bound(self, design: Design, log_term: LogTerm, form: Form = "both") -> GainBound:
        """Return a bound each of whose deviations fails with probability at most exp(-log_term)."""

    def expected_bound(self, design: Design, log_term: float) -> GainBound:
        """Return about what `learnt_bound` will be; no bound itself, for searches."""
        return self.direction_bound(design, log_term)

    @property
    def learns(self) -> bool:
        """Whether what an independent part of the log says sharpens bounds."""
        return True

    def learnt_bound(self, design: Design, log_term: float, learning: Self) -> GainBound:
        """Return a bound like `direction_bound`, sharpened by what an independent part of the log says."""
        del learning
        return self.direction_bound(design, log_term)

    @abstractmethod
    def likely_bound(self, design: Design, delta: float) -> RootBound | None:
        """Return an estimate that each gain exceeds with probability about delta, see `coterie.certificates.likely`."""

    @abstractmethod
    def batched(self, spaces: ActionSpaces) -> Bounding[Design] | None:
        """Return the same evidence for the designs of many pure profiles of `spaces`; None: they come one by one."""

    @abstractmethod
    def doubts(self, design: StrategyDesign, agent: int, change: FloatArray) -> FloatArray:
        """Return how much each coalition and partner adds to the uncertainty of a deviation, shape (k, n).

        `change` is the deviation vector x, shape (k,). The numbers are standard errors in utility
        points, for comparing pairs with each other; they add up in quadrature at best.
        """

    @property
    @abstractmethod
    def errors(self) -> FloatArray:
        """About how far each unknown may be off, in the shape that `unknowns` gives them; for comparing them."""

    @abstractmethod
    def preview(self, learning: Self) -> Self:
        """Return evidence with these counts and the means and variances of `learning`."""

    def assumptions(self) -> list[str]:
        """Return what this evidence takes for granted, in words for the result file."""
        given = "given what was before and who was where" if self.allows_adaptivity else "given who was where"
        independent = f"{given}, what pairs get is independent"
        if self.allows_dependence:
            independent = f"{given}, rounds are independent; pairs of one round need not be"
        bounds = self.bounds
        between = "between {:g} and {:g}".format(*bounds.told)
        limits = f"what a pair gets lies {between}"
        if bounds.sigma is not None:
            limits = f"what a pair gets is sub-Gaussian with scale {bounds.sigma:g} around its mean"
            if np.isfinite(bounds.high - bounds.low):
                limits += f", and means lie {between}"
        missing = "outcomes that were not recorded would have been like those that were"
        if self.covers_missing:
            missing = "outcomes that were not recorded are anything within the range"
        actions = [] if self.allows_adaptivity else ["who was where did not depend on earlier outcomes"]
        return [
            self.unknowns.meaning,
            independent,
            *actions,
            limits,
            "what a pair gets on average is the same in every round",
            missing,
            *(["both people of a pair get the same"] if self.is_symmetric else []),
        ]
