"""Memory that is not there: one sentence, before the machine is asked for it."""

from __future__ import annotations

import numpy as np
import pytest

import rldp
from rldp._common import memory as _memory
from rldp._common.memory import available_bytes, require_bytes, within_memory
from rldp.theory.dyadic import on_grid

GIB = 2**30


@pytest.fixture
def two_gibibytes(monkeypatch):
    monkeypatch.setattr(_memory, "available_bytes", lambda: 2 * GIB)


@pytest.mark.usefixtures("two_gibibytes")
def test_more_than_there_is_is_refused_in_one_sentence():
    require_bytes("this", 2 * GIB, "less is less")
    with pytest.raises(rldp.NotEnoughMemory) as refused:
        require_bytes("this", 14 * GIB, "less is less")
    assert str(refused.value) == "this needs about 14 GiB of memory, but 2 GiB are available; less is less"


@pytest.mark.parametrize("available", [None, 0])
def test_small_work_is_tried_whatever_the_system_says(monkeypatch, available):
    monkeypatch.setattr(_memory, "available_bytes", lambda: available)
    require_bytes("this", 2**28, "less is less")


def test_a_system_that_does_not_tell_refuses_nothing(monkeypatch):
    monkeypatch.setattr(_memory, "available_bytes", lambda: None)
    require_bytes("this", 2**60, "less is less")


def test_the_least_of_machine_container_and_process_counts(monkeypatch, tmp_path):
    (tmp_path / "meminfo").write_text("MemTotal: 9000 kB\nMemAvailable:    7000 kB\n")
    monkeypatch.setattr(_memory, "_MEMINFO", tmp_path / "meminfo")
    monkeypatch.setattr(_memory, "_GROUP", tmp_path)
    monkeypatch.setattr(_memory, "_of_process", lambda: None)
    assert available_bytes() == 7000 * 1024
    (tmp_path / "memory.max").write_text("max\n")
    assert available_bytes() == 7000 * 1024
    (tmp_path / "memory.max").write_text("5000\n")
    (tmp_path / "memory.current").write_text("4500\n")
    (tmp_path / "memory.stat").write_text("anon 4000\ninactive_file 300\nactive_file 10\n")
    assert available_bytes() == 800
    monkeypatch.setattr(_memory, "_of_process", lambda: 500)
    assert available_bytes() == 500


def test_a_memory_error_leaves_as_a_sentence():
    needed = "work needs more memory than is available; do less"
    with pytest.raises(rldp.NotEnoughMemory, match=needed), within_memory("work", "do less"):
        np.empty(2**55)


@pytest.mark.usefixtures("two_gibibytes")
def test_the_worst_case_of_many_secrets_is_refused_before_it_is_looked_for():
    matrix = on_grid(np.full((1, 140, 10, 50), 1 / 50))[0]
    protocol, sample = rldp.Protocol(matrix), rldp.Sample(np.ones((140, 10), dtype=int))
    with pytest.raises(
        rldp.NotEnoughMemory,
        match=r"^the worst leakage over a set of 140 secrets × 10 values × 50 outputs needs about 2\.\d+ GiB",
    ):
        rldp.worst_case(protocol, sample, rldp.ChiSquare())


@pytest.mark.usefixtures("two_gibibytes")
def test_too_many_draws_are_refused_before_they_are_made(monkeypatch):
    monkeypatch.setattr(_memory, "available_bytes", lambda: GIB)
    protocol = rldp.Protocol([[[0.5, 0.5]], [[0.5, 0.5]]])
    with pytest.raises(rldp.NotEnoughMemory, match=r"^drawing 100000000 distributions needs about 1\.49 GiB"):
        rldp.posterior(protocol, rldp.Sample([[1], [1]]), draws=10**8)
