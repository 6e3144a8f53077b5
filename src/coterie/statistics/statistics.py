"""Statistics of a log: its learning and its certifying part, added, saved and loaded together.

Statistics are all that later steps need of a log. They are sums, so logs that arrive one after
the other, or that lie on different machines, are reduced one by one and added.
"""

import hashlib
import json
import tokenize
import warnings
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from os import PathLike
from typing import Any

import numpy as np

from coterie import __version__, checks
from coterie.arrays import IntArray
from coterie.errors import InputError
from coterie.files import naming, parse_json, whole_file
from coterie.log.choices import sorted_sets
from coterie.log.log import Log, as_log
from coterie.statistics.clues import NO_CLUES, Clues, by_order_setting, by_size_setting
from coterie.statistics.pair_statistics import PairStatistics
from coterie.statistics.parts import HALVES, PARTS, learning_parts
from coterie.statistics.setting import NoiseChoice, Setting, Sizes, positions
from coterie.statistics.shared import Shared, arrays_of, both, can_share, from_arrays, relabelled
from coterie.statistics.sound import sound
from coterie.statistics.total_statistics import TotalStatistics
from coterie.sums import added
from coterie.words import said

FORMAT = "coterie.statistics/4"
OLDER = ("coterie.statistics/3", "coterie.statistics/2")
"""Files without clues; in the second, the two parts of sums of squares were added up one by one."""

JOINT_EDGES = 2000
"""The joint bandit estimator is used for up to so many pairs x coalitions."""

UNWEIGHTED_FEATURES = 500
"""The paper's bandit certificate is computed beside ours for up to so many unknowns per agent."""

PartStatistics = PairStatistics | TotalStatistics


