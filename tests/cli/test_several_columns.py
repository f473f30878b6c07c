"""Several columns at the command line, from the data to the released file."""

import csv
import json
from functools import partial

import pytest

import rldp
from commands import run_command

pytestmark = pytest.mark.filterwarnings("ignore")

HEADER = "sex,age,job,hours"
ROWS = [
    f"{'fm'[i % 2]},{(20, 40, 60)[(i * i + i % 2) % 3]},{'ab'[(i // 3) % 2]},{10 + (i * 7) % 40}"
    for i in range(400)
]


DESIGN = "design people.csv --secret sex --epsilon 1 --utility nominal --gap 1e-2 --no-others"


@pytest.fixture
def people(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_text("\n".join([HEADER, *ROWS]) + "\n")
    return tmp_path


@pytest.fixture
def invoke(people, monkeypatch, capsys):
    return lambda line: run_command(monkeypatch, capsys, *line.split())


def test_columns_are_designed_verified_and_released_together(people, invoke):
    options = "--distortion age=absolute --distortion job=hamming --weight job=3 --weight age=1"
    code, output, errors = invoke(f"{DESIGN} --value age --value job {options} -o p.json --json")
    assert code == 0, errors
    found = json.loads(output)
    assert [(column["name"], column["weight"]) for column in found["columns"]] == [("age", 1.0), ("job", 3.0)]
    assert rldp.load("p.json").value_columns == ("age", "job")
    assert invoke("verify p.json")[0] == 0
    release = "release p.json people.csv -o out.csv --released-name years --released-name work"
    assert invoke(release)[0] == 0
    with (people / "out.csv").open() as file:
        header, *rows = csv.reader(file)
    assert header == ["years", "work"]
    assert len(rows) == len(ROWS)
    assert {row[1] for row in rows} <= {"a", "b"}
    errors = invoke(f"{release} --force --keep hours")[2]
    assert "--allow-original --released-name=years --released-name=work -o private.csv" in errors


def test_each_column_is_shown_by_itself_and_what_stays_between_them(invoke):
    assert invoke(f"{DESIGN} --value age --value hours --bins hours=3 -o p.json")[0] == 0
    shown = " ".join(invoke("show p.json")[1].split())
    assert "age: P(y | s, u) of this column alone, under the estimate" in shown
    assert "Between 'age' and 'hours' the" in shown
    found = json.loads(invoke("show p.json --json")[1])
    assert [column["name"] for column in found["by_column"]] == ["age", "hours"]
    assert len(found["by_column"][0]["probabilities"][0]) == 3
    assert found["associations"][0]["columns"] == ["age", "hours"]
    assert set(found["associations"][0]) == {"columns", "measure", "before", "after"}


def test_what_each_column_loses_is_told(invoke):
    code, output, _ = invoke(f"{DESIGN} --value age --value hours --bins hours=3 -o p.json")
    assert code == 0
    assert "by column" in output
    assert "hours" in output


def test_columns_may_be_chained(invoke):
    options = "--distortion hamming --privacy credible --chain"
    code, output, errors = invoke(f"{DESIGN} --value age --value job {options} -o c.json")
    assert code == 0, errors
    assert isinstance(rldp.load("c.json"), rldp.Chain)
    assert "columns one by one" in " ".join(output.split())
    assert invoke("release c.json people.csv -o out.csv")[0] == 0

    code, output, errors = invoke("estimate c.json out.csv --seed 1 --json --of shares")
    assert code == 0, errors
    assert len(json.loads(output)["estimates"]) == 6


def test_questions_about_two_columns_are_answered_from_a_file(people, monkeypatch, capsys):
    invoke = partial(run_command, monkeypatch, capsys)
    options = "--value age --value hours --bins hours=3 -o p.json"
    assert invoke(*f"{DESIGN} {options}".split())[0] == 0
    assert invoke(*["release", "p.json", "people.csv", "-o", "out.csv"])[0] == 0
    asked = ["estimate", "p.json", "out.csv", "--seed", "1", "--json", "--of"]
    code, output, errors = invoke(*asked, "slope of hours on age")
    assert code == 0, errors
    found = json.loads(output)
    wanted = rldp.estimate(
        rldp.Released.from_data("out.csv", rldp.load("p.json")), of="slope of hours on age", seed=1
    )
    assert found["of_moments"]
    assert found["estimates"][0]["value"] == wanted.values[0]
    code, _, errors = invoke(*asked, "slope of hours on job")
    assert code == 1
    assert "of must be 'slope of A on B' for two value columns" in errors


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--value age --value age", "age"),
        ("--value age --value sex", "sex"),
        ("--value age --value job --distortion hamming --weight job=0", "must be greater than 0"),
        ("--value age --value job --weight 2", "--weight must be COL=W"),
        ("--value age --value job --distortion job=cosine", "--distortion COL=… must be one of"),
        ("--value age --value job --bins age=x", "--bins must be a whole number or auto"),
        ("--value age --value job --distortion hamming --chain", "privacy must be 'credible' for a chain"),
    ],
)
def test_bad_input_gets_one_sentence(people, invoke, options, message):
    code, _, errors = invoke(
        f"design people.csv --secret sex {options} --epsilon 1 --utility nominal -o p.json"
    )
    assert code == 1
    assert message in errors
    assert errors.count("\n") == 1
    assert not (people / "p.json").exists()
