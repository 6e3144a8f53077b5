"""Teams as tables: a CSV file that can be read again as an assignment, and a workbook for people.

Names come from logs, and a spreadsheet takes a cell that begins with =, +, -, @, a tab or a line end for a formula. In
a CSV file such a name gets an apostrophe in front (`coterie.files.defused`), which reading takes away again. In a
workbook every name is a cell of text, and such a name is marked as text, as if somebody had typed the apostrophe.
"""

import csv
import io
from collections.abc import Collection, Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from coterie.arrays import FloatArray
from coterie.files import defused, is_formula
from coterie.learn.amounts import (
    is_on_scale,
    mean_score,
    options_tell_scores,
    places_of_people,
    scaled,
    team_levels,
    what_levels_are,
    what_values_are,
)
from coterie.learn.headline import against_today
from coterie.learn.options import distinct
from coterie.learn.promises import kind_of_proof, likely, more_needed, tightest_case, what_is_sure, who_stays
from coterie.learn.result import Result
from coterie.learn.summary import (
    better_places,
    cut_short,
    guesses,
    less_well_off,
    listed_teams,
    option_labels,
    options_have_limits,
    people_rows,
    recommendation,
    so_far,
    told_first,
    told_warnings,
)
from coterie.learn.team_names import with_team_names
from coterie.words import counted, decimals, signed

LONGEST = 32_000
"""Cells of a workbook hold about so many characters."""


def teams_csv(result: Result) -> str:
    """Return who is where as the text of a CSV file.

    Pure strategies have a row `agent,coalition` for every place, with an empty coalition for who has none, and can be
    read again as an assignment. Mixed ones have a row `agent,coalitions,probability` for every set.
    """
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    header, *rows = _rows(with_team_names(result))
    writer.writerow(header)
    writer.writerows([defused(cell) if isinstance(cell, str) else cell for cell in row] for row in rows)
    return text.getvalue()


def _rows(result: Result) -> Iterator[list[Any]]:
    strategy, today = result.strategy, result.today
    if not strategy.is_pure:
        yield ["agent", "coalitions", "probability"]
        for agent, options in strategy.actions.items():
            for option in options:
                yield [agent, " + ".join(option["coalitions"]), option["probability"]]
        return
    yield ["agent", "coalition", *(["today"] if today else [])]
    for agent, places in strategy.actions.items():
        before = [] if today is None else [" + ".join(today.strategy.actions[agent])]
        for coalition in places or [""]:
            yield [agent, coalition, *before]


def about_rows(result: Result) -> list[list[Any]]:
    """Return what a reader of the tables should know, a row each: what it is, and the sentence."""
    nothing, period = result.says_nothing, result.data.period
    said = [
        ("caution", result.caveat()),
        ("recommendation", recommendation(result)),
        ("search", cut_short(result)),
        ("so far", so_far(result)),
        ("against today", against_today(result)),
        ("people with least", less_well_off(result, advise=False)),
        ("better places", better_places(result)),
        ("guesses", guesses(result)),
        ("what is sure" if nothing else "promise", what_is_sure(result)),
        ("tightest case", "" if nothing else tightest_case(result)),
        ("likely", likely(result)),
        ("people", who_stays(result)),
        ("more data", more_needed(result)),
        ("proof", "" if nothing else kind_of_proof(result, commands=False)),
        ("values of people", what_values_are(result)),
        ("below teams", what_levels_are(result) if team_levels(result) else ""),
        *(("rule that is broken", text) for text in result.violations),
        *(("warning", text) for text in (*told_first(result), *told_warnings(result))),
        *(("taken for granted", text) for text in result.certificate.assumes),
        ("version", f"coterie {result.version}"),
        ("seed", "" if result.seed is None else str(result.seed)),
        ("log", counted(result.data.rows, "row") + (f", from {' to '.join(period)}" if period else "")),
        ("fingerprint of the log", result.data.log_sha256 or ""),
    ]
    return [[name, text] for name, text in said if text]


