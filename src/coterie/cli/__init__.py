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
