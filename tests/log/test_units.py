"""What outcomes are counted in, as headers name it."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as some

import coterie
from coterie.log.units import SIGNS, TIMES, UNITS, unit_in
from coterie.words import unaccented

ROWS = "1,x,Ann,Ben,4\n1,x,Ben,Ann,3\n2,x,Ann,Cy,5\n2,x,Cy,Ann,2\n3,x,Ben,Cy,1\n3,x,Cy,Ben,3\n"


@pytest.mark.parametrize(("unit", "words"), {**UNITS, **TIMES}.items())
def test_every_way_of_writing_a_unit_names_it_alone_in_brackets_and_beside_other_words(unit, words):
    for word in words.split():
        for header in (word, word.upper(), f"How much ({word})", f"{word} for effort", f"Total_{word}"):
            assert unit_in(header) == unit


@pytest.mark.parametrize(("sign", "unit"), SIGNS.items())
def test_signs_name_units(sign, unit):
    assert unit_in(f"Cost in {sign}") == unit_in(f"Cost ({sign})") == unit


@pytest.mark.parametrize(
    "header", ["Score", "Rating", "Point of view", "How good", "Grade", "Note /20", "Value", "x", ""]
)
def test_headers_that_name_nothing_that_is_counted_give_none(header):
    assert unit_in(header) == ""


@given(some.text(max_size=30))
def test_any_header_gives_a_unit_that_is_known_or_one_of_its_own_words_or_none(header):
    unit = unit_in(header)
    assert unit in {"", *UNITS, *TIMES, *SIGNS.values()} or unaccented(unit) in unaccented(header.casefold())


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "ratings.csv"
    path.write_text(f"Month,Team,From,About,Stars given\n{ROWS}", encoding="utf-8")
    return path


def test_start_takes_the_unit_from_the_header_and_results_speak_of_it(table, tmp_path):
    guess = coterie.start(table)
    assert guess.options["unit"] == "stars"
    log = guess.write(tmp_path / "log")
    assert json.loads((tmp_path / "log" / "log.json").read_text(encoding="utf-8"))["unit"] == "stars"
    assert log.unit == "stars"
    result = coterie.StableLearner(time_limit=1).fit(log).result_
    assert result.unit == "stars"
    assert "stars" in str(result)


def test_what_somebody_says_wins_over_the_header(table):
    assert coterie.start(table, unit="points").options["unit"] == "points"
    assert coterie.start(table, unit="none").options["unit"] == ""


def test_a_header_without_a_unit_asks_nothing(table):
    table.write_text(f"Month,Team,From,About,Rating\n{ROWS}", encoding="utf-8")
    guess = coterie.start(table)
    assert "unit" not in guess.options
    assert "unit" not in [answer.name for answer in guess.answers]
