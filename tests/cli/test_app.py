"""Whatever goes wrong, the command line says so in one message and exits with the right code."""

import io
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from enum import Enum
from importlib import import_module
from types import SimpleNamespace

import pytest
import typer
import xlsxwriter

import coterie
from coterie.cli.app import COMMANDS, whole
from coterie.cli.output import printable

COMMAND = [sys.executable, "-m", "coterie"]
SIMULATE = ["simulate", "--agents", "5", "--coalitions", "3", "--samples", "20", "--out"]
LONG = ["simulate", "--agents", "30", "--coalitions", "3", "--samples", "3000000", "--out"]
TRUTH = {
    "format": "coterie.truth/1",
    "agents": ["a[/b]", ":smile:"],
    "coalitions": ["[red]", "Zoë"],
    "actions": "one",
    "means": [[[0, 1], [1, 0]]] * 2,
    "size_scale": [[1, 1, 1]] * 2,
    "size_shift": [[0, 0, 0]] * 2,
}
APART = {"actions": {"a[/b]": ["[red]"], ":smile:": ["Zoë"]}}


def process(*arguments, **options):
    return subprocess.run([*COMMAND, *map(str, arguments)], capture_output=True, check=False, **options)


@pytest.fixture
def call(run):
    return run


@pytest.fixture
def files(tmp_path):
    def write(truth=TRUTH, strategy=APART):
        for name, content in (("truth.json", truth), ("strategy.json", strategy)):
            text = content if isinstance(content, str) else json.dumps(content)
            (tmp_path / name).write_text(text, encoding="utf-8")
        return ["evaluate", tmp_path / "strategy.json", "--truth", tmp_path / "truth.json"]

    return write


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["simulate"], "Missing option '--agents'"),
        (["simulate", "--agents", "many"], "Invalid value for '--agents'"),
        (["simulate", "--nonsense"], "No such option"),
        (["nonsense"], "No such command 'nonsense'"),
        (["evaluate", "--truth", "x"], "Missing argument"),
    ],
)
def test_usage_errors_are_one_message_and_a_hint(call, arguments, message):
    code, out, err = call(*arguments)
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    assert message in err
    _, hint = err.splitlines()
    assert hint == ("Try coterie --help" if arguments == ["nonsense"] else f"Try coterie {arguments[0]} --help")


def test_help_and_version(call):
    assert call("--version") == (0, "coterie 0.1.0\n", "")
    assert "Usage: coterie" in call("--help")[1]
    code, out, err = call()
    assert (code, err) == (2, "")
    assert "Usage: coterie" in out


def told(shown):
    """What a help says, without the frames of its panels."""
    return " ".join(re.sub(r"[│╭╮╰╯─]", " ", shown).split())


def test_the_help_says_where_to_begin(call):
    shown = told(call("--help")[1])
    places = [shown.index(text) for text in ("coterie demo", "coterie start TABLE", "coterie learn FOLDER", "Research")]
    assert places == sorted(places)
    assert "<bool>" not in shown


def test_the_help_shows_first_what_most_people_need(call):
    """The usual options on two screens, all of them on demand, each once and in a panel."""
    code, short, _ = call("learn", "--help")
    assert code == 0
    assert len(short.splitlines()) < 80
    shown = told(short)
    order = ["LOG", "--team-size", "--today", "--goal", "--out", "--columns", "--help-all"]
    assert [shown.index(f"{name} ") for name in order] == sorted(shown.index(f"{name} ") for name in order)
    assert "--certificate" not in shown
    code, long, _ = call("learn", "--help-all")
    assert code == 0
    every = told(long)
    options = [param.opts[0] for param in whole("learn").params if param.opts[0].startswith("--")]
    assert len(options) > 40
    for name in options:
        assert f"{name} " in every
    assert every.index("--seed") > every.index("--certificate") > every.index("--columns")
    assert "<bool>" not in every


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_of_a_log_has_its_panel(name):
    """So that a new one is not by accident among the first."""
    params = {param.name: param.rich_help_panel for param in whole(name).params if param.opts[0].startswith("--")}
    if "engine" in params:
        own = {name for name, panel in params.items() if panel is None}
        assert own == {"coverage": {"strategy", "collect"}, "report": {"log"}, "start": {"yes"}}.get(name, set())


