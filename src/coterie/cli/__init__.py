"""The command line: one module per command, each a thin layer over the Python functions."""

import gc
import os
import sys

from coterie.cli.signals import WORDS, signals

__all__ = ["main"]


def main() -> None:
    """Run the command line and exit with its code; a signal is heeded even while modules are loaded.

    Linear algebra has one thread unless the environment says otherwise, as in `coterie.threads`.
    """
    _open_streams()
    if os.environ.get("COLUMNS") == "0":  # as wide as nothing: all text would be cut away
        del os.environ["COLUMNS"]
    for library in ("OPENBLAS", "MKL", "OMP"):
        os.environ.setdefault(f"{library}_NUM_THREADS", "1")
    gc.disable()  # until the command is loaded: modules stay, and looking through them again and again takes its time
    with signals() as caught:
        try:
            from coterie.cli.app import run

            sys.exit(run(caught))
        except BaseException as problem:  # also what modules make of a signal while they are loaded
            if not caught or isinstance(problem, SystemExit):
                raise
            code = 128 + caught[-1]
            sys.stderr.write(f"error: {WORDS[code]}\n")
            sys.exit(code)
        finally:
            gc.enable()


def _open_streams() -> None:
    """Open what the caller closed, as `>&-` does: nobody reads it then, and no file of ours gets its number."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115, PTH123  (open until the end)
