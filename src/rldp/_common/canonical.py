"""Canonical bytes: one encoding for each item, the same in every client.

An **item** is a text, a number, bytes, nothing, or a list of items. ``<n>`` stands for a count in decimal
digits, without leading zeros:

=============  ====================================================================================
text           ``s<n>:``, then its UTF-8, n bytes
whole number   ``i``, its decimal digits, after ``-`` if it is negative, then ``;``
other number   ``f``, then the 8 bytes of its IEEE 754 double, most significant byte first
bytes          ``b<n>:``, then the n bytes
nothing        ``n``
list           ``l<n>:``, then the encodings of its n items, one after the other
=============  ====================================================================================

A number is whole if its value is: 1.0 is the whole number 1, as are true and 1, and −0.0 and false are 0. So
labels that are equal (``docs/file-format.md``) have the same encoding. The encoding is injective otherwise:
no item's encoding begins another's, and two items that differ have different encodings.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Sequence
from typing import TypeAlias

__all__ = ["Item", "digest_of", "encoded", "encoded_text", "list_of"]

Item: TypeAlias = "str | int | float | bool | bytes | Sequence[Item] | None"


def encoded(item: Item) -> bytes:
    r"""Return the encoding of an item.

    Examples
    --------
    >>> encoded(["größe", -12, 0.5, 2.0, True, None, b"ab"])
    b'l7:s7:gr\xc3\xb6\xc3\x9fei-12;f?\xe0\x00\x00\x00\x00\x00\x00i2;i1;nb2:ab'
    """
    match item:
        case None:
            return b"n"
        case str():
            return encoded_text(item)
        case bytes():
            return b"b%d:%b" % (len(item), item)
        case float() if not item.is_integer():
            return b"f" + struct.pack(">d", item)
        case int() | float():
            return b"i%d;" % int(item)
    return list_of([encoded(each) for each in item])


def encoded_text(text: str) -> bytes:
    """Return the encoding of a text."""
    content = text.encode("utf-8")
    return b"s%d:%b" % (len(content), content)


def list_of(encodings: Sequence[bytes]) -> bytes:
    """Return the encoding of a list whose items have these encodings."""
    return b"l%d:%b" % (len(encodings), b"".join(encodings))


def digest_of(item: Item) -> bytes:
    """Return SHA-256 of the encoding of an item."""
    return hashlib.sha256(encoded(item)).digest()
