"""What a reader is warned about."""

import numpy as np
import pandas as pd
import pytest

import coterie
from coterie import StableLearner, Strategy
from coterie.assumptions import checks_of
from coterie.assumptions.check import QUESTIONS
from coterie.learn.warnings import cautions
from coterie.simulate import Simulation
from coterie.solve.control import Control
from coterie.statistics.parts import PARTS
from coterie.statistics.statistics import Statistics


def warned(log, strategy=None, **options):
    strategy = strategy or Strategy.pure(
        np.ones((len(log.agents), len(log.coalitions)), dtype=bool), log.agents, log.coalitions
    )
    statistics = Statistics.of(log, **options)
    return cautions(statistics, strategy, checks_of(statistics))


def frames(rows):
    return pd.DataFrame(rows, columns=["sample", "coalition", "agent", "partner", "utility"])


def test_one_sign():
    rows = [(s, c, "a", "b", 0.2 + 0.1 * (s % 3)) for s in range(10) for c in "xy"]
    found = warned(coterie.Log.from_frames(pairs=frames(rows)))
    assert any("no outcome is below the neutral point 0" in text and "say with neutral which" in text for text in found)
    found = warned(coterie.Log.from_frames(pairs=frames(rows), neutral=0.9))
    assert any("no outcome is above the neutral point 0.9" in text and "be alone" in text for text in found)
    found = warned(coterie.Log.from_frames(pairs=frames(rows), neutral=0.3))
    assert not any("neutral" in text for text in found)


@pytest.mark.parametrize(
    ("actions", "wish"), [("any", "join as many teams as possible"), ("one", "be with anybody than alone")]
)
def test_nobody_is_said_to_join_more_than_they_can(actions, wish):
    rows = [(s, c, "a", "b", 0.2 + 0.1 * (s % 3)) for s in range(10) for c in "xy"]
    found = warned(coterie.Log.from_frames(pairs=frames(rows), actions=actions))
    assert sum(f"everybody would rather {wish}:" in text for text in found) == 1


def test_ratings_of_0_and_1_have_one_sign():
    rows = [(s, c, "a", "b", s % 2) for s in range(10) for c in "xy"]
    found = warned(coterie.Log.from_frames(pairs=frames(rows)))
    assert any("no outcome is below the neutral point 0" in text for text in found)


def test_labels_that_mean_nothing():
    rows = [(s, f"team {s}", "a", "b", 0.5 - s % 2) for s in range(10)]
    found = warned(coterie.Log.from_frames(pairs=frames(rows)))
    assert any("use pool_coalitions=True" in text for text in found)
    log = coterie.Log.from_frames(pairs=frames(rows), pool_coalitions=True)
    assert not any("use pool_coalitions=True" in text for text in warned(log))


def test_larger_than_ever_seen():
    rows = [(s, "x", *pair, 0.5 - s % 2) for s, pair in enumerate([("a", "b"), ("b", "c"), ("a", "c")] * 4)]
    log = coterie.Log.from_frames(pairs=frames(rows))
    assert any("team x would have 3 members, more than ever seen (2)" in text for text in warned(log))
    alone = Strategy.pure([[1], [1], [0]], log.agents, log.coalitions)
    assert not any("members," in text for text in warned(log, alone))


def test_nothing_to_say_about_a_sound_log(tmp_path):
    source = Simulation.draw(4, 3, np.random.default_rng(1), actions_per_agent=4)
    source.write_log(tmp_path / "log", 400)
    learner = StableLearner().fit(tmp_path / "log")
    assert learner.result_.warnings == ()


@pytest.mark.parametrize(
    ("options", "advice", "cure"),
    [
        ({"model": "size-gaussian"}, 'use sizes="aware"', {"sizes": "aware"}),
        ({"noise": "samples"}, 'use noise="samples"', {"noise": "samples"}),
    ],
)
def test_broken_assumptions(tmp_path, options, advice, cure):
    source = Simulation.draw(5, 2, np.random.default_rng(3), actions_per_agent=3, **options)
    source.write_log(tmp_path / "log", 3000)
    log = coterie.read_log(tmp_path / "log")
    assert any(advice in text for text in warned(log))
    assert not any(advice in text for text in warned(log, **cure))


