"""``rldp release``: whole files, row by row, in constant memory, all or nothing."""

import dataclasses
import gzip
import hashlib
import io
import json
import os
import pty
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from scipy.stats import chi2

import rldp
from commands import run_command
from rldp import release_file
from rldp.data import csv_files, readers

DATA = "id,sex,age,note\n007,f,10,x\n1e5,m,10,y\n3,m,30,z\n"


def swap(secrets=("f", "m"), values=(10, 20, 30), outputs=None):
    """A protocol without chance: secret i shifts the values by i."""
    matrix = np.stack([np.roll(np.eye(len(values)), i, axis=1) for i in range(len(secrets))])
    return rldp.Protocol(matrix, secrets, values, values if outputs is None else outputs)


@pytest.fixture
def folder(monkeypatch, tmp_path):
    """An empty folder with a protocol and a small table."""
    monkeypatch.chdir(tmp_path)
    swap().save("protocol.json")
    (tmp_path / "data.csv").write_text(DATA)
    return tmp_path


@pytest.fixture
def command(monkeypatch, capsys, folder):
    """Run ``rldp release`` on the small table: (exit code, output, errors).

    Its protocol releases everything as good as unchanged and claims nothing, so --unproved is given.
    """

    def run(*options, data="data.csv", output="out.csv", secret="sex", value="age", protocol="protocol.json"):
        arguments = ["--unproved", "--force", "--secret", secret, "--value", value, "-o", output, *options]
        return run_command(monkeypatch, capsys, "release", protocol, data, *arguments)

    return run


MISTAKE, CLAIM, FILE = 1, 3, 4


def refused(done, message, folder, *, code=MISTAKE, files=("data.csv", "protocol.json")):
    """An exit code, one line, nothing written."""
    assert done == (code, "", f"rldp: {message}\n")
    assert sorted(path.name for path in folder.iterdir()) == sorted(files)


# What is proved


@pytest.fixture
def proved(folder):
    """A protocol that proves what it claims, in place of the other."""
    sample = rldp.Sample([[30, 10, 5], [5, 25, 25]], ["f", "m"], [10, 20, 30])
    protocol = rldp.design(sample, 0.5).protocol
    protocol.save("protocol.json")
    return protocol


@pytest.fixture
def plainly(monkeypatch, capsys, folder):
    """Run ``rldp release`` without --unproved: (exit code, output, errors)."""

    def run(*options):
        arguments = ["protocol.json", "data.csv", "--secret", "sex", "--value", "age", "-o", "out.csv"]
        return run_command(monkeypatch, capsys, "release", *arguments, "--force", *options)

    return run


SCOPE = "for every distribution that a χ² test at level 0.05 does not reject"
ALONE = "this column alone, released once"


def identity(protocol):
    """What publishes everything as it is, with the claims of another protocol."""
    labels = protocol.secrets, protocol.values, protocol.outputs
    return rldp.Protocol(np.broadcast_to(np.eye(3), (2, 3, 3)), *labels, guarantee=protocol.guarantee)


def claiming(epsilon):
    """A protocol of 'f', 'm' and 10, 20, 30 that proves just this ε."""
    sample = rldp.Sample([[30, 10, 5], [5, 25, 25]], ["f", "m"], [10, 20, 30])
    return rldp.design(sample, epsilon).protocol


def test_a_protocol_is_verified_and_its_level_is_said_with_its_scope(proved, plainly):
    assert plainly() == (0, f"3 rows released (ε = 0.5 {SCOPE}; {ALONE}), written to out.csv\n", "")


def test_a_protocol_that_claims_nothing_is_not_released_from(plainly, folder):
    refused(
        plainly(),
        "protocol.json must prove a privacy level, but the file claims nothing: it holds a table without a "
        "guarantee; --unproved releases anyway",
        folder,
        code=CLAIM,
    )
    assert plainly("--unproved") == (0, "3 rows released (nothing proved), written to out.csv\n", "")


def test_a_protocol_that_claims_no_finite_level_is_not_released_from(plainly, folder):
    claiming(np.inf).save("protocol.json")
    refused(
        plainly(),
        "protocol.json must prove a privacy level, but it claims none (ε = ∞); --unproved releases anyway",
        folder,
        code=CLAIM,
    )
    assert plainly("--unproved")[:2] == (
        0,
        "3 rows released (nothing claimed (ε = ∞)), written to out.csv\n",
    )


def test_a_protocol_whose_table_was_changed_is_not_released_from(proved, plainly, folder):
    identity(proved).save("protocol.json")
    code, _, errors = plainly()
    assert code == CLAIM
    assert errors.startswith(
        "rldp: protocol.json must prove what it claims, but privacy is not proved for output "
    )
    assert not (folder / "out.csv").exists()
    assert plainly("--unproved")[:2] == (0, "3 rows released (nothing proved), written to out.csv\n")


@pytest.mark.parametrize(
    ("changes", "what"),
    [({"objective": 0.01}, "the objective 0.01 is"), ({"lower_bound": 1e3}, "the lower bound 1000.0 is")],
)
def test_a_protocol_whose_objective_or_bound_is_not_proved_is_not_released_from(
    proved, plainly, folder, changes, what
):
    """Its privacy is proved; but who changed one claim may have changed others."""
    labels = proved.secrets, proved.values, proved.outputs
    guarantee = dataclasses.replace(proved.guarantee, **changes)
    rldp.Protocol(proved.matrix, *labels, guarantee=guarantee).save("protocol.json")
    code, output, errors = plainly()
    assert (code, output) == (CLAIM, "")
    assert errors.startswith(f"rldp: protocol.json must prove what it claims, but {what} not proved")
    assert not (folder / "out.csv").exists()


def test_a_limit_of_infinity_is_no_leave_to_release_what_claims_no_level(plainly, folder):
    claiming(np.inf).save("protocol.json")
    message = "protocol.json must prove a privacy level, but it claims none (ε = ∞)"
    message += "; --unproved releases anyway"
    refused(plainly("--max-epsilon", "inf"), message, folder, code=CLAIM)


