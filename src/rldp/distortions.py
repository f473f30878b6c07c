"""Distortions d(u, y) as |U|×|Y| arrays: named ones, callables, matrices, and sums over columns."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any, Literal, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from rldp._common.checks import Label, finite_number, labels, number_array, shown
from rldp.data.meaning import Scale, number_of_text
from rldp.errors import InvalidArgument, InvalidArgumentType
from rldp.sample import Sample, require_no_given

__all__ = [
    "ColumnDistortion",
    "Distortion",
    "DistortionName",
    "Outputs",
    "SampleDistortion",
    "distortion_matrix",
    "distortion_of",
]

DistortionName: TypeAlias = Literal["squared", "absolute", "hamming"]
Distortion: TypeAlias = (
    DistortionName | Callable[[Any, Any], float] | NDArray[Any] | Sequence[Sequence[float]]
)
"""How far an output is from a value: a name, a function d(u, y), or a |U|×|Y| table."""

Outputs: TypeAlias = Iterable[Label] | Mapping[str, Iterable[Label]] | None
"""Labels of Y; for several columns, a mapping from column to labels for those that differ from the values."""

_NAMED: dict[str, Callable[[Any, Any], Any]] = {
    "squared": lambda u, y: (u - y) * (u - y),
    "absolute": lambda u, y: abs(u - y),
}
_NAMES = "'squared', 'absolute' or 'hamming'"
_LARGEST = 1e100  # so that sums of products stay finite


def distortion_matrix(
    distortion: Distortion,
    values: Sequence[Label],
    outputs: Sequence[Label],
    scale: Scale | None = None,
) -> NDArray[np.float64]:
    """Compute d(u, y) for every value and output.

    Parameters
    ----------
    distortion : {"squared", "absolute", "hamming"}, callable d(u, y), or |U|×|Y| array
        "squared" and "absolute" need labels that are numbers.
    values, outputs : sequence of labels
    scale : Scale, optional
        The numbers that values, and outputs that are values, stand for, if they are not numbers themselves.

    Returns
    -------
    ndarray (|U|, |Y|), finite and non-negative, read-only

    Examples
    --------
    >>> distortion_matrix("absolute", (0, 1, 2), (0, 2))
    array([[0., 2.],
           [1., 1.],
           [2., 0.]])
    """
    shape = (len(values), len(outputs))
    if isinstance(distortion, str):
        matrix = _named(distortion, values, outputs, scale)
    elif callable(distortion):
        matrix = _tabulated(distortion, values, outputs)
    else:
        matrix = number_array("distortion", f"{_NAMES}, a function or a matrix of numbers", distortion)
    if matrix.shape != shape:
        raise InvalidArgument(f"distortion must have shape {shape} (values, outputs), got {matrix.shape}")
    wrongs = {
        "finite": ~np.isfinite(matrix),
        "0 or more": matrix < 0,
        f"at most {_LARGEST:g}": matrix > _LARGEST,
    }
    for needed, wrong in wrongs.items():
        if wrong.any():
            u, y = np.argwhere(wrong)[0]
            raise InvalidArgument(f"distortion must be {needed}, got {matrix[u, y]:g} for {_pair(u, y)}")
    matrix.setflags(write=False)
    return matrix


def _named(
    name: str, values: Sequence[Label], outputs: Sequence[Label], scale: Scale | None
) -> NDArray[np.float64]:
    if name == "hamming":
        return np.array([[float(u != y) for y in outputs] for u in values])
    if name not in _NAMED:
        raise InvalidArgument(
            f"distortion must be {_NAMES}, a function or a matrix of numbers, got {shown(name)}"
        )
    if scale is not None and len(scale.points) == len(values):
        known: dict[Label, Label] = dict(zip(values, scale.numbers, strict=True))
        outputs = [known.get(output, output) for output in outputs]
        return scale.distances(_NAMED[name], _numbers(name, "outputs", outputs))
    numbers = _numbers(name, "values", values), _numbers(name, "outputs", outputs)
    return np.array([[_NAMED[name](u, y) for y in numbers[1]] for u in numbers[0]])


def _numbers(name: str, kind: str, labels: Sequence[Label]) -> list[float]:
    numbers = []
    for item in labels:
        if isinstance(item, str | tuple) or abs(item) > sys.float_info.max:
            raise InvalidArgument(
                f"distortion {name!r} needs {kind} that are numbers, got {_no_number(item)}; "
                f"{_advice(labels)}"
            )
        numbers.append(float(item))
    return numbers


def _no_number(label: Label) -> str:
    """Describe the type of a label. The label itself may be personal data and is not shown."""
    if isinstance(label, str) and number_of_text(label) is not None:
        return "texts that stand for numbers"
    if isinstance(label, str | tuple):
        return "text" if isinstance(label, str) else "tuples"
    return "one that a float cannot hold"


def _advice(labels: Sequence[Label]) -> str:
    if all(isinstance(label, str) and number_of_text(label) is not None for label in labels):
        return "bins= cuts them into bins, and number= reads them as numbers"
    return "use 'hamming', a function d(u, y) or a matrix instead"


def _pair(value: int, output: int) -> str:
    """Describe the position of an entry of the table. Labels may be personal data and are not shown."""
    return f"value {value + 1} and output {output + 1}"


def _tabulated(
    function: Callable[[Label, Label], float], values: Sequence[Label], outputs: Sequence[Label]
) -> NDArray[np.float64]:
    rows = []
    for i, u in enumerate(values):
        for j, y in enumerate(outputs):
            pair = _pair(i, j)
            try:
                result = function(u, y)
            except Exception as error:
                raise InvalidArgument(
                    f"distortion must return a number, but for {pair} it raised {type(error).__name__}"
                ) from error
            try:
                rows.append(float("text" if isinstance(result, str | bytes) else result))
            except (TypeError, ValueError) as error:
                raise InvalidArgumentType(
                    f"distortion must return a number, got {type(result).__name__} for {pair}"
                ) from error
            except OverflowError as error:
                raise InvalidArgument(
                    f"distortion must be finite, got more than a float holds for {pair}"
                ) from error
    return np.array(rows).reshape(len(values), len(outputs))


# Several columns


@dataclass(frozen=True, eq=False)
class ColumnDistortion:
    """The share of one column in the distortion of a row.

    Attributes
    ----------
    name : str
    weight : float
        The distortion of a row is the weighted sum over its columns.
    matrix : array (|U_j|, |Y_j|)
        d(u, y) of this column, in its own unit.
    labels : tuple of labels
        Labels of its outputs.
    values, outputs : int array (|U|,), (|Y|,)
        The position of this column's label, for each value and each output of the row.
    """

    name: str
    weight: float
    matrix: NDArray[np.float64]
    labels: tuple[Label, ...]
    values: NDArray[np.int64]
    outputs: NDArray[np.int64]

    @property
    def of_rows(self) -> NDArray[np.float64]:
        """Return d(u, y) of this column for values and outputs of the row, unweighted: (|U|, |Y|)."""
        return self.matrix[np.ix_(self.values, self.outputs)]


@dataclass(frozen=True, eq=False)
class SampleDistortion:
    """The distortion between outputs and the values of a sample.

    Attributes
    ----------
    outputs : tuple of labels
    columns : tuple of ColumnDistortion
        Their weighted sum is ``matrix``. Empty for a single column, and if the distortion was given for whole
        rows.
    whole : array (|U|, |Y|), or None
        The distortion, if it is not given by column.
    """

    outputs: tuple[Label, ...]
    columns: tuple[ColumnDistortion, ...] = ()
    whole: NDArray[np.float64] | None = None

    @cached_property
    def matrix(self) -> NDArray[np.float64]:
        """d(u, y) of whole rows, shape (|U|, |Y|)."""
        if self.whole is not None:
            return self.whole
        matrix = sum((column.weight * column.of_rows for column in self.columns), np.zeros(1))
        matrix.setflags(write=False)
        return matrix


def distortion_of(
    sample: Sample,
    distortion: Distortion | Mapping[str, Distortion],
    outputs: Outputs = None,
    weights: Mapping[str, float] | None = None,
) -> SampleDistortion:
    r"""Return the distortion d(u, y) for the values of a sample, with its outputs.

    If the sample has several value columns, :math:`d(u,y)=\sum_jw_jd_j(u_j,y_j)`. By default :math:`1/w_j` is
    the distortion of the best constant for column j under the estimate. Publishing nothing then costs 1 for
    every column, and publishing everything costs 0.

    Parameters
    ----------
    sample : Sample
    distortion : Distortion, or mapping {value column: Distortion}
        One for all columns or one for each, "squared" for columns that the mapping leaves out. A function or
        a matrix for several columns refers to whole rows: tuples, in the order of the sample's values.
    outputs : sequence of labels, or mapping {value column: labels}, optional
    weights : mapping {value column: float}, optional
        Positive weights of the columns.

    Raises
    ------
    InvalidArgument, InvalidArgumentType
        If a column is unknown, a weight is not positive, or a column without a weight has only one value.
    """
    require_no_given(sample)
    names = () if sample.reading is None else sample.reading.value_names
    for argument, given in (("distortion", distortion), ("outputs", outputs), ("weights", weights)):
        if isinstance(given, Mapping):
            _require_columns(argument, given, names)
    if not isinstance(weights, Mapping | None):
        raise InvalidArgumentType(
            f"weights must be a mapping from value columns to weights, got {type(weights).__name__}"
        )
    listed = _joint_outputs(sample, names, outputs)
    several = isinstance(sample.values[0], tuple)
    if not several or not isinstance(distortion, str | Mapping):
        if weights is not None:
            raise InvalidArgument("weights must be None unless several columns have a distortion each")
        whole: Distortion = "squared"
        if not isinstance(distortion, Mapping):
            whole = distortion
        elif distortion:
            (whole,) = distortion.values()
        matrix = distortion_matrix(whole, sample.values, listed, sample.scale)
        return SampleDistortion(listed, whole=matrix)
    columns = tuple(
        _column(sample, listed, j, name, distortion, weights or {})
        for j, name in enumerate(_named_columns(sample))
    )
    return SampleDistortion(listed, columns)


def _named_columns(sample: Sample) -> tuple[str, ...]:
    """Return the names of the value columns, or their numbers if the sample has no reading."""
    if sample.reading is not None:
        return sample.reading.value_names
    return tuple(f"column {j + 1}" for j in range(len(cast("tuple[Any, ...]", sample.values[0]))))


def _require_columns(argument: str, given: Mapping[str, Any], names: Sequence[str]) -> None:
    for name in given:
        if name not in names:
            known = ", ".join(map(repr, names)) if names else "none that have names"
            raise InvalidArgument(f"{argument} must be about value columns ({known}), got {shown(name)}")


def _joint_outputs(sample: Sample, names: Sequence[str], outputs: Outputs) -> tuple[Label, ...]:
    if outputs is None:
        return sample.values
    if not isinstance(outputs, Mapping):
        listed = labels("outputs", outputs, of_columns=True)
        wanted, given = (len(x[0]) if isinstance(x[0], tuple) else 0 for x in (sample.values, listed))
        if wanted != given:
            needed = f"tuples of {wanted} entries" if wanted else "labels of one column"
            raise InvalidArgument(f"outputs must be {needed}, as values are")
        return listed
    assert sample.reading is not None
    by_column = [
        labels(f"outputs[{column.name!r}]", outputs.get(column.name, column.labels))
        for column in sample.reading.value
    ]
    return by_column[0] if len(names) == 1 else tuple(product(*by_column))  # type: ignore[arg-type]


def _column(
    sample: Sample,
    outputs: Sequence[Label],
    j: int,
    name: str,
    distortion: str | Mapping[str, Distortion],
    weights: Mapping[str, float],
) -> ColumnDistortion:
    values, value_codes = _own_labels(sample.values, j)
    own_outputs, output_codes = _own_labels(outputs, j)
    measure = distortion.get(name, "squared") if isinstance(distortion, Mapping) else distortion
    scale = sample.scales[j] if sample.scales else None
    try:
        matrix = distortion_matrix(cast("Distortion", measure), values, own_outputs, scale)
    except InvalidArgument as error:
        raise InvalidArgument(f"column {name!r}: {error}") from error
    if name in weights:
        weight = finite_number(f"weights[{name!r}]", weights[name])
        if weight <= 0:
            raise InvalidArgument(f"weights[{name!r}] must be greater than 0, got {weight!r}")
        return ColumnDistortion(name, weight, matrix, own_outputs, value_codes, output_codes)
    seen = np.bincount(value_codes, weights=sample.counts.sum(axis=0), minlength=len(values))
    constant = float((seen / sample.n @ matrix).min())
    if constant <= 0:
        raise InvalidArgument(
            f"column {name!r} must have two values or more in the sample, or a weight of its own: "
            "publishing nothing of it would cost nothing"
        )
    return ColumnDistortion(name, 1 / constant, matrix, own_outputs, value_codes, output_codes)


def _own_labels(rows: Sequence[Label], j: int) -> tuple[tuple[Label, ...], NDArray[np.int64]]:
    """Return the labels of column j in order of appearance, and their number for each row."""
    entries = [cast("tuple[Any, ...]", row)[j] for row in rows]
    codes: dict[Any, int] = {}
    numbers = [codes.setdefault(entry, len(codes)) for entry in entries]
    return tuple(codes), np.array(numbers, dtype=np.int64)
