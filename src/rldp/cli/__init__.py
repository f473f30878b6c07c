"""The command ``rldp``, one module a command; they appear in its help in this order."""

from rldp._start import leave_when_interrupted

leave_when_interrupted()

from rldp.cli import design, verify, show, release, export, estimate, audit, confirm, reproduce, demo  # isort: skip
from rldp.cli.app import app, main

__all__ = [
    "app",
    "audit",
    "confirm",
    "demo",
    "design",
    "estimate",
    "export",
    "main",
    "release",
    "reproduce",
    "show",
    "verify",
]
