"""The command: exit codes, one line for a mistake, never a traceback."""

import errno
import json
import os
import re
import subprocess
import sys
import warnings

import pytest
import typer.main

import rldp
from commands import one_line
from rldp import cli
from rldp.adviser import ladder, verdict

COMMANDS = sorted(typer.main.get_command(cli.app).commands)


DESIGN = [
    "design",
    "data.csv",
    "--secret",
    "sex",
    "--value",
    "age",
    "--epsilon",
    "0.5",
    "-o",
    "protocol.json",
]


@pytest.fixture
def dense(rldp_command, tmp_path):
    """The same table with five times the rows, so that no cell is rare."""
    rows = "f,1,ä\nm,2,b\n" * 3 + "f,2,b\nm,1,ä\nf,1,b\n"
    (tmp_path / "data.csv").write_text("sex,age,town\n" + rows * 5)


def changed(**options):
    """The arguments of a design with some of them replaced; None takes an option away."""
    arguments = dict(zip(DESIGN[2::2], DESIGN[3::2], strict=True))
    data = options.pop("data", "data.csv")
    for name, value in options.items():
        arguments["-o" if name == "output" else f"--{name}"] = value
    given = [(name, value) for name, value in arguments.items() if value is not None]
    return ["design", data, *(part for pair in given for part in pair)]


# Help and version


@pytest.mark.parametrize("command", [[], *([name] for name in COMMANDS)], ids=["rldp", *COMMANDS])
def test_every_command_explains_itself(rldp_command, command):
    code, out, err = rldp_command(*command, "--help")
    assert code == 0
    assert out.startswith("Usage: ")
    assert err == ""


def test_the_help_lists_every_command(rldp_command):
    _, out, _ = rldp_command("--help")
    assert {"design", "demo"} <= set(COMMANDS)
    assert all(f"\n  {name} " in out for name in COMMANDS)


def test_the_version_is_that_of_the_package(rldp_command):
    assert rldp_command("--version") == (0, f"rldp {rldp.__version__}\n", "")


# Success


@pytest.mark.usefixtures("dense")
def test_a_large_table_is_told_to_take_a_while(rldp_command, monkeypatch):
    monkeypatch.setattr(verdict, "MINUTES", 1)
    code, _, err = rldp_command(*DESIGN)
    assert code == 0
    wanted = (
        "2 secrets × 2 values may take minutes; "
        "a larger --gap, such as 1e-3, --max-seconds, or --bins for numbers takes less"
    )
    assert one_line(err) == wanted


def test_the_data_are_not_written_over(rldp_command, tmp_path):
    before = (tmp_path / "data.csv").read_text()
    code, _, err = rldp_command(*changed(output="data.csv"))
    assert code == 1
    assert one_line(err) == "output must be another file than the data, got 'data.csv'"
    assert (tmp_path / "data.csv").read_text() == before


@pytest.mark.usefixtures("dense")
def test_a_design_is_written_and_summed_up(rldp_command, tmp_path):
    code, out, err = rldp_command(*DESIGN)
    assert (code, err) == (0, "")
    assert "45 rows, 2 secrets × 2 values" in out
    assert out.endswith("written to protocol.json\n")
    protocol = rldp.load(tmp_path / "protocol.json")
    assert protocol.secrets == ("f", "m")
    assert protocol.values == protocol.outputs == (1, 2)
    assert protocol.guarantee.epsilon == 0.5
    assert protocol.guarantee.sample.counts.tolist() == [[20, 5], [5, 15]]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("chi2", rldp.ChiSquare(0.1)),
        ("g", rldp.GTest(0.1)),
        ("cr", rldp.CressieRead(0.1)),
        ("nominal", rldp.Nominal()),
    ],
)
def test_the_sets_have_names(rldp_command, name, expected):
    assert rldp_command(*changed(privacy=name, alpha="0.1"))[0] == 0
    assert rldp.load("protocol.json").guarantee.privacy == expected
    assert rldp_command(*changed(utility=name, alpha="0.1"))[0] == 0
    assert rldp.load("protocol.json").guarantee.utility == expected


@pytest.mark.parametrize(
    ("name", "value", "entry"), [("squared", "age", 1), ("absolute", "age", 1), ("hamming", "town", 1)]
)
def test_the_distortions_have_names(rldp_command, name, value, entry):
    assert rldp_command(*changed(distortion=name, value=value))[0] == 0
    assert rldp.load("protocol.json").guarantee.distortion.tolist() == [[0, entry], [entry, 0]]


