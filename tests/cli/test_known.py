"""``--epsilon-known``: what commands say to and about readers who know the value."""

import json
from pathlib import Path

import pytest

import rldp
from commands import run_command

COUNTS = {"hs": (900, 700, 400), "other": (60, 90, 250)}


@pytest.fixture
def people(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [f"{s},{u}\n" for s, row in COUNTS.items() for u, n in enumerate(row) for _ in range(n)]
    (tmp_path / "people.csv").write_text("group,age\n" + "".join(rows))
    return ["people.csv", "--secret", "group", "--value", "age", "--privacy", "nominal"]


def test_a_design_tells_who_changes_and_warns_where_the_majority_never_does(people, monkeypatch, capsys):
    words = ["design", *people, "--epsilon", "0.3", "--utility", "nominal", "-o", "p.json", "--no-others"]
    code, output, errors = run_command(monkeypatch, capsys, *words)
    assert code == 0
    told = " ".join(output.split())
    assert "By secret: 0 % of the rows with 'hs'" in told or "By secret: less than 0.01 %" in told
    assert "To a reader who knows the value, the output reveals up to κ =" in told
    said = " ".join(errors.split())
    assert "the rows with 'other' get an output that rows with the most frequent secret, 'hs'," in said
    assert "--epsilon-known" in said


def test_a_level_silences_the_warning_and_is_kept(people, monkeypatch, capsys):
    words = ["design", *people, "--epsilon", "0.3", "--utility", "nominal", "--epsilon-known", "0.5"]
    code, output, errors = run_command(monkeypatch, capsys, *words, "-o", "p.json", "--json")
    assert (code, errors) == (0, "")
    found = json.loads(output)
    assert found["epsilon_known"] == 0.5
    assert found["known_leakage"] <= 0.5
    assert [secret for secret, _ in found["verdict"]["changed_of"]] == ["hs", "other"]
    assert all(share > 0.001 for _, share in found["verdict"]["changed_of"])
    assert rldp.verify("p.json").epsilon_known == 0.5
    code, output, _ = run_command(monkeypatch, capsys, "verify", "p.json")
    assert code == 0
    assert "the output reveals at most 0.5 more about the secret, whatever the distribution" in output


@pytest.mark.parametrize(
    "words",
    [
        ["frontier", "--epsilons", "0.5,1"],
        ["compare", "--epsilon", "0.5"],
        ["plan", "--epsilon", "0.5", "--sizes", "500", "--draws", "10"],
        ["design", "--max-distortion", "0.4", "-o", "least.json", "--no-others"],
        ["report", "--epsilon", "0.5", "-o", "page.html", "--epsilons", "0.5", "--protocol", "made.json"],
    ],
    ids=lambda words: words[0],
)
def test_every_command_that_designs_takes_a_level(people, words, monkeypatch, capsys):
    verb, *options = words
    code, output, errors = run_command(
        monkeypatch, capsys, verb, *people, "--utility", "nominal", *options, "--epsilon-known", "0", "--json"
    )
    assert code == 0, errors
    found = json.loads(output)
    if verb == "compare":
        assert found["comparison"]["known_leakage"][0] == 0
    if verb == "design":
        assert not rldp.load("least.json").reads_secret
    if verb == "report":
        assert not rldp.load("made.json").reads_secret
        assert "Readers who know the value" in Path("page.html").read_text(encoding="utf-8")


def test_a_larger_level_costs_no_more(people):
    sample = rldp.Sample(list(COUNTS.values()), list(COUNTS))
    options = {"privacy": "nominal", "utility": "nominal"}
    frontiers = [
        rldp.frontier(sample, [0.5, 1.0], epsilon_known=k, **options) for k in (0.0, 0.5, float("inf"))
    ]
    for points in zip(*(found.points for found in frontiers), strict=True):
        assert points[0].promised >= points[1].promised - 1e-6 >= points[2].promised - 2e-6
    least = [rldp.least_epsilon(sample, 0.3, epsilon_known=k, **options).epsilon for k in (0.0, float("inf"))]
    assert least[0] >= least[1] * (1 - 2e-3)
