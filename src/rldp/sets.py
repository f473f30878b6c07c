r"""Sets of distributions that a sample does not rule out.

For an empirical distribution :math:`\hat P` on :math:`k` cells from :math:`n` draws, the power
divergences of Cressie and Read give the confidence sets

.. math::
    F_\lambda = \{P : \sum \hat P\,[(\hat P / P)^\lambda - 1] \le B\},\quad
    B = \tfrac{\lambda(\lambda+1)}{2}\,\chi^2_{k-1}(1-\alpha)/n \quad(\lambda > 0),

    F_0 = \{P : \sum \hat P \log(\hat P / P) \le r\},\quad r = \chi^2_{k-1}(1-\alpha)/(2n).

The radius comes from the limiting χ² distribution of the test statistic, so the truth is outside with
probability about α only for large samples. Other promises cost less or need less: :class:`Credible` takes the
smallest radius that keeps the protocol's posterior risk at α; :class:`Pairs` has a set for each pair of
secrets and holds at every n; :class:`AllDistributions` needs no sample. See ``docs/theory.md``, 'Sets of
distributions', 'Credible privacy' and 'Radii for every n'.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Literal, TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import chdtri

from rldp._common.checks import (
    count_array,
    distribution_table,
    finite_number,
    seed_number,
    share_number,
    shown,
)
from rldp.errors import InvalidArgument, InvalidArgumentType

if TYPE_CHECKING:
    from rldp.sample import Sample

_LARGEST_LAMBDA = 100.0
_WHOLE = 2**52  # sum of the integers of a centre
_SMALLEST_RISK = 1e-5
_SMALLEST_LAMBDA = 1e-6  # of credible sets: their radius is proportional to it
_SMALLEST_ALPHA = 1e-300  # below, floats are sparse and SciPy's quantile is off by up to 2e-4
LARGEST_ALPHA = 0.5
"""A promise that fails more often than a coin flip promises nothing."""

_ESTIMATE, _MEAN = "the estimated distribution only", "the posterior mean only"
_TESTS = {1.0: "χ² test", 2 / 3: "Cressie-Read test", 0.0: "G-test"}

Prior: TypeAlias = float | Literal["adaptive"]
"""The prior of a credible promise: a, for Dirichlet(a, …, a) on the cells, or "adaptive", which learns a from
the counts.
"""

__all__ = [
    "LARGEST_ALPHA",
    "NAMED",
    "AllDistributions",
    "Centre",
    "ChiSquare",
    "Credible",
    "CressieRead",
    "GTest",
    "Nominal",
    "Pairs",
    "PowerDivergence",
    "Prior",
    "PrivacySet",
    "Radius",
    "SetName",
    "UncertaintySet",
    "UtilityName",
    "UtilitySet",
    "as_asked",
    "checked_prior",
    "checked_set",
    "name_of",
    "prior_words",
    "require_confidence",
]


class _Set(ABC):
    """Base class of all promises; :data:`UncertaintySet` lists them."""

    @property
    @abstractmethod
    def scope(self) -> str:
        """The distributions the set stands for, in words that follow 'for'.

        Examples
        --------
        >>> ChiSquare().scope
        'every distribution that a χ² test at level 0.05 does not reject'
        """

    @property
    def is_asymptotic(self) -> bool:
        """Whether the set reaches its stated probability of covering the truth for large samples only."""
        return False


Centre: TypeAlias = tuple[tuple[int, ...], ...] | None


class _Ball(_Set):
    """A set of all distributions within a radius of its centre, by default the estimate."""

    centre: Centre = None

    def around(self, sample: Sample) -> Sample:
        """Return the sample whose estimate is the centre of the set."""
        if self.centre is None:
            return sample
        counts = np.array(self.centre, dtype=np.int64)
        return replace(sample, counts=counts, noise=None, noisy_counts=None, rows_a_person=1)

    @abstractmethod
    def size(self, n: ArrayLike, cells: int) -> NDArray[np.float64]:
        """Return the radius for ``n`` draws on ``cells`` cells; 0 is the estimate alone.

        Parameters
        ----------
        n : array_like of int, any shape
            Sample sizes.
        cells : int
            Number of cells, |S|·|U|.

        Returns
        -------
        ndarray, shape of ``n``
        """

    def divergence(self, estimate: ArrayLike, distribution: ArrayLike) -> float:
        """Return the divergence of ``distribution`` from ``estimate``, in the units of the radius.

        It is Σ P̂ [(P̂/P)^λ − 1], or Σ P̂ log(P̂/P) for λ = 0.
        """
        lambda_ = getattr(self, "lambda_", 1.0)  # without a radius, λ does not matter
        p_hat, p = np.asarray(estimate, dtype=float), np.asarray(distribution, dtype=float)
        seen = p_hat > 0
        if np.any(p[seen] <= 0):
            return math.inf
        log_ratio = np.log(p_hat[seen] / p[seen])
        terms = log_ratio if lambda_ == 0 else np.expm1(lambda_ * log_ratio)
        return float(np.sum(p_hat[seen] * terms))

    def contains(self, sample: Sample, distribution: ArrayLike) -> bool:
        """Return whether ``distribution`` (|S|×|U|, summing to one) lies in the set around ``sample``."""
        p = distribution_table(distribution, sample.counts.shape)
        radius, centre = float(self.size(sample.n, p.size)), self.around(sample).distribution
        if radius == 0:
            return bool(np.array_equal(p, centre))
        return self.divergence(centre, p) <= radius


@dataclass(frozen=True)
class Nominal(_Ball):
    """The estimate alone, without robustness.

    Parameters
    ----------
    centre : table of int, |S|×|U|, optional
        Integers, summing to 2^52, proportional to another distribution to use instead of the estimate. A
        design with a credible promise of privacy and the adaptive prior puts the posterior mean here.

    Examples
    --------
    >>> float(Nominal().size(100, cells=6))
    0.0
    """

    _: KW_ONLY
    centre: Centre = None

    def __post_init__(self) -> None:
        vars(self).update(centre=_checked_centre(self.centre))

    def __repr__(self) -> str:
        return "Nominal()" if self.centre is None else "Nominal(centre=…)"

    @property
    def scope(self) -> str:
        """The estimate, or the given centre."""
        return _ESTIMATE if self.centre is None else _MEAN

    def size(self, n: ArrayLike, cells: int) -> NDArray[np.float64]:
        """Return zero for every sample."""
        return np.zeros(np.shape(n))


@dataclass(frozen=True, eq=False)
class PowerDivergence(_Ball):
    """Confidence set of the power-divergence test of order ``lambda_`` at level 1 − ``alpha``.

    Parameters
    ----------
    lambda_ : float
        Order λ ≥ 0: 1 is Pearson's χ², 2/3 the choice of Cressie and Read, 0 the G-test.
    alpha : float
        Significance level, at least 1e-300 and below 1. For large samples the truth is outside with about
        this probability. With many rare cells it can be outside far more often, and :func:`rldp.design` gives
        a :class:`rldp.SparseTableWarning`.
    radius : float, optional
        Radius to use instead of the one computed from ``alpha``.
    centre : table of int, |S|×|U|, optional
        Integers, summing to 2^52, proportional to the centre of a set of given radius; by default the
        estimate is the centre.

    References
    ----------
    N. Cressie and T. R. C. Read, Multinomial goodness-of-fit tests, JRSS B 46 (1984);
    ``docs/theory.md``, 'Sets of distributions'.

    Examples
    --------
    >>> bool(PowerDivergence(1.0, alpha=0.05) == ChiSquare())
    True
    >>> float(PowerDivergence(1.0, radius=0.25).size(100, cells=6))
    0.25
    """

    lambda_: float
    alpha: float = 0.05
    radius: float | None = None
    centre: Centre = None

    def __post_init__(self) -> None:
        vars(self).update(
            lambda_=_checked_lambda(self.lambda_),
            alpha=_checked_alpha(self.alpha),
            radius=_checked_radius(self.radius),
            centre=_checked_centre(self.centre),
        )
        if self.centre is not None and self.radius is None:
            raise InvalidArgument("radius must be given if centre is given, got None")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PowerDivergence):
            return NotImplemented
        return self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[float, float | None, float | None, Centre]:
        return self.lambda_, (None if self.radius is not None else self.alpha), self.radius, self.centre

    def __repr__(self) -> str:
        size = f"alpha={self.alpha!r}" if self.radius is None else f"radius={self.radius!r}"
        return f"PowerDivergence(lambda_={self.lambda_!r}, {size})"

    @property
    def scope(self) -> str:
        """The distributions that the test does not reject, or those within the radius."""
        if self.radius == 0:
            return _ESTIMATE if self.centre is None else _MEAN
        test = _TESTS.get(self.lambda_, f"power-divergence test of order {self.lambda_!r}")
        if self.radius is not None:
            centre = "the estimate" if self.centre is None else "the posterior mean"
            return f"every distribution within radius {self.radius!r} of {centre}, as a {test} measures it"
        return f"every distribution that a {test} at level {self.alpha!r} does not reject"

    @property
    def is_asymptotic(self) -> bool:
        """Whether the radius comes from ``alpha``, by the limiting distribution of the statistic."""
        return self.radius is None

    def size(self, n: ArrayLike, cells: int) -> NDArray[np.float64]:
        """Return the radius: B for λ > 0, r for λ = 0."""
        draws = np.asarray(n, dtype=float)
        if self.radius is not None:
            return np.full(draws.shape, self.radius)
        if cells == 1:
            return np.zeros(draws.shape)
        factor = self.lambda_ * (self.lambda_ + 1) / 2 if self.lambda_ > 0 else 0.5
        return np.asarray(factor * float(chdtri(cells - 1, self.alpha)) / draws)


def _checked_lambda(value: float) -> float:
    lambda_ = finite_number("lambda_", value, at_least=0.0)
    if lambda_ > _LARGEST_LAMBDA:
        raise InvalidArgument(f"lambda_ must be at most {_LARGEST_LAMBDA:g}, got {lambda_:g}")
    return lambda_


def _checked_alpha(value: float, least: float = _SMALLEST_ALPHA) -> float:
    alpha = share_number("alpha", value)
    if alpha < least:
        raise InvalidArgument(f"alpha must be at least {least:g}, got {alpha!r}")
    return alpha


class _Test(PowerDivergence):
    """The set of a test with a name, whose order is ``_order``."""

    _order: ClassVar[float]

    def __init__(self, alpha: float = 0.05) -> None:
        super().__init__(self._order, alpha)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(alpha={self.alpha!r})"


class ChiSquare(_Test):
    """Pearson's χ² set, λ = 1, which the paper uses."""

    _order = 1.0


