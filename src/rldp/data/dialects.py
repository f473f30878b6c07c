"""How the text of a CSV file is read: its delimiter and its encoding."""

from __future__ import annotations

import codecs
from dataclasses import dataclass

from rldp._common.checks import shown
from rldp.errors import InvalidArgument, InvalidArgumentType

__all__ = ["COMMON_DELIMITERS", "Dialect"]

COMMON_DELIMITERS = (",", ";", "\t", "|")
_SPELLED = {"tab": "\t", "\\t": "\t"}
_UTF_8 = ("utf-8", "utf-8-sig")
_NO_ENCODING_OF_TABLES = ("idna", "punycode", "raw-unicode-escape", "undefined", "unicode-escape", "utf-7")


@dataclass(frozen=True)
class Dialect:
    r"""How a CSV file is read.

    Attributes
    ----------
    delimiter : str or None
        The character between two columns, also spelled "tab"; None where it is to be found.
    encoding : str or None
        A name that Python has for an encoding; None for UTF-8, with or without its mark.

    Raises
    ------
    InvalidArgument, InvalidArgumentType
        If there is no such encoding, or the delimiter is not one character that can stand between entries.

    Examples
    --------
    >>> Dialect("tab", "L1")
    Dialect(delimiter='\t', encoding='iso8859-1')
    """

    delimiter: str | None = None
    encoding: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "delimiter", _checked_delimiter(self.delimiter))
        object.__setattr__(self, "encoding", _checked_encoding(self.encoding))

    @property
    def given(self) -> bool:
        """Whether anything is said."""
        return self != Dialect()


def _checked_delimiter(given: object) -> str | None:
    if given is None:
        return None
    if not isinstance(given, str):
        raise InvalidArgumentType(f"delimiter must be a character, got {shown(given)}")
    delimiter = _SPELLED.get(given.lower(), given)
    if len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\r\n\0' or delimiter.isalnum():
        raise InvalidArgument(
            f"delimiter must be one character such as ';', no quote, letter or digit, got {shown(given)}"
        )
    return delimiter


def _checked_encoding(given: object) -> str | None:
    if given is None:
        return None
    if not isinstance(given, str):
        raise InvalidArgumentType(f"encoding must be the name of an encoding, got {shown(given)}")
    try:
        codec = codecs.lookup(given)
    except (LookupError, ValueError) as error:  # ValueError: a null character
        raise InvalidArgument(
            f"encoding must be one that Python knows, such as latin-1, got {shown(given)}"
        ) from error
    # These read two texts as one, or are no encodings of text at all.
    if not codec._is_text_encoding or codec.name.replace("_", "-") in _NO_ENCODING_OF_TABLES:
        raise InvalidArgument(f"encoding must be one of text, such as latin-1, got {shown(given)}")
    return None if codec.name in _UTF_8 else codec.name
