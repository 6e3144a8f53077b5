"""What `coterie.start` makes of tables as people keep them: names for once, columns for members, titles, summaries."""

import csv
import json

import numpy as np
import pytest
import xlsxwriter

import coterie
from coterie.errors import InputError
from coterie.files import header_among, named_columns
from coterie.log import schema
from coterie.log.inspection import inspect_log
from coterie.log.looking import Column
from coterie.log.teams_seen import TeamsSeen

PEOPLE = ("Ann", "Bob", "Cleo", "Dan", "Eve", "Finn", "Gus", "Hana", "Ivo", "Jill", "Kai", "Lena")
HEADER = ("Event", "Team name", "Members", "Jury score")


def events(count=12, name=lambda event, team: f"The Wild {event} {team}s"):
    """Rows of hackathons with four teams of three each."""
    rng = np.random.default_rng(0)
    rows = []
    for event in range(count):
        for t, team in enumerate(rng.permutation(PEOPLE).reshape(4, 3)):
            rows.append(
                [f"Hack {event}", name(event, ("Fox", "Owl", "Bee", "Cat")[t]), "; ".join(team), 3 + (event + t) % 6]
            )
    return rows


@pytest.fixture
def saved(tmp_path):
    def write(rows, name="t.csv", delimiter=","):
        with (tmp_path / name).open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, delimiter=delimiter).writerows(rows)
        return tmp_path / name

    return write


def answer(guess, name):
    return next(one for one in guess.answers if one.name == name)


def part(guess, name):
    return next(one for one in guess.parts if one.name == name)


def noted(log, *words):
    return [note for note in log.notes if all(word in note for word in words)]


# --- Names of teams -------------------------------------------------------------------------------------------


def test_names_that_are_made_up_each_time_are_pooled(saved, tmp_path):
    guess = coterie.start(saved([HEADER, *events()]))
    pooled = answer(guess, "pool_coalitions")
    assert pooled.value is True
    assert pooled.why.startswith("48 of 48 labels occur in one round only, such as 'The Wild 0 Bees': names for once")
    log = guess.write(tmp_path / "log")
    assert (log.coalitions, log.n_samples) == (("1", "2", "3", "4"), 12)


def test_two_names_that_come_back_among_many_that_do_not(saved):
    often = saved(
        [HEADER, *events(name=lambda event, team: team if team in {"Fox", "Owl"} and event % 2 else f"{event}{team}")]
    )
    pooled = answer(coterie.start(often), "pool_coalitions")
    assert (pooled.value, "36 of 38 labels occur in one round only" in pooled.why) == (True, True)


def test_departments_stay_whatever_was_there_once(saved):
    areas = dict(zip(("Fox", "Owl", "Bee", "Cat"), ("Energy", "Finance", "Health", "Retail"), strict=True))
    rows = events(24, lambda event, team: f"Project {event}" if team == "Cat" and event < 6 else areas[team])
    pooled = answer(coterie.start(saved([HEADER, *rows])), "pool_coalitions")
    assert (pooled.value, pooled.why) == (False, "4 of 10 labels come back, such as 'Energy'")


def test_names_that_seldom_come_back_are_pooled(saved):
    rows = events(40, lambda event, team: f"{team} {event % 20}")
    pooled = answer(coterie.start(saved([HEADER, *rows])), "pool_coalitions")
    assert pooled.value is True
    assert pooled.why.startswith("on average a label occurs in 2 of 40 rounds only")
    rows = events(24, lambda event, team: f"{team} {event * 5 % 12}")  # a few teams at once, many names in turn
    assert answer(coterie.start(saved([HEADER, *rows])), "pool_coalitions").value is True


def test_inspect_tells_of_names_for_once(saved):
    path = saved([("sample", "team", "members", "score"), *events()])
    log = coterie.read_log(path, utility_range=(0, 10), totals="team-score-averages")
    (found,) = [one for one in inspect_log(log).findings if "in one round only" in one.what]
    assert found.worded().startswith("48 of 48 teams occur in one round only, such as The Wild 0 Bees")
    assert "pool_coalitions=True" in found.advice
    pooled = coterie.read_log(path, utility_range=(0, 10), totals="team-score-averages", pool_coalitions=True)
    assert not [one for one in inspect_log(pooled).findings if "in one round only" in one.what]


# --- Rows are those of the table ------------------------------------------------------------------------------


def test_counts_are_of_rows_not_of_members(saved):
    rows = events()
    for place, cell in ((1, ""), (5, "absent"), (9, "sick"), (20, "absent")):
        rows[place][3] = cell
    path = saved([("sample", "team", "members", "score"), *rows])
    log = coterie.read_log(path, utility_range=(0, 10), totals="team-score-averages")
    assert log.rows == 44
    (note,) = noted(log, "no number")
    assert "1 row of" in note
    (note,) = noted(log, "was not there")
    assert "3 rows of" in note
    assert "(2 of them say 'absent', 1 'sick')" in note
    with pytest.raises(InputError) as refused:
        coterie.read_log(path, utility_range=(0, 10), totals="team-score-averages", blanks="refuse")
    assert "row 3: utility is empty" in str(refused.value)
    assert "of 48 rows, these are no numbers: 'absent' (2 times) and 'sick' (1 time)" in str(refused.value)
    assert str(refused.value).endswith("(also rows 7, 11 and 22)")


def test_a_row_without_a_name_is_counted_once(saved):
    rows = events()
    for place in range(14):
        rows[place][0] = ""
    with pytest.raises(InputError) as refused:
        coterie.read_log(saved([("sample", "team", "members", "score"), *rows]), utility_range=(0, 10))
    told = str(refused.value)
    assert "row 2: sample is empty, expected a name (also rows 3, 4, 5, 6, 7, 8, 9, 10, 11 and 4 more)" in told
    assert told.count("sample is empty") == 1


def test_teams_and_members_that_are_listed_twice(saved):
    rows = [*events(), ["Hack 0", "The Wild 0 Foxs", "Ann; Bob", 5], ["Hack 3", "More", "Eve; Dan; Eve; Dan", 4]]
    with pytest.raises(InputError) as refused:
        coterie.read_log(saved([("sample", "team", "members", "score"), *rows]), utility_range=(0, 10))
    told = str(refused.value)
    assert (
        "rows 2 and 50: sample 'Hack 0', coalition 'The Wild 0 Foxs' is listed more than once, expected one row per"
        in told
    )
    assert "row 51: sample 'Hack 3'" in told
    assert "expected every member of a team once" in told


def test_rows_that_list_nobody_are_told(saved):
    rows = [*events(), ["Hack 0", "Ghosts", "", 5], ["Hack 1", "Ghosts", " ; ", 5]]
    log = coterie.read_log(saved([("sample", "team", "members", "score"), *rows]), utility_range=(0, 10))
    (note,) = noted(log, "list no members")
    assert "2 rows of" in note
    assert note.endswith("(rows 50, 51) and were left out")


# --- Words, summaries -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("word", ["absent", "Sick", "ill", "EXCUSED", "-", "none", " krank ", "no-show", "excus\u00e9"])
def test_words_for_no_rating(csv_log, word):
    text = f"sample,coalition,agent,partner,utility\n1,x,a,b,1\n2,x,a,b,{word}\n"
    log = coterie.read_log(csv_log(pairs=text))
    assert log.rows == 1
    assert noted(log, "1 row of", f"(1 of them says {word.strip()!r})")
    assert bool(noted(log, "was not there")) == (word not in {"-", "none"})
    with pytest.raises(InputError, match=f"utility is {word!r}, expected a finite number"):
        coterie.read_log(csv_log(pairs=text), blanks="refuse")


def test_other_words_can_be_said(csv_log):
    text = "sample,coalition,agent,partner,utility\n1,x,a,b,1\n2,x,a,b,Moved'\n3,x,a,b,late\n4,x,a,b,1..5\n"
    advice = 'such words stand for none say blank_words="Moved\',late", if for somebody who was not there absent_words='
    with pytest.raises(InputError, match=advice):
        coterie.read_log(csv_log(pairs=text))
    sound = text.replace("1..5", "0.5")
    for words in ("moved', LATE", ["Moved'", "late"]):
        log = coterie.read_log(csv_log(pairs=sound), blank_words=words)
        assert log.rows == 2
        assert noted(log, "2 rows of", "(1 of them says \"Moved'\", 1 'late')")
        assert log[:1].rows == 1
    folder = csv_log(pairs=sound)
    (folder / "log.json").write_text(json.dumps({"blank_words": ["moved'", "late"]}), encoding="utf-8")
    assert coterie.read_log(folder).rows == 2
    for wrong in (3, {"a": 1}, [1]):
        with pytest.raises(InputError, match="blank_words: expected words"):
            coterie.read_log(folder, blank_words=wrong)


