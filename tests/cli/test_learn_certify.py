"""`coterie learn` and `coterie certify`."""

import csv
import io
import json
import os
import re
import signal
import sys
from itertools import combinations

import numpy as np
import pytest

import coterie
from coterie import StableLearner
from coterie.cli.learn import stopping
from coterie.cli.output import messages
from coterie.cli.result_text import EFFECTS, _mixture
from coterie.estimate.guess import LEVELS
from coterie.learn import teams
from coterie.simulate import Simulation
from coterie.solve.control import Control, Progress
from report_logs import LEAVER, RATERS, few_ratings


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cli") / "log"
    Simulation.draw(4, 3, np.random.default_rng(5), actions_per_agent=4).write_log(folder, 500)
    return folder


def said(text):
    return " ".join(text.split())


def test_learn_for_people(run, log):
    code, shown, _ = run("learn", log)
    assert code == 0
    assert said(shown).startswith("Recommended: ")
    assert "With 99 % confidence, nobody can gain" in said(shown)
    for part in ("Teams", "500 rounds", "--details also tells what everybody's place is worth"):
        assert part in said(shown)
    code, more, _ = run("learn", log, "--details")
    assert "The tightest case of that is p" in said(more)
    assert "tightest case" not in said(shown)
    for part in ("Who goes where", "best alternative", "at least", "at most", "Teams", "500 rounds", "Words"):
        assert part in more
        assert part in shown or part in {"Who goes where", "best alternative", "at least", "at most", "Words"}
    assert "--details" not in more
    assert shown.splitlines()[:3] == more.splitlines()[:3]  # the same answer, told at length


def test_a_manager_reads_what_matters_and_the_rest_on_demand(run, tmp_path):
    """Few lines: at most a dozen who change, those for whom most does, and two warnings; nothing is lost in details."""
    log = few_ratings(tmp_path / "log")
    today = tmp_path / "today.csv"
    today.write_text("agent,coalition\n" + "".join(f"{name},Lab\n" for name in RATERS), encoding="utf-8")
    staff = tmp_path / "people.csv"  # with a newcomer, of whom a warning tells
    staff.write_text("agent\n" + "".join(f"{name}\n" for name in (*RATERS, "Zoe")), encoding="utf-8")
    words = ["learn", log, "--team-size", "2:6", "--today", today, "--staff", staff]
    shown, more = run(*words)[1], run(*words, "--details")[1]
    content = json.loads(run(*words, "--json")[1])
    assert len(shown.splitlines()) < 55 < len(more.splitlines())
    warnings = [text for text in content["warnings"] if not text.startswith("there are too few data to certify")]
    assert len(warnings) > 2
    assert f"Warnings (2 of {len(warnings)})" in shown
    assert f"{len(warnings) - 2} more warning" in said(shown)
    assert all(said(text) in said(more) for text in warnings)
    assert [said(text) in said(shown) for text in warnings] == [True, True] + [False] * (len(warnings) - 2)
    for line in shown.partition("\nTeams")[2].partition("\n\n")[0].splitlines():
        assert line in more


def test_the_likely_figure_is_named_as_no_promise(run, log):
    for words in (["learn", log, "--noise", "pairs"], ["learn", log, "--noise", "samples"]):
        shown, content = (
            said(run(*words, "--delta", 0.001, "--details")[1]),
            json.loads(run(*words, "--delta", 0.001, "--json")[1]),
        )
        assert 0 <= content["likely_gap"] <= content["certificate"]["gap"]
        by = "by moving" if content["likely_gap"] == 0 else f"more than {content['likely_gap']:.3g} by moving"
        differs = content["likely_gap"] < content["certificate"]["gap"]
        assert (f"Likely, but not proven: nobody can gain {by}." in shown) == differs
        assert differs or words[3] == "pairs"
    learner = coterie.StableLearner(noise="samples", delta=0.001).fit(log)
    assert learner.result_.likely == content["likely_gap"]
    content = json.loads(run("learn", log, "--adaptive", "--json")[1])
    assert content["likely_gap"] is None
    assert "Likely" not in run("learn", log, "--adaptive")[1]