def test_the_sample_may_lie_in_a_parquet_file(rldp_command, tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    pq.write_table(pa.table({"sex": ["f", "m"], "age": [1, 2]}), tmp_path / "data.parquet")
    assert rldp_command(*changed(data="data.parquet"))[0] == 0


def test_the_file_is_what_the_library_writes(rldp_command, tmp_path):
    rldp_command(*DESIGN)
    sample = rldp.Sample.from_data(tmp_path / "data.csv", secret="sex", value="age")
    rldp.design(sample, 0.5).protocol.save(tmp_path / "expected.json")
    assert (tmp_path / "protocol.json").read_bytes() == (tmp_path / "expected.json").read_bytes()


@pytest.mark.parametrize("name", ["größe.json", "with space.json", "[bold].json", "a[x].json", ":smile:"])
def test_the_name_of_the_file_is_shown_as_it_is(rldp_command, tmp_path, name):
    code, out, _ = rldp_command(*changed(output=name))
    assert code == 0
    assert out.endswith(f"written to {name}\n")
    assert (tmp_path / name).is_file()


def test_an_odd_name_is_no_markup(rldp_command, tmp_path):
    (tmp_path / "a[").mkdir()
    assert rldp_command(*changed(output="a[/].json"))[0] == 0


def test_no_level_at_all_is_refused(rldp_command, tmp_path):
    code, _, err = rldp_command(*changed(epsilon="inf"))
    assert (code, one_line(err)) == (
        1,
        "--epsilon must be finite, got inf: a design without a level would protect nobody",
    )
    assert not (tmp_path / "protocol.json").exists()


def test_a_secret_with_one_label_is_told(rldp_command, tmp_path):
    (tmp_path / "data.csv").write_text("sex,age\n" + "f,1\nf,2\n" * 20)
    code, _, err = rldp_command(*DESIGN)
    assert code == 0
    assert one_line(err).startswith("warning: the secret has a single label, so there is nothing to protect")


@pytest.mark.usefixtures("dense")
def test_the_ladder_shows_pairs(rldp_command):
    _, out, _ = rldp_command(*DESIGN)
    assert "pairs      a set for each pair of secrets" in out


@pytest.mark.parametrize("command", ["frontier", "compare", "plan"])
def test_a_fine_table_is_told_before_the_work(rldp_command, tmp_path, monkeypatch, command):
    rows = "".join(f"{'fm'[i % 2]},{i}\n" for i in range(40))
    (tmp_path / "data.csv").write_text(f"sex,age\n{rows}")

    def stopped(*_, **__):
        raise rldp.InvalidArgument("the work begins")

    monkeypatch.setattr(rldp, command, stopped)
    level = [] if command == "frontier" else ["--epsilon", "0.5"]
    _, _, err = rldp_command(command, "data.csv", "--secret", "sex", "--value", "age", *level)
    first, second = err.splitlines()
    assert first.startswith("rldp: warning: 40 values are many for 40 rows: --bins 8, or another number, is")
    assert second == "rldp: the work begins"


def test_a_warning_is_one_line(rldp_command, tmp_path):
    def warned(*_, **options):
        warnings.warn("two\nlines", rldp.GapWarning, stacklevel=2)
        return made

    made = rldp.design(rldp.Sample([[1, 2], [2, 1]]), 1.0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rldp, "design", warned)
        code, _, err = rldp_command(*DESIGN)
    assert code == 0
    assert one_line(err) == "warning: two lines"
    assert (tmp_path / "protocol.json").is_file()


# Mistakes


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"data": "none.csv"}, "data must be a file that exists, got 'none.csv'"),
        ({"data": "."}, "data must be a CSV or Parquet file, got the folder '.' without any Parquet files"),
        ({"data": "empty.csv"}, "empty.csv must hold a table, got an empty file"),
        (
            {"data": "nulls.csv"},
            "column 'age' of nulls.csv must hold no nulls, but row 2 has no value; "
            "1 of 2 rows cannot be counted; in 1 an entry is missing: --missing skip leaves such rows out, "
            "--missing category gives them a label of their own",
        ),
        ({"data": "bad\nname.csv"}, "bad name.csv must hold a table, got an empty file"),
        ({"secret": "gender"}, "data.csv has no column 'gender'; it has 'sex', 'age', 'town'"),
        ({"value": "Age"}, "data.csv has no column 'Age'; it has 'sex', 'age', 'town'"),
        ({"value": "sex"}, "secret and value must be different columns, got 'sex' more than once"),
        (
            {"value": "town"},
            "distortion 'squared' needs values that are numbers, got text; "
            "use 'hamming', a function d(u, y) or a matrix instead",
        ),
        (
            {"distortion": "cubed"},
            "--distortion must be squared, absolute, hamming or a file that exists, got 'cubed'",
        ),
        ({"epsilon": "-1"}, "epsilon must be at least 0, got -1.0"),
        ({"epsilon": "nan"}, "epsilon must be a number, got NaN"),
        ({"alpha": "0"}, "alpha must lie strictly between 0 and 1, got 0.0"),
        ({"alpha": "5"}, "alpha must lie strictly between 0 and 1, got 5.0"),
        ({"gap": "0"}, "gap must be greater than 0, got 0.0"),
        ({"output": "no/protocol.json"}, "--output must lie in a folder that exists, got 'no/protocol.json'"),
        ({"output": "data.csv/x"}, "--output must lie in a folder that exists, got 'data.csv/x'"),
        ({"output": "."}, "--output must be a file, got the folder '.'"),
    ],
)
def test_a_mistake_is_one_line_and_writes_nothing(rldp_command, tmp_path, options, message):
    for name in ("empty.csv", "bad\nname.csv"):
        (tmp_path / name).write_text("")
    (tmp_path / "nulls.csv").write_text("sex,age\nf,1\nm,\n")
    before = sorted(tmp_path.iterdir())
    code, out, err = rldp_command(*changed(**options))
    assert code == (4 if re.search("must be a file that exists|folder|an empty file", message) else 1)
    assert out == ""
    assert one_line(err) == message
    assert sorted(tmp_path.iterdir()) == before


