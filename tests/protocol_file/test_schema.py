"""The published JSON Schema, and the page that describes the file, say what the library does."""

import doctest
import json
import math
from importlib.resources import files
from itertools import product
from pathlib import Path

import jsonschema
import pytest

import rldp
from promised import credible_claim, credible_file, everything_file, pairs_file
from rldp.data.reading import Column, Reading
from rldp.protocol_file.format import parsed

SCHEMA = json.loads(files("rldp.protocol_file").joinpath("protocol.schema.json").read_text(encoding="utf-8"))
SAMPLE = rldp.Sample([[9, 3, 2], [1, 4, 7]], secrets=["f", "m"], values=[1, 2.5, 3])
FITS = jsonschema.Draft202012Validator(SCHEMA).is_valid


def documents():
    """Files of every kind of claim."""
    sets = rldp.ChiSquare(), rldp.Nominal(), rldp.PowerDivergence(0.5, radius=0.3)
    for epsilon in (0.7, math.inf):
        for privacy in sets:
            designed = rldp.design(SAMPLE, epsilon, privacy=privacy, utility=sets[0], outputs=[1, 2, 3, 4])
            yield json.loads(designed.protocol.to_json())
    yield json.loads(rldp.design(SAMPLE, 0.0).protocol.to_json())
    yield from promises().values()
    yield json.loads(rldp.Protocol([[[0.5, 0.5]]]).to_json())
    yield json.loads(rldp.design(columns_of_two(), 1.0).protocol.to_json())


def columns_of_two():
    """A sample with two columns for the secret and bins for the value."""
    reading = Reading(
        (Column("s", ("f", "m")), Column("t", (1,))), (Column("u", (1.5, 2.5), (2.0,)),), "skip"
    )
    return rldp.Sample([[9, 3], [1, 4]], reading.secrets, reading.values, reading=reading)


def promises():
    """A file for every promise that the first version of the format does not know."""
    counts = SAMPLE.counts.tolist()
    return {
        "credible": credible_file(counts, 0.7, privacy=credible_claim(0.1), utility=credible_claim(0.1)),
        "pairs": pairs_file(counts, 0.7),
        "all": everything_file(counts, 0.7),
    }


def test_the_schema_is_one():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("document", list(documents()))
def test_every_file_fits_the_schema(document):
    jsonschema.validate(document, SCHEMA)


def paths(tree, path=()):
    """The places of a document, one for each list."""
    yield path
    items = tree.items() if isinstance(tree, dict) else enumerate(tree[:1]) if isinstance(tree, list) else ()
    for key, item in items:
        yield from paths(item, (*path, key))


def changed(document, path, item):
    copy = json.loads(json.dumps(document))
    place = copy
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = item
    return copy


DOCUMENT = next(documents())
PROMISES = promises()
PLACES = [(DOCUMENT, path) for path in paths(DOCUMENT) if path]
PLACES += [
    (document, ("guarantee", name, *path))
    for document in PROMISES.values()
    for name in ("privacy", "utility")
    for path in paths(document["guarantee"][name])
]


@pytest.mark.parametrize(("document", "path"), PLACES, ids=lambda part: str(part)[:60])
def test_whatever_the_schema_refuses_the_library_refuses_too(document, path):
    for item in (None, True, -1, 0, 0.5, 1e-6, 2**60, 2**128, "text", [], {}, [None], float(2**52)):
        if FITS(other := changed(document, path, item)):
            continue
        with pytest.raises(rldp.ProtocolFileError):
            parsed(json.dumps(other).encode())


def test_only_privacy_can_be_promised_for_pairs_or_for_all():
    for kind in ("pairs", "all"):
        claim = PROMISES[kind]["guarantee"]["privacy"]
        assert not FITS(changed(PROMISES[kind], ("guarantee", "utility"), claim))


def keys(tree, path=()):
    if isinstance(tree, dict):
        yield from ((*path, key) for key in tree)
        for key, item in tree.items():
            yield from keys(item, (*path, key))


@pytest.mark.parametrize("path", list(keys(DOCUMENT)), ids=str)
def test_schema_and_library_refuse_a_missing_key(path):
    copy = json.loads(json.dumps(DOCUMENT))
    place = copy
    for key in path[:-1]:
        place = place[key]
    del place[path[-1]]
    assert not FITS(copy)
    with pytest.raises(rldp.ProtocolFileError):
        parsed(json.dumps(copy).encode())


@pytest.mark.parametrize("path", [(), ("guarantee",), ("guarantee", "privacy"), ("guarantee", "certificate")])
def test_schema_and_library_refuse_a_key_more(path):
    other = changed(DOCUMENT, (*path, "more"), 1)
    assert not FITS(other)
    with pytest.raises(rldp.ProtocolFileError, match="'more' is not a key of this format"):
        parsed(json.dumps(other).encode())


def test_pairs_of_secrets_are_numbered_as_the_page_says():
    from rldp.theory.arrays import ordered_pairs

    said = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (1, 0), (2, 3), (2, 0), (2, 1), (3, 0), (3, 1), (3, 2)]
    assert [tuple(pair) for pair in ordered_pairs(4)] == said


def client_on_the_page():
    """The client's function, as it stands in the documentation."""
    page = (Path(__file__).parents[2] / "docs" / "file-format.md").read_text(encoding="utf-8")
    names = {}
    for example in doctest.DocTestParser().get_examples(page):
        if example.source.startswith(("import secrets", "def release")):
            exec(example.source, names)
    return names["release"], names["secrets"]


def test_the_client_on_the_page_has_the_protocols_probabilities(monkeypatch):
    """Each output is returned for as many random integers as its numerator says: those of one interval."""
    release, randomness = client_on_the_page()
    for s, u in product(range(2), range(3)):
        start = 0
        for output, numerator in zip(DOCUMENT["outputs"], DOCUMENT["numerators"][s][u], strict=True):
            for r in {start, start + numerator // 2, start + numerator - 1} if numerator else ():
                monkeypatch.setattr(randomness, "randbits", lambda bits, r=r: r if bits == 52 else None)
                assert release(DOCUMENT, DOCUMENT["secrets"][s], DOCUMENT["values"][u]) == output
            start += numerator
        assert start == 2**52
