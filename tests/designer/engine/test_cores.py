"""Work on every core: errors reach the caller, and the caller's context reaches the threads."""

import numpy as np
import pytest

from rldp.designer.engine.cores import on_every_core


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
