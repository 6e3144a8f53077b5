"""The page about result files lists every key that there is, and no other."""

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import coterie
from coterie.simulate import Simulation

PAGE = Path(__file__).parents[2] / "docs" / "result-file.md"


def listed():
    """Return the keys of the page's tables, as patterns."""
    rows = [line.split(" | ")[0] for line in PAGE.read_text("utf-8").splitlines() if line.startswith("| `")]
    return {key for row in rows for key in re.findall("`([^`]+)`", row)}


def paths(value, at=""):
    """Yield where everything in a file is: names of keys, and [] for the entries of lists."""
    if isinstance(value, dict):
        for key, inside in value.items():
            yield from paths(inside, [*at, key])
    elif isinstance(value, list):
        for inside in value:
            yield from paths(inside, [*at, "[]"])
    yield tuple(at)


def parts(key):
    return key.replace("[]", ".[]").strip(".").split(".")


def is_at(place, pattern):
    """Return whether a place is what a key of the page says; `*` is any name, `**` whatever is there or below."""
    for t, part in enumerate(pattern):
        if part == "**":
            return len(place) >= t
        if t >= len(place) or (part != place[t] and not (part == "*" and place[t] != "[]")):
            return False
    return len(place) == len(pattern)


def leads_to(place, pattern):
    """Return whether a place is on the way to one that is listed, so that it need not be listed itself."""
    return len(place) < len(pattern) and is_at(place, pattern[: len(place)])


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Results of many kinds: of pairs and totals, with today and without, pure and mixed, given and learnt."""
    rng = np.random.default_rng(0)
    people = [f"p{i}" for i in range(8)]
    ratings, rows = [], []
    for week in pd.date_range("2026-01-05", periods=12, freq="7D").strftime("%Y-%m-%d"):
        for team, members in zip("xy", rng.permutation(people).reshape(2, 4), strict=True):
            ratings += [(week, team, a, b, int(rng.integers(1, 6))) for a in members for b in members if a != b]
            rows += [(week, team, a, float(rng.integers(8, 18))) for a in members]
    columns = ["sample", "coalition", "agent", "partner", "utility"]
    today = {name: ["x" if place < 4 else "y"] for place, name in enumerate(people)}
    pairs = coterie.Log.from_frames(
        pairs=pd.DataFrame(ratings, columns=columns), utility_range=(1, 5), neutral=3, symmetric=False,
        lower_is_better=True, actions="one",
    )  # fmt: skip
    rules = coterie.Rules(team_size="3:5", staff=(*people[:-1], "newcomer"))
    totals = pd.DataFrame(rows, columns=["sample", "coalition", "agent", "utility"])
    pooled = coterie.Log.from_frames(
        memberships=totals.iloc[:, :3], totals=totals, totals_are="team-averages", utility_range=(0, 20), neutral=12,
        symmetric=False, pool_coalitions=True, coalitions=2,
    )  # fmt: skip
    known = Simulation.draw(6, 2, np.random.default_rng(1)).log(200)
    found = [
        coterie.StableLearner(rules=rules, today=today).fit(pairs).result_,
        coterie.StableLearner(today={name: [{"x": "Door", "y": "Window"}[team] for team in where]
                                     for name, where in today.items()}, rules={"team_size": "4"}).fit(pooled).result_,
        coterie.StableLearner().fit(known).result_,
        coterie.StableLearner(strategy="mixed").fit(known).result_,
        coterie.certify(pairs, today),
    ]  # fmt: skip
    return [json.loads(one.file_content()) for one in found]


def test_every_key_is_on_the_page(results):
    patterns = [parts(key) for key in listed()]
    places = {place for content in results for place in paths(content, ())}
    missing = {
        ".".join(place)
        for place in places
        if place
        and not any(is_at(place, one) or leads_to(place, one) for one in patterns)
        # Lists that are listed with or without their entries.
        and not (place[-1] == "[]" and any(is_at(place[:-1], one) for one in patterns))
    }
    assert not missing


SOURCES = "".join(path.read_text("utf-8") for path in (Path(coterie.__file__).parent).rglob("*.py"))


def test_every_key_of_the_page_is_in_results(results):
    """Those that no small result has are in the code that writes them."""
    places = {place for content in results for place in paths(content, ())}
    for key in listed():
        pattern = parts(key)
        if not any(is_at(place, pattern) for place in places):
            name = [part for part in pattern if part not in {"*", "**", "[]"}][-1]
            assert re.search(rf'\b{name}\b(: |"|\')', SOURCES), key
    assert len(listed()) > 100
