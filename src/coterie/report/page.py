"""The report: one page that needs nothing else, for people who were not there when it was computed.

Everything that comes from a log, names above all, enters the page as text: the template escapes it, the script only
ever sets text, and what the script reads is JSON in which no tag can begin. The page's policy allows its own style and
script, known by their hashes, and nothing else.
"""

import base64
import hashlib
import json
import unicodedata
from collections.abc import Callable, Iterator
from importlib.resources import files
from typing import Any

import numpy as np

from coterie.arrays import FloatArray, IntArray
from coterie.assumptions.check import QUESTIONS
from coterie.estimate.pair_means import is_listed
from coterie.game.strategy import Strategy
from coterie.learn.amounts import (
    likely_worth,
    own_scores,
    own_worth,
    places_of_people,
    shown_change,
    shown_ends,
    shown_level,
    shown_worth,
    team_levels,
    what_levels_are,
    what_neutral_is,
    what_values_are,
    what_worths_are,
)
from coterie.learn.explanation import Explanation, Room, how_sure, what_it_does
from coterie.learn.glossary import GLOSSARY, glossary
from coterie.learn.headline import expected_worth, improvement, per_whom, ranges_held, what_is_compared, who_changes
from coterie.learn.options import RANGE
from coterie.learn.promises import (
    kind_of_proof,
    likely,
    more_needed,
    tightest_case,
    vacuous,
    what_is_sure,
    what_would_help,
    who_stays,
)
from coterie.learn.result import STEPS, Result
from coterie.learn.summary import (
    assigned_people,
    better_places,
    cut_short,
    elsewhere,
    for_readers,
    full_teams,
    gains_elsewhere,
    guesses,
    less_well_off,
    level_so_far,
    likely_better,
    listed_teams,
    option_labels,
    recommendation,
    rules_told,
    so_far,
    teams_to_stay_in,
    told_first,
    told_warnings,
    valued,
    what_options_are,
    why_guess,
    why_recommended,
    why_worse,
)
from coterie.learn.team_names import with_team_names
from coterie.log.options import TEAM_SCORES
from coterie.report.drawing import Scale, Shade, by_team, lines_between, shaded
from coterie.report.knowledge import Knowledge
from coterie.report.tables import option_rows, shown_options
from coterie.statistics.statistics import Statistics
from coterie.words import capitalised, counted, interval, number, percent

STEERING = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u2028\u2029")
"""Signs that change the direction or the line of what follows them."""


NAMED_ON_MAPS = 40
"""Up to so many people are named beside the rows of a map; of more, those behind a square."""

WIDE_MAPS = 26
"""Maps of more people have a line of the page each."""

ON_MAPS = 14
"""Names beside maps have so many signs at most."""

LONGEST = 60
"""Names that have more signs are shortened; their full text is a tip."""


def report_html(result: Result, statistics: Statistics | None = None) -> str:
    """Return the report of a result as a page.

    Parameters
    ----------
    result
        What `learn` or `certify` found.
    statistics
        Those of the log that it is about. With them the page shows the evidence and answers "what if"; without them it
        says how to get that. Of so many agents that pairs are listed, there is no room for either.
    """
    from markupsafe import Markup

    style, script = source("page.css"), source("page.js")
    known = None if statistics is None or is_listed(statistics.setting) else Knowledge.of(result, statistics)
    result = with_team_names(result)
    view = _view(result, known)
    return rendered(
        "page.html",
        **view,
        style=Markup(style),  # noqa: S704  (our own file)
        script=Markup(script),  # noqa: S704
        longest=LONGEST,
        style_hash=hashed(style),
        script_hash=hashed(script),
        data=Markup(_json(_data(result, view["known"], view["starts"]))),  # noqa: S704  (no tag begins in it)
    )


def rendered(template: str, **content: Any) -> str:
    """Return a page made of one of our templates, in which everything is text unless it is marked as our own."""
    from jinja2 import Environment, StrictUndefined

    page = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=False)
    page.filters.update(visible=visible, label=label)
    return page.from_string(source(template)).render(**content)


