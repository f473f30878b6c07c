"""Files that were tampered with: the judge says ok only where every claim still holds.

Whether it holds is evaluated by :mod:`claims`, from the definitions and without the library. The slow tests
look at some hundred files; the variable ``RLDP_MUTATED_FILES`` asks for more, such as 10000 before a release.
"""

import copy
import json
import math
import os
import random
import time
from functools import cache

import pytest
from scipy.stats import binom

import rldp
from claims import File
from known_program import known_file
from promised import credible_claim, credible_file, everything_file, pairs_file
from strategies import sets_of

G = "guarantee"
ALL = int(os.environ.get("RLDP_MUTATED_FILES", "400"))
LONGEST = 60.0  # seconds of a processor that a verdict may take, on any machine

pytestmark = [
    pytest.mark.numerical,
    pytest.mark.filterwarnings("ignore::rldp.errors.GapWarning"),
    pytest.mark.filterwarnings("ignore::rldp.errors.UnseenSecretWarning"),
]


# Files to start from

SAMPLES = {
    "plain": [[9, 3, 2], [1, 4, 7]],
    "zeros": [[9, 0], [3, 4], [0, 5]],
    "unseen": [[6, 2], [0, 0]],
    "large": [[40_000, 11_000], [9_000, 30_000]],
    "single": [[5, 4, 3]],
}
PROBLEMS = [
    ("plain", 0.7, sets_of("RURP", 1.0)),
    ("plain", 0.3, sets_of("NUNP")),
    ("plain", 1.5, sets_of("RUNP", 2 / 3)),
    ("plain", 0, sets_of("RURP", 2 / 3)),
    ("plain", 0, sets_of("NUNP")),
    ("plain", math.inf, sets_of("RURP", 0.0)),
    ("zeros", 0.5, sets_of("NURP", 0.0)),
    ("zeros", 2.0, sets_of("RURP", 5.0)),
    ("unseen", 1.0, sets_of("RURP", 1.0)),
    ("unseen", 1.0, sets_of("NUNP")),
    ("large", 0.4, sets_of("RURP", 0.0)),
    ("large", 0.4, {"privacy": rldp.PowerDivergence(2, radius=0.02), "utility": rldp.ChiSquare(0.3)}),
    ("single", 1.0, sets_of("RURP", 1.0)),
]


PROMISES = [
    lambda: credible_file(
        [[30, 12], [14, 26]], 0.5, privacy=credible_claim(0.06), utility=credible_claim(0.05)
    ),
    lambda: credible_file([[6, 2, 4], [0, 0, 0]], 2.0, privacy=credible_claim(0.1, lambda_=0.0)),
    lambda: credible_file([[9, 3, 2], [1, 4, 7]], 0.7, utility=credible_claim(0.07, alpha=0.2)),
    lambda: adaptive_file([[30, 12, 0], [4, 26, 9]], 0.5, utility=rldp.Credible(0.1)),
    lambda: adaptive_file([[6, 2], [0, 0]], 1.0, utility=rldp.Nominal()),
    lambda: pairs_file([[5, 3, 1], [1, 2, 6]], 0.7),
    lambda: pairs_file([[9, 1], [3, 4], [0, 5]], 1.0, alpha=0.3, method="A1"),
    lambda: pairs_file([[4, 2], [0, 0]], 0.0, alpha=0.2),
    lambda: everything_file([[9, 3, 2], [1, 4, 7]], 0.7),
    lambda: known_file([[9, 3, 2], [1, 4, 7]], 0.7, 0.5),
    lambda: known_file([[9, 3], [1, 4], [3, 3]], 0.4, 0.0, prices=False),
    lambda: levels_file(rldp.Nominal()),
    lambda: levels_file(rldp.ChiSquare()),
    lambda: levels_file(rldp.AllDistributions()),
]


def levels_file(privacy):
    levels = [[0, 0.4, 1.0], [0.6, 0, math.inf], [math.inf, 0.3, 0]]
    made = rldp.design(
        rldp.Sample([[90, 30], [60, 70], [30, 80]]), levels, privacy=privacy, utility="nominal"
    )
    return json.loads(made.protocol.to_json())


def adaptive_file(counts, epsilon, utility):
    made = rldp.design(rldp.Sample(counts), epsilon, privacy=rldp.Credible(), utility=utility)
    return json.loads(made.protocol.to_json())


