"""The command ``rldp``: one module for each subcommand, in the order of its help."""

from rldp.cli.start import leave_when_interrupted

leave_when_interrupted()

from rldp.cli import sample, design, frontier, compare, plan, verify, show  # noqa: F401  # isort: skip
from rldp.cli import report, key, release, ledger, export, estimate, audit, confirm  # noqa: F401  # isort: skip
from rldp.cli import reproduce, demo  # noqa: F401  # isort: skip
from rldp.cli.app import app, main

__all__ = ["app", "main"]
