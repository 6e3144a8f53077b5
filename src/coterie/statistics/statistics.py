"""Statistics of a log: its learning and its certifying part, added, saved and loaded together.

Statistics are all that later steps need of a log. They are sums, so logs that arrive one after
the other, or that lie on different machines, are reduced one by one and added.
"""

import hashlib
import json
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from coterie.errors import InputError
from coterie.files import whole_file
from coterie.statistics.pair_statistics import PairStatistics
from coterie.statistics.setting import Setting
from coterie.statistics.total_statistics import TotalStatistics

if TYPE_CHECKING:
    from coterie.log.log import Log

FORMAT = "coterie.statistics/3"
OLDER = "coterie.statistics/2"
"""The same but for sums of squares of semi-bandit logs, whose two parts were added up one by one."""

PartStatistics = PairStatistics | TotalStatistics


@dataclass(frozen=True, eq=False)
class Statistics:
    """The statistics of each part of a log; by default a learning and a certifying half."""

    setting: Setting
    parts: tuple[PartStatistics, ...]

    @classmethod
    def of(
        cls,
        log: "Log",
        *,
        sizes: str = "ignore",
        noise: str = "pairs",
        parts: Sequence[float] = (0.5, 0.5),
        seed: int = 0,
        unweighted: bool = False,
        joint: bool = False,
    ) -> "Statistics":
        """Return the sums that estimates are made from, for each part of a log.

        Parameters
        ----------
        log
            Past outcomes, as `coterie.read_log` returns them.
        sizes
            "ignore", or "aware": every coalition size has its own unknowns (needs memberships).
        noise
            "pairs": pairs of one sample are independent. "samples": only samples are, so counts of
            what occurred together are kept too (bandit logs: weights 1/c^2 instead of 1/c).
        parts
            The share of the samples in each part; by default half to learn, half to certify.
        seed
            Which samples go where: a sample's part depends on its name and the seed alone.
        unweighted
            Bandit logs: also the sums without weights, which the paper's estimator needs.
        joint
            Bandit logs of symmetric games: also the sums of the joint estimator.
        """
        from coterie.statistics.reduce import reduce_log  # here, since it makes statistics

        return reduce_log(log, sizes=sizes, noise=noise, parts=parts, seed=seed, unweighted=unweighted, joint=joint)

    @cached_property
    def whole(self) -> PartStatistics:
        """The statistics of all parts together."""
        return reduce(lambda ours, theirs: ours.merged(theirs, self.setting), self.parts)  # type: ignore[arg-type]

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

        The logs must not share samples; names may differ, and are united.
        """
        if not isinstance(other, Statistics):
            return NotImplemented
        setting = self.setting.merged(other.setting)
        pairs = zip(self.parts, other.parts, strict=True)
        return Statistics(setting, tuple(ours.merged(theirs, setting) for ours, theirs in pairs))  # type: ignore[arg-type]

    @cached_property
    def sha256(self) -> str:
        """A hash of the whole content; equal statistics have equal hashes."""
        return _digest(self.setting, [part.arrays() for part in self.parts])

    def save(self, path: str | Path) -> None:
        """Write everything to one file, which appears whole or not at all."""
        header = {"format": FORMAT, "sha256": self.sha256, "parts": len(self.parts), "setting": self.setting.to_json()}
        arrays = dict(_named([part.arrays() for part in self.parts]))
        content = arrays | {"header": np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)}
        with whole_file(Path(path)) as temporary, temporary.open("wb") as file:
            np.savez(file, **content)

    @classmethod
    def load(cls, path: str | Path) -> "Statistics":
        """Read a file that `save` wrote, refusing anything else and anything damaged."""
        try:
            with Path(path).open("rb") as file, np.load(file, allow_pickle=False) as content:
                header = json.loads(content["header"].tobytes())
                arrays = {name: content[name] for name in content.files if name != "header"}
        except FileNotFoundError:
            raise InputError(f"{path}: no such file") from None
        except (OSError, ValueError, KeyError, TypeError, AttributeError, EOFError, zipfile.BadZipFile):
            raise InputError(f"{path}: is not a file of statistics, or is damaged") from None
        if not isinstance(header, dict) or header.get("format") not in {FORMAT, OLDER}:
            kept = header.get("format") if isinstance(header, dict) else header
            raise InputError(f'{path}: the format is {kept!r}, expected "{FORMAT}"')
        found: Statistics | None = None
        digest = None
        try:
            setting = Setting.from_json(header["setting"])
            kind = PairStatistics if setting.feedback == "semi-bandit" else TotalStatistics
            split: list[dict[str, Any]] = [{} for _ in range(header["parts"])]
            for name, array in arrays.items():
                index, _, field = name.partition("_")
                split[int(index)][field] = array
            digest = _digest(setting, split)
            found = cls(setting, tuple(kind.from_arrays(setting, fields) for fields in split))
        except (KeyError, TypeError, ValueError, IndexError):
            pass
        if found is None or digest != header.get("sha256"):
            raise InputError(f"{path}: is damaged: its content does not match its hash")
        return found

    def __repr__(self) -> str:
        setting = self.setting
        return (
            f"Statistics({setting.feedback}, {setting.n_agents} agents, {setting.n_coalitions} coalitions, "
            f"{self.n_samples} samples in {len(self.parts)} parts, {self.rows} rows)"
        )


def _named(parts: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, Any]]:
    """Yield all arrays under the names they have in a file, always in the same order."""
    for index, arrays in enumerate(parts):
        for name, array in sorted(arrays.items()):
            yield f"{index}_{name}", array


def _digest(setting: Setting, parts: Sequence[Mapping[str, Any]]) -> str:
    """Return the hash of a setting and of the arrays of each part."""
    digest = hashlib.sha256(json.dumps(setting.to_json(), sort_keys=True).encode())
    for name, array in _named(parts):
        digest.update(f"{name} {array.dtype.str} {array.shape}".encode())
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()