def visible(text: str) -> str:
    """Return a text in which signs that steer what is around them are escapes.

    >>> visible("Zoë" + chr(0x202E)) == "Zoë" + chr(92) + "u202e"
    True
    """
    return "".join(
        c.encode("unicode_escape").decode("ascii")
        if c in STEERING or (unicodedata.category(c) in {"Cc", "Cs", "Co", "Cn"})
        else c
        for c in text
    )


def label(name: str) -> str:
    """Return a name as the page shows it: visible, and the middle of a very long one left out.

    >>> label("Ada"), len(label("very" * 60))
    ('Ada', 60)
    """
    shown = visible(name)
    return shown if len(shown) <= LONGEST else f"{shown[: LONGEST - 21]}…{shown[-20:]}"


def source(name: str) -> str:
    """Return a file of this package."""
    return files("coterie.report").joinpath(name).read_text(encoding="utf-8")


def hashed(text: str) -> str:
    """Return what a page's policy knows its own style or script by."""
    return base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")


def _json(value: Any) -> str:
    """Return JSON that may stand in a page: no tag, no comment and no reference begins in it."""
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _data(result: Result, known: Knowledge | None, starts: list[dict[str, Any]]) -> dict[str, Any]:
    if known is None:
        return {"known": None}
    content = known.to_json()
    return {
        "limits": not result.says_nothing,
        "places": places_of_people(result),
        "lowerIsBetter": result.data.lower_is_better,
        "assigned": _assigned(result).tolist(),
        "agents": [label(name) for name in result.strategy.agents],
        "coalitions": [label(name) for name in result.strategy.coalitions],
        "starts": [{"label": one["label"], "sets": one["sets"]} for one in starts],
        "order": _in_teams(result)[0].tolist(),
        "known": {**content, "rules": [{**rule, "text": visible(rule["text"])} for rule in content["rules"]]},
    }


def _assigned(result: Result) -> IntArray:
    """Return the places of everybody but those who left."""
    place = {agent: i for i, agent in enumerate(result.strategy.agents)}
    return np.array([place[agent] for agent in assigned_people(result)], dtype=np.int64)


def _in_teams(result: Result) -> tuple[IntArray, list[int]]:
    """Return the places of everybody but those who left by their first team, and how many have each as theirs."""
    here = _assigned(result)
    order, groups = by_team(result.strategy.marginals[here] > 0)
    return here[order], groups


# --- What the page shows ------------------------------------------------------------------------------


def _view(result: Result, known: Knowledge | None) -> dict[str, Any]:
    strategy = result.strategy
    is_pure = strategy.is_pure
    usable = known if known is not None and is_pure and known.fits else None
    starts = _starts(result) if is_pure else []
    learnt = bool(result.options)
    lead = " ".join(filter(None, [recommendation(result).removeprefix("Recommended: "), so_far(result)]))
    held = ranges_held(result)
    promises = [what_is_sure(result), *([f"{capitalised(held)}."] if held else [])]
    text = " ".join([lead, *_cautions(result), *promises])
    title = "Recommended teams" if learnt or result.solver.status != "given" else "How stable these teams are"
    title = visible(result.title) or title
    return {
        "result": result,
        "title": title,
        "lead": lead,
        "cautions": list(_cautions(result)),
        "figures": list(_figures(result)),
        "promises": promises,
        "proofs": _proofs(result),
        "least": " ".join(
            filter(
                None, [less_well_off(result, advise=False), better_places(result) if gains_elsewhere(result) else ""]
            )
        ),
        "full": full_teams(result),
        "bound": teams_to_stay_in(result),
        "worth": lambda value: shown_worth(result, value),
        "change": lambda value: shown_change(result, value),
        "ends": lambda low, high: shown_ends(result, low, high),
        "own": lambda value: own_worth(result, value),
        "outcomes": _outcomes(result),
        "worths_are": what_worths_are(result),
        "levels_are": what_levels_are(result),
        "confidence": percent(1 - result.certificate.delta),
        "limits": not result.says_nothing,
        "warnings": [for_readers(text) for text in told_warnings(result)],
        "values": what_values_are(result),
        "exchanges": any(
            one.alternative is not None and len(one.alternative.movers) > 1 for one in result.explanations.values()
        ),
        "coalitions": strategy.coalitions,
        **(_teams(result) if is_pure else _shares(strategy)),
        "has_today": result.today is not None,
        "changes": _changes(result),
        "people": list(_people(result)),
        "options": _options(result, starts),
        "why_recommended": why_recommended(result),
        "known": usable,
        "too_large": known is not None and is_pure and not known.fits,
        "starts": starts,
        "evidence": _evidence(result, known),
        "checks": [
            {
                "question": QUESTIONS.get(check.assumption, check.assumption),
                "verdict": check.verdict,
                "text": for_readers(check.text),
            }
            for check in result.checks
        ],
        "rules": rules_told(result),
        "unchecked": known is not None and result.rules.max_moves is not None and not known.checks_moves,
        "assumes": [
            f"people look for a gain {STEPS[result.stability]}"
            if text.startswith("stability is ")
            else for_readers(text)
            for text in result.certificate.assumes
        ],
        "facts": list(_facts(result)),
        "words": [*glossary(text), *((word, GLOSSARY[word]) for word in ("best alternative", "least well off"))],
    }


