"""The errors and warnings that rldp raises on purpose.

::

    RldpError                     base of every deliberate error
    ├── InvalidArgument           also a ValueError: an argument has a wrong value
    ├── InvalidArgumentType       also a TypeError: an argument has a wrong type
    ├── DataError                 also a ValueError: a file or a data frame cannot be used
    ├── FileError                 a file cannot be read or written
    │   ├── DataFileError        also a DataError: the file holds data
    │   └── ProtocolFileError    also a ValueError: the file is a protocol
    │       └── NotProved        it can be read, but does not prove what is required
    ├── NotEnoughMemory          also a MemoryError: the machine has too little memory
    └── MissingDependency         also an ImportError: an optional library is not installed

    RldpWarning (UserWarning)     base of every deliberate warning
    ├── FewerBinsWarning         numbers are cut into fewer bins than requested
    ├── GapWarning               a design is private, but not proved optimal to the requested gap
    ├── KeptColumnsWarning       no promise covers the columns kept beside the released one
    ├── KeyFileWarning           users other than its owner can read a key file
    ├── PriceWarning             a design is private, but ``windows`` may cost much of its utility
    ├── SparseTableWarning        a set may miss the truth far more often than its alpha says
    └── UnseenSecretWarning       a secret without data has no nominal privacy constraint

A message is one sentence that names the argument, what was needed and what came. If a library is missing, the
message is the pip command that installs it; see :func:`rldp._common.process.needs`.
"""

from __future__ import annotations

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
]


class RldpError(Exception):
    """Base class of all errors that the library raises on purpose."""


class InvalidArgument(RldpError, ValueError):
    """An argument has an unusable value."""


class InvalidArgumentType(RldpError, TypeError):
    """An argument has an unusable type."""


class FileError(RldpError):
    """A file cannot be read or written: it is missing, of the wrong kind, or the system refuses access."""


class DataError(RldpError, ValueError):
    """A file or a data frame cannot be turned into a sample."""


class DataFileError(DataError, FileError):
    """A data file cannot be read or written. Problems with its entries raise a plain DataError."""


class ProtocolFileError(FileError, ValueError):
    """A protocol file cannot be read or written."""


class NotProved(ProtocolFileError):
    """A protocol file can be read, but does not prove what is required of it."""


class NotEnoughMemory(RldpError, MemoryError):
    """The operation needs more memory than is available."""


class MissingDependency(RldpError, ImportError):
    """A library that this function needs is not installed."""


class RldpWarning(UserWarning):
    """Base class of all warnings that the library gives on purpose."""


class FewerBinsWarning(RldpWarning):
    """Some numbers are so frequent that fewer bins than requested were cut."""


class GapWarning(RldpWarning):
    """A design is strictly private, but its proved gap is larger than requested."""


class KeptColumnsWarning(RldpWarning):
    """Columns are published unchanged beside the released one, and the protocol's ε does not cover them."""


class KeyFileWarning(RldpWarning):
    """Users other than the owner can read a key file. Anyone who reads it can undo every draw."""


class PriceWarning(RldpWarning):
    """A design is strictly private, but ``windows=True`` may cost much of its utility."""


class SparseTableWarning(RldpWarning):
    """So many cells are rare that the set of a test may miss the truth far more often than alpha says."""


class UnseenSecretWarning(RldpWarning):
    """A secret without data is left out of the nominal privacy constraint."""
