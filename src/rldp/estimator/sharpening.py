"""Combine a public sample with released rows into a larger sample for a new design."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rldp.errors import InvalidArgument, InvalidArgumentType
from rldp.estimator.released import Released
from rldp.protocol import require_labels
from rldp.sample import Sample
from rldp.theory.estimation import pilot, rows_worth
from rldp.theory.likelihood import maximum_likelihood
from rldp.theory.model import Floats
from rldp.theory.tallies import Tally

__all__ = ["sharpen"]


def sharpen(sample: Sample, released: Released) -> Sample:
    r"""Return a larger sample that represents a public sample and released rows with known secrets.

    For each secret s, the counts follow the most likely distribution of the values given both sources. They
    sum to the number of rows n* that both sources are worth together: n* direct draws would determine no
    functional of P(u|s) better. n* is at least the number of rows of the sample with this secret.

    A design on the result uses all that is known. Its promise holds as far as the normal approximation for
    many rows does: estimated counts are not counts of independent draws, so promises that are exact for every
    number of rows, such as :class:`rldp.Pairs`, become approximate. A second release from the same people
    adds to the leakage of the first. See ``docs/estimate.md``, 'A second design'.

    Parameters
    ----------
    sample : Sample
    released : Released
        With known secrets, from a protocol with the sample's labels, of other people than the sample's.

    Returns
    -------
    Sample

    Raises
    ------
    InvalidArgument, InvalidArgumentType
        If labels differ, or the secrets of the released rows are unknown.

    Examples
    --------
    >>> from rldp import Protocol
    >>> flip = Protocol([[[0.7, 0.3], [0.2, 0.8]], [[0.6, 0.4], [0.3, 0.7]]])
    >>> sharpen(Sample([[6, 4], [3, 7]]), Released([[500, 500], [420, 580]], flip)).counts.sum(axis=1)
    array([250,  98])
    """
    if not isinstance(released, Released):
        raise InvalidArgumentType(f"released must be an rldp.Released, got {type(released).__name__}")
    require_labels(released.protocol, sample)
    if not released.knows_secrets:
        raise InvalidArgument("released must have the secrets of its rows, since P(u|s) is asked for")
    rows = [
        _worth(Tally.of_sample(known), Tally(matrix, counts))
        for known, matrix, counts in zip(
            sample.counts, released.protocol.matrix, released.counts, strict=True
        )
    ]
    return Sample(np.stack(rows), sample.secrets, sample.values, reading=sample.reading, scales=sample.scales)


def _worth(known: Tally, released: Tally) -> NDArray[np.int64]:
    """Return counts that represent both tallies, shape (|U|,)."""
    if not released.n:
        return known.counts
    tallies = [tally for tally in (known, released) if tally.n]
    size = max(int(rows_worth(tallies, pilot(tallies))), known.n)
    return _whole(size * maximum_likelihood(tallies).distribution, size)


def _whole(amounts: Floats, total: int) -> NDArray[np.int64]:
    """Round amounts to whole numbers with the given sum, by the largest remainders."""
    counts = np.floor(amounts).astype(np.int64)
    order = np.argsort(counts - amounts, kind="stable")
    counts[order[: total - int(counts.sum())]] += 1
    return counts
