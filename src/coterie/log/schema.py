"""The tables of a log and their columns.

A log is up to three tables: `pairs` (what agent got from partner), `totals` (what agent got in all) and
`memberships` (who was where). Spreadsheets often hold them in another shape, see `coterie.log.shapes`.
"""

from typing import Literal

Feedback = Literal["semi-bandit", "bandit"]

TABLES: dict[str, tuple[str, ...]] = {
    "memberships": ("sample", "agent", "coalition"),
    "pairs": ("sample", "coalition", "agent", "partner", "utility"),
    "totals": ("sample", "agent", "utility"),
}
"""The columns of each table."""

SHAPES: dict[str, tuple[str, ...]] = {
    **TABLES,
    "records": ("sample", "agent", "coalition", "utility"),
    "scores": ("sample", "coalition", "utility"),
    "listed scores": ("sample", "coalition", "members", "utility"),
    "choices": ("sample", "coalition", "agent", "choice"),
}
"""The columns of what a file may hold: those tables, what agents got where, scores of teams (whose members are in
another table, or listed in a cell), and what agents chose."""

OUTCOMES = ("pairs", "choices", "totals")
"""The tables that say how good it was, in the order in which they are preferred."""

FILES = ("memberships", *OUTCOMES)
"""The names under which tables are looked for in a folder."""

NAMES = ("sample", "coalition", "agent", "partner")
"""The columns that hold names, which are compared as strings."""

COLUMNS = (*NAMES, "utility", "choice", "members")
"""All columns that a table may have."""

Named = str | tuple[str, ...]
"""What a table calls a column; several where each member of a team has a column."""

ROW = "#"
"""What `sample` and `coalition` may be said to be where no column says it: the number of the row."""

ALL = "-"
"""The same where all rows belong together: to one round, or to one team in each."""

NO_COLUMN = (ROW, ALL)
"""What stands for no column."""

CAN_LACK = ("sample", "coalition")
"""The columns that a table need not have."""

SYNONYMS = {"coalition": "team", "utility": "score"}
"""What else a column may be called."""


def names_of(named: Named) -> tuple[str, ...]:
    """Return what a table calls a column, one name or several."""
    return (named,) if isinstance(named, str) else named


FEEDBACKS: dict[str, Feedback] = {"pairs": "semi-bandit", "choices": "semi-bandit", "totals": "bandit"}
"""The feedback that each table of outcomes is."""
