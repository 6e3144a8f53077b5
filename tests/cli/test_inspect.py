"""`coterie inspect` and the options that all commands on logs share."""

import csv
import json

import pytest
from rich.cells import cell_len

PAIRS = "sample,coalition,agent,partner,utility\n1,x,ada,bob,0.5\n1,x,bob,cy,0.25\n2,y,ada,cy,0.5\n"
MEMBERS = "sample,agent,coalition\n1,ada,x\n1,bob,x\n1,cy,x\n2,ada,y\n2,cy,y\n2,dan,x\n"


@pytest.fixture
def log(tmp_path):
    (tmp_path / "pairs.csv").write_text(PAIRS, encoding="utf-8")
    (tmp_path / "memberships.csv").write_text(MEMBERS, encoding="utf-8")
    return tmp_path


def said(shown):
    return " ".join(shown.replace("    > ", "> ").split())


def test_for_people(run, log):
    code, shown, messages = run("inspect", log)
    assert (code, messages) == (0, "")
    assert shown.startswith("Summary\n  2 rounds, 4 people, 2 teams\n")
    text = said(shown)
    assert "what each pair got is known, one number for both: symmetric; 3 rows in pairs" in text
    assert "3 of 6 pairs of people met, from 1 to 2 times; 3 of 4 meetings (75%) are rated" in text
    assert "x 2 1 (1), 3 (1) y 1 2 (1)" in text
    assert "- 3 of 6 pairs of people never met: nothing is known about them > bring them together" in text
    assert "- dan never met anybody > check the spelling" in text
    assert "- 1 of 4 meetings has no row in pairs" in text
    assert "never rated" not in text
    assert "- 2 pairs met only once" in text
    assert "all values are above the neutral point 0" in text
    assert "declaring the true range (--utility-range) narrows every certificate" in text
    order = [shown.index(title) for title in ("Summary", "Sizes", "Meetings", "Values", "Missing or suspicious")]
    assert order == sorted(order)


def test_numbers_have_no_digits_of_rounding(run, tmp_path):
    rows = "".join(f"{w},{p},x,2.3\n" for w in range(3) for p in "abcd")
    (tmp_path / "totals.csv").write_text("sample,agent,coalition,utility\n" + rows, encoding="utf-8")
    scale = ["--utility-range", 0, 5, "--neutral", 2]
    shown = said(run("inspect", tmp_path, "--totals", "team-averages", *scale)[1])  # 2.3 * 3 is 6.8999999999999995
    assert "what each person got in all is known, not what each pair got; both of a pair get" in shown
    assert "averages over teammates from 2.3 to 2.3" in shown
    assert "6.89" not in shown
    shown = said(run("inspect", tmp_path, "--totals", "team-scores", *scale)[1])
    assert "the score of each team is known, not what each pair got; 3 rows in totals" in shown


def test_met_and_rated_are_told_apart(run, tmp_path):
    (tmp_path / "pairs.csv").write_text("sample,coalition,agent,partner,utility\n1,x,a,b,0.5\n", encoding="utf-8")
    (tmp_path / "memberships.csv").write_text(
        "sample,agent,coalition\n" + "".join(f"1,{agent},x\n" for agent in "abcd"), encoding="utf-8"
    )
    shown = run("inspect", tmp_path)[1]
    text = said(shown)
    assert "6 of 6 pairs of people met, each 1 time; 1 of 6 meetings (17%) is rated" in text
    assert "5 pairs of people met but were never rated" in text
    assert "5 of 6 meetings have no row in pairs" in text
    assert "never met" not in text
    assert "how often: @ 1 ? met but never rated" in text
    assert "  1  a  \\ @ ? ?\n  2  b  @ \\ ? ?\n" in shown
    pairs = json.loads(run("inspect", tmp_path, "--json")[1])["pairs"]
    assert [pairs[key] for key in ("possible", "met", "rated", "meetings", "unobserved")] == [6, 6, 1, 6, 5]
    assert pairs["rarest"][:2] == [
        {"agents": ["a", "b"], "met": 1, "rated": 1},
        {"agents": ["a", "c"], "met": 1, "rated": 0},
    ]


