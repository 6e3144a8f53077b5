"""Statistics of semi-bandit logs: for each pair and coalition how often they met, and what it was worth.

Utilities are summed as whole numbers, see `coterie.statistics.fixed_point`. The views in utility
points count from the neutral point: u - neutral.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from coterie.arrays import FloatArray, IntArray
from coterie.errors import InputError, TooLargeError
from coterie.game.means import DenseMeans, PairMeans, SparseMeans
from coterie.statistics.fixed_point import FIXED_BITS
from coterie.statistics.packed import embedded, filled_up, packed_length, unpacked, unpacked_part, used_length
from coterie.statistics.parts import CLUSTERS
from coterie.statistics.setting import Setting, positions
from coterie.statistics.shared import Shared, both
from coterie.statistics.shared import relabelled as relabelled_groups
from coterie.statistics.sound import refuse_impossible, sound, sound_sums, whole_number
from coterie.sums import Sums, added, carried, multiplied
from coterie.words import said

DENSE_AGENTS = 2000
"""Up to so many agents, statistics can be had as dense arrays."""


@dataclass(frozen=True, eq=False)
class PairStatistics:
    """Counts, sums and sums of squares for each observed coalition and pair (and size).

    They are held as one entry per unknown that was seen, in the order of `coalition`, `agent`,
    `partner` and `size`; symmetric logs have agent < partner. Where coalitions are
    interchangeable, `coalition` is 0 throughout. `counts`, `sums`, `means` and `variances` are
    the same as dense arrays of shape (k, n, n), filled on both sides where symmetric.
    """

    setting: Setting
    n_samples: int
    entries: Sums
    """Keys (coalition, agent, partner) or (coalition, agent, partner, size); values count, total, the sum of
    squares in two parts (high 2^30 + low with 0 <= low < 2^30) and, with `noise="samples"`, the sum over samples
    of (how often the pair met in it)^2."""
    teams: Sums
    """Keys (coalition, size), value the number of samples in which the coalition had that size."""
    together: IntArray | None = None
    """One packed co-occurrence matrix per agent, with `noise="samples"` and where they fit; as far as it is used, see
    `coterie.statistics.packed.used_length`."""
    met: Sums | None = None
    """With `missing="worst"`: keys like those of `entries`, values how often the two met, with a row or without, and
    for interchangeable coalitions with `noise="samples"` their repeats. `together` is of all meetings then."""
    clusters: Sums | None = None
    """With `noise="samples"` and where they fit: keys (group of samples, coalition, agent, partner[, size]), values
    count and total. Certificates do not need them."""
    shared: Shared = ()
    """What teams and rounds got as a whole: of a whole log, see `Statistics.whole`; parts do not have it."""

    def __post_init__(self) -> None:
        # Sums of squares come in parts of any size, from engines, additions and older files; here they have one form.
        count, total, high, low, *repeats = self.entries.values.T
        if low.size and not 0 <= low.min() <= low.max() < 1 << FIXED_BITS:
            values = np.stack([count, total, *carried(high, low, FIXED_BITS), *repeats], axis=1)
            object.__setattr__(self, "entries", Sums(self.entries.keys, values))
        if self.together is not None:
            used = used_length(self.together, self.setting.block, self.setting.n_features)
            object.__setattr__(self, "together", self.together[:, :used])

    @property
    def coalition(self) -> IntArray:
        """The coalition of each entry."""
        return np.ascontiguousarray(self.entries.keys[:, 0])

    @property
    def agent(self) -> IntArray:
        """The agent who receives the utility, or the first of an unordered pair."""
        return np.ascontiguousarray(self.entries.keys[:, 1])

    @property
    def partner(self) -> IntArray:
        """The agent from whom the utility comes, or the second of an unordered pair."""
        return np.ascontiguousarray(self.entries.keys[:, 2])

    @property
    def size(self) -> IntArray:
        """The size of the coalition, for size-aware statistics only."""
        if self.setting.sizes != "aware":
            raise InputError(f"these statistics ignore sizes; make them with {said(sizes='aware')}")
        return np.ascontiguousarray(self.entries.keys[:, 3])

    @property
    def count(self) -> IntArray:
        """N: how many rows each entry adds up."""
        return np.ascontiguousarray(self.entries.values[:, 0])

    @property
    def total(self) -> IntArray:
        """The sum of the fixed-point utilities q."""
        return np.ascontiguousarray(self.entries.values[:, 1])

    @property
    def squares(self) -> FloatArray:
        """The sum of q^2 / 2^30."""
        result: FloatArray = self.entries.values[:, 2] + self.entries.values[:, 3] / 2.0**FIXED_BITS
        return result

    @property
    def repeats(self) -> IntArray:
        """The sum over samples of (how often the pair met in it)^2: N unless coalitions are pooled."""
        if not self.setting.pool_coalitions:
            return self.count
        if self.setting.noise != "samples":
            raise InputError(
                f"these statistics were made with {said(noise='pairs')}; repeats need {said(noise='samples')}"
            )
        return np.ascontiguousarray(self.entries.values[:, 4])

    @property
    def rows(self) -> int:
        """The number of observations."""
        return int(self.count.sum())

    @property
    def average(self) -> float | None:
        """The average over all rows, on the scale of the log; None where there is none."""
        low, step = self.setting.scale
        rows = self.rows
        return self.setting.neutral + low + step * (float(self.total.sum(dtype=np.float64)) / rows) if rows else None

    @cached_property
    def mean(self) -> FloatArray:
        """The mean utility of each entry, counted from the neutral point."""
        low, step = self.setting.scale
        return low + step * (self.total / self.count)

    @cached_property
    def variance(self) -> FloatArray:
        """The sample variance (divided by N - 1) of each entry, 0 where N = 1."""
        _, step = self.setting.scale
        # With m = floor(mean), sum (q - m)^2 = sum q^2 - m (sum q + rest), exact in two parts of whole numbers.
        near, rest = np.divmod(self.total, self.count)
        both = self.total + rest
        low = self.entries.values[:, 3] - near * (both & ((1 << FIXED_BITS) - 1))
        high = self.entries.values[:, 2] - near * (both >> FIXED_BITS) + (low >> FIXED_BITS)
        spread = high * 2.0**FIXED_BITS + (low & ((1 << FIXED_BITS) - 1)) - rest * (rest / self.count)
        return np.asarray(np.maximum(spread, 0.0) * step**2 / np.maximum(self.count - 1, 1))

    @cached_property
    def counts(self) -> IntArray:
        """N as a dense array (k, n, n); added up over sizes."""
        result: IntArray = self._dense(self.count)
        return result

    @cached_property
    def sums(self) -> FloatArray:
        """The sums of utilities from the neutral point as a dense array (k, n, n)."""
        result: FloatArray = self._dense(self.mean * self.count)
        return result

    @cached_property
    def means(self) -> FloatArray:
        """The means as a dense array (k, n, n), 0 where a pair was not seen."""
        self._refuse_sized()
        result: FloatArray = self._dense(self.mean)
        return result

    @cached_property
    def variances(self) -> FloatArray:
        """The sample variances as a dense array (k, n, n), 0 where a pair was seen less than twice."""
        self._refuse_sized()
        result: FloatArray = self._dense(self.variance)
        return result

    @property
    def pair_means(self) -> PairMeans:
        """The means behind the interface of games: dense up to `DENSE_AGENTS` agents, sparse above."""
        self._refuse_sized()
        n, k = self.setting.n_agents, self.setting.n_coalitions
        if n <= DENSE_AGENTS:
            return DenseMeans(self.means, k)
        from scipy.sparse import coo_array

        matrices = []
        for l in range(self.setting.n_tables):
            here = self.coalition == l
            i, j, mean = self.agent[here], self.partner[here], self.mean[here]
            if self.setting.symmetric:
                i, j, mean = np.concatenate([i, j]), np.concatenate([j, i]), np.concatenate([mean, mean])
            matrices.append(coo_array((mean, (i, j)), shape=(n, n)))
        return SparseMeans.from_matrices(matrices, k)

    @cached_property
    def size_counts(self) -> IntArray:
        """How many samples had |C_l| = s, shape (k, n + 1), s = 0 included.

        For interchangeable coalitions, shape (1, n + 1): how many teams had each size, and s = 0
        counts the places for teams that stayed empty.
        """
        setting = self.setting
        return size_table(self.teams, setting, self.n_samples)

    def cooccurrence(self, agent: int, some: IntArray | None = None) -> IntArray:
        """Return H_i: how often two of the agent's unknowns, or of some of them, were observed in the same sample.

        Rows and columns are in the order of `Setting.feature`, in which `some` are numbers. For interchangeable
        coalitions each sample counts the product of how often the two pairs met in it.
        """
        if self.together is None:
            raise InputError(
                f"there are no co-occurrence counts: they need {said(noise='samples')}, and they are left out "
                "where they would be too large"
            )
        block, dimension = self.setting.block, self.setting.n_features
        packed = self.together[agent]
        return unpacked(packed, block, dimension) if some is None else unpacked_part(packed, block, dimension, some)

    def by_cluster(self, agent: int) -> tuple[FloatArray, FloatArray]:
        """Return for each group of samples how often each of an agent's unknowns was seen, and what it added up to.

        Sums are of u - neutral - mean; shape (groups, unknowns) each, unknowns in the order of `Setting.feature`.
        """
        assert self.clusters is not None
        setting, (low, step) = self.setting, self.setting.scale
        found = np.zeros((2, CLUSTERS, setting.n_features))
        keys, (count, total) = self.clusters.keys, self.clusters.values.T
        for own, other in ((2, 3), (3, 2)) if setting.symmetric else ((2, 3),):
            rows = keys[:, own] == agent
            size = keys[rows, 4] if setting.sizes == "aware" else None
            place = keys[rows, 0], setting.feature(keys[rows, own], keys[rows, 1], keys[rows, other], size)
            found[0][place], found[1][place] = count[rows], low * count[rows] + step * total[rows]
        often = found[0].sum(axis=0)
        mean = np.divide(found[1].sum(axis=0), often, out=np.zeros_like(often), where=often > 0)
        return found[0], found[1] - found[0] * mean

    def _refuse_sized(self) -> None:
        if self.setting.sizes == "aware":
            raise InputError("size-aware means have no (k, n, n) array; use the entries, one per size")

    def _dense(self, values: Any) -> Any:
        setting = self.setting
        if setting.n_agents > DENSE_AGENTS:
            raise TooLargeError(
                f"dense arrays are made for up to {DENSE_AGENTS} agents, this log has {setting.n_agents}; "
                "use the entries (coalition, agent, partner, count, mean, ...)"
            )
        array = np.zeros((setting.n_tables, setting.n_agents, setting.n_agents), dtype=values.dtype)
        np.add.at(array, (self.coalition, self.agent, self.partner), values)
        return array + array.transpose(0, 2, 1) if setting.symmetric else array

    def merged(self, other: "PairStatistics", setting: Setting) -> "PairStatistics":
        """Return the sums of both, for the setting of both logs together."""
        ours, theirs = self.relabelled(setting), other.relabelled(setting)
        found = None
        if ours.together is not None and theirs.together is not None:
            used = max(ours.together.shape[1], theirs.together.shape[1])
            found = added(filled_up(ours.together, used), filled_up(theirs.together, used))
        met, clusters = (
            None if one is None or other is None else one + other
            for one, other in ((ours.met, theirs.met), (ours.clusters, theirs.clusters))
        )
        return PairStatistics(
            setting,
            self.n_samples + other.n_samples,
            ours.entries + theirs.entries,
            ours.teams + theirs.teams,
            found,
            met,
            clusters,
            both(ours.shared, theirs.shared),
        )

    def repeated(self, times: int) -> "PairStatistics":
        """Return the sums of a log that holds everything so many times."""
        return replace(
            self,
            n_samples=times * self.n_samples,
            entries=self.entries.times(times),
            teams=self.teams.times(times),
            together=None if self.together is None else multiplied(self.together, times),
            met=None if self.met is None else self.met.times(times),
            clusters=None if self.clusters is None else self.clusters.times(times),
            shared=tuple(one.times(times) for one in self.shared),
        )

    def relabelled(self, setting: Setting) -> "PairStatistics":
        """Return the same statistics among the names of a wider setting."""
        names = (self.setting.agents, self.setting.coalitions)
        if names == (setting.agents, setting.coalitions):
            return replace(self, setting=setting)
        shared = relabelled_groups(self.shared, self.setting, setting)
        agents = positions(self.setting.agents, setting.agents)
        tables = None if setting.pool_coalitions else positions(self.setting.coalitions, setting.coalitions)
        entries, met = (
            None if one is None else relabelled_pairs(one, agents, tables, symmetric=setting.symmetric)
            for one in (self.entries, self.met)
        )
        assert entries is not None
        together = self.together
        if together is not None:
            together = embed_all(together, self.setting, setting)
        clusters = self.clusters
        if clusters is not None:
            moved = _moved(clusters.keys[:, 1:], agents, tables, symmetric=setting.symmetric)
            clusters = Sums.collect(np.column_stack([clusters.keys[:, 0], moved]), clusters.values)
        teams = self.teams.relabelled([tables, None])
        return PairStatistics(setting, self.n_samples, entries, teams, together, met, clusters, shared)

    def arrays(self) -> dict[str, Any]:
        """Return everything that makes up the statistics, apart from the setting."""
        found = {
            "n_samples": np.array(self.n_samples, dtype=np.int64),
            "keys": self.entries.keys,
            "values": self.entries.values,
            "team_keys": self.teams.keys,
            "team_values": self.teams.values,
        }
        if self.met is not None:
            found |= {"met_keys": self.met.keys, "met_values": self.met.values}
        if self.clusters is not None:
            found |= {"cluster_keys": self.clusters.keys, "cluster_values": self.clusters.values}
        return found if self.together is None else {**found, "together": self.together}

    @classmethod
    def from_arrays(cls, setting: Setting, arrays: Mapping[str, Any]) -> "PairStatistics":
        """Read what `arrays` returned, refusing what no log comes to."""
        n = setting.n_agents
        extents = (setting.n_tables, n, n) + ((n + 1,) if setting.sizes == "aware" else ())
        entries = sound_sums(arrays, "", extents, arrays["values"].shape[-1])
        refuse_impossible(*entries.values.T[:4])
        together = arrays.get("together")
        if together is not None:
            sound(together, "together", (n, None), 0)
            inside = setting.n_tables * packed_length(setting.block)
            if together.shape[1] != inside:
                sound(together, "together", (n, packed_length(setting.n_features)))
        return cls(
            setting,
            whole_number(arrays["n_samples"]),
            entries,
            sound_sums(arrays, "team", (setting.n_tables, n + 1), 1),
            together,
            sound_sums(arrays, "met", extents, arrays["met_values"].shape[-1]) if "met_keys" in arrays else None,
            sound_sums(arrays, "cluster", (CLUSTERS, *extents), 2) if "cluster_keys" in arrays else None,
        )


def relabelled_pairs(sums: Sums, agents: IntArray, tables: IntArray | None, *, symmetric: bool) -> Sums:
    """Return sums by (coalition, agent, partner, ...) with other numbers; unordered pairs stay agent < partner."""
    return Sums.collect(_moved(sums.keys, agents, tables, symmetric=symmetric), sums.values)


def _moved(keys: IntArray, agents: IntArray, tables: IntArray | None, *, symmetric: bool) -> IntArray:
    """Return keys (coalition, agent, partner, ...) with other numbers."""
    keys = keys.copy()
    keys[:, 1:3] = agents[keys[:, 1:3]]
    if symmetric:
        keys[:, 1:3] = np.sort(keys[:, 1:3], axis=1)
    if tables is not None:
        keys[:, 0] = tables[keys[:, 0]]
    return keys


def size_table(teams: Sums, setting: Setting, n_samples: int) -> IntArray:
    """Return how many samples had each size of each coalition, with s = 0 for the rest of the samples."""
    table = np.zeros((setting.n_tables, setting.n_agents + 1), dtype=np.int64)
    table[teams.keys[:, 0], teams.keys[:, 1]] = teams.values[:, 0]
    places = n_samples * (setting.n_coalitions if setting.pool_coalitions else 1)
    table[:, 0] = np.maximum(places - table[:, 1:].sum(axis=1), 0)
    return table


def feature_positions(agent: int, old: Setting, new: Setting) -> IntArray:
    """Return where the old unknowns of an agent are among the unknowns of a wider setting."""
    agents = positions(old.agents, new.agents)
    partners = np.delete(np.arange(old.n_agents), agent)
    tables = np.arange(1) if old.pool_coalitions else positions(old.coalitions, new.coalitions)
    sizes = np.arange(2, old.n_sizes + 2) if old.sizes == "aware" else None
    place = new.feature(agents[agent], tables[:, None], agents[partners][None, :])
    if sizes is None:
        return np.asarray(place.ravel())
    return np.asarray((place[..., None] * new.n_sizes + sizes - 2).ravel())


def embed_all(matrices: IntArray, old: Setting, new: Setting) -> IntArray:
    """Return one packed matrix per agent of a wider setting; new agents have zeros."""
    wider = np.zeros((new.n_agents, packed_length(new.n_features)), dtype=np.int64)
    for agent, place in enumerate(positions(old.agents, new.agents)):
        matrix = unpacked(matrices[agent], old.block, old.n_features)
        wider[place] = embedded(matrix, feature_positions(agent, old, new), new.block, new.n_features)
    return wider
