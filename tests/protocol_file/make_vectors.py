"""Make the shared vectors: what every client of the protocol file must read, refuse and draw.

    python tests/protocol_file/make_vectors.py        writes src/rldp/protocol_file/vectors.json

``docs/file-format.md`` explains the keys. Tables and claims are made by hand; one file, 'proved', is of a
design. Which output a word stands for follows from the definition, in integers. Whether a changed file is
accepted is what the library's reader says; a client in another language that agrees is a second opinion.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import struct
import tempfile
from collections.abc import Iterator
from itertools import accumulate, chain, product
from pathlib import Path
from typing import Any

import rldp

TARGET = Path(rldp.__file__).parent / "protocol_file" / "vectors.json"
PROVED = Path(__file__).parent / "files" / "version-1.json"
D = 2**52
G, C = "guarantee", "certificate"

Tree = dict[str, Any]
Place = tuple[str | int, ...]
Change = tuple[str, str, int, int, str]


# Files that every client reads; all are ASCII, so that a place in the text is a place in the bytes


def table(secrets: list, values: list, outputs: list, rows: list, version: int = 1, **more: Any) -> Tree:
    return {
        "format": "rldp-protocol",
        "version": version,
        "generator": "by hand",
        "secrets": secrets,
        "values": values,
        "outputs": outputs,
        "denominator": D,
        "numerators": rows,
        G: None,
    } | more


def claiming(privacy: Tree, utility: Tree, counts: list, rows: list, version: int = 2) -> Tree:
    """A file whose claim is readable; whether it is true is not a reader's business."""
    values, outputs = len(rows[0]), len(rows[0][0])
    claim = {
        "epsilon": "infinity",
        "n": sum(map(sum, counts)),
        "counts": counts,
        "privacy": privacy,
        "utility": utility,
        "distortion": [[abs(u - y) for y in range(outputs)] for u in range(values)],
        "objective": 1.0,
        "lower_bound": -0.0,
        C: dict.fromkeys(("eta", "eta_utility", "multipliers", "members", "distribution")),
    }
    labels = [f"s{s}" for s in range(len(rows))], list(range(values)), list(range(outputs))
    return table(*labels, rows, version=version, **{G: claim})


def with_noise(file: Tree) -> Tree:
    """With counts that have noise."""
    claim = file[G]
    return file | {G: {**claim, "noise": 0.5}}


def with_rows_a_person(file: Tree) -> Tree:
    """With counts that have noise, of a table in which a person has several rows."""
    return file | {G: {**file[G], "rows_a_person": 3}}


def to_those_who_know(file: Tree) -> Tree:
    """With a claim about readers who know the value, which makes it a file of version 3."""
    claim = file[G]
    secrets, values, outputs = (len(file[key]) for key in ("secrets", "values", "outputs"))
    prices = [[[-0.5] * values for _ in range(secrets)] for _ in range(outputs)]
    certificate = claim[C] | {"known": prices}
    return file | {"version": 3, G: claim | {"epsilon_known": 0.5, C: certificate}}


def with_levels(file: Tree) -> Tree:
    """With levels of pairs of secrets, which makes it a file of version 3."""
    levels = [[0, 0.5, "infinity"], [1, 0, 1e300], ["infinity", 0, 0.0]]
    return file | {"version": 3, G: file[G] | {"epsilon": levels}}


