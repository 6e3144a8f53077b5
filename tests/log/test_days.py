"""Days that are written in several ways are the same rounds."""

import datetime as dt

import pytest

import coterie
from coterie.log.days import same_days
from coterie.log.inspection import inspect_log

FIRST = dt.date(2026, 8, 1)


def table(path, written=None, days=40):
    """Write what six people got in two areas each day; `written` says how some days are written, of whom."""
    rows = ["Datum,Area,Name,Points"]
    for place in range(days):
        day = FIRST + dt.timedelta(place)
        for who in range(6):
            text = (written or {}).get((place, who), "%Y-%m-%d")
            area = ("Hall", "Sea")[(who + place * (who % 3)) % 2]
            rows.append(f"{day.strftime(text)},{area},P{who},{(7 * place + who * who) % 11}")
    if path.suffix == ".xlsx":
        xlsxwriter = pytest.importorskip("xlsxwriter")
        with xlsxwriter.Workbook(str(path)) as book:
            sheet, as_date = book.add_worksheet(), book.add_format({"num_format": "dd.mm.yyyy"})
            for place, row in enumerate(rows):
                first, *rest = row.split(",")
                if place and first[4] == "-":
                    sheet.write_datetime(place, 0, dt.datetime.fromisoformat(first), as_date)
                else:
                    sheet.write_string(place, 0, first)
                for column, cell in enumerate(rest, start=1):
                    sheet.write(place, column, int(cell) if cell.isdecimal() else cell)
    else:
        path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize("name", ["table.csv", "table.xlsx"])
def test_days_as_text_beside_dates_are_the_same_rounds(tmp_path, name):
    written = {(13, 2): "%d.%m.%Y", (13, 3): "%d.%m.%Y", (20, 0): "%d/%m/%Y", (3, 1): "%d/%m/%Y"}
    guess = coterie.start(table(tmp_path / name, written))
    log = guess.write(tmp_path / "log")
    plain = coterie.start(table(tmp_path / f"plain_{name}")).write(tmp_path / "plain")
    assert log.n_samples == plain.n_samples == 40
    assert log.samples.names.to_pylist() == plain.samples.names.to_pylist()
    assert log.samples.order == "in the order of their dates"
    (told,) = [note for note in log.notes if "days in 'Datum'" in note]
    assert told.startswith("4 of 240 days in 'Datum' are written otherwise than most and were read as the same days: '")
    assert not [note for note in plain.notes if "days in 'Datum'" in note]
    assert told in [finding.what for finding in inspect_log(coterie.read_log(tmp_path / "log")).findings]
    same = [(one.name, one.value) for one in guess.answers]
    assert same == [(one.name, one.value) for one in coterie.start(tmp_path / f"plain_{name}").answers]


def test_days_of_which_nobody_knows_which_they_are_are_told(tmp_path):
    log = coterie.start(table(tmp_path / "table.csv", {(3, 1): "%d/%m/%Y"})).write(tmp_path / "log")
    assert log.n_samples == 41
    (told,) = [note for note in log.notes if "days in 'Datum'" in note]
    assert told.startswith("1 of 240 days in 'Datum' is written otherwise than most, such as '04/08/2026' (row 21 of ")
    assert told.endswith("which day is meant is not clear: it counts as a round of its own; write all days alike")


@pytest.mark.parametrize("form", ["%d.%m.%Y", "%Y-%m-%d", "%d/%m/%Y", "%m/%d/%Y", "%d.%m.%y"])
def test_days_that_are_written_alike_stay_as_they_are(tmp_path, form):
    written = {(place, who): form for place in range(40) for who in range(6)}
    log = coterie.start(table(tmp_path / "table.csv", written)).write(tmp_path / "log")
    assert log.n_samples == 40
    assert set(log.samples.names.to_pylist()) == {(FIRST + dt.timedelta(place)).strftime(form) for place in range(40)}
    assert not [note for note in log.notes if "days in 'Datum'" in note]


