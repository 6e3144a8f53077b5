"""What the tests of commands share."""

import sys

import pytest

from coterie.cli import main


@pytest.fixture
def run(monkeypatch, capsys):
    """Run the command line; return exit code, standard output and standard error."""

    def call(*words):
        monkeypatch.setattr(sys, "argv", ["coterie", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            main()
        return ended.value.code or 0, *capsys.readouterr()

    return call
