"""``--noise``: the counts of a confidential table, made fit to be shown."""

import json

import pytest

ROWS = "sex,age\n" + "f,20\nf,30\nm,30\nm,40\n" * 300
COLUMNS = ("rows.csv", "--secret", "sex", "--value", "age")
LABELS = ("--secrets", "f,m", "--values", "20,30,40")


@pytest.fixture(autouse=True)
def rows(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows.csv").write_text(ROWS, encoding="utf-8")


def test_a_sample_with_noise_is_designed_on_and_verified(rldp_command, tmp_path):
    code, _, errors = rldp_command("sample", *COLUMNS, *LABELS, "--noise", "1", "-o", "s.json")
    assert (code, errors) == (0, "")
    assert json.loads((tmp_path / "s.json").read_text(encoding="utf-8"))["noise"] == 1.0
    promise = ("--privacy", "credible", "--utility", "nominal", "--epsilon", "0.5")
    code, out, _ = rldp_command("design", "s.json", *promise, "-o", "p.json")
    assert code == 0
    assert "Are these rows public?" not in out
    assert rldp_command("verify", "p.json")[0] == 0
    code, _, errors = rldp_command("design", "s.json", "--epsilon", "0.5", "-o", "q.json")
    assert code != 0
    assert "whose theory does not know the noise" in errors
    assert not (tmp_path / "q.json").exists()


def test_labels_of_the_table_are_told_of_and_plain_rows_asked_about(rldp_command):
    _, _, errors = rldp_command("sample", *COLUMNS, "--noise", "1", "-o", "s.json")
    assert "are facts about people" in errors
    _, out, _ = rldp_command("design", *COLUMNS, "--epsilon", "0.5", "-o", "p.json")
    assert "Are these rows public?" in " ".join(out.split())
    again = ("--epsilon", "0.5", "--privacy", "all", "--utility", "nominal", "--noise", "1")
    _, _, errors = rldp_command("design", "s.json", *again, "-o", "q.json")
    assert "must have no noise yet" in errors
    code, _, errors = rldp_command("sample", *COLUMNS, "--noise", "0", "-o", "z.json")
    assert code != 0
    assert "--noise must be from 0.001 to 1000, got 0.0" in errors


def test_rows_of_a_person_are_said_and_kept(rldp_command, tmp_path):
    code, out, _ = rldp_command(
        "sample", *COLUMNS, *LABELS, "--noise", "1", "--rows-a-person", "2", "-o", "s.json"
    )
    assert code == 0
    assert "may be shown to anybody" in " ".join(out.split())
    assert json.loads((tmp_path / "s.json").read_text(encoding="utf-8"))["rows_a_person"] == 2
    promise = ("--privacy", "credible", "--utility", "nominal", "--epsilon", "0.5")
    _, out, _ = rldp_command("design", "s.json", *promise, "-o", "p.json")
    assert "1.0-differentially private (at most 2 rows a person)" in " ".join(out.split())
    _, out, _ = rldp_command("show", "p.json")
    assert "noisy counts the file holds: it may be shown to anybody" in " ".join(out.split())
    code, _, errors = rldp_command("sample", *COLUMNS, "--rows-a-person", "2", "-o", "z.json")
    assert code != 0
    assert "--rows-a-person must be given with --noise" in errors


def test_a_report_shows_the_noisy_counts_and_what_they_promise(rldp_command, tmp_path):
    rldp_command("sample", *COLUMNS, *LABELS, "--noise", "1", "-o", "s.json")
    promise = ("--privacy", "credible", "--utility", "nominal", "--epsilon", "0.5")
    rldp_command("design", "s.json", *promise, "-o", "p.json")
    code, out, _ = rldp_command("report", "p.json", "-o", "page.html", "--epsilons", "0.5")
    assert code == 0
    assert "does not hold the counts" not in out
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "Noisy counts, which may be shown to anybody" in page
    assert "the table is 1.0-differentially private (one row a person)" in page
