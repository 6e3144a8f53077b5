"""What callers hand in, and the wording of refusals."""

import time
from pathlib import Path
from typing import Literal

import numpy as np
import pytest

from coterie import InputError, checks


def test_seeds_are_numbers_generators_or_nothing():
    rng = np.random.default_rng(0)
    assert checks.generator(rng) is rng
    assert checks.generator(5).random() == checks.generator(np.int64(5)).random() == np.random.default_rng(5).random()
    assert checks.generator(None).random() != checks.generator(None).random()


@pytest.mark.parametrize("seed", ["1", True, [1], np.random.RandomState(0), np.random])
def test_other_seeds_are_refused(seed):
    with pytest.raises(InputError, match=r"rng: expected a whole number, None or a numpy\.random\.Generator, got"):
        checks.generator(seed, "rng")


@pytest.mark.parametrize(("seed", "message"), [(-1, "expected at least 0"), (0.5, "expected a whole number")])
def test_seeds_are_whole_and_not_negative(seed, message):
    with pytest.raises(InputError, match=f"seed: {message}, got"):
        checks.generator(seed)


def test_names_may_be_a_number():
    assert checks.names(3, "agents") == checks.names(None, "agents", 3) == ("1", "2", "3")
    with pytest.raises(InputError, match="number of agents: expected at least 1, got 0"):
        checks.names(0, "agents")
    with pytest.raises(InputError, match="agents: expected 3 names, got 2"):
        checks.names(2, "agents", 3)


def test_paths_may_be_strings():
    assert checks.path("a/b", "file") == checks.path(Path("a/b"), "file") == Path("a/b")
    with pytest.raises(InputError, match="file: expected the path of a file, got None"):
        checks.path(None, "file")


def test_probabilities_that_are_almost_right_may_be_kept():
    given = np.array([1 / 3, 1 / 3, 1 / 3 + 1e-15])
    np.testing.assert_array_equal(checks.probabilities(given, "p", 1e-12), given)
    assert checks.probabilities([0.5, 0.5000001], "p", 1e-12).sum() == 1


def test_one_of_the_words_of_a_literal():
    assert checks.one_of("a", Literal["a", "b"], "x") == "a"
    with pytest.raises(InputError, match='x: expected "a", "b" or "c", got 1'):
        checks.one_of(1, Literal["a", "b", "c"], "x")


def test_truth_values_are_not_numbers():
    assert checks.boolean(np.True_, "x") is True
    with pytest.raises(InputError, match="x: expected true or false, got 1"):
        checks.boolean(1, "x")


def test_numbers_may_have_a_least():
    assert checks.number(0, "gap", 0) == 0
    with pytest.raises(InputError, match=r"gap: expected a number from 0 up, got -0\.5"):
        checks.number(-0.5, "gap", 0)


def test_a_seed_can_be_written_down():
    assert checks.seed(5) == checks.seed(np.int64(5)) == 5
    assert checks.seed(None) != checks.seed(None)
    rng = np.random.default_rng(0)
    assert checks.seed(rng) != checks.seed(rng)
    assert checks.seed(np.random.default_rng(0)) == checks.seed(np.random.default_rng(0))
    with pytest.raises(InputError, match="random_state: expected a whole number, None or"):
        checks.seed("1", "random_state")


def test_what_was_probably_meant():
    people = ["Bruno Keller", "Carmen D\u00edaz", "Frank O'Neill", "Ada"]
    for typed, meant in {"Bruno Keler": 0, "Carmen Diaz": 1, "Diaz, Carmen": 1, "Frank O\u2019Neill": 2}.items():
        assert checks.similar(typed, people) == people[meant]
        with pytest.raises(InputError, match=r"unknown person .*; did you mean .*\? Known are: Bruno"):
            checks.index_of(typed, people, "person")
    assert checks.similar("Zoe", people) is None
    assert checks.same_but_for_signs("Bruno Keler", people) is None
    assert checks.same_but_for_signs("Frank O\u2019Neill", people) == "Frank O'Neill"


def test_remarks_are_looked_for_in_time_that_grows_with_the_name():
    for sign in ("*", "\u2020", "(", "[", " - ", "(a", "[a"):
        start = time.perf_counter()
        checks.without_remark("Ada" + sign * 30_000 + "b")
        assert time.perf_counter() - start < 2
    assert checks.without_remark("Ada *\u2020*") == "Ada"
