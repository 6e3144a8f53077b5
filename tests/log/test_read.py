"""Odd but legal logs: dialects, names, forms of tables, and what `log.json` may say."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import coterie
from coterie.certificates.from_statistics import evidence_from
from coterie.errors import InputError
from coterie.statistics.statistics import Statistics

HEADER = "sample,coalition,agent,partner,utility\n"
ROWS = [("1", "x", "a", "b", 0.5), ("2", "y", "b", "c", -0.25)]


def means(log):
    """Return pair -> mean for each coalition, by name."""
    whole = Statistics.of(log).whole
    return {
        (log.coalitions[l], log.agents[i], log.agents[j]): mean
        for l, i, j, mean in zip(whole.coalition, whole.agent, whole.partner, whole.mean.tolist(), strict=True)
    }


EXPECTED = {("x", "a", "b"): 0.5, ("y", "b", "c"): -0.25}


@pytest.mark.parametrize(
    "text",
    [
        HEADER + "1,x,a,b,0.5\n2,y,b,c,-0.25\n",
        HEADER + "1,x,a,b,0.5\n2,y,b,c,-0.25",
        "\ufeff" + HEADER.replace("\n", "\r\n") + "1,x,a,b,0.5\r\n2,y,b,c,-.25\r\n",
        "SAMPLE\tCoalition\tagent \tPartner\tUtility\n1\tx\ta\tb\t5e-1\n2\ty\tb\tc\t-2.5E-1\n",
        "sample;coalition;agent;partner;utility\n1;x;a;b;0,5\n2;y;b;c;-0,25\n",
        "sample;coalition;agent;partner;utility\n1;x;a;b;0.5\n2;y;b;c;-0.25\n",
        'utility,partner,"agent",coalition,sample,note\n 0.5 ,b,a,x,1,"a, ""b"""\n-0.25,c,"b",y,2,\n',
        HEADER + '"1","x","a","b","+0.5"\n\n2,y,b,c,-0.25\n\n',
        "id,sample,coalition,agent,partner,utility,\n1,1,x,a,b,0.5,\n2,2,y,b,c,-0.25,\n",
    ],
)
def test_csv_dialects(csv_log, text):
    log = coterie.read_log(csv_log(pairs=text))
    assert log.n_samples == 2
    assert means(log) == EXPECTED


def test_single_files_and_folders_of_parts(tmp_path):
    columns = dict(zip(HEADER.strip().split(","), zip(*ROWS, strict=True), strict=True))
    table = pa.table({name: list(values) for name, values in columns.items()})
    pq.write_table(table, tmp_path / "whatever.parquet")
    assert means(coterie.read_log(tmp_path / "whatever.parquet")) == EXPECTED
    (tmp_path / "log" / "pairs").mkdir(parents=True)
    pq.write_table(table.slice(0, 1), tmp_path / "log" / "pairs" / "1.parquet")
    pq.write_table(table.slice(1).select(list(columns)[::-1]), tmp_path / "log" / "pairs" / "2.parquet")
    assert means(coterie.read_log(tmp_path / "log")) == EXPECTED
    assert means(coterie.read_log(tmp_path / "log" / "pairs")) == EXPECTED
    (tmp_path / "one.csv").write_text(HEADER + "1,x,a,b,0.5\n2,y,b,c,-0.25\n", encoding="utf-8")
    assert means(coterie.read_log(str(tmp_path / "one.csv"))) == EXPECTED


def test_file_names_are_not_patterns(tmp_path):
    folder = tmp_path / "it's [2024] *?"
    folder.mkdir()
    (folder / "pairs.csv").write_text(HEADER + "1,x,a,b,0.5\n2,y,b,c,-0.25\n", encoding="utf-8")
    assert means(coterie.read_log(folder)) == EXPECTED
    table = pa.table({name: [row[i] for row in ROWS] for i, name in enumerate(HEADER.strip().split(","))})
    pq.write_table(table, folder / "a[1].parquet")
    assert means(coterie.read_log(folder / "a[1].parquet")) == EXPECTED


def test_columns_are_mapped(csv_log):
    folder = csv_log(
        pairs="Project,Room,agent,partner,Score\n1,x,a,b,0.5\n2,y,b,c,-0.25\n",
        memberships="project,agent,coalition\n1,a,x\n1,b,x\n2,b,y\n2,c,y\n",
    )
    for columns in (
        "sample=Project, utility=score,coalition=Room",
        {"sample": "Project", "utility": "Score", "coalition": "Room"},
    ):
        assert means(coterie.read_log(folder, columns=columns)) == EXPECTED
    (folder / "log.json").write_text('{"columns": {"sample": "project", "utility": "score", "coalition": "room"}}')
    assert means(coterie.read_log(folder)) == EXPECTED


