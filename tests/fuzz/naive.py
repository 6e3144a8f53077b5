"""A second reader of logs, slow and obvious: the `csv` module and plain Python, from what the documentation says.

It knows symmetric logs with the default range. What it accepts, and the sums that come of it, must be what the
engines accept and add up.
"""

import csv
import io
import math
import re
from collections import defaultdict

import coterie

COLUMNS = {
    "memberships": ("sample", "agent", "coalition"),
    "pairs": ("sample", "coalition", "agent", "partner", "utility"),
    "totals": ("sample", "agent", "utility"),
}
LOW, HIGH, SLACK = -1.0, 1.0, 1e-9
NUMBER = re.compile(r"[ \t]*[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?[ \t]*", re.ASCII)


class Refused(Exception):  # noqa: N818  (it reads so)
    """The log is not a log."""


def rows_of(path, table):
    """Return the rows of a table as dictionaries; utilities are numbers, None where a cell is blank."""
    text = path.read_bytes().decode()
    header = text.splitlines()[0]
    separator = max(",;\t", key=lambda one: len(next(csv.reader([header], delimiter=one))))
    cells = list(csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True))
    cells = [row for row in cells if row]
    names = [name.strip().lower() for name in cells[0]]
    found = []
    for row in cells[1:]:
        if len(row) == len(names) + 1 and not row[-1]:
            row.pop()  # one empty cell too many is passed over
        if len(row) != len(names):
            raise Refused("ragged")
        one = {column: row[names.index(column)] for column in COLUMNS[table]}
        for column in COLUMNS[table]:
            if column == "utility":
                one[column] = number(one[column].replace(",", ".") if separator == ";" else one[column])
            elif not one[column]:
                raise Refused("empty name")
        found.append(one)
    return found


def number(text):
    """Return a finite number, None for nothing."""
    if not text.strip():
        return None
    if not NUMBER.fullmatch(text) or not math.isfinite(found := float(text)):
        raise Refused("not a number")
    return found


def once(rows, columns):
    """Refuse rows that occur twice."""
    keys = [tuple(row[column] for column in columns) for row in rows]
    if len(set(keys)) < len(keys):
        raise Refused("twice")


def fixed(value):
    """Return a utility as steps of 2^-30 of the range."""
    return min(max(math.floor((value - LOW) / (HIGH - LOW) * 2**30 + 0.5), 0), 2**30)


def members_of(folder):
    """Return (sample, coalition) -> its members; None without a table."""
    path = folder / "memberships.csv"
    if not path.exists():
        return None
    rows = rows_of(path, "memberships")
    if not rows:
        raise Refused("nobody")
    once(rows, COLUMNS["memberships"])
    found = defaultdict(set)
    for row in rows:
        found[row["sample"], row["coalition"]].add(row["agent"])
    return found


def pair_sums(folder):
    """Return (coalition, agent, partner) -> count and sums of steps and of their squares."""
    members, rows = members_of(folder), rows_of(folder / "pairs.csv", "pairs")
    seen = {}
    once(rows, COLUMNS["pairs"][:-1])
    for row in rows:
        agent, partner, team = row["agent"], row["partner"], (row["sample"], row["coalition"])
        if agent == partner:
            raise Refused("herself")
        if members is not None and not {agent, partner} <= members.get(team, set()):
            raise Refused("not a member")
        value = row["utility"]
        if value is None:
            continue
        if not LOW - SLACK * (HIGH - LOW) <= value <= HIGH + SLACK * (HIGH - LOW):
            raise Refused("outside")
        key = (*team, min(agent, partner), max(agent, partner))
        if seen.setdefault(key, value) != value:
            raise Refused("orders disagree")
    if not seen:
        raise Refused("empty")
    sums = defaultdict(lambda: [0, 0, 0])
    for (_, coalition, agent, partner), value in seen.items():
        step = fixed(value)
        for place, term in enumerate((1, step, step * step)):
            sums[coalition, agent, partner][place] += term
    return dict(sums)


def total_sums(folder):
    """Return (agent, coalition, partner) -> the sum of total / terms over samples where the two met."""
    members, rows = members_of(folder), rows_of(folder / "totals.csv", "totals")
    if members is None:
        raise Refused("no memberships")
    once(rows, ("sample", "agent"))
    sums, used, lone = defaultdict(float), 0, {}
    for row in rows:
        teams = [(l, team) for (sample, l), team in members.items() if sample == row["sample"] and row["agent"] in team]
        terms, value = sum(len(team) - 1 for _, team in teams), row["utility"]
        if value is None:
            continue
        used += 1
        slack = SLACK * (HIGH - LOW) * terms
        if not terms * LOW - slack <= value <= terms * HIGH + slack:
            raise Refused("outside")
        if len(others := {name for _, team in teams for name in team} - {row["agent"]}) == 1:
            lone[row["sample"], row["agent"], *others] = (value, slack)
        for coalition, team in teams:
            for partner in team - {row["agent"]}:
                sums[row["agent"], coalition, partner] += value / terms
    for (sample, agent, partner), (value, slack) in lone.items():
        if abs(lone.get((sample, partner, agent), (value,))[0] - value) > slack:
            raise Refused("two who met nobody else got different totals")
    if not used:
        raise Refused("empty")
    return dict(sums)