def even(secrets: int, values: int, outputs: int) -> list:
    return [[[D // outputs] * outputs] * values] * secrets


ROWS = [
    [[D, 0, 0], [0, D, 0], [0, 0, D]],
    [[1, 0, D - 1], [D // 3, D // 3, D - 2 * (D // 3)], [D - 1, 1, 0]],
]
MANY = [[[D - 35 if y == 20 else 1 for y in range(36)]]]
LABELS = [-1, 0.5, 10**30, "1", True, "", 'say "hi"\\\n\0', "größe 日本 🙂", 2**53 + 1, float(2**53), 1e300]
CREDIBLE = {"kind": "credible", "alpha": 0.05, "prior": 0.5, "lambda": 1.0, "radius": 0.1, "seed": 2**128 - 1}
CENTRE = [[D // 2, D // 4], [D // 8, D - D // 2 - D // 4 - D // 8]]
ADAPTIVE = CREDIBLE | {"prior": "adaptive", "centre": CENTRE}
COLUMNS = {
    "secret": [{"name": "sex", "labels": ["f", "m"]}, {"name": "dose", "labels": [True, 1e16, 1e-05, -0.0]}],
    "value": {"name": "age", "edges": [30, 40.5]},
    "missing": "category",
}
JOINT = [f"{sex}, {dose}" for sex in "fm" for dose in ("True", "1e+16", "1e-05", "-0.0")]
AGES = [20, 35.5, 50, "(missing)"]
QUOTED = {
    "secret": [{"name": "a", "labels": ["x, y", "x"]}, {"name": "b", "labels": ["y, z", "z", "it's \u00a0"]}],
    "value": {"name": "c"},
    "missing": "skip",
}
REPRS = [f"{a}, {b}" for a in ("'x, y'", "'x'") for b in ("'y, z'", "'z'", '"it\'s \\xa0"')]


SEVERAL = {
    "secret": [{"name": "sex", "labels": ["f", "m"]}],
    "value": [
        {"name": "age", "labels": [20, 35.5, "(missing)"], "edges": [30]},
        {"name": "#3", "labels": [True, "1"], "header": "job"},
    ],
    "missing": "category",
}
READ = list(range(len(JOINT) * len(AGES)))
PAIRS = [[age, job] for age in (20, 35.5, "(missing)") for job in (True, "1")]


# A chain: job is drawn first, which stands second among the columns

THREE = {
    "secret": [{"name": "sex", "labels": ["f", "m"]}],
    "value": [
        {"name": "age", "labels": [20, 35.5, "(missing)"], "edges": [30]},
        {"name": "job", "labels": [True, "1"]},
    ],
    "missing": "category",
}
FIRST = [[[[D // 4, D - D // 4], [0, D]], [[D, 0], [1, D - 1]]]]
SECOND = [
    [[[D, 0, 0], [0, D, 0], [0, 0, D]], [[D // 2, D // 2, 0], [1, 1, D - 2], [D // 4, D // 4, D // 2]]],
    [[[0, 0, D], [D, 0, 0], [0, D, 0]], [[5, D - 5, 0], [0, D - 1, 1], [D // 8, 0, D - D // 8]]],
]


def chained(guarantee: Tree | None = None) -> Tree:
    return {
        "format": "rldp-chain",
        "version": 1,
        "generator": "by hand",
        "secrets": ["f", "m"],
        "columns": THREE,
        "denominator": D,
        "stages": [
            {"column": "job", "outputs": ["x", "y"], "numerators": FIRST},
            {"column": "age", "outputs": [1, 2.5, 0], "numerators": SECOND},
        ],
        G: guarantee,
    }


def plain_digest(*content: list) -> str:
    """That of an earlier table with its labels, from the definition."""
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


# A chain with fixed stages: a given column, then an earlier release that knew it and that some had no part in

REGIONS = ["n\u00e9", 1.0, "(other)"]
BEFORE = [[[[D // 4 + c, D - D // 4 - c]] * 2, [[D // 2, D // 2], [1, D - 1]]] for c in range(3)]
LATER = [
    [[[(7 * c + s + 1) * 2**45, D - (7 * c + s + 1) * 2**45], [0, D]] for s in range(2)] for c in range(9)
]


def after(guarantee: Tree | None = None) -> Tree:
    digest = plain_digest(["f", "m"], [20, 35.5], ["lo", "hi"], BEFORE, [["region", REGIONS]])
    earlier = {"sha256": "ab" * 32, "digest": digest, "context": ["region"], "absent": True}
    return chained(guarantee) | {
        "columns": {
            "secret": THREE["secret"],
            "value": [{"name": "age", "labels": [20, 35.5, "(missing)"], "edges": [30]}, THREE["value"][1]],
            "missing": "category",
            "given": [{"name": "region", "labels": REGIONS}],
        },
        "stages": [
            {"column": "region", "kept": True},
            {
                "column": "age",
                "outputs": ["lo", "hi", "(missing)"],
                "earlier": earlier,
                "numerators": BEFORE,
            },
            {"column": "job", "outputs": ["x", "y"], "numerators": LATER},
        ],
    }


def of_later_chains() -> Tree:
    counts = [[1] * 18, [2] * 18]
    return of_chains() | {
        "n": 54,
        "counts": counts,
        "centre": [[D // 2, *[0] * 17], [*[0] * 17, D // 2]],
        "columns": [
            {"weight": 2.5, "distortion": [[0, 1], [1.5, 0]], "multipliers": [[[0, 0.5], [1, 2]]] * 9}
        ],
        "given_known": True,
    }


def of_chains() -> Tree:
    """A claim that a reader reads; it is not true."""
    counts = [[3, 1, 0, 2, 5, 1], [0, 5, 2, 1, 1, 3]]
    return {
        "epsilon": 0.5,
        "n": sum(map(sum, counts)),
        "counts": counts,
        "alpha": 0.05,
        "prior": "adaptive",
        "seed": 2**128 - 1,
        "centre": [[D // 2, 0, 0, 0, 0, D // 4], [0, 0, D // 8, 0, 0, D // 8]],
        "columns": [
            {"weight": 2.5, "distortion": [[0, 1], [1.5, 0]], "multipliers": [[0, 0.5], [1e-300, 2]]},
            {"weight": 1, "distortion": [[0, 1, 4]] * 3, "multipliers": [[0, 0], [0, 1], [2, 0.25]]},
        ],
        "objective": 1.25,
        "lower_bound": -0.0,
    }


def files() -> dict[str, Tree]:
    return {
        "table": table(["ill", "well"], [0, 1, 2], ["no", "maybe", "yes"], ROWS),
        "labels": table(["all"], LABELS, LABELS[::-1], [one_hot(len(LABELS))]),
        "many outputs": table(["all"], ["any"], list(range(36)), MANY),
        "proved": json.loads(PROVED.read_text(encoding="utf-8")),
        "credible": claiming(CREDIBLE, CREDIBLE | {"lambda": 0, "seed": 0}, [[3, 1], [0, 5]], even(2, 2, 2)),
        "adaptive": claiming(
            ADAPTIVE, {"kind": "nominal", "centre": CENTRE}, [[3, 1], [0, 5]], even(2, 2, 2), 3
        ),
        "noisy": with_noise(
            claiming(ADAPTIVE, {"kind": "nominal", "centre": CENTRE}, [[30, -1], [0, 5]], even(2, 2, 2), 3)
        ),
        "rows a person": with_rows_a_person(
            with_noise(
                claiming(
                    ADAPTIVE, {"kind": "nominal", "centre": CENTRE}, [[30, -1], [0, 5]], even(2, 2, 2), 3
                )
            )
        ),
        "pairs": claiming(
            {"kind": "pairs", "alpha": 1e-300, "radii": [0, 1.5, 2], "methods": ["A1", "A2", "A2"]},
            {"kind": "power-divergence", "lambda": 100, "radius": 0},
            [[3], [1], [0]],
            even(3, 1, 2),
        ),
        "all": claiming({"kind": "all"}, {"kind": "nominal"}, [[2**53 - 2, 1]], even(1, 2, 1)),
        "levels": with_levels(claiming({"kind": "all"}, {"kind": "nominal"}, [[3]] * 3, even(3, 1, 2))),
        "known": to_those_who_know(claiming({"kind": "all"}, CREDIBLE, [[3, 1], [0, 5]], even(2, 2, 2))),
        "columns": table(JOINT, AGES, [0, 1], even(8, 4, 2), 2, columns=COLUMNS),
        "reading": table(
            JOINT,
            AGES,
            READ,
            [[[D * (y == 4 * s + u) for y in READ] for u in range(4)] for s in range(8)],
            2,
            columns=COLUMNS,
        ),
        "several": table(["f", "m"], PAIRS, [[20, True], [20, "1"]], even(2, 6, 2), 3, columns=SEVERAL),
        "quoted": table(REPRS, [True, False], [0], even(6, 2, 1), 2, columns=QUOTED),
        "chain": chained(),
        "claimed chain": chained(of_chains()),
        "noisy chain": chained(
            of_chains()
            | {"counts": [[-3, 7, 0, 2, 5, 1], [0, 5, 2, 1, 1, 3]]}
            | {"epsilon_known": 0.5, "noise": 0.5, "rows_a_person": 2}
        ),
        "later chain": after(),
        "claimed later chain": after(of_later_chains()),
        "once": table(["f", "m"], PAIRS, SHADES, uneven(2, 6, len(SHADES)), 3, columns=SEVERAL),
        "once chain": chained()
        | {
            "stages": [
                {"column": "job", "outputs": SHADES[:8], "numerators": [uneven(2, 2, 8)]},
                {
                    "column": "age",
                    "outputs": SHADES[4:12],
                    "numerators": [uneven(2, 3, 8, c) for c in range(8)],
                },
            ]
        },
    }


def one_hot(size: int) -> list:
    return [[D * (u == y) for y in range(size)] for u in range(size)]


SHADES: list = [-1.5, 2**60, 0, True, "größe", *range(2, 59)]


def uneven(secrets: int, values: int, outputs: int, first: int = 0) -> list:
    """Rows that all differ, of outputs that are about equally likely."""
    sizes = range(first, first + secrets * values)
    rows = [[D // outputs + (7 * r + y) % 11 for y in range(outputs)] for r in sizes]
    for row in rows:
        row[-1] += D - sum(row)
    return [rows[s * values : (s + 1) * values] for s in range(secrets)]


# Text with the place of everything in it


class Written:
    """The text of a file, and where each of its parts stands: (start, end), and for keys where they start."""

    def __init__(self, tree: Tree) -> None:
        self.text = ""
        self.spans: dict[Place, tuple[int, int]] = {}
        self.keys: dict[Place, int] = {}
        self._write(tree, ())
        self.text += "\n"

    def _write(self, tree: Any, place: Place) -> None:
        start = len(self.text)
        if isinstance(tree, dict):
            for i, (key, item) in enumerate(tree.items()):
                self.text += "," if i else "{"
                self.keys[*place, key] = len(self.text)
                self.text += f"{json.dumps(key)}:"
                self._write(item, (*place, key))
            self.text += "}"
        elif isinstance(tree, list) and tree:
            for i, item in enumerate(tree):
                self.text += "," if i else "["
                self._write(item, (*place, i))
            self.text += "]"
        else:
            self.text += json.dumps(tree)
        self.spans[place] = (start, len(self.text))


# Changes: name, name of the file, start, end, the text that stands there instead

PUT_ANYWHERE = ["null", "true", '"text"', "[]", "{}"]
PUT_FOR_NUMBERS = ["-1", "-0", "-1e-999", "0.0", "1", "1.0", f"{D}.0", str(2**128), "1e999", "NaN"]
NUMBERS = [
    "01",
    "-01",
    "+1",
    "1.",
    ".5",
    "-.5",
    "1e",
    "1e+",
    "0x1",
    "1_0",
    "1E5",
    "1e+5",
    "1e-05",
    "0e0",
    "-0.0",
]
NUMBERS += [
    "Infinity",
    "-Infinity",
    "-NaN",
    "nan",
    "-",
    "--1",
    "1 2",
    "\u0661",
    "\uff11",
    "1n",
    "1f",
    '"1"',
    "True",
]
NUMBERS += [str(10**308), str(10**309), "1" * 4301, "0." + "1" * 4301, "0" * 10]


def places(tree: Any, place: Place = ()) -> Iterator[tuple[Place, Any]]:
    """Every key, and of every list the last entry."""
    if place:
        yield place, tree
    if isinstance(tree, dict):
        for key, item in tree.items():
            yield from places(item, (*place, key))
    elif isinstance(tree, list) and tree:
        yield from places(tree[-1], (*place, len(tree) - 1))


def shown(place: Place) -> str:
    return "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in place).lstrip(".")


def replaced(file: str, written: Written, place: Place, text: str) -> Change:
    return f"{shown(place)} is {text[:40]}", file, *written.spans[place], text


def systematic(file: str, written: Written, tree: Tree, below: Place = ()) -> Iterator[Change]:
    """Each part below a place exchanged for other things, left out, and there twice; lists longer."""
    for place, item in places(tree):
        if place[: len(below)] != below:
            continue
        number = type(item) in (int, float)
        for text in PUT_ANYWHERE + PUT_FOR_NUMBERS * number:
            if json.dumps(item) != text:
                yield replaced(file, written, place, text)
        start, end = written.spans[place]
        if isinstance(item, list):
            yield f"{shown(place)} has one more", file, end - 1, end, ",0]" if item else "0]"
        if isinstance(item, dict):
            yield f"{shown(place)} has a key more", file, start + 1, start + 1, '"more":0,'
        if place in written.keys:
            key = written.keys[place]
            comma = written.text[end] == ","
            cut = (key, end + 1) if comma else (key - (written.text[key - 1] == ","), end)
            yield f"{shown(place)} is missing", file, *cut, ""
            yield f"{shown(place)} is there twice", file, key, key, written.text[key:end] + ","


def of_rows(written: Written) -> Iterator[Change]:
    """Rows of 'table' that do or do not sum to 2^52."""
    for row in (
        [0, 0, D],
        [0, 0, D - 1],
        [1, 0, D],
        [D, D, -D],
        [-1, 1, D],
        [D + 1, 0, -1],
        [0, 0, 0],
        [2**52 - 1, 0, 1],
        [2**53, 0, 0],
        [2**64 + D, 0, 0],
        [0.5, 0.5, D - 1],
    ):
        yield replaced("table", written, ("numerators", 0, 0), json.dumps(row))
    for text in (f"[{D}, -0, 0]", f"[{D}, -0.0, 0]", f"[0.{D}e16, 0, 0]", "[4503599627370496e0, 0, 0]"):
        yield replaced("table", written, ("numerators", 0, 0), text)


def of_labels(written: Written) -> Iterator[Change]:
    """Lists of three labels that are or are not distinct labels."""
    large, digits = 2**53, "1" + "0" * 4299
    for text in (
        "[1, 1.0, 2]",
        "[1, true, 2]",
        "[0, false, 2]",
        "[0, -0.0, 2]",
        "[0, -0, 2]",
        '["1", 1, 2]',
        '["true", true, 2]',
        "[true, false, 2]",
        "[0.1, 0.1000000000000000055511151231257827, 2]",
        "[0.1, 0.10000000000000002, 2]",
        f"[{large}, {large + 1}, 2]",
        f"[{large}, {large}.0, 2]",
        f"[{large + 1}, {large + 1}.0, 2]",
        f"[{large}, {large + 1}.0, 2]",
        f"[{10**30}, 1e30, 2]",
        f"[{int(1e30)}, 1e30, 2]",
        f"[{2**1100}, {2**1100 + 1}, 2]",
        f"[{2**1100}, {2**1100}, 2]",
        f"[{digits}, 1, 2]",
        f"[-{digits}, 1, 2]",
        f"[{digits}0, 1, 2]",
        f"[{digits}0.5, 1, 2]",
        "[1e400, 1, 2]",
        "[-1e400, 1, 2]",
        "[5e-324, 0, 2]",
        "[1e-400, 0, 2]",
        '["a", "\\u0061", 2]',
        '["a", "A", "á"]',
        '["á", "a\\u0301", 2]',
        '["\\ud83d\\ude42", "🙂", 2]',
        '["\\ud83d\\ude42", "a", 2]',
        '["\\ud83d", "a", 2]',
        '["\\ude42\\ud83d", "a", 2]',
        '["\\uD83Dx\\uDE42", "a", 2]',
        '["\\u12", "a", 2]',
        '["\\u00g0", "a", 2]',
        '["\\x41", "a", 2]',
        '["\\/", "/", 2]',
        '["\\b\\f\\n\\r\\t\\"\\\\", "a", 2]',
        '["\t", "a", 2]',
        '["\\u0000", "a", 2]',
        '["\u007f\u2028", "a", 2]',
        '["__proto__", "constructor", "toString"]',
        '["a", null, 2]',
        '["a", ["b"], 2]',
        '["a", "b"]',
        '["a", "b", "c",]',
        '["a" "b", "c"]',
    ):
        yield replaced("table", written, ("values",), text)


def of_nothing(written: Written) -> Iterator[Change]:
    """Tables without a secret, a value or an output."""
    end = len(written.text)
    for name, shape in (
        ("secrets", (0, 1, 1)),
        ("values", (1, 0, 1)),
        ("outputs", (1, 1, 0)),
        ("one", (1, 1, 1)),
    ):
        rows = [[[D] * shape[2] for _ in range(shape[1])] for _ in range(shape[0])]
        labels = [["x"] * size for size in shape]
        yield (
            f"{name if 0 in shape else 'nothing'} is empty",
            "table",
            0,
            end,
            json.dumps(table(*labels, rows)),
        )


def of_text(written: Written) -> Iterator[Change]:
    """What stands around and between the parts of 'table', and in its names."""
    end = len(written.text)
    for text in (" \t\r\n", "\ufeff", "\f", "\v", "\u00a0", "//\n", "[", "0", "\0"):
        yield f"begins with {json.dumps(text)}", "table", 0, 0, text
        yield f"ends with {json.dumps(text)}", "table", end, end, text
    yield "ends early", "table", end - 2, end, ""
    yield "is empty", "table", 0, end, ""
    yield "is null", "table", 0, end, "null"
    yield "is a list", "table", 0, end, "[]"
    start = written.spans["secrets",][0]
    yield "has space between parts", "table", start, start, " \n\t\r"
    yield "has a line break of another kind", "table", start, start, "\u2028"
    yield "has two commas", "table", start, start, ","
    for key in (
        '"\\u0066ormat":"rldp-protocol"',
        '"format" : "rldp\\u002dprotocol"',
        "format:0",
        "'format':0",
    ):
        yield f"begins with {key}", "table", 1, written.spans["format",][1], key
    yield "a key twice, once with escapes", "table", 1, 1, '"\\u0066ormat":"rldp-protocol",'
    yield "a key named __proto__", "table", 1, 1, '"__proto__":null,'
    for text in ('"\\ud800"', '"\\"', '"\n"', '"\\u00e9"', '"é"', "'a'"):
        yield replaced("table", written, ("generator",), text)
    for depth in (9, 2000):
        lists = "[" * depth + "]" * depth
        yield f"generator is {depth} lists in each other", "table", *written.spans["generator",], lists
    for version in ("2", "3", "4", "0", '"1"', "1e0"):
        yield replaced("table", written, ("version",), version)


def of_columns(written: dict[str, Written]) -> Iterator[Change]:
    """Columns of several labels, and what they combine to."""

    def put(file: str, place: Place, text: str) -> Change:
        return replaced(file, written[file], place, text)

    dose = ("columns", "secret", 1, "labels")
    yield put("columns", ("version",), "1")
    for text in (
        "[1, 1e16, 1e-5, -0.0]",
        "[true, 10000000000000000, 1e-5, -0.0]",
        "[true, 1e16, 0.00001, -0.0]",
        "[true, 1e16, 1e-5, 0.0]",
        "[true, 1e16, 1e-5, -0]",
        '["True", "1e+16", "1e-05", "-0.0"]',
        "[1e16, true, 1e-5, -0.0]",
        "[true, 1e16, 1e-5]",
        "[true, 1e16, 1e-5, -0.0, 2]",
    ):
        yield put("columns", dose, text)
    for number, said in (
        ("1e15", "1000000000000000.0"),
        ("123456789012345680.0", "1.2345678901234568e+17"),
        ("0.0001", "0.0001"),
        ("0.00012345", "0.00012345"),
        ("0.000012345", "1.2345e-05"),
        ("1e22", "1e+22"),
        ("1e22", "10000000000000000000000"),
        ("1e100", "1e+100"),
        ("5e-324", "5e-324"),
        ("-2.5", "-2.5"),
        ("1", "1"),
        ("1.0", "1"),
        ("12345678901234567890123", "12345678901234567890123"),
        ("false", "False"),
        ('"\\u0000"', "\0"),
    ):
        columns = {
            "secret": [{"name": "a", "labels": ["x"]}, {"name": "b", "labels": [0]}],
            "value": {"name": "c"},
        }
        columns["missing"] = "refuse"
        text = json.dumps(table([f"x, {said}"], [0], [0], even(1, 1, 1), 2, columns=columns))
        text = text.replace('"labels": [0]', f'"labels": [{number}]')
        yield f"{number} is spelled {said}", "columns", 0, len(written["columns"].text), text
    for labels, secrets in (
        ([True, 0, 2], [1, False, 2.0]),
        ([2**53, 10**30], [float(2**53), 10**30]),
        ([2**53 + 1], [float(2**53)]),
        ([1], ["1"]),
        (["a", "b"], ["b", "a"]),
    ):
        columns = {"secret": [{"name": "a", "labels": labels}], "value": {"name": "c"}, "missing": "refuse"}
        text = json.dumps(table(secrets, [0], [0], even(len(secrets), 1, 1), 2, columns=columns))
        name = f"a column of {json.dumps(labels)} for {json.dumps(secrets)}"
        yield name, "columns", 0, len(written["columns"].text), text
    one = json.dumps([{"name": "a", "labels": REPRS}])
    yield put("quoted", ("columns", "secret"), one)
    yield put("quoted", ("columns", "secret"), one.replace('"a"', '"c"'))
    yield put("quoted", ("columns", "secret", 1, "labels"), json.dumps(["y, z", "z", "it's"]))
    yield put("quoted", ("columns", "secret", 1, "name"), '"a"')
    yield put("quoted", ("columns", "secret", 1, "name"), '"\\ud800"')
    yield put("quoted", ("columns", "secret", 1, "name"), '""')
    yield put("quoted", ("columns", "value"), '{"name": "c", "edges": [0]}')
    yield put("quoted", ("columns", "value"), '{"name": "c", "edges": []}')
    yield put("quoted", ("columns", "missing"), '"category"')
    for text in ("[40, 30]", "[30, 30.0]", f"[{2**53}, {2**53 + 1}]", f"[{2**53}, {2**53 + 2}]", "[30]"):
        yield put("columns", ("columns", "value", "edges"), text)
    yield put("columns", ("columns", "missing"), '"skip"')
    yield put("columns", ("values",), '[20, 35.5, 50, "missing"]')
    yield put("columns", ("values",), '["(missing)", 35.5, 50, 20]')


def of_several_columns(written: dict[str, Written]) -> Iterator[Change]:
    """Values of several columns, and columns that are found by their place."""

    def put(place: Place, text: str) -> Change:
        return replaced("several", written["several"], place, text)

    pairs = json.dumps(PAIRS)
    for version in ("1", "2"):
        yield put(("version",), version)
    for text in (
        pairs.replace("35.5", "35.50"),
        pairs.replace("true", "1"),
        pairs.replace("true", "1.0"),
        pairs.replace("20", "20.0"),
        pairs.replace("20", '"20"'),
        pairs.replace('"1"', "null"),
        pairs.replace("[20, true]", "[20]"),
        pairs.replace("[20, true]", "20"),
        pairs.replace("[20, true]", "[20, true, 1]"),
        pairs.replace("[20, true]", "[20, [true]]"),
        json.dumps(PAIRS[::-1]),
        json.dumps([*PAIRS[:5], PAIRS[0]]),
        json.dumps([[x] for x in range(6)]),
        "[[], [1], [2], [3], [4], [5]]",
        "[1, 2, 3, 4, 5, 6]",
    ):
        yield put(("values",), text)
    for text in (
        "[1, 2]",
        '[[1], "a"]',
        "[[1, 2, 3], [4, 5, 6]]",
        "[[1], [1.0]]",
        "[[], []]",
        "[[1], [true]]",
    ):
        yield put(("outputs",), text)
    age, job = json.dumps(SEVERAL["value"][0]), json.dumps(SEVERAL["value"][1])
    for text in (
        f"[{job}, {age}]",
        f"[{age}]",
        f"[{age}, {job}, {job}]",
        age,
        "[]",
        f"[{age}, {job.replace('#3', 'age')}]",
        f"[{age}, {job.replace('#3', 'sex')}]",
        f"[{age}, {job.replace('header', 'head')}]",
        f"[{age.replace('[30]', '[30, 31]')}, {job}]",
        f"[{age}, {job.replace(chr(34) + 'job' + chr(34), 'null')}]",
    ):
        yield put(("columns", "value"), text)
    sex = '{"name": "sex", "labels": ["f", "m"]'
    yield put(("columns", "secret"), f'[{sex}, "header": "Sex"' + "}]")
    yield put(("columns", "secret"), f'[{sex}, "edges": [1]' + "}]")
    one = {
        "secret": [{"name": "s", "labels": ["a"], "header": "S"}],
        "value": {"name": "u"},
        "missing": "skip",
    }
    listed = [{"name": "u", "labels": [1]}]
    for version, columns in (
        (3, one),
        (3, one | {"value": listed}),
        (2, one | {"value": listed}),
        (3, one | {"secret": [{"name": "s", "labels": ["a"]}], "value": listed}),
    ):
        text = json.dumps(table(["a"], [1], [1], even(1, 1, 1), version, columns=columns))
        yield (
            f"columns of version {version}: {json.dumps(columns)}",
            "several",
            0,
            len(written["several"].text),
            text,
        )


def of_a_chain(written: dict[str, Written]) -> Iterator[Change]:
    """Columns, stages and numbers of a chain at their limits."""

    def put(place: Place, text: str) -> Change:
        return replaced("claimed chain", written["claimed chain"], place, text)

    stages, age, job = (json.dumps(item) for item in (chained()["stages"], *THREE["value"]))
    first, second = (json.dumps(stage) for stage in chained()["stages"])
    for text in (f"[{second}, {first}]", f"[{first}]", f"[{first}, {first}]"):
        yield put(("stages",), text)
    yield put(("stages",), stages.replace('"job"', '"sex"'))
    for text in (f"[{job}, {age}]", f"[{age}]", f"[{age}, {job}, {job}]", age, job, '{"name": "age"}'):
        yield put(("columns", "value"), text)
    yield put(("columns", "value", 1), '{"name": "job", "labels": [true, "1"], "header": "work"}')
    yield put(("columns", "value", 1), '{"name": "sex", "labels": [true, "1"]}')
    yield put(("columns", "secret", 0), '{"name": "sex", "labels": ["f", "m"], "header": "x"}')
    for row in ([D, 0], [D - 1, 0], [D, 1], [D + 1, -1], [2, D - 2], [D / 2, D / 2]):
        yield put(("stages", 0, "numerators", 0, 1, 0), json.dumps(row))
    for text in ('["x"]', '["x", "y", "z"]', '["x", "x"]', '["1", 1]', "[[1], [2]]", "[1, true]"):
        yield put(("stages", 0, "outputs"), text)
    texts = "0", "0.5", "-0.5", "1e308", '"infinity"', "5e-324", '"adaptive"', '"Adaptive"', "1e-5", "9e-6"
    for text in texts:
        for key in ("epsilon", "alpha", "prior"):
            yield put((G, key), text)
    yield put((G, "centre"), json.dumps([[D, 0, 0, 0, 0, 0], [0] * 6]))
    yield put((G, "centre"), json.dumps([[D - 1, 0, 0, 0, 0, 0], [0] * 6]))
    yield put((G, "centre"), json.dumps([[D, 0, 0], [0] * 3]))
    yield put((G, "columns", 0, "weight"), "0")
    yield put((G, "columns", 1, "distortion"), "[[0, 1, 4], [0, 1, 4]]")
    for version in ("2", "1.0", "true", "0"):
        yield put(("version",), version)
    yield put(("format",), '"rldp-protocol"')
    yield put((G, "counts"), "[[-3, 7, 0, 2, 5, 1], [0, 5, 2, 1, 1, 3]]")
    noisy = written["noisy chain"]
    for key in ("epsilon_known", "noise", "rows_a_person"):
        for text in ("0", "1", "2", "-0.5", "1e-3", "500", "1001", "2.0", "null", '"infinity"', "1e308"):
            yield replaced("noisy chain", noisy, (G, key), text)
        yield f"{key} is missing", "noisy chain", noisy.keys[G, key] - 1, noisy.spans[G, key][1], ""
    yield replaced("table", written["table"], ("format",), '"rldp-chain"')


def of_a_later_chain(written: Written) -> Iterator[Change]:
    """Given columns and earlier releases at their limits."""
    name = "claimed later chain"

    def put(place: Place, text: str) -> Change:
        return replaced(name, written, place, text)

    kept, earlier, drawn = (json.dumps(stage) for stage in after()["stages"])
    for stages in ((earlier, kept, drawn), (kept, drawn, earlier), (kept, earlier), (kept, kept, drawn)):
        yield put(("stages",), f"[{', '.join(stages)}]")
    yield put(("stages", 0, "column"), '"age"')
    yield put(("columns", "value"), json.dumps(after()["columns"]["value"][::-1]))
    for text in ("false", "1", "null", '"true"'):
        yield put(("stages", 0, "kept"), text)
        yield put((G, "given_known"), text)
    yield "not known", name, written.keys[G, "given_known"] - 1, written.spans[G, "given_known"][1], ""
    at = ("stages", 1, "earlier")
    for text in ("[]", '["job"]', '["region", "region"]', '["age"]', '"region"', "[0]", "null"):
        yield put((*at, "context"), text)
    for text in ("false", "0", "null"):
        yield put((*at, "absent"), text)
    digest = after()["stages"][1]["earlier"]["digest"]
    for text in (digest.upper(), digest[:-1], "0" * 64, digest + "0", digest):
        yield put((*at, "sha256"), json.dumps(text))
        yield put((*at, "digest"), json.dumps(text))
    yield put((*at, "sha256"), "null")
    yield put(("stages", 1, "outputs"), '["lo", "hi"]')
    yield put(("stages", 1, "outputs"), '["lo", "hi", "none"]')
    yield put(("stages", 1, "outputs"), '["lo", "h\\u0069", "(missing)"]')
    yield put(("stages", 1, "numerators", 0, 0, 0), json.dumps([D // 2, D // 2]))
    yield put(("columns", "given", 0, "labels"), '["n\\u00e9", 1, "(other)"]')
    yield put(("columns", "given", 0), '{"name": "region", "labels": ["a", "b", "c"], "header": "x"}')
    yield put(("columns", "given", 0), '{"name": "region", "labels": [1, 2, 3], "edges": [1, 2]}')
    for text in ("[]", "null", "{}"):
        yield put(("columns", "given"), text)


LEVELS = [  # of pairs of three secrets: the same everywhere, no table, odd diagonals and odd entries
    "[[0,1,1],[1,0,1],[1,1,0]]",
    "[[0,1,1],[1,0,1],[1,1.0000000000000002,0]]",
    "[[0,1,1],[1,0,1],[1,1.00000000000000001,0]]",
    '[[0,"infinity","infinity"],["infinity",0,"infinity"],["infinity","infinity",0]]',
    '[[0,"infinity","infinity"],["infinity",0,"infinity"],["infinity",1e308,0]]',
    "[[0,0,0],[0,0,0],[0,-0.0,0]]",
    "[[0,0,0],[0,0,0],[0,5e-324,0]]",
    "[[-0.0,1,2],[1,0.0,2],[1,2,0]]",
    "[[1,1,2],[1,0,2],[1,2,0]]",
    '[["infinity",1,2],[1,0,2],[1,2,0]]',
    "[[0,1,2],[1,0,2]]",
    "[[0,1],[1,0],[1,2]]",
    "[0,1,2]",
    "[]",
    "[[0,1,2],[1,0,-2],[1,2,0]]",
    "[[0,1,2],[1,0,null],[1,2,0]]",
    '[[0,1,2],[1,0,"inf"],[1,2,0]]',
    "[[0,1,2],[1,0,true],[1,2,0]]",
    "[[0,1,2],[1,0,1e400],[1,2,0]]",
    "0.5",
    '"infinity"',
    "null",
]


def of_claims(written: dict[str, Written]) -> Iterator[Change]:
    """Promises of all kinds in each other's place, and numbers at their limits."""
    kinds = {
        "nominal": '{"kind":"nominal"}',
        "alpha": '{"kind":"power-divergence","lambda":1,"alpha":0.05}',
        "radius": '{"kind":"power-divergence","lambda":1,"radius":0.05}',
        "both": '{"kind":"power-divergence","lambda":1,"radius":0.05,"alpha":0.05}',
        "neither": '{"kind":"power-divergence","lambda":1}',
        "credible": json.dumps(CREDIBLE),
        "adaptive without a centre": json.dumps(CREDIBLE | {"prior": "adaptive"}),
        "a centre of another shape": '{"kind":"nominal","centre":[[4503599627370496]]}',
        "a centre of a radius": json.dumps(
            {"kind": "power-divergence", "lambda": 1, "radius": 1, "centre": CENTRE}
        ),
        "a centre of a level": json.dumps(
            {"kind": "power-divergence", "lambda": 1, "alpha": 0.5, "centre": CENTRE}
        ),
        "pairs": '{"kind":"pairs","alpha":0.05,"radii":[1],"methods":["A1"]}',
        "all": '{"kind":"all"}',
        "none": '{"kind":null}',
        "unnamed": "{}",
        "unknown": '{"kind":"everything"}',
        "of every object": '{"kind":"constructor"}',
    }
    for file in ("proved", "credible", "all"):
        for side in ("privacy", "utility"):
            for text in kinds.values():
                yield replaced(file, written[file], (G, side), text)
    limits: dict[str, list[str]] = {
        "alpha": ["1e-5", "0.999999999999999999999999", "0.9999999999999999", "1e-300", "9.99e-6"],
        "lambda": ["100", "100.00000000000001", "1e-6", "9.99e-7", "5e-324", "0"],
        "prior": ["5e-324", "1e-400", "0", "1e308"],
        "seed": [str(2**128 - 1), str(2**128), "0.0", "1e3"],
    }
    for key, texts in limits.items():
        for text in texts:
            yield replaced("credible", written["credible"], (G, "privacy", key), text)
    for text in ("0", "0.001", "1000", "1001", "-1", "null", '"1"', "0.0009"):
        yield replaced("noisy", written["noisy"], (G, "noise"), text)
    for text in ("0", "1", "2", "500", "501", "1000001", "2.0", "null", '"2"', "-3"):
        yield replaced("rows a person", written["rows a person"], (G, "rows_a_person"), text)
    yield replaced("rows a person", written["rows a person"], (G, "noise"), "0.0029")
    for text in kinds.values():
        for side in ("privacy", "utility"):
            yield replaced("noisy", written["noisy"], (G, side), text)
    for version in ("1", "2", "3", "4"):
        yield replaced("noisy", written["noisy"], ("version",), version)
    for text in ("[[31,-1],[0,5]]", "[[30,-1],[0,5.0]]", "[[-30,55],[4,5]]", "[[39,-1],[0,-4]]"):
        yield replaced("noisy", written["noisy"], (G, "counts"), text)
    for text in ('"adaptive"', '"Adaptive"', '"jeffreys"', "null", "[]"):
        for file in ("credible", "adaptive"):
            yield replaced(file, written[file], (G, "privacy", "prior"), text)
    for text in (
        "null",
        "[]",
        "[[4503599627370496,0],[0,0]]",
        "[[4503599627370495,0],[0,0]]",
        "[[1,-1],[0,0]]",
    ):
        for side in ("privacy", "utility"):
            yield replaced("adaptive", written["adaptive"], (G, side, "centre"), text)
    for version in ("1", "2", "3", "4"):
        yield replaced("adaptive", written["adaptive"], ("version",), version)
    for version in ("1", "2", "3", "4"):
        yield replaced("known", written["known"], ("version",), version)
    for text in ("0", "-0.0", "1e308", "5e-324", '"infinity"'):
        yield replaced("known", written["known"], (G, "epsilon_known"), text)
    for version in ("1", "2", "3", "4"):
        yield replaced("levels", written["levels"], ("version",), version)
    for text in LEVELS:
        yield replaced("levels", written["levels"], (G, "epsilon"), text)
    for text in ("0.5", '"infinity"', "[[0,1],[2,0]]", "[[0,1],[1,0]]", "[1.0]"):
        yield replaced("known", written["known"], (G, "epsilon"), text)
    for text in ("100", "100.00000000000001", "5e-324"):
        yield replaced("proved", written["proved"], (G, "privacy", "lambda"), text)
    for text in ("1e-300", "9.99e-301"):
        yield replaced("pairs", written["pairs"], (G, "privacy", "alpha"), text)
    for text in NUMBERS:
        yield replaced("proved", written["proved"], (G, "objective"), text)
    largest, tie = 2**1024 - 2**971, 2**1024 - 2**970
    for number in (largest, tie - 1, tie, -largest, -tie):
        yield replaced("proved", written["proved"], (G, "objective"), str(number))
    for counts, n in (
        ([[2**53 - 1, 0]], 2**53 - 1),
        ([[2**53, 0]], 2**53),
        ([[2**53, 1]], 2**53 + 1),
        ([[2**52, 2**52]], 2**53),
        ([[0, 0]], 0),
        ([[1, 2]], 4),
        ([[2**53 - 2, 1]], 2**53 - 2),
    ):
        start, end = written["all"].spans[G, "n"][0], written["all"].spans[G, "counts"][1]
        yield f"n is {n}, counts are {counts}", "all", start, end, f'{n},"counts":{json.dumps(counts)}'


def changes() -> list[Change]:
    written = {name: Written(tree) for name, tree in files().items()}
    trees = files()
    found = chain(
        systematic("proved", written["proved"], trees["proved"]),
        *(
            systematic(name, written[name], trees[name], (G, "privacy"))
            for name in ("credible", "adaptive", "pairs", "all")
        ),
        systematic("known", written["known"], trees["known"], (G, "epsilon_known")),
        systematic("levels", written["levels"], trees["levels"], (G, "epsilon")),
        systematic("known", written["known"], trees["known"], (G, C, "known")),
        systematic("columns", written["columns"], trees["columns"], ("columns",)),
        of_rows(written["table"]),
        of_labels(written["table"]),
        of_nothing(written["table"]),
        of_text(written["table"]),
        of_columns(written),
        systematic("several", written["several"], trees["several"], ("columns",)),
        systematic("several", written["several"], trees["several"], ("values",)),
        of_several_columns(written),
        systematic("claimed chain", written["claimed chain"], trees["claimed chain"]),
        of_a_chain(written),
        systematic(
            "claimed later chain", written["claimed later chain"], trees["claimed later chain"], ("stages",)
        ),
        systematic(
            "claimed later chain", written["claimed later chain"], trees["claimed later chain"], ("columns",)
        ),
        of_a_later_chain(written["claimed later chain"]),
        of_claims(written),
    )
    seen: set[tuple] = set()
    return [change for change in found if not (change[1:] in seen or seen.add(change[1:]))]


# Files that are no text


def raw() -> Iterator[tuple[str, bytes]]:
    text = json.dumps(table(["é"], [0], [0], [[[D]]]), ensure_ascii=False, separators=(",", ":"))
    good = text.encode()
    yield "UTF-8", good
    yield "UTF-8 with a mark", b"\xef\xbb\xbf" + good
    yield "UTF-16", text.encode("utf-16")
    yield "UTF-16 without a mark", text.encode("utf-16-le")
    yield "Latin-1", text.encode("latin-1")
    yield "a letter cut off", good.replace(b"\xc3\xa9", b"\xc3")
    yield "a letter in too many bytes", good.replace(b"\xc3\xa9", b"\xc1\xa9")
    yield "half of a pair", good.replace(b"\xc3\xa9", b"\xed\xa0\x80")
    yield "both halves of a pair", good.replace(b"\xc3\xa9", b"\xed\xa0\xbd\xed\xb9\x82")
    yield "beyond Unicode", good.replace(b"\xc3\xa9", b"\xf4\x90\x80\x80")
    yield "no character, but in Unicode", good.replace(b"\xc3\xa9", b"\xef\xbf\xbf")
    yield "a mark inside", good.replace(b"\xc3\xa9", b"\xef\xbb\xbf")


# What words stand for


def words_of(row: list[int], name: str) -> list[int]:
    """The ends of all intervals and their neighbours, and some words of no design."""
    ends = {word for end in accumulate(row) for word in (end - 1, end) if 0 <= word < D}
    digest = hashlib.sha256(name.encode()).digest()
    others = {int.from_bytes(digest[i : i + 8], "big") >> 12 for i in range(0, 32, 8)}
    return sorted({0, D - 1} | ends | others)


def draws() -> Iterator[Tree]:
    for file, tree in files().items():
        if file == "once chain":
            continue  # it has thousands of intervals, and is drawn from with keys
        if "later" in file:
            yield from drawn_later(file, tree)
            continue
        if "stages" in tree:
            yield from drawn_by_chains(file, tree)
            continue
        for s, rows in enumerate(tree["numerators"][:2]):
            for u, row in enumerate(rows[:3]):
                words = words_of(row, f"{file} {s} {u}")
                outputs = [first_above(row, word) for word in words]
                yield {"file": file, "secret": s, "value": u, "words": words, "outputs": outputs}


def first_above(row: list[int], word: int) -> int:
    return next(y for y, end in enumerate(accumulate(row)) if end > word)


def drawn_by_chains(file: str, tree: Tree) -> Iterator[Tree]:
    """A word for each stage; values and outputs are numbered in the order of the columns: age, then job."""
    first, second = (stage["numerators"] for stage in tree["stages"])
    for s, (age, job) in product(range(2), ((0, 1), (2, 0), (1, 1))):
        words, outputs = [], []
        for one in words_of(first[0][s][job], f"{file} {s} {job}"):
            context = first_above(first[0][s][job], one)
            row = second[context][s][age]
            for other in words_of(row, f"{file} {s} {age} {one}"):
                words.append([one, other])
                outputs.append(first_above(row, other) * len(tree["stages"][0]["outputs"]) + context)
        yield {"file": file, "secret": s, "value": 2 * age + job, "words": words, "outputs": outputs}


def drawn_later(file: str, tree: Tree) -> Iterator[Tree]:
    """A word for job alone; rows are region, earlier output, job."""
    for s, (c, job) in product(range(2), ((0, 0), (4, 0), (8, 0), (5, 1))):
        row = tree["stages"][2]["numerators"][c][s][job]
        words = words_of(row, f"{file} {s} {c} {job}")
        outputs = [2 * c + first_above(row, word) for word in words]
        yield {
            "file": file,
            "secret": s,
            "value": 2 * c + job,
            "words": words,
            "outputs": outputs,
        }


# How entries are read: by hand, file, secret, value, and the place of both, or None where one is refused

ENTRIES = [
    ("reading", ["f", True], 29.9, (0, 0)),
    ("reading", ["f", 1], 30, (0, 1)),
    ("reading", ["m", 1e16], 40.4, (5, 1)),
    ("reading", ["m", 0], 40.5, (7, 2)),
    ("reading", ["m", 1e-05], 1e300, (6, 2)),
    ("reading", ["f", -0.0], -5, (3, 0)),
    ("reading", ["f", True], None, (0, 3)),
    ("reading", ["f", True], "(missing)", (0, 3)),
    ("reading", "m, 1e-05", 35.5, (6, 1)),
    ("reading", ["f", True], "35.5", None),
    ("reading", ["f", True], True, None),
    ("reading", ["f", True], [35.5], None),
    ("reading", ["f", None], 20, None),
    ("reading", ["f"], 20, None),
    ("reading", ["f", True, 1], 20, None),
    ("reading", ["f", "True"], 20, None),
    ("reading", ["x", True], 20, None),
    ("reading", [["f", True], True], 20, None),
    ("reading", "f", 20, None),
    ("reading", None, 20, None),
    ("quoted", ["x, y", "z"], True, (1, 0)),
    ("quoted", ["x", "y, z"], 0, (3, 1)),
    ("quoted", "'x', 'z'", False, (4, 1)),
    ("quoted", ["x", None], True, None),
    ("quoted", ["x", "z"], None, None),
    ("several", "f", [29, True], (0, 0)),
    ("several", "m", [30.0, "1"], (1, 3)),
    ("several", "m", [None, 1], (1, 4)),
    ("several", "m", ["(missing)", "1"], (1, 5)),
    ("several", "f", [29, None], None),
    ("several", None, [29, True], (0, 0)),
    ("chain", "f", [29, True], (0, 0)),
    ("chain", "m", [30.0, "1"], (1, 3)),
    ("chain", "m", [None, 1], (1, 4)),
    ("chain", "m", [20, 0], None),
    ("chain", "m", [20], None),
    ("chain", None, [20, True], None),
    ("later chain", "f", ["n\u00e9", "lo", True], (0, 0)),
    ("later chain", "m", [1, "hi", "1"], (1, 9)),
    ("later chain", "m", ["elsewhere", None, 1], (1, 16)),
    ("later chain", "m", [7, "(missing)", 1], (1, 16)),
    ("later chain", "m", [None, "lo", 1], None),
    ("later chain", "m", [1, 20, 1], None),
    ("later chain", "m", [1, "lo"], None),
    ("later chain", None, [1, "lo", 1], None),
    ("table", "ill", None, None),
    ("table", ["ill"], 0, None),
]


# Draws that stay, from the definition: key, identifier, secret, value, and the place of both

KEYS = ["000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f", "ff" * 16, "5a" * 200]
CHAINED = [[29, True], [-1, "1"], [30, 1], [35.5, "1"], [None, True], ["(missing)", "1"]]
LATER_ROWS, LATER_PLACES = [["n\u00e9", "lo", True], [1, "hi", True], ["?", None, True]], [0, 8, 16]
ONCE = [
    ("once", 0, "7", "f", [20, True], (0, 0)),
    ("once", 0, 7, "f", [29.5, 1], (0, 0)),
    ("once", 0, " 7\t\r\n", "f", [-3, True], (0, 0)),
    ("once", 0, "07", "f", [20, True], (0, 0)),
    ("once", 0, 0, "m", [35.5, "1"], (1, 3)),
    ("once", 0, -12, "m", [None, "1"], (1, 5)),
    ("once", 0, 2**53 - 1, "m", [50, True], (1, 2)),
    ("once", 0, "Zoe\u0308", "f", [None, True], (0, 4)),
    ("once", 0, "Zo\u00eb", "f", [None, True], (0, 4)),
    ("once", 0, "\u00a0x", "m", [20, "1"], (1, 1)),
    ("once", 1, "7", "f", [20, True], (0, 0)),
    ("once", 2, "7", "f", [20, True], (0, 0)),
    ("once", 2, "x" * 300, "m", [20, True], (1, 0)),
    ("several", 0, "7", None, [29, True], (None, 0)),
    ("several", 0, "7", "m", [29, True], (None, 0)),
    ("reading", 0, "7", ["m", 0], 40.5, (7, 2)),
    ("columns", 0, "a", None, None, (None, 3)),
    *(("once chain", 0, i, "fm"[i % 2], CHAINED[i % 6], (i % 2, i % 6)) for i in range(30)),
    *(("later chain", 0, i, "fm"[i % 2], LATER_ROWS[i % 3], (i % 2, LATER_PLACES[i % 3])) for i in range(24)),
    *(
        ("once", 0, i, "fm"[i % 2], [20 + 5 * (i % 4), True], (i % 2, 2 * (i % 4 > 1)))
        for i in range(100, 130)
    ),
]
COLUMN_NAMES = {
    "once": ["age", "#3"],
    "several": ["age", "#3"],
    "reading": ["age"],
    "columns": ["age"],
}


def canonical(item: Any) -> bytes:
    """The encoding of docs/file-format.md."""
    if item is None:
        return b"n"
    if isinstance(item, list):
        return f"l{len(item)}:".encode() + b"".join(map(canonical, item))
    if isinstance(item, str | bytes):
        content = item if isinstance(item, bytes) else item.encode()
        return f"{'b' if item is content else 's'}{len(content)}:".encode() + content
    return f"i{int(item)};".encode() if item == int(item) else b"f" + struct.pack("!d", item)


def integers(table: list) -> bytes:
    return b"".join(map(integers, table)) if isinstance(table, list) else table.to_bytes(8, "big")


def table_digest(tree: Tree) -> bytes:
    labels = [tree[key] for key in ("secrets", "values", "outputs")]
    return hashlib.sha256(canonical(["rldp-table-1", *labels, integers(tree["numerators"])])).digest()


def chain_digest(tree: Tree) -> bytes:
    own = {column["name"]: column["labels"] for column in tree["columns"]["value"]}
    stages = [
        [stage["column"], own[stage["column"]], stage["outputs"], integers(stage["numerators"])]
        for stage in tree["stages"]
    ]
    return hashlib.sha256(canonical(["rldp-chain-1", tree["secrets"], stages])).digest()


def keyed_word(key: str, *message: Any) -> int:
    digest = hmac.new(bytes.fromhex(key), canonical(["rldp-draw-1", *message]), "sha256").digest()
    return int.from_bytes(digest, "big") >> 256 - 52


def normal(identifier: str | int) -> str:
    """By hand: what the identifiers above become."""
    return {" 7\t\r\n": "7", "Zoe\u0308": "Zo\u00eb"}.get(str(identifier), str(identifier))


def once() -> Iterator[Tree]:
    trees = files()
    for file, key, identifier, secret, value, (s, u) in ONCE:
        drawn = {"file": file, "key": KEYS[key], "id": identifier, "secret": secret, "value": value}
        tree, person = trees[file], normal(identifier)
        if "later" in file:
            word, output = once_later(tree, KEYS[key], person, s, u)
        elif "stages" in tree:
            word, output = once_by_chain(tree, KEYS[key], person, s, u)
        else:
            own = None if s is None else tree["secrets"][s]
            message = [table_digest(tree), COLUMN_NAMES[file], 0, [], person, own, tree["values"][u]]
            word = keyed_word(KEYS[key], *message)
            output = first_above(tree["numerators"][s or 0][u], word)
        yield drawn | {"word": word, "output": output}


def once_by_chain(tree: Tree, key: str, person: str, s: int, u: int) -> tuple[list[int], int]:
    """Job is drawn first, then age; the value is numbered in the order of the columns: age, then job."""
    (job, age), (ages, jobs) = tree["stages"], [column["labels"] for column in tree["columns"]["value"]]
    digest, own = chain_digest(tree), tree["secrets"][s]
    one = keyed_word(key, digest, ["job"], 0, [], person, own, jobs[u % 2])
    first = first_above(job["numerators"][0][s][u % 2], one)
    other = keyed_word(key, digest, ["age"], 1, [job["outputs"][first]], person, own, ages[u // 2])
    second = first_above(age["numerators"][first][s][u // 2], other)
    return [one, other], second * len(job["outputs"]) + first


def once_later(tree: Tree, key: str, person: str, s: int, u: int) -> tuple[int, int]:
    """Job alone is drawn; the tables of all stages are in the digest."""
    region, age, job = (stage["column"] for stage in tree["stages"])
    labels, own = REGIONS, tree["secrets"][s]
    same = [[[D * (y == k) for y in range(3)] for k in range(3)]] * 2
    before = [[[*([*row, 0] for row in rows), [0, 0, D]] for rows in by_secret] for by_secret in BEFORE]
    tables = [
        [region, labels, labels, integers([same])],
        [age, [20, 35.5, "(missing)"], tree["stages"][1]["outputs"], integers(before)],
        [job, [True, "1"], ["x", "y"], integers(LATER)],
    ]
    digest = hashlib.sha256(canonical(["rldp-chain-1", tree["secrets"], tables])).digest()
    context = u // 2
    out = [labels[context // 3], tree["stages"][1]["outputs"][context % 3]]
    word = keyed_word(key, digest, [job], 2, out, person, own, [True, "1"][u % 2])
    return word, 2 * context + first_above(LATER[context][s][u % 2], word)


# All of it


def accepted(content: bytes, folder: Path) -> bool:
    path = folder / "protocol.json"
    path.write_bytes(content)
    try:
        rldp.load(path)
    except rldp.ProtocolFileError:
        return False
    return True


def vectors() -> Tree:
    texts = {name: Written(tree).text for name, tree in files().items()}
    with tempfile.TemporaryDirectory() as folder:

        def verdict(content: bytes) -> bool:
            return accepted(content, Path(folder))

        changed = [
            [name, file, start, end, text, verdict((texts[file][:start] + text + texts[file][end:]).encode())]
            for name, file, start, end, text in changes()
        ]
        bytewise = [[name, content.hex(), verdict(content)] for name, content in raw()]
    return {
        "files": texts,
        "changes": changed,
        "bytes": bytewise,
        "draws": list(draws()),
        "entries": ENTRIES,
        "once": list(once()),
    }


def text() -> str:
    """One entry a line, so that a difference between two versions can be read."""
    parts = []
    for key, items in vectors().items():
        if isinstance(items, dict):
            lines = [f"{json.dumps(name)}: {json.dumps(item)}" for name, item in items.items()]
            parts.append(f"{json.dumps(key)}: {{\n" + ",\n".join(lines) + "\n}")
        else:
            parts.append(f"{json.dumps(key)}: [\n" + ",\n".join(map(json.dumps, items)) + "\n]")
    return "{\n" + ",\n".join(parts) + "\n}\n"


if __name__ == "__main__":
    TARGET.write_text(text(), encoding="utf-8")
