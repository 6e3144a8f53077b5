"""The table of options: an entry is an argument, a key of `log.json`, an option of commands, and documentation."""

import inspect
import re
from itertools import pairwise
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

import coterie
from coterie import checks
from coterie.cli.app import app
from coterie.cli.log_options import reads_log
from coterie.errors import InputError
from coterie.log import options
from coterie.log.options import LogOptions, Option, Word, table_of, takes_options

PAIRS = "sample,coalition,agent,partner,utility\n1,x,a,b,0.5\n2,y,b,c,0.5\n"
WIDE = {"COLUMNS": "200", "TERMINAL_WIDTH": "200", "NO_COLOR": "1"}


def plain(text):
    """Return what a terminal shows, without styles."""
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


def _whole(value, what):
    return checks.whole(value, what, 0)


class More(LogOptions, total=False):
    """The table with one more entry."""

    fold: Annotated[int | None, Option(_whole, "Leave out some samples.", Word(int), default=7)]


def test_one_entry_is_seen_everywhere(monkeypatch, csv_log):
    monkeypatch.setattr(options, "TABLE", table_of(More))

    @takes_options
    def reads(path, **options):
        """Read.

        Parameters
        ----------
        path
            Where.
        """

    assert inspect.signature(reads).parameters["fold"].annotation == int | None
    assert reads.__doc__.endswith("fold\n    Leave out some samples. Default: 7.\n")
    folder = csv_log(pairs=PAIRS, json='{"fold": 3}')
    assert coterie.read_log(folder).options["fold"] == 3
    assert coterie.read_log(folder, fold=4).options["fold"] == 4
    assert coterie.Log.from_frames(pairs={"sample": [1], "coalition": ["x"], "agent": ["a"], "partner": ["b"],
                                          "utility": [0.5]}).options["fold"] == 7  # fmt: skip
    with pytest.raises(InputError, match="fold: expected a whole number, got 'x'"):
        coterie.read_log(folder, fold="x")
    with pytest.raises(InputError, match=r"log\.json: fold: expected a whole number, got 'x'"):
        coterie.read_log(csv_log(pairs=PAIRS, json='{"fold": "x"}'))

    commands = typer.Typer()

    @commands.command()
    @reads_log
    def show(log):
        """Show."""
        typer.echo(log.options["fold"])

    assert re.search(
        r"--fold +<?\w+>? +Leave out some samples",
        plain(CliRunner().invoke(commands, ["--help"], env=WIDE).output),
    )
    assert CliRunner().invoke(commands, [str(folder)]).output == "3\n"
    assert CliRunner().invoke(commands, [str(folder), "--fold", "5"]).output == "5\n"


@pytest.mark.parametrize("function", [coterie.read_log, coterie.Log.from_frames])
def test_python_shows_every_option(function):
    shown = inspect.signature(function).parameters
    for option_name, option in options.TABLE.items():
        name = option.among_frames if option.among_frames in shown else option_name
        assert shown[name].kind is inspect.Parameter.KEYWORD_ONLY
        assert re.search(rf"^{name}\n    \S", function.__doc__, re.MULTILINE), name
    assert not [entry for entry in shown.values() if entry.kind is inspect.Parameter.VAR_KEYWORD]


@pytest.mark.parametrize("command", ["learn", "inspect", "certify", "coverage"])
def test_commands_show_every_option(command):
    shown = plain(CliRunner().invoke(app, [command, "--help-all"], env=WIDE).output)
    for name, option in options.TABLE.items():
        listed = (option.word and option.word.flag) or f"--{name.replace('_', '-')}"
        is_wish = name == "value" and command != "inspect"  # what the log suggests, a command may ask otherwise
        assert (re.search(rf"{listed} ", shown) is not None) == (option.word is not None or is_wish), name


def test_every_key_of_the_file_is_known(csv_log):
    with pytest.raises(InputError) as refusal:
        coterie.read_log(csv_log(pairs=PAIRS, json='{"engine": "spark"}'))
    known = str(refusal.value).partition("known are: ")[2].split(", ")
    assert set(known) == {"format", options.COPIED_FROM, *options.MADE_BY} | {
        name for name, option in options.TABLE.items() if option.in_file
    }
    nothing = dict.fromkeys(set(known) - {"format"})
    assert options.file_options(nothing, "log.json") == {}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"utilty_range": (1, 5)}, "unknown option 'utilty_range'; known are: columns, sheet"),
        ({"engine": 5}, 'engine: expected "duckdb" or "spark", got 5'),
        ({"feedback": ["bandit"]}, r'feedback: expected "semi-bandit" or "bandit", got \[\'bandit\'\]'),
        ({"memory_limit": 5}, "memory_limit: expected text, got 5"),
        ({"threads": "two"}, "threads: expected a whole number, got 'two'"),
        ({"threads": 0}, "threads: expected at least 1, got 0"),
        ({"spark": 5}, "spark: expected a Spark session, got 5"),
        ({"symmetric": "no"}, "symmetric: expected true or false, got 'no'"),
        ({"symmetrize": 1}, "symmetrize: expected true or false, got 1"),
        ({"utility_range": "15"}, r"utility_range: expected two numbers \[low, high\], got '15'"),
        ({"neutral": "3"}, "neutral: expected a finite number, got '3'"),
        ({"sigma": -1}, "sigma: expected a positive number, got -1"),
        ({"sigma": 1e-12, "utility_range": (-1, 1)}, "expected at least 1.86"),
        ({"coalitions": 2.5}, "coalitions: expected a whole number, got 2.5"),
        ({"coalitions": "three"}, "coalitions: expected a list of names, got 'three'"),
        ({"agents": 3}, "agents: expected a list of names, got 3"),
        ({"agents": [1.5]}, r"agents: expected a list of names, got \(1.5,\)"),
        ({"actions": {"a": 3}}, 'actions: expected "observed", .* got 3'),
        ({"actions": "[["}, "actions: is not JSON"),
    ],
)
def test_arguments_that_are_refused(csv_log, given, expected):
    with pytest.raises(InputError, match=expected):
        coterie.read_log(csv_log(pairs=PAIRS), **given)
    with pytest.raises(InputError, match=expected):
        coterie.Log.from_frames(pairs={"sample": []}, **given)


