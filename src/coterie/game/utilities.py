"""Expected utilities from pair means: with no, a factored, or any dependence on coalition size.

The *room value* W_i(l) is what coalition l is worth to agent i if she is in it, given what the
others do:

    size-free    W_i(l) = sum over j != i of p_j(l) d_ij^l
    size-aware   W_i(l) = sum over j != i and s of Pr[j in C_l, |C_l with i| = s] d_ij^l(s)

It does not depend on agent i's own strategy, so every gain is linear in it. There are three ways to ask:
`room_values` for a mixed strategy, `pure_room_values` for many pure profiles at once, and `rooms` for
one pure profile in which one agent after the other moves.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Self

import numpy as np

from coterie import checks
from coterie.arrays import BoolArray, FloatArray, IntArray
from coterie.errors import InputError
from coterie.game.means import DenseMeans, PairMeans, SparseMeans
from coterie.game.sizes import leave_one_out, leave_two_out, leave_two_out_means, size_distribution

BLOCK_CELLS = 2_000_000
"""Tables by size are looked up for so many profiles x coalitions x agents x partners at once."""


Form = Callable[[FloatArray], float]
"""A quadratic form of the marginals in one coalition."""


class Utilities(ABC):
    """Mean utility d_ij^l(s) of every ordered pair, coalition and size."""

    n_agents: int
    n_coalitions: int
    depends_on_size: bool

    @abstractmethod
    def room_values(self, marginals: FloatArray) -> FloatArray:
        """Return W_i(l), shape (n, k), for independent agents with the given marginals (n, k)."""

    @abstractmethod
    def pure_room_values(self, profiles: BoolArray, agents: IntArray | None = None) -> FloatArray:
        """Return W_i(l) of some agents (by default all) under many pure profiles (b, n, k), shape (b, g, k).

        Agents are numbers, in increasing order.
        """

    @abstractmethod
    def rooms(self, profile: BoolArray) -> "ProfileRooms":
        """Return W of one pure profile (n, k), which follows its moves."""

    @abstractmethod
    def averaged(self) -> "Utilities":
        """Return utilities whose room values are averages over partners, not sums: d_ij^l(s) / (s - 1)."""

    @abstractmethod
    def arrays(self) -> dict[str, FloatArray]:
        """Return the arguments of `Game` that make the same utilities, as dense arrays."""

    @abstractmethod
    def pair_mean(self, coalition: int, agent: int, partner: int, size: int) -> float:
        """Return d_ij^l(s) of one pair."""

    @abstractmethod
    def largest(self) -> float:
        """Return what no utility of a pair, or of being alone, exceeds in absolute value."""

    @abstractmethod
    def first_asymmetry(self) -> tuple[int, int, int] | None:
        """Return a (coalition, i, j) whose utilities differ with the order, if there is one."""

    @abstractmethod
    def first_self_utility(self) -> tuple[int, int, float] | None:
        """Return a (coalition, i, d_ii) with d_ii != 0, if there is one."""

    @abstractmethod
    def first_difference(self) -> int | None:
        """Return a coalition in which some pair is worth something else than in the first one, if there is one."""

    @abstractmethod
    def _pair_and_size_parts(self, coalition: int) -> "tuple[Form, FloatArray] | None":
        """Return the form p' m p and h (n + 1) with d_ij(s) = m_ij + h(s) for all pairs and s >= 2, if they exist."""

    def potential_in(self, coalition: int, marginals: FloatArray) -> float | None:
        """Return what one coalition adds to the potential of a symmetric game; None where none is known.

        Where d_ij^l(s) = m_ij + h(s), coalition l contributes half the sum of its pairs' m_ij
        (Lemma 1) plus Rosenthal's sum over s <= |C_l| of (s - 1) h(s); both are exact potentials
        and the sum over coalitions of potentials is one. For independent agents, who join it with
        probabilities `marginals`, the expectation is a potential of the mixed extension.
        """
        if self.n_agents == 1:
            return 0.0
        parts = self._pair_and_size_parts(coalition)
        if parts is None:
            return None
        form, by_size = parts
        pairs = 0.5 * form(marginals)
        if not by_size[2:].any():  # sizes of many agents take their time
            return pairs
        steps = np.arange(-1.0, self.n_agents) * by_size
        steps[:2] = 0.0
        return pairs + float(size_distribution(marginals) @ np.cumsum(steps))


