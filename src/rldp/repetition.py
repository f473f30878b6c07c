r"""Whether the randomness of a release repeats: rows that agree too often with rows one lag away.

Write :math:`e_i` for the residual of row i: the indicator vector of its output less the shares of the
outputs among the rows of the same cell. If every row is drawn afresh, :math:`T_L=\sum_i e_i\cdot e_{i+L}`
is a sum of martingale differences for each lag L, and is hardly larger than :math:`\sqrt{V_L}`,
:math:`V_L=\sum_i |e_i|^2|e_{i+L}|^2`. See ``docs/audit.md``, 'Repetition'.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import fft

__all__ = ["FALSE_ALARM", "MOST_ROWS", "Repetition", "find_repetition"]

FALSE_ALARM = 1e-6  # asked of the test, over all lags together
MOST_ROWS = 2**24  # what is read of a longer release
_MOST_CLASSES = 8  # the commonest outputs tell enough; the others count as one

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]


@dataclass(frozen=True)
class Repetition:
    """Rows ``lag`` apart carry the same output in a share ``agreement`` of pairs, not ``expected``."""

    lag: int
    agreement: float
    expected: float


def find_repetition(outputs: Codes, cells: Codes, *, cells_are_complete: bool) -> Repetition | None:
    """The lag at which a release repeats itself most clearly, if it does.

    Parameters
    ----------
    outputs : int array (n,)
    cells : int array (n,)
        What each row's output may depend on.
    cells_are_complete : bool
        If not, outputs may depend on something that the rows do not show and that changes slowly down
        the table. Then a lag counts only if it stands out from both its neighbours.
    """
    outputs, cells = _classes(outputs[:MOST_ROWS]), np.unique(cells[:MOST_ROWS], return_inverse=True)[1]
    n = len(outputs)
    bar = 4 * math.log(n / FALSE_ALARM)
    last = n - math.ceil(bar)  # no sum over fewer pairs can reach the bar
    if last < 2:
        return None
    shares = _shares(outputs, cells)
    products, squares = _autocorrelations(outputs, cells, shares, last + 1)
    squares += 1e-12 * squares[0]  # rounding never counts as evidence
    with np.errstate(invalid="ignore"):
        score = products[1:-1] / np.sqrt(squares[1:-1])
        if not cells_are_complete:
            peak = products[1:-1] - (products[:-2] + products[2:]) / 2
            score = np.minimum(score, peak / np.sqrt(squares[1:-1] + (squares[:-2] + squares[2:]) / 4))
            score[0] = -math.inf  # the neighbour of lag 1 is the variance
    strongest = int(np.nan_to_num(score, nan=-math.inf).argmax())
    if not score[strongest] ** 2 * (score[strongest] > 0) > bar:
        return None
    return _described(strongest + 1, outputs, cells, shares)


def _classes(outputs: Codes) -> Codes:
    """Outputs numbered by how common they are, the rare ones as one class."""
    rank = np.empty(int(outputs.max()) + 1, dtype=np.int64)
    rank[np.argsort(-np.bincount(outputs), kind="stable")] = np.arange(len(rank))
    return np.minimum(rank, _MOST_CLASSES - 1)[outputs]


def _shares(outputs: Codes, cells: Codes) -> Floats:
    """Share of each class among the rows of each cell: (cells, classes)."""
    shape = int(cells.max()) + 1, int(outputs.max()) + 1
    counts = np.bincount(cells * shape[1] + outputs, minlength=math.prod(shape)).reshape(shape)
    return np.asarray(counts / counts.sum(axis=1, keepdims=True))


def _autocorrelations(outputs: Codes, cells: Codes, shares: Floats, last: int) -> tuple[Floats, Floats]:
    """T and V for the lags 0 … last, by fast Fourier transforms of twice the length."""
    n = len(outputs)
    length = fft.next_fast_len(2 * n, real=True)
    energy = np.zeros(length // 2 + 1)
    norms = np.zeros(n)
    for y in range(shares.shape[1]):
        residual = (outputs == y) - shares[cells, y]
        norms += residual**2
        energy += _power(residual, length)
    products = fft.irfft(energy, length)[: last + 1]
    squares = fft.irfft(_power(norms, length), length)[: last + 1]
    return products, np.maximum(squares, 0.0)


def _power(signal: Floats, length: int) -> Floats:
    spectrum = fft.rfft(signal, length)
    return np.asarray(spectrum.real**2 + spectrum.imag**2)


def _described(lag: int, outputs: Codes, cells: Codes, shares: Floats) -> Repetition:
    expected = sum(column[cells[:-lag]] @ column[cells[lag:]] for column in shares.T)
    return Repetition(
        lag=lag,
        agreement=float(np.mean(outputs[:-lag] == outputs[lag:])),
        expected=float(expected / (len(outputs) - lag)),
    )