@pytest.mark.parametrize(
    ("epsilon", "options", "limit"),
    [
        (0.5, ["--max-epsilon", "0.4999999999999999"], "0.4999999999999999"),
        (0.5, ["--max-epsilon", "0"], "0.0"),
        (10.000000000000002, [], "10.0"),
        (1e9, [], "10.0"),
        (1e9, ["--max-epsilon", "1e8"], "100000000.0"),
    ],
)
def test_a_level_above_what_is_expected_is_refused(plainly, folder, epsilon, options, limit):
    claiming(epsilon).save("protocol.json")
    refused(
        plainly(*options),
        f"protocol.json must prove a privacy level of at most {limit}, but it proves ε = {epsilon!r} "
        f"{SCOPE}; --max-epsilon sets another limit",
        folder,
        code=CLAIM,
    )


@pytest.mark.parametrize(
    ("epsilon", "options"),
    [(0.5, ["0.5"]), (10.0, []), (1e9, ["1e9"]), (1e9, ["inf"]), (0.0, ["0"])],
)
def test_a_level_that_is_expected_is_released(plainly, epsilon, options):
    claiming(epsilon).save("protocol.json")
    done = plainly(*(["--max-epsilon", *options] if options else []))
    assert done == (0, f"3 rows released (ε = {epsilon!r} {SCOPE}; {ALONE}), written to out.csv\n", "")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--max-epsilon", "1", "--unproved"],
            "--max-epsilon and --unproved must not be given together: an unproved protocol has no ε",
        ),
        (["--max-epsilon", "nan"], "--max-epsilon must be a number, got NaN"),
        (["--max-epsilon", "-1"], "--max-epsilon must be at least 0, got -1.0"),
        (["--expect-sha256", "abc"], "--expect-sha256 must be 64 hexadecimal digits, got 'abc'"),
        (["--expect-sha256", "g" * 64], f"--expect-sha256 must be 64 hexadecimal digits, got '{'g' * 64}'"),
        (["--expect-sha256", "a" * 65], f"--expect-sha256 must be 64 hexadecimal digits, got '{'a' * 65}'"),
    ],
)
def test_expectations_that_make_no_sense_are_refused(proved, plainly, folder, options, message):
    refused(plainly(*options), message, folder)


def test_the_file_that_is_expected_and_no_other_is_released_from(proved, plainly, folder):
    digest = hashlib.sha256((folder / "protocol.json").read_bytes()).hexdigest()
    for given in (digest, digest.upper()):
        assert plainly("--expect-sha256", given)[0] == 0
    (folder / "out.csv").unlink()
    claiming(0.4).save("protocol.json")
    other = hashlib.sha256((folder / "protocol.json").read_bytes()).hexdigest()
    message = f"protocol.json must be the file with SHA-256 {digest}, but it has {other}"
    refused(plainly("--expect-sha256", digest), message, folder, code=CLAIM)
    refused(plainly("--expect-sha256", digest, "--unproved"), message, folder, code=CLAIM)
    for wanted in (other[:-1] + "01"[other[-1] == "0"], "01"[other[0] == "0"] + other[1:]):
        message = f"protocol.json must be the file with SHA-256 {wanted}, but it has {other}"
        refused(plainly("--expect-sha256", wanted), message, folder, code=CLAIM)


def test_what_is_verified_is_what_is_released_from(proved, plainly, folder, monkeypatch):
    """A file that is swapped, or a pipe that shows the judge another protocol than the release."""
    contents = iter([identity(proved).to_json().encode(), proved.to_json().encode()])
    monkeypatch.setattr("rldp.protocol_file.json.content_of", lambda _: next(contents))
    code, _, errors = plainly()
    assert code == CLAIM
    assert errors.startswith("rldp: protocol.json must prove what it claims, but privacy is not proved for ")
    assert not (folder / "out.csv").exists()


