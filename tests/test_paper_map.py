"""docs/paper is complete and true: every statement has a row, every name exists, every script is linked.

`STATEMENTS` is written by hand from the paper and its appendix, in their order and numbering (the appendix
goes on counting lemmas, theorems, corollaries and equations).
"""

import re

import pytest

import map_rows
from map_rows import MAP, ROOT, ROWS, checks_in, codes_of, functions_in, resolve

PAGES = sorted((ROOT / "docs" / "paper").glob("*.md"))
ERRATA = ROOT / "docs" / "paper" / "errata.md"
SCRIPTS = sorted((ROOT / "examples" / "paper").glob("*.py"))

DEFINITIONS = [
    "game", "action space", "joint action", "mixed strategy", "mutual utility", "utility of an agent",
    "Nash deviation", "Nash stable", "hedonic games as a special case", "best response", "approximate stability",
    "dataset", "exploration policy", "semi-bandit feedback", "bandit feedback", "sample complexity",
    "utility estimator", "confidence bounds", "surrogate gap",
    "coalitional overall density", "counts and means of pairs", "deterministic strategies",
    "features of a total",
    "uniform model", "Gaussian model", "size-dependent models", "mixed coalition size effects", "random action sets",
    "uniformly random policy", "1Rand, the coalition size policy", "coordinate descent scheme",
    "Monte Carlo expectations",
    "meeting probability", "c_size for pure strategies", "policy of one change",
]  # fmt: skip
"""What the paper defines in its text; the duality gap, the bonus, c_size and c_act are equations 1, 2, 7 and 12."""

NUMBERED = {
    "Observation": {1: "sizes under deviations"},
    "Assumption": {1: "coalition size coverage", 2: "action coverage"},
    "Algorithm": {1: "surrogate minimisation", 2: "surrogate minimisation, pure strategies"},
    "Lemma": {
        1: "potential",
        2: "the surrogate bounds the gap",
        3: "App. D: stable profiles of the first game",
        4: "App. D: stable profiles of the second game",
        5: "App. E: Hoeffding",
        6: "App. E: eq. 9 is a bonus",
        7: "App. E: binomial counts",
        8: "App. E: counts of pairs",
        9: "App. E.1: c_size at most 3",
        10: "App. F: stable profiles of the first game",
        11: "App. F: stable profiles of the second game",
        12: "App. G: eq. 11 is a bonus",
        13: "App. G.1: counts of joint actions",
        14: "App. G.1: c_act",
    },
    "Theorem": {
        1: "general bound",
        2: "a size is missing",
        3: "semi-bandit bound",
        4: "totals do not suffice",
        5: "bandit bound",
        6: "App. E.3: semi-bandit bound, pure strategies",
    },
    "Corollary": {
        1: "samples, semi-bandit",
        2: "samples, bandit",
        3: "App. E.4: samples, semi-bandit, pure strategies",
        4: "App. G.3: bandit bound, pure strategies",
        5: "App. G.3: samples, bandit, pure strategies",
    },
    "Remark": {
        1: "uniform choice",
        2: "asymmetric preferences",
        3: "bandit algorithms",
        4: "uniform exploration",
        5: "smallest c_size",
        6: "c_act of a known policy",
    },
    "Eq.": {
        1: "duality gap",
        2: "bonus",
        3: "optimistic and pessimistic values",
        4: "optimistic best response",
        5: "approximate minimiser",
        6: "surrogate minimisation",
        7: "c_size",
        8: "semi-bandit estimator",
        9: "semi-bandit bonus",
        10: "constant of Theorem 3",
        11: "ridge regression",
        12: "action coverage",
        **dict.fromkeys(range(13, 18), "App. A: change of the potential"),
        **dict.fromkeys(range(18, 22), "App. B: the two parts of Lemma 2"),
        **dict.fromkeys(range(22, 26), "App. C: Theorem 1 and its proof"),
        26: "App. D: first game",
        27: "App. D: second game",
        28: "App. D: policy",
        29: "App. D: gap at least q",
        **dict.fromkeys(range(30, 36), "App. E: Hoeffding and the bonus"),
        36: "App. E: counts",
        37: "App. E: counts",
        **dict.fromkeys(range(38, 46), "App. E: Theorem 3 and its proof"),
        46: "App. E.1: c_size",
        47: "App. E.2: Corollary 1",
        48: "App. E.2: its proof",
        49: "App. E.3: Algorithm 2",
        **dict.fromkeys(range(50, 56), "App. E.3: Theorem 6 and its proof"),
        56: "App. E.4: Corollary 3",
        57: "App. E.4: its proof",
        58: "App. F: first game",
        59: "App. F: second game",
        60: "App. F: policy",
        **dict.fromkeys(range(61, 65), "App. G: Lemma 12 and its proof"),
        65: "App. G: proof of Theorem 5",
        66: "App. G.1: Chernoff",
        67: "App. G.1: Chernoff",
        **dict.fromkeys(range(68, 73), "App. G.1: proof of Lemma 14"),
        73: "App. G.2: proof of Corollary 2",
    },
}

