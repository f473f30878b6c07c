"""Frontier, comparison, plan and the smallest ε: what people decide by, on the command line."""

import csv
import json

import pytest

import rldp
from commands import one_line
from rldp.cli.decisions import levels_of, sizes_of

COLUMNS = ("--secret", "sex", "--value", "age")
QUICK = {
    "frontier": ("--epsilons", "0.5,1", "--privacy", "chi2", "--privacy", "nominal"),
    "compare": ("--epsilon", "1", "--privacy", "nominal"),
    "plan": ("--epsilon", "1", "--sizes", "50,500", "--draws", "10", "--privacy", "nominal"),
}

each_command = pytest.mark.parametrize("command", QUICK)


@pytest.fixture
def run(rldp_command, tmp_path):
    (tmp_path / "data.csv").write_text("sex,age\n" + "f,1\nm,2\n" * 30 + "f,2\nm,1\nf,1\n" * 10)
    return lambda command, *more: rldp_command(command, "data.csv", *COLUMNS, *QUICK[command], *more)


@each_command
def test_every_decision_is_told_in_words(run, command):
    code, out, err = run(command)
    assert (code, err) == (0, "")
    assert {"frontier": "Promised distortion", "compare": "Protocols at ε = 1", "plan": "predictions"}[
        command
    ] in out


@each_command
def test_every_decision_fits_a_terminal_of_eighty_letters(run, monkeypatch, command):
    monkeypatch.setenv("COLUMNS", "80")
    _, out, _ = run(command)
    assert max(map(len, out.splitlines())) <= 80
    assert "…" not in out


@each_command
def test_every_number_can_be_had_as_a_table(run, tmp_path, command):
    code, _, _ = run(command, "--table", "table.csv")
    rows = list(csv.reader((tmp_path / "table.csv").read_text().splitlines()))
    assert code == 0
    assert len(rows) == {"frontier": 5, "compare": 10, "plan": 4}[command]


@pytest.mark.slow
@pytest.mark.parametrize("command", ["frontier", "plan"])
def test_a_picture_is_written(run, tmp_path, command):
    code, _, _ = run(command, "--plot", "picture.svg")
    assert code == 0
    assert "<svg" in (tmp_path / "picture.svg").read_text()


@each_command
def test_what_cannot_be_written_is_refused_before_the_work(run, tmp_path, command):
    code, _, err = run(command, "--table", "nowhere/table.csv")
    assert code == 4
    assert one_line(err) == "--table must lie in a folder that exists, got 'nowhere/table.csv'"
    if command != "compare":
        code, _, err = run(command, "--plot", "picture.bmp")
        assert code == 1
        assert one_line(err).startswith("--plot must end in one of .png")
        assert not list(tmp_path.glob("picture*"))


@each_command
def test_what_is_read_is_not_written_over(run, tmp_path, command):
    before = (tmp_path / "data.csv").read_text()
    code, _, err = run(command, "--table", "data.csv")
    assert code == 1
    assert one_line(err) == "--table must be another file than what is read, got 'data.csv'"
    assert (tmp_path / "data.csv").read_text() == before


def test_a_protocol_that_is_compared_with_is_not_written_over(run, tmp_path):
    (tmp_path / "own.json").write_text("mine")
    code, _, err = run("compare", "--protocol", "mine=own.json", "--table", "own.json")
    assert code == 1
    assert one_line(err).startswith("--table must be another file than what is read")
    assert (tmp_path / "own.json").read_text() == "mine"


def test_a_protocol_file_stands_in_a_comparison(run, tmp_path):
    protocol = rldp.Protocol([[[0.5, 0.5]] * 2] * 2, ["f", "m"], [1, 2], [1, 2])
    protocol.save(tmp_path / "own.json")
    code, out, _ = run("compare", "--protocol", "mine=own.json", "--json")
    assert code == 0
    assert json.loads(out)["comparison"]["name"][-1] == "mine"
    code, _, err = run("compare", "--protocol", "own.json")
    assert code == 1
    assert one_line(err) == "--protocol must be NAME=FILE, each name once, got 'own.json'"


