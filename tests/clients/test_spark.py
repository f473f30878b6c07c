"""Spark frames, on a classic session and on Spark Connect: each starts a Spark of its own, on two cores.

``make test-spark`` runs this; it needs PySpark and Java 17.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import chi2

import rldp
from clients.twelve import TWELVE, is_said

try:
    import pyspark
except ImportError:
    pyspark = None

needs_spark = [
    pytest.mark.spark,
    pytest.mark.skipif(pyspark is None, reason="PySpark is not installed: pip install 'robust-ldp[spark]'"),
    pytest.mark.skipif(
        shutil.which("java") is None and "JAVA_HOME" not in os.environ, reason="there is no Java"
    ),
]


@pytest.fixture(scope="module", params=["classic", "connect"])
def results(request, tmp_path_factory):
    """What a session of its own found; one process each, as a process has one kind of session only."""
    folder = tmp_path_factory.mktemp(request.param)
    script = Path(__file__).with_name("spark_session.py")
    source = str(Path(rldp.__file__).parents[1])
    done = subprocess.run(
        [
            sys.executable,
            str(script),
            request.param,
            str(folder),
            os.environ.get("RLDP_SPARK_ROWS", "1000000"),
        ],
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, "PYSPARK_PYTHON": sys.executable, "PYTHONPATH": source},
        timeout=600,
    )
    assert done.returncode == 0, done.stderr[-6000:]
    return json.loads(done.stdout.partition("RESULTS ")[2])


pytestmark = needs_spark


def test_rows_keep_what_was_asked_for_beside_what_was_released(results):
    assert results["same kind"]
    assert results["columns"] == [["a.note", "string"], ["id", "bigint"], ["age", "int"]]
    ages = [10 * ((i % 3 + i % 2) % 3 + 1) for i in range(1000)]
    notes = [None if i % 5 == 0 else f"n{i}" for i in range(1000)]
    assert results["rows"] == [list(row) for row in zip(range(1000), ages, notes, strict=True)]


def test_a_table_that_does_not_read_the_secret_needs_no_column_of_it(results):
    assert results["without the secret"] == [[i, 10 * ((i % 3 + 1) % 3 + 1)] for i in range(1000)]


def test_with_a_key_a_person_gets_the_same_output_however_often_it_is_computed(results):
    assert results["once"] == [True, True]


def test_a_person_with_rows_in_two_partitions_is_refused_before_anything_is_drawn(results):
    assert results["twice"] == [
        "DataError",
        "column 'id' must identify people, each in one row, but some rows have the entry of an earlier row; "
        "1 of 1000 rows do",
    ]


def test_outputs_may_be_text(results):
    assert [row[0] for row in results["texts"]] == ["a", "b", "c"]
    assert sum(row[1] for row in results["texts"]) == 1000


def test_several_secrets_bins_and_missing_entries_are_read_as_the_protocol_says(results):
    assert results["joint"] == [[1, 5], [2, 15], [3, 15], [4, 5]]


@pytest.mark.parametrize(
    ("fault", "sentence"),
    [
        ("label", "column 'sex' of a part of the data must hold known labels, but row "),
        ("null", "column 'sex' of a part of the data must hold no nulls, but row "),
        ("number", "column 'age' of a part of the data must hold known labels, but row "),
        ("type", "column 'age' of a part of the data must hold strings, numbers or booleans, but row "),
        ("text", "column 'age' of a part of the data must hold known labels, but row "),
        ("write", "column 'sex' of a part of the data must hold known labels, but row "),
    ],
)
def test_rows_that_cannot_be_released_fail_the_job_in_one_sentence_without_their_entry(
    results, fault, sentence
):
    kind, said = results[fault]
    assert kind == "PythonException"
    assert f"DataError: {sentence}" in said
    assert "SECRET" not in said


def test_a_job_that_fails_has_written_no_file(results):
    assert [name for name in results["written"] if not name.startswith(".")] == []


@pytest.mark.parametrize(
    ("fault", "kind", "sentence"),
    [
        ("no column", "MissingColumn", "the frame has no column 'height'"),
        ("kept", "InvalidArgument", "must not be called 'age' like a kept column"),
        ("original", "InvalidArgument", "keep must not name the value column 'age', which would be written"),
        ("frame", "InvalidArgumentType", "frame must be a Spark data frame, got list"),
        ("tampered", "NotProved", "tampered.json must prove what it claims, but privacy is not proved"),
        ("loaded", "NotProved", "protocol must prove what it claims, but privacy is not proved"),
        ("claimless", "NotProved", "claimless.json must prove a privacy level"),
        ("missing", "ProtocolFileError", "missing.json"),
        ("limit", "NotProved", "must prove a privacy level of at most 0.1"),
    ],
)
def test_what_cannot_be_asked_for_is_refused_before_there_is_a_job(results, fault, kind, sentence):
    assert results[fault][0] == kind
    assert sentence in results[fault][1]


def test_a_protocol_that_proves_its_level_is_released_from(results):
    assert results["proved"] == ["nothing", ""]
    assert results["unproved"] == ["nothing", ""]


@pytest.mark.parametrize(
    ("case", "sentence"),
    [
        ("drift", "its rows differ from the sample more than chance explains"),
        ("absence", "the ε of being left out is "),
    ],
)
def test_rows_that_the_promise_is_not_about_are_refused_before_anything_is_drawn(results, case, sentence):
    assert results[case][0] == "DataError"
    assert sentence in results[case][1]
    assert results["same"] == ["nothing", ""]


def test_outputs_have_the_probabilities_of_the_protocol(results):
    """χ² with secure randomness in every worker, wrong with probability 1e-6."""
    counts = np.zeros((2, 3, 4))
    for sex, age, y, count in results["counts"]:
        counts["fm".index(sex), age // 10 - 1, y] = count
    assert counts.sum() == int(os.environ.get("RLDP_SPARK_ROWS", "1000000"))
    expected = counts.sum(axis=2, keepdims=True) * np.array(results["matrix"])
    statistic = ((counts - expected) ** 2 / expected).sum()
    print(f"{counts.sum():,.0f} rows, χ² = {statistic:.2f}, 18 degrees of freedom")
    assert statistic < chi2.isf(1e-6, df=18)


def test_a_frame_that_is_computed_twice_draws_twice(results):
    """What the page says; equal draws have probability 2^-400."""
    assert results["first"] != results["second"]


def test_tasks_draw_independently(results):
    """Were words shared, two tasks would draw alike; that has probability below 2^-97."""
    parts = [tuple(results["first"][i : i + 100]) for i in range(0, 400, 100)]
    assert len(set(parts)) == 4


def test_a_column_that_identifies_people_fails_the_job(results):
    kind, said = results["identifier"]
    assert kind == "PythonException"
    assert "InvalidArgument: keep must not name 'id', whose entries are nearly unique" in said


@pytest.mark.parametrize("name", TWELVE)
def test_twelve_tables_leave_as_from_every_other_client(results, name):
    expected, found = TWELVE[name][3], results["twelve"][name]
    if isinstance(expected, dict):
        assert found == expected
    else:
        assert is_said(expected, found), found


def test_the_law_is_that_of_the_table_with_bins_two_secrets_and_a_missing_category(results):
    """χ² with secure randomness, wrong with probability 1e-6."""
    assert results["statistic"] < chi2.isf(1e-6, df=24)
