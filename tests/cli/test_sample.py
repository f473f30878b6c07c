"""A table is read once: other commands take the file that ``rldp sample`` wrote in its place."""

import json

import pytest

import rldp
from commands import one_line

COLUMNS = ["--secret", "sex", "--value", "age"]
ON_SAMPLE = {
    "design": ["--epsilon", "0.5", "-o", "protocol.json"],
    "frontier": ["--epsilons", "0.5,1", "--table", "table.csv"],
    "compare": ["--epsilon", "0.5", "--table", "table.csv"],
    "plan": ["--epsilon", "0.5", "--sizes", "50", "--draws", "10", "--table", "table.csv"],
    "report": ["--epsilon", "0.5", "--protocol", "protocol.json", "-o", "page.html", "--epsilons", "0.5"],
}


@pytest.fixture
def sampled(rldp_command, tmp_path):
    """A table that was read, with numbers to be cut into bins."""
    ages = {"f": [20, 21, 22, 30, 31, 40], "m": [22, 30, 31, 40, 41, 42]}
    rows = [f"{sex},{age}" for sex, some in ages.items() for age in some] * 10
    (tmp_path / "data.csv").write_text("\n".join(["sex,age", *rows, ""]))
    code, out, _ = rldp_command("sample", "data.csv", *COLUMNS, "--bins", "3", "-o", "sample.json")
    assert code == 0
    assert out.startswith("120 rows, 2 secrets × 3 values: 'age', with the secret 'sex'; in bins")
    assert "written to sample.json\n" in out
    return tmp_path


@pytest.mark.parametrize("name", ON_SAMPLE)
def test_a_sample_file_takes_the_place_of_the_table(rldp_command, sampled, name):
    results = []
    for given in (["sample.json"], ["data.csv", *COLUMNS, "--bins", "3"]):
        code, _, _ = rldp_command(name, *given, *ON_SAMPLE[name], "--quiet")
        written = [sampled / file for file in ("protocol.json", "table.csv") if (sampled / file).exists()]
        assert code == 0
        assert written
        results.append([path.read_bytes() for path in written])
    assert results[0] == results[1]


@pytest.mark.usefixtures("sampled")
def test_columns_in_a_project_file_do_not_matter_where_they_are_those_of_the_sample(rldp_command, tmp_path):
    (tmp_path / "rldp.toml").write_text('secret = "sex"\nvalue = "age"\nbins = 5\nepsilon = 0.5\n')
    assert rldp_command("design", "sample.json", "-o", "protocol.json", "--quiet") == (0, "", "")
    assert len(rldp.load(tmp_path / "protocol.json").values) == 3
    assert rldp_command("report", "protocol.json", "-o", "page.html", "--epsilons", "0.5", "--quiet")[0] == 0


@pytest.mark.usefixtures("sampled")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--bins", "4"], "--bins must be given to 'rldp sample', since sample.json is read already"),
        (
            ["--missing", "skip"],
            "--missing must be given to 'rldp sample', since sample.json is read already",
        ),
        (["--secret", "town"], "--secret must be what sample.json holds, 'sex', or not be given"),
        (["--value", "town"], "--value must be what sample.json holds, 'age', or not be given"),
    ],
)
def test_a_sample_is_not_read_in_another_way(rldp_command, arguments, message):
    code, _, err = rldp_command("design", "sample.json", *ON_SAMPLE["design"], *arguments)
    assert (code, one_line(err)) == (1, message)


def test_a_damaged_sample_is_one_sentence(rldp_command, sampled):
    text = (sampled / "sample.json").read_text()
    (sampled / "sample.json").write_text(text.replace('"skipped":0', '"skipped":"x"'))
    code, _, err = rldp_command("design", "sample.json", *ON_SAMPLE["design"])
    assert code == 4
    assert one_line(err).startswith("sample.json must be a sample file, but skipped must be an integer")


def test_a_sample_for_machines(rldp_command, tmp_path):
    code, out, err = rldp_command("sample", "data.csv", *COLUMNS, "-o", "sample.json", "--json")
    assert (code, err) == (0, "")
    assert json.loads(out) == {
        "sample": "sample.json", "rows": 9, "skipped": 0, "noise": None, "rows_a_person": 1,
        "secrets": 2, "values": 2, "warnings": [],
    }  # fmt: skip


def test_a_table_needs_columns_and_a_sample_is_no_table(rldp_command, sampled):
    code, _, err = rldp_command("sample", "data.csv", "-o", "new.json")
    assert code == 2
    assert "--secret" in err
    code, _, err = rldp_command("sample", "sample.json", "-o", "new.json")
    assert (code, one_line(err)) == (
        1,
        "data must be a table, got 'sample.json', which is a sample file already",
    )
    code, _, err = rldp_command("sample", "data.csv", *COLUMNS, "--bins", "auto", "-o", "new.json")
    assert (code, one_line(err)) == (1, "--bins must be a number here, since auto needs one ε, got auto")
