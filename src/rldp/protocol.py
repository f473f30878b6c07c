"""The protocol: a table P(Y | S, U) with labels and its guarantee."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar, Unpack, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rldp._common import html as _html
from rldp._common.canonical import digest_of
from rldp._common.checks import Label, counted, labels, number_array, shown
from rldp._common.levels import largest, level_words, smallest
from rldp.data.reading import Reading
from rldp.data.wanted import reading_of_new_data
from rldp.errors import InvalidArgument, InvalidArgumentType
from rldp.sample import Sample
from rldp.sets import Nominal, PowerDivergence, UncertaintySet, checked_set
from rldp.theory.arrays import DENOMINATOR, numerators, on_grid
from rldp.theory.sampling import Randomness, RowWords, Sampler, words_of_stage

if TYPE_CHECKING:
    from rldp.releaser.options import Asked, ReleaseOptions

__all__ = ["Certificate", "Guarantee", "Protocol", "require_labels", "require_protocol", "table_bytes"]

_Column = TypeVar("_Column")
_Frame = TypeVar("_Frame")


class _How(TypedDict, total=False):
    """How columns are released, beside what they hold."""

    ids: Any
    key: str | PathLike[str] | bytes | None
    seed: int | None


class _EqualByFields:
    """A dataclass whose instances are equal if their fields are, arrays entry by entry."""

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, type(self)):
            return NotImplemented
        for each in fields(self):  # type: ignore[arg-type]
            one, another = getattr(self, each.name), getattr(other, each.name)
            arrays = isinstance(one, np.ndarray) and isinstance(another, np.ndarray)
            if not (np.array_equal(one, another) if arrays else one == another):
                return False
        return True


@dataclass(frozen=True, eq=False)
class Certificate(_EqualByFields):
    """Numbers that prove privacy over the whole set, the objective and the lower bound.

    Pairs of secrets are numbered as in :func:`rldp.theory.model.ordered_pairs`.

    Attributes
    ----------
    eta : array (Y, T, 2), or None for nominal privacy
        Scalars that prove every privacy constraint.
    eta_utility : float, or None for nominal utility
        Scalar that proves the objective.
    multipliers : array (Y, T), or None
        Weights z of the lower bound. None if the bound follows because only protocols that ignore secret and
        value are private (ε = 0 over a set).
    members : array (Y, T, 2, U), or None
        Members of the projected privacy sets, weighted by the multipliers. None stands for the estimated
        conditionals, which lie in every set.
    distribution : array (|S|, |U|), or None
        Member of the utility set used in the lower bound; None stands for the estimate.
    known : array (Y, |S|, |U|), or None
        Multipliers γ of the constraint for readers who know the value, in the lower bound. None stands for
        zeros and, at κ = 0, for the best multipliers.
    """

    eta: NDArray[np.float64] | None
    eta_utility: float | None
    multipliers: NDArray[np.float64] | None
    members: NDArray[np.float64] | None
    distribution: NDArray[np.float64] | None
    known: NDArray[np.float64] | None = None

    def __post_init__(self) -> None:
        for array in (self.eta, self.multipliers, self.members, self.distribution, self.known):
            if array is not None:
                array.setflags(write=False)


@dataclass(frozen=True, eq=False)
class Guarantee(_EqualByFields):
    """The claim of a protocol, the sample it refers to, and the proof.

    Attributes
    ----------
    epsilon : float
        The largest level, if pairs of secrets have levels of their own; ∞ if a pair is not protected.
    sample : Sample
        The public sample that the sets are built around.
    privacy, utility : UncertaintySet
    distortion : array (|U|, |Y|)
    objective, lower_bound : float
        See :class:`rldp.Design`.
    certificate : Certificate
    epsilon_known : float
        κ: bounds what an output reveals about the secret to a reader who knows the value; ∞ claims nothing.
    levels : array (|S|, |S|), or None
        ε of each ordered pair of secrets, ∞ if the pair is not protected, 0 on the diagonal; None if all
        pairs share one level.
    """

    epsilon: float
    sample: Sample
    privacy: UncertaintySet
    utility: UncertaintySet
    distortion: NDArray[np.float64]
    objective: float
    lower_bound: float
    certificate: Certificate
    epsilon_known: float = math.inf
    levels: NDArray[np.float64] | None = None

    def __post_init__(self) -> None:
        checked_set("privacy", self.privacy)
        checked_set("utility", self.utility)
        if self.levels is not None:
            vars(self).update(levels=_checked_levels(self.levels, self.epsilon))

    def __repr__(self) -> str:
        most = f"expected distortion at most {self.objective!r} for {self.utility_scope}"
        return f"<Guarantee: {self.promise}; {most}>"

    @property
    def utility_scope(self) -> str:
        """The distributions that the objective holds for, in words."""
        return self.utility.scope

    @property
    def promise(self) -> str:
        """The claim in words: ε, and the distributions it holds for."""
        if not self.protects:
            return "nothing claimed (ε = ∞)"
        kappa = self.epsilon_known
        known = "" if math.isinf(kappa) else f"; κ = {kappa!r} for readers who know the value"
        return f"{level_words(self.epsilon, self.levels)} for {self.privacy.scope}{self._except_for()}{known}"

    @property
    def least_level(self) -> float:
        """The smallest ε of any pair of secrets."""
        return self.epsilon if self.levels is None else smallest(self.levels)

    @property
    def protects(self) -> bool:
        """Whether any pair of secrets has a finite level."""
        return math.isfinite(self.least_level)

    def _except_for(self) -> str:
        """Name the secrets without data, about which the estimate says nothing."""
        counts, privacy = self.sample.counts, self.privacy
        if not isinstance(privacy, Nominal | PowerDivergence) or counts.any(axis=1).all():
            return ""
        if privacy.size(self.sample.n, counts.size) > 0:
            return ""
        unseen = (
            shown(secret) for secret, row in zip(self.sample.secrets, counts, strict=True) if not row.any()
        )
        return f", and not for secrets that the sample never shows ({', '.join(unseen)})"


@dataclass(frozen=True, init=False, eq=False)
class Protocol(_EqualByFields):
    """A release protocol: the probability of each output, given secret and value.

    Every probability is an integer over :math:`2^{52}` and every row sums to exactly one. Other numbers are
    rounded to the nearest such row. See ``docs/theory.md``, 'Model'.

    Parameters
    ----------
    matrix : array_like (|S|, |U|, |Y|)
        Non-negative, each row (last axis) summing to one.
    secrets, values, outputs : sequence, optional
        Labels; 0, 1, 2, … by default.
    guarantee : Guarantee, optional
        The proved claim; :func:`rldp.design` fills this in.
    reading : Reading, optional
        The columns the protocol is for, and how their entries are read: the reading of its sample.

    Examples
    --------
    >>> coin = Protocol([[[1.0, 0.0], [0.5, 0.5]]], secrets=["all"], values=["no", "yes"])
    >>> coin.matrix.shape, coin.outputs
    ((1, 2, 2), (0, 1))
    """

    matrix: NDArray[np.float64]
    secrets: tuple[Label, ...]
    values: tuple[Label, ...]
    outputs: tuple[Label, ...]
    guarantee: Guarantee | None
    reading: Reading | None

    def __init__(
        self,
        matrix: ArrayLike,
        secrets: Iterable[Label] | None = None,
        values: Iterable[Label] | None = None,
        outputs: Iterable[Label] | None = None,
        *,
        guarantee: Guarantee | None = None,
        reading: Reading | None = None,
    ) -> None:
        table = on_grid(_stochastic(matrix))
        table.setflags(write=False)
        vars(self).update(
            matrix=table,
            secrets=labels("secrets", secrets, table.shape[0]),
            values=labels("values", values, table.shape[1], of_columns=True),
            outputs=labels("outputs", outputs, table.shape[2], of_columns=True),
            guarantee=guarantee,
            reading=reading,
        )
        if reading is not None and (reading.secrets, reading.values) != (self.secrets, self.values):
            raise InvalidArgument("reading must have the protocol's secrets and values, got others")

    def __hash__(self) -> int:
        return hash((self.matrix.tobytes(), self.secrets, self.values, self.outputs))

    def __repr__(self) -> str:
        size = f"{counted('secret', self.secrets)} × {counted('value', self.values)}"
        return f"<Protocol: {size} → {counted('output', self.outputs)}; {self._claim()}>"

    def _claim(self) -> str:
        return "it claims nothing" if self.guarantee is None else f"claims {self.guarantee.promise}"

    def _repr_html_(self) -> str:
        """Show a heat map for each secret in notebooks."""
        most = _html.MOST_COLUMNS
        secrets, values, outputs = self.secrets[: _html.MOST_TABLES], self.values[:most], self.outputs[:most]
        rows = self.matrix[:, :most, :most].tolist()
        grids = [
            _html.grid(
                f"P(y | {_html.short(secret)}, u)",
                "u \\ y",
                outputs,
                values,
                [[_html.probability(p) for p in row] for row in rows[s]],
                [[_html.shade(p) for p in row] for row in rows[s]],
            )
            for s, secret in enumerate(secrets)
        ]
        cut = _html.shown_of(
            ("secrets", len(secrets), len(self.secrets)),
            ("values", len(values), len(self.values)),
            ("outputs", len(outputs), len(self.outputs)),
        )
        return f"<div>{_html.paragraph(f'Protocol: {self._claim()}.')}{''.join(grids)}{cut}</div>"

    @property
    def numerators(self) -> NDArray[np.int64]:
        """The probabilities as integers over :attr:`denominator`, shape (|S|, |U|, |Y|)."""
        return numerators(self.matrix)

    @property
    def denominator(self) -> int:
        """The common denominator of all probabilities, 2^52."""
        return DENOMINATOR

    @property
    def epsilon_known(self) -> float:
        """The claimed κ: P(y|s,u) ≤ e^κ P(y|s′,u) for all y, u, s, s′; ∞ if nothing is claimed."""
        return math.inf if self.guarantee is None else self.guarantee.epsilon_known

    @cached_property
    def reads_secret(self) -> bool:
        """Whether any probability depends on the secret. If not, a release needs no secret column."""
        table = self.numerators
        return bool((table != table[:1]).any())

    @property
    def sha256(self) -> str | None:
        """SHA-256 of the file that the protocol was read from; None if it was not read from a file."""
        digest: str | None = vars(self).get("_sha256")
        return digest

    @cached_property
    def sampler(self) -> Sampler:
        """Sampler of exact draws from the rows of the table, |U| of them for each secret."""
        return Sampler(self.numerators.reshape(-1, len(self.outputs)))

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "sampler"}

    @cached_property
    def table_sha256(self) -> str:
        """SHA-256 of the table: labels and probabilities, without sample, claim and proof.

        ``docs/file-format.md`` defines it.
        """
        labels = self.secrets, self.values, self.outputs
        return digest_of(["rldp-table-1", *labels, table_bytes(self.numerators)]).hex()

    def draw(
        self,
        secrets: NDArray[np.integer],
        values: NDArray[np.integer],
        words: Randomness | RowWords,
    ) -> NDArray[np.int32]:
        """Draw output numbers for rows given as numbers of secrets and values."""
        rows = secrets * np.int32(len(self.values)) + values
        return self.sampler.draw(rows, words_of_stage(words, 0, secrets, values))

    @property
    def words(self) -> int:
        """Number of random words that a row needs."""
        return 1

    def alone(self) -> Protocol:
        """Return the table and how its columns are read, without the guarantee."""
        labels = self.secrets, self.values, self.outputs
        return Protocol(self.matrix, *labels, reading=self.reading)

    def without_secret(self) -> Protocol:
        """Return the table for the first secret, which stands for all if the table does not read it."""
        return Protocol(self.matrix[:1], self.secrets[:1], self.values, self.outputs)

    @overload
    def release(self, secrets: Any = ..., values: list[Any] = ..., **how: Unpack[_How]) -> list[Label]: ...
    @overload
    def release(
        self, secrets: Any = ..., values: tuple[Any, ...] = ..., **how: Unpack[_How]
    ) -> tuple[Label, ...]: ...
    @overload
    def release(
        self, secrets: Any = ..., values: NDArray[Any] = ..., **how: Unpack[_How]
    ) -> NDArray[Any]: ...
    @overload
    def release(self, secrets: Any = ..., values: _Column = ..., **how: Unpack[_How]) -> _Column: ...
    def release(
        self,
        secrets: Any = None,
        values: Any = None,
        *,
        ids: Any = None,
        key: str | PathLike[str] | bytes | None = None,
        seed: int | None = None,
    ) -> Any:
        """Draw an output for every row with exactly the protocol's probabilities.

        Parameters
        ----------
        secrets, values : list, NumPy array, pandas or Polars series, or Arrow array
            Two columns of the same length. Their entries are read as the protocol reads its columns: numbers
            fall into bins, missing entries become a category if the protocol has one, and a secret of several
            columns is a tuple of entries. Labels of the protocol are accepted, too. Equal numbers are one
            label, whatever their type; a number and its text differ. A column cannot lose rows, so missing
            entries that the protocol skips are refused. If :attr:`reads_secret` is False, secrets may be left
            out; a protocol designed with ``epsilon_known=0`` takes none.
        ids : column, optional
            Identifiers of people: texts or whole numbers, each in one row only. Needs a key.
        key : path or bytes, optional
            A secret key, as in :class:`rldp.ReleaseOptions`: each person's output stays the same as long as
            secret and value do. Needs ids.
        seed : int, optional
            **For tests only.** Anyone who knows the seed can undo the randomisation. By default, every draw
            uses the operating system's secure randomness.

        Returns
        -------
        column
            A column of the same kind as ``values``, with index and name for pandas and with its name for
            Polars. It keeps the type of ``values`` if that can hold all outputs, else it has the outputs'
            type.

        Raises
        ------
        DataError
            If entries are missing or are not labels of the protocol, with the first such row (counted from 1)
            and how many there are; or if the outputs' types do not fit in one column.

        Examples
        --------
        >>> swap = Protocol([[[0.0, 1.0], [1.0, 0.0]]], secrets=["all"], outputs=["no", "yes"])
        >>> swap.release(["all", "all", "all"], [0, 1, 1])
        ['yes', 'no', 'no']
        """
        from rldp.releaser.columns import release

        return release(self, secrets, values, ids=ids, key=key, seed=seed)

    def release_frame(
        self,
        frame: _Frame,
        *,
        options: ReleaseOptions | None = None,
        seed: int | None = None,
        **keywords: Unpack[Asked],
    ) -> _Frame:
        """Release a column of a data frame as a new frame of the same kind.

        The new frame holds the kept columns and the released one, in the order of the rows, and nothing else:
        no other column and no metadata. ε covers the released column alone. A protocol with a claim is
        verified first, as by :func:`rldp.release_file`, once per protocol. See ``docs/clients.md``.

        Parameters
        ----------
        frame : data frame
            A pandas or Polars frame, eager or lazy; an Arrow table, record batch or reader of record batches;
            or a DuckDB relation. A pandas frame keeps its index. **A lazy frame draws anew each time it is
            collected, and two draws of one row are two releases: collect or sink it once.** It is computed
            once more by this call, to count its rows, unless ``allow_drift`` makes that needless. A reader is
            processed while its result is read, and refuses an unusable row when it reaches it. A DuckDB
            relation is read at once, and the result holds its rows in memory.
        options : ReleaseOptions, optional
            Options of the release. Its fields may be given as keyword arguments instead.
        seed : int, optional
            **For tests only**, see :meth:`release`.
        **keywords
            The fields of :class:`rldp.ReleaseOptions`.

        Raises
        ------
        NotProved
            If the protocol does not prove its claim, or less than the options require.
        DataError
            If a column does not exist, or entries are missing or are not labels of the protocol.
        InvalidArgument, InvalidArgumentType
            If ``frame`` is not a data frame, or the requested columns contradict each other.

        Examples
        --------
        >>> import pyarrow
        >>> swap = Protocol([[[0.0, 1.0], [1.0, 0.0]]], secrets=["all"], outputs=["no", "yes"])
        >>> rows = pyarrow.table({"s": ["all", "all"], "u": [0, 1], "k": [7, 8]})
        >>> swap.release_frame(rows, secret="s", value="u", keep=["k"]).to_pydict()
        {'k': [7, 8], 'u': ['yes', 'no']}
        """
        from rldp.gate.release import release_frame
        from rldp.releaser.options import asked_for

        return release_frame(self, frame, asked_for(options, keywords), seed=seed)

    @property
    def value_columns(self) -> tuple[str, ...]:
        """Names of the published columns; empty if the protocol does not name its columns."""
        return () if self.reading is None else self.reading.value_names

    @property
    def given_columns(self) -> tuple[str, ...]:
        """Names of the columns published unchanged, inside the promise; see ``given=``."""
        return ()

    @property
    def reading_of_rows(self) -> Reading | None:
        """How the rows of a release are read."""
        return self.reading

    def count(
        self,
        data: Any,
        *,
        secret: str | Sequence[str] | None = None,
        value: str | Sequence[str] | None = None,
        as_secret: str | Sequence[str] | None = None,
        as_value: str | Sequence[str] | None = None,
        delimiter: str | None = None,
        encoding: str | None = None,
        show_labels: bool = False,
    ) -> Sample:
        """Count new data in the same way as the sample the protocol was designed on.

        Columns, labels, bins and the treatment of missing entries come from the protocol, so
        :func:`rldp.confirm` and :func:`rldp.audit` can compare the two samples.

        Parameters
        ----------
        data : path or data frame
            As for :meth:`rldp.Sample.from_data`.
        secret, value : str or sequence of str, optional
            Names of columns; needed only if the protocol does not name them.
        as_secret, as_value : str or sequence of str, optional
            Names that the protocol's columns have in this data.
        delimiter, encoding, show_labels
            As for :meth:`rldp.Sample.from_data`.

        Raises
        ------
        DataError
            If the data cannot be read, or contain entries that the protocol does not know.
        InvalidArgument, InvalidArgumentType
            If column names are needed but missing, or differ from the protocol's.

        Examples
        --------
        >>> import pyarrow
        >>> coin = Protocol([[[0.75, 0.25], [0.25, 0.75]]], secrets=["all"], values=["no", "yes"])
        >>> rows = pyarrow.table({"s": ["all", "all", "all"], "u": ["no", "yes", "yes"]})
        >>> coin.count(rows, secret="s", value="u").counts
        array([[1, 2]])
        """
        reading = reading_of_new_data(
            self.reading,
            (self.secrets, self.values),
            secret=secret,
            value=value,
            as_secret=as_secret,
            as_value=as_value,
        )
        return Sample.like(data, reading, delimiter=delimiter, encoding=encoding, show_labels=show_labels)

    def output_for(self, secret: Any, value: Label | None, word: int) -> Label:
        """Return the output that :meth:`release` draws for this secret, value and 52 random bits.

        Every client of the protocol file returns the same output (``docs/file-format.md``): the first y with
        K[s][u][0] + … + K[s][u][y] > word, where K are the integers of the table over 2^52. To release data,
        use :meth:`release`, which draws fresh secure words.

        Parameters
        ----------
        secret, value : str, int, float, bool or None
            Entries, read as by :meth:`release`; a tuple for a secret of several columns.
        word : int
            From 0 to 2^52 − 1.

        Raises
        ------
        DataError
            If secret or value is not a label of the protocol; the entry is not shown.
        InvalidArgument, InvalidArgumentType
            If the word is not an integer in that range.

        Examples
        --------
        >>> coin = Protocol([[[0.25, 0.75]]], secrets=["all"], outputs=["no", "yes"])
        >>> coin.output_for("all", 0, 2**50 - 1), coin.output_for("all", 0, 2**50)
        ('no', 'yes')
        """
        from rldp.releaser.columns import output_for

        return output_for(self, secret, value, word)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Protocol:
        """Read a protocol file, as :func:`rldp.load` does."""
        from rldp.protocol_file.json import load

        return load(path)

    @classmethod
    def from_json(cls, text: str) -> Protocol:
        """Return the protocol that :meth:`to_json` wrote.

        Raises
        ------
        ProtocolFileError
            If the text is not a protocol file of a known version.

        Examples
        --------
        >>> coin = Protocol([[[0.25, 0.75]]], secrets=["all"], outputs=["no", "yes"])
        >>> Protocol.from_json(coin.to_json()) == coin
        True
        """
        from rldp.protocol_file.json import from_json

        return from_json(text)

    def to_json(self) -> str:
        """Return the text of the protocol file: table, claim and proof."""
        from rldp.protocol_file.json import to_json

        return to_json(self)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the protocol, its guarantee and the proof to a JSON file, atomically."""
        from rldp.protocol_file.json import save

        save(self, path)


