"""What the text of a CSV file stands for, which has no type: numbers and booleans, where that loses nothing.

Nothing is lost where a number has no leading zeros, no sign +, no exponent and at most 15 digits, which a
float keeps. The patterns are those of Python and of Arrow.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable
from typing import Literal, TypeAlias

from rldp._common.checks import Label

__all__ = [
    "DECIMAL",
    "INTEGER",
    "NUMBER",
    "TRUTH",
    "TRUTHS",
    "WHOLE",
    "Kind",
    "labels_of_texts",
    "labels_read_as",
    "number_of_text",
    "whole_of_text",
]

Kind: TypeAlias = Literal["text", "number"]
"""What the entries of a column of a CSV file are taken for, where they are not read as what loses nothing."""

INTEGER = (r"(?:0|-?[1-9][0-9]{0,14})",)
DECIMAL = (r"(?:0|-?[1-9][0-9]*|-?(?:0|[1-9][0-9]*)\.[0-9]+)", r"-?(?:[0-9]\.?){1,15}")
TRUTH = (r"(?:true|false|True|False|TRUE|FALSE)",)
"""Patterns that all of a text must match to be read so without loss."""

WHOLE = re.compile(r"[ \t]*(?:-?[0-9]{1,100}|0[xX][0-9a-fA-F]{1,15})[ \t]*", re.ASCII)
NUMBER = re.compile(r"[ \t]*[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?[ \t]*", re.ASCII)
"""All that can be read as a number."""

TRUTHS = dict.fromkeys(("true", "True", "TRUE", "1"), True) | dict.fromkeys(
    ("false", "False", "FALSE", "0"), False
)


def whole_of_text(text: str) -> int | None:
    """The integer that a text stands for, if it does."""
    return int(text, 16 if "x" in text.lower() else 10) if WHOLE.fullmatch(text) else None


def number_of_text(text: str | None) -> float | None:
    """The finite number that a text stands for, if it does, as a float."""
    if text is None:
        return None
    number = float(text) if NUMBER.fullmatch(text) else whole_of_text(text)
    return None if number is None or not math.isfinite(number) else float(number)


def labels_of_texts(texts: Collection[str]) -> Iterable[Label]:
    """What distinct texts stand for: numbers or booleans where that loses nothing, and the texts if not."""
    for patterns, read in _WITHOUT_LOSS:
        bare = [text.strip(" \t") for text in texts]
        if all(re.fullmatch(pattern, text) for text in bare for pattern in patterns):
            labels: list[Label] = [read(text) for text in bare]
            if len(set(labels)) == len(texts):
                return labels
    return texts


_WITHOUT_LOSS: tuple[tuple[tuple[str, ...], Callable[[str], Label]], ...] = (
    (INTEGER, int),
    (DECIMAL, float),
    (TRUTH, lambda text: text.lower() == "true"),
)


def labels_read_as(kind: Kind | None, texts: Collection[str]) -> Iterable[Label]:
    """What distinct texts stand for, if they are of this kind; those that are not stand for nothing."""
    if kind == "text":
        return texts
    if kind is None:
        return labels_of_texts(texts)
    numbers = {text: number for text in texts if (number := number_of_text(text)) is not None}
    wholes = [whole_of_text(text) for text in numbers]
    return numbers.values() if None in wholes else [whole for whole in wholes if whole is not None]
