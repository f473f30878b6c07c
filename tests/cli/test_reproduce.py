"""``rldp reproduce``: its options, what it prints, what it refuses."""

import csv
import json
import sys

import pytest

import rldp
from commands import one_line, python
from rldp.paper import Settings, reproduce

SMALL = ["--instances", "2", "--secrets", "2", "--values", "2", "--jobs", "1"]


@pytest.fixture
def command(rldp_command):
    return lambda *arguments: rldp_command("reproduce", *arguments)


@pytest.mark.slow
def test_a_figure_its_data_and_its_claims(command, tmp_path):
    code, out, err = command("scatter-small", *SMALL, "--out", "results")
    assert (code, err) == (0, "")
    assert "Claims of the paper" in out
    assert "scatter-small: 2 instances, 8 designs, 0 with ε* = ∞ left out." in out
    assert out.endswith("written to results\n")
    with (tmp_path / "results" / "claims.csv").open(newline="") as file:
        claims = list(csv.DictReader(file))
    assert len(claims) >= 6
    assert all(claim["verdict"] in out for claim in claims)
    assert {"scatter-small.png", "scatter-small.pdf", "scatter-small.csv", "data_fig1.csv"} <= {
        path.name for path in (tmp_path / "results").iterdir()
    }


def test_the_command_makes_what_the_library_makes(command, tmp_path):
    options = ["--set", "g", "--epsilon", "0.7", "--alpha", "0.1", "--seed", "5"]
    assert command("scatter-large", *SMALL, *options)[0] == 0
    settings = Settings(instances=2, secrets=2, values=2, lambda_=0.0, epsilon=0.7, alpha=0.1, seed=5)
    reproduce(["scatter-large"], tmp_path / "library", settings=settings)
    for path in (tmp_path / "library").rglob("*"):
        if path.is_file():
            other = tmp_path / "reproduction" / path.relative_to(tmp_path / "library")
            assert path.read_bytes() == other.read_bytes()


@pytest.mark.parametrize(("name", "order"), [("chi2", 1.0), ("g", 0.0), ("cr", 2 / 3)])
def test_the_sets_have_names(command, tmp_path, monkeypatch, name, order):
    from rldp.paper import Report

    def recorded(figures, out, *, settings, jobs, advance):
        advance(0, 1)
        (tmp_path / "settings.json").write_text(json.dumps([figures, settings.lambda_, jobs]))
        return Report(out, [], ["A note."])

    monkeypatch.setattr("rldp.paper.reproduce", recorded)
    code, out, err = command("alpha", "all", "--set", name, "--jobs", "3")
    assert (code, err) == (0, "")
    assert "A note.\n" in out
    assert json.loads((tmp_path / "settings.json").read_text()) == [["alpha", "all"], order, 3]


def test_a_comparison_that_cannot_be_made_is_one_sentence(command, monkeypatch):
    import importlib.util

    original = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *rest: None if name == "cvxpy" else original(name, *rest)
    )
    code, out, _ = command("scatter-small", *SMALL)
    assert code == 0
    assert (
        "The comparison with CVXPY and Clarabel is left out: cvxpy not installed; "
        "pip install 'robust-ldp[paper]' installs both."
    ) in " ".join(out.split())


