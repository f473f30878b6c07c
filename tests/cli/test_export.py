"""``rldp export``: the table alone, of what is proved, and never taken for a proof."""

import hashlib
import json

import numpy as np
import pytest

import rldp

COUNTS = [[52, 31, 17], [14, 38, 48]]
EXPORT = ["export", "protocol.json", "-o", "table.json"]


@pytest.fixture
def protocol(rldp_command, tmp_path):
    made = rldp.design(rldp.Sample(COUNTS, ["ill", "well"], [0, 1, 2]), 0.5).protocol
    made.save(tmp_path / "protocol.json")
    (tmp_path / "rows.csv").write_text("s,u\nill,0\nwell,2\n")
    return made


RELEASE = ["release", "table.json", "rows.csv", "--secret", "s", "--value", "u", "-o", "out.csv"]


def test_the_table_is_the_same_and_sample_and_proof_are_gone(rldp_command, protocol, tmp_path):
    code, out, err = rldp_command(*EXPORT)
    assert (code, err) == (0, "")
    words = " ".join(out.split())
    assert f"The protocol was verified: {protocol.guarantee.promise}." in words
    assert "rldp release takes the table with --unproved only" in words
    text = (tmp_path / "table.json").read_text()
    assert out.endswith(f"{len(text.encode())} bytes written to table.json\n")
    table = rldp.load(tmp_path / "table.json")
    assert np.array_equal(table.matrix, protocol.matrix)
    assert (table.secrets, table.values, table.outputs) == (("ill", "well"), (0, 1, 2), (0, 1, 2))
    assert table.guarantee is None
    document = json.loads(text)
    assert document["guarantee"] is None
    assert not {"counts", "certificate", "epsilon"} & set(document)
    full = json.loads((tmp_path / "protocol.json").read_text())
    assert set(document) == set(full)
    assert len(text) < 0.5 * len(protocol.to_json())


def test_the_table_names_the_file_it_came_from(rldp_command, protocol, tmp_path):
    rldp_command(*EXPORT)
    digest = hashlib.sha256((tmp_path / "protocol.json").read_bytes()).hexdigest()
    assert digest in json.loads((tmp_path / "table.json").read_text())["generator"]


def test_a_table_is_not_released_from_by_accident(rldp_command, protocol):
    rldp_command(*EXPORT)
    code, out, err = rldp_command(*RELEASE)
    assert (code, out) == (3, "")
    assert "the file claims nothing" in err
    assert rldp_command("verify", "table.json")[0] == 3
    assert rldp_command(*RELEASE, "--unproved")[0] == 0


def test_what_is_not_proved_is_not_exported_unless_that_is_meant(rldp_command, protocol, tmp_path):
    document = json.loads(protocol.to_json())
    document["guarantee"]["epsilon"] = 0.1
    (tmp_path / "protocol.json").write_text(json.dumps(document))
    code, out, err = rldp_command(*EXPORT)
    assert (code, out) == (3, "")
    assert err.startswith("rldp: protocol.json must prove what it claims, but privacy is not proved")
    assert err.endswith("--unproved exports anyway\n")
    assert not (tmp_path / "table.json").exists()
    code, out, _ = rldp_command(*EXPORT, "--unproved")
    assert code == 0
    assert out.startswith("The protocol claims nothing or does not prove its claims; it was exported any")
    assert "was verified" not in out


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (["--max-epsilon", "0.4"], 3),
        (["--max-epsilon", "0.5"], 0),
        (["--expect-sha256", "0" * 64], 3),
        (["--expect-sha256", "x"], 1),
    ],
)
def test_an_export_can_pin_what_it_expects(rldp_command, protocol, options, code):
    assert rldp_command(*EXPORT, *options)[0] == code


def test_the_protocol_is_not_written_over(rldp_command, protocol, tmp_path):
    before = (tmp_path / "protocol.json").read_bytes()
    code, _, err = rldp_command("export", "protocol.json", "-o", "protocol.json")
    assert (code, (tmp_path / "protocol.json").read_bytes()) == (1, before)
    assert "output must be another file than the protocol" in err
    assert rldp_command("export", "protocol.json", "-o", "none/table.json")[0] == 4


def test_an_export_for_machines(rldp_command, protocol, tmp_path):
    code, out, err = rldp_command(*EXPORT, "--json")
    content = (tmp_path / "protocol.json").read_bytes()
    assert (code, err) == (0, "")
    assert json.loads(out) == {
        "output": "table.json",
        "bytes": (tmp_path / "table.json").stat().st_size,
        "protocol": "protocol.json",
        "sha256": hashlib.sha256(content).hexdigest(),
        "proved": True,
        "epsilon": 0.5,
        "promise": protocol.guarantee.promise,
    }
    assert rldp_command("--quiet", *EXPORT) == (0, "", "")


def test_a_design_says_once_that_its_file_holds_the_counts(rldp_command):
    out = rldp_command(
        *("design", "data.csv", "--secret", "sex", "--value", "age"), *("--epsilon", "1", "-o", "new.json")
    )[1]
    assert (
        out.count("The protocol file holds the counts of your sample; rldp export writes the table alone.")
        == 1
    )
