"""The result of an estimate, and the sentences that describe it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rldp._common.checks import Label, shown
from rldp._common.frames import Tabular
from rldp.theory.model import Floats

__all__ = ["Estimate", "Interval", "Method"]

Method: TypeAlias = Literal["unbiased", "projected", "shrunk", "likelihood", "posterior", "bayes"]
Interval: TypeAlias = Literal["normal", "betting"]

_ABOUT_METHOD = {
    "unbiased": (
        "The estimate is unbiased{if_so}: over many releases, its mean is the truth; single shares may be "
        "below 0 or above 1."
    ),
    "projected": (
        "The unbiased shares were moved to the nearest distribution. This never increases their distance "
        "from the truth, but shares near 0 are now too large on average, and the others too small."
    ),
    "shrunk": (
        "The unbiased shares were shrunk towards equal shares, by an amount that depends on their errors, "
        "and negative ones were set to 0. The error is smaller if shares are spread out; the bias is towards "
        "equal shares."
    ),
    "likelihood": (
        "This is the distribution that maximises the likelihood of the rows. It is never negative, and "
        "biased where shares are near 0."
    ),
    "posterior": (
        "This is the posterior mean under a Dirichlet prior that treats all cells alike and whose weight is "
        "fitted to the rows. Averaged over truths from this prior, its error is about the smallest possible. "
        "It is biased towards equal cells."
    ),
    "bayes": (
        "This is the iterative Bayesian update of the released rows alone, from a uniform start, for "
        "comparison with other libraries. It does not use the sample."
    ),
}

_ABOUT_INTERVAL = {
    "normal": (
        "With many rows, each interval contains the truth with probability {level:g} (normal approximation, "
        "corrected for skewness). The probability is lower if few rows decide."
    ),
    "betting": (
        "Each interval contains the truth with probability at least {level:g}, for every distribution and "
        "every number of rows that was fixed before the rows were seen."
    ),
}

_ABOUT_FUNCTIONS = {
    "unbiased": (
        "The answers are functions of moments. The moments are unbiased{if_so}; the functions have a bias "
        "that vanishes with the number of rows."
    ),
    "normal": (
        "The intervals use the delta method. With many rows, each contains the truth with probability "
        "{level:g}. The probability is lower if few rows decide, or if a variance or a group is small "
        "compared with its error."
    ),
    "betting": (
        "Each interval contains the truth with probability at least {level:g}, for every distribution and "
        "every number of rows that was fixed before the rows were seen. It follows from limits on all "
        "moments together, which is conservative."
    ),
}


@dataclass(frozen=True, eq=False, repr=False)
class Estimate(Tabular):
    """Estimates of the values from released rows.

    Arrays have the shape (m,) for m functionals and, if secrets are known, (|S|, m) with a row for each
    secret.

    Attributes
    ----------
    values : array
        Estimates; NaN if the rows do not determine the functional.
    lower, upper : array
        Confidence limits, clipped to possible values.
    identifiable : bool array
        Whether the distributions of outputs and sample determine the functional.
    least, most : array
        The range that the estimated distribution of the outputs allows; equal to ``values`` if
        ``identifiable``.
    covariance : array (m, m) or (|S|, m, m)
        Covariance of the unbiased estimates; NaN if undetermined.
    labels : tuple
        Labels of the functionals; for shares, the values.
    secrets : tuple or None
        The secret of each row, if known.
    naive : array or None
        The functionals of the released column taken at face value; None if outputs are not values.
    rows : int
        Number of released rows.
    sample_rows : int
        Number of rows of the sample that were used.
    sample_rejected : bool, or bool array (|S|,) where secrets are known
        Whether the released rows reject the given sample, which was then left out.
    designed_on_sample : bool
        Whether a protocol was designed on this sample.
    alpha : float
    method, interval : str
    seed : int
        The seed of the row order; ``estimate(…, seed=…)`` repeats the result.
    gap : float or None
        For the likelihood: no distribution has a log-likelihood larger by more than this.
    agreement : float or None
        The probability that rows of one distribution differ as much as the sample and the releases do; by
        secret, the smallest of all. None if there is nothing to compare.
    min_agreement : float
        A sample with a smaller agreement is left out.
    prior_rows : float or None
        The number of rows that the fitted prior of ``method="posterior"`` is worth; by secret, the largest.
    posterior_errors : array or None
        Standard deviations given the rows and that prior, including the uncertainty of its weight; None for
        other methods.
    overall : Estimate or None
        The estimate for all people together, if secrets are known.
    of_moments : bool
        Whether the answers are functions of moments, such as slopes.
    """

    values: Floats
    lower: Floats
    upper: Floats
    identifiable: NDArray[np.bool_]
    least: Floats
    most: Floats
    covariance: Floats
    labels: tuple[Label, ...]
    secrets: tuple[Label, ...] | None
    naive: Floats | None
    rows: int
    sample_rows: int
    sample_rejected: bool | NDArray[np.bool_]
    designed_on_sample: bool
    alpha: float
    method: str
    interval: str
    seed: int
    gap: float | None
    agreement: float | None
    min_agreement: float
    prior_rows: float | None = field(default=None)
    posterior_errors: Floats | None = field(default=None)
    overall: Estimate | None = field(default=None)
    of_moments: bool = field(default=False)

    @property
    def standard_errors(self) -> Floats:
        """Standard errors of the unbiased estimates."""
        diagonal = np.diagonal(self.covariance, axis1=-2, axis2=-1)
        return np.asarray(np.sqrt(diagonal))

    @property
    def sentences(self) -> tuple[str, ...]:
        """Sentences on what was estimated, how, and what may be wrong with it."""
        return tuple(self._sentences())

    def _sentences(self) -> Iterator[str]:
        sample = f" and {self.sample_rows} rows of a public sample" if self.sample_rows else ""
        yield f"Estimated from {self.rows} released rows{sample}."
        yield from self.about_rejection
        if self.sample_rows:
            yield self._about_assumption()
        if self.identifiable.any():
            of_moments = self.of_moments and self.method == "unbiased"
            about = _ABOUT_FUNCTIONS["unbiased"] if of_moments else _ABOUT_METHOD[self.method]
            yield about.format(if_so=self._if_so())
            if self.prior_rows is not None:
                yield f"The fitted prior is worth {self.prior_rows:.2g} rows whose cells are known."
            if self.method == "unbiased" and self.designed_on_sample:
                yield (
                    "The protocol was designed on this sample, so the bias is not exactly 0, but it is small "
                    "compared with the standard error."
                )
            about_intervals = _ABOUT_FUNCTIONS if self.of_moments else _ABOUT_INTERVAL
            yield about_intervals[self.interval].format(level=1 - self.alpha)
            yield f"The rows were split at random, with seed {self.seed}; the same seed repeats this result."
        if not self.identifiable.all():
            yield from self._about_the_rest()
        if not self.sample_rows and not np.any(self.sample_rejected):
            yield from self._about_releases()

    @property
    def about_rejection(self) -> tuple[str, ...]:
        """A sentence about a sample that was left out, if one was."""
        if not np.any(self.sample_rejected):
            return ()
        whose = ""
        if self.secrets is not None:
            rejected = np.flatnonzero(self.sample_rejected)
            whose = " for secret " + ", ".join(repr(self.secrets[s]) for s in rejected)
        return (
            f"The sample was left out{whose}: if it came from the same distribution as the released rows, "
            f"they would differ so much with probability {self.agreement:.1g} only. Perhaps it is old or of "
            "other people, or the rows were released with another protocol.",
        )

    def _if_so(self) -> str:
        if not self.sample_rows:
            return ""
        tested = self.agreement is not None and self.min_agreement > 0
        but = ", except for some hundredths of a standard error that the test adds" * tested
        return f" under this assumption{but}"

    def _about_assumption(self) -> str:
        assumed = "Assumed: the sample and the released rows come from one distribution."
        if self.agreement is None:
            return f"{assumed} The released rows cannot test that."
        if self.min_agreement == 0:
            return f"{assumed} Such rows differ as much with probability {self.agreement:.2g}."
        left = " where it was used" * bool(np.any(self.sample_rejected))
        return (
            f"{assumed} A test at level {self.min_agreement:g} does not reject that{left}, but it sees only "
            "differences that show in the outputs."
        )

    def _about_the_rest(self) -> Iterator[str]:
        some = "Some of what is asked" if self.identifiable.any() else "What is asked"
        yield (
            f"{some} is not determined by the outputs, however many rows there are. Such lines have no "
            f"estimate; with probability at least {1 - self.alpha:g}, their interval contains every answer "
            "that the outputs allow. A public sample of the same people would determine it."
        )
        if self.method == "bayes":
            yield "What the iterative Bayesian update finds there depends on its starting point."

    def _about_releases(self) -> Iterator[str]:
        if self.agreement is not None and self.agreement < self.min_agreement:
            yield (
                f"The releases do not agree: releases from one distribution differ as much with probability "
                f"{self.agreement:.1g}. Perhaps they are of different people, or the rows were released "
                "with another protocol."
            )

    def table(self) -> dict[str, list[Any]]:
        """Return the numbers as tidy columns, one row for each functional and, if known, each secret."""
        secrets = [None] if self.secrets is None else list(self.secrets)
        arrays = {
            "estimate": self.values,
            "lower": self.lower,
            "upper": self.upper,
            "standard_error": self.standard_errors,
            "identifiable": self.identifiable,
        }
        labels: dict[str, list[Any]] = {"label": list(self.labels) * len(secrets)}
        if self.secrets is not None:
            labels = {"secret": [secret for secret in secrets for _ in self.labels], **labels}
        return labels | {name: np.atleast_2d(array).ravel().tolist() for name, array in arrays.items()}

    def __repr__(self) -> str:
        of = f"{len(self.labels)} functional{'s' * (len(self.labels) != 1)}"
        group = "" if self.secrets is None else f" by {len(self.secrets)} secrets"
        first = np.atleast_2d(self.values)[0, 0]
        low, high = np.atleast_2d(self.lower)[0, 0], np.atleast_2d(self.upper)[0, 0]
        shown_first = f"{shown(self.labels[0], 24)}: {first:.4g} [{low:.4g}, {high:.4g}]"
        return f"<Estimate of {of}{group} from {self.rows} released rows: {shown_first}>"
