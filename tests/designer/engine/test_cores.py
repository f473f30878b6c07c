"""Threads: BLAS is kept to one per call while somebody asks for it, and gets its own back afterwards."""

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController, threadpool_limits

import rldp
from rldp.designer.engine.cores import on_every_core, one_blas_thread


def blas_threads():
    """Threads of each BLAS that is loaded, by its file."""
    libraries = ThreadpoolController().info()
    return {lib["filepath"]: lib["num_threads"] for lib in libraries if lib["user_api"] == "blas"}


@pytest.fixture
def threads():
    """How many threads each BLAS has, now two; without those built for one, as other packages bring along."""
    with threadpool_limits(2, user_api="blas"):
        several = {file for file, count in blas_threads().items() if count == 2}
        if not several:
            pytest.skip("no BLAS here whose threads can be set")
        yield lambda: {count for file, count in blas_threads().items() if file in several}


def test_blas_gets_its_threads_back(threads):
    with one_blas_thread():
        with one_blas_thread():
            assert threads() == {1}
        assert threads() == {1}
    assert threads() == {2}


def test_threads_that_are_started_inside_have_one_too(threads):
    seen = []
    with one_blas_thread():
        on_every_core(lambda _: seen.append(threads()), range(2))
    assert seen == [{1}, {1}]


def test_a_design_leaves_no_limit_behind(threads):
    rldp.design(rldp.Sample([[8, 3], [2, 9]]), 1.0)
    counts = np.random.default_rng(0).integers(1, 9, size=(600, 2, 2))
    rldp.design_batch(counts, 1.0)
    assert threads() == {2}


def test_an_error_on_a_core_reaches_the_caller():
    def fail(item):
        raise RuntimeError(f"item {item}")

    with pytest.raises(RuntimeError, match="item 0"):
        on_every_core(fail, [0])
