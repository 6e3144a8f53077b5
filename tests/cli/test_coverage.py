"""`coterie coverage`: a verdict first, then numbers, the same under --json."""

import json

import numpy as np
import pytest

import coterie
from coterie.learn.summary import gains_elsewhere

MEMBERS = """sample,agent,coalition
1,ada,x
1,bob,x
1,cy,y
2,ada,y
2,bob,y
2,cy,y
3,bob,x
3,cy,x
3,ada,y
"""
PAIRS = """sample,coalition,agent,partner,utility
1,x,ada,bob,0.5
2,y,ada,bob,0.1
2,y,ada,cy,-0.2
2,y,bob,cy,0
3,x,bob,cy,0.25
"""
TOTALS = "sample,agent,utility\n" + "".join(f"{m},{agent},0\n" for m in (1, 2, 3) for agent in ("ada", "bob", "cy"))
TEAMS = "agent,coalition\nada,x\nbob,x\ncy,y\n"


@pytest.fixture
def log(tmp_path):
    folder = tmp_path / "log"
    folder.mkdir()
    (folder / "memberships.csv").write_text(MEMBERS, encoding="utf-8")
    (folder / "pairs.csv").write_text(PAIRS, encoding="utf-8")
    (tmp_path / "teams.csv").write_text(TEAMS, encoding="utf-8")
    return folder


def said(shown):
    return " ".join(shown.split())


def test_all_assignments(run, log):
    code, shown, messages = run("coverage", log, "--details")
    assert (code, messages) == (0, "")
    plain = run("coverage", log)[1]
    assert "Assumption" not in plain
    assert "coefficient" not in plain
    assert set(plain.splitlines()) < set(shown.splitlines())
    text = said(shown)
    assert text.startswith(
        "Not enough for every assignment that the actions allow: ada and cy were never in x together."
    )
    assert "pairs that a move can bring together NO inf" in text
    (row,) = (line for line in shown.splitlines() if "can bring together" in line and " NO " in line)
    assert row.endswith("ada, cy in x")  # never seen is scarcer than any pair that was
    assert "Never seen together (1 pair) pair team needed by ada cy x some assignment" in text
    assert "x 3 1 some assignment" in text
    assert "This matters only if outcomes depend on the size" in text
    assert "1 ada \\ @ 0" in text
    assert "how often: 0 never @ 1" in text


def test_an_assignment(run, log):
    code, shown, _ = run("coverage", log, "--strategy", log.parent / "teams.csv")
    text = said(shown)
    assert code == 0
    # Only cy could bring ada and cy together in x, by moving there.
    assert "Not enough for this assignment: cy and ada were never in x together." in text
    assert "cy ada x cy moving to x" in text
    away = log.parent / "away.csv"
    away.write_text("agent,coalition\nada,y\nbob,y\ncy,y\n", encoding="utf-8")
    enough = run("coverage", log, "--strategy", away)[1]
    assert enough.startswith("Enough for this assignment: every pair that a move can bring together has met")
    assert "Never seen together" not in enough


def test_for_machines(run, log):
    words = ["coverage", log, "--strategy", log.parent / "teams.csv", "--collect", 5, "--json"]
    code, shown, _ = run(*words)
    content = json.loads(shown)
    assert code == 0
    assert (content["samples"], content["pairs_unseen"], content["assumption_1"]) == (3, 1, False)
    assert (content["c_pair"], content["c_size"], content["c_act"], content["assumption_2"]) == (
        "inf",
        "inf",
        None,
        None,
    )
    assert content["enough"] is False
    assert content["uncovered_pairs"][0]["deviation"] == ["x"]
    assert content["verdict"] in said(run(*words[:-1])[1])
    plan = content["collect"]
    assert sum(one["times"] for one in plan["plan"]) == plan["samples"] == 5
    assert {"agent", "partner", "coalition", "size", "seen", "planned", "worth"} == set(plan["pairs"][0])
    assert plan["predicted"] <= plan["certificate_now"] == content["certificate"]
    assert json.loads(run(*words)[1]) == content  # the same seed, the same plan


