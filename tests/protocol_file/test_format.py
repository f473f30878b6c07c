"""The one strict reading of the file: what is ambiguous or of another type is refused wherever it stands."""

import json

import pytest

import rldp
from rldp.data.reading import Column, Reading
from rldp.protocol_file.format import parsed

OBJECTS = [
    (),
    ("guarantee",),
    ("guarantee", "privacy"),
    ("guarantee", "utility"),
    ("guarantee", "certificate"),
]


@pytest.fixture(scope="module")
def tree():
    return json.loads(rldp.design(rldp.Sample([[9, 3], [2, 8]]), 1.0).protocol.to_json())


def at(tree, path):
    for key in path:
        tree = tree[key]
    return tree


@pytest.mark.parametrize("path", OBJECTS, ids=lambda path: ".".join(path) or "the top")
def test_no_key_of_any_object_may_be_there_twice(tree, path):
    """Even with one value for both: another reader may keep the other."""
    text, owner = json.dumps(tree), json.dumps(at(tree, path))
    assert parsed(text.encode())
    for key, value in at(tree, path).items():
        doubled = f"{{{json.dumps(key)}: {json.dumps(value)}, {owner[1:]}"
        with pytest.raises(rldp.ProtocolFileError, match="an object holds a key twice"):
            parsed(text.replace(owner, doubled).encode())


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("denominator",), 2.0**52),
        (("numerators", 0, 0, 0), 1.0),
        (("numerators", 0, 0, 0), True),
        (("numerators", 0, 0, 0), -1),
        (("guarantee", "counts", 0, 0), 9.0),
        (("guarantee", "n"), 22.0),
        (("guarantee", "n"), 2**53),
        (("version",), True),
        (("guarantee", "privacy", "alpha"), 1),
        (("guarantee", "privacy", "alpha"), 0),
        (("guarantee", "privacy", "alpha"), 1e-301),
        (("guarantee", "privacy", "lambda"), 100.5),
        (("guarantee", "epsilon"), -5e-324),
        (("guarantee", "certificate", "multipliers", 0, 0), -5e-324),
        (("guarantee", "distortion", 0, 0), -5e-324),
    ],
    ids=str,
)
def test_a_number_of_another_type_or_out_of_range_is_refused(tree, path, value):
    changed = json.loads(json.dumps(tree))
    at(changed, path[:-1])[path[-1]] = value
    with pytest.raises(rldp.ProtocolFileError, match=path[0]):
        parsed(json.dumps(changed).encode())


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "-1e999"])
@pytest.mark.parametrize("key", ["objective", "lower_bound"])
def test_what_is_no_finite_number_is_refused(tree, key, number):
    changed = json.loads(json.dumps(tree))
    changed["guarantee"][key] = "here"
    with pytest.raises(rldp.ProtocolFileError, match="number"):
        parsed(json.dumps(changed).replace('"here"', number).encode())


@pytest.mark.parametrize("extra", [{"alpha": 0.05}, {"radius": 0}, {"lambda": 1.0}])
def test_the_estimate_has_no_size(tree, extra):
    changed = json.loads(json.dumps(tree))
    changed["guarantee"]["privacy"] = {"kind": "nominal"} | extra
    with pytest.raises(rldp.ProtocolFileError, match="is not a key of this format"):
        parsed(json.dumps(changed).encode())


def test_a_file_has_the_first_version_that_knows_its_promise(tree):
    """An older reader must not take a new promise for one that it knows; equal claims make equal files."""
    sample = rldp.Sample([[9, 3], [2, 8]])
    newer = json.loads(rldp.design(sample, 1.0, privacy=rldp.AllDistributions()).protocol.to_json())
    assert tree["version"] < newer["version"]
    for claimed, other in ((tree, newer), (newer, tree)):
        assert parsed(json.dumps(claimed).encode())
        with pytest.raises(
            rldp.ProtocolFileError, match=f"its version must be {claimed['version']} for what"
        ):
            parsed(json.dumps(claimed | {"version": other["version"]}).encode())


# Columns


@pytest.fixture(scope="module")
def with_columns():
    secret = (Column("sex", ("f", "m")), Column("ill", (False, True)))
    reading = Reading(secret, (Column("age", (20.0, 40.0, "(missing)"), edges=(30.0,)),), "category")
    sample = rldp.Sample(
        [[9, 3, 1], [2, 8, 1], [4, 4, 1], [0, 0, 2]], reading.secrets, reading.values, reading=reading
    )
    return rldp.design(sample, 1.0, distortion="hamming").protocol


def test_a_file_keeps_how_columns_are_read(with_columns):
    text = with_columns.to_json()
    assert json.loads(text)["version"] == 2
    assert parsed(text.encode()).reading == with_columns.reading


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("missing",), "drop", "columns.missing must be one of refuse, skip, category"),
        (("secret",), [], "columns.secret must be a list of columns"),
        (("secret", 0, "name"), 5, r"columns.secret\[0\].name must be the name of a column"),
        (("secret", 0, "name"), "age", "columns must be about columns of distinct names"),
        (
            ("secret", 0, "labels"),
            ["m", "f"],
            "columns.secret must be columns whose labels combine to the secrets",
        ),
        (
            ("secret", 1, "labels"),
            [False],
            "columns.secret must be columns whose labels combine to the secrets",
        ),
        (("value", "name"), None, "columns.value.name must be the name of a column"),
        (("value", "edges"), [30.0, 40.0], "columns.value.edges must be a list of 1"),
        (("value", "edges"), ["30"], r"columns.value.edges\[0\] must be a number"),
        (("value", "bins"), 2, "columns.value.'bins' is not a key of this format"),
        (("note",), 2, "columns.'note' is not a key of this format"),
    ],
    ids=str,
)
def test_columns_that_do_not_fit_are_refused(with_columns, path, value, message):
    tree = json.loads(with_columns.to_json())
    at(tree["columns"], path[:-1])[path[-1]] = value
    with pytest.raises(rldp.ProtocolFileError, match=message):
        parsed(json.dumps(tree).encode())


def test_edges_increase(with_columns):
    tree = json.loads(with_columns.to_json())
    tree["columns"]["missing"], tree["columns"]["value"]["edges"] = "skip", [30.0, 30.0]
    with pytest.raises(rldp.ProtocolFileError, match=r"columns.value.edges must be numbers that increase"):
        parsed(json.dumps(tree).encode())


def test_the_first_version_knows_no_columns(with_columns):
    tree = json.loads(with_columns.to_json()) | {"version": 1}
    with pytest.raises(rldp.ProtocolFileError, match="its version must be 2 for what it claims, got 1"):
        parsed(json.dumps(tree).encode())
