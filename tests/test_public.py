"""The public surface: its names, and what it takes to import and use it."""

from types import ModuleType

import pytest

import rldp
from commands import python

NAMES = {
    "Audit",
    "Batch",
    "Certificate",
    "ChiSquare",
    "CressieRead",
    "DataError",
    "Design",
    "GTest",
    "GapWarning",
    "Guarantee",
    "InvalidArgument",
    "InvalidArgumentType",
    "Membership",
    "MissingDependency",
    "Nominal",
    "PowerDivergence",
    "Progress",
    "Protocol",
    "ProtocolFileError",
    "ReleaseAudit",
    "RldpError",
    "RldpWarning",
    "Sample",
    "UncertaintySet",
    "UnseenSecretWarning",
    "Verdict",
    "WorstCase",
    "audit",
    "audit_release",
    "design",
    "design_batch",
    "distortion",
    "leakage",
    "load",
    "verify",
    "worst_case",
    "worst_case_leakage",
}


def imported():
    """The names that the package imports, its modules left out."""
    return {
        name
        for name, thing in vars(rldp).items()
        if not name.startswith("_") and not isinstance(thing, ModuleType)
    }


def test_the_public_names_do_not_drift():
    assert imported() == NAMES
    assert set(getattr(rldp, "__all__", NAMES)) - {"__version__"} == NAMES


@pytest.mark.parametrize("name", sorted(NAMES))
def test_every_public_name_is_explained(name):
    assert getattr(rldp, name).__doc__


@pytest.mark.parametrize(
    ("error", "also"),
    [
        (rldp.InvalidArgument, ValueError),
        (rldp.InvalidArgumentType, TypeError),
        (rldp.DataError, ValueError),
        (rldp.ProtocolFileError, ValueError),
        (rldp.MissingDependency, ImportError),
    ],
)
def test_every_error_is_one_of_ours_and_one_of_pythons(error, also):
    assert issubclass(error, rldp.RldpError)
    assert issubclass(error, also)


@pytest.mark.parametrize("warning", [rldp.GapWarning, rldp.UnseenSecretWarning])
def test_every_warning_is_one_of_ours(warning):
    assert issubclass(warning, rldp.RldpWarning)
    assert issubclass(warning, UserWarning)


def test_importing_the_package_imports_no_data_frames_terminals_or_modellers():
    found = python("""
        import sys
        import rldp
        heavy = "flint pyarrow narwhals pandas polars rich typer matplotlib cvxpy".split()
        print(*(name for name in heavy if name in sys.modules))
    """)
    assert found == []


def test_designing_needs_neither_files_nor_a_terminal(tmp_path):
    (tmp_path / "data.csv").write_text("s,u\na,1\n")
    found = python(f"""
        import sys
        from importlib.abc import MetaPathFinder

        class Blocked(MetaPathFinder):
            names = {{"pyarrow", "narwhals", "rich", "typer"}}

            def find_spec(self, name, path=None, target=None):
                if name.partition(".")[0] in self.names:
                    raise ImportError(name)

        sys.meta_path.insert(0, Blocked())
        import rldp

        designed = rldp.design(rldp.Sample([[3, 1], [1, 3]]), 1.0)
        designed.protocol.save({str(tmp_path / "protocol.json")!r})
        print(rldp.load({str(tmp_path / "protocol.json")!r}).guarantee.epsilon)

        for data in ({str(tmp_path / "data.csv")!r}, object()):
            try:
                rldp.Sample.from_data(data, secret="s", value="u")
            except rldp.MissingDependency as error:
                print(*str(error).split(), sep="-")
    """)
    assert found == [
        "1.0",
        "reading-files-needs-pyarrow,-which-is-not-installed",
        "reading-data-frames-needs-narwhals,-which-is-not-installed",
    ]
