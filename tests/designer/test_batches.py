"""What is not proved private is never handed out."""

import numpy as np
import pytest

import rldp
from rldp.designer import batches
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