@pytest.mark.slow
def test_a_protocol_can_come_through_a_pipe(proved, folder):
    command = [sys.executable, "-m", "rldp", "release", "/dev/stdin", "data.csv"]
    options = ["--secret", "sex", "--value", "age", "-o", "out.csv"]
    done = subprocess.run(
        [*command, *options], input=proved.to_json().encode(), capture_output=True, cwd=folder, timeout=300
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert (folder / "out.csv").exists()


# What is written


@pytest.mark.parametrize("count", [2, 5])
def test_there_may_be_fewer_or_more_outputs_than_values(command, folder, count):
    """Without chance: secret i and value j give output i + j, counted around."""
    matrix = np.eye(count)[np.add.outer(np.arange(2), np.arange(3)) % count]
    rldp.Protocol(matrix, ["f", "m"], [10, 20, 30], [f"y{i}" for i in range(count)]).save("protocol.json")
    assert command()[0] == 0
    expected = [f"y{place % count}" for place in (0, 1, 3)]  # (f, 10), (m, 10), (m, 30)
    assert (folder / "out.csv").read_text().replace('"', "").split() == ["age", *expected]


def test_only_the_released_column_is_written(command, folder):
    assert command() == (0, "3 rows released (nothing proved), written to out.csv\n", "")
    assert (folder / "out.csv").read_text() == "age\n10\n20\n10\n"
    assert sorted(path.name for path in folder.iterdir()) == ["data.csv", "out.csv", "protocol.json"]


def test_kept_columns_stand_before_it_in_the_order_asked_for(command, folder):
    assert command("--keep", "note", "--keep", "id")[0] == 0
    assert (folder / "out.csv").read_text() == "note,id,age\nx,007,10\ny,1e5,20\nz,3,10\n"


def test_the_released_column_may_have_another_name(command, folder):
    assert command("--released-name", 'age, "noisy"')[0] == 0
    assert (folder / "out.csv").read_text().startswith('"age, ""noisy"""\n10\n')


@pytest.mark.parametrize(("column", "role"), [("sex", "secret"), ("age", "value")])
def test_the_two_columns_are_never_written_by_accident(command, folder, column, role):
    done = command("--keep", column, "--released-name", "y")
    refused(
        done,
        f"keep must not name the {role} column {column!r}, which would be written as it is; "
        "allow that with --allow-original if it is meant",
        folder,
    )


def test_the_two_columns_are_written_where_that_is_asked_for_twice(command, folder):
    assert command("--keep", "sex", "--keep", "age", "--allow-original", "--released-name", "noisy")[0] == 0
    assert (folder / "out.csv").read_text() == "sex,age,noisy\nf,10,10\nm,10,20\nm,30,10\n"


def test_allowing_alone_writes_nothing_more(command, folder):
    assert command("--allow-original")[0] == 0
    assert (folder / "out.csv").read_text() == "age\n10\n20\n10\n"


def test_two_columns_of_one_name_are_refused(command, folder):
    message = (
        "the released column must not be called {!r} like a kept column; "
        "choose another name with --released-name"
    )
    refused(command("--keep", "age", "--allow-original"), message.format("age"), folder)
    refused(command("--keep", "id", "--released-name", "id"), message.format("id"), folder)
    refused(
        command("--keep", "id", "--keep", "id"),
        "keep must name each column once, got 'id' more than once",
        folder,
    )


def test_an_older_file_is_replaced(command, folder):
    (folder / "out.csv").write_text("old")
    assert command()[0] == 0
    assert (folder / "out.csv").read_text() == "age\n10\n20\n10\n"


# Text of CSV files


KEPT = [
    "007",
    "1e5",
    "",
    '""',
    "NA",
    "null",
    "nan",
    "True",
    "2024-01-31",
    " spaces ",
    '"a,b"',
    '"a\nb"',
    '"a\rb"',
    '"say ""x"""',
    "Ü日本",
    "0x1F",
    "-0",
    "99999999999999999999",
    "'",
    "\\",
    "#",
]


def test_kept_text_comes_out_as_it_stood(command, folder):
    rows = [f"{text},f,10" for text in KEPT]
    (folder / "data.csv").write_text("\n".join(["kept,sex,age", *rows]) + "\n", newline="")
    assert command("--keep", "kept", "--allow-identifier")[0] == 0
    found = (folder / "out.csv").read_bytes().decode()
    assert found == "\n".join(["kept,age", *(f"{text},10" for text in KEPT)]) + "\n"


def test_lines_may_break_anywhere_in_a_long_file(folder, monkeypatch):
    monkeypatch.setattr(csv_files, "_BYTES", 1000)
    row = '"one\n\n\ntwo, three"'
    (folder / "data.csv").write_text("note,sex,age\n" + f"{row},f,10\n" * 1000)
    assert release_file(swap(), "data.csv", "out.csv", secret="sex", value="age", keep=["note"]) == 1000
    assert (folder / "out.csv").read_text() == "note,age\n" + f"{row},10\n" * 1000


def test_kept_bytes_need_not_be_utf_8(command, folder):
    (folder / "data.csv").write_bytes("name,sex,age\nJosé,f,10\n".encode("latin-1"))
    assert command("--keep", "name")[0] == 0
    assert (folder / "out.csv").read_bytes() == "name,age\nJosé,10\n".encode("latin-1")


@pytest.mark.parametrize(
    ("content", "rows"),
    [
        (b"\xef\xbb\xbfsex,age\nf,10\n", 1),
        (b"sex,age\r\nf,10\r\nm,10\r\n", 2),
        (b"sex,age\n\nf,10\n\n\nm,10", 2),
        (b"age,x,sex,x\n10,,f,\n", 1),
        (b"sex,age\n", 0),
    ],
    ids=["byte-order mark", "CRLF", "blank lines", "other columns twice", "no rows"],
)
def test_files_of_every_form(command, folder, content, rows):
    (folder / "data.csv").write_bytes(content)
    counted = "1 row" if rows == 1 else f"{rows} rows"
    assert command()[:2] == (0, f"{counted} released (nothing proved), written to out.csv\n")
    assert (folder / "out.csv").read_text() == "age\n" + "10\n20\n"[: 3 * rows]


def test_a_compressed_file_is_read(command, folder):
    (folder / "data.csv.gz").write_bytes(gzip.compress(DATA.encode()))
    assert command("--keep", "id", data="data.csv.gz")[0] == 0
    assert (folder / "out.csv").read_text() == "id,age\n007,10\n1e5,20\n3,10\n"


# Text that is read as labels


@pytest.mark.parametrize(
    ("labels", "text", "code"),
    [
        ((1, 2), "2", 1),
        ((7, 8), "07", 0),
        ((7, 8), " 8 ", 1),
        ((7, 8), "7.0", 0),
        ((7, 8), "+8", 1),
        ((-1, 1), "-1", 0),
        ((31, 8), "0x1F", 0),
        ((1000, 8), "1e3", 0),
        ((9007199254740993, 9007199254740992), "9007199254740993", 0),
        ((0.5, 2.0), "2", 1),
        ((0.5, 2.0), ".5", 0),
        ((0.5, 2.0), "5e-1", 0),
        ((0.1, 9007199254740992.0), "9007199254740993", 1),
        ((False, True), "true", 1),
        ((False, True), "False", 0),
        ((False, True), "TRUE", 1),
        ((False, True), "1", 1),
        (("1", "07"), "07", 1),
        (("true", "false"), "true", 0),
        (("2024-01-31", "x"), "2024-01-31", 0),
        (("", "NA"), '"NA"', 1),
        (("", "NA"), '""', 0),
        ((" a", "a"), " a", 0),
        ((1, "a"), "a", 1),
        ((1, "a"), "1", 0),
    ],
    ids=str,
)
def test_an_entry_is_read_as_the_type_of_the_labels(folder, labels, text, code):
    (folder / "data.csv").write_text(f"s,u\nx,{text}\n")
    release_file(swap(["x"], labels, [0, 1]), "data.csv", "out.csv", secret="s", value="u")
    assert (folder / "out.csv").read_text() == f"u\n{code}\n"


@pytest.mark.parametrize(
    ("labels", "text"),
    [
        ((1, 2), "3"),
        ((1, 2), "true"),
        ((1, 2), "1_0"),
        ((1, 2), "١"),
        ((1, 2), "inf"),
        ((1, 2), "9" * 5000),
        ((9007199254740992, 1), "9007199254740993"),
        ((False, True), "yes"),
        ((False, True), "01"),
        ((False, True), "tRUE"),
        (("a", "b"), "A"),
        (("a", "b"), "a "),
        (("1", "2"), "1.0"),
        (("1", "2"), "01"),
    ],
    ids=lambda x: str(x)[:20],
)
def test_an_entry_that_stands_for_no_label_is_refused(folder, labels, text):
    (folder / "data.csv").write_text(f"s,u\nx,{text}\n", encoding="utf-8")
    with pytest.raises(
        rldp.DataError, match=r"^column 'u' of data.csv must hold known labels, but row 1 has another entry; "
    ):
        release_file(swap(["x"], labels), "data.csv", "out.csv", secret="s", value="u")


TEXTS = ["0", "1", "-1", "07", "+7", " 7", "7 ", "7.0", "1e3", "0x1F", "0X1f", ".5", "5.", "00.5", "1E+5"]
TEXTS += ["true", "True", "TRUE", "false", "x", "1e", "-", "2024-01-31", "12:30", '"1"', '"a"', "1d", "0x"]


@pytest.mark.parametrize("other", ["1", "1.5", "true", "text", "2024-01-01"])
@pytest.mark.parametrize("text", TEXTS)
def test_what_a_sample_counts_can_be_released(folder, text, other):
    """The labels that a file shows when it is counted are those that its rows are released as."""
    (folder / "data.csv").write_text(f"s,u\na,{text}\na,{other}\n")
    sample = rldp.Sample.from_data("data.csv", secret="s", value="u")
    protocol = rldp.Protocol([np.eye(len(sample.values))], ["a"], sample.values, range(len(sample.values)))
    release_file(protocol, "data.csv", "out.csv", secret="s", value="u")
    codes = [int(line) for line in (folder / "out.csv").read_text().split()[1:]]
    assert np.bincount(codes, minlength=len(sample.values)).tolist() == sample.counts[0].tolist()


def test_parts_of_a_file_may_look_different(folder, monkeypatch):
    """Numbers first, text far below: every row is read as text, as the labels are."""
    monkeypatch.setattr(csv_files, "_BYTES", 1000)
    rows = ["1"] * 2000 + ["1.0"] + ["a"] * 2000
    (folder / "data.csv").write_text("s,u\n" + "".join(f"x,{u}\n" for u in rows))
    protocol = swap(["x"], ["1", "1.0", "a"])
    assert release_file(protocol, "data.csv", "out.csv", secret="s", value="u") == 4001
    assert (folder / "out.csv").read_text().split() == ["u", *rows]


def test_labels_that_a_csv_file_cannot_tell_apart_are_refused(folder):
    with pytest.raises(
        rldp.DataError,
        match=r"^column 'age' of data.csv must have labels that differ in a CSV file, "
        r"got a number and its text, in places 1 and 2$",
    ):
        release_file(swap(values=(1, "1")), "data.csv", "out.csv", secret="sex", value="age")
    with pytest.raises(
        rldp.DataError,
        match=r"^outputs of .* differ in a CSV file, got two that look alike, in places 1 and 2$",
    ):
        release_file(
            swap(values=(10, 30), outputs=(1, "1")), "data.csv", "out.csv", secret="sex", value="age"
        )


@pytest.mark.parametrize(
    "outputs",
    [(1, 2), (1.5, -0.1), (1e300, 1e-300), (False, True), ("a,b", 'c"d'), ("", "NA"), ("x\ny", "Ü")],
    ids=str,
)
def test_outputs_are_read_back_as_the_labels_they_are(folder, outputs):
    protocol = swap(["f", "m"], [10, 30], outputs)
    release_file(
        protocol, "data.csv", "out.csv", secret="sex", value="age", keep=["sex"], allow_original=True
    )
    found = rldp.Sample.from_data("out.csv", secret="sex", value="age", values=outputs)
    assert found.n == 3
    assert found.counts.sum(axis=0).tolist() == [2, 1]


# Parquet


TABLE = pa.table(
    {
        "id": pa.array([1, None, 3], pa.int16()),
        "sex": pa.array(["f", "m", "m"]).dictionary_encode(),
        "age": pa.array([10, 10, 30], pa.uint8()),
        "when": pa.array([0, 1, None], pa.date32()),
        "list": [[1], [], None],
        "text": ["a,b", "", None],
    }
)


def test_parquet_to_parquet_keeps_types(command, folder):
    pq.write_table(TABLE, "data.parquet")
    kept = ["id", "when", "list", "text"]
    options = [word for name in kept for word in ("--keep", name)]
    assert command(*options, data="data.parquet", output="out.pq")[0] == 0
    expected = TABLE.select(kept).append_column("age", pa.array([10, 20, 10], pa.uint8()))
    assert pq.read_table("out.pq").equals(expected)


def test_parquet_to_csv(command, folder):
    pq.write_table(TABLE, "data.parquet")
    done = command("--keep", "id", "--keep", "when", "--keep", "text", data="data.parquet")
    assert done[0] == 0
    assert (folder / "out.csv").read_text() == (
        'id,when,text,age\n1,1970-01-01,"a,b",10\n,1970-01-02,"",20\n3,,,10\n'
    )


def test_csv_to_parquet_keeps_text(command, folder):
    assert command("--keep", "id", output="OUT.PARQUET")[0] == 0
    expected = pa.table({"id": ["007", "1e5", "3"], "age": [10, 20, 10]})
    assert pq.read_table("OUT.PARQUET").equals(expected)


def test_lists_do_not_fit_in_csv(command, folder):
    pq.write_table(TABLE, "data.parquet")
    done = command("--keep", "list", data="data.parquet")
    refused(
        done,
        "column 'list' must hold text, numbers or times to be written to a CSV file, got list<element: "
        "int64>",
        folder,
        files=("data.csv", "data.parquet", "protocol.json"),
    )


def test_a_parquet_file_without_rows(command, folder):
    pq.write_table(TABLE[:0], "data.parquet")
    assert command("--keep", "id", data="data.parquet", output="out.parquet")[0] == 0
    assert pq.read_table("out.parquet").num_rows == 0
    assert pq.read_table("out.parquet").column_names == ["id", "age"]


def test_outputs_of_several_types_do_not_fit_in_parquet(command, folder):
    swap(values=(10, 30), outputs=(1, "a")).save("mixed.json")
    code, _, err = command(protocol="mixed.json", output="out.parquet")
    assert code == 1
    assert err.startswith("rldp: outputs of the protocol must be of one type, ")
    assert command(protocol="mixed.json")[0] == 0
    assert (folder / "out.csv").read_text() == "age\n1\na\n1\n"


# What cannot be released


UNKNOWN = "of data.csv must hold known labels"
ADVICE = "; --show-labels shows it"


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("f,10\nf,11\nm,12\n", f"column 'age' {UNKNOWN}, but row 2 has another entry; 2 of 3"),
        ("f,10\nx,10\ny,1\n", f"column 'sex' {UNKNOWN}, but row 2 has another entry; 2 of 3"),
        ("f,10\nf,\n,10\n", "column 'age' of data.csv must hold no nulls, but row 2 has no value; 2 of 3"),
        ("f,10\nNA,10\n", "column 'sex' of data.csv must hold no nulls, but row 2 has no value; 1 of 2"),
        ('f,10\n"NA",10\n', f"column 'sex' {UNKNOWN}, but row 2 has another entry; 1 of 2"),
        ("f,ten\n", f"column 'age' {UNKNOWN}, but row 1 has another entry; 1 of 1"),
    ],
    ids=["unknown value", "unknown secret", "empty", "NA", "quoted NA", "text"],
)
def test_rows_that_cannot_be_released(command, folder, rows, message):
    (folder / "data.csv").write_text("sex,age\n" + rows)
    advice = ADVICE if "another entry" in message else ""
    refused(command(), f"{message} rows cannot be released{advice}", folder)


