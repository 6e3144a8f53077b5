"""Statistics of bandit logs: each agent's least-squares problem, as sums over samples.

In a sample, agent i's total is v = sum over her unknowns of x_f theta_f plus noise: x_f tells
which (coalition, partner) she met (how often, where coalitions are interchangeable), and
c = sum of x_f is the number of pair terms. A *weighting* W(c) is 1/c for independent pairs
(`"pairs"`), 1/c^2 for independent samples (`"samples"`) and 1 for the paper's estimator
(`"none"`). Each needs sum W x x', sum W x v and sum W v^2.

Totals are whole numbers q of c (high - low) / 2^30 steps above c low, and weights are whole
numbers too, so all of these are integers, the same on every engine and in every order.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, reduce
from typing import Any

import numpy as np

from coterie import checks
from coterie.arrays import FloatArray, IntArray
from coterie.errors import InputError
from coterie.statistics.fixed_point import FIXED_BITS
from coterie.statistics.packed import packed_length, unpacked
from coterie.statistics.pair_statistics import embed_all, feature_positions, size_table
from coterie.statistics.setting import Setting, positions
from coterie.statistics.sound import sound, sound_sums, whole_number
from coterie.sums import AddedRows, Sums, added, carried, multiplied

WEIGHT_BITS = {"none": 0, "pairs": 30, "samples": 32}
"""Weights of each kind are whole numbers of 2^-bits; their sums fit for 2^31 samples.

Without weights they fit for 2^33 / c samples, which the reduction checks."""

LIMB = 31
"""Sums of squares are kept in two parts, the lower one of so many bits."""


@dataclass(frozen=True, eq=False)
class WeightedSums:
    """The sums of all agents' problems under one weighting W, as integers."""

    gram: IntArray | AddedRows
    """sum W x x', one packed matrix per agent."""
    offsets: IntArray
    """sum W c x, shape (n, d): what a shift of every pair utility by 1 adds to the moments."""
    moments: IntArray
    """sum W c q x, shape (n, d)."""
    squares: IntArray
    """sum of W c^2 times 1, q and the two parts of q^2 = a 2^30 + b, with exact weights, shape (n, 4, 2): each sum
    in a high and a low part."""

    @classmethod
    def together(cls, parts: Sequence["WeightedSums"]) -> "WeightedSums":
        """Return the sums of several parts; of the matrices, which are large, no more than is asked for at a time."""
        offsets, moments, squares = (
            reduce(added, (getattr(part, name) for part in parts)) for name in ("offsets", "moments", "squares")
        )
        return cls(AddedRows(tuple(part.grams for part in parts)), offsets, moments, carried_limbs(squares))

    @property
    def grams(self) -> IntArray:
        """All matrices at once."""
        return self.gram.whole() if isinstance(self.gram, AddedRows) else self.gram

    def __add__(self, other: "WeightedSums") -> "WeightedSums":
        return WeightedSums(
            added(self.grams, other.grams),
            added(self.offsets, other.offsets),
            added(self.moments, other.moments),
            carried_limbs(added(self.squares, other.squares)),
        )

    def times(self, factor: int) -> "WeightedSums":
        """Return the sums of everything so many times."""
        gram, offsets, moments, squares = (
            multiplied(one, factor) for one in (self.grams, self.offsets, self.moments, self.squares)
        )
        return WeightedSums(gram, offsets, moments, carried_limbs(squares))


def carried_limbs(limbs: IntArray) -> IntArray:
    """Return sums in two parts with the lower part below 2^31."""
    return np.stack(carried(limbs[..., 0], limbs[..., 1], LIMB), axis=-1)