class CressieRead(_Test):
    """The set of Cressie and Read's statistic, λ = 2/3, whose level is the most accurate for rare cells."""

    _order = 2 / 3


class GTest(_Test):
    """The likelihood-ratio set, λ = 0."""

    _order = 0.0


@dataclass(frozen=True)
class Credible(_Ball):
    r"""The smallest power-divergence set that keeps the protocol's posterior risk at α.

    The posterior probability that the protocol is not ε-private (for ``privacy``), or that its expected
    distortion exceeds the objective (for ``utility``), is at most α. This is a statement about the sample at
    hand and the prior. Over repeated samples a protocol fails in at most a share α of the cases if truths are
    drawn from the prior; for a single truth that is not a theorem. See ``docs/theory.md``,
    'Credible privacy'.

    Parameters
    ----------
    alpha : float
        Posterior probability of a failure, at least 1e-5 and below 1. A design refuses an α too small to be
        checked by simulation: about 1e-4 for 50 cells, 1e-3 for 1000.
    prior : "adaptive" or float
        The adaptive prior learns from the counts how sparse the table is, and its sets are centred at the
        posterior mean. A positive number a stands for Dirichlet(a, …, a) on the cells, where ½ is Jeffreys'
        prior, and its sets are centred at the estimate.
    lambda_ : float
        Order of the power divergence that defines the shape of the set.
    seed : int
        Seed of the simulation that estimates the risk. The same seed gives the same protocol.
    radius : float, optional
        The radius (B, or r for λ = 0) that a design found. By default the design searches for it.
    centre : table of int, |S|×|U|, optional
        Integers, summing to 2^52, proportional to the centre of the set, as found by a design.

    Examples
    --------
    >>> Credible(0.05)
    Credible(alpha=0.05, prior='adaptive', lambda_=1.0, seed=0)
    """

    alpha: float = 0.05
    _: KW_ONLY
    prior: Prior = "adaptive"
    lambda_: float = 1.0
    seed: int = 0
    radius: float | None = None
    centre: Centre = None

    def __post_init__(self) -> None:
        vars(self).update(
            alpha=_checked_alpha(self.alpha, _SMALLEST_RISK),
            prior=checked_prior(self.prior),
            lambda_=_checked_lambda(self.lambda_),
            seed=seed_number(self.seed),
            radius=_checked_radius(self.radius),
            centre=_checked_centre(self.centre),
        )
        if 0 < self.lambda_ < _SMALLEST_LAMBDA:
            raise InvalidArgument(f"lambda_ must be 0 or at least {_SMALLEST_LAMBDA:g}, got {self.lambda_:g}")

    def __repr__(self) -> str:
        radius = "" if self.radius is None else f", radius={self.radius!r}"
        return (
            f"Credible(alpha={self.alpha!r}, prior={self.prior!r}, lambda_={self.lambda_!r}, "
            f"seed={self.seed!r}{radius})"
        )

    @property
    def scope(self) -> str:
        """The posterior mass that the set covers, in words."""
        return (
            f"all distributions but some of posterior probability at most {self.alpha!r}, given the sample "
            f"and the {prior_words(self.prior)}"
        )

    @property
    def proved_set(self) -> PowerDivergence:
        """The set with the radius that the design found; it is proved in addition to the risk."""
        if self.radius is None:
            raise InvalidArgument(
                "a credible set has no radius before a design has found one; rldp.posterior tells the risk "
                "of any protocol"
            )
        return PowerDivergence(self.lambda_, radius=self.radius, centre=self.centre)

    def size(self, n: ArrayLike, cells: int) -> NDArray[np.float64]:
        """Return the radius that the design found."""
        return self.proved_set.size(n, cells)


