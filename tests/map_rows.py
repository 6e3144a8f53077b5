"""The map of the paper, read from its page: what rows name, what they cite, and whether that runs what is named."""

import functools
import importlib
import inspect
import re
import sys
from contextlib import contextmanager
from pathlib import Path

import coterie

ROOT = Path(__file__).parents[1]
MAP = ROOT / "docs" / "paper" / "paper-map.md"
SCRIPT_TEST = "tests/test_examples.py::test_script_asserts_and_runs"

CONSTRUCTORS = {"__init__", "__new__", "__post_init__"}

WRITTEN = (ROOT / "tests", Path(coterie.__file__).parent)
"""Where code is written by hand: methods that are generated are in no file, or in one of Python's."""


def rows():
    """Yield (statements, what, functions, checks) of every row; Eq. 13-17 stands for five statements."""
    for line in MAP.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if not line.startswith("| ") or cells[0] in {"statement", "---"}:
            continue
        assert len(cells) == 4, line
        span = re.fullmatch(r"Eq\. (\d+)–(\d+)", cells[0])  # noqa: RUF001
        names = [f"Eq. {i}" for i in range(int(span[1]), int(span[2]) + 1)] if span else [cells[0]]
        yield names, *cells[1:]


ROWS = list(rows())


def functions_in(text):
    """Return the dotted names in a cell."""
    return re.findall(r"`(coterie(?:\.\w+)+)`", text)


def checks_in(text):
    """Return tests (path::name) and scripts (path) that a cell cites, in its order."""
    pattern = r"`(tests/[\w/]+\.py(?:::\w+)?)`|\]\(\.\./\.\./(examples/paper/\w+\.py)\)"
    return [test or script for test, script in re.findall(pattern, text)]


def resolve(name):
    """Return what a dotted name means: the longest module in it, then attributes."""
    parts = name.split(".")
    for end in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:end]))
        except ModuleNotFoundError:
            continue
        for attribute in parts[end:]:
            found = getattr(found, attribute)
        return found
    raise ModuleNotFoundError(name)


def codes_of(name):
    """Return the code that runs when something is used: that of a function, or of any method of a class.

    Making an object is not using it: constructors do not count, and neither does what a dataclass is given. What a
    class leaves to its subclasses runs if one of theirs does.
    """
    found = resolve(name)
    if inspect.isclass(found):
        members = [member for one in _family(found) for key, member in vars(one).items() if key not in CONSTRUCTORS]
    else:
        owner, _, attribute = name.rpartition(".")
        owner = resolve(owner)
        inherited = _family(owner) if inspect.isclass(owner) else []
        members = [found, *(vars(one)[attribute] for one in inherited if attribute in vars(one))]
    codes = {_code(member) for member in members} - {None}
    return {code for code in codes if any(Path(code.co_filename).is_relative_to(place) for place in WRITTEN)}


def _family(found):
    """Return a class and all that inherit from it."""
    return [found, *(one for child in found.__subclasses__() for one in _family(child))]


def _code(member):
    if isinstance(member, (classmethod, staticmethod)):
        member = member.__func__
    elif isinstance(member, property):
        member = member.fget
    elif isinstance(member, functools.cached_property):
        member = member.func
    return getattr(inspect.unwrap(member) if callable(member) else member, "__code__", None)


@functools.cache
def cited():
    """Return check -> [(statement, functions, whether it must run all of them)].

    The first check of a row runs every function that the row names, any other at least one.
    """
    found = {}
    for names, _, functions, checks in ROWS:
        listed = functions_in(functions)
        for place, check in enumerate(checks_in(checks) if listed else ()):
            found.setdefault(check, []).append((names[0], listed, place == 0))
    return found


def check_of(nodeid):
    """Return which check of the map a test is: itself without parameters, or the script that it runs."""
    base, _, parameter = nodeid.partition("[")
    return f"examples/paper/{parameter.rstrip(']')}.py" if base == SCRIPT_TEST else base


def requirements(check):
    """Return [(what the map says of a check, code of which some must run)]."""
    found = []
    for statement, functions, every in cited()[check]:
        codes = {name: codes_of(name) for name in functions}
        if every:
            found += [(f"{statement}: {name}", codes[name]) for name in functions]
        else:
            found.append((f"{statement}: {', '.join(functions)}", set().union(*codes.values())))
    return found


@contextmanager
def traced(required):
    """Give a list of what is required and has not run; it grows shorter as the block runs.

    By a profile function, since coverage has the trace function; it is gone as soon as nothing is left to wait for.
    """
    left, before = list(required), sys.getprofile()

    def note(frame, event, _argument):
        if event == "call":
            left[:] = [one for one in left if frame.f_code not in one[1]]
            if not left:
                sys.setprofile(before)

    sys.setprofile(note)
    try:
        yield left
    finally:
        sys.setprofile(before)