def test_tests_that_were_not_possible_are_named(run, log, tmp_path):
    shown = said(run("learn", log, "--details")[1])
    assert "Not tested: whether " in shown
    assert "whether earlier outcomes decided who met whom." in shown
    assert "who met whom" not in said(run("learn", log, "--adaptive", "--details")[1])
    Simulation.draw(4, 3, np.random.default_rng(5), actions_per_agent=4).write_log(
        tmp_path / "totals", 100, feedback="bandit"
    )
    wanted = "Not tested: whether the size of a team matters; whether outcomes of one round go together;"
    assert wanted in said(run("learn", tmp_path / "totals", "--details")[1])


def test_those_seen_rarely_are_left_out_by_name(run, log, tmp_path):
    pairs = (log / "pairs.csv").read_text().splitlines()
    rows = [line for line in pairs[1:] if "p4" not in line.split(",") or int(line.split(",")[0]) <= 3]
    (tmp_path / "pairs.csv").write_text("\n".join([pairs[0], *rows]) + "\n")
    (tmp_path / "log.json").write_text((log / "log.json").read_text())
    code, shown, _ = run("learn", tmp_path, "--min-samples", 4, "--details", "--out", tmp_path / "result.json")
    assert code == 0
    assert "With 99 % confidence, nobody who is counted can gain" in said(shown)
    assert "not counted, seen in fewer than 4 rounds: p4." in said(shown)
    assert "p4 (not counted)" in shown
    assert " of 3 surely stay" in said(shown) or "surely stay" not in shown
    content = json.loads((tmp_path / "result.json").read_text())
    assert content["left_out"] == content["certificate"]["left_out"] == ["p4"]
    assert content["parameters"]["min_samples"] == 4
    assert "p4" not in content["certificate"]["per_agent"]
    code, shown, _ = run("certify", tmp_path, tmp_path / "result.json", "--min-samples", 4, "--json")
    assert json.loads(shown)["left_out"] == ["p4"]
    assert json.loads(run("certify", tmp_path, tmp_path / "result.json", "--json")[1])["left_out"] == []
    code, shown, _ = run("evaluate", tmp_path / "result.json", "--truth", log / "truth.json", "--json")
    judged = json.loads(shown)
    assert judged["counted_gap"] <= judged["gap"]
    assert judged["certificate_held"] is (judged["counted_gap"] <= content["certificate"]["gap"] + 1e-9)
    assert "gap of counted" in run("evaluate", tmp_path / "result.json", "--truth", log / "truth.json")[1]
    code, _, complaint = run("learn", tmp_path, "--min-samples", 5000)
    assert code == 2
    assert "--min-samples 5000: nobody was in so many samples" in said(complaint)


def test_learn_writes_the_contract(run, log, tmp_path):
    code, shown, _ = run("learn", log, "--json", "--seed", 2, "--delta", 0.05, "--out", tmp_path / "result.json")
    assert code == 0
    printed, kept = json.loads(shown), json.loads((tmp_path / "result.json").read_text())
    assert printed == kept
    assert kept["format"] == "coterie.result/1"
    assert kept["seed"] == 2
    assert kept["version"] == coterie.__version__
    assert kept["certificate"]["delta"] == 0.05
    assert kept["certificate"]["gap"] == max(kept["certificate"]["per_agent"].values())
    assert set(kept["gain_intervals"]) == set(kept["certificate"]["alternatives"])
    assert set(kept["certificates"]) == {"paper", "paired", "holdout"}
    assert set(kept["estimate"]) == {"gap", "potential", "utility"}
    wanted = {
        "feedback",
        "symmetric",
        "sizes",
        "noise",
        "utility_range",
        "rows",
        "sha256",
        "neutral",
        "sigma",
        "actions",
    }
    assert wanted <= set(kept["data"])
    assert {"method", "status", "starts", "sweeps", "seconds"} <= set(kept["solver"])
    members = kept["coalition_members"]
    assert all(name in members[room] for name, rooms in kept["strategy"]["actions"].items() for room in rooms)
    code, shown, _ = run("evaluate", tmp_path / "result.json", "--truth", log / "truth.json", "--json")
    assert code == 0
    assert json.loads(shown)["certificate_held"] is True


def test_same_seed_same_bytes(run, log):
    results = []
    for _ in range(2):
        content = json.loads(run("learn", log, "--json", "--seed", 7)[1])
        content["solver"].pop("seconds")
        results.append(json.dumps(content))
    assert results[0] == results[1]


