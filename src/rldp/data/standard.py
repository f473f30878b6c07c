"""Standard input and output, each through a locked scratch file that only its owner may read.

Standard input can be read only once, but tables are read several times. Output must appear whole or not at
all, and what is printed cannot be taken back.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import BinaryIO

from rldp.data.atomic import growing
from rldp.errors import DataFileError, FileError

__all__ = ["STANDARD", "printing", "spooled", "standard_input"]

STANDARD = "-"
"""The path that stands for standard input or output."""

_NAME = "rldp"


@contextmanager
def spooled(write: Callable[[BinaryIO], None]) -> Iterator[Path]:
    """Provide a scratch file that ``write`` fills, while the block runs."""
    with ExitStack() as stack:
        try:
            file, path = stack.enter_context(_scratch())
            write(file)
            file.flush()
        except OSError as error:
            raise DataFileError(
                "the folder for temporary files must be writable, "
                f"but it is not: {error.strerror or type(error).__name__}"
            ) from error
        yield path


@contextmanager
def standard_input() -> Iterator[Path]:
    """Provide a file with everything on standard input, while the block runs."""
    if sys.stdin is None:
        raise DataFileError("standard input must be open to be read, but it is closed")
    stream = getattr(sys.stdin, "buffer", sys.stdin)
    with spooled(lambda file: shutil.copyfileobj(stream, file)) as path:
        yield path


@contextmanager
def printing() -> Iterator[BinaryIO]:
    """Provide a new binary file that is copied to standard output if the block succeeds."""
    if sys.stdout is None:
        raise FileError("standard output must be open to be written, but it is closed")
    with _scratch() as (file, path):
        yield file
        file.flush()
        with path.open("rb") as whole:
            shutil.copyfileobj(whole, sys.stdout.buffer)
        sys.stdout.buffer.flush()


def _scratch() -> AbstractContextManager[tuple[BinaryIO, Path]]:
    return growing(Path(tempfile.gettempdir()), _NAME, private=True)
