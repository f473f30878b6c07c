r"""Draws from the posterior of a table of counts, and its mean.

There are two kinds of prior. For a number a, P ~ Dirichlet(a, …, a) on the cells. The conditionals
:math:`P_{U|s}` are then independent of one another and of :math:`P_S` in the posterior too,

.. math:: P_{U|s}\sim\mathrm{Dirichlet}(N_{s\cdot}+a),\qquad P_S\sim\mathrm{Dirichlet}(N_s+a|U|).

The *adaptive* prior learns from the counts how sparse the table is: a is uniform on a grid
(:func:`grid_for`), the conditionals are independent Dirichlet(a, …, a) given a, and
:math:`P_S\sim\mathrm{Dirichlet}(½, …, ½)` independently. The posterior is a mixture over the grid with
weights

.. math:: w_a \propto \prod_s\frac{\Gamma(a|U|)}{\Gamma(a|U|+N_s)}\prod_u\frac{\Gamma(a+N_{su})}{\Gamma(a)} ,

Every draw samples a new a, the same for all secrets.

Draws come in blocks with separate generators. Draw number m is therefore the same for any number of draws,
and memory is bounded. The draws are the last axis of every array. See ``docs/theory.md``, 'Credible privacy'.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from rldp.sets import Prior
from rldp.theory.arrays import DENOMINATOR, on_grid
from rldp.theory.noisy_posterior import NoisyLaw, noisy_law

__all__ = [
    "BLOCK",
    "centre_counts",
    "conditional_blocks",
    "conditional_parts",
    "conditionals",
    "grid_for",
    "mass_blocks",
    "mass_parts",
    "masses",
    "mixture",
    "posterior_mean",
]

Floats = NDArray[np.float64]
Noise: TypeAlias = float | None
"""The level of the noise on the counts, or None."""

BLOCK = 2048
"""Number of draws per block for small alphabets."""

_HUNDREDTHS = (1, 2, 5, 10, 20, 50)  # the values of a on the adaptive prior's grid
_HEAVIEST = 800  # hundredths: largest total weight of a prior, compared with the rows of a secret
_OF_SECRETS = 0.5  # the adaptive prior's parameter of the law of secrets

_BLOCK_NUMBERS = 2**22  # numbers per block for large alphabets
_SMALL_SHAPE = 1 / 16  # below, a gamma variable may underflow; here, the smallest is 2^-848
_MEAN_DRAWS, _MEAN_STREAM = 16_384, 2**32  # for a mean without a formula
_SHAPES = (1e-290, 1e290)  # range in which quotients and sums are finite
_LEAST_WEIGHT = 2.0**-1022  # replaces a gamma variable that underflowed
_FEW_CELLS = 32  # drawn in one call: a tenth slower, but threads rarely wait for one another
_MANY = 1e7  # from here on, differences of log-gamma functions use Stirling's series


def grid_for(values: int) -> Floats:
    """Return the grid of a of the adaptive prior, all equally likely a priori.

    It is 0.01, 0.02, 0.05, 0.1, 0.2 and 0.5, as long as a·|U| is at most 8. A heavier prior outweighs the
    rows of small groups in large tables and makes different secrets look alike (``docs/promises.md``).
    """
    return np.array([a / 100 for a in _HUNDREDTHS if a * values <= _HEAVIEST or a == _HUNDREDTHS[0]])


def mixture(counts: NDArray[np.int64], prior: Prior) -> tuple[Floats, Floats]:
    """Return the a of the posterior's components and their weights, (J,) each; J = 1 for a number."""
    if prior != "adaptive":
        return np.array([float(prior)]), np.ones(1)
    return grid_for(counts.shape[1]), _weights(np.asarray(counts, dtype=np.int64).tobytes(), counts.shape[1])


