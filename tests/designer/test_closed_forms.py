"""Protocols that are written down at once are private to the last grain."""

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.optimize
from flint import arb, ctx

import rldp
from rldp.designer.closed_forms import nearly_unconstrained
from rldp.theory.arrays import DENOMINATOR, numerators
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


# Nothing may be told (ε = 0 over a set): a game

SAMPLE = rldp.Sample([[5, 3, 1], [1, 4, 9]])
SQUARED = np.subtract.outer(np.arange(3.0), np.arange(3.0)) ** 2


@pytest.mark.parametrize("unit", [1e-300, 1e-9, 1e9, 1e30, 1e99])
def test_the_unit_of_the_distortion_does_not_matter_where_nothing_may_be_told(unit):
    """A linear program of such numbers returns nothing, or something else."""
    plain, scaled = (rldp.design(SAMPLE, 0.0, distortion=d) for d in (SQUARED, unit * SQUARED))
    assert rldp.verify(scaled.protocol).ok
    assert scaled.objective == pytest.approx(unit * plain.objective, rel=1e-5)
    assert scaled.objective - scaled.lower_bound <= 1e-6 * max(1, scaled.objective)


def test_a_distortion_of_nothing_needs_no_game():
    found = rldp.design(SAMPLE, 0.0, distortion=np.zeros((3, 3)))
    assert rldp.verify(found.protocol).ok
    assert found.objective == found.lower_bound == 0


@pytest.mark.parametrize(
    "answer",
    [
        {"x": None},
        {"x": np.zeros(4), "ineqlin": SimpleNamespace(marginals=-np.ones(1))},
        {"x": np.ones(4), "ineqlin": SimpleNamespace(marginals=np.zeros(1))},
    ],
    ids=["nothing", "no mixture", "no weights"],
)
@pytest.mark.filterwarnings("ignore::rldp.GapWarning")
def test_a_linear_program_without_an_answer_leaves_the_best_output(monkeypatch, answer):
    monkeypatch.setattr(scipy.optimize, "linprog", lambda *_, **__: SimpleNamespace(**answer))
    found = rldp.design(SAMPLE, 0.0)
    assert rldp.verify(found.protocol).ok
    assert found.protocol.matrix[0, 0].tolist() == [0, 1, 0]