def test_what_to_collect(run, log):
    code, shown, _ = run("coverage", log, "--strategy", log.parent / "teams.csv", "--collect", 60)
    text = said(shown)
    assert code == 0
    assert text.startswith("What to collect next (60 more rounds) Who should work together, the most telling first")
    assert "What that is expected to prove 60 more rounds by this plan are expected to prove that" in text
    assert "by moving, with 99 % confidence; the log proves " in text
    assert "the most telling first pair team seen planned worth of one more ada" in text
    assert "ada cy x 0" in text
    assert "Who should work where - " in text
    assert "certify NEW STRATEGY --certificate holdout --fresh" in text
    alone = said(run("coverage", log, "--strategy", log.parent / "teams.csv", "--collect", 60, "--fresh")[1])
    assert "without any data" in alone
    assert "The plan looked at utilities" not in alone


def test_what_proves_hardly_more_helps_the_guess(run, log):
    """Said, with what would prove more, and who should work together so that the guess gets better."""
    words = ["coverage", log, "--strategy", log.parent / "teams.csv", "--collect", 4]
    text = said(run(*words)[1])
    assert "4 more rounds would prove nothing either, or next to nothing, whoever works with whom." in text
    assert "These rounds can tell better which teams are good: let those work together" in text
    assert "Who should work where - " in text
    assert "Who should work together, the most telling first pair team seen together there" in text
    assert "What would prove more - more rounds: 40 more are expected to prove that nobody can gain more than" in text
    for jargon in ("certif", "Assumption", " gap"):
        assert jargon not in text
    content = json.loads(run(*words, "--json")[1])
    assert content["worthwhile"] is False
    assert content["would_help"]
    assert content["buys"] in text
    assert sum(one["times"] for one in content["for_the_guess"]["plan"]) == 4
    assert {"ada", "bob"} == {content["for_the_guess"]["pairs"][0][who] for who in ("agent", "partner")}


def test_pairs_that_never_met_are_listed_unless_others_are(run, log, monkeypatch):
    words = ["coverage", log, "--strategy", log.parent / "teams.csv", "--collect", 4]
    assert "Never seen together" not in run(*words)[1]
    assert "Never seen together" in run(*words, "--details")[1]
    monkeypatch.setattr("coterie.collect.forming.CELLS", 0)  # as of many people
    text = said(run(*words)[1])
    assert "form them, and record how they do." in text
    assert "Who should work together" not in text
    assert "Never seen together" in text


@pytest.fixture(scope="module")
def event(tmp_path_factory):
    """Scores of teams whose names mean nothing: d and e were never together."""
    folder = tmp_path_factory.mktemp("event") / "log"
    folder.mkdir()
    teams = [("abc", "def"), ("abd", "cef"), ("abe", "cdf"), ("acd", "bef"), ("ace", "bdf"), ("adf", "bce")]
    teams = [tuple("".join(sorted(one)) for one in pair) for pair in teams]
    rows = [
        f"{m},t{m}{q},{';'.join(team)},{50 + 3 * m + 7 * q}"
        for m, both in enumerate(teams)
        for q, team in enumerate(both)
        if not {"d", "e"} <= set(team)
    ]
    (folder / "totals.csv").write_text("\n".join(["sample,coalition,members,utility", *rows, ""]), encoding="utf-8")
    described = {
        "format": "coterie.log/1", "separators": ";", "totals": "team-score-averages", "pool_coalitions": True,
        "utility_range": [0, 100], "neutral": 60, "coalitions": 2, "value": "average",
    }  # fmt: skip
    (folder / "log.json").write_text(json.dumps(described), encoding="utf-8")
    places = "".join(f"{who},{1 + (who in 'def')}\n" for who in "abcdef")
    (folder.parent / "teams.csv").write_text("agent,coalition\n" + places, encoding="utf-8")
    return folder