def test_an_entry_is_shown_to_those_who_ask(command, folder):
    (folder / "data.csv").write_text("sex,age\nf,10\nf,11\n")
    message = "must hold known labels (10, 20, 30), but row 2 has '11'; 1 of 2 rows cannot be released"
    refused(command("--show-labels"), f"column 'age' of data.csv {message}", folder)


def test_rows_are_counted_through_all_parts(folder, monkeypatch):
    monkeypatch.setattr(csv_files, "_BYTES", 1000)
    rows = np.full(5000, 10)
    rows[[2345, 2346, 4999]] = 5
    (folder / "data.csv").write_text("sex,age\n" + "".join(f"f,{u}\n" for u in rows))
    steps = []
    with pytest.raises(rldp.DataError) as caught:
        release_file(swap(), "data.csv", "out.csv", secret="sex", value="age", callback=steps.append)
    assert str(caught.value) == (
        f"column 'age' {UNKNOWN}, but row 2346 has another entry; 3 of 5000 rows cannot be released; "
        "show_labels=True shows it"
    )
    assert len(steps) > 10
    assert not (folder / "out.csv").exists()


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (pa.array([10, None, 11]), "must hold no nulls, but row 2 has no value; 2 of 3"),
        (pa.array([10, 11, None]), "must hold known labels, but row 2 has another entry; 2 of 3"),
        (pa.array([10.0, float("nan"), 20]), "must hold no nulls, but row 2 has no value; 1 of 3"),
        (
            pa.array(["10", "20", "30"]),
            "must hold known labels, but row 1 has another entry; 3 of 3",
        ),
        (
            pa.array([0, 1, 2], pa.date32()),
            "must hold strings, numbers or booleans, but row 1 has an entry of type date; 3 of 3",
        ),
    ],
    ids=["null", "unknown", "NaN", "text", "dates"],
)
def test_rows_of_parquet_that_cannot_be_released(command, folder, column, message):
    pq.write_table(pa.table({"sex": ["f"] * 3, "age": column}), "data.parquet")
    refused(
        command(data="data.parquet"),
        f"column 'age' of data.parquet {message} rows cannot be released"
        + (ADVICE if "another entry" in message else ""),
        folder,
        files=("data.csv", "data.parquet", "protocol.json"),
    )


