"""Work that other processes do, and what is said where one of them cannot begin, fails or ends early.

Each process has a pipe of its own, and whoever asks waits for answers and for ends of pipes, without any thread: a
process that is gone is an end, so that nobody waits for ever. This module brings nothing with it, and what the work
needs is imported once a failure to do so can be told.
"""

import os
import pickle
import signal
import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, TypeVar

from coterie.errors import CoterieError
from coterie.memory import load_linear_algebra

Task = TypeVar("Task")
Answer = TypeVar("Answer")

CANNOT_BEGIN = "no other process can be started ({})"
ENDED = (
    "a process ended before it was done: its memory ran out, or it runs a script that calls this at its top, which "
    'belongs below `if __name__ == "__main__":`'
)

PATIENCE = 5.0
"""Seconds that a process has to end in, when it is asked to."""


class ProcessError(CoterieError):
    """Another process could not be started, or ended early."""


def shared(function: Callable[[Task], Answer], tasks: Sequence[Task], workers: int) -> Iterator[tuple[Task, Answer]]:
    """Yield tasks with their answers by so many other processes, as they are done.

    What `function` raises is raised here, with a note on where that was. Processes end with this iterator, however it
    ends, and with this process.
    """
    waiting, work = list(reversed(tasks)), pickle.dumps(function)
    processes: list[tuple[Connection, BaseProcess]] = []
    running: dict[Any, Task] = {}
    try:
        with _single_threaded():
            while len(processes) < workers and waiting:
                pipe, _ = started = _begin(work)
                processes.append(started)
                running[pipe] = waiting.pop()
                _ask(pipe, running[pipe])
        while running:
            for ready in wait(list(running)):
                task, answer = running.pop(ready), _answer(ready)
                if waiting:
                    running[ready] = waiting.pop()
                    _ask(ready, running[ready])
                yield task, answer
    finally:
        _end(processes, running)


def _begin(work: bytes) -> tuple[Connection, BaseProcess]:
    """Return a new process and the pipe to it."""
    context = get_context("spawn")  # so that its libraries start with one thread
    try:
        pipe, theirs = context.Pipe()
        with theirs:
            process = context.Process(target=_work, args=(theirs, work))
            with _interrupts_later():
                process.start()
    except BrokenPipeError:
        raise ProcessError(ENDED) from None
    except OSError as problem:
        raise ProcessError(CANNOT_BEGIN.format(problem.strerror or problem)) from None
    return pipe, process


def _ask(pipe: Any, task: Any) -> None:
    try:
        pipe.send(task)
    except OSError:
        raise ProcessError(ENDED) from None


def _answer(pipe: Any) -> Any:
    try:
        is_done, answer = pipe.recv()
    except (EOFError, OSError):
        raise ProcessError(ENDED) from None
    if not is_done:
        raise answer
    return answer


def _end(processes: Sequence[tuple[Connection, BaseProcess]], running: dict[Any, Any]) -> None:
    """End processes: at once those that are still at work, and all that do not end by themselves."""
    for pipe, process in processes:
        pipe.close()
        if pipe in running:
            process.terminate()
    for _, process in processes:
        process.join(PATIENCE)
        process.kill()
        process.join()


def _work(pipe: Connection, work: bytes) -> None:
    """Do what comes through a pipe until it ends; the process ends quietly where not even a failure can be told."""
    try:
        _ignore_interrupts()
        threading.Thread(target=_end_with_parent, daemon=True).start()
        load_linear_algebra()
        while True:
            task = pipe.recv()
            pipe.send(_tried(work, task))
    except EOFError:  # no more is wanted
        pass
    except BaseException as problem:  # noqa: BLE001  (no room for a thread, or an answer that cannot be sent)
        try:
            pipe.send((False, _told(problem)))
        except BaseException:  # noqa: BLE001  (the end of the pipe says enough)
            os._exit(1)


@contextmanager
def _interrupts_later() -> Iterator[None]:
    """Let interrupts wait in the block, and in processes that begin in it: a terminal sends them to all of them.

    A process has its mask from this thread; what other threads are sent is handled in this one, so that waits too.
    """
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    from multiprocessing.resource_tracker import ensure_running

    ensure_running()  # when it starts, it lets interrupts through again
    heard: list[int] = []
    handler = signal.getsignal(signal.SIGINT)
    is_ours = handler is not None and threading.current_thread() is threading.main_thread()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    if is_ours:
        signal.signal(signal.SIGINT, lambda sign, _: heard.append(sign))
    try:
        yield
    finally:
        if is_ours:
            signal.signal(signal.SIGINT, handler)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        if heard:
            signal.raise_signal(signal.SIGINT)


def _ignore_interrupts() -> None:
    """Leave interrupts to the parent, also one that has been waiting."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def _tried(work: bytes, task: Any) -> tuple[bool, Any]:
    """Return whether a task was done, and the answer or else what went wrong."""
    try:
        return True, pickle.loads(work)(task)  # noqa: S301  (what the parent made)
    except BaseException as problem:  # noqa: BLE001  (the parent raises it)
        return False, _told(problem)


def _told(problem: BaseException) -> BaseException:
    """Return what went wrong with where that was: as it is, or in words where the parent could not read it."""
    where = "".join(traceback.format_exception(problem))
    problem.add_note(f"In another process:\n{where}")
    try:
        pickle.loads(pickle.dumps(problem))  # noqa: S301
    except Exception:  # noqa: BLE001  (whatever an exception of somebody's own does)
        return ProcessError(where)
    return problem


def _end_with_parent() -> None:
    try:
        if (parent := parent_process()) is not None:
            wait([parent.sentinel])
    finally:
        os._exit(1)


@contextmanager
def _single_threaded() -> Iterator[None]:
    """Let processes that start in the block use one thread for linear algebra: there is one per core already."""
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
    before = {name: os.environ.get(name) for name in names}
    os.environ.update(dict.fromkeys(names, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
