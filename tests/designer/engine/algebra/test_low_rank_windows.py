"""The matrices of windows: never written out, and solved as exactly as they are known."""

import numpy as np
import pytest
from flint import arb, arb_mat, ctx

from rldp.designer.engine import path
from rldp.designer.engine.algebra.low_rank_model import LowRankModel
from rldp.designer.engine.algebra.low_rank_windows import LowRankWindows
from rldp.designer.engine.settings import Settings
from rldp.designer.engine.step import NewtonModel, advance
from rldp.designer.engine.terms.windows import NominalWindows
from strategies import a_problem

pytestmark = pytest.mark.numerical


def separate(d, vectors, kernel):
    """diag(d) + vectors kernel vectorsᵀ per secret, written out: (K, Y, n, n)."""
    k, outputs, secrets, values = d.shape
    n = secrets * values
    matrix = np.zeros((k, outputs, n, n))
    for s in range(secrets):
        place = slice(s * values, (s + 1) * values)
        own = np.einsum("kyum,kymn,kyvn->kyuv", vectors[:, :, s], kernel[:, :, s], vectors[:, :, s])
        matrix[:, :, place, place] = own + d[:, :, s, :, None] * np.eye(values)
    return matrix


@pytest.mark.parametrize("rank", [1, 4])
def test_outputs_of_low_rank_meet_as_if_they_were_written_out(rank):
    rng = np.random.default_rng(3)
    k, outputs, secrets, values = 2, 3, 2, 5
    n = secrets * values
    d = rng.uniform(1, 2, (k, outputs, secrets, values))
    vectors = rng.normal(size=(k, outputs, secrets, values, rank))
    roots = 0.2 * rng.normal(size=(k, outputs, secrets, rank, rank))
    kernel = roots @ roots.swapaxes(-1, -2)
    row, level = 0.1 * rng.normal(size=(k, outputs, n)), rng.uniform(1, 2, (k, outputs))
    free = rng.normal(size=row.shape)

    matrix = separate(d, vectors, kernel)
    image = np.matvec(matrix, free) - row
    energy = np.vecdot(free, image - row) + level
    shaped = (free.reshape(d.shape), image.reshape(d.shape), energy)
    blocks = LowRankWindows.of(LowRankModel(d, vectors, kernel, *shaped, linked=False), Settings())
    whole = matrix - row[..., :, None] * row[..., None, :] / level[..., None, None]

    r, total = rng.normal(size=(k, outputs, n)), rng.normal(size=(k, n))
    q, nu = blocks.border(np.zeros((outputs, 1, values)), None, Settings()).solve(r, total)
    np.testing.assert_allclose(np.matvec(whole, q) - nu[:, None], r, atol=1e-9)
    np.testing.assert_allclose(q.sum(axis=1), total, atol=1e-9)


def late_systems(problem, monkeypatch):
    """Newton's systems with 1e-9 < μ < 1e-7; no step takes more than a factor of 50 off μ."""
    late = []

    def watched(iterate, distortion, gap_now, settings):
        if 1e-9 < iterate.mu[0] < 1e-7:
            late.append(NewtonModel.at(iterate, distortion, settings))
        return advance(iterate, distortion, gap_now, settings)

    monkeypatch.setattr(path, "advance", watched)
    path.solve(a_problem(problem, count=1, shape=(3, 8), n=4000), gap=1e-6, settings=Settings(), windows=True)
    assert late
    return late


balls = np.vectorize(arb, otypes=[object])


def exact_inverse(local, output):
    """The inverse of the matrix of one output, in Q, the η of a robust set, and a, in ball arithmetic.

    M = diag(l/Q) + Σ (z/σ) ∇σ∇σᵀ − z ∇²σ + Σ (w/p) ∇p∇pᵀ, taking unknowns, multipliers and l/Q as they are.
    """
    term = local.iterate.privacy
    secrets, values = term.q.shape[2:]
    unknowns = balls(np.append(term.q[0, output], term.eta[0, output]))
    matrix = balls(np.diag(np.append(local.system.barrier[0, output], np.zeros(term.eta.shape[2]))))
    unit = balls(np.eye(len(unknowns)))
    for row in range(2 * secrets):
        first = row % secrets * values
        dx = arb(term.sign[0, 0, row].item()) * unit[first : first + values]
        da, z = arb(term.offset[0, 0, row]) * unit[-1], arb(term.z[0, output, row])
        if isinstance(term, NominalWindows):
            dsigma = da - balls(term.conditionals[0, 0, row % secrets]) @ dx
            sigma = dsigma @ unknowns
        else:
            deta = unit[secrets * values + row]
            dp = deta - dx
            g, dg, ddg = pearson_mean(term.mean, row, dp @ unknowns)
            sigma, dsigma = (da - deta) @ unknowns + g, da - deta + dg @ dp
            w = balls(term.w[0, output, row, 0])
            matrix = matrix + dp.T @ (np.diag(w / (dp @ unknowns)) - z * ddg) @ dp
        matrix = matrix + z / sigma * np.outer(dsigma, dsigma)
    return np.array(arb_mat(matrix.tolist()).inv().tolist())


def pearson_mean(mean, row, p):
    """g(p) = (Σ c √p / (1 + Δ))², its gradient and its second derivatives."""
    c, kept = balls(mean.conditionals[0, 0, row, 0]), 1 / (1 + arb(mean.budget[0, 0, row])) ** 2
    root = np.array([x.sqrt() for x in p])
    total, slope = c @ root, c / (2 * root)
    curve = kept * (2 * np.outer(slope, slope) - np.diag(total * slope / p))
    return kept * total**2, 2 * kept * total * slope, curve


@pytest.mark.parametrize("problem", ["NUNP by windows", "NURP by windows"])
def test_no_digits_are_lost_although_an_output_can_be_scaled_almost_for_free(problem, monkeypatch):
    """What an output does under a unit force on every cell, against the exact reply of its matrix.

    Elimination need not be exact, for refinement follows. If it is off by a share θ in the norm of the
    inverse W, then by θ √(W_ii · r·W r) in cell i of the reply W r, and every step of refinement leaves a
    share θ of it. Directions are solved to 10 μ, and two such steps are to be enough for that: θ³ ≤ 10 μ.
    (The matrix times the reply, in floats, would not do: it is known to z/σ times their rounding only.)
    """
    monkeypatch.setattr(ctx, "prec", 200)
    for local in late_systems(problem, monkeypatch):
        blocks, q = local.system.border.blocks, local.iterate.q
        along = blocks.free.sum(axis=(2, 3)) / blocks.energy
        found = blocks.per_group(np.ones_like(q)) + along[..., None, None] * blocks.free
        assert found.max() > 1e6
        share = (10 * local.iterate.mu[0]) ** (1 / 3)
        for y, reply in enumerate(found[0]):
            inverse = exact_inverse(local, y)[: reply.size, : reply.size]
            exact = inverse.sum(axis=1)
            norm = np.sqrt((np.diag(inverse) * exact.sum()).astype(float))
            error = np.abs((balls(reply.ravel()) - exact).astype(float))
            assert (error <= share * norm).all()
