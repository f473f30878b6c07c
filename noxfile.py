"""Tests outside .venv: under each Python that pyproject.toml names, and with the lowest libraries it allows.

What follows ``--`` goes to pytest; ``make pythons`` and ``make oldest`` choose the numerical tests.
"""

import os
import shutil
import subprocess
import sys

import nox

VERSIONS = nox.project.python_versions(nox.project.load_toml("pyproject.toml"))
OWN = "{}.{}".format(*sys.version_info)  # make test runs under it
TESTED = ("--group", "test", "--editable", ".[paper,dask,report,sklearn]")

nox.options.default_venv_backend = "uv"
nox.options.download_python = "never"
nox.options.error_on_missing_interpreters = False
nox.options.reuse_venv = "yes"

if pyenv := shutil.which("pyenv"):  # its shims start only the versions that they are told of
    current = subprocess.check_output([pyenv, "version-name"], text=True)
    known = subprocess.check_output([pyenv, "versions", "--bare"], text=True)
    os.environ["PYENV_VERSION"] = ":".join([*current.split(), *known.split()])


@nox.session(python=[version for version in VERSIONS if version != OWN])
def pythons(session: nox.Session) -> None:
    """Under each Python that is at hand."""
    session.install(*TESTED)
    session.run("pytest", *session.posargs)


@nox.session(python=VERSIONS[0])
def oldest(session: nox.Session) -> None:
    """Under the lowest Python, with the lowest libraries."""
    session.install("--resolution", "lowest-direct", *TESTED)
    # Libraries of long ago stand on newer ones here, whose notices of deprecation they do not heed.
    session.run("pytest", *session.posargs, "-W", "ignore::DeprecationWarning")