@cache
def original(index):
    if index >= len(PROBLEMS):
        return json.dumps(PROMISES[index - len(PROBLEMS)]())
    name, epsilon, sets = PROBLEMS[index]
    sample = rldp.Sample(SAMPLES[name], secrets=["a", "b", "c"][: len(SAMPLES[name])])
    return rldp.design(sample, epsilon, **sets).protocol.to_json()


@cache
def truth(index):
    file = File(original(index).encode())
    return float(file.worst_distortion()), float(file.proved_lower_bound() or 0)


# Changes to the tree; each takes a source of randomness and changes the document in place


def leaves(tree, path=()):
    """Paths to everything in the tree that is no object or list."""
    children = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    found = [leaf for key, child in children for leaf in leaves(child, (*path, key))]
    return found if isinstance(tree, dict | list) else [path]


def at(tree, path):
    for key in path:
        tree = tree[key]
    return tree


def put(tree, path, value):
    at(tree, path[:-1])[path[-1]] = value


def some_leaf(rng, document, wanted=lambda x: True):
    """A leaf; each part of the file is as likely as any other, however many numbers it holds."""
    parts = [("numerators",), *((G, key) for key in document[G] if key != "certificate")]
    parts += [(G, "certificate", key) for key in document[G]["certificate"]] + [
        ("secrets",),
        ("denominator",),
    ]
    rng.shuffle(parts)
    for part in parts:
        found = [leaf for leaf in leaves(at(document, part), part) if wanted(at(document, leaf))]
        if found:
            return rng.choice(found)
    raise AssertionError("a file without such a leaf")


def is_number(x):
    return type(x) in (int, float)


def nudged(rng, x):
    kind = rng.randrange(5)
    if kind == 0:
        return (
            x + rng.choice([-2, -1, 1, 2]) if type(x) is int else math.nextafter(x, rng.choice([-9e9, 9e9]))
        )
    if kind == 1:
        return type(x)(x * (1 + rng.choice([-1, 1]) * 10.0 ** rng.randint(-16, -1)))
    if kind == 2:
        return type(x)(x * rng.choice([0.5, 2, 10, 0.1, 1e-300, 1e5]))
    if kind == 3:
        return x + rng.choice([-1, 1]) * 10.0 ** rng.randint(-16, 0)
    return rng.choice([0, 1, -1, 0.0, -0.0, 0.5, 5e-324, 1e-300, 1e300, 2**53, 2**63])


def nudge(rng, document):
    leaf = some_leaf(rng, document, is_number)
    put(document, leaf, nudged(rng, at(document, leaf)))


def swap(rng, document):
    leaf = some_leaf(rng, document, is_number)
    parent = leaf[:2] if leaf[0] == G and leaf[1] != "certificate" else leaf[: 1 + 2 * (leaf[0] == G)]
    other = rng.choice(leaves(at(document, parent), parent))
    one, two = at(document, leaf), at(document, other)
    put(document, leaf, two)
    put(document, other, one)


def flip_sign(rng, document):
    leaf = some_leaf(rng, document, is_number)
    put(document, leaf, -at(document, leaf))


def change_type(rng, document):
    leaf = some_leaf(rng, document)
    value = at(document, leaf)
    as_other = [str(value), [value], {"value": value}, None, True, False, "", "NaN", "infinity"]
    if is_number(value):
        as_other += [float(value), int(value) if abs(value) < 1e300 else 0]
    put(document, leaf, rng.choice(as_other))


def put_something_huge(rng, document):
    huge = [10**30, -(10**30), 10**400, float("nan"), float("inf"), -float("inf"), 2**64, 1.7e308, "9" * 5000]
    put(document, some_leaf(rng, document), rng.choice(huge))


def nest(rng, document):
    value = []
    for _ in range(rng.choice([1, 5, 100])):
        value = [value] if rng.random() < 0.5 else {"a": value}
    put(document, some_leaf(rng, document), value)


def resize(rng, document):
    path = some_leaf(rng, document)
    parents = [path[:i] for i in range(1, len(path)) if isinstance(at(document, path[:i]), list)]
    if not parents:
        return nudge(rng, document)
    items = at(document, rng.choice(parents))
    if rng.random() < 0.5:
        items.pop(rng.randrange(len(items)))
    else:
        items.insert(rng.randrange(len(items) + 1), copy.deepcopy(rng.choice(items)))
    return None


def change_keys(rng, document):
    claim = document[G]
    target = rng.choice([document, claim, claim["certificate"], claim["privacy"], claim["utility"]])
    key = rng.choice(list(target))
    kind = rng.randrange(3)
    if kind == 0:
        target[rng.choice(["more", "", "Epsilon", "__class__", key + " "])] = rng.choice([0, None, {}])
    elif kind == 1:
        del target[key]
    else:
        target[key + "x"] = target.pop(key)


