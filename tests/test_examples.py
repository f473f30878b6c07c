"""The examples run, and tell the same wherever they run."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import rldp
from clients.test_spark import needs_spark

EXAMPLES = Path(__file__).parents[1] / "examples" / "cluster"


def printed(name, *arguments):
    source = str(Path(rldp.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / name), *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, "PYSPARK_PYTHON": sys.executable, "PYTHONPATH": source},
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout.split()


TABLE = ["rows", "designs", "failed", "promised", "distortion"]


@pytest.fixture(scope="module")
def expected():
    return printed("sweep_joblib.py")


@pytest.mark.slow
def test_a_sweep_on_the_cores_of_a_machine_and_on_a_dask_cluster_tells_the_same(expected):
    assert expected[:5] == TABLE
    assert expected[5::4] == ["100", "300", "1000"]
    assert expected[6::4] == ["100"] * 3
    assert printed("sweep_dask.py") == expected


@pytest.mark.parametrize(
    "kind", [pytest.param([], marks=needs_spark), pytest.param(["connect"], marks=needs_spark)]
)
def test_a_sweep_on_spark_tells_the_same(expected, kind):
    assert printed("sweep_spark.py", *kind) == expected
