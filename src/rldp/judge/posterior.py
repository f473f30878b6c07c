r"""Test the posterior risk that a protocol claims, with the judge's own draws.

A claim is that an event (the protocol is not private, or it distorts more than was said) has posterior
probability at most α, given the counts and a prior. That is Dirichlet(a, …, a) on the cells, or the adaptive
one: a is uniform on a grid, the conditionals :math:`P_{U|s}` are Dirichlet(a, …, a) given a, and
:math:`P_S` is Dirichlet(½, …, ½) apart from them. The judge draws distributions from the posterior and
counts under how many the event happens, doubtful ones included. It confirms the claim if so few would be
too improbable for every probability above α:

.. math:: \Pr(\mathrm{Bin}(M, \alpha) \le f) \le \mathrm{error} ,

evaluated in balls. It looks after 100 000 draws; if they do not settle it, after four times as many, and
so on. The looks share the error. The generator must be trusted: its floats must be draws from the posterior.
See ``docs/theory.md``, 'Monte Carlo'.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import permutations
from typing import Literal, TypeAlias

import numpy as np
from flint import arb
from numpy.typing import NDArray

from rldp.judge.noisy import NoisyPosterior
from rldp.judge.regions import dot, just_below_exp, precision, within

__all__ = [
    "ERROR",
    "Trial",
    "adaptive_grid",
    "binomial_tail",
    "components",
    "looks",
    "posterior_of",
    "privacy_trial",
    "trial_of",
    "utility_trial",
]

ERROR = 1e-9  # with at most this probability a claim is confirmed that is not true

_UNIT = 2.0**-52
_VANISHING = 2.0**-800  # below, products may have underflowed
_SMALLEST_SHAPE = 1e-290  # so that quotients are finite

_FIRST, _GROWTH = 100_000, 4
_MOST_DRAWS = 10_000_000
_MOST_NUMBERS = 5 * 10**8  # cells times draws, so that no file can hang: about 20 seconds
_LEAST_DRAWS = 1_000
_HITS_AT_FIRST = 60  # that α allows in the first look, when α is small
_TOO_MANY = 4.0  # standard deviations above α: there is no point in going on
_BLOCK_NUMBERS = 2**20
_WORTH_A_CALL = 256  # draws of one shape, which are twice as fast together
_MOST_TERMS = 4_000
_OF_SECRETS = 0.5  # the adaptive prior of the law of secrets

Floats = NDArray[np.float64]
Integers = Sequence[Sequence[int]]
Prior: TypeAlias = float | Literal["adaptive"]


@dataclass(frozen=True)
class Trial:
    """Draws from the posterior, and whether they confirm that an event has probability at most ``alpha``.

    Attributes
    ----------
    draws : int
        0 if the event happens under no distribution at all.
    failures : int
        Draws under which the event happens, or cannot be excluded.
    alpha : float
    confirmed : bool
        Wrong with probability ``ERROR`` at most.
    """

    draws: int
    failures: int
    alpha: float
    confirmed: bool

    @property
    def evidence(self) -> str:
        """The evidence, in words."""
        if self.draws == 0:
            return "no distribution at all makes it fail"
        share = f"{self.failures:_} of {self.draws:_} draws".replace("_", " ")
        if self.confirmed:
            return f"{share}; this check is wrong with probability below 1e-9"
        return f"{share} fail, where fewer are needed to confirm it"


def privacy_trial(
    numerators: Sequence[Integers],
    counts: Integers,
    epsilon: float | Sequence[Sequence[float]],
    *,
    alpha: float,
    prior: Prior,
    noise: float | None = None,
    generator: np.random.Generator | None = None,
) -> Trial:
    r"""Test the claim that the posterior probability of not being ε-private is at most ``alpha``.

    A draw fails unless :math:`\max_sP(y|s)\le e^\varepsilon\min_sP(y|s)` for every output y that is not
    private under all distributions, with a margin: a computed P(y|s) is a quotient of sums of |U| terms that
    are not negative, so it is off by a factor of at most :math:`1\pm(|U|+2)2^{-52}`. Where pairs of secrets
    have levels of their own, it fails unless every pair keeps its own.

    Parameters
    ----------
    numerators : nested sequences of int [s][u][y]
        Each cell's probabilities of the outputs, up to a common factor of at most :math:`2^{52}`.
    counts : nested sequences of int [s][u]
    epsilon : float, or nested sequences of float [s1][s2]
    alpha : float
        Positive, below 1.
    prior : float or "adaptive"
        A number is positive.
    noise : float, optional
        The level of the noise that the counts have.
    generator : numpy.random.Generator, optional
        By default a new one, seeded by the operating system.
    """
    failing = (
        _failing(numerators, epsilon)
        if isinstance(epsilon, int | float)
        else _failing_pairs(numerators, epsilon)
    )
    if failing is None:
        return Trial(0, 0, alpha, True)
    return trial_of(failing, posterior_of(counts, prior, noise), alpha, generator)


def utility_trial(
    numerators: Sequence[Integers],
    counts: Integers,
    distortion: Sequence[Sequence[float]],
    objective: float,
    *,
    alpha: float,
    prior: Prior,
    noise: float | None = None,
    generator: np.random.Generator | None = None,
) -> Trial:
    """Test the claim that Σ P d Q exceeds ``objective`` with posterior probability at most ``alpha``.

    Parameters as in :func:`privacy_trial`, with numerators over 2^52, and a ``distortion`` [u][y] that is
    nowhere negative. Costs are in units of the largest, so that none underflows; probabilities may. So an
    objective that is too small beside that unit, such as 0, is taken to be exceeded: it is, with probability
    one, by every cell that costs more.
    """
    with precision():
        costs = [[cost * _UNIT for cost in map(dot, rows, distortion)] for rows in numerators]
        if all(cost <= objective for row in costs for cost in row):
            return Trial(0, 0, alpha, True)
        unit = reduce(arb.max, (cost for row in costs for cost in row))
        table = np.array([[float((cost / unit).upper()) for cost in row] for row in costs])
        allowed = float((arb(objective) / unit).lower())
    most = allowed * (1 - 4 * (table.size + 4) * _UNIT)  # two sums of so many terms, and their quotient

    def failing(log_weights: Floats) -> int:
        if not most >= _VANISHING:
            return int(log_weights.shape[2])
        weights = np.exp(log_weights - log_weights.max(axis=(0, 1)))
        spent = np.einsum("su,sum->m", table, weights)
        return int((~(spent <= most * weights.sum(axis=(0, 1)))).sum())

    return trial_of(failing, posterior_of(counts, prior, noise), alpha, generator)


def _failing(numerators: Sequence[Integers], epsilon: float) -> Callable[[Floats], int] | None:
    """Return the counter of draws that are not ε-private; None if all are."""
    doubtful = _doubtful(numerators, epsilon)
    if not doubtful:
        return None
    table = np.array(numerators, dtype=np.float64)
    columns = np.ascontiguousarray(np.moveaxis(table[:, :, doubtful], 2, 1))
    e = _least_factor(epsilon, table.shape[1])

    def failing(log_weights: Floats) -> int:
        given_secret = _given_secrets(columns, log_weights)
        high, low = given_secret.max(axis=0), given_secret.min(axis=0)
        private = (high <= e * low) & (low >= _VANISHING)
        return int((~private.all(axis=0)).sum())

    return failing


def _failing_pairs(
    numerators: Sequence[Integers], levels: Sequence[Sequence[float]]
) -> Callable[[Floats], int] | None:
    """Return the counter of draws under which a pair exceeds its level; None if none ever does."""
    table = np.array(numerators, dtype=np.float64)
    doubtful = {
        (s1, s2): (at_fault, _least_factor(levels[s1][s2], table.shape[1]))
        for s1, s2 in permutations(range(len(table)), 2)
        if (at_fault := _doubtful([numerators[s1], numerators[s2]], levels[s1][s2], both_ways=False))
    }
    if not doubtful:
        return None
    columns = np.ascontiguousarray(np.moveaxis(table, 2, 1))

    def failing(log_weights: Floats) -> int:
        given_secret = _given_secrets(columns, log_weights)
        private = np.ones(log_weights.shape[2], dtype=bool)
        for (s1, s2), (outputs, e) in doubtful.items():
            top, bottom = given_secret[s1, outputs], given_secret[s2, outputs]
            private &= ((top <= e * bottom) & (bottom >= _VANISHING)).all(axis=0)
        return int((~private).sum())

    return failing


def _given_secrets(columns: Floats, log_weights: Floats) -> Floats:
    """Return P(y|s) under every draw (|S|, |Y|, m), in units of the numerators."""
    weights = np.exp(log_weights - log_weights.max(axis=1, keepdims=True))
    return np.asarray(columns @ weights / weights.sum(axis=1, keepdims=True))


def _least_factor(epsilon: float, values: int) -> float:
    """Return a float below e^ε by more than the rounding of a quotient of two computed P(y|s)."""
    with precision():
        return float(just_below_exp(epsilon)) * (1 - 4 * (values + 4) * _UNIT)


def _doubtful(numerators: Sequence[Integers], epsilon: float, *, both_ways: bool = True) -> list[int]:
    """Return outputs y for which some P(y|s1) may exceed e^ε P(y|s2), s1 ≠ s2, under some distribution.

    Of two secrets it may be asked for the first against the second alone.
    """
    if math.isinf(epsilon):
        return []
    columns = [list(zip(*rows, strict=True)) for rows in numerators]
    with precision():
        factor, doubtful = just_below_exp(epsilon), []
        for y in range(len(numerators[0][0])):
            high = [max(column[y]) for column in columns]
            low = [min(column[y]) for column in columns]
            first = high.index(max(high))
            second = max(high[:first] + high[first + 1 :], default=0)
            others = [second if s == first else high[first] for s in range(len(high))]
            pairs = zip(others, low, strict=True) if both_ways else [(high[0], low[1])]
            if not all(within(*pair, factor) for pair in pairs):
                doubtful.append(y)
        return doubtful


# Draws


def looks(alpha: float, cells: int) -> list[int]:
    """Return after how many draws the judge looks; this does not depend on the draws."""
    most = max(_LEAST_DRAWS, min(_MOST_DRAWS, _MOST_NUMBERS // cells))
    draws = [min(most, max(_FIRST, math.ceil(min(_HITS_AT_FIRST / alpha, _MOST_DRAWS))))]
    while draws[-1] * _GROWTH <= most:
        draws.append(draws[-1] * _GROWTH)
    return draws


def trial_of(
    failing: Callable[[Floats], int],
    drawn: _Posterior | NoisyPosterior,
    alpha: float,
    generator: np.random.Generator | None,
    numbers: int = 0,
) -> Trial:
    """Draw until an event is confirmed to have probability at most ``alpha``, or clearly will not be.

    ``failing`` tells under how many of some draws, logarithms of weights (|S|, |U|, m), it happens. It takes
    ``numbers`` of them for each draw, if that is more than there are cells.
    """
    source = np.random.Generator(np.random.SFC64()) if generator is None else generator
    block = max(1, _BLOCK_NUMBERS // drawn.size)
    planned = looks(alpha, max(drawn.size, numbers))
    draws = failures = 0
    for look in planned:
        while draws < look:
            size = min(block, look - draws)
            failures += sum(map(failing, drawn.log_weights(source, size)))
            draws += size
            if failures >= alpha * planned[-1]:
                return Trial(draws, failures, alpha, False)  # too many for every look there is
        with precision():
            if binomial_tail(draws, failures, alpha) <= arb(ERROR) / len(planned):
                return Trial(draws, failures, alpha, True)
        if failures >= alpha * draws + _TOO_MANY * math.sqrt(alpha * draws):
            break
    return Trial(draws, failures, alpha, False)


def posterior_of(counts: Integers, prior: Prior, noise: float | None = None) -> _Posterior | NoisyPosterior:
    """Return the posterior, given counts, a prior and the level of the noise on the counts."""
    if noise is None:
        return _Posterior(counts, prior)
    return NoisyPosterior(counts, noise, adaptive_grid(len(counts[0])) if prior == "adaptive" else (prior,))


class _Posterior:
    """The posterior of the people's distribution, given counts and a prior."""

    def __init__(self, counts: Integers, prior: Prior) -> None:
        self.table = np.array(counts, dtype=np.float64)
        self.size = self.table.size
        self.adaptive = prior == "adaptive"
        grid = components(counts) if prior == "adaptive" else {prior: 1.0}
        self.grid, self.weights = list(grid), list(grid.values())

    def log_weights(self, source: np.random.Generator, size: int) -> Iterator[Floats]:
        """Yield logarithms of weights of the cells, arrays (|S|, |U|, m), of ``size`` draws in all.

        The number of draws for each a is drawn, too. Under the adaptive prior, every secret's weights are
        scaled to a mass that is drawn apart from them.
        """
        for a, m in zip(self.grid, source.multinomial(size, self.weights).tolist(), strict=True):
            if m:
                drawn = _log_gammas(source, np.maximum(self.table + a, _SMALLEST_SHAPE), m)
                if self.adaptive:
                    masses = _log_gammas(source, self.table.sum(axis=1, keepdims=True) + _OF_SECRETS, m)
                    drawn += masses - np.logaddexp.reduce(drawn, axis=1, keepdims=True)
                yield drawn


