import json
import stat

import numpy as np
import pytest

from coterie import InputError
from coterie.files import read_json, to_json, whole_file, whole_folder


def test_a_file_appears_whole_or_not_at_all(tmp_path):
    target = tmp_path / "deep" / "result.json"
    with pytest.raises(RuntimeError), whole_file(target) as temporary:
        temporary.write_text("half")
        raise RuntimeError
    assert list(target.parent.iterdir()) == []
    with whole_file(target) as temporary:
        temporary.write_text("whole")
    assert target.read_text() == "whole"
    assert stat.S_IMODE(target.stat().st_mode) & 0o400
    with pytest.raises(InputError, match="is a folder"), whole_file(tmp_path):
        pass


def test_a_folder_appears_whole_or_not_at_all(tmp_path):
    target = tmp_path / "log"
    with pytest.raises(RuntimeError), whole_folder(target) as temporary:
        (temporary / "pairs.csv").write_text("half")
        raise RuntimeError
    assert list(tmp_path.iterdir()) == []
    target.mkdir()
    with whole_folder(target) as temporary:
        (temporary / "pairs.csv").write_text("whole")
    assert (target / "pairs.csv").read_text() == "whole"
    with pytest.raises(InputError, match="is not an empty folder"), whole_folder(target):
        pass
    assert (target / "pairs.csv").read_text() == "whole"


def test_json_writes_what_the_contract_says(tmp_path):
    value = {"a": np.float64("inf"), "b": [np.nan, -np.inf], 3: np.arange(2), "c": np.bool_(True), "d": "Zoë"}
    text = to_json(value)
    assert json.loads(text) == {"a": "inf", "b": [None, "-inf"], "3": [0, 1], "c": True, "d": "Zoë"}
    (tmp_path / "a.json").write_text(text, encoding="utf-8")
    assert read_json(tmp_path / "a.json")["d"] == "Zoë"
    (tmp_path / "b.json").write_text("{")
    with pytest.raises(InputError, match="is not JSON"):
        read_json(tmp_path / "b.json")
    with pytest.raises(InputError, match="cannot be read"):
        read_json(tmp_path / "c.json")
