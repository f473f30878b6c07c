"""Python's reader and the JavaScript client read the same files: damaged ones, at random.

    python clients/javascript/tests/fuzz.py [--files 4000] [--seed 0]

Every file is one of the shared vectors, or one with columns of odd labels, with up to three changes: to its
bytes, to its tokens, or to its tree. Node reads all of them in one process. The exit code is 1 if the two
disagree about one, which is shown.
"""

from __future__ import annotations

import argparse
import base64
import copy
import json
import random
import re
import struct
import subprocess
import sys
import tempfile
import unicodedata
from importlib.resources import files
from pathlib import Path
from typing import Any

import rldp
from rldp._common.checks import Label
from rldp.data.reading import Column, Reading

READER = Path(__file__).with_name("read.js")
D = 2**52
TOKENS = re.compile(rb'"(?:[^"\\]|\\.)*"|[-+.\w]+|[\[\]{},:]')
SCALARS = [None, True, False, "", "text", "infinity", "(missing)", "A1", "nominal", "\ud800", "é", "1"]
SCALARS += [0, 1, 2, -1, D - 1, D, D + 1, 2**53 - 1, 2**53, 2**53 + 1, 2**128 - 1, 2**128, 10**30, 10**400]
SCALARS += [
    0.0,
    -0.0,
    0.5,
    1.0,
    1e-5,
    1e-6,
    1e-7,
    1e-300,
    1e-301,
    5e-324,
    1e16,
    1e22,
    1e308,
    100.0,
    100.5,
    D * 1.0,
]
NUMBERS = (
    b"0 -0 1 1.0 1e0 01 -1 1e999 -1e999 1e-999 1. .5 +1 NaN -Infinity 1E+2 4503599627370496.0 0x1".split()
)
BYTES = b'"\\{}[],:-+.eE0123456789 \t\n\r\x00\x0b\x7f\x80\xc3\xa9\xed\xa0\xef\xbb\xbf\xf0\xff/unt'


def places(tree: Any, path: tuple = ()) -> list[tuple]:
    children = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    return [path, *(place for key, item in children for place in places(item, (*path, key)))]


def at(tree: Any, path: tuple) -> Any:
    for key in path:
        tree = tree[key]
    return tree


def in_tree(rng: random.Random, content: bytes) -> bytes:
    """Another entry, one taken from elsewhere, a key or an entry more or less, two exchanged."""
    try:
        tree = json.loads(content)
    except ValueError:
        return content
    path = rng.choice(places(tree)[1:] or [()])
    if not path:
        return content
    owner, key, other = at(tree, path[:-1]), path[-1], rng.choice(places(tree))
    match rng.randrange(6):
        case 0:
            owner[key] = rng.choice(SCALARS)
        case 1:
            owner[key] = copy.deepcopy(at(tree, other))
        case 2:
            del owner[key]
        case 3 if isinstance(owner, list):
            owner.insert(key, copy.deepcopy(owner[rng.randrange(len(owner))]))
        case 3:
            owner[rng.choice(["more", "edges", "radius", "columns", "alpha"])] = rng.choice(SCALARS)
        case 4 if type(owner[key]) in (int, float):
            owner[key] = rng.choice(
                [-owner[key], owner[key] + 1, float(owner[key]), owner[key] * 2, owner[key] - 1]
            )
        case 5 if isinstance(owner, list):
            i = rng.randrange(len(owner))
            owner[i], owner[key] = owner[key], owner[i]
    separators = rng.choice([(",", ":"), (", ", ": "), (" ,\n", "\t:\r")])
    ascii_only = rng.random() < 0.5
    return json.dumps(tree, ensure_ascii=ascii_only, separators=separators).encode("utf-8", "surrogatepass")


def in_tokens(rng: random.Random, content: bytes) -> bytes:
    """A token twice, none, another, two exchanged, or a number spelled in another way."""
    found = list(TOKENS.finditer(content))
    if not found:
        return content
    one, two = sorted(rng.choices(found, k=2), key=lambda token: token.start())
    before, between, after = content[: one.start()], content[one.end() : two.start()], content[two.end() :]
    match rng.randrange(5):
        case 0:
            return before + one[0] + b"," * rng.randrange(2) + content[one.start() :]
        case 1:
            return before + content[one.end() :]
        case 2:
            return before + rng.choice(NUMBERS) + content[one.end() :]
        case 3:
            return before + two[0] + between + one[0] + after
    return before + rng.choice([b"1" * rng.choice([309, 310, 4300, 4301]), two[0]]) + content[one.end() :]


