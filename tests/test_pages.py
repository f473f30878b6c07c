"""What the pages show: commands that run, links that lead somewhere."""

import random
import re
import shlex
from pathlib import Path

import pytest

from commands import run_command

ROOT = Path(__file__).parents[1]
PAGES = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("clients/*/README.md")]
SLOW = {"reproduce"}


def commands():
    """Every line of the README that runs ``rldp``."""
    blocks = re.findall(r"^```\n(.*?)^```", (ROOT / "README.md").read_text(encoding="utf-8"), re.M | re.S)
    lines = [line for block in blocks for line in block.splitlines() if line.startswith("rldp ")]
    return [words for words in map(shlex.split, lines) if words[1] not in SLOW]


def write_table(path, header, rows):
    path.write_text("\n".join([header, *(",".join(map(str, row)) for row in rows)]) + "\n")


def test_every_command_of_the_readme_runs(monkeypatch, capsys, tmp_path):
    draws = random.Random(0)
    monkeypatch.chdir(tmp_path)

    def person():
        ill = draws.random() < 0.4
        return ("ill" if ill else "well", draws.choice((50, 60, 70) if ill else (30, 40, 50, 60, 70)))

    for name in ("people.csv", "everyone.csv", "new.csv"):
        rows = [(*person(), draws.choice("NS")) for _ in range(400)]
        write_table(tmp_path / name, "diagnosis,age,region", rows)
    rows = [(draws.choice(("ill", "well")), draws.choice((0, 1))) for _ in range(200)]
    write_table(tmp_path / "rows.csv", "diagnosis,shown", rows)
    ran = [words[1] for words in commands() if run_command(monkeypatch, capsys, *words[1:])[0] == 0]
    assert ran == [words[1] for words in commands()]
    assert {"design", "verify", "release", "audit", "audit-release"} <= set(ran)
    assert (tmp_path / "released.csv").read_text().startswith("region,age\n")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_leads_somewhere(page):
    no_links = r"^```.*?^```|\$\$.*?\$\$|\$[^$]+\$"  # code, mathematics
    text = re.sub(no_links, "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    targets = re.findall(r"\]\((?!https?://)([^)#\s]*)(?:#([^)\s]+))?\)", text)
    for file, anchor in targets:
        target = page.parent / file if file else page
        assert target.is_file(), f"{page.name} links to {file}, which does not exist"
        if anchor and target.suffix == ".md":
            assert anchor in anchors(target), f"{page.name} links to {file}#{anchor}, which does not exist"


def anchors(page):
    """The names that its headings have in links."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def chapters():
    """Every (module, chapter of the theory page) that some docstring names."""
    named = r"theory\.md``(?: alone)?((?:,?\s+(?:and\s+)?'[^']+')+)"
    for module in sorted((ROOT / "src").rglob("*.py")):
        for names in re.findall(named, module.read_text(encoding="utf-8")):
            yield from ((module, " ".join(name.split())) for name in re.findall(r"'([^']+)'", names))


def test_every_chapter_that_the_code_names_exists():
    headings = re.findall(r"^#+ (.*)$", (ROOT / "docs" / "theory.md").read_text(encoding="utf-8"), re.M)
    found = list(chapters())
    assert len(found) > 40
    assert [(module.name, name) for module, name in found if name not in headings] == []


def test_every_path_that_contributors_are_sent_to_exists():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    paths = re.findall(r"`([\w./]+(?:\.(?:py|md|json|cff|toml)|/))`", text)
    assert len(paths) > 50
    places = (ROOT, ROOT / "src" / "rldp", ROOT / "src" / "rldp" / "designer" / "engine")
    made = {"dist/"}
    missing = [p for p in paths if p not in made and not any((place / p).exists() for place in places)]
    assert missing == []


def test_the_walk_is_at_most_fifteen_modules_long():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    steps = re.findall(r"^\| (\d+) \| `([\w/]+\.py)` \|", text, re.M)
    assert [int(number) for number, _ in steps] == list(range(1, len(steps) + 1))
    assert 10 <= len(steps) <= 15
    assert len({module for _, module in steps}) == len(steps)