def test_python_says_the_same(run, log):
    learner = coterie.StableLearner(random_state=7, noise="samples").fit(log)
    content = json.loads(run("learn", log, "--json", "--seed", 7, "--noise", "samples")[1])
    assert content["strategy"] == learner.strategy_.to_json()
    assert content["certificate"]["gap"] == learner.certificate_.gap


def test_target(run, log):
    code, shown, _ = run("learn", log, "--target-gap", 100)
    assert code == 0
    assert "The target of 100 is certified." in shown
    code, shown, _ = run("learn", log, "--certificate", "paper", "--target-gap", 0.001)
    assert code == 3
    assert "The target of 0.001 is NOT certified." in shown
    assert run("learn", log, "--certificate", "paper", "--target-gap", 0.001, "--quiet")[1] == ""


@pytest.mark.slow
def test_mixed(run, log):
    code, shown, _ = run("learn", log, "--strategy", "mixed", "--certificate", "paired")
    assert code == 0
    assert "Who goes where" in shown
    content = json.loads(run("learn", log, "--strategy", "mixed", "--solver", "paper", "--json")[1])
    if content["strategy"]["kind"] == "mixed":
        assert content["coalition_members"] is None
        assert set(content["marginals"]) == set(content["agents"])


def test_rare_sets_of_a_mixture_are_not_listed():
    options = [{"coalitions": ["x"], "probability": 0.9998}, {"coalitions": ["y"], "probability": 0.0002}]
    assert _mixture(options) == "x 100 %"
    many = [{"coalitions": [str(t)], "probability": 1 / 4000} for t in range(4000)]
    assert _mixture(many) == "4,000 sets, each under 0.1 %"


def test_names_the_guess(run, tmp_path):
    Simulation.draw(6, 3, np.random.default_rng(5), actions_per_agent=4).write_log(tmp_path / "log", 30)
    words = ["--certificate", "holdout", "--goal", "stability", "--team-size", "any"]
    guess = json.loads(run("learn", tmp_path / "log", *words, "--json")[1])["solver"]["guess"]
    shown = said(run("learn", tmp_path / "log", *words, "--details")[1])
    assert guess != "raw"
    assert "looked for as if" in said(shown)
    assert "looked for as if" not in run("learn", tmp_path / "log", "--certificate", "paired", "--details")[1]


def test_every_guess_has_its_words():
    assert set(EFFECTS) == set(LEVELS)


def test_out_of_time(run, log):
    shown = said(run("learn", log, "--solver", "pure", "--time-limit", 1e-9)[1])
    assert "Stopped early: the search was cut short by the time limit" in said(shown)
    assert "0.0 s" not in shown


def test_too_few_data(run, tmp_path):
    (tmp_path / "pairs.csv").write_text(
        "sample,coalition,agent,partner,utility\n1,x,a,b,0.5\n1,y,c,d,-0.5\n2,x,c,d,0.1\n2,y,a,b,0.2\n"
    )
    code, shown, _ = run("learn", tmp_path)
    assert code == 0
    known = "these teams are a best guess, and what is known are the ranges above. Next: form them"
    assert f"There are too few data to prove that nobody could get a better place: {known}" in said(shown)
    longer = r"(It would take up to about [\d,]+ more rounds like|More rounds in which the same)"
    assert not re.search(longer, said(shown))
    assert re.search(longer, said(run("learn", tmp_path, "--details")[1]))
    assert ("What would help most" in shown) == ("never seen together" in said(shown))


