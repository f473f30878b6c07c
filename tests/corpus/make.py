"""Make the corpus: small protocol files, honest, odd and tampered with, each with what is to become of it.

    python tests/corpus/make.py        writes tests/corpus/files.jsonl.gz

Tables and proofs are made by hand, so that whether a claim holds is known without the library, which is not
used here. Every line of the result is a file: its name, its bytes (as text, a letter for each byte) and what
is expected, one of

    no file    it is no protocol file
    refused    it is one, and what it claims is not proved
    ok         all of its claims are proved

The number of the format's version stands as ``VERSION`` in the bytes; who reads the corpus puts it in.
"""

from __future__ import annotations

import copy
import gzip
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

NO_FILE, REFUSED, OK = "no file", "refused", "ok"
TARGET = Path(__file__).with_name("files.jsonl.gz")
MARK = "VERSION"
D = 2**52
G, C = "guarantee", "certificate"

Tree = dict[str, Any]
Case = tuple[str, bytes, str]


# Honest files


def document(table: list, counts: list, privacy: Tree, **claim: Any) -> Tree:
    """A file without a proof; numerators are given in sixteenths."""
    values, outputs = len(table[0]), len(table[0][0])
    return {
        "format": "rldp-protocol",
        "version": MARK,
        "generator": "by hand",
        "secrets": ["a", "b"],
        "values": list(range(values)),
        "outputs": list(range(outputs)),
        "denominator": D,
        "numerators": [[[k * D // 16 for k in row] for row in rows] for rows in table],
        G: {
            "epsilon": 1.0,
            "n": sum(map(sum, counts)),
            "counts": counts,
            "privacy": privacy,
            "utility": {"kind": "nominal"},
            "distortion": [[float(u != y) for y in range(outputs)] for u in range(values)],
            "objective": 1.0,
            "lower_bound": 0.0,
            C: dict.fromkeys(("eta", "eta_utility", "multipliers", "members", "distribution")),
        }
        | claim,
    }


def a_set(order: float = 1.0, **size: float) -> Tree:
    return {"kind": "power-divergence", "lambda": order} | (size or {"alpha": 0.05})


NOMINAL = {"kind": "nominal"}
FLIP = [[[11, 5], [5, 11]]] * 2  # ratio 2.2 whatever the distribution: ln 2.2 = 0.788
APART = [[[11, 5], [11, 5]], [[5, 11], [5, 11]]]  # the value does not matter: ratio 2.2 under every one
THREE = [[[8, 4, 4], [4, 8, 4], [4, 4, 8]]] * 2  # ratio 2 whatever the distribution: ln 2 = 0.693


def bases() -> dict[str, Tree]:
    """Files whose every claim holds.

    Of 'proved' the lower bound is proved by hand. Its secrets show one value each, so a = P(0|a), b = P(0|b)
    and the cost is (1 − a)/2 + b/2. With z = 0.18 ≤ 1/(2e), as a ≤ e·b, it is at least z.
    """
    proved = document(APART, [[4, 0], [0, 4]], NOMINAL, objective=0.3125, lower_bound=0.18)
    proved[G][C]["multipliers"] = [[0.18, 0.0], [0.0, 0.0]]
    robust = document(FLIP, [[30, 10], [10, 30]], a_set(), epsilon=0.79, utility=a_set(0.5), objective=0.3125)
    robust[G][C]["eta"] = [[[0.7, -0.5], [0.7, -0.5]]] * 2
    robust[G][C]["distribution"] = [[30, 10], [10, 30]]
    return {
        "nominal": document(FLIP, [[3, 1], [1, 3]], NOMINAL, epsilon=0.5, objective=0.3125),
        "proved": proved,
        "robust": robust,
        "three": document(THREE, [[5, 0, 2], [1, 1, 9]], a_set(0.0), epsilon=0.7, objective=0.5000001),
    }


def text(tree: Any) -> bytes:
    """The bytes of a file; the version is a number there."""
    return json.dumps(tree, ensure_ascii=False).replace(f'"{MARK}"', MARK).encode("utf-8", "surrogatepass")


def at(tree: Any, path: tuple) -> Any:
    for key in path:
        tree = tree[key]
    return tree


def with_entry(base: Tree, path: tuple, value: Any) -> bytes:
    tree = copy.deepcopy(base)
    at(tree, path[:-1])[path[-1]] = value
    return text(tree)


def without(base: Tree, path: tuple) -> bytes:
    tree = copy.deepcopy(base)
    del at(tree, path[:-1])[path[-1]]
    return text(tree)


def objects(base: Tree) -> Iterator[tuple]:
    """Paths to every object of a file."""
    yield from ((), (G,), (G, "privacy"), (G, "utility"), (G, C))


def keys(base: Tree) -> Iterator[tuple]:
    """Paths to every key of a file."""
    for path in objects(base):
        yield from ((*path, key) for key in at(base, path))


def shown(path: tuple) -> str:
    return ".".join(map(str, path)) or "the top"


# Text that is no JSON, or ambiguous


def bytes_that_are_none(name: str, base: Tree) -> Iterator[Case]:
    whole = text(base)
    for share in (0, 1, 7, 19, 33, 50, 71, 88, 95, 99):
        yield f"{name}: cut off after {share} %", whole[: len(whole) * share // 100], NO_FILE
    yield f"{name}: cut off before the last brace", whole.rstrip()[:-1], NO_FILE
    odd = {
        "a byte order mark": b"\xef\xbb\xbf" + whole,
        "UTF-16": whole.decode().encode("utf-16"),
        "a null byte before": b"\0" + whole,
        "a null byte after": whole + b"\0",
        "text after the end": whole + b"x",
        "twice": whole + whole,
        "in a list": b"[" + whole + b"]",
        "in a string": json.dumps(whole.decode()).encode(),
        "a comma after the last entry": whole[:-1] + b",}",
        "a comment": whole[:-1] + b"/* fine */}",
        "single quotes": whole.replace(b'"', b"'"),
        "a byte that is no UTF-8": whole.replace(b"by hand", b"by \xffhand"),
        "an overlong encoding": whole.replace(b"by hand", b"by \xc0\xafhand"),
        "a raw line break in a string": whole.replace(b"by hand", b"by\nhand"),
        "an escape that is none": whole.replace(b"by hand", b"by \\x41"),
    }
    for what, content in odd.items():
        yield f"{name}: {what}", content, NO_FILE


def numbers_that_are_none(name: str, base: Tree) -> Iterator[Case]:
    """In places that take any number, so that only the number is at fault."""
    for path in ((G, "objective"), (G, "lower_bound"), (G, "epsilon"), (G, "distortion", 0, 1)):
        marked = with_entry(base, path, "here")
        for number in (
            b"NaN",
            b"Infinity",
            b"-Infinity",
            b"1e999",
            b"-1e999",
            b"01",
            b"+1",
            b".5",
            b"1.",
            b"0x1",
        ):
            yield f"{name}: {shown(path)} is {number.decode()}", marked.replace(b'"here"', number), NO_FILE
        yield f"{name}: {shown(path)} has 5000 digits", marked.replace(b'"here"', b"9" * 5000), NO_FILE


def keys_twice(name: str, base: Tree) -> Iterator[Case]:
    """Every key twice, the second time with the same value; where the first one would win, or the last."""
    for path in keys(base):
        key, value = path[-1], at(base, path)
        entry = f"{json.dumps(key)}: ".encode()
        owner = text(at(base, path[:-1]))
        for what, again in (
            ("twice", entry),
            ("twice, once escaped", f'"\\u{ord(key[0]):04x}{key[1:]}": '.encode()),
        ):
            doubled = b"{" + again + text(value) + b", " + owner[1:]
            content = doubled if len(path) == 1 else text(base).replace(owner, doubled, 1)
            yield f"{name}: {shown(path)} {what}", content, NO_FILE


# Trees of another shape


def shapes(name: str, base: Tree) -> Iterator[Case]:
    for path in keys(base):
        yield f"{name}: without {shown(path)}", without(base, path), NO_FILE
    for path in objects(base):
        for key in ("", "more", "__proto__", "Epsilon"):
            yield f"{name}: {shown(path)} has {key!r} too", with_entry(base, (*path, key), 0), NO_FILE
    for part in ("numerators", (G, "counts"), (G, "distortion")):
        path = (part,) if isinstance(part, str) else part
        rows = at(base, path)
        yield f"{name}: {shown(path)} has a row more", with_entry(base, path, [*rows, rows[0]]), NO_FILE
        yield f"{name}: {shown(path)} has a row less", with_entry(base, path, rows[:-1]), NO_FILE
        yield f"{name}: {shown(path)} is flat", with_entry(base, path, rows[0]), NO_FILE
        yield f"{name}: {shown(path)} has a short row", with_entry(base, (*path, 0), rows[0][:-1]), NO_FILE


def types(name: str, base: Tree) -> Iterator[Case]:
    """Entries of a type that is not theirs."""
    wrong = {
        ("format",): (None, "rldp", 1, ["rldp-protocol"]),
        ("version",): (None, True, 0, 99, "1", [1], -1),
        ("generator",): (None, 1, ["by hand"]),
        ("denominator",): (float(D), D + 1, str(D), None, 1),
        ("numerators", 0, 0, 0): (1.0, -1, True, "1", None, D + 1, 10**30, [1]),
        ("secrets",): (None, "ab", {}, [], ["a"], ["a", "a"], ["a", None], ["a", ["b"]], ["a", "b", "c"]),
        ("values", 0): (1, 1.0, True, None, "\ud800"),
        (G,): (0, "none", [], {}),
        (G, "epsilon"): (None, -1e-9, "inf", "Infinity", True, [1.0], "1.0"),
        (G, "n"): (0, None, 7.0, 1, True, 2**53, "8"),
        (G, "counts", 0, 0): (-1, 1.5, 3.0, True, None, 2**53, "3"),
        (G, "privacy"): (None, "nominal", [], {}, {"kind": None}, {"kind": "Nominal"}, {"kind": "chi2"}),
        (G, "distortion", 0, 1): (-1e-300, None, True, "1", [1]),
        (G, "objective"): (None, True, "1", [1.0], {}),
        (G, "lower_bound"): (None, False, "0", [], {}),
        (G, C): (None, [], {}, 0),
        (G, C, "eta"): (0, [], [[]], "none", True),
        (G, C, "eta_utility"): ([], "none", True),
        (G, C, "multipliers"): (0, [], [[0.0]], [[-1.0, 0.0]] * 2),
        (G, C, "members"): (0, [], [[[[0.5, 0.5]]]]),
        (G, C, "distribution"): (1, [], [[1.0]], [[-0.5, 1.0], [0.25, 0.25]]),
    }
    for path, values in wrong.items():
        for value in values:
            yield f"{name}: {shown(path)} is {json.dumps(value)}", with_entry(base, path, value), NO_FILE
    yield f"{name}: the version is a float", text(base).replace(MARK.encode(), MARK.encode() + b".0"), NO_FILE
    sizes = ({"alpha": x} for x in (0, 1, -0.05, 1.5, 1e-301, None, "0.05", True))
    for size in (*sizes, {"radius": -1e-9}, {"radius": None}, {"radius": 1.0, "alpha": 0.05}):
        content = with_entry(base, (G, "privacy"), {"kind": "power-divergence", "lambda": 1.0, **size})
        yield f"{name}: a set with {json.dumps(size)}", content, NO_FILE
    for order in (-1e-9, 100.5, None, "1", True):
        yield f"{name}: a set of order {order!r}", with_entry(base, (G, "privacy"), a_set(order)), NO_FILE
    for extra in ({"alpha": 0.05}, {"radius": 0}, {"lambda": 1.0}):
        yield f"{name}: nominal with {extra}", with_entry(base, (G, "privacy"), NOMINAL | extra), NO_FILE


# Claims that are not true, or not proved


Change = Callable[[Tree], None]


def changed(base: Tree, change: Change) -> bytes:
    tree = copy.deepcopy(base)
    change(tree)
    return text(tree)


def claim(**entries: Any) -> Change:
    return lambda tree: tree[G].update(entries)


def proof(**entries: Any) -> Change:
    return lambda tree: tree[G][C].update(entries)


def grain(s: int, u: int, amount: int) -> Change:
    def change(tree: Tree) -> None:
        tree["numerators"][s][u][0] += amount

    return change


def both(*changes: Change) -> Change:
    def change(tree: Tree) -> None:
        for one in changes:
            one(tree)

    return change


def identity(tree: Tree) -> None:
    size = len(tree["outputs"])
    tree["numerators"] = [[[D * (u == y) for y in range(size)] for u in range(size)]] * 2


def false_claims(name: str, base: Tree) -> Iterator[Case]:
    """What is false of every base."""
    epsilon, objective = base[G]["epsilon"], base[G]["objective"]
    changes: dict[str, Change] = {
        "the identity": identity,
        "no guarantee": lambda tree: tree.update({G: None}),
        "a level of nearly 0": claim(epsilon=1e-9),
        "a level of 0": claim(epsilon=0),
        "half the level": claim(epsilon=epsilon / 3),
        "half the objective": claim(objective=objective / 2),
        "no objective": claim(objective=0),
        "a negative objective": claim(objective=-1e-300),
        "a lower bound of the objective": claim(lower_bound=objective),
        "a lower bound of more than any": claim(lower_bound=1e300),
        "a lower bound of nearly 0 with nothing to prove it": both(
            claim(lower_bound=1e-6), proof(multipliers=None, members=None, distribution=None)
        ),
        "a lower bound with multipliers that are too large": both(
            claim(lower_bound=0.2),
            proof(multipliers=[[9.0] * len(base["secrets"])] * len(base["outputs"])),
        ),
        "ten times the costs": lambda tree: tree[G].update(
            distortion=[[10 * d for d in row] for row in tree[G]["distortion"]]
        ),
    }
    for amount in (1, -1, 2**20):
        for s, u in ((0, 0), (1, len(base["values"]) - 1)):
            changes[f"row [{s}][{u}] off by {amount}"] = grain(s, u, amount)
    for what, change in changes.items():
        yield f"{name}: {what}", changed(base, change), REFUSED


def refused(b: dict[str, Tree]) -> Iterator[Case]:
    """What is false, or proved by nothing, of one base."""
    once = document([[[8, 8], [8, 8]], [[16, 0], [8, 8]]], [[8, 8], [1, 0]], NOMINAL)
    tiny = document([[[0, 16]], [[0, 16]]], [[4], [4]], NOMINAL, distortion=[[0, 0]], objective=0)
    tiny["values"] = [0]
    tiny["numerators"] = [[[9, D - 9]], [[3, D - 3]]]
    over = copy.deepcopy(tiny)
    over[G]["privacy"] = a_set()
    unseen = document(FLIP, [[5, 5], [0, 0]], a_set(), epsilon=0.6)
    large = copy.deepcopy(b["proved"])
    large[G].update(epsilon=800.0, distortion=[[0, 1e300], [1e300, 0]], objective=1e300, lower_bound=2e-5)
    large[G][C]["multipliers"] = [[0.5e300 * 9.859676543759770e-305, 0.0], [0.0, 0.0]]  # 1e300·e^-700/2
    uneven = document([[[12, 4], [8, 8]]] * 2, [[30, 10], [10, 30]], NOMINAL, utility=a_set())  # ¼ or ½: ⅜
    far = [[0.97, 0.01], [0.01, 0.01]]
    whole: list[tuple[str, Tree, Change]] = [
        ("a secret seen once gives output 0 for sure", once, claim()),
        ("nine grains to three at level 1", tiny, claim()),
        ("nine grains to three at level 1 over a set", over, claim()),
        ("a secret never seen may have any values", unseen, claim()),
        ("multipliers for e^700 at level 800", large, claim()),
        ("nominal: below the ratio under the estimate", b["nominal"], claim(epsilon=0.37)),
        ("nominal: a set is claimed", b["nominal"], claim(privacy=a_set(), epsilon=0.4)),
        ("nominal: a large set is claimed", b["nominal"], claim(privacy=a_set(radius=1e6))),
        ("nominal: a hair less than the objective", b["nominal"], claim(objective=0.3124999999999999)),
        ("nominal: rows of the first secret change places", b["nominal"], _swapped_rows),
        ("nominal: another estimate", b["nominal"], claim(counts=[[300, 1], [1, 300]], n=602)),
        ("proved: a hair more than is proved", b["proved"], claim(lower_bound=0.18000000000000002)),
        ("proved: a multiplier that is too large", b["proved"], proof(multipliers=[[0.5, 0.0], [0.0, 0.0]])),
        (
            "proved: the multiplier of the other pair",
            b["proved"],
            proof(multipliers=[[0.0, 0.18], [0.0, 0.0]]),
        ),
        (
            "proved: the multiplier of the other output",
            b["proved"],
            proof(multipliers=[[0.0, 0.0], [0.18, 0.0]]),
        ),
        ("proved: members under the estimate", b["proved"], proof(members=[[[[1, 0], [0, 1]]] * 2] * 2)),
        ("proved: a distribution under the estimate", b["proved"], proof(distribution=[[0.5, 0], [0, 0.5]])),
        ("proved: at a larger level", b["proved"], claim(epsilon=1.1)),
        ("proved: at no level", b["proved"], claim(epsilon="infinity")),
        ("proved: with one row more", b["proved"], claim(counts=[[40, 0], [0, 4]], n=44)),
        ("robust: below the ratio", b["robust"], claim(epsilon=0.45)),
        ("robust: below the ratio, other η", b["robust"], both(claim(epsilon=0.45), proof(eta=None))),
        ("robust: a hair less than the objective", b["robust"], claim(objective=0.3124999999999999)),
        ("an objective that holds under the estimate only", uneven, claim(objective=0.376)),
        (
            "robust: a distribution far off",
            b["robust"],
            both(claim(lower_bound=1e-3), proof(distribution=far)),
        ),
        (
            "robust: a distribution of zeros",
            b["robust"],
            both(claim(lower_bound=1e-9), proof(distribution=[[0, 0]] * 2)),
        ),
        ("three: a level below", b["three"], claim(epsilon=0.5)),
        ("three: a larger set", b["three"], claim(epsilon=0.6, privacy=a_set(0.0, radius=50.0))),
    ]
    for what, base, change in whole:
        yield what, changed(base, change), REFUSED


def _swapped_rows(tree: Tree) -> None:
    first, second = tree["numerators"]
    tree["numerators"] = [first[::-1], second]


# What is odd and fine


def fine(name: str, base: Tree) -> Iterator[Case]:
    whole = text(base)
    ordered = json.dumps(base, sort_keys=True, indent=4).replace(f'"{MARK}"', MARK).encode()
    odd = {
        "as it is": whole,
        "with room": b" \n\t\r " + whole.replace(b",", b" ,\n ") + b"\n\n",
        "indented and sorted": ordered,
        "escaped": whole.replace(b'"epsilon"', b'"\\u0065psilon"').replace(b'"format"', b'"f\\u006frmat"'),
    }
    changes: dict[str, Change] = {
        "a larger objective": claim(objective=1e300),
        "a negative lower bound": claim(lower_bound=-1.5),
        "minus zero": claim(lower_bound=-0.0),
        "no proof and no lower bound": both(
            claim(lower_bound=0), proof(**dict.fromkeys(("eta", "multipliers", "members", "distribution")))
        ),
        "a larger level, no lower bound": claim(epsilon=5, lower_bound=0),
        "a level of 1e300, no lower bound": claim(epsilon=1e300, lower_bound=0),
        "no level, no lower bound": both(claim(epsilon="infinity", lower_bound=0), proof(multipliers=None)),
        "nonsense for η": proof(eta=[[[-1e300, 1e300]] * 2] * len(base["outputs"])),
        "no costs": claim(
            distortion=[[0] * len(base["outputs"])] * len(base["values"]), objective=0, lower_bound=0
        ),
        "a radius of zero": claim(privacy=a_set(radius=0), lower_bound=0),
        "a tiny radius": claim(privacy=a_set(radius=1e-9), epsilon=0.8, lower_bound=0),
        "other labels": lambda tree: tree.update(
            secrets=[True, ""], values=[-1.5, "ε", 10**30][: len(base["values"])]
        ),
        "labels of other tongues": lambda tree: tree.update(secrets=["\u0000", "__proto__"]),
        "always one output": both(
            lambda tree: tree.update(
                numerators=[[[D] + [0] * (len(base["outputs"]) - 1)] * len(base["values"])] * 2
            ),
            claim(epsilon=0, objective=1, lower_bound=0),
        ),
    }
    for what, content in odd.items():
        yield f"{name}: {what}", content, OK
    for what, change in changes.items():
        yield f"{name}: {what}", changed(base, change), OK


def readers_who_know(table: list, kappa: float, **claim: Any) -> Tree:
    """A file of version 3, which promises κ to readers who know the value; ε = ∞ unless it is given."""
    tree = document(table, [[3, 1], [1, 3]], NOMINAL, **({"epsilon": "infinity"} | claim))
    tree["version"] = 3
    tree[G] |= {"epsilon_known": kappa, C: tree[G][C] | {"known": None}}
    return tree


def moved_grain(tree: Tree) -> None:
    row = tree["numerators"][0][0]
    row[0], row[1] = row[0] + 1, row[1] - 1


def known() -> Iterator[Case]:
    """About readers who know the value: in 'apart' the ratio given the value is 2.2, and ln 2.2 = 0.78846."""
    same, apart = readers_who_know(FLIP, 0.0), readers_who_know(APART, 0.7885)
    one_too_many = [[[1.0, 1.0], [1.0, 1.0]]] * 2
    yield "one row for all secrets", text(same), OK
    yield "one row for all secrets, one grain apart", changed(same, moved_grain), REFUSED
    yield "a ratio below its level", text(apart), OK
    yield "a ratio above its level", with_entry(apart, (G, "epsilon_known"), 0.7884), REFUSED
    yield "prices of zero", with_entry(apart, (G, C, "known"), [[[0.0, 0.0]] * 2] * 2), OK
    priced = copy.deepcopy(apart)
    priced[G] |= {"lower_bound": 0.01, C: priced[G][C] | {"known": one_too_many}}
    yield "prices that charge too much", text(priced), REFUSED
    yield "κ of version 2", with_entry(apart, ("version",), 2), NO_FILE
    yield "κ without a place for prices", without(apart, (G, C, "known")), NO_FILE
    yield "prices without κ", without(apart, (G, "epsilon_known")), NO_FILE
    for level in (-0.1, "infinity", None, True, [0.5]):
        yield f"κ is {json.dumps(level)}", with_entry(apart, (G, "epsilon_known"), level), NO_FILE


def levels() -> Iterator[Case]:
    """Of ordered pairs: P(0|a)/P(0|b) = 2 and P(1|b)/P(1|a) = 1.5; ln 2 = 0.69315 and ln 1.5 = 0.40547."""
    uneven = [[[8, 8], [8, 8]], [[4, 12], [4, 12]]]
    for name, privacy in {"nominal": NOMINAL, "a set": a_set(radius=0.1), "all": {"kind": "all"}}.items():
        tree = document(uneven, [[3, 1], [1, 3]], privacy)
        tree["version"] = 3
        for first, second, expected in (
            (0.6932, 0.4055, OK),
            (0.6931, 0.4055, REFUSED),
            (0.6932, 0.4054, REFUSED),
            (0.4055, 0.6932, REFUSED),
            ("infinity", 0.4055, OK),
            ("infinity", 0.4054, REFUSED),
            (0.6932, "infinity", OK),
            (0.6931, "infinity", REFUSED),
            (0, "infinity", REFUSED),
        ):
            table = [[0, first], [second, 0]]
            yield f"levels, {name}: {first} and {second}", with_entry(tree, (G, "epsilon"), table), expected
    for what, table in {
        "the same": [[0, 1], [1, 0]],
        "no level at all": [[0, "infinity"], ["infinity", 0]],
        "a diagonal": [[1, 1], [2, 0]],
        "one row": [[0, 1]],
        "a list": [1, 2],
        "below zero": [[0, -1], [1, 0]],
        "a text": [[0, "inf"], [1, 0]],
        "null": [[None, 1], [2, None]],
    }.items():
        yield f"levels: {what}", with_entry(tree, (G, "epsilon"), table), NO_FILE
    tree["version"] = 2
    yield "levels of version 2", with_entry(tree, (G, "epsilon"), [[0, 1], [2, 0]]), NO_FILE


def corpus() -> Iterator[Case]:
    """All files, in a fixed order."""
    b = bases()
    for name in ("nominal", "robust"):
        yield from bytes_that_are_none(name, b[name])
        yield from numbers_that_are_none(name, b[name])
    yield from keys_twice("robust", b["robust"])
    for name in ("proved", "three"):
        yield from shapes(name, b[name])
    yield from types("nominal", b["nominal"])
    for name, base in b.items():
        yield from false_claims(name, base)
        yield from fine(name, base)
    yield from refused(b)
    yield from known()
    yield from levels()
    deep = text(b["nominal"]).replace(b'"by hand"', b"[" * 50_000 + b"]" * 50_000)
    yield "a list in a list, fifty thousand times", deep, NO_FILE


def main() -> None:
    """Write the corpus."""
    lines = (
        json.dumps({"name": name, "expected": expected, "bytes": content.decode("latin-1")})
        for name, content, expected in corpus()
    )
    TARGET.write_bytes(gzip.compress("\n".join(lines).encode(), 9, mtime=0))


if __name__ == "__main__":
    main()
