"""Tables as people keep them: spreadsheets, Windows text, blanks, spellings, totals and choices in one table."""

import sys
from datetime import date, datetime

import numpy as np
import pandas as pd
import pytest
import xlsxwriter

import coterie
from coterie.errors import InputError
from coterie.log.inspection import inspect_log
from coterie.log.names import about_swapped, cleaned, spellings
from coterie.log.scales import likely_scale, stated_scale
from coterie.statistics.statistics import Statistics

HEADER = ["sample", "coalition", "agent", "partner", "utility"]


@pytest.fixture
def workbook(tmp_path):
    """Write sheets of rows: workbook({"Ratings": [[...], ...]}) -> path."""

    def write(sheets, name="table.xlsx", merged=()):
        path = tmp_path / name
        book = xlsxwriter.Workbook(path, {"default_date_format": "yyyy-mm-dd"})
        for title, rows in sheets.items():
            sheet = book.add_worksheet(title)
            for place, row in enumerate(rows):
                sheet.write_row(place, 0, row)
            for where, value in merged:
                sheet.merge_range(*where, value)
        book.close()
        return path

    return write


def test_cells_are_what_a_person_would_type(workbook):
    rows = [
        HEADER,
        [datetime(2024, 3, 1), "x", "Ada", 7, 0.5],  # noqa: DTZ001  (cells have none)
        [date(2023, 12, 1), "x", "Ada", 7.0, "0,25"],
        [datetime(2024, 3, 2, 12, 30), True, "Ada", "7", -1],  # noqa: DTZ001
        [],
        [],
    ]
    log = coterie.read_log(workbook({"Ratings": rows}))
    assert log.agents == ("7", "Ada")
    assert log.samples.names.to_pylist() == ["2023-12-01", "2024-03-01", "2024-03-02 12:30:00"]
    assert log.samples.order == "in the order of their dates"
    assert log.coalitions == ("TRUE", "x")
    assert log.checked.extent == (-1.0, 0.5)
    assert log.rows == 3


def test_titles_merged_cells_and_margins(workbook):
    rows = [["Ratings of 2024"], [], [*HEADER, ""], ["1", "x", "a", "b", 1, "a note"], ["", "x", "b", "c", 0]]
    log = coterie.read_log(workbook({"R": rows}, merged=[((3, 0, 4, 0), "1")]))
    assert (log.rows, log.n_samples) == (2, 1)
    with pytest.raises(InputError, match="row 5: sample is empty"):
        coterie.read_log(workbook({"R": rows}))


def test_sheets_by_name_and_number(workbook):
    other = [HEADER, ["1", "x", "c", "d", 1]]
    path = workbook({"First": [HEADER, ["1", "x", "a", "b", 1]], "2024": other, "Empty": []})
    log = coterie.read_log(path)
    assert log.agents == ("a", "b")
    assert any("the sheet 'First' was read, of 3; sheet says which" in note for note in log.notes)
    for sheet in ("2024", 2, " 2024 "):
        assert coterie.read_log(path, sheet=sheet).agents == ("c", "d")
    with pytest.raises(InputError, match="has no sheet '4'; there are: 1 'First', 2 '2024', 3 'Empty'"):
        coterie.read_log(path, sheet=4)
    with pytest.raises(InputError, match=r"sheet 'Empty': is empty, expected a header and rows"):
        coterie.read_log(path, sheet="Empty")


def test_a_workbook_may_be_a_whole_log(workbook):
    members = [["sample", "agent", "coalition"], ["1", "a", "x"], ["1", "b", "x"], ["1", "c", "x"]]
    totals = [["Sample", "Agent", "Utility"], ["1", "a", 2], ["1", "b", 1.5]]
    log = coterie.read_log(workbook({"Notes": [["hello"]], "Memberships": members, "totals": totals}))
    assert log.tables == ("memberships", "totals")
    assert log.rows == 2