@pytest.mark.parametrize("path", [3, None, b"log", ["log"]])
def test_what_is_no_path_is_refused(path):
    with pytest.raises(InputError, match="expected the folder or file that a log is in, got "):
        coterie.read_log(path)


@pytest.mark.parametrize(
    ("frames", "expected"),
    [
        ({}, "from_frames: found no table, expected a table pairs or totals$"),
        ({"pairs": 3}, "pairs: expected a pandas, Polars or Arrow table, got int"),
        ({"pairs": "pairs.csv"}, "pairs: expected a pandas, Polars or Arrow table, got str"),
        ({"pairs": {"sample": 3}}, "pairs: cannot be read as a table"),
        ({"memberships": {"sample": ["1"]}}, "from_frames: found memberships, expected a table pairs or totals$"),
    ],
)
def test_what_is_no_frame_is_refused(frames, expected):
    with pytest.raises(InputError, match=expected):
        coterie.Log.from_frames(**frames)


def test_names_may_be_declared_in_python(csv_log):
    folder = csv_log(pairs=PAIRS, json='{"agents": ["b"], "coalitions": ["x", "y"]}')
    log = coterie.read_log(folder, agents=["zoe", "a"], coalitions=("z", "y"))
    assert log.agents == ("zoe", "a", "b", "c")
    assert log.coalitions == ("z", "y", "x")
    assert (log.declared_agents, log.declared_coalitions) == (("zoe", "a"), ("z", "y"))
    assert "2 agents in the tables are not listed in agents, such as 'b'" in log.notes
    assert "the coalition 'x' in the tables is not listed in coalitions" in log.notes
    assert "2 agents in the tables are not listed in log.json, such as 'a'" in coterie.read_log(folder).notes
    pooled = coterie.read_log(folder, pool_coalitions=True)
    assert (pooled.coalitions, pooled.declared_coalitions) == (("1",), ())


def test_nothing_declared_leaves_the_choice_to_the_file(csv_log):
    both = PAIRS + PAIRS.splitlines()[1].replace("a,b", "b,a") + "\n"
    folder = csv_log(pairs=both, json='{"symmetrize": true, "columns": {"sample": "sample"}, "neutral": 0.25}')
    log = coterie.read_log(folder, symmetrize=False, columns={}, neutral=None, agents=())
    assert log.options["symmetrize"] is True
    assert log.options["columns"] == {"sample": "sample"}
    assert log.neutral == 0.25


def test_a_log_shows_itself_on_a_line(csv_log):
    log = coterie.read_log(csv_log(pairs=PAIRS))
    assert repr(log) == "Log(semi-bandit, symmetric, 3 agents (a, b, c), 2 coalitions (x, y), 2 rows in pairs)"
    names = [f"{i}" * 300 for i in range(1, 9)]
    rows = "".join(f"1,x,{one},{other},0\n" for one, other in pairwise(names))
    many = coterie.read_log(csv_log(pairs=PAIRS.splitlines()[0] + "\n" + rows), pool_coalitions=True, symmetric=False)
    assert len(repr(many)) < 200
    assert ", ...), 1 coalition (interchangeable), 7 rows" in repr(many)


def test_names_of_columns_may_hold_commas():
    """Messages propose such options, which were refused."""

    def read(text):
        return options.call_options({"columns": text})["columns"]

    assert read("coalition=Team, now,agent=Name, first") == {"coalition": "Team, now", "agent": "Name, first"}
    assert read("members=P 1,members=P, 2") == {"members": ("P 1", "P, 2")}
    assert read(" Sample = A,, UTILITY=B,") == {"sample": "A", "utility": "B"}
    for text, told in (
        ("sample=A,utilty=B", "'utilty' is not a column"),
        ("sample=,utility=B", "expected ours=theirs"),
    ):
        with pytest.raises(InputError, match=told):
            read(text)