CLASS = """sample,agent,coalition,utility
1,Ann,x,3
1,Bo,x,3
1,Cy,x,{}
2,Ann,x,3
2,Bo,x,2
2,Cy,x,4
"""


@pytest.mark.parametrize(
    ("word", "options", "there"),
    [("absent", {}, 5), ("Krank", {}, 5), ("n/a", {}, 6), ("", {}, 6), ("abs.", {"absent_words": "Abs."}, 5),
     ("abs.", {"blank_words": "abs."}, 6), ("absent", {"blank_words": "absent"}, 6), ("", {"blanks": "absent"}, 5),
     ("-", {"blanks": "absent"}, 5), ("sick", {"blanks": "absent"}, 5)],
)  # fmt: skip
def test_who_was_not_there_is_nobodys_teammate(csv_log, word, options, there):
    """A word for no rating leaves somebody in the team, one for being away does not, and it is said which was meant."""
    log = coterie.read_log(csv_log(totals=CLASS.format(word)), utility_range=(0, 5), **options)
    members = log.engine.table(f"SELECT * FROM {log.engine.name('members')}")
    assert len(members) == there
    assert log.rows == 5
    (note,) = noted(log, "nobody's teammate" if there == 5 else "no number")
    assert note.startswith("1 row of")
    if there == 6:  # which is told, and what to do about it
        undo = 'the person still counts as a teammate of the others there; if they were not there, say blanks="absent"'
        assert undo in note
    elif options.get("blanks"):
        assert 'if they were there and only the number is missing, say blanks="skip"' in note


def test_who_rates_stands_before_whom_they_rate(saved):
    """A colleague may be either of the two, and nothing says what a nurse is."""
    rows = [
        [f"2025-W{week:02d}", "Ward A", one, two, 1 + (week + i + 2 * j) % 10]
        for week in range(1, 9)
        for i, one in enumerate(PEOPLE[:4])
        for j, two in enumerate(PEOPLE[:4])
        if one != two
    ]
    guess = coterie.start(saved([["Week", "Ward", "Nurse", "Colleague", "How was it"], *rows]))
    assert (part(guess, "agent").value, part(guess, "partner").value) == ("Nurse", "Colleague")


@pytest.mark.parametrize("team_scores", [False, True])
def test_who_was_not_there_is_in_no_other_table_either(csv_log, team_scores):
    members = "sample,agent,coalition\n" + "".join(f"{t},{who},x\n" for t in (1, 2) for who in ("Ann", "Bo", "Cy"))
    folder = (
        csv_log(memberships=members, totals="sample,coalition,utility\n1,x,3\n2,x,no show\n")
        if team_scores
        else csv_log(memberships=members, totals="sample,agent,utility\n1,Ann,3\n1,Bo,3\n1,Cy,sick\n2,Ann,1\n")
    )
    log = coterie.read_log(folder, utility_range=(0, 5))
    seen = log.engine.table(f"SELECT * FROM {log.engine.name('members')}")
    assert len(seen) == (3 if team_scores else 5)
    assert log[:1].n_samples == 1


def test_a_pair_that_did_not_meet_is_in_no_team(csv_log):
    text = "sample,coalition,agent,partner,utility\n1,x,a,b,1\n2,x,a,b,{}\n2,x,a,c,1\n"
    for word, people in (("absent", 4), ("n/a", 5)):
        log = coterie.read_log(csv_log(pairs=text.format(word)))
        assert len(log.engine.table(f"SELECT * FROM {log.engine.name('members')}")) == people


def test_choices_may_be_any_word(csv_log):
    text = "sample,coalition,agent,choice\n1,x,a,absent\n1,x,b,absent\n1,x,c,yes\n"
    assert coterie.read_log(csv_log(choices=text), utility_range=(0, 1)).rows == 3


PAIRS = "sample,coalition,agent,partner,utility\n1,x,Ann,Bo,1\n1,x,Ann,Cy,0.5\n2,x,Ann,Bo,0\n"


@pytest.mark.parametrize(
    "row",
    ["Average,,,,0.5", ",Total,,,1.5", ",,Mean:,,0.5", "2,x,Overall,Cy,0.5", "1,x,Ann, SUM ,1", "Total 2024,,,,9"],
)
def test_rows_that_sum_others_up_are_left_out(csv_log, row):
    log = coterie.read_log(csv_log(pairs=f"{PAIRS}{row}\n"))
    assert (log.agents, log.rows, log.n_samples) == (("Ann", "Bo", "Cy"), 3, 2)
    (note,) = noted(log, "1 row of", "sums others up")
    word = next(cell.strip() for cell in row.split(",") if cell.strip()[:1] in set("ATMOS") and cell != "Ann")
    assert f'({word!r}, row 5) and was left out; summaries="keep" takes it like any other' in note


def test_somebody_may_be_called_total(csv_log):
    """Throughout a table, or where another table may name them: nothing is left out."""
    rows = "".join(f"{t},x,Total,Bo,0.5\n{t},x,Ann,Bo,0.5\n" for t in range(3, 9))
    log = coterie.read_log(csv_log(pairs=f"{PAIRS}{rows}"))
    assert (log.rows, "Total" in log.agents, noted(log, "sum")) == (15, True, [])
    memberships = "sample,agent,coalition\n" + "".join(f"{t},{who},Total\n" for t in (1, 2) for who in "ab")
    totals = "sample,agent,utility\n" + "".join(f"{t},{who},1\n" for t in (1, 2) for who in "ab")
    log = coterie.read_log(csv_log(memberships=memberships, totals=totals))
    assert (log.coalitions, log.rows, noted(log, "sum")) == (("Total",), 4, [])


def test_a_title_over_several_lines_eats_no_row(csv_log):
    with pytest.raises(InputError, match="a cell above the header goes over several lines; delete what stands above"):
        coterie.read_log(csv_log(pairs=f'"A\nB",,,,\n{PAIRS}'))
    assert coterie.read_log(csv_log(pairs=f"A B,,,,\n{PAIRS}")).rows == 3


def test_a_header_with_the_columns_of_a_log_is_one(csv_log):
    """Whatever fuller rows there are below."""
    text = "sample,coalition,agent,choice,\n1,Attic,Ann,yes,\n1,Attic,Bo,no,\n2,Cellar,Dot,maybe,came late\n"
    assert coterie.read_log(csv_log(choices=text), utility_range=(0, 1)).agents == ("Ann", "Bo", "Dot")


def test_columns_for_members_may_hold_several(csv_log, tmp_path):
    path = tmp_path / "wide.csv"
    path.write_text("Week,Team,M1,M2,Score\n1,x,Ann;Bo,Cy,3\n2,x,Ann,Di,4\n", encoding="utf-8")
    named = {"sample": "Week", "coalition": "Team", "members": ["M1", "M2"], "utility": "Score"}
    log = coterie.read_log(path, columns=named, separators=";", utility_range=(1, 5), neutral=3)
    assert log.agents == ("Ann", "Bo", "Cy", "Di")


def test_what_only_begins_like_a_summary_stays(csv_log):
    log = coterie.read_log(csv_log(pairs=f"{PAIRS}2,Total Eclipse,Sumi,Max,0.5\n"))
    assert (log.rows, log.coalitions) == (4, ("Total Eclipse", "x"))
    assert not noted(log, "sum")


def test_summaries_can_be_kept(csv_log):
    folder = csv_log(pairs=f"{PAIRS}2,x,Total,Cy,0.5\n")
    log = coterie.read_log(folder, summaries="keep")
    assert "Total" in log.agents
    assert "Total" in log[1:].agents
    assert not noted(log, "sum")
    for name in ("Sum", "Average", "Total"):  # also among members, and in tables of memberships
        both = csv_log(
            memberships=f"sample,agent,coalition\n1,a,x\n1,b,x\n{name},,\n",
            totals="sample,agent,utility\n1,a,1\n1,b,1\n",
        )
        assert coterie.read_log(both).agents == ("a", "b")


