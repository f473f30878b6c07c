"""How the command starts and ends: one line and an exit code, whatever stops it."""

import builtins
import io
import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import rldp
from commands import run_command
from rldp.cli.app import _stop
from rldp.reporter import terminal

FULL = Path("/dev/full")


@pytest.fixture
def folder(tmp_path):
    """A folder with a table and a protocol."""
    (tmp_path / "data.csv").write_text("sex,age\n" + "f,1\nm,2\n" * 30 + "f,2\nm,1\n" * 20)
    sample = rldp.Sample.from_data(tmp_path / "data.csv", secret="sex", value="age")
    rldp.design(sample, 0.5).protocol.save(tmp_path / "protocol.json")
    return tmp_path


def started(folder, *arguments, before=(), **options):
    command = [*before, sys.executable, "-m", "rldp", *arguments]
    return subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True, **options)


COLUMNS = ["--secret", "sex", "--value", "age"]
COMMANDS = {
    "design": ["design", "data.csv", *COLUMNS, "--epsilon", "0.5", "-o", "new.json"],
    "verify": ["verify", "protocol.json"],
    "verify --json": ["verify", "protocol.json", "--json"],
    "audit": ["audit", "protocol.json", "data.csv", *COLUMNS],
    "audit --json": ["audit", "protocol.json", "data.csv", *COLUMNS, "--json"],
    "release": ["release", "protocol.json", "data.csv", *COLUMNS, "-o", "out.csv"],
    "version": ["--version"],
    "help": ["--help"],
}
QUICK = ("verify", "release", "help")  # every command is a process of its own


@pytest.mark.skipif(not FULL.exists(), reason="needs a device that is always full")
@pytest.mark.parametrize(
    "name", [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in COMMANDS]
)
def test_a_full_standard_output_is_one_line(folder, name):
    with FULL.open("w") as full:
        process = started(folder, *COMMANDS[name], stdout=full)
        errors = process.communicate(timeout=300)[1]
    message = "rldp: standard output must be writable, but it is not: No space left on device\n"
    assert (process.returncode, errors) == (4, message)


@pytest.mark.slow
@pytest.mark.skipif(not FULL.exists(), reason="needs a device that is always full")
def test_a_full_standard_error_leaves_the_exit_code(folder):
    command = [sys.executable, "-m", "rldp", "verify", "none.json"]
    with FULL.open("w") as full:
        done = subprocess.run(command, cwd=folder, stderr=full, stdout=subprocess.PIPE, timeout=300)
    assert (done.returncode, done.stdout) == (4, b"")


@pytest.mark.parametrize("name", ["verify", "audit"])
def test_a_reader_that_leaves_is_no_traceback(folder, name):
    ours, theirs = os.pipe()
    os.close(ours)
    process = started(folder, *COMMANDS[name], stdout=theirs)
    os.close(theirs)
    assert process.communicate(timeout=300)[1] == ""
    assert process.returncode == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("asked", "code", "errors"),
    [
        ("verify protocol.json", 0, ""),
        (
            "release protocol.json data.csv -o -",
            4,
            "rldp: standard output must be open to be written, but it is closed\n",
        ),
    ],
)
def test_a_closed_standard_output_is_nobody_listening(folder, asked, code, errors):
    command = f"exec {sys.executable} -m rldp {asked} >&-"
    done = subprocess.run(["sh", "-c", command], cwd=folder, capture_output=True, timeout=300)
    assert (done.returncode, done.stderr.decode()) == (code, errors)


# Ctrl-C before the command has begun

INTERRUPTED_WHILE_IMPORTING = """
import os, signal, sys

class Interrupts:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupts())
"""
SCRIPT = """
import sys
from rldp.cli import main
sys.exit(main())
"""


def interrupted_while_importing(folder, module, *command):
    """Exit code, output and errors of a process that gets Ctrl-C when it imports ``module``."""
    (folder / "sitecustomize.py").write_text(INTERRUPTED_WHILE_IMPORTING.format(module=module))
    path = os.pathsep.join(filter(None, [str(folder), os.environ.get("PYTHONPATH")]))
    environment = {**os.environ, "PYTHONPATH": path}
    done = subprocess.run(
        [sys.executable, *command], capture_output=True, text=True, env=environment, timeout=300
    )
    return done.returncode, done.stdout, done.stderr


LATER = ("scipy.special", "rldp.designer.api", "typer", "rldp.cli.audit")


