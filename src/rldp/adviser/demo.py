"""The table that comes with the package, and the demonstration on it.

Counts of sex by years of education (``education_num``) in the UCI Adult data set (census income,
1994; B. Becker and R. Kohavi, CC BY 4.0), 48 842 rows.
"""

from __future__ import annotations

import csv
import math
from dataclasses import dataclass
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from rldp._common.checks import Label
from rldp._common.process import silenced
from rldp.designer.api import design
from rldp.designer.designs import Design
from rldp.errors import SparseTableWarning
from rldp.measures.leakage import distortion, worst_case_leakage
from rldp.sample import Sample
from rldp.sets import ChiSquare, Nominal, UncertaintySet

__all__ = ["PROBLEMS", "Row", "Story", "adult", "four_problems", "story"]

PROBLEMS: dict[str, tuple[UncertaintySet, UncertaintySet]] = {
    "NUNP": (Nominal(), Nominal()),
    "RUNP": (ChiSquare(), Nominal()),
    "NURP": (Nominal(), ChiSquare()),
    "RURP": (ChiSquare(), ChiSquare()),
}
"""Utility set and privacy set of the paper's four problems."""


@dataclass(frozen=True)
class Row:
    """What one of the four problems promises and costs.

    Attributes
    ----------
    design : Design
    worst_leakage : (float, float)
        Bounds on the largest ε* over the set: every distribution that a χ² test at level 0.05 does not
        reject.
    nominal_distortion : float
        Expected distortion under the estimate.
    """

    design: Design
    worst_leakage: tuple[float, float]
    nominal_distortion: float


@dataclass(frozen=True)
class Story:
    """What a protocol changes, on the sample that it was designed on.

    Attributes
    ----------
    raw_value : label
        The value that reveals most about the secret if it is published as it is.
    raw_secrets : (label, label)
        The secret with which it is most common, and the one with which it is rarest.
    raw_leakage : float
        Logarithm of how much more common it is: ε* of the raw column.
    moved_value : label
        The value of which most rows change.
    moved : tuple of (secret, share that stays, other output that is likeliest)
    unchanged : float
        Share of the rows that stay as they are.
    error : float
        Root of the expected squared distortion, under the estimate.
    """

    raw_value: Label
    raw_secrets: tuple[Label, Label]
    raw_leakage: float
    moved_value: Label
    moved: tuple[tuple[Label, float, Label], ...]
    unchanged: float
    error: float


def story(sample: Sample, designed: Design) -> Story:
    """Tell what a design on ``sample`` whose outputs are the values does to a row."""
    p, q = sample.distribution, designed.protocol.matrix
    within = p / p.sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = np.nan_to_num(np.log(within.max(axis=0) / within.min(axis=0)), posinf=np.inf)
    raw = int(np.argmax(spread))
    stays = q[:, np.arange(len(sample.values)), np.arange(len(sample.values))]
    moved = int(np.argmax((p * (1 - stays)).sum(axis=0)))
    others = np.where(np.arange(len(sample.values)) == moved, -1.0, q[:, moved]).argmax(axis=1)
    return Story(
        raw_value=sample.values[raw],
        raw_secrets=(
            sample.secrets[int(within[:, raw].argmax())],
            sample.secrets[int(within[:, raw].argmin())],
        ),
        raw_leakage=float(spread[raw]),
        moved_value=sample.values[moved],
        moved=tuple(
            (secret, float(stays[s, moved]), sample.values[int(others[s])])
            for s, secret in enumerate(sample.secrets)
        ),
        unchanged=float((p * stays).sum()),
        error=math.sqrt(distortion(designed.protocol, p)),
    )


def adult(n: int | None = None) -> Sample:
    """Sex by years of education; with ``n``, as many rows in the same proportions.

    Examples
    --------
    >>> adult().n, adult().secrets
    (48842, ('Female', 'Male'))
    >>> adult(500).n
    500
    """
    text = files("rldp.adviser").joinpath("adult_sex_education.csv").read_text(encoding="utf-8")
    header, *rows = csv.reader(text.splitlines())
    counts = np.array([[int(count) for count in row[1:]] for row in rows])
    if n is not None:
        counts = _in_proportion(counts, n)
    return Sample(counts, [row[0] for row in rows], [int(value) for value in header[1:]])


def four_problems(sample: Sample, epsilon: float) -> list[Row]:
    """Design all four problems on ``sample`` and judge each over the χ² set at level 0.05."""
    rows = []
    for name, (utility, privacy) in PROBLEMS.items():
        left_out = () if name == "RURP" else (SparseTableWarning,)  # that of RURP names both sets
        with silenced(*left_out):
            designed = design(sample, epsilon, privacy=privacy, utility=utility)
        rows.append(
            Row(
                designed,
                worst_case_leakage(designed.protocol, sample, ChiSquare()),
                distortion(designed.protocol, sample.distribution),
            )
        )
    return rows


def _in_proportion(counts: NDArray[np.int64], n: int) -> NDArray[np.int64]:
    """Integers in the proportions of ``counts`` that sum to ``n``, by largest remainders."""
    shares = counts * (n / counts.sum())
    floors = np.floor(shares).astype(int)
    left = n - int(floors.sum())
    order = np.argsort(-(shares - floors), axis=None, kind="stable")
    floors.flat[order[:left]] += 1
    return np.asarray(floors)
