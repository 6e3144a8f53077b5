"""Does what is found get worse as code gets faster? The same games, with the code of an earlier commit and with this.

    python benchmarks/quality.py [--before 082d6b5] [--games 500] [--seeds 5] [--votes FOLDER] [--page-only]

Games are those of `certificates.py`, `few_data.py` and `solve.py`, and it is their functions that are called, those of
each commit, in processes with the sources of that commit. Every game that was found is kept in build/quality, under the
number of its sources, so a run that was interrupted goes on, and one with more games adds to what is there. Differences
are game by game, over all games that are kept of both; `--page-only` makes the tables from these.
"""

import argparse
import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from harness import record, table

ROOT = Path(__file__).parents[1]
KEPT = ROOT / "build" / "quality"

BEFORE = "082d6b5"
"""The last commit before margins of moves were compiled (76bf263), with which work on speed began."""

AT_ONCE = 25
"""So many games are one process; the two commits take turns."""


class Cell(NamedTuple):
    """Some games of one kind: which benchmark they are of, its setting, and what is said of them."""

    benchmark: str
    setting: Any
    title: str
    games: int
    measures: dict[str, str]
    """Names of what is found, each with the words for it."""


def cells(games: int, seeds: int, *, votes: bool) -> Iterator[Cell]:
    """Yield all games: those with certificates, with few data, and with all profiles listed."""
    import certificates
    import few_data

    certified = {"certificate": "certificate", "gap": "true gap"}
    for number, one in enumerate(certificates.COMPARED):
        title = f"certificates, {certificates.titled(one.setting)}"
        yield Cell("certificates", number, title, min(one.games, 6 * seeds), certified)
    few = {"gap": "true gap"}
    for model in few_data.MODELS:
        for samples in few_data.SAMPLES:
            yield Cell("few_data", [model, samples], f"few data, {model}", seeds, few)
    solved = {"exact": "share of games with the exact optimum", "excess": "above the optimum"}
    yield Cell("solve", None, "pure search", games, solved)
    for samples in few_data.SAMPLES if votes else ():
        yield Cell("few_data", ["UN votes", samples], "few data, UN votes", seeds, few)


def found(benchmark: str, setting: Any, seed: int, votes: str | None) -> dict[str, float]:
    """Return what one game gives, with the sources and benchmarks that this process was started with."""
    if benchmark == "certificates":
        import certificates

        certificate, gap = certificates.learnt(certificates.COMPARED[setting].setting, seed)
        return {"certificate": certificate, "gap": gap}
    if benchmark == "few_data":
        import few_data

        model, samples = setting
        if model not in {"UN votes", *few_data.MODELS}:
            return {}  # this code did not have the model yet
        if model != "UN votes":
            return {"gap": few_data.simulated(model, samples, seed)[0]}
        assert votes is not None
        return {"gap": few_data.voted(*few_data.roll_calls(Path(votes)), samples, seed)[0]}
    import solve

    one = solve.against_enumeration(seed)
    return {"exact": float(one["exact"]), "excess": one["excess"]}


class Code:
    """The sources of a commit, and what was found with them."""

    def __init__(self, name: str, folder: Path, kept: Path) -> None:
        self.name, self.folder = git("rev-parse", "--short", name).decode().strip(), folder
        with tarfile.open(fileobj=io.BytesIO(git("archive", name, "src", "benchmarks"))) as files:
            files.extractall(folder, filter="data")
        number = git("rev-parse", "--short", f"{name}:src").decode().strip()
        self.file = kept / f"{number}.jsonl"
        self.known: dict[str, dict[str, float]] = {}
        if self.file.exists():
            for line in self.file.read_text(encoding="utf-8").splitlines():
                one = json.loads(line)
                self.known[one["game"]] = one["found"]

    def play(self, cell: Cell, seeds: range, votes: str | None) -> None:
        """Find what is not known yet of these games."""
        missing = [seed for seed in seeds if self._key(cell, seed) not in self.known]
        if not missing:
            return
        here = self.folder / "src", self.folder / "benchmarks"
        asked = json.dumps([cell.benchmark, cell.setting, missing, votes])
        command = [sys.executable, "-P", str(Path(__file__).resolve()), "--played", asked]
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, here))}
        self.file.parent.mkdir(parents=True, exist_ok=True)
        with subprocess.Popen(command, env=environment, cwd=self.folder, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            for seed, line in zip(missing, process.stdout, strict=False):
                self.known[self._key(cell, seed)] = json.loads(line)
                with self.file.open("a", encoding="utf-8") as file:
                    print(json.dumps({"game": self._key(cell, seed), "found": json.loads(line)}), file=file)
        if process.returncode:
            raise SystemExit(f"{cell.title}, seeds {missing}, commit {self.name}: failed, see above")

    def of(self, cell: Cell) -> dict[str, dict[str, float]]:
        """Return what is known of a cell's games."""
        kind = self._key(cell, 0).removesuffix("0]")
        return {game: one for game, one in self.known.items() if game.startswith(kind)}

    @staticmethod
    def _key(cell: Cell, seed: int) -> str:
        return json.dumps([cell.benchmark, cell.setting, seed])


def git(*words: str) -> bytes:
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, check=True).stdout


