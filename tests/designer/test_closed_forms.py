"""Protocols that are written down at once are private to the last grain."""

import numpy as np
import pytest
from flint import arb, ctx

import rldp
from rldp.designer.closed_forms import nearly_unconstrained
from rldp.theory.dyadic import DENOMINATOR, numerators
from rldp.theory.model import DesignProblem

LEVELS = [*np.linspace(0.5, 40, 80).tolist(), 700.0, 745.0, 800.0, 1e300]


@pytest.mark.parametrize("outputs", [2, 3, 7])
def test_a_trace_of_every_output_is_enough_and_hardly_more(outputs):
    """Largest over smallest entry is at most e^ε; one grain less of every trace would be too little."""
    distortion = 1.0 - np.eye(outputs)[:2]
    for epsilon in LEVELS:
        counts = np.array([[[3, 4], [5, 6]]])
        problem = DesignProblem.of(counts, np.array([epsilon]), distortion, rldp.ChiSquare(), rldp.Nominal())
        table = numerators(nearly_unconstrained(problem))
        least, most = int(table.min()), int(table.max())
        assert (table.sum(axis=-1) == DENOMINATOR).all()
        with ctx.workprec(200):
            e = arb(epsilon if epsilon < 1000 else 1000).exp()
            assert least >= 1
            assert arb(most) <= e * least
            fewer = max(int(least * (1 - 1e-11)) - 1, 0)
            assert fewer == 0 or arb(most + (outputs - 1) * (least - fewer)) > e * fewer


def test_at_no_level_there_is_no_trace():
    problem = DesignProblem.of(
        np.array([[[3, 4], [5, 6]]]), np.array([np.inf]), 1.0 - np.eye(2), rldp.ChiSquare(), rldp.Nominal()
    )
    assert nearly_unconstrained(problem).tolist() == [[np.eye(2).tolist()] * 2]
