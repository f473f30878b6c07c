"""Claims: each verdict follows from the data, and changes with it."""

import csv
import shutil
from collections import Counter

import numpy as np
import pytest

import rldp
from rldp.paper import Settings, check_claims, reproduce, utility_judges
from rldp.paper.claims import Checked, Evidence, _checked, as_csv, as_markdown
from rldp.paper.results import Results
from rldp.paper.statements import CLAIMS
from rldp.paper.utility_judges import program_size

pytestmark = pytest.mark.numerical

INSTANCES = 40
PLAIN, ROBUST = ("NUNP", "RUNP"), ("NURP", "RURP")


def spread(centre, outliers=(), instances=INSTANCES):
    """Values close to a centre, the last few of them replaced."""
    values = np.linspace(0.98, 1.02, instances) * centre
    values[instances - len(outliers) :] = outliers
    return values


def rows(problem, n, leakage, distortion, *, alpha=0.05, covered=None, solver="rldp"):
    count = len(leakage)
    return Results(
        {
            "n": np.full(count, float(n)),
            "alpha_privacy": np.full(count, alpha),
            "alpha_utility": np.full(count, 0.05),
            "instance": np.arange(count, dtype=float),
            "problem": np.full(count, problem),
            "solver": np.full(count, solver),
            "objective": distortion,
            "lower_bound": distortion - 1e-7,
            "leakage": leakage,
            "distortion": distortion,
            "covered": (leakage <= 0.5).astype(float) if covered is None else covered,
        }
    )


def joined(*parts):
    return Results({name: np.concatenate([part[name] for part in parts]) for name in parts[0].columns})


def scatter(n, plain, robust):
    return joined(
        *(rows(p, n, plain, spread(0.5)) for p in PLAIN),
        *(rows(p, n, robust, spread(1.0)) for p in ROBUST),
    )


def paper():
    """Data in which everything holds that the paper says, but for the size of the program."""
    coverage = {15: 0.8, 150: 0.95, 15000: 0.95}
    return {
        "scatter-small": scatter(75, spread(2.0, [9.0] * 3), spread(0.2, [0.9] * 4)),
        "scatter-large": scatter(15000, spread(1.5, [9.0] * 2), spread(0.4, [0.7] * 3)),
        "vs-n": joined(
            *(rows(p, n, spread(1.5), spread(0.5)) for n in coverage for p in PLAIN),
            *(
                rows(p, n, spread(0.2), spread(1.0), covered=np.arange(INSTANCES) < share * INSTANCES)
                for n, share in coverage.items()
                for p in ROBUST
            ),
        ),
        "alpha": joined(
            *(rows(p, 750, spread(1.0), spread(0.5), alpha=np.nan) for p in PLAIN),
            *(
                rows(p, 750, spread(0.2), spread(d), alpha=a)
                for a, d in ((0.01, 1.0), (0.5, 0.8), (0.9, 0.6))
                for p in ROBUST
            ),
        ),
        "clarabel-small": rows("NURP", 75, spread(0.2, [2.0] * 9), spread(1.0), solver="Clarabel"),
        "clarabel-large": rows("NURP", 15000, spread(0.2), spread(1.0), solver="Clarabel"),
    }


def verdicts(tables):
    checked = [_checked(claim, Evidence(Settings(), tables)) for claim in CLAIMS]
    return {claim.text: claim for claim in checked}


def test_data_like_the_papers_confirm_the_paper():
    found = {text: claim.verdict for text, claim in verdicts(paper()).items()}
    assert found.pop("The program grows exponentially in |S| and |U|.") == "corrected"
    assert set(found.values()) == {"holds"}
    assert len(found) == len(CLAIMS) - 1


def change(table, column, value, **where):
    """A change of some rows of a table: a new value, or a function of the old."""

    def apply(tables):
        mask = np.ones(len(tables[table]), dtype=bool)
        for name, wanted in where.items():
            mask &= tables[table][name] == wanted
        assert mask.any()
        new = value(tables[table][column][mask]) if callable(value) else value
        tables[table][column][mask] = new

    return apply