@dataclass(frozen=True, eq=False)
class Statistics:
    """The statistics of each part of a log; by default a learning and a certifying half."""

    setting: Setting
    parts: tuple[PartStatistics, ...]
    clues: Clues = NO_CLUES
    """What tests of assumptions need."""
    attendance: IntArray | None = None
    """In how many samples each agent was a member of something; None in older files."""
    shared: Shared = ()
    """What teams and rounds got as a whole, of all parts; no certificate looks at it."""

    @classmethod
    def of(
        cls,
        log: Log | str | PathLike[str],
        *,
        sizes: Sizes = "ignore",
        noise: NoiseChoice = "pairs",
        parts: Sequence[float] = HALVES,
        seed: int = 0,
        unweighted: bool = False,
        joint: bool = False,
        clues: bool = True,
    ) -> "Statistics":
        """Return the sums that estimates are made from, for each part of a log.

        Parameters
        ----------
        log
            Past outcomes, as `coterie.read_log` returns them, or the folder or file that they are in.
        sizes
            "ignore", or "aware": every coalition size has its own unknowns (needs memberships).
        noise
            "pairs": pairs of one sample are independent. "samples": only samples are, so counts of
            what occurred together are kept too (bandit logs: weights 1/c^2 instead of 1/c).
            "auto": "pairs" if the samples that learn are enough to show dependence and do not, else "samples";
            `setting.noise` says which. Totals cannot show it: "pairs" for those of agents, and "samples" for scores of
            teams, which are one number.
        parts
            The share of the samples in each part; by default half to learn, half to certify.
        seed
            Which samples go where: a sample's part depends on its name and the seed alone.
        unweighted
            Bandit logs: also the sums without weights, which the paper's estimator needs.
        joint
            Bandit logs of symmetric games: also the sums of the joint estimator.
        clues
            Also what warnings about broken assumptions are made from. Semi-bandit logs are grouped by
            coalition size for that and read once more, which takes several times as long.
        """
        from coterie.statistics.reduce import reduce_log  # here, since it makes statistics

        return reduce_log(
            as_log(log),
            sizes=sizes,
            noise=noise,
            parts=parts,
            seed=seed,
            unweighted=unweighted,
            joint=joint,
            clues=clues,
        )

    @classmethod
    def for_learning(
        cls,
        log: "Log | str | PathLike[str] | Statistics",
        *,
        sizes: Sizes = "ignore",
        noise: NoiseChoice = "auto",
        seed: int = 0,
        paper: bool = False,
        parts: Sequence[float] = PARTS,
    ) -> "Statistics":
        """Return the statistics of a log in the parts that learners use, with what sharpens bandit estimates.

        The sums of the joint estimator, and those of the paper's, are made where they are affordable; the
        latter in any case if it is the `paper`'s certificate that is wanted. Statistics that were made before
        are taken as they are, if sizes and noise are what is wanted now.
        """
        if isinstance(log, Statistics):
            wanted = {"sizes": sizes, "noise": noise}
            for name, want in wanted.items():
                if want not in {made := getattr(log.setting, name), "auto"}:
                    raise InputError(
                        f"these statistics were made with {said(**{name: made})}, wanted is {said(**{name: want})}"
                    )
            return log
        log = as_log(log)
        if len(log.agents) < 2:
            raise InputError("the log has one agent only: there is nobody to form coalitions with")
        if paper and noise == "auto":
            noise = "pairs"  # the paper's certificate is defined for no other
        bandit, plain = log.feedback == "bandit", sizes == "ignore"
        n, k = len(log.agents), 1 if log.pool_coalitions else len(log.coalitions)
        joint = bandit and log.symmetric and plain and noise != "samples" and k * n * (n - 1) // 2 <= JOINT_EDGES
        few = k * (n - 1) <= UNWEIGHTED_FEATURES
        unweighted = bandit and plain and not log.pool_coalitions and (paper or few)
        if log.of_teams:  # there is one way to read them
            joint = unweighted = False
        return cls.of(log, sizes=sizes, noise=noise, parts=parts, seed=seed, joint=joint, unweighted=unweighted)

    @classmethod
    def for_coverage(
        cls, log: Log | str | PathLike[str], *, sizes: Sizes = "ignore", noise: NoiseChoice = "pairs"
    ) -> "Statistics":
        """Return the statistics of a log in one part, with what tells how well it covers a profile, and no clues.

        With noise "auto" and too few samples to tell whether pairs are independent they are taken to be: what to
        observe next cannot be planned otherwise (`cannot_tell` says so).
        """
        from coterie.statistics.noise import with_noise  # here, since it makes statistics

        log = as_log(log)
        unweighted = log.feedback == "bandit" and not log.of_teams
        made = cls.of(log, sizes=sizes, noise=noise, parts=(1.0,), unweighted=unweighted, clues=False)
        return with_noise(made, "pairs") if made.cannot_tell else made

    @property
    def cannot_tell(self) -> bool:
        """Whether there are too few samples for them to choose what is taken to be independent, as they were to."""
        decisive = self.clues.decisive
        return self.setting.feedback == "semi-bandit" and decisive is not None and not decisive.is_enough

    @property
    def agents(self) -> tuple[str, ...]:
        """The agents of the log."""
        return self.setting.agents

    @property
    def coalitions(self) -> tuple[str, ...]:
        """The coalitions of the log."""
        return self.setting.coalitions

    @cached_property
    def whole(self) -> PartStatistics:
        """The statistics of all parts together."""
        found = self._together(self.parts)
        return replace(found, shared=self.shared) if isinstance(found, PairStatistics) else found

    @property
    def learning_parts(self) -> tuple[PartStatistics, ...]:
        """The first parts, from which candidates are chosen; none where there is one part only."""
        return self.parts[: learning_parts(self.setting.shares)]

    @property
    def learning(self) -> PartStatistics:
        """The statistics of the parts that learn."""
        return self._together(self.learning_parts)

    @property
    def certifying(self) -> PartStatistics:
        """The statistics of the parts that certify what was learnt from the others."""
        return self._together(self.parts[learning_parts(self.setting.shares) :])

    def _together(self, parts: Sequence[PartStatistics]) -> PartStatistics:
        totals = [part for part in parts if isinstance(part, TotalStatistics)]
        if totals:
            return TotalStatistics.together(totals)
        return reduce(lambda ours, theirs: ours.merged(theirs, self.setting), parts)  # type: ignore[arg-type]

    @property
    def n_samples(self) -> int:
        """The number of samples in all parts."""
        return sum(part.n_samples for part in self.parts)

    @property
    def rows(self) -> int:
        """The number of observations in all parts."""
        return sum(part.rows for part in self.parts)

    def __add__(self, other: "Statistics") -> "Statistics":
        """Return the statistics of both logs together, part added to part.

        Logs that share samples are refused; names may differ, and are united. Where the samples that learn chose what
        is taken to be independent, those of both logs together choose anew.
        """
        from coterie.statistics.noise import agreeing  # here, since it makes statistics

        if not isinstance(other, Statistics):
            return NotImplemented
        logs = agreeing(self, other)
        setting = logs[0].setting.merged(logs[1].setting)
        pairs = zip(*(one.parts for one in logs), strict=True)
        parts = tuple(ours.merged(theirs, setting) for ours, theirs in pairs)
        complete = all(len(one.clues.samples) == one.n_samples for one in logs)
        clues, more = (one.clues.relabelled(one.setting, setting) for one in logs)
        attendance = _added(*logs, setting)
        shared: Shared = ()
        if can_share(setting, self.rows + other.rows):  # as if both had been one log
            shared = both(*(relabelled(one.shared, one.setting, setting) for one in logs))
        return Statistics(setting, parts, clues.merged(more, setting, complete=complete), attendance, shared)

    def with_agents(self, names: Sequence[str]) -> "Statistics":
        """Return the same statistics among more agents, of whom nothing was seen; they may do what anybody may."""
        old = self.setting
        sets = old.action_sets
        if isinstance(sets, Mapping):
            every = sorted_sets([one for own in sets.values() for one in own], old.coalitions)
            sets = {**sets, **dict.fromkeys(names, every)}
        setting = replace(old, agents=old.agents + tuple(names), action_sets=sets)
        attendance = None
        if self.attendance is not None:
            attendance = np.concatenate([self.attendance, np.zeros(len(names), dtype=np.int64)])
        parts = tuple(part.relabelled(setting) for part in self.parts)
        shared = relabelled(self.shared, old, setting)
        return Statistics(setting, parts, self.clues.relabelled(old, setting), attendance, shared)

    def seen_less(self, min_samples: int) -> tuple[int, ...]:
        """Return the agents who were members in fewer than so many samples.

        Memberships count, not outcomes: whether an outcome was recorded may depend on what it was.
        """
        if min_samples <= 0:
            return ()
        if self.attendance is None:
            raise InputError(
                f"{said('min_samples')}: these statistics do not say in how many samples each agent was; make them anew"
            )
        rare = np.flatnonzero(self.attendance < min_samples)
        if len(rare) == len(self.agents):
            most = int(self.attendance.max())
            raise InputError(
                f"{said(min_samples=min_samples)}: nobody was in so many samples, the most is {most}; expected at most "
                "that"
            )
        return tuple(rare.tolist())

    @cached_property
    def sha256(self) -> str:
        """A hash of all that estimates and certificates are made from.

        Clues are left out: they are partly floats, which depend on the order of summation, and statistics
        that were made without them give the same results. So is how often agents were there, which says whom a
        certificate is about, and the value that the log suggests, which says what is asked of the same estimates.
        What teams and rounds got as a whole are floats too, which older files lack: no certificate looks at them, and
        what is expected does.
        """
        return _digest(replace(self.setting, value="total").to_json(), self._arrays())

    @cached_property
    def log_sha256(self) -> str:
        """A hash of what was observed, however the samples were divided into parts."""
        arrays = self.whole.arrays()
        found = hashlib.sha256()
        for name in sorted(arrays):
            # Sums of floats depend on their order; sums by group of samples say nothing new, and older files lack them.
            if arrays[name].dtype.kind != "f" and not name.startswith("cluster"):
                found.update(f"{name} {arrays[name].shape}".encode())
                found.update(np.ascontiguousarray(arrays[name]).data)
        return found.hexdigest()

    @property
    def log_identity(self) -> tuple[tuple[str, ...], tuple[str, ...], str]:
        """What tells a log from others, whatever the seed that divided its samples: names, and what was observed."""
        return self.setting.agents, self.setting.coalitions, self.log_sha256

    def _arrays(self) -> dict[str, Any]:
        """Return the arrays of all parts under the names that they have in a file."""
        return dict(_named("", self.parts))

    def save(self, path: str | PathLike[str]) -> None:
        """Write everything to one file, which appears whole or not at all."""
        ordered = () if self.clues.by_order is None else (self.clues.by_order,)
        arrays = self._arrays() | dict(_named(_HALF, self.clues.by_size)) | dict(_named(_ORDERED, ordered))
        arrays |= self.clues.arrays() | arrays_of(self.shared)
        if self.attendance is not None:
            arrays |= {"attendance": self.attendance}
        clues = self.clues.to_json() | {"halves": len(self.clues.by_size), "ordered": len(ordered)}
        header = {"format": FORMAT, "parts": len(self.parts), "setting": self.setting.to_json(), "clues": clues}
        header |= {"version": __version__}
        header |= {"sha256": _digest(header, arrays)}
        content = arrays | {"header": np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)}
        with whole_file(path) as temporary, temporary.open("wb") as file:
            np.savez(file, **content)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> "Statistics":
        """Read a file that `save` wrote, refusing anything else and anything damaged."""
        place = checks.path(path, "statistics")
        try:
            with warnings.catch_warnings(), place.open("rb") as file, np.load(file, allow_pickle=False) as content:
                warnings.simplefilter("error")  # NumPy warns where it can still make sense of a damaged description
                header = parse_json(content["header"].tobytes().decode())
                arrays = {name: content[name] for name in content.files if name != "header"}
        except FileNotFoundError:
            raise InputError(f"{path}: no such file") from None
        except _DAMAGED:
            raise InputError(f"{path}: is not a file of statistics, or is damaged") from None
        if not isinstance(header, dict) or header.get("format") not in (FORMAT, *OLDER):
            kept = header.get("format") if isinstance(header, dict) else header
            raise InputError(f'{path}: the format is {checks.shown(kept)}, expected "{FORMAT}"')
        try:
            expected = header.pop("sha256")
            if _digest(header if header["format"] == FORMAT else header["setting"], arrays) != expected:
                raise InputError(f"{path}: is damaged: its content does not match its hash")
            with naming(f"{path}: holds what no log comes to"):
                return cls._read(header, arrays)
        except InputError:
            raise
        except (KeyError, TypeError, ValueError, IndexError, AttributeError):
            raise InputError(f"{path}: is damaged: something is missing in it, or of another kind") from None

    @classmethod
    def _read(cls, header: Mapping[str, Any], arrays: Mapping[str, Any]) -> "Statistics":
        """Return the statistics that a sound file holds."""
        setting = Setting.from_json(header["setting"])
        kind = PairStatistics if setting.feedback == "semi-bandit" else TotalStatistics
        if header["parts"] != len(setting.shares):
            raise InputError(f"{header['parts']} parts, expected {len(setting.shares)}")
        parts = tuple(kind.from_arrays(setting, _fields("", p, arrays)) for p in range(header["parts"]))
        if header["format"] != FORMAT:
            return cls(setting, parts)
        clues, sized = header["clues"], by_size_setting(setting)
        halves = (PairStatistics.from_arrays(sized, _fields(_HALF, h, arrays)) for h in range(clues["halves"]))
        by_order = None
        if clues.get("ordered"):
            by_order = PairStatistics.from_arrays(by_order_setting(setting), _fields(_ORDERED, 0, arrays))
        kept = Clues.from_json(clues, tuple(halves), by_order, arrays)
        attendance = arrays.get("attendance")
        if attendance is not None:
            sound(attendance, "attendance", (setting.n_agents,), 0)
        return cls(setting, parts, kept, attendance, from_arrays(setting, arrays))

    def __repr__(self) -> str:
        setting = self.setting
        return (
            f"Statistics({setting.feedback}, {setting.n_agents} agents, {setting.n_coalitions} coalitions, "
            f"{self.n_samples} samples in {len(self.parts)} parts, {self.rows} rows)"
        )


