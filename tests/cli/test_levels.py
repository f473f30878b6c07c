"""``--epsilon COL=E`` and ``--epsilon-between``: what is written, what is said, and what is refused."""

import json
from itertools import product
from pathlib import Path

import pytest

import rldp
from commands import run_command

INF = float("inf")


@pytest.fixture
def rldp_command(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rows = [f"{s},{h},{(i * 7 + len(h)) % 3}\n" for s, h in product("fm", ("no", "yes")) for i in range(40)]
    (tmp_path / "people.csv").write_text("sex,hiv,age\n" + "".join(rows))
    return lambda *words: run_command(monkeypatch, capsys, *words)


DATA = ["people.csv", "--value", "age", "--privacy", "chi2", "--utility", "nominal", "--no-others"]
BOTH = ["design", *DATA, "--secret", "sex", "--secret", "hiv", "-o", "p.json"]


def claimed():
    return rldp.load("p.json").guarantee


def test_columns_have_levels_of_their_own_and_the_words_name_the_reader(rldp_command):
    code, output, _ = rldp_command(*BOTH, "--epsilon", "sex=0.5", "--epsilon", "hiv=0.1")
    assert code == 0
    told = " ".join(output.split())
    assert "ε = 0.1 protects 'hiv' against readers who know 'sex', and against all readers where" in told
    assert "the level is 0.1 + log(1 + TV · (e^0.5 − 1))" in told
    levels = claimed().levels
    assert levels[0].tolist() == [0.0, 0.1, 0.5, 0.6]
    for words in (["show", "p.json"], ["verify", "p.json"]):
        code, output, _ = rldp_command(*words)
        assert code == 0
        assert "protects 'hiv' against readers who know 'sex'" in " ".join(output.split())


def test_a_pair_has_another_level_both_ways_and_labels_may_hold_commas(rldp_command):
    rldp_command(*BOTH, "--epsilon", "0.2", "--epsilon-between", "f, no,m, yes=inf")
    levels = claimed().levels
    assert levels[0].tolist() == [0.0, 0.2, 0.2, INF]
    assert levels[3].tolist() == [INF, 0.2, 0.2, 0.0]
    told = " ".join(rldp_command("verify", "p.json")[1].split())
    assert "ε('f, no', 'm, yes') is at most 0.4, through 'f, yes'" in told
    assert "with ε = ∞: 'f, no' against 'm, yes', 'm, yes' against 'f, no'." in told


def test_a_column_without_protection_is_named(rldp_command):
    code, _, _ = rldp_command(*BOTH, "--epsilon", "sex=0.5", "--epsilon", "hiv=inf")
    assert code == 0
    assert "Protection of 'hiv': ε = ∞ was asked for." in rldp_command("verify", "p.json")[1]


def test_json_holds_the_table(rldp_command):
    _, output, _ = rldp_command(*BOTH, "--epsilon", "0.2", "--epsilon-between", "f, no,f, yes=inf", "--json")
    for found in (
        json.loads(output),
        *(json.loads(rldp_command(w, "p.json", "--json")[1]) for w in ("show", "verify")),
    ):
        assert found["levels"][0] == [0.0, "infinity", 0.2, 0.2]
        assert found["epsilon"] == "infinity"


def test_one_level_is_one_level(rldp_command):
    rldp_command(*BOTH, "--epsilon", "0.2")
    plain = claimed()
    rldp_command(*BOTH, "--epsilon", "0.2", "--epsilon-between", "f, no,f, yes=0.2")
    assert claimed() == plain
    rldp_command("design", *DATA, "--secret", "sex", "--epsilon", "sex=0.2", "-o", "p.json")
    assert (claimed().epsilon, claimed().levels) == (0.2, None)


def test_rows_leave_only_if_the_largest_level_is_allowed(rldp_command):
    rldp_command(*BOTH, "--epsilon", "0.2", "--epsilon-between", "f, no,f, yes=inf")
    code, _, errors = rldp_command("release", "p.json", "people.csv", "-o", "out.csv")
    assert code == 3
    assert "must prove a privacy level of at most 10.0, but it proves ε from 0.2 to ∞" in errors
    assert not Path("out.csv").exists()
    assert rldp_command("release", "p.json", "people.csv", "-o", "out.csv", "--max-epsilon", "inf")[0] == 0
    rldp_command(*BOTH, "--epsilon", "sex=0.5", "--epsilon", "hiv=0.1")
    for most, code in (("0.59", 3), ("0.6", 0)):
        words = ["release", "p.json", "people.csv", "-o", f"{most}.csv", "--max-epsilon", most]
        assert rldp_command(*words)[0] == code


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (["--epsilon", "sex=0.5"], 1, "a level for each secret column ('sex', 'hiv'), got 'sex'"),
        (["--epsilon", "sex=0.5", "--epsilon", "sex=1"], 1, "must name every column once, got 'sex' twice"),
        (["--epsilon", "0.5", "--epsilon", "hiv=1"], 2, "given once, or as COL=E for several, got '0.5'"),
        (["--epsilon", "much"], 2, "'much' is not a valid float."),
        (["--epsilon", "sex=much", "--epsilon", "hiv=1"], 2, "'much' is not a valid float."),
        (["--epsilon", "-1"], 1, "epsilon must be at least 0, got -1.0"),
        (["--epsilon", "1", "--epsilon-between", "f, no,f, yes=nan"], 1, "must be a number, got NaN"),
        (["--epsilon", "inf"], 1, "--epsilon must be finite, got inf"),
        (["--epsilon", "sex=inf", "--epsilon", "hiv=inf"], 1, "finite for some column, got inf for all"),
        (["--epsilon", "0.5", "--epsilon-between", "f,m=2"], 1, "two different secrets, got other names"),
        (["--epsilon", "0.5", "--epsilon-between", "2"], 2, "must be A,B=E"),
        (["--epsilon-between", "f, no,f, yes=2"], 2, "must be given, or --max-distortion"),
        (["--epsilon", "sex=0.5", "--epsilon", "hiv=1", "--bins", "auto"], 1, "auto needs one ε"),
    ],
)  # fmt: skip
def test_what_cannot_be_meant_is_refused_in_a_line(words, code, sentence, rldp_command):
    found, _, errors = rldp_command(*BOTH, *words)
    assert found == code
    assert sentence in " ".join(errors.split())
    assert not Path("p.json").exists()


def test_an_audit_holds_every_pair_to_its_own_level(rldp_command):
    rldp_command(*BOTH, "--epsilon", "sex=0.5", "--epsilon", "hiv=0.1")
    words = [
        "audit",
        "p.json",
        "people.csv",
        "--secret",
        "sex",
        "--secret",
        "hiv",
        "--value",
        "age",
        "--json",
    ]
    code, output, _ = rldp_command(*words)
    found = json.loads(output)
    assert code == 0
    assert found["private"]
    assert -0.1 <= found["excess"] <= 0
    assert (found["epsilon"], found["least_level"]) == (0.6, 0.1)