def _cautions(result: Result) -> Iterator[str]:
    yield from map(for_readers, told_first(result))
    if cut_short(result):
        yield cut_short(result)
    if result.violations:
        yield f"These teams break rules: {'; '.join(result.violations)}."
    if result.contradicted:
        yield result.caveat()
    if result.is_vacuous:
        yield vacuous(result)
    if guesses(result):
        yield guesses(result)


def _figures(result: Result) -> Iterator[dict[str, str]]:
    """Yield the few numbers that matter most: how much better, how many could do better, what is proven."""
    unit = f" {result.unit}" if result.unit else ""
    better = improvement(result)
    if better is not None:
        amount, notes = better
        told = f"expected {per_whom(result)} against {what_is_compared(result)}"
        told = "; ".join([told, *filter(None, notes)])
        if result.today is not None:
            told = f"{told}; {who_changes(result)}" if result.today.moves else "expected against today: nobody moves"
        yield {"amount": amount, "about": told}
    elif result.options:
        amount, _, about = expected_worth(result).partition(" per ")
        before = level_so_far(result)
        yield {"amount": amount, "about": f"expected per {about}" + (f"; so far {before} on average" if before else "")}
    gains, gap = gains_elsewhere(result), result.certificate.gap
    sure = percent(1 - result.certificate.delta)
    if gains is not None and (gains or gap > 0):
        people = len(valued(result))
        could, guess = f"could get a better place {STEPS[result.stability]}", str(len(gains)) if gains else "nobody"
        if likely := likely_better(result):
            told = f"{could}, with {percent(RANGE)} probability; by the best guess, {guess}"
            yield {"amount": f"{likely} of {people}", "about": told}
        else:
            yield {"amount": f"{guess} of {people}" if gains else guess, "about": f"{could}, by the best guess"}
    if not result.says_nothing:
        most = "no limit" if not np.isfinite(gap) else "nothing" if gap == 0 else f"{gap:.3g}{unit}"
        yield {"amount": most, "about": f"is the most that anybody can gain by moving: proven, {sure} sure"}


def _proofs(result: Result) -> list[str]:
    """Return what else is known of gains by moving, and how."""
    said = [more_needed(result)]
    if not result.says_nothing:
        said = [tightest_case(result), likely(result), who_stays(result), kind_of_proof(result, commands=False)]
    return [text for text in said if text]