def write_teams_xlsx(result: Result, path: str | PathLike[str]) -> None:
    """Write who is where as a workbook: teams, people, options, and what to know about them."""
    import xlsxwriter

    result = with_team_names(result)
    # In memory, so that no files of its own are left where a disk is full or the process is killed.
    content = io.BytesIO()
    as_text = {"strings_to_formulas": False, "strings_to_urls": False, "strings_to_numbers": False}
    book = xlsxwriter.Workbook(content, {**as_text, "in_memory": True})
    sheets: list[tuple[str, list[list[Any]]]] = [("Teams", _team_columns(result)), ("People", people_rows(result))]
    if len(result.options) > 1:
        sheets.append(("Options", _option_rows(result)))
    sheets.append(("About", [["", ""], *about_rows(result)]))
    sheets.append(("Assignment", list(_rows(result))))
    styles = {
        "head": book.add_format({"bold": True, "bottom": 1}),
        "head marked": book.add_format({"bold": True, "bottom": 1, "quote_prefix": True}),
        "text": book.add_format({"valign": "top"}),
        "text marked": book.add_format({"valign": "top", "quote_prefix": True}),
        "number": book.add_format({"num_format": "0.00", "valign": "top"}),
        "long": book.add_format({"text_wrap": True, "valign": "top"}),
        "long marked": book.add_format({"text_wrap": True, "valign": "top", "quote_prefix": True}),
    }
    for name, rows in sheets:
        sheet = book.add_worksheet(name)
        _fill(sheet, rows, styles, wraps=name == "About")
    book.close()
    Path(path).write_bytes(content.getvalue())


def _fill(sheet: Any, rows: Sequence[Sequence[Any]], styles: dict[str, Any], *, wraps: bool) -> None:
    for y, row in enumerate(rows):
        for x, cell in enumerate(row):
            if isinstance(cell, str):
                kind = "head" if y == 0 else "long" if wraps and x == 1 else "text"
                style = styles[f"{kind} marked" if is_formula(cell) else kind]
                sheet.write_string(y, x, cell[:LONGEST], style)
            elif isinstance(cell, int):
                sheet.write_number(y, x, cell)
            elif cell in (float("inf"), float("-inf")):
                sheet.write_string(y, x, str(cell), styles["text"])
            else:
                sheet.write_number(y, x, cell, styles["number"])
    for x in range(max((len(row) for row in rows), default=0)):
        width = max(len(str(row[x])) if isinstance(row[x], str) else 8 for row in rows if x < len(row))
        sheet.set_column(x, x, min(max(width + 2, 8), 100 if wraps else 40))
    sheet.freeze_panes(1, 0)


def _team_columns(result: Result) -> list[list[Any]]:
    """Return a column for every team with its members, and what is expected of it below.

    For mixed strategies, chances of everybody to be there.
    """
    strategy = result.strategy
    if not strategy.is_pure:
        shares = [[agent, *map(float, row)] for agent, row in zip(strategy.agents, strategy.marginals, strict=True)]
        return [["person", *strategy.coalitions], *shares]
    members = {name: inside for name, inside in listed_teams(result).items() if inside}
    most = max(map(len, members.values()), default=0)
    lines = [[inside[t] if t < len(inside) else "" for inside in members.values()] for t in range(most)]
    levels = team_levels(result)
    if levels:
        # Not a number, since it is no member of what is above it.
        lines += [[""] * len(members), [f"expected {levels[name]}" if name in levels else "" for name in members]]
    return [list(members), *lines]


def _option_rows(result: Result) -> list[list[Any]]:
    moves, limits = result.options[0].moves is not None, options_have_limits(result)
    head = ["option", "expected", "least well off", MOVING]
    rows: list[list[Any]] = [[*head, *(["surely at most"] if limits else []), *(["moves"] if moves else [])]]
    for label, one in zip(option_labels(result), result.options, strict=True):
        score = mean_score(result, one.strategy, one.expected_value) if options_tell_scores(result) else None
        worth = [scaled(result, one.expected_value) if score is None else score, scaled(result, one.expected_least)]
        numbers = [*worth, one.expected_gap, *([one.gap] if limits else [])]
        rows.append([label, *numbers, *([one.moves if one.moves is not None else ""] if moves else [])])
    return rows