class Rooms:
    """Room values W_i(l) of pure profiles (b, n, k), in which one agent after the other moves."""

    def __init__(self, utilities: Utilities, profiles: BoolArray) -> None:
        self.utilities, self.profiles = utilities, profiles.copy()

    def of(self, agent: int) -> FloatArray:
        """Return one agent's room values, shape (b, k)."""
        return self.utilities.pure_room_values(self.profiles, np.array([agent]))[:, 0]

    def move(self, agent: int, moving: BoolArray, actions: BoolArray) -> None:
        """Let one agent play the sets `actions` (b, k) in the profiles in which she is `moving` (b,)."""
        self.profiles[moving, agent] = actions[moving]


class ProfileRooms(Rooms, ABC):
    """Room values of a single profile: what a move does not change is kept."""

    def __init__(self, utilities: Utilities, profile: BoolArray) -> None:
        super().__init__(utilities, profile[None])
        self.profile = self.profiles[0]
        self.sizes: IntArray = self.profile.sum(axis=0)

    def of(self, agent: int) -> FloatArray:
        return self._row(agent, self.sizes - self.profile[agent] + 1)[None]

    @abstractmethod
    def _row(self, agent: int, sizes: IntArray) -> FloatArray:
        """Return one agent's row of W, shape (k,); `sizes` are those of the coalitions with her in them."""

    def all(self) -> FloatArray:
        """Return W, shape (n, k)."""
        return self.rows(slice(0, len(self.profile)))

    def rows(self, agents: slice) -> FloatArray:
        """Return the rows of W of some agents, shape (g, k): of many agents not all need be there at a time."""
        return np.concatenate([self.of(agent) for agent in range(agents.start, agents.stop)])

    def move(self, agent: int, moving: BoolArray, actions: BoolArray) -> None:
        if moving[0]:
            self.sizes += actions[0].astype(np.int64) - self.profile[agent]
            self.profile[agent] = actions[0]

    def refresh(self) -> None:
        """Compute everything anew, without the rounding that builds up over many moves."""


class _SummedRooms(ProfileRooms):
    """Sums over members follow each move, in the coalitions that are joined or left."""

    utilities: "FromMeans"

    def __init__(self, utilities: "FromMeans", means: DenseMeans, profile: BoolArray) -> None:
        super().__init__(utilities, profile)
        self.means = means
        self.refresh()

    def refresh(self) -> None:
        self.sums = self.means.room_sums(self.profile.astype(np.float64))

    def _row(self, agent: int, sizes: IntArray) -> FloatArray:
        return self.utilities.from_sums(self.sums[agent], sizes)

    def rows(self, agents: slice) -> FloatArray:
        return self.utilities.from_sums(self.sums[agents], self.sizes - self.profile[agents] + 1)

    def move(self, agent: int, moving: BoolArray, actions: BoolArray) -> None:
        changed = np.flatnonzero(moving[0] & (actions[0] != self.profile[agent]))
        super().move(agent, moving, actions)
        for l in changed.tolist():
            self.means.follow(self.sums, self.profile, agent, l)


class ListedRooms(ProfileRooms):
    """Summed over the pairs that are listed, when a row is asked for.

    Anew each time: differences would leave a little of what is exactly 0, and somebody would move for it.
    """

    utilities: "FromMeans"

    def __init__(self, utilities: "FromMeans", means: SparseMeans, profile: BoolArray) -> None:
        super().__init__(utilities, profile)
        self.means = means

    def _row(self, agent: int, sizes: IntArray) -> FloatArray:
        return self.utilities.from_sums(self.means.row_sums(self.profile, agent), sizes)

    def rows(self, agents: slice) -> FloatArray:
        sums = self.means.some_room_sums(self.profile, agents)
        return self.utilities.from_sums(sums, self.sizes - self.profile[agents] + 1)