def _teams(result: Result) -> dict[str, Any]:
    strategy, today = result.strategy, result.today
    places = strategy.sets.sum(axis=1)
    moved = np.zeros(strategy.n_agents, dtype=bool)
    if today is not None:
        moved = np.asarray((today.strategy.sets != strategy.sets).any(axis=1))
    number_of = {agent: i for i, agent in enumerate(strategy.agents)}
    before = {} if today is None else today.strategy.members()
    levels = team_levels(result)
    teams = [
        {
            "name": name,
            "members": [
                {"name": one, "id": number_of[one], "teams": int(places[number_of[one]]),
                 "moved": bool(moved[number_of[one]])}
                for one in members
            ],
            "left": [one for one in before.get(name, []) if one not in members],
            "level": levels.get(name),
        }
        for name, members in listed_teams(result).items()
        if members
    ]  # fmt: skip
    shared = strategy.sets.T.astype(np.int64) @ strategy.sets.astype(np.int64)
    used = np.flatnonzero(strategy.sets.any(axis=0)).tolist()
    overlaps = None
    if (places > 1).any():
        overlaps = {
            "names": [strategy.coalitions[l] for l in used],
            "rows": [
                {"name": strategy.coalitions[l], "cells": [int(shared[l, m]) if l != m else "" for m in used]}
                for l in used
            ],
        }
    staff = result.rules.staff
    return {
        "teams": teams,
        "overlaps": overlaps,
        "empty": [name for name, members in strategy.members().items() if not members],
        "nowhere": [
            agent for agent, count in zip(strategy.agents, places.tolist(), strict=True)
            if not count and (staff is None or agent in staff)
        ],
        "shares": None,
    }  # fmt: skip


def _shares(strategy: Strategy) -> dict[str, Any]:
    rows = [
        {"name": agent, "shares": [f"{share:.0%}" if share else "" for share in row]}
        for agent, row in zip(strategy.agents, strategy.marginals.tolist(), strict=True)
    ]
    return {"teams": None, "overlaps": None, "empty": [], "nowhere": [], "shares": rows}


def _changes(result: Result) -> list[dict[str, Any]]:
    """Return what changes for whom against today, and why."""
    return [
        {
            "agent": one.agent,
            "before": one.before,
            "after": one.after,
            "expected": one.expected,
            "worth": one.worth(lambda gain: shown_change(result, gain)),
            "why": one.why(lambda value: shown_worth(result, value)),
        }
        for one in ([] if result.today is None else result.today.changes)
    ]


def _people(result: Result) -> Iterator[dict[str, Any]]:
    strategy, sure, limits = result.strategy, set(result.certificate.surely_stay), not result.says_nothing
    ends = {agent: one.ends for agent, one in result.explanations.items()}
    scale = Scale([low for low, _ in ends.values()], [high for _, high in ends.values()])
    changes = {one["agent"]: one for one in _changes(result)}
    for i in _assigned(result).tolist():
        agent = strategy.agents[i]
        one = result.explanations.get(agent)
        low, high = ends.get(agent, (np.nan, np.nan))
        value = result.estimate.utility.get(agent, 0.0)
        taken = [name for l, name in enumerate(strategy.coalitions) if strategy.marginals[i, l] > 0]
        yield {
            "id": i,
            "name": agent,
            "teams": taken,
            "today": None if result.today is None else list(result.today.strategy.actions[agent]),
            "change": changes.get(agent),
            "scores": own_scores(result, agent) if strategy.is_pure else "",
            "worse": why_worse(result, agent),
            "guess": why_guess(result, agent),
            "value": value,
            "likely": likely_worth(result, agent),
            "low": low,
            "high": high,
            "bar": scale.bar(low, value, high)
            if limits and one is not None and np.isfinite([low, high]).all()
            else None,
            "other": None if one is None or one.alternative is None else _other(result, one),
            "stays": agent in sure and len(sure) < strategy.n_agents - len(result.left_out),
            "left_out": agent in result.left_out,
            "rooms": () if one is None else _rooms(result, one),
        }


def _rooms(result: Result, one: Explanation) -> tuple[Room, ...]:
    """Return somebody's teams; interchangeable ones with nobody in them are none."""
    return tuple(room for room in one.rooms if room.joined or room.seen is not None or not result.data.pool_coalitions)


def _other(result: Result, one: Explanation) -> dict[str, Any]:
    assert one.alternative is not None

    def change(gain: float) -> str:
        return shown_change(result, gain)

    does = what_it_does(one.alternative, change)
    does += "" if result.says_nothing else how_sure(one.alternative, one.least, change)
    what, brief = label(result.moving(one.alternative)), result.step(one.alternative, label, ", ")
    return {"what": what, "brief": brief, "does": does, "gain": one.alternative.estimated_gain}


