"""Logs of past outcomes: finding, reading and checking their tables, and looking at what is in them."""

from coterie.log.log import Log, read_log
from coterie.log.options import LogOptions

__all__ = ["Log", "LogOptions", "read_log"]