def option_rows(result: Result, *, details: bool = True) -> list[list[str]]:
    """Return a header and a row for every option, in words; without `details` only for those of `shown_options`."""
    table = _option_table(result, details=details)
    return table if details else [table[0], *(table[1 + t] for t in _unbeaten(result, table))]


def shown_options(result: Result) -> list[int]:
    """Return the options that none is as good as in everything that is shown: the recommendation, today and others."""
    return _unbeaten(result, _option_table(result, details=False))


def _unbeaten(result: Result, table: list[list[str]]) -> list[int]:
    stay = [t for t, one in enumerate(result.options) if t == 0 or one.label == "today"]
    turned = _on_scale(result) if result.data.lower_is_better else set[str]()
    return sorted(distinct(_as_shown(table, turned=turned), range(len(result.options)), stay))


def _option_table(result: Result, *, details: bool) -> list[list[str]]:
    """Return a header and a row for every option, in words.

    Without `details` what is expected of gains by moving is left out. It is there, and values have more decimals, where
    the recommendation would otherwise look as if another were as good in everything.
    """
    head, *rows = _option_rows(result)
    first: Sequence[float] = result.options[0].expected_range or ()
    if options_tell_scores(result):
        first = sorted(mean_score(result, result.strategy, end) or 0.0 for end in first)
    fewest = {"expected": decimals(first), "least well off": places_of_people(result)}
    columns = [list(range(len(head)))]
    if not details:
        columns.insert(0, [t for t, name in enumerate(head) if name != MOVING])
    tried = [
        _worded(
            [head[t] for t in kept],
            [[row[t] for t in kept] for row in rows],
            {name: places + more for name, places in fewest.items()},
            plain=_on_scale(result),
        )
        for kept in columns
        for more in range(MORE + 1)
    ]
    turned = _on_scale(result) if result.data.lower_is_better else set[str]()
    return next((shown for shown in tried if not _looks_beaten(shown, turned=turned)), tried[0])


MOVING = "gain by moving"

MORE = 2
"""So many decimals more than they deserve tell the recommendation from others, if need be."""


def _worded(
    head: list[str], rows: Sequence[Sequence[Any]], places: Mapping[str, int], *, plain: Collection[str]
) -> list[list[str]]:
    def cell_of(name: str, cell: Any) -> str:
        if name in places:
            return f"{cell:.{places[name]}f}" if name in plain else signed(cell, places[name])
        if name == MOVING:
            return f"{cell:.{places['expected']}f}"
        return f"{cell:.3g}" if name == "surely at most" else str(cell)

    return [head, *([cell_of(name, cell) for name, cell in zip(head, row, strict=True)] for row in rows)]


def _on_scale(result: Result) -> set[str]:
    """Return which columns of options are on the scale of the log."""
    found = {"expected"} if options_tell_scores(result) else set()
    return found | {"expected", "least well off"} if is_on_scale(result) else found


def _looks_beaten(shown: list[list[str]], *, turned: Collection[str]) -> bool:
    """Return whether by what a table shows another option is as good as the first in everything."""
    first, *others = _as_shown(shown, turned=turned)
    return any((one >= first).all() for one in others)


def _as_shown(table: list[list[str]], *, turned: Collection[str]) -> FloatArray:
    """Return what a table of options shows, so that more is better everywhere; of columns `turned` round less is."""
    better = {"expected", "least well off"}.difference(turned)
    signs = np.array([1.0 if name in better else -1.0 for name in table[0][1:]])
    return np.asarray(signs * np.array([[float(cell or 0) for cell in row[1:]] for row in table[1:]]))
