import os
import signal

# Two test processes share two cores: linear algebra on tiny matrices gains nothing from more threads.
for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

# Where the tests run in the background, programs they start would never hear Ctrl-C.
signal.signal(signal.SIGINT, signal.default_int_handler)
# Nor, under nohup, of a terminal that is gone; what is handled here, if only by nothing, is default for them.
if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, lambda *_: None)

import pytest  # noqa: E402
from hypothesis import HealthCheck, settings  # noqa: E402

from cases import spread  # noqa: E402
from entries import Watch  # noqa: E402

# Neither a deadline nor a limit on drawing examples: a machine may be busy.
settings.register_profile(
    "rldp",
    deadline=None,
    derandomize=True,
    max_examples=30,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("rldp")


def pytest_addoption(parser):
    parser.addoption("--cases", type=int, metavar="N", help="run at most N cases of each test")
    parser.addoption("--spark", action="store_true", help="run the tests that start Spark, too")


def pytest_runtest_setup(item):
    if item.get_closest_marker("spark") and not item.config.getoption("spark"):
        pytest.skip("it starts Spark: make test-spark runs it")


@pytest.hookimpl(trylast=True)  # after those that -m and -k leave out
def pytest_collection_modifyitems(config, items):
    most = config.getoption("cases")
    if most is None:
        return
    kept = spread([item.nodeid for item in items], most)
    config.hook.pytest_deselected(items=[item for place, item in enumerate(items) if place not in kept])
    items[:] = [item for place, item in enumerate(items) if place in kept]


@pytest.fixture(autouse=True)
def messages_show_no_entries(request, monkeypatch):
    """Every test fails that meets a message with an entry in it, unless it is about showing them."""
    watch = Watch(monkeypatch)
    yield
    assert "show" in request.node.name or not watch.shown(), watch.shown()
