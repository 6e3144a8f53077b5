"""Tables of a simulated log as Arrow columns, and their files: CSV or Parquet, batch by batch."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

TableFormat = Literal["csv", "parquet"]

FORMATS: tuple[str, ...] = get_args(TableFormat)


def names_column(index: npt.NDArray[np.integer[Any]], names: Sequence[str]) -> Any:
    """Return the Arrow column of the names at these positions, each name stored once."""
    import pyarrow as pa

    return pa.DictionaryArray.from_arrays(pa.array(index.astype(np.int32)), pa.array(names, pa.string()))


@contextmanager
def table_writer(folder: Path, table_format: TableFormat) -> Iterator[Callable[[str, Any], None]]:
    """Give a function (table, record batch) that appends to that table's file in the folder.

    The files are closed when the block ends; their columns are those of the first batch.
    """
    with ExitStack() as stack:
        writers: dict[str, Any] = {}

        def write(name: str, batch: Any) -> None:
            if name not in writers:
                make = _csv_writer if table_format == "csv" else _parquet_writer
                writers[name] = stack.enter_context(make(folder / f"{name}.{table_format}", batch))
            writers[name].write(batch)

        yield write


def _parquet_writer(path: Path, first: Any) -> Any:
    import pyarrow as pa
    import pyarrow.parquet as pq

    names = [column.name for column in first.schema if pa.types.is_dictionary(column.type)]
    # Without the stored schema, readers see the names as plain strings.
    return pq.ParquetWriter(path, first.schema, use_dictionary=names, store_schema=False)


@contextmanager
def _csv_writer(path: Path, first: Any) -> Iterator[Any]:
    import pyarrow as pa
    from pyarrow import csv

    # Arrow quotes either every string or none and refuses those that would need it.
    names = [
        name
        for column in first.columns
        if pa.types.is_dictionary(column.type)
        for name in column.dictionary.to_pylist()
    ]
    quoting = "needed" if any(set(name) & set(',"\r\n') for name in names) else "none"
    options = csv.WriteOptions(include_header=False, quoting_style=quoting)
    with path.open("wb") as file:
        file.write((",".join(first.schema.names) + "\n").encode())
        with csv.CSVWriter(file, first.schema, write_options=options) as writer:
            yield writer
