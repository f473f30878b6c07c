"""How fine a table of numbers should be: what each number of bins would promise."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from rldp._common.warnings import silenced
from rldp.designer.api import design
from rldp.errors import InvalidArgument, RldpWarning
from rldp.sample import Sample

__all__ = ["CANDIDATES", "Cut", "best", "cuts"]

CANDIDATES = (4, 8, 16, 32)
_GAP = 1e-3


@dataclass(frozen=True)
class Cut:
    """A number of bins, the sample that is counted in them, and the distortion that it would promise."""

    bins: int
    sample: Sample
    objective: float


def cuts(
    counted: Callable[[int], Sample], epsilon: float, candidates: Sequence[int] = CANDIDATES, **options: Any
) -> Iterator[Cut]:
    """Designs for some numbers of bins.

    Parameters
    ----------
    counted : callable
        Number of bins → sample.
    epsilon : float
    candidates : sequence of int
        Numbers of bins to try; those that give no finer table than the last are left out.
    **options
        Of :func:`rldp.design`.
    """
    finest = 0
    for bins in candidates:
        sample = counted(bins)
        if len(sample.values) <= finest:
            return
        finest = len(sample.values)
        with silenced(RldpWarning):
            designed = design(sample, epsilon, **{"gap": _GAP, **options})
        yield Cut(bins, sample, designed.objective)


def best(counted: Callable[[int], Sample], epsilon: float, **options: Any) -> Cut:
    """The cut with the smallest promised distortion, which counts what binning itself loses.

    Raises
    ------
    InvalidArgument
        If the distortion does not count that.
    """
    if options.get("distortion", "squared") not in ("squared", "absolute"):
        raise InvalidArgument("--bins auto needs the distortion 'squared' or 'absolute', got another")
    return min(cuts(counted, epsilon, **options), key=lambda cut: cut.objective)