def change_labels(rng, document):
    names = document[rng.choice(["secrets", "values", "outputs"])]
    i = rng.randrange(len(names))
    names[i] = rng.choice([names[0], "other", True, None, 1.5, 10**40, "\ud800", "", [1], names[-1]])


def another_set(rng):
    """A set or a promise of any kind."""
    size = rng.choice([{"alpha": 0.05}, {"radius": 0.0}, {"radius": 1e-9}, {"radius": 0.5}])
    orders = [0, 1e-20, 0.5, 1, 3, 100]
    return rng.choice(
        [
            {"kind": "nominal"},
            {"kind": "power-divergence", "lambda": rng.choice(orders)} | size,
            {"kind": "all"},
            credible_claim(
                rng.choice([0.0, 0.1, 2.0]), rng.choice([0.01, 0.05, 0.3]), rng.choice([0.1, 0.5, 9])
            ),
            {"kind": "pairs", "alpha": 0.05, "radii": [rng.choice([0.0, 5.0, 12.0])], "methods": ["A2"]},
        ]
    )


def change_set(rng, document):
    claim = document[G][rng.choice(["privacy", "utility"])]
    if claim["kind"] in ("nominal", "all") or rng.random() < 0.3:
        claim.clear()
        claim |= another_set(rng)
        new = {"credible", "pairs", "all"}
        if rng.random() < 0.9:
            document["version"] = 1 + any(document[G][name]["kind"] in new for name in ("privacy", "utility"))
    else:
        change_size(rng, claim)


def change_size(rng, claim):
    """Another level, order, radius, prior or theorem."""
    if rng.random() < 0.5 and "alpha" in claim:
        levels = [1e-300, 1e-5, 1e-4, 1e-3, 0.04, 0.0499999, 0.0500001, 0.06, 0.5, 0.999]
        claim["alpha"] = rng.choice(levels)
    elif claim["kind"] == "pairs":
        i = rng.randrange(len(claim["radii"]))
        if rng.random() < 0.3:
            claim["methods"][i] = rng.choice(["A1", "A2", "A3"])
        else:
            claim["radii"][i] *= rng.choice([0.1, 0.3, 0.5, 0.7, 0.9, 0.99, 0.9999, 1.0001])
    elif "centre" in claim and rng.random() < 0.4:
        first, second = rng.sample(
            [(s, u) for s, row in enumerate(claim["centre"]) for u in range(len(row))], 2
        )
        moved = int(at(claim["centre"], first) * rng.choice([1e-15, 1e-6, 1e-3, 0.1, 1]))
        put(claim["centre"], first, at(claim["centre"], first) - moved)
        put(claim["centre"], second, at(claim["centre"], second) + moved)
    elif claim["kind"] == "credible" and rng.random() < 0.7:
        key = rng.choice(["prior", "radius", "seed"])
        now = 0.5 if claim[key] == "adaptive" else claim[key]
        claim[key] = rng.choice([0, now * 0.9, now * 1.1, 0.01, 0.25, 3, 1e9])
    else:
        claim["lambda"] = rng.choice([0, 1e-9, claim["lambda"] * 0.99, claim["lambda"] * 1.01, 1, 2.5, 100])


def change_promise(rng, document):
    """What is claimed of the sets, of the posterior or of who knows the value, and nothing else."""
    if "epsilon_known" in document[G]:
        kappa = document[G]["epsilon_known"]
        document[G]["epsilon_known"] = rng.choice(
            [kappa * f for f in (0.5, 0.999, 1 - 1e-7, 1.001)] + [0, 0.3, 5]
        )
        if rng.random() < 0.5:
            return
    document[G]["lower_bound"] = 0
    new = [claim for claim in (document[G]["privacy"], document[G]["utility"]) if len(claim) > 3]
    change_size(rng, rng.choice(new)) if new else change_set(rng, document)


def change_level(rng, document):
    """Of all pairs of secrets, or of one of them where they differ."""
    path = (G, "epsilon")
    if isinstance(document[G]["epsilon"], list):
        path = (*path, *rng.sample(range(len(document["secrets"])), 2))
    epsilon = at(document, path)
    others = [0, 1e-9, 0.1, 5, 50, 710, 1e300, "infinity"]
    if epsilon != "infinity":
        others += [epsilon * (1 + sign * 10.0**power) for power in (-15, -9, -4, -1) for sign in (-1, 1)]
    put(document, path, rng.choice(others))


