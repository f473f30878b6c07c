"""Convert entries to integer codes, and word the error about entries that are not labels. NumPy only.

The code of an entry is its position in an :class:`Alphabet`, which is given, or found in the entries and
sorted. Two labels are the same if Python calls them equal: 1 is 1.0, and neither is "1". Only the entries of
a CSV file, which have no type, are read as the type of the labels (:meth:`Alphabet.of_texts`). An entry that
is not a label has the code −1, and :func:`faults` says why.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from itertools import repeat
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rldp._common.checks import Label, needed_of_label, shown
from rldp.data.meaning import TRUTHS, number_of_text, whole_of_text
from rldp.data.reading import MISSING
from rldp.errors import DataError

__all__ = [
    "HOW_TO_SHOW",
    "MOST_LABELS",
    "NOT_A_LABEL",
    "Alphabet",
    "Codes",
    "Encoded",
    "Faults",
    "TooManyNumbers",
    "count_pairs",
    "faults",
    "is_label",
]

Codes: TypeAlias = NDArray[np.int32]
NOT_A_LABEL = -1

HOW_TO_SHOW = "show_labels=True shows it"
MOST_LABELS = 1000  # that are found in a column; of a given alphabet there may be more
_BLOCK = 2**15  # integers looked up at a time: they fit in a processor's cache
_TOO_LARGE = 2**53  # from here on, a float does not tell every integer from the next
_LABEL_KINDS = (str, int, float, np.bool_, np.integer, np.floating)
_NO_LABEL_KINDS = (np.timedelta64, np.longdouble)


class TooManyNumbers(DataError):
    """Too many labels that are numbers, or texts that stand for numbers, which bins could make fewer."""


def is_label(kind: type) -> bool:
    """Return whether entries of this type can be labels."""
    return issubclass(kind, _LABEL_KINDS) and not issubclass(kind, _NO_LABEL_KINDS)


def _may_be_label(item: object) -> bool:
    parts = item if isinstance(item, tuple) else (item,)
    return all(is_label(type(part)) for part in parts)


@dataclass(frozen=True, init=False, eq=False)
class Alphabet:
    """The labels that a column may hold, in order.

    Examples
    --------
    >>> alphabet = Alphabet([10, 2.5, "a"])
    >>> alphabet.of_objects(["a", 10.0, None, "10"])
    array([ 2,  0, -1, -1], dtype=int32)
    >>> alphabet.of_texts(["a", "10.0", "ten"])
    array([ 2,  0, -1], dtype=int32)
    """

    labels: tuple[Label, ...]
    index: dict[Label, int]

    def __init__(self, labels: Iterable[Label]) -> None:
        object.__setattr__(self, "labels", tuple(labels))
        object.__setattr__(self, "index", {label: code for code, label in enumerate(self.labels)})

    @classmethod
    def inferred(cls, name: str, entries: Iterable[object]) -> Alphabet:
        """Return the distinct labels among ``entries``: numbers in order, then texts in order.

        Of equal labels, such as 1 and 1.0, the first is taken. ``name`` is the name of the entries in
        messages.

        Raises
        ------
        DataError
            If there are more than :data:`MOST_LABELS`.

        Examples
        --------
        >>> Alphabet.inferred("values", ["b", 10, None, 9.5, "b", "a"]).labels
        (9.5, 10, 'a', 'b')
        """
        plain = (entry.item() if isinstance(entry, np.generic) else entry for entry in entries)
        labels: dict[Any, None] = dict.fromkeys(item for item in plain if needed_of_label(item) is None)
        if len(labels) > MOST_LABELS:
            are_numbers = all(
                not isinstance(each, str) or number_of_text(each) is not None for each in labels
            )
            kind = TooManyNumbers if are_numbers else DataError
            raise kind(
                f"{name} must have at most {MOST_LABELS} distinct labels, got {len(labels)}; "
                "group or round them first"
            )
        return cls(sorted(labels, key=lambda label: (isinstance(label, str), label)))

    def and_label(self, label: Label) -> Alphabet:
        """Return these labels and one more."""
        return Alphabet((*self.labels, label))

    @cached_property
    def _kinds(self) -> set[type]:
        return set(map(type, self.labels))

    def of_objects(self, items: Sequence[object]) -> Codes:
        """Return the codes of Python objects."""
        if self._places is not None and set(map(type, items)) == {int}:
            with suppress(OverflowError):  # NumPy's integers have 64 bits
                codes = self.of_numbers(np.array(items, dtype=np.int64))
                if codes is not None:
                    return codes
        texts_only = all(isinstance(label, str) for label in self.labels)
        try:
            if texts_only or all(map(is_label, set(map(type, items)))):
                return self._looked_up(items)
        except TypeError:  # an entry that cannot be looked up, such as a list
            pass
        return self._looked_up([item if _may_be_label(item) else None for item in items])

    def _looked_up(self, items: Sequence[Any]) -> Codes:
        numbers = map(self.index.get, items, repeat(NOT_A_LABEL))
        codes = np.fromiter(numbers, dtype=np.int32, count=len(items))
        if self._large:
            # A float of this size may have been the next integer before it was rounded.
            for place in np.flatnonzero(np.isin(codes, self._large)).tolist():
                if isinstance(items[place], float | np.floating):
                    codes[place] = NOT_A_LABEL
        return codes

    @cached_property
    def _large(self) -> list[int]:
        """Return the codes of integers so large that floats cannot tell them apart."""
        return [
            code
            for code, label in enumerate(self.labels)
            if isinstance(label, int) and abs(label) >= _TOO_LARGE
        ]

    @cached_property
    def _places(self) -> tuple[int, Codes] | None:
        """Return the smallest label, and the codes of the integers from there on; None for other labels."""
        if self._kinds != {int}:
            return None
        numbers = np.array(self.labels, dtype=object)
        low, high = int(numbers.min()), int(numbers.max())
        if high - low >= _BLOCK or max(-low, high) >= _TOO_LARGE:
            return None
        codes = np.full(high - low + 2, NOT_A_LABEL, dtype=np.int32)  # the last is for all other integers
        codes[(numbers - low).astype(np.intp)] = np.arange(len(numbers))
        return low, codes

    def of_numbers(self, numbers: NDArray[Any]) -> Codes | None:
        """Return the codes of numbers, a block at a time; None if it is as quick to look them up.

        For integers, if all labels are integers of a small range, it takes a third of that time.
        """
        if self._places is None or not np.can_cast(numbers.dtype, np.int64):
            return None
        low, table = self._places
        codes = np.empty(len(numbers), dtype=np.int32)
        for start in range(0, len(numbers), _BLOCK):
            places = numbers[start : start + _BLOCK].astype(np.int64)
            places -= low  # a difference that overflows is out of range, too
            unsigned = places.view(np.uint64)
            np.minimum(unsigned, np.uint64(len(table) - 1), out=unsigned)
            table.take(places, out=codes[start : start + _BLOCK], mode="clip")
        return codes

    def of_texts(self, texts: Sequence[str | None]) -> Codes:
        """Return the codes of entries of a CSV file, each read as the type of the labels.

        An entry is the text itself if that is a label; else the number it stands for, if some labels are
        numbers; else the boolean, if some are booleans. The rest of the column does not matter.
        """
        return np.fromiter(map(self._of_text, texts), dtype=np.int32, count=len(texts))

    def _of_text(self, text: str | None) -> int:
        if text is None:
            return NOT_A_LABEL
        code = self.index.get(text)
        return self._of_reading(text) if code is None else code

    def _of_reading(self, text: str) -> int:
        """Return the code of the number or boolean that ``text`` stands for."""
        code = None
        if self._kinds & {int, float}:
            whole, number = whole_of_text(text), number_of_text(text)
            if whole is not None:
                code = self.index.get(whole)
            if code is None and number is not None:
                code = self.index.get(number)
                if code is not None and whole is not None and not isinstance(self.labels[code], float):
                    code = None  # a large integer that only rounding made equal
        if code is None and bool in self._kinds and text in TRUTHS:
            code = self.index.get(TRUTHS[text])
        return NOT_A_LABEL if code is None else code

    def require_readable(self, name: str) -> None:
        """Refuse an alphabet in which a text stands for two labels; ``name``: the column of a CSV file."""
        for label in self.labels:
            other = self._of_reading(label) if isinstance(label, str) else NOT_A_LABEL
            if other != NOT_A_LABEL:
                raise DataError(
                    f"{name} must have labels that differ in a CSV file, got a number and its text, in "
                    f"places {other + 1} and {self.index[label] + 1}"
                )


# Columns as codes


@dataclass(frozen=True, eq=False)
class Encoded:
    """A column as codes, −1 where an entry is not a label of the alphabet.

    Attributes
    ----------
    name : str
        Name of the column in messages.
    codes : int32 array (n,)
    alphabet : Alphabet
    entries : callable
        Array of row numbers, from 0 → the entries of these rows.
    needed : str, optional
        What its entries must be, in words, if they are not labels; messages then never show one.
    """

    name: str
    codes: Codes
    alphabet: Alphabet
    entries: Callable[[NDArray[np.intp]], Sequence[object]]
    needed: str | None = None

    @property
    def labels(self) -> tuple[Label, ...]:
        """The labels of the alphabet."""
        return self.alphabet.labels

    def __len__(self) -> int:
        return len(self.codes)

    def missing(self) -> NDArray[np.bool_]:
        """Whether an entry is missing: (n,)."""
        mask = np.zeros(len(self), dtype=np.bool_)
        doubtful = np.flatnonzero(self.codes == NOT_A_LABEL)
        mask[doubtful] = [_is_missing(entry) for entry in self.entries(doubtful)]
        return mask


def count_pairs(first: Codes, second: Codes, shape: tuple[int, int]) -> NDArray[np.int64]:
    """Count how often each code of one column occurs with each of the other."""
    pairs = first.astype(np.int64) * shape[1] + second
    return np.bincount(pairs, minlength=shape[0] * shape[1]).reshape(shape)


# Entries that are not labels


@dataclass(frozen=True)
class Faults:
    """Rows of a table that cannot be used.

    Attributes
    ----------
    rows : int
        Number of rows that were checked.
    at_fault : int
        Number of rows with an entry that is not a label.
    first : str or None
        The problem in the first of these rows.
    show_labels : bool
        Whether the message may show the entry, which may be personal data, and some of the labels.
    """

    rows: int = 0
    at_fault: int = 0
    first: str | None = None
    show_labels: bool = field(default=False, compare=False)

    def __add__(self, other: Faults) -> Faults:
        first = self.first or other.first
        return Faults(self.rows + other.rows, self.at_fault + other.at_fault, first, self.show_labels)

    def and_in(self, *columns: Encoded, among: NDArray[np.bool_] | None = None) -> Faults:
        """Add the faults of the rows that follow; of a subset, if ``among`` is a mask (n,)."""
        at_fault = _at_fault(columns, among)
        first = None
        if self.first is None and at_fault.any():
            first = _reason_of(columns, int(np.argmax(at_fault)), self.rows, self.show_labels)
        return self + Faults(len(columns[0]), int(np.count_nonzero(at_fault)), first)

    def refuse(self, purpose: str = "counted", hint: str = "", *, advice: str = "") -> None:
        """Raise an error about these rows, if there are any.

        ``purpose`` says what the rows cannot be used for, ``hint`` what could be done, and ``advice`` how to
        show the entry.
        """
        if self.first is not None:
            more = f"; {advice}" if advice and self.first.endswith(_HIDDEN) else ""
            raise DataError(
                f"{self.first}; {self.at_fault} of {self.rows} rows cannot be {purpose}{hint}{more}"
            )


def faults(*columns: Encoded, show_labels: bool = False) -> Faults:
    """Return the rows in which an entry of the columns, all of one length, is not a label."""
    return Faults(show_labels=show_labels).and_in(*columns)


def _at_fault(columns: Sequence[Encoded], among: NDArray[np.bool_] | None) -> NDArray[np.bool_]:
    """Return which rows have an entry that is not a label; an empty array may stand for none."""
    if not len(columns[0]) or all(column.codes.min() >= 0 for column in columns):
        return np.zeros(0, dtype=np.bool_)
    faulty: NDArray[np.bool_] = np.logical_or.reduce([column.codes < 0 for column in columns])
    return faulty if among is None else faulty & among


def _reason_of(columns: Sequence[Encoded], row: int, before: int, show_labels: bool) -> str:
    """Describe the problem in an unusable row; ``before`` is the number of earlier rows."""
    column, number = next(column for column in columns if column.codes[row] < 0), before + row + 1
    (entry,) = column.entries(np.array([row]))
    if _is_missing(entry):
        text = (
            f" (the output {MISSING!r} must be that text, as in a CSV file)"
            if MISSING in column.labels
            else ""
        )
        return f"{column.name} must hold no nulls{text}, but row {number} has no value"
    if column.needed is not None:
        kind = "" if isinstance(entry, str) else f" of type {type(entry).__name__}"
        return f"{column.name} must hold {column.needed}, but row {number} has another entry{kind}"
    plain = entry.item() if isinstance(entry, np.generic) and is_label(type(entry)) else entry
    parts = plain if isinstance(plain, tuple) and _may_be_label(plain) else (plain,)
    needed = next(filter(None, map(needed_of_label, parts)), "known labels")
    if not _may_be_label(plain):
        return (
            f"{column.name} must hold {needed}, but row {number} has an entry of type {type(plain).__name__}"
        )
    if not show_labels:  # an entry is personal data, and messages end in logs
        return f"{column.name} must hold {needed}, but row {number} {_HIDDEN}"
    known = f" ({_some(column.labels)})" if needed == "known labels" else ""
    return f"{column.name} must hold {needed}{known}, but row {number} has {shown(plain)}"


_HIDDEN = "has another entry"


def _some(labels: Sequence[Label]) -> str:
    return ", ".join(shown(label, 24) for label in labels[:3]) + (", …" if len(labels) > 3 else "")


def _is_missing(entry: object) -> bool:
    if entry is None or type(entry).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(entry, float | np.floating) and bool(np.isnan(entry))
