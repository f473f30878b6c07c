"""The check of the English finds what its list names, and the tree has none of it."""

import shutil

import pytest

from check_words import ROOT, WORDS, Phrase, faults, phrases


@pytest.fixture
def tree(tmp_path):
    """A tree with the list and nothing else."""
    (tmp_path / "tools").mkdir()
    shutil.copy(ROOT / WORDS, tmp_path / WORDS)
    return tmp_path


def test_the_tree_has_none_of_them():
    assert list(faults()) == []


@pytest.mark.parametrize("phrase", phrases(), ids=lambda each: each.phrase)
def test_each_of_them_is_found(tree, phrase):
    page = tree / next((each for each in phrase.places if each.endswith(".md")), "README.md")
    page.parent.mkdir(exist_ok=True)
    page.write_text(f"Fine.\n\nSo {phrase.phrase.upper()} it is.\n")
    (line,) = faults(tree)
    assert line.startswith(f"{page.relative_to(tree)}:3: {phrase.phrase!r}; instead: ")


def test_a_phrase_is_found_over_the_end_of_a_line(tree):
    module = tree / "src" / "rldp" / "some.py"
    module.parent.mkdir(parents=True)
    module.write_text("# What people\n# are warned of.\n")
    assert len(list(faults(tree))) == 1


def test_a_phrase_is_left_alone_elsewhere_and_inside_words():
    phrase = Phrase("KL set", "confidence set", ("docs/index.md",))
    assert phrase.is_about("docs/index.md")
    assert not phrase.is_about("docs/theory.md")
    assert phrase.pattern.search("a KL set.")
    assert not phrase.pattern.search("KL settings")
