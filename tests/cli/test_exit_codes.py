"""Exit codes: what a script can tell apart."""

import json
import os

import numpy as np
import pytest

import rldp
from commands import run_command
from rldp.cli.app import ExitCode

COLUMNS = ["--secret", "sex", "--value", "age"]
DESIGN = ["design", "data.csv", *COLUMNS, "--no-others", "-o", "new.json", "--epsilon"]


@pytest.fixture
def command(monkeypatch, capsys, tmp_path):
    """Run the command beside a protocol, one that proves nothing, one that lies, and data."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data.csv").write_text("sex,age\n" + "f,1\nm,2\n" * 30 + "f,2\nm,1\n" * 20)
    (tmp_path / "nulls.csv").write_text("sex,age\nf,1\nm,\n")
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "broken.csv").write_text('sex,age\nf,"1\nm,2\n')
    (tmp_path / "leaky.csv").write_text("sex,age\n" + "f,1\nm,2\n" * 400)
    sample = rldp.Sample.from_data(tmp_path / "data.csv", secret="sex", value="age")
    protocol = rldp.design(sample, 0.5).protocol
    protocol.save(tmp_path / "good.json")
    rldp.Protocol(np.full((2, 2, 2), 0.5), ["f", "m"], [1, 2]).save(tmp_path / "bare.json")
    document = json.loads(protocol.to_json())
    document["guarantee"]["epsilon"] = 0.1
    (tmp_path / "lie.json").write_text(json.dumps(document))
    (tmp_path / "other.json").write_text("{}")
    return lambda *arguments: run_command(monkeypatch, capsys, *arguments)


def on(command, protocol, data="data.csv"):
    return [command, protocol, data, *COLUMNS]


OUT = ["-o", "out.csv"]
ENDS = {
    "a design": ([*DESIGN, "0.5"], 0),
    "a level below zero": ([*DESIGN, "-1"], 1),
    "a column that is missing": (["design", "data.csv", "--secret", "height", *DESIGN[4:], "1"], 1),
    "an entry that is missing": (["design", "nulls.csv", *DESIGN[2:], "1"], 1),
    "rows that cannot be released": ([*on("release", "good.json", "nulls.csv"), *OUT], 1),
    "no such option": ([*DESIGN, "1", "--nonsense"], 2),
    "a file that lies": (["verify", "lie.json"], 3),
    "a file that claims nothing": (["verify", "bare.json"], 3),
    "a release from a file that lies": ([*on("release", "lie.json"), *OUT], 3),
    "a release from a file that claims nothing": ([*on("release", "bare.json"), *OUT], 3),
    "a release from another file than was expected": (
        [*on("release", "good.json"), *OUT, "--expect-sha256", "0" * 64],
        3,
    ),
    "a release at a larger level than was expected": (
        [*on("release", "good.json"), *OUT, "--max-epsilon", "0.4"],
        3,
    ),
    "a level that is not confirmed": ([*on("confirm", "good.json"), "--epsilon", "0.01"], 3),
    "drift": (on("audit", "good.json", "leaky.csv"), 0),
    "drift, strictly": ([*on("audit", "good.json", "leaky.csv"), "--strict"], 3),
    "a release that leaks, strictly": (
        ["audit-release", "leaky.csv", "--secret", "sex", "--released", "age", "--epsilon", "1", "--strict"],
        3,
    ),
    "a protocol that is missing": (["verify", "none.json"], 4),
    "a file that is no protocol": (["verify", "other.json"], 4),
    "a release from what is no protocol": ([*on("release", "other.json"), *OUT], 4),
    "data that are missing": (["design", "none.csv", *DESIGN[2:], "1"], 4),
    "an empty file": (["design", "empty.csv", *DESIGN[2:], "1"], 4),
    "a quote that is never closed": (["design", "broken.csv", *DESIGN[2:], "1"], 4),
    "a folder that does not exist": ([*on("release", "good.json"), "-o", "none/out.csv"], 4),
}


@pytest.mark.parametrize(("arguments", "code"), ENDS.values(), ids=ENDS)
def test_every_kind_of_end_has_its_code(command, arguments, code):
    found, _, errors = command(*arguments)
    assert found == code
    assert "Traceback" not in errors


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_may_not_be_written_has_the_code_of_files(command, tmp_path):
    (tmp_path / "closed").mkdir(mode=0o500)
    assert command(*on("release", "good.json"), "-o", "closed/out.csv")[0] == 4


def test_the_codes_do_not_drift():
    assert {code.name: int(code) for code in ExitCode} == {
        "SUCCESS": 0,
        "MISTAKE": 1,
        "USAGE": 2,
        "CLAIM": 3,
        "FILE": 4,
        "INTERRUPTED": 130,
    }


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: rldp.load("none.json"), rldp.ProtocolFileError),
        (lambda: rldp.Sample.from_data("none.csv", secret="sex", value="age"), rldp.DataFileError),
        (lambda: rldp.load("good.json").save("none/x.json"), rldp.ProtocolFileError),
    ],
)
def test_in_python_trouble_with_files_is_one_kind_of_error(command, call, error):
    with pytest.raises(rldp.FileError) as raised:
        call()
    assert type(raised.value) is error


def test_in_python_data_that_can_be_read_but_not_used_are_no_trouble_with_files(command):
    with pytest.raises(rldp.DataError) as raised:
        rldp.Sample.from_data("nulls.csv", secret="sex", value="age")
    assert not isinstance(raised.value, rldp.FileError)