def test_what_is_no_spreadsheet_is_refused(tmp_path, csv_log):
    (tmp_path / "t.xlsx").write_bytes(b"hello")
    with pytest.raises(InputError, match=r"t[.]xlsx: cannot be read as a spreadsheet .* cut off or damaged: save it"):
        coterie.read_log(tmp_path / "t.xlsx")
    with pytest.raises(InputError, match="sheet says which sheet of a spreadsheet to read"):
        coterie.read_log(csv_log(pairs="sample,coalition,agent,partner,utility\n1,x,a,b,1\n"), sheet="A")


@pytest.mark.parametrize(
    ("encoding", "start"), [("cp1252", ""), ("utf-8", ""), ("utf-8-sig", ""), ("utf-16", ""), ("cp1252", "sep=;\r\n")]
)
def test_encodings_of_windows(tmp_path, encoding, start):
    text = start + "sample;coalition;agent;partner;utility\r\n1;Büro;Jörg;Zoé;0,5\r\n2;Büro;Jörg;Zoé;-1\r\n;;;;\r\n"
    (tmp_path / "t.csv").write_bytes(text.encode(encoding))
    log = coterie.read_log(tmp_path / "t.csv")
    assert log.agents == ("Jörg", "Zoé")
    assert log.checked.extent == (-1.0, 0.5)
    assert any("Windows-1252" in note for note in log.notes) == (encoding == "cp1252")


def test_blanks_are_skipped_with_a_count(csv_log):
    text = "sample,coalition,agent,partner,utility\n1,x,a,b,1\n1,x,a,c,\n1,x,b,c, \n,,,,\n"
    folder = csv_log(pairs=text)
    log = coterie.read_log(folder)
    assert log.rows == 1
    assert any("2 rows of" in note and "were skipped" in note for note in log.notes)
    assert inspect_log(log).unobserved == 2  # they met all the same
    with pytest.raises(InputError, match=r"row 3: utility is empty.*also row 4"):
        coterie.read_log(folder, blanks="refuse")


def test_spellings_are_told_and_merged(csv_log):
    text = "sample,coalition,agent,partner,utility\n1,x,Bob,Ada,1\n2,X ,bob ,Ada,0\n3,x,Bob,ada,0.5\n"
    folder = csv_log(pairs=text)
    log = coterie.read_log(folder)
    assert log.agents == ("Ada", "Bob", "ada", "bob ")
    told = [note for note in log.notes if "several spellings" in note]
    assert len(told) == 2
    assert "'Bob' and 'bob '" in told[0]
    assert "clean_names=True merges them" in told[0]
    clean = coterie.read_log(folder, clean_names=True)
    assert (clean.agents, clean.coalitions) == (("Ada", "Bob"), ("x",))
    assert not any("spellings" in note for note in clean.notes)
    assert Statistics.of(clean).whole.count.tolist() == [3]
    (folder / "log.json").write_text('{"clean_names": true, "since": 2}', encoding="utf-8")
    assert coterie.read_log(folder).rows == 2


def test_names():
    assert spellings(["a", "A", " a", "b"]) == [(" a", "A", "a")]
    assert cleaned({"Ann Lee": 1, "ann  lee": 3, "Bo": 1}) == {"Ann Lee": "ann lee", "ann  lee": "ann lee"}
    assert about_swapped(["Ada", "Bob", "Cy"], ["Ada", "Bob"])
    assert about_swapped(["x", "y"], ["Ada Lovelace", "Alan Turing"])
    assert not about_swapped(["Ada Lovelace", "Alan Turing"], ["Deep Sea", "Outer Space"])
    assert not about_swapped(["Ada", "Bob", "Cy"], ["x", "Ada", "y", "z"])
    assert not about_swapped(["Ada", "Bob", "Cy", "Dee", "Eve"], ["Byte Club", "The Loops", "Null Pointers"])