def test_scores_of_teams_are_planned_for(run, event):
    words = ["coverage", event, "--strategy", event.parent / "teams.csv", "--team-size", "3"]
    code, shown, _ = run(*words, "--collect", 2)
    text = said(shown)
    assert code == 0
    assert text.startswith("What to collect next (2 more rounds) These rounds can tell better what these teams")
    assert "Not enough for this assignment: d and e were never together." in text
    assert "Nothing is proven of these teams yet: there are too few data, so they are a guess." in text
    assert "What more rounds would prove is not worked out for scores of teams." in text
    assert "Who should work where - " in text
    assert ": team 1: " in text
    assert "Who should work where - 2 times: team 1: a, b, c; team 2:" in text
    assert "Who should work together, the most telling first pair seen together d e never" in text
    plan = json.loads(run(*words, "--collect", 2, "--json")[1])["for_the_guess"]
    assert (plan["is_the_assignment"], [one["times"] for one in plan["plan"]]) == (True, [2])
    assert {one["coalition"] for one in plan["pairs"]} == {"any"}
    for one in plan["plan"]:
        assert sorted(map(len, one["actions"].values())) == [1] * 6


def test_interchangeable_teams_are_no_places(run, event):
    words = ["coverage", event, "--strategy", event.parent / "teams.csv", "--team-size", "3"]
    text = said(run(*words)[1])
    assert "d and e were never together." in text
    assert "Never seen together (1 pair) pair needed by d e the assignment itself" in text
    assert "in 2" not in text
    assert "d, e" in said(run(*words, "--details")[1])
    assert "a team with" in said(run(*words, "--details")[1])


def test_targets_that_nobody_reaches(run, log):
    code, shown, _ = run("coverage", log, "--strategy", log.parent / "teams.csv", "--target-gap", 0)
    text = said(shown)
    assert code == 3
    assert "no sensible number of rounds is expected to reach it: 100 more rounds of the kind that helps" in text
    assert "What would prove more" in text
    assert "Who should work where" not in text


def test_too_few_samples_to_tell_whether_pairs_are_independent(run, log):
    """Plans and their certificates take it so, and say so; `--noise samples` certifies without that."""
    words = ["coverage", log, "--strategy", log.parent / "teams.csv", "--collect", 4, "--json"]
    found = {}
    for noise in ("auto", "pairs", "samples"):
        _, shown, messages = run(*words, "--noise", noise)
        found[noise] = json.loads(shown)["certificate"]
        assert ("too few data to tell whether outcomes of one round go together" in said(messages)) == (noise == "auto")
    assert found["auto"] == found["pairs"] <= found["samples"]
    assert "too few data" not in run(*words[:4])[2]  # nothing but certificates depends on it


def test_agents_who_are_left_out(run, log):
    """Whom a certificate is not about, nobody plans for."""
    with (log / "memberships.csv").open("a", encoding="utf-8") as file:
        file.write("4,dan,x\n4,ada,x\n4,bob,y\n4,cy,y\n")
    with (log / "pairs.csv").open("a", encoding="utf-8") as file:
        file.write("4,x,ada,dan,0.9\n4,y,bob,cy,0.1\n")
    teams = log.parent / "four.csv"
    teams.write_text(TEAMS + "dan,y\n", encoding="utf-8")
    words = ["coverage", log, "--strategy", teams, "--collect", 20, "--actions", "one", "--json"]
    everybody, some = (json.loads(run(*words, "--min-samples", least)[1]) for least in (0, 2))
    assert some["certificate"] <= everybody["certificate"]

    def moving(content):
        return {agent for need in content["collect"]["pairs"] for agent in (need["agent"], need["partner"])}

    assert "dan" in moving(everybody)
    worth = {(need["agent"], need["partner"], need["coalition"]) for need in some["collect"]["pairs"]}
    assert not any({"dan"} & set(pair[:2]) and pair[2] == "x" for pair in worth)  # dan in x is her move alone
    assert "nobody was in so many samples" in run(*words, "--min-samples", 99)[2].replace("\n", " ")


def test_targets(run, log):
    words = ["coverage", log, "--strategy", log.parent / "teams.csv", "--target-gap"]
    code, shown, _ = run(*words, 1.5)
    assert code == 3
    assert "Not enough for a limit of 1.5: the log proves that nobody can gain more than" in said(shown)
    assert "more rounds of the kind below are expected to reach it" in said(shown)
    code, shown, _ = run(*words, 50)
    assert code == 0
    assert "Enough for a limit of 50: the log proves that nobody can gain more than" in said(shown)


