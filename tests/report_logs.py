"""Logs whose names try to break out of tables and pages."""

import csv
import json
from html.parser import HTMLParser
from itertools import combinations

import numpy as np

PEOPLE = (
    "=HYPERLINK(1)",
    "<script>alert(1)</script>",
    "</script><img src=x onerror=alert(2)>",
    "\"Q\" & 'q' -->",
    "\u202eevil\u202c",
    "דנה",
    "Ada " + "very" * 60,
    "👩‍🚀",
)
TEAMS = ("-Law", "@Tax <b>", "R + D")
"""Names that spreadsheets, pages and terminals might take for something else."""


def made(folder, people=PEOPLE, teams=TEAMS, samples=60, seed=0, symmetric=True):
    """Write a log in which everybody is in one or two teams."""
    rng = np.random.default_rng(seed)
    n, k = len(people), len(teams)
    worth = rng.uniform(-0.6, 0.8, (k, n, n))
    worth = (worth + worth.transpose(0, 2, 1)) / 2 if symmetric else worth
    folder.mkdir(parents=True, exist_ok=True)
    with (
        (folder / "pairs.csv").open("w", newline="", encoding="utf-8") as pairs,
        (folder / "memberships.csv").open("w", newline="", encoding="utf-8") as memberships,
    ):
        rows, places = csv.writer(pairs), csv.writer(memberships)
        rows.writerow(["sample", "coalition", "agent", "partner", "utility"])
        places.writerow(["sample", "agent", "coalition"])
        for sample in range(samples):
            joined = rng.random((n, k)) < 0.4
            joined[np.arange(n), rng.integers(k, size=n)] = True
            for l in range(k):
                inside = np.flatnonzero(joined[:, l])
                places.writerows([sample, people[i], teams[l]] for i in inside)
                for i in inside:
                    for j in inside:
                        if i < j or (i != j and not symmetric):
                            utility = np.clip(worth[l, i, j] + rng.normal(0, 0.2), -1, 1)
                            rows.writerow([sample, teams[l], people[i], people[j], f"{utility:.3f}"])
    return folder


RATERS = ("Ana", "Ben", "Cleo", "Dan", "Eva", "Finn", "Gus", "Hal", "Ivy", "Jan")
LEAVER = RATERS[-1]


def few_ratings(folder):
    """Write ratings from 1 to 5 on three days, too few to certify anything, and a table of a staff without one."""
    rng = np.random.default_rng(3)
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "pairs.csv").open("w", newline="", encoding="utf-8") as pairs:
        rows = csv.writer(pairs)
        rows.writerow(["sample", "coalition", "agent", "partner", "utility"])
        for day in ("2026-01-05", "2026-01-12", "2026-01-19"):
            order = rng.permutation(len(RATERS))
            for room, members in zip(("Lab", "Shop"), order.reshape(2, -1), strict=True):
                for i, j in combinations(members.tolist(), 2):
                    rows.writerow([day, room, RATERS[i], RATERS[j], int(rng.integers(1, 6))])
    declared = {"format": "coterie.log/1", "utility_range": [1, 5], "neutral": 3, "actions": "one"}
    (folder / "log.json").write_text(json.dumps(declared), encoding="utf-8")
    people = [name for name in RATERS if name != LEAVER]
    (folder.parent / "staff.csv").write_text("\n".join(["agent", *people]) + "\n", encoding="utf-8")
    return folder


class Elements(HTMLParser):
    """Collects tags, with their attributes, and the text of scripts and styles."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.tags, self.inside, self.content, self.text = [], None, {}, []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        self.inside = (tag, dict(attributes).get("type")) if tag in {"script", "style"} else None

    def handle_data(self, data):
        if self.inside:
            self.content[self.inside] = self.content.get(self.inside, "") + data
        else:
            self.text.append(data)

    def handle_endtag(self, tag):
        if tag in {"script", "style"}:
            self.inside = None