class _TableRooms(ProfileRooms):
    """Looked up by size, and summed partner by partner, when a row is asked for."""

    utilities: "TableBySize"

    def _row(self, agent: int, sizes: IntArray) -> FloatArray:
        means = self.utilities.table[np.arange(len(sizes)), agent, :, sizes]  # (k, n)
        there = self.profile.T.copy()
        there[:, agent] = False
        return np.asarray(np.add.accumulate(np.where(there, means, 0.0), axis=1)[:, -1])


class FromMeans(Utilities):
    """d_ij^l(s) = scale[l, s] * means[l, i, j] + shift[l, s]."""

    means: PairMeans
    scale: FloatArray
    """The factor by coalition and size, shape (k, n + 1)."""

    shift: FloatArray
    """What is added by coalition and size, shape (k, n + 1)."""

    @property
    def n_agents(self) -> int:  # type: ignore[override]
        return self.means.n_agents

    @property
    def n_coalitions(self) -> int:  # type: ignore[override]
        return self.means.n_coalitions

    @abstractmethod
    def from_sums(self, sums: FloatArray, sizes: IntArray, coalitions: IntArray | None = None) -> FloatArray:
        """Return W_i(l) from the sum of the members' means and the size with agent i in it.

        The last axis of both is all coalitions, or those that are given.
        """

    def pure_room_values(self, profiles: BoolArray, agents: IntArray | None = None) -> FloatArray:
        own = profiles if agents is None else profiles[:, agents]
        sizes = profiles.sum(axis=1)[:, None] - own + 1
        return self.from_sums(self.means.stacked_room_sums(profiles.astype(np.float64), agents), sizes)

    def rooms(self, profile: BoolArray) -> ProfileRooms:
        if isinstance(self.means, SparseMeans):
            return ListedRooms(self, self.means, profile)
        assert isinstance(self.means, DenseMeans)
        return _SummedRooms(self, self.means, profile)

    def averaged(self) -> "ScaledBySize":
        partners = _partners(self.n_agents)
        return ScaledBySize(self.means, self.scale / partners, self.shift / partners)

    def arrays(self) -> dict[str, FloatArray]:
        means = np.array([self.means.matrix(l) for l in range(self.n_coalitions)])
        return {"means": means, "size_scale": self.scale, "size_shift": self.shift}

    def largest(self) -> float:
        return self.means.largest() * float(np.abs(self.scale).max(initial=0.0)) + float(
            np.abs(self.shift).max(initial=0.0)
        )

    def first_asymmetry(self) -> tuple[int, int, int] | None:
        return self.means.first_asymmetry()

    def first_self_utility(self) -> tuple[int, int, float] | None:
        return self.means.first_self_utility()


@dataclass(frozen=True, eq=False)
class SizeFree(FromMeans):
    """Utilities that do not depend on coalition sizes."""

    means: PairMeans
    depends_on_size = False

    @property
    def scale(self) -> FloatArray:  # type: ignore[override]
        return np.ones((self.n_coalitions, self.n_agents + 1))

    @property
    def shift(self) -> FloatArray:  # type: ignore[override]
        return np.zeros((self.n_coalitions, self.n_agents + 1))

    def room_values(self, marginals: FloatArray) -> FloatArray:
        return self.means.room_sums(marginals)

    def pure_room_values(self, profiles: BoolArray, agents: IntArray | None = None) -> FloatArray:
        return self.means.stacked_room_sums(profiles.astype(np.float64), agents)  # sizes would take longer than sums

    def from_sums(
        self,
        sums: FloatArray,
        sizes: IntArray,  # noqa: ARG002  (the same for all sizes)
        coalitions: IntArray | None = None,  # noqa: ARG002
    ) -> FloatArray:
        return sums

    def pair_mean(self, coalition: int, agent: int, partner: int, size: int) -> float:  # noqa: ARG002
        return float(self.means.matrix(coalition)[agent, partner])

    def first_difference(self) -> int | None:
        return self.means.first_difference()

    def _pair_and_size_parts(self, coalition: int) -> tuple[Form, FloatArray] | None:
        return partial(self.means.form, coalition), np.zeros(self.n_agents + 1)