def adaptive_grid(values: int) -> tuple[float, ...]:
    """Return the a of the adaptive prior: those with a·|U| ≤ 8, and 0.01 always."""
    allowed = (a for a in (2, 5, 10, 20, 50) if a * values <= 800)
    return (0.01, *(a / 100 for a in allowed))


def components(counts: Integers) -> dict[float, float]:
    r"""How likely each a of the grid is, given the counts, from the law of the counts given a and the totals.

    .. math:: \prod_s\frac{\Gamma(a|U|)}{\Gamma(a|U|+N_s)}\prod_u\frac{\Gamma(a+N_{su})}{\Gamma(a)}
    """
    with precision():
        logs = []
        grid = adaptive_grid(len(counts[0]))
        for a in map(arb, grid):
            of_cells = ((a + n).lgamma() - a.lgamma() for row in counts for n in row if n)
            whole = a * len(counts[0])
            of_secrets = (whole.lgamma() - (whole + sum(row)).lgamma() for row in counts)
            logs.append(sum(of_cells, arb(0)) + sum(of_secrets, arb(0)))
        likely = [(log - max(logs, key=float)).exp() for log in logs]
        return {a: float(each / sum(likely, arb(0))) for a, each in zip(grid, likely, strict=True)}


def _log_gammas(source: np.random.Generator, shapes: Floats, size: int) -> Floats:
    """Return logarithms of independent gamma variables (|S|, |U|, size).

    Gamma(c) is Gamma(c + 1) times the 1/c-th power of a uniform, for every c: in logarithms nothing
    underflows, however small the shape. Normalised over any set of cells they make a Dirichlet vector.
    """
    wanted = (*shapes.shape, size)
    tails = source.standard_exponential(wanted) / shapes[:, :, None]
    return np.asarray(np.log(_gammas(source, shapes + 1, size)) - tails)