def change_counts(rng, document):
    counts = document[G]["counts"]
    kind = rng.randrange(3)
    if kind == 0:
        row = rng.choice(counts)
        row[rng.randrange(len(row))] += rng.choice([1, 10, 1000, 10**12])
    elif kind == 1:
        factor = rng.choice([2, 3, 100])
        counts[:] = [[factor * c for c in row] for row in counts]
    else:
        counts.reverse()
    if rng.random() < 0.9:
        document[G]["n"] = sum(map(sum, counts))


def move_probability(rng, document):
    """From one output to another, in one row or in all rows of a secret: rows keep their sums."""
    rows = rng.choice(document["numerators"])
    if rng.random() < 0.5:
        rows = [rng.choice(rows)]
    y, z = rng.sample(range(len(rows[0])), 2)
    amount = int(2.0 ** rng.uniform(0, 51))
    for row in rows:
        moved = min(amount, row[y])
        row[y] -= moved
        row[z] += moved


def swap_rows(rng, document):
    table = document["numerators"]
    if rng.random() < 0.5:
        rng.shuffle(table)
    else:
        rng.shuffle(rng.choice(table))


def change_distortion(rng, document):
    rows = document[G]["distortion"]
    kind = rng.randrange(3)
    if kind == 0:
        factor = rng.choice([0, 1e-300, 1 - 1e-15, 1 + 1e-15, 2, 1e200])
        rows[:] = [[factor * d for d in row] for row in rows]
    elif kind == 1:
        rng.shuffle(rng.choice(rows))
    else:
        row = rng.choice(rows)
        row[rng.randrange(len(row))] += rng.choice([1e-12, 0.1, 1e9])


def change_witness(rng, document):
    """Another witness, which may well serve as good."""
    proof = document[G]["certificate"]
    name = rng.choice([key for key, value in proof.items() if value is not None] or ["eta"])
    kind = rng.randrange(4)
    if kind == 0 or proof[name] is None:
        proof[name] = None
        return
    factor = rng.choice([1 + 1e-15, 1 - 1e-15, 1 + 1e-9, 1 - 1e-9, 1.001, 0.999, 2, 0])
    paths = leaves(proof[name], (name,))
    for path in paths if kind == 1 else [rng.choice(paths)]:
        put(proof, path, at(proof, path) * factor if kind < 3 else abs(at(proof, path)) + rng.random())


def drop_the_proof(rng, document):
    document[G]["certificate"] = dict.fromkeys(document[G]["certificate"])
    if rng.random() < 0.5:
        document[G]["lower_bound"] = 0


def move_bounds(rng, document):
    """Bounds a hair to the true or to the false side of what can be proved."""
    for name, true in zip(("objective", "lower_bound"), document.pop("truth"), strict=True):
        hair = rng.choice([-1, 1]) * rng.choice([1e-15, 1e-14, 1e-12, 1e-9, 1e-4, 0.1])
        if rng.random() < 0.7:
            document[G][name] = true * (1 + hair)


def weaken(rng, document):
    """What is claimed becomes less than what was."""
    claim = document[G]
    claim["objective"] *= 1 + 10.0 ** rng.randint(-14, 2)
    claim["lower_bound"] *= 1 - 10.0 ** rng.randint(-14, 0)
    if is_number(claim["epsilon"]) and rng.random() < 0.5:
        claim["epsilon"] *= 1 + 10.0 ** rng.randint(-14, 0)
        claim["lower_bound"] = 0


TREE_CHANGES = [
    nudge,
    nudge,
    swap,
    flip_sign,
    change_type,
    put_something_huge,
    nest,
    resize,
    change_keys,
    change_labels,
    change_set,
    change_level,
    change_counts,
    move_probability,
    move_probability,
    swap_rows,
    change_distortion,
    change_witness,
    change_witness,
    drop_the_proof,
    move_bounds,
    weaken,
]


# Changes to the bytes


def truncate(rng, content):
    return content[: rng.randrange(len(content))]


def flip_bytes(rng, content):
    changed = bytearray(content)
    for _ in range(rng.choice([1, 1, 2, 5])):
        changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def change_a_digit(rng, content):
    digits = [i for i, byte in enumerate(content) if chr(byte).isdigit()]
    changed = bytearray(content)
    changed[rng.choice(digits)] = ord(rng.choice("0123456789"))
    return bytes(changed)


def repeat_a_key(rng, content):
    key = rng.choice([b'"epsilon":', b'"n":', b'"objective":', b'"denominator":', b'"kind":', b'"eta":'])
    return content.replace(key, key + rng.choice([b"0,", b"1,", b"null,"]) + key, 1)


