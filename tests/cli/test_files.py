"""Tables as people have them, from the sample to the audit: design → verify → release → audit."""

import gzip
import io

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import rldp
from commands import run_command

CODES = ["007", "042", "1e5"]
DAYS = ["2024-02-29", "1999-12-31"]


def rows(seed=1, count=400):
    """A secret that goes with the value, a name, a code and a day."""
    rng = np.random.default_rng(seed)
    ill = rng.random(count) < 0.4
    values = np.where(rng.random(count) < np.where(ill, 0.7, 0.3), "Köln; Süd", 'Bonn | "Nord", 1,5')
    names = [f"Zoë {i}" for i in range(count)]
    secrets = np.where(ill, "größer", "kleiner").tolist()
    return list(
        zip(
            secrets,
            values.tolist(),
            names,
            rng.choice(CODES, count).tolist(),
            rng.choice(DAYS, count).tolist(),
            strict=True,
        )
    )


def text_of(table, mark=",", end="\n"):
    def cell(entry):
        quoted = any(c in entry for c in f'{mark}"\r\n')
        return '"' + entry.replace('"', '""') + '"' if quoted else entry

    return "".join(mark.join(map(cell, row)) + end for row in table)


HEADER = ("Größe", "Ort", "Name", "code", "day")
FILES = {
    "commas": ({}, "utf-8", []),
    "semicolons": ({"mark": ";"}, "utf-8", []),
    "tabs": ({"mark": "\t"}, "utf-8", []),
    "bars": ({"mark": "|"}, "utf-8", []),
    "a mark of UTF-8": ({"mark": ";"}, "utf-8-sig", []),
    "line ends of Windows": ({"end": "\r\n"}, "utf-8", []),
    "Excel in Germany": ({"mark": ";", "end": "\r\n"}, "cp1252", ["--encoding", "cp1252"]),
    "latin-1": ({"mark": ";"}, "latin-1", ["--encoding", "latin-1"]),
    "UTF-16": ({"mark": "\t"}, "utf-16", ["--encoding", "utf-16", "--delimiter", "tab"]),
    "other marks": ({"mark": ":"}, "utf-8", ["--delimiter", ":"]),
}


@pytest.fixture
def command(monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        code, out, err = run_command(monkeypatch, capsys, *arguments)
        expected = ("kept columns are copied", "with the delimiter")
        lines = [line for line in err.splitlines() if not any(words in line for words in expected)]
        assert (code, lines) == (0, []), err
        return out

    return run


COLUMNS = ["--secret", "Größe", "--value", "Ort"]


@pytest.mark.parametrize(("form", "encoding", "options"), FILES.values(), ids=FILES)
def test_a_nasty_table_goes_all_the_way(command, tmp_path, form, encoding, options):
    table = rows()
    (tmp_path / "data.csv").write_bytes(text_of([HEADER, *table], **form).encode(encoding))
    design = ["--epsilon", "0.5", "--distortion", "hamming", "--no-others", "-o", "p.json"]
    command("design", "data.csv", *COLUMNS, *design, *options)
    command("verify", "p.json")
    keep = [word for name in HEADER[2:] for word in ("--keep", name)]
    allowed = [*options, "--allow-identifier"]
    command("release", "p.json", "data.csv", *COLUMNS, *keep, "-o", "out.csv.gz", *allowed)
    lines = gzip.decompress((tmp_path / "out.csv.gz").read_bytes()).decode().split("\n")
    assert lines[0] == "Name,code,day,Ort"
    assert [line.split(",")[:3] for line in lines[1:-1]] == [list(row[2:]) for row in table]
    command("release", "p.json", "data.csv", *COLUMNS, *keep, "-o", "out.parquet", *allowed)
    released = pq.read_table("out.parquet")
    assert released.schema.types == [pa.string(), pa.string(), pa.date32(), pa.string()]
    assert released["code"].to_pylist() == [row[3] for row in table]
    assert set(released["Ort"].to_pylist()) == {row[1] for row in table}
    assert "400" in command("audit", "p.json", "data.csv", *COLUMNS, *options)
    command("confirm", "p.json", "data.csv", *COLUMNS, *options, "--epsilon", "inf")


def test_standard_input_goes_all_the_way(command, monkeypatch, tmp_path):
    (tmp_path / "scratch").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "scratch"))

    def piped(*arguments):
        content = text_of([HEADER, *rows()], ";").encode()
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))
        return command(*arguments)

    design = ["--epsilon", "0.5", "--distortion", "hamming", "--no-others", "-o", "p.json"]
    piped("design", "-", *COLUMNS, *design)
    piped(
        "release",
        "p.json",
        "-",
        *COLUMNS,
        "--keep",
        "Größe",
        "--released-name",
        "shown",
        "--allow-original",
        "-o",
        "out.csv",
    )
    piped("audit", "p.json", "-", *COLUMNS)
    piped("confirm", "p.json", "-", *COLUMNS, "--epsilon", "inf")
    content = (tmp_path / "out.csv").read_bytes()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))
    command("audit-release", "-", "--secret", "Größe", "--released", "shown")
    assert list((tmp_path / "scratch").iterdir()) == []


