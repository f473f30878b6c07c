"""How loud the command is: quiet, logging, and lines about progress where no terminal shows it."""

import logging
import re
import time

import pytest

import rldp
from rldp.cli import voice

COLUMNS = ["--secret", "sex", "--value", "age"]
SPARSE = ["design", "data.csv", *COLUMNS, "--epsilon", "0.5", "-o", "protocol.json"]


@pytest.fixture
def command(rldp_command):
    yield rldp_command
    voice.as_at_first()


@pytest.mark.parametrize("arguments", [["--quiet", *SPARSE], [*SPARSE, "--quiet"], [*SPARSE, "-q"]])
def test_quiet_designs_and_releases_print_nothing(command, arguments, tmp_path):
    assert "sparse" in command(*SPARSE)[2]
    assert command(*arguments) == (0, "", "")
    release = ["release", "protocol.json", "data.csv", *COLUMNS, "-o", "out.csv", "--force", "--seed=1"]
    assert "--seed" in command(*release)[2]
    assert command(*release, "--quiet") == (0, "", "")
    assert (tmp_path / "out.csv").exists()


def test_quiet_lasts_for_one_run(command):
    command("--quiet", *SPARSE)
    assert command(*SPARSE)[1] != ""


def test_quiet_keeps_errors_and_results(command):
    command(*SPARSE)
    code, out, err = command("--quiet", "verify", "protocol.json")
    assert (code, err) == (0, "")
    assert out.startswith("Proved:")
    code, out, err = command("--quiet", "verify", "none.json")
    assert (code, out, err) == (4, "", "rldp: path must be a protocol file, but 'none.json' is missing\n")


def test_a_manner_without_a_command_is_wrong_usage(command):
    code, out, err = command("--quiet")
    assert (code, out) == (2, "")
    assert err.startswith("Usage: ")


@pytest.mark.parametrize("before", [True, False])
def test_the_log_tells_what_was_read_how_much_of_it_by_which_route_and_how_long(command, before):
    level = ["--log-level", "info"]
    _, _, err = command(*(level if before else []), "--quiet", *SPARSE, *([] if before else level))
    stamp = r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} INFO rldp\.[\w.]+: "
    steps = [
        r"counted data\.csv: 2 secrets × 2 values, [\d.e-]+ s$",
        r"designed by route 'pairs': \d+ steps, [\d.e-]+ s; gap closed$",
        r"wrote the protocol file protocol\.json: \d+ bytes$",
    ]
    for step in steps:
        assert re.search(stamp + step, err, re.M), step
    release = ["release", "protocol.json", "data.csv", *COLUMNS, "-o", "out.csv"]
    _, out, err = command(*level, "--quiet", *release)
    assert out == ""
    steps = [
        r"read the protocol file protocol\.json: \d+ bytes, SHA-256 [0-9a-f]{64}$",
        r"judged in [\d.e-]+ s; all claims proved$",
        r"released 9 rows of data\.csv into out\.csv, [\d.e-]+ s$",
    ]
    for step in steps:
        assert re.search(stamp + step, err, re.M), step


def test_the_log_is_off_unless_asked_for_and_ends_with_the_run(command):
    command("--log-level", "debug", *SPARSE)
    _, _, err = command("--quiet", *SPARSE)
    assert err == ""
    assert logging.getLogger("rldp").handlers == []


def test_a_higher_level_leaves_out_lower_ones(command):
    assert command("--quiet", "--log-level", "warning", *SPARSE)[2] == ""


def test_a_level_that_does_not_exist_is_wrong_usage(command):
    assert command("--log-level", "loud", *SPARSE)[0] == 2


def test_no_label_is_logged(command, caplog, tmp_path):
    """Labels of secrets are people's affairs; a log is read by others."""
    labels = ("coeliac", "healthy"), ("wheat", "rice")
    rows = [f"{secret},{value}\n" for secret in labels[0] for value in labels[1]]
    (tmp_path / "food.csv").write_text("s,u\n" + "".join(rows) * 9)
    with caplog.at_level(logging.DEBUG, "rldp"):
        sample = rldp.Sample.from_data("food.csv", secret="s", value="u")
        protocol = rldp.design(sample, 0.5, distortion="hamming").protocol
        names = protocol.secrets, protocol.values, protocol.outputs
        leaky = rldp.Protocol([[[1, 0], [1, 0]], [[0, 1], [0, 1]]], *names, guarantee=protocol.guarantee)
        refused = rldp.verify(leaky)
        rldp.verify(protocol)
    assert "coeliac" in "".join(refused.reasons)
    assert "not proved" in caplog.text
    assert "all claims proved" in caplog.text
    assert not [label for label in (*labels[0], *labels[1]) if label in caplog.text]


# Progress without a terminal


@pytest.fixture
def heard(command, monkeypatch):
    """The lines about progress; called, it waits until there are two with certain words."""
    monkeypatch.setattr(voice, "EVERY", 0.02)
    lines, say = [], voice.say
    monkeypatch.setattr(voice, "say", lambda line: (lines.append(line), say(line)))

    def until(words):
        end = time.monotonic() + 60
        while sum(words in line for line in lines) < 2 and time.monotonic() < end:
            time.sleep(0.01)
        return [re.sub(r"\d+ s", "N s", line) for line in lines if words in line]

    return until


def test_long_work_is_told_every_few_seconds_where_there_is_no_terminal(heard, capsys):
    with voice.bar("Releasing") as advance:
        advance(0.25, 1.0, "1,000 rows")
        assert set(heard("rows")) == {"Releasing … N s, 25 %, 1,000 rows"}
    with voice.progress("Designing") as tell:
        tell(rldp.Progress(3, 0, 1, 0.125))
        assert set(heard("gap")) == {"Designing … N s, step 3, gap 1.2e-01"}
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("rldp: Releasing … ")


def test_work_that_is_silent_is_told_to_go_on(heard):
    with voice.progress("Verifying"):
        assert set(heard("Verifying")) == {"Verifying … N s"}


def test_quick_work_and_quiet_work_bring_no_line(command, capsys, monkeypatch):
    with voice.bar("Releasing") as advance:
        advance(1.0, 1.0)
    monkeypatch.setattr(voice, "EVERY", 0.05)
    voice.be(quiet=True)
    with voice.progress("Verifying"):
        time.sleep(0.3)
    assert capsys.readouterr().err == ""


def test_no_line_comes_after_the_work_has_ended(command, capsys, monkeypatch):
    monkeypatch.setattr(voice, "EVERY", 0.05)
    with pytest.raises(ValueError, match="broken"), voice.bar("Releasing"):
        raise ValueError("broken")
    capsys.readouterr()
    time.sleep(0.3)
    assert capsys.readouterr().err == ""