def _starts(result: Result) -> list[dict[str, Any]]:
    """Return the assignments that a reader may start from, each once."""
    found = [("recommended" if result.options else "these teams", result.strategy)]
    labelled = list(zip(option_labels(result), result.options, strict=True))
    found += [(label, one.strategy) for label, one in labelled[1:] if one.strategy.is_pure]
    if result.today is not None:
        found.append(("today", result.today.strategy))
    distinct: dict[Strategy, str] = {}
    for label, strategy in found:
        distinct.setdefault(strategy, label)
    return [
        {"label": label, "strategy": strategy, "sets": [np.flatnonzero(row).tolist() for row in strategy.sets]}
        for strategy, label in distinct.items()
    ]


def _options(result: Result, starts: list[dict[str, Any]]) -> dict[str, Any] | None:
    """Return the table of options, the same as elsewhere, with how many people are elsewhere in each."""
    kept = shown_options(result) if result.options else []
    if len(kept) < 2:
        return None
    place = {one["strategy"]: t for t, one in enumerate(starts)}
    head, *rows = option_rows(result, details=False)
    return {
        "about": what_options_are(result),
        "head": head[1:],
        "rows": [
            {
                "label": row[0],
                "cells": row[1:],
                "elsewhere": int(elsewhere(result, one.strategy).sum()),
                "start": place.get(one.strategy),
            }
            for row, one in zip(rows, (result.options[t] for t in kept), strict=True)
        ],
    }


# --- Evidence -----------------------------------------------------------------------------------------


def _outcomes(result: Result) -> str:
    if result.data.feedback == "semi-bandit":
        return "values of pairs"
    return "scores of teams" if result.data.totals in TEAM_SCORES else "totals of people"


def _evidence(result: Result, known: Knowledge | None) -> dict[str, Any]:
    samples, rows = result.data.samples, result.data.rows
    text = f"The log holds {counted(rows, 'row')} with {_outcomes(result)}"
    text += f" in {counted(samples, 'round')}" if samples else ""
    text += f", from {' to '.join(result.data.period)}." if result.data.period else "."
    return {
        "text": text,
        "maps": [] if known is None else list(_maps(result, known)),
        "coverage": list(_coverage(result)),
        "wanted": what_would_help(result),
    }


def _maps(result: Result, known: Knowledge) -> Iterator[dict[str, Any]]:
    if known.expected.ndim == 4 and not known.fits:
        return
    order, groups = _in_teams(result)
    square, n = np.ix_(order, order), len(order)
    drawn = {"lines": lines_between(groups), **_margins([result.strategy.agents[i] for i in order.tolist()])}
    pairs = known.pairs
    title, about = "How well people do together", "What a pair is expected to be worth"
    if pairs is not None:
        count = _by_pair(pairs.estimate.moments.count)[square]
        each = np.maximum(count, count.T)[np.triu_indices(n, 1)]  # a pair is one, also where both have their say
        seen = np.where(count > 0, count, np.nan)
        yield {**_map("count", "How often people were seen together", _how_often(each, n), seen, "never"), **drawn}
        weights = _by_pair(pairs.estimate.moments.count * known.expected)[square]
        worth = np.divide(weights, count, out=np.full((n, n), np.nan), where=count > 0)
        about += ", on average over where they met"
    else:
        worth = (_by_pair(known.expected) / known.expected[:, 0, 0].size)[square]
        np.fill_diagonal(worth, np.nan)
        about += ", as far as totals tell"
    if result.data.has_scale:
        about += f" ({what_neutral_is(result)})"
    unknown = "never seen together" if np.isnan(worth).sum() > n else ""
    yield {**_map("worth", title, f"{about}.", worth, unknown, lambda value: shown_level(result, value)), **drawn}


def _margins(names: list[str]) -> dict[str, Any]:
    """Return the names beside a map of few people, how large they are and how much room they need, in squares."""
    n = len(names)
    if n > NAMED_ON_MAPS:
        return {"names": [], "margin": 0, "letters": 0, "wide": False}
    shown = [text if len(text) <= ON_MAPS else f"{text[: ON_MAPS - 1]}…" for text in map(visible, names)]
    letters = round(min(0.75, max(0.28, n / 42)), 2)
    longest = max((sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text) for text in shown), default=0)
    return {
        "names": shown,
        "margin": round(0.62 * letters * longest + 0.4, 2),
        "letters": letters,
        "wide": n > WIDE_MAPS,
    }


