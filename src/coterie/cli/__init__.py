"""The command line: one module per command, each a thin layer over the Python functions."""

from coterie.cli.app import main

__all__ = ["main"]