def _checked_radius(given: float | None) -> float | None:
    return None if given is None else finite_number("radius", given, at_least=0.0)


def _checked_centre(given: object) -> Centre:
    if given is None:
        return None
    counts = count_array("centre", given, ndim=2)
    if counts.sum() != _WHOLE:
        raise InvalidArgument(f"centre must hold integers that sum to 2^52, got {counts.sum()}")
    return tuple(map(tuple, counts.tolist()))


def prior_words(prior: Prior) -> str:
    """Describe a prior in words that follow 'the'."""
    return "adaptive prior" if prior == "adaptive" else f"prior Dirichlet({prior:g})"


def checked_prior(value: object) -> Prior:
    """Return ``value`` if it is a prior of credible promises, else raise."""
    if isinstance(value, str):
        if value != "adaptive":
            raise InvalidArgument(f"prior must be 'adaptive' or a positive number, got {shown(value)}")
        return "adaptive"
    prior = finite_number("prior", value)
    if not prior > 0:
        raise InvalidArgument(f"prior must be greater than 0, got {prior!r}")
    return prior


@dataclass(frozen=True)
class Radius:
    """A number x with Pr(statistic ≥ x) ≤ α, and the name of the theorem that proves it."""

    value: float
    method: str


@dataclass(frozen=True)
class Pairs(_Set):
    r"""A confidence set for each pair of secrets, valid at every n and for every distribution; privacy only.

    .. math:: \{n_1 KL(\hat P_1\|P_1) + n_2 KL(\hat P_2\|P_2) \le x\}

    The set holds the conditionals of a pair, with KL the Kullback–Leibler divergence and level α divided by
    the number of pairs. The truth is in all sets with probability at least 1 − α, whatever it is. See
    ``docs/theory.md``, 'Radii for every n'.

    Parameters
    ----------
    alpha : float
        At least 1e-300 and below 1.
    radii : sequence of Radius, optional
        Radii of the pairs (0, 1), (0, 2), …, (1, 2), … in units of n·KL, as found by a design. By default the
        smallest radii that can be proved.

    Examples
    --------
    >>> Pairs(0.05)
    Pairs(alpha=0.05)
    """

    alpha: float = 0.05
    _: KW_ONLY
    radii: Sequence[Radius] | None = None

    def __post_init__(self) -> None:
        radii = None if self.radii is None else tuple(self.radii)
        vars(self).update(alpha=_checked_alpha(self.alpha), radii=radii)

    def __repr__(self) -> str:
        return f"Pairs(alpha={self.alpha!r})"

    @property
    def scope(self) -> str:
        """The distributions that lie in the sets of all pairs."""
        return (
            "every distribution in the confidence sets of all pairs of secrets, which miss the truth with "
            f"probability at most {self.alpha!r}, whatever it is"
        )


