"""Commands and scripts as people run them, and what they print."""

import subprocess
import sys
import textwrap
import warnings

import pytest

from rldp import cli
from rldp.cli import voice


def run_command(monkeypatch, capsys, *arguments):
    """Run ``rldp`` with these arguments: (exit code, output, errors)."""
    monkeypatch.setattr(sys, "argv", ["rldp", *arguments])
    monkeypatch.setattr(voice, "EVERY", 3600.0)  # a machine may be slow, which is no result
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


_MISSING = """
import sys
from importlib.abc import MetaPathFinder

missing = set({!r})

class Missing(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in missing:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Missing())
"""


# Old versions of these stand on new ones of what they use, in the environment with the lowest libraries.
_BESIDE_NEWER = ("typer", "matplotlib._fontconfig_pattern", "matplotlib._mathtext")


def python(code, *, without=()):
    """What a new interpreter prints, in words.

    The libraries ``without`` seem not to be installed there; the code may change their set, ``missing``.
    """
    old = (f"-Wignore::DeprecationWarning:{module}" for module in _BESIDE_NEWER)
    code = _MISSING.format(list(without)) + textwrap.dedent(code)
    done = subprocess.run(
        [sys.executable, "-Werror", *old, "-Wignore:the table is sparse", "-c", code],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.stderr == "", done.stderr
    assert done.returncode == 0
    return done.stdout.split()
