"""Runs the commands that pages show, and writes what they print now.

    python tools/docs/outputs.py docs/howto/firm.md ...

Where a page shows a part only (with ...), the whole is printed instead, and the page is left for somebody to shorten.
"""

import doctest
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
BLOCK = re.compile(r"(?<=^```console\n).*?(?=^```)", re.DOTALL | re.MULTILINE)
SECONDS = re.compile(r"\b\d+\.\d s(?=\))")
"""What differs from run to run."""
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def run(command: str, folder: Path) -> "subprocess.CompletedProcess[str]":
    """Run a command of a page in a folder, with what it prints on either stream as one text."""
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "COLUMNS": "80",
        "OPENBLAS_NUM_THREADS": "1",  # pages run beside each other: more threads would wait for each other
    }
    return subprocess.run(  # noqa: S603  (the pages are ours)
        ["/bin/sh", "-c", command],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )


def printed(command: str, folder: Path) -> str:
    """Return what a command prints in a folder, and end where it fails."""
    done = run(command, folder)
    if done.returncode:
        raise SystemExit(f"$ {command}\n{done.stdout}ended with exit code {done.returncode}")
    return done.stdout


def renewed(block: str, folder: Path) -> str:
    """Return a console block with the outputs of today."""
    parts = re.split(r"^\$ ", block, flags=re.MULTILINE)
    for number, part in enumerate(parts[1:], 1):
        command, _, shown = part.partition("\n")
        if command.startswith("make "):
            continue
        now = printed(command.split("  #")[0].strip(), folder)
        if doctest.OutputChecker().check_output(shown, now, FLAGS):
            continue
        print(f"$ {command}")
        if re.search(r"^\.\.\.$", shown, re.MULTILINE):
            print(f"{now}  (to be shortened by hand)")
            continue
        blank = re.search(r"\n*\Z", shown)
        parts[number] = f"{command}\n{SECONDS.sub('... s', now.rstrip(chr(10)))}{blank[0] if blank else chr(10)}"
    return "$ ".join(parts)


def main() -> None:
    """Rewrite the pages that are named."""
    for name in sys.argv[1:]:
        page = Path(name)
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "examples").symlink_to(ROOT / "examples")
            text = BLOCK.sub(lambda block: renewed(block[0], Path(folder)), page.read_text(encoding="utf-8"))
        page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
