"""``rldp report``: from a protocol file or straight from data, and what it refuses."""

import hashlib
import json

import numpy as np
import pytest

import rldp
from commands import one_line
from rldp.reporter.page import facts

COUNTS = [[52, 31, 17], [14, 38, 48]]
REPORT = ["report", "protocol.json", "--epsilons", "0.5,1", "-o", "page.html"]
COLUMNS = ["--secret", "diagnosis", "--value", "age"]


@pytest.fixture
def protocol(rldp_command, monkeypatch, tmp_path):
    monkeypatch.setattr(facts, "STANDARD", ("chi2", "nominal"))  # quick
    made = rldp.design(rldp.Sample(COUNTS, ["ill", "well"], [0, 1, 2]), 0.5).protocol
    made.save(tmp_path / "protocol.json")
    rows = [
        f"{secret},{value}\n" * count
        for secret, row in zip(("ill", "well"), COUNTS, strict=True)
        for value, count in enumerate(row)
    ]
    (tmp_path / "people.csv").write_text("diagnosis,age\n" + "".join(rows))
    return made


def test_a_protocol_file_gets_a_page(rldp_command, protocol, tmp_path):
    code, out, err = rldp_command(*REPORT)
    assert (code, err) == (0, "")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert out.endswith(f"{len(page.encode()):,} bytes written to page.html\n")
    assert "--with-counts includes them" in out
    assert hashlib.sha256((tmp_path / "protocol.json").read_bytes()).hexdigest() in page
    assert "<title>Proved: " in page
    assert rldp_command(*REPORT, "--quiet", "--with-counts") == (0, "", "")


def test_data_get_a_protocol_and_a_page(rldp_command, protocol, tmp_path):
    code, _, err = rldp_command(
        *("report", "people.csv", *COLUMNS, "--epsilon", "0.5", "--epsilons", "0.5", "-o", "page.html"),
        *("--protocol", "made.json"),
    )
    assert (code, err) == (0, "")
    assert rldp.verify(tmp_path / "made.json").ok
    assert np.array_equal(rldp.load(tmp_path / "made.json").matrix, protocol.matrix)
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert hashlib.sha256((tmp_path / "made.json").read_bytes()).hexdigest() in page
    assert "How “<bdi>age</bdi>” is published without leaking “<bdi>diagnosis</bdi>”" in page


def test_a_protocol_that_is_not_proved_gets_a_page_that_says_so_and_exit_code_3(
    rldp_command, protocol, tmp_path
):
    document = json.loads(protocol.to_json())
    document["guarantee"]["epsilon"] = 0.1
    (tmp_path / "protocol.json").write_text(json.dumps(document))
    code, out, err = rldp_command(*REPORT, "--json")
    assert code == 3
    facts = json.loads(out)
    assert (facts["proved"], facts["epsilon"]) == (False, None)
    assert one_line(err).startswith(
        "protocol.json is not proved, and the page says so: privacy is not proved"
    )
    assert "<title>Not proved: " in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_a_table_alone_is_refused(rldp_command, protocol, tmp_path):
    rldp_command("export", "protocol.json", "-o", "table.json")
    code, out, err = rldp_command("report", "table.json", "-o", "page.html")
    assert (code, out) == (3, "")
    assert (
        one_line(err) == "table.json must claim a privacy level to be reported on, but it holds only a table"
    )
    assert not (tmp_path / "page.html").exists()


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (["people.csv", *COLUMNS], 1, "--epsilon must be given with DATA, got none"),
        (["protocol.json", "--bins", "3"], 1, "--bins must be given with DATA or SAMPLE only"),
        (["protocol.json", "--epsilon", "1"], 1, "--epsilon must be given with DATA or SAMPLE only"),
        (["protocol.json", "--protocol", "x.json"], 1, "--protocol must be given with DATA or SAMPLE only"),
        (["protocol.json", "--epsilons", ","], 1, "epsilons must hold at least one level, got none"),
        (["protocol.json", "--epsilons", "x"], 1, "--epsilons must be comma-separated numbers, got 'x'"),
        (["protocol.json", "--epsilons", "-1,2"], 1, "epsilons must be at least 0"),
        (["people.csv"], 4, "people.csv must be a protocol file"),
        (["none.json"], 4, "none.json"),
        (["people.csv", *COLUMNS, "--epsilon", "-1"], 1, "epsilon must be"),
    ],
)
def test_bad_input_is_one_sentence_and_no_page(rldp_command, protocol, tmp_path, words, code, sentence):
    found, out, err = rldp_command("report", *words, "-o", "page.html")
    assert (found, out) == (code, "")
    assert sentence in one_line(err)
    assert not (tmp_path / "page.html").exists()


@pytest.mark.parametrize(
    ("given", "lacking"),
    [(["--secret", "diagnosis"], "--value"), (["--value", "age"], "--secret")],
)
def test_data_with_half_of_the_columns_are_a_mistake_in_the_command_line(
    rldp_command, protocol, tmp_path, given, lacking
):
    code, out, err = rldp_command("report", "people.csv", *given, "--epsilon", "1", "-o", "page.html")
    assert (code, out) == (2, "")
    assert err.endswith(f"Invalid value for {lacking}: must be given with DATA\n")
    assert not (tmp_path / "page.html").exists()


def test_neither_protocol_nor_data_are_written_over(rldp_command, protocol, tmp_path):
    before = (tmp_path / "protocol.json").read_bytes()
    code, _, err = rldp_command("report", "protocol.json", "-o", "protocol.json")
    assert (code, (tmp_path / "protocol.json").read_bytes()) == (1, before)
    assert "output must be another file than what the report is about" in err
    data = ["people.csv", *COLUMNS, "--epsilon", "1"]
    assert rldp_command("report", *data, "-o", "page.html", "--protocol", "people.csv")[0] == 1
    code, _, err = rldp_command("report", *data, "-o", "page.html", "--protocol", "page.html")
    assert (code, one_line(err)) == (1, "--protocol must be another file than --output, got 'page.html'")
    assert rldp_command("report", "protocol.json", "-o", "none/page.html")[0] == 4
