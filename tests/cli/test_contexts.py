"""Kept columns and earlier releases at the command line, from the data to the released file."""

import csv
import json
from pathlib import Path

import pytest

from commands import one_line, run_command

pytestmark = pytest.mark.filterwarnings("ignore")

ROWS = [
    f"{'fm'[i % 2]},{'ns'[(i // 2) % 2]},{(20, 40, 60)[(i * i + i % 2) % 3]},{'ab'[(i // 3) % 2]}"
    for i in range(1200)
]
DESIGN = "design people.csv --secret sex --privacy credible --utility nominal --gap 1e-2 --no-others"


@pytest.fixture
def invoke(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_text("\n".join(["sex,region,age,job", *ROWS]) + "\n")
    return lambda line: run_command(monkeypatch, capsys, *line.split())


def columns(path):
    with Path(path).open(newline="") as file:
        return list(zip(*csv.reader(file), strict=True))


def test_a_given_column_leaves_inside_the_promise(invoke):
    code, output, errors = invoke(f"{DESIGN} --value age --given region --epsilon 0.7 -o p.json --json")
    assert code == 0, errors
    found = json.loads(output)
    assert (found["given"], found["given_known"], found["earlier"]) == (["region"], False, [])
    assert "together with 'region', kept as it is" in found["promise"]
    assert invoke("verify p.json")[0] == 0
    code, output, errors = invoke("release p.json people.csv -o out.csv --json")
    assert code == 0, errors
    assert json.loads(output)["released"] == ["region", "age"]
    region, _ = columns("out.csv")
    assert region == columns("people.csv")[1]
    code, output, errors = invoke("estimate p.json out.csv --json")
    assert code == 0, errors
    assert len(json.loads(output)["estimates"]) == 6
    assert (
        "released must name 2 columns, for 'region', 'age'"
        in invoke("estimate p.json out.csv --released age")[2]
    )


def test_a_promise_to_readers_who_know_the_given_column(invoke):
    line = f"{DESIGN} --value age --given region --given-known --epsilon 0.7 -o p.json --json"
    code, output, errors = invoke(line)
    assert code == 0, errors
    assert "to readers who know 'region'" in json.loads(output)["promise"]
    assert "to readers who know 'region'" in invoke("verify p.json")[1]


def test_a_second_release_follows_the_first(invoke):
    assert invoke(f"{DESIGN} --value age --epsilon 0.4 -o first.json")[0] == 0
    line = f"{DESIGN} --value age --value job --distortion hamming --after first.json --epsilon 0.9"
    code, output, errors = invoke(f"{line} -o second.json --json")
    assert code == 0, errors
    assert json.loads(output)["earlier"] == ["age"]
    keep = "--keep sex --keep job --allow-original --released-name out"
    assert invoke(f"release first.json people.csv -o linked.csv {keep}")[0] == 0
    code, _, errors = invoke("release second.json linked.csv -o out.csv")
    assert code == 1
    assert "as-earlier must name a column for each of 'age'" in one_line(errors)
    code, output, errors = invoke("release second.json linked.csv --as-earlier out -o out.csv --json")
    assert code == 0, errors
    assert json.loads(output)["released"] == ["out", "job"]
    assert columns("out.csv")[0] == columns("linked.csv")[2]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            f"{DESIGN} --value age --given region --max-distortion 1 --given-known -o p.json",
            "--given-known must",
        ),
        (f"{DESIGN} --value age --max-distortion 1 --after q.json -o p.json", "--after must be left out"),
        (f"{DESIGN} --value age --epsilon 1 --after q.json -o p.json", "'q.json' is missing"),
        ("frontier people.csv --secret sex --value age --given region", "must have no given columns here"),
        (f"{DESIGN} --value age --given age --epsilon 1 -o p.json", "must be different columns"),
        (
            f"{DESIGN} --value age --given region --epsilon 0.001 -o p.json",
            "as a value column, make its labels coarser (--rare)",
        ),
        (f"{DESIGN} --value age --epsilon 1 --given-known -o p.json", "--given-known must"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(invoke, line, message):
    code, _, errors = invoke(line)
    assert code in (1, 4)
    assert message in errors


def test_merged_labels_of_a_given_column_are_told(invoke):
    towns = ["abcd"[i // 2 % (4 if i < 80 else 2)] for i in range(800)]
    rows = "".join(f"{'fm'[i % 2]},{town},{i // 4 % 2}\n" for i, town in enumerate(towns))
    Path("few.csv").write_text(f"sex,town,job\n{rows}")
    line = DESIGN.replace("people", "few").replace("1e-2", "1e-1")
    code, output, errors = invoke(f"{line} --value job --given town --rare 15 --epsilon 1 -o p.json")
    assert code == 0, errors
    wanted = "merged all labels of 'town' but 2 are published as '(other)'"
    for told in (output, invoke("show p.json")[1]):
        assert wanted in " ".join(told.split())


def test_show_and_report_tell_what_is_kept_and_what_came_before(invoke):
    code, output, _ = invoke(f"{DESIGN} --value age --given region --epsilon 0.9 --given-known -o p.json")
    told = " ".join(output.split())
    assert "have no --noise" in told
    assert "for the posterior mean only" in told
    assert "'age' beside 'region'" in invoke("show p.json")[1]
    found = json.loads(invoke("show p.json --json")[1])
    assert (found["given"], found["given_known"], found["earlier"]) == (["region"], True, [])
    assert [column["name"] for column in found["by_column"]] == ["age"]
    code, _, errors = invoke("report p.json -o page.html")
    assert code == 0, errors
    assert "Among people with the same" in Path("page.html").read_text(encoding="utf-8")
    code, _, errors = invoke("report p.json -o other.html --epsilons 0.5")
    assert code == 1
    assert "epsilons must be left out" in one_line(errors)
    assert not Path("other.html").exists()