FLIPS = [
    (
        "Robust privacy holds for every",
        change("scatter-small", "covered", 1.0, problem="NURP"),
        "fails",
    ),
    ("The protocols are provably optimal", change("alpha", "lower_bound", 0.1), "fails"),
    (
        "almost all instances have ε* ≫ ε (scatter-small)",
        change("scatter-small", "leakage", 0.6, problem="RUNP"),
        "corrected",
    ),
    (
        "almost all instances have ε* ≫ ε (scatter-large)",
        change("scatter-large", "leakage", 0.4, problem="NUNP"),
        "fails",
    ),
    ("privacy is much worse", change("vs-n", "leakage", 0.6, problem="NUNP", n=15000), "corrected"),
    ("privacy is much worse", change("vs-n", "leakage", 0.6, problem="NUNP"), "fails"),
    ("significant utility (scatter-small)", change("scatter-small", "distortion", 0.9), "fails"),
    (
        "significant utility (scatter-large)",
        change("scatter-large", "distortion", 0.5, problem="RURP"),
        "fails",
    ),
    ("significant utility, whatever n", change("vs-n", "distortion", 0.5, problem="RURP", n=15), "corrected"),
    ("NURP ≈ RURP (scatter-small)", change("scatter-small", "distortion", 1.2, problem="RURP"), "corrected"),
    ("NURP ≈ RURP (scatter-large)", change("scatter-large", "leakage", 0.6, problem="RURP"), "corrected"),
    (
        "than robust utility gains (scatter-small)",
        change("scatter-small", "distortion", 0.1, problem="RUNP"),
        "fails",
    ),
    (
        "than robust utility gains (scatter-large)",
        change("scatter-large", "distortion", 0.4, problem="NURP"),
        "fails",
    ),
    ("relatively little impact", change("vs-n", "distortion", 1.5, problem="RURP", n=15), "corrected"),
    ("relatively little impact", change("vs-n", "distortion", 1.5, problem="RURP"), "fails"),
    ("RURP is very conservative", change("vs-n", "leakage", 0.4, problem="RURP", n=15), "corrected"),
    ("RURP is very conservative", change("vs-n", "leakage", 0.4, problem="RURP"), "fails"),
    (
        "does not always give ε* ≤ ε",
        lambda tables: [
            change(name, "leakage", lambda x: np.minimum(x, 0.5))(tables)
            for name in ("scatter-small", "scatter-large")
        ],
        "corrected",
    ),
    ("ε* ≤ ε is at least 1 − α", change("vs-n", "leakage", 0.6, problem="NURP", n=15), "fails"),
    ("confidence set of level 1 − α only", change("vs-n", "covered", 0.0, n=15000), "fails"),
    ("more outliers than expected", change("scatter-small", "leakage", 0.2, problem="NURP"), "corrected"),
    ("artefacts of the small sample", change("scatter-small", "leakage", 0.2, problem="NURP"), "corrected"),
    ("artefacts of the small sample", change("scatter-large", "leakage", 2.0, problem="NURP"), "fails"),
    (
        "Both scatter plots have outliers",
        change("scatter-small", "distortion", lambda x: np.where(np.arange(len(x)) % 10, x, 5.0)),
        "corrected",
    ),
    ("Both scatter plots have outliers", change("scatter-large", "leakage", 1.0), "fails"),
    ("As α_p grows", change("alpha", "distortion", 2.0, alpha_privacy=0.9), "fails"),
]


@pytest.mark.parametrize(
    ("fragment", "apply", "verdict"), FLIPS, ids=lambda x: x if isinstance(x, str) else ""
)
def test_other_data_give_another_verdict(fragment, apply, verdict):
    before, tables = verdicts(paper()), paper()
    apply(tables)
    (text,) = (claim.text for claim in CLAIMS if fragment in claim.text)
    after = verdicts(tables)[text]
    assert before[text].verdict == "holds"
    assert after.verdict == verdict
    assert after.measured != before[text].measured


def test_every_claim_about_data_is_turned_by_some_data():
    turned = {claim.text for claim in CLAIMS for fragment, *_ in FLIPS if fragment in claim.text}
    assert {claim.text for claim in CLAIMS} - turned == {"The program grows exponentially in |S| and |U|."}


def test_strict_privacy_everywhere_corrects_the_remark_that_it_fails():
    tables = paper()
    for name in ("scatter-small", "scatter-large"):
        np.minimum(tables[name]["leakage"], 0.5, out=tables[name]["leakage"])
    found = verdicts(tables)[
        "Robust privacy does not always give ε* ≤ ε, as P* ∈ F only with probability 1 − α."
    ]
    assert found.verdict == "corrected"
    assert "the set missed P* for 14 of these designs" in found.measured
    assert found.correction.endswith("also where the set missed P*")


def test_full_coverage_at_every_n_corrects_the_remark_on_coverage():
    tables = paper()
    change("vs-n", "covered", 1.0)(tables)
    found = verdicts(tables)["The test gives a confidence set of level 1 − α only as n → ∞."]
    assert found.verdict == "corrected"


def test_the_other_solver_stands_beside():
    tables = paper()
    change("scatter-small", "leakage", 0.2, problem="NURP")(tables)
    (text,) = (claim.text for claim in CLAIMS if "more outliers" in claim.text)
    found = verdicts(tables)[text]
    assert (
        "0 of 40 (expected 2); P* outside F: 4; CVXPY + Clarabel on the same draws: 9 of 40" in found.measured
    )
    assert "the solver's tolerance" in found.correction
    del tables["clarabel-small"]
    found = verdicts(tables)[text]
    assert "Clarabel" not in found.measured
    assert found.verdict == "corrected"