@dataclass(frozen=True)
class AllDistributions(_Set):
    """Every distribution, whatever the sample shows; privacy only.

    Examples
    --------
    >>> AllDistributions().scope
    'every distribution'
    """

    @property
    def scope(self) -> str:
        """Every distribution."""
        return "every distribution"


UncertaintySet: TypeAlias = Nominal | PowerDivergence | Credible | Pairs | AllDistributions
"""A recipe that turns a sample into a set of distributions around its estimate.

The family is closed. Engine, file format and judge know each of these sets by name, so objects of other
classes, including subclasses, are refused.
"""

SetName: TypeAlias = Literal["all", "pairs", "chi2", "cr", "g", "credible", "nominal"]
PrivacySet: TypeAlias = UncertaintySet | SetName
"""What ``privacy=`` accepts: a set, or the name of one, which then has the default α."""

UtilityName: TypeAlias = Literal["chi2", "cr", "g", "credible", "nominal"]
UtilitySet: TypeAlias = UncertaintySet | UtilityName
"""What ``utility=`` accepts."""

NAMED: Mapping[SetName, Callable[[float, Prior], UncertaintySet]] = {
    "all": lambda alpha, prior: AllDistributions(),
    "pairs": lambda alpha, prior: Pairs(alpha),
    "chi2": lambda alpha, prior: ChiSquare(alpha),
    "cr": lambda alpha, prior: CressieRead(alpha),
    "g": lambda alpha, prior: GTest(alpha),
    "credible": lambda alpha, prior: Credible(alpha, prior=prior),
    "nominal": lambda alpha, prior: Nominal(),
}
"""Constructors of the named sets, from α and the prior."""