def test_totals_in_one_table_are_those_of_two(csv_log):
    rng = np.random.default_rng(1)
    rows = []
    for m in range(12):
        for i in range(6):
            joined = rng.choice(3, rng.integers(1, 3), replace=False)
            rows += [(str(m), f"p{i}", f"c{l}", rng.uniform(-0.5, 0.5)) for l in joined]
    rows.append(("0", "p0", "alone", 0.3))
    table = pd.DataFrame(rows, columns=["sample", "agent", "coalition", "utility"])
    table.loc[3, "utility"] = None
    one = coterie.Log.from_frames(totals=table, symmetric=False)
    sizes = table.groupby(["sample", "coalition"])["agent"].transform("size")
    met = table[sizes > 1]
    unknown = set(met[met["utility"].isna()][["sample", "agent"]].itertuples(index=False, name=None))
    totals = met.groupby(["sample", "agent"])["utility"].sum().reset_index()
    known = [key not in unknown for key in totals[["sample", "agent"]].itertuples(index=False, name=None)]
    members = table[["sample", "agent", "coalition"]]
    two = coterie.Log.from_frames(memberships=members, totals=totals[known], symmetric=False)
    assert one.tables == two.tables
    assert one.rows == two.rows
    assert Statistics.of(one).sha256 == Statistics.of(two).sha256
    solo = int(((sizes == 1) & table["utility"].notna()).sum())
    assert any(note.startswith(f"{solo} row") and "alone in the team" in note for note in one.notes)
    # Averages over teammates are the sums that they stand for, also in teams of several sizes.
    averages = table.assign(utility=table["utility"] / np.maximum(sizes - 1, 1))
    same = coterie.Log.from_frames(totals=averages, totals_are="team-averages", symmetric=False)
    np.testing.assert_allclose(Statistics.of(same).whole.moment(0), Statistics.of(one).whole.moment(0), atol=1e-7)


def test_a_total_that_is_repeated_is_told(csv_log):
    text = "sample,agent,coalition,utility\n1,a,x,1\n1,a,y,1\n1,b,x,0.5\n1,c,y,0.5\n"
    notes = coterie.read_log(csv_log(totals=text)).notes
    assert any("1 time somebody has several rows in one round with the same utility" in note for note in notes)


def test_choices_are_pairs_who_agree_or_not(csv_log):
    text = "sample,coalition,agent,choice\n1,x,a,yes\n1,x,b,yes \n1,x,c,no\n1,x,d,\n2,x,a,no\n2,x,c,no\n"
    log = coterie.read_log(csv_log(choices=text), utility_range=(0, 1))
    assert log.tables == ("memberships", "pairs")
    assert log.rows == 4
    found = log.engine.table(f"SELECT * FROM {log.engine.name('ratings')}").to_pylist()
    assert {(r["sample"], r["agent"], r["partner"]): r["utility"] for r in found} == {
        ("1", "a", "b"): 1.0, ("1", "a", "c"): 0.0, ("1", "b", "c"): 0.0, ("2", "a", "c"): 1.0,
    }  # fmt: skip
    assert any("1 row" in note and "no choice" in note for note in log.notes)
    assert any("two who chose alike get 1, others 0" in note for note in log.notes)
    for options, message in [
        ({"blanks": "refuse"}, "row 5: choice is empty"),
        ({"symmetrize": True}, "nothing to average"),
        ({"sigma": 1}, "choices are worth the ends of a range; declare utility_range"),
    ]:
        with pytest.raises(InputError, match=message):
            coterie.read_log(csv_log(choices=text), **options)
    with pytest.raises(InputError, match="is listed more than once, expected one row per agent, coalition and sample"):
        coterie.read_log(csv_log(choices=text + "1,x,a,no\n"))
    single = csv_log(whatever=text) / "whatever.csv"
    assert coterie.read_log(single, symmetric=False).rows == 8


