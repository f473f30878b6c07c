"""Where random words come from: the operating system's secure source, or a seed for tests."""

import os
import threading

import numpy as np
import pytest

import rldp
from rldp.releaser.randomness import randomness


def random_protocol():
    return rldp.Protocol(np.random.default_rng(4).dirichlet(np.ones(16), size=(3, 16)))


def test_a_seed_is_reproducible_and_its_absence_is_not():
    assert np.array_equal(randomness(3)(1000), randomness(3)(1000))
    assert not np.array_equal(randomness(3)(1000), randomness(4)(1000))
    assert not np.array_equal(randomness(None)(1000), randomness(None)(1000))


def test_without_a_seed_every_bit_is_the_operating_systems(monkeypatch):
    asked = []

    def urandom(count):
        asked.append(count)
        return bytes(range(8)) * (count // 8)

    monkeypatch.setattr(os, "urandom", urandom)
    words = randomness(None)(3)
    assert asked == [24]
    assert words.tobytes() == bytes(range(8)) * 3


def test_global_random_state_is_neither_used_nor_moved():
    protocol = random_protocol()
    columns = [0] * 1000, [1] * 1000
    np.random.seed(0)
    before = np.random.get_state()[1].copy()
    first = protocol.release(*columns)
    assert np.array_equal(np.random.get_state()[1], before)
    np.random.seed(0)
    assert protocol.release(*columns) != first


@pytest.mark.parametrize("seed", [0, 2**128 - 1, np.int64(5), np.uint8(5)])
def test_seeds(seed):
    assert len(randomness(seed)(2)) == 2


@pytest.mark.parametrize(
    ("seed", "error", "message"),
    [
        (True, rldp.InvalidArgumentType, "seed must be an integer or None, got True"),
        (1.0, rldp.InvalidArgumentType, "seed must be an integer or None, got 1.0"),
        ("1", rldp.InvalidArgumentType, "seed must be an integer or None, got '1'"),
        ([1], rldp.InvalidArgumentType, r"seed must be an integer or None, got \[1\]"),
        (-1, rldp.InvalidArgument, r"seed must lie between 0 and 2\^128 - 1, got -1"),
        (2**128, rldp.InvalidArgument, r"seed must lie between 0 and 2\^128 - 1, got 3402.*"),
    ],
)
def test_what_is_no_seed(seed, error, message):
    with pytest.raises(error, match=f"^{message}$"):
        random_protocol().release([0], [0], seed=seed)


def test_threads_share_a_protocol():
    protocol = random_protocol()
    columns = np.zeros(200_000, dtype=int), np.zeros(200_000, dtype=int)
    found = {}
    threads = [
        threading.Thread(target=lambda i=i: found.update({i: protocol.release(*columns, seed=i)}))
        for i in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for i in range(4):
        assert np.array_equal(found[i], protocol.release(*columns, seed=i))


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_process_draws_for_itself():
    protocol = random_protocol()
    columns = [0] * 1000, [1] * 1000
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writer, bytes(protocol.release(*columns)))
        os._exit(0)
    os.waitpid(child, 0)
    assert list(os.read(reader, 1000)) != protocol.release(*columns)
    os.close(reader)
    os.close(writer)