def disagreement(folder, kind, **options):
    """Return in what the two readers differ on the log in a folder; None where they agree, also in refusing it."""
    expected = refused = ours = None
    try:
        expected = pair_sums(folder) if kind == "pairs" else total_sums(folder)
    except Refused as problem:
        refused = str(problem)
    try:
        log = coterie.read_log(folder, **({"threads": 1} | options))
        whole = coterie.Statistics.of(log, parts=(1.0,), clues=False).whole
        ours = _pairs(log, whole) if kind == "pairs" else _totals(log, whole)
    except coterie.InputError as problem:
        if expected is not None:
            return f"refused here only: {problem}"
        raise
    if expected is None:
        return f"refused by the second reader only: {refused}"
    if kind == "pairs":
        return None if ours == expected else f"sums differ: {ours} and {expected}"
    off = [key for key in {*ours, *expected} if abs(ours.get(key, 0) - expected.get(key, 0)) > 1e-6]
    return f"sums differ at {off[0]}: {ours.get(off[0])} and {expected.get(off[0])}" if off else None


def _pairs(log, whole):
    values = whole.entries.values.tolist()
    keys = [
        (log.coalitions[l], *sorted((log.agents[i], log.agents[j]))) for l, i, j in whole.entries.keys[:, :3].tolist()
    ]
    return {
        key: [count, total, high * 2**30 + low] for key, (count, total, high, low, *_) in zip(keys, values, strict=True)
    }


def _totals(log, whole):
    found = {}
    for i, agent in enumerate(log.agents):
        others = [name for name in log.agents if name != agent]
        moment = whole.moment(i, "pairs").reshape(len(log.coalitions), len(others))
        found |= {
            (agent, l, name): value
            for l, row in zip(log.coalitions, moment.tolist(), strict=True)
            for name, value in zip(others, row, strict=True)
        }
    return found


# --- Logs to read -----------------------------------------------------------------------------------------------------

NAMES = ("a", "b", "c", "A", "1", "01", "1.0", " a", "a,b", 'a"b', "a;b", "é", "a\nb", "null", "NA", "-", "'x'")


def drawn(rng, kind):
    """Return the texts of a small log, sound more often than not, in all spellings that the documentation has."""
    people, places = rng.sample(NAMES, rng.randrange(2, 5)), rng.sample(NAMES, rng.randrange(1, 3))
    memberships, pairs, totals = [], [], []
    for sample in rng.sample(NAMES, rng.randrange(1, 4)):
        teams = {place: [one for one in people if rng.random() < 0.7] for place in places}
        memberships += [(sample, one, place) for place, team in teams.items() for one in team]
        got = dict.fromkeys(people, 0.0)
        for place, team in teams.items():
            for at, one in enumerate(team):
                for other in team[:at]:
                    value = _value(rng)
                    pairs += [(sample, place, *rng.sample((one, other), 2), _spelled(rng, value))] * (
                        rng.random() < 0.8
                    )
                    got[one] += value
                    got[other] += value
        totals += [(sample, one, _spelled(rng, value)) for one, value in got.items() if rng.random() < 0.8]
    if pairs and rng.random() < 0.2:
        sample, place, one, other, value = rng.choice(pairs)
        pairs.append((sample, place, other, one, value))
    tables = {"memberships": memberships, kind: pairs if kind == "pairs" else totals}
    if kind == "pairs" and rng.random() < 0.3:
        del tables["memberships"]
    if rng.random() < 0.4:
        _spoil(rng, tables, kind)
    return {name: _written(rng, name, rows) for name, rows in tables.items()}


def _value(rng):
    return rng.choice((0.0, 1.0, -1.0, 0.5, -0.25, 0.1, 1e-7, -1.0000000001, rng.uniform(-1, 1)))


def _spelled(rng, value):
    """Return a number in one of its spellings, to the last digit."""
    same = (
        repr(value),
        f"{value:.17e}",
        f"{value:+.17G}",
        f" {value!r}",
        f"{value!r}\t",
        repr(value).replace("0.", "."),
    )
    return rng.choice([repr(value), *(one for one in same if NUMBER.fullmatch(one) and float(one) == value)])


def _spoil(rng, tables, kind):
    """Change one row of one table into what may be wrong."""
    name = rng.choice(list(tables))
    rows = tables[name]
    if not rows:
        return
    place = rng.randrange(len(rows))
    row = list(rows[place])
    how = rng.randrange(6)
    if how == 0:
        rows.append(tuple(row))
    elif how == 1:
        del rows[place]
    else:
        bad = (
            "",
            "nan",
            "inf",
            "1e999",
            "2",
            "-1.01",
            "1_0",
            "0x1",
            "1e",
            "e1",
            ".",
            "1,5",
            "\u0661",
            "1.5.1",
            "a",
            "1e-400",
            "--1",
            "1 1",
        )
        column = len(row) - 1 if how < 4 and name == kind else rng.randrange(len(row))
        row[column] = rng.choice(bad if column == len(row) - 1 and name == kind else ("", "a", "b", "z", " "))
        rows[place] = tuple(row)


def _written(rng, name, rows):
    """Return a table as CSV, its columns in some order and case, perhaps with others."""
    columns = list(COLUMNS[name])
    order = rng.sample(range(len(columns)), len(columns))
    header = [columns[place] for place in order]
    extra = rng.random() < 0.2
    header = [rng.choice((one, one.upper(), one.title(), f" {one}")) if rng.random() < 0.3 else one for one in header]
    text = io.StringIO(newline="")
    separator = rng.choice(",,;\t")
    writer = csv.writer(
        text, delimiter=separator, lineterminator=rng.choice(("\n", "\r\n")), quoting=rng.choice((0, 0, 1))
    )
    writer.writerow([*header, *(["note"] if extra else [])])
    for row in rows:
        cells = [row[place] for place in order]
        if separator == ";" and "utility" in columns and rng.random() < 0.5:
            at = order.index(len(columns) - 1)
            cells[at] = cells[at].replace(".", ",")
        writer.writerow([*cells, *(["n"] if extra else [])])
    return text.getvalue()
