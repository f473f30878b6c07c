"""Options from ``rldp.toml`` and from the environment.

The command line overrides the environment, and the environment overrides the file. Options at the top of the
file, and variables such as ``RLDP_EPSILON``, apply to the commands that work on a sample. Every command reads
its own table, such as ``[release]``, and its own variables, such as ``RLDP_RELEASE_KEEP``.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rldp._common.checks import shown
from rldp.errors import FileError, InvalidArgument

__all__ = ["FILE", "Given", "Project"]

FILE = "rldp.toml"
_PREFIX = "RLDP"
_COMMON = ("quiet", "log-level")  # options of all commands


@dataclass(frozen=True)
class Given:
    """The value of an option, and where it was set."""

    value: Any
    place: str


@dataclass(frozen=True)
class Project:
    """A project file: options for the commands that work on a sample, and for single commands.

    Attributes
    ----------
    path : Path or None
        None if there is no file.
    shared : mapping
        Option → value.
    own : mapping
        Command → its options.
    """

    path: Path | None = None
    shared: Mapping[str, Any] = field(default_factory=dict)
    own: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path | None) -> Project:
        """Read the named file, or ``rldp.toml`` in the current folder if it exists.

        Raises
        ------
        FileError
            If it cannot be read, or is not TOML.
        """
        if path is None and not Path(FILE).is_file():
            return cls()
        file = Path(FILE) if path is None else path
        try:
            tree = _dashed(tomllib.loads(file.read_text(encoding="utf-8")))
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or " ".join(str(error).split())
            raise FileError(f"{file} must be a project file in TOML, but: {reason}") from error
        own = {name: part for name, part in tree.items() if isinstance(part, dict)}
        shared = {name: value for name, value in tree.items() if name not in own}
        return cls(file, shared, own)

    def options(
        self, command: str, commands: Mapping[str, Mapping[str, Any]], *, on_sample: Collection[str]
    ) -> dict[str, Given]:
        """Return the options of a command that the environment and the file set.

        Parameters
        ----------
        command : str
        commands : mapping
            Every command → its options by name, such as ``max-epsilon``; any other name is refused.
        on_sample : collection of str
            The commands that work on a sample, so that options at the top of the file apply to them.

        Raises
        ------
        InvalidArgument
            If the file has an unknown name, or a value that does not fit its option.
        """
        self._require_known(commands, on_sample)
        chosen = {}
        for name, option in commands[command].items():
            given = self._given(command, name, option, command in on_sample or name in _COMMON)
            if given is not None:
                chosen[name] = given
        return chosen

    def _given(self, command: str, name: str, option: Any, shared: bool) -> Given | None:
        """Return the strongest setting of an option."""
        for words in ((_PREFIX, command, name), (_PREFIX, name))[: 1 + shared]:
            variable = "_".join(words).upper().replace("-", "_")
            text = os.environ.get(variable)
            if text:
                return Given(text.splitlines() if option.multiple else text, variable)
        tables = ((f"[{command}] of ", self.own.get(command, {})), ("", self.shared))
        for table, given in tables[: 1 + shared]:
            if name in given:
                value = _fitting(option, given[name], f"{name} in {table}{self.path}")
                return Given(value, str(self.path))
        return None

    def _require_known(self, commands: Mapping[str, Mapping[str, Any]], on_sample: Collection[str]) -> None:
        """Refuse unknown names, and names at the top that no command reads there."""
        for name in self.shared:
            if name in _COMMON or any(name in commands[each] for each in on_sample):
                continue
            others = [command for command, names in commands.items() if name in names]
            if not others:
                raise InvalidArgument(f"{self.path} must name options of rldp, got {shown(name)}")
            raise InvalidArgument(
                f"{self.path} must have {shown(name)} in a table of its command, such as [{others[0]}], got "
                "it at the top, where it has no effect"
            )
        for command, given in self.own.items():
            if command not in commands:
                raise InvalidArgument(f"{self.path} must have tables named as commands, got [{command}]")
            for name in given:
                if name not in commands[command]:
                    raise InvalidArgument(
                        f"[{command}] of {self.path} must name options of rldp {command}, got {shown(name)}"
                    )


def _dashed(table: Mapping[str, Any]) -> dict[str, Any]:
    """Return a table whose names have dashes, as options do."""
    return {
        name.replace("_", "-"): _dashed(value) if isinstance(value, dict) else value
        for name, value in table.items()
    }


def _fitting(option: Any, value: Any, place: str) -> Any:
    """Return the value, if its type fits the option."""
    if option.is_flag:
        if not isinstance(value, bool):
            raise InvalidArgument(f"{place} must be true or false, got {shown(value)}")
        return value
    entries = value if option.multiple and isinstance(value, list) else [value]
    for entry in entries:
        if isinstance(entry, bool) or not isinstance(entry, str | int | float):
            kinds = "a text, a number or a list of them" if option.multiple else "a text or a number"
            raise InvalidArgument(f"{place} must be {kinds}, got {shown(entry)}")
    return [str(entry) for entry in entries] if option.multiple else str(value)
