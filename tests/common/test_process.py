"""The process is the user's: cores, threads of BLAS and their context, memory, warnings."""

from __future__ import annotations

import os
import threading

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController, threadpool_limits

import rldp
from rldp._common import process
from rldp._common.process import (
    available_bytes,
    core_count,
    on_every_core,
    one_blas_thread,
    require_bytes,
    silenced,
    warn,
    within_memory,
)
from rldp.errors import GapWarning, RldpWarning, SparseTableWarning
from rldp.theory.arrays import on_grid


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


def test_calls_that_overlap_keep_one_thread_to_the_last_and_give_the_others_back(threads):
    """The first to come leaves first: its limit must not go with it, nor stay when the other goes."""
    first, second = one_blas_thread(), one_blas_thread()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert threads() == {1}
    second.__exit__(None, None, None)
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


QUOTAS = {
    "none": ({}, 3),
    "unlimited": ({"cpu.max": "max 100000\n"}, 3),
    "two cores": ({"cpu.max": "200000 100000\n"}, 2),
    "half a core": ({"cpu.max": "50000 100000\n"}, 1),
    "one and a half": ({"cpu.max": "150000 100000\n"}, 2),
    "more than there are": ({"cpu.max": "800000 100000\n"}, 3),
    "the first version": ({"cpu/cpu.cfs_quota_us": "200000\n", "cpu/cpu.cfs_period_us": "100000\n"}, 2),
    "unlimited there": ({"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n"}, 3),
}


@pytest.mark.parametrize("name", QUOTAS)
def test_cores_are_those_of_the_affinity_and_of_the_container(name, monkeypatch, tmp_path):
    files, wanted = QUOTAS[name]
    (tmp_path / "cpu").mkdir()
    for file, text in files.items():
        (tmp_path / file).write_text(text)
    monkeypatch.setattr(process, "_GROUP", tmp_path)
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {0, 2, 5}, raising=False)
    assert core_count.__wrapped__() == wanted


def test_an_error_on_a_core_reaches_the_caller():
    def fail(item):
        raise RuntimeError(f"item {item}")

    with pytest.raises(RuntimeError, match="item 0"):
        on_every_core(fail, [0])


def test_what_numpy_ignores_here_it_ignores_on_every_core():
    seen = []
    with np.errstate(divide="ignore"):
        on_every_core(lambda _: seen.append(np.geterr()["divide"]), range(4))
    assert seen == ["ignore"] * 4


GIB = 2**30


@pytest.fixture
def two_gibibytes(monkeypatch):
    monkeypatch.setattr(process, "available_bytes", lambda: 2 * GIB)


@pytest.mark.usefixtures("two_gibibytes")
def test_more_than_there_is_is_refused_in_one_sentence():
    require_bytes("this", 2 * GIB, "less is less")
    with pytest.raises(rldp.NotEnoughMemory) as refused:
        require_bytes("this", 14 * GIB, "less is less")
    assert str(refused.value) == "this needs about 14 GiB of memory, but 2 GiB are available; less is less"


@pytest.mark.parametrize("available", [None, 0])
def test_small_work_is_tried_whatever_the_system_says(monkeypatch, available):
    monkeypatch.setattr(process, "available_bytes", lambda: available)
    require_bytes("this", 2**28, "less is less")


def test_a_system_that_does_not_tell_refuses_nothing(monkeypatch):
    monkeypatch.setattr(process, "available_bytes", lambda: None)
    require_bytes("this", 2**60, "less is less")


def test_the_least_of_machine_container_and_process_counts(monkeypatch, tmp_path):
    (tmp_path / "meminfo").write_text("MemTotal: 9000 kB\nMemAvailable:    7000 kB\n")
    monkeypatch.setattr(process, "_MEMINFO", tmp_path / "meminfo")
    monkeypatch.setattr(process, "_GROUP", tmp_path)
    monkeypatch.setattr(process, "_of_process", lambda: None)
    assert available_bytes() == 7000 * 1024
    (tmp_path / "memory.max").write_text("max\n")
    assert available_bytes() == 7000 * 1024
    (tmp_path / "memory.max").write_text("5000\n")
    (tmp_path / "memory.current").write_text("4500\n")
    (tmp_path / "memory.stat").write_text("anon 4000\ninactive_file 300\nactive_file 10\n")
    assert available_bytes() == 800
    monkeypatch.setattr(process, "_of_process", lambda: 500)
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
    monkeypatch.setattr(process, "available_bytes", lambda: GIB)
    protocol = rldp.Protocol([[[0.5, 0.5]], [[0.5, 0.5]]])
    with pytest.raises(rldp.NotEnoughMemory, match=r"^drawing 100000000 distributions needs about 1\.49 GiB"):
        rldp.posterior(protocol, rldp.Sample([[1], [1]]), draws=10**8)


def test_a_silenced_kind_is_not_heard_and_others_are():
    with silenced(GapWarning):
        warn("a gap", GapWarning, stacklevel=1)
        with pytest.warns(SparseTableWarning, match="a table"):
            warn("a table", SparseTableWarning, stacklevel=1)
    with pytest.warns(GapWarning, match="a gap"):
        warn("a gap", GapWarning, stacklevel=1)


def test_another_thread_hears_what_is_silenced_here():
    heard = []

    def told():
        with pytest.warns(GapWarning) as found:
            warn("a gap", GapWarning, stacklevel=1)
        heard.extend(found)

    with silenced(RldpWarning):
        other = threading.Thread(target=told)
        other.start()
        other.join()
    assert len(heard) == 1


def test_a_warning_names_the_line_of_the_caller():
    with pytest.warns(GapWarning) as found:
        warn("a gap", GapWarning, stacklevel=1)
    assert found[0].filename == __file__
