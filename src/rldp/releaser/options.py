"""The options and the result of a release, the same for every client."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from os import PathLike
from typing import TYPE_CHECKING, Any, TypedDict

from rldp._common.checks import Label, shown
from rldp.data.atomic import checked_path
from rldp.errors import InvalidArgument, InvalidArgumentType
from rldp.releaser.keys import Key, key_of

if TYPE_CHECKING:
    from rldp.judge import Verdict

__all__ = ["DRAWN_ONCE", "Asked", "ReleaseOptions", "ReleaseResult", "asked_for"]

DRAWN_ONCE = (
    "Outputs are drawn once for each person: with this key and this table, a person whose secret and value "
    "stay the same keeps the same output. The promise covers only such people. Two different outputs of one "
    "person prove that something changed, another table means another draw, and anyone who has the key can "
    "undo every draw."
)
"""The promise of a release with a key, and its limits."""


@dataclass(frozen=True, kw_only=True)
class ReleaseOptions:
    """The options of a release, for files, frames, Spark and Dask alike.

    Functions with ``options=`` also accept these fields as keyword arguments, but not both.

    Parameters
    ----------
    secret, value : str or sequence of str, optional
        Names of columns; a list if there are several. Needed only if the protocol does not name them.
        ``"#2"`` is the second column, if no column has that name.
    as_secret, as_value : str or sequence of str, optional
        Names that the protocol's columns have in this data.
    as_earlier : str or sequence of str, optional
        For a protocol designed ``after`` others: the columns with their outputs, one for each release and in
        the same order. They are published beside the released columns.
    unknown : "refuse", "value=LABEL" or label
        How values unknown to the protocol are treated: refuse the rows, or replace such a value by the label.
    keep : sequence of str
        Columns to copy beside the released one. From CSV to CSV, a kept column is copied verbatim. In a
        Parquet file it gets a type that fits all of its entries.
    released : str or sequence of str, optional
        Names of the released columns, one for each; by default the names of the value columns.
    id : str, optional
        The column that identifies people. ``keep`` must not name it unless ``allow_identifier`` is set. With
        a key it is read, and must hold texts or whole numbers, each in one row only.
    key : path or bytes, optional
        The path of a secret key, or its bytes, at least 16. Each person's output then stays the same as long
        as secret and value do, in every client. ``rldp key`` writes such a file. See
        ``docs/guide/again-and-beside.md``.
    ledger : path, optional
        A file to which the release appends a line: what was released, when, and under which promise. A second
        release of the same input is then refused, unless it repeats the same draw.
    again : bool
        Whether to release an input that the ledger lists as already released.
    allow_original : bool
        Whether ``keep`` may name the secret or the value column, which is then copied unchanged.
    allow_identifier : bool
        Whether ``keep`` may name a column that identifies people: ``id``, or one that is nearly unique.
    allow_drift : bool
        Whether to release rows that differ from the sample more than the protocol's promise explains.
    allow_absence : bool
        Whether to leave out rows with missing entries even if that reveals more than the protocol's ε, or if
        the secret is not read, so that nobody can tell.
    unproved : bool
        Whether to release from a protocol that does not prove its claim, or has none.
    epsilon_at_most : float, optional
        The largest accepted ε; 10 by default.
    require : str or sequence of str
        The accepted promises, such as ``"credible:0.05"``, ``"pairs"`` or ``"all"``: a name as in ``rldp
        design --privacy`` and the largest accepted α, by default 0.05. One of them must be proved.
    expect_sha256 : str, optional
        The SHA-256 that the protocol file must have.
    delimiter, encoding : str, optional
        Delimiter and encoding of CSV files; see :meth:`rldp.Sample.from_data`.
    show_labels : bool
        Whether error messages may show offending values. They may contain personal data.
    force : bool
        Whether to replace an existing output file.
    """

    secret: str | Sequence[str] | None = None
    value: str | Sequence[str] | None = None
    as_secret: str | Sequence[str] | None = None
    as_value: str | Sequence[str] | None = None
    as_earlier: str | Sequence[str] | None = None
    unknown: Label | None = "refuse"
    keep: Sequence[str] = ()
    released: str | Sequence[str] | None = None
    id: str | None = None
    key: str | PathLike[str] | bytes | Key | None = None
    ledger: str | PathLike[str] | None = None
    again: bool = False
    allow_original: bool = False
    allow_identifier: bool = False
    allow_drift: bool = False
    allow_absence: bool = False
    unproved: bool = False
    epsilon_at_most: float | None = None
    require: str | Sequence[str] = ()
    expect_sha256: str | None = None
    delimiter: str | None = None
    encoding: str | None = None
    show_labels: bool = False
    force: bool = False

    def __post_init__(self) -> None:
        if isinstance(self.keep, str) or not isinstance(self.keep, Sequence):
            raise InvalidArgumentType(f"keep must be a list of names of columns, got {shown(self.keep)}")
        for column in self.keep:
            if not isinstance(column, str):
                raise InvalidArgumentType(f"keep must be the name of a column, got {shown(column)}")
            if self.keep.count(column) > 1:
                raise InvalidArgument(f"keep must name each column once, got {column!r} more than once")
        listed = self.released if isinstance(self.released, list | tuple) else [self.released]
        for name, given in (*(("released", each) for each in listed), ("id", self.id)):
            if given is not None and (not isinstance(given, str) or not given):
                raise InvalidArgumentType(f"{name} must be the name of a column, got {shown(given)}")
        if self.key is not None:
            if self.id is None:
                raise InvalidArgument("id must name the column that identifies people, where a key is given")
            if not isinstance(self.key, str | PathLike):
                object.__setattr__(self, "key", key_of(self.key))  # the repr of this key shows no secret
        if self.ledger is not None:
            checked_path(self.ledger, "ledger")
        elif self.again:
            raise InvalidArgument("again=True must come with a ledger, which records earlier releases")
        object.__setattr__(self, "keep", tuple(self.keep))

    def names_of_released(self, values: Sequence[str]) -> tuple[str, ...]:
        """Return the names of the released columns, given the names of the value columns."""
        if self.released is None:
            return tuple(values)
        names = (self.released,) if isinstance(self.released, str) else tuple(self.released)
        if len(names) != len(values):
            raise InvalidArgument(
                f"released must name {len(values)} column{'s' * (len(values) != 1)}, got {len(names)}"
            )
        if len(set(names)) < len(names):
            raise InvalidArgument("released must name columns differently, got a name twice")
        return names


class Asked(TypedDict, total=False):
    """The fields of :class:`ReleaseOptions` as keyword arguments."""

    secret: str | Sequence[str] | None
    value: str | Sequence[str] | None
    as_secret: str | Sequence[str] | None
    as_value: str | Sequence[str] | None
    as_earlier: str | Sequence[str] | None
    unknown: Label | None
    keep: Sequence[str]
    released: str | Sequence[str] | None
    id: str | None
    key: str | PathLike[str] | bytes | Key | None
    ledger: str | PathLike[str] | None
    again: bool
    allow_original: bool
    allow_identifier: bool
    allow_drift: bool
    allow_absence: bool
    unproved: bool
    epsilon_at_most: float | None
    require: str | Sequence[str]
    expect_sha256: str | None
    delimiter: str | None
    encoding: str | None
    show_labels: bool
    force: bool


def asked_for(options: ReleaseOptions | None, keywords: Asked) -> ReleaseOptions:
    """Return the options, given as one value or as keyword arguments.

    Raises
    ------
    InvalidArgument, InvalidArgumentType
        If both are given, or a keyword is not an option.
    """
    if options is None:
        unknown = [name for name in keywords if name not in ReleaseOptions.__dataclass_fields__]
        if unknown:
            raise InvalidArgumentType(f"options must be those of rldp.ReleaseOptions, got {unknown[0]!r}")
        return ReleaseOptions(**keywords)
    if not isinstance(options, ReleaseOptions):
        raise InvalidArgumentType(f"options must be an rldp.ReleaseOptions, got {shown(options)}")
    if keywords:
        first = next(iter(keywords))
        raise InvalidArgument(f"options must not be given together with single ones, got {first!r} as well")
    return options


@dataclass(frozen=True, eq=False)
class ReleaseResult:
    """The result of releasing a file.

    For compatibility with earlier versions, which returned the number of rows, it equals that number and
    converts to it with ``int()``.

    Attributes
    ----------
    rows : int
        Number of released rows.
    skipped : int
        Number of rows left out because of a missing entry.
    released : tuple of str
        Names of the released columns.
    kept : tuple of str
        Names of the columns published beside the released ones.
    verdict : Verdict or None
        The verdict on the protocol; None for a protocol in memory without a claim.
    sha256 : str or None
        SHA-256 of the protocol file, if there is one.
    leakage : float or None
        ε* under the distribution of the released rows; None if the protocol claims nothing.
    absence : float or None
        The ε of being left out, among these rows: it bounds what a missing row reveals. None if no row was
        left out.
    drift : str or None
        How the rows differ from the protocol's sample, if ``allow_drift=True`` released rows that do.
    known : tuple of str
        The given columns that readers are assumed to know; ε does not bound what these tell.
    key : str or None
        The fingerprint of the key, which reveals nothing about it, if outputs are drawn once per person. The
        promise then covers people whose secret and value stay the same, however often they are released. None
        if outputs are drawn anew.
    """

    rows: int
    skipped: int
    released: tuple[str, ...]
    kept: tuple[str, ...]
    verdict: Verdict | None = field(repr=False)
    sha256: str | None
    leakage: float | None = None
    absence: float | None = None
    drift: str | None = None
    known: tuple[str, ...] = ()
    key: str | None = None

    @property
    def covers(self) -> str:
        """What the protocol's ε covers, in words: these columns alone, released once."""
        about = [name for name in self.released if name not in self.known]
        columns = "these columns together" if len(about) > 1 else "this column"
        if self.known:
            readers = f"to readers who know {' and '.join(map(repr, self.known))}"
            columns = f"{' and '.join(map(repr, about))}, {readers},"
        return (
            f"ε covers {columns} alone, released once{self.outside}. Another column of the same people, "
            "released with another protocol, can together with it reveal far more than the sum of both ε: "
            "name several columns in one design instead."
        )

    @property
    def outside(self) -> str:
        """What is published beside and not covered by ε, to go on a sentence; empty if nothing is."""
        if not self.kept:
            return ""
        as_they_are = "they are" if len(self.kept) > 1 else "it is"
        return f", and not {' and '.join(map(repr, self.kept))}, kept as {as_they_are}"

    def __int__(self) -> int:
        return self.rows

    __index__ = __int__

    def __eq__(self, other: Any) -> bool:
        if isinstance(other, ReleaseResult):
            return vars(self) == vars(other)
        return bool(self.rows == other) if isinstance(other, int) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.rows)
