"""Draws, tables, figures and the paper's data files."""

import csv
import dataclasses
import math

import numpy as np
import pytest

import rldp
from rldp.measures.leakage import distortions, leakages
from rldp.paper import FIGURES, Settings, check_claims, plan, plots, reproduce
from rldp.paper.draws import draw
from rldp.paper.figures import over_alpha
from rldp.paper.plan import EXPERIMENTS, MULTIPLES, PRIVACY_LEVELS, tasks
from rldp.paper.results import Results, outliers, read, summary

pytestmark = pytest.mark.numerical

LEAKAGE, DISTORTION = "leakage ε* under the truth", "distortion D* under the truth"

SMALL = Settings(instances=4, secrets=2, values=3, seed=7)
FEW = (1, 5)
PROBLEMS = ("NUNP", "NURP", "RUNP", "RURP")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """All figures for two secrets and three values; promises, which take longer, at two sizes only."""
    out = tmp_path_factory.mktemp("all") / "reproduction"
    reproduce([name for name in FIGURES if name != "promises"], out, settings=SMALL)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plan, "MULTIPLES", FEW)
        reproduce(["promises"], out, settings=SMALL)
    return out


def rows_of(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def cells_of(row, name):
    return np.array([[float(row[f"{name}_{s}_{u}"]) for u in range(3)] for s in range(2)])


# Draws


def test_an_instance_is_the_same_whoever_draws_it():
    whole = draw(SMALL, 1, 30, 0, 6)
    for first, count in ((0, 1), (2, 3), (5, 1)):
        part = draw(SMALL, 1, 30, first, count)
        np.testing.assert_array_equal(part.truths, whole.truths[first : first + count])
        np.testing.assert_array_equal(part.counts, whole.counts[first : first + count])


def test_a_truth_is_the_same_at_every_sample_size_and_samples_are_not():
    small, large = draw(SMALL, 1, 30, 0, 5), draw(SMALL, 1, 60, 0, 5)
    np.testing.assert_array_equal(small.truths, large.truths)
    assert (small.counts.sum(axis=(1, 2)) == 30).all()
    assert (large.counts.sum(axis=(1, 2)) == 60).all()
    assert (small.counts * 2 != large.counts).any()


@pytest.mark.parametrize("other", [(Settings(seed=8, secrets=2, values=3), 1), (SMALL, 2)])
def test_another_seed_or_experiment_draws_something_else(other):
    assert (draw(*other, 30, 0, 1).truths != draw(SMALL, 1, 30, 0, 1).truths).all()


def test_truths_follow_jeffreys_prior():
    truths = draw(Settings(), 1, 15, 0, 4000).truths.reshape(4000, 15)
    np.testing.assert_allclose(truths.sum(axis=1), 1)
    variance = (1 / 15) * (14 / 15) / (15 / 2 + 1)
    np.testing.assert_allclose(truths.mean(axis=0), 1 / 15, atol=4 * math.sqrt(variance / 4000))
    np.testing.assert_allclose(truths.var(axis=0), variance, rtol=0.2)


# Judging many protocols at once


def protocols(rng, count):
    matrices = rng.dirichlet(np.ones(4), size=(count, 3, 5))
    matrices[0, :, :, 3] = 0
    matrices[0] /= matrices[0].sum(axis=2, keepdims=True)  # an output that is never used
    matrices[1, 1, :, 2] = 0
    matrices[1] /= matrices[1].sum(axis=2, keepdims=True)  # one that gives a secret away
    return np.stack([rldp.Protocol(matrix).matrix for matrix in matrices])


def test_many_protocols_are_judged_as_each_alone():
    rng = np.random.default_rng(3)
    matrices, truths = protocols(rng, 6), rng.dirichlet(np.full(15, 0.5), size=6).reshape(6, 3, 5)
    truths[2, 1] = 0
    truths[2] /= truths[2].sum()  # a secret that does not occur
    d = rng.uniform(size=(5, 4))
    found, costs = leakages(matrices, truths), distortions(matrices, truths, d)
    for i, (matrix, truth) in enumerate(zip(matrices, truths, strict=True)):
        present = truth.sum(axis=1) > 0
        outputs = [t / t.sum() @ m for t, m in zip(truth[present], matrix[present], strict=True)]
        ratios = [
            math.inf if b == 0 < a else a / b
            for p in outputs
            for q in outputs
            for a, b in zip(p, q, strict=True)
            if a > 0 or b > 0
        ]
        assert found[i] == pytest.approx(math.log(max(ratios)))
        assert found[i] == rldp.leakage(rldp.Protocol(matrix), truth)
        cost = sum(truth[s, u] * matrix[s, u] @ d[u] for s in range(3) for u in range(5))
        assert costs[i] == pytest.approx(cost)
    assert found[1] == math.inf
    assert np.isfinite(found[[0, 2, 3]]).all()


# Tables


def test_the_tables_have_a_row_for_every_design(folder):
    lengths = {name: len(rows_of(folder / f"{name}.csv")) for name in EXPERIMENTS}
    assert lengths == {
        "scatter-small": 4 * 4,
        "scatter-large": 4 * 4,
        "vs-n": 4 * 4 * len(MULTIPLES),
        "alpha": 4 * (2 + 2 * len(PRIVACY_LEVELS)),
        "clarabel-small": 2,
        "clarabel-large": 2,
        "promises": 4 * 3 * len(FEW),
    }


def test_the_experiments_are_as_large_as_in_the_paper():
    planned = {name: list(tasks(experiment, Settings())) for name, experiment in EXPERIMENTS.items()}
    designs = {name: sum(task.rows for task in part) for name, part in planned.items()}
    assert designs["scatter-small"] == designs["scatter-large"] == 30 * 4
    assert designs["vs-n"] == 1000 * 4 * 10
    assert designs["alpha"] == 500 * (2 + 2 * 9)
    assert designs["promises"] == 100 * 3 * 10
    assert designs["clarabel-small"] == designs["clarabel-large"] == 30
    assert len(MULTIPLES) >= 9
    assert (MULTIPLES[0], MULTIPLES[-1]) == (1, 10_000)
    cells = {name: [task.cell for task in part] for name, part in planned.items()}
    assert {cell.multiple for cell in cells["scatter-small"]} == {5}
    assert {cell.multiple for cell in cells["scatter-large"]} == {1000}
    assert {cell.alpha_utility for cell in cells["alpha"]} == {0.5}


def test_the_columns_are_named(folder):
    names = (folder / "vs-n.csv").read_text().partition("\n")[0].split(",")
    cells = ["0_0", "0_1", "0_2", "1_0", "1_1", "1_2"]
    assert names == [
        *("n", "alpha_privacy", "alpha_utility", "instance", "problem", "solver"),
        *("objective", "lower_bound", "leakage", "distortion", "covered"),
        *(f"truth_{cell}" for cell in cells),
        *(f"count_{cell}" for cell in cells),
    ]


@pytest.mark.parametrize("name", ["scatter-small", "alpha"])
@pytest.mark.filterwarnings("ignore::rldp.errors.UnseenSecretWarning")
def test_a_row_says_what_designing_that_sample_gives(folder, name):
    sets = {"N": lambda alpha: rldp.Nominal(), "R": lambda alpha: rldp.ChiSquare(float(alpha))}
    rows = rows_of(folder / f"{name}.csv")
    kinds = {(row["problem"], row["alpha_privacy"], row["alpha_utility"]) for row in rows}
    for problem, alpha_privacy, alpha_utility in sorted(kinds):
        chosen = (sets[problem[2]](alpha_privacy), sets[problem[0]](alpha_utility))
        same = [
            row
            for row in rows
            if (row["problem"], row["alpha_privacy"], row["alpha_utility"])
            == (problem, alpha_privacy, alpha_utility)
        ]
        counts = np.stack([cells_of(row, "count") for row in same])
        batch = rldp.design_batch(counts, 0.5, privacy=chosen[0], utility=chosen[1])
        for i, row in enumerate(same):
            truth, protocol = cells_of(row, "truth"), rldp.Protocol(batch.matrices[i])
            assert counts[i].sum() == int(row["n"])
            assert float(row["objective"]) == pytest.approx(batch.objective[i])
            assert float(row["lower_bound"]) == pytest.approx(batch.lower_bound[i])
            assert float(row["leakage"]) == pytest.approx(rldp.leakage(protocol, truth))
            assert float(row["distortion"]) == pytest.approx(rldp.distortion(protocol, truth))


def test_the_four_problems_see_the_same_draws(folder):
    for name in ("scatter-small", "scatter-large", "vs-n"):
        draws, problems = {}, {}
        for row in rows_of(folder / f"{name}.csv"):
            place = row["n"], row["instance"]
            draws.setdefault(place, set()).add(
                (cells_of(row, "truth").tobytes(), str(cells_of(row, "count")))
            )
            problems.setdefault(place, []).append(row["problem"])
        assert all(len(each) == 1 for each in draws.values())
        assert all(tuple(each) == PROBLEMS for each in problems.values())


def test_the_other_solver_sees_the_same_draws(folder):
    for size in ("small", "large"):
        ours = [row for row in rows_of(folder / f"scatter-{size}.csv") if row["problem"] == "NURP"]
        theirs = rows_of(folder / f"clarabel-{size}.csv")
        for one, other in zip(ours[:2], theirs, strict=True):
            assert (one["solver"], other["solver"], other["problem"]) == ("rldp", "Clarabel", "NURP")
            np.testing.assert_array_equal(cells_of(one, "truth"), cells_of(other, "truth"))
            np.testing.assert_array_equal(cells_of(one, "count"), cells_of(other, "count"))
            assert float(other["objective"]) == pytest.approx(float(one["objective"]), abs=1e-4)
            assert other["lower_bound"] == ""


def test_coverage_is_membership_in_the_privacy_set(folder):
    found = set()
    for row in rows_of(folder / "vs-n.csv") + rows_of(folder / "alpha.csv"):
        if row["alpha_privacy"] == "":
            assert row["covered"] == ""
            assert row["problem"] in ("NUNP", "RUNP")
            continue
        truth, counts = cells_of(row, "truth"), cells_of(row, "count")
        statistic = ((counts / counts.sum() - truth) ** 2 / truth).sum()
        radius = float(rldp.ChiSquare(float(row["alpha_privacy"])).size(counts.sum(), 6))
        assert row["covered"] == str(int(statistic <= radius))
        found.add(row["covered"])
    assert found == {"0", "1"}


@pytest.mark.parametrize(("order", "uncertainty"), [(0.0, rldp.GTest()), (2 / 3, rldp.CressieRead())])
def test_other_sets_make_other_designs(tmp_path, order, uncertainty):
    settings = Settings(instances=2, secrets=2, values=3, seed=7, lambda_=order)
    report = reproduce(["scatter-small"], tmp_path / "out", settings=settings)
    assert "χ² set" in report.notes[-1]
    row = rows_of(tmp_path / "out" / "scatter-small.csv")[-1]
    designed = rldp.design(rldp.Sample(cells_of(row, "count")), 0.5, privacy=uncertainty, utility=uncertainty)
    assert float(row["objective"]) == pytest.approx(designed.objective, abs=2e-6)


def test_epsilon_alpha_and_alphabets_are_choices(tmp_path):
    settings = Settings(instances=2, secrets=3, values=2, epsilon=1.5, alpha=0.3)
    reproduce(["scatter-small"], tmp_path / "out", settings=settings)
    row = rows_of(tmp_path / "out" / "scatter-small.csv")[-1]
    counts = np.array([[int(row[f"count_{s}_{u}"]) for u in range(2)] for s in range(3)])
    wide = rldp.ChiSquare(0.3)
    designed = rldp.design(rldp.Sample(counts), 1.5, privacy=wide, utility=wide)
    assert counts.sum() == 5 * 6
    assert float(row["objective"]) == pytest.approx(designed.objective, abs=2e-6)


# Promises, beyond the paper

PROMISES = {"joint": rldp.ChiSquare(), "pairs": rldp.Pairs(), "credible": rldp.Credible()}


def test_a_row_says_what_a_promise_gives_under_the_truth(folder):
    rows = rows_of(folder / "promises.csv")
    assert [row["problem"] for row in rows] == [p for _ in FEW for p in PROMISES for _ in range(4)]
    for row in (rows[1], rows[5], rows[9], rows[-1]):
        sample, truth = rldp.Sample(cells_of(row, "count")), cells_of(row, "truth")
        as_in_batches = rldp.Settings(credible_least_hits=0)
        promise = PROMISES[row["problem"]]
        found = rldp.design(sample, 0.5, privacy=promise, utility=rldp.Nominal(), settings=as_in_batches)
        assert float(row["leakage"]) == pytest.approx(rldp.leakage(found.protocol, truth), abs=1e-3)
        assert float(row["distortion"]) == pytest.approx(rldp.distortion(found.protocol, truth), abs=1e-3)
        assert (row["alpha_privacy"], row["alpha_utility"]) == ("0.05", "")
        assert (row["covered"] == "") == (row["problem"] != "joint")


def test_promises_are_compared_on_the_same_draws(folder):
    seen = {}
    for row in rows_of(folder / "promises.csv"):
        seen.setdefault((row["n"], row["instance"]), set()).add(str(cells_of(row, "count")))
    assert len(seen) == 4 * len(FEW)
    assert all(len(each) == 1 for each in seen.values())


def test_promises_are_shown_by_their_medians_and_all_but_a_tenth(folder):
    results = read(folder / "promises.csv")
    figure = FIGURES["promises"].draw(results, SMALL)
    assert [axes.get_ylabel() for axes in figure.axes] == [LEAKAGE, DISTORTION]
    for axes, column in zip(figure.axes, ("leakage", "distortion"), strict=True):
        lines = {line.get_label(): line for line in axes.lines if not line.get_label().startswith("_")}
        assert list(lines) == ["joint χ² set", "pairs", "credible"]
        assert {text.get_text() for text in axes.texts} - {"ε = 0.5"} == set(lines)
        for line, promise, cloud in zip(lines.values(), PROMISES, axes.collections, strict=True):
            edges = cloud.get_paths()[0].vertices
            assert line.get_xdata().tolist() == [6 * multiple for multiple in FEW]
            for multiple, middle in zip(FEW, line.get_ydata(), strict=True):
                values = np.sort(results.where(problem=promise, n=6 * multiple)[column])
                assert middle == values[1]  # of four: half of them are at most this
                reached = edges[edges[:, 0] == 6 * multiple, 1]
                assert reached.max() == values[3]
                assert reached.min() == values[0]


def test_what_goes_beyond_the_paper_is_no_evidence_for_its_claims(folder, tmp_path):
    for name in ("manifest.json", "promises.csv"):
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    assert check_claims(tmp_path) == []
    without = {claim.text: claim.measured for claim in check_claims(folder)}
    (tmp_path / "promises.csv").rename(tmp_path / "aside.csv")
    for name in EXPERIMENTS:
        if name != "promises":
            (tmp_path / f"{name}.csv").write_bytes((folder / f"{name}.csv").read_bytes())
    assert {claim.text: claim.measured for claim in check_claims(tmp_path)} == without


def test_a_level_that_a_promise_cannot_have_is_refused_before_the_work(tmp_path):
    settings = Settings(instances=1, alpha=1e-6)
    with pytest.raises(rldp.InvalidArgument, match=r"^alpha must be at least 1e-05, got 1e-06$"):
        reproduce(["promises"], tmp_path / "out", settings=settings)
    assert not (tmp_path / "out").exists()


# Statistics


def test_outliers_lie_beyond_one_and_a_half_interquartile_ranges():
    values = np.array([0.0, 1, 2, 3, 4, 10, 10.001, -6, -6.001])
    low, high = np.percentile(values, 25), np.percentile(values, 75)
    expected = [not low - 1.5 * (high - low) <= x <= high + 1.5 * (high - low) for x in values]
    assert outliers(values).tolist() == expected
    assert outliers(np.array([1.0, 2, 3, 4, 100])).tolist() == [False] * 4 + [True]


def test_a_summary_leaves_out_and_counts():
    found = summary(np.array([1.0, 2, 3, 4, 100, np.inf, np.inf]))
    assert (found.mean, found.infinite, found.outliers) == (2.5, 2, 1)
    assert found.deviation == pytest.approx(math.sqrt(5 / 3))


def test_a_summary_of_little_is_honest():
    assert summary(np.array([2.0])) == summary(np.array([2.0, np.inf, np.nan])).__class__(2.0, 0.0, 0, 0)
    nothing = summary(np.array([np.inf]))
    assert math.isnan(nothing.mean)
    assert nothing.infinite == 1


@pytest.mark.parametrize("content", ["", "a,b\n1,2\n", "empty"])
def test_a_file_that_is_no_table_is_refused(folder, tmp_path, content):
    path = tmp_path / "table.csv"
    header = (folder / "alpha.csv").read_text().partition("\n")[0]
    path.write_text(header + "\n" if content == "empty" else content)
    with pytest.raises(rldp.DataError, match=r"table.csv must be a table of designs, but: "):
        read(path)


# The paper's data files: the columns that the plots of its TeX source read, with header=false

SCATTER_COLUMNS = {"NUNP": (0, 1), "NURP": (2, 3), "RUNP": (4, 5), "RURP": (6, 7)}
LEAKAGE_COLUMNS = {"NUNP": (1, 9, 17), "NURP": (2, 10, 18), "RUNP": (3, 11, 19), "RURP": (4, 12, 20)}
DISTORTION_COLUMNS = {"NUNP": (5, 13, 21), "NURP": (6, 14, 22), "RUNP": (7, 15, 23), "RURP": (8, 16, 24)}


def table_of(path):
    """As pgfplots reads it: columns apart by white space."""
    return np.array([[float(x) for x in line.split()] for line in path.read_text().splitlines()])


@pytest.mark.parametrize(("file", "name"), [("data_fig1", "scatter-small"), ("data_fig2", "scatter-large")])
def test_the_scatter_data_are_in_the_columns_that_the_paper_reads(folder, file, name):
    table = table_of(folder / f"{file}.csv")
    assert table.shape == (4, 8)
    for problem, (x, y) in SCATTER_COLUMNS.items():
        rows = [row for row in rows_of(folder / f"{name}.csv") if row["problem"] == problem]
        np.testing.assert_allclose(table[:, x], [float(row["leakage"]) for row in rows], rtol=1e-9)
        np.testing.assert_allclose(table[:, y], [float(row["distortion"]) for row in rows], rtol=1e-9)


@pytest.mark.parametrize(
    ("column", "places"), [("leakage", LEAKAGE_COLUMNS), ("distortion", DISTORTION_COLUMNS)]
)
def test_the_band_data_are_in_the_columns_that_the_paper_reads(folder, column, places):
    table = table_of(folder / "data_fig3.csv")
    assert table.shape == (len(MULTIPLES), 25)
    assert table[:, 0].tolist() == list(MULTIPLES)
    rows = rows_of(folder / "vs-n.csv")
    for problem, (mean, top, bottom) in places.items():
        for line, multiple in zip(table, MULTIPLES, strict=True):
            found = np.array(
                [float(r[column]) for r in rows if r["problem"] == problem and int(r["n"]) == 6 * multiple]
            )
            low, high = np.percentile(found, [25, 75])
            kept = found[(found >= 2.5 * low - 1.5 * high) & (found <= 2.5 * high - 1.5 * low)]
            centre, reach = kept.mean(), kept.std(ddof=1) if len(kept) > 1 else 0
            assert line[[mean, top, bottom]] == pytest.approx([centre, centre + reach, centre - reach])


def test_infinite_leakage_is_written_so_that_tex_leaves_it_out(folder):
    from rldp.paper.data_files import scatter_data

    results = read(folder / "scatter-small.csv")
    results["leakage"][0] = math.inf
    first = scatter_data(results, SMALL).split()[0]
    assert first == "inf"


# Figures


def caption_of(figure):
    """In one line, whatever its width."""
    return " ".join(figure.get_supxlabel().split())


def test_every_figure_is_there_as_png_and_pdf(folder):
    for name in FIGURES:
        assert (folder / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        content = (folder / f"{name}.pdf").read_bytes()
        assert content.startswith(b"%PDF")
        assert b"CreationDate" not in content


def test_a_scatter_plot_shows_what_is_finite_and_counts_the_rest(folder):
    results = read(folder / "scatter-small.csv")
    results["leakage"][results["problem"] == "NUNP"] = [1, math.inf, 2, math.inf]
    axes = FIGURES["scatter-small"].draw(results, SMALL).axes[0]
    shown = {c.get_label(): c.get_offsets().data.tolist() for c in axes.collections}
    assert list(shown) == list(PROBLEMS)
    assert [x for x, _ in shown["NUNP"]] == [1, 2]
    rurp = results.where(problem="RURP")
    assert shown["RURP"] == np.column_stack([rurp["leakage"], rurp["distortion"]]).tolist()
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    assert (axes.get_xlabel(), axes.get_ylabel()) == (LEAKAGE, DISTORTION)
    assert "4 truths of 2 secrets × 3 values · 2 designs with ε* = ∞ left out" in caption_of(axes.figure)


@pytest.mark.parametrize(("name", "column"), [("leakage-vs-n", "leakage"), ("distortion-vs-n", "distortion")])
def test_bands_show_mean_and_deviation(folder, name, column):
    results = read(folder / "vs-n.csv")
    axes = FIGURES[name].draw(results, SMALL).axes[0]
    assert axes.get_xscale() == "log"
    lines = {line.get_label(): line for line in axes.lines if line.get_label() in PROBLEMS}
    assert axes.get_xlabel() == "n, rows of the sample (n = 6·N)"
    assert [text.get_text() for text in axes.texts if text.get_text() in PROBLEMS] == list(PROBLEMS)
    for problem, line in lines.items():
        assert line.get_xdata().tolist() == [6 * multiple for multiple in MULTIPLES]
        expected = [summary(results.where(problem=problem, n=6 * m)[column]).mean for m in MULTIPLES]
        assert line.get_ydata().tolist() == expected


def test_without_robust_privacy_the_privacy_level_does_not_matter(folder):
    found = over_alpha(read(folder / "alpha.csv"), "distortion")
    assert list(found["NURP"]) == list(PRIVACY_LEVELS)
    assert len({s.mean for s in found["NUNP"].values()}) == 1
    assert len({s.mean for s in found["NURP"].values()}) > 1
    figure = FIGURES["alpha"].draw(read(folder / "alpha.csv"), SMALL)
    assert [axes.get_ylabel() for axes in figure.axes] == [LEAKAGE, DISTORTION]
    assert "$α_d$ = 0.5, $α_p$ as shown · n = 300" in caption_of(figure)


@pytest.mark.parametrize("name", FIGURES)
def test_the_caption_says_what_was_fixed(folder, name):
    drawn = FIGURES[name].draw(read(folder / f"{FIGURES[name].experiment}.csv"), SMALL)
    caption = caption_of(drawn)
    assert caption.startswith(("ε = 0.5 · joint χ² set, α = 0.05", "ε = 0.5 · joint χ² set, $α_d$ = 0.5"))
    assert "4 truths of 2 secrets × 3 values" in caption


def test_the_caption_names_the_set_that_was_used(folder):
    results = read(folder / "scatter-small.csv")
    other = dataclasses.replace(SMALL, lambda_=0.0, epsilon=1.5, alpha=0.3)
    caption = caption_of(FIGURES["scatter-small"].draw(results, other))
    assert caption.startswith("ε = 1.5 · joint G-test set, α = 0.3 · n = 30")


def test_the_same_figure_has_the_same_bytes_whatever_the_users_style(folder):
    import matplotlib

    results = read(folder / "vs-n.csv")
    with matplotlib.rc_context({"font.size": 30, "axes.grid": True}):
        content = plots.files(FIGURES["leakage-vs-n"].draw(results, SMALL))
    assert content["png"] == (folder / "leakage-vs-n.png").read_bytes()
    assert content["pdf"] == (folder / "leakage-vs-n.pdf").read_bytes()


def test_rows_are_chosen_by_column():
    table = Results({"n": np.array([1.0, 1, 2]), "problem": np.array(["a", "b", "a"])})
    assert len(table.where(n=1)) == 2
    assert table.where(n=1, problem="b")["n"].tolist() == [1.0]