def _gammas(source: np.random.Generator, shapes: Floats, size: int) -> Floats:
    """Return independent gamma variables (|S|, |U|, size)."""
    if size < _WORTH_A_CALL:
        return source.standard_gamma(shapes[:, :, None], (*shapes.shape, size))
    drawn = np.empty((*shapes.shape, size))
    for shape in np.unique(shapes):
        where = shapes == shape
        drawn[where] = source.standard_gamma(shape, (int(where.sum()), size))
    return drawn


def binomial_tail(draws: int, failures: int, alpha: float) -> arb:
    r"""Return an upper bound on Pr(Bin(draws, α) ≤ failures), a ball; 1 unless it is small.

    With :math:`t_j` the probability of j, the ratio :math:`t_{j-1}/t_j=j(1-\alpha)/((M-j+1)\alpha)` falls
    with j. So what is left out below a term t with ratio r < 1 is at most :math:`t\,r/(1-r)`.
    """
    p = arb(alpha)
    if not failures < p * draws:
        return arb(1)
    q = 1 - p
    term = (
        arb(draws + 1).lgamma()
        - arb(failures + 1).lgamma()
        - arb(draws - failures + 1).lgamma()
        + failures * p.log()
        + (draws - failures) * q.log()
    ).exp()
    total = term
    for j in range(failures, max(0, failures - _MOST_TERMS), -1):
        term = term * j * q / ((draws - j + 1) * p)
        total += term
    left = max(0, failures - _MOST_TERMS)
    ratio = left * q / ((draws - left + 1) * p)
    return total + term * ratio / (1 - ratio)
