"""``--noise``: the counts of a confidential table, made fit to be shown."""

import json
import re

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
    assert "which does not account for the noise" in errors
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
    assert "you may publish it" in " ".join(out.split())
    assert json.loads((tmp_path / "s.json").read_text(encoding="utf-8"))["rows_a_person"] == 2
    promise = ("--privacy", "credible", "--utility", "nominal", "--epsilon", "0.5")
    _, out, _ = rldp_command("design", "s.json", *promise, "-o", "p.json")
    assert "1.0-differentially private (at most 2 rows for each person)" in " ".join(out.split())
    _, out, _ = rldp_command("show", "p.json")
    assert "noisy counts the file holds: it may be published" in " ".join(out.split())
    shown = json.loads(rldp_command("show", "p.json", "--json")[1])
    assert (shown["noise"], shown["rows_a_person"]) == (1.0, 2)
    code, _, errors = rldp_command("sample", *COLUMNS, "--rows-a-person", "2", "-o", "z.json")
    assert code != 0
    assert "--rows-a-person must be given with --noise" in errors


def test_a_report_shows_the_noisy_counts_and_what_they_promise(rldp_command, tmp_path):
    rldp_command("sample", *COLUMNS, *LABELS, "--noise", "1", "-o", "s.json")
    promise = ("--privacy", "credible", "--utility", "nominal", "--epsilon", "0.5")
    rldp_command("design", "s.json", *promise, "-o", "p.json")
    code, out, _ = rldp_command("report", "p.json", "-o", "page.html", "--epsilons", "0.5")
    assert code == 0
    assert "does not contain the counts" not in out
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "Noisy counts, which may be published" in page
    assert "the table is 1.0-differentially private (one row for each person)" in page


NOISY = [103, 199, -2, 12, 300, 139]
TABLES = [[100, 200, 50, 10, 300, 140], [90, 250, 0, 60, 310, 0]]
TIMES = re.compile(r"[0-9.e-]+ m?s\b|\"seconds\": [0-9.e-]+|[0-9-]+ [0-9:]+,[0-9]+ ")


def rows_of(counts):
    """A CSV table with so many rows of each pair."""
    pairs = [(s, u) for s in "fm" for u in (20, 30, 40)]
    cells = zip(pairs, counts, strict=True)
    return "sex,age\n" + "".join(f"{s},{u}\n" * count for (s, u), count in cells)


def words(text):
    """What is said, whatever time it took."""
    return TIMES.sub("", text).split()


@pytest.mark.parametrize(
    "asked",
    [
        ("sample", "--noise", "1"),
        ("sample", "--noise", "1", "--json"),
        ("sample", "--noise", "1", "--missing", "skip"),
        ("design", "--noise", "1", "--epsilon", "0.5", "--privacy", "credible", "--utility", "nominal"),
        ("design", "--noise", "1", "--epsilon", "0.5", "--privacy", "all", "--utility", "nominal", "--json"),
    ],
    ids=" ".join,
)
def test_tables_with_equal_noisy_counts_cannot_be_told_apart(rldp_command, tmp_path, monkeypatch, asked):
    """Neither by a file, nor by what is said or logged: all of it follows from the noisy counts."""
    found = []
    for counts in TABLES:
        missing = ",20\n" * (counts[2] == 0) if "skip" in asked else ""
        (tmp_path / "rows.csv").write_text(rows_of(counts) + missing, encoding="utf-8")
        moved = iter([n - m for n, m in zip(NOISY, counts, strict=True)])
        monkeypatch.setattr("rldp.sample.discrete_laplace", lambda *_, moved=moved: next(moved))
        name, *options = asked
        log = ("--log-level", "debug")
        _, out, errors = rldp_command(*log, name, *COLUMNS, *LABELS, *options, "-o", "out.json")
        found.append((words(out), words(errors), (tmp_path / "out.json").read_bytes()))
    assert found[0] == found[1]
    assert b"[[103,199,-2],[12,300,139]]" in found[0][2]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--missing", "category"), "no given columns and no category of missing entries"),
        (("--given", "age"), "no given columns and no category of missing entries"),
        (("--bins", "auto"), "--bins must be left out with --noise"),
        (("--bin-width", "10"), "no bins found in the table"),
    ],
    ids=str,
)
def test_what_would_depend_on_exact_counts_is_refused(rldp_command, tmp_path, options, told):
    (tmp_path / "rows.csv").write_text(ROWS.replace(",", ",5,").replace("sex,5,", "sex,x,"), encoding="utf-8")
    columns = ("rows.csv", "--secret", "sex", "--value", "x", "--secrets", "f,m")
    for command in (("sample",), ("design", "--epsilon", "0.5", "--privacy", "credible")):
        code, out, errors = rldp_command(*command, *columns, *options, "--noise", "1", "-o", "s.json")
        assert (code != 0, out) == (True, "")
        assert told in errors
        assert not (tmp_path / "s.json").exists()


def test_the_file_of_plain_rows_is_not_for_everybody(rldp_command):
    _, out, _ = rldp_command("sample", *COLUMNS, "-o", "s.json")
    assert "Publish it only if these rows are public." in " ".join(out.split())


def test_a_chain_asks_whether_rows_are_public_too(rldp_command, tmp_path):
    rows = "sex,age,job\n" + "f,20,1\nf,30,2\nm,30,1\nm,20,2\n" * 200
    (tmp_path / "rows.csv").write_text(rows, encoding="utf-8")
    chain = ("--value", "job", "--chain", "--privacy", "credible", "--utility", "nominal")
    labels = ("--secrets", "f,m", "--values", "20,30", "--values", "1,2")
    options = (*COLUMNS, *chain, *labels, "--epsilon", "0.7", "--gap", "1e-2", "-o", "p.json")
    _, out, _ = rldp_command("design", *options)
    assert "Are these rows public?" in " ".join(out.split())
    _, out, _ = rldp_command("design", *options, "--noise", "1")
    assert "you may publish it" in " ".join(out.split())