def test_a_name_too_long_to_write_is_a_mistake(rldp_command):
    code, _, err = rldp_command(*changed(output="x" * 300))
    assert code == 4
    assert "File name too long" in one_line(err)


def test_the_folder_of_the_output_is_checked_before_the_data(rldp_command):
    _, _, err = rldp_command(*changed(data="none.csv", output="no/protocol.json"))
    assert one_line(err).startswith("--output must lie in a folder")


@pytest.mark.usefixtures("dense")
def test_a_full_disk_is_one_line_and_leaves_nothing(rldp_command, tmp_path, monkeypatch):
    def fails(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", fails)
    code, _, err = rldp_command(*DESIGN)
    assert code == 4
    assert one_line(err) == "path must be writable, but 'protocol.json' is not: No space left on device"
    assert [path.name for path in tmp_path.iterdir()] == ["data.csv"]


def test_a_mistake_leaves_an_older_protocol_alone(rldp_command, tmp_path):
    rldp_command(*DESIGN)
    before = (tmp_path / "protocol.json").read_bytes()
    assert rldp_command(*changed(epsilon="-1"))[0] == 1
    assert (tmp_path / "protocol.json").read_bytes() == before


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["nonsense"],
        ["--nonsense"],
        ["design"],
        ["design", "data.csv"],
        changed(secret=None),
        changed(value=None),
        changed(epsilon=None),
        changed(output=None),
        changed(epsilon="much"),
        changed(alpha="five"),
        changed(privacy="euclid"),
        changed(utility="Chi2"),
        [*DESIGN, "more"],
        [*DESIGN, "--nonsense"],
        ["demo", "--rows", "1.5"],
        ["demo", "more"],
    ],
)
def test_wrong_usage_is_exit_code_two(rldp_command, arguments):
    code, out, err = rldp_command(*arguments)
    assert code == 2
    assert out == ""
    assert err.startswith("Usage: ")
    assert "Traceback" not in err