def require_protocol(protocol: object) -> None:
    """Refuse anything but a protocol."""
    if not isinstance(protocol, Protocol):
        raise InvalidArgumentType(f"protocol must be an rldp.Protocol, got {type(protocol).__name__}")


def require_labels(protocol: Protocol, sample: Sample, *, name: str = "sample") -> None:
    """Refuse anything but a protocol and a sample with the same secrets and values."""
    require_protocol(protocol)
    if not isinstance(sample, Sample):
        raise InvalidArgumentType(f"{name} must be an rldp.Sample, got {type(sample).__name__}")
    for which, wanted, given in (
        ("secrets", protocol.secrets, sample.secrets),
        ("values", protocol.values, sample.values),
    ):
        if wanted != given:
            i = next((i for i, (a, b) in enumerate(zip(wanted, given, strict=False)) if a != b), None)
            difference = (
                f"{len(given)} instead of {len(wanted)}" if i is None else f"another in place {i + 1}"
            )
            raise InvalidArgument(
                f"{name} must have the protocol's {which}, got {difference}; "
                "protocol.count(data) reads data with the protocol's labels and bins"
            )


def table_bytes(table: NDArray[np.int64]) -> bytes:
    """Return integers as 8 bytes each, most significant first, the last axis fastest."""
    return table.astype(">u8").tobytes()


