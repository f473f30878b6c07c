"""Twelve tables with what becomes of each, the same in every client: columns that leave, or one sentence."""

import re

import numpy as np

import rldp
from rldp.data.reading import Column, Reading

SEX, REGION = Column("sex", ("f", "m")), Column("region", (1, 2))
AGE = Column("age", (10, 20, 30))
BINNED = Column("age", (5, 15, "(missing)"), edges=(10.0,))
ROWS = {
    "sex": ["f", "m", "m", "f", "m", "f"],
    "region": [1, 2, 1, 2, 2, 1],
    "age": [10, 20, 30, 30, 10, 20],
    "note": ["a", "b, c", "d", 'e "f"', "g", "h"],
}


def protocol(*columns, missing="refuse", outputs=None):
    """Without chance: the i-th secret shifts the values by i."""
    reading = Reading(columns[:-1], columns[-1:], missing)
    values = len(reading.values)
    matrix = np.stack([np.roll(np.eye(values), i, axis=1) for i in range(len(reading.secrets))])
    outputs = list(range(values)) if outputs is None else outputs
    return rldp.Protocol(matrix, reading.secrets, reading.values, outputs, reading=reading)


def shifted(secrets, values, count):
    return [(u + s) % count for s, u in zip(secrets, values, strict=True)]


S = [0, 1, 1, 0, 1, 0]
U = [0, 1, 2, 2, 0, 1]
JOINT = [0, 3, 2, 1, 3, 0]
BIN = {**ROWS, "age": [3.5, 10.0, None, 99.0, 9.9, None]}
PLAIN = shifted(S, U, 3)


def with_one(name, entry):
    return {**ROWS, name: [*ROWS[name][:4], entry, *ROWS[name][5:]]}


TWELVE = {
    "the released column alone": (ROWS, protocol(SEX, AGE), {}, {"age": PLAIN}),
    "kept columns": (
        ROWS,
        protocol(SEX, AGE),
        {"keep": ["note", "region"], "released": "shown"},
        {"note": ROWS["note"], "region": ROWS["region"], "shown": PLAIN},
    ),
    "outputs of text": (
        ROWS,
        protocol(SEX, AGE, outputs=["x", "y", "z"]),
        {},
        {"age": ["xyz"[y] for y in PLAIN]},
    ),
    "originals on purpose": (
        ROWS,
        protocol(SEX, AGE),
        {"keep": ["sex", "age"], "released": "shown", "allow_original": True},
        {"sex": ROWS["sex"], "age": ROWS["age"], "shown": PLAIN},
    ),
    "two secrets": (ROWS, protocol(SEX, REGION, AGE), {}, {"age": shifted(JOINT, U, 3)}),
    "two secrets, bins and a missing category": (
        BIN,
        protocol(SEX, REGION, BINNED, missing="category", outputs=BINNED.labels),
        {},
        {"age": [[5, 15, None][y] for y in shifted(JOINT, [0, 1, 2, 1, 0, 2], 3)]},
    ),
    "rows with missing entries are skipped": (
        BIN,
        protocol(SEX, Column("age", (5, 15), edges=(10.0,)), missing="skip"),
        {"keep": ["note"]},
        {"note": ["a", "b, c", 'e "f"', "g"], "age": shifted([0, 1, 0, 1], [0, 1, 1, 0], 2)},
    ),
    "unknown values are mapped": (
        with_one("age", 99),
        protocol(SEX, AGE),
        {"unknown": 30},
        {"age": [*PLAIN[:4], (2 + 1) % 3, PLAIN[5]]},
    ),
    "columns of other names": (
        {"gender": ROWS["sex"], "years": ROWS["age"]},
        protocol(SEX, AGE),
        {"as_secret": "gender", "as_value": "years"},
        {"years": PLAIN},
    ),
    "an unknown label": (
        with_one("sex", "SECRET"),
        protocol(SEX, AGE),
        {},
        "column 'sex' of SOURCE must hold known labels, but row 5 has another entry; 1 of 6 rows cannot be "
        "released",
    ),
    "a missing entry": (
        with_one("sex", None),
        protocol(SEX, AGE),
        {},
        "column 'sex' of SOURCE must hold no nulls, but row 5 has no value; 1 of 6 rows cannot be released",
    ),
    "an original by accident": (
        ROWS,
        protocol(SEX, AGE),
        {"keep": ["note", "sex"]},
        "keep must not name the secret column 'sex', which would be written as it is; allow that with "
        "allow_original=True if it is meant",
    ),
}

SOURCES = ["rows.csv", "rows.parquet", "rows/all.parquet", "data"]


def is_said(expected, said):
    """Whether a message holds the sentence, with what it calls the rows; parts are counted by themselves."""
    part = re.escape(expected.replace("SOURCE", "a part of the data"))
    in_parts = re.search(re.sub(r"\d+", r"\\d+", part), said) is not None
    return in_parts or any(expected.replace("SOURCE", source) in said for source in SOURCES)


CHI2 = 200_000
"""Rows of the random table below, for a test of the law."""


def random_case():
    """Two secrets, bins and a missing category: rows, codes of their pairs, and a table with chance."""
    rng = np.random.default_rng(5)
    sex, region, age = rng.integers(0, 2, CHI2), rng.integers(0, 2, CHI2), rng.integers(0, 3, CHI2)
    ages = np.array([3.5, 12.25, np.nan])[age]
    made = protocol(SEX, REGION, BINNED, missing="category")
    matrix = rng.dirichlet(np.full(3, 2.0), size=(4, 3))
    labels = made.secrets, made.values, ["a", "b", "c"]
    rows = {
        "sex": np.array(["f", "m"])[sex].tolist(),
        "region": (region + 1).tolist(),
        "age": [None if np.isnan(number) else float(number) for number in ages],
    }
    return rows, (2 * sex + region) * 3 + age, rldp.Protocol(matrix, *labels, reading=made.reading)


def statistic(drawn, cells, table):
    """Pearson's, against the table: 24 degrees of freedom."""
    outputs = np.array([table.outputs.index(output) for output in drawn])
    counts = np.bincount(cells * 3 + outputs, minlength=36).reshape(12, 3)
    expected = counts.sum(axis=1, keepdims=True) * table.matrix.reshape(12, 3)
    return float(((counts - expected) ** 2 / expected).sum())
