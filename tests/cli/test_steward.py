"""A steward's day gone wrong, as shell commands: each is refused, or told in one sentence, none is silent."""

import csv
import json
import os
import re
import shlex

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from commands import one_line

ROWS = 1200
HEADER = "id,health,wage,pay,region,bmi"
DESIGN = (
    "rldp design people.csv --secret health --value wage --bins 4 --epsilon 0.5 --privacy pairs "
    "--utility nominal --gap 1e-3 --no-others "
)


def table(path, header, columns):
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header.split(","))
        writer.writerows(zip(*columns, strict=True))


DESIGNS = (
    DESIGN + "-o wages.json",
    DESIGN.replace("--value wage", "--value '#3'") + "-o third.json",
    DESIGN.replace("pairs", "credible") + "-o credible.json",
    DESIGN.replace("wage --bins 4", "bmi --distortion hamming --missing skip") + "-o bmi.json",
    DESIGN.replace("people.csv", "accounts.parquet").replace("wage --bins 4", "account --distortion hamming")
    + "-o accounts.json",
)


@pytest.fixture
def office(tmp_path, rldp_command):
    """A folder with a table of people, of which health is the secret, and a protocol for their wages."""
    rng = np.random.default_rng(7)
    health = rng.choice(["good", "poor"], ROWS, p=[0.75, 0.25])
    good = health == "good"
    wage = rng.normal(np.where(good, 120, 95), 25).clip(20, 300).round(2)
    region = np.where(good, rng.choice(list("abc"), ROWS, p=[0.7, 0.2, 0.1]), rng.choice(list("abc"), ROWS))
    bmi = np.where(rng.random(ROWS) < np.where(good, 0.03, 0.16), "", rng.choice(["low", "high"], ROWS))
    ids = 100_000 + np.arange(ROWS)
    table(tmp_path / "people.csv", HEADER, (ids, health, wage, wage.round(), region, bmi))
    table(tmp_path / "tripled.csv", HEADER, (ids, health, 3 * wage, wage.round(), region, bmi))
    table(tmp_path / "moved.csv", "id,health,bonus,pay,region,bmi", (ids, health, wage, wage, region, bmi))
    (tmp_path / "months/sub").mkdir(parents=True)
    (tmp_path / "linked").mkdir()
    account = np.arange(ROWS) % 3 + 2**53
    rows = pa.table({"health": health, "wage": wage, "account": account})
    pq.write_table(rows, tmp_path / "months/may.parquet")
    for name in ("one", "two"):
        os.link(tmp_path / "months/may.parquet", tmp_path / "linked" / f"{name}.parquet")
    pq.write_table(rows, tmp_path / "accounts.parquet")
    floats = rows.set_column(2, "account", pa.array(account.astype(float)))
    pq.write_table(floats, tmp_path / "floats.parquet")
    (tmp_path / "older.csv").write_text("mine\n")
    for line in DESIGNS:
        assert rldp_command(*shlex.split(line)[1:])[0] == 0, line
    loose = json.loads((tmp_path / "credible.json").read_text())
    loose["guarantee"]["privacy"]["alpha"] = 0.9999
    (tmp_path / "loose.json").write_text(json.dumps(loose))
    return rldp_command


REFUSED = {
    "wages tripled": ("rldp release wages.json tripled.csv -o out.csv", "chance explains .*--allow-drift"),
    "an identifier is kept": (
        "rldp release wages.json people.csv -o out.csv --keep id",
        "identify people; .*--allow-identifier",
    ),
    "the value is kept by its place": (
        "rldp release wages.json people.csv -o out.csv --keep '#3'",
        "'wage' and '#3', which are the same",
    ),
    "another column stands in the place of the value": (
        "rldp release third.json moved.csv -o out.csv",
        "has no column 'wage'",
    ),
    "rows without a value are left out": (
        "rldp release bmi.json people.csv -o out.csv",
        "being left out is .* --missing category .*--allow-absence",
    ),
    "one file is read twice, through a link": (
        "rldp release wages.json linked -o out.csv",
        "each file once, .* a link repeats one",
    ),
    "the result lies in the folder that is read": (
        "rldp release wages.json months -o months/sub/out.parquet",
        "output must not lie among the files of the data",
    ),
    "a file is there": ("rldp release wages.json people.csv -o older.csv", "which exists; --force"),
    "numbers are larger than floats can tell apart": (
        "rldp release accounts.json floats.parquet -o out.csv",
        "must hold known labels, .* 1200 of 1200 rows",
    ),
    "a protocol promises less than a coin toss": (
        "rldp release loose.json people.csv -o out.csv",
        "an α of at most 0.5, but it proves .* at most 0.9999",
    ),
    "another promise is required": (
        "rldp release wages.json people.csv -o out.csv --require credible:0.05",
        "must promise credible with an α of at most 0.05",
    ),
}


def test_what_is_unsafe_is_refused_in_one_line_and_leaves_nothing(office, tmp_path):
    before = sorted(path.name for path in tmp_path.rglob("*"))
    for case, (line, message) in REFUSED.items():
        code, output, errors = office(*shlex.split(line)[1:])
        assert code in (1, 3, 4), case
        assert not output, case
        assert re.search(message, one_line(errors)), (case, errors)
        assert sorted(path.name for path in tmp_path.rglob("*")) == before, case
    assert (tmp_path / "older.csv").read_text() == "mine\n"


def test_kept_columns_are_told_with_a_command_that_tests_them_together(office):
    audit = "rldp audit-release private.csv --secret=health --released=region --released=wage"
    for column in ("region", "'#5'"):
        line = f"rldp release wages.json people.csv -o out.csv --keep {column} --force"
        told = one_line(office(*shlex.split(line)[1:])[2])
        assert audit in told
    for command in told.partition("must not be published: ")[2].split(" && "):
        code, _, errors = office(*shlex.split(command)[1:])
        assert code == 0, errors


def test_rows_that_leave_despite_their_drift_are_told(office):
    line = "rldp release wages.json tripled.csv -o out.csv --allow-drift"
    code, _, errors = office(*shlex.split(line)[1:])
    assert code == 0
    told = "warning: the promise may not hold for these rows, which differ from the sample more than chance"
    assert one_line(errors).startswith(told)


def test_an_audit_of_many_labels_says_what_it_could_not_have_seen(office):
    line = "rldp audit-release people.csv --secret health --released pay"
    code, output, errors = office(*shlex.split(line)[1:])
    assert code == 0, errors
    assert "would not be noticed" in " ".join(output.split())