@pytest.mark.parametrize("name", COMMANDS)
def test_commands_are_listed_as_they_begin(name):
    """Their modules are not imported for a list of them, so their first lines are there twice."""
    documented = import_module(f"coterie.cli.{name.replace('-', '_')}").command.__doc__
    assert documented.splitlines()[0] == COMMANDS[name]


def test_a_misspelt_command_is_recognised(call):
    assert "No such command 'lern'. Did you mean 'learn'?" in call("lern")[2]


@pytest.mark.parametrize("word", ["--version", "--help"])
def test_what_needs_no_numbers_loads_none(word):
    code = f"""import sys
sys.argv = ["coterie", "{word}"]
from coterie.cli import main
try:
    main()
finally:
    print([name for name in ("numpy", "scipy", "pyarrow", "duckdb", "numba") if name in sys.modules])"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.slow
@pytest.mark.parametrize("feedback", ["semi-bandit", "bandit"])
def test_a_small_log_needs_no_compiler(tmp_path, feedback):
    simulate = ["simulate", "--agents", "4", "--coalitions", "2", "--samples", "40", "--feedback", feedback]
    assert process(*simulate, "--out", tmp_path / "log").returncode == 0
    code = f"""import sys
sys.argv = ["coterie", "learn", {str(tmp_path / "log")!r}, "--quiet", "--out", {str(tmp_path / "result.json")!r}]
heavy = "numba", "scipy.linalg", "scipy.optimize", "scipy.special", "pydantic", "jinja2", "matplotlib"
from coterie.cli import main
try:
    main()
finally:
    print([name for name in heavy if name in sys.modules])"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize("name", COMMANDS)
def test_options_are_what_typer_makes_of_them(name):
    """What is not given, and what is text or a file, is not handed to typer, which would make the same of it."""
    command = whole(name)
    ctx = typer.Context(command, resilient_parsing=True)
    for source, texts in (("DEFAULT", ()), ("COMMANDLINE", ("", "a b", "/tmp/c.html"))):
        ctx.get_parameter_source = lambda _, source=source: SimpleNamespace(name=source)
        for param in command.get_params(ctx):
            for given in texts or (None if param.required else param.get_default(ctx),):
                value = [given, given] if texts and param.multiple else given
                wanted = of_typer(param, ctx, value)
                if wanted is not BAD:
                    ours = param.process_value(ctx, value)
                    assert ours == (wanted.value if isinstance(wanted, Enum) and not isinstance(ours, Enum) else wanted)
                    assert type(ours) is type(wanted) or isinstance(wanted, Enum)


BAD = object()


def of_typer(param, ctx, value):
    try:
        return type(param).process_value(param, ctx, value)
    except typer.BadParameter.__base__:
        return BAD


def test_commands_do_not_wait_for_data_frames(tmp_path):
    """Arrow would load pandas, where it is installed, to look whether a list is one of its columns."""
    pairs = "sample,coalition,agent,partner,utility\n" + "".join(
        f"{m},c{m % 2},{one},{other},{m % 3}\n" for m in range(6) for one, other in ("ab", "ac", "bc")
    )
    (tmp_path / "pairs.csv").write_text(pairs)
    with xlsxwriter.Workbook(tmp_path / "pairs.xlsx") as book:
        sheet = book.add_worksheet()
        for number, line in enumerate(pairs.splitlines()):
            sheet.write_row(number, 0, line.split(","))
    for file in ("pairs.csv", "pairs.xlsx"):
        code = f"""import sys
sys.argv = ["coterie", "learn", {str(tmp_path / file)!r}, "--utility-range", "0", "2", "--quiet"]
from coterie.cli import main
try:
    main()
finally:
    print("pandas" in sys.modules)
    import pandas, pyarrow
    frame = pyarrow.table({{"a": [1, 2]}}).to_pandas()
    print(frame.a.sum(), pyarrow.table(frame).num_rows)"""
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert done.stdout.splitlines() == ["False", "3 2"]


