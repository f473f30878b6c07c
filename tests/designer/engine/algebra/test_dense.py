"""Dense blocks and their borders solve the system that they stand for, whole or in parts."""

import numpy as np
import pytest

from rldp.designer.engine.algebra.dense import DenseBlocks
from rldp.designer.engine.settings import Settings

pytestmark = pytest.mark.numerical

K, OUTPUTS, SECRETS, VALUES = 2, 4, 2, 3
N = SECRETS * VALUES


class Springs:
    """A utility whose force is ``stiffness`` (K, n, n) times a change of v."""

    def __init__(self, stiffness):
        self.stiffness = stiffness

    def times(self, matrix):
        return self.stiffness @ matrix


def positive(rng, *shape):
    root = rng.normal(size=(*shape, N, N))
    return root @ np.swapaxes(root, -1, -2) + 0.1 * np.eye(N)


def solved_at_once(matrices, distortion, stiffness, r, total):
    """All unknowns (q, ν) of one problem in one system."""
    size = OUTPUTS * N
    d = np.concatenate([np.diag(np.tile(row[0], SECRETS)) for row in distortion], axis=1)  # (n, Y n)
    system = np.zeros((size + N, size + N))
    for y, matrix in enumerate(matrices):
        place = slice(y * N, (y + 1) * N)
        system[place, place] = matrix
        system[place, size:] = -np.eye(N)
        system[size:, place] = np.eye(N)
    system[:size, :size] += d.T @ stiffness @ d
    answer = np.linalg.solve(system, np.concatenate([r.ravel(), total]))
    return answer[:size].reshape(OUTPUTS, N), answer[size:]


@pytest.mark.parametrize("settings", [Settings(), Settings(part_bytes=8)], ids=["one part", "many parts"])
@pytest.mark.parametrize("utility", ["linear", "robust"])
def test_a_border_solves_all_outputs_together(settings, utility):
    rng = np.random.default_rng(5)
    matrices, stiffness = positive(rng, K, OUTPUTS), positive(rng, K)
    if utility == "linear":
        stiffness = 0 * stiffness
    distortion = rng.random((OUTPUTS, 1, VALUES))
    r, total = rng.normal(size=(K, OUTPUTS, N)), rng.normal(size=(K, N))
    like = np.zeros((K, OUTPUTS, SECRETS, VALUES))
    blocks = DenseBlocks.of(lambda outputs: matrices[:, outputs].copy(), like, settings)
    border = blocks.border(distortion, None if utility == "linear" else Springs(stiffness), settings)
    q, nu = border.solve(r, total)
    for k in range(K):
        expected = solved_at_once(matrices[k], distortion, stiffness[k], r[k], total[k])
        np.testing.assert_allclose(q[k], expected[0], rtol=1e-7, atol=1e-7)
        np.testing.assert_allclose(nu[k], expected[1], rtol=1e-7, atol=1e-7)