@dataclass(frozen=True, eq=False)
class JointSums:
    """The joint estimator's sums over all edges (coalition, {i, j}) of a symmetric game, in floats.

    For sample m, Z_m has a row per observed agent and a column per edge, P_m = Z_m^+ Z_m.
    """

    projections: FloatArray
    """sum P_m, shape (E, E)."""
    moments: FloatArray
    """sum Z_m^+ v_m, shape (E,), with totals counted from the neutral point."""
    scores: FloatArray | None = None
    """Scores of teams (`coterie.statistics.team_scores`): the sum of w v^2, how many independent ones they are worth,
    and how many there are."""

    def __add__(self, other: "JointSums") -> "JointSums":
        scores = None if self.scores is None or other.scores is None else self.scores + other.scores
        return JointSums(self.projections + other.projections, self.moments + other.moments, scores)

    def times(self, factor: int) -> "JointSums":
        """Return the sums of everything so many times."""
        scores = None if self.scores is None else factor * self.scores
        return JointSums(factor * self.projections, factor * self.moments, scores)


def edge_index(setting: Setting) -> IntArray:
    """Return the edges in order: rows (coalition, i, j) with i < j, shape (E, 3)."""
    i, j = np.triu_indices(setting.n_agents, 1)
    tables = np.repeat(np.arange(setting.n_tables), len(i))
    return np.stack([tables, np.tile(i, setting.n_tables), np.tile(j, setting.n_tables)], axis=1).astype(np.int64)


def own_edges(setting: Setting) -> tuple[IntArray, ...]:
    """Return for each agent the edge of each of their unknowns."""
    edges = edge_index(setting)
    place = np.zeros((setting.n_tables, setting.n_agents, setting.n_agents), dtype=np.int64)
    place[edges[:, 0], edges[:, 1], edges[:, 2]] = place[edges[:, 0], edges[:, 2], edges[:, 1]] = np.arange(len(edges))
    return tuple(np.delete(place[:, i], i, axis=1).ravel() for i in range(setting.n_agents))