def test_one_of_anything_is_said_in_the_singular(run, tmp_path):
    (tmp_path / "pairs.csv").write_text("sample,coalition,agent,partner,utility\n1,x,a,b,0.5\n", encoding="utf-8")
    text = said(run("inspect", tmp_path)[1])
    assert "1 round, 2 people, 1 team what each pair got is known" in text
    assert "1 row in pairs 1 of 1 pair of people met, each 1 time; every meeting is rated" in text
    assert "1 pair met only once" in text
    for wrong in ("1 rounds", "1 pairs", "1 times", "1 rows", "1 agents", "1 coalitions", "1 meetings"):
        assert wrong not in text.replace("11 ", "")


def test_odd_names_do_not_disturb_the_terminal(run, tmp_path):
    agents = ["x" * 300, "red\x1b[31m", "two\nlines", "\u5317\u4eac\u5e02", "[bold]", "\u202egnp"]
    with (tmp_path / "pairs.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["sample", "coalition", "agent", "partner", "utility"])
        writer.writerows([m, "y" * 300, agents[0], other, 0.5] for m in range(2) for other in agents[1:])
    (tmp_path / "log.json").write_text(json.dumps({"agents": [*agents, "z" * 300]}), encoding="utf-8")
    shown = run("inspect", tmp_path)[1]
    assert all(c.isprintable() or c == "\n" for c in shown)
    assert max(cell_len(line) for line in shown.splitlines()) <= 100
    assert "red\\x1b[31m" in shown
    assert "two\\nlines" in shown
    assert "zzzzzzzzzzzz...zzzzzzzzz never met anybody" in shown
    rows = [line for line in shown.splitlines() if "\\ " in line or line.endswith("\\")]
    assert len({cell_len(line) for line in rows}) == 1  # the map is aligned, wide characters or not
    content = json.loads(run("inspect", tmp_path, "--json")[1])
    assert content["agents"][:2] == agents[:2]
    assert any(finding["names"] == ["z" * 300] for finding in content["findings"])


def test_for_machines(run, log):
    code, shown, _ = run("inspect", log, "--json")
    content = json.loads(shown)
    assert code == 0
    assert content["samples"] == 2
    assert content["rows"] == 3
    assert content["agents"] == ["ada", "bob", "cy", "dan"]
    assert content["sizes"] == {"x": {"1": 1, "3": 1}, "y": {"0": 1, "2": 1}}
    assert content["pairs"]["possible"] == 6
    assert content["pairs"]["met"] == 3
    assert content["pairs"]["unobserved"] == 1
    assert content["pairs"]["matrix"][0] == [0, 1, 2, 0]
    assert content["pairs"]["rated_matrix"][0] == [0, 1, 1, 0]
    assert content["pairs"]["rarest"][0] == {"agents": ["ada", "dan"], "met": 0, "rated": 0}
    assert sum(content["utilities"]["counts"]) == 3
    assert content["utilities"]["smallest"] == 0.25


def test_options_reach_the_log(run, log):
    words = ["--pool-coalitions", "--coalitions", 3, "--utility-range", -2, 2, "--actions", "up-to:2", "--may-stay-out"]
    content = json.loads(run("inspect", log, "--json", *words, "--neutral", 0.5, "--memory-limit", "500MB")[1])
    assert content["coalitions"] == ["1", "2", "3"]
    assert content["actions"] == "up-to:2-or-none"
    assert (content["utility_range"], content["neutral"]) == ([-2, 2], 0.5)
    assert content["sizes"] == {"teams": {"1": 1, "2": 1, "3": 1}}
    listed = json.loads(run("inspect", log, "--json", "--actions", '[["x"], ["y"]]', "--asymmetric")[1])
    assert listed["actions"] == [["x"], ["y"]]
    assert listed["symmetric"] is False


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--utility-range", 0, 0.3, "--neutral", 0.1], "pairs.csv, row 2: utility 0.5 is outside"),
        (["--actions", "[["], "--actions: is not JSON"),
        (["--actions", '[["z"]]'], "unknown coalition in --actions 'z'"),
        (["--columns", "utility"], "ours=theirs"),
    ],
)
def test_bad_input_is_exit_code_2(run, log, words, expected):
    code, shown, messages = run("inspect", log, *words)
    assert (code, shown) == (2, "")
    assert expected in messages