def test_totals(run, log):
    (log / "pairs.csv").unlink()
    (log / "totals.csv").write_text(TOTALS, encoding="utf-8")
    content = json.loads(run("coverage", log, "--strategy", log.parent / "teams.csv", "--json")[1])
    assert content["assumption_2"] is False
    assert content["c_act"] == 0
    assert content["worst_direction"]["agent"] == "cy"
    assert "what totals tell (Assumption 2) NO 0" in said(
        run("coverage", log, "--strategy", log.parent / "teams.csv", "--details")[1]
    )
    words = ["coverage", log, "--strategy", log.parent / "teams.csv", "--collect", 3]
    code, shown, _ = run(*words)
    assert code == 0
    assert "What to collect next (3 more rounds)" in shown
    code, _, messages = run(*words, "--sizes", "aware")
    assert code == 2
    assert "totals whose sizes are ignored" in messages


def test_totals_that_hide_a_difference(run, tmp_path):
    members = "".join(f"{m},{agent},{l}\n" for m in (1, 2) for agent in "ab" for l in "xy")
    (tmp_path / "memberships.csv").write_text("sample,agent,coalition\n" + members, encoding="utf-8")
    totals = "sample,agent,utility\n1,a,0\n1,b,0\n2,a,0\n2,b,0\n"
    (tmp_path / "totals.csv").write_text(totals, encoding="utf-8")
    shown = said(run("coverage", tmp_path, "--actions", "any")[1])
    assert "Not enough for every assignment that the actions allow: the totals of a never tell" in shown
    assert "+1 x b in x -1 x b in y" in shown


def test_sizes_aware(run, log):
    shown = said(run("coverage", log, "--sizes", "aware")[1])
    assert "were never in x together when it had 3 members" in shown
    assert "This matters only" not in shown


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--collect", 5], "need --strategy"),
        (["--target-gap", 0.1], "need --strategy"),
        (["--strategy", "none.csv"], "none.csv: cannot be read"),
        (["--delta", 2], "--delta: expected a number between 0 and 1"),
        (["--collect", 0], "Invalid value for '--collect': expected at least 1"),
        (["--strategy", "none.csv", "--target-gap", -1], "--target-gap: expected a number from 0 up"),
    ],
)
def test_bad_usage(run, log, words, expected):
    code, shown, messages = run("coverage", log, *words)
    assert (code, shown) == (2, "")
    assert expected in messages


def test_unknown_and_missing_agents_are_refused(run, log):
    teams = log.parent / "other.csv"
    for content, expected in (("zoe,x\n", "unknown agent"), ("ada,x\n", "'bob' is nowhere in it")):
        teams.write_text("agent,coalition\n" + content, encoding="utf-8")
        code, _, messages = run("coverage", log, "--strategy", teams)
        assert code == 2
        assert expected in messages


def test_a_set_outside_the_actions_is_added_with_a_warning(run, log):
    teams = log.parent / "both.csv"
    teams.write_text(TEAMS + "ada,y\n", encoding="utf-8")
    code, _, messages = run("coverage", log, "--strategy", teams)
    assert code == 0
    assert "ada is where they could not be before (x, y), which is taken as possible" in said(messages)


def test_samples_that_move_together(run, tmp_path):
    """They count in what is certified, by themselves or when told; plans take pairs to be independent, and say so."""
    folder = tmp_path / "days"
    assert (
        run("simulate", "--agents", 4, "--coalitions", 2, "--samples", 300, "--noise", "samples", "--out", folder)[0]
        == 0
    )
    teams = tmp_path / "teams.csv"
    teams.write_text("agent,coalition\np1,c1\np2,c1\np3,c2\np4,c2\n", encoding="utf-8")
    found = {}
    for noise in ("auto", "pairs", "samples"):
        _, shown, messages = run(
            "coverage", folder, "--strategy", teams, "--collect", 5, "--noise", noise, "--actions", "any", "--json"
        )
        found[noise] = json.loads(shown)["certificate"]
        assert ("what is planned does not" in said(messages)) == (noise != "pairs")
    assert found["auto"] == found["samples"] > found["pairs"]
    asked = ("coverage", folder, "--strategy", teams, "--noise", "samples", "--actions", "any")
    _, shown, _ = run(*asked, "--target-gap", 0.001)
    assert "more round" not in shown  # what it takes is not known
    _, shown, _ = run(*asked, "--collect", 5)
    assert "as if outcomes of one round did not go together" in said(shown)