_FOR_PRIVACY_ONLY = (Pairs, AllDistributions)
_KINDS = (Nominal, PowerDivergence, ChiSquare, CressieRead, GTest, Credible, *_FOR_PRIVACY_ONLY)


def require_confidence(name: str, uncertainty: UncertaintySet) -> None:
    """Refuse a set that may miss the truth more often than a coin flip; ``name`` is used in the message."""
    by_radius = isinstance(uncertainty, PowerDivergence) and uncertainty.radius is not None
    if not by_radius and getattr(uncertainty, "alpha", 0.0) > LARGEST_ALPHA:
        raise InvalidArgument(f"{name} must have an alpha of at most {LARGEST_ALPHA}, got {uncertainty!r}")


def checked_set(
    name: str, value: object, *, alpha: float = 0.05, prior: Prior = "adaptive"
) -> UncertaintySet:
    """Return ``value`` if it is a set, or the set that it names.

    Parameters
    ----------
    name : str
        The argument that ``value`` was passed as, for messages. "utility" accepts fewer sets.
    value : UncertaintySet, or a key of :data:`NAMED`
    alpha, prior : float
        Used for a set that is given by its name.

    Raises
    ------
    InvalidArgument, InvalidArgumentType
        If ``value`` is not a set or its name, or cannot be used for utility.

    Examples
    --------
    >>> checked_set("privacy", "pairs", alpha=0.01)
    Pairs(alpha=0.01)
    """
    if isinstance(value, str):
        if value not in NAMED:
            raise InvalidArgument(f"{name} must be a set or one of {', '.join(NAMED)}, got {shown(value)}")
        value = NAMED[cast(SetName, value)](alpha, prior)
    if type(value) in _KINDS:
        if name == "utility" and isinstance(value, _FOR_PRIVACY_ONLY):
            raise InvalidArgument(
                f"utility must be a set such as rldp.ChiSquare() or rldp.Credible(), got {value!r}, which "
                "can stand for privacy only"
            )
        return cast(UncertaintySet, value)
    if isinstance(value, _Set):
        raise InvalidArgumentType(
            f"{name} must be one of rldp's own sets, which are a closed family, got a {type(value).__name__}"
        )
    raise InvalidArgumentType(
        f"{name} must be a set such as rldp.ChiSquare() or rldp.Nominal(), got {shown(value)}"
    )


def as_asked(promise: UncertaintySet) -> UncertaintySet:
    """Return a promise without the radii and the centre that were found for one sample and one ε."""
    match promise:
        case Credible():
            return replace(promise, radius=None, centre=None)
        case Pairs(alpha):
            return Pairs(alpha)
    return promise


def name_of(given: UncertaintySet) -> str:
    """Return the name of a set among :data:`NAMED`, whatever its α, or "set" if it has none.

    Examples
    --------
    >>> name_of(ChiSquare(0.01)), name_of(PowerDivergence(3.0))
    ('chi2', 'set')
    """
    names = {AllDistributions: "all", Pairs: "pairs", Credible: "credible", Nominal: "nominal"}
    if not isinstance(given, PowerDivergence):
        return names[type(given)]
    tests = {1.0: "chi2", 2 / 3: "cr", 0.0: "g"}
    return tests.get(given.lambda_, "set") if given.radius is None else "set"