@pytest.fixture(scope="module")
def two_logs(tmp_path_factory):
    """Two logs of one game that breaks every assumption: sizes matter, samples share noise, all utilities are good."""
    folder = tmp_path_factory.mktemp("warned")
    source = Simulation.draw(
        5, 2, np.random.default_rng(3), actions_per_agent=3, model="size-gaussian", noise="samples"
    )
    for name in ("one", "two"):
        source.write_log(folder / name, 1500)
        for table in ("pairs", "memberships"):
            frame = pd.read_csv(folder / name / f"{table}.csv", dtype=str)
            frame["sample"] = name + frame["sample"]
            frame.to_csv(folder / name / f"{table}.csv", index=False)
        (folder / name / "totals.csv").write_text("sample,agent,utility\n")
    return tuple(coterie.read_log(folder / name, neutral=-1.0) for name in ("one", "two"))


def told(learner):
    return learner.result_.warnings, learner.result_.checks


ADVICE = ("totals are not used", 'sizes="aware"', 'noise="samples"', "say with neutral")


def test_statistics_warn_like_their_log(two_logs, tmp_path):
    log, _ = two_logs
    expected = told(StableLearner().fit(log))
    assert all(any(advice in text for text in expected[0]) for advice in ADVICE)
    assert {check.assumption for check in expected[1]} == set(QUESTIONS)
    assert [check.text for check in expected[1] if check.verdict == "broken"] == [
        text for text in expected[0] if text in {check.text for check in expected[1]}
    ]
    statistics = Statistics.for_learning(log)
    assert told(StableLearner().fit(statistics)) == expected
    statistics.save(tmp_path / "kept.npz")
    assert told(StableLearner().fit(Statistics.load(tmp_path / "kept.npz"))) == expected
    assert told(StableLearner().partial_fit(log)) == expected
    assert told(StableLearner().merge(StableLearner().fit(log))) == expected
    given = coterie.certify(log, StableLearner().fit(log).strategy_)
    assert [check.assumption for check in given.checks] == [check.assumption for check in expected[1]]


def test_logs_that_arrive_later_warn_too(two_logs):
    one, two = two_logs
    expected = told(StableLearner().fit(Statistics.for_learning(one) + Statistics.for_learning(two)))
    assert all(any(advice in text for text in expected[0]) for advice in ADVICE)
    assert told(StableLearner().fit(one).partial_fit(two)) == expected
    assert told(StableLearner().fit(one).merge(StableLearner().fit(two))) == expected


def test_how_a_log_was_read_is_told_alike_from_all_ways_in(tmp_path):
    source = Simulation.draw(4, 3, np.random.default_rng(1), actions_per_agent=4)
    source.write_log(tmp_path / "log", 60)
    log = coterie.read_log(tmp_path / "log", since=11, until="50", missing="worst", adaptive=True)
    learner = StableLearner().fit(log)
    found = learner.result_.data
    assert (found.missing, found.since, found.until, found.adaptive) == ("worst", "11", "50", True)
    learner.statistics_.save(tmp_path / "kept.npz")
    for other in (
        StableLearner().fit(learner.statistics_),
        StableLearner().fit(Statistics.load(tmp_path / "kept.npz")),
        StableLearner().partial_fit(log),
        StableLearner().merge(learner),
    ):
        assert other.result_.data == found
        assert told(other) == told(learner)
    rest = coterie.read_log(tmp_path / "log", since=51, missing="worst", adaptive=True)
    both = learner.partial_fit(rest).result_.data
    assert (both.missing, both.since, both.until, both.adaptive) == ("worst", None, None, True)


def test_parts_do_not_matter_to_the_tests(two_logs):
    log, _ = two_logs
    expected = warned(log, parts=PARTS)
    assert any('sizes="aware"' in text for text in expected)
    for parts in ((1.0,), (0.5, 0.5), (0.2, 0.8)):
        assert warned(log, parts=parts) == expected