def test_names_are_strings(csv_log):
    odd = [
        "1",
        "01",
        "1.0",
        "NA",
        "null",
        "nan",
        "None",
        "naïve 名前",
        "x" * 5000,
        "a,b",
        'say "hi"',
        "two\nlines",
        "'; --",
    ]
    rows = "".join(
        f'{m},"{odd[m - 1].replace(chr(34), chr(34) * 2)}",ada,"{name.replace(chr(34), chr(34) * 2)}",0.5\n'
        for m, name in enumerate(odd, 1)
    )
    log = coterie.read_log(csv_log(pairs=HEADER + rows))
    assert set(log.agents) == {"ada", *odd}
    assert set(log.coalitions) == set(odd)
    assert Statistics.of(log).rows == len(odd)
    assert len(log.actions.spaces[0].enumerate()) == len(odd)


def test_whole_numbers_are_names_too(tmp_path):
    frame = {"sample": [1, 2], "coalition": [7, 7], "agent": [1, 1], "partner": [10, 2], "utility": [1, 0]}
    pq.write_table(pa.table(frame), tmp_path / "pairs.parquet")
    log = coterie.read_log(tmp_path)
    assert log.agents == ("1", "2", "10")
    assert log.coalitions == ("7",)


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pa.table, dict])
def test_frames_of_every_kind(kind):
    columns = dict(zip(HEADER.strip().split(","), [list(values) for values in zip(*ROWS, strict=True)], strict=True))
    assert means(coterie.Log.from_frames(pairs=kind(columns))) == EXPECTED


def test_frames_with_categories_and_missing_values():
    frame = pd.DataFrame(ROWS, columns=HEADER.strip().split(","))
    frame["agent"] = frame["agent"].astype("category")
    assert means(coterie.Log.from_frames(pairs=frame)) == EXPECTED
    polars = pl.DataFrame(frame.astype({"agent": str})).with_columns(pl.col("coalition").cast(pl.Categorical))
    assert means(coterie.Log.from_frames(pairs=polars)) == EXPECTED
    frame.loc[1, "utility"] = None
    with pytest.raises(InputError, match="pairs, row 2: utility is"):
        coterie.Log.from_frames(pairs=frame, blanks="refuse")
    assert coterie.Log.from_frames(pairs=frame).rows == 1
    with pytest.raises(InputError, match="expected a pandas, Polars or Arrow table, got list"):
        coterie.Log.from_frames(pairs=[1, 2])
    with pytest.raises(InputError, match="one type per column"):
        coterie.Log.from_frames(pairs=pd.DataFrame({"sample": [1, "x", None, 2.5]}))
    with pytest.raises(InputError, match="from_frames: found no table"):
        coterie.Log.from_frames()


def test_inferred_memberships_say_so(csv_log):
    log = coterie.read_log(csv_log(pairs=HEADER + "1,x,a,b,0.5\n1,x,b,c,0\n"))
    assert any("made out from the pairs" in note for note in log.notes)
    assert Statistics.of(log).whole.size_counts.tolist() == [[0, 0, 0, 1]]
    given = csv_log(pairs=HEADER + "1,x,a,b,0.5\n", memberships="sample,agent,coalition\n1,a,x\n1,b,x\n1,d,x\n2,e,x\n")
    log = coterie.read_log(given)
    assert log.notes == ()
    assert log.agents == ("a", "b", "d", "e")  # somebody who was always alone, or whose pairs went unobserved
    assert log.n_samples == 2  # a sample without any pair
    assert Statistics.of(log).whole.size_counts.tolist() == [[0, 1, 0, 1, 0]]


def test_both_orders_that_agree_count_once(csv_log):
    log = coterie.read_log(csv_log(pairs=HEADER + "1,x,a,b,0.5\n1,x,b,a,0.5\n2,x,b,a,0\n"))
    assert any("both orders" in note for note in log.notes)
    assert log.rows == 3
    assert Statistics.of(log).whole.counts.tolist() == [[[0, 2], [2, 0]]]
    assert Statistics.of(log).whole.means[0, 0, 1] == 0.25