def test_spark_shapes_tables_alike(tmp_path, spark):
    choices = "sample,coalition,agent,choice\n1,x,a,yes\n1,x,b,yes\n1,x,C ,no\n2,x,a,no\n2,x,c,no\n2,x,c2,\n"
    scores = "sample;team;members;score\n1;x;a, b, c;2\n1;y;d|e;-0,5\n2;x;a, e;1\n2;y;b;9\n"
    joined = "sample;team;members;score\n1;x;a & b AND c;2\n1;y;d/e;-0,5\n2;x;a & e;1\n2;y;b+c;9\n2;z;d;n/a\n"
    wide = "p1;p2;p3;score\na, x;b;c;2\nd;e;-;gone\na, x;e;;1\nb;c;;absent\nTotal;;;9\n;;;3\n"
    columns = {"sample": "#", "coalition": "#", "members": ["p1", "p2", "p3"]}
    for name, text, said in (
        ("choices.csv", choices, {}),
        ("scores.csv", scores, {}),
        ("joined.csv", joined, {"separators": "& and /"}),
        ("wide.csv", wide, {"columns": columns, "blank_words": "Gone"}),
    ):
        (tmp_path / name).write_text(text, encoding="utf-8")
        about = {"clean_names": True, **said}
        logs = [coterie.read_log(tmp_path / name, spark=one, **about) for one in (None, spark)]
        assert logs[0].notes == logs[1].notes
        assert len({Statistics.of(log, noise="pairs").sha256 for log in logs}) == 1


def test_marks_for_nothing_are_blanks(csv_log):
    marks = ["n/a", "N/A", "-", "na", "?", "#N/A", " n.a. ", "\u2013"]
    text = "sample,coalition,agent,partner,utility\n1,x,a,b,1\n2,x,a,b,\n"
    folder = csv_log(pairs=text + "".join(f"{3 + place},x,a,b,{mark}\n" for place, mark in enumerate(marks)))
    log = coterie.read_log(folder)
    assert (log.rows, log.n_samples) == (1, 10)
    assert any(
        "9 rows of" in note and "(1 of them says '#N/A', 1 '-', 1 '?'," in note and "were skipped" in note
        for note in log.notes
    )
    with pytest.raises(InputError, match=r"row 3: utility is empty.*'-' \(1 time\).*also rows 4, 5, .* and 11\)"):
        coterie.read_log(folder, blanks="refuse")


def test_text_among_numbers_is_counted_and_all_rows_are_named(csv_log):
    cells = ["1", "moved", "0.5", "moved", "0", "left", "0"]
    rows = "".join(f"{place},x,a,b,{cell}\n" for place, cell in enumerate(cells))
    with pytest.raises(InputError) as refused:
        coterie.read_log(csv_log(pairs="sample,coalition,agent,partner,utility\n" + rows))
    told = str(refused.value)
    assert "pairs.csv, row 3: utility is 'moved', expected a finite number" in told
    assert "of 7 rows, these are no numbers: 'moved' (2 times) and 'left' (1 time)" in told
    assert told.endswith(
        'leave the cell empty, or if such words stand for none say blank_words="moved,left", if for somebody who was '
        'not there absent_words="moved,left" (also rows 5 and 7)'
    )
    with pytest.raises(InputError) as refused:
        coterie.read_log(
            csv_log(pairs="sample,coalition,agent,partner,utility\n" + "1,x,a,b,bad\n" * 30), blanks="skip"
        )
    assert "(also rows 3, 4, 5, 6, 7, 8, 9, 10, 11 and 20 more)" in str(refused.value)


@pytest.mark.parametrize("start", ["", "sep=,\n", "\n\n"])
def test_rows_have_the_numbers_that_a_spreadsheet_shows(csv_log, start):
    text = f'{start}sample,coalition,agent,partner,utility\n1,x,a,"b\nb",1\n\n\n2,x,a,b,no\n,,,,\n3,x,a,b,9\n'
    above = start.count("\n") if "sep" not in start else 0
    with pytest.raises(InputError) as refused:
        coterie.read_log(csv_log(pairs=text))
    assert f"row {5 + above}: utility is 'no'" in str(refused.value)
    assert f"row {7 + above}: utility 9 is outside" in str(refused.value)
    ragged = text.replace("2,x,a,b,no", "2,x,a,b")
    with pytest.raises(InputError, match=f"row {5 + above} has 4 cells, expected 5 as in the header"):
        coterie.read_log(csv_log(pairs=ragged))


