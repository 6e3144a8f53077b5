"""`coterie report`, and the files that `learn` and `certify` write."""

import json
import os
import socket
import zipfile
from pathlib import Path

import pytest

import coterie
from coterie.cli import targets
from coterie.learn.glossary import GLOSSARY, glossary
from report_logs import made


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    return made(tmp_path_factory.mktemp("cli") / "log", ["Ada", "Bo", "Cy", "Dora"], ["x", "y"], samples=40)


@pytest.fixture(scope="module")
def result(log):
    learner = coterie.StableLearner(noise="pairs").fit(log)
    path = log.parent / "result.json"
    learner.result_.save(path)
    return path


def said(text):
    return " ".join(text.split())


@pytest.mark.slow
def test_every_kind_of_file_is_written_and_said(run, log, tmp_path):
    names = ["r.json", "teams.csv", "teams.xlsx", "r.html"]
    words = [word for name in names for word in ("--out", tmp_path / name)]
    code, shown, told = run("learn", log, "--unit", "stars", *words, "--report", tmp_path / "other.html")
    assert code == 0
    for name in (*names, "other.html"):
        assert f"{name} (" in said(told)
    assert "stars per teammate" in said(shown)
    assert json.loads((tmp_path / "r.json").read_text())["unit"] == "stars"
    assert (tmp_path / "r.html").read_text() == (tmp_path / "other.html").read_text()
    assert "What if" in (tmp_path / "r.html").read_text()
    assert zipfile.is_zipfile(tmp_path / "teams.xlsx")
    code, _, told = run("certify", log, tmp_path / "teams.csv", "--out", tmp_path / "c.html", "--quiet")
    assert (code, told) == (0, "")
    assert 'id="ask"' in (tmp_path / "c.html").read_text()


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("r.pdf", "goes by the extension, expected .json"),
        ("none/r.json", "there is no such folder"),
        (".", "is a folder"),
        ("socket.json", "is a disk or a socket"),
    ],
)
def test_targets_are_looked_at_before_the_work(run, tmp_path, monkeypatch, target, message):
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as made:
        made.bind("socket.json")
    monkeypatch.setattr("coterie.learn.learner.StableLearner.fit", lambda *_: pytest.fail("worked"))
    (tmp_path / "pairs.csv").write_text("sample,coalition,agent,partner,utility\n1,x,a,b,0.5\n")
    code, _, complaint = run("learn", "pairs.csv", "--out", target)
    assert code == 2
    assert message in said(complaint)
    code, _, complaint = run("learn", "pairs.csv", "--report", "r.csv")
    assert (code, ".html (the report)" in said(complaint)) == (2, True)
    code, _, complaint = run("learn", "pairs.csv", "--out", "a.csv", "--out", "./a.csv")
    assert (code, "asked for twice" in said(complaint)) == (2, True)