def splice(rng, content):
    place = rng.randrange(len(content))
    return (
        content[:place]
        + rng.choice([b"[" * 10**5, b"1e999", b"NaN", b"\x00", b"\xff", b",", b"0" * 6000])
        + (content[place:] if rng.random() < 0.5 else content[place + 1 :])
    )


def put_in_front(rng, content):
    return rng.choice([b"\xef\xbb\xbf", b" \n", b"[", b"{}", b"\x1f\x8b"]) + content


BYTE_CHANGES = [truncate, flip_bytes, change_a_digit, change_a_digit, repeat_a_key, splice, put_in_front]


def mutated(seed, indices):
    rng = random.Random(seed)
    index = rng.choice(indices)
    if rng.random() < 0.2:
        return rng.choice(BYTE_CHANGES)(rng, original(index).encode())
    document = before = json.loads(original(index))
    while same(document, before):  # such as after a swap of equal numbers
        document = changed(rng, index)
    return json.dumps(document).encode()


def same(one, two):
    return json.dumps(one) == json.dumps(two)


def changed(rng, index):
    """A file's tree after a change, or after two; it may be as it was."""
    document = json.loads(original(index))
    for _ in range(rng.choice([1, 1, 1, 2])):
        can_move = len(document.get("outputs", ())) > 1
        known = TREE_CHANGES + [change_promise] * (16 if index in NEW else 0)
        changes = [c for c in known if c is not move_probability or can_move]
        change = rng.choice(changes)
        if change is move_bounds:
            document["truth"] = truth(index)
        try:
            change(rng, document)
        except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError):
            break  # the first change left nothing for the second
        finally:
            document.pop("truth", None)
    return document


# What the judge makes of them


@cache
def claims_hold(problem, content):
    """Rows, privacy and objective; ``problem`` is what they depend on."""
    file = File(content)
    beyond_sets = file.risks_hold() and file.radii_hold() and file.known_holds()
    return file.rows_hold(), file.failing_triples(), file.objective_holds(), beyond_sets


def assert_all_claims_hold(content):
    file = File(content)
    rows, failing, objective, beyond_sets = claims_hold(file.problem, content)
    assert rows
    assert failing == []
    assert objective
    assert beyond_sets
    assert file.lower_bound_holds()
    assert file.claim["lower_bound"] <= file.claim["objective"]


def is_ok(content, path):
    path.write_bytes(content)
    started = time.process_time()
    verdict = rldp.verify(path)
    assert time.process_time() - started < LONGEST
    if verdict.ok:
        assert verdict.reasons == ()
        assert_all_claims_hold(content)
    else:
        assert verdict.reasons
        assert all("\n" not in reason and len(reason) < 400 for reason in verdict.reasons)
    return verdict.ok


OLD, NEW = range(len(PROBLEMS)), range(len(PROBLEMS), len(PROBLEMS) + len(PROMISES))


def judge_many(seeds, path, indices):
    passed = [is_ok(mutated(seed, indices), path) for seed in seeds]
    assert sum(passed) > 0.05 * len(passed), "changes that leave nothing true try nothing"
    assert binom.sf(sum(passed) - 1, len(passed), 0.5) > 0.01, "most changes should do harm"


@pytest.mark.parametrize("index", [*OLD, *NEW])
def test_the_originals_hold(index, tmp_path):
    assert is_ok(original(index).encode(), tmp_path / "protocol.json")


@pytest.mark.slow
@pytest.mark.parametrize("block", range(4))
def test_many_changed_promises_pass_only_if_they_hold(tmp_path, block):
    size = ALL // 10
    judge_many(range(20_000 + block * size, 20_000 + (block + 1) * size), tmp_path / "protocol.json", NEW)


@pytest.mark.slow
@pytest.mark.parametrize("block", range(4))
def test_many_changed_files_pass_only_if_their_claims_hold(tmp_path, block):
    size = ALL // 4
    judge_many(range(10_000 + block * size, 10_000 + (block + 1) * size), tmp_path / "protocol.json", OLD)


@pytest.mark.parametrize("change", [*TREE_CHANGES[1:], change_promise], ids=lambda change: change.__name__)
def test_every_kind_of_change_can_be_made(change):
    document = json.loads(original(0)) | {"truth": truth(0)}
    before = copy.deepcopy(document)
    for seed in range(5):
        change(random.Random(seed), document)
        document["truth"] = truth(0)
        if document != before:
            return
    raise AssertionError("nothing changed")