def test_a_row_with_nothing_but_a_number(csv_log):
    with pytest.raises(InputError) as refused:
        coterie.read_log(csv_log(pairs=f"{PAIRS},,,,7\n2,,Bo,Cy,1\n"), utility_range=(-9, 9))
    told = str(refused.value)
    assert (
        "row 5: sample, coalition, agent and partner are all empty, expected names; if the row sums others up" in told
    )
    assert "row 6: coalition is empty" in told
    assert "2 problems" in told


def test_start_does_not_look_at_summaries(saved, tmp_path):
    path = saved([HEADER, *events(), ["", "", "", ""], ["Total", "", "", 5000], ["", "Average", "", 5.5]])
    guess = coterie.start(path)
    assert guess.options["utility_range"] == [1.0, 10.0]
    assert answer(guess, "pool_coalitions").why.startswith("48 of 48")
    log = guess.write(tmp_path / "log")
    assert noted(log, "2 rows of", "('Total', 'Average', rows 51, 52)")


# --- Titles above the header ----------------------------------------------------------------------------------

TITLES = [
    ([["Hackathons 2020 to 2024"], []], 2),
    ([["Hackathons 2020 to 2024", "", "", ""], ["exported", "2024-05-01", "", ""], ["", "", "", ""]], 3),
    ([["Results, by event"], ["Prepared by", "HR"]], 2),
    ([[], []], 2),
    ([], 0),
]


@pytest.mark.parametrize(("above", "skipped"), TITLES)
@pytest.mark.parametrize("form", [",", ";", "xlsx"])
def test_titles_above_the_header(saved, tmp_path, above, skipped, form):
    rows = [*above, HEADER, *events(), ["Hack 0", "Late", "Ann; Bob; Cleo", "later"]]
    path = tmp_path / "t.xlsx"
    if form == "xlsx":
        with xlsxwriter.Workbook(path) as book:
            sheet = book.add_worksheet()
            for place, row in enumerate(rows):
                sheet.write_row(place, 0, row)
    else:
        path = saved(rows, delimiter=form)
    guess = coterie.start(path)
    assert (guess.rows, len(guess.columns)) == (49, 4)
    assert guess.options.get("skip_rows") == (skipped if any(map(any, above)) else None)
    with pytest.raises(InputError, match=f"row {skipped + 50}: 'Jury score' is 'later'"):
        guess.write(tmp_path / "log")
    about = {"columns": guess.options["columns"], "utility_range": (0, 10), "blank_words": "later"}
    log = coterie.read_log(path, **about)
    told = noted(log, f"the header was found in row {skipped + 1}, and what is above it passed over")
    assert len(told) == any(map(any, above))
    if told:
        assert repr(above[0][0]) in told[0]
    said = coterie.read_log(path, skip_rows=skipped, **about)
    assert not noted(said, "passed over")
    assert said.rows == log.rows == 48


def test_rows_to_skip_that_make_no_sense(saved, tmp_path):
    path = saved([["a", "b"], ["c", "d"]])
    with pytest.raises(InputError, match="has 2 rows only, and no header below"):
        coterie.read_log(path, skip_rows=2)
    with pytest.raises(InputError, match=r"no column 'sample'.*has c, d"):
        coterie.read_log(path, skip_rows=1)
    with pytest.raises(InputError, match="skip_rows: expected at least 0"):
        coterie.read_log(path, skip_rows=-1)
    with xlsxwriter.Workbook(tmp_path / "t.xlsx") as book:
        book.add_worksheet().write(0, 0, "a")
    with pytest.raises(InputError, match="has 1 row only, and no header below"):
        coterie.read_log(tmp_path / "t.xlsx", skip_rows=1)
    frame = {"sample": ["1"], "coalition": ["x"], "agent": ["a"], "partner": ["b"], "utility": [1.0]}
    with pytest.raises(InputError, match="skip_rows is about CSV and spreadsheets"):
        coterie.Log.from_frames(pairs=frame, skip_rows=1)


@pytest.mark.parametrize(
    ("rows", "header"),
    [
        ([["a", "b", ""], ["1", "x", "note"], ["2", "y", ""]], 0),  # a note beside the table
        ([["", "b", "c"], ["x", "y", "z"], ["x", "u", "v"]], 0),  # data come back
        ([["T"], ["a", "b"], ["1", "2"]], 1),
        ([["one", "two"], ["when", "who", "how"], ["1", "Ada", "2"]], 1),
        ([["when", "who"], ["2024-01", "Ada", "2"], ["2024-02", "Bo", "3"]], 0),
        ([["", ""], ["", ""]], None),
        ([], None),
    ],
)
def test_which_row_is_the_header(rows, header):
    assert header_among(rows) == header


def test_a_header_over_several_columns():
    rows = [["x", "Ada", "Bo", "", "1", "late"], ["y", "Cy", "Dee", "Eve", "2", ""]]
    assert named_columns(["Team", "Who", "", "", "", ""], rows) == ["Team", "Who", "Who 2", "", " ", "  "]
    assert named_columns(["", "Who", "", "Who 2"], rows) == ["", "Who", "Who 3", "Who 2"]


# --- A column for each member ---------------------------------------------------------------------------------


def wide(rows, *, keep=(0, 1, 2, 3)):
    """The same with a column for each member."""
    flat = [[row[0], row[1], *row[2].split("; "), row[3]] for row in rows]
    places = [place for part in keep for place in {0: [0], 1: [1], 2: [2, 3, 4], 3: [5]}[part]]
    return [[row[place] for place in places] for row in flat]


def test_a_column_for_each_member_is_a_cell_that_lists_them(saved, tmp_path):
    listed = coterie.start(saved([HEADER, *events()])).write(tmp_path / "listed")
    names = ("Event", "Team", "Member 1", "Member 2", "Member 3", "Score")
    guess = coterie.start(saved([names, *wide(events())], "wide.csv"))
    assert guess.shape == "listed scores"
    assert part(guess, "members").value == ("Member 1", "Member 2", "Member 3")
    assert part(guess, "members").why == "each of these columns holds a member"
    log = guess.write(tmp_path / "wide")
    assert coterie.Statistics.of(log).sha256 == coterie.Statistics.of(listed).sha256
    columns = "sample=Event,members=Member 1,members=Member 2,members=Member 3"
    again = coterie.read_log(
        tmp_path / "wide.csv", columns=columns, **{k: v for k, v in guess.options.items() if k != "columns"}
    )
    assert coterie.Statistics.of(again).sha256 == coterie.Statistics.of(log).sha256


def test_members_with_commas_in_their_names_and_gaps(saved, tmp_path):
    rows = wide(events())
    for place, row in enumerate(rows):
        row[2:5] = [f"{name}, X." for name in row[2:5]]
        row[4] = row[4] if place % 2 else ""
    guess = coterie.start(saved([("Event", "Team", "Person A", "Person B", "Person C", "Score"), *rows]))
    assert part(guess, "members").value == ("Person A", "Person B", "Person C")
    log = guess.write(tmp_path / "log")
    assert set(log.agents) == {f"{name}, X." for name in PEOPLE}


def test_a_header_over_all_members(saved):
    header = ("Event", "Team", "Members", "", "", "Score")
    assert part(coterie.start(saved([header, *wide(events())])), "members").value == (
        "Members",
        "Members 2",
        "Members 3",
    )


def test_two_columns_are_a_pair_and_numbers_are_no_members(saved):
    rows = [[e, "x", *pair, 1 + e % 5] for e in range(10) for pair in (("Ann", "Bo"), ("Bo", "Cy"))]
    assert coterie.start(saved([("Week", "Team", "Person 1", "Person 2", "Stars"), *rows])).shape == "pairs"
    judged = [[*row[:3], 5, 6, 7, row[3]] for row in events()]
    guess = coterie.start(saved([("Event", "Team", "Members", "Judge 1", "Judge 2", "Judge 3", "Score"), *judged]))
    assert part(guess, "members").value == "Members"


