"""`coterie learn`: who should go where, and how far anybody could gain by moving, surely."""

import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from queue import SimpleQueue
from threading import Thread, current_thread, main_thread
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Any

import typer

from coterie.cli.log_options import reads_log
from coterie.cli.output import messages, printable, wrapped
from coterie.cli.panels import PROOF
from coterie.cli.result_text import deliver
from coterie.cli.signals import Terminated
from coterie.cli.targets import (
    KINDS,
    Announce,
    Date,
    Details,
    Explain,
    Out,
    Report,
    Target,
    Title,
    targets_of,
    whom,
)
from coterie.cli.team_options import GOAL, JUDGED, RULES, TODAY, about_teams
from coterie.errors import InputError
from coterie.learn.auto import Method
from coterie.log import Log
from coterie.log.teams_seen import teams_seen
from coterie.solve.search import Kind, SolverName
from coterie.statistics.setting import NoiseChoice, Sizes
from coterie.words import counted, said, some

if TYPE_CHECKING:
    from coterie.learn.result import Result
    from coterie.solve.control import Progress


NAMED = 10
"""How many people a message names."""

TimeLimit = Annotated[
    float | None,
    typer.Option(metavar="SECONDS", help="How long to search at most."),
]
"""What commands that search take."""


@reads_log
@about_teams(RULES, TODAY, JUDGED, GOAL)
def command(
    log: Log,
    *,
    wishes: dict[str, Any],
    strategy: Annotated[
        Kind, typer.Option(help="Fixed teams for everybody, or chances of several.", rich_help_panel=PROOF)
    ] = "pure",
    certificate: Annotated[
        Method, typer.Option(help="auto: holdout or paired, whichever serves better; paper: as published.")
    ] = "auto",
    delta: Annotated[float, typer.Option(help="The certificate holds with probability 1 - delta.")] = 0.01,
    sizes: Annotated[Sizes, typer.Option(help="aware: outcomes may depend on the size of teams.")] = "ignore",
    noise: Annotated[
        NoiseChoice,
        typer.Option(help="samples: the pairs of one round may depend on each other; auto: if they seem to."),
    ] = "auto",
    solver: Annotated[SolverName, typer.Option(help="How to search; auto chooses by the size of the game.")] = "auto",
    min_samples: Annotated[
        int,
        typer.Option(
            metavar="N", help="Leave people seen in fewer rounds out of the promise, by name; they take part."
        ),
    ] = 0,
    target_gap: Annotated[
        float | None, typer.Option(metavar="EPS", help="Exit with code 3 if the certificate is above this.")
    ] = None,
    time_limit: TimeLimit = None,
    seed: Annotated[int, typer.Option(help="The same seed gives the same result.")] = 0,
    title: Title = "",
    date: Date = "",
    explain: Explain = None,
    out: Out = None,
    report: Report = None,
    announce: Announce = None,
    details: Details = False,
    json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print nothing but errors (and JSON).")] = False,
) -> int:
    """Recommend who joins which teams, and prove how much anybody could gain by moving at most.

    The certificate's confidence is that of one run: trying seeds or options and keeping the smallest is not covered.
    """
    from coterie.learn.learner import StableLearner

    targets = targets_of(out, report, announce)
    if announce is not None and strategy == "mixed":
        raise InputError(f"{said('announce')} tells who is where, and with {said(strategy='mixed')} people draw")
    explain = whom(explain, log.agents, wishes)
    with search_progress(quiet=quiet) as told, stopping(told, quiet=quiet) as (told, stop):
        learner = StableLearner(
            strategy=strategy,
            certificate=certificate,
            delta=delta,
            sizes=sizes,
            noise=noise,
            solver=solver,
            target_gap=target_gap,
            min_samples=min_samples,
            time_limit=time_limit,
            random_state=seed,
            progress=told,
            stop=stop,
            **wishes,
        ).fit(log)
    result = replace(learner.result_, title=title, date=date)
    code = deliver(
        result, target_gap=target_gap, out=targets, as_json=json, quiet=quiet, explain=explain, details=details,
        statistics=learner.statistics_,
    )  # fmt: skip
    if not (quiet or json or explain):
        what_else = "" if wishes.get("any_size") else _what_else(log, result, targets)
        for text in (_by_staff(result), _in_several(log, result), what_else):
            for line in wrapped(text, "", ""):
                messages.print(printable(line))
    return code


