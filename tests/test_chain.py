"""Chains from end to end: design, file, judge, release."""

import json
import pickle
import re
import tracemalloc
from itertools import product

import numpy as np
import pyarrow
import pyarrow.csv
import pytest
from scipy.stats import chi2

import rldp
from rldp.judge import chains as judged
from rldp.judge.posterior import posterior_of, trial_of
from rldp.theory import chains

AGES, JOBS, SEXES = (20, 40, 60), ("a", "b"), ("f", "m")
COUNTS = np.array([[50, 21, 83, 14, 35, 92], [24, 76, 33, 35, 61, 18]])
MEASURE = {"age": "absolute", "job": "hamming"}
ROWS = tuple(product(AGES, JOBS))


def table(counts):
    people = [
        (sex, *row)
        for sex, line in zip(SEXES, counts, strict=True)
        for row, n in zip(ROWS, line, strict=True)
        for _ in range(n)
    ]
    return pyarrow.table(dict(zip(("sex", "age", "job"), zip(*people, strict=True), strict=True)))


@pytest.fixture(scope="module")
def sample():
    return rldp.Sample.from_data(table(COUNTS), secret="sex", value=["age", "job"])


@pytest.fixture(scope="module")
def design(sample):
    """The distortion is promised for the estimate: a chain supports nothing else."""
    return rldp.design(sample, 0.5, chain=True, privacy="credible", distortion=MEASURE, gap=1e-3)


def joint_law(protocol, conditionals):
    return np.einsum("su,suy->sy", conditionals, protocol.matrix)


def test_the_whole_row_keeps_its_level_under_the_estimate(design, sample):
    assert rldp.leakage(design.protocol, sample.distribution) <= 0.5
    assert design.objective < 2
    assert design.lower_bound <= design.objective
    assert design.status.steps > 20
    assert design.status.reason is rldp.Reason.CHAINED
    assert isinstance(design.protocol.guarantee.utility, rldp.Nominal)


def test_a_chain_whose_time_is_over_is_private_and_says_so(sample, design):
    options = {"privacy": "credible", "utility": "nominal", "distortion": MEASURE, "max_seconds": 1e-9}
    with pytest.warns(rldp.errors.GapWarning, match=r"^the columns are private, .* time limit") as caught:
        found = rldp.design(sample, 0.5, chain=True, **options)
    assert caught[0].filename == __file__
    assert found.status.reason is rldp.Reason.TIME_LIMIT
    assert design.objective < found.objective
    assert rldp.verify(found).ok


def test_leakage_needs_no_table_of_whole_rows(design, sample):
    found = rldp.leakage(design.protocol, sample.distribution)
    conditionals = sample.distribution / sample.distribution.sum(axis=1, keepdims=True)
    law = joint_law(design.protocol, conditionals)
    assert found == pytest.approx(np.log((law.max(axis=0) / law.min(axis=0)).max()))


def test_a_file_is_released_from_it_and_rows_of_others_are_refused(design, tmp_path):
    design.protocol.save(tmp_path / "chain.json")
    pyarrow.csv.write_csv(table(COUNTS), tmp_path / "rows.csv")
    done = rldp.release_file(tmp_path / "chain.json", tmp_path / "rows.csv", tmp_path / "out.csv")
    assert (done.rows, done.released) == (COUNTS.sum(), ("age", "job"))
    pyarrow.csv.write_csv(table(COUNTS[:, ::-1]), tmp_path / "others.csv")
    with pytest.raises(rldp.DataError, match="data must come from the population"):
        rldp.release_file(tmp_path / "chain.json", tmp_path / "others.csv", tmp_path / "no.csv")
    assert not (tmp_path / "no.csv").exists()


