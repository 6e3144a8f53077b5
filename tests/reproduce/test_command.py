"""`coterie reproduce` on the command line."""

import sys

import pytest

from coterie.cli.app import main


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
    assert {path.name for path in out.iterdir()} == {"S3.png", "S3.csv", "summary.json", "summary.csv", "cells"}