@lru_cache(maxsize=1024)
def _weights(table: bytes, values: int) -> Floats:
    """Return the posterior probability of each a of the grid: (J,)."""
    counts, a = np.frombuffer(table, dtype=np.int64).reshape(-1, values), grid_for(values)[:, None]
    of_cells = _log_rising(a, counts.reshape(1, -1)).sum(axis=1)
    logs = of_cells - _log_rising(values * a, counts.sum(axis=1)[None]).sum(axis=1)
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    weights.setflags(write=False)
    return np.asarray(weights)


def _log_rising(a: Floats, n: NDArray[np.int64]) -> Floats:
    """Return log Γ(a + n)/Γ(a), up to a term that does not depend on a."""
    size = np.maximum(n, 1).astype(np.float64)
    near = gammaln(a + size) - gammaln(size)
    far = (size + a - 0.5) * np.log1p(a / size) + a * (np.log(size) - 1)
    return np.asarray(np.where(n > 0, np.where(size < _MANY, near, far) - gammaln(a), 0.0))


def posterior_mean(counts: NDArray[np.int64], prior: Prior, noise: Noise = None) -> Floats:
    """Return the mean of P given the counts: (|S|, |U|). For noisy counts, use draws of a fixed seed."""
    if noise is not None:
        options: dict[str, Any] = {
            "prior": prior,
            "draws": _MEAN_DRAWS,
            "seed": 0,
            "stream": _MEAN_STREAM,
            "noise": noise,
        }
        joint = masses(counts, **options)[:, None] * conditionals(counts, **options)
        return np.asarray(joint.mean(axis=2))
    components, weights = mixture(counts, prior)
    shapes = counts + components[:, None, None]
    conditional = np.tensordot(weights, shapes / shapes.sum(axis=2, keepdims=True), axes=1)
    secrets = _mass_shapes(counts, prior)
    return np.asarray(secrets[:, None] / secrets.sum() * conditional)


def centre_counts(counts: NDArray[np.int64], prior: Prior, noise: Noise = None) -> NDArray[np.int64]:
    """Return the posterior mean as integers that sum to 2^52, as stored in files."""
    mean = posterior_mean(counts, prior, noise)
    on_it = on_grid(mean.reshape(1, 1, 1, -1)).reshape(counts.shape)
    return np.rint(on_it * DENOMINATOR).astype(np.int64)


def conditional_blocks(
    counts: NDArray[np.int64], *, prior: Prior, draws: int, seed: int, stream: int = 0, noise: Noise = None
) -> Iterator[Floats]:
    """Yield conditionals P(u|s) from the posterior in blocks: arrays (|S|, |U|, m), with Σ m = draws.

    Parameters
    ----------
    counts : int array (|S|, |U|)
    prior : float or "adaptive"
    draws : int
    seed, stream : int
        They determine every draw. A different seed or stream gives independent draws.
    """
    return (make() for make in conditional_parts(counts, prior, draws, (seed, stream), noise))


def conditional_parts(
    counts: NDArray[np.int64], prior: Prior, draws: int, key: tuple[int, int], noise: Noise = None
) -> Iterator[Callable[[], Floats]]:
    """Yield functions that return these blocks, on any thread; ``key`` is the seed and the stream."""
    return _parts(_conditional_law(counts, prior, noise), draws, key)


def mass_blocks(
    counts: NDArray[np.int64], *, prior: Prior, draws: int, seed: int, stream: int = 0, noise: Noise = None
) -> Iterator[Floats]:
    """Yield P(s) from the posterior, an array (|S|, m) for every block of :func:`conditional_blocks`."""
    return (make()[0] for make in mass_parts(counts, prior, draws, (seed, stream), noise))


def mass_parts(
    counts: NDArray[np.int64], prior: Prior, draws: int, key: tuple[int, int], noise: Noise = None
) -> Iterator[Callable[[], Floats]]:
    """Yield functions that return these blocks as arrays (1, |S|, m), on any thread."""
    return _parts(_mass_law(counts, prior, noise), draws, key)


def conditionals(
    counts: NDArray[np.int64], *, prior: Prior, draws: int, seed: int, stream: int = 0, noise: Noise = None
) -> Floats:
    """Return all :func:`conditional_blocks` as one array (|S|, |U|, draws), for use with many protocols."""
    return _drawn(_conditional_law(counts, prior, noise), draws, (seed, stream))


