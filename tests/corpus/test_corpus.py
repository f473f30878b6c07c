"""Files kept as they are: what becomes of each is known, and every reading of them agrees."""

import dataclasses
import gzip
import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import rldp
from claims import File
from corpus import make
from rldp.errors import ProtocolFileError
from rldp.protocol_file.format import parsed

pytestmark = pytest.mark.numerical


@cache
def version():
    """The version that a file with a set has today."""
    nothing = rldp.Certificate(None, None, None, None, None)
    sample, sets = rldp.Sample([[1, 1], [1, 1]]), (rldp.ChiSquare(), rldp.Nominal())
    claim = rldp.Guarantee(1.0, sample, *sets, np.zeros((2, 2)), 1.0, 0.0, nothing)
    return json.loads(rldp.Protocol(np.full((2, 2, 2), 0.5), guarantee=claim).to_json())["version"]


@cache
def corpus():
    lines = gzip.decompress(make.TARGET.read_bytes()).decode().splitlines()
    mark, number = make.MARK.encode(), str(version()).encode()
    files = [json.loads(line) for line in lines]
    return [
        (file["name"], file["bytes"].encode("latin-1").replace(mark, number), file["expected"])
        for file in files
    ]


def parse(content):
    try:
        return parsed(content)
    except ProtocolFileError:
        return None


def loaded(path):
    """What the library makes of a file, as a document again."""
    try:
        return parsed(rldp.load(path).to_json().encode())
    except ProtocolFileError:
        return None


def outcome(verdict):
    if verdict.ok:
        return make.OK
    no_file = verdict.reasons[0].startswith("the file is not a protocol file: ")
    return make.NO_FILE if no_file else make.REFUSED


def test_the_corpus_is_what_its_maker_makes():
    mark, number = make.MARK.encode(), str(version()).encode()
    assert corpus() == [(name, content.replace(mark, number), end) for name, content, end in make.corpus()]
    assert make.TARGET.stat().st_size < 1e6


def test_the_corpus_is_large_and_has_no_file_twice():
    names = [name for name, _, _ in corpus()]
    assert len(set(names)) == len(names) >= 500
    expected = [end for _, _, end in corpus()]
    assert all(expected.count(end) >= 60 for end in (make.NO_FILE, make.REFUSED, make.OK))


def test_every_file_comes_to_its_end(tmp_path):
    """Quick to look through: all that came to another end are named at once."""
    path, wrong = Path(tmp_path, "protocol.json"), []
    for name, content, expected in corpus():
        path.write_bytes(content)
        verdict = rldp.verify(path)
        if outcome(verdict) != expected:
            wrong.append((name, expected, verdict.reasons))
        assert all("\n" not in reason and len(reason) < 400 for reason in verdict.reasons)
    assert wrong == []


def test_files_that_are_ok_claim_what_is_true():
    for name, content, expected in corpus():
        if expected == make.OK:
            file = File(content)
            assert file.rows_hold(), name
            assert file.failing_triples() == [], name
            assert file.objective_holds(), name
            assert file.lower_bound_holds(), name


def test_both_readers_take_the_same_files_for_protocols_and_read_the_same(tmp_path):
    """Of rows that do not sum to one, the judge says so; who would release by them reads no protocol."""
    path = Path(tmp_path, "protocol.json")
    for name, content, expected in corpus():
        path.write_bytes(content)
        read, used = parse(content), loaded(path)
        assert (read is None) == (expected == make.NO_FILE), name
        if read is not None and all(sum(row) == 2**52 for rows in read.numerators for row in rows):
            assert dataclasses.replace(used, generator=read.generator) == read, name
        else:
            assert used is None, name