def in_bytes(rng: random.Random, content: bytes) -> bytes:
    """Some bytes more, less or other."""
    start = rng.randrange(len(content) + 1)
    end = min(len(content), start + rng.choice([0, 0, 1, 1, 2, 20]))
    new = bytes(rng.choices(BYTES, k=rng.choice([0, 1, 1, 1, 2, 4])))
    return content[:start] + new + content[end:]


def character(rng: random.Random) -> str:
    """One that Unicode has long had: which are printable depends on its version."""
    while True:
        one = chr(rng.choice([rng.randrange(0x100), rng.randrange(0x3100), rng.randrange(0x110000)]))
        if unicodedata.ucd_3_2_0.category(one) not in ("Cn", "Cs"):
            return one


def label(rng: random.Random) -> Label:
    match rng.randrange(6):
        case 0:
            return rng.choice([True, False, 0, 1, -0.0, 10**16, 1e16, 9999999999999998.0, 0.0001, 0.00001])
        case 1:
            return struct.unpack("<d", rng.randbytes(8))[0]
        case 2:
            return round(rng.uniform(-1, 1) * 10.0 ** rng.randrange(-9, 25), rng.randrange(9))
        case 3:
            return rng.randrange(-(10 ** rng.randrange(1, 30)), 10 ** rng.randrange(1, 30))
        case 4:
            return rng.choice(["x", "x, y", "y", "y, z", "z", "", ", ", "'", '"', "it's", "1", "True", "1.0"])
    return "".join(character(rng) for _ in range(rng.randrange(4)))


def with_columns(rng: random.Random) -> bytes:
    """A file whose secrets are what Python makes of its columns; some spelled otherwise."""
    columns = []
    for i in range(rng.choice([1, 2, 2, 2, 3])):
        labels = {item: None for item in (label(rng) for _ in range(rng.randrange(1, 4))) if item == item}
        columns.append(Column(f"column {i}", tuple(labels) or ("x",)))
    secrets = list(Reading(tuple(columns), Column("value", (0,))).secrets)
    if rng.random() < 0.2:
        i = rng.randrange(len(secrets))
        secrets[i] = rng.choice([str, repr, lambda text: f"{text} ", lambda text: f"{text}.0"])(secrets[i])
    tree = {
        "format": "rldp-protocol",
        "version": 2,
        "generator": "",
        "secrets": secrets,
        "values": [0],
        "outputs": [0],
        "denominator": D,
        "numerators": [[[D]]] * len(secrets),
        "guarantee": None,
        "columns": {
            "secret": [{"name": column.name, "labels": list(column.labels)} for column in columns],
            "value": {"name": "value"},
            "missing": "refuse",
        },
    }
    return json.dumps(tree, ensure_ascii=rng.random() < 0.5).encode()


def damaged(rng: random.Random, bases: list[bytes]) -> bytes:
    odd = rng.random() < 0.25
    content = with_columns(rng) if odd else rng.choice(bases)
    for _ in range(rng.choice([0, 0, 0, 1] if odd else [1, 1, 1, 2, 3])):
        content = rng.choice([in_tree, in_tree, in_tokens, in_bytes])(rng, content)
    return content


def read_by_python(contents: list[bytes]) -> list[str]:
    verdicts = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "protocol.json")
        for content in contents:
            path.write_bytes(content)
            try:
                rldp.load(path)
                verdicts.append("1")
            except rldp.ProtocolFileError:
                verdicts.append("0")
            except Exception as error:
                verdicts.append(f"a fault of the library: {error!r}")
    return verdicts


def read_by_javascript(contents: list[bytes]) -> list[str]:
    lines = b"\n".join(map(base64.b64encode, contents)) + b"\n"
    done = subprocess.run(["node", str(READER)], input=lines, stdout=subprocess.PIPE, check=True)
    return done.stdout.decode().splitlines()


def main() -> int:
    """Compare, and show the first files that are read differently."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--files", type=int, default=4000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    vectors = json.loads(files("rldp.protocol_file").joinpath("vectors.json").read_text(encoding="utf-8"))
    bases = [text.encode() for text in vectors["files"].values()]
    contents = [damaged(rng, bases) for _ in range(options.files)]
    python, javascript = read_by_python(contents), read_by_javascript(contents)
    odd = [
        case
        for case in zip(contents, python, javascript, strict=True)
        if case[1] != case[2] or len(case[1]) > 1
    ]
    for content, one, other in odd[:10]:
        print(f"Python {one}, JavaScript {other}: {content!r}"[:3000])
    print(f"{len(contents)} damaged files, {python.count('1')} of them readable: {len(odd)} disagreements")
    return 1 if odd else 0


if __name__ == "__main__":
    sys.exit(main())
