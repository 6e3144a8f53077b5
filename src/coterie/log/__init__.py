"""Logs of past outcomes: finding, reading and checking their tables, and looking at what is in them."""

from coterie.log.log import Log, read_log

__all__ = ["Log", "read_log"]
