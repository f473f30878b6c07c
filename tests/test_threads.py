"""Every public function may be called from several threads at once, and leaves the process as it found it."""

from __future__ import annotations

import signal
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor

import flint
import numpy as np
import pytest
from threadpoolctl import ThreadpoolController, threadpool_limits

import rldp

THREADS, CALLS = 8, 50
SAMPLE = rldp.Sample([[14, 5, 2], [3, 9, 8]])
SECRETS, VALUES = np.repeat([0, 1], 30), np.tile([0, 1, 2], 20)
SETS = [rldp.Nominal(), rldp.ChiSquare(), rldp.PowerDivergence(0.01), rldp.Pairs()]
PROTOCOLS = [rldp.design(SAMPLE, 0.7, privacy=given, gap=1e-3).protocol for given in SETS]
COLUMN = PROTOCOLS[1].release(SECRETS, VALUES, seed=3)


def designed(i):
    return rldp.design(SAMPLE, 0.5 + i / 8, privacy=SETS[i % 4], gap=1e-3).protocol.to_json()


def verified(i):
    return rldp.verify(PROTOCOLS[i % 4])


def released(i):
    return PROTOCOLS[i % 4].release(SECRETS, VALUES, seed=i).tolist()


def estimated(i):
    return rldp.estimate(COLUMN, PROTOCOLS[1], sample=SAMPLE, seed=i % 4).values.tolist()


def watched(i):
    fresh = rldp.Sample(2 * SAMPLE.counts)
    return (
        rldp.confirm(PROTOCOLS[i], fresh, seed=i).epsilon,
        rldp.audit(PROTOCOLS[i], fresh, seed=i).p_value,
        rldp.audit_release(SECRETS, COLUMN, seed=i).epsilon,
    )


def advised(i):
    """Designs whose warnings nobody needs to hear."""
    return rldp.least_epsilon(SAMPLE, 0.25, privacy=SETS[i % 2], tolerance=0.1).epsilon


KINDS = (designed, verified, released, estimated)
WORK = [(kind, i) for i in range(8) for kind in KINDS] + [
    (advised, 0),
    (advised, 1),
    (watched, 0),
    (watched, 1),
]


def process_state():
    libraries = ThreadpoolController().info()
    return {
        "threads of BLAS": [(lib["filepath"], lib["num_threads"]) for lib in libraries],
        "bits of balls": flint.ctx.prec,
        "filters of warnings": list(warnings.filters),
        "how warnings are shown": warnings.showwarning,
        "what NumPy ignores": np.geterr(),
        "signals": [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)],
    }


@pytest.fixture
def eager_threads():
    """Threads take turns as often as they can, and BLAS has two threads to give back."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    with threadpool_limits(2, user_api="blas"):
        yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("eager_threads")
def test_mixed_calls_from_many_threads_are_right_and_leave_the_process_alone():
    wanted = [call(i) for call, i in WORK]
    places = [(7 * thread + call) % len(WORK) for call in range(CALLS) for thread in range(THREADS)]
    before = process_state()
    with ThreadPoolExecutor(THREADS) as pool:
        found = list(pool.map(lambda place: WORK[place][0](WORK[place][1]), places))
    assert all(verdict.ok for verdict in found if isinstance(verdict, rldp.Verdict))
    assert [WORK[place] for place, each in zip(places, found, strict=True) if each != wanted[place]] == []
    assert process_state() == before
