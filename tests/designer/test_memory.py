"""A design that does not fit is refused before anything is allocated."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

import rldp
from rldp._common import process
from rldp.designer import api
from rldp.designer.batches import design_bytes, require_memory
from rldp.designer.engine import Settings
from rldp.designer.request import SolveRequest
from rldp.designer.routes import routes, solve_batch
from rldp.designer.status import Route
from rldp.theory.model import DesignProblem
from strategies import a_problem

GIB = 2**30


@pytest.fixture
def four_gibibytes(monkeypatch):
    monkeypatch.setattr(process, "available_bytes", lambda: 4 * GIB)


def peak_of(call):
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.usefixtures("four_gibibytes")
def test_a_table_whose_blocks_do_not_fit_is_refused_with_advice():
    sample = rldp.Sample(np.full((20, 100), 9))

    def refused():
        with pytest.raises(
            rldp.NotEnoughMemory,
            match=r"^designing a protocol of 20 secrets × 100 values × 100 outputs "
            r"needs about [\d.]+ GiB of memory, but 4 GiB are available; windows=True",
        ):
            rldp.design(sample, 0.5)

    assert peak_of(refused) < 2**24


@pytest.mark.usefixtures("four_gibibytes")
def test_a_thousand_secrets_pair_by_pair_are_refused_and_windows_are_not():
    problem = a_problem("NURP", counts=[np.full((1000, 2), 9)])
    with pytest.raises(
        rldp.NotEnoughMemory,
        match=r"^designing a protocol of 1000 secrets × 2 values × 2 outputs "
        r"needs about 4\.\d+ GiB of memory, but 4 GiB are available; windows=True",
    ):
        require_memory(problem, Route.PAIRS, Settings())
    require_memory(problem, Route.WINDOWS, Settings())
    require_memory(a_problem("NURP", counts=[np.full((2, 1000), 9)]), Route.PAIRS, Settings())


@pytest.mark.usefixtures("four_gibibytes")
def test_a_batch_whose_proofs_do_not_fit_is_refused():
    counts = np.full((5000, 60, 4), 9)
    with pytest.raises(rldp.NotEnoughMemory, match=r"^designing 5000 protocols of 60 secrets × 4 values"):
        rldp.design_batch(counts, 0.5)


def test_an_error_of_memory_in_the_engine_is_a_sentence(monkeypatch):
    def fails(*_, **__):
        raise MemoryError

    monkeypatch.setattr(api, "solve", fails)
    for verb in (lambda: rldp.design(rldp.Sample([[9]]), 1.0), lambda: rldp.design_batch([[[9]]], 1.0)):
        with pytest.raises(
            rldp.NotEnoughMemory, match=r"^designing needs more memory than is available; windows"
        ):
            verb()


@pytest.mark.parametrize(
    ("sets", "shape", "windows"),
    [
        ("RURP", (5, 20), False),
        ("RURP", (20, 5), False),
        ("RURP", (2, 40), False),
        ("RURP", (20, 10), True),
        ("NUNP", (20, 10), False),
    ],
)
def test_the_estimate_is_about_what_is_held(sets, shape, windows):
    """Within a factor of three either way, and two megabytes that no alphabet decides about."""
    problem: DesignProblem = a_problem(sets, counts=[np.full(shape, 9) + np.arange(shape[1])])
    request = SolveRequest(1e-2, Settings(), windows=windows)
    (route,) = routes(problem, request)
    peak = peak_of(lambda: solve_batch(problem, request))
    estimate = design_bytes(problem, route, Settings())
    assert peak <= 3 * estimate + 2e6
    assert estimate <= 3 * peak


def test_a_route_without_an_engine_needs_less():
    problem = a_problem(shape=(5, 20))
    assert design_bytes(problem, Route.CONSTANT, Settings()) < design_bytes(problem, Route.PAIRS, Settings())