def test_rows_of_sheets_count_what_is_above_the_header(workbook):
    rows = [["Ratings"], [], HEADER, [1, "x", "a", "b", 1], [], [2, "x", "a", "b", "no"], [3, "x", "a", "a", 1]]
    with pytest.raises(InputError) as refused:
        coterie.read_log(workbook({"R": rows}), blanks="refuse")
    assert "table.xlsx, row 6: utility is 'no'" in str(refused.value)
    assert "table.xlsx, row 7: agent 'a' is paired with themselves" in str(refused.value)


JOINED = [["sample", "team", "members", "score"], [1, "x", "Ada & Bo and Cy", 2], [1, "y", "Dee", 1],
          [2, "x", "Ada & Dee", 1], [2, "y", "Bo & Cy", 0.5], [3, "x", "Ada & Bo & Cy", 2],
          [3, "y", "R&D Dee", 1]]  # fmt: skip


def test_what_stands_between_names_can_be_said(workbook):
    path = workbook({"Scores": JOINED})
    log = coterie.read_log(path, separators="& and")
    assert log.agents == ("Ada", "Bo", "Cy", "D Dee", "Dee", "R")
    assert not any("taken for one person" in note for note in log.notes)
    for wrong in ("", "&,and", "'", "\\", 3):
        with pytest.raises(InputError, match="separators: expected"):
            coterie.read_log(path, separators=wrong)


def test_a_team_of_one_that_may_be_several_is_said(workbook):
    rows = [*JOINED, [4, "x", "Ada; Bo; Eve + Flo; Cy & Dee", 1], [4, "y", "Cy", 1], [5, "x", "Ada; Bo", 1]]
    log = coterie.read_log(workbook({"Scores": rows}))
    assert "Eve + Flo" in log.agents
    told = next(note for note in log.notes if "taken for one person" in note)
    # All but Eve and Flo, who are nowhere else, in a team of four; Cy and Dee are people, in a team of four too.
    assert told.startswith("'Ada & Bo & Cy', 'Ada & Bo and Cy', 'Ada & Dee' and 3 more are taken for one person each; ")
    assert told.endswith('separators=", ; | newline & and"')


def test_one_typo_is_named(csv_log):
    stars = "".join(f"{m},x,a,b,{1 + m % 5}\n" for m in range(40))
    folder = csv_log(pairs="sample,coalition,agent,partner,utility\n" + stars + "40,x,a,b,6\n")
    with pytest.raises(InputError, match=r"row 42: utility 6 is probably a typo: the other 40 lie "):
        coterie.read_log(folder, utility_range=(1, 5), neutral=3)
    with pytest.raises(InputError) as refused:
        coterie.read_log(folder)
    assert "utility_range=(1, 5), neutral=3" in str(refused.value)
    assert "row 42: utility 6 is probably a typo" in str(refused.value)
    assert coterie.read_log(folder, utility_range=(1, 6), neutral=3).rows == 41


