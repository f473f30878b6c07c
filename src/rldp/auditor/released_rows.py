r"""Check released rows as a black box: a lower bound on ε, and whether their randomness repeats.

See ``docs/audit.md``, 'Released rows'.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rldp._common.checks import Label, choice, labels, level_number, seed_or_fresh, share_number
from rldp.auditor.leakage_shown import Columns, noticeable, shown_by
from rldp.auditor.repetition import MOST_ROWS, find_repetition, tallied
from rldp.data.columns import encode, kind_of
from rldp.data.labels import Alphabet, Encoded, count_pairs, faults
from rldp.data.meaning import number_of_text
from rldp.data.rows import with_category, with_missing_labelled
from rldp.errors import DataError, InvalidArgument

__all__ = ["ReleaseAudit", "audit_release"]

_NAMED = 3  # outputs of a group to name


@dataclass(frozen=True)
class ReleaseAudit:
    """The findings about released rows.

    Attributes
    ----------
    epsilon : float
        Lower confidence bound on the ε of the process that made the rows; 0 if they show nothing.
    alpha : float
        The bound is larger than the true ε with at most this probability.
    output : label or None
        The output that shows it; None if ``epsilon`` is 0 or a group of outputs shows it.
    outputs : tuple of labels
        All outputs that show it together. With several columns an output is a tuple of labels.
    secrets : (label, label) or None
        The output is more frequent under the first of these two secrets.
    frequencies : (float, float) or None
        Its frequency under each; for a group, among the rows that tested it.
    noticeable : float
        A smaller ε would go unnoticed with these rows (with a claim: would not be seen to exceed it), even in
        a maximally revealing release. A larger one is noticed if it shows in frequent outputs.
    rows : int
    repeats : int or None
        Rows at this distance share their randomness; None if no such distance is found.
    repeat_score, repeat_limit : float
        The strongest dependence between rows at any distance, in standard deviations, and the value that
        chance hardly ever exceeds.
    varies : bool
        Whether rows with the same secret (and value, if known) ever got different outputs.
    values_known : bool
        Whether the values were given.
    claim : float or None
        The claimed ε.
    seed : int
        The seed that drew the rows which choose groups; ``audit_release(…, seed=…)`` repeats the result.
    """

    epsilon: float
    alpha: float
    output: Label | tuple[Label, ...] | None
    outputs: tuple[Label | tuple[Label, ...], ...]
    secrets: tuple[Label, Label] | None
    frequencies: tuple[float, float] | None
    noticeable: float
    rows: int
    repeats: int | None
    repeat_score: float
    repeat_limit: float
    varies: bool
    values_known: bool
    claim: float | None
    seed: int

    @property
    def ok(self) -> bool | None:
        """Whether nothing contradicts the claimed ε; None without a claim."""
        return None if self.claim is None else self.epsilon <= self.claim and self.repeats is None

    @property
    def sentences(self) -> tuple[str, ...]:
        """The findings in words."""
        return (*self._about_epsilon(), *self._about_limits(), *self._about_repetition())

    def _about_epsilon(self) -> Iterator[str]:
        if self.secrets is None or self.frequencies is None:
            yield f"The {self.rows} rows do not bound ε from below: any ε from 0 on explains them."
        else:
            yield (
                f"The ε of this release is at least {self.epsilon:.4f} (wrong with probability "
                f"{self.alpha:g} at most): {self._named()} occurs in {self.frequencies[0]:.2%} of the "
                f"rows with secret {self.secrets[0]!r} and in "
                f"{self.frequencies[1]:.2%} of those with {self.secrets[1]!r}."
            )
        if self.claim is not None:
            if self.epsilon > self.claim:
                yield f"That contradicts the claimed ε = {self.claim:g}."
            else:
                yield f"That does not contradict the claimed ε = {self.claim:g}; it does not prove it either."

    def _named(self) -> str:
        if len(self.outputs) == 1:
            return f"output {self.outputs[0]!r}"
        some = ", ".join(repr(output) for output in self.outputs[:_NAMED])
        return f"one of {len(self.outputs)} outputs ({some}{', …' * (len(self.outputs) > _NAMED)})"

    def _about_limits(self) -> Iterator[str]:
        beyond = "" if self.claim is None else f" to exceed {self.claim:g}"
        if math.isinf(self.noticeable):
            yield f"With these rows, no ε would be noticed{beyond}."
        else:
            yield (
                f"An ε below {self.noticeable:.2g} would not be noticed{beyond} with these rows. A larger "
                "one is noticed if it shows in outputs that are frequent enough."
            )
        if len(self.outputs) > 1:
            yield (
                "Some rows, drawn at random, chose the outputs, and the others tested them; "
                f"seed {self.seed} repeats this result."
            )

    def _about_repetition(self) -> Iterator[str]:
        if not self.varies:
            given = "secret and value" if self.values_known else "the secret"
            yield f"Given {given}, the output never varies: the rows show no randomness at all."
            return
        measured = (
            f"{self.repeat_score:.1f} standard deviations, where chance reaches {self.repeat_limit:.1f}"
        )
        if self.repeats is None:
            part = f" among the first {MOST_ROWS} rows" if self.rows > MOST_ROWS else ""
            yield f"No repeated randomness was found{part} (at most {measured})."
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
    missing: Literal["refuse", "category"] = "refuse",
    seed: int | None = None,
) -> ReleaseAudit:
    r"""Check released rows against a claimed ε, without using the protocol that made them.

    Let :math:`\underline p,\overline p` be Clopper and Pearson's bounds on every P(y|s). Each misses with
    probability at most α / (2|S||Y|), so all hold together. Then

    .. math:: \max_{y,s_1,s_2} \log\big(\underline p(y|s_1) / \overline p(y|s_2)\big)

    (or 0) exceeds the true ε with probability at most α. With more than eight outputs, half of α is spent on
    groups of outputs, which some of the rows choose and the others test. In addition, every lag is tested for
    dependence between rows at that distance, the mark of a seed used twice.

    Assumptions: given the secrets, rows are drawn independently, each from the conditional distribution of
    its secret, and then put into any order. A fault too small for the number of rows stays unseen. See
    ``docs/audit.md``, 'Released rows'.

    Parameters
    ----------
    secrets, released : column (list, NumPy, pandas, Polars or Arrow), n rows
        The secret and the released output of each person. Test several columns that were published side by
        side together, as a mapping ``released={"age": …, "region": …}``: they may reveal far more together
        than each by itself.
    values : column of n rows, optional
        The unreleased values. The bound does not need them. They help to distinguish repeating values from
        repeating randomness.
    epsilon : float, optional
        The claimed privacy level.
    alpha : float
        Between 0 and 1: the probability that the bound is wrong.
    outputs : sequence of labels, optional
        All possible outputs; by default those that occur. Pass them if many outputs are rare: the bound
        requires an alphabet that was fixed before the rows were drawn. A missing entry is the output
        ``(missing)``, if that is one of them.
    missing : {"refuse", "category"}
        How missing entries of released columns are treated: "refuse" raises an error, "category" counts them
        as the output ``(missing)``.
    seed : int, optional
        Seed of the draw of the rows that choose groups; by default fresh from the operating system. The
        result records it, and passing it repeats the result.

    Returns
    -------
    ReleaseAudit

    Examples
    --------
    >>> found = audit_release(["a"] * 500 + ["b"] * 500, [0, 1, 1, 1] * 125 + [0, 0, 0, 1] * 125)
    >>> 0.5 < found.epsilon < math.log(3)
    True
    """
    claim = None if epsilon is None else level_number("epsilon", epsilon)
    miss = share_number("alpha", alpha)
    choice("missing", missing, ("refuse", "category"))
    columns = _columns(released, outputs)
    _require_rows(secrets=secrets, **columns, **({} if values is None else {"values": values}))
    s = encode("secrets", secrets)
    alphabet = None if outputs is None else Alphabet(labels("outputs", outputs))
    parts = [encode(name, column, alphabet) for name, column in columns.items()]
    if missing == "category" and outputs is None:
        parts = list(map(with_category, parts))
    parts = list(map(with_missing_labelled, parts))
    u = None if values is None else encode("values", values)
    faults(s, *parts, *(() if u is None else (u,))).refuse()
    y = _Outputs.of(parts)
    counts = count_pairs(s.codes, y.codes, (len(s.labels), len(y.labels)))
    drawn_with = seed_or_fresh(seed)
    leak = shown_by(counts, y.columns, miss, np.random.default_rng(drawn_with))
    named = () if leak is None else tuple(y.labels[output] for output in leak.outputs)
    cells = s.codes.astype(np.int64)
    if u is not None:
        cells = cells * len(u.labels) + u.codes
    drawn = y.codes.astype(np.int64)
    repetition = find_repetition(drawn, cells, cells_are_complete=u is not None)
    return ReleaseAudit(
        epsilon=0.0 if leak is None else leak.epsilon,
        alpha=miss,
        output=named[0] if len(named) == 1 else None,
        outputs=named,
        secrets=None if leak is None else (s.labels[leak.high], s.labels[leak.low]),
        frequencies=None if leak is None else leak.frequencies,
        noticeable=noticeable(counts, miss, 0.0 if claim is None else claim),
        rows=len(s),
        repeats=repetition.lag if repetition.score > repetition.limit else None,
        repeat_score=repetition.score,
        repeat_limit=repetition.limit,
        varies=_vary(cells, drawn),
        values_known=u is not None,
        claim=claim,
        seed=drawn_with,
    )


@dataclass(frozen=True)
class _Outputs:
    """Several columns as one: codes (n,) of the combinations that occur, and their labels."""

    codes: NDArray[np.int32]
    labels: tuple[Label | tuple[Label, ...], ...]
    columns: Columns

    @classmethod
    def of(cls, encoded: list[Encoded]) -> _Outputs:
        ranks = [_ranks(part.labels) for part in encoded]
        ordered = tuple(rank is not None for rank in ranks)
        parts = [
            part if rank is None else _sorted(part, rank) for part, rank in zip(encoded, ranks, strict=True)
        ]
        codes, places = parts[0].codes.astype(np.int64), np.arange(len(parts[0].labels))[:, None]
        for part in parts[1:]:
            joint, codes = np.unique(codes * len(part.labels) + part.codes, return_inverse=True)
            before, own = np.divmod(joint, len(part.labels))
            places = np.concatenate([places[before], own[:, None]], axis=1)
        names: tuple[Any, ...] = parts[0].labels
        if len(parts) > 1:
            names = tuple(tuple(part.labels[i] for part, i in zip(parts, row, strict=True)) for row in places)
        return cls(codes.astype(np.int32), names, Columns(places, ordered))


def _ranks(labels: Sequence[Label]) -> NDArray[np.int32] | None:
    """Return the places of labels in the order of the numbers that they are, or that their texts stand for.

    None if one of them is no number.
    """
    numbers = [number_of_text(label) if isinstance(label, str) else label for label in labels]
    if any(number is None or isinstance(number, bool) for number in numbers):
        return None
    return np.argsort(np.argsort(np.array(numbers, dtype=object), kind="stable")).astype(np.int32)


def _sorted(part: Encoded, ranks: NDArray[np.int32]) -> Encoded:
    """Return the column with its labels in the order of their ranks."""
    alphabet = Alphabet(part.labels[place] for place in np.argsort(ranks))
    return replace(part, codes=ranks[part.codes], alphabet=alphabet)


def _columns(released: Any, outputs: object) -> dict[str, Any]:
    """Return the released columns by their names in messages."""
    if not isinstance(released, Mapping):
        return {"released": released}
    if not released:
        raise InvalidArgument("released must hold at least one column, got none")
    if outputs is not None:
        raise InvalidArgument("outputs must be left out where released is several columns")
    return {f"released[{name!r}]": column for name, column in released.items()}


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


def _vary(cells: NDArray[np.int64], outputs: NDArray[np.int64]) -> bool:
    pairs, _, _ = tallied(cells * (int(outputs.max()) + 1) + outputs)
    return len(pairs) > len(tallied(cells)[0])