@dataclass(frozen=True, eq=False)
class ScaledBySize(FromMeans):
    """Utilities that depend on the size in the same way for all pairs of a coalition."""

    means: PairMeans
    scale: FloatArray
    shift: FloatArray
    depends_on_size = True

    @classmethod
    def checked(cls, means: PairMeans, scale: object, shift: object) -> Self:
        """Fill in scale 1 and shift 0 where they are not given, and check the shapes."""
        shape = (means.n_coalitions, means.n_agents + 1)
        return cls(
            means,
            np.ones(shape) if scale is None else checks.frozen(scale, "size_scale", shape),  # type: ignore[arg-type]
            np.zeros(shape) if shift is None else checks.frozen(shift, "size_shift", shape),  # type: ignore[arg-type]
        )

    def room_values(self, marginals: FloatArray) -> FloatArray:
        values = np.empty_like(marginals)
        partners = np.arange(self.n_agents)
        for l in range(self.n_coalitions):
            p = marginals[:, l]
            without_one = leave_one_out(p)
            factors = leave_two_out_means(p, self.scale[l, 2:], without_one)
            values[:, l] = self.means.weighted_room_sums(l, p, factors)
            # Every partner brings the same shift, so only their number matters.
            values[:, l] += without_one @ (partners * self.shift[l, 1:])
        return values

    def from_sums(self, sums: FloatArray, sizes: IntArray, coalitions: IntArray | None = None) -> FloatArray:
        coalition = np.arange(self.n_coalitions) if coalitions is None else coalitions
        return np.asarray(self.scale[coalition, sizes] * sums + self.shift[coalition, sizes] * (sizes - 1))

    def pair_mean(self, coalition: int, agent: int, partner: int, size: int) -> float:
        mean = self.means.matrix(coalition)[agent, partner]
        return float(self.scale[coalition, size] * mean + self.shift[coalition, size])

    def first_difference(self) -> int | None:
        by_size = np.stack([self.scale, self.shift])[:, :, 2:]
        different = (by_size != by_size[:, :1]).any(axis=(0, 2))
        return int(different.argmax()) if different.any() else self.means.first_difference()

    def _pair_and_size_parts(self, coalition: int) -> tuple[Form, FloatArray] | None:
        scale, shift = self.scale[coalition], self.shift[coalition]
        if np.ptp(scale[2:]) == 0:
            return lambda marginals: float(scale[2]) * self.means.form(coalition, marginals), shift
        common = self.means.common_value(coalition)
        if common is None:
            return None
        return lambda _: 0.0, common * scale + shift