def test_a_mistake_leaves_an_older_file_alone(command, folder):
    (folder / "out.csv").write_text("old")
    (folder / "data.csv").write_text("sex,age\nf,10\nf,11\n")
    assert command()[0] == 1
    assert (folder / "out.csv").read_text() == "old"


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        ({"secret": "Sex"}, MISTAKE, "data.csv has no column 'Sex'; it has 'id', 'sex', 'age', 'note'"),
        ({"value": "sex"}, MISTAKE, "secret and value must be different columns, got 'sex' more than once"),
        ({"data": "none.csv"}, FILE, "data must be a file that exists, got 'none.csv'"),
        (
            {"data": "."},
            FILE,
            "data must be a CSV or Parquet file, got the folder '.' without any Parquet files",
        ),
        ({"output": "data.csv"}, MISTAKE, "output must be another file than the data, got 'data.csv'"),
        (
            {"output": "./protocol.json"},
            MISTAKE,
            "output must be another file than the protocol, got 'protocol.json'",
        ),
        ({"output": "none/out.csv"}, FILE, "--output must lie in a folder that exists, got 'none/out.csv'"),
        ({"output": "."}, FILE, "--output must be a file, got the folder '.'"),
        ({"protocol": "none.json"}, FILE, "path must be a protocol file, but 'none.json' is missing"),
    ],
    ids=str,
)
def test_what_cannot_be_asked_for(command, folder, options, code, message):
    refused(command(**options), message, folder, code=code)


def test_a_pipe_is_not_replaced(command, folder):
    os.mkfifo("pipe.csv")
    refused(
        command(output="pipe.csv"),
        "output must be writable, but 'pipe.csv' is not: it is a device or pipe",
        folder,
        code=FILE,
        files=("data.csv", "pipe.csv", "protocol.json"),
    )


@pytest.mark.parametrize(
    "name", ["out", "out.xls", "out.json", "out.tsv", "out.gz", "out.parquet.gz", ".csv"]
)
def test_a_file_of_an_unknown_kind_is_not_written(command, folder, name):
    endings = ".csv, .csv.gz, .csv.zst, .parquet, .pq or .xlsx"
    message = (
        f"output must end in {endings}, or be - for standard output, or have no extension if a folder is "
        f"released, got {name!r}"
    )
    refused(command(output=name), message, folder)
    with pytest.raises(rldp.InvalidArgument) as caught:
        release_file(swap(), "data.csv", name, secret="sex", value="age")
    assert str(caught.value) == message


@pytest.mark.parametrize(("name", "codec"), [("out.csv.gz", "gzip"), ("OUT.CSV.ZST", "zstd")])
def test_a_compressed_file_is_written_by_its_name(command, folder, name, codec):
    assert command("--keep", "id", output=name)[0] == 0
    with pa.CompressedInputStream(pa.OSFile(name), codec) as stream:
        assert stream.read() == b"id,age\n007,10\n1e5,20\n3,10\n"
    if codec == "gzip":
        assert gzip.decompress(Path(name).read_bytes()).startswith(b"id,age\n")
    (folder / "data.csv").write_text("sex,age\nf,11\n")
    before = Path(name).read_bytes()
    assert command(output=name)[0] == 1
    assert Path(name).read_bytes() == before


