"""``rldp key``, and releases with it."""

import json
import stat

import pytest

from commands import run_command
from rldp.releaser.keys import Key


@pytest.fixture
def command(monkeypatch, capsys, tmp_path):
    """Run ``rldp`` in a folder of its own: (exit code, output, errors)."""
    monkeypatch.chdir(tmp_path)
    return lambda *words: run_command(monkeypatch, capsys, *words)


def test_a_key_is_written_for_its_owner_alone_and_not_shown(command, tmp_path):
    code, output, errors = command("key", "-o", "release.key", "--json")
    secret = (tmp_path / "release.key").read_bytes()
    assert (code, errors) == (0, "")
    assert json.loads(output) == {"output": "release.key", "bytes": 32, "key": Key(secret).fingerprint}
    assert secret.hex() not in output
    assert stat.S_IMODE((tmp_path / "release.key").stat().st_mode) == 0o600


def test_a_key_that_is_there_stays(command, tmp_path):
    assert command("key", "-o", "release.key", "--quiet") == (0, "", "")
    secret = (tmp_path / "release.key").read_bytes()
    done = command("key", "-o", "release.key")
    assert done == (1, "", "rldp: output must be a new file, got 'release.key', which exists\n")
    assert (tmp_path / "release.key").read_bytes() == secret
    assert command("key", "-o", "none/release.key")[0] == 4
