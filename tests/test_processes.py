"""Work that other processes do: answers come, failures are told once, and nobody waits for a process that is gone."""

import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from coterie import processes
from coterie.processes import ProcessError, shared


def squared(number):
    return number * number


def ending(number):
    if number == 3:
        os._exit(7)
    time.sleep(0.01)
    return number


class OddError(Exception):
    """One that pickles, and cannot be read again."""

    def __init__(self, first, second):
        super().__init__(f"{first} and {second}")


def failing(number):
    if number == 1:
        raise OddError("this", "that")
    if number == 2:
        raise EOFError("the end of something else")
    if number == 3:
        raise ImportError("libx.so: failed to map segment from shared object")
    if number == 4:
        return threading.Lock()  # cannot be sent
    raise SystemExit(5)


def test_answers_come_with_their_tasks_and_processes_end():
    assert sorted(shared(squared, range(20), 2)) == [(number, number**2) for number in range(20)]
    assert list(shared(squared, [], 2)) == []
    assert list(shared(squared, [4], 3)) == [(4, 16)]
    assert not multiprocessing.active_children()


@pytest.mark.parametrize(
    ("task", "kind", "words"),
    [
        (1, ProcessError, "OddError: this and that"),
        (2, EOFError, "the end of something else"),
        (3, ImportError, "failed to map segment"),
        (4, TypeError, "cannot pickle"),
        (5, SystemExit, "5"),
    ],
)
def test_what_goes_wrong_is_raised_with_where_it_was(capfd, task, kind, words):
    with pytest.raises(kind, match=words) as found:
        list(shared(failing, [task, task], 2))
    assert "test_processes.py" in str(found.value) + "".join(getattr(found.value, "__notes__", ())) or task == 4
    assert capfd.readouterr().err == ""
    assert not multiprocessing.active_children()


def test_a_process_that_ends_early_ends_everything(capfd):
    with pytest.raises(ProcessError, match="a process ended before it was done"):
        list(shared(ending, range(10), 2))
    assert capfd.readouterr().err == ""
    assert not multiprocessing.active_children()


def slow(number):
    time.sleep(60 if number else 0)
    return number


def test_processes_end_with_whoever_asked():
    answers = shared(slow, [0, 1, 1], 2)
    assert next(answers) == (0, 0)
    assert len(multiprocessing.active_children()) == 2
    answers.close()
    assert not multiprocessing.active_children()


class Pipe:
    """The child's end of a pipe: tasks that come, and what is sent; `full` lets sending fail."""

    def __init__(self, *tasks, full=False):
        self.tasks, self.full, self.sent = list(tasks), full, []

    def recv(self):
        if not self.tasks:
            raise EOFError
        return self.tasks.pop(0)

    def send(self, answer):
        if self.full:
            raise MemoryError
        self.sent.append(answer)


@pytest.fixture
def within(monkeypatch):
    """Let what a process does be done here."""
    ended = []
    monkeypatch.setattr(processes, "_ignore_interrupts", lambda: None)
    monkeypatch.setattr(processes, "_end_with_parent", lambda: None)
    monkeypatch.setattr(processes.os, "_exit", ended.append)
    return ended


def test_a_process_without_room_for_a_thread_says_so(within, monkeypatch):
    def start(_):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(processes.threading.Thread, "start", start)
    pipe = Pipe(2)
    processes._work(pipe, pickle.dumps(squared))
    assert [(done, str(problem)) for done, problem in pipe.sent] == [(False, "can't start new thread")]
    assert within == []


def test_a_process_that_cannot_even_say_so_ends_in_silence(within, capfd):
    processes._work(Pipe(2, full=True), pickle.dumps(squared))
    assert within == [1]
    assert capfd.readouterr().err == ""
    pipe = Pipe(2, 3)
    processes._work(pipe, pickle.dumps(squared))
    assert pipe.sent == [(True, 4), (True, 9)]
    assert within == [1]


WAITING = """
import os, sys, time
from coterie.processes import shared
def told(_):
    print(os.getpid(), flush=True)
    time.sleep(60)
if __name__ == "__main__":
    list(shared(told, [1], 1))
"""


def test_processes_end_with_a_parent_that_is_killed(tmp_path):
    script = tmp_path / "waiting.py"
    script.write_text(WAITING)
    with subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True) as parent:
        worker = int(parent.stdout.readline())
        parent.kill()
    until = time.monotonic() + 20
    while is_running(worker) and time.monotonic() < until:
        time.sleep(0.05)
    assert not is_running(worker)


INTERRUPTED = """
import os, signal, sys, threading, time
from coterie.processes import shared
def slow(_):
    time.sleep(60)
if __name__ == "__main__":
    try:
        threading.Timer(float(sys.argv[1]), os.killpg, (os.getpgrp(), signal.SIGINT)).start()
        list(shared(slow, [1, 2], 2))
    except KeyboardInterrupt:
        print("interrupted")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="groups of processes are those of Unix")
@pytest.mark.parametrize("after", [0.02, 0.1, 0.3, 1.0])
def test_an_interrupt_from_the_terminal_is_heeded_once(tmp_path, after):
    """It goes to all processes, also to those that have just begun; the parent alone has a word to say."""
    script = tmp_path / "interrupted.py"
    script.write_text(INTERRUPTED)
    given = [sys.executable, str(script), str(after)]
    ended = subprocess.run(given, capture_output=True, text=True, check=False, start_new_session=True, timeout=50)
    assert (ended.stdout, ended.stderr) == ("interrupted\n", "")


@pytest.mark.skipif(sys.platform == "win32", reason="threads have masks of their own on Unix")
def test_an_interrupt_that_another_thread_is_sent_waits_too():
    """It broke off the start of a process, which then had nothing to read and said so."""
    done = threading.Event()
    other = threading.Thread(target=done.wait)
    other.start()
    is_whole, before = False, signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt), processes._interrupts_later():
            signal.pthread_kill(other.ident, signal.SIGINT)
            time.sleep(0.05)
            is_whole = True
        assert is_whole
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)
        done.set()
        other.join()


def is_running(process):
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    state = Path(f"/proc/{process}/stat")
    return not state.exists() or state.read_text().rpartition(")")[2].split()[0] != "Z"
