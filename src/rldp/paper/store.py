"""The folder of a reproduction: settings, finished parts and tables."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from rldp._common.checks import shown
from rldp.data.atomic import whole
from rldp.errors import FileError, InvalidArgument, InvalidArgumentType
from rldp.paper.plan import Task
from rldp.paper.settings import Settings
from rldp.paper.work import header

__all__ = ["MANIFEST", "Store"]

MANIFEST = "manifest.json"


@dataclass(frozen=True)
class Store:
    """A folder for one choice of settings.

    Files are written atomically, so a run may be killed at any moment, and the next one resumes from the
    finished parts.
    """

    folder: Path
    settings: Settings

    @classmethod
    def open(cls, folder: str | PathLike[str], settings: Settings) -> Store:
        """Create the folder, or open one with the same settings.

        Raises
        ------
        InvalidArgument
            If the folder is not writable or contains something else. Its content is then unchanged.
        """
        store = cls(_checked(folder), settings)
        with store._writing():
            store.folder.mkdir(parents=True, exist_ok=True)
            made = store.folder / MANIFEST
            if made.exists():
                store._require_same(made.read_text(encoding="utf-8"))
            elif store._holds_something():
                raise InvalidArgument(
                    f"out must be a new or empty folder, or one that this command made, got {store.name}"
                )
            store._parts.mkdir(exist_ok=True)
        if not made.exists():
            store.save(MANIFEST, (json.dumps(settings.manifest(), indent=2) + "\n").encode())
        return store

    @property
    def name(self) -> str:
        """The folder, as shown in messages."""
        return shown(str(self.folder))

    def has(self, task: Task) -> bool:
        """Return whether the part is stored and complete."""
        try:
            content = self._part(task).read_bytes()
        except OSError:
            return False
        return content.count(b"\n") == task.rows and content.endswith(b"\n")

    def save_part(self, task: Task, text: str) -> None:
        """Store the result of a task."""
        self._write(self._part(task), text.encode())

    def save_table(self, name: str, tasks: Iterable[Task]) -> None:
        """Join the parts of an experiment into its table."""
        with self._writing():
            parts = [self._part(task).read_bytes() for task in tasks]
        self.save(f"{name}.csv", b"".join([header(self.settings).encode(), *parts]))

    def save(self, name: str, content: bytes) -> None:
        """Write a file into the folder."""
        self._write(self.folder / name, content)

    @property
    def _parts(self) -> Path:
        return self.folder / "parts"

    def _part(self, task: Task) -> Path:
        return self._parts / task.file

    def _holds_something(self) -> bool:
        """Return whether the folder contains files other than hidden ones."""
        paths = [path for folder in (self.folder, self._parts) for path in folder.glob("[!.]*")]
        return any(path != self._parts for path in paths)

    def _write(self, path: Path, content: bytes) -> None:
        with self._writing(), whole(path, scratch_folder=self._parts) as file:
            file.write(content)

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Turn errors of the file system into one sentence."""
        try:
            yield
        except OSError as error:
            reason = error.strerror or error
            raise FileError(
                f"out must be a folder that can be written, but {self.name} is not: {reason}"
            ) from error
        except UnicodeDecodeError as error:
            raise InvalidArgument(
                f"out must be a folder that this command made, but the manifest of {self.name} is no text"
            ) from error

    def _require_same(self, text: str) -> None:
        try:
            stored = json.loads(text)
        except ValueError:
            stored = None
        if not isinstance(stored, dict):
            raise InvalidArgument(f"out must be a folder that this command made, got {self.name}")
        wanted = self.settings.manifest()
        other = [
            f"{name} = {_worded(stored.get(name))} instead of {_worded(wanted.get(name))}"
            for name in sorted(wanted.keys() | stored.keys())
            if stored.get(name) != wanted.get(name)
        ]
        if other:
            raise InvalidArgument(
                "out must be a new folder or one made with the same options, "
                f"got {self.name}, made with {' and '.join(other)}"
            )


def _worded(value: object) -> str:
    return "the paper's" if value is None else shown(value)


def _checked(folder: object) -> Path:
    if not isinstance(folder, str | PathLike):
        raise InvalidArgumentType(f"out must be a path, got {shown(folder)}")
    if not str(folder) or "\0" in str(folder):
        raise InvalidArgument(f"out must be the name of a folder, got {shown(str(folder))}")
    return Path(folder)
