"""Releases in a ledger: which are about the same people, which repeat a draw, and what they add up to.

Two draws for the same people tell more than one. An input in the ledger is therefore released again only if
that repeats the same outputs, if the protocol was designed after the earlier ones, or if the user insists.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rldp.errors import DataError

__all__ = ["Line", "Total", "require_no_second_draw", "totals"]


@dataclass(frozen=True, kw_only=True)
class Line:
    """A release.

    Attributes
    ----------
    when : str
        Time in UTC.
    input : str
        SHA-256 of the file, or of the columns of a frame that were read, without identifiers.
    output : str or None
        SHA-256 of the output; None for a frame.
    protocol : str
        SHA-256 of its file or, for a protocol in memory, of the file it would have.
    table : str
        :attr:`rldp.Protocol.table_sha256`.
    epsilon : float or None
        The proved ε; None if nothing is proved.
    promise : str
        The promise in words.
    privacy : str or None
        The name of the promise's set; its level is ``alpha``.
    secret : tuple of str
        Names of the secret's columns.
    secrets : str
        SHA-256 of the secret's labels.
    columns : tuple of str
        The protocol's names for the value columns.
    read : tuple of str
        The columns of the data that were read: secret, value and identifier.
    unknown : str
        How values unknown to the protocol were treated.
    released, kept : tuple of str
        Columns of the output.
    rows, skipped : int
    known : tuple of str
        Given columns that readers are assumed to know; ε does not bound what these tell.
    key : str or None
        Fingerprint of the key; None where every draw is new.
    secret_rows : str or None
        SHA-256 of the secret's labels in the order of the rows; None if they are all the same, or unread.
    read_rows : tuple of str
        The same of each column that was read, and whose entries are not all the same.
    people, people_with_secrets : str or None
        SHA-256 of the identifiers, in any order, alone and each with its secret; None without a key.
    drawn, drawn_rows : tuple of str
        Digests of the table of each released column, as a later protocol has it in its file, and of what was
        drawn from it, in the order of the rows. ``drawn`` is empty where one table is for several columns.
    after, after_rows : tuple of str
        The same of the earlier releases after which the protocol was designed: of their tables in its file,
        and of what the rows held as their outputs.
    again : bool
        Whether the user insisted on another release.
    """

    when: str
    input: str
    output: str | None
    protocol: str
    table: str
    epsilon: float | None
    promise: str
    privacy: str | None
    alpha: float | None
    secret: tuple[str, ...]
    secrets: str
    columns: tuple[str, ...]
    read: tuple[str, ...]
    unknown: str
    released: tuple[str, ...]
    kept: tuple[str, ...]
    rows: int
    skipped: int
    known: tuple[str, ...]
    key: str | None
    secret_rows: str | None
    read_rows: tuple[str, ...]
    people: str | None
    people_with_secrets: str | None
    drawn: tuple[str, ...]
    drawn_rows: tuple[str, ...]
    after: tuple[str, ...]
    after_rows: tuple[str, ...]
    again: bool

    def is_about(self, other: Line) -> str | None:
        """Return what shows that an earlier release was about the same people, or None."""
        if self.input == other.input:
            return "this input"
        if self.people is not None and self.people == other.people:
            return "the same people, by their identifiers"
        if self.is_in_order_of(other):
            return "what seem to be the same people, as a column has the same entries in the same order"
        return None

    def is_in_order_of(self, other: Line) -> bool:
        """Return whether a column shows that the rows are those of an earlier release, in the same order."""
        same_secrets = self.secret_rows == other.secret_rows is not None
        return same_secrets or bool({*self.read_rows} & {*other.read_rows, *other.drawn_rows})

    def draws_as(self, other: Line) -> bool:
        """Return whether both give each person of one input the same output: same key, table and columns.

        Where rows are in the same order, the earlier outputs that they brought must be the same, too.
        """
        names = ("key", "people_with_secrets", "table", "columns", "read", "unknown")
        if self.key is None or any(getattr(self, name) != getattr(other, name) for name in names):
            return False
        return not self.is_in_order_of(other) or self.after_rows == other.after_rows

    def follows(self, others: Sequence[Line]) -> bool:
        """Return whether its protocol was designed after all these draws, so that its ε is the total.

        What counts is the tables in the protocol's file, not the digests of files that it names. Where rows
        are in the same order, the outputs that they brought must be the ones that were drawn.
        """
        if not all(other.drawn and self.has_secret_of(other) for other in others):
            return False
        tables = Counter(table for other in others for table in other.drawn)
        in_order = filter(self.is_in_order_of, others)
        pairs = Counter(pair for each in in_order for pair in zip(each.drawn, each.drawn_rows, strict=True))
        return tables <= Counter(self.after) and pairs <= Counter(
            zip(self.after, self.after_rows, strict=True)
        )

    def has_secret_of(self, other: Line) -> bool:
        """Return whether both protect the same secret, as far as the ledger can tell."""
        if (self.secret, self.secrets) != (other.secret, other.secrets):
            return False
        rows = self.secret_rows, other.secret_rows
        known = self.people_with_secrets
        return (
            None in rows or rows[0] == rows[1] or (known is not None and known == other.people_with_secrets)
        )


def require_no_second_draw(earlier: Sequence[Line], line: Line, path: Path) -> None:
    """Refuse a line about people of earlier ones in the ledger at ``path``, if it tells more than they do."""
    before = _draws([earlier[i] for i in _groups([*earlier, line])[-1] if i < len(earlier)])
    follows = line.follows(before)
    if not before or any(map(line.draws_as, before)) or (follows and line.epsilon is not None):
        return
    last = next((each for each in reversed(before) if line.is_about(each)), before[-1])
    about = line.is_about(last) or "what seem to be the same people"
    if follows:
        how = "nothing is proved of this one"
    elif line.after:
        how = "this one was not designed after all earlier draws, or takes other outputs than theirs"
    elif line.key is None:
        how = "this one has no key"
    elif last.key != line.key:
        how = f"that one has {'no key' if last.key is None else 'another key'}"
    elif (last.table, last.columns, last.read) == (line.table, line.columns, line.read):
        how = "the people or their secrets are not all the same"
    else:
        how = "it was from another table or for other columns"
    raise DataError(
        f"data must not be drawn twice, but ledger {str(path)!r} has a release of {about}, of {last.when}, "
        f"and {how}: two draws of a person reveal more than one, and no total is proved. With a key, each "
        "person is drawn once, a design after the first has a proved total, and again=True releases anyway"
    )


def _groups(lines: Sequence[Line]) -> list[list[int]]:
    """Group lines about the same people, by their numbers from 0; the last line is in the last group."""
    groups: list[list[int]] = []
    for i, line in enumerate(lines):
        same = [group for group in groups if any(line.is_about(lines[j]) for j in group)]
        groups = [group for group in groups if group not in same]
        groups.append(sorted([i, *(j for group in same for j in group)]))
    return groups


def _draws(lines: Sequence[Line]) -> list[Line]:
    """Return one line for each draw; releases of the same draw count once."""
    draws: list[Line] = []
    for line in lines:
        if not any(map(line.draws_as, draws)):
            draws.append(line)
    return draws


@dataclass(frozen=True)
class Total:
    """The total of all releases of the same people.

    Attributes
    ----------
    input : str
        The input of the first of them.
    releases : tuple of int
        Their line numbers in the ledger, from 1.
    draws : int
        Number of draws: releases with one key and one table are the same draw.
    epsilon : float or None
        The total ε; None if none is proved.
    reason : str
        Explains the total.
    """

    input: str
    releases: tuple[int, ...]
    draws: int
    epsilon: float | None
    reason: str


def totals(lines: Sequence[Line]) -> tuple[Total, ...]:
    """Total the releases of the same people, in the order of their first release."""
    sums = []
    for group in sorted(_groups(lines)):
        each = [lines[i] for i in group]
        draws = _draws(each)
        epsilon, reason = _together(draws)
        if len(draws) == 1 and len({line.input for line in each}) > 1:
            reason = "one draw of everybody whose secret and value stay"
        if epsilon is not None:
            reason += _limits(each)
        sums.append(Total(each[0].input, tuple(i + 1 for i in group), len(draws), epsilon, reason))
    return tuple(sums)


def _limits(lines: Sequence[Line]) -> str:
    """Whom and what a total does not cover."""
    known, kept = (
        " and ".join(dict.fromkeys(repr(name) for line in lines for name in getattr(line, names)))
        for names in ("known", "kept")
    )
    readers = f", to readers who know {known}" if known else ""
    return readers + (f"; it does not cover {kept}, kept beside the released columns" if kept else "")


def _together(draws: Sequence[Line]) -> tuple[float | None, str]:
    epsilons = [line.epsilon for line in draws]
    if any(epsilon is None for epsilon in epsilons):
        return None, "no total is proved: one of the protocols proves no finite ε for all pairs of secrets"
    if len(draws) == 1:
        return epsilons[0], "one draw"
    *before, last = draws
    if last.follows(before):
        return last.epsilon, "the last protocol was designed after the others, and its ε is the total"
    total = sum(epsilon for epsilon in epsilons if epsilon is not None)
    same_secret = all(last.has_secret_of(line) for line in before)
    if same_secret and all(line.privacy == "all" for line in draws):
        return total, "each holds for every distribution, so they add"
    return None, f"no total is proved; designs for all distributions would add to {total:.6g}"
