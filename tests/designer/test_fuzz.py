"""Random designs over all that is allowed: no foreign exception, none that the judge does not prove.

What is drawn, and the tool that runs them by the ten thousand, are in ``benchmarks/odd_designs.py`` and
``benchmarks/fuzz.py``. A failure names the design's number: ``python benchmarks/fuzz.py --seed 1 --cells 12
--only NUMBER`` runs it again.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import fuzz
import rldp
from odd_designs import odd_design

SEED, CELLS = 1, 12  # small alphabets: what breaks designs are numbers, not sizes
QUICK, MORE, EACH = 25, 50, 25


@pytest.mark.parametrize("first", range(0, QUICK, EACH))
def test_no_design_ends_in_a_foreign_exception_or_unproved(first):
    assert_no_fault(range(first, first + EACH), CELLS)


@pytest.mark.parametrize("number", [45, 177, 239, 271, 323, 474, 839, 941])
def test_what_once_failed_does_so_no_more(number):
    """Infinite or missing numbers in the file, and warnings of NumPy: found with seed 0."""
    assert fuzz.outcome(odd_design(0, number), number).fault is None


@pytest.mark.slow
@pytest.mark.parametrize("first", range(QUICK, MORE, EACH))
def test_nor_does_one_of_many_more(first):
    assert_no_fault(range(first, first + EACH), CELLS)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 25, EACH))
def test_nor_does_a_larger_one(first):
    assert_no_fault(range(first, first + EACH), 60)


def assert_no_fault(numbers, cells):
    outcomes = [fuzz.outcome(odd_design(SEED, number, cells=cells), number) for number in numbers]
    assert [(o.number, o.fault) for o in outcomes if o.fault is not None] == []


def test_the_draws_reach_what_they_are_said_to_reach():
    drawn = [odd_design(SEED, number) for number in range(2000)]
    epsilons = [d.epsilon for d in drawn]
    sets = [s for d in drawn for s in (d.privacy, d.utility) if isinstance(s, rldp.PowerDivergence)]
    tables = [d.distortion for d in drawn if not isinstance(d.distortion, str)]
    counts = np.concatenate([d.sample.counts.ravel() for d in drawn])
    assert min(epsilons) == 0
    assert max(epsilons) == np.inf
    assert 0 < min(e for e in epsilons if e) < 1e-200
    assert {s.alpha for s in sets} >= {1e-300, 0.5}
    assert (min(s.lambda_ for s in sets), max(s.lambda_ for s in sets)) == (0, 100)
    assert (counts.min(), counts.max() > 1e14) == (0, True)
    assert min(t[t > 0].min() for t in tables if t.any()) < 1e-79
    assert max(t.max() for t in tables) > 1e79
    assert {d.problem for d in drawn} == {"NUNP", "NURP", "RUNP", "RURP"}
    assert {d.windows for d in drawn} == {True, False}
    assert any((d.sample.counts.sum(axis=1) == 0).any() for d in drawn)
    assert any(len(d.sample.secrets) == 1 for d in drawn)
    assert any(d.outputs is not None for d in drawn)


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (lambda design: (_ for _ in ()).throw(TypeError("planted")), "raised: TypeError: planted"),
        (lambda design: _claimed(design, objective=0.5), "unproved: the objective"),
        (lambda design: rldp.design(design.sample, 1.0), "unproved: ε is 1.0"),
        (lambda design: (_ for _ in ()).throw(rldp.DataError("planted")), "refused: planted"),
    ],
)
def test_a_planted_fault_is_found(monkeypatch, fault, kind):
    design = odd_design(SEED, 0)
    monkeypatch.setattr(type(design), "run", fault)
    assert fuzz.outcome(design).fault.startswith(kind)


def _claimed(design, *, objective):
    """A design whose file claims less distortion than it has."""
    from dataclasses import replace

    found = rldp.design(rldp.Sample([[30, 10, 5], [5, 25, 25]]), design.epsilon, distortion="squared")
    smaller = replace(found.protocol.guarantee, objective=objective * found.objective, lower_bound=0.0)
    table = found.protocol
    protocol = rldp.Protocol(table.matrix, table.secrets, table.values, table.outputs, guarantee=smaller)
    return replace(found, protocol=protocol)


@pytest.mark.slow
def test_the_tool_is_taken_up_where_it_stopped(tmp_path):
    script = Path(fuzz.__file__)
    kept = tmp_path / "kept.jsonl"
    command = [sys.executable, str(script), "--seed", "1", "--cells", "4", "--jobs", "1", "--out", str(kept)]
    for designs in ("3", "5"):
        done = subprocess.run([*command, "--designs", designs], capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr
    assert len(kept.read_text().splitlines()) == 5
    assert "5 designs, 0 failed" in done.stdout
    assert "| problem NUNP | 2 |" in done.stdout
