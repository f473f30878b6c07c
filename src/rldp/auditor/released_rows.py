r"""A black-box check of released rows: what they show about ε, and whether their randomness repeats.

See ``docs/audit.md``, 'Released rows'.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainccinv, betaincinv

from rldp._common.checks import Label, finite_number, labels, real_number
from rldp.auditor.repetition import MOST_ROWS, find_repetition, tallied
from rldp.data.columns import encode, kind_of
from rldp.data.labels import Alphabet, count_pairs, faults
from rldp.errors import DataError, InvalidArgument

__all__ = ["ReleaseAudit", "audit_release"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class ReleaseAudit:
    """What released rows show.

    Attributes
    ----------
    epsilon : float
        Lower confidence bound on the ε of whatever made the rows; 0 where they show nothing.
    alpha : float
        With at most this probability the bound is larger than the true ε.
    output : label or None
        The output that shows it; None where ``epsilon`` is 0.
    secrets : (label, label) or None
        Under the first of them that output is more frequent than under the second.
    frequencies : (float, float) or None
        How often it came under either.
    rows : int
    repeats : int or None
        Rows this far apart share their randomness; None where that is not seen.
    repeat_score, repeat_limit : float
        The strongest dependence between rows any distance apart, in standard deviations, and what
        chance hardly ever exceeds.
    varies : bool
        Whether rows with the same secret (and the same value, if known) ever got different outputs.
    values_known : bool
        Whether the values were taken into account.
    claim : float or None
        The ε that was claimed.
    """

    epsilon: float
    alpha: float
    output: Label | None
    secrets: tuple[Label, Label] | None
    frequencies: tuple[float, float] | None
    rows: int
    repeats: int | None
    repeat_score: float
    repeat_limit: float
    varies: bool
    values_known: bool
    claim: float | None

    @property
    def ok(self) -> bool | None:
        """Whether nothing contradicts the claimed ε; None where none was claimed."""
        return None if self.claim is None else self.epsilon <= self.claim and self.repeats is None

    @property
    def sentences(self) -> tuple[str, ...]:
        """The findings in words."""
        return (*self._about_epsilon(), *self._about_repetition())

    def _about_epsilon(self) -> Iterator[str]:
        if self.secrets is None or self.frequencies is None:
            yield f"The {self.rows} rows show no leakage: any ε from 0 on explains them."
        else:
            yield (
                f"The ε of this release is at least {self.epsilon:.4f} (wrong with probability "
                f"{self.alpha:g} at most): output {self.output!r} came in {self.frequencies[0]:.2%} of the "
                f"rows with secret {self.secrets[0]!r} and in "
                f"{self.frequencies[1]:.2%} of those with {self.secrets[1]!r}."
            )
        if self.claim is not None:
            if self.epsilon > self.claim:
                yield f"That contradicts the claimed ε = {self.claim:g}."
            else:
                yield (
                    f"That does not contradict the claimed ε = {self.claim:g}; it does not prove it either, "
                    "as faults may be too small for so many rows."
                )

    def _about_repetition(self) -> Iterator[str]:
        if not self.varies:
            given = "secret and value" if self.values_known else "the secret"
            yield f"Given {given}, the output never varies: no randomness is seen at all."
            return
        measured = (
            f"{self.repeat_score:.1f} standard deviations, where chance reaches {self.repeat_limit:.1f}"
        )
        if self.repeats is None:
            part = f" among the first {MOST_ROWS} rows" if self.rows > MOST_ROWS else ""
            yield f"No repeated randomness is seen{part} (at most {measured})."
            return
        yield (
            f"Rows {self.repeats} apart depend on one another ({measured}): their randomness repeats, as it "
            "does when a seed is used again."
        )
        if not self.values_known:
            yield f"Or the values repeat every {self.repeats} rows; give the values to tell the two apart."


def audit_release(
    secrets: Any,
    released: Any,
    *,
    values: Any = None,
    epsilon: float | None = None,
    alpha: float = 0.01,
    outputs: Iterable[Label] | None = None,
) -> ReleaseAudit:
    r"""Check released rows against a claimed ε, knowing nothing of the protocol that made them.

    With Clopper and Pearson's bounds :math:`\underline p,\overline p` on every P(y|s), each missed with
    probability at most α / (2|S||Y|), so that all hold together,

    .. math:: \max_{y,s_1,s_2} \log\big(\underline p(y|s_1) / \overline p(y|s_2)\big)

    (or 0) exceeds the true ε with probability at most α. Beside it, every lag is tested for
    rows that depend on the rows so far away: the mark of a seed used twice.

    Assumed: given the secrets, rows are drawn independently, each with the conditional distribution of
    its secret, and then put into any order. A fault too small for the number of rows stays unseen.
    See ``docs/audit.md``, 'Released rows'.

    Parameters
    ----------
    secrets, released : column (list, NumPy, pandas, Polars or Arrow), n rows
        The secret and the released output of each person.
    values : column of n rows, optional
        The unreleased values. The bound does not need them. With them, a table whose values repeat is
        told from randomness that repeats.
    epsilon : float, optional
        The privacy level that is claimed.
    alpha : float
        Between 0 and 1: the bound may be wrong with this probability.
    outputs : sequence of labels, optional
        All that could be released; by default those that were. Give it where many outputs are rare:
        the bound holds for an alphabet that was fixed before the rows were drawn.

    Returns
    -------
    ReleaseAudit

    Examples
    --------
    >>> found = audit_release(["a"] * 500 + ["b"] * 500, [0, 1, 1, 1] * 125 + [0, 0, 0, 1] * 125)
    >>> 0.5 < found.epsilon < math.log(3)
    True
    """
    claim = _claimed(epsilon)
    miss = finite_number("alpha", alpha)
    if not 0 < miss < 1:
        raise InvalidArgument(f"alpha must lie strictly between 0 and 1, got {miss!r}")
    _require_rows(secrets=secrets, released=released, **({} if values is None else {"values": values}))
    s = encode("secrets", secrets)
    y = encode("released", released, None if outputs is None else Alphabet(labels("outputs", outputs)))
    u = None if values is None else encode("values", values)
    faults(s, y, *(() if u is None else (u,))).refuse()
    bound, found = _lower_bound(count_pairs(s.codes, y.codes, (len(s.labels), len(y.labels))), miss)
    cells = s.codes.astype(np.int64)
    if u is not None:
        cells = cells * len(u.labels) + u.codes
    drawn = y.codes.astype(np.int64)
    repetition = find_repetition(drawn, cells, cells_are_complete=u is not None)
    return ReleaseAudit(
        epsilon=bound,
        alpha=miss,
        output=None if found is None else y.labels[found.output],
        secrets=None if found is None else (s.labels[found.high], s.labels[found.low]),
        frequencies=None if found is None else found.frequencies,
        rows=len(s),
        repeats=repetition.lag if repetition.score > repetition.limit else None,
        repeat_score=repetition.score,
        repeat_limit=repetition.limit,
        varies=_vary(cells, drawn),
        values_known=u is not None,
        claim=claim,
    )


@dataclass(frozen=True)
class _Triple:
    output: int
    high: int
    low: int
    frequencies: tuple[float, float]


def _claimed(epsilon: float | None) -> float | None:
    if epsilon is None:
        return None
    claim = real_number("epsilon", epsilon)
    if claim < 0:
        raise InvalidArgument(f"epsilon must be at least 0, got {claim!r}")
    return claim


def _require_rows(**columns: Any) -> None:
    """Refuse columns without rows, and columns of different lengths."""
    for name, column in columns.items():
        kind_of(name, column)
    rows = len(columns["secrets"])
    if rows == 0:
        raise DataError("secrets must hold at least one row, got none")
    for name, column in columns.items():
        if len(column) != rows:
            raise DataError(f"{name} must have as many rows as secrets, {rows}, got {len(column)}")


def _lower_bound(counts: NDArray[np.int64], miss: float) -> tuple[float, _Triple | None]:
    """The bound that ``audit_release`` describes, and the triple that shows it."""
    rows = counts.sum(axis=1, keepdims=True)
    share = miss / (2 * counts.size)
    lower = np.where(counts > 0, betaincinv(np.maximum(counts, 1), rows - counts + 1, share), 0.0)
    upper = np.where(counts < rows, betainccinv(counts + 1, np.maximum(rows - counts, 1), share), 1.0)
    high, low = lower.argmax(axis=0), upper.argmin(axis=0)
    ratio = lower.max(axis=0) / upper.min(axis=0)
    y = int(ratio.argmax())
    if ratio[y] <= 1:
        return 0.0, None
    frequencies = counts / rows
    pair = float(frequencies[high[y], y]), float(frequencies[low[y], y])
    return math.log(ratio[y]), _Triple(y, int(high[y]), int(low[y]), pair)


def _vary(cells: NDArray[np.int64], outputs: NDArray[np.int64]) -> bool:
    pairs, _, _ = tallied(cells * (int(outputs.max()) + 1) + outputs)
    return len(pairs) > len(tallied(cells)[0])