def test_an_interruption_skips_what_takes_long(two_logs, monkeypatch):
    def interrupt(self):
        raise KeyboardInterrupt

    statistics = Statistics.for_learning(two_logs[0])
    monkeypatch.setattr(Control, "check", interrupt)
    found = StableLearner().fit(statistics).result_.warnings
    assert not any('sizes="aware"' in text for text in found)
    assert all(any(advice in text for text in found) for advice in ADVICE if advice != 'sizes="aware"')


def test_an_interruption_names_what_was_not_tested(two_logs, monkeypatch):
    def interrupt(self):
        raise KeyboardInterrupt

    statistics = Statistics.for_learning(two_logs[0])
    monkeypatch.setattr(Control, "check", interrupt)
    found = {check.assumption: check for check in StableLearner().fit(statistics).result_.checks}
    assert set(found) == set(QUESTIONS)
    skipped = [name for name, check in found.items() if check.text.startswith("there was no time to test whether")]
    assert skipped == ["sizes", "symmetry", "drift", "missing"]
    assert all(found[name].verdict == "not tested" for name in skipped)
    assert found["independence"].verdict == "broken"


def test_nothing_is_tested_without_clues(two_logs):
    assert not any(advice in text for text in warned(two_logs[0], clues=False) for advice in ADVICE)


def test_letters_of_a_table_come_last(tmp_path):
    """They took one of the two places that a short answer has for warnings."""
    rows = "".join(f"{week};x;Änne;Bö;0,5\r\n" for week in range(5))
    (tmp_path / "pairs.csv").write_bytes(f"sample;coalition;agent;partner;utility\r\n{rows}".encode("cp1252"))
    found = warned(coterie.read_log(tmp_path))
    assert len(found) > 1
    assert "Windows-1252" in found[-1]


def test_what_is_missing_is_said_and_nothing_that_is_there():
    """Of ratings alone it is the table of memberships that is missing, however many rounds there are."""
    pairs = frames([(f"{s:02d}", "x", *two, 0.1) for s in range(18) for two in ("ab", "bc", "ac")])
    told = {one.assumption: one.text for one in checks_of(Statistics.of(coterie.Log.from_frames(pairs=pairs)))}
    for assumption in ("sizes", "missing"):
        assert told[assumption].endswith(
            "is not known: that takes a table of who was in which team (memberships); here teams are known by their "
            "ratings alone"
        ) or told[assumption].startswith("whether outcomes are missing is not known: that takes a table")
        assert "rounds" not in told[assumption]
        assert "meetings" not in told[assumption]
    one = frames([("1", "x", *two, 0.1) for two in ("ab", "bc", "ac")])
    members = pd.DataFrame([("1", who, "x") for who in "abc"], columns=["sample", "agent", "coalition"])
    told = checks_of(Statistics.of(coterie.Log.from_frames(pairs=one, memberships=members)))
    assert "one round does not show it" in next(check.text for check in told if check.assumption == "sizes")


def test_what_makes_promises_weaker_comes_last():
    """It is not wrong, and nobody need do anything: whatever else there is to say comes before."""
    pairs = frames([(f"{s:02d}", "x", *two, 0.1 * s) for s in range(5) for two in ("ab", "bc", "ac")])
    statistics = Statistics.of(coterie.Log.from_frames(pairs=pairs), noise="auto")
    strategy = Strategy.pure([[1], [1], [1]], statistics.agents, statistics.coalitions)
    found = cautions(statistics, strategy, checks_of(statistics), ["something else"])
    (place,) = (place for place, text in enumerate(found) if "whether outcomes of one round go together" in text)
    assert place > found.index("something else")
    assert "so promises allow for it and are weaker; if one has nothing to do with another, say noise=" in found[place]
    assert place == len(found) - 1


def test_questions_are_in_plain_words():
    for words in QUESTIONS.values():
        assert not any(jargon in words for jargon in ("independent", "pairs of", "values", "sample", "coalition"))