def _by_staff(result: "Result") -> str:
    """Return who of the log is not on the staff, and who on the staff is not in the log; "" without a staff."""
    if result.rules.staff is None:
        return ""
    gone = [name for name in result.strategy.agents if name not in result.rules.staff]
    new = list(result.certificate.newcomers)
    told = [f"left out, since they are not on it: {some(gone, NAMED)}"] if gone else []
    told += [f"new, so what they are worth to others is a guess: {some(new, NAMED)}"] if new else []
    return f"By the staff table: {'; '.join(told) or 'everybody of the log is there, and nobody is new'}."


def _in_several(log: Log, result: "Result") -> str:
    """Return how many people are in several teams, where they were in one as a rule."""
    several = int((result.strategy.marginals.sum(axis=1) > 1).sum()) if result.strategy.is_pure else 0
    if not several or not (seen := teams_seen(log)).is_one_each:
        return ""
    told = f"{counted(several, 'person is', 'people are')} in several teams here"
    return f"{told}, as the log allows. {seen.now_and_then()}."


def _what_else(log: Log, result: "Result", targets: Sequence[Target]) -> str:
    """Return which options would make an answer that fits better; "" where they were given, or all were alone."""
    if result.rules.bounds_sizes or not result.options:
        return ""
    seen = teams_seen(log)
    if not seen.sizes:
        return ""
    if result.rules.staff is not None:
        seen = replace(seen, people=len(result.rules.staff))
    asks = "for sizes as they were seen" if seen.are_known else "for teams of about the same size"
    told = [f"--team-size {seen.bounds(len(log.coalitions))} asks {asks}"]
    if result.value == "total":
        told.append("--value average compares teams by the average teammate")
    if not any(one.kind == KINDS[".html"] for one in targets):
        told.append("--report report.html writes a page to look at")
    return f"Nobody said how large teams may be: {'; '.join(told)}."


@contextmanager
def search_progress(*, quiet: bool) -> Iterator[Callable[["Progress"], None] | None]:
    """Give a callback that shows how far the search is; only a terminal sees it."""
    if quiet or not messages.is_terminal:
        yield None
        return
    from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bars

    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), BarColumn(), TimeElapsedColumn())
    with Bars(*columns, console=messages, transient=True) as bars:
        task = bars.add_task("Adding up what the log holds", total=None)

        def report(state: "Progress") -> None:
            bars.update(task, description=stage(state), completed=state.done, total=state.total or None)

        yield report


STOPPING = (
    "Stopping: the best teams so far are being certified and kept, in some seconds, with many people in half a minute. "
    "Ctrl-C again leaves without them."
)


@contextmanager
def stopping(
    progress: Callable[["Progress"], None] | None, *, quiet: bool
) -> Iterator[tuple[Callable[["Progress"], None], Callable[[], bool]]]:
    """Give what tells a search to end at an interrupt, with a word at once, and what tells that the search began.

    Before it began there is nothing to keep, and a second interrupt wants out: both end the command. The word is said
    by a thread, which waits where the signal came in the midst of another message.
    """
    before, words = signal.getsignal(signal.SIGINT), SimpleQueue[str | None]()
    began = stopped = False

    def report(state: "Progress") -> None:
        nonlocal began
        began = True
        if progress is not None:
            progress(state)

    def interrupted(signum: int, frame: FrameType | None) -> None:
        nonlocal stopped
        if stopped:
            raise Terminated
        if not began:
            (before if callable(before) else signal.default_int_handler)(signum, frame)
        stopped = True
        words.put(None if quiet else STOPPING)

    def speak() -> None:
        if (word := words.get()) is not None:
            messages.print(word)

    if current_thread() is not main_thread() or before == signal.SIG_IGN:
        yield report, lambda: stopped
        return
    speaker = Thread(target=speak, daemon=True)
    speaker.start()
    signal.signal(signal.SIGINT, interrupted)
    try:
        yield report, lambda: stopped
    finally:
        signal.signal(signal.SIGINT, before)
        words.put(None)
        speaker.join()


STAGES = {
    "beliefs": "Working out what people are worth to each other",
    "search": "Looking for teams",
    "second pass": "Reading the rounds that certify again",
    "more samples": "Working out how many more rounds would help",
    "checks": "Testing what the promise takes for granted",
}
"""Stages that no number tells anything about, in words."""


def stage(state: "Progress") -> str:
    """Return in words how far a search is."""
    if state.method in STAGES:
        return STAGES[state.method]
    if state.method == "teams":  # what is minimised is the expected value, turned round
        return f"Looking for teams, expected so far {-state.value:.3g} per person"
    return f"Looking for teams that nobody wants to leave, largest gain so far {max(state.value, 0.0):.3g}"