def test_the_table_of_the_row_is_the_product_of_the_stages(design):
    matrix, (first, second) = design.protocol.matrix, design.protocol.stages
    np.testing.assert_allclose(matrix.sum(axis=-1), 1, atol=1e-14)
    sizes = {"age": AGES, "job": JOBS}
    for s, (i, u), (k, y) in product(range(2), enumerate(ROWS), enumerate(ROWS)):
        at = {"age": 0, "job": 1}
        u1, y1 = (sizes[first.column].index(x[at[first.column]]) for x in (u, y))
        u2, y2 = (sizes[second.column].index(x[at[second.column]]) for x in (u, y))
        wanted = first.table[0, s, u1, y1] * second.table[y1, s, u2, y2]
        assert matrix[s, i, k] == pytest.approx(wanted, abs=1e-15)


def test_what_each_column_loses_adds_up_to_the_objective(design):
    assert [column.name for column in design.columns] == ["age", "job"]
    total = sum(column.weight * column.distortion for column in design.columns)
    assert total == pytest.approx(design.objective)


def test_a_chain_costs_no_less_than_the_joint_design(design, sample):
    joint = rldp.design(
        sample, 0.5, privacy="credible", utility="nominal", distortion=MEASURE, chain=False, gap=1e-3
    )
    assert joint.objective < design.objective < 2 * joint.objective


def test_the_order_of_columns_may_be_given(sample):
    found = rldp.design(
        sample, 1.0, privacy="credible", utility="nominal", distortion=MEASURE, chain=["job", "age"], gap=1e-2
    )
    assert [stage.column for stage in found.protocol.stages] == ["job", "age"]
    assert found.protocol.value_columns == ("age", "job")


def test_the_judge_confirms_it_with_its_own_draws(design):
    verdict = rldp.verify(design.protocol)
    assert verdict.ok
    assert verdict.epsilon == 0.5
    assert any("whole rows are not 0.5-private is at most 0.05" in sentence for sentence in verdict.proved)
    assert any("A level for each column by itself" in sentence for sentence in verdict.not_promised)


def test_a_file_comes_back(design, tmp_path):
    design.protocol.save(tmp_path / "chain.json")
    loaded = rldp.load(tmp_path / "chain.json")
    assert loaded == design.protocol == pickle.loads(pickle.dumps(design.protocol))
    assert loaded.guarantee.epsilon == 0.5
    assert rldp.verify(tmp_path / "chain.json").ok


def test_an_audit_measures_a_chain_on_new_rows_and_tells_drift(design, sample):
    same = rldp.audit(design.protocol, sample)
    law = joint_law(design.protocol, sample.distribution / sample.distribution.sum(axis=1, keepdims=True))
    assert same.leakage == pytest.approx(np.log((law.max(axis=0) / law.min(axis=0)).max()))
    whole = design.protocol.guarantee.distortion
    lost = np.einsum("su,suy,uy->", sample.distribution, design.protocol.matrix, whole)
    assert same.distortion == pytest.approx(lost)
    assert (same.private, same.drifted, same.worst, same.privacy) == (True, False, None, None)
    assert "No drift is shown" in str(same)
    other = rldp.audit(design.protocol, rldp.Sample(COUNTS[::-1], SEXES, ROWS))
    assert other.drifted
    assert other.sentences[0].startswith("Drift: the new data differ from the sample")


def changed(design, change):
    tree = json.loads(design.protocol.to_json())
    change(tree)
    return tree


class File:
    def __init__(self, tree):
        self.tree = tree

    def to_json(self):
        return json.dumps(self.tree)


