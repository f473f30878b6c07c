"""What all commands of ``rldp`` share: options in panels, an example, defaults from a project file."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import takewhile
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup, TyperOption

from rldp.cli.project import Given, Project
from rldp.cli.voice import note

__all__ = ["PROJECT", "Command", "Commands", "SampleCommand", "is_on_command_line", "told"]

PROJECT = "rldp.project"
"""The key under which a context keeps the path of the project file."""

PANELS: dict[str, tuple[str, ...]] = {
    "Columns": (
        "secret", "value", "given", "rare", "as-secret", "as-value", "as-earlier", "secrets", "values",
        "missing", "missing-distance", "text", "number", "order", "bins", "bin-width", "released", "keep",
        "released-name", "id", "unknown",
    ),
    "Reading files": ("delimiter", "encoding", "sheet", "show-labels"),
    "Promise": (
        "epsilon", "epsilon-between", "epsilon-known", "max-distortion", "privacy", "utility", "alpha",
        "prior", "epsilons", "noise", "rows-a-person", "after", "given-known", "chain", "joint",
    ),
    "What is published": ("distortion", "weight", "outputs"),
    "Computation": (
        "gap", "windows", "max-seconds", "sizes", "draws", "instances", "rows", "set", "jobs", "seed",
    ),
    "Estimate": ("of", "sample", "no-sample", "method", "interval", "min-agreement", "planned"),
    "Safety": (
        "max-epsilon", "require", "expect-sha256", "unproved", "allow-original", "allow-identifier",
        "allow-drift", "allow-absence", "key", "ledger", "again", "strict", "force",
    ),
    "Results": (
        "output", "out", "protocol", "author", "unit", "date", "language", "plot", "table", "others",
        "with-counts", "json",
    ),
    "General": ("quiet", "log-level", "help"),
}  # fmt: skip
"""Options in the order of the help; those without a panel come first."""

OLD_NAMES = ("--at-most", "--epsilon-at-most", "--as")
"""Deprecated names of options, which work for one more version and are not shown in the help."""

_OLD = f"{PROJECT}.old"

_WORDS = {"<list[str]>": "COL", "<str>": "COL", "<path>": "FILE", "<float>": "NUMBER", "<int>": "N"}

_ORDER = [name for names in PANELS.values() for name in names]


class Command(TyperCommand):
    """A command with panels and an example in its help, whose options can be set in a project file."""

    works_on_sample = False

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments; refuse a single option that is given twice."""
        for option in self.params:
            if isinstance(option, TyperOption) and not (option.multiple or option.is_flag):
                times = sum(_names(option.opts, arg) for arg in takewhile("--".__ne__, args))
                if times > 1:
                    raise typer.BadParameter(f"must be given once, got {times} times", ctx, option)
        ctx.meta[_OLD] = [arg.partition("=")[0] for arg in takewhile("--".__ne__, args)]
        if not (ctx.resilient_parsing or {"--help"} & set(args)):
            options = self._given_elsewhere(ctx)
            ctx.default_map = {name: given.value for name, given in options.items()}
            ctx.meta[f"{PROJECT}.options"] = options
        parsed: list[str] = super().parse_args(ctx, args)
        return parsed

    def invoke(self, ctx: Any) -> Any:
        """Run the command, and name the options that do not come from the command line."""
        options: dict[str, Given] = ctx.meta.get(f"{PROJECT}.options", {})
        used: dict[str, list[str]] = {}
        for name, given in options.items():
            if _source(ctx, name) == "DEFAULT_MAP":
                used.setdefault(given.place, []).append(_long(self._option(name)))
        if used and not ctx.params.get("quiet"):
            note("; ".join(f"{place} sets {', '.join(names)}" for place, names in used.items()))
        for old in ctx.meta.get(_OLD, ()) if not ctx.params.get("quiet") else ():
            if old in OLD_NAMES:
                new = next(_long(each) for each in self.params if old in each.opts)
                note(f"{old} is deprecated and will go with the next version; use {new}")
        return super().invoke(ctx)

    def _given_elsewhere(self, ctx: Any) -> dict[str, Given]:
        """Return the values that the environment and the project file give, by parameter."""
        siblings = getattr(ctx.parent and ctx.parent.command, "commands", {self.name: self})
        commands = {
            str(name): {_long(each)[2:]: each for each in command.params if isinstance(each, TyperOption)}
            for name, command in siblings.items()
        }
        own, project = str(self.name), Project.read(ctx.meta.get(PROJECT))
        on_sample = [str(name) for name, each in siblings.items() if getattr(each, "works_on_sample", False)]
        elsewhere = project.options(own, commands, on_sample=on_sample)
        return {str(commands[own][name].name): given for name, given in elsewhere.items()}

    def _option(self, name: str) -> Any:
        return next(option for option in self.params if option.name == name)

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Write the usage line: options, then arguments."""
        arguments = [parameter for parameter in self.params if parameter.param_type_name == "argument"]
        names = [record[0] for each in arguments if (record := told(each, ctx)) is not None]
        return [self.options_metavar or "", *names]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write arguments, then the options of each panel."""
        panels: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": []}
        panels |= {panel: [] for panel in PANELS}
        for parameter in sorted(self.get_params(ctx), key=_place):
            record = told(parameter, ctx)
            if record is not None:
                panels[_panel(parameter)].append(record)
        for panel, records in panels.items():
            if records:
                with formatter.section(panel):
                    formatter.write_dl(records)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write the example unchanged."""
        if self.epilog:
            with formatter.section("Example"):
                for line in self.epilog.strip().splitlines():
                    formatter.write(f"{'':>{formatter.current_indent}}{line}\n")


COMMANDS = {
    "Design": ("sample", "design", "frontier", "compare", "plan"),
    "Check and show": ("verify", "show", "report", "confirm"),
    "Release": ("release", "key", "ledger", "export"),
    "Afterwards": ("estimate", "audit", "audit-release"),
    "Try": ("demo", "reproduce"),
}
"""Commands in the order of the help; others come last."""


class Commands(TyperGroup):
    """The main command: its help lists commands by task, each with its whole first sentence."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the commands by task."""
        listed = {name for names in COMMANDS.values() for name in names}
        others = tuple(name for name in self.commands if name not in listed)
        for task, names in {**COMMANDS, "Other commands": others}.items():
            known = [(name, self.commands[name]) for name in names if name in self.commands]
            if known:
                with formatter.section(task):
                    formatter.write_dl([(name, each.get_short_help_str(1000)) for name, each in known])


