"""Distortions d(u, y): named ones, callables and matrices, as |U|×|Y| arrays."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rldp._common.checks import Label, number_array, shown
from rldp.data.scale import Scale
from rldp.errors import InvalidArgument, InvalidArgumentType

__all__ = ["Distortion", "DistortionName", "distortion_matrix"]

DistortionName: TypeAlias = Literal["squared", "absolute", "hamming"]
Distortion: TypeAlias = (
    DistortionName | Callable[[Any, Any], float] | NDArray[Any] | Sequence[Sequence[float]]
)
"""How far an output is from a value: a name, a function d(u, y), or a |U|×|Y| table."""

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
    """d(u, y) for every value and output.

    Parameters
    ----------
    distortion : {"squared", "absolute", "hamming"}, callable d(u, y), or |U|×|Y| array
        The first two need labels that are numbers.
    values, outputs : sequence of labels
    scale : Scale, optional
        What values, and outputs that are values, stand for as numbers, where that is not what they are.

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
            pair = f"d({shown(values[u])}, {shown(outputs[y])})"
            raise InvalidArgument(f"distortion must be {needed}, got {pair} = {matrix[u, y]:g}")
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
                f"distortion {name!r} needs {kind} that are numbers, got {shown(item)}; "
                "use 'hamming', a function d(u, y) or a matrix instead"
            )
        numbers.append(float(item))
    return numbers


def _tabulated(
    function: Callable[[Label, Label], float], values: Sequence[Label], outputs: Sequence[Label]
) -> NDArray[np.float64]:
    rows = []
    for u in values:
        for y in outputs:
            pair = f"d({shown(u)}, {shown(y)})"
            try:
                found = function(u, y)
            except Exception as error:
                raise InvalidArgument(
                    f"distortion must return a number, but {pair} raised {shown(error)}"
                ) from error
            try:
                rows.append(float("text" if isinstance(found, str | bytes) else found))
            except (TypeError, ValueError) as error:
                raise InvalidArgumentType(
                    f"distortion must return a number, got {pair} = {shown(found)}"
                ) from error
            except OverflowError as error:
                raise InvalidArgument(f"distortion must be finite, got {pair} = {shown(found)}") from error
    return np.array(rows).reshape(len(values), len(outputs))