@pytest.fixture(scope="module")
def firm(tmp_path_factory):
    """A firm of eight in two areas, its teams of today, and a staff in which one has left and one is new."""
    from coterie.simulate import FirmPlan, rated_firm

    folder = tmp_path_factory.mktemp("firm")
    made = rated_firm(0, FirmPlan(n_agents=8, n_coalitions=2, months=24, sizes=(3, 5)))
    made.write_log(folder / "log")
    rows = [f"{agent},{room}\n" for agent, rooms in made.today.actions.items() for room in rooms]
    (folder / "today.csv").write_text("agent,coalition\n" + "".join(rows), encoding="utf-8")
    (folder / "new.csv").write_text("agent,coalition\n" + "".join(rows[1:]) + "Zoe,c1\n", encoding="utf-8")
    (folder / "staff.csv").write_text("agent\n" + "\n".join([*made.today.agents[1:], "Zoe"]), encoding="utf-8")
    return folder, made


def test_plans_obey_rules_and_today(run, firm):
    folder, made = firm
    sizes = {name: len(team) for name, team in made.today.members().items()}
    words = [
        "coverage", folder / "log", "--strategy", folder / "today.csv", "--collect", 300, "--noise", "pairs",
        "--value", "average", "--today", folder / "today.csv", "--keep-sizes", "--change-at-most", 2,
    ]  # fmt: skip
    code, shown, _ = run(*words)
    text = said(shown)
    assert code == 0
    assert "300 more rounds by this plan are expected to prove that nobody can gain more than" in text
    assert "by moving or by a swap that both gain from, with 99 % confidence; the log proves" in text
    assert "expected if all stay" in text
    assert "expected at random" in text
    assert "(assignments that are allowed)" in text
    content = json.loads(run(*words, "--json")[1])
    assert content["worthwhile"] is True
    assert content["buys"] in text
    for one in content["collect"]["plan"]:
        assert one["moves"] <= 2
        for name, size in sizes.items():
            assert sum(name in rooms for rooms in one["actions"].values()) == size
    certified = json.loads(
        run(
            "certify", folder / "log", folder / "today.csv", "--noise", "pairs", "--value", "average", "--json",
            *(word for name, size in sizes.items() for word in ("--team-size", f"{name}={size}")),
        )[1]
    )  # fmt: skip
    assert content["certificate"] == certified["certificate"]["gap"]


def test_newcomers_and_leavers(run, firm):
    folder, made = firm
    words = [
        "coverage", folder / "log", "--strategy", folder / "new.csv", "--collect", 200, "--noise", "pairs",
        "--value", "average", "--staff", folder / "staff.csv", "--team-size", "3:5",
    ]  # fmt: skip
    code, shown, messages = run(*words)
    assert (code, messages) == (0, "")
    assert "Newcomers first: nothing is known of Zoe yet" in said(shown)
    content = json.loads(run(*words, "--json")[1])
    assert content["collect"]["newcomers"] == ["Zoe"]
    assert "Zoe" in content["agents"]
    for one in content["collect"]["plan"]:
        assert one["actions"][made.today.agents[0]] == []
        assert one["actions"]["Zoe"]


def test_an_assignment_that_breaks_rules(run, firm):
    folder, made = firm
    one, two = next(team for team in made.today.members().values())[:2]
    words = ["coverage", folder / "log", "--strategy", folder / "today.csv", "--collect", 3, "--noise", "pairs"]
    code, shown, _ = run(*words, "--apart", f"{one},{two}")
    assert code == 0
    assert said(shown).startswith(f"The assignment breaks rules: {one} and {two} apart.")


def test_rules_about_one_person_say_what_must_be_known(run, log):
    """Ada and cy never met in x; where cy may not be there, nobody need know."""
    words = ["coverage", log, "--strategy", log.parent / "teams.csv"]
    assert "cy and ada were never in x together" in said(run(*words)[1])
    assert said(run(*words, "--ban", "cy=x", "--team-size", "any")[1]).startswith("Enough for this assignment")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--change-at-most", 2], "--change-at-most needs to know who is where today: --today"),
        (["--keep-sizes"], "--keep-sizes needs to know who is where today: --today"),
        (["--ban", "zoe=x"], "unknown person"),
        (["--team-size", "3", "--apart", "ada,bob"], "no assignment keeps all rules"),
    ],
)
def test_rules_that_cannot_be_kept(run, log, words, expected):
    code, shown, messages = run("coverage", log, "--strategy", log.parent / "teams.csv", "--collect", 5, *words)
    assert (code, shown) == (2, "")
    assert expected in said(messages)