def test_a_folder_that_cannot_be_written_to(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(coterie.InputError, match="cannot be written to"):
        targets.targets_of([tmp_path / "r.json"])


def test_a_result_that_cannot_be_written_goes_elsewhere(run, result, tmp_path, monkeypatch):
    kept = Path.replace

    def full(self, target):
        if Path(target).name == "teams.csv":
            raise OSError(28, "No space left on device")
        return kept(self, target)

    monkeypatch.setattr(Path, "replace", full)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    code, _, told = run("report", result, "--out", tmp_path / "teams.csv", "--out", tmp_path / "t.xlsx")
    assert code == 1
    assert "No space left on device" in said(told)
    where = told.split("it is in ")[1].split(" instead")[0].replace("\n", "")
    assert Path(where).read_text().startswith("agent,coalition")
    assert not (tmp_path / "teams.csv").exists()
    assert (tmp_path / "t.xlsx").exists()
    assert "Wrote" in told
    assert not list(tmp_path.glob(".teams*"))


def test_report_with_and_without_the_log(run, log, result, tmp_path):
    code, _, told = run("report", result, "--out", tmp_path / "r.html")
    assert code == 0
    assert "--log LOG" in (tmp_path / "r.html").read_text()
    assert "r.html (the report)" in said(told)
    assert run("report", result, "--log", log, "--out", tmp_path / "r.html")[0] == 0
    assert 'id="ask"' in (tmp_path / "r.html").read_text()
    other = made(tmp_path / "other", ["Ada", "Bo", "Cy", "Dora"], ["x", "y"], samples=20, seed=5)
    code, _, complaint = run("report", result, "--log", other, "--out", tmp_path / "no.html")
    assert (code, (tmp_path / "no.html").exists()) == (2, False)
    assert "is not the log that the result is about" in said(complaint)
    code, _, complaint = run("report", result)
    assert (code, "--out report.html" in said(complaint)) == (2, True)


def test_one_persons_card(run, log, result):
    code, shown, _ = run("report", result, "--explain", "Ada")
    assert code == 0
    assert said(shown).startswith("Ada is expected to get")
    assert "Who goes where" not in shown
    assert "What each team would be worth to them" in shown
    code, again, _ = run("certify", log, result, "--explain", "Ada", "--noise", "pairs")
    assert (code, again.splitlines()[-1]) == (0, shown.splitlines()[-1])
    for words in (["report", result], ["learn", log]):
        code, _, complaint = run(*words, "--explain", "Nobody")
        assert (code, "unknown person in --explain" in said(complaint)) == (2, True)


def test_words_that_not_everybody_knows_are_explained(run, log):
    shown = run("learn", log, "--details")[1]
    told = shown[: shown.index("\nWords\n")]
    explained = {line.split(":")[0].strip() for line in shown[shown.index("\nWords\n") :].splitlines() if ":" in line}
    assert {word for word, _ in glossary(told)} <= explained
    assert "certificate" in explained
    assert not {word for word in GLOSSARY if word not in told.lower()} & explained


def test_learn_and_certify_say_why_they_differ(run, log, tmp_path):
    words = ["--noise", "pairs", "--certificate", "holdout", "--out", tmp_path / "r.json"]
    shown = said(run("learn", log, *words, "--details")[1])
    paired = json.loads((tmp_path / "r.json").read_text())["certificates"]["paired"]
    assert f"Of the same teams certify and coverage say {paired:.3g}" in shown
    shown = said(run("certify", log, tmp_path / "r.json", "--noise", "pairs")[1])
    assert "learn may prove a smaller limit" in shown


def test_stages_are_told_in_words(log, monkeypatch, capsys):
    from rich.console import Console

    from coterie.cli import learn, output
    from coterie.solve.control import Progress

    told = [learn.stage(Progress(method, 1, 2, -0.25, 0.0)) for method in ("teams", "pure", "second pass")]
    assert told[0] == "Looking for teams, expected so far 0.25 per person"
    assert told[1].startswith("Looking for teams that nobody wants to leave")
    assert "again" in told[2]
    stages = []
    coterie.StableLearner(noise="pairs", progress=lambda state: stages.append(state.method)).fit(log)
    told = [name for name in dict.fromkeys(stages) if name in learn.STAGES]
    assert sorted(told) == ["beliefs", "checks", "search"]
    assert told[-1] == "checks"
    monkeypatch.setattr(output, "messages", Console(force_terminal=True, width=80))
    with output.at_work("Reading the log"):
        pass
    assert "Reading the log" in capsys.readouterr().out
    with output.at_work("Reading the log", quiet=True):
        pass
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("given", "found"), [("Ann Lee", "Ann Lee"), ("ann", "Ann Lee"), ("dor", "Dora"), ("Anna", "Anna Poe")]
)
def test_somebody_is_found_by_the_beginning_of_a_name(given, found):
    assert targets.whom(given, ["Ann Lee", "Anna Poe", "Dora", "Bo One", "Bo Two"]) == found


@pytest.mark.parametrize(
    ("given", "message"), [("bo", "could be Bo One, Bo Two"), ("lee", "unknown person"), ("", "unknown person")]
)
def test_who_else_it_could_be_is_named(given, message):
    with pytest.raises(coterie.InputError, match=message):
        targets.whom(given, ["Ann Lee", "Bo One", "Bo Two"])


def test_a_page_has_a_title_and_a_date_of_ones_own(run, result, tmp_path):
    words = ("--title", "Teams <for> spring", "--date", "3 March")
    code, _, _ = run("report", result, "--out", tmp_path / "r.html", *words, "--out", tmp_path / "r.json")
    page = (tmp_path / "r.html").read_text()
    assert code == 0
    assert "<title>Teams &lt;for&gt; spring</title>" in page
    assert "<h1>Teams &lt;for&gt; spring</h1>" in page
    assert '<p class="hint">3 March</p>' in page
    again = coterie.Result.load(tmp_path / "r.json")
    assert (again.title, again.date) == ("Teams <for> spring", "3 March")