def _added(ours: Statistics, theirs: Statistics, setting: Setting) -> IntArray | None:
    """Return in how many samples of two logs each agent was; None where one of them does not say."""
    found = np.zeros(setting.n_agents, dtype=np.int64)
    for one in (ours, theirs):
        if one.attendance is None:
            return None
        place = positions(one.agents, setting.agents)
        found[place] = added(found[place], one.attendance)
    return found


_DAMAGED = (
    OSError, ValueError, KeyError, TypeError, AttributeError, EOFError, zipfile.BadZipFile, zlib.error, SyntaxError,
    tokenize.TokenError, UserWarning, RecursionError, MemoryError, OverflowError, NotImplementedError,
    RuntimeError,  # a file that says that it is encrypted
)  # fmt: skip
"""What NumPy and the standard library make of damaged archives and of arrays whose description is damaged."""

_HALF, _ORDERED = "half", "ordered"


def _named(prefix: str, parts: Sequence[PartStatistics]) -> Iterator[tuple[str, Any]]:
    """Yield all arrays under the names they have in a file, always in the same order."""
    for index, part in enumerate(parts):
        for name, array in sorted(part.arrays().items()):
            yield f"{prefix}{index}_{name}", array


def _fields(prefix: str, index: int, arrays: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arrays of one part, as its `arrays` returned them."""
    start = f"{prefix}{index}_"
    return {name.removeprefix(start): array for name, array in arrays.items() if name.startswith(start)}


def _digest(described: Any, arrays: Mapping[str, Any]) -> str:
    """Return the hash of plain values and of arrays in their order."""
    digest = hashlib.sha256(json.dumps(described, sort_keys=True).encode())
    for name, array in arrays.items():
        digest.update(f"{name} {array.dtype.str} {array.shape}".encode())
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()
