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
        rldp.DataError, match=r"must be a workbook, but it cannot be read: it is damaged$"
    ) as caught:
        count(book())
    assert caught.value.__suppress_context__


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
