"""Rows of a log in batches that keep each sample in one piece."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from coterie.arrays import IntArray
from coterie.log.columns import plain


@dataclass(frozen=True, eq=False)
class Samples:
    """Some whole samples: rows of a table, with the number of the sample of each row."""

    rows: pa.Table
    sample: IntArray


def whole_samples(batches: Iterator[pa.RecordBatch]) -> Iterator[Samples]:
    """Regroup batches that are ordered by sample so that no sample is split between two."""
    pending: list[pa.RecordBatch] = []
    for batch in batches:
        if not batch.num_rows:
            continue
        changes = np.flatnonzero(_changes(batch.column("sample")))
        if pending and batch.column("sample")[0].as_py() != pending[-1].column("sample")[-1].as_py():
            changes = np.concatenate([[0], changes])
        if len(changes):
            last = int(changes[-1])
            if pending or last:
                yield _numbered([*pending, batch.slice(0, last)])
            pending = []
            batch = batch.slice(last)  # noqa: PLW2901  (the rest of the batch)
        pending.append(batch)
    if pending:
        yield _numbered(pending)


def _numbered(batches: list[pa.RecordBatch]) -> Samples:
    table = pa.Table.from_batches(batches).combine_chunks()
    changes = _changes(table.column("sample").combine_chunks())
    return Samples(table, np.cumsum(changes, dtype=np.int64))


def _changes(column: Any) -> Any:
    """Return for each row whether its value differs from the row before; the first does not."""
    column = plain(column)
    different = np.zeros(len(column), dtype=bool)
    if len(column) > 1:
        different[1:] = pc.not_equal(column[1:], column[:-1]).to_numpy(zero_copy_only=False)
    return different