def test_rows_go_from_standard_input_to_standard_output_and_nothing_else_does(command, folder, monkeypatch):
    (folder / "scratch").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder / "scratch"))
    for content, done in (
        (DATA, (0, "age\n10\n20\n10\n", "rldp: 3 rows released (nothing proved)\n")),
        (f"{DATA}4,m,11,w\n", (1, "", f"rldp: column 'age' of standard input {TENTH}{ADVICE}\n")),
    ):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content.encode())))
        assert command(data="-", output="-") == done
        assert list((folder / "scratch").iterdir()) == []


TENTH = "must hold known labels, but row 4 has another entry; 1 of 4 rows cannot be released"


@pytest.mark.slow
def test_a_reader_that_leaves_is_no_mistake(proved, folder):
    """As in ``rldp release … -o - | head``."""
    rows = "f,10\n" * 30 + "f,20\n" * 10 + "f,30\n" * 5 + "m,10\n" * 5 + "m,20\n" * 25 + "m,30\n" * 25
    (folder / "data.csv").write_text("sex,age\n" + rows * 1000)
    options = ["--secret", "sex", "--value", "age", "-o", "-", "--quiet"]  # a slow machine tells of progress
    command = [sys.executable, "-m", "rldp", "release", "protocol.json", "data.csv", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=folder) as running:
        assert running.stdout.readline() == b"age\n"
        running.stdout.close()
        assert running.stderr.read() == b""
        assert running.wait(300) == 1


PLACES = "choose one by its place, '#3' or '#4'"


def test_missing_and_repeated_columns_to_keep(command, folder):
    refused(command("--keep", "x"), "data.csv has no column 'x'; it has 'id', 'sex', 'age', 'note'", folder)
    (folder / "data.csv").write_text("sex,age,x,x\nf,10,1,2\n")
    refused(command("--keep", "x"), f"data.csv must have one column 'x', got several; {PLACES}", folder)
    refused(command("--released-name", ""), "released must be the name of a column, got ''", folder)


def test_a_file_that_breaks_off_far_down_is_refused(command, folder):
    (folder / "data.csv").write_text("sex,age\n" + "f,10\n" * 400_000 + "f\n")
    code, out, err = command()
    assert (code, out) == (FILE, "")
    assert err.startswith("rldp: data.csv must be a CSV or Parquet table, but it cannot be read: ")
    assert not (folder / "out.csv").exists()


@pytest.mark.parametrize("content", [b"", b"\n\n", b"sex,age", bytes(range(256)) * 9, b"PAR1"])
@pytest.mark.parametrize("name", ["bad.csv", "bad.parquet"])
def test_files_that_are_no_tables(command, folder, name, content):
    (folder / name).write_bytes(content)
    code, out, err = command(data=name)
    assert (code, out) == (FILE, "")
    assert err.startswith(f"rldp: {name} must ")
    assert err.count("\n") == 1
    assert not (folder / "out.csv").exists()


def test_a_full_disk_is_one_line(command, folder, monkeypatch):
    def fails(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fails)
    refused(
        command(), "output must be writable, but 'out.csv' is not: No space left on device", folder, code=FILE
    )


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"keep": "id"}, rldp.InvalidArgumentType, "keep must be a list of names of columns, got 'id'"),
        ({"keep": [5]}, rldp.InvalidArgumentType, "keep must be the name of a column, got 5"),
        (
            {"secret": 5.5},
            rldp.InvalidArgumentType,
            "secret must be the name of a column, or a list of them, got 5.5",
        ),
        ({"released": 5}, rldp.InvalidArgumentType, "released must be the name of a column, got 5"),
        ({"data": 5}, rldp.InvalidArgumentType, "data must be a path, got 5"),
        ({"output": None}, rldp.InvalidArgumentType, "output must be a path, got None"),
        ({"seed": "x"}, rldp.InvalidArgumentType, "seed must be an integer or None, got 'x'"),
    ],
    ids=str,
)
def test_arguments_from_python(folder, options, error, message):
    arguments = {"data": "data.csv", "output": "out.csv", "secret": "sex", "value": "age", **options}
    with pytest.raises(error, match=f"^{message}$"):
        release_file(swap(), arguments.pop("data"), arguments.pop("output"), **arguments)


# Chance


def random_protocol():
    matrix = np.random.default_rng(4).dirichlet(np.ones(16), size=(3, 16))
    return rldp.Protocol(matrix, ["ill", "well", "unknown"], outputs=[f"y{i}" for i in range(16)])


def write_rows(path, count):
    """Rows with ids in order; their secrets and values."""
    rng = np.random.default_rng(3)
    protocol = random_protocol()
    secrets, values = rng.integers(0, 3, count), rng.integers(0, 16, count)
    table = pa.table({"id": np.arange(count), "s": np.array(protocol.secrets)[secrets], "u": values})
    if path.suffix == ".parquet":
        pq.write_table(table, path)
    else:
        pa.csv.write_csv(table, path)
    return secrets, values