@pytest.mark.parametrize(
    "bins", [["--bins", "auto"], ["--bin-width", "5"], []], ids=["auto", "width", "advice"]
)
def test_standard_input_may_be_counted_more_than_once(monkeypatch, capsys, tmp_path, bins):
    """Bins are tried one after the other; what comes in comes once."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(5)
    table = "".join(
        f"{'ab'[s]};{u}\n" for s, u in zip(rng.integers(0, 2, 300), rng.integers(0, 25, 300), strict=True)
    )
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(f"s;u\n{table}".encode())))
    options = [
        "--secret",
        "s",
        "--value",
        "u",
        "--epsilon",
        "1",
        "--no-others",
        "--gap",
        "0.01",
        "-o",
        "p.json",
        *bins,
    ]
    code, _, err = run_command(monkeypatch, capsys, "design", "-", *options)
    assert code == 0, err
    assert "standard input" not in err.replace("standard input is read with the delimiter ';'", "")
    assert run_command(monkeypatch, capsys, "verify", "p.json")[0] == 0


def test_a_column_of_thousands_of_labels_is_one_sentence_without_them(monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data.csv").write_text(
        "s;u\n" + "".join(f"a;Zoë {i}\n" for i in range(5000)), encoding="utf-8"
    )
    options = ["--secret", "s", "--value", "u", "--epsilon", "1", "-o", "p.json"]
    code, out, err = run_command(monkeypatch, capsys, "design", "data.csv", *options)
    assert (code, out) == (1, "")
    assert err.startswith("rldp: column 'u' of data.csv must have at most 1000 distinct labels, got 5000; ")
    assert "Zoë" not in err


def test_a_column_that_was_chosen_by_its_place_is_remembered_by_its_name(command, tmp_path):
    """Other files may have their columns in another order."""
    table = [row[:2] for row in rows()]
    (tmp_path / "data.csv").write_text(text_of([("s", "u"), *table]), encoding="utf-8")
    (tmp_path / "new.csv").write_text(text_of([("u", "s"), *(row[::-1] for row in table)]), encoding="utf-8")
    design = ["--epsilon", "0.5", "--distortion", "hamming", "--no-others", "-o", "p.json"]
    command("design", "data.csv", "--secret", "#1", "--value", "#2", *design)
    assert rldp.load("p.json").reading.names == ("s", "u")
    command("audit", "p.json", "new.csv")


def test_columns_without_names_of_their_own_go_all_the_way(command, tmp_path):
    table = [row[:2] for row in rows()]
    (tmp_path / "data.csv").write_text(text_of([("x", "x"), *table]), encoding="utf-8")
    columns = ["--secret", "#1", "--value", "#2"]
    design = ["--epsilon", "0.5", "--distortion", "hamming", "--no-others", "-o", "p.json"]
    command("design", "data.csv", *columns, *design)
    command("release", "p.json", "data.csv", *columns, "-o", "out.csv")
    assert (tmp_path / "out.csv").read_text(encoding="utf-8").startswith("x\n")
    command("audit", "p.json", "data.csv", *columns)


@pytest.mark.parametrize(
    ("mark", "options", "said"),
    [
        (";", [], "rldp: data.csv is read with the delimiter ';'\n"),
        (";", ["--delimiter", ";"], ""),
        (",", [], ""),
    ],
)
def test_a_mark_that_was_found_is_named(monkeypatch, capsys, tmp_path, mark, options, said):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data.csv").write_text(f"s{mark}u\n" + f"a{mark}1\nb{mark}2\na{mark}2\nb{mark}1\n" * 20)
    columns = ["--secret", "s", "--value", "u"]
    design = ["design", "data.csv", *columns, "--epsilon", "1", "-o", "p.json", "--no-others"]
    code, _, err = run_command(monkeypatch, capsys, *design, *options)
    assert (code, err) == (0, said)