def sums_to_less(tree):
    tree["stages"][1]["numerators"][0][1][0][0] -= 1


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (sums_to_less, "sums to one"),
        (lambda tree: tree["guarantee"].update(epsilon=0.05), "privacy is not proved"),
        (lambda tree: tree["guarantee"].update(alpha=0.001), "privacy is not proved"),
        (lambda tree: tree["guarantee"].update(objective=tree["guarantee"]["objective"] * 0.99), "objective"),
        (lambda tree: tree["guarantee"].update(lower_bound=tree["guarantee"]["objective"]), "lower bound"),
        (lambda tree: tree["guarantee"]["columns"][0].update(weight=9.0), "objective"),
        (lambda tree: tree["stages"].reverse(), "must be a list of"),
        (lambda tree: tree["stages"].pop(), "a stage for each value column"),
        (lambda tree: tree.update(version=2), "its version must be 1"),
        (lambda tree: tree["guarantee"].update(extra=1), "is not a key"),
        (lambda tree: tree["guarantee"]["centre"][0].__setitem__(0, 0), "sum to 2\\^52"),
        (lambda tree: tree["columns"]["value"].pop(), "two value columns"),
    ],
)
def test_a_file_that_was_tampered_with_is_refused(design, change, reason):
    verdict = rldp.verify(File(changed(design, change)))
    assert not verdict.ok
    assert re.search(reason, " ".join(verdict.reasons))


@pytest.mark.parametrize("seed", range(20))
def test_no_random_change_of_the_tables_is_confirmed_unless_it_is_private(design, seed):
    """Mass is moved at random; what the judge then confirms, many other draws confirm too."""
    rng = np.random.default_rng(seed)

    def move(tree):
        stage = tree["stages"][rng.integers(2)]["numerators"]
        row = stage[rng.integers(len(stage))][rng.integers(2)][rng.integers(len(stage[0][0]))]
        i, k = rng.choice(len(row), 2, replace=False)
        moved = int(row[i] * rng.random())
        row[i] -= moved
        row[k] += moved

    tree = changed(design, move)
    verdict = rldp.verify(File(tree))
    tables = [np.array(stage["numerators"]) * 2.0**-52 for stage in tree["stages"]]
    order = [["age", "job"].index(stage["column"]) for stage in tree["stages"]]
    counts = COUNTS.reshape(2, 3, 2).transpose(0, *(1 + j for j in order)).reshape(2, -1)
    drawn = np.random.default_rng(1).dirichlet(np.ones(6), size=(4000, 2))  # only to have the shape
    for s in range(2):
        drawn[:, s] = np.random.default_rng(2 + s).dirichlet(counts[s] + 0.2, size=4000)
    risk = chains.failures(tables, 0.5, drawn) / 4000
    if verdict.epsilon is not None:
        assert risk < 0.08


def test_judge_and_library_count_the_same_failures(design):
    """Two programs, one law."""
    stages = [np.rint(stage.table * 2**52).astype(int) for stage in design.protocol.stages]
    logs = np.log(np.random.default_rng(3).gamma(0.5 + 2 * np.ones((2, 6, 500))))
    weights = np.exp(logs)
    drawn = np.moveaxis(weights / weights.sum(axis=1, keepdims=True), -1, 0)
    for epsilon in (0.1, 0.3, 0.6):
        wanted = chains.failures([stage.table for stage in design.protocol.stages], epsilon, drawn)
        assert judged.chain_failing(stages, epsilon)(logs) == wanted


def test_a_chain_of_few_values_and_very_many_outputs_is_judged_piece_by_piece():
    """Else a small file would take all memory, or days."""
    row = [2**45] * 128
    stages = [np.array([[[row] * 2] * 2] * contexts) for contexts in (1, 128)]
    tracemalloc.start()
    assert judged.chain_failing(stages, 0.1)(np.zeros((2, 4, 512))) == 0
    assert tracemalloc.get_traced_memory()[1] < 2**26
    tracemalloc.stop()
    assert judged.widest(stages) == 2 * 128**2
    assert trial_of(lambda logs: 0, posterior_of([[1, 2]], 0.5), 0.05, None, 10**9).draws == 1000