def masses(
    counts: NDArray[np.int64], *, prior: Prior, draws: int, seed: int, stream: int = 0, noise: Noise = None
) -> Floats:
    """Return all :func:`mass_blocks` as one array (|S|, draws)."""
    return np.asarray(_drawn(_mass_law(counts, prior, noise), draws, (seed, stream))[0])


@dataclass(frozen=True)
class _Law:
    """Vectors drawn together, in blocks of one size; ``place`` distinguishes laws with the same seed."""

    vectors: _Dirichlets | _Mixture | _NoisyConditionals | _NoisyMasses
    shape: tuple[int, int]
    place: int
    block: int

    def fill(self, drawn: Floats, key: tuple[int, int], block: int) -> None:
        """Fill (rows, columns, m) with the draws of a block."""
        seed, stream = key
        sequence = np.random.SeedSequence(seed, spawn_key=(stream, self.place, block))
        self.vectors.fill(drawn, np.random.Generator(np.random.PCG64DXSM(sequence)))


def _conditional_law(counts: NDArray[np.int64], prior: Prior, noise: Noise = None) -> _Law:
    if noise is not None:
        law = noisy_law(counts, noise, _tried(counts, prior))
        return _Law(_NoisyConditionals(law), counts.shape, 0, _block_size(counts))
    vectors = (
        _Mixture(counts, *mixture(counts, prior))
        if prior == "adaptive"
        else _Dirichlets(np.clip(counts + prior, *_SHAPES))
    )
    return _Law(vectors, counts.shape, 0, _block_size(counts))


def _mass_law(counts: NDArray[np.int64], prior: Prior, noise: Noise = None) -> _Law:
    if noise is not None:  # the same draws as for the conditionals, which depend on them
        law = noisy_law(counts, noise, _tried(counts, prior))
        return _Law(_NoisyMasses(law), (1, len(counts)), 0, _block_size(counts))
    shapes = np.clip(_mass_shapes(counts, prior), *_SHAPES)[None]
    return _Law(_Dirichlets(shapes), shapes.shape, 1, _block_size(counts))


def _tried(counts: NDArray[np.int64], prior: Prior) -> Floats:
    """Return the values of a of a prior."""
    return grid_for(counts.shape[1]) if prior == "adaptive" else np.array([float(prior)])


def _mass_shapes(counts: NDArray[np.int64], prior: Prior) -> Floats:
    """Return the parameters (|S|,) of the law of P_S."""
    if prior == "adaptive":
        return np.asarray(counts.sum(axis=1) + _OF_SECRETS)
    return np.asarray((counts + float(prior)).sum(axis=1))


