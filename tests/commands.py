"""Commands and scripts as people run them, and what they print."""

import subprocess
import sys
import textwrap
import warnings

import pytest

from rldp import cli


def run_command(monkeypatch, capsys, *arguments):
    """Run ``rldp`` with these arguments: (exit code, output, errors)."""
    monkeypatch.setattr(sys, "argv", ["rldp", *arguments])
    with warnings.catch_warnings(), pytest.raises(SystemExit) as stopped:
        cli.main()
    printed = capsys.readouterr()
    return stopped.value.code or 0, printed.out, printed.err


def one_line(errors):
    """The one sentence that a mistake is answered with."""
    assert errors.startswith("rldp: ")
    assert errors.count("\n") == 1
    assert errors.endswith("\n")
    return errors[len("rldp: ") : -1]


def python(code):
    """What a new interpreter prints, in words."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stderr == ""
    assert done.returncode == 0
    return done.stdout.split()