@pytest.mark.parametrize("block", [2000, 10**6])
@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_a_file_is_released_like_its_columns(folder, monkeypatch, form, block):
    monkeypatch.setattr(csv_files, "_BYTES", block)
    monkeypatch.setattr(readers, "_ROWS", block // 7)
    protocol = random_protocol()
    secrets, values = write_rows(folder / f"rows.{form}", 20_000)
    options = {"secret": "s", "value": "u", "keep": ["id"], "allow_identifier": True, "seed": 6}
    assert release_file(protocol, f"rows.{form}", "out.csv", **options) == 20_000
    found = pd.read_csv("out.csv")
    assert found["id"].tolist() == list(range(20_000))
    assert (
        found["u"].tolist() == protocol.release(np.array(protocol.secrets)[secrets], values, seed=6).tolist()
    )


def test_a_seed_is_for_tests_and_says_so(command, folder):
    random = rldp.Protocol(np.full((2, 3, 3), 1 / 3), ["f", "m"], [10, 20, 30])
    random.save("protocol.json")
    (folder / "data.csv").write_text("sex,age\n" + "f,10\nm,20\n" * 100)
    found = []
    for seed in ("1", "1", "2", None, None):
        code, _, err = command(*(() if seed is None else ("--seed", seed)))
        warned = (
            "rldp: warning: with --seed the release is reproducible, for tests only; it protects nobody\n"
        )
        assert (code, err) == (0, "" if seed is None else warned)
        found.append((folder / "out.csv").read_text())
    assert found[0] == found[1]
    assert len(set(found)) == 4
    code, _, err = command("--seed", "-1")
    assert code == 1
    assert err.endswith("rldp: seed must lie between 0 and 2^128 - 1, got -1\n")


# Progress and interruption


def test_steps_count_rows_and_come_to_an_end(folder, monkeypatch):
    monkeypatch.setattr(csv_files, "_BYTES", 2000)
    monkeypatch.setattr(readers, "_ROWS", 1000)
    for form in ("csv", "parquet"):
        write_rows(folder / f"rows.{form}", 10_000)
        steps = []
        release_file(
            random_protocol(), f"rows.{form}", f"o{form}.csv", secret="s", value="u", callback=steps.append
        )
        assert len(steps) > 5
        assert [step.rows for step in steps] == sorted({step.rows for step in steps})
        assert all(0 < step.share <= 1 for step in steps)
        assert (steps[-1].rows, steps[-1].share) == (10_000, 1.0)


def test_an_interruption_is_exit_code_130_and_leaves_nothing(command, folder, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(rldp.protocol.Sampler, "draw", interrupted)
    assert command() == (130, "", "rldp: interrupted\n")
    assert sorted(path.name for path in folder.iterdir()) == ["data.csv", "protocol.json"]


def test_an_interrupted_parquet_file_is_closed_before_it_is_taken_away(command, folder, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(rldp.protocol.Sampler, "draw", interrupted)
    assert command(output="out.parquet") == (130, "", "rldp: interrupted\n")
    assert sorted(path.name for path in folder.iterdir()) == ["data.csv", "protocol.json"]


def arguments(folder, data="rows.csv", output="out.csv"):
    random_protocol().save(folder / "protocol.json")
    paths = [str(folder / name) for name in ("protocol.json", data)]
    options = [
        "--secret",
        "s",
        "--value",
        "u",
        "--keep",
        "id",
        "--allow-identifier",
        "-o",
        str(folder / output),
    ]
    return [sys.executable, "-m", "rldp", "release", "--unproved", *paths, *options]


@pytest.mark.slow
def test_a_terminal_shows_a_bar_and_a_pipe_does_not(tmp_path, monkeypatch, capsys):
    write_rows(tmp_path / "rows.csv", 50_000)
    command = [*arguments(tmp_path), "--force"]
    code, _, errors = run_command(monkeypatch, capsys, *command[3:], "--quiet")
    assert (code, errors) == (0, "")
    _, _, errors = run_command(monkeypatch, capsys, *command[3:])
    assert errors.startswith("rldp: warning: ε covers only the released columns")
    assert errors.count("\n") == 1
    screen, terminal = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=terminal, env=environment)
    os.close(terminal)
    shown = b""
    while True:
        try:
            piece = os.read(screen, 4096)
        except OSError:
            break
        if not piece:
            break
        shown += piece
    os.close(screen)
    assert process.wait(300) == 0
    assert b"Releasing" in shown
    assert b"rows" in shown


def half_way(process, folder, rows):
    """Pause when five bytes for every row have been written, about half; the name of the unfinished file.

    None if the run came to its end while nobody looked, as it may on a busy machine.
    """
    while process.poll() is None:
        for path in folder.glob(".out.csv.*"):
            if path.stat().st_size >= 5 * rows:
                process.send_signal(signal.SIGSTOP)
                os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
                return path.name if path.exists() and path.stat().st_size < 8 * rows else None
        time.sleep(0.002)
    return None


def stopped_half_way(command, folder, rows, how, older):
    """A run that a signal reaches half way, and the name of its unfinished file."""
    for _ in range(10):
        if older is not None:
            (folder / "out.csv").write_text(older)
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        scratch = half_way(process, folder, rows)
        if scratch is not None:
            process.send_signal(how)
            process.send_signal(signal.SIGCONT)
            return process, scratch
        process.kill()
        process.communicate()
        for path in folder.glob("*out.csv*"):
            path.unlink()
    raise AssertionError("every run ended too early")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("how", "older"),
    [(signal.SIGKILL, "old"), (signal.SIGINT, None)],
    ids=["killed, an older file", "interrupted, a new file"],
)
def test_a_run_that_stops_half_way_leaves_nothing_that_looks_finished(
    tmp_path, monkeypatch, capsys, how, older
):
    rows = 500_000
    write_rows(tmp_path / "rows.csv", rows)
    command = [*arguments(tmp_path), "--quiet"]  # a slow machine would tell of progress
    if older is not None:
        command.append("--force")
    process, scratch = stopped_half_way(command, tmp_path, rows, how, older)
    out, err = process.communicate(timeout=300)
    left = {"protocol.json", "rows.csv"} | ({"out.csv"} if older else set())
    if how == signal.SIGKILL:
        assert process.returncode == -signal.SIGKILL
        assert scratch.endswith(".unfinished")
        left.add(scratch)
    else:
        assert (process.returncode, out, err) == (130, b"", b"rldp: interrupted\n")
    assert {path.name for path in tmp_path.iterdir()} == left
    if older:
        assert (tmp_path / "out.csv").read_text() == older
    assert run_command(monkeypatch, capsys, *command[3:])[0] == 0
    assert {path.name for path in tmp_path.iterdir()} == {"protocol.json", "rows.csv", "out.csv"}
    assert 8 * rows <= (tmp_path / "out.csv").stat().st_size <= 12 * rows


# Five million rows


# A process between, because a process counts the memory of the one that started it.
MEASURED = """
import resource, subprocess, sys
done = subprocess.run(sys.argv[1:])
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
sys.exit(done.returncode)
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("data", "output"),
    [("rows.csv", "out.csv"), ("rows.parquet", "out.parquet")],
)
def test_five_million_rows(tmp_path, data, output):
    count = 5_000_000
    secrets, values = write_rows(tmp_path / data, count)
    command = [sys.executable, "-c", MEASURED, *arguments(tmp_path, data, output)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout.split()[-1]) / 1024 < 500  # MB

    read = pa.csv.read_csv if output.endswith(".csv") else pq.read_table
    found = read(tmp_path / output)
    assert found.column_names == ["id", "u"]
    assert np.array_equal(found["id"].to_numpy().astype(np.int64), np.arange(count))
    protocol = random_protocol()
    codes = pa.compute.index_in(found["u"].cast(pa.string()), pa.array(protocol.outputs)).to_numpy()
    seen = np.bincount((secrets * 16 + values) * 16 + codes, minlength=3 * 16 * 16).reshape(3, 16, 16)
    wanted = protocol.matrix * seen.sum(axis=2, keepdims=True)
    assert (chi2.sf(((seen - wanted) ** 2 / wanted).sum(axis=2), 15) > 1e-6).all()


# What kept columns tell


def test_a_kept_column_is_warned_of_once_with_a_command_that_measures_it(
    command, folder, monkeypatch, capsys
):
    rows = "".join(f"{sex},{age},{clinic}\n" for sex, clinic in ("fA", "mB") for age in (10, 20, 30)) * 60
    (folder / "the data.csv").write_text("sex,age,the clinic\n" + rows)
    code, _, errors = command("--keep", "the clinic", data="the data.csv")
    assert code == 0
    start = (
        "rldp: warning: ε covers only the released columns; kept columns are copied unchanged and can "
        "reveal the secret, alone or together with them. A design with --given COLUMN has such a column "
        "inside "
        "its promise. If one of them was itself released by a protocol, design both columns in one release. "
        "This tests them together, in a file that must not be published: "
    )
    assert errors.startswith(start)
    assert errors.count("\n") == 1
    release, audit = errors.removeprefix(start).split(" && ")
    assert run_command(monkeypatch, capsys, *shlex.split(release)[1:])[0] == 0
    words = shlex.split(audit)
    assert words[-2:] == ["--released=the clinic", "--released=age"]
    code, output, errors = run_command(monkeypatch, capsys, *words[1:], "--json")
    assert (code, errors) == (0, "")
    assert json.loads(output)["epsilon"] > 1.2


def test_several_kept_columns_bring_one_warning_and_none_bring_none(command):
    _, _, errors = command("--keep", "id", "--keep", "note")
    assert errors.count("\n") == 1
    assert errors.endswith("--released=id --released=note --released=age\n")
    assert command()[2] == ""
    assert command("--keep", "sex", "--allow-original")[2] == ""
    assert command("--keep", "id", "--quiet") == (0, "", "")


def test_a_kept_column_beside_a_joint_secret_is_measured_with_each_of_its_columns(
    folder, monkeypatch, capsys
):
    rows = "".join(f"{s},{r},{u},k\n" for s in "fm" for r in "xy" for u in (1, 2)) * 9
    (folder / "joint.csv").write_text("sex,race,age,kept\n" + rows)
    columns = ["--secret", "sex", "--secret", "race", "--value", "age", "--epsilon", "1"]
    run_command(monkeypatch, capsys, "design", "joint.csv", *columns, "--no-others", "-o", "joint.json")
    options = ["--keep", "kept", "-o", "out.csv"]
    code, _, errors = run_command(monkeypatch, capsys, "release", "joint.json", "joint.csv", *options)
    assert code == 0
    end = "--secret=sex --released=kept --released=age, and the same with each other column of the secret\n"
    assert errors.endswith(end)


def test_a_release_for_machines(proved, plainly, folder):
    code, output, errors = plainly("--json", "--keep", "id", "--released-name", "shown")
    found = json.loads(output)
    assert (code, errors.count("\n")) == (0, 1)
    warning = found.pop("warnings")
    assert found.pop("covers").startswith(
        "ε covers this column alone, released once, and not 'id', kept as it is. Another"
    )
    assert found.pop("leakage") == rldp.leakage(proved, [[1 / 3, 0, 0], [1 / 3, 0, 1 / 3]])
    assert errors == f"rldp: warning: {warning[0]}\n"
    assert found == {
        "output": "out.csv",
        "rows": 3,
        "skipped": 0,
        "released": ["shown"],
        "kept": ["id"],
        "protocol": "protocol.json",
        "sha256": hashlib.sha256((folder / "protocol.json").read_bytes()).hexdigest(),
        "proved": True,
        "epsilon": 0.5,
        "promise": f"ε = 0.5 {SCOPE}",
        "absence": None,
        "drift": None,
        "key": None,
    }
    swap().save("protocol.json")
    found = json.loads(plainly("--json", "--unproved")[1])
    assert (found["proved"], found["epsilon"], found["promise"]) == (False, None, "nothing proved")


# Folders


@pytest.fixture
def many(folder):
    """A folder of two Parquet files in two partitions."""
    for region in "NS":
        (folder / "rows" / f"region={region}").mkdir(parents=True)
        table = pa.table({"sex": ["f", "m"], "age": [10, 30]})
        pq.write_table(table, folder / "rows" / f"region={region}" / "a.parquet")
    return folder


def test_a_folder_is_released_into_a_new_folder(command, many):
    done = command("--keep", "region", "--jobs", "1", data="rows", output="out")
    assert done[:2] == (0, "4 rows released (nothing proved), written to out\n")
    assert pq.read_table(many / "out").to_pydict() == {
        "age": [10, 10, 10, 10],
        "region": ["N", "N", "S", "S"],
    }


def test_a_folder_that_exists_is_not_written_over(command, many):
    (many / "out").mkdir()
    code, _, errors = command("--keep", "region", data="rows", output="out")
    assert (code, errors) == (FILE, "rldp: --output must be a file, got the folder 'out'\n")
    assert list((many / "out").iterdir()) == []


def test_partitions_that_are_not_kept_are_named(command, many):
    code, _, errors = command(data="rows", output="out")
    assert code == MISTAKE
    assert errors.startswith("rldp: keep must name 'region', because the names of the output folders show it")
    assert not (many / "out").exists()


def test_the_command_and_the_library_read_a_folder_into_one_file_as_before(command, many):
    assert command(data="rows", output="out.csv")[0] == 0
    assert (many / "out.csv").read_text() == "age\n10\n10\n10\n10\n"
