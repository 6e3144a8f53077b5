"""The tables of a log and their columns.

A log is up to three tables: `pairs` (what agent got from partner), `totals` (what agent got in all) and
`memberships` (who was where).
"""

from typing import Literal

Feedback = Literal["semi-bandit", "bandit"]

TABLES: dict[str, tuple[str, ...]] = {
    "memberships": ("sample", "agent", "coalition"),
    "pairs": ("sample", "coalition", "agent", "partner", "utility"),
    "totals": ("sample", "agent", "utility"),
}
"""The columns of each table."""

NAMES = ("sample", "coalition", "agent", "partner")
"""The columns that hold names, which are compared as strings."""

FEEDBACKS: dict[str, Feedback] = {"pairs": "semi-bandit", "totals": "bandit"}
"""The feedback that each table of utilities is."""
