"""Everything rldp raises or warns about on purpose.

::

    RldpError                     base of every deliberate error
    ├── InvalidArgument           also a ValueError: an argument has a wrong value
    ├── InvalidArgumentType       also a TypeError: an argument has a wrong type
    ├── DataError                 also a ValueError: a file or a data frame cannot be used
    ├── ProtocolFileError         also a ValueError: a protocol file cannot be read
    └── MissingDependency         also an ImportError: an optional library is not installed

    RldpWarning (UserWarning)     base of every deliberate warning
    ├── GapWarning                a design is private, but not proved optimal to the asked gap
    ├── PriceWarning              a design is private, but windows may have cost much of its utility
    └── UnseenSecretWarning       a secret without data has no nominal privacy constraint

A message is one sentence that names the argument, what was needed and what came.
"""

__all__ = [
    "DataError",
    "GapWarning",
    "InvalidArgument",
    "InvalidArgumentType",
    "MissingDependency",
    "PriceWarning",
    "ProtocolFileError",
    "RldpError",
    "RldpWarning",
    "UnseenSecretWarning",
]


class RldpError(Exception):
    """Base of every error the library raises on purpose."""


class InvalidArgument(RldpError, ValueError):
    """An argument has a value that cannot be used."""


class InvalidArgumentType(RldpError, TypeError):
    """An argument has a type that cannot be used."""


class DataError(RldpError, ValueError):
    """A file or a data frame cannot be turned into a sample."""


class ProtocolFileError(RldpError, ValueError):
    """A protocol file cannot be read."""


class MissingDependency(RldpError, ImportError):
    """A library that this function needs is not installed."""


class RldpWarning(UserWarning):
    """Base of every warning the library gives on purpose."""


class GapWarning(RldpWarning):
    """A design is strictly private, but its proved gap is larger than the one asked for."""


class PriceWarning(RldpWarning):
    """A design is strictly private, but keeping windows may have cost much of its utility."""


class UnseenSecretWarning(RldpWarning):
    """A secret that the sample never shows is left out of the nominal privacy constraint."""
