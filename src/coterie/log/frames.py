"""Tables of a log as data frames: pandas, Polars, Arrow, and whatever else speaks Arrow."""

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from coterie.errors import InputError


def to_table(frame: Any, table: str) -> Any:
    """Return an Arrow table; Spark frames stay what they are, since Spark reads them itself."""
    if type(frame).__module__.startswith("pyspark."):
        return frame
    try:
        if hasattr(frame, "__arrow_c_stream__") or isinstance(frame, Mapping):
            converted = pa.table(frame)
        elif hasattr(frame, "to_arrow"):
            converted = frame.to_arrow()
        else:
            raise InputError(f"{table}: expected a pandas, Polars or Arrow table, got {type(frame).__name__}")
    except InputError:
        raise
    except (ValueError, pa.ArrowTypeError, pa.ArrowNotImplementedError) as problem:
        reason = str(problem).splitlines()[0]
        raise InputError(f"{table}: cannot be read as a table with one type per column ({reason})") from None
    names = [str(name) for name in converted.column_names]
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"{table}: the column {name!r} occurs twice; rename one")
    # Categories become plain text, and views of strings plain strings, which every engine reads.
    columns = [_plain(column) for column in converted.columns]
    return pa.table(columns, names=names)


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if pa.types.is_dictionary(column.type):
        decoded = [_decoded(chunk) for chunk in column.chunks]
        column = pa.chunked_array(decoded, None if decoded else pa.string())
    views = (pa.types.is_string_view(column.type), pa.types.is_large_string(column.type))
    return column.cast(pa.string()) if any(views) else column


def _decoded(chunk: pa.DictionaryArray) -> pa.Array:
    values = chunk.dictionary
    if pa.types.is_string_view(values.type):
        values = values.cast(pa.string())
    return pa.DictionaryArray.from_arrays(chunk.indices, values).dictionary_decode()