def _how_often(count: FloatArray, n_people: int) -> str:
    """Return how many pairs of so many people were seen, and how often the one in the middle was."""
    seen = count[count > 0]
    if not seen.size:
        return "No pair was seen together."
    all_seen = seen.size == count.size
    who = "All" if all_seen else f"{seen.size:,} of"
    who = f"{who} {counted(count.size, 'pair')} of the {n_people:,} people in these teams"
    return f"{who} were seen together, half of them at least {counted(int(np.median(seen)), 'time')}."


def _by_pair(values: FloatArray) -> FloatArray:
    """Return sums over everything but the two of a pair, shape (n, n)."""
    return np.asarray(values.sum(axis=(0, 3)) if values.ndim == 4 else values.sum(axis=0))


def _map(
    kind: str, title: str, about: str, values: FloatArray, never: str, level: Callable[[float], str] | None = None
) -> dict[str, Any]:
    """Return a map of counts, or of values that have signs and are shown as `level` says."""

    def label(shade: Shade) -> str:
        if level is not None:
            ends = dict.fromkeys([level(shade.low), level(shade.high)])  # one, where rounding makes them the same
            return " to ".join(ends)
        low, high = int(np.floor(shade.low)) + 1, int(np.floor(shade.high + 1e-9))
        return f"{low:,}" if high <= low else f"{low:,} to {high:,}"

    shades = shaded(values, signed=level is not None)
    return {
        "kind": kind,
        "title": title,
        "about": about,
        "size": len(values),
        "shades": [{"name": one.name, "path": one.path, "label": label(one)} for one in shades],
        "never": never,
    }


def _coverage(result: Result) -> Iterator[str]:
    found = result.coverage
    if found is None:
        return
    if found.is_enough:
        yield (
            "Everything that somebody could bring about by moving was seen at least once; how much that certifies "
            "depends on how often."
        )
        return
    if found.n_uncovered_pairs:
        pooled = result.data.pool_coalitions
        named = [
            f"{one.agent} {'of' if found.one_way else 'and'} {one.partner}" + ("" if pooled else f" in {one.coalition}")
            for one in found.uncovered_pairs
        ]
        many = found.n_uncovered_pairs
        if found.one_way:
            what = f"{counted(many, 'rating')} that a move would make count {'is' if many == 1 else 'are'} missing"
        elif pooled:
            what = f"{counted(many, 'pair')} that a move can bring together {'was' if many == 1 else 'were'} never seen"
        else:
            what = f"In {counted(many, 'case')} a move can bring two people together in a team where they never met"
        yield f"{what}: {', '.join(named[:6])}{f' and {many - 6:,} more' if many > 6 else ''}."
    else:
        yield "Totals leave something open that a move depends on."


GOALS: dict[str, str] = {
    "value": "the best expected value",
    "stability": "the smallest sure gain by moving",
    "fairness": "whoever is least well off",
}
"""What is recommended for, in words."""


def _facts(result: Result) -> Iterator[tuple[str, str]]:
    data, asked = result.data, result.parameters
    yield "made by", f"coterie {result.version}" + ("" if result.seed is None else f", seed {result.seed}")
    method = result.certificate.method
    yield "proof", f"{method} ({GLOSSARY.get(method, 'see the pages')}), delta {number(result.certificate.delta)}"
    if result.goal:
        yield "recommended for", GOALS[result.goal]
    yield "a team is worth", "the average over teammates" if result.value == "average" else "the total over teammates"
    yield "people could gain", f"{STEPS[result.stability]} ({result.stability})"
    if data.utility_range is not None:
        neutral = f", {what_neutral_is(result)}" if data.has_scale else ""
        yield "scale", interval(*data.utility_range) + neutral
    yield (
        "log",
        f"{counted(data.rows, 'row')}, {data.feedback}"
        + (", teams interchangeable" if data.pool_coalitions else "")
        + (f", from {' to '.join(data.period)}" if data.period else ""),
    )
    if data.log_sha256:
        yield "fingerprint of the log", data.log_sha256
    options = {name: value for name, value in asked.items() if value is not None and value is not False}
    if options:
        yield "asked for", ", ".join(f"{name} {value}" for name, value in options.items())