@pytest.mark.parametrize("module", ["numpy", *(pytest.param(m, marks=pytest.mark.slow) for m in LATER)])
def test_an_interruption_while_the_command_is_imported_is_one_line(tmp_path, module):
    (tmp_path / "rldp").write_text(SCRIPT)
    done = 130, "", "rldp: interrupted\n"
    for start in (["-m", "rldp"], ["-W", "ignore", "-Bm", "rldp"], [str(tmp_path / "rldp")]):
        assert interrupted_while_importing(tmp_path, module, *start, "--version") == done


@pytest.mark.slow
@pytest.mark.parametrize(("asked", "code"), [("--version", 0), ("verify none.json", 4)])
def test_when_all_is_done_nothing_can_go_wrong_any_more(folder, asked, code):
    """An interruption while Python ends, or the end of a thread that is still reading."""
    (folder / "sitecustomize.py").write_text("import atexit, os; atexit.register(os.abort)")
    process = started(
        folder, *asked.split(), stdout=subprocess.DEVNULL, env={**os.environ, "PYTHONPATH": "."}
    )
    assert process.communicate(timeout=300)[1].count("\n") == (code > 0)
    assert process.returncode == code


@pytest.mark.parametrize("script", ["", "import sys; sys.argv = ['rldp']; "])
def test_an_interruption_while_the_library_is_imported_is_python_s(tmp_path, script):
    code, _, errors = interrupted_while_importing(
        tmp_path, "scipy.special", "-c", f"{script}import rldp; rldp.design"
    )
    assert code == -signal.SIGINT
    assert errors.endswith("KeyboardInterrupt\n")
    assert "rldp: interrupted" not in errors


def test_a_program_that_happens_to_be_called_rldp_can_be_interrupted_as_any_other(tmp_path):
    (tmp_path / "rldp").write_text(
        textwrap.dedent(
            """
            import os, signal, time
            import rldp
            try:
                os.kill(os.getpid(), signal.SIGINT)
                time.sleep(5)
            except KeyboardInterrupt:
                print("tidied up")
            """
        )
    )
    done = subprocess.run([sys.executable, tmp_path / "rldp"], capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stdout, done.stderr) == (0, "tidied up\n", "")


# Being asked to stop


def writing(folder, **options):
    """A release of many rows that has begun to write."""
    rows = "f,1\nm,2\n" * 30 + "f,2\nm,1\n" * 20
    (folder / "rows.csv").write_text("sex,age\n" + rows * 20_000)
    process = started(
        folder,
        *("release", "protocol.json", "rows.csv", *COLUMNS, "-o", "out.csv"),
        stdout=subprocess.DEVNULL,
        **options,
    )
    while process.poll() is None and not list(folder.glob(".out.csv.*")):
        time.sleep(0.005)
    return process


@pytest.mark.parametrize("asked", [signal.SIGTERM, signal.SIGHUP])
def test_a_run_that_is_asked_to_stop_leaves_nothing(folder, asked):
    for _ in range(10):  # on a busy machine, a run may end before anybody has looked
        process = writing(folder)
        process.send_signal(asked)
        process.communicate(timeout=300)
        if not (folder / "out.csv").exists():
            break
        (folder / "out.csv").unlink()
    assert process.returncode == 128 + asked
    assert sorted(path.name for path in folder.iterdir()) == ["data.csv", "protocol.json", "rows.csv"]


def test_who_is_asked_twice_still_tidies_up(monkeypatch):
    """The second signal comes while the first is being answered."""
    answers = {}
    monkeypatch.setattr(signal, "signal", answers.__setitem__)
    with pytest.raises(SystemExit) as stopped:
        _stop(signal.SIGTERM, None)
    assert stopped.value.code == 128 + signal.SIGTERM
    assert answers == {signal.SIGTERM: signal.SIG_IGN}


