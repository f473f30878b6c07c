"""What is not proved private is never handed out."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import rldp
from rldp._common import process
from rldp.designer import batches
from rldp.designer.engine.settings import Settings
from strategies import sets_of

SAMPLE = rldp.Sample([[9, 3, 2], [1, 4, 7]])


@pytest.mark.filterwarnings("ignore::rldp.errors.GapWarning")
@pytest.mark.parametrize("problem", ["NUNP", "RURP"])
def test_a_protocol_that_repair_does_not_prove_gives_way_to_one_that_needs_no_proof(monkeypatch, problem):
    """Repair fails, and what it leaves would publish everything at no cost at all."""

    def failing(problem, matrix, eta, reached, settings):
        return np.broadcast_to(np.eye(3), matrix.shape).copy(), eta, np.zeros(len(matrix), dtype=bool)

    monkeypatch.setattr(batches, "repaired", failing)
    designed = rldp.design(SAMPLE, 0.5, **sets_of(problem))
    assert designed.status.route in ("single output", "unconstrained")
    assert designed.objective > 0.1
    assert rldp.verify(designed.protocol).ok


@pytest.fixture
def threads(monkeypatch):
    """How many threads each pool may have, on a machine of 16 cores."""
    asked = []

    class Pool(ThreadPoolExecutor):
        def __init__(self, workers):
            asked.append(workers)
            super().__init__(workers)

    for module in (batches, process):
        monkeypatch.setattr(module, "core_count", lambda: 16)
        monkeypatch.setattr(module, "ThreadPoolExecutor", Pool)
    return asked


@pytest.mark.parametrize(("settings", "wanted"), [(Settings(), 3), (Settings(part_bytes=1), 16)], ids=str)
def test_problems_that_fit_a_cache_keep_few_threads_busy(threads, settings, wanted):
    counts = np.random.default_rng(0).integers(1, 9, size=(300, 2, 2))
    rldp.design_batch(counts, 1.0, settings=settings)
    assert threads[0] == wanted


@pytest.mark.parametrize(("values", "wanted"), [(3, 3), (60, 4)])
def test_draws_of_larger_tables_use_more_threads(threads, values, wanted):
    counts = np.random.default_rng(0).integers(1, 50, size=(2, values))
    rldp.design(rldp.Sample(counts), 1.0, privacy="credible", utility="nominal", gap=1e-2)
    assert wanted in threads
