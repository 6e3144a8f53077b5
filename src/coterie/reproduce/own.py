"""Methods and games that somebody brings: whether other processes would find them, and how to tell two apart."""

import hashlib
import io
import pickle
import sys
import types
import uuid
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

from coterie.reproduce.cells import Source, run_cell
from coterie.reproduce.experiments import Cell
from coterie.reproduce.methods import Method
from coterie.reproduce.rows import Row

FUNCTIONS = (types.FunctionType, types.MethodType, partial)

CANNOT_BE_PICKLED = (pickle.PicklingError, AttributeError, TypeError, ValueError, RecursionError)


@dataclass(frozen=True)
class Own:
    """Methods and games that somebody brings, by name."""

    methods: Mapping[str, Method] = field(default_factory=dict)
    sources: Mapping[str, Source] = field(default_factory=dict)

    def run(self, cell: Cell) -> list[Row]:
        """Compute a cell."""
        return run_cell(cell, self.methods, self.sources)

    @cached_property
    def _fingerprints(self) -> tuple[dict[str, str], dict[str, str]]:
        def told(functions: Mapping[str, Any]) -> dict[str, str]:
            return {name: fingerprint(function) for name, function in functions.items()}

        return told(self.methods), told(self.sources)

    def behind(self, cell: Cell) -> dict[str, str]:
        """Return the fingerprint of each of these that a cell depends on."""
        methods, sources = self._fingerprints
        found = {f"method {name}": methods[name] for name in cell.methods if name in methods}
        return found | ({f"games {cell.model}": sources[cell.model]} if cell.model in sources else {})

    @property
    def travels(self) -> bool:
        """Whether other processes find all of them: they must belong to a module that can be imported there."""
        try:
            _Traveller(io.BytesIO()).dump(self)
        except CANNOT_BE_PICKLED:
            return False
        return True


class _Traveller(pickle.Pickler):
    """Pickles what can be pickled, and nothing that was typed into a notebook or at a prompt: no file has that."""

    def reducer_override(self, thing: Any) -> Any:
        if getattr(thing, "__module__", None) == "__main__" and not hasattr(sys.modules["__main__"], "__file__"):
            raise pickle.PicklingError(thing)
        return NotImplemented


def fingerprint(function: Any) -> str:
    """Return a short text that differs where functions do.

    It stands for the code of a function and for what that uses: constants, defaults, values that it closes over,
    and functions and values of its own module. Of what cannot be told apart, no two fingerprints are the same.
    """
    digest, seen = hashlib.sha256(), set[int]()
    brought = function if isinstance(function, FUNCTIONS) else (type(function), function)
    for part in _parts(brought, seen):
        digest.update(part + b"\0")
    return digest.hexdigest()[:16]


def _parts(value: Any, seen: set[int]) -> Iterator[bytes]:
    """Yield what tells a value from others; what is met again, such as a function that calls itself, only once."""
    if id(value) in seen:
        return
    if isinstance(value, (*FUNCTIONS, type, types.CodeType)):
        seen.add(id(value))
    inner = _inner(value)
    yield type(value).__name__.encode() if inner is not None else _pickled(value)
    for one in inner or ():
        yield from _parts(one, seen)


def _inner(value: Any) -> Iterable[Any] | None:
    """Return what a value is made of; None for what is a value and nothing else."""
    if isinstance(value, types.CodeType):
        return (value.co_code, " ".join(value.co_names), " ".join(value.co_varnames), *value.co_consts)
    if isinstance(value, types.FunctionType):
        used = (value.__globals__.get(name) for name in _names(value.__code__))
        helpers = (one for one in used if _is_own(one, value.__module__))
        closed = (cell.cell_contents for cell in value.__closure__ or ())
        return (value.__code__, value.__defaults__, value.__kwdefaults__, *closed, *helpers)
    if isinstance(value, types.MethodType):
        return (value.__func__, value.__self__)
    if isinstance(value, partial):
        return (value.func, value.args, value.keywords)
    if isinstance(value, type):
        return (value.__qualname__, *(one for _, one in sorted(vars(value).items()) if isinstance(one, FUNCTIONS)))
    if isinstance(value, frozenset):
        return sorted(value, key=repr)
    if isinstance(value, dict):
        return (*value, *value.values())
    return value if isinstance(value, (tuple, list)) else None


def _names(code: types.CodeType) -> list[str]:
    """Return what a function names, functions within it included."""
    within = [name for one in code.co_consts if isinstance(one, types.CodeType) for name in _names(one)]
    return sorted({*code.co_names, *within})


def _is_own(value: Any, module: str) -> bool:
    """Return whether something is of a module's own: a value, or a function or class that it did not import."""
    if isinstance(value, (types.FunctionType, type)):
        return value.__module__ == module
    return not isinstance(value, (types.ModuleType, types.BuiltinFunctionType))


def _pickled(value: Any) -> bytes:
    try:
        return pickle.dumps(value)
    except CANNOT_BE_PICKLED:
        return uuid.uuid4().bytes
