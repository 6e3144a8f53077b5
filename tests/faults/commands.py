"""The commands that write, or make temporary files, on small inputs."""

from pathlib import Path

import xlsxwriter

import coterie
from coterie.learn.learner import StableLearner
from faults.runs import Command

SMALL = ("--agents", "4", "--coalitions", "2", "--samples", "12", "--quiet")
MADE = ("memberships.csv", "pairs.csv", "log.json", "truth.json")


def commands():
    """Return all of them."""
    learnt = ("result.json", "teams.csv", "teams.xlsx", "page.html")
    outs = ("--out", "result.json", "--out", "teams.csv", "--out", "teams.xlsx", "--report", "page.html", "--quiet")
    return (
        Command("learn", ("learn", "log", *outs), learnt),
        Command("learn, files there", ("learn", "log", *outs), learnt, old=learnt),
        Command("learn totals", ("learn", "totals", "--out", "result.json", "--quiet"), ("result.json",)),
        Command("learn Windows CSV", ("learn", "windows.csv", "--out", "result.json", "--quiet"), ("result.json",)),
        Command("certify", ("certify", "log", "today.csv", "--out", "c.json", "--out", "c.xlsx"), ("c.json", "c.xlsx")),
        Command("simulate", ("simulate", *SMALL, "--out", "new"), folder="new"),
        Command("simulate, empty folder", ("simulate", *SMALL, "--out", "new"), folder="new", empty=True),
        Command(
            "simulate Parquet",
            ("simulate", *SMALL, "--feedback", "bandit", "--format", "parquet", "--out", "new/deep"),
            folder="new/deep",
        ),
        Command("start", ("start", "table.xlsx", "--yes", "--out", "new"), folder="new"),
        Command("start, empty folder", ("start", "table.xlsx", "--yes", "--out", "new"), folder="new", empty=True),
        Command("report", ("report", "old.json", "--out", "p.html", "--out", "p.xlsx"), ("p.html", "p.xlsx")),
        Command("coverage", ("coverage", "log", "--strategy", "today.csv", "--collect", "3")),
        Command("evaluate", ("evaluate", "old.json", "--truth", "log/truth.json")),
        Command("save statistics", save_statistics, ("kept.npz",)),
        Command(
            "reproduce", ("reproduce", "mixed", "--quick", "--workers", "2", "--quiet", "--out", "new"), filling="new",
            stride=20,
        ),
        Command("demo", ("demo", "--out", "new"), filling="new", once=True, stride=20),
    )  # fmt: skip


def save_statistics():
    """Reduce a log and save its sums, as from Python."""
    coterie.Statistics.for_learning("log").save("kept.npz")


def make_inputs():
    """Make what the commands read, in the current folder."""
    simulation = coterie.simulate.Simulation.draw(4, 2, 0)
    simulation.write_log(Path("log"), 12)
    simulation.write_log(Path("totals"), 12, feedback="bandit", table_format="parquet")
    rows = [("sample", "coalition", "agent", "partner", "utility")]
    rows += [(f"{m}", "x" if m % 2 else "y", "Zoë", f"p{m % 3}", f"{m % 5 / 5}") for m in range(12)]
    Path("windows.csv").write_text("\n".join(map(",".join, rows)) + "\n", encoding="cp1252")
    with xlsxwriter.Workbook("table.xlsx") as book:
        sheet = book.add_worksheet()
        sheet.write_row(0, 0, ("Month", "Team", "Person", "Score"))
        for place in range(48):
            month, person = divmod(place, 4)
            sheet.write_row(place + 1, 0, (f"m{month}", "xy"[(month + person) % 2], f"p{person}", 0.1 * (month % 7)))
    learner = StableLearner().fit("log")
    learner.result_.save("old.json")
    with Path("today.csv").open("w", encoding="utf-8") as file:
        file.write("agent,coalition\n")
        for agent, places in learner.strategy_.actions.items():
            file.writelines(f"{agent},{place}\n" for place in places)