@dataclass(frozen=True, eq=False)
class TableBySize(Utilities):
    """d_ij^l(s) from a full table of shape (k, n, n, n + 1); sizes 0 and 1 are never read."""

    table: FloatArray
    depends_on_size = True

    def __post_init__(self) -> None:
        shape = self.table.shape
        if len(shape) != 4 or shape[1:] != (shape[1], shape[1], shape[1] + 1):
            raise InputError(f"size_table: expected shape (coalitions, agents, agents, agents + 1), got {shape}")

    @property
    def n_agents(self) -> int:  # type: ignore[override]
        return int(self.table.shape[1])

    @property
    def n_coalitions(self) -> int:  # type: ignore[override]
        return int(self.table.shape[0])

    def room_values(self, marginals: FloatArray) -> FloatArray:
        values = np.empty_like(marginals)
        for l in range(self.n_coalitions):
            p = marginals[:, l]
            without_one = leave_one_out(p)
            for i in range(self.n_agents):
                sizes = leave_two_out(p, without_one[i])
                sizes[i] = 0.0
                values[i, l] = p @ (self.table[l, i, :, 2:] * sizes).sum(axis=1)
        return values

    def pure_room_values(self, profiles: BoolArray, agents: IntArray | None = None) -> FloatArray:
        agents = np.arange(self.n_agents) if agents is None else agents
        step = max(1, BLOCK_CELLS // max(1, self.n_coalitions * len(agents) * self.n_agents))
        if len(profiles) > step:
            blocks = [self.pure_room_values(profiles[t : t + step], agents) for t in range(0, len(profiles), step)]
            return np.concatenate(blocks)
        joined = profiles.astype(np.float64)
        everybody = joined.transpose(0, 2, 1) @ np.ones(self.n_agents)  # much quicker than a sum
        sizes = (everybody[:, :, None] - joined[:, agents].transpose(0, 2, 1) + 1).astype(np.int64)
        table = self.table[:, agents]
        table[..., 1] = 0.0  # nobody meets there
        return sums_at_sizes(table, sizes, joined)

    def rooms(self, profile: BoolArray) -> ProfileRooms:
        return _TableRooms(self, profile)

    def averaged(self) -> "TableBySize":
        return TableBySize(self.table / _partners(self.n_agents))

    def arrays(self) -> dict[str, FloatArray]:
        return {"size_table": self.table}

    def pair_mean(self, coalition: int, agent: int, partner: int, size: int) -> float:
        return float(self.table[coalition, agent, partner, size])

    def largest(self) -> float:
        return float(max(self.table.max(initial=0.0), -self.table.min(initial=0.0)))

    def first_asymmetry(self) -> tuple[int, int, int] | None:
        relevant = self.table[..., 2:]
        different = np.argwhere((relevant != np.swapaxes(relevant, 1, 2)).any(axis=-1))
        return tuple(int(index) for index in different[0]) if len(different) else None  # type: ignore[return-value]

    def first_self_utility(self) -> tuple[int, int, float] | None:
        diagonal = np.diagonal(self.table, axis1=1, axis2=2)[:, 2:]  # (k, size, n)
        found = np.argwhere(diagonal != 0)
        if not len(found):
            return None
        l, s, i = (int(index) for index in found[0])
        return l, i, float(diagonal[l, s, i])

    def first_difference(self) -> int | None:
        relevant = self.table[..., 2:]
        return next((l for l in range(1, len(relevant)) if (relevant[l] != relevant[0]).any()), None)

    def _pair_and_size_parts(self, coalition: int) -> tuple[Form, FloatArray] | None:
        n = self.n_agents
        pairs = self.table[coalition, :, :, 2]
        by_size = np.zeros(n + 1)
        difference = (self.table[coalition, :, :, 2:] - pairs[..., None])[~np.eye(n, dtype=bool)]
        if np.ptp(difference, axis=0).max() > 1e-12 * max(1.0, float(np.abs(self.table).max())):
            return None
        by_size[2:] = difference[0]
        return lambda marginals: float(marginals @ pairs @ marginals), by_size


def _partners(n_agents: int) -> FloatArray:
    """Return s - 1 for every size s; 1 where nobody meets."""
    return np.asarray(np.maximum(np.arange(-1.0, n_agents), 1.0))


def sums_at_sizes(values: FloatArray, sizes: IntArray, joined: FloatArray) -> FloatArray:
    """Return sums over the partners in the room of values (k, g, n, n + 1) at the sizes (b, k, g), shape (b, g, k)."""
    k, agents = values.shape[:2]
    # Partners last and next to each other in memory: most of the time goes into fetching them.
    by_size = np.ascontiguousarray(values.transpose(0, 1, 3, 2))
    found = by_size[np.arange(k)[:, None], np.arange(agents), sizes]
    return np.asarray(np.einsum("blgj,bjl->bgl", found, joined))
