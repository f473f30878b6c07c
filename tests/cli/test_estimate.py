"""``rldp estimate``: the library's numbers, the naive answer beside them, and one line for mistakes."""

import json

import numpy as np
import pytest

import rldp
from commands import one_line, run_command

SAMPLE = rldp.Sample([[52, 31, 17], [14, 38, 48]], ["f", "m"], [10, 20, 30])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("estimate")
    (place / "people.csv").write_text(
        "sex,age\n"
        + "".join(
            f"{secret},{value}\n" * int(SAMPLE.counts[s, u])
            for s, secret in enumerate(SAMPLE.secrets)
            for u, value in enumerate(SAMPLE.values)
        )
    )
    sample = rldp.Sample.from_data(place / "people.csv", secret="sex", value="age")
    protocol = rldp.design(sample, 0.5).protocol
    protocol.save(place / "protocol.json")
    rldp.Protocol(protocol.matrix, protocol.secrets, protocol.values, protocol.outputs).save(
        place / "bare.json"
    )
    cells = np.repeat(np.arange(6), 5 * SAMPLE.counts.ravel())
    sexes, ages = np.array(SAMPLE.secrets)[cells // 3], np.array(SAMPLE.values)[cells % 3]
    shown = protocol.release(sexes, ages, seed=3)
    (place / "rows.csv").write_text(
        "sex,age\n" + "".join(f"{s},{y}\n" for s, y in zip(sexes, shown, strict=True))
    )
    (place / "old.csv").write_text("age,old,double\n30,1,60\n10,0,20\n20,0,40\n")
    return place


@pytest.fixture
def command(monkeypatch, capsys, folder):
    monkeypatch.chdir(folder)

    def run(*options, protocol="protocol.json", rows="rows.csv"):
        return run_command(monkeypatch, capsys, "estimate", protocol, rows, *options)

    return run


def library(folder, **options):
    protocol = rldp.load(folder / "protocol.json")
    secret = options.pop("secret", None)
    rows = rldp.Released.from_data(folder / "rows.csv", protocol, secret=secret)
    return rldp.estimate(rows, seed=0, **options)


def test_the_command_prints_what_the_library_finds(command, folder):
    code, output, errors = command("--seed", "0", "--json")
    found = json.loads(output)
    wanted = library(folder, sample=rldp.load(folder / "protocol.json").guarantee.sample)
    assert (code, errors) == (0, "")
    assert [line["value"] for line in found["estimates"]] == wanted.values.tolist()
    assert [line["upper"] for line in found["estimates"]] == wanted.upper.tolist()
    assert [line["naive"] for line in found["estimates"]] == wanted.naive.tolist()
    assert found["sample_rows"] == 200
    assert found["by_secret"] == []


def test_every_run_draws_an_order_of_its_own_and_its_seed_repeats_it(command):
    first, second = (json.loads(command("--json")[1]) for _ in range(2))
    assert first["seed"] != second["seed"]
    assert json.loads(command("--json", "--seed", str(first["seed"]))[1]) == first
    assert "with seed 7; the same seed repeats this result" in " ".join(command("--seed", "7")[1].split())


def test_command_and_library_use_the_protocols_sample_unless_told_otherwise(command, folder):
    found = json.loads(command("--seed", "0", "--json")[1])["estimates"]
    assert [line["value"] for line in found] == library(folder).values.tolist()
    alone = json.loads(command("--seed", "0", "--json", "--no-sample")[1])
    assert [line["lower"] for line in alone["estimates"]] == library(folder, sample=None).lower.tolist()


def test_a_sample_that_the_rows_reject_is_left_out_aloud(command, folder):
    """Everybody is of the youngest age, which the sample of the design knows nothing of."""
    (folder / "young.csv").write_text("age\n" + "10\n" * 1000 + "30\n" * 150)
    code, output, errors = command("--json", rows="young.csv")
    found = json.loads(output)
    assert (code, found["sample_rejected"], found["sample_rows"]) == (0, True, 0)
    assert found["agreement"] < found["min_agreement"] == 0.05
    assert one_line(errors).startswith("warning: The sample was left out: if it came from the same")
    assert json.loads(command("--json", "--min-agreement", "0", rows="young.csv")[1])["sample_rows"] == 200


def test_without_a_sample_what_is_unknown_is_null(command):
    found = json.loads(command("--no-sample", "--json")[1])
    line = found["estimates"][0]
    assert (found["sample_rows"], line["value"], line["identifiable"]) == (0, None, False)
    assert line["lower"] <= line["least"] < line["most"] <= line["upper"]


def test_estimates_by_secret(command, folder):
    found = json.loads(command("--secret", "sex", "--of", "mean", "--seed", "0", "--json")[1])
    wanted = library(
        folder, secret="sex", of="mean", sample=rldp.load(folder / "protocol.json").guarantee.sample
    )
    assert [group["secret"] for group in found["by_secret"]] == ["f", "m"]
    assert [group["estimates"][0]["value"] for group in found["by_secret"]] == wanted.values[:, 0].tolist()
    assert found["estimates"][0]["value"] == wanted.overall.values[0]


def test_the_fitted_prior_is_told(command):
    found = json.loads(command("--method", "posterior", "--json")[1])
    assert found["method"] == "posterior"
    assert found["prior_rows"] > 0
    assert json.loads(command("--json")[1])["prior_rows"] is None
    assert "Dirichlet prior" in " ".join(command("--method", "posterior")[1].split())


def test_a_table_names_functionals(command):
    found = json.loads(command("--of", "old.csv", "--seed", "0", "--json")[1])["estimates"]
    shares = json.loads(command("--seed", "0", "--json")[1])["estimates"]
    assert [line["label"] for line in found] == ["old", "double"]
    assert found[0]["value"] == pytest.approx(shares[2]["value"], abs=1e-9)


def test_another_sample_is_read_as_the_protocol_says(command):
    found = json.loads(command("--sample", "people.csv", "--json")[1])
    assert found["sample_rows"] == 200


def test_people_see_estimates_intervals_and_the_naive_answer(command):
    code, output, _ = command("--secret", "sex")
    assert code == 0
    for words in ("All people", "Secret f", "95 % interval", "uncorrected", "├", "●", "○", "• Estimated"):
        assert words in output


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["--released", "none"], "rows.csv has no column 'none'"),
        (["--released", "sex"], "column 'sex' of rows.csv must hold known labels, but row 1 has another"),
        (["--of", "nothing.csv"], "--of must be shares, mean or a file that exists, got 'nothing.csv'"),
        (["--of", "people.csv"], "people.csv must have a row for each of the 3 values, once, got others"),
        (["--alpha", "2"], "alpha must lie strictly between 0 and 1, got 2.0"),
        (["--sample", "people.csv", "--no-sample"], "--sample must not be given beside --no-sample"),
    ],
)
def test_mistakes_get_one_line(command, arguments, line):
    found, output, errors = command(*arguments)
    assert (found, output) == (1, "")
    assert one_line(errors).startswith(line)


def test_what_is_no_protocol_file_and_a_protocol_without_names(command):
    code, _, errors = command(protocol="rows.csv")
    assert code == 4
    one_line(errors)
    code, _, errors = command(protocol="bare.json")
    assert code == 1
    assert one_line(errors).startswith("released must name the column of outputs")
    assert command("--released", "age", protocol="bare.json")[0] == 0