def test_whoever_calls_the_command_has_their_own_handlers_again(folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    numbers = (signal.SIGTERM, signal.SIGHUP)
    before = [signal.getsignal(number) for number in numbers]
    assert run_command(monkeypatch, capsys, *COMMANDS["verify"])[0] == 0
    assert [signal.getsignal(number) for number in numbers] == before


def test_the_command_runs_in_any_thread(folder, monkeypatch, capsys):
    """Signals are for the main thread alone."""
    monkeypatch.chdir(folder)
    with ThreadPoolExecutor(1) as other:
        code, out, err = other.submit(run_command, monkeypatch, capsys, *COMMANDS["verify"]).result()
    assert (code, err) == (0, "")
    assert out


@pytest.mark.slow
def test_a_run_that_is_to_outlive_its_terminal_does(folder):
    process = writing(folder, before=["sh", "-c", 'trap "" HUP; exec "$@"', "sh"])
    process.send_signal(signal.SIGHUP)
    process.communicate(timeout=300)
    assert process.returncode == 0
    assert (folder / "out.csv").exists()


# What labels may do to a terminal

NASTY = ["ill\x1b]0;owned\x07", "well\x9b2J", "so\u202eso"]


@pytest.fixture
def nasty(tmp_path):
    """Data and a protocol whose labels hold escape sequences."""
    values = ("a\x08\x1bb", '"c\r\x1bd"', "e\x7ff")
    rows = "".join(f"{secret},{value}\n" for secret in NASTY for value in values * 9)
    (tmp_path / "nasty.csv").write_text("s\x1b,u\n" + rows, newline="")
    sample = rldp.Sample.from_data(tmp_path / "nasty.csv", secret="s\x1b", value="u")
    assert (sample.secrets, sample.n) == (tuple(sorted(NASTY)), 81)
    rldp.design(sample, 0.5, distortion="hamming").protocol.save(tmp_path / "nasty.json")
    rldp.Protocol(np.broadcast_to(np.eye(3), (3, 3, 3)), sample.secrets, sample.values).save(
        tmp_path / "bare\x1b.json"
    )
    return tmp_path


OF_NASTY = ["--secret", "s\x1b", "--value", "u"]


@pytest.mark.parametrize(
    "arguments",
    [
        ["audit", "nasty.json", "nasty.csv", *OF_NASTY],
        ["audit", "nasty.json", "nasty.csv", *OF_NASTY, "--json"],
        ["audit-release", "nasty.csv", "--secret", "s\x1b", "--released", "u"],
        ["audit-release", "nasty.csv", "--secret", "s\x1b", "--released", "u", "--json"],
        ["audit", "nasty.json", "nasty.csv", "--secret", "u", "--value", "s\x1b"],
        ["verify", "nasty.json"],
        ["verify", "nasty.json", "--json"],
        ["verify", "bare\x1b.json"],
        ["release", "nasty.json", "nasty.csv", *OF_NASTY, "-o", "out\x1b.csv"],
        ["release", "bare\x1b.json", "nasty.csv", *OF_NASTY, "-o", "out.csv"],
        ["design", "nasty.csv", *OF_NASTY, "--epsilon", "1", "--distortion", "hamming", "-o", "new\x1b.json"],
        ["design", "nasty.csv", "--secret", "none\x1b", "--value", "u", "--epsilon", "1", "-o", "new.json"],
        ["design", "nasty.csv", *OF_NASTY, "--epsilon", "1", "-o", "new.json"],
    ],
    ids=lambda arguments: " ".join(word for word in arguments if word.isprintable()),
)
def test_labels_and_names_do_not_command_the_terminal(nasty, monkeypatch, capsys, arguments):
    monkeypatch.chdir(nasty)
    _, out, err = run_command(monkeypatch, capsys, *arguments)
    assert out + err
    assert [c for c in (out + err).replace("\n", "") if not c.isprintable()] == []


def test_a_heat_map_does_not_command_the_terminal(nasty, capsys):
    terminal.console().print(terminal.heat_map(rldp.load(nasty / "nasty.json")))
    assert [c for c in capsys.readouterr().out.replace("\n", "") if not c.isprintable()] == []


def test_json_says_what_the_labels_are(nasty, monkeypatch, capsys):
    monkeypatch.chdir(nasty)
    _, out, _ = run_command(monkeypatch, capsys, "audit", "nasty.json", "nasty.csv", *OF_NASTY, "--json")
    assert json.loads(out)["sample"]["secrets"] == sorted(NASTY)


# Protocols are read once


@pytest.mark.parametrize("name", ["verify", "audit", "release"])
def test_a_command_reads_the_protocol_once(folder, monkeypatch, capsys, name):
    """Read twice, it could be another file the second time."""
    monkeypatch.chdir(folder)
    opened, read = io.open, []

    def noted(file, *arguments, **options):
        if isinstance(file, (str, os.PathLike)):
            read.append(Path(file).name)
        return opened(file, *arguments, **options)

    for module in (io, builtins):  # pathlib's way and everybody's
        monkeypatch.setattr(module, "open", noted)
    assert run_command(monkeypatch, capsys, *COMMANDS[name])[0] == 0
    assert read.count("protocol.json") == 1
