"""Keys: made once, read strictly, shown nowhere."""

import copy
import pickle
import stat
import warnings

import pytest

import rldp
from rldp.releaser.keys import Key, key_of, write_new_key

SECRET = bytes(range(32))


def test_a_new_key_is_32_random_bytes_for_its_owner_alone(tmp_path):
    shown = write_new_key(tmp_path / "a.key")
    write_new_key(tmp_path / "b.key")
    one, other = ((tmp_path / name).read_bytes() for name in ("a.key", "b.key"))
    assert len(one) == len(other) == 32
    assert one != other
    assert stat.S_IMODE((tmp_path / "a.key").stat().st_mode) == 0o600
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert key_of(tmp_path / "a.key") == Key(one)
    assert shown == Key(one).fingerprint
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.key", "b.key"]


def test_a_key_is_never_replaced(tmp_path):
    path = tmp_path / "a.key"
    path.write_bytes(SECRET)
    with pytest.raises(
        rldp.InvalidArgument, match=r"output must be a new file, got '.*a\.key', which exists"
    ):
        write_new_key(path)
    assert path.read_bytes() == SECRET


def test_a_key_that_appears_meanwhile_is_not_replaced(tmp_path, monkeypatch):
    path = tmp_path / "a.key"

    def late(_):
        path.write_bytes(SECRET)
        return b"x" * 32

    monkeypatch.setattr("rldp.releaser.keys.secrets.token_bytes", lambda n: b"x" * n)
    monkeypatch.setattr("rldp.data.atomic.os.fsync", late)
    with pytest.raises(rldp.InvalidArgument, match="output must be a new file"):
        write_new_key(path)
    assert path.read_bytes() == SECRET
    assert [each.name for each in tmp_path.iterdir()] == ["a.key"]


@pytest.mark.parametrize(("size", "got"), [(0, "0 bytes"), (15, "15 bytes"), (1025, "more")])
def test_a_key_of_another_length_is_refused_without_showing_it(tmp_path, size, got):
    (tmp_path / "a.key").write_bytes(b"s" * size)
    needed = f"must have 16 to 1024 bytes, of which 'rldp key' writes 32, got {got}"
    for given in (tmp_path / "a.key", b"s" * size):
        with pytest.raises(rldp.InvalidArgument) as caught:
            key_of(given)
        assert str(caught.value).endswith(needed)
        assert "sss" not in str(caught.value)


def test_a_key_that_is_not_there_is_an_error_of_files(tmp_path):
    with pytest.raises(
        rldp.FileError, match=r"key must be a file that can be read, but .* is not: No such file"
    ):
        key_of(tmp_path / "none")
    with pytest.raises(rldp.InvalidArgumentType, match="key must be the path of a file or bytes, got int"):
        key_of(7)


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o622])
def test_a_key_that_others_can_read_gives_a_warning(tmp_path, mode):
    path = tmp_path / "a.key"
    path.write_bytes(SECRET)
    path.chmod(mode)
    with pytest.warns(rldp.KeyFileWarning, match="can be read by others than its owner"):
        assert key_of(path) == Key(SECRET)


def test_neither_text_nor_pickle_of_options_holds_the_key():
    options = rldp.ReleaseOptions(id="pid", key=SECRET)
    shown = f"{options!r} {options} {options.key!r} {vars(options)}"
    assert Key(SECRET).fingerprint in shown
    assert repr(SECRET)[2:-1] not in shown
    assert SECRET.hex() not in shown
    with pytest.raises(rldp.InvalidArgumentType, match="key must be the path of its file to be pickled"):
        pickle.dumps(options)
    assert copy.deepcopy(options) == options
    kept = pickle.loads(pickle.dumps(rldp.ReleaseOptions(id="pid", key="release.key")))
    assert kept.key == "release.key"


def test_the_fingerprint_of_a_key_stays():
    """A ledger compares fingerprints of releases that are years apart."""
    assert Key(SECRET).fingerprint == "ae07113a24faa677"