@pytest.mark.parametrize(
    ("truth", "strategy"),
    [
        (TRUTH | {"actions": [1, 2]}, APART),
        (TRUTH | {"actions": [None]}, APART),
        (TRUTH | {"actions": None}, APART),
        (TRUTH | {"actions": {"a[/b]": [1], ":smile:": "one"}}, APART),
        (TRUTH | {"actions": "up-to:²"}, APART),
        (TRUTH | {"actions": "up-to:" + "1" * 5000}, APART),
        ("[" * 100_000, APART),
        (TRUTH, "[" * 100_000),
        (TRUTH, "9" * 5000),
        (TRUTH, APART | {"certificate": {"gap": 10**400}}),
        (TRUTH, {"actions": {"a[/b]": [{"coalitions": 5, "probability": 1}], ":smile:": []}}),
        (TRUTH, {"actions": {"a[/b]": [{"coalitions": ["Zoë"], "probability": 10**400}], ":smile:": []}}),
    ],
)
def test_malformed_files_are_one_message(call, files, truth, strategy):
    code, out, err = call(*files(truth, strategy))
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    assert ("strategy.json: " if truth is TRUTH else "truth.json: ") in err
    assert err.count("\n") == 1


@pytest.mark.slow
def test_names_are_printed_as_they_are(call, files, tmp_path, monkeypatch):
    code, out, _ = call(*files())
    assert code == 0
    assert "not Nash stable: a[/b] gains 1 by moving" in out
    assert "best move           Zoë" in out
    assert ":smile:" in call(*files(strategy={"actions": {"a[/b]": ["Zoë"], ":smile:": []}}))[2]
    assert "'[/x]:smile:'" in call(*files(strategy={"actions": {"[/x]:smile:": []}}))[2]
    monkeypatch.chdir(tmp_path)
    for command in (SIMULATE, ["demo", "--time-limit", "0.1", "--out"]):
        code, _, err = call(*command, f"x[/b]:smile:{command[0]}")
        assert code == 0
        assert f"x[/b]:smile:{command[0]}" in err


def test_a_stable_strategy_has_no_best_move(call, files):
    together = {"actions": {"a[/b]": ["Zoë"], ":smile:": ["Zoë"]}}
    out = call(*files(strategy=together))[1]
    assert "Nash stable: nobody gains by moving" in out
    assert "move  " not in out


def test_sets_outside_the_action_space(call, files):
    both = {"actions": dict.fromkeys(TRUTH["agents"], TRUTH["coalitions"])}
    code, out, err = call(*files(strategy=both), "--json")
    assert code == 0
    assert "not among their actions: a[/b], :smile:" in err
    shown = json.loads(out)
    assert (shown["gap"], shown["worst"]["gain"], shown["nash_stable"]) == (0, -1, True)


@pytest.mark.slow
def test_other_encodings(files):
    environment = os.environ | {"PYTHONIOENCODING": "ascii"}
    done = process(*files(), env=environment)
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"best move           Zo\\xeb" in done.stdout
    done = process(*files(), "--json", env=environment)
    assert json.loads(done.stdout)["worst"]["deviation"] == ["Zoë"]
    done = process(*files(), "--json", env=os.environ | {"PYTHONIOENCODING": "utf-8"})
    assert "Zoë".encode() in done.stdout
    done = process("demo", env=environment)
    assert (done.returncode, done.stderr.startswith(b"\nWrote ")) == (0, True)


@pytest.mark.parametrize("content", [json.dumps(APART), "agent,coalition\na[/b],[red]\n:smile:,Zoë\n"])
def test_the_strategy_may_come_from_a_pipe(files, content):
    done = process("evaluate", "/dev/stdin", *files()[2:], "--json", input=content.encode())
    assert (done.returncode, done.stderr) == (0, b"")
    assert json.loads(done.stdout)["gap"] == 1


def test_too_little_memory_is_one_message(call, tmp_path, monkeypatch):
    def fail(*arguments, **options):
        raise MemoryError("Unable to allocate 671. GiB")

    monkeypatch.setattr("coterie.simulate.Simulation.draw", fail)
    code, out, err = call(*SIMULATE, tmp_path / "log")
    assert (code, out, err) == (1, "", "error: not enough memory (Unable to allocate 671. GiB)\n")