def test_an_announcement_holds_the_teams_alone(run, result, tmp_path):
    code, _, told = run("report", result, "--announce", tmp_path / "teams.html", "--title", "Spring")
    assert code == 0, told
    assert "teams.html (teams alone, to send to everybody)" in said(told)
    page = (tmp_path / "teams.html").read_text()
    assert "<h1>Spring</h1>" in page
    assert "best alternative" not in page
    code, _, told = run("report", result, "--announce", tmp_path / "t.csv")
    assert (code, "expected .html (teams alone, to send to everybody)" in said(told)) == (2, True)
    code, _, told = run("report", result, "--out", tmp_path / "t.html", "--announce", tmp_path / "t.html")
    assert (code, "is asked for twice" in said(told)) == (2, True)


def test_chances_are_not_announced_and_nothing_is_lost(run, log, result, tmp_path):
    code, _, told = run("learn", log, "--strategy", "mixed", "--announce", tmp_path / "t.html")
    assert (code, "--announce tells who is where" in said(told)) == (2, True)
    content = json.loads(Path(result).read_text())
    strategy = content["strategy"] if "actions" in content["strategy"] else {"actions": content["strategy"]}
    first = next(iter(strategy["actions"]))
    teams = content["strategy"].get("coalitions", ["x", "y"])
    strategy["actions"][first] = [
        {"coalitions": [], "probability": 0.5}, {"coalitions": [teams[0]], "probability": 0.5},
    ]  # fmt: skip
    (tmp_path / "mixed.json").write_text(json.dumps({"actions": strategy["actions"]}))
    code, out, told = run(
        "certify", log, tmp_path / "mixed.json", "--announce", tmp_path / "t.html", "--out", tmp_path / "r.json"
    )
    assert (code, "no fixed teams to announce" in said(told)) == (1, True)
    assert "Who goes where" in out
    assert (tmp_path / "r.json").exists()
    assert not (tmp_path / "t.html").exists()
    code, _, told = run("report", tmp_path / "r.json", "--announce", tmp_path / "t.html")
    assert (code, "people draw between" in said(told)) == (2, True)


def test_a_folder_is_no_result(run, log, result, tmp_path):
    code, _, told = run("report", log, "--out", tmp_path / "r.html")
    assert (
        code,
        "is a folder, expected a result file; if it is a log, learn from it first, with --out result.json"
        in said(told),
    ) == (2, True)
    code, _, told = run("report", log.parent, "--out", tmp_path / "r.html")
    assert (code, said(told).endswith(f"in it there is {result}")) == (2, True)


def test_another_log_is_called_another_log(run, result, tmp_path):
    """Also where its numbers do not suit the scale of the result."""
    other = tmp_path / "other"
    other.mkdir()
    rows = ["sample,coalition,agent,partner,utility", *(f"{m},x,Eve,Flo,{90 + m}" for m in range(5))]
    (other / "pairs.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    (other / "log.json").write_text('{"format": "coterie.log/1", "utility_range": [0, 100]}', encoding="utf-8")
    code, _, told = run("report", result, "--log", other, "--out", tmp_path / "r.html")
    message = "is not the log that the result is about, or was read otherwise (Eve, Flo are not in the result); give"
    assert (code, message in said(told)) == (2, True)


def test_the_same_log_read_otherwise_may_be_the_one(run, tmp_path):
    """Names that were cleaned, people who came before the first sample: the options of the result are all it takes."""
    log = tmp_path / "log"
    log.mkdir()
    rows = ["0,x,Old,Bo,1", *(f"{m},{'xy'[m % 2]},{'ADA' if m == 3 else 'Ada'},Bo,{3 + m % 3}" for m in range(1, 9))]
    (log / "pairs.csv").write_text("\n".join(["sample,coalition,agent,partner,utility", *rows, ""]), encoding="utf-8")
    scale, read = ("--utility-range", "1", "5", "--neutral", "3"), ("--clean-names", "--since", "1")
    result, page = tmp_path / "result.json", tmp_path / "r.html"
    assert run("learn", log, *scale, *read, "--out", result)[0] == 0
    code, _, told = run("report", result, "--log", log, "--out", page)
    message = "is not the log that the result is about, or was read otherwise (ADA is not in the result); give the"
    assert (code, message in said(told)) == (2, True)
    # Where the scale is wrong, that is what is said: nobody is unknown who came before the first sample.
    (log / "log.json").write_text('{"format": "coterie.log/1", "utility_range": [1, 5]}', encoding="utf-8")
    code, _, told = run("report", result, "--log", log, "--clean-names", "--utility-range", "0", "1", "--out", page)
    assert (code, "is outside the utility range [0, 1]" in said(told)) == (2, True)
    assert "not the log" not in told
    assert run("report", result, "--log", log, "--clean-names", "--out", page)[0] == 0