@dataclass(frozen=True, eq=False)
class TotalStatistics:
    """Every agent's weighted least-squares problem; vectors are in the order of `Setting.feature`."""

    setting: Setting
    n_samples: int
    totals: IntArray
    """How many totals of each agent were observed, shape (n,)."""
    teams: Sums
    """Keys (coalition, size), value the number of samples in which the coalition had that size."""
    weighted: Mapping[str, WeightedSums]
    """The sums under each weighting that was asked for."""
    joint: JointSums | None = None

    @property
    def rows(self) -> int:
        """The number of observations."""
        if self.joint is not None and self.joint.scores is not None:
            return int(self.joint.scores[2])
        return int(self.totals.sum())

    @property
    def average(self) -> float | None:
        """The average of what a pair adds to totals, on the scale of the log; None where no pair adds anything.

        The sum of W c v over that of W c^2: with weights 1/c everything that was got over all pairs that got it, with
        1/c^2 the mean over totals of their averages. Scores of teams: sum of w c v over that of w c^2 likewise.
        """
        if self.setting.of_teams:
            assert self.joint is not None
            got, pairs = float(self.joint.moments.sum()), float(self.joint.projections.sum())
        else:
            sums, bits = self._sums(None)
            got = sum(float(self.moment(agent).sum()) for agent in range(self.setting.n_agents))
            pairs = float(sums.offsets.sum(dtype=np.float64)) / 2.0**bits
        return self.setting.neutral + got / pairs if pairs else None

    @cached_property
    def size_counts(self) -> IntArray:
        """How many samples had |C_l| = s, shape (k, n + 1), s = 0 included; see `PairStatistics.size_counts`."""
        return size_table(self.teams, self.setting, self.n_samples)

    def gram(self, agent: int, weighting: str | None = None) -> FloatArray:
        """Return sum W x x' of an agent, shape (d, d); the weighting of the noise by default."""
        sums, bits = self._sums(weighting)
        return unpacked(sums.gram[agent], self.setting.block, self.setting.n_features) / 2.0**bits

    def moment(self, agent: int, weighting: str | None = None) -> FloatArray:
        """Return sum W x v of an agent, totals counted from the neutral point, shape (d,)."""
        sums, bits = self._sums(weighting)
        low, step = self.setting.scale
        # Under a weighting, moments were divided by 2^30 to fit; without one they are whole.
        unit = step if weighting_of(weighting, self.setting) == "none" else step * 2.0**FIXED_BITS
        return np.asarray((low * sums.offsets[agent] + unit * sums.moments[agent]) / 2.0**bits)

    def squares(self, agent: int, weighting: str | None = None) -> float:
        """Return sum W v^2 of an agent, totals counted from the neutral point."""
        sums, _ = self._sums(weighting)
        low, step = (Fraction(value) for value in self.setting.scale)  # the terms cancel where the range is wide
        one, first, *second = (int(high) * 2**LIMB + int(rest) for high, rest in sums.squares[agent])
        return float(low**2 * one + 2 * low * step * first + step**2 * (second[0] * 2**FIXED_BITS + second[1]))

    def _sums(self, weighting: str | None) -> tuple[WeightedSums, int]:
        name = weighting_of(weighting, self.setting)
        if name not in self.weighted:
            raise InputError(f"these statistics hold no sums with weighting {name!r}, only {sorted(self.weighted)}")
        return self.weighted[name], WEIGHT_BITS[name]

    @classmethod
    def together(cls, parts: Sequence["TotalStatistics"]) -> "TotalStatistics":
        """Return the sums of several parts of one log, which hold the same matrices under the same names."""
        if len(parts) == 1:
            return parts[0]
        joint = [part.joint for part in parts if part.joint is not None]
        return cls(
            parts[0].setting,
            sum(part.n_samples for part in parts),
            reduce(added, (part.totals for part in parts)),
            reduce(Sums.__add__, (part.teams for part in parts)),
            {name: WeightedSums.together([part.weighted[name] for part in parts]) for name in parts[0].weighted},
            reduce(JointSums.__add__, joint) if joint else None,
        )

    def merged(self, other: "TotalStatistics", setting: Setting) -> "TotalStatistics":
        """Return the sums of both, for the setting of both logs together."""
        ours, theirs = self.relabelled(setting), other.relabelled(setting)
        if ours.weighted.keys() != theirs.weighted.keys() or (ours.joint is None) != (theirs.joint is None):
            raise InputError("these statistics cannot be added: they hold different matrices")
        return TotalStatistics(
            setting,
            self.n_samples + other.n_samples,
            added(ours.totals, theirs.totals),
            ours.teams + theirs.teams,
            {name: ours.weighted[name] + theirs.weighted[name] for name in ours.weighted},
            None if ours.joint is None or theirs.joint is None else ours.joint + theirs.joint,
        )

    def repeated(self, times: int) -> "TotalStatistics":
        """Return the sums of a log that holds everything so many times."""
        return replace(
            self,
            n_samples=times * self.n_samples,
            totals=multiplied(self.totals, times),
            teams=self.teams.times(times),
            weighted={name: sums.times(times) for name, sums in self.weighted.items()},
            joint=None if self.joint is None else self.joint.times(times),
        )

    def relabelled(self, setting: Setting) -> "TotalStatistics":
        """Return the same statistics among the names of a wider setting."""
        old = self.setting
        if (old.agents, old.coalitions) == (setting.agents, setting.coalitions):
            return replace(self, setting=setting)
        agents = positions(old.agents, setting.agents)
        tables = None if setting.pool_coalitions else positions(old.coalitions, setting.coalitions)
        totals = np.zeros(setting.n_agents, dtype=np.int64)
        totals[agents] = self.totals
        weighted = {name: _wider(sums, old, setting) for name, sums in self.weighted.items()}
        joint = None if self.joint is None else _wider_joint(self.joint, old, setting)
        teams = self.teams.relabelled([tables, None])
        return TotalStatistics(setting, self.n_samples, totals, teams, weighted, joint)

    def arrays(self) -> dict[str, Any]:
        """Return everything that makes up the statistics, apart from the setting."""
        found: dict[str, Any] = {
            "n_samples": np.array(self.n_samples, dtype=np.int64),
            "totals": self.totals,
            "team_keys": self.teams.keys,
            "team_values": self.teams.values,
        }
        for name, sums in self.weighted.items():
            found |= {f"{name}_{field}": sums.grams if field == "gram" else getattr(sums, field) for field in _FIELDS}
        if self.joint is not None:
            found |= {"joint_projections": self.joint.projections, "joint_moments": self.joint.moments}
            if self.joint.scores is not None:
                found |= {"joint_scores": self.joint.scores}
        return found

    @classmethod
    def from_arrays(cls, setting: Setting, arrays: Mapping[str, Any]) -> "TotalStatistics":
        """Read what `arrays` returned, refusing what no log comes to."""
        n, d, samples = setting.n_agents, setting.n_features, whole_number(arrays["n_samples"])
        square = packed_length(d)
        shapes = {"gram": (n, square), "offsets": (n, d), "moments": (n, d), "squares": (n, 4, 2)}
        for name in WEIGHT_BITS:
            for field, shape in shapes.items() if f"{name}_gram" in arrays else ():
                sound(arrays[f"{name}_{field}"], f"{name}_{field}", shape, 0)
        sound(arrays["totals"], "totals", (n,), 0)
        if "joint_moments" in arrays:
            edges = len(edge_index(setting))
            checks.finite(arrays["joint_projections"], "joint_projections", (edges, edges))
            checks.finite(arrays["joint_moments"], "joint_moments", (edges,))
            if "joint_scores" in arrays:
                checks.finite(arrays["joint_scores"], "joint_scores", (3,))
        weighted = {
            name: WeightedSums(*(arrays[f"{name}_{field}"] for field in _FIELDS))
            for name in WEIGHT_BITS
            if f"{name}_gram" in arrays
        }
        joint = None
        if "joint_moments" in arrays:
            joint = JointSums(arrays["joint_projections"], arrays["joint_moments"], arrays.get("joint_scores"))
        teams = sound_sums(arrays, "team", (setting.n_tables, n + 1), 1)
        return cls(setting, samples, arrays["totals"], teams, weighted, joint)


