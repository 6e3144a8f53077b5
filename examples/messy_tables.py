"""Three tables as people keep them, each with what goes wrong in real ones; the same every time.

    python examples/messy_tables.py FOLDER

`firm.xlsx`: colleagues rate each other both ways in areas, month by month, under a title; a name has two spellings,
some cells are blank or say n/a, months are dates, a second sheet holds notes. `class.csv`: what pupils got at their
table each week, as Excel in Germany saves it: Windows letters, semicolons, decimal commas, a trailing empty row, a
pupil alone. `hackathon.xlsx`: scores of teams, members listed in one cell, in two ways. Beside them `today.xlsx`, who
is in which area of the firm now, and `pupils.csv`, who is in the class.
"""

import sys
from datetime import datetime
from pathlib import Path

import numpy as np
import xlsxwriter

PEOPLE = ("Ada", "Bo", "Cleo", "Dov", "Eli", "Fay", "Gus", "Hana", "Ivo", "Jun", "Kai", "Lea")
AREAS = ("Energy", "Finance", "Health")
PUPILS = ("Jörg", "Käthe", "Übü", "Anna", "Ben", "Carla", "Deniz", "Emil", "Finn", "Greta", "Hugo", "Ida")


def firm(path: Path, months: int = 24) -> None:
    """Write who rated whom from 1 to 5, in a spreadsheet."""
    rng = np.random.default_rng(1)
    liking = rng.normal(3.2, 0.8, (len(AREAS), len(PEOPLE), len(PEOPLE)))
    book = xlsxwriter.Workbook(path, {"default_date_format": "mmm yyyy"})
    sheet = book.add_worksheet("Ratings")
    sheet.merge_range(0, 0, 0, 4, "Peer ratings (1 = never again, 5 = any time)")
    sheet.write_row(2, 0, ["Month", "Area", "From", "About", "Stars", "Comment"])
    row = 3
    for month in range(months):
        area = rng.permutation(np.arange(len(PEOPLE)) % len(AREAS))
        for l in range(len(AREAS)):
            members = np.flatnonzero(area == l)
            for i in members:
                for j in members[members != i]:
                    stars = int(np.clip(np.rint(liking[l, i, j] + rng.normal(0, 0.7)), 1, 5))
                    sheet.write_datetime(row, 0, datetime(2023 + month // 12, month % 12 + 1, 1))  # noqa: DTZ001  (a date)
                    name = "bo " if PEOPLE[i] == "Bo" and month == 7 else PEOPLE[i]
                    sheet.write_row(row, 1, [AREAS[l], name, PEOPLE[j]])
                    if rng.random() > 0.03:  # a few did not answer
                        sheet.write(row, 4, stars)
                    elif month % 2:
                        sheet.write(row, 4, "n/a")
                    row += 1
    book.add_worksheet("Notes").write(0, 0, "Asked on the last Friday of each month.")
    book.close()


def school_class(path: Path, weeks: int = 60) -> None:
    """Write what each pupil got at the table of the week, in all, as CSV of a German Excel."""
    rng = np.random.default_rng(2)
    n = len(PUPILS)
    liking = np.triu(np.clip(rng.normal(0.4, 1.0, (n, n)), -2, 2), 1)
    liking += liking.T
    lines = ["Woche;Name;Tisch;Punkte"]
    for week in range(1, weeks + 1):
        seat = rng.permutation(np.arange(n) % 4)
        for i in range(n):
            mates = [j for j in np.flatnonzero(seat == seat[i]) if j != i]
            noise = [np.clip(liking[min(i, j), max(i, j)] + _shared(week, i, j), -3, 3) for j in mates]
            lines.append(f"{week};{PUPILS[i]};Tisch {seat[i] + 1};{f'{sum(noise):.1f}'.replace('.', ',')}")
        if week == 3:
            lines.append(f"{week};Zoé;Tisch 9;1,5")  # a guest at a table of her own
    lines += [";;;", ""]
    path.write_bytes("\r\n".join(lines).encode("cp1252"))


def _shared(week: int, i: int, j: int) -> float:
    """Return what both of a pair notice in a week."""
    return float(np.random.default_rng((3, week, min(i, j), max(i, j))).normal(0, 0.5))


def hackathon(path: Path, events: int = 80) -> None:
    """Write the score of each team, with its members in one cell."""
    rng = np.random.default_rng(4)
    n = len(PEOPLE)
    liking = np.triu(rng.uniform(0, 10, (n, n)), 1)
    liking += liking.T
    book = xlsxwriter.Workbook(path)
    sheet = book.add_worksheet()
    sheet.write_row(0, 0, ["Event", "Team", "Members", "Score"])
    row = 1
    for event in range(1, events + 1):
        order = rng.permutation(n)
        sizes = (2, 3, 3, 4) if event % 2 else (1, 3, 4, 4)
        for t, team in enumerate(np.split(order, np.cumsum(sizes)[:-1])):
            pairs = [(i, j) for a, i in enumerate(team) for j in team[a + 1 :]]
            each = [np.clip(liking[i, j] + rng.normal(0, 1), 0, 10) for i, j in pairs]
            score = round(float(np.mean(each)), 1) if each else 5.0
            listed = (" & " if event % 5 == 0 else ", ").join(PEOPLE[i] for i in team)
            sheet.write_row(row, 0, [event, f"Team {'ABCD'[t]}", listed, score])
            row += 1
    book.close()


def today(path: Path) -> None:
    """Write who is in which area of the firm now."""
    each = len(PEOPLE) // len(AREAS)
    book = xlsxwriter.Workbook(path)
    sheet = book.add_worksheet("Now")
    sheet.write_row(0, 0, ["Person", "Area", "Since"])
    for i, name in enumerate(PEOPLE):
        sheet.write_row(i + 1, 0, [name, AREAS[i // each], 2020 + i % 4])
    book.close()


def pupils(path: Path) -> None:
    """Write who is in the class, which is everybody but the guest."""
    path.write_text("\n".join(["name", *PUPILS, ""]), encoding="utf-8")


TABLES = {
    "firm.xlsx": firm,
    "class.csv": school_class,
    "hackathon.xlsx": hackathon,
    "today.xlsx": today,
    "pupils.csv": pupils,
}


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, write in TABLES.items():
        write(folder / name)
        print(folder / name)
