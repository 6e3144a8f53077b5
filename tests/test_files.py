import fcntl
import json
import math
import os
import signal
import stat
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal

import numpy as np
import pytest

import coterie
from coterie import InputError
from coterie.files import (
    LOCK,
    is_free,
    is_unfinished,
    parse_csv,
    parse_json,
    read_json,
    record,
    split_header,
    temporary_folder,
    to_json,
    whole_file,
    whole_folder,
)


def test_a_file_appears_whole_or_not_at_all(tmp_path):
    target = tmp_path / "deep" / "result.json"
    with pytest.raises(RuntimeError), whole_file(target) as temporary:
        temporary.write_text("half")
        raise RuntimeError
    assert list(tmp_path.iterdir()) == []
    with whole_file(target) as temporary:
        temporary.write_text("whole")
    assert target.read_text() == "whole"
    assert stat.S_IMODE(target.stat().st_mode) & 0o400
    with pytest.raises(InputError, match="is a folder"), whole_file(tmp_path):
        pass


def test_a_file_keeps_its_permissions(tmp_path):
    secret, other = tmp_path / "secret.json", tmp_path / "other.json"
    secret.write_text("old")
    secret.chmod(0o600)
    with whole_file(secret) as temporary:
        temporary.write_text("new")
    assert (secret.read_text(), stat.S_IMODE(secret.stat().st_mode)) == ("new", 0o600)
    before = os.umask(0o027)
    try:
        with whole_file(other):
            pass
    finally:
        os.umask(before)
    assert stat.S_IMODE(other.stat().st_mode) == 0o640


def test_links_are_followed(tmp_path):
    (tmp_path / "far").mkdir()
    target, link, to_nothing = tmp_path / "far" / "a.json", tmp_path / "a.json", tmp_path / "b.json"
    target.write_text("old")
    link.symlink_to("far/a.json")
    to_nothing.symlink_to("far/b.json")
    for one in (link, to_nothing):
        with whole_file(one) as temporary:
            temporary.write_text("new")
        assert one.is_symlink()
    assert (target.read_text(), (tmp_path / "far" / "b.json").read_text()) == ("new", "new")
    with pytest.raises(RuntimeError), whole_file(link):
        raise RuntimeError
    assert target.read_text() == "new"
    (tmp_path / "round.json").symlink_to("round.json")
    for whole in (whole_file, whole_folder):
        with pytest.raises(InputError, match="cannot be written"), whole(tmp_path / "round.json"):
            pass
    assert sorted(file.name for file in (tmp_path / "far").iterdir()) == ["a.json", "b.json"]


def test_a_link_to_a_folder_that_is_not_there_yet_is_followed(tmp_path):
    (tmp_path / "link").symlink_to("far")
    with whole_folder(tmp_path / "link") as folder:
        (folder / "a").write_text("new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "far" / "a").read_text() == "new"


def test_a_pipe_is_written_to_and_stays(tmp_path):
    pipe, read = tmp_path / "pipe.json", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()))
    reader.start()
    with whole_file(pipe) as temporary:
        temporary.write_text("whole")
    reader.join(10)
    assert read == ["whole"]
    assert pipe.is_fifo()


@pytest.mark.parametrize(("kind", "taken"), [(stat.S_IFCHR, True), (stat.S_IFBLK, False), (stat.S_IFSOCK, False)])
def test_devices_are_never_replaced(tmp_path, monkeypatch, kind, taken):
    device = tmp_path / "device"
    device.write_text("")
    inode, true = device.stat().st_ino, Path.stat

    def disguised(self, **options):
        found = true(self, **options)
        return SimpleNamespace(st_mode=kind | 0o666) if self == device else found

    monkeypatch.setattr(Path, "stat", disguised)
    if taken:
        with whole_file(device) as temporary:
            temporary.write_text("whole")
    else:
        with pytest.raises(InputError, match="is a disk or a socket"), whole_file(device):
            pass
    monkeypatch.undo()
    assert (device.stat().st_ino, device.read_text()) == (inode, "whole" if taken else "")


def test_what_appears_is_on_the_disk(tmp_path, monkeypatch):
    done, fsync, replace = [], os.fsync, Path.replace

    def watched(handle):
        done.append(Path(f"/proc/self/fd/{handle}").readlink().name)
        fsync(handle)

    def moved(self, target):
        done.append("moved")
        return replace(self, target)

    if not Path("/proc/self/fd").exists():
        pytest.skip("needs /proc")
    monkeypatch.setattr(os, "fsync", watched)
    monkeypatch.setattr(Path, "replace", moved)
    with whole_file(tmp_path / "a.json") as temporary:
        temporary.write_text("1")
    assert done == ["a.json", "moved", tmp_path.name]
    done.clear()
    with whole_folder(tmp_path / "log") as temporary:
        (temporary / "pairs.csv").write_text("1")
    assert (done[0], done[-2:]) == ("pairs.csv", ["moved", tmp_path.name])


