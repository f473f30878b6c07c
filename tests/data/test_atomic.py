"""Files appear whole or not at all."""

import errno
import fcntl
import os
import re
import signal
import stat
import subprocess
import sys

import pytest

import rldp
from rldp.data.atomic import replacing, require_other_file


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def write_then(path, exception):
    """Write something, then fail."""
    with replacing(path) as file:
        file.write(b"new")
        if exception is not None:
            raise exception


@pytest.fixture
def target(tmp_path):
    return tmp_path / "out.csv"


def test_the_file_is_there_when_the_block_has_ended(target):
    with replacing(target) as file:
        file.write(b"new")
        file.flush()
        assert not target.exists()
    assert target.read_bytes() == b"new"
    assert names(target.parent) == ["out.csv"]


def test_until_then_it_is_hidden_and_called_unfinished(target):
    target.write_bytes(b"old")
    with replacing(target) as file:
        file.write(b"new")
        (scratch,) = set(names(target.parent)) - {"out.csv"}
        assert re.fullmatch(r"\.out\.csv\.[0-9a-f]{16}\.unfinished", scratch)
        assert target.read_bytes() == b"old"
    assert target.read_bytes() == b"new"


@pytest.mark.parametrize("exception", [ValueError, KeyboardInterrupt, SystemExit, rldp.DataError])
def test_any_exception_leaves_everything_as_it_was(target, exception):
    target.write_bytes(b"old")
    with pytest.raises(exception):
        write_then(target, exception)
    assert target.read_bytes() == b"old"
    assert names(target.parent) == ["out.csv"]


@pytest.mark.parametrize("where", ["block", "fsync", "chmod", "replace"])
def test_a_full_disk_is_one_sentence(target, monkeypatch, where):
    def fails(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    target.write_bytes(b"old")
    if where != "block":
        monkeypatch.setattr(os, where, fails)
    with pytest.raises(rldp.DataError) as caught:
        write_then(target, OSError(errno.ENOSPC, "No space left on device") if where == "block" else None)
    assert str(caught.value) == f"path must be writable, but {str(target)!r} is not: No space left on device"
    assert names(target.parent) == ["out.csv"]
    assert target.read_bytes() == b"old"


def test_the_kind_of_error_may_be_chosen(tmp_path):
    message = r"^path must be writable, but '.*/none/x' is not: No such file or directory$"
    with (
        pytest.raises(rldp.ProtocolFileError, match=message),
        replacing(tmp_path / "none" / "x", error=rldp.ProtocolFileError),
    ):
        raise AssertionError("the block must not run")


def test_a_link_stays_a_link(tmp_path, target):
    (tmp_path / "link.csv").symlink_to(target)
    with replacing(tmp_path / "link.csv") as file:
        file.write(b"new")
    assert (tmp_path / "link.csv").is_symlink()
    assert target.read_bytes() == b"new"


def test_pipes_and_folders_are_not_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with (
        pytest.raises(rldp.DataError, match=r" is not: it is a device or pipe$"),
        replacing(tmp_path / "pipe"),
    ):
        raise AssertionError("the block must not run")
    with pytest.raises(rldp.DataError, match=r" is not: it is a folder$"), replacing(tmp_path):
        raise AssertionError("the block must not run")
    assert names(tmp_path) == ["pipe"]


def test_names_as_long_as_they_may_be(tmp_path):
    target = tmp_path / ("ü" * 127)
    with replacing(target) as file:
        file.write(b"new")
    assert target.read_bytes() == b"new"


def test_what_is_no_path():
    for path, error, message in (
        (5, rldp.InvalidArgumentType, "path must be a path, got 5"),
        ("a\0b", rldp.InvalidArgument, r"path must not hold a null character, got 'a\\x00b'"),
    ):
        with pytest.raises(error, match=f"^{message}$"), replacing(path):
            raise AssertionError("the block must not run")


def test_one_file_by_two_names_is_the_same_file(tmp_path, target):
    target.write_bytes(b"old")
    (tmp_path / "hard").hardlink_to(target)
    (tmp_path / "soft").symlink_to(target)
    for same in (target, tmp_path / "hard", tmp_path / "soft", tmp_path / "." / "out.csv"):
        with pytest.raises(rldp.InvalidArgument, match=r"^output must be another file than the data, got '"):
            require_other_file(same, target, "the data")
    require_other_file(tmp_path / "none", target, "the data")


# Permissions


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def umask():
    """Sets the umask for one test."""
    before = os.umask(0o022)
    yield os.umask
    os.umask(before)


@pytest.mark.parametrize(("mask", "wanted"), [(0o022, 0o644), (0o077, 0o600), (0o027, 0o640), (0, 0o666)])
def test_a_new_file_has_the_permissions_that_the_umask_leaves(target, umask, mask, wanted):
    umask(mask)
    write_then(target, None)
    assert mode(target) == wanted


@pytest.mark.parametrize("kept", [0o600, 0o640, 0o664, 0o444])
def test_a_file_that_is_replaced_keeps_its_permissions(target, umask, kept):
    target.write_bytes(b"old")
    target.chmod(kept)
    with replacing(target) as file:
        file.write(b"new")
        (scratch,) = set(names(target.parent)) - {"out.csv"}
        assert mode(target.parent / scratch) & ~kept & 0o077 == 0, "unfinished, it is open to more people"
    assert (target.read_bytes(), mode(target)) == (b"new", kept)


def test_a_file_does_not_become_one_that_runs_as_its_owner(target, umask):
    target.write_bytes(b"old")
    target.chmod(0o4755)
    write_then(target, None)
    assert mode(target) == 0o755


def test_a_group_that_cannot_be_kept_loses_its_permissions(target, umask, monkeypatch):
    target.write_bytes(b"old")
    target.chmod(0o664)

    def fails(*_):
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "chown", fails)
    write_then(target, None)
    assert mode(target) == 0o604


# What a killed run left

LEFT = ".out.csv.0123456789abcdef.unfinished"


def test_what_a_killed_run_left_goes_when_the_same_file_is_written(target):
    (target.parent / LEFT).write_bytes(b"half")
    write_then(target, None)
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
    write_then(target, None)
    assert names(target.parent) == sorted(["out.csv", name])


def test_links_folders_and_pipes_of_that_name_stay(target, tmp_path):
    (tmp_path / "elsewhere").write_bytes(b"mine")
    (tmp_path / LEFT).symlink_to(tmp_path / "elsewhere")
    (tmp_path / LEFT.replace("0", "1")).mkdir()
    os.mkfifo(tmp_path / LEFT.replace("0", "2"))
    before = set(names(tmp_path))
    write_then(target, None)
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
    write_then(target, None)
    assert len(names(target.parent)) == 2
    other.send_signal(signal.SIGKILL)
    other.communicate(timeout=60)
    assert len(names(target.parent)) == 2
    write_then(target, None)
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
    write_then(target, None)
    assert target.read_bytes() == b"new"
    assert len(seen) == 2


def test_where_files_cannot_be_locked_nothing_is_cleared_away(target, monkeypatch):
    def fails(*_):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", fails)
    (target.parent / LEFT).write_bytes(b"half")
    write_then(target, None)
    assert names(target.parent) == [LEFT, "out.csv"]
    assert target.read_bytes() == b"new"
