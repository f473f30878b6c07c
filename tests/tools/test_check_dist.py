"""The check of the distribution, on archives with one fault each."""

import io
import tarfile
import zipfile
from email.message import Message

import pytest

from check_dist import (
    EXTRAS,
    FILES,
    FOLDERS,
    PACKAGE_DATA,
    metadata_faults,
    page_faults,
    sdist_faults,
    version_faults,
    wheel_faults,
)

INFORMATION = tuple(f"x.dist-info/{name}" for name in ("METADATA", "entry_points.txt", "licenses/LICENSE"))
MODULE = "rldp/module.py"
LEFT_THERE = ("clients/javascript/node_modules/x/file", "docs/gallery/x.rst")


@pytest.fixture
def root(tmp_path):
    """A source tree with a file in every folder, and some rubbish."""
    names = [*FILES, *(f"{folder}/file" for folder in FOLDERS if folder != "src"), *LEFT_THERE]
    for name in [*names, *(f"src/{name}" for name in (*PACKAGE_DATA, MODULE, "rldp/__pycache__/module.pyc"))]:
        (tmp_path / "tree" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "tree" / name).write_text("")
    return tmp_path / "tree"


def wheel_with(root, names):
    with zipfile.ZipFile(root.parent / "x.whl", "w") as archive:
        for name in names:
            archive.writestr(name, "")
    return root.parent / "x.whl"


def sdist_with(root, names):
    with tarfile.open(root.parent / "x.tar.gz", "w:gz") as archive:
        for name in names:
            archive.addfile(tarfile.TarInfo(f"x-1/{name}"), io.BytesIO())
    return root.parent / "x.tar.gz"


WHEEL = (*PACKAGE_DATA, MODULE, *INFORMATION)


def test_a_complete_wheel_has_no_fault(root):
    assert wheel_faults(wheel_with(root, WHEEL), root) == []


@pytest.mark.parametrize("name", WHEEL)
def test_a_file_missing_from_the_wheel_is_named(root, name):
    (fault,) = wheel_faults(wheel_with(root, set(WHEEL) - {name}), root)
    assert fault == f"the wheel must hold {name.removeprefix('x.dist-info/')}, but it does not"


@pytest.mark.parametrize("name", PACKAGE_DATA)
def test_a_file_that_the_package_has_lost_is_named(root, name):
    (root / "src" / name).unlink()
    assert wheel_faults(wheel_with(root, set(WHEEL) - {name}), root)


@pytest.mark.parametrize("name", ["tests/test_x.py", "rldp/__pycache__/module.pyc", "rldp/old.py"])
def test_what_does_not_belong_into_the_wheel_is_named(root, name):
    assert wheel_faults(wheel_with(root, [*WHEEL, name]), root) == [
        f"the wheel must not hold {name}, but it does"
    ]


def everything(root):
    tree = [path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()]
    made = [name for name in tree if "__pycache__" in name or name in LEFT_THERE]
    return sorted(set(tree) - set(made)) + ["PKG-INFO", ".gitignore"]


def test_a_complete_source_distribution_has_no_fault(root):
    assert sdist_faults(sdist_with(root, everything(root)), root) == []


@pytest.mark.parametrize("name", [*FILES, "tests/file", "docs/file", "tools/file", "src/rldp/py.typed"])
def test_a_file_missing_from_the_source_distribution_is_named(root, name):
    faults = sdist_faults(sdist_with(root, set(everything(root)) - {name}), root)
    assert f"the source distribution must hold {name}, but it does not" in faults


def test_a_folder_missing_from_tree_and_source_distribution_is_named(root):
    (root / "docs" / "file").unlink()
    assert sdist_faults(sdist_with(root, everything(root)), root) == [
        "the source distribution must hold the folder docs, but it does not"
    ]


def test_rubbish_in_the_source_distribution_is_named(root):
    faults = sdist_faults(sdist_with(root, [*everything(root), ".venv/bin/python"]), root)
    assert faults == ["the source distribution must not hold .venv/bin/python, but it does"]


@pytest.mark.parametrize(
    ("page", "targets"),
    [
        ("see [theory](https://example.org/theory.md) and [below](#below)", []),
        ("see [theory](docs/theory.md)", ["docs/theory.md"]),
        ("![figure](figure.png) [a]( <b.md> )", ["figure.png", "b.md"]),
        ("[theory][1]\n\n[1]: docs/theory.md", ["docs/theory.md"]),
        ("<img src=\"figure.png\"><a href='x.md'>", ["figure.png", "x.md"]),
        ("P[s, u] (x) and `a[i](j)`", ["j"]),
    ],
)
def test_links_to_files_beside_the_page_are_named(page, targets):
    assert page_faults(page) == [
        f"the page must have no link to a file beside it, got {t!r}" for t in targets
    ]


def metadata(**changed):
    fields = {
        "Author": "A",
        "Classifier": "B",
        "Keywords": "C",
        "License-Expression": "D",
        "Requires-Python": "E",
        "Summary": "F",
        "Description-Content-Type": "text/markdown; charset=UTF-8",
    } | changed
    message = Message()
    for name, value in fields.items():
        if value is not None:
            message[name] = value
    for extra in EXTRAS:
        message["Provides-Extra"] = extra
    message.set_payload("A page.")
    return message


def test_complete_metadata_have_no_fault():
    assert metadata_faults(metadata()) == []


@pytest.mark.parametrize(
    "field", ["Author", "Classifier", "Keywords", "License-Expression", "Requires-Python", "Summary"]
)
def test_a_field_missing_from_the_metadata_is_named(field):
    assert metadata_faults(metadata(**{field: None})) == [f"the metadata must have {field}, but they do not"]


def test_a_description_of_another_type_is_named():
    (fault,) = metadata_faults(metadata(**{"Description-Content-Type": "text/x-rst"}))
    assert "must be Markdown" in fault


def test_a_missing_extra_is_named():
    found = metadata()
    del found["Provides-Extra"]
    assert "there must be an extra paper, but there is none" in metadata_faults(found)


@pytest.mark.parametrize(
    ("version", "citation", "heading", "fault"),
    [
        ("1.0", "1.0", "[1.0] - 2030-01-01", None),
        ("1.1.dev0", "1.1.dev0", "[Unreleased]", None),
        ("1.0", "0.9", "[1.0] - 2030-01-01", "CITATION.cff must name version 1.0, got 0.9"),
        ("1.0", "1.0", "[Unreleased]", "CHANGELOG.md must have a section [1.0], but it has none"),
        ("1.1.dev0", "1.1.dev0", "[1.0]", "CHANGELOG.md must have a section [Unreleased], but it has none"),
    ],
)
def test_places_that_name_another_version_are_named(tmp_path, version, citation, heading, fault):
    (tmp_path / "CITATION.cff").write_text(f"title: x\nversion: {citation}\n")
    (tmp_path / "CHANGELOG.md").write_text(f"# Changelog\n\n## {heading}\n")
    assert version_faults(version, tmp_path) == ([] if fault is None else [fault])
