r"""Draws from the posterior of a table of counts.

With prior P ~ Dirichlet(a, …, a) on the cells, the posterior is Dirichlet(counts + a). The conditionals
:math:`P_{U|s}` are then independent of one another and of :math:`P_S`,

.. math:: P_{U|s}\sim\mathrm{Dirichlet}(N_{s\cdot}+a),\qquad P_S\sim\mathrm{Dirichlet}(N_s+a|U|).

Draws come in blocks, each from a generator of its own, so that draw number m is the same whatever number of
draws is asked for, and memory is bounded. The draws are the last axis of every array. See
``docs/theory.md``, 'Credible privacy'.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["conditional_blocks", "conditionals", "mass_blocks", "masses"]

Floats = NDArray[np.float64]

_BLOCK = 2048  # draws, of small alphabets
_BLOCK_NUMBERS = 2**22  # of large ones
_SMALL_SHAPE = 1 / 16  # below, a gamma variable may underflow; at it, 2^-848 is the least there is
_SHAPES = (1e-290, 1e290)  # whose quotients and sums are finite
_LEAST_WEIGHT = 2.0**-1022  # of a gamma variable that underflowed against all odds


def conditional_blocks(
    counts: NDArray[np.int64], *, prior: float, draws: int, seed: int, stream: int = 0
) -> Iterator[Floats]:
    """Conditionals P(u|s) from the posterior, block by block: arrays (|S|, |U|, m), with Σ m = draws.

    Parameters
    ----------
    counts : int array (|S|, |U|)
    prior : float
        a, positive and finite.
    draws : int
    seed, stream : int
        They determine every draw, and either makes the draws independent of others.
    """
    yield from _blocks(_conditional_law(counts, prior), draws, (seed, stream))


def mass_blocks(
    counts: NDArray[np.int64], *, prior: float, draws: int, seed: int, stream: int = 0
) -> Iterator[Floats]:
    """P(s) from the posterior, arrays (|S|, m): for every block of :func:`conditional_blocks` one."""
    for block in _blocks(_mass_law(counts, prior), draws, (seed, stream)):
        yield block[0]


def conditionals(
    counts: NDArray[np.int64], *, prior: float, draws: int, seed: int, stream: int = 0
) -> Floats:
    """All of :func:`conditional_blocks` in one array (|S|, |U|, draws), to be used for many protocols."""
    return _drawn(_conditional_law(counts, prior), draws, (seed, stream))


def masses(counts: NDArray[np.int64], *, prior: float, draws: int, seed: int, stream: int = 0) -> Floats:
    """All of :func:`mass_blocks` in one array (|S|, draws)."""
    return np.asarray(_drawn(_mass_law(counts, prior), draws, (seed, stream))[0])


@dataclass(frozen=True)
class _Law:
    """Independent Dirichlet vectors, and the size of their blocks.

    ``shapes`` (rows, columns) holds their parameters, a row for each vector; ``place`` tells laws with the
    same seed apart.
    """

    shapes: Floats
    place: int
    block: int

    def generator(self, key: tuple[int, int], block: int) -> np.random.Generator:
        seed, stream = key
        sequence = np.random.SeedSequence(seed, spawn_key=(stream, self.place, block))
        return np.random.Generator(np.random.PCG64DXSM(sequence))


def _conditional_law(counts: NDArray[np.int64], prior: float) -> _Law:
    return _Law(np.clip(counts + prior, *_SHAPES), 0, _block_size(counts))


def _mass_law(counts: NDArray[np.int64], prior: float) -> _Law:
    totals = (counts + prior).sum(axis=1)[None]
    return _Law(np.clip(totals, *_SHAPES), 1, _block_size(counts))


def _block_size(counts: NDArray[np.int64]) -> int:
    return max(1, min(_BLOCK, _BLOCK_NUMBERS // counts.size))


def _blocks(law: _Law, draws: int, key: tuple[int, int]) -> Iterator[Floats]:
    """Arrays (rows, columns, m). A block is drawn whole, so that fewer draws are the first of more."""
    for number, start in enumerate(range(0, draws, law.block)):
        drawn = np.empty((*law.shapes.shape, law.block))
        _fill(drawn, law.shapes, law.generator(key, number))
        yield drawn[..., : draws - start]


def _drawn(law: _Law, draws: int, key: tuple[int, int]) -> Floats:
    """All blocks in one array (rows, columns, draws)."""
    blocks = -(-draws // law.block)
    drawn = np.empty((*law.shapes.shape, blocks * law.block))
    for number in range(blocks):
        part = drawn[..., number * law.block : (number + 1) * law.block]
        _fill(part, law.shapes, law.generator(key, number))
    return drawn[..., :draws]


def _fill(drawn: Floats, shapes: Floats, generator: np.random.Generator) -> None:
    """Fill (rows, columns, m) with Dirichlet vectors along the columns: gamma variables over their sum.

    Where a shape is small they would underflow, perhaps all of a row; there the logarithms are drawn, as
    Gamma(α) is Gamma(α + 1) times the 1/α-th power of a uniform.
    """
    for weights, row in zip(drawn, shapes, strict=True):
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
    """Gamma variables. Those of shape ½ are half the square of a normal one, which is drawn in no time."""
    if shape == 0.5:  # a cell never seen, under Jeffreys' prior
        generator.standard_normal(out=out)
        out *= out
        out *= 0.5
    else:
        generator.standard_gamma(shape, out=out)