@pytest.mark.parametrize(
    ("header", "keep", "rounds"),
    [
        (("Player 1", "Player 2", "Player 3", "Score"), (2, 3), 48),
        (("Team", "Player 1", "Player 2", "Player 3", "Score"), (1, 2, 3), 48),
        (("Date", "Player 1", "Player 2", "Player 3", "Score"), (0, 2, 3), 12),
    ],
)
def test_rows_count_where_no_column_says_when_or_where(saved, tmp_path, header, keep, rounds):
    guess = coterie.start(saved([header, *wide(events(), keep=keep)]))
    log = guess.write(tmp_path / "log")
    assert (log.n_samples, log.rows, len(log.coalitions)) == (rounds, 48, 4)
    assert log.pool_coalitions
    assert guess.options["coalitions"] == 4
    by_hand = [
        (*(row[0] if rounds == 12 else str(place) for _ in "."), row[2], row[3]) for place, row in enumerate(events())
    ]
    frame = {
        "sample": [row[0] for row in by_hand], "coalition": [str(place) for place in range(48)],
        "members": [row[1] for row in by_hand], "utility": [float(row[2]) for row in by_hand],
    }  # fmt: skip
    options = {name: guess.options[name] for name in ("utility_range", "neutral", "pool_coalitions")}
    same = coterie.Log.from_frames(totals=frame, totals_are=guess.options["totals"], coalitions=4, **options)
    np.testing.assert_allclose(
        coterie.Statistics.of(same).whole.joint.moments, coterie.Statistics.of(log).whole.joint.moments, atol=1e-9
    )


