"""``rldp.release_file``: what the command does, in Python; nothing is released from what is not proved."""

import hashlib

import numpy as np
import pytest

import rldp

LABELS = ["f", "m"], [10, 20, 30]
COLUMNS = {"secret": "sex", "value": "age"}


@pytest.fixture(scope="module")
def proved():
    return rldp.design(rldp.Sample([[30, 10, 5], [5, 25, 25]], *LABELS), 0.5).protocol


@pytest.fixture
def folder(tmp_path, monkeypatch, proved):
    """Rows, and a protocol file that proves ε = 0.5."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows.csv").write_text("sex,age,region\nf,10,N\nm,30,S\n")
    proved.save("protocol.json")
    return tmp_path


def identity(guarantee=None):
    """What publishes everything as it is."""
    return rldp.Protocol(np.broadcast_to(np.eye(3), (2, 3, 3)), *LABELS, LABELS[1], guarantee=guarantee)


def refused(folder, protocol, sentence, error=rldp.NotProved, **options):
    with pytest.raises(error, match=sentence):
        rldp.release_file(protocol, "rows.csv", "out.csv", **COLUMNS, **options)
    assert not (folder / "out.csv").exists()


@pytest.mark.parametrize("form", [str, lambda path: path, rldp.load], ids=["text", "path", "memory"])
def test_a_protocol_that_proves_its_level_is_released_from(folder, form):
    options = {**COLUMNS, "keep": ["region"], "released": "shown"}
    assert rldp.release_file(form(folder / "protocol.json"), "rows.csv", "out.csv", **options) == 2
    header, *rows = (folder / "out.csv").read_text().splitlines()
    assert header == "region,shown"
    assert [row.split(",")[0] for row in rows] == ["N", "S"]


@pytest.mark.parametrize("loaded", [False, True])
def test_a_table_that_was_tampered_with_is_refused_before_a_row_is_read(folder, proved, loaded):
    identity(proved.guarantee).save("tampered.json")
    (folder / "rows.csv").unlink()
    protocol = rldp.load("tampered.json") if loaded else "tampered.json"
    sentence = r"must prove what it claims, but .*; --unproved \(unproved=True\) releases all the same"
    refused(folder, protocol, sentence)


def test_a_file_that_claims_nothing_is_refused_and_a_table_of_ones_own_is_not(folder):
    identity().save("claimless.json")
    refused(folder, "claimless.json", "claimless.json must prove a privacy level")
    assert rldp.release_file("claimless.json", "rows.csv", "a.csv", **COLUMNS, unproved=True) == 2
    assert rldp.release_file(identity(), "rows.csv", "b.csv", **COLUMNS) == 2
    assert (folder / "a.csv").read_text() == (folder / "b.csv").read_text() == "age\n10\n30\n"


@pytest.mark.parametrize("loaded", [False, True])
def test_a_level_above_what_is_expected_is_refused(folder, loaded):
    protocol = rldp.load("protocol.json") if loaded else "protocol.json"
    sentence = "must prove a privacy level of at most 0.4, but it proves ε = 0.5"
    refused(folder, protocol, sentence, epsilon_at_most=0.4)
    assert rldp.release_file(protocol, "rows.csv", "out.csv", **COLUMNS, epsilon_at_most=0.5) == 2


def test_a_level_is_not_expected_of_what_claims_none(folder):
    refused(folder, identity(), "protocol must prove a privacy level, but it claims none", epsilon_at_most=1)


def test_the_file_that_is_expected_and_no_other_is_released_from(folder):
    digest = hashlib.sha256((folder / "protocol.json").read_bytes()).hexdigest()
    refused(folder, "protocol.json", "must be the file with SHA-256", expect_sha256="0" * 64)
    loaded = rldp.load("protocol.json")
    assert loaded.sha256 == digest
    refused(folder, loaded, "must be the file with SHA-256", expect_sha256="0" * 64)
    unread = rldp.Protocol(np.broadcast_to(np.eye(3), (2, 3, 3)), *LABELS)
    sentence = "is for protocols that were read from a file"
    refused(folder, unread, sentence, error=rldp.InvalidArgument, expect_sha256=digest)
    options = {"expect_sha256": digest}
    assert rldp.release_file(loaded, "rows.csv", "loaded.csv", **COLUMNS, **options) == 2
    assert rldp.release_file("protocol.json", "rows.csv", "out.csv", **COLUMNS, expect_sha256=digest) == 2


@pytest.mark.parametrize("protocol", [3, None, b"protocol.json", ["protocol.json"]], ids=repr)
def test_what_is_no_protocol_is_refused(folder, protocol):
    sentence = "protocol must be an rldp.Protocol or the path of a file, got "
    refused(folder, protocol, sentence, error=rldp.InvalidArgumentType)


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"format": "rldp protocol"}'])
def test_a_file_that_is_no_protocol_is_refused(folder, text):
    (folder / "protocol.json").write_text(text)
    refused(folder, "protocol.json", "protocol.json must be a protocol file", error=rldp.ProtocolFileError)