def killed(script, *arguments):
    """Run a script that kills itself."""
    found = subprocess.run([sys.executable, "-c", script, *map(str, arguments)], check=False, capture_output=True)
    assert found.returncode == -signal.SIGKILL, found.stderr


KILLED_WHILE_MOVING = """
import os, signal, sys
from pathlib import Path
from coterie.files import whole_folder
rename = Path.rename
def dying(self, target):
    if self.name == "pairs.csv":
        os.kill(os.getpid(), signal.SIGKILL)
    return rename(self, target)
Path.rename = dying
with whole_folder(sys.argv[1]) as made:
    for name in ("memberships.csv", "pairs.csv"):
        (made / name).write_text("x")
"""


def test_what_a_killed_run_left_in_a_folder_is_not_taken_for_a_log(tmp_path):
    killed(KILLED_WHILE_MOVING, tmp_path)
    assert (tmp_path / "memberships.csv").exists()
    assert is_unfinished(tmp_path)
    with pytest.raises(InputError, match="was being written when that was cut short"):
        coterie.read_log(tmp_path)
    with whole_file(tmp_path / "teams.csv") as made:
        made.write_text("of the user")
    assert is_unfinished(tmp_path)
    with pytest.raises(InputError, match="is not an empty folder"), whole_folder(tmp_path):
        pass
    assert (tmp_path / "memberships.csv").exists()
    (tmp_path / "teams.csv").unlink()
    assert is_free(tmp_path)
    assert list(tmp_path.iterdir()) == []
    assert not is_free(Path(__file__))
    killed(KILLED_WHILE_MOVING, tmp_path)
    with whole_folder(tmp_path) as made:
        (made / "pairs.csv").write_text("whole")
    assert [file.name for file in tmp_path.iterdir()] == ["pairs.csv"]
    assert not is_unfinished(tmp_path)


KILLED_WHILE_LISTING = """
import os, signal, sys
from pathlib import Path
from coterie.files import whole_folder
def dying(self, *_, **__):
    self.touch()
    os.kill(os.getpid(), signal.SIGKILL)
with whole_folder(sys.argv[1]) as made:
    (made / "pairs.csv").touch()
    Path.write_text = dying
"""


def test_a_list_of_what_is_moved_that_was_cut_short_is_cleaned_up(tmp_path):
    killed(KILLED_WHILE_LISTING, tmp_path)
    assert list(tmp_path.iterdir())
    assert is_free(tmp_path)


@pytest.mark.parametrize("moved", ['["../mine"]', '["/{}/mine"]', "5", "[5]", "[[", '["other.txt"]'])
def test_what_is_said_to_have_been_moved_is_not_believed(tmp_path, moved):
    (tmp_path / "mine").mkdir()
    planted = tmp_path / "out" / ".coterie-unfinished-abcdefgh"
    planted.mkdir(parents=True)
    (planted / LOCK).touch()
    (planted / "moving.json").write_text(moved.replace("{}", str(tmp_path)))
    (tmp_path / "out" / "mine.txt").touch()
    with pytest.raises(InputError, match="is not an empty folder"), whole_folder(tmp_path / "out"):
        pass
    assert (tmp_path / "mine").is_dir()
    assert (tmp_path / "out" / "mine.txt").exists()


KILLED_WITH_A_COPY = """
import os, signal, sys
from pathlib import Path
from coterie.files import temporary_folder
with temporary_folder() as made:
    (made / "pairs.parquet").write_text("x")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_a_killed_run_left_among_temporary_files_goes_at_the_next_start(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    killed(KILLED_WITH_A_COPY)
    (left,) = tmp_path.iterdir()
    assert (left / "pairs.parquet").exists()
    (tmp_path / "coterie-mine").mkdir()  # of the user, or results that could not be written elsewhere
    (tmp_path / "coterie-mine" / ".lock").touch()  # as other tools make them
    with temporary_folder() as ours:
        assert not left.exists()
        with temporary_folder() as another:  # that of a live process stays
            assert ours.exists()
            assert (another / LOCK).exists()
    assert [file.name for file in tmp_path.iterdir()] == ["coterie-mine"]


KILLED_BEFORE_IT_IS_HELD = """
import os, signal, sys
from pathlib import Path
from coterie import files
def dying(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)
setattr(*{"opening": (Path, "open", dying), "renaming": (Path, "rename", dying)}[sys.argv[1]])
with files.temporary_folder():
    pass
