"""The protocol: a table P(Y | S, U) with labels, and what is guaranteed of it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any, Unpack

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

__all__ = ["Certificate", "Guarantee", "Protocol", "require_labels", "table_bytes"]


@dataclass(frozen=True, eq=False)
class Certificate:
    """Witnesses of privacy over the whole set, of the objective and of the lower bound.

    Pairs of secrets are numbered as in :func:`rldp.theory.model.ordered_pairs`.

    Attributes
    ----------
    eta : array (Y, T, 2), or None for nominal privacy
        Scalars that prove every privacy constraint.
    eta_utility : float, or None for nominal utility
        Scalar that proves the objective.
    multipliers : array (Y, T), or None
        Weights z of the lower bound. None where the bound rests on the fact that only protocols
        that ignore secret and value are private (ε = 0 over a set).
    members : array (Y, T, 2, U), or None
        Members of the projected privacy sets that the multipliers weigh; None stands for the
        estimated conditionals, which are in every set.
    distribution : array (|S|, |U|), or None
        Member of the utility set in the lower bound; None stands for the estimate.
    known : array (Y, |S|, |U|), or None
        Prices γ in the lower bound of the constraint on readers who know the value; None stands for zeros,
        and at κ = 0 for the best there are.
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

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Certificate):
            return NotImplemented
        return all(_same(getattr(self, each.name), getattr(other, each.name)) for each in fields(self))

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True, eq=False)
class Guarantee:
    """What a protocol claims, about which sample, and the proof.

    Attributes
    ----------
    epsilon : float
        Where pairs of secrets have levels of their own, the largest of them; ∞ if one is not protected.
    sample : Sample
        The public sample the sets are built around.
    privacy, utility : UncertaintySet
    distortion : array (|U|, |Y|)
    objective, lower_bound : float
        See :class:`rldp.Design`.
    certificate : Certificate
    epsilon_known : float
        κ: what an output tells about the secret to a reader who knows the value; ∞ claims nothing.
    levels : array (|S|, |S|), or None
        ε of each ordered pair of secrets, ∞ for those that are not protected, 0 on the diagonal; None where
        all have the same.
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
            object.__setattr__(self, "levels", _checked_levels(self.levels, self.epsilon))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Guarantee):
            return NotImplemented
        return all(_same(getattr(self, each.name), getattr(other, each.name)) for each in fields(self))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        most = f"expected distortion at most {self.objective!r} for {self.utility.scope}"
        return f"<Guarantee: {self.promise}; {most}>"

    @property
    def promise(self) -> str:
        """ε, and the distributions without which it says nothing: what the file claims, in words."""
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
        """The estimate says nothing about a secret that it does not show."""
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
class Protocol:
    """A release protocol: the probability of each output, given secret and value.

    Every probability is an integer over :math:`2^{52}` and every row sums to exactly one; numbers
    that are not so are rounded to the nearest that are. See ``docs/theory.md``, 'Model'.

    Parameters
    ----------
    matrix : array_like (|S|, |U|, |Y|)
        Non-negative, each row (last axis) summing to one.
    secrets, values, outputs : sequence, optional
        Labels; 0, 1, 2, … by default.
    guarantee : Guarantee, optional
        What is proved of it; :func:`rldp.design` fills this in.
    reading : Reading, optional
        The columns it is for, and how their entries are read; that of the sample it was designed on.

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
        object.__setattr__(self, "matrix", table)
        for axis, (name, given) in enumerate(
            (("secrets", secrets), ("values", values), ("outputs", outputs))
        ):
            object.__setattr__(
                self, name, labels(name, given, table.shape[axis], of_columns=name != "secrets")
            )
        object.__setattr__(self, "guarantee", guarantee)
        object.__setattr__(self, "reading", _fitting(reading, self.secrets, self.values))

    def __eq__(self, other: object) -> bool:
        """Whether both would be the same file: labels, probabilities, columns, claim and proof."""
        if not isinstance(other, Protocol):
            return NotImplemented
        return all(_same(getattr(self, each.name), getattr(other, each.name)) for each in fields(self))

    def __hash__(self) -> int:
        return hash((self.matrix.tobytes(), self.secrets, self.values, self.outputs))

    def __repr__(self) -> str:
        size = f"{counted('secret', self.secrets)} × {counted('value', self.values)}"
        return f"<Protocol: {size} → {counted('output', self.outputs)}; {self._claim()}>"

    def _claim(self) -> str:
        return "nothing is claimed of it" if self.guarantee is None else f"claims {self.guarantee.promise}"

    def _repr_html_(self) -> str:
        """A heat map for each secret, for notebooks."""
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
        """The probabilities as integers over :attr:`denominator`: (|S|, |U|, |Y|)."""
        return numerators(self.matrix)

    @property
    def denominator(self) -> int:
        """What the integers are counted in: 2^52."""
        return DENOMINATOR

    @property
    def epsilon_known(self) -> float:
        """κ as claimed: P(y|s,u) ≤ e^κ P(y|s′,u) for all y, u, s, s′; ∞ where nothing is claimed."""
        return math.inf if self.guarantee is None else self.guarantee.epsilon_known

    @cached_property
    def reads_secret(self) -> bool:
        """Whether any probability depends on the secret; if not, releasing needs no secret column."""
        table = self.numerators
        return bool((table != table[:1]).any())

    @property
    def sha256(self) -> str | None:
        """The digest of the file that the protocol was read from; None if it comes from no file."""
        digest: str | None = vars(self).get("_sha256")
        return digest

    @cached_property
    def sampler(self) -> Sampler:
        """Exact draws from the rows of the table, |U| of them for each secret."""
        return Sampler(self.numerators.reshape(-1, len(self.outputs)))

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "sampler"}

    @cached_property
    def table_sha256(self) -> str:
        """The digest of the table: labels and probabilities, whatever the sample, the claim and the proof.

        ``docs/file-format.md`` says how it is computed.
        """
        labels = self.secrets, self.values, self.outputs
        return digest_of(["rldp-table-1", *labels, table_bytes(self.numerators)]).hex()

    def draw(
        self,
        secrets: NDArray[np.integer],
        values: NDArray[np.integer],
        words: Randomness | RowWords,
    ) -> NDArray[np.int32]:
        """Numbers of outputs, drawn for rows of which the numbers of secret and value are known."""
        rows = secrets * np.int32(len(self.values)) + values
        return self.sampler.draw(rows, words_of_stage(words, 0, secrets, values))

    @property
    def words(self) -> int:
        """How many random words a row takes."""
        return 1

    def alone(self) -> Protocol:
        """The table and how columns are read, without a guarantee."""
        labels = self.secrets, self.values, self.outputs
        return Protocol(self.matrix, *labels, reading=self.reading)

    def release(
        self,
        secrets: Any = None,
        values: Any = None,
        *,
        ids: Any = None,
        key: str | PathLike[str] | bytes | None = None,
        seed: int | None = None,
    ) -> Any:
        """Draw an output for every row, with exactly the probabilities of the protocol.

        Parameters
        ----------
        secrets, values : list, NumPy array, pandas or Polars series, or Arrow array
            Two columns of the same length, whose entries are read as the protocol reads its columns: numbers
            in bins, missing entries as a category where they are one, and a secret of several columns as a
            tuple of their entries. Labels of the protocol may stand in place of them. Equal numbers are the
            same label, whatever their type; a number is not its text. Rows cannot be left out of a column:
            missing entries that the protocol skips are refused. Where :attr:`reads_secret` is False, secrets
            may be left out; a protocol designed with ``epsilon_known=0`` takes none.
        ids : column, optional
            Who the rows are about: texts or whole numbers, each in one row. Needs a key.
        key : path or bytes, optional
            A secret key, as in :class:`rldp.ReleaseOptions`: each person's output then stays the same as long
            as secret and value stay. Needs ids.
        seed : int, optional
            **For tests only.** Whoever knows the seed can undo the randomisation. By default, every
            draw uses the operating system's secure randomness.

        Returns
        -------
        column
            A column of the kind of ``values``: for pandas with its index and name, for Polars with
            its name. Its type is that of ``values`` where that holds all outputs, and else theirs.

        Raises
        ------
        DataError
            If entries are missing or are not labels of the protocol, with the first such row (counted
            from 1) and how many there are; or if the outputs are of types that do not fit in one column.

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
        frame: Any,
        *,
        options: ReleaseOptions | None = None,
        seed: int | None = None,
        **keywords: Unpack[Asked],
    ) -> Any:
        """Release a column of a data frame: a frame of the same kind comes back.

        It holds the columns that are kept and then the released one, in the order of the rows, and nothing
        else: no other column and no metadata. ε is that of the released column alone. A protocol that claims
        something is verified first, as by :func:`rldp.release_file`; this happens once for each protocol. See
        ``docs/clients.md``.

        Parameters
        ----------
        frame : data frame
            Of pandas or Polars, eager or lazy; an Arrow table, record batch or reader of record batches; or a
            DuckDB relation. A pandas frame keeps its index. **A lazy frame draws anew each time it is
            collected, and two draws of one row are two releases: collect or sink it once.** A reader is read
            as its result is; both refuse a bad row when they come to it. A DuckDB relation is read at once,
            and what comes back holds its rows in memory.
        options : ReleaseOptions, optional
            What is asked for. Its fields may be given as keyword arguments instead.
        seed : int, optional
            **For tests only**, see :meth:`release`.
        **keywords
            The fields of :class:`rldp.ReleaseOptions`.

        Raises
        ------
        NotProved
            If the protocol does not prove what it claims, or what is asked of it.
        DataError
            If a column is not there, or entries are missing or are not labels of the protocol.
        InvalidArgument, InvalidArgumentType
            If it is no frame, or the columns asked for cannot stand together.

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
        """Names of the columns that are published; none where the protocol does not name its columns."""
        return () if self.reading is None else self.reading.value_names

    @property
    def given_columns(self) -> tuple[str, ...]:
        """Names of the columns that are published as they are, inside the promise; see ``given=``."""
        return ()

    @property
    def reading_of_rows(self) -> Reading | None:
        """How rows that are to be released are read."""
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
        """Count new data as the sample was counted that the protocol was designed on.

        Columns, labels, bins and the treatment of missing entries are the protocol's, so that
        :func:`rldp.confirm` and :func:`rldp.audit` can compare the two.

        Parameters
        ----------
        data : path or data frame
            As for :meth:`rldp.Sample.from_data`.
        secret, value : str or sequence of str, optional
            Names of columns; needed only where the protocol does not name them.
        as_secret, as_value : str or sequence of str, optional
            Other names than the protocol's, of columns that hold the same.
        delimiter, encoding, show_labels
            As for :meth:`rldp.Sample.from_data`.

        Raises
        ------
        DataError
            If the data cannot be read, or hold entries that the protocol does not know.
        InvalidArgument, InvalidArgumentType
            If names of columns are needed, or are others than the protocol's.

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
        """The output that :meth:`release` draws for this secret and value with these 52 random bits.

        Every client of the protocol file gives the same one (``docs/file-format.md``): the first y with
        K[s][u][0] + … + K[s][u][y] > word, K being the integers of the table over 2^52. To release data, use
        :meth:`release`, which takes fresh secure words.

        Parameters
        ----------
        secret, value : str, int, float, bool or None
            Entries, read as by :meth:`release`; a tuple for a secret of several columns.
        word : int
            From 0 to 2^52 − 1.

        Raises
        ------
        DataError
            If secret or value is no label of the protocol; the entry is not shown.
        InvalidArgument, InvalidArgumentType
            If the word is no integer in that range.

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
            If the text is no protocol file of a known version.

        Examples
        --------
        >>> coin = Protocol([[[0.25, 0.75]]], secrets=["all"], outputs=["no", "yes"])
        >>> Protocol.from_json(coin.to_json()) == coin
        True
        """
        from rldp.protocol_file.json import from_json

        return from_json(text)

    def to_json(self) -> str:
        """The text of the protocol's file: table, claim and proof."""
        from rldp.protocol_file.json import to_json

        return to_json(self)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the protocol, its guarantee and the proof to a JSON file, atomically."""
        from rldp.protocol_file.json import save

        save(self, path)


def require_labels(protocol: Protocol, sample: Sample, *, name: str = "sample") -> None:
    """Refuse what is no protocol or no sample, or a sample of other secrets or values."""
    if not isinstance(protocol, Protocol):
        raise InvalidArgumentType(f"protocol must be an rldp.Protocol, got {type(protocol).__name__}")
    if not isinstance(sample, Sample):
        raise InvalidArgumentType(f"{name} must be an rldp.Sample, got {type(sample).__name__}")
    for which, wanted, given in (
        ("secrets", protocol.secrets, sample.secrets),
        ("values", protocol.values, sample.values),
    ):
        if wanted != given:
            i = next((i for i, (a, b) in enumerate(zip(wanted, given, strict=False)) if a != b), None)
            found = f"{len(given)} instead of {len(wanted)}" if i is None else f"another in place {i + 1}"
            raise InvalidArgument(
                f"{name} must have the protocol's {which}, got {found}; "
                "protocol.count(data) reads data with the protocol's labels and bins"
            )


def table_bytes(table: NDArray[np.int64]) -> bytes:
    """Integers as 8 bytes each, most significant first, the last axis fastest."""
    return table.astype(">u8").tobytes()


def _checked_levels(levels: NDArray[np.float64], epsilon: float) -> NDArray[np.float64]:
    """A read-only copy, whose largest level is ``epsilon``."""
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


def _same(one: Any, other: Any) -> bool:
    """Whether two attributes are equal, arrays entry by entry."""
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return np.array_equal(one, other)
    return bool(one == other)


def _fitting(
    reading: Reading | None, secrets: tuple[Label, ...], values: tuple[Label, ...]
) -> Reading | None:
    if reading is not None and (reading.secrets, reading.values) != (secrets, values):
        raise InvalidArgument("reading must have the protocol's secrets and values, got others")
    return reading


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
