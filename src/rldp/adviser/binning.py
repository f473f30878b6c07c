"""The number of bins for a column of numbers, chosen by the distortion that each would promise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from rldp._common.process import silenced
from rldp.adviser.verdict import WORTH_TELLING
from rldp.designer.api import design
from rldp.designer.designs import Design
from rldp.errors import InvalidArgument, RldpWarning
from rldp.sample import Sample

__all__ = ["CANDIDATES", "Cut", "best", "coarser", "is_fine"]

CANDIDATES = (4, 8, 16, 32)
"""Numbers of bins to try."""
_GAP = 1e-3


@dataclass(frozen=True)
class Cut:
    """A number of bins, the binned sample, and the distortion that it would promise."""

    bins: int
    sample: Sample
    objective: float


def best(counted: Callable[[int], Sample], epsilon: float, **options: Any) -> Cut:
    """Return the number of bins with the smallest promised distortion, which includes the loss by binning.

    A number of bins that makes the table no finer ends the search.

    Parameters
    ----------
    counted : callable
        Maps a number of bins to the sample.
    epsilon : float
    **options
        Options of :func:`rldp.design`.

    Raises
    ------
    InvalidArgument
        If the distortion does not include the loss by binning.
    """
    if options.get("distortion", "squared") not in ("squared", "absolute"):
        raise InvalidArgument("bins='auto' needs the distortion 'squared' or 'absolute', got another")
    cuts: list[Cut] = []
    for bins in CANDIDATES:
        with silenced(RldpWarning):
            sample = counted(bins)
            if cuts and len(sample.values) <= len(cuts[-1].sample.values):
                break
            designed = design(sample, epsilon, **{"gap": _GAP, **options})
        cuts.append(Cut(bins, sample, designed.objective))
    return min(cuts, key=lambda cut: cut.objective)


def is_fine(sample: Sample, distortion: object = "squared") -> bool:
    """Return whether a sample has more numeric values than the largest number of bins tried.

    Parameters
    ----------
    sample : Sample
    distortion : object
        Only "squared" and "absolute" include the loss by binning.
    """
    numbers = sample.scale is None and not any(isinstance(u, str | bool | tuple) for u in sample.values)
    return (
        numbers
        and len(sample.values) > CANDIDATES[-1]
        and isinstance(distortion, str)
        and distortion in ("squared", "absolute")
    )


def coarser(counted: Callable[[int], Sample], designed: Design, **options: Any) -> Cut | None:
    """Return the best cut if it promises much less distortion than the design on the raw values.

    Parameters
    ----------
    counted : callable
        Maps a number of bins to the sample.
    designed : Design
        The design on the raw values.
    **options
        The options of that design.
    """
    cut = best(counted, designed.epsilon, **options)
    return cut if cut.objective < WORTH_TELLING * designed.objective else None
