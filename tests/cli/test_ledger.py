"""``rldp ledger``, and releases that are recorded."""

import json

import pytest

import rldp
from commands import run_command


@pytest.fixture
def command(monkeypatch, capsys, tmp_path):
    """Run ``rldp`` in a folder with a protocol and rows: (exit code, output, errors)."""
    monkeypatch.chdir(tmp_path)
    sample = rldp.Sample([[30, 10, 5], [5, 25, 25]], ["f", "m"], [10, 20, 30])
    rldp.design(sample, 0.5).protocol.save("protocol.json")
    (tmp_path / "rows.csv").write_text("sex,age\nf,10\nm,20\nm,30\n")
    return lambda *words: run_command(monkeypatch, capsys, *words)


def release(command, output, *options):
    columns = ("--secret", "sex", "--value", "age")
    recorded = ("--ledger", "ledger.jsonl", "-o", output)
    return command("release", "protocol.json", "rows.csv", *columns, *recorded, *options)


def test_a_second_release_is_refused_in_one_line_unless_it_is_meant(command, tmp_path):
    assert release(command, "a.csv")[0] == 0
    code, output, errors = release(command, "b.csv")
    assert (code, output) == (1, "")
    assert errors.startswith("rldp: data must not be drawn twice, but ledger 'ledger.jsonl' has a release of")
    assert errors.endswith("and --again releases anyway\n")
    assert not (tmp_path / "b.csv").exists()
    assert release(command, "b.csv", "--again")[0] == 0
    code, output, errors = command("ledger", "ledger.jsonl")
    assert (code, errors) == (0, "")
    text = " ".join(output.split())
    assert "again" in text
    assert "(releases 1, 2): no total is proved; designs for all distributions would add to 1." in text


def test_a_ledger_is_told_to_machines(command):
    assert command("ledger", "none.jsonl")[0] == 4
    release(command, "a.csv")
    found = json.loads(command("ledger", "ledger.jsonl", "--json")[1])
    assert found["totals"][0] | {"input": ""} == {
        "input": "",
        "releases": [1],
        "draws": 1,
        "epsilon": 0.5,
        "reason": "one draw",
    }
    assert found["releases"][0]["columns"] == ["age"]


def test_again_needs_a_ledger(command):
    done = command("release", "protocol.json", "rows.csv", "-o", "a.csv", "--again")
    assert done == (1, "", "rldp: --again must come with a ledger, which records earlier releases\n")