def test_few_ratings_for_people(run, tmp_path):
    """What the log was worth so far, who is a guess, no column that says nothing, nobody who left."""
    log = few_ratings(tmp_path / "log")
    words = ["learn", log, "--team-size", "4:5", "--staff", tmp_path / "staff.csv", "--unit", "stars"]
    code, shown, messages = run(*words, "--details")
    assert code == 0
    assert "By the staff table: left out, since they are not on it: Jan." in said(messages)
    content = json.loads(run(*words, "--json")[1])
    with (log / "pairs.csv").open(encoding="utf-8") as table:
        rows = list(csv.DictReader(table))
    average = sum(float(row["utility"]) for row in rows) / len(rows)
    assert content["data"]["average"] == pytest.approx(average)
    assert content["data"]["period"] == ["2026-01-05", "2026-01-19"]
    assert "Against teams of the same sizes drawn by lot (" in said(shown)
    assert content["by_lot"]["range"][0] <= content["by_lot"]["expected"] <= content["by_lot"]["range"][1]
    met = {(row["coalition"], frozenset((row["agent"], row["partner"]))) for row in rows}
    pairs = [
        (room, frozenset(pair))
        for room, members in content["coalition_members"].items()
        for pair in combinations(members, 2)
    ]
    unseen = [one for one in pairs if one not in met]
    assert (content["together"]["pairs"], content["together"]["unseen"]) == (len(pairs), len(unseen))
    assert {(room, frozenset(both)) for *both, room in content["together"]["named"]} == set(unseen)
    told = f"{len(unseen)} of the {len(pairs)} pairs in these teams were never seen together there, such as"
    assert said(shown).index(told) < said(shown).index("Who goes where")
    people = shown[shown.index("Who goes where") : shown.index("\nWarnings")]
    assert "at most" not in people
    assert LEAVER not in people
    assert "too few data to certify anything" not in shown[shown.index("Warnings") :]
    today = tmp_path / "today.csv"
    today.write_text("agent,coalition\n" + "".join(f"{name},Lab\n" for name in RATERS), encoding="utf-8")
    compared = run(*words, "--today", today)[1]
    assert "drawn by lot" not in compared
    options = compared[compared.index("Options, none") : compared.index("What changes")]
    assert said(options).endswith("Recommended: worth most; too little is known of gains by moving to count them.")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--delta", "2"], "--delta: expected a number between 0 and 1"),
        (["--out", "no/such/folder/r.json"], "there is no such folder"),
        (["--solver", "mixed"], "the solver mixed finds no pure strategies"),
        (["--certificate", "best"], "--certificate"),
        (["--time-limit", "0"], "--time-limit: expected a positive number"),
        (["--target-gap", "-1"], "--target-gap: expected a number from 0 up"),
        (["--target-gap", "nan"], "--target-gap: expected a finite number"),
        (["--seed", "-1"], "--seed: expected at least 0"),
        (["--utility-range", "0", "0.1"], "utility"),
    ],
)
def test_learn_refuses(run, log, tmp_path, monkeypatch, words, message):
    monkeypatch.chdir(tmp_path)
    code, shown, complaint = run("learn", log, *words)
    assert (code, shown) == (2, "")
    assert message in said(complaint)
    assert not list(tmp_path.iterdir())


def test_interrupted_writes_the_best_so_far(run, log, tmp_path, monkeypatch):
    asked = []

    def check(self):
        asked.append(1)
        if len(asked) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(Control, "check", check)
    code, _, complaint = run("learn", log, "--solver", "pure", "--out", tmp_path / "result.json")
    assert code == 130
    assert "interrupted" in complaint
    assert json.loads((tmp_path / "result.json").read_text())["solver"]["status"] == "interrupted"


@pytest.mark.parametrize("times", [1, 2])
def test_an_interrupt_is_answered_at_once(run, log, tmp_path, monkeypatch, times):
    """The first keeps what was found, and the report says so; the second leaves without."""
    search, told = teams.best_teams, []

    def interrupted(*given, **how):
        for _ in range(times if not told else 0):
            told.append(1)
            os.kill(os.getpid(), signal.SIGINT)
        return search(*given, **how)

    monkeypatch.setattr(teams, "best_teams", interrupted)
    before = signal.getsignal(signal.SIGINT)
    out = (tmp_path / "result.json", tmp_path / "report.html")
    code, shown, complaint = run("learn", log, "--out", out[0], "--out", out[1])
    assert code == 130
    assert said(complaint).startswith("Stopping: the best teams so far")
    assert [one.exists() for one in out] == [times == 1] * 2
    assert signal.getsignal(signal.SIGINT) == before
    if times == 1:
        assert "Stopped early: the search was cut short since somebody stopped it" in said(shown)
        assert "Stopped early" in out[1].read_text(encoding="utf-8")


class Interrupting(io.RawIOBase):
    """Where messages go, with an interrupt in the midst of the first."""

    def __init__(self):
        self.written = b""

    def writable(self):
        return True

    def write(self, piece):
        is_first, self.written = not self.written, self.written + bytes(piece)
        if is_first:
            os.kill(os.getpid(), signal.SIGINT)
        return len(piece)