_FIELDS = ("gram", "offsets", "moments", "squares")


def weighting_of(weighting: str | None, setting: Setting) -> str:
    """Return the weighting that was named, or the one that belongs to the setting's noise."""
    return setting.noise if weighting is None else weighting


def _wider(sums: WeightedSums, old: Setting, new: Setting) -> WeightedSums:
    offsets = np.zeros((new.n_agents, new.n_features), dtype=np.int64)
    moments, squares = np.zeros_like(offsets), np.zeros((new.n_agents, 4, 2), dtype=np.int64)
    for agent, place in enumerate(positions(old.agents, new.agents)):
        where = feature_positions(agent, old, new)
        offsets[place, where], moments[place, where] = sums.offsets[agent], sums.moments[agent]
        squares[place] = sums.squares[agent]
    return WeightedSums(embed_all(sums.grams, old, new), offsets, moments, squares)


def _wider_joint(joint: JointSums, old: Setting, new: Setting) -> JointSums:
    edges = edge_index(old)
    agents = np.sort(positions(old.agents, new.agents)[edges[:, 1:]], axis=1)
    tables = edges[:, 0] if old.pool_coalitions else positions(old.coalitions, new.coalitions)[edges[:, 0]]
    place = {tuple(edge): index for index, edge in enumerate(edge_index(new).tolist())}
    where = np.array([place[l, i, j] for l, (i, j) in zip(tables.tolist(), agents.tolist(), strict=True)], dtype=int)
    projections, moments = np.zeros((len(place), len(place))), np.zeros(len(place))
    projections[np.ix_(where, where)] = joint.projections
    moments[where] = joint.moments
    return JointSums(projections, moments, joint.scores)
