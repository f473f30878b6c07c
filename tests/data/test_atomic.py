"""Files appear whole or not at all."""

import errno
import os
import re
import stat

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


def test_a_group_that_can_be_kept_without_the_owner_is_kept(target, umask, monkeypatch):
    target.write_bytes(b"old")
    target.chmod(0o664)
    asked = []

    def keeps_groups_alone(_, owner, group):
        asked.append((owner, group))
        if owner != -1:
            raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "chown", keeps_groups_alone)
    before = target.stat()
    write_then(target, None)
    assert asked == [(before.st_uid, before.st_gid), (-1, before.st_gid)]
    assert mode(target) == 0o664