def played(benchmark: str, setting: Any, seeds: list[int], votes: str | None) -> None:
    """Print what each game gives, with the CPU seconds that it took, one line each."""
    import coterie

    assert Path(coterie.__file__).is_relative_to(Path.cwd())  # the sources of the commit, not those that are installed
    for seed in seeds:
        begin = time.process_time()
        one = found(benchmark, setting, seed, votes)
        print(json.dumps(one | {"seconds": time.process_time() - begin}), flush=True)


def row(title: str, words: str, before: list[float], after: list[float]) -> list[str]:
    """Return a line of the table: means, and the mean difference with its standard error."""
    one, other = np.array(before), np.array(after)
    change = other - one
    error = change.std(ddof=1) / np.sqrt(len(change)) if len(change) > 1 else float("nan")
    said = "0 in every game" if not change.any() else f"{change.mean():+.2g} +- {error:.2g}"
    counts = f"{(change < -1e-9).sum()} / {(change > 1e-9).sum()}"
    return [title, words, str(len(one)), f"{one.mean():.4g}", f"{other.mean():.4g}", said, counts]


def written(listed: list[Cell], before: Code, after: Code) -> str:
    """Return the tables: of what was found, and of the time it took."""
    titles = list(dict.fromkeys(cell.title for cell in listed))
    rows, times = [], []
    for title in titles:
        some = [cell for cell in listed if cell.title == title]
        one, other = (
            {game: found for cell in some for game, found in code.of(cell).items()} for code in (before, after)
        )
        shared = [game for game in one if game in other and one[game].keys() == other[game].keys()]
        if not shared:
            continue
        both = [[side[game] for game in shared] for side in (one, other)]
        for name, words in some[0].measures.items():
            rows.append(row(title, words, *([one[name] for one in side] for side in both)))
        first, second = (sum(game["seconds"] for game in side) for side in both)
        times.append([title, f"{first:.1f}", f"{second:.1f}", f"{first / second:.1f}"])
    header = ["games", "what", "how many", f"before ({before.name})", f"after ({after.name})", "after - before",
              "games smaller / larger"]  # fmt: skip
    return (
        f"{table(header, rows)}\n\nThe same games for both, +- one standard error of the mean difference over games. "
        f"Few data are 30, 100 and 300 samples. CPU seconds of all these games, reading and, in the first of up to "
        f"{AT_ONCE}, compiling or loading kernels included:\n\n{table(['games', 'before', 'after', 'ratio'], times)}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", default=BEFORE, help="a commit")
    parser.add_argument("--after", default="HEAD", help="a commit")
    parser.add_argument("--games", type=int, default=500, help="games of solve.py")
    parser.add_argument(
        "--seeds",
        type=int,
        default=5,
        help="games per setting of few_data.py; up to six times as many of certificates.py",
    )
    parser.add_argument("--votes", help="folder with votes.csv, for few_data.py")
    parser.add_argument("--only", default="", help="a part of the titles; not recorded")
    parser.add_argument("--folder", type=Path, default=KEPT, help="where games are kept")
    parser.add_argument("--page-only", action="store_true", help="make the tables from the games that are kept")
    parser.add_argument("--played", help="for our own processes")
    options = parser.parse_args()
    if options.played:
        played(*json.loads(options.played))
        return
    votes = None if options.votes is None else str(Path(options.votes).resolve())
    listed = [
        cell for cell in cells(options.games, options.seeds, votes=votes is not None) if options.only in cell.title
    ]
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other:
        before, after = (
            Code(options.before, Path(one), options.folder),
            Code(options.after, Path(other), options.folder),
        )
        for cell in () if options.page_only else listed:
            for start in range(0, cell.games, AT_ONCE):
                some = range(start, min(start + AT_ONCE, cell.games))
                for code in (before, after):
                    code.play(cell, some, votes)
                print(cell.title, cell.setting, f"{some.stop} of {cell.games}", flush=True)
    text = written(listed, before, after)
    if options.only:
        print(text)
        return
    words = f"--games {options.games} --seeds {options.seeds}{' --votes FOLDER' if votes else ''}"
    words = "--page-only" if options.page_only else words
    record("Quality before and after", f"python benchmarks/quality.py --before {options.before} {words}", text)


if __name__ == "__main__":
    main()