@pytest.mark.parametrize("library", ["joblib", "matplotlib"])
def test_without_its_libraries_it_says_how_to_install_them(command, monkeypatch, tmp_path, library):
    monkeypatch.setitem(sys.modules, library, None)
    before = set(tmp_path.iterdir())
    code, out, err = command("scatter-small", *SMALL)
    assert (code, out) == (1, "")
    sentence = f"reproducing the paper needs {library}; pip install 'robust-ldp[paper]' installs it"
    assert one_line(err) == sentence
    assert set(tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["scatter"],
            "figures must be among scatter-small, scatter-large, leakage-vs-n, distortion-vs-n, alpha, "
            "promises or all, got 'scatter'",
        ),
        (["all", "Alpha"], "got 'Alpha'"),
        (["all", "--instances", "0"], "instances must be at least 1, got 0"),
        (["all", "--instances", "-3"], "instances must be at least 1, got -3"),
        (["all", "--instances", "1000001"], "instances must be at most 1000000, got 1000001"),
        (["all", "--jobs", "0"], "jobs must be at least 1, got 0"),
        (["all", "--epsilon", "0"], "epsilon must be greater than 0 and at most 100, got 0.0"),
        (["all", "--epsilon", "inf"], "epsilon must be finite, got inf"),
        (["all", "--alpha", "1"], "alpha must lie strictly between 0 and 1, got 1.0"),
        (["all", "--secrets", "1"], "secrets must be at least 2, got 1"),
        (["all", "--values", "1"], "values must be at least 2, got 1"),
        (["all", "--seed", "-1"], "seed must be at least 0, got -1"),
        (["all", "--out", "data.csv"], "out must be a folder that can be written, but 'data.csv' is not: "),
        (
            ["all", "--out", "data.csv/x"],
            "out must be a folder that can be written, but 'data.csv/x' is not: ",
        ),
        (["all", "--out", "."], "out must be a new or empty folder, or one that this command made, got '.'"),
        (
            ["all", "--out", "/proc/here"],
            "out must be a folder that can be written, but '/proc/here' is not: ",
        ),
        (["all", "--out", ""], "out must be a new or empty folder"),
    ],
)
def test_a_mistake_is_one_line_and_writes_nothing(command, tmp_path, arguments, message):
    if "/proc/here" in arguments and sys.platform != "linux":
        pytest.skip("needs a folder that nobody can write")
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    code, out, err = command(*arguments)
    assert (code, out) == (4 if "can be written" in message else 1, "")
    assert message in one_line(err)
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_results_of_other_options_are_left_alone(command, tmp_path):
    assert command("scatter-large", *SMALL, "--set", "g")[0] == 0
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    code, out, err = command("scatter-large", *SMALL)
    assert (code, out) == (1, "")
    assert one_line(err) == (
        "out must be a new folder or one made with the same options, got 'reproduction', "
        "made with lambda_ = 0.0 instead of 1.0"
    )
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize(
    "arguments", [[], ["all", "--set", "nominal"], ["all", "--instances", "many"], ["all", "--nonsense"]]
)
def test_wrong_usage_is_exit_code_two(command, arguments):
    code, out, err = command(*arguments)
    assert (code, out) == (2, "")
    assert err.startswith("Usage: ")


@pytest.mark.parametrize(
    ("figures", "error"),
    [("all", rldp.InvalidArgumentType), (3, rldp.InvalidArgumentType), ([], rldp.InvalidArgument)],
)
def test_the_library_wants_a_list_of_figures(tmp_path, figures, error):
    with pytest.raises(error, match=r"^figures must "):
        reproduce(figures, tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"instances": 2.5}, rldp.InvalidArgumentType),
        ({"instances": True}, rldp.InvalidArgumentType),
        ({"seed": "0"}, rldp.InvalidArgumentType),
        ({"lambda_": -1.0}, rldp.InvalidArgument),
        ({"epsilon": "much"}, rldp.InvalidArgumentType),
    ],
)
def test_settings_are_checked(options, error):
    with pytest.raises(error, match=" must be "):
        Settings(**options)


@pytest.mark.parametrize("jobs", [1.5, True, "2"])
def test_jobs_are_a_whole_number(tmp_path, jobs):
    with pytest.raises(rldp.InvalidArgumentType, match="jobs must be a whole number"):
        reproduce(["all"], tmp_path / "out", jobs=jobs)
    assert not (tmp_path / "out").exists()


def test_out_is_a_path(tmp_path):
    for out, error in ((3, rldp.InvalidArgumentType), ("a\0b", rldp.InvalidArgument)):
        with pytest.raises(error, match=r"^out must be "):
            reproduce(["all"], out)


@pytest.mark.slow
def test_neither_the_package_nor_the_other_commands_load_what_only_figures_need():
    found = python("""
        import sys
        import rldp.cli
        import rldp.reporter.terminal
        heavy = "matplotlib joblib threadpoolctl cvxpy rldp.paper".split()
        print(*(name for name in heavy if name in sys.modules))
    """)
    assert found == []


def test_someone_who_watches_sees_a_bar_with_the_remaining_time(monkeypatch):
    from io import StringIO

    from rich.console import Console

    from rldp.reporter import terminal

    screen = Console(file=StringIO(), force_terminal=True, width=80)
    monkeypatch.setattr(terminal, "console", lambda **_: screen)
    with terminal.bar("Designing") as advance:
        for done in (40, 60, 80, 100):
            advance(done, 100)
    shown = screen.file.getvalue()
    assert "Designing" in shown
    assert "100%" in shown
    assert "0:00:00" in shown
