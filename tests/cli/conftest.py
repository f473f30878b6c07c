import pytest

from commands import run_command


@pytest.fixture
def rldp_command(monkeypatch, capsys, tmp_path):
    """Run the command in an empty folder with a small table: (exit code, output, errors)."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    (tmp_path / "data.csv").write_text("sex,age,town\n" + "f,1,ä\nm,2,b\n" * 3 + "f,2,b\nm,1,ä\nf,1,b\n")
    return lambda *arguments: run_command(monkeypatch, capsys, *arguments)
