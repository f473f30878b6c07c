"""Everything rldp raises or warns about on purpose.

::

    RldpError                     base of every deliberate error
    ├── InvalidArgument           also a ValueError: an argument has a wrong value
    ├── InvalidArgumentType       also a TypeError: an argument has a wrong type
    ├── DataError                 also a ValueError: a file or a data frame cannot be used
    ├── FileError                 a file cannot be read or written
    │   ├── DataFileError         also a DataError: it is one with data
    │   └── ProtocolFileError     also a ValueError: it is a protocol
    │       └── NotProved         it can be read, but does not prove what is asked of it
    ├── NotEnoughMemory           also a MemoryError: the machine has not what this would take
    └── MissingDependency         also an ImportError: an optional library is not installed

    RldpWarning (UserWarning)     base of every deliberate warning
    ├── FewerBinsWarning          numbers are cut into fewer bins than were asked for
    ├── GapWarning                a design is private, but not proved optimal to the asked gap
    ├── KeptColumnsWarning        columns leave beside the released one, which no promise covers
    ├── KeyFileWarning            a key can be read by others than its owner
    ├── PriceWarning              a design is private, but windows may have cost much of its utility
    ├── SparseTableWarning        a set may miss the truth far more often than its alpha says
    └── UnseenSecretWarning       a secret without data has no nominal privacy constraint

A message is one sentence that names the argument, what was needed and what came. Where a library is missing,
it is the pip line that installs it: :func:`needs`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

__all__ = [
    "DataError",
    "DataFileError",
    "FewerBinsWarning",
    "FileError",
    "GapWarning",
    "InvalidArgument",
    "InvalidArgumentType",
    "KeptColumnsWarning",
    "KeyFileWarning",
    "MissingDependency",
    "NotEnoughMemory",
    "NotProved",
    "PriceWarning",
    "ProtocolFileError",
    "RldpError",
    "RldpWarning",
    "SparseTableWarning",
    "UnseenSecretWarning",
    "needs",
]


class RldpError(Exception):
    """Base of every error the library raises on purpose."""


class InvalidArgument(RldpError, ValueError):
    """An argument has a value that cannot be used."""


class InvalidArgumentType(RldpError, TypeError):
    """An argument has a type that cannot be used."""


class FileError(RldpError):
    """A file cannot be read or written: it is missing, is no such file, or the system refuses."""


class DataError(RldpError, ValueError):
    """A file or a data frame cannot be turned into a sample."""


class DataFileError(DataError, FileError):
    """A file with data cannot be read or written; what is wrong with its entries is a DataError alone."""


class ProtocolFileError(FileError, ValueError):
    """A protocol file cannot be read or written."""


class NotProved(ProtocolFileError):
    """A protocol file can be read, but it does not prove what is asked of it."""


class NotEnoughMemory(RldpError, MemoryError):
    """What was asked for takes more memory than is available."""


class MissingDependency(RldpError, ImportError):
    """A library that this function needs is not installed."""


@contextmanager
def needs(purpose: str, library: str, *, install: str | None = None) -> Iterator[None]:
    """The block imports ``library``; if that is not installed, the error is the pip line that installs it.

    Parameters
    ----------
    purpose : str
        What cannot be done without it: the subject of the sentence.
    library : str
        Its name, as people know it.
    install : str, optional
        What to give to pip, such as "robust-ldp[paper]"; by default the library itself.

    Raises
    ------
    MissingDependency
        If the block raises ImportError.

    Examples
    --------
    >>> with needs("drawing", "crayons", install="robust-ldp[plots]"):
    ...     import crayons
    Traceback (most recent call last):
    rldp.errors.MissingDependency: drawing needs crayons; pip install 'robust-ldp[plots]' installs it
    """
    try:
        yield
    except ModuleNotFoundError as error:
        what = library if install is None else install
        line = f"pip install '{what}'" if "[" in what else f"pip install {what}"
        raise MissingDependency(f"{purpose} needs {library}; {line} installs it") from error
    except ImportError as error:
        reason = " ".join(str(error).split())
        raise MissingDependency(f"{purpose} needs {library}, which cannot be imported: {reason}") from error


class RldpWarning(UserWarning):
    """Base of every warning the library gives on purpose."""


class FewerBinsWarning(RldpWarning):
    """Numbers are cut into fewer bins than were asked for, since some numbers are too frequent."""


class GapWarning(RldpWarning):
    """A design is strictly private, but its proved gap is larger than the one asked for."""


class KeptColumnsWarning(RldpWarning):
    """Columns leave as they are beside the released one: the protocol's ε does not cover them."""


class KeyFileWarning(RldpWarning):
    """The file of a key can be read by others than its owner: whoever reads it can undo every draw."""


class PriceWarning(RldpWarning):
    """A design is strictly private, but keeping windows may have cost much of its utility."""


class SparseTableWarning(RldpWarning):
    """So many cells are rare that the set of a test may miss the truth far more often than alpha says."""


class UnseenSecretWarning(RldpWarning):
    """A secret that the sample never shows is left out of the nominal privacy constraint."""
