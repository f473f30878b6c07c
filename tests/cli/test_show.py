"""``rldp show``: the table and what its file claims."""

import hashlib
import json

import numpy as np
import pytest

import rldp

COUNTS = [[52, 31, 17], [14, 38, 48]]


@pytest.fixture
def protocol(rldp_command, tmp_path):
    made = rldp.design(rldp.Sample(COUNTS, ["ill", "well"], [0, 1, 2]), 0.5).protocol
    made.save(tmp_path / "protocol.json")
    return made


@pytest.mark.parametrize("columns", [80, 100])
def test_a_protocol_is_drawn_with_its_promise(rldp_command, protocol, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    code, out, err = rldp_command("show", "protocol.json")
    assert (code, err) == (0, "")
    assert max(map(len, out.splitlines())) <= columns
    words = " ".join(out.split())
    assert "2 secrets × 3 values → 3 outputs" in words
    assert f"claims {protocol.guarantee.promise}" in words
    assert f"at most {protocol.guarantee.objective:.6g} for every distribution" in words
    assert "sample 200 rows, whose counts the file holds" in words
    assert "outputs used 3 of 3, under the estimate" in words
    assert "P(y | ill, u)" in out
    assert f"{protocol.matrix[1, 2, 2]:.2f}" in out


def test_a_table_without_a_guarantee_claims_nothing(rldp_command, tmp_path):
    rldp.Protocol([[[1.0, 0.0], [0.5, 0.5]]], outputs=["a", "b"]).save(tmp_path / "bare.json")
    code, out, _ = rldp_command("show", "bare.json")
    words = " ".join(out.split())
    assert code == 0
    assert words.startswith("table 1 secret × 2 values → 2 outputs claims nothing outputs used 2 of 2 are")
    assert "sample" not in words
    found = json.loads(rldp_command("show", "bare.json", "--json")[1])
    assert {found[key] for key in ("epsilon", "promise", "objective", "lower_bound", "rows")} == {None}


def test_a_protocol_for_machines(rldp_command, protocol, tmp_path):
    code, out, err = rldp_command("show", "protocol.json", "--json")
    found = json.loads(out)
    assert (code, err) == (0, "")
    claim = protocol.guarantee
    assert np.array_equal(found["probabilities"], protocol.matrix)
    assert (found["secrets"], found["values"], found["outputs"]) == (["ill", "well"], [0, 1, 2], [0, 1, 2])
    assert (found["epsilon"], found["promise"], found["rows"]) == (0.5, claim.promise, 200)
    assert (found["objective"], found["lower_bound"]) == (claim.objective, claim.lower_bound)
    assert found["sha256"] == hashlib.sha256((tmp_path / "protocol.json").read_bytes()).hexdigest()
    assert found["outputs_used"] == 3


def test_no_level_is_a_word_in_json(rldp_command, tmp_path):
    rldp.design(rldp.Sample(COUNTS), np.inf).protocol.save(tmp_path / "open.json")
    assert json.loads(rldp_command("show", "open.json", "--json")[1])["epsilon"] == "infinity"


def test_what_is_no_protocol_is_not_drawn(rldp_command):
    assert rldp_command("show", "none.json")[0] == 4
    assert rldp_command("show", "data.csv")[0] == 4


def test_the_columns_that_a_file_names_are_shown(rldp_command):
    columns = ["--secret", "sex", "--secret", "town", "--value", "age"]
    assert rldp_command("design", "data.csv", *columns, "--epsilon", "1", "-o", "protocol.json")[0] == 0
    assert "columns 'age', with the secret 'sex' and 'town'" in " ".join(
        rldp_command("show", "protocol.json")[1].split()
    )
    found = json.loads(rldp_command("show", "protocol.json", "--json")[1])
    assert found["columns"] == {"secret": ["sex", "town"], "value": "age"}


def test_a_protocol_that_names_no_columns_shows_none(rldp_command, protocol):
    assert "columns" not in rldp_command("show", "protocol.json")[1]
    assert json.loads(rldp_command("show", "protocol.json", "--json")[1])["columns"] is None