def test_one_way_ratings_are_told_as_such(run, tmp_path):
    """In x bob rated ada, who did not rate bob: they were there together all the same."""
    rows = ["1,x,bob,ada,0.5", "2,y,ada,bob,0.1", "2,y,bob,ada,0.2"]
    (tmp_path / "pairs.csv").write_text("\n".join(["sample,coalition,agent,partner,utility", *rows]), encoding="utf-8")
    words = (tmp_path / "pairs.csv", "--asymmetric")
    text = said(run("coverage", *words)[1])
    assert "Not enough for every assignment that the actions allow: ada never rated bob in x." in text
    assert "Never rated (1) who whom team needed by ada bob x" in text
    code, *_ = run("learn", *words, "--actions", "one", "--report", tmp_path / "r.html")
    assert code == 0
    page = said((tmp_path / "r.html").read_text(encoding="utf-8"))
    assert "1 rating that a move would make count is missing: ada of bob in x." in page


@pytest.fixture
def school(tmp_path, monkeypatch):
    """Totals at tables that are drawn anew each week; today's tables have names."""
    monkeypatch.chdir(tmp_path)
    people = [f"p{i}" for i in range(8)]
    rng = np.random.default_rng(1)
    rows = [
        f"{week},{'Door' if place < 4 else 'Window'},{who},{10 + (who < 'p4') * 2 + int(rng.integers(3))}"
        for week in range(6)
        for place, who in enumerate(rng.permutation(people).tolist())
    ]
    (tmp_path / "totals.csv").write_text("\n".join(["Week,Table,Who,Points", *rows, ""]), "utf-8")
    today = [f"{who},{'Door' if place < 4 else 'Window'}" for place, who in enumerate(people)]
    (tmp_path / "today.csv").write_text("\n".join(["Who,Table", *today, ""]), "utf-8")
    columns = {"sample": "Week", "coalition": "Table", "agent": "Who", "utility": "Points"}
    options = {"columns": columns, "pool_coalitions": True, "totals": "team-averages", "symmetric": False}
    scale = {"utility_range": [0, 20], "neutral": 11, "value": "average", "coalitions": 2}
    content = {"format": "coterie.log/1", **options, **scale}
    (tmp_path / "log.json").write_text(json.dumps(content), "utf-8")
    return tmp_path


def test_collect_agrees_with_learn(run, school):
    """The names of tables, who would gain most and how much: as learn says them."""
    assert run("learn", school, "--today", "today.csv", "--team-size", "4", "--out", "r.json", "--quiet")[0] == 0
    result = coterie.Result.load("r.json")
    code, shown, messages = run("coverage", school, "--strategy", "r.json", "--collect", 2)
    text = said(shown)
    assert code == 0, messages
    assert "Door: p" in text
    assert "Window: p" in text
    assert "team 1" not in text
    gains = gains_elsewhere(result)
    assert gains is not None
    if gains:
        who = max(gains, key=gains.get)
        assert f"by the best guess {who} would gain most" in text
        assert f" {gains[who]:.2g}, so this assignment" in text
    else:
        assert "by the best guess nobody would gain anything" in text


def test_proofs_that_are_worth_nothing_are_not_offered(run, log, monkeypatch):
    """A limit near what the scale says by itself is no reason to wait for more rounds."""
    words = ["coverage", log, "--strategy", log.parent / "teams.csv", "--collect", 4]
    many = [*words[:-1], 60]
    assert "more rounds: " in run(*words)[1]
    assert "60 more rounds by this plan are expected" in said(run(*many)[1])
    monkeypatch.setattr("coterie.collect.aim.LITTLE_WORTH", 0.1)
    assert "more rounds: " not in run(*words)[1]
    text = said(run(*many)[1])
    assert "by this plan are expected" not in text
    assert "These rounds can tell better" in text
    assert json.loads(run(*many, "--json")[1])["worthwhile"] is False
