"""Options from ``rldp.toml`` and from the environment.

The command line overrides the environment, and the environment overrides the file. Options at the top of the
file, and variables such as ``RLDP_EPSILON``, apply to the commands that work on a sample. Every command reads
its own table, such as ``[release]``, and its own variables, such as ``RLDP_RELEASE_KEEP``.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rldp._common.checks import shown
from rldp.errors import FileError, InvalidArgument

__all__ = ["FILE", "Given", "Option", "Project"]

FILE = "rldp.toml"
_PREFIX = "RLDP"


@dataclass(frozen=True)
class Option:
    """An option that can be set in the file or the environment.

    Attributes
    ----------
    name : str
        Without dashes, such as ``max-epsilon``.
    is_flag, is_repeated : bool
    """

    name: str
    is_flag: bool
    is_repeated: bool


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
            tree = tomllib.loads(file.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or " ".join(str(error).split())
            raise FileError(f"{file} must be a project file in TOML, but: {reason}") from error
        own = {_dashed(name): part for name, part in tree.items() if isinstance(part, dict)}
        shared = {_dashed(name): value for name, value in tree.items() if not isinstance(value, dict)}
        return cls(file, shared, {name: _with_dashes(part) for name, part in own.items()})

    def options(
        self,
        command: str,
        options: Collection[Option],
        *,
        takes_shared: bool,
        commands: Mapping[str, Collection[str]],
    ) -> dict[str, Given]:
        """Return the options of a command that the environment and the file set.

        Parameters
        ----------
        command : str
        options : collection of Option
        takes_shared : bool
            Whether the command works on a sample, so that options at the top of the file apply to it.
        commands : mapping
            Every command → the names of its options; any other name is refused.

        Raises
        ------
        InvalidArgument
            If the file has an unknown name, or a value that does not fit its option.
        """
        self._require_known(commands)
        common = {"quiet", "log-level"}
        chosen = {}
        for option in options:
            shared = takes_shared or option.name in common
            for given in self._places(command, option, shared):
                chosen[option.name] = given
                break
        return chosen

    def _places(self, command: str, option: Option, shared: bool) -> Iterator[Given]:
        """Yield the settings of an option, the strongest first."""
        named = option.name.upper().replace("-", "_")
        own = f"{_PREFIX}_{command.upper().replace('-', '_')}_{named}"
        for variable in [own, f"{_PREFIX}_{named}"][: 1 + shared]:
            text = os.environ.get(variable)
            if text:
                yield Given(text.splitlines() if option.is_repeated else text, variable)
        tables: list[tuple[str, Mapping[str, Any]]] = [(f"[{command}] ", self.own.get(command, {}))]
        for table, given in [*tables, ("", self.shared)][: 1 + shared]:
            if option.name in given:
                place = f"{option.name} in {table}{'of ' * bool(table)}{self.path}"
                yield Given(_fitting(option, given[option.name], place), str(self.path))

    def _require_known(self, commands: Mapping[str, Collection[str]]) -> None:
        """Refuse unknown names, so that a misspelt option is noticed."""
        every = {name for names in commands.values() for name in names}
        for name in self.shared:
            if name not in every:
                raise InvalidArgument(f"{self.path} must name options of rldp, got {shown(name)}")
        for command, given in self.own.items():
            if command not in commands:
                raise InvalidArgument(f"{self.path} must have tables named as commands, got [{command}]")
            for name in given:
                if name not in commands[command]:
                    raise InvalidArgument(
                        f"[{command}] of {self.path} must name options of rldp {command}, got {shown(name)}"
                    )


def _with_dashes(table: Mapping[str, Any]) -> dict[str, Any]:
    return {_dashed(name): value for name, value in table.items()}


def _dashed(name: str) -> str:
    return name.replace("_", "-")


def _fitting(option: Option, value: Any, place: str) -> Any:
    """Return the value, if its type fits the option."""
    if option.is_flag:
        if not isinstance(value, bool):
            raise InvalidArgument(f"{place} must be true or false, got {shown(value)}")
        return value
    entries = value if option.is_repeated and isinstance(value, list) else [value]
    for entry in entries:
        if isinstance(entry, bool) or not isinstance(entry, str | int | float):
            kinds = "a text, a number or a list of them" if option.is_repeated else "a text or a number"
            raise InvalidArgument(f"{place} must be {kinds}, got {shown(entry)}")
    return [str(entry) for entry in entries] if option.is_repeated else str(value)