def _checked_levels(levels: NDArray[np.float64], epsilon: float) -> NDArray[np.float64]:
    """Return a read-only copy whose largest level is ``epsilon``."""
    table = np.array(levels, dtype=np.float64)
    if (
        table.ndim != 2
        or table.shape[0] != table.shape[1]
        or not (table >= 0).all()
        or table.diagonal().any()
    ):
        raise InvalidArgument("levels must be a square table of levels with 0 on its diagonal, got another")
    if largest(table) != epsilon:
        raise InvalidArgument("epsilon must be the largest of levels, got another number")
    table.setflags(write=False)
    return table


def _stochastic(matrix: ArrayLike) -> NDArray[np.float64]:
    table = number_array("matrix", "a table of numbers (secrets, values, outputs)", matrix)
    if table.ndim != 3 or table.size == 0:
        raise InvalidArgument(
            f"matrix must have three axes (secrets, values, outputs), got shape {table.shape}"
        )
    if not (table >= 0).all():
        raise InvalidArgument("matrix must hold probabilities, got a negative number or NaN")
    worst = float(np.abs(table.sum(axis=2) - 1).max())
    if not worst <= 1e-9:
        raise InvalidArgument(f"matrix must have rows that sum to one, got a row off by {worst:.3g}")
    return table
