"""Faults that are planted: the list fits the tree, and the tool tells what tests see from what they miss."""

import re
from pathlib import Path

import pytest

import faults
from faults import Fault, Stale, faults_in, mirrored_tests, planted

ROOT = Path(__file__).parents[2]
LIST = faults_in(ROOT / faults.LIST)


def trouble_with(fault):
    """Why a fault of the list cannot be planted, or which test it names that is not there."""
    try:
        compile(planted(fault, ROOT), fault.file, "exec")
    except (Stale, SyntaxError) as why:
        return f"{fault.name}: {why}"
    for test in fault.tests:
        path, _, name = test.partition("::")
        text = (ROOT / path).read_text(encoding="utf-8") if (ROOT / path).is_file() else ""
        if not text or (name and not re.search(rf"^def {re.escape(name)}\(", text, re.MULTILINE)):
            return f"{fault.name}: there is no {test}"
    return None


def test_every_fault_of_the_list_can_be_planted_and_its_tests_are_there():
    assert [trouble for trouble in map(trouble_with, LIST) if trouble] == []


def test_the_list_is_long_and_hardly_anything_in_it_is_equivalent():
    equivalent = [fault for fault in LIST if fault.equivalent]
    assert len(LIST) - len(equivalent) >= 100
    assert all(fault.equivalent.endswith(".") for fault in equivalent)


# A tree with a module of two lines

MODULE = "def double(x):\n    return 2 * x\n\n\ndef name():\n    return 'x' + ''\n"
TESTS = "import rldp\n\n\ndef test_double():\n    assert rldp.double(3) == 6\n"
FILE = "src/rldp/__init__.py"

ENTRIES = f"""
[[fault]]
name = "three times"
file = "{FILE}"
find = "2 * x"
replace = "3 * x"

[[fault]]
name = "another name"
file = "{FILE}"
find = "'x'"
replace = "'y'"

[[fault]]
name = "the other way round"
file = "{FILE}"
find = "'x' + ''"
replace = "'' + 'x'"
tests = ["tests/test_all.py::test_double"]
equivalent = "Nothing before or after a text leaves it as it is."

[[fault]]
name = "long gone"
file = "{FILE}"
find = "4 * x"
replace = "5 * x"
"""


@pytest.fixture
def tree(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # which the tiny tests do not need
    for name, text in {FILE: MODULE, "tests/test_all.py": TESTS, faults.LIST: ENTRIES}.items():
        (tmp_path / "tree" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "tree" / name).write_text(text)
    return tmp_path / "tree"


def test_what_is_caught_survives_or_is_stale_is_told_and_the_tree_stays_as_it_is(tree, capsys):
    before = {path: path.read_bytes() for path in tree.rglob("*") if path.is_file()}
    code = faults.main(["--root", str(tree), "--jobs", "2", "--limit", "100"])
    lines = capsys.readouterr().out.splitlines()
    assert code == 1
    assert {line.split()[0] + " " + name for line in lines[:4] for name in names(line)} == {
        "caught three times",
        "survived another name",
        "equivalent the other way round",
        "stale long gone",
    }
    assert lines[4] == "4 faults: 1 caught, 1 equivalent, 1 stale, 1 survived"
    assert len(lines) == 7
    assert "the text occurs 0 times" in "".join(lines[5:])
    assert {path: path.read_bytes() for path in tree.rglob("*") if path.is_file()} == before


def names(line):
    return [
        fault
        for fault in ("three times", "another name", "the other way round", "long gone")
        if fault in line
    ]


def test_all_is_well_where_every_fault_is_caught(tree, capsys):
    assert faults.main(["--root", str(tree), "--only", "three times", "--unchecked"]) == 0
    assert "tests/test_all.py::test_double" in capsys.readouterr().out


def test_tests_that_fail_without_a_fault_prove_nothing(tree, capsys, monkeypatch):
    monkeypatch.setattr(
        faults, "run_tests", lambda *_: (faults.FAILED, "FAILED tests/test_all.py::test_double")
    )
    assert faults.main(["--root", str(tree), "--only", "three times"]) == 1
    assert capsys.readouterr().out.startswith(
        "a test fails without any fault: tests/test_all.py::test_double"
    )


@pytest.mark.slow
def test_a_fault_that_hangs_is_stopped(tree):
    hang = Fault("hang", FILE, "2 * x", "[0 for _ in iter(int, 1)]")
    assert faults.tried(hang, tree, limit=3).word == faults.TIMED_OUT


def test_a_fault_that_tests_see_is_not_equivalent(tree, monkeypatch):
    monkeypatch.setattr(
        faults, "run_tests", lambda *_: (faults.FAILED, "FAILED tests/test_all.py::test_double")
    )
    fault = Fault("four times", FILE, "2 * x", "4 * x", equivalent="It is not.")
    outcome = faults.tried(fault, tree)
    assert (outcome.word, outcome.good) == (faults.NOT_EQUIVALENT, False)


@pytest.mark.parametrize(
    ("find", "replace", "why"),
    [
        ("x", "y", "occurs 3 times"),
        ("z", "y", "occurs 0 times"),
        ("2 * x", "2 * x", "is the text itself"),
    ],
)
def test_a_fault_must_have_one_place_and_change_it(tree, find, replace, why):
    with pytest.raises(Stale, match=why):
        planted(Fault("odd", FILE, find, replace), tree)


def test_a_fault_of_a_file_that_is_gone_is_stale(tree):
    with pytest.raises(Stale, match=r"there is no src/rldp/none\.py"):
        planted(Fault("odd", "src/rldp/none.py", "x", "y"), tree)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (ENTRIES.replace("another name", "three times"), "is there twice"),
        (ENTRIES.replace('replace = "5', 'instead = "5'), "instead means nothing"),
        (ENTRIES.replace('replace = "5 * x"', ""), "replace is missing"),
    ],
)
def test_a_list_that_is_none_is_refused(tmp_path, text, why):
    (tmp_path / "faults.toml").write_text(text)
    with pytest.raises(ValueError, match=why):
        faults_in(tmp_path / "faults.toml")


def test_without_names_the_tests_that_mirror_the_module_are_run():
    assert mirrored_tests("src/rldp/theory/bounds.py", ROOT) == ("tests/theory/test_bounds.py",)
    assert mirrored_tests("src/rldp/sets.py", ROOT) == ("tests/test_sets.py",)
    of_the_judge = mirrored_tests("src/rldp/judge/words.py", ROOT)
    assert "tests/judge/test_checks.py" in of_the_judge
    assert all(path.startswith("tests/judge/test_") for path in of_the_judge)