"""


@pytest.mark.parametrize("when", ["opening", "renaming"])
def test_what_was_killed_before_its_folder_had_a_name_goes_at_the_next_start(tmp_path, monkeypatch, when):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    killed(KILLED_BEFORE_IT_IS_HELD, when)
    (left,) = tmp_path.iterdir()
    assert left.name.endswith(".new")
    with temporary_folder() as ours:
        assert list(tmp_path.iterdir()) == [ours]
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_was_taken_for_one_that_is_left_is_made_again(tmp_path, monkeypatch):
    """Between the making of a folder and its lock another process may clean up: it removes it, or holds it already."""
    mkdtemp, made, cleaning = tempfile.mkdtemp, [], []

    def making(**options):
        made.append(Path(mkdtemp(**options)))
        if len(made) == 1:
            made[0].rmdir()
        if len(made) == 2:
            cleaning.append((made[1] / LOCK).open("wb"))
            fcntl.flock(cleaning[0], fcntl.LOCK_EX | fcntl.LOCK_NB)
        return str(made[-1])

    monkeypatch.setattr(tempfile, "mkdtemp", making)
    with temporary_folder(tmp_path) as ours:
        assert len(made) == 3
        assert made[2].name == f"{ours.name}.new"
        assert (ours / LOCK).exists()
    cleaning[0].close()


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


def test_the_current_folder_stays_the_same_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before = tmp_path.stat().st_ino
    with pytest.raises(RuntimeError), whole_folder(tmp_path) as temporary:
        (temporary / "pairs.csv").write_text("half")
        raise RuntimeError
    assert list(tmp_path.iterdir()) == []
    with whole_folder(tmp_path) as temporary:
        (temporary / "pairs.csv").write_text("whole")
        (temporary / "parts").mkdir()
        (temporary / "parts" / "1").write_text("1")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["pairs.csv", "parts"]
    assert (tmp_path / "parts" / "1").read_text() == "1"
    assert tmp_path.stat().st_ino == before


def test_a_failure_while_moving_leaves_nothing(tmp_path, monkeypatch):
    rename = type(tmp_path).rename

    def failing(self, target):
        if self.name == "z":
            raise KeyboardInterrupt
        return rename(self, target)

    monkeypatch.setattr(type(tmp_path), "rename", failing)
    with pytest.raises(KeyboardInterrupt), whole_folder(tmp_path) as temporary:
        (temporary / "a").mkdir()
        (temporary / "b").write_text("b")
        (temporary / "z").write_text("z")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("whole", [whole_file, whole_folder])
def test_folders_made_on_the_way_go_again_on_failure(tmp_path, whole):
    (tmp_path / "mine").mkdir()
    with pytest.raises(KeyboardInterrupt), whole(tmp_path / "mine" / "par" / "ent" / "il"):
        raise KeyboardInterrupt
    assert list(tmp_path.rglob("*")) == [tmp_path / "mine"]
    with whole(tmp_path / "par" / "ent" / "il"):
        pass
    assert (tmp_path / "par" / "ent" / "il").exists()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[" * 100_000, "too deep"),
        ("9" * 5000, "a whole number of 5000 digits"),
        ('{"a": 1' + "0" * 400 + "}", "a whole number of 401 digits"),
        ("[" * 65 + "]" * 65, "too deep"),
        ('{"a": ' * 990 + "1" + "}" * 990, "too deep"),
        ('{"a": {"b": 1, "c": 2, "b": 3}}', "the key 'b' occurs twice"),
        ("[1e400]", "the number '1e400' is not finite"),
        ('{"labels": {"a": "\\ud800"}}', "is half of a character"),
        ('{"x\\uDFFF": 1}', "is half of a character"),
        ("{", "is not JSON"),
    ],
)
def test_json_that_cannot_be_read_is_refused(tmp_path, text, message):
    (tmp_path / "a.json").write_text(text)
    with pytest.raises(InputError, match=message) as problem:
        read_json(tmp_path / "a.json")
    assert str(problem.value).startswith(f"{tmp_path / 'a.json'}: ")
    (tmp_path / "a.json").write_bytes(b"\xff")
    with pytest.raises(InputError, match="is not text in UTF-8"):
        read_json(tmp_path / "a.json")


def test_json_within_the_limits_is_read(tmp_path, monkeypatch):
    assert parse_json("[" * 64 + "]" * 64)
    assert parse_json("9" * 300) == 10**300 - 1
    assert parse_json(r'"\ud83d\ude00 \\ud800"') == "\U0001f600 \\ud800"
    (tmp_path / "a.json").write_text("[1, 2]")
    assert read_json(tmp_path / "a.json") == [1, 2]
    monkeypatch.setattr("coterie.files.LARGEST_TEXT", 5)
    with pytest.raises(InputError, match=r"a.json: is larger than 5 bytes"):
        read_json(tmp_path / "a.json")


def test_csv_follows_the_contract():
    expected = [(2, ["x", "p"]), (4, ["y\n z", "q\u2028r"])]
    for separator in ",;\t":
        rows = ["P,Other,A", "p,1,x", "", 'q\u2028r,2,"y\n z"']
        text = "\r\n".join(rows).replace(",", separator)
        assert list(parse_csv(text, ("a", "p"))) == expected
    assert list(parse_csv('"a";"p"\n"1,5";"2"\n', ("a", "p"))) == [(2, ["1,5", "2"])]
    assert list(parse_csv("A,P\n", ("a", "p"))) == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected the columns a,p, once each, in the first line"),
        ("a,b\n1,2\n", "expected the columns a,p"),
        ("a,p,A\n1,2,3\n", "expected the columns a,p, once each"),
        ("a,p\n1,2\n1\n", "row 3: expected 2 fields, got 1"),
        ("a,p\n1,2,3\n", "row 2: expected 2 fields, got 3"),
        ('a,p\n1,2\n"1,2\n', "row 3: is not CSV"),
        ("a,p\n1," + "x" * 200_000, "row 2: is not CSV"),
    ],
)
def test_csv_that_does_not_is_refused(text, message):
    with pytest.raises(InputError, match=message):
        list(parse_csv(text, ("a", "p")))


def test_json_in_ascii():
    assert to_json(["Zoë"], ascii_only=True) == '[\n  "Zo\\u00eb"\n]\n'


def test_a_path_is_text_or_a_path(tmp_path):
    with whole_file(str(tmp_path / "a.json")) as temporary:
        temporary.write_text("1")
    assert read_json(str(tmp_path / "a.json")) == 1
    with whole_folder(str(tmp_path / "folder")):
        pass
    for use in (
        read_json,
        lambda path: whole_file(path).__enter__(),
        lambda path: whole_folder(path).__enter__(),
    ):
        with pytest.raises(InputError, match=r"expected the path of a (file|folder), got 3"):
            use(3)


@dataclass(frozen=True)
class Inner:
    name: str
    share: float = 0.5


@dataclass(frozen=True)
class Outer:
    kind: Literal["a", "b"]
    many: tuple[Inner, ...]
    by_name: Mapping[str, tuple[float, float]]
    count: int | None
    is_so: bool
    other: Literal["c", "d"] | None = None
    anything: Any = None


def test_records_come_back_as_they_were():
    made = Outer("a", (Inner("x", math.inf), Inner("y")), {"z": (0.1, -math.inf)}, None, True, "d", {"k": [1, "inf"]})
    assert record(Outer, asdict(made)) == made
    assert record(Outer, parse_json(to_json(asdict(made)))) == made
    assert record(Inner, {"name": "x", "other": 1}) == Inner("x")
    assert record(Inner, {"name": "x", "share": 1}) == Inner("x", 1.0)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kind": "c"}, 'outer.kind: expected "a" or "b", got \'c\''),
        ({"many": {}}, "outer.many: expected a list, got {}"),
        ({"many": [{"share": 1}]}, "outer.many.name is missing"),
        ({"many": [{"name": 1}]}, "outer.many.name: expected text, got 1"),
        ({"many": [{"name": "x", "share": True}]}, "outer.many.share: expected a finite number, got True"),
        ({"by_name": []}, r"outer.by_name: expected an object, got \[\]"),
        ({"by_name": {"z": [1]}}, r"outer.by_name.z: expected a list, got \[1\]"),
        ({"by_name": {"z": [1, "much"]}}, "outer.by_name.z: expected a finite number, got 'much'"),
        ({"count": 0.5}, "outer.count: expected a whole number, got 0.5"),
        ({"is_so": 1}, "outer.is_so: expected true or false, got 1"),
    ],
)
def test_other_records_are_refused(change, message):
    fine = {"kind": "a", "many": [], "by_name": {}, "count": None, "is_so": True}
    assert record(Outer, fine)
    with pytest.raises(InputError, match=message):
        record(Outer, fine | change, "outer")
    with pytest.raises(InputError, match="Outer: expected an object, got 3"):
        record(Outer, 3)


def test_json_may_begin_with_a_mark():
    assert parse_json('\ufeff{"a": 1}') == {"a": 1}


@pytest.mark.parametrize(
    ("text", "columns", "expected"),
    [
        ("a,b;c,d", (), (",", ["a", "b;c", "d"])),
        ("a,b;c,d", ("b;c",), (",", ["a", "b;c", "d"])),
        ("a;x,y,z", ("a", "x,y,z"), (";", ["a", "x,y,z"])),  # fewer cells, but the ones that are wanted
        (' a\t"b\tc"\td;', (), ("\t", ["a", "b\tc", "d;"])),
        ('"two\nlines",b\n1,2', (), (",", ["two\nlines", "b"])),
        ("", (), (",", [])),
    ],
)
def test_the_header_of_a_table(text, columns, expected):
    assert split_header(text, columns) == expected