class SampleCommand(Command):
    """A command that works on a sample: options at the top of the project file apply to it."""

    works_on_sample = True


def is_on_command_line(context: Any, name: str) -> bool:
    """Return whether a parameter was given on the command line."""
    return _source(context, name) == "COMMANDLINE"


def _source(context: Any, name: str) -> str | None:
    """Return the source of a parameter, as typer's library names it."""
    return getattr(context.get_parameter_source(name), "name", None)


def _names(options: Sequence[str], argument: str) -> bool:
    """Return whether an argument is a name of an option, possibly with its value."""
    long = argument.partition("=")[0] if argument.startswith("--") else argument[:2]
    return long in options


def _long(option: Any) -> str:
    """Return the long name of an option."""
    return str(next((name for name in option.opts if name.startswith("--")), option.opts[0]))


def _place(parameter: Any) -> int:
    """Return the position of an option in its panel; others keep their order."""
    return _ORDER.index(_long(parameter)[2:]) if _long(parameter)[2:] in _ORDER else -1


def _panel(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        return "Arguments"
    name = _long(parameter)[2:]
    return next((panel for panel, names in PANELS.items() if name in names), "Options")


def told(parameter: Any, ctx: Any) -> tuple[str, str] | None:
    """Return the name and the help text of an argument or option, or None if it is hidden.

    Deprecated names are left out. The placeholder of a value is a word where typer shows only its type.
    """
    record = parameter.get_help_record(ctx)
    if record is None:
        return None
    shown, said = record
    for old in OLD_NAMES:
        shown = re.sub(f", {old}(?= |$)", "", shown)
    for kind, word in _WORDS.items():
        shown = shown.replace(kind, word)
    if parameter.param_type_name == "argument":
        shown = str(parameter.metavar or parameter.name).upper()
    return re.sub(r"<([\w|]+)>", r"\1", shown), said
