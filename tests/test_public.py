"""The public surface: its names, and what it takes to import and use it."""

import ast
import inspect
from types import ModuleType

import pytest

import rldp
from commands import python

NAMES = {
    "AllDistributions",
    "Association",
    "Audit",
    "Batch",
    "BatchStatus",
    "Chain",
    "ColumnCost",
    "Certificate",
    "ChiSquare",
    "Compared",
    "Comparison",
    "Confirmation",
    "Credible",
    "CressieRead",
    "DataError",
    "DataFileError",
    "Design",
    "Estimate",
    "FileError",
    "Frontier",
    "FrontierPoint",
    "GTest",
    "FewerBinsWarning",
    "GapWarning",
    "Guarantee",
    "InvalidArgument",
    "InvalidArgumentType",
    "KeptColumnsWarning",
    "KeyFileWarning",
    "LeastDesign",
    "Membership",
    "MissingDependency",
    "Nominal",
    "NotEnoughMemory",
    "NotProved",
    "Pairs",
    "Plan",
    "PlanRow",
    "Posterior",
    "PowerDivergence",
    "PriceWarning",
    "Progress",
    "Protocol",
    "ProtocolFileError",
    "Reason",
    "ReleaseAudit",
    "ReleaseOptions",
    "ReleaseResult",
    "Report",
    "Released",
    "RldpError",
    "RldpWarning",
    "Sample",
    "Settings",
    "SparseTableWarning",
    "Earlier",
    "Stage",
    "Status",
    "UncertaintySet",
    "UnseenSecretWarning",
    "Verdict",
    "WorstCase",
    "associations",
    "audit",
    "audit_release",
    "compare",
    "confirm",
    "confirm_chain",
    "design",
    "design_batch",
    "distortion",
    "estimate",
    "frontier",
    "known_leakage",
    "pair_leakage",
    "leakage",
    "least_epsilon",
    "load",
    "plan",
    "posterior",
    "release_file",
    "report",
    "sharpen",
    "verify",
    "worst_case",
    "worst_case_distortion",
    "worst_case_leakage",
}


def public():
    """The names that the package shows, its modules left out."""
    shown = (name for name in dir(rldp) if not name.startswith("_"))
    return {name for name in shown if not isinstance(getattr(rldp, name), ModuleType)}


def test_the_public_names_do_not_drift():
    assert public() == NAMES
    assert set(rldp.__all__) == NAMES


def test_who_reads_types_finds_what_a_program_finds():
    """Names are imported when they are first used; type checkers read imports that never run."""
    tree = ast.parse(inspect.getsource(rldp))
    read = {
        alias.name: statement.module
        for block in tree.body
        if isinstance(block, ast.If)
        for statement in block.body
        for alias in statement.names
    }
    assert read == {name: f"rldp.{room}" for name, room in rldp._HOME.items()}


def test_a_name_that_does_not_exist():
    with pytest.raises(AttributeError, match="module 'rldp' has no attribute 'desing'"):
        _ = rldp.desing


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
        (rldp.ProtocolFileError, rldp.FileError),
        (rldp.DataFileError, rldp.DataError),
        (rldp.DataFileError, rldp.FileError),
        (rldp.NotProved, rldp.ProtocolFileError),
        (rldp.MissingDependency, ImportError),
        (rldp.NotEnoughMemory, MemoryError),
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
        from rldp import *
        heavy = "flint pyarrow narwhals pandas polars rich typer matplotlib cvxpy".split()
        print(*(name for name in heavy if name in sys.modules))
    """)
    assert found == []


def test_a_name_is_imported_when_it_is_first_used():
    found = python("""
        import sys
        import rldp
        print("numpy" in sys.modules)
        rldp.Sample
        print("numpy" in sys.modules)
    """)
    assert found == ["False", "True"]


def test_designing_needs_neither_files_nor_a_terminal(tmp_path):
    (tmp_path / "data.csv").write_text("s,u\na,1\n")
    code = f"""
        import rldp

        designed = rldp.design(rldp.Sample([[3, 1], [1, 3]]), 1.0)
        designed.protocol.save({str(tmp_path / "protocol.json")!r})
        print(rldp.load({str(tmp_path / "protocol.json")!r}).guarantee.epsilon)

        for data in ({str(tmp_path / "data.csv")!r}, object()):
            try:
                rldp.Sample.from_data(data, secret="s", value="u")
            except rldp.MissingDependency as error:
                print(*str(error).split(), sep="-")
    """
    assert python(code, without=["pyarrow", "narwhals", "rich", "typer"]) == [
        "1.0",
        "reading-files-needs-pyarrow;-pip-install-pyarrow-installs-it",
        "reading-data-frames-needs-narwhals;-pip-install-narwhals-installs-it",
    ]


@pytest.mark.slow
def test_from_a_csv_to_a_release_and_its_audit_no_extra_is_needed(tmp_path):
    (tmp_path / "data.csv").write_text("s,u\n" + "a,1\nb,2\n" * 40 + "a,2\nb,1\n" * 20)
    code = f"""
        import io, os, sys
        from contextlib import redirect_stdout

        from rldp.cli import main

        os.chdir({str(tmp_path)!r})
        columns = "--secret s --value u"
        for line in (
            f"design data.csv {{columns}} --epsilon 1 --quiet -o protocol.json",
            "verify protocol.json",
            f"release protocol.json data.csv {{columns}} --keep s --allow-original "
            "--released-name y -o out.csv",
            f"audit protocol.json data.csv {{columns}}",
            "audit-release out.csv --secret s --released y --epsilon 1",
            "demo --quiet",
        ):
            sys.argv = ["rldp", *line.split()]
            try:
                with redirect_stdout(io.StringIO()):
                    main()
            except SystemExit as stop:
                print(sys.argv[1], stop.code)
    """
    extra = ["matplotlib", "joblib", "cvxpy", "clarabel", "dask", "distributed", "torch", "cupy"]
    extra += [
        "jinja2",
        "markupsafe",
        "sklearn",
        "pyspark",
        "python_calamine",
        "xlsxwriter",
        "pandas",
        "polars",
    ]
    found = python(code, without=[*extra, "pandas", "polars"])
    assert found[::2] == ["design", "verify", "release", "audit", "audit-release", "demo"]
    assert set(found[1::2]) == {"0"}