def test_a_plan_says_how_many_rows_are_needed(run):
    _, out, _ = run("plan", "--max-distortion", "10")
    assert "Half of the samples promise 10 or less from no more than 50 rows on." in " ".join(out.split())
    _, out, _ = run("plan", "--max-distortion", "0")
    words = " ".join(out.split())
    assert "No sample is likely to promise 0" in words or "rows are not enough to promise 0" in words


@pytest.mark.parametrize(
    ("command", "options", "message"),
    [
        ("frontier", ("--epsilons", ""), "epsilons must hold at least one level, got none"),
        ("frontier", ("--epsilons", "-1"), "epsilons must be at least 0, got -1.0"),
        ("frontier", ("--epsilons", "a,b"), "--epsilons must be comma-separated numbers, got 'a'"),
        ("frontier", ("--epsilons", "2:1:5"), "--epsilons must be a list such as 0.5,1,2 or LOW:HIGH:COUNT"),
        ("frontier", ("--bins", "auto"), "--bins must be a number here, since auto needs one ε, got auto"),
        ("plan", ("--sizes", "0"), "sizes must be at least 1, got 0"),
        ("plan", ("--sizes", "-3"), "sizes must be at least 1, got -3"),
        ("plan", ("--sizes", "2.5"), "--sizes must be whole numbers, got '2.5'"),
        ("plan", ("--sizes", ""), "sizes must hold at least one number of rows, got none"),
        ("compare", ("--epsilon", "-1"), "epsilon must be at least 0, got -1.0"),
        ("compare", ("--utility", "credible"), "utility must be a set that is the same for every protocol"),
    ],
)
def test_bad_input_gets_one_sentence(rldp_command, command, options, message):
    defaults = dict(zip(QUICK[command][::2], QUICK[command][1::2], strict=True))
    given = {**defaults, **dict(zip(options[::2], options[1::2], strict=True))}
    words = [part for pair in given.items() for part in pair]
    code, _, err = rldp_command(command, "data.csv", *COLUMNS, *words)
    assert code == 1
    assert one_line(err).startswith(message)


@each_command
def test_an_unknown_promise_is_wrong_usage(rldp_command, command):
    epsilon = () if command == "frontier" else ("--epsilon", "1")
    code, _, err = rldp_command(command, "data.csv", *COLUMNS, *epsilon, "--privacy", "best")
    assert code == 2
    assert "'best'" in err


def test_levels_are_listed_or_spread():
    assert levels_of("0.5, 1,2") == [0.5, 1.0, 2.0]
    assert levels_of("0.1:10:3") == pytest.approx([0.1, 1.0, 10.0])


def test_sizes_follow_the_present_rows_unless_given():
    assert sizes_of(None, 1000) == [250, 500, 1000, 2000, 4000, 8000, 16000]
    assert sizes_of(None, 1) == [1, 2, 4, 8, 16]
    assert sizes_of("1e3,20", 5) == [1000, 20]


# design --max-distortion


def design(rldp_command, *options):
    return rldp_command("design", "data.csv", *COLUMNS, "-o", "protocol.json", "--no-others", *options)


def test_a_design_finds_the_smallest_level_itself(rldp_command, tmp_path):
    code, _, err = design(
        rldp_command, "--max-distortion", "0.2", "--privacy", "nominal", "--utility", "nominal"
    )
    assert code == 0
    assert "promises a distortion of at most 0.2; at ε = " in err
    claim = rldp.load(tmp_path / "protocol.json").guarantee
    assert claim.objective <= 0.2


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (
            ("--max-distortion", "0.2", "--epsilon", "1"),
            1,
            "--epsilon must be left out where --max-distortion is given, got both",
        ),
        (
            ("--max-distortion", "0.2", "--windows"),
            1,
            "--windows must be left out where --max-distortion is given, got both",
        ),
        (("--max-distortion", "-1"), 1, "distortion must be at least 0, got -1.0"),
        (
            ("--max-distortion", "0.2", "--bins", "auto"),
            1,
            "--bins must be a number here, since auto needs one ε, got auto",
        ),
    ],
)
def test_bad_goals_are_refused(rldp_command, tmp_path, options, code, message):
    assert design(rldp_command, *options)[0] == code
    assert one_line(design(rldp_command, *options)[2]) == message
    assert not (tmp_path / "protocol.json").exists()


def test_a_design_needs_a_goal(rldp_command):
    code, _, err = design(rldp_command)
    assert code == 2
    assert "--max-distortion" in err