def _block_size(counts: NDArray[np.int64]) -> int:
    return max(1, min(BLOCK, _BLOCK_NUMBERS // counts.size))


def _parts(law: _Law, draws: int, key: tuple[int, int]) -> Iterator[Callable[[], Floats]]:
    """Yield functions that return arrays (rows, columns, m). Blocks are drawn whole and then cut."""

    def block(number: int, left: int) -> Floats:
        drawn = np.empty((*law.shape, law.block))
        law.fill(drawn, key, number)
        return drawn[..., :left]

    return (partial(block, number, draws - start) for number, start in enumerate(range(0, draws, law.block)))


def _drawn(law: _Law, draws: int, key: tuple[int, int]) -> Floats:
    """Return all blocks in one array (rows, columns, draws)."""
    blocks = -(-draws // law.block)
    drawn = np.empty((*law.shape, blocks * law.block))
    for number in range(blocks):
        law.fill(drawn[..., number * law.block : (number + 1) * law.block], key, number)
    return drawn[..., :draws]


@dataclass(frozen=True)
class _NoisyConditionals:
    """Conditionals given counts with noise."""

    law: NoisyLaw

    def fill(self, drawn: Floats, generator: np.random.Generator) -> None:
        self.law.fill(drawn, np.empty((drawn.shape[0], drawn.shape[2])), generator)


@dataclass(frozen=True)
class _NoisyMasses:
    """Probabilities of the secrets given counts with noise."""

    law: NoisyLaw

    def fill(self, drawn: Floats, generator: np.random.Generator) -> None:
        self.law.fill(np.empty((*self.law.shape, drawn.shape[2])), drawn[0], generator)


@dataclass(frozen=True)
class _Mixture:
    """Vectors Dirichlet(counts + a), one per row; each draw samples one a for all rows."""

    counts: NDArray[np.int64]
    components: Floats
    weights: Floats

    def fill(self, drawn: Floats, generator: np.random.Generator) -> None:
        """Draw the number of draws for each a, then the draws, then their order.

        They are put in order in place, cell by cell: large temporary arrays are slow, as the system hands
        their memory out anew for every block.
        """
        size, start = drawn.shape[2], 0
        shares = generator.multinomial(size, self.weights)
        for a, many in zip(self.components.tolist(), shares.tolist(), strict=True):
            if many:
                _fill_alike(drawn[..., start : start + many], self.counts, a, generator)
                start += many
        order = generator.permutation(size)
        for row in drawn:
            for cell in row:
                cell[:] = cell.take(order)


def _fill_alike(drawn: Floats, counts: NDArray[np.int64], a: float, generator: np.random.Generator) -> None:
    """Fill (rows, columns, m) with vectors Dirichlet(counts + a): gamma variables divided by their sum.

    For an unseen cell, Gamma(a) is Gamma(1 + a) times the 1/a-th power of a uniform, which may underflow.
    This is harmless if another cell of the row was seen. Otherwise logarithms are drawn.
    """
    shapes = np.maximum(counts, 1) + a
    if counts.size <= _FEW_CELLS:
        drawn[:] = generator.standard_gamma(shapes[:, :, None], drawn.shape)
    else:
        for weights, row in zip(drawn, shapes.tolist(), strict=True):
            for weight, shape in zip(weights, row, strict=True):
                generator.standard_gamma(shape, out=weight)
    empty = counts.sum(axis=1) == 0
    unseen = (counts == 0) & ~empty[:, None]
    tails = generator.standard_exponential((int(unseen.sum()), drawn.shape[2]))
    tails /= -a
    drawn[unseen] *= np.exp(tails, out=tails)
    for number in np.flatnonzero(empty):
        logs = np.log(drawn[number]) - generator.standard_exponential(drawn[number].shape) / a
        drawn[number] = np.exp(logs - logs.max(axis=0))
    drawn /= drawn.sum(axis=1, keepdims=True)


@dataclass(frozen=True)
class _Dirichlets:
    """Independent Dirichlet vectors, a row of parameters for each."""

    shapes: Floats

    def fill(self, drawn: Floats, generator: np.random.Generator) -> None:
        """Fill with gamma variables divided by their sum.

        For small shapes they could underflow, perhaps in a whole row. There logarithms are drawn, as Gamma(α)
        is Gamma(α + 1) times the 1/α-th power of a uniform.
        """
        for weights, row in zip(drawn, self.shapes, strict=True):
            small = row < _SMALL_SHAPE
            for weight, shape, boosted in zip(weights, row.tolist(), small.tolist(), strict=True):
                _gammas(weight, shape + boosted, generator)
            if small.any():
                np.log(np.maximum(weights, _LEAST_WEIGHT), out=weights)
                weights[small] -= generator.standard_exponential(weights[small].shape) / row[small, None]
                weights -= weights.max(axis=0)
                np.exp(weights, out=weights)
            weights /= weights.sum(axis=0)


def _gammas(out: Floats, shape: float, generator: np.random.Generator) -> None:
    """Draw gamma variables. For shape ½ they are half the square of a normal variable, which is fast."""
    if shape == 0.5:  # an unseen cell under Jeffreys' prior
        generator.standard_normal(out=out)
        out *= out
        out *= 0.5
    else:
        generator.standard_gamma(shape, out=out)
