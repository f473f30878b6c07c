"""Cores that this process may use, and a limit on BLAS that overlapping calls share."""

import os

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController, threadpool_limits

import rldp
from rldp._common import cores
from rldp._common.cores import core_count, one_blas_thread
from rldp.designer.engine.cores import on_every_core


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
    monkeypatch.setattr(cores, "_GROUP", tmp_path)
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {0, 2, 5}, raising=False)
    assert core_count.__wrapped__() == wanted