@pytest.mark.parametrize(
    ("times", "ends", "typos"),
    [
        ({1: 9, 3: 9, 5: 9}, (1, 5), 0),
        ({2: 30, 4: 30, 55: 1}, (1, 5), 1),
        ({2: 3, 4: 3, 55: 1}, (0, 100), 0),  # too few to call one a typo
        ({1: 9, 2: 9, 4: 9}, (1, 4), 0),
        ({-0.5: 30, 0.9: 30}, (-1, 1), 0),
        ({12: 30, 97: 20}, (0, 100), 0),
        ({0: 5, 3500: 20}, (0, 5000), 0),
        ({40.1: 1, 52: 30, 66.2: 1}, (0, 100), 0),  # as other juries of the same kind
        ({5.5: 9, 10: 30, 15: 9}, (0, 20), 0),
        ({-250: 9, 30: 9}, (-500, 500), 0),
        ({1012: 9, 1187: 9}, (1000, 1200), 0),
        ({0.313: 9, 0.347: 9}, (0.3, 0.35), 0),
        ({1000.1: 9, 1000.9: 9}, (1000, 1001), 0),
        ({0.2: 9, 0.21: 9}, (0.2, 0.22), 0),
        ({0: 9, 0.001: 9}, (0, 0.002), 0),
        ({0: 9, 5e-324: 9}, (0, 2e-300), 0),
        ({1: 9, 1.5e308: 9}, (0, sys.float_info.max), 0),
        ({1.78e308: 9, 1.79e308: 9}, (1.78e308, sys.float_info.max), 0),
        ({-1e308: 9, 0.5e308: 9}, (-1e308, 1e308), 0),
        ({3: 5}, (1, 5), 0),
    ],
)
def test_scales(times, ends, typos):
    found = likely_scale(times)
    assert ((found.low, found.high), found.typos) == (ends, typos)


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("Jury score (0-10)", (0, 10)),
        ("Score [0 \u2013 10]", (0, 10)),
        ("Punkte (von 0 bis 15)", (0, 15)),
        ("Rating, scale 1 to 7", (1, 7)),
        ("Change (-2..2)", (-2, 2)),
        ("Note (1 = sehr gut, 6 = ungenügend)", (1, 6)),
        ("Peer ratings (1 = never again, 3: fine, 5 = any time)", (1, 5)),
        ("0 = bad, 2.5 = good", (0, 2.5)),
        ("Points", None),
        ("Score 2", None),
        ("Score (2024-05-01)", None),
        ("Score (1/2 done)", None),
        ("Score (Q1-Q4)", None),
        ("Week 1-5", None),
        ("Stars (5-5)", None),
    ],
)
def test_scales_that_headers_tell_of(text, ends):
    assert stated_scale(text) == ends


def test_a_scale_that_is_written_is_taken_unless_values_contradict_it():
    seen = {2.7: 20, 6: 40, 9.1: 20}
    assert likely_scale(seen).low == 1
    found = likely_scale(seen, ratings=False, stated=(0, 10))
    assert (found.low, found.high) == (0, 10)
    assert found.why == "values go from 2.7 to 9.1, and 0 to 10 is said to be the scale"
    slip = likely_scale(seen | {91: 1}, ratings=False, stated=(0, 10))
    assert (slip.low, slip.high, slip.typos) == (0, 10, 1)
    assert likely_scale({20: 30, 90: 30}, stated=(0, 10)).high == 100


def test_a_column_that_another_sheet_has_is_found_there(workbook):
    path = workbook(
        {"Notes": [["Remark", "Who"], ["x", "y"]], "Ratings": [[*HEADER[:-1], "Stars"], ["1", "x", "a", "b", 1]]}
    )
    with pytest.raises(
        InputError, match=r"'Notes' has only: Remark, Who; the sheet 'Ratings' has: .*Stars, and sheet=\"Ratings\""
    ):
        coterie.read_log(path, columns={"utility": "Stars"})
    assert coterie.read_log(path, columns={"utility": "Stars"}, sheet="Ratings").rows == 1


def test_messages_name_the_file_that_a_log_was_started_from(tmp_path):
    table = tmp_path / "klasse.csv"
    people = ("Ann", "Bo", "Cy", "Di")
    rows = [f"{week},{name},T{place % 2},{place + week}" for week in range(3) for place, name in enumerate(people)]
    table.write_text("\n".join(["Week,Name,Team,Points", *rows, "3,Ann,T1,", "3,Bo,T1,4"]) + "\n", encoding="utf-8")
    coterie.start(table).write(tmp_path / "klasse")
    (told,) = [note for note in coterie.read_log(tmp_path / "klasse").notes if "no number" in note]
    assert f"klasse.csv (its copy {tmp_path / 'klasse' / 'totals.csv'})" in told
    described = tmp_path / "klasse" / "log.json"
    described.write_text(described.read_text(encoding="utf-8").replace('"klasse.csv"', "3"), encoding="utf-8")
    with pytest.raises(InputError, match='"copied_from" is 3, expected the name of a file'):
        coterie.read_log(tmp_path / "klasse")