FIGURES = ["1", *(f"S{number}" for number in range(1, 7))]
"""The main text's figure, and those of the supplement in their order."""

STATEMENTS = [
    *(f"Definition: {name}" for name in DEFINITIONS),
    *(f"{kind} {number}" for kind, numbers in NUMBERED.items() for number in numbers),
    *(f"Figure {name}" for name in FIGURES),
]

WITHOUT_FUNCTION = ("none (a step of a proof)", "none (a comment)")


TEXTS = [
    page.read_text(encoding="utf-8")
    for page in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md"))
]
NAMES = sorted(set(re.findall(r"`(coterie(?:\.\w+)+)`", "".join(TEXTS))))


def test_every_statement_has_exactly_one_row():
    named = [name for names, *_ in ROWS for name in names]
    assert sorted(named) == sorted(STATEMENTS)


def test_numbers_have_no_holes():
    for numbers in NUMBERED.values():
        assert list(numbers) == list(range(1, len(numbers) + 1))
    assert len(NUMBERED["Eq."]) == 73


@pytest.mark.parametrize("name", NAMES)
def test_every_function_can_be_imported(name):
    assert resolve(name) is not None


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0][0])
def test_rows_name_functions_and_checks_that_exist(row):
    names, what, functions, checks = row
    assert what
    listed = functions_in(functions)
    assert listed or functions in WITHOUT_FUNCTION
    assert all(codes_of(name) for name in listed), "names something that cannot run"
    cited = checks_in(checks)
    assert cited or names == ["Remark 3"]
    assert checks.count("](../../") + checks.count("`tests/") == len(cited)
    for check in cited:
        path, _, test = check.partition("::")
        assert (ROOT / path).exists(), path
        assert path.startswith("examples/") or f"def {test}(" in (ROOT / path).read_text(encoding="utf-8"), check


def test_a_row_whose_test_runs_something_else_is_noticed(monkeypatch):
    """That they do is seen whenever a cited test or script runs: `conftest.py` traces it."""
    rows = [("Here", ["map_rows.codes_of", "map_rows.check_of"], True), ("There", ["map_rows.check_of"], False)]
    monkeypatch.setattr(map_rows, "cited", lambda: {"me": rows})
    monkeypatch.setattr(map_rows, "resolve", lambda name: getattr(map_rows, name.partition(".")[2], map_rows))
    required = map_rows.requirements("me")
    assert [what for what, _ in required] == [
        "Here: map_rows.codes_of", "Here: map_rows.check_of", "There: map_rows.check_of"
    ]  # fmt: skip
    with map_rows.traced(required) as left:
        map_rows.codes_of("map_rows.check_of")
    assert [what for what, _ in left] == ["Here: map_rows.check_of", "There: map_rows.check_of"]
    with map_rows.traced(required) as left:
        assert map_rows.check_of("tests/test_examples.py::test_script_asserts_and_runs[x]") == "examples/paper/x.py"
        map_rows.codes_of("map_rows.check_of")
    assert not left


def test_methods_of_subclasses_count_and_what_only_exists_does_not():
    class Base:
        def method(self): ...

        @property
        def shown(self): ...

    class Child(Base):
        def method(self): ...

    wanted = [("base", {map_rows._code(vars(Base)["shown"])}), ("child", {Child.method.__code__})]
    with map_rows.traced(wanted) as left:
        Child().method()
    assert [what for what, _ in left] == ["base"]
    assert Child in map_rows._family(Base)
    codes = codes_of("coterie.simulate.policies.Policy.meeting_probabilities")
    assert resolve("coterie.simulate.policies.Independent.meeting_probabilities").__code__ in codes


def test_making_an_object_is_not_using_it():
    """Of a dataclass and a named tuple everything is generated; a class is used when one of its own methods runs."""
    assert not codes_of("coterie.solve.paper_scheme.Samples")
    assert not codes_of("coterie.reproduce.methods.Outcome")
    codes = codes_of("coterie.simulate.policies.FirstExplores")
    policy = resolve("coterie.simulate.policies.FirstExplores")
    assert policy.sample.__code__ in codes
    assert not codes & {policy.__init__.__code__, policy.__post_init__.__code__}


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_every_script_is_linked_from_the_map_and_from_a_page(path):
    link = f"](../../examples/paper/{path.name})"
    assert link in MAP.read_text(encoding="utf-8")
    assert any(link in page.read_text(encoding="utf-8") for page in PAGES if page != MAP)


def test_every_finding_has_a_section_with_a_script():
    text = ERRATA.read_text(encoding="utf-8")
    sections = re.split(r"^### ", text, flags=re.MULTILINE)[1:]
    assert [section.splitlines()[0] for section in sections] == [f"Finding {i}" for i in range(1, 18)]
    for number, section in enumerate(sections, start=1):
        assert "](../../examples/paper/" in section
        assert f"[{number}](#finding-{number})" in text


def test_anchors_of_findings_exist():
    for page in PAGES:
        for number in re.findall(r"#finding-(\d+)\)", page.read_text(encoding="utf-8")):
            assert 1 <= int(number) <= 17