@pytest.mark.parametrize("quiet", [False, True])
def test_an_interrupt_in_the_midst_of_a_message(monkeypatch, quiet):
    raw = Interrupting()
    monkeypatch.setattr(sys, "stderr", io.TextIOWrapper(io.BufferedWriter(raw), write_through=True))
    with stopping(None, quiet=quiet) as (report, stop):
        report(Progress("search", 0, 0, 0.0, 0.0))
        messages.print("a message")
        assert stop()
    told = raw.written.decode()
    assert told.startswith("a message\n")
    assert told.count("Stopping") == (not quiet)


def test_an_interrupt_under_quiet(run, log, tmp_path, monkeypatch):
    search = teams.best_teams

    def interrupted(*given, **how):
        monkeypatch.setattr(teams, "best_teams", search)
        os.kill(os.getpid(), signal.SIGINT)
        return search(*given, **how)

    monkeypatch.setattr(teams, "best_teams", interrupted)
    out = tmp_path / "result.json"
    assert run("learn", log, "--quiet", "--out", out) == (130, "", "error: interrupted\n")
    found = json.loads(out.read_text())
    assert found["solver"]["status"] == "interrupted"
    assert found["likely_gap"] is None


def test_an_interrupt_before_the_search_ends_the_command(run, log, monkeypatch):
    def interrupted(*_given, **_how):
        os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(StableLearner, "_statistics", interrupted)
    code, _, complaint = run("learn", log)
    assert (code, complaint) == (130, "error: interrupted\n")