def test_symmetrize_averages_the_orders(csv_log):
    folder = csv_log(pairs=HEADER + "1,x,a,b,0.5\n1,x,b,a,-0.25\n2,x,b,a,1\n")
    log = coterie.read_log(folder, symmetrize=True)
    assert log.symmetric
    assert any("averages" in note for note in log.notes)
    assert any(note.startswith("1 meeting was listed in one order only: the average of the two") for note in log.notes)
    whole = Statistics.of(log).whole
    assert whole.counts[0, 0, 1] == whole.counts[0, 1, 0] == 1
    assert whole.means[0, 0, 1] == pytest.approx(0.125, abs=1e-9)
    assert whole.size_counts.tolist() == [[0, 0, 2]]  # they met all the same
    asymmetric = Statistics.of(coterie.read_log(folder, symmetric=False)).whole
    assert asymmetric.counts.tolist() == [[[0, 1], [2, 0]]]
    assert asymmetric.means.tolist() == [[[0, 0.5], [0.375, 0]]]


def test_no_certificate_for_an_average_that_was_not_seen(csv_log):
    """Two who get 0.8 and -0.8 from each other; one of them hardly ever says so."""
    rng, rows = np.random.default_rng(0), []
    for m in range(400):
        rows.append(f"{m},x,a,b,{rng.uniform(0.6, 1):.3f}")
        if m % 10 == 0:
            rows.append(f"{m},x,b,a,{rng.uniform(-1, -0.6):.3f}")
    log = coterie.read_log(csv_log(pairs=HEADER + "\n".join(rows) + "\n"), symmetrize=True)
    assert any("360 meetings were listed in one order only" in note for note in log.notes)
    lower, upper = evidence_from(Statistics.of(log).whole).interval_arrays(0.01)
    assert lower[0, 0, 1] < 0 < upper[0, 0, 1]  # the mean of the average; it was taken to lie above 0.5
    never = HEADER + "\n".join(row for row in rows if ",b,a," not in row) + "\n"
    with pytest.raises(InputError, match=r"pairs.csv: no pair is listed in both orders.* leave out symmetrize=True"):
        coterie.read_log(csv_log(pairs=never), symmetrize=True)


def test_pairs_go_before_totals(tables, tmp_path):
    log_tables = tables(30)
    folder = log_tables.write(tmp_path, "memberships", "pairs", "totals")
    assert coterie.read_log(folder).feedback == "semi-bandit"
    assert "totals are not used, since there are pairs" in coterie.read_log(folder).notes
    assert coterie.read_log(folder, feedback="bandit").feedback == "bandit"


def test_totals_shift_by_their_terms(csv_log):
    folder = csv_log(
        memberships="sample,agent,coalition\n1,a,x\n1,b,x\n1,c,x\n2,a,x\n2,b,x\n3,c,x\n",
        totals="sample,agent,utility\n1,a,8\n2,a,5\n2,b,5\n3,c,0\n9,c,0\n",
    )
    log = coterie.read_log(folder, utility_range=(1, 5), neutral=3)
    whole = Statistics.of(log).whole
    assert log.n_samples == 4  # a total without memberships has no terms, but its sample counts
    assert whole.totals.tolist() == [2, 1, 2]
    assert whole.moment(0) == pytest.approx([(8 - 6) / 2 + (5 - 3), (8 - 6) / 2], abs=1e-8)
    assert whole.gram(0) == pytest.approx(np.array([[1.5, 0.5], [0.5, 0.5]]), abs=1e-8)
    assert whole.gram(2).tolist() == [[0, 0], [0, 0]]  # c's own total was not observed in sample 1


def test_log_json(csv_log):
    described = {
        "format": "coterie.log/1", "feedback": "semi-bandit", "utility_range": [0, 10], "neutral": 5,
        "symmetric": False,
        "agents": ["zoe", "b"], "coalitions": ["y", "unused", "x"], "actions": "up-to:2", "may_stay_out": True,
    }  # fmt: skip
    folder = csv_log(pairs=HEADER + "1,x,a,b,7\n2,y,b,c,2\n", json=json.dumps(described))
    log = coterie.read_log(folder)
    assert log.agents == ("zoe", "b", "a", "c")
    assert log.coalitions == ("y", "unused", "x")
    assert (log.utility_range, log.neutral, log.symmetric) == ((0.0, 10.0), 5.0, False)
    assert log.action_description == "up-to:2-or-none"
    assert log.actions.spaces[0].size == 1 + 3 + 3
    assert "2 agents in the tables are not listed in log.json, such as 'a'" in log.notes
    described["agents"] = ["a", "b"]
    one_more = coterie.read_log(csv_log(pairs=HEADER + "1,x,a,b,7\n2,y,b,c,2\n", json=json.dumps(described)))
    assert "the agent 'c' in the tables is not listed in log.json" in one_more.notes
    assert means(log) == pytest.approx({("x", "a", "b"): 2.0, ("y", "b", "c"): -3.0})
    wins = coterie.read_log(folder, utility_range=(0, 20), neutral=1, actions="one", symmetric=True)
    assert (wins.utility_range, wins.neutral, wins.symmetric) == ((0.0, 20.0), 1.0, True)
    assert wins.action_description == "one-or-none"


