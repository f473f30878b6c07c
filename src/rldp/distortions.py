"""Distortions d(u, y): named ones, callables and matrices, as |U|×|Y| arrays."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rldp._checks import Label
from rldp.errors import InvalidArgument, InvalidArgumentType

__all__ = ["Distortion", "distortion_matrix"]

Distortion: TypeAlias = str | Callable[[Label, Label], float] | ArrayLike

_NAMED: dict[str, Callable[[float, float], float]] = {
    "squared": lambda u, y: (u - y) ** 2,
    "absolute": lambda u, y: abs(u - y),
}
_NAMES = "'squared', 'absolute' or 'hamming'"


def distortion_matrix(
    distortion: Distortion, values: Sequence[Label], outputs: Sequence[Label]
) -> NDArray[np.float64]:
    """d(u, y) for every value and output.

    Parameters
    ----------
    distortion : {"squared", "absolute", "hamming"}, callable d(u, y), or |U|×|Y| array
        The first two need labels that are numbers.

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
        matrix = _named(distortion, values, outputs)
    elif callable(distortion):
        matrix = _tabulated(distortion, values, outputs)
    else:
        matrix = _as_floats(distortion)
    if matrix.shape != shape:
        raise InvalidArgument(f"distortion must have shape {shape} (values, outputs), got {matrix.shape}")
    if not np.isfinite(matrix).all():
        raise InvalidArgument("distortion must be finite, got a value that is not")
    if (matrix < 0).any():
        raise InvalidArgument(f"distortion must not be negative, got {matrix.min():g}")
    matrix.setflags(write=False)
    return matrix


def _named(name: str, values: Sequence[Label], outputs: Sequence[Label]) -> NDArray[np.float64]:
    if name == "hamming":
        return np.array([[float(u != y) for y in outputs] for u in values])
    if name not in _NAMED:
        raise InvalidArgument(f"distortion must be {_NAMES}, a function or a matrix, got {name!r}")
    for kind, labels in (("values", values), ("outputs", outputs)):
        for item in labels:
            if isinstance(item, str):
                raise InvalidArgument(
                    f"distortion {name!r} needs {kind} that are numbers, got {item!r}; "
                    "use 'hamming', a function d(u, y) or a matrix instead"
                )
    return np.array([[_NAMED[name](float(u), float(y)) for y in outputs] for u in values])


def _tabulated(
    function: Callable[[Label, Label], float], values: Sequence[Label], outputs: Sequence[Label]
) -> NDArray[np.float64]:
    rows = []
    for u in values:
        for y in outputs:
            try:
                number = float(function(u, y))
            except (TypeError, ValueError) as error:
                raise InvalidArgumentType(
                    f"distortion must return a number, but d({u!r}, {y!r}) failed: {error}"
                ) from error
            if not math.isfinite(number):
                raise InvalidArgument(f"distortion must be finite, got d({u!r}, {y!r}) = {number}")
            rows.append(number)
    return np.array(rows).reshape(len(values), len(outputs))


def _as_floats(matrix: ArrayLike) -> NDArray[np.float64]:
    try:
        return np.array(matrix, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidArgumentType(
            f"distortion must be {_NAMES}, a function or a matrix of numbers, got {type(matrix).__name__}"
        ) from error
