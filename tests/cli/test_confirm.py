"""``rldp confirm``: its exit code says whether fresh rows confirm a level."""

import json

import numpy as np
import pytest

import rldp
from commands import one_line, run_command

COUNTS = np.array([[490, 330, 180], [150, 370, 480]])


@pytest.fixture
def command(monkeypatch, capsys, tmp_path):
    """Run ``rldp confirm`` on a protocol for ε = 0.5 and fresh rows: (exit code, output, errors)."""
    monkeypatch.chdir(tmp_path)
    sample = rldp.Sample([[52, 31, 17], [14, 38, 48]], ["f", "m"], [10, 20, 30])
    protocol = rldp.design(sample, 0.5).protocol
    protocol.save("protocol.json")
    rldp.Protocol(protocol.matrix, protocol.secrets, protocol.values).save("bare.json")
    rows = [
        f"{secret},{value}\n" * int(COUNTS[s, u])
        for s, secret in enumerate(sample.secrets)
        for u, value in enumerate(sample.values)
    ]
    (tmp_path / "fresh.csv").write_text("sex,age\n" + "".join(rows))

    def run(*options, protocol="protocol.json"):
        arguments = ["confirm", protocol, "fresh.csv", "--secret", "sex", "--value", "age", *options]
        return run_command(monkeypatch, capsys, *arguments)

    return run


def test_a_level_that_is_confirmed_has_exit_code_zero(command):
    code, output, errors = command("--json")
    found = json.loads(output)
    assert (code, errors, found["confirmed"], found["claim"]) == (0, "", True, 0.5)
    assert found["epsilon"] <= 0.5


def test_a_level_that_is_not_confirmed_has_an_exit_code_of_its_own(command):
    code, output, errors = command("--epsilon", "0.05", "--json")
    found = json.loads(output)
    assert (code, errors, found["confirmed"], found["claim"]) == (3, "", False, 0.05)
    assert found["epsilon"] > 0.05
    assert command("--epsilon", "0.05")[0] == 3


def test_every_run_draws_an_order_of_its_own_and_its_seed_repeats_it(command):
    first, second = (json.loads(command("--json")[1]) for _ in range(2))
    assert first["seed"] != second["seed"]
    assert json.loads(command("--json", "--seed", str(first["seed"]))[1]) == first
    assert "with seed 7; the same seed repeats this result" in " ".join(command("--seed", "7")[1].split())


def test_a_protocol_that_claims_no_level_needs_one(command):
    code, output, errors = command(protocol="bare.json")
    assert (code, output) == (1, "")
    assert one_line(errors).startswith("--epsilon must be given, as bare.json claims no ε")
    assert command("--epsilon", "inf", protocol="bare.json")[0] == 0


def test_fresh_rows_are_read_as_the_labels_that_the_protocol_knows(command, tmp_path):
    """They look like numbers, and one value does not occur: found in the rows, the labels would be others."""
    known = rldp.load("protocol.json")
    labels = {"secrets": ("0", "1"), "values": ("10", "20", "x")}
    rldp.Protocol(known.matrix, **labels).save("text.json")
    (tmp_path / "fresh.csv").write_text("sex,age\n" + "0,10\n1,20\n" * 500)
    code, output, errors = command("--epsilon", "inf", "--json", protocol="text.json")
    assert (code, errors) == (0, "")
    assert json.loads(output)["rows"] == 1000