HEADER = PAIRS.splitlines()[0] + "\n"


@pytest.mark.parametrize(
    ("text", "words", "expected"),
    [
        (HEADER + "1,x,a,b,1\n2,x,a,b,5\n", [], "such as --utility-range 1 5 --neutral 3"),
        (
            HEADER + "1,x,a,b,1\n1,x,b,a,0\n",
            [],
            "say --asymmetric if agents value each other differently, or --symmetrize",
        ),
        (HEADER.replace("utility", "points") + "1,x,a,b,1\n", [], "(--columns utility=NAME says which one is meant)"),
        (PAIRS, ["--utility-range", 1, 5], "for scores from 1 to 5 say --utility-range 1 5 --neutral 3"),
        (PAIRS, ["--utility-range", 5, 1], "error: --utility-range: expected low < high"),
        (PAIRS, ["--asymmetric", "--symmetrize"], "--symmetrize makes a symmetric log, --asymmetric asks for another"),
        (
            PAIRS,
            ["--coalitions", 2],
            "there are as many as names: add --pool-coalitions if they mean nothing",
        ),
        (
            PAIRS,
            ["--pool-coalitions", "--actions", '[["x"]]'],
            "with --pool-coalitions old coalition names mean nothing",
        ),
        (PAIRS, ["--columns", "utility=Scroe"], "--columns: utility is said to be 'Scroe'"),
        (PAIRS, ["--memory-limit", "much"], "--memory-limit: expected something like 2GB"),
        (PAIRS, ["--feedback", "full"], "--feedback"),
    ],
)
def test_refusals_name_options_of_the_command_line(run, tmp_path, text, words, expected):
    (tmp_path / "pairs.csv").write_text(text, encoding="utf-8")
    code, shown, messages = run("inspect", tmp_path, *words)
    assert (code, shown) == (2, "")
    assert expected in messages


def test_an_address_needs_spark(run):
    assert "s3://bucket/log: addresses are read by Spark; say --engine spark" in run("inspect", "s3://bucket/log")[2]


def test_many_agents_are_listed_and_bandit_logs_are_shown(run, tmp_path):
    members = "".join(f"{m},a{i},x\n" for m in range(3) for i in range(45) if (i + m) % 3)
    totals = "".join(f"{m},a{i},0\n" for m in range(3) for i in range(45) if (i + m) % 3)
    (tmp_path / "memberships.csv").write_text("sample,agent,coalition\n" + members, encoding="utf-8")
    (tmp_path / "totals.csv").write_text("sample,agent,utility\n" + totals, encoding="utf-8")
    code, shown, _ = run("inspect", tmp_path)
    assert code == 0
    assert "not what each pair got" in shown
    assert "The 20 pairs that met least often" in shown
    assert "  met           pairs\n  once            675  68%\n  2 to 9 times    315  32%\n" in shown
    assert "all 90 are 0" in shown
    assert "every value is 0" in shown
    assert "x always had the same size" in shown
    assert "rated" not in shown


def test_one_sample_and_unused_names(run, tmp_path):
    (tmp_path / "pairs.csv").write_text(PAIRS.splitlines()[0] + "\n1,x,a,b,0\n", encoding="utf-8")
    (tmp_path / "log.json").write_text('{"agents": ["zoe"], "coalitions": ["x", "y"]}', encoding="utf-8")
    shown = said(run("inspect", tmp_path)[1])
    for expected in (
        "one round only",
        "nobody ever joined y",
        "zoe never met anybody",
        "made out from the pairs",
        "not listed in",
    ):
        assert expected in shown
