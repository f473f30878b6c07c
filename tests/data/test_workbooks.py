"""Excel workbooks: the cells of one sheet, read as CSV. The library that reads them is stood in for."""

import datetime
import sys
from types import SimpleNamespace

import numpy as np
import pytest

import rldp
from commands import python
from rldp import release_file

ROWS = [
    ["s", "u", "day", "note"],
    ["a", 1.0, datetime.date(2024, 2, 29), 'x "y",\nz'],
    ["b", 2.0, datetime.datetime(2024, 2, 29), ""],
    ["b", 1, datetime.datetime(2024, 2, 29, 12, 30), True],
]


@pytest.fixture
def book(tmp_path, monkeypatch):
    """A workbook with these sheets; of what it becomes nothing is left behind."""
    (tmp_path / "scratch").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "scratch"))

    def make(*sheets):
        def from_path(path):
            if not sheets:
                raise ValueError("Maria Schmidt")
            named = {
                f"sheet {i}": SimpleNamespace(to_python=lambda rows=rows: rows)
                for i, rows in enumerate(sheets)
            }
            return SimpleNamespace(sheet_names=list(named), get_sheet_by_name=named.get)

        stub = SimpleNamespace(CalamineWorkbook=SimpleNamespace(from_path=from_path))
        monkeypatch.setitem(sys.modules, "python_calamine", stub)
        (tmp_path / "data.xlsx").write_bytes(b"PK")
        return tmp_path / "data.xlsx"

    yield make
    assert list((tmp_path / "scratch").iterdir()) == []


def count(data, **options):
    return rldp.Sample.from_data(data, secret="s", value="u", **options)


def test_the_cells_of_a_sheet_are_a_table(book, tmp_path):
    path = book([], ROWS, [])
    assert count(path) == rldp.Sample([[1, 0], [1, 1]], ["a", "b"], [1, 2])
    protocol = rldp.Protocol([np.eye(2)] * 2, ["a", "b"], [1, 2], [1, 2])
    release_file(protocol, path, tmp_path / "out.csv", secret="s", value="u", keep=["day", "note"])
    assert (tmp_path / "out.csv").read_text() == (
        'day,note,u\n2024-02-29,"x ""y"",\nz",1\n2024-02-29,,2\n2024-02-29T12:30:00,true,1\n'
    )


def test_messages_are_about_the_workbook(book):
    path = book(ROWS)
    with pytest.raises(rldp.DataError) as caught:
        count(path, values=[1])
    assert str(caught.value).startswith(f"column 'u' of {path} must hold known labels, but row 2 has another")


@pytest.mark.parametrize("sheets", [([], []), (ROWS, ROWS)], ids=["none", "two"])
def test_which_sheet_is_meant_must_be_clear(book, sheets):
    with pytest.raises(rldp.DataError, match=r"must have one sheet with cells, got [02]$"):
        count(book(*sheets))


def test_a_damaged_workbook_is_a_sentence_without_its_cells(book):
    with pytest.raises(
        rldp.DataError,
        match=r"must be a workbook, but it cannot be read: it is damaged, or its format is unknown",
    ) as caught:
        count(book())
    assert "Maria" not in str(caught.value)
    assert caught.value.__suppress_context__


@pytest.mark.parametrize(
    ("kind", "error", "reason"),
    [
        ("PasswordError", Exception, "a password protects it"),
        ("ZipError", Exception, "it is damaged, or not a workbook"),
        ("MemoryError", MemoryError, "there is not enough memory for it"),
        ("PermissionError", OSError, "Permission denied"),
    ],
)
def test_why_a_workbook_cannot_be_read_is_said(book, monkeypatch, kind, error, reason):
    path = book(ROWS)
    raised = (
        PermissionError(13, "Permission denied") if error is OSError else type(kind, (error,), {})("Maria")
    )

    def from_path(path):
        raise raised

    monkeypatch.setattr(sys.modules["python_calamine"].CalamineWorkbook, "from_path", from_path)
    with pytest.raises(rldp.DataError, match=rf"must be a workbook, but it cannot be read: {reason}$"):
        count(path)


def test_what_is_written_can_be_read(tmp_path):
    """With the libraries themselves: numbers, truth values, days and text come back as they went in."""
    for library in ("python_calamine", "xlsxwriter"):
        pytest.importorskip(library)
    rows = ["a,1,007,2024-02-29,90071992547409931,true", "b,2,=1+1,,2,false", "b,1.5,,2024-03-01,3,"]
    table = "\n".join(["s,u,note,day,big,yes", *rows, ""])
    (tmp_path / "data.csv").write_text(table)
    options = {"secret": "s", "value": "u", "allow_original": True}
    keep = ["s", "note", "day", "big", "yes"]
    protocol = rldp.Protocol([np.eye(3)] * 2, ["a", "b"], [1, 1.5, 2], [1, 1.5, 2])
    release_file(protocol, tmp_path / "data.csv", tmp_path / "out.xlsx", keep=keep, **options)
    release_file(protocol, tmp_path / "out.xlsx", tmp_path / "out.csv", keep=keep, **options)
    assert (tmp_path / "out.csv").read_text() == (
        "s,note,day,big,yes,u\na,007,2024-02-29,90071992547409931,true,1\nb,=1+1,,2,false,2\nb,,2024-03-01,3,,1.5\n"
    )


def test_a_sheet_has_its_limits(tmp_path, monkeypatch):
    pytest.importorskip("xlsxwriter")
    monkeypatch.setattr("rldp.data.writers._MOST_ROWS", 2)
    protocol = rldp.Protocol([np.eye(2)], ["a"], [1, 2], [1, 2])
    for rows, note in ((3, "x"), (1, "x" * 40_000)):
        (tmp_path / "data.csv").write_text("s,u,note\n" + f"a,1,{note}\n" * rows)
        with pytest.raises(rldp.DataError, match="to fit in a workbook, got"):
            release_file(
                protocol, tmp_path / "data.csv", tmp_path / "out.xlsx", secret="s", value="u", keep=["note"]
            )
        assert not (tmp_path / "out.xlsx").exists()


def test_a_dialect_is_for_csv_files(book):
    with pytest.raises(
        rldp.InvalidArgument, match=r"^delimiter and encoding are for CSV files, got the workbook"
    ):
        count(book(ROWS), encoding="latin-1")


def test_a_workbook_that_is_not_there_is_a_file_that_is_not_there(tmp_path):
    with pytest.raises(rldp.DataError, match=r"^data must be a file that exists, got "):
        count(tmp_path / "none.xlsx")


def test_without_the_library_the_message_is_the_line_that_installs_it(tmp_path):
    (tmp_path / "data.xlsx").write_bytes(b"PK")
    code = f"""
    import rldp
    try:
        rldp.Sample.from_data({str(tmp_path / "data.xlsx")!r}, secret="s", value="u")
    except rldp.RldpError as error:
        print(error)
    """
    message = "reading workbooks needs python-calamine; pip install 'robust-ldp[excel]' installs it"
    assert python(code, without=["python_calamine"]) == message.split()