def test_rows_are_drawn_with_the_law_of_the_chain(design):
    n = 100_000
    rng = np.random.default_rng(4)
    s, u = rng.integers(0, 2, n), rng.integers(0, 6, n)
    frame = pyarrow.table(
        {"sex": np.array(SEXES)[s], "age": np.array(AGES)[u // 2], "job": np.array(JOBS)[u % 2]}
    )
    released = design.protocol.release_frame(frame, seed=5, allow_drift=True)
    k = 2 * np.searchsorted(AGES, released["age"].to_numpy()) + np.searchsorted(
        JOBS, released["job"].to_numpy()
    )
    seen = np.zeros((2, 6, 6))
    np.add.at(seen, (s, u, k), 1)
    expected = seen.sum(axis=2, keepdims=True) * design.protocol.matrix
    used = expected > 0
    assert not seen[~used].any()
    statistic = ((seen - expected)[used] ** 2 / expected[used]).sum()
    assert chi2(used.sum() - 12).sf(statistic) > 1e-6


def test_words_stand_for_outputs(design):
    for word in (0, 2**52 - 1):
        assert design.protocol.output_for("f", (20, "a"), [word, word]) in ROWS
    with pytest.raises(rldp.InvalidArgument, match="word must hold 2 words, one for each column, got 1"):
        design.protocol.output_for("f", (20, "a"), 0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"privacy": "chi2"}, "privacy must be 'credible' for a chain"),
        ({"utility": "chi2"}, "utility must be 'nominal' for a chain"),
        ({"chain": ["age"]}, "chain must name every value column once, 'age', 'job'"),
        ({"windows": True}, "windows must not be given for a chain"),
        ({"epsilon_known": -1.0}, "epsilon_known must be at least 0"),
        ({"distortion": lambda u, y: float(u != y)}, "distortion must be given by column for a chain"),
    ],
)
def test_what_a_chain_cannot_do_is_refused_in_a_sentence(sample, options, message):
    asked = {"privacy": "credible", "utility": "nominal", "distortion": MEASURE, "chain": True} | options
    with pytest.raises(rldp.InvalidArgument, match=message):
        rldp.design(sample, 0.5, **asked)


def test_one_column_is_no_chain():
    with pytest.raises(rldp.InvalidArgument, match="chain needs several named value columns"):
        rldp.design(rldp.Sample([[3, 4], [5, 6]]), 0.5, privacy="credible", utility="nominal", chain=True)


def test_a_chain_on_fewer_rows_than_cells_is_warned_of():
    few = rldp.Sample.from_data(
        table(COUNTS // 90), secret="sex", value=["age", "job"], values={"age": AGES, "job": JOBS}
    )
    options = {
        "privacy": "credible",
        "utility": "nominal",
        "distortion": MEASURE,
        "weights": {"age": 1, "job": 1},
    }
    with pytest.warns(rldp.SparseTableWarning, match="the sample is small") as caught:
        rldp.design(few, 2.0, chain=True, gap=1e-2, **options)
    assert caught[0].filename == __file__


def test_a_chain_is_reported_and_shown_column_by_column(design, tmp_path):
    found = rldp.report(design, tmp_path / "page.html", draws=2000)
    assert found.verdict.ok
    assert list(found.by_column) == ["age", "job"]
    assert found.worst is None
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "there is no worst distribution to show" in page
    assert "Between" in page
    assert "V is" in page


def test_the_verdict_on_a_chain_speaks_of_no_radius(design):
    assert "radius" not in str(rldp.verify(design.protocol))


def test_a_chain_for_three_secrets_is_proved():
    """The multipliers of the lower bound belong to pairs of secrets, in the order of the file format."""
    rng = np.random.default_rng(0)
    sex, age = rng.choice(["f", "m", "x"], 3000), rng.choice(AGES, 3000)
    age = np.where((sex == "m") & (rng.random(3000) < 0.3), 60, age)
    rows = pyarrow.table({"sex": sex, "age": age, "job": rng.choice(JOBS, 3000)})
    three = rldp.Sample.from_data(rows, secret="sex", value=["age", "job"])
    design = rldp.design(
        three, 0.3, privacy="credible", utility="nominal", distortion=MEASURE, chain=["job", "age"], gap=1e-2
    )
    assert design.lower_bound > 0.01
    assert rldp.verify(design).ok
