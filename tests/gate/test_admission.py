"""``rldp.release_file``: what the command does, in Python; nothing is released from what is not proved."""

import dataclasses
import hashlib
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import rldp
from rldp.releaser.options import Asked

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
    sentence = r"must prove what it claims, but .*; unproved=True releases anyway"
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


# Promises


def promising(privacy, epsilon=0.5):
    return rldp.design(rldp.Sample([[30, 10, 5], [5, 25, 25]], *LABELS), epsilon, privacy=privacy).protocol


@pytest.mark.parametrize(
    ("privacy", "require", "passes"),
    [
        (rldp.Pairs(0.05), "pairs", True),
        (rldp.Pairs(0.05), "pairs:0.05", True),
        (rldp.Pairs(0.05), ["pairs:0.04"], False),
        (rldp.Pairs(0.05), ["credible:0.05"], False),
        (rldp.Pairs(0.05), ["credible:0.05", "pairs:0.1"], True),
        (rldp.ChiSquare(0.05), "chi2", True),
        (rldp.ChiSquare(0.06), "chi2", False),
        (rldp.ChiSquare(0.05), "g", False),
        (rldp.PowerDivergence(1.0, radius=0.1), "chi2", False),
        (rldp.AllDistributions(), ["credible:1e-5"], True),
        (rldp.Nominal(), "nominal", True),
        (rldp.Nominal(), ["all", "pairs"], False),
    ],
)
def test_a_promise_and_its_level_can_be_required(folder, privacy, require, passes):
    promising(privacy).save("protocol.json")
    if passes:
        assert rldp.release_file("protocol.json", "rows.csv", "out.csv", **COLUMNS, require=require) == 2
    else:
        refused(
            folder,
            "protocol.json",
            r"must promise .*, as require= asks, but it proves ε = 0\.5 for",
            require=require,
        )


@pytest.mark.parametrize(
    "privacy", [rldp.ChiSquare(0.9), rldp.PowerDivergence(0.5, 0.9), rldp.Pairs(0.9999)], ids=str
)
def test_a_promise_that_fails_more_often_than_a_coin_is_refused_whatever_is_required(folder, proved, privacy):
    """Relabelled: the table proves more than the file claims, and the file is still refused."""
    counts, labels = proved.guarantee.sample, (proved.secrets, proved.values, proved.outputs)
    with pytest.raises(rldp.InvalidArgument, match=r"privacy must have an alpha of at most 0\.5, got"):
        rldp.design(counts, 0.5, privacy=privacy)
    if not isinstance(privacy, rldp.Pairs):
        claim = dataclasses.replace(proved.guarantee, privacy=privacy, lower_bound=0.0)
        rldp.Protocol(proved.matrix, *labels, guarantee=claim).save("protocol.json")
        assert rldp.verify("protocol.json").ok
        refused(
            folder, "protocol.json", "must promise more than a coin toss, an α of at most 0.5, but it proves"
        )


@pytest.mark.parametrize(
    "require", ["credible:0.6", "pairs:", "pairs:x", "all:0.05", "everything", "pairs:0", 3, [3]]
)
def test_what_cannot_be_required_is_refused(folder, require):
    refused(folder, "protocol.json", "require", error=rldp.RldpError, require=require)


def test_a_result_says_what_was_done_and_equals_its_rows(folder):
    digest = hashlib.sha256((folder / "protocol.json").read_bytes()).hexdigest()
    done = rldp.release_file("protocol.json", "rows.csv", "out.csv", **COLUMNS, keep=["region"])
    assert (done.rows, done.skipped, done.released, done.kept) == (2, 0, ("age",), ("region",))
    assert (done.verdict.epsilon, done.sha256) == (0.5, digest)
    assert done == 2
    assert int(done) == 2
    assert [0, 1, 2][done] == 2
    assert done != 3


def test_a_file_that_exists_is_replaced_only_on_purpose(folder):
    (folder / "out.csv").write_text("mine")
    sentence = r"output must be a new file, got 'out.csv', which exists; force=True replaces it"
    with pytest.raises(rldp.InvalidArgument, match=sentence):
        rldp.release_file("protocol.json", "rows.csv", "out.csv", **COLUMNS)
    assert (folder / "out.csv").read_text() == "mine"
    assert rldp.release_file("protocol.json", "rows.csv", "out.csv", **COLUMNS, force=True) == 2
    for other in ("protocol.json", "rows.csv"):
        with pytest.raises(rldp.InvalidArgument, match="output must"):
            rldp.release_file("protocol.json", "rows.csv", other, **COLUMNS, force=True)


def test_old_names_of_arguments_still_work(folder):
    with pytest.warns(DeprecationWarning, match="(source|target)= is deprecated") as warned:
        assert rldp.release_file("protocol.json", source="rows.csv", target="out.csv", **COLUMNS) == 2
    assert {Path(warning.filename).name for warning in warned} == {Path(__file__).name}
    with pytest.raises(rldp.InvalidArgumentType, match="data must be given once, got source, its old name"):
        rldp.release_file("protocol.json", "rows.csv", "out.csv", source="rows.csv", **COLUMNS)


def test_the_keywords_are_the_fields_of_the_options():
    assert list(Asked.__annotations__) == [field.name for field in dataclasses.fields(rldp.ReleaseOptions)]


def test_a_design_releases_frames_as_its_protocol_does(proved):
    rows = pa.table({"sex": ["f", "m"], "age": [10, 30]})
    made = rldp.design(rldp.Sample([[30, 10, 5], [5, 25, 25]], *LABELS), 0.5)
    options = rldp.ReleaseOptions(**COLUMNS)
    found = made.release_frame(rows, options=options, seed=1)
    assert found == made.protocol.release_frame(rows, **COLUMNS, seed=1)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"key": "k"}, "id must name the column that identifies people, where a key is given"),
        ({"id": 3}, "id must be the name of a column, got 3"),
        ({"key_file": "k"}, "options must be those of rldp.ReleaseOptions, got 'key_file'"),
        ({"options": {"keep": []}}, "options must be an rldp.ReleaseOptions, got "),
    ],
)
def test_options_that_make_no_sense_are_refused(folder, options, sentence):
    with pytest.raises(rldp.RldpError, match=sentence):
        rldp.release_file("protocol.json", "rows.csv", "out.csv", **options)


@pytest.mark.parametrize(("prior", "passes"), [("adaptive", True), (0.5, True), (0.25, False), (1e9, False)])
def test_a_required_credible_promise_has_a_usual_prior(folder, prior, passes):
    """With a prior of enough rows, any table passes."""
    promising(rldp.Credible(prior=prior)).save("protocol.json")
    if passes:
        assert rldp.release_file("protocol.json", "rows.csv", "out.csv", **COLUMNS, require="credible") == 2
    else:
        refused(
            folder, "protocol.json", r"must have the adaptive prior or Dirichlet\(0\.5\)", require="credible"
        )
    assert rldp.release_file("protocol.json", "rows.csv", "out.csv", **COLUMNS, force=True) == 2