@pytest.mark.parametrize(
    ("times", "called", "unclear"),
    [
        ({"2026-08-13": 2, "13.8.2026": 1}, {"13.8.2026": "2026-08-13"}, ()),
        ({"2026-08-13": 1, "13.08.2026": 1}, {"13.08.2026": "2026-08-13"}, ()),
        ({"13.08.2026": 3, "2026-08-14": 1}, {"2026-08-14": "14.08.2026"}, ()),
        ({"8/13/2026": 3, "8/1/2026": 1, "2026-08-13": 1}, {"2026-08-13": "8/13/2026"}, ()),
        ({"8/3/2026": 3, "8/1/2026": 1, "2026-08-13": 1}, {}, ("2026-08-13",)),
        ({"2026-08-13": 3, "8/13/2026": 1, "14/8/2026": 1}, {}, ("8/13/2026", "14/8/2026")),
        ({"2026-08-13": 3, "31.02.2026": 1}, {}, ("31.02.2026",)),
        ({"2026-08-13": 3, "14.08.26": 1, "14.08.31": 1}, {"14.08.26": "2026-08-14"}, ("14.08.31",)),
        ({"2026/08/13": 3, "2026-08-13": 1}, {"2026-08-13": "2026/08/13"}, ()),
        ({" 2026-08-13": 1, "2026-08-13": 4}, {" 2026-08-13": "2026-08-13"}, ()),
        ({"Week 1": 4, "1.2": 3, "2026-W01": 4}, {}, ()),
    ],
)
def test_which_days_are_the_same(times, called, unclear):
    found = same_days(times)
    assert (dict(found.called), found.unclear) == (called, unclear)


@pytest.mark.parametrize(
    ("header", "row"),
    [
        ("Datum,Team,Members,Score", '{day},{team},"{a}, {b}",{value}'),
        ("Datum,Team,Member 1,Member 2,Member 3,Score", "{day},{team},{a},{b},{c},{value}"),
        ("Datum,Team,From,To,Stars", "{day},{team},{a},{b},{value}"),
        ("Datum,Team,Name,Choice", "{day},{team},{a},yes\n{day},{team},{b},no"),
    ],
)
def test_days_in_tables_of_all_kinds(tmp_path, header, row):
    rows = [header]
    for place in range(20):
        for team, *people in (("Sea", "Ann", "Bo", "Eve"), ("Law", "Cy", "Di", "Flo")):
            a, b, c = (people[(place + i) % 3] for i in range(3))
            form = "%d.%m.%Y" if (place, team) == (7, "Law") else "%Y-%m-%d"
            day = (FIRST + dt.timedelta(place)).strftime(form)
            rows.append(row.format(day=day, team=team, a=a, b=b.upper() if place == 9 else b, c=c, value=place % 5 + 1))
    (tmp_path / "table.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    log = coterie.start(tmp_path / "table.csv", utility_range=(1, 5), neutral=3).write(tmp_path / "log")
    assert (log.n_samples, len(log.agents)) == (20, 6)
    assert any("read as the same days: '08.08.2026' as '2026-08-08'" in note for note in log.notes)


def test_days_in_two_tables(tmp_path):
    people = ("Ann", "Bo", "Cy")
    days = [FIRST + dt.timedelta(place) for place in range(9)]
    members = [f"{day},{who},Sea" for day in days for who in people]
    totals = [f"{day:%d.%m.%Y},{who},{len(who)}" for day in days for who in people]
    (tmp_path / "memberships.csv").write_text("\n".join(["sample,agent,coalition", *members]), encoding="utf-8")
    (tmp_path / "totals.csv").write_text("\n".join(["sample,agent,utility", *totals]), encoding="utf-8")
    log = coterie.read_log(tmp_path, utility_range=(0, 9))
    assert log.samples.names.to_pylist() == list(map(str, days))
    assert any(note.startswith("27 of 54 days in 'sample' are written otherwise") for note in log.notes)