def test_an_interruption_is_exit_code_130(rldp_command, tmp_path, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(rldp, "design", interrupted)
    code, out, err = rldp_command(*DESIGN)
    assert code == 130
    assert out == ""
    assert one_line(err) == "interrupted"
    assert not (tmp_path / "protocol.json").exists()


# Other promises


@pytest.mark.usefixtures("dense")
def test_a_design_ends_when_its_time_is_over(rldp_command, tmp_path):
    code, out, err = rldp_command(*DESIGN, "--max-seconds", "1e-6", "--no-others")
    assert code == 0
    assert "time limit" in out
    assert "proved optimal only to a gap" in err
    assert rldp.verify(tmp_path / "protocol.json").ok


@pytest.mark.usefixtures("dense")
def test_a_design_shows_what_other_promises_would_cost_and_names_the_cheapest(rldp_command, tmp_path):
    code, out, err = rldp_command(*DESIGN, "--others")
    assert (code, err) == (0, "")
    words = " ".join(out.split())
    rows = ("all every", "pairs a set", "▸ chi2 a set", "credible all", "nominal the")
    places = [words.index(row) for row in rows]
    assert places == sorted(places)
    assert re.search(
        r"--privacy credible promises 0\.\d+ instead of 0\.\d+\. It is a different promise", words
    )
    assert isinstance(rldp.load(tmp_path / "protocol.json").guarantee.privacy, rldp.PowerDivergence)


@pytest.mark.usefixtures("dense")
def test_other_promises_are_not_tried_if_nobody_wants_them_or_the_design_took_long(rldp_command, monkeypatch):
    assert "different promise" not in rldp_command(*DESIGN, "--no-others")[1]
    monkeypatch.setattr(ladder, "QUICK", 0.0)
    assert "different promise" not in rldp_command(*DESIGN)[1]


@pytest.mark.usefixtures("dense")
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("pairs", rldp.Pairs(0.1)),
        ("all", rldp.AllDistributions()),
        ("credible", rldp.Credible(0.1, prior=2.0)),
    ],
)
def test_every_promise_can_be_designed_written_and_verified(rldp_command, tmp_path, name, expected):
    code, out, _ = rldp_command(*DESIGN, "--privacy", name, "--alpha", "0.1", "--prior", "2", "--no-others")
    assert code == 0
    found = rldp.load(tmp_path / "protocol.json").guarantee.privacy
    assert type(found) is type(expected)
    assert getattr(found, "alpha", None) == getattr(expected, "alpha", None)
    assert getattr(found, "prior", None) == getattr(expected, "prior", None)
    code, out, _ = rldp_command("verify", "protocol.json")
    assert code == 0
    assert "Not promised:" in out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--privacy", "credible", "--prior", "0"], "prior must be greater than 0, got 0.0"),
        (["--privacy", "credible", "--alpha", "1"], "alpha must lie strictly between 0 and 1, got 1.0"),
        (["--privacy", "pairs", "--alpha", "0"], "alpha must lie strictly between 0 and 1, got 0.0"),
    ],
)
def test_a_promise_that_makes_no_sense_is_refused_in_a_line(rldp_command, options, message):
    code, _, err = rldp_command(*DESIGN, *options)
    assert code == 1
    assert one_line(err) == message


# The demonstration


def test_the_demonstration_shows_the_four_problems_and_the_next_step(rldp_command, tmp_path):
    code, out, err = rldp_command("demo")
    assert (code, err) == (0, "")
    assert all(f"│ {problem}" in out for problem in ("NUNP", "RUNP", "NURP", "RURP"))
    assert "2000 rows" in out
    assert "The RURP protocol:" in out
    places = [out.index(text) for text in ("the raw column", "what is promised", "credible", "NUNP")]
    assert places == sorted(places)
    assert len(out[: out.index("Distortion at the same")].splitlines()) <= 13
    assert all(f"   {name} " in out for name in ("all", "pairs", "chi2", "credible", "nominal"))
    words = " ".join(out.split())
    assert words.index("So RURP is robust in both and NUNP in neither.") < words.index("│ NUNP")
    assert "  rldp design DATA.csv --secret COLUMN --value COLUMN --epsilon 0.5 -o protocol.json\n" in out
    assert [path.name for path in tmp_path.iterdir()] == ["data.csv"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--rows", "9"], "--rows must lie between 10 and 1000000000, got 9"),
        (["--rows", "-5"], "--rows must lie between 10 and 1000000000, got -5"),
        (["--epsilon", "inf"], "--epsilon must be finite, got inf: such a protocol would promise nothing"),
        (["--epsilon", "-1"], "epsilon must be at least 0, got -1.0"),
    ],
)
def test_the_demonstration_refuses_what_makes_no_sense(rldp_command, arguments, message):
    code, _, err = rldp_command("demo", *arguments)
    assert code == 1
    assert one_line(err) == message


# As a process


def process(*arguments, **environment):
    return subprocess.run(
        [sys.executable, "-m", "rldp", *arguments],
        capture_output=True,
        env={**os.environ, **environment},
        timeout=300,
    )


@pytest.mark.slow
def test_the_package_is_the_command():
    done = process("--version")
    assert (done.returncode, done.stdout.split(), done.stderr) == (
        0,
        [b"rldp", rldp.__version__.encode()],
        b"",
    )


@pytest.mark.slow
def test_a_mistake_is_one_line_for_the_shell_too(tmp_path):
    done = process(*changed(data=str(tmp_path / "none.csv"), output=str(tmp_path / "protocol.json")))
    assert (done.returncode, done.stdout) == (4, b"")
    assert one_line(done.stderr.decode()).startswith("data must be a file that exists, got ")