def test_a_column_called_so_is_no_row_number(saved):
    rows = [[1 + place // 4, *row[1:]] for place, row in enumerate(events())]
    path = saved([("#", "team", "members", "score"), *rows])
    log = coterie.read_log(path, columns={"sample": "#"}, utility_range=(0, 10))
    assert log.n_samples == 12


def test_what_is_wrong_about_columns_of_members(saved):
    path = saved([("Event", "Team", "Member 1", "Member 2", "Member 3", "Score"), *wide(events())])
    for columns, message in [
        ("members=Member 1,members=Member 9", "members is said to be 'Member 9', but"),
        ("members=Member 1,members=Member 1", "'members' is said to be 'Member 1' twice"),
        ("agent=Member 1,members=Member 1", "agent and members are both said to be 'Member 1'"),
        ("agent=#,coalition=Team,sample=Event,utility=Score", "agent is said to be '#', but"),
        ("sample=Event,sample=Team", "'sample' is given twice"),
    ]:
        with pytest.raises(InputError, match=message):
            coterie.read_log(path, columns=columns)


def test_a_column_for_each_round_is_refused_with_what_helps(saved):
    rows = [[name, *("Sea" if (i + w) % 2 else "Law" for w in range(4)), 3] for i, name in enumerate(PEOPLE)]
    path = saved([("Name", *(f"Team week {w}" for w in range(1, 5)), "Points"), *rows])
    with pytest.raises(InputError) as refused:
        coterie.start(path)
    assert "a column for each round ('Team week 1', 'Team week 2' and 2 more): make a row for each" in str(
        refused.value
    )
    path = saved([("Name", *(f"Team W{w}" for w in range(1, 5)), "Points"), *rows])
    with pytest.raises(InputError, match=r"\('Team W1', 'Team W2' and 2 more\): make a row for each person and round"):
        coterie.start(path)


@pytest.mark.parametrize("items", [("Score Q1", "Score Q2"), ("Score W1", "Score W2"), ("Score KW1", "Score KW2")])
def test_questions_of_a_survey_are_no_rounds_where_a_column_says_when(saved, items):
    rows = [
        (week, name, PEOPLE[i ^ 1], "Sea" if i < 2 else "Law", 1 + (i + week) % 5, 1 + (i * week) % 5)
        for week in range(1, 9)
        for i, name in enumerate(PEOPLE[:4])
    ]
    guess = coterie.start(saved([("Week", "Name", "With", "Team", *items), *rows]))
    assert (part(guess, "sample").value, part(guess, "utility").value) == ("Week", items[0])


@pytest.mark.parametrize(
    ("sizes", "numbers", "value", "why"),
    [
        ([3, 3], lambda i, week: i + week % 3, False, "no team of two shows it, and who gets much need not"),
        (
            [4, 2],
            lambda i, week: week % 4 if week < 5 else i,
            False,
            "5 teams of two had different numbers for the two",
        ),
        ([4, 2], lambda i, week: i * (i < 4) + week % 3, True, "all 10 teams of two had the same number for the two"),
    ],
)
def test_whether_both_of_a_pair_get_the_same_is_always_told_of_totals(saved, tmp_path, sizes, numbers, value, why):
    """It hung on who was ill: without a team of two nothing was said, and both were taken to get the same."""
    rows = [(week, PEOPLE[i], "AB"[i >= sizes[0]], numbers(i, week)) for week in range(10) for i in range(sum(sizes))]
    guess = coterie.start(saved([("Week", "Name", "Group", "Points"), *rows]))
    found = answer(guess, "symmetric")
    assert (found.value, found.why.startswith(why)) == (value, True), found
    assert guess.write(tmp_path / "log").symmetric is value
    assert json.loads((tmp_path / "log" / "log.json").read_text())["symmetric"] is value


@pytest.mark.parametrize(
    ("header", "lacks"),
    [
        (("From", "About", "Stars"), "nothing here says when (Week, Date, Event, ...) nor in which team (Team"),
        (("Month", "Team", "From", "About"), "nothing here says how good it was"),
        (("a", "b", "c"), "nothing here looks like a log"),
    ],
)
def test_what_a_table_does_not_say_is_named(saved, header, lacks):
    rows = [["Ann", "Bo", "x", "y"][: len(header)], ["Bo", "Ann", "y", "x"][: len(header)]]
    with pytest.raises(InputError) as refused:
        coterie.start(saved([header, *rows]))
    assert lacks in str(refused.value)


# --- Spellings ------------------------------------------------------------------------------------------------


def test_spellings_differ_in_what_is_said(csv_log):
    text = "sample,coalition,agent,partner,utility\n1,x,Gro\u00df,Bo,1\n2,x,Gross,Bo,1\n"
    (note,) = noted(coterie.read_log(csv_log(pairs=text)), "several spellings")
    assert (
        "differ in case, spaces or how letters are written (as \u00df and ss, \u00fc and ue or u, \u2019 and ') only"
        in note
    )
    (note,) = noted(coterie.read_log(csv_log(pairs=text.replace("Gro\u00df", "GROSS "))), "several spellings")
    assert "differ in case or spaces only" in note
    assert coterie.read_log(csv_log(pairs=text), clean_names=True).agents == ("Bo", "Gro\u00df")


# --- What is told of teams, their sizes and their numbers -------------------------------------------------------


def weekly(names, weeks=16, size=4, low=0.0, solos=0, sticky=False):
    """Rows of people with a number each, in groups that are drawn anew each week; `low` is added to the first name."""
    rng = np.random.default_rng(3)
    people = [f"P{i}" for i in range(size * len(names))]
    rows = []
    for week in range(weeks):
        order = people if sticky else rng.permutation(people).tolist()
        for t, name in enumerate(names):
            inside = order[size * t : size * (t + 1)]
            rows += [[f"Week {week}", who, name, round(40 + low * (t == 0) + rng.normal(0, 3), 1)] for who in inside]
        rows += [[f"Week {week}", f"S{i}", f"solo {i}", 30 + week % 3] for i in range(solos)]
    return rows


RECORDS = ("Week", "Name", "Group", "Points")


def test_one_size_is_read_on_the_scale_of_the_table(saved, tmp_path):
    guess = coterie.start(saved([RECORDS, *weekly(("A", "B", "C"))]))
    assert answer(guess, "totals").value == "team-averages"
    assert answer(guess, "totals").why.startswith("teams have one size: it is taken for the average over teammates")
    assert answer(guess, "value").value == "average"
    assert guess.write(tmp_path / "log").value == "average"


def test_reasons_tell_what_is_usual_not_what_is_largest(saved):
    rows = [[f"{event}", f"T{event}", "; ".join(PEOPLE[: 2 + event % 3]), 5 + event % 2] for event in range(24)]
    rows[0][3] = 60
    guess = coterie.start(saved([HEADER, *rows]), utility_range=(0, 60))
    totals = answer(guess, "totals")
    assert totals.value == "team-score-averages"
    assert totals.why == (
        "it does not grow with the size of teams: 12.4 on average with 1 pair (8 teams), 5.5 with 6 (8 teams)"
    )


@pytest.mark.parametrize("middle", [0.0, 0.3, 1.0])
def test_sums_and_averages_around_zero(saved, middle):
    rng = np.random.default_rng(5)
    teams = [(event, PEOPLE[: 2 + event % 4]) for event in range(160)]
    pairs = [rng.normal(middle, 1, len(team) * (len(team) - 1) // 2) for _, team in teams]
    for make, totals in ((np.sum, "team-scores"), (np.mean, "team-score-averages")):
        rows = [[e, f"T{e}", "; ".join(team), round(make(got), 2)] for (e, team), got in zip(teams, pairs, strict=True)]
        guess = coterie.start(saved([HEADER, *rows]))
        assert answer(guess, "totals").value == totals
    if not middle:
        assert "lies on both sides of 0, no further from it in larger teams: 0." in answer(guess, "totals").why


def test_what_grows_less_than_pairs_do_is_not_said_not_to_grow(saved):
    rows = [[f"{e}", f"T{e}", "; ".join(PEOPLE[: 2 + e % 4]), 3 * (2 + e % 4) + e % 3] for e in range(60)]
    why = answer(coterie.start(saved([HEADER, *rows])), "totals").why
    assert why == "it grows less than the number of pairs: 7 on average with 1 pair (15 teams), 16 with 10 (15 teams)"


def test_those_who_were_alone_say_what_that_is_worth(saved, tmp_path):
    table = saved([RECORDS, *weekly(("A", "B"), solos=1)])
    guess = coterie.start(table, utility_range=(20, 60))
    neutral = answer(guess, "neutral")
    assert (neutral.value, neutral.why) == (30.9, "16 numbers are of people on their own, 30.9 on average")
    assert guess.write(tmp_path / "log").neutral == 30.9


def test_numbers_of_people_alone_widen_no_scale(saved):
    guess = coterie.start(saved([RECORDS, *weekly(("A", "B"))]))
    rows = weekly(("A", "B"), solos=1)
    for row in rows:
        row[3] += 200 if row[1] == "S0" else 0
    odd = coterie.start(saved([RECORDS, *rows]))
    assert answer(odd, "utility_range") == answer(guess, "utility_range")
    assert answer(odd, "neutral").value == answer(guess, "neutral").value
    why = "numbers of people on their own do not count, since 16 of 16 are outside of 0 to 100, and 40.1"
    assert answer(odd, "neutral").why.startswith(why), answer(odd, "neutral")
    rows = weekly(("A", "B"), solos=1)
    for row in rows:
        row[3] = 900 if row[1:3] == ["S0", "solo 0"] and row[0] == "Week 1" else 35 if row[1] == "S0" else row[3]
    why = "15 numbers are of people on their own, 35 on average, not counting that 1 of 16 is outside of 0 to 100"
    assert answer(coterie.start(saved([RECORDS, *rows])), "neutral").why == why


def test_sums_of_rounds_are_nobody_on_their_own(saved):
    rows = weekly(("A", "B"))
    for week in range(15):
        place = max(i for i, row in enumerate(rows) if row[0] == f"Week {week}")
        rows.insert(place + 1, [f"Week {week}", "Sum", "Sum", 40])
    table = saved([RECORDS, *rows])
    why = answer(coterie.start(table), "neutral").why
    assert "no numbers of people on their own (without 15 in rows that are called as if they summed others up)" in why
    assert answer(coterie.start(table, summaries="keep"), "neutral").value == 40


def test_without_anybody_alone_the_average_is_neutral(saved):
    rows = weekly(("A", "B"))
    neutral = answer(coterie.start(saved([RECORDS, *rows])), "neutral")
    assert neutral.value == pytest.approx(np.mean([row[3] for row in rows]), abs=0.06)
    assert neutral.why.endswith("is the average: what is above it is better than usual")
    rows[0][1:3] = ["Z", "alone"]
    assert "there are too few" in answer(coterie.start(saved([RECORDS, *rows])), "neutral").why
    ratings = [[f"{t}", "x", a, b, 1 + (t + i) % 5] for t in range(9) for i, (a, b) in enumerate(("ab", "bc", "ac"))]
    stars = coterie.start(saved([("Week", "Team", "From", "To", "Stars"), *ratings]))
    assert (answer(stars, "neutral").value, answer(stars, "neutral").why) == (3.0, "it is the middle of the scale")


@pytest.mark.parametrize(
    ("about", "hint"),
    [({}, True), ({"solos": 1}, True), ({"sticky": True}, False), ({"low": 9.0}, False), ({"weeks": 5}, False)],
)
def test_names_that_are_drawn_anew_are_told_of(saved, about, hint):
    path = saved([("Week", "Name", "Area", "Points"), *weekly(("Red", "Blue", "Green"), **about), ["", "", "", ""]])
    guess = coterie.start(path)
    pooled = answer(guess, "pool_coalitions")
    assert pooled.value is False
    assert ("people change between them each time" in pooled.why) is hint
    log = coterie.read_log(path, **guess.options)
    told = [one for one in inspect_log(log).findings if "people change between them each time" in one.what]
    assert bool(told) is hint
    assert all("pool_coalitions=True" in one.advice for one in told)
    assert coterie.start(path, pool_coalitions=True).options["coalitions"] == 3 + about.get("solos", 0)


@pytest.mark.parametrize("about", [{}, {"sticky": True}, {"low": 9.0}])
def test_names_of_groups_that_are_drawn_anew_mean_nothing(saved, about):
    """A group is made up each time where nothing shows otherwise; an area is there whoever is in it (above)."""
    path = saved([RECORDS, *weekly(("Red", "Blue", "Green"), **about)])
    pooled = answer(coterie.start(path), "pool_coalitions")
    assert pooled.value is not bool(about)
    assert ("as if drawn anew; if they stay the same, pool_coalitions=False says so" in pooled.why) is not bool(about)
    assert answer(coterie.start(path, pool_coalitions=False), "pool_coalitions").value is False


def test_what_a_file_says_of_interchangeable_teams_can_be_taken_back(saved, tmp_path):
    coterie.start(saved([RECORDS, *weekly(("Red", "Blue", "Green"))])).write(tmp_path / "log")
    assert coterie.read_log(tmp_path / "log").coalitions == ("1", "2", "3")
    assert coterie.read_log(tmp_path / "log", pool_coalitions=False).coalitions == ("Blue", "Green", "Red")


@pytest.mark.parametrize("depends", [False, True])
def test_names_mean_something_where_pairs_differ_between_them(saved, depends):
    """The same on average under every name, but not for each pair: such names are areas."""
    rng = np.random.default_rng(1)
    worth = rng.normal(0, 1, (2, 8, 8)) * depends
    rows = []
    for week in range(30):
        order = rng.permutation(8)
        for l, name in enumerate(("Red", "Blue")):
            inside = sorted(order[4 * l : 4 * l + 4])
            rows += [
                [week, name, f"P{i}", f"P{j}", round(float(worth[l, i, j] + rng.normal(0, 0.5)), 2)]
                for i in inside
                for j in inside
                if i < j
            ]
    guess = coterie.start(saved([("Week", "Team", "From", "To", "Score"), *rows]))
    assert ("people change between them" in answer(guess, "pool_coalitions").why) is not depends


def test_how_many_teams_and_of_which_sizes(saved):
    rng = np.random.default_rng(5)
    rows, people = [], [f"P{i}" for i in range(20)]
    for event in range(10):
        order = rng.permutation(people)[: 12 + 4 * (event % 2)].tolist()
        rows += [
            [f"E{event}", f"{event}-{t}", "; ".join(order[4 * t : 4 * t + 4]), 5 + t] for t in range(len(order) // 4)
        ]
    guess = coterie.start(saved([HEADER, *rows]))
    found = answer(guess, "coalitions")
    assert (found.value, found.why) == (5, "20 people in teams of 4 on average (3 to 4 teams were there at once)")
    assert TeamsSeen(20, 1.0, {4: 35}, {3: 5, 4: 5}).bounds(5) == "4"
    assert TeamsSeen(22, 1.0, {4: 35}, {3: 5, 4: 5}).bounds(5) == "4:5"
    assert TeamsSeen(10, 1.5, {2: 1, 5: 40, 6: 30}, {3: 8}).bounds(3) == "5:6"
    assert TeamsSeen(10, 1.0, {5: 8}, {2: 8}).bounds(4) == "0,5"


def test_ratings_are_all_looked_at(saved):
    rng = np.random.default_rng(0)
    fine = [f"{value:.5f}" for value in rng.uniform(0.0, 4.0, 7000)]
    rows = [[f"{t}", "x", "a", "b", value] for t, value in enumerate([*fine, "9.5", "9.7", "9.8"])]
    rows += [[f"s{t}", "x", "b", "c", "10"] for t in range(60)]
    guess = coterie.start(saved([("Week", "Team", "From", "To", "Stars"), *rows]))
    assert answer(guess, "utility_range").value == [0.0, 10.0]


# --- Cells and files that are not what they seem ----------------------------------------------------------------


def test_words_for_nobody_name_nobody(saved, tmp_path):
    rows = wide(events(6))
    for place, word in ((1, "-"), (2, "none"), (7, "n/a"), (9, "-")):
        rows[place][4] = word
    rows[5][2:5] = ["-", "", "nobody"]
    guess = coterie.start(saved([("Event", "Team", "Member", "Member", "Member", "Score"), *rows]))
    assert part(guess, "members").value == ("Member", "Member 2", "Member 3")
    log = guess.write(tmp_path / "log")
    assert log.agents == tuple(sorted(PEOPLE))
    (note,) = noted(log, "taken for nobody")
    assert note.startswith(f"6 places for a member of {tmp_path / 't.csv'} say '-', 'n/a', 'nobody'")
    assert note.endswith("taken for nobody; if that is somebody's name, write it like one: None")
    (note,) = noted(log, "no members")
    assert "1 row of" in note
    assert "(row 7)" in note


@pytest.mark.parametrize("name", ["None", "Leer", "Nadie", "Na"])
def test_people_may_be_called_as_nobody_is(saved, tmp_path, name):
    rows = [[cell.replace("Ann", name) if isinstance(cell, str) else cell for cell in row] for row in events(6)]
    log = coterie.start(saved([HEADER, *rows])).write(tmp_path / "log")
    assert set(log.agents) == {name, *PEOPLE} - {"Ann"}
    assert not noted(log, "taken for nobody")
    assert noted(log, f"{name!r} is taken for a person; if that stands for nobody")
    low = [[cell.lower() if isinstance(cell, str) else cell for cell in row] for row in rows]
    log = coterie.start(saved([HEADER, *low])).write(tmp_path / "low")
    assert noted(log, f"'{name.lower()}', which is taken for nobody; ", f"write it like one: {name}")
    assert name.lower() not in log.agents


def test_words_for_nobody_in_a_column_of_people_are_told(csv_log):
    table = "sample,team,agent,utility\n1,x,Ann,3\n1,x,-,3\n2,x,Ann,4\n2,x,none,4\n"
    path = csv_log(totals=table)
    log = coterie.read_log(path, utility_range=(0, 5))
    assert log.agents == ("-", "Ann", "none")
    assert noted(log, "'-', 'none' are taken for people; if that stands for nobody, leave out such rows")
    assert not noted(coterie.read_log(path, utility_range=(0, 5), agents=("-", "none", "Ann")), "nobody")


def test_names_in_one_cell_may_be_nobody_too(csv_log):
    table = "sample,team,members,score\n1,x,Ann; -; Bo,3\n1,y,Cy; Dee,4\n2,x,Ann; Dee,3\n2,y,x; Cy,3\n"
    log = coterie.read_log(csv_log(totals=table), utility_range=(0, 5), totals="team-score-averages")
    assert log.agents == ("Ann", "Bo", "Cy", "Dee", "x")  # somebody may be called x


def test_a_header_that_comes_again_is_no_number():
    below = [["a", "Ann", "Bo", "3", "4"], ["b", "Cy", "Dee", "5", "6"]]
    found = named_columns(["team", "Member", "member", "score", "score"], below)
    assert found == ["team", "Member", "member 2", "score", "score "]
    for name in (*schema.COLUMNS, *schema.SYNONYMS.values()):
        assert named_columns(["x", name, name, "y", "z"], below)[1:3] == [name, f"{name} "]


def test_a_header_that_comes_again_over_cells_that_are_filled_later_or_without_a_name():
    below = [["a", "Ann", "", "3", "Eve"], ["b", "Cy", "", "5", "Finn"]]
    assert named_columns(["x", "Member", "Member", "y", "z"], below)[1:3] == ["Member", "Member 2"]
    assert named_columns(["x", "y", "z", "Points", "Points"], [["a", "b", "c", "3", ""]])[3:] == ["Points", "Points "]
    full = [["a", "Ann", "Bo", "Eve", "3"]]
    assert named_columns(["x", "Member", "Member", "", "y"], full)[1:4] == ["Member", "Member 2", "Member 3"]
    assert named_columns(["x", "Member", "Member", "member 2"], full)[1:] == ["Member", "Member 3", "member 2"]


def test_two_columns_that_could_be_the_team(saved):
    rows = [(e, t, f"Hall {e[-1]}", name, 3) for e, t, names, _ in events(4) for name in names.split("; ")]
    for header in (("Week", "Team", "Team", "Name", "Points"), ("sample", "team", "team", "agent", "utility")):
        table = saved([header, *rows])
        with pytest.raises(InputError, match="could both be 'coalition'; rename one"):
            coterie.start(table)
    with pytest.raises(InputError, match="could both be 'coalition'; rename one"):
        coterie.read_log(table, utility_range=(0, 5))
    guess = coterie.start(saved([("Week", "Area", "Area", "Name", "Points"), *rows]))
    (other,) = {"Area", "Area 2"} - {part(guess, "coalition").value}
    assert part(guess, "coalition").why.endswith(f"; {other!r} may be meant as well")


def test_blank_rows_among_numbered_ones_are_called_so(saved, tmp_path):
    rows = [row[2:] for row in wide(events(3))]
    rows[2:2] = [["", "", "", ""]]
    rows.insert(5, ["", "", "", 4])
    log = coterie.start(saved([("Player 1", "Player 2", "Player 3", "Score"), *rows])).write(tmp_path / "log")
    assert noted(log, "1 row", "is blank (row 4)")
    assert noted(log, "1 row", "lists no members (row 7)")


def test_a_log_of_a_team_called_total(csv_log):
    folder = csv_log(totals="sample,agent,coalition,utility\n1,Ann,Total,0.3\n1,Bob,Total,0.3\n")
    with pytest.raises(InputError, match=r"every row seems to sum others up.*summaries=\"keep\" takes it so"):
        coterie.read_log(folder)
    assert coterie.read_log(folder, summaries="keep").coalitions == ("Total",)


def test_notes_name_the_file_that_was_given(saved, tmp_path):
    rows = weekly(("A", "B"))
    rows[3][3] = "absent"
    log = coterie.start(saved([RECORDS, *rows])).write(tmp_path / "log")
    assert noted(log, str(tmp_path / "t.csv"), "was not there")
    absent = coterie.read_log(tmp_path / "log", blanks="absent")
    assert noted(absent, "1 row of", "has no number (1 of them says 'absent'), so somebody was not there: they count")


def test_files_that_hold_no_table(tmp_path):
    for name, what in (("firm.PNG", "a picture"), ("firm.pdf", "a document"), ("firm.zip", "an archive")):
        (tmp_path / name).write_bytes(b"x")
        with pytest.raises(InputError, match=f"{name}: is {what}; expected a .csv, .xlsx or .parquet file with a row"):
            coterie.start(tmp_path / name)


def test_a_few_people_on_their_own_do_not_say_what_being_alone_is_worth(saved):
    """Three of forty scores made every other one look worse than none."""
    rows = weekly(("A", "B"), weeks=5)
    alone = [["Week 1", f"S{i}", f"solo {i}", 49] for i in range(3)]
    found = coterie.start(saved([RECORDS, *rows, *alone]))
    (neutral,) = [one for one in found.answers if one.name == "neutral"]
    assert "there are too few numbers of people on their own" in neutral.why


def test_swapped_columns_are_told(tmp_path):
    rows = "".join(f"{t};Tisch {p % 2};P{p}on;{p % 5 + 1}\n" for t in range(6) for p in range(6))
    (tmp_path / "class.csv").write_text(f"Woche;Tisch;Name;Punkte\n{rows}")
    with pytest.raises(InputError, match=r"look swapped: try columns=\{.agent.: .Name., .coalition.: .Tisch.\}"):
        coterie.start(tmp_path / "class.csv", columns={"agent": "Tisch", "coalition": "Name"})
    teams = ["Ada, Bo", "Cy, Di", "Ada, Cy, Di", "Bo, Di"]
    rows = "".join(f"{t};Club {i};{teams[(t + i) % 4]};{i + t}\n" for t in range(8) for i in range(2))
    (tmp_path / "hack.csv").write_text(f"Event;Team;Members;Score\n{rows}")
    with pytest.raises(InputError, match=r"look swapped: try columns=\{.members.: .Members., .coalition.: .Team.\}"):
        coterie.start(tmp_path / "hack.csv", columns={"members": "Team", "coalition": "Members"})


@pytest.mark.parametrize(
    ("header", "guessed"),
    [
        ("Note", None),  # out of 10
        ("Minutes", False),
        ("Rank", True),
        ("Score (1=best 5=worst)", True),
        ("Fehler", True),
        ("Rating", None),
        ("Points", None),
    ],
)
def test_a_scale_that_may_go_the_other_way_is_turned_or_told(saved, tmp_path, header, guessed):
    """What a name leaves open is no guess: it is told until somebody says which."""
    table = saved([(*HEADER[:-1], header), *events(24)])
    guess = coterie.start(table)
    assert [one.value for one in guess.answers if one.name == "lower_is_better"] == [guessed][: guessed is not None]
    assert guess.options.get("lower_is_better") == (guessed or None)
    log = guess.write(tmp_path / "log")
    for told in (log.notes, coterie.read_log(tmp_path / "log").notes):
        about = f"more is taken to be better, but less may be in the column {header!r}"
        assert sum(about in one for one in told) == (guessed is False)  # once
    for said in (True, False):
        declared = coterie.start(table, lower_is_better=said)
        assert declared.options["lower_is_better"] == said
        assert not any("more is taken" in note for note in declared.write(tmp_path / f"{said}").notes)


@pytest.mark.parametrize("header", ["Points (sur 20)", "Score (out of 20)", "Punkte (von 20)", "Note /20"])
def test_what_a_header_says_of_the_scale_wins_over_a_typo(saved, tmp_path, header):
    rows = weekly(("A", "B", "C"), weeks=20)
    for row in rows:
        row[3] = round(row[3] / 4, 1)
    clean = coterie.start(saved([("Week", "Name", "Group", header), *rows]))
    assert "0 to 20 ends where the name of the column says" in answer(clean, "utility_range").why
    fine = answer(clean, "neutral")
    rows[7][3] = 135
    guess = coterie.start(saved([("Week", "Name", "Group", header), *rows]))
    scale = answer(guess, "utility_range")
    assert scale.value == [0, 20]
    assert scale.why.startswith("all but 1 value lie from 0 to 20")
    assert answer(guess, "neutral").value == pytest.approx(fine.value, abs=0.05)
    with pytest.raises(InputError, match=r"row 9: 135 in the column .* is probably a typo: the other 239 lie within"):
        guess.write(tmp_path / "log")
    assert not (tmp_path / "log").exists()
    for row in rows[:40]:
        row[3] = 50
    assert answer(coterie.start(saved([("Week", "Name", "Group", header), *rows])), "utility_range").value[1] >= 50


def test_scores_of_teams_out_of_their_scale_are_typos_too(saved, tmp_path):
    rows = [[e, f"T{e}", "; ".join(PEOPLE[: 2 + e % 3]), 5 + e % 4] for e in range(40)]
    rows[5][3] = 70
    guess = coterie.start(saved([(*HEADER[:3], "Score (max 10)"), *rows]))
    with pytest.raises(InputError, match=r"row 7: 70 in the column 'Score \(max 10\)' is probably a typo"):
        guess.write(tmp_path / "log")


# --- Times ----------------------------------------------------------------------------------------------------


def escapes(saved, times, header="Time taken (mins)", **leftover):
    """Rows of escape rooms with two teams of three, the times of which come one after another."""
    rng = np.random.default_rng(1)
    rows = []
    for week in range(8):
        for team, members in zip(("Red", "Blue"), rng.permutation(PEOPLE[:6]).reshape(2, 3), strict=True):
            rest = [int(rng.integers(0, 5)) for _ in leftover]
            rows.append([week + 1, team, "; ".join(members), times[len(rows) % len(times)], *rest])
    return saved([["Week", "Room", "Players", header, *leftover.values()], *rows])


@pytest.mark.parametrize(
    ("header", "times", "plain"),
    [
        ("Time taken (mins)", ["48:36", "DNF", "51:12", "39:30"], "39.5 for 39:30"),
        ("Time taken (mins)", ["1:02:30", "58:20"], "62.5 for 1:02:30"),
        ("Time taken (mins)", ["1:02:30", "58:20", ""], "62.5 for 1:02:30"),
        ("Run", ["48:36", "51:12", "39:31"], "39.52 for 39:31"),
        ("Time (h)", ["1:30", "1:45"], "1.5 for 1:30"),
        ("Jury", ["4/5", "3/5"], "3 for 3/5"),
        ("Quiz", ["80%", "75%"], "75 for 75%"),
        ("Quiz", ["\u2605\u2605", "\u2605"], "1 for \u2605"),
    ],
)
def test_a_leftover_column_is_no_outcome_beside_one_that_is_written_otherwise(saved, header, times, plain):
    """The hints that teams took were learnt from, as if more were better, and nothing was said of the times."""
    path = escapes(saved, times, header, hints="Hints used")
    with pytest.raises(InputError) as refused:
        coterie.start(path)
    told = str(refused.value)
    assert f"; {header!r} may be meant, and holds " in told
    assert plain in told
    assert 'If it is \'Hints used\' after all, say so with columns={"utility": "Hints used"}' in told
    known = {"sample": "Week", "coalition": "Room", "members": "Players", "utility": "Hints used"}
    assert part(coterie.start(path, columns=known), "utility").value == "Hints used"


def test_when_something_begins_is_no_outcome(saved):
    guess = coterie.start(escapes(saved, ["9:30", "14:00"], "Time", hints="Hints used"))
    assert part(guess, "utility").value == "Hints used"


@pytest.mark.parametrize(
    ("header", "times"),
    [
        ("Time taken (mins)", [48.6, 51.2, 39.5]),
        ("Time taken (mins)", [48, 51, 40]),
        ("Time (h)", [1.5, 1.25]),
        ("Finish time", [48.6, 51.2, 39.5]),
        ("Minutes", [48, 51, 40]),
        ("Session time in seconds", [480, 510.5]),
    ],
)
def test_how_long_something_took_is_an_outcome(saved, header, times):
    guess = coterie.start(escapes(saved, times, header, hints="Hints used"))
    assert part(guess, "utility").value == header
    assert part(guess, "utility").why == "it holds how long something took"
    less = answer(guess, "lower_is_better")
    assert (less.value, less.is_open) == (False, True)


@pytest.mark.parametrize("times", [[1, 2, 3], [9.3, 14.0], ["9.30", "14.15"], [45000.5, 45001.5], [0.4375, 0.5]])
def test_other_times_say_when(saved, times):
    """Numbers of rounds, times of the day, and both as spreadsheets count them."""
    path = saved(
        [["Time", "Team", "Who", "Points"]]
        + [[one, "xy"[t // 2], name, t + place] for place, one in enumerate(times) for t, name in enumerate(PEOPLE[:4])]
    )
    assert part(coterie.start(path), "sample").value == "Time"


def people(header, *cells, weeks=24):
    """Rows about twelve people in three teams, with cells that are made of the week and the person."""
    rows = [[cell(week, i) for cell in cells] for week in range(weeks) for i in range(len(PEOPLE))]
    return [header.split(","), *rows]


WHO = (lambda _, i: PEOPLE[i], lambda week, i: ("North", "South", "West")[(i * (1 + week) + week) % 3])


@pytest.mark.parametrize("low", [1000.25, 1910.1, 9000.75])
def test_numbers_with_four_digits_and_a_fraction_are_no_dates(saved, low):
    rows = people("Week,Who,Area,Sales", lambda week, _: week, *WHO, lambda week, i: low + 3.13 * (week + i))
    guess = coterie.start(saved(rows))
    assert part(guess, "utility").value == "Sales"


@pytest.mark.parametrize(
    ("written", "is_date"),
    [("2026.01", True), ("2026.1.5", True), ("2025/26", True), ("03/02/2026 10:47:00", True), ("5.3.26, 9:00", True),
     ("2026-03-02T10:47", True), ("2026.13", False), ("2026.75", False), ("3:30", False)],
)  # fmt: skip
def test_what_dates_look_like(written, is_date):
    assert Column("x", 2, {written: 2}).is_dates is is_date


@pytest.mark.parametrize(
    "names", [("05.01.2026", "12.01.2026", "19.01.2026"), ("Jan", "Feb", "Mar", "Apr"), ("Mo", "Di", "Mi", "Do", "Fr")]
)
def test_columns_of_numbers_that_nothing_tells_apart_are_refused(saved, names):
    """The first was taken for when, and the second for how good it was."""
    cells = [lambda _, i, place=place: 1 + (i + place) % 2 for place in range(len(names))]
    path = saved(people(",".join(["Who", "Team", *names]), *WHO, *cells, weeks=1))
    with pytest.raises(InputError) as refused:
        coterie.start(path)
    told = str(refused.value)
    assert f"nothing tells apart those that hold numbers ({names[0]!r}, {names[1]!r} and {len(names) - 2} more)" in told
    assert "make a row for each person and round" in told
    known = {"sample": names[1], "utility": names[2]}
    assert part(coterie.start(path, columns=known), "utility").value == names[2]


def test_a_week_in_short_says_when(saved):
    rows = people("KW,Wer,Team,Umsatz,Kunden", lambda week, _: week, *WHO, lambda w, i: 9 + w + i, lambda w, i: w + i)
    guess = coterie.start(saved(rows))
    assert (part(guess, "sample").value, part(guess, "sample").why) == ("KW", "its name says 'kw'")


@pytest.mark.parametrize("is_of_names", [True, False])
def test_ratings_of_pairs_without_teams_are_refused(saved, is_of_names):
    """Who was rated was taken for the team."""
    names = PEOPLE if is_of_names else tuple(range(100, 112))
    rows = [
        (week, names[i], names[(i + 1 + week % 5) % 12], 1 + (i + week) % 5) for week in range(9) for i in range(12)
    ]
    path = saved([("Week", "From", "To", "Stars"), *rows])
    with pytest.raises(
        InputError, match="'From' and 'To' hold the same names, as where people rate each other, and no"
    ):
        coterie.start(path)


def test_teams_may_be_called_as_their_captains(saved):
    rows = people(
        "Week,Who,Captain,Points", lambda w, _: w, WHO[0], lambda w, i: PEOPLE[(i + w) % 3], lambda w, i: w + i
    )
    assert part(coterie.start(saved(rows)), "coalition").value == "Captain"


@pytest.mark.parametrize("header", ["Fehler", "Errors", "Umsatz"])
def test_numbers_of_rows_are_no_outcomes(saved, header):
    number = iter(range(1, 1000))
    rows = people(f"Nr.,Datum,Name,Team,{header}", lambda *_: next(number), lambda week, _: f"{1 + week}.05.2026", *WHO,
                  lambda week, i: 1 + (week + i) % 4)  # fmt: skip
    assert part(coterie.start(saved(rows)), "utility").value == header


def test_outcomes_in_words_are_told_where_a_game_says_when(saved):
    """The result was taken for when, and the number of the game for how good it was."""
    rows = [[1 + g, *(PEOPLE[(g + 3 * i) % 12] for i in range(4)), ("won", "lost")[g % 2]] for g in range(40)]
    path = saved([("Game", "Player 1", "Player 2", "Player 3", "Player 4", "Result"), *rows])
    with pytest.raises(InputError, match=r"'Result' may be meant, and holds 'lost', 'won'\. Write plain numbers"):
        coterie.start(path)


@pytest.mark.parametrize(
    ("header", "cell", "plain"),
    [
        ("Target reached", lambda week, i: f"{60 + week + i}%", "Here, write 7"),
        ("Time", lambda week, i: f"{40 + i}:{10 + week}", "Here, write 4"),
        ("Satisfaction", lambda week, i: ("good", "bad")[(week + i) % 2], "1 to 5 for words from bad to great"),
        ("Umsatz", lambda week, i: f"2.{300 + week},5{i % 10}", "for 2.3"),
        ("Ventes", lambda week, i: f"2\u202f{300 + week},5{i % 10}", "Here, write 23"),
        ("Net", lambda week, i: f"\u2212{week}.{i}", "for \u2212"),
    ],
)
def test_outcomes_that_are_no_plain_numbers_are_told_where_nothing_else_holds_numbers(saved, header, cell, plain):
    rows = people(f"Date,Runner,Team,{header}", lambda week, _: f"{1 + week}.05.2026", *WHO, cell)
    with pytest.raises(InputError) as refused:
        coterie.start(saved(rows))
    assert f"; {header!r} may be meant, and holds " in str(refused.value)
    assert plain in str(refused.value)


@pytest.mark.parametrize("header", ["Dauer (h)", "Time (h)", "Erreicht"])
def test_numbers_of_teams_are_no_outcomes(saved, header):
    """They were, and how long it took was taken for the team."""

    def good(week, i):
        return f"{70 + (i + week) % 9}%" if header == "Erreicht" else f"0{1 + (week + i) % 4}:31"

    when, team = (lambda week, _: f"{1 + week}.05.2026"), (lambda week, i: (week + i) % 3)
    with pytest.raises(InputError, match="may be meant, and holds"):
        coterie.start(saved(people(f"Datum,Name,Team,{header}", when, WHO[0], team, good)))
    with pytest.raises(InputError, match="no column holds numbers that say how good it was"):
        coterie.start(saved(people("Datum,Name,Team,Area", when, WHO[0], team, WHO[1])))


def test_a_word_for_teams_in_a_longer_name_may_be_an_outcome(saved):
    rows = people("Datum,Name,Area,Project cost", lambda w, _: f"{1 + w}.05.2026", *WHO, lambda w, i: 20 + (w + i) % 7)
    assert part(coterie.start(saved(rows)), "utility").value == "Project cost"


def test_decimal_commas_are_not_blamed_where_they_are_read(saved):
    """That nobody has a teammate is all that is wrong."""
    rows = people("Week,Who,Team,Score", lambda week, _: week, WHO[0], WHO[0], lambda w, i: f"{1 + (w + i) % 4},5")
    with pytest.raises(InputError, match=r"no row has both a team of several people and a number$"):
        coterie.start(saved(rows, delimiter=";"), columns={"coalition": "Team"})
    rows = people("Week,Who,Team,Score", lambda week, _: week, *WHO, lambda w, i: f"{1 + (w + i) % 4},250")
    with pytest.raises(InputError, match=r"numbers in 'Score' hold commas, such as .* write what is meant"):
        coterie.start(saved(rows))


def test_a_place_may_be_better_where_it_is_less(saved):
    rows = people("Week,Who,Team,Place", lambda week, _: week, *WHO, lambda w, i: 1 + (w + i) % 4)
    less = answer(coterie.start(saved(rows)), "lower_is_better")
    assert (less.value, less.is_open) == (False, True)


@pytest.mark.parametrize("header", ["Vorname,Nachname", "First name,Last name", "Prénom,Nom", "Surname,Given name"])
def test_first_names_of_several_people_are_refused(saved, header):
    """Two people of one first name were one, with the mean of their numbers."""
    names = {column: [f"{column[0]}{name}" for name in PEOPLE] for column in header.split(",")}

    def path():
        cells = [lambda _, i, mine=mine: mine[i] for mine in names.values()]
        return saved(people(f"Week,{header},Team,Score", lambda w, _: w, *cells, WHO[1], lambda w, i: 1 + (w + i) % 4))

    who = part(coterie.start(path()), "agent").value
    names[who][1] = names[who][0]
    with pytest.raises(InputError, match=f"'{who}' alone is not who: '.Ann' is '.Ann' and '.Bob' in .* one column of"):
        coterie.start(path())
    assert coterie.start(path(), columns={"agent": who}).shape == "records"