def test_a_solver_that_gave_up_does_not_count():
    tables = paper()
    change("clarabel-small", "leakage", np.nan)(tables)
    found = verdicts(tables)
    assert all("CVXPY" not in claim.measured for claim in found.values())


def test_infinite_leakage_is_no_error():
    tables = paper()
    for name in ("scatter-small", "scatter-large", "vs-n", "alpha"):
        change(name, "leakage", np.inf)(tables)
    assert {claim.verdict for claim in verdicts(tables).values()} <= {"holds", "corrected", "fails"}


def test_no_distortion_at_all_is_no_error():
    tables = paper()
    for name in ("scatter-small", "scatter-large", "vs-n", "alpha"):
        change(name, "distortion", 0.0)(tables)
    assert {claim.verdict for claim in verdicts(tables).values()} <= {"holds", "corrected", "fails"}


# The size of the program


@pytest.mark.parametrize(("secrets", "values"), [(2, 2), (3, 5), (4, 3)])
def test_the_size_is_counted_in_the_program_itself(monkeypatch, secrets, values):
    cp = pytest.importorskip("cvxpy")
    from rldp.paper.reference import SolverError, reference_design

    seen = []
    monkeypatch.setattr(cp.Problem, "solve", lambda program, **_: seen.append(program))
    with pytest.raises(SolverError, match="no solution"):
        reference_design(np.ones((secrets, values)), 0.5, "RURP", 0.05, np.ones((values, values)))
    (program,) = seen
    roots = {c.args[1].variables()[0].id for c in program.constraints if isinstance(c, cp.SOC)}
    stated = [v for v in program.variables() if v.id not in roots]  # the paper has no names for √(c x)
    robust = [c for c in program.constraints if any("geo" in atom.__name__.lower() for atom in c.atoms())]
    constraints, variables = program_size(secrets, values)
    assert len(robust) == constraints - 1  # robust utility is the objective
    assert sum(v.size for v in stated) == variables


def test_a_program_that_did_grow_exponentially_would_be_found_out(monkeypatch):
    monkeypatch.setattr(utility_judges, "program_size", lambda s, u: (2**u, 2**u))
    assert verdicts(paper())["The program grows exponentially in |S| and |U|."].verdict == "holds"


@pytest.mark.parametrize("settings", [Settings(secrets=2, values=2), Settings(secrets=10, values=2)])
def test_the_size_is_polynomial_from_every_alphabet(settings):
    assert utility_judges.growth(Evidence(settings, {})).holds is False


# Files

SMALL = Settings(instances=3, secrets=2, values=3)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    out = tmp_path_factory.mktemp("claims") / "reproduction"
    return reproduce(["scatter-small"], out, settings=SMALL).folder


def edited(folder, tmp_path, name, column, value, problem):
    copy = shutil.copytree(folder, tmp_path / "copy")
    with (copy / name).open(newline="") as file:
        table = list(csv.DictReader(file))
    for row in table:
        if row["problem"] == problem:
            row[column] = value
    with (copy / name).open("w", newline="") as file:
        writer = csv.DictWriter(file, table[0])
        writer.writeheader()
        writer.writerows(table)
    return copy


def test_the_claims_are_those_of_the_tables_beside_them(folder, tmp_path):
    before = check_claims(folder)
    assert (folder / "claims.csv").read_text() == as_csv(before)
    assert (folder / "claims.md").read_text() == as_markdown(before)
    after = check_claims(edited(folder, tmp_path, "scatter-small.csv", "leakage", "7.5", "NURP"))
    turned = {
        claim.text: (claim.verdict, other.verdict)
        for claim, other in zip(before, after, strict=True)
        if claim.verdict != other.verdict
    }
    assert turned[
        "At small n NURP has more outliers than expected, which the χ² approximation explains."
    ] == (
        "corrected",
        "holds",
    )
    assert turned["Robust privacy holds for every distribution in the set."] == ("holds", "fails")


def test_only_claims_with_data_are_judged(folder):
    texts = [claim.text for claim in check_claims(folder)]
    assert len(texts) < len(CLAIMS)
    assert not any("scatter-large" in text or "α_p" in text for text in texts)


def test_a_folder_without_a_manifest_is_refused(tmp_path):
    with pytest.raises(rldp.DataError, match="must be a folder that reproduce made, but: "):
        check_claims(tmp_path)


def test_the_table_of_claims_survives_its_own_bars():
    claim = Checked("Here", "|S| grows", "3", "corrected", "|S| stays")
    lines = as_markdown([claim]).splitlines()
    assert lines[-1] == r"| Here | \|S\| grows | 3 | **corrected**: \|S\| stays |"
    assert list(csv.reader(as_csv([claim]).splitlines()))[1] == [
        "Here",
        "|S| grows",
        "3",
        "corrected",
        "|S| stays",
    ]


def test_no_claim_is_made_twice():
    assert max(Counter(claim.text for claim in CLAIMS).values()) == 1