@pytest.mark.slow
def test_a_terminal_without_greek_letters_gets_question_marks(tmp_path):
    (tmp_path / "data.csv").write_text("sex,age\n" + "f,1\nm,2\nf,2\nm,1\n" * 5)
    paths = {"data": str(tmp_path / "data.csv"), "output": str(tmp_path / "protocol.json")}
    done = process(*changed(**paths), PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"? = 0.5" in done.stdout


def test_a_sparse_table_is_told_in_one_line(rldp_command):
    code, _, err = rldp_command(*changed(epsilon="3"))
    assert code == 0
    assert one_line(err).startswith("warning: the table is sparse: 4 of 4 cells were seen fewer than 5 times")
    assert "--privacy pairs" in err


@pytest.mark.slow
def test_a_sparse_demonstration_says_so_once(rldp_command):
    code, _, err = rldp_command("demo", "--rows", "300")
    assert code == 0
    assert one_line(err).startswith("warning: the table is sparse: 18 of 32 cells")


def test_the_help_says_that_alpha_holds_for_large_samples(rldp_command):
    _, out, _ = rldp_command("design", "--help")
    assert "for chi2, cr and g, the approximate share of large samples" in " ".join(out.split())


@pytest.mark.usefixtures("dense")
def test_a_protocol_that_is_no_better_than_a_constant_is_told(rldp_command):
    code, out, err = rldp_command(*changed(epsilon="0.001"))
    assert code == 0
    assert one_line(err).startswith("warning: this protocol is hardly better than an output that ignores")
    assert "method" in out


def test_a_useful_protocol_brings_no_warning(rldp_command):
    code, out, err = rldp_command(*changed(epsilon="3"), "--privacy", "nominal", "--utility", "nominal")
    assert (code, err) == (0, "")
    assert "optimal to the requested gap" in " ".join(out.split())


# Is it any good?


@pytest.fixture
def rare(rldp_command, tmp_path, monkeypatch):
    """A table with one secret of a single row."""
    monkeypatch.setattr(verdict, "QUICK", 3600.0)  # machines may be slow
    (tmp_path / "data.csv").write_text("sex,age\n" + "f,1\nm,2\n" * 150 + "f,2\nm,1\n" * 100 + "x,1\n")


@pytest.mark.usefixtures("rare")
@pytest.mark.parametrize("columns", [80, 100])
def test_a_design_ends_with_a_verdict_in_words(rldp_command, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    code, out, _ = rldp_command(*DESIGN)
    assert code == 0
    assert max(map(len, out.splitlines())) <= columns
    end = " ".join(out[out.index("Is it any good?") :].split())
    assert "no privacy at all has 0." in end
    assert "A rare secret drives the cost: without 'x' (1 row of 501) the distortion would be" in end
    assert re.search(r"About \d+ % of the rows are expected to change", end)
    assert "2 of 2 outputs are used." in end
    assert end.endswith("written to protocol.json")


def test_one_secret_alone_is_told_to_need_no_protection(rldp_command, tmp_path):
    (tmp_path / "data.csv").write_text("sex,age\n" + "f,1\nf,2\n" * 20)
    assert "There is only one secret, so there is nothing to protect." in rldp_command(*DESIGN)[1]


def test_a_sparse_table_is_not_called_tiny_as_well(rldp_command):
    code, out, err = rldp_command(*DESIGN)
    assert (code, "tiny" in out, "sparse" in err) == (0, False, True)
    nominal = [*DESIGN, "--privacy", "nominal", "--utility", "nominal"]
    code, out, err = rldp_command(*nominal)
    assert (code, "The sample is tiny: 9 rows for 4 cells" in out, "sparse" in err) == (0, True, False)


@pytest.mark.usefixtures("rare")
def test_a_design_for_machines_has_the_same_facts(rldp_command, tmp_path):
    code, out, _ = rldp_command(*DESIGN, "--json", "--others")
    found = json.loads(out)
    assert code == 0
    claim = rldp.load(tmp_path / "protocol.json").guarantee
    assert (found["protocol"], found["epsilon"], found["promise"]) == ("protocol.json", 0.5, claim.promise)
    assert (found["objective"], found["lower_bound"]) == (claim.objective, claim.lower_bound)
    assert found["verdict"]["without"]["secrets"] == ["x"]
    assert found["verdict"]["sentences"][-1].startswith("A rare secret drives the cost")
    assert [other["privacy"] for other in found["others"]] == ["all", "pairs", "credible", "nominal"]
    assert len(found["warnings"]) == 1
    assert found["warnings"][0].startswith("the table is sparse")
    quiet = json.loads(rldp_command("--quiet", *DESIGN, "--json", "--no-others")[1])
    assert (quiet["verdict"], quiet["others"]) == (found["verdict"], [])
