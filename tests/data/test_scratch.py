"""What a killed run left goes; what a live one is writing stays."""

import errno
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from rldp.data.atomic import clear_abandoned, replacing

fcntl = pytest.importorskip("fcntl", reason="where files cannot be locked, nothing is cleared away")


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def write(path):
    with replacing(path) as file:
        file.write(b"new")


@pytest.fixture
def target(tmp_path):
    return tmp_path / "out.csv"


OPEN_FILES = Path("/proc/self/fd")
LEFT = ".out.csv.0123456789abcdef.unfinished"


def test_what_a_killed_run_left_goes_when_the_same_file_is_written(target):
    (target.parent / LEFT).write_bytes(b"half")
    write(target)
    assert names(target.parent) == ["out.csv"]


@pytest.mark.parametrize(
    "name",
    [
        ".out.csv.notes.unfinished",
        ".out.csv.0123456789ABCDEF.unfinished",
        ".out.csv.0123456789abcdef0.unfinished",
        ".out.csv.0123456789abcdef.unfinished.old",
        ".out_csv.0123456789abcdef.unfinished",
        ".out.csv.x.0123456789abcdef.unfinished",
        "out.csv.0123456789abcdef.unfinished",
    ],
)
def test_files_of_other_names_stay(target, name):
    (target.parent / name).write_bytes(b"mine")
    write(target)
    assert names(target.parent) == sorted(["out.csv", name])


def test_links_folders_and_pipes_of_that_name_stay(target, tmp_path):
    (tmp_path / "elsewhere").write_bytes(b"mine")
    (tmp_path / LEFT).symlink_to(tmp_path / "elsewhere")
    (tmp_path / LEFT.replace("0", "1")).mkdir()
    os.mkfifo(tmp_path / LEFT.replace("0", "2"))
    before = set(names(tmp_path))
    write(target)
    assert set(names(tmp_path)) == before | {"out.csv"}


def test_two_that_write_one_file_do_not_disturb_each_other(target):
    with replacing(target) as first:
        first.write(b"first")
        with replacing(target) as second:
            second.write(b"second")
            assert len(names(target.parent)) == 2
        assert target.read_bytes() == b"second"
    assert target.read_bytes() == b"first"
    assert names(target.parent) == ["out.csv"]


WRITER = """
import sys
from rldp.data.atomic import replacing
with replacing(sys.argv[1]) as file:
    file.write(b"slow")
    print("writing", flush=True)
    sys.stdin.readline()
"""


def test_what_another_process_is_writing_stays_until_that_process_is_killed(target):
    command = [sys.executable, "-c", WRITER, str(target)]
    other = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert other.stdout.readline() == b"writing\n"
    write(target)
    assert len(names(target.parent)) == 2
    other.send_signal(signal.SIGKILL)
    other.communicate(timeout=300)
    assert len(names(target.parent)) == 2
    write(target)
    assert names(target.parent) == ["out.csv"]


def test_a_scratch_file_that_is_cleared_away_before_it_is_locked_is_made_again(target, monkeypatch):
    flock, seen = fcntl.flock, []

    def clears_first(handle, operation):
        if not seen:
            (scratch,) = names(target.parent)
            (target.parent / scratch).unlink()
        seen.append(handle)
        return flock(handle, operation)

    monkeypatch.setattr(fcntl, "flock", clears_first)
    write(target)
    assert target.read_bytes() == b"new"
    assert len(seen) == 2


@pytest.mark.parametrize(("module", "call"), [(os, "open"), (fcntl, "flock"), (os, "dup")])
def test_an_interruption_while_the_system_makes_the_file_leaves_nothing(target, monkeypatch, module, call):
    original = getattr(module, call)

    def interrupted(*arguments):
        original(*arguments)
        monkeypatch.undo()
        raise KeyboardInterrupt

    monkeypatch.setattr(module, call, interrupted)
    with pytest.raises(KeyboardInterrupt):
        write(target)
    assert names(target.parent) == []


def test_a_file_that_is_finished_but_has_no_name_yet_is_not_cleared_away(target, monkeypatch):
    """Another process may come between the end of the writing and the new name."""
    replace = os.replace

    def meanwhile(scratch, name):
        clear_abandoned(target.parent, target.name)
        replace(scratch, name)

    monkeypatch.setattr(os, "replace", meanwhile)
    write(target)
    assert target.read_bytes() == b"new"


@pytest.mark.skipif(not OPEN_FILES.is_dir(), reason="this system does not list them")
def test_a_file_that_is_written_leaves_no_other_open(target):
    before = len(names(OPEN_FILES))
    for _ in range(5):
        write(target)
    assert len(names(OPEN_FILES)) == before


def test_where_files_cannot_be_locked_nothing_is_cleared_away(target, monkeypatch):
    def fails(*_):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", fails)
    (target.parent / LEFT).write_bytes(b"half")
    write(target)
    assert names(target.parent) == [LEFT, "out.csv"]
    assert target.read_bytes() == b"new"
