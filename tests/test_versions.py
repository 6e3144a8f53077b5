"""Which versions are at work, and where they are written."""

import re
from pathlib import Path

import numpy as np
import pytest

import coterie
from coterie.files import read_json
from coterie.simulate import Simulation
from coterie.versions import versions

ROOT = Path(__file__).parents[1]


def test_versions_are_shown(capsys):
    coterie.show_versions()
    lines = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines())
    assert lines == versions()
    assert (lines["coterie"], lines["numpy"]) == (coterie.__version__, np.__version__)


def test_a_missing_package_is_a_dash(monkeypatch):
    monkeypatch.setattr(coterie.versions, "MATTER", ("no-such-package",))
    assert versions()["no-such-package"] == "-"


@pytest.mark.parametrize("name", ["README.md", "docs/paper/index.md"])
def test_what_is_to_be_cited_is_this_version(name):
    (found,) = re.findall(r"version = \{(.+)\}", (ROOT / name).read_text(encoding="utf-8"))
    assert found == coterie.__version__
    assert f"version: {found}" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")


def test_files_say_which_version_and_seed_made_them(tmp_path):
    source = Simulation.draw(3, 2, 7)
    source.write_log(tmp_path / "log", 60)
    made = read_json(tmp_path / "log" / "truth.json")["simulation"]
    assert (made["version"], made["seed"]) == (coterie.__version__, 7)
    declared = read_json(tmp_path / "log" / "log.json")
    assert (declared["version"], declared["seed"]) == (coterie.__version__, 7)
    statistics = coterie.Statistics.for_learning(tmp_path / "log", seed=3)
    statistics.save(tmp_path / "statistics")
    with np.load(tmp_path / "statistics") as content:
        header = content["header"].tobytes().decode()
    assert f'"version": "{coterie.__version__}"' in header
    assert coterie.Statistics.load(tmp_path / "statistics").setting.seed == 3
