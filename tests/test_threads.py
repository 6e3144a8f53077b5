"""Linear algebra has one thread while coterie works, and afterwards as many as before."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from coterie import StableLearner
from coterie.errors import InputError
from coterie.simulate import Simulation
from coterie.threads import LIBRARIES, one_thread


@pytest.mark.parametrize(("given", "inside"), [({}, 1), ({"OMP_NUM_THREADS": "2"}, 2)])
def test_one_thread_unless_the_environment_says_otherwise(given, inside):
    program = (
        "import json, scipy.linalg\nfrom threadpoolctl import threadpool_info, threadpool_limits\n"
        "from coterie.threads import one_thread\n"
        "def threads():\n"
        "    return sorted({one['num_threads'] for one in threadpool_info() if one['user_api'] == 'blas'})\n"
        "threadpool_limits(2, user_api='blas')  # as on a machine of two cores\n"
        "with one_thread():\n    inside = threads()\n"
        "print(json.dumps([inside, threads()]))"
    )
    names = {f"{library}_NUM_THREADS" for library in LIBRARIES}
    environment = {name: value for name, value in os.environ.items() if name not in names} | given
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, env=environment)
    assert json.loads(done.stdout) == [[inside], [2]]


def test_learning_has_one_thread(monkeypatch):
    for library in LIBRARIES:
        monkeypatch.delenv(f"{library}_NUM_THREADS", raising=False)
    seen = []

    def watched(*_):
        seen.extend(one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas")
        raise InputError("seen")

    with pytest.raises(InputError, match="seen"), threadpool_limits(2, user_api="blas"):
        StableLearner(guess=watched).fit(Simulation.draw(4, 2, np.random.default_rng(0)).log(40))
    assert set(seen) == {1}


def test_threads_are_restored_when_the_last_of_several_blocks_ends(monkeypatch):
    """Each block restored what it had found: one that began within another left a single thread for good."""
    for library in LIBRARIES:
        monkeypatch.delenv(f"{library}_NUM_THREADS", raising=False)

    def threads():
        return {one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"}

    with threadpool_limits(2, user_api="blas"):
        one, two = one_thread(), one_thread()
        one.__enter__()
        two.__enter__()
        one.__exit__(None, None, None)
        assert threads() == {1}
        two.__exit__(None, None, None)
        assert threads() == {2}
