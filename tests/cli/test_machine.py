"""Every command speaks to machines: the keys that docs/json.md shows, no more and no fewer."""

import json
import math
import random
import re
import shlex
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import typer.main

import rldp
from commands import run_command
from rldp import cli
from rldp.cli.machine import plain

PAGE = Path(__file__).parents[2] / "docs" / "json.md"
EXAMPLES = re.findall(
    r"^```\n(rldp .*?)\n```\n+```json\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.M | re.S
)
SLOW = {"reproduce"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """People and a protocol, as the page has them."""
    place = tmp_path_factory.mktemp("machines")
    rows = [
        (s, u)
        for s, row in (("ill", (52, 31, 17)), ("well", (14, 38, 48)))
        for u, n in enumerate(row)
        for _ in range(n)
    ]
    (place / "people.csv").write_text("diagnosis,age,region\n" + "".join(f"{s},{u},N\n" for s, u in rows))
    sample = rldp.Sample.from_data(place / "people.csv", secret="diagnosis", value="age")
    rldp.design(sample, 0.5).protocol.save(place / "protocol.json")
    options = rldp.ReleaseOptions(keep=["region"], ledger=place / "releases.jsonl")
    with pytest.warns(rldp.KeptColumnsWarning):
        rldp.release_file(place / "protocol.json", place / "people.csv", place / "old.csv", options=options)
    draws = random.Random(0)
    shown = "".join(f"{draws.choice(('ill', 'well'))},{draws.choice((0, 1))}\n" for _ in range(200))
    (place / "rows.csv").write_text("diagnosis,shown\n" + shown)
    return place


def keys(tree):
    """All keys, and those of what lies inside; of lists, those of the first item."""
    if isinstance(tree, dict):
        return {key: keys(item) for key, item in tree.items()}
    return [keys(tree[0])] if isinstance(tree, list) and tree and isinstance(tree[0], dict) else None


def test_the_page_has_an_example_of_every_command():
    commands = set(typer.main.get_command(cli.app).commands)
    assert {shlex.split(line)[1] for line, _ in EXAMPLES} == commands


@pytest.mark.parametrize(("line", "shown"), EXAMPLES, ids=[shlex.split(line)[1] for line, _ in EXAMPLES])
def test_every_command_prints_the_keys_that_the_page_shows(folder, monkeypatch, capsys, line, shown):
    words = shlex.split(line)
    if words[1] in SLOW:
        pytest.importorskip("joblib")
    monkeypatch.chdir(folder)
    _, output, _ = run_command(monkeypatch, capsys, *words[1:])
    found = json.loads(output, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))
    assert keys(found) == keys(json.loads(shown))


@dataclass(frozen=True)
class Thing:
    array: np.ndarray
    number: float
    path: Path


def test_what_json_lacks_is_written_as_the_page_says():
    thing = Thing(np.array([[1.0, np.inf]]), math.inf, Path("a/b"))
    assert plain({"x": (thing,)}) == {
        "x": [{"array": [[1.0, "infinity"]], "number": "infinity", "path": str(Path("a/b"))}]
    }