def today(folder, actions):
    with (folder / "today.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["agent", "coalition"])
        rows.writerows((agent, room) for agent, rooms in actions.items() for room in rooms)
    return folder / "today.csv"


def test_certify_todays_teams(run, log, tmp_path):
    learnt = json.loads(run("learn", log, "--json")[1])
    teams = today(tmp_path, learnt["strategy"]["actions"])
    code, shown, _ = run("certify", log, teams, "--details")
    assert code == 0
    assert "paired certificate" in shown
    content = json.loads(run("certify", log, teams, "--json")[1])
    assert content["certificate"]["gap"] == pytest.approx(learnt["certificates"]["paired"])
    assert content["certificates"]["holdout"] is None
    assert content["solver"]["method"] == "given"
    code, _, complaint = run("certify", log, teams, "--certificate", "holdout")
    assert code == 2
    assert "--fresh" in complaint
    fresh = json.loads(run("certify", log, teams, "--certificate", "holdout", "--fresh", "--json")[1])
    assert fresh["certificate"]["method"] == "holdout"
    assert fresh["certificate"]["gap"] <= content["certificate"]["gap"] + 1e-12
    assert any("--fresh" in warning for warning in fresh["warnings"])
    assert "--certificate holdout" not in " ".join(fresh["warnings"])
    code, shown, _ = run("certify", log, teams, "--fresh", "--details")
    assert "paired certificate" in shown
    assert "--certificate holdout" in said(shown)
    assert run("certify", log, teams, "--certificate", "paper", "--target-gap", 0.001)[0] == 3


def test_certify_adds_a_set_outside_the_actions(run, log, tmp_path):
    agents = json.loads(run("learn", log, "--json")[1])["agents"]
    allowed = {tuple(sorted(s)) for s in coterie.read_log(log).action_sets}
    every = [["c1"], ["c2"], ["c3"], ["c1", "c2"], ["c1", "c3"], ["c2", "c3"], ["c1", "c2", "c3"]]
    strange = next(rooms for rooms in every if tuple(rooms) not in allowed)
    fine = list(next(iter(allowed)))
    teams = today(tmp_path, {agent: strange if agent == agents[0] else fine for agent in agents})
    code, shown, _ = run("certify", log, teams)
    assert code == 0
    assert f"{agents[0]} is where they could not be before" in said(shown)


def test_certify_refuses_unknown_and_missing_agents(run, log, tmp_path):
    code, _, complaint = run("certify", log, today(tmp_path, {"nobody": ["c1"]}))
    assert code == 2
    assert "nobody" in complaint
    code, _, complaint = run("certify", log, today(tmp_path, {"p1": ["c1"]}))
    assert code == 2
    assert "is nowhere in it; to say who is to be assigned" in complaint


def test_certify_knows_its_own_log(run, log, tmp_path):
    run("learn", log, "--out", tmp_path / "result.json", "--quiet")
    code, _, complaint = run("certify", log, tmp_path / "result.json", "--certificate", "holdout", "--fresh")
    assert code == 2
    assert "learnt from this very log" in complaint


@pytest.mark.parametrize("options", ["--since 100", "--until 60", "--utility-range -2 2", "--sizes aware"])
def test_certify_knows_its_own_log_however_it_is_read(run, log, tmp_path, options):
    run("learn", log, "--out", tmp_path / "result.json", "--quiet")
    code, _, complaint = run("certify", log, tmp_path / "result.json", "--fresh", *options.split())
    assert code == 2
    assert "learnt from rounds that are in this log too" in said(complaint)


def test_another_log_may_number_its_samples_likewise(run, log, tmp_path):
    run("learn", log, "--out", tmp_path / "result.json", "--quiet")
    other = tmp_path / "other"
    run("simulate", "--agents", 4, "--coalitions", 3, "--samples", 500, "--seed", 9, "--out", other)
    code, _, complaint = run("certify", other, tmp_path / "result.json", "--certificate", "holdout", "--fresh")
    assert (code, complaint) == (0, "")


def test_names_cannot_steer_the_terminal(run, tmp_path):
    name = "a\x1b[31mb"
    (tmp_path / "pairs.csv").write_text(
        "sample,coalition,agent,partner,utility\n"
        + "".join(f"{s},x,{name},c,0.5\n{s},y,{name},c,-1\n" for s in range(9))
    )
    code, shown, _ = run("learn", tmp_path)
    assert code == 0
    assert "\x1b" not in shown
    assert "\\x1b" in shown


def test_a_mixed_strategy_outside_too_many_actions_is_refused(run, tmp_path):
    rooms = [f"c{l}" for l in range(13)]
    (tmp_path / "pairs.csv").write_text(
        "sample,coalition,agent,partner,utility\n"
        + "".join(f"{s},{room},a,b,0.5\n" for s in range(3) for room in rooms)
    )
    options = [{"coalitions": [], "probability": 0.5}, {"coalitions": ["c1"], "probability": 0.5}]
    strategy = {"kind": "mixed", "actions": {"a": options, "b": [{"coalitions": ["c1"], "probability": 1}]}}
    (tmp_path / "strategy.json").write_text(json.dumps(strategy))
    code, _, complaint = run("certify", tmp_path, tmp_path / "strategy.json", "--actions", "any")
    assert code == 2
    assert "--actions" in complaint


def test_certify_takes_the_options_about_teams(run, log, tmp_path):
    assert run("learn", log, "--team-size", "2:3", "--out", tmp_path / "result.json")[0] == 0
    code, shown, _ = run("certify", log, tmp_path / "result.json", "--team-size", "any", "--value", "average")
    assert code == 0
    code, shown, _ = run("certify", log, tmp_path / "result.json", "--team-size", ":1")
    assert code == 0
    assert shown.startswith("This assignment breaks rules: team size of")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--max-moves", "3"], "--max-moves needs to know who is where today: --today"),
        (["--today", "today.csv", "--max-moves", "-1"], "--max-moves: expected at least 0, got -1"),
        (["--per-person", "x"], '--per-person: expected "1:2" or "1", got'),
        (["--team-size", "z=2:3"], "unknown team in --team-size 'z'"),
        (["--team-size", "8:6"], "--team-size: the largest, 6, is below the smallest, 8"),
        (["--fix", "p1"], '--fix: expected "Ada=Finance", got'),
        (["--quota", "x"], '--quota: expected "site=Paris>=1"'),
        (["--apart", "p1"], "--together, --apart: expected at least two people, got p1"),
    ],
)
def test_refusals_name_options_as_they_are_typed(run, log, tmp_path, monkeypatch, words, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "today.csv").write_text("agent,coalition\n" + "".join(f"p{i},c1\n" for i in range(1, 5)))
    code, _, told = run("learn", log, *words)
    assert code == 2
    assert message in said(told)
    assert not re.search(r"[a-z]_[a-z]", told)


def test_refusals_of_a_file_name_its_keys(run, log, tmp_path):
    (tmp_path / "rules.json").write_text('{"format": "coterie.rules/1", "per_person": "x"}')
    code, _, told = run("learn", log, "--rules", tmp_path / "rules.json")
    assert code == 2
    assert 'rules.json: per_person: expected "1:2" or "1"' in said(told)
