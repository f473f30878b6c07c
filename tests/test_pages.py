"""What the pages show: commands that run, links that lead somewhere."""

import ast
import random
import re
import shlex
import tomllib
from pathlib import Path

import pytest

import rldp
from check_dist import page_faults
from commands import run_command

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
MADE = {"api", "gallery"}  # folders of pages that 'make docs' makes
PAGES = [
    *ROOT.glob("*.md"),
    *ROOT.glob("clients/*/README.md"),
    *sorted(page for page in DOCS.rglob("*.md") if page.relative_to(DOCS).parts[0] not in MADE),
]
WITH_COMMANDS = [ROOT / "README.md", DOCS / "quickstart.md", *sorted(DOCS.glob("guide/*.md"))]
SLOW = {"reproduce"}


def commands(page):
    """Every line of a page that runs ``rldp``."""
    blocks = re.findall(r"^```([^\n]*)\n(.*?)^```", page.read_text(encoding="utf-8"), re.M | re.S)
    lines = [
        line for kind, block in blocks if not kind for line in block.splitlines() if line.startswith("rldp ")
    ]
    return [words for words in map(shlex.split, lines) if words[1] not in SLOW]


def write_table(path, header, rows):
    path.write_text("\n".join([header, *(",".join(map(str, row)) for row in rows)]) + "\n")


@pytest.mark.parametrize(
    "page", [page for page in WITH_COMMANDS if commands(page)], ids=lambda page: page.name
)
def test_every_command_of_a_page_runs(page, monkeypatch, capsys, tmp_path):
    draws = random.Random(0)
    monkeypatch.chdir(tmp_path)

    def person():
        ill = draws.random() < 0.4
        return ("ill" if ill else "well", draws.choice((50, 60, 70) if ill else (30, 40, 50, 60, 70)))

    for name in ("people.csv", "everyone.csv", "new.csv"):
        rows = [(*person(), draws.choice("NS"), number) for number in range(400)]
        write_table(tmp_path / name, "diagnosis,age,region,person", rows)
    rows = [(draws.choice(("ill", "well")), draws.choice((0, 1))) for _ in range(200)]
    write_table(tmp_path / "rows.csv", "diagnosis,shown", rows)
    shown = commands(page)
    ran = [words for words in shown if run_command(monkeypatch, capsys, *words[1:])[0] == 0]
    assert ran == shown


def test_the_readme_shows_the_way_from_a_file_to_a_release():
    shown = [words[1] for words in commands(ROOT / "README.md")]
    assert shown == ["demo", "design", "verify", "release"]


def test_the_readme_is_short_and_its_first_command_is_on_the_first_screen():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(re.findall(r"\S*\w\S*", text)) <= 700
    assert text[: text.index("pip install")].count("\n") <= 12
    prose = [line for line in text.splitlines() if not line.startswith(("|", "rldp", ">>>"))]
    assert max(map(len, prose)) < 120
    assert "`make demo`" in text
    assert "`make test`" in text


def test_the_page_of_the_package_has_no_link_to_a_file_beside_it():
    """The build applies these substitutions to the README."""
    hooks = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["metadata"]
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    assert page_faults(page) != []
    for each in hooks["hooks"]["fancy-pypi-readme"]["substitutions"]:
        page = re.sub(each["pattern"], each["replacement"], page)
    assert page_faults(page) == []
    assert "quick start (`docs/quickstart.md`)" in page.lower()
    assert "before-after" not in page


def test_pictures_of_the_readme_are_light():
    pictures = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert pictures
    assert all((ROOT / picture).stat().st_size < 200_000 for picture in pictures)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_leads_somewhere(page):
    no_links = r"^```.*?^```|\$\$.*?\$\$|\$[^$]+\$"  # code, mathematics
    text = re.sub(no_links, "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    targets = re.findall(r"\]\((?!https?://)([^)#\s]*)(?:#([^)\s]+))?\)", text)
    for file, anchor in targets:
        target = page.parent / file if file else page
        if target.parent.name in MADE:
            continue  # tools/check_site.py looks at these
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


def test_every_public_name_stands_in_the_table_of_names_once():
    blocks = re.findall(
        r"^```\{eval-rst\}\n(.*?)^```", (DOCS / "api.md").read_text(encoding="utf-8"), re.M | re.S
    )
    names = [name for block in blocks for name in re.findall(r"^   (\w+)$", block, re.M)]
    assert sorted(names) == sorted(rldp.__all__)


def test_every_page_can_be_reached_from_the_first_one():
    """A page that is in no table of contents is built, and nobody finds it."""
    reached, ahead = set(), [DOCS / "index.md"]
    while ahead:
        page = ahead.pop()
        reached.add(page)
        text = page.read_text(encoding="utf-8")
        for block in re.findall(r"^```\{toctree\}\n(.*?)^```", text, re.M | re.S):
            entries = re.findall(r"^(?!:)(\S+)$", block, re.M)
            found = ((page.parent / f"{entry}.md").resolve() for entry in entries)
            ahead += [entry for entry in found if entry not in reached and entry.is_file()]
    assert {page for page in PAGES if page.is_relative_to(DOCS)} - reached == set()


def test_there_are_examples_and_each_says_what_it_shows():
    examples = sorted((ROOT / "examples").glob("plot_*.py"))
    assert len(examples) >= 10
    for example in examples:
        title, line, _ = ast.get_docstring(ast.parse(example.read_text(encoding="utf-8"))).split("\n", 2)
        assert line == "=" * len(title), f"{example.name} needs a title"
