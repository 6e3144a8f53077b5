"""`coterie reproduce` on the command line."""

import sys
from dataclasses import replace

import pytest

from coterie.cli import main
from coterie.reproduce.experiments import FIGURES, Panel
from coterie.reproduce.rows import read_rows


def run(monkeypatch, capsys, *words):
    monkeypatch.setattr(sys, "argv", ["coterie", "reproduce", *words])
    with pytest.raises(SystemExit) as ended:
        main()
    return ended.value.code, capsys.readouterr().err


def test_an_unknown_figure_is_refused_and_nothing_is_written(tmp_path, monkeypatch, capsys):
    code, message = run(monkeypatch, capsys, "S1", "S7", "--out", str(tmp_path / "out"))
    assert code == 2
    assert "unknown figure 'S7'" in message
    assert not (tmp_path / "out").exists()


def test_workers_and_out_are_checked(tmp_path, monkeypatch, capsys):
    assert run(monkeypatch, capsys, "S3", "--out", str(tmp_path / "out"), "--workers", "0")[0] == 2
    (tmp_path / "file").write_text("")
    code, message = run(monkeypatch, capsys, "S3", "--out", str(tmp_path / "file"))
    assert code == 2
    assert "is a file" in message
    assert run(monkeypatch, capsys, "S3")[0] == 2


def test_without_matplotlib_it_says_what_to_install(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    code, message = run(monkeypatch, capsys, "S3", "--quick", "--out", str(tmp_path / "out"))
    assert code == 2
    assert "coterie[figures]" in message
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_a_quick_figure(tmp_path, monkeypatch, capsys):
    pytest.importorskip("matplotlib")
    out = tmp_path / "out"
    code, message = run(monkeypatch, capsys, "S3", "--quick", "--workers", "1", "--out", str(out))
    assert code == 0
    assert "Wrote S3" in message
    assert '"version"' in (out / "summary.json").read_text()
    assert {path.name for path in out.iterdir()} == {"S3.png", "S3.csv", "summary.json", "summary.csv", "cells"}


def test_seeds_and_methods_are_options_and_results_are_printed(tmp_path, monkeypatch, capsys):
    pytest.importorskip("matplotlib")
    tiny = replace(
        FIGURES["mixed"], panels=(Panel("gaussian", "random", "", ((2, 2),)),), samples=(20, 60), beside=("random",)
    )
    monkeypatch.setitem(FIGURES, "mixed", tiny)
    monkeypatch.setattr(sys, "argv", ["coterie", "reproduce", "mixed", "--seeds", "2", "--method", "monte carlo",
                                      "--method", "welfare", "--workers", "1", "--out", str(tmp_path)])  # fmt: skip
    with pytest.raises(SystemExit) as ended:
        main()
    printed = capsys.readouterr().out
    assert ended.value.code == 0
    rows = [line.split() for line in printed.splitlines()]
    assert [row[:2] for row in rows[1:4]] == [["mixed", "monte"], ["mixed", "welfare"], ["mixed", "random"]]
    assert rows[2][-5:-2] == [rows[2][-5], "of", "2"]
    assert {row.seed for _, row in read_rows(tmp_path / "mixed.csv")} == {0, 1}


def test_unknown_methods_and_bad_seeds_are_refused_in_the_words_of_the_command_line(tmp_path, monkeypatch, capsys):
    code, message = run(monkeypatch, capsys, "S3", "--method", "autp", "--out", str(tmp_path / "out"))
    assert code == 2
    assert "unknown method in figure 'S3' 'autp'" in message
    code, message = run(monkeypatch, capsys, "S3", "--seeds", "0", "--out", str(tmp_path / "out"))
    assert code == 2
    assert "--seeds: expected at least 1" in message
    assert not (tmp_path / "out").exists()