def test_no_room_for_a_thread_is_one_message(call, tmp_path, monkeypatch):
    def fail(*arguments):
        raise RuntimeError("can't start new thread")

    (tmp_path / "pairs.csv").write_text("sample,coalition,agent,partner,utility\n1,x,a,b,0.5\n")
    monkeypatch.setattr("concurrent.futures.ThreadPoolExecutor.submit", fail)
    assert call("inspect", tmp_path) == (1, "", "error: not enough memory (can't start new thread)\n")
    with pytest.raises(MemoryError, match="can't start new thread"):
        coterie.read_log(tmp_path)
    monkeypatch.setattr("threading.Thread.start", fail)
    monkeypatch.setattr("coterie.simulate.Simulation.draw", lambda *_, **__: threading.Thread().start())
    assert call(*SIMULATE, tmp_path / "log") == (1, "", "error: not enough memory (can't start new thread)\n")


def test_ctrl_c_is_one_message(call, tmp_path, monkeypatch):
    def fail(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("coterie.simulate.Simulation.draw", fail)
    assert call(*SIMULATE, tmp_path / "log") == (130, "", "error: interrupted\n")


@pytest.mark.slow
@pytest.mark.parametrize("command", [["demo"], None])
def test_a_reader_that_goes_away_is_no_error(files, command):
    """As in `coterie demo | head -1`."""
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as pipe:
        done = subprocess.run(
            [*COMMAND, *map(str, command or [*files(), "--json"])], stdout=pipe, stderr=subprocess.PIPE, check=False
        )
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.slow
@pytest.mark.parametrize(("sent", "code", "said"), [("SIGINT", 130, "interrupted"), ("SIGTERM", 143, "terminated")])
@pytest.mark.parametrize("place", ["log", "par/ent/il", "empty"])
def test_an_interrupted_run_leaves_nothing(tmp_path, sent, code, said, place):
    (tmp_path / "empty").mkdir()
    running = subprocess.Popen([*COMMAND, *LONG, str(tmp_path / place)], stderr=subprocess.PIPE, env=os.environ)
    until = time.monotonic() + 60
    while not list(tmp_path.rglob("pairs.csv")) and time.monotonic() < until:
        time.sleep(0.05)
    running.send_signal(getattr(signal, sent))
    _, err = running.communicate(timeout=60)
    assert (running.returncode, err.decode()) == (code, f"error: {said}\n")
    assert list(tmp_path.rglob("*")) == [tmp_path / "empty"]


@pytest.mark.slow
def test_the_current_folder_is_filled_and_kept(tmp_path):
    before = tmp_path.stat().st_ino
    done = process(*SIMULATE, ".", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert tmp_path.stat().st_ino == before
    assert {file.name for file in tmp_path.iterdir()} == {"memberships.csv", "pairs.csv", "log.json", "truth.json"}


def test_a_stream_that_cannot_be_reconfigured(call, monkeypatch):
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    assert call("--version")[0] == 0


@pytest.mark.parametrize("text", ["agent,coalition\np1,c1\n", '{"actions": {"p1": 3}}'])
def test_refusals_of_a_profile_name_the_file(call, tmp_path, text):
    file = tmp_path / "profile.txt"
    for content in (text, json.dumps({"actions": {f"p{i}": [] for i in range(1, 6)}})):
        file.write_text(content)
        code, _, err = call(*SIMULATE, tmp_path / "log", "--policy", "toggles", "--profile", file)
        assert code == 2
        assert err.startswith(f"error: {file}: ")
    assert "profile: p1 plays a set that is not among their actions" in err


STEERING = "Ada\x1b]0;owned\x07\x1b[2J\x9b31m\u202e"
"""A name that sets the title of a terminal, clears it, turns it red and writes from right to left."""


def is_harmless(text):
    return all(c.isprintable() or c == "\n" for c in text)


def test_names_cannot_steer_the_terminal(call, files, tmp_path):
    truth = TRUTH | {"agents": [STEERING, "b"], "coalitions": [f"c{STEERING}", "d"]}
    together = {"actions": {STEERING: [f"c{STEERING}"], "b": ["d"]}}
    both = {"actions": {STEERING: [f"c{STEERING}", "d"], "b": ["d"]}}
    for strategy in (together, both, {"actions": {f"{STEERING}2": []}}):
        for more in ([], ["--json"]):
            code, out, err = call(*files(truth, strategy), *more)
            assert is_harmless(out + err), (out, err)
            assert code == 0 or "Ada\\x1b" in err
    assert json.loads(call(*files(truth, together), "--json")[1])["worst"]["agent"] in {STEERING, "b"}
    (tmp_path / "totals.csv").write_text(f"sample,agent,utility\n1,{STEERING},1\n1,b,1\n1,c,1\n", encoding="utf-8")
    (tmp_path / "memberships.csv").write_text(
        "sample,agent,coalition\n" + "".join(f"1,{name},x{STEERING}\n" for name in (STEERING, "b", "c")),
        encoding="utf-8",
    )
    code, out, err = call("coverage", tmp_path)
    assert "Ada\\x1b" in out
    assert is_harmless(out + err)
    for words in (["coverage", tmp_path / STEERING], ["learn", tmp_path, "--since", STEERING], [STEERING]):
        code, out, err = call(*words)
        assert code == 2
        assert "Ada\\x1b" in err
        assert is_harmless(out + err)


def test_a_name_cannot_forge_a_line(call, tmp_path):
    code, _, err = call("inspect", tmp_path / "log\nerror: all is well")
    assert code == 2
    assert len(err.splitlines()) == 1
    assert "log\\nerror: all is well" in err


def test_spaces_and_joiners_are_part_of_names():
    for name in ("山田\u3000太郎", "Anne\u00a0Marie", "\u0645\u06cc\u200c\u062e"):
        assert printable(name) == name
    assert printable("a\u202eb\u2028\x07") == "a\\u202eb\\u2028\\x07"


def test_no_message_is_longer_than_a_screen(call, tmp_path):
    long = tmp_path / ("a" * 200) / ("b/" * 2500)
    for words in (["inspect", long], ["x" * 5000], ["inspect", tmp_path / ("a" * 999)]):
        code, _, err = call(*words)
        assert (code, err.startswith("error: ")) == (2, True), err
        assert len(err) < 2100


SLOW = """
import os, signal, sys, threading
from coterie.cli import main
from coterie.log import log
from coterie.log.engine import DuckDBEngine

def slow(*_, **__):
    threading.Timer(0.3, os.kill, (os.getpid(), sent)).start()
    DuckDBEngine().table("SELECT sum(range) AS s FROM range(1000000000000)")

log._open, sent = slow, getattr(signal, sys.argv.pop(1))
main()
"""


@pytest.mark.parametrize(("sent", "code", "said"), [("SIGINT", 130, "interrupted"), ("SIGTERM", 143, "terminated")])
def test_signals_while_a_log_is_read(tmp_path, sent, code, said):
    """DuckDB turns whatever a signal raises within a query into an error of its own."""
    (tmp_path / "pairs.csv").write_text("sample,coalition,agent,partner,utility\n1,x,a,b,0.5\n")
    command = [sys.executable, "-c", SLOW, sent, "inspect", str(tmp_path)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (code, "", f"error: {said}\n")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--delta", "1e-323"], "--delta: expected a number from 1e-300 up, got 1e-323"),
        (["--target-gap", "nan"], "--target-gap: expected a finite number, got nan"),
        (["--actions", "[[1" + "0" * 400 + "]]"], "a whole number of 401 digits"),
        (["--actions", "[" * 990 + "]" * 990], "too deep"),
        (["--coalitions", "1000000000", "--pool-coalitions"], "--coalitions: expected at most 100,000"),
    ],
)
def test_extreme_options_are_refused(call, tmp_path, words, message):
    (tmp_path / "pairs.csv").write_text("sample,coalition,agent,partner,utility\n1,x,a,b,0.5\n2,x,a,b,0.5\n")
    code, _, err = call("learn", tmp_path, *words)
    assert (code, message in err) == (2, True), err


LOADING = """
import builtins, os, signal, sys
from coterie.cli import main
load = builtins.__import__

def loading(name, *rest):
    if name == "typer":
        os.kill(os.getpid(), getattr(signal, sys.argv[1]))
    return load(name, *rest)

builtins.__import__ = loading
main()
"""


@pytest.mark.parametrize(("sent", "code", "said"), [("SIGINT", 130, "interrupted"), ("SIGTERM", 143, "terminated")])
def test_signals_while_modules_are_loaded(sent, code, said):
    ended = subprocess.run(
        [sys.executable, "-c", LOADING, sent], capture_output=True, text=True, timeout=120, check=False
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (code, "", f"error: {said}\n")


LOST = """
import os, signal, sys, time
from coterie.cli import app, main

class Ending:
    def __del__(self):  # what is raised here is lost, as in a library in C++ that calls Python
        os.kill(os.getpid(), getattr(signal, sys.argv[1]))
        time.sleep(1)

def run(caught):
    Ending()
    time.sleep(60)

app.run = run
main()
"""


@pytest.mark.parametrize(("sent", "code", "said"), [("SIGINT", 130, "interrupted"), ("SIGTERM", 143, "terminated")])
def test_signals_whose_exception_is_lost(sent, code, said):
    ended = subprocess.run([sys.executable, "-c", LOST, sent], capture_output=True, text=True, timeout=50, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (code, "", f"error: {said}\n")


def test_a_signal_is_not_sent_again_after_the_end():
    """The command was done already, and whatever runs it is not to be hit."""
    ending = LOST.replace("time.sleep(60)", "return 0").replace("main()", "try: main()\nfinally: time.sleep(1)")
    done = subprocess.run(
        [sys.executable, "-c", ending, "SIGINT"], capture_output=True, text=True, timeout=50, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize(("before", "after"), [(None, "1"), ("3", "3")])
def test_linear_algebra_has_one_thread_unless_the_environment_says_otherwise(before, after):
    program = (
        "import os, sys\nfrom coterie.cli import main\nsys.argv = ['coterie', '--version']\n"
        "try:\n    main()\nexcept SystemExit:\n    print(os.environ['OPENBLAS_NUM_THREADS'])"
    )
    given = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    given |= {} if before is None else {"OPENBLAS_NUM_THREADS": before}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, env=given)
    assert done.stdout.splitlines()[-1] == after


PAIRS = "sample,coalition,agent,partner,utility\n1,x,a,b,0.5\n2,x,a,c,-0.5\n3,y,b,c,1\n4,y,a,b,0\n"


@pytest.fixture
def log(tmp_path):
    (tmp_path / "log").mkdir()
    (tmp_path / "log" / "pairs.csv").write_text(PAIRS)
    (tmp_path / "log" / "log.json").write_text('{"format": "coterie.log/1", "utility_range": [-1, 1]}')
    return tmp_path / "log"


@pytest.mark.parametrize("name", ["pairs.csv", "log.json", "Totals.CSV", "link.csv"])
def test_a_log_is_not_replaced_by_what_is_made_of_it(call, log, tmp_path, name):
    (log / "link.csv").symlink_to("pairs.csv")
    assert call("learn", log, "--quiet", "--out", log / "result.json")[0] == 0
    before = {file.name: file.read_bytes() for file in log.iterdir()}
    for words in (["learn", log], ["certify", log, log / "result.json"], ["report", log / "result.json", "--log", log]):
        code, _, err = call(*words, "--out", log / name)
        assert (code, "belongs to what is read here" in err) == (2, True)
    assert call("learn", log / "pairs.csv", "--utility-range", -1, 1, "--out", log / "link.csv")[0] == 2
    (tmp_path / "staff.csv").write_text("agent,site\na,x\nb,x\nc,y\n")
    (tmp_path / "today.csv").write_text("agent,coalition\na,x\nb,x\nc,y\n")
    for words in (["learn", log, "--staff"], ["learn", log, "--today"], ["certify", log]):
        file = tmp_path / ("staff.csv" if words[-1] == "--staff" else "today.csv")
        written = file.read_bytes()
        assert call(*words, file, "--out", file)[0] == 2
        assert file.read_bytes() == written
    assert before == {file.name: file.read_bytes() for file in log.iterdir()}


def test_links_that_lead_to_each_other_are_refused(call, log, tmp_path):
    here, there = tmp_path / "here.json", tmp_path / "there.json"
    here.symlink_to(there)
    there.symlink_to(here)
    for words in (["learn", log, "--out"], [*SIMULATE], ["start", log / "pairs.csv", "--yes", "--out"]):
        code, _, err = call(*words, here)
        assert (code, "cannot be written" in err) == (2, True)
    assert "did you mean" not in call("learn", here)[2].replace(f"did you mean {there}", "")


def test_a_terminal_that_is_as_wide_as_nothing(log, tmp_path):
    for words, said in ((["learn", log], "Recommended"), (["--help"], "coterie demo"), (["learn", "nothing"], "error")):
        done = process(*words, cwd=tmp_path, env=os.environ | {"COLUMNS": "0"}, text=True)
        assert said in done.stdout + done.stderr
        assert "Traceback" not in done.stderr


def test_a_result_is_kept_where_nobody_knows_of_a_home(call, log, tmp_path, monkeypatch):
    def fail(*_):
        raise OSError(28, "No space left on device")

    def nowhere():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr("coterie.cli.targets.whole_file", fail)
    monkeypatch.setattr("coterie.cli.targets.Path.home", nowhere)
    code, _, err = call("learn", log, "--quiet", "--out", tmp_path / "a.json")
    assert (code, "cannot be written (No space left on device); it is in " in err) == (1, True)
    monkeypatch.setattr("coterie.cli.targets._writer", lambda *_: fail)
    code, _, err = call("learn", log, "--quiet", "--out", tmp_path / "a.json")
    assert (code, "nor anywhere else" in err) == (1, True)


@pytest.mark.parametrize("sigma", ["1e-6", "1e-8"])
def test_noise_that_is_nearly_nothing_beside_the_range(call, tmp_path, sigma):
    call("simulate", "--agents", 6, "--coalitions", 2, "--samples", 60, "--seed", 1, "--out", tmp_path / "log")
    code, out, _ = call("learn", tmp_path / "log", "--sigma", sigma, "--json")
    assert (code, json.loads(out)["format"]) == (0, "coterie.result/1")


@pytest.mark.skipif(os.name == "nt", reason="shells of Unix close streams")
@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&- >&- 2>&-"])
def test_streams_that_are_closed_are_no_error(log, tmp_path, closed):
    words = ["learn", str(log), "--out", str(tmp_path / "result.json")]
    done = subprocess.run(
        ["/bin/sh", "-c", f'"$@" {closed}', "sh", *COMMAND, *words], capture_output=True, text=True, check=False
    )
    assert (done.returncode, "Traceback" in done.stderr) == (0, False)
    assert json.loads((tmp_path / "result.json").read_text())["format"] == "coterie.result/1"


@pytest.mark.skipif(sys.platform != "linux", reason="names of files are text elsewhere")
def test_words_that_are_not_text_are_refused(call, log, tmp_path):
    other = os.fsdecode(os.fsencode(tmp_path) + b"/M\xfcller.csv")
    with open(other, "w", encoding="utf-8") as file:  # noqa: PTH123  (as it is)
        file.write(PAIRS)
    for words in (
        ["learn", other, "--utility-range", -1, 1], ["start", other, "--yes", "--out", tmp_path / "made"],
        *(["learn", log, option, "\udcff"] for option in ("--title", "--unit", "--date", "--since", "--until")),
        ["learn", log, "--memory-limit", "1\udcff"],
    ):  # fmt: skip
        code, _, err = call(*words)
        assert (code, "is not text that can be written in UTF-8" in err) == (2, True), words
    assert not (tmp_path / "made").exists()
    code, _, err = call("learn", log, "--out", other.replace(".csv", ".json"))
    assert code == 0