def test_file_and_call_disagree_about_symmetry(csv_log):
    rows = HEADER + "1,x,a,b,0.5\n1,x,b,a,-0.5\n"
    assert coterie.read_log(csv_log(pairs=rows, json='{"symmetric": false}'), symmetrize=True).symmetric
    assert not coterie.read_log(csv_log(pairs=rows, json='{"symmetrize": true}'), symmetric=False).symmetric
    assert coterie.read_log(csv_log(pairs=rows, json='{"symmetrize": true}')).symmetric


def test_temporary_files_vanish(csv_log):
    log = coterie.read_log(csv_log(pairs=HEADER + "1,x,a,b,0.5\n"))
    folder = log.engine._folder
    assert any(folder.iterdir())
    del log
    assert not folder.exists()


@pytest.mark.parametrize(("often", "told"), [(40, True), (5, False)])
def test_slips_of_the_hand_are_told(often, told):
    """A name that occurs once and looks like a frequent one may be a typing error; so may not what occurs often."""
    rows = [(str(t), "Tax", "Dieter" if t else "Deiter", "Ada", 0.5) for t in range(often)]
    rows += [(str(t), "Tax", "Ada", "Eva", 0.25) for t in range(often)]
    frame = pd.DataFrame(rows, columns=["sample", "coalition", "agent", "partner", "utility"])
    notes = " ".join(coterie.Log.from_frames(pairs=frame).notes)
    assert ("'Deiter' (in 1 round) and 'Dieter' (in 39) may be one person" in notes) is told
    assert "Eva" not in notes


def near_names(one, other, *, at_once=(), rounds=20):
    """Return what is told of two names of which the second is used in every fourth round."""
    rows = []
    for t in range(rounds):
        people = [(other if t % 4 == 0 else one, "x"), ("Ada Lee", "x"), ("Bo Roy", "y"), ("Cy Kim", "y")]
        people += [(name, "y") for name in (one, other) if t in at_once and name not in dict(people)]
        rows += [(str(t), team, name, 1.0) for name, team in people]
    frame = pd.DataFrame(rows, columns=["sample", "coalition", "agent", "utility"])
    return [note for note in coterie.Log.from_frames(totals=frame).notes if "may be one person" in note]


def test_near_names_are_told_at_any_frequency():
    """Whole names that are a letter apart, and never there at once, may be one person; single words less easily."""
    (note,) = near_names("Anke Brandt", "Anke Brant")
    assert note.startswith("'Anke Brant' (in 5 rounds) and 'Anke Brandt' (in 15) may be one person, since they never")
    assert not near_names("Anke Brandt", "Anke Brant", at_once=[1])
    assert not near_names("Tom", "Tim", rounds=8)  # 2 of 8 and 6 of 8: two people miss each other in 1 of 28 cases
    assert near_names("Tom", "Tim")  # 5 of 20 and 15 of 20: in 1 of 15,504
    assert not near_names("Tom", "Tim", rounds=80, at_once=[1])
    assert not near_names("Anna B.", "Anna K.", rounds=80)


def test_a_person_rated_under_two_spellings_may_be_one():
    """Ratings of one round may have both spellings; two people would have rated each other."""
    rows = [
        (str(t), "x", who, name, 0.5) for t in range(9) for who, name in (("Bo", "Anke Brandt"), ("Cy", "Anke Brant"))
    ]
    columns = ["sample", "coalition", "agent", "partner", "utility"]
    log = coterie.Log.from_frames(pairs=pd.DataFrame(rows, columns=columns))
    assert "may be one person" in log.notes[0]
    rows.append(("3", "x", "Anke Brant", "Anke Brandt", 0.5))
    log = coterie.Log.from_frames(pairs=pd.DataFrame(rows, columns=columns))
    assert not any("may be one person" in note for note in log.notes)


def test_umlauts_written_as_two_letters_are_spellings(csv_log):
    rows = "".join(f"{t},x,{'Jürgen' if t % 7 else 'Juergen'} Vogt,Ada,0.5\n" for t in range(20))
    log = coterie.read_log(csv_log(pairs=HEADER + rows))
    assert "several spellings" in log.notes[0]
    assert "--clean-names" in log.notes[0] or "clean_names=True" in log.notes[0]
    clean = coterie.read_log(csv_log(pairs=HEADER + rows), clean_names=True)
    assert clean.agents == ("Ada", "J\u00fcrgen Vogt")
