"""Warnings about the sample and the design: too few rows for a promise, an optimum that is not proved."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from rldp._common.process import warn
from rldp.designer.certify import CertifiedBatch
from rldp.designer.status import Reason
from rldp.errors import GapWarning, PriceWarning, SparseTableWarning, UnseenSecretWarning
from rldp.sets import Credible, UncertaintySet
from rldp.theory.model import DesignProblem

__all__ = ["is_sparse", "warn_of_sample", "warn_open"]

_RARE, _MOST_RARE = 5, 0.2  # Cochran's rule: a fifth of the cells may be expected fewer than 5 times
_SOUND = {
    "privacy": "privacy='pairs' keeps its level at every sample size",
    "utility": "utility='credible' does not rest on large samples",
}
_COSTLY = 2.0  # times the lower bound: from here on, people are warned what windows may cost


def warn_of_sample(
    problem: DesignProblem, privacy: UncertaintySet, utility: UncertaintySet, *, stacklevel: int
) -> None:
    """Warn of samples too small for the promises."""
    if not isinstance(privacy, Credible):
        _warn_unseen(problem, stacklevel)
    _warn_sparse(problem, {"privacy": privacy, "utility": utility}, stacklevel)
    if isinstance(privacy, Credible):
        _warn_few_rows(problem, stacklevel)


def _warn_few_rows(problem: DesignProblem, stacklevel: int) -> None:
    """Warn of fewer rows than cells, where credible promises were measured to fail too often."""
    rows, cells = problem.published.sum(axis=(1, 2)), problem.counts[0].size
    few = rows < cells
    if few.any():
        rows_seen = f"{rows[0]} rows" if len(few) == 1 else f"fewer in {few.sum()} of {len(few)} samples"
        warn(
            f"the sample is small: a table of {cells} cells needs at least as many rows for a credible "
            f"promise, got {rows_seen}; with fewer, protocols may fail more often than alpha says; "
            f"{_SOUND['privacy']}",
            SparseTableWarning,
            stacklevel=stacklevel,
        )


def _warn_unseen(problem: DesignProblem, stacklevel: int) -> None:
    unseen = (problem.counts.sum(axis=2) == 0).any(axis=1)
    if problem.privacy is None and problem.counts.shape[1] > 1 and unseen.any():
        warn(
            f"nominal privacy leaves out secrets that were never seen ({unseen.sum()} of "
            f"{len(unseen)} samples); a set such as rldp.ChiSquare() covers them",
            UnseenSecretWarning,
            stacklevel=stacklevel,
        )


def is_sparse(counts: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether the level of a test is unreliable, by Cochran's rule: (…) for counts (…, |S|, |U|)."""
    cells = counts.shape[-2] * counts.shape[-1]
    sparse: NDArray[np.bool_] = (counts < _RARE).sum(axis=(-2, -1)) > _MOST_RARE * cells
    return sparse


def _warn_sparse(problem: DesignProblem, sets: Mapping[str, UncertaintySet], stacklevel: int) -> None:
    """Warn of radii that are right for large samples only, on samples with many rare cells."""
    cells = problem.counts[0].size
    sparse = is_sparse(problem.counts)
    doubtful = [name for name, given in sets.items() if given.is_asymptotic]
    if cells == 1 or not sparse.any() or not doubtful:
        return
    where = f"{(problem.counts[0] < _RARE).sum()} of {cells} cells"
    if len(sparse) > 1:
        where = f"in {sparse.sum()} of {len(sparse)} samples more than a fifth of the cells"
    warn(
        f"the table is sparse: {where} were seen fewer than {_RARE} times, so the truth may lie outside "
        f"the set for {' and the one for '.join(doubtful)} far more often than its alpha says; "
        + "; ".join(_SOUND[name] for name in doubtful),
        SparseTableWarning,
        stacklevel=stacklevel,
    )


def warn_open(
    problem: DesignProblem, solved: CertifiedBatch, gap: float, windows: bool, *, stacklevel: int
) -> None:
    """Warn of open gaps, due to the solver or to windows."""
    missed = solved.reason != Reason.GAP_CLOSED
    if not missed.any():
        return
    by_windows = windows and problem.privacy is not None
    costly = missed & (solved.objective > _COSTLY * solved.lower_bound)
    told = solved.reason == Reason.TIME_LIMIT if by_windows else missed
    if told.any():
        worst = int(np.argmax(np.where(told, solved.gap, -np.inf)))
        warn(
            f"{told.sum()} of {len(missed)} designs are private but proved optimal only to a gap "
            f"of {solved.gap[worst]:.2g} instead of {gap:.2g}: {solved.reason[worst].advice}",
            GapWarning,
            stacklevel=stacklevel,
        )
    if costly.any() and by_windows:
        worst = int(np.argmax(np.where(costly, solved.objective - solved.lower_bound, -np.inf)))
        warn(
            f"windows may be costly in {costly.sum()} of {len(missed)} designs: the distortion promised is "
            f"{solved.objective[worst]:.4g}, and privacy alone is known to need only "
            f"{solved.lower_bound[worst]:.4g}; without windows the design takes longer and is never worse",
            PriceWarning,
            stacklevel=stacklevel,
        )
