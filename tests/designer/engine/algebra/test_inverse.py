"""Inverses in their place: right, and never of something that is not what LAPACK takes it for."""

import numpy as np
import pytest

import rldp
from rldp.designer.engine.algebra import dense
from rldp.designer.engine.algebra.dense import invert_positive, scaled_inverse
from rldp.designer.engine.settings import Settings
from rldp.theory.arrays import namespace

pytestmark = pytest.mark.numerical


def a_matrix(size=50, seed=0):
    factors = np.random.default_rng(seed).normal(size=(size, 2 * size))
    return factors @ factors.T / size


def test_large_matrices_are_inverted_like_small_ones():
    rng = np.random.default_rng(0)
    factors = rng.normal(size=(2, 60, 90))
    plain = factors @ factors.mT
    scale = np.exp(5 * rng.normal(size=(2, 60)))
    scale = scale[:, :, None] * scale[:, None, :]
    inverse = scaled_inverse(plain * scale, 0.0, Settings())
    assert np.allclose(inverse * scale, np.linalg.inv(plain), atol=1e-12)


def test_a_matrix_that_rounding_made_indefinite_is_inverted_all_the_same():
    matrix = np.eye(50)
    matrix[0, 1] = matrix[1, 0] = 1 + 1e-9
    assert np.allclose(scaled_inverse(matrix.copy(), 0.0, Settings()) @ matrix, np.eye(50), atol=1e-5)


def test_the_routines_of_lapack_are_the_ones_we_know():
    assert dense._dpotrf is not None
    assert dense._dpotri is not None


def test_a_routine_with_other_arguments_is_not_called(monkeypatch):
    monkeypatch.setattr(dense, "_SIGNATURE", b"void (char *, long *, double *, long *, long *)")
    assert dense._routine("dpotrf") is None


def test_without_such_a_routine_the_inverse_is_the_same(monkeypatch):
    one, other = a_matrix(), a_matrix()
    invert_positive(one)
    monkeypatch.setattr(dense, "_dpotrf", None)
    invert_positive(other)
    assert np.allclose(one, other, atol=1e-13)
    assert np.allclose(one @ a_matrix(), np.eye(50), atol=1e-11)


WRONG = {
    "not square": np.ones((3, 4)),
    "three axes": np.ones((2, 3, 3)),
    "columns first": np.asfortranarray(a_matrix(4)),
    "every other row": a_matrix(8)[::2, ::2],
    "single precision": a_matrix(4).astype(np.float32),
    "the other byte order": a_matrix(4).astype(">f8"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_kind_of_matrix_is_refused(name):
    with pytest.raises(ValueError, match=r"^matrix must "):
        invert_positive(WRONG[name])


def test_a_matrix_that_must_not_be_written_is_refused():
    matrix = a_matrix(4)
    matrix.flags.writeable = False
    with pytest.raises(ValueError, match="can be written"):
        invert_positive(matrix)


@pytest.mark.parametrize("size", [3, 50])
def test_a_singular_matrix_spoils_no_other(size):
    matrices = np.stack([a_matrix(size), np.zeros((size, size)), 2 * a_matrix(size)])
    found = dense.inverse(matrices)
    assert np.allclose(found[[0, 2]] @ matrices[[0, 2]], np.eye(size), atol=1e-9)
    assert np.isnan(found[1]).all()


def test_a_library_that_runs_out_of_memory_says_so(monkeypatch):
    """To PyTorch both are a RuntimeError; a design without its inverses would be a worse one, in silence."""

    def full(_):
        raise RuntimeError("CUDA out of memory")

    monkeypatch.setattr(namespace(np.empty(0)).linalg, "inv", full)
    with pytest.raises(RuntimeError, match="out of memory"):
        dense.inverse(np.eye(3))


@pytest.mark.filterwarnings("ignore::rldp.errors.PriceWarning")  # a gap may stay open here, if that is said
def test_designs_whose_matrices_become_singular_end_without_an_error():
    """Where the engine gets nowhere, the best outputs with a trace of all others are what is left.

    A trace e^-ε of each of three outputs costs at most 3e^-ε times the largest distortion.
    """
    sample = rldp.Sample([[5, 5, 5], [5, 5, 5]], values=[0, 100, 200])
    for epsilon in (20, 25, 30, 40):
        found = rldp.design(sample, epsilon, windows=True, gap=1e-6)
        assert rldp.verify(found.protocol).ok
        assert found.objective <= 3 * np.exp(-epsilon) * 200**2 + 1e-6


@pytest.mark.filterwarnings("ignore::rldp.errors.PriceWarning", "ignore::rldp.errors.GapWarning")
@pytest.mark.parametrize("windows", [False, True])
def test_a_design_none_of_whose_matrices_can_be_inverted_ends_without_an_error(monkeypatch, windows):
    """What the engine cannot do, the closed forms do worse; what they give is proved all the same."""

    def singular(_):
        raise np.linalg.LinAlgError("Singular matrix")

    monkeypatch.setattr(namespace(np.empty(0)).linalg, "inv", singular)
    found = rldp.design(rldp.Sample([[9, 4, 2], [1, 5, 8]]), 2.0, windows=windows)
    assert rldp.verify(found.protocol).ok
