"""Help in panels with examples, completion, and options that stand in the environment or a project file."""

import json
import os
import shlex
import subprocess
import sys

import pytest
import typer.main

from commands import one_line
from rldp import cli
from rldp.cli.commands import COMMANDS as TASKS, OLD_NAMES, PANELS, SampleCommand

COMMANDS = typer.main.get_command(cli.app).commands
DESIGN = ["design", "data.csv", "-o", "protocol.json"]
COLUMNS = 'secret = "sex"\nvalue = "age"\n'


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a table, which is the current one; no variables of the environment are about rldp."""
    (tmp_path / "data.csv").write_text("sex,age\n" + "f,1\nm,2\n" * 30 + "f,2\nm,1\n" * 20)
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith("RLDP_")]:
        monkeypatch.delenv(name)
    return tmp_path


def claimed(folder):
    return json.loads((folder / "protocol.json").read_text())["guarantee"]


# Help


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_has_a_panel(name):
    listed = {option for names in PANELS.values() for option in names}
    options = [p for p in COMMANDS[name].params if p.param_type_name == "option"]
    assert {
        max(p.opts, key=len).removeprefix("--") for p in options if not set(p.opts) & set(OLD_NAMES)
    } <= listed


@pytest.mark.parametrize("name", COMMANDS)
def test_every_help_ends_with_an_example_whose_options_there_are(rldp_command, name):
    _, out, _ = rldp_command(name, "--help")
    line = out.rstrip().rpartition("\nExample:\n")[2]
    program, command, *rest = shlex.split(line)
    assert (program, command) == ("rldp", name)
    known = {option for p in COMMANDS[name].params for option in p.opts}
    assert {word for word in rest if word.startswith("-")} <= known


def test_the_help_has_every_command_by_task_with_its_whole_first_sentence(rldp_command):
    assert {name for names in TASKS.values() for name in names} == set(COMMANDS)
    _, out, _ = rldp_command("--help")
    shown = " ".join(out.split())
    assert "..." not in shown.partition("Design:")[2]
    for name, command in COMMANDS.items():
        first = " ".join(command.help.split("\n\n")[0].split())
        assert f" {name} {first}" in shown


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_shows_no_old_names_and_no_types_of_python(rldp_command, name):
    _, out, _ = rldp_command(name, "--help")
    assert not any(f"{old} " in out for old in OLD_NAMES)
    assert "<" not in out


@pytest.mark.usefixtures("folder")
def test_old_names_work_still(rldp_command):
    asked = ["--secret", "sex", "--value", "age", "--at-most", "0.24"]
    assert rldp_command(*DESIGN, *asked, "--quiet") == (0, "", "")


def test_old_names_warn_and_a_level_of_the_project_file_gives_way(rldp_command, folder):
    (folder / "rldp.toml").write_text(COLUMNS + "epsilon = 0.5\n")
    code, _, err = rldp_command(*DESIGN, "--at-most=0.24")
    assert code == 0
    assert "rldp: --at-most is deprecated and will go with the next version; use --max-distortion\n" in err
    assert "deprecated" not in rldp_command(*DESIGN, "--max-distortion", "0.24")[2]
    assert rldp_command(*DESIGN, "--max-distortion", "0.24", "--epsilon", "1")[0] == 1


def test_words_are_completed(folder):
    environment = {
        **os.environ,
        "_RLDP_COMPLETE": "complete_bash",
        "COMP_WORDS": "rldp fron",
        "COMP_CWORD": "1",
    }
    code = "import sys; sys.argv = ['rldp']; from rldp.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert done.stdout.split() == ["frontier"]


# Options elsewhere


def test_options_may_stand_in_a_project_file(rldp_command, folder):
    (folder / "rldp.toml").write_text(COLUMNS + 'epsilon = 0.5\nprivacy = "nominal"\n')
    code, _, err = rldp_command(*DESIGN)
    assert code == 0
    assert one_line(err) == "rldp.toml sets --secret, --value, --privacy, --epsilon"
    assert claimed(folder)["epsilon"] == 0.5
    assert claimed(folder)["privacy"] == {"kind": "nominal"}


def test_the_command_line_comes_before_the_environment_and_that_before_the_file(
    rldp_command, folder, monkeypatch
):
    (folder / "rldp.toml").write_text(
        COLUMNS + "epsilon = 0.5\nalpha = 0.1\n[design]\ngap = 1e-3\nalpha = 0.2\n"
    )
    rldp_command(*DESIGN)
    assert (claimed(folder)["epsilon"], claimed(folder)["privacy"]["alpha"]) == (0.5, 0.2)
    monkeypatch.setenv("RLDP_EPSILON", "0.6")
    monkeypatch.setenv("RLDP_ALPHA", "0.3")
    _, _, err = rldp_command(*DESIGN)
    assert (claimed(folder)["epsilon"], claimed(folder)["privacy"]["alpha"]) == (0.6, 0.3)
    assert "RLDP_ALPHA sets --alpha; RLDP_EPSILON sets --epsilon" in err
    monkeypatch.setenv("RLDP_DESIGN_EPSILON", "0.7")
    rldp_command(*DESIGN)
    assert claimed(folder)["epsilon"] == 0.7
    rldp_command(*DESIGN, "--epsilon", "0.8", "--alpha", "0.4")
    assert (claimed(folder)["epsilon"], claimed(folder)["privacy"]["alpha"]) == (0.8, 0.4)


def test_another_project_file_may_be_named(rldp_command, folder):
    (folder / "other.toml").write_text(COLUMNS + "epsilon = 0.5\n")
    assert rldp_command("--project", "other.toml", *DESIGN, "--quiet") == (0, "", "")
    code, _, err = rldp_command("--project", "none.toml", *DESIGN)
    assert code == 4
    assert one_line(err) == "none.toml must be a project file in TOML, but: No such file or directory"


def test_flags_and_repeated_options_may_stand_elsewhere(rldp_command, folder, monkeypatch):
    (folder / "rldp.toml").write_text(COLUMNS + "epsilon = 0.5\njson = true\n")
    monkeypatch.setenv("RLDP_TEXT", "sex\nage")
    monkeypatch.setenv("RLDP_QUIET", "1")
    monkeypatch.setenv("RLDP_DISTORTION", "hamming")
    code, out, err = rldp_command(*DESIGN)
    assert (code, err) == (0, "")
    assert json.loads(out)["epsilon"] == 0.5
    assert json.loads((folder / "protocol.json").read_text())["values"] == ["1", "2"]


def test_what_is_at_the_top_is_for_commands_that_work_on_a_sample(rldp_command, folder):
    assert {n for n, c in COMMANDS.items() if isinstance(c, SampleCommand)} >= {"design", "frontier", "plan"}
    (folder / "rldp.toml").write_text(COLUMNS + "epsilon = 0.25\n")
    assert json.loads(rldp_command("demo", "--json", "--rows", "2000")[1])["epsilon"] == 0.5
    (folder / "rldp.toml").write_text("[demo]\nepsilon = 0.25\n")
    assert json.loads(rldp_command("demo", "--json", "--rows", "2000")[1])["epsilon"] == 0.25


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("epsilonn = 0.5", "rldp.toml must name options of rldp, got 'epsilonn'"),
        (
            "max-epsilon = 0.1",
            "rldp.toml must have 'max-epsilon' in a table of its command, such as [release], got it at the "
            "top, where it has no effect",
        ),
        ("[designs]\ngap = 1", "rldp.toml must have tables named as commands, got [designs]"),
        ("[design]\nkeep = 'x'", "[design] of rldp.toml must name options of rldp design, got 'keep'"),
        ("alpha = true", "alpha in rldp.toml must be a text or a number, got True"),
        ("alpha = [1]", "alpha in rldp.toml must be a text or a number, got [1]"),
        ("[design]\nwindows = 1", "windows in [design] of rldp.toml must be true or false, got 1"),
        ("secret = [true]", "secret in rldp.toml must be a text, a number or a list of them, got True"),
        ("epsilon = ", "rldp.toml must be a project file in TOML, but: "),
    ],
)
def test_mistakes_in_a_project_file_are_one_sentence(rldp_command, folder, text, message):
    (folder / "rldp.toml").write_text(f"{text}\n")
    code, _, err = rldp_command(*DESIGN)
    assert code in (1, 4)
    assert one_line(err).startswith(message)
    assert not (folder / "protocol.json").exists()


def test_help_needs_no_project_file(rldp_command, folder):
    (folder / "rldp.toml").write_text("nonsense = 1\n")
    assert rldp_command("design", "--help")[0] == 0
    assert rldp_command("--version")[0] == 0
