"""Kept columns and earlier releases, end to end: design, promise, file, judge, release."""

import json
import pickle
import re
from itertools import product

import numpy as np
import pyarrow
import pyarrow.csv
import pyarrow.parquet
import pytest
from scipy.optimize import linprog
from scipy.stats import chi2

import rldp
from rldp.data.reading import Column, Reading
from rldp.judge import chains as judged
from rldp.judge.contexts import whole_tables
from rldp.protocol_file.format import document_of
from rldp.theory import chains
from rldp.theory.dirichlet import conditionals

SEXES, REGIONS, AGES, JOBS = ("f", "m"), ("n", "s", "w"), (20, 40, 60), ("a", "b")
OPTIONS = {"privacy": "credible", "utility": "nominal", "gap": 1e-3}


def people(n, seed):
    """Region, age and job depend on sex, and on each other."""
    rng = np.random.default_rng(seed)
    sex = rng.integers(0, 2, n)
    region = np.where(rng.random(n) < 0.3 + 0.03 * sex, 0, 1 + (rng.random(n) < 0.5))
    age = np.where(rng.random(n) < 0.3 * sex * (region != 1), 2, rng.integers(0, 3, n))
    job = (rng.random(n) < 0.3 + 0.15 * (age == 2) + 0.15 * sex).astype(int)
    codes = {"sex": (SEXES, sex), "region": (REGIONS, region), "age": (AGES, age), "job": (JOBS, job)}
    return pyarrow.table({name: np.array(labels)[code] for name, (labels, code) in codes.items()})


@pytest.fixture(scope="module")
def rows():
    return people(4000, 0)


@pytest.fixture(scope="module")
def sample(rows):
    return rldp.Sample.from_data(rows, secret="sex", value="age", given=["region"])


@pytest.fixture(scope="module")
def design(sample):
    """The distortion is promised for the estimate, with which alone given columns are supported."""
    return rldp.design(sample, 0.5, privacy="credible", gap=OPTIONS["gap"])


@pytest.fixture(scope="module")
def known(sample):
    return rldp.design(sample, 0.3, given_known=True, **OPTIONS)


@pytest.fixture(scope="module")
def first(rows):
    return rldp.design(rldp.Sample.from_data(rows, secret="sex", value="age"), 0.15, **OPTIONS).protocol


@pytest.fixture(scope="module")
def second(rows, first):
    linked = rldp.Sample.from_data(rows, secret="sex", value=["job", "age"], after=[first])
    return rldp.design(linked, 0.5, after=[first], distortion="hamming", **OPTIONS)


# The law of everything that is published


def published_law(protocol, distribution):
    """P(k, y|s) of one value column, entry by entry."""
    _, stage = protocol.stages
    p = distribution.reshape(2, len(REGIONS), len(AGES))
    p = p / p.sum(axis=(1, 2), keepdims=True)
    law = np.zeros((2, len(REGIONS), len(stage.outputs)))
    for s, k, u, y in np.ndindex(*p.shape, len(stage.outputs)):
        law[s, k, y] += p[s, k, u] * stage.table[k, s, u, y]
    return law


def test_leakage_is_of_the_kept_column_and_the_released_one(design, sample):
    p = np.random.default_rng(0).dirichlet(np.ones(18)).reshape(2, 9)
    law = published_law(design.protocol, p)
    wanted = np.log((law.max(axis=0) / law.min(axis=0)).max())
    assert rldp.leakage(design.protocol, p) == pytest.approx(wanted)
    assert rldp.leakage(design.protocol, p.reshape(2, 3, 3)) == pytest.approx(wanted)
    assert rldp.leakage(design.protocol, sample.distribution) <= 0.5


def test_leakage_is_of_both_releases(first, second):
    p = np.random.default_rng(1).dirichlet(np.ones(12)).reshape(2, 3, 2)
    law = np.zeros((2, 3, 2))
    given = p / p.sum(axis=(1, 2), keepdims=True)
    out, stage = first.matrix, second.protocol.stages[1].table
    for s, u, v, y, z in np.ndindex(2, 3, 2, 3, 2):
        law[s, y, z] += given[s, u, v] * out[s, u, y] * stage[y, s, v, z]
    wanted = np.log((law.max(axis=0) / law.min(axis=0)).max())
    assert rldp.leakage(second.protocol, p) == pytest.approx(wanted)


def test_columns_have_names_by_what_becomes_of_them(design, second):
    assert (design.protocol.given_columns, design.protocol.value_columns) == (("region",), ("age",))
    assert (second.protocol.earlier_columns, second.protocol.value_columns) == (("age",), ("job",))


def test_readers_who_know_the_kept_column_are_promised_the_conditional_ratio(known, sample):
    law = published_law(known.protocol, sample.distribution)
    given = law / law.sum(axis=2, keepdims=True)
    told = np.log((given.max(axis=0) / given.min(axis=0)).max())
    assert told <= 0.3
    assert "to readers who know 'region'" in known.protocol.guarantee.promise
    assert rldp.audit(known.protocol, sample).leakage == pytest.approx(told)


def test_a_level_from_estimates_is_no_promise(sample):
    """Contexts with exactly what the estimate leaves of ε: whole rows fail under half of the posterior."""
    epsilon = 0.5
    p = sample.distribution.reshape(2, 3, 3).sum(axis=2)
    p = p / p.sum(axis=1, keepdims=True)
    stage = np.zeros((3, 2, 3, 2))
    for k in range(3):
        left = epsilon - abs(np.log(p[0, k] / p[1, k]))
        tells = np.exp(left) / (1 + np.exp(left))  # two outputs, whose ratios are e^left
        more = int(p[1, k] > p[0, k])
        stage[k, more], stage[k, 1 - more] = (tells, 1 - tells), (1 - tells, tells)
    tables = [chains.kept_as_it_is(1, 2, 3), stage]
    drawn = np.moveaxis(conditionals(sample.counts, prior="adaptive", draws=2000, seed=0), -1, 0)
    assert chains.leakages(tables, p_of(sample)[None])[0] == pytest.approx(epsilon)
    assert chains.failures(tables, epsilon, drawn) > 800


def p_of(sample):
    return sample.distribution / sample.distribution.sum(axis=1, keepdims=True)


def test_a_kept_column_that_tells_more_than_epsilon_is_refused(sample):
    with pytest.raises(
        rldp.InvalidArgument, match=r"given columns 'region' must reveal less than ε = 0\.05.*ε\* is"
    ):
        rldp.design(sample, 0.05, **OPTIONS)


def test_a_given_column_of_very_many_labels_is_refused_before_its_table_takes_all_memory():
    given = Column("k", tuple(range(4100)))
    reading = Reading((Column("sex", SEXES),), (Column("u", (0, 1)),), given=(given,))
    many = rldp.Sample(np.ones((2, 8200), dtype=int), SEXES, reading.values, reading=reading)
    with pytest.raises(rldp.InvalidArgument, match="the table of 'k' would have 33620000 numbers"):
        rldp.design(many, 0.5, **OPTIONS, given_known=True)


def test_an_earlier_release_that_tells_more_than_the_total_is_refused(rows, first):
    linked = rldp.Sample.from_data(rows, secret="sex", value=["age", "job"], after=[first])
    with pytest.raises(
        rldp.InvalidArgument,
        match=r"the published columns 'age' must reveal less than ε = 0\.1",
    ):
        rldp.design(linked, 0.1, after=[first], distortion="hamming", **OPTIONS)


def hidden(seed, contexts=2, values=3, n=800):
    """A true distribution and a sample of it."""
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.full(contexts, 20.0))
    truth = np.stack([shares * np.exp(rng.uniform(-0.1, 0.1, contexts)) for _ in SEXES])
    truth = truth / truth.sum(axis=1, keepdims=True)
    truth = (truth[..., None] * rng.dirichlet(np.full(values, 2.0), size=(2, contexts))).reshape(2, -1) / 2
    counts = np.stack([rng.multinomial(n // 2, row * 2) for row in truth])
    labels = tuple(range(contexts)), tuple(range(values))
    reading = Reading((Column("sex", SEXES),), (Column("u", labels[1]),), given=(Column("k", labels[0]),))
    return truth, rldp.Sample(counts, SEXES, tuple(product(*labels)), reading=reading)


def test_hidden_distributions_are_hardly_ever_told_more_of():
    failed = 0
    for seed in range(12):
        truth, drawn = hidden(seed)
        found = rldp.design(drawn, 0.6, privacy="credible", utility="nominal", gap=1e-2)
        failed += rldp.leakage(found.protocol, truth) > 0.6
    assert failed <= 3  # 5 % allowed; four or more have a probability of .002


# The judge and the file


def test_the_judge_proves_the_total_and_names_the_columns(design, known, second):
    for found, words in (
        (design, "This level is the total of 'region' and the released columns together"),
        (known, "rows, to readers who know 'region', are not 0.3-private"),
        (second, "This level is the total of the earlier 'age' and the released columns together"),
    ):
        verdict = rldp.verify(found)
        assert verdict.ok, verdict.reasons
        assert any(words in sentence for sentence in verdict.proved)
    assert any("linked" in sentence for sentence in rldp.verify(second).assumptions)
    assert any("what 'region' reveals" in sentence for sentence in rldp.verify(known).not_promised)


def test_judge_and_library_count_the_same_failures(design, known, second):
    rng = np.random.default_rng(3)
    for found in (design, known, second):
        chain = found.protocol
        document = document_of(chain.to_json().encode())
        tables = whole_tables(document)
        for own, stage in zip(tables, chain.stages, strict=True):
            np.testing.assert_array_equal(np.array(own) * 2.0**-52, stage.table)
        size = len(chain.values)
        weights = rng.gamma(1 + 3 * rng.random((2, size, 1)), size=(2, size, 400))
        drawn = np.moveaxis(weights / weights.sum(axis=1, keepdims=True), -1, 0)
        for epsilon in (0.3, 0.6, 1.0):
            wanted = chains.failures([s.table for s in chain.stages], epsilon, drawn, document.known)
            assert judged.chain_failing(tables, epsilon, document.known)(np.log(weights)) == wanted


def least_distortion(protocol, *, readers_know):
    """The nominal optimum at the centre, as a linear program over all tables Q(y|s,u,k)."""
    claim, shape = protocol.guarantee, (2, 3, 3, 3)
    p = (claim.centre * 2.0**-52).reshape(2, 3, 3)
    given = p / p.sum(axis=2 if readers_know else (1, 2), keepdims=True)
    (column,) = claim.columns
    number = np.arange(np.prod(shape)).reshape(shape)
    private, rows = np.zeros((2 * 3 * 3, number.size)), np.zeros((18, number.size))
    for row, (s, k, y) in enumerate(np.ndindex(2, 3, 3)):
        private[row, number[s, k, :, y]] = given[s, k]
        private[row, number[1 - s, k, :, y]] = -np.exp(claim.epsilon) * given[1 - s, k]
    for row, (s, k, u) in enumerate(np.ndindex(2, 3, 3)):
        rows[row, number[s, k, u]] = 1
    cost = (p[..., None] * column.distortion).ravel()
    return linprog(cost, A_ub=private, b_ub=np.zeros(len(private)), A_eq=rows, b_eq=np.ones(18)).fun


def test_the_lower_bound_is_the_optimum_of_a_linear_program(design, known):
    for found, readers_know in ((design, False), (known, True)):
        wanted = least_distortion(found.protocol, readers_know=readers_know)
        assert wanted > 0.01
        assert found.lower_bound == pytest.approx(wanted, rel=1e-4)
        assert found.lower_bound <= wanted + 1e-9


def test_the_judge_finds_the_lower_bound_that_is_claimed(design, known, second):
    for found in (design, known, second):
        document = document_of(found.protocol.to_json().encode())
        claim = document.guarantee
        centre = np.array(claim.centre, dtype=np.int64)
        least = judged._lower_bound(document, claim, centre, whole_tables(document))
        assert float(least) == pytest.approx(claim.lower_bound, rel=1e-7)


def test_a_file_comes_back(design, known, second, tmp_path):
    for found in (design, known, second):
        found.protocol.save(tmp_path / "chain.json")
        assert (
            rldp.load(tmp_path / "chain.json") == found.protocol == pickle.loads(pickle.dumps(found.protocol))
        )


class File:
    def __init__(self, tree):
        self.tree = tree

    def to_json(self):
        return json.dumps(self.tree)


def refused(design, change, reason):
    tree = json.loads(design.protocol.to_json())
    change(tree)
    verdict = rldp.verify(File(tree))
    assert not verdict.ok
    assert re.search(reason, " ".join(verdict.reasons))


IDENTITY = [[[[2**52 * (u == y) for y in range(3)] for u in range(3)]] * 2]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda t: t["stages"][0].update(kept=False), "must be true"),
        (lambda t: t["stages"][0].pop("kept"), "kept is missing"),
        (lambda t: t["stages"].__setitem__(0, {"column": "age", "kept": True}), "the given column 'region'"),
        (lambda t: t["stages"].reverse(), "kept"),
        (
            lambda t: t["stages"].__setitem__(
                0, {"column": "region", "outputs": list(REGIONS), "numerators": IDENTITY}
            ),
            "kept",
        ),
        (lambda t: t["columns"].pop("given"), "two value columns"),
        (lambda t: t["guarantee"].update(given_known=False), "must be true"),
        (lambda t: t["guarantee"].update(epsilon=0.2), "privacy is not proved"),
        (lambda t: t["guarantee"].update(lower_bound=t["guarantee"]["objective"]), "lower bound"),
        (lambda t: t["guarantee"].update(objective=t["guarantee"]["objective"] * 0.99), "objective"),
        (lambda t: t["guarantee"]["columns"].append(t["guarantee"]["columns"][0]), "a list of 1"),
        (lambda t: t["guarantee"]["columns"][0]["multipliers"].pop(), "a list of 3"),
    ],
)
def test_a_file_with_a_kept_column_that_was_tampered_with_is_refused(design, change, reason):
    refused(design, change, reason)


def test_a_promise_to_some_readers_is_none_to_all(known):
    """What region tells comes on top."""
    refused(known, lambda tree: tree["guarantee"].pop("given_known"), "privacy is not proved")


def other_table(tree):
    row = tree["stages"][0]["numerators"][0][0][0]
    row[0], row[1] = row[0] - 1, row[1] + 1


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (other_table, "another digest"),
        (lambda t: t["stages"][0]["earlier"].update(digest="0" * 64), "another digest"),
        (lambda t: t["stages"][0]["earlier"].update(digest="0"), "64 hexadecimal digits"),
        (lambda t: t["stages"][0]["earlier"].update(sha256="x"), "64 hexadecimal digits"),
        (lambda t: t["stages"][0]["earlier"].update(context=["job"]), "a list of columns before it"),
        (lambda t: t["stages"][0]["earlier"].update(absent=True), "'\\(missing\\)'"),
        (lambda t: t["stages"][0]["earlier"].update(extra=1), "is not a key"),
        (lambda t: t["stages"][0].pop("earlier"), "a list of"),
        (lambda t: t["guarantee"].update(epsilon=0.2), "privacy is not proved"),
        (lambda t: t["guarantee"].update(given_known=True), "where columns are given"),
    ],
)
def test_a_file_after_another_release_that_was_tampered_with_is_refused(second, change, reason):
    refused(second, change, reason)


# Release


def law_holds(protocol, read, released):
    """Whether kept and released columns have the law of the table, by secret and value."""
    s = np.searchsorted(SEXES, read["sex"].to_numpy(zero_copy_only=False).astype(str))
    k = np.searchsorted(REGIONS, read["region"].to_numpy(zero_copy_only=False).astype(str))
    u = np.searchsorted(AGES, read["age"].to_numpy())
    assert list(released["region"]) == read["region"].to_pylist()
    y = np.searchsorted(AGES, np.asarray(released["age"]))
    seen = np.zeros((2, 3, 3, 3))
    np.add.at(seen, (s, k, u, y), 1)
    expected = seen.sum(axis=3, keepdims=True) * protocol.stages[1].table.transpose(1, 0, 2, 3)
    assert not seen[expected == 0].any()
    used = expected > 0
    statistic = ((seen - expected)[used] ** 2 / expected[used]).sum()
    return chi2(used.sum() - 18).sf(statistic) > 1e-6


def as_lists(frame):
    if hasattr(frame, "to_pydict"):
        return frame.to_pydict()
    return frame.to_dict(as_series=False) if hasattr(frame, "lazy") else frame.to_dict("list")


@pytest.mark.parametrize("kind", ["pyarrow", "pandas", "polars", "lazy", "duckdb", "dask", "csv", "parquet"])
def test_kept_and_released_columns_have_the_law_of_the_table(design, kind, tmp_path):
    table, protocol = people(20_000, 5), design.protocol
    if kind in ("csv", "parquet"):
        pyarrow.csv.write_csv(table, tmp_path / "rows.csv")
        done = rldp.release_file(protocol, tmp_path / "rows.csv", tmp_path / f"out.{kind}", seed=1)
        read = pyarrow.csv.read_csv if kind == "csv" else pyarrow.parquet.read_table
        released, names = read(tmp_path / f"out.{kind}").to_pydict(), done.released
        assert names == ("region", "age")
    elif kind == "pyarrow":
        released = as_lists(protocol.release_frame(table, seed=1))
    elif kind == "pandas":
        released = as_lists(protocol.release_frame(table.to_pandas(), seed=1))
    elif kind == "duckdb":
        duckdb = pytest.importorskip("duckdb")
        released = protocol.release_frame(duckdb.from_arrow(table), seed=1).to_arrow_table().to_pydict()
    elif kind == "dask":
        dask = pytest.importorskip("dask.dataframe")
        frame = dask.from_pandas(table.to_pandas(), npartitions=2)
        released = as_lists(rldp.dask.release(protocol, frame).compute())
    else:
        polars = pytest.importorskip("polars")
        frame = polars.DataFrame(table.to_pandas())
        found = protocol.release_frame(frame.lazy() if kind == "lazy" else frame, seed=1)
        released = as_lists(found.collect() if kind == "lazy" else found)
    assert list(released) == ["region", "age"]
    assert law_holds(protocol, table, released)


def test_a_result_says_what_epsilon_covers(design, known, rows, tmp_path):
    pyarrow.csv.write_csv(rows, tmp_path / "rows.csv")
    whole, part = (
        rldp.release_file(found.protocol, tmp_path / "rows.csv", tmp_path / name)
        for found, name in ((design, "a.csv"), (known, "b.csv"))
    )
    assert whole.covers.startswith("ε covers these columns together alone")
    assert part.covers.startswith("ε covers 'age', to readers who know 'region', alone")


def test_columns_alone_are_released_as_tuples(design):
    found = design.protocol.release(["f", "m"], [("n", 20), ("s", 60)], seed=0)
    assert [row[0] for row in found] == ["n", "s"]
    assert design.protocol.output_for("f", ("w", 20), 0)[0] == "w"


def test_a_rare_label_becomes_other_and_its_text_does_not_leave(rows):
    regions = rows["region"].to_pylist()
    regions[:3] = ["Atlantis"] * 3
    rare = rows.set_column(1, "region", pyarrow.array(regions))
    counted = rldp.Sample.from_data(rare, secret="sex", value="age", given="region", rare=100)
    assert counted.reading.given[0].labels[-1] == "(other)"
    assert "Atlantis" not in counted.reading.given[0].labels
    seen = counted.counts.reshape(2, -1, 3).sum(axis=2)
    assert seen.min() >= 100
    protocol = rldp.design(counted, 0.9, **OPTIONS).protocol
    new = pyarrow.table({"sex": ["f", "m"], "region": ["Lemuria", "s"], "age": [20, 40]})
    assert protocol.release_frame(new, allow_drift=True)["region"].to_pylist() == ["(other)", "s"]


def test_being_left_out_is_nothing_among_all_rows_and_much_among_those_of_a_region(rows):
    counted = rldp.Sample.from_data(rows, secret="sex", value="age", given=["region"], missing="skip")
    sex, region, age = (rows[name].to_pylist() for name in ("sex", "region", "age"))
    for s, k in zip(SEXES, REGIONS[:2], strict=True):  # in one region women are left out, in another men
        for i in [i for i, pair in enumerate(zip(sex, region, strict=True)) if pair == (s, k)][:60]:
            age[i] = None
    new = pyarrow.table({"sex": sex, "region": region, "age": age})
    options = {"allow_drift": True}
    whole = rldp.design(counted, 0.5, **OPTIONS).protocol
    assert len(whole.release_frame(new, **options)) == len(new) - 120
    protocol = rldp.design(counted, 0.3, given_known=True, **OPTIONS).protocol
    with pytest.raises(rldp.DataError, match="must not be left out if ε refers to readers who know"):
        protocol.release_frame(new, **options)
    assert len(protocol.release_frame(new, allow_absence=True, **options)) == len(new) - 120


def test_an_unknown_region_is_refused_where_no_label_stands_for_others(design):
    new = pyarrow.table({"sex": ["f"], "region": ["Lemuria"], "age": [20]})
    with pytest.raises(rldp.DataError, match="column 'region' of data must hold known labels"):
        design.protocol.release_frame(new)


def test_a_protocol_for_every_distribution_protects_readers_who_know_another_column(rows):
    """Within every region, whatever the region: what the refusal of given= says."""
    protocol = rldp.design(
        rldp.Sample.from_data(rows, secret="sex", value="age"), 0.7, privacy="all"
    ).protocol
    for p in np.random.default_rng(0).dirichlet(np.full(3, 0.2), size=(50, 2)):
        law = np.einsum("su,suy->sy", p, protocol.matrix)
        assert np.log((law.max(axis=0) / law.min(axis=0)).max()) <= 0.7 + 1e-12


def test_the_same_person_gets_the_same_output_in_the_same_context(design, rows):
    people = rows.slice(0, 200).append_column("id", pyarrow.array([f"p{i}" for i in range(200)]))
    key = bytes(range(32))
    options = {"id": "id", "key": key, "allow_drift": True}
    once, twice = (design.protocol.release_frame(people, **options) for _ in range(2))
    assert once.equals(twice)
    elsewhere = people.set_column(1, "region", pyarrow.array(["s"] * 200))
    moved = design.protocol.release_frame(elsewhere, **options)
    assert moved["region"].to_pylist() == ["s"] * 200


def test_other_columns_are_kept_by_consent_only(design, rows):
    with pytest.warns(rldp.KeptColumnsWarning):
        found = design.protocol.release_frame(rows, keep=["job"])
    assert found.column_names == ["job", "region", "age"]
    with pytest.raises(rldp.InvalidArgument, match="keep must leave out 'region', which is published anyway"):
        design.protocol.release_frame(rows, keep=["region"])


def with_earlier(first, table, seed=1):
    return table.append_column("age_out", first.release_frame(table, seed=seed)["age"])


def test_the_second_release_has_the_law_of_its_table(first, second):
    table = with_earlier(first, people(20_000, 6))
    released = second.protocol.release_frame(table, as_earlier="age_out", seed=2)
    assert released.column_names == ["age_out", "job"]
    assert released["age_out"].equals(table["age_out"])
    s, y = (
        np.searchsorted(SEXES, table["sex"].to_pylist()),
        np.searchsorted(AGES, table["age_out"].to_numpy()),
    )
    u, z = (np.searchsorted(JOBS, each["job"].to_pylist()) for each in (table, released))
    seen = np.zeros((3, 2, 2, 2))
    np.add.at(seen, (y, s, u, z), 1)
    expected = seen.sum(axis=3, keepdims=True) * second.protocol.stages[1].table
    used = expected > 0
    assert not seen[~used].any()
    assert chi2(used.sum() - 12).sf(((seen - expected)[used] ** 2 / expected[used]).sum()) > 1e-6


def test_a_chain_that_reads_no_secret_keeps_the_earlier_outputs_and_does_not_draw_them_again(rows):
    blind = {**OPTIONS, "distortion": "hamming", "epsilon_known": 0}
    only = rldp.Sample.from_data(rows, secret="sex", value="age")
    first = rldp.design(only, 0.15, **blind).protocol
    linked = rldp.Sample.from_data(rows, secret="sex", value=["age", "job"], after=[first])
    second = rldp.design(linked, 0.5, after=[first], **blind).protocol
    table = with_earlier(first, rows.drop(["sex"]))
    released = second.release_frame(table, as_earlier="age_out", seed=2)
    assert released["age_out"].equals(table["age_out"])
    table = table.append_column("id", pyarrow.array(range(len(table))))
    drawn_once = {"as_earlier": "age_out", "id": "id", "key": bytes(range(32))}
    released = second.release_frame(table, **drawn_once)
    assert released["age_out"].equals(table["age_out"])
    values = list(zip(table["age_out"].to_pylist(), table["job"].to_pylist(), strict=True))
    columns = second.release(None, values, ids=list(range(len(table))), key=bytes(range(32)))
    assert [job for _, job in columns] == released["job"].to_pylist()


def test_the_second_release_needs_the_first(first, second):
    table = with_earlier(first, people(4000, 7))
    with pytest.raises(rldp.InvalidArgument, match="as_earlier must name a column for each of 'age'"):
        second.protocol.release_frame(table)
    with pytest.raises(rldp.InvalidArgument, match="as_earlier must be left out"):
        first.release_frame(table, as_earlier="age_out")
    missing = table.set_column(4, "age_out", pyarrow.array([None] * len(table), pyarrow.int64()))
    with pytest.raises(rldp.DataError, match="age_out"):
        second.protocol.release_frame(missing, as_earlier="age_out")


@pytest.mark.parametrize("missing", ["skip", "category"])
def test_no_row_without_an_earlier_output_is_left_out_or_taken_for_a_label(rows, missing):
    """With "category", the first release has outputs "(missing)" of its own: a missing output is none."""
    rough = {**OPTIONS, "gap": 1e-2, "distortion": "hamming"}
    ages = pyarrow.array([None if i % 9 == 0 else f"{age}" for i, age in enumerate(rows["age"].to_pylist())])
    table = rows.set_column(2, "age", ages)
    only = rldp.Sample.from_data(table, secret="sex", value="age", missing=missing)
    first = rldp.design(only, 0.15, **rough).protocol
    linked = rldp.Sample.from_data(table, secret="sex", value=["age", "job"], missing=missing, after=[first])
    second = rldp.design(linked, 0.5, after=[first], **rough).protocol
    assert not second.stages[0].earlier.absent
    assert ("(missing)" in second.stages[0].outputs) == (missing == "category")
    out = ["40", None, *["40"] * 28]
    few = table.slice(0, 30).append_column("out", pyarrow.array(out))
    text = (
        r" \(the output '\(missing\)' must be that text, as in a CSV file\)" if missing == "category" else ""
    )
    with pytest.raises(rldp.DataError, match=f"column 'out' of data must hold no nulls{text}, but row 2"):
        second.release_frame(few, as_earlier="out", allow_drift=True)
    with pytest.raises(rldp.DataError):
        second.release(["f"], [(None, "a")])


def test_people_who_were_not_released_before_have_a_context_of_their_own(rows, first):
    before = [None if i % 9 == 0 else age for i, age in enumerate(rows["age"].to_pylist())]
    table = rows.set_column(2, "age", pyarrow.array(before)).to_pandas()
    linked = rldp.Sample.from_data(
        table, secret="sex", value=["age", "job"], missing="category", after=[first]
    )
    second = rldp.design(linked, 0.5, after=[first], **{**OPTIONS, "distortion": "hamming"}).protocol
    out = first.release_frame(rows)["age"].to_pylist()
    table["out"] = [None if i % 9 == 0 else age for i, age in enumerate(out)]
    released = second.release_frame(table, as_earlier="out")
    assert released["out"].isna().equals(table["out"].isna())


def test_values_in_place_of_outputs_are_refused(first, second):
    """They have another law: the test of drift sees it, and nothing is released."""
    with pytest.raises(rldp.DataError, match="differ from the sample more than chance explains"):
        second.protocol.release_frame(people(20_000, 8), as_earlier="age")


def test_a_third_release_follows_both(rows, first, second):
    linked = rldp.Sample.from_data(
        rows, secret="sex", value=["region", "age", "job"], after=[first, second.protocol]
    )
    third = rldp.design(linked, 0.9, after=[first, second], distortion="hamming", **OPTIONS)
    assert third.protocol.earlier_columns == ("age", "job")
    assert rldp.verify(third).ok
    np.testing.assert_array_equal(third.protocol.stages[1].table, second.protocol.stages[1].table)
    with pytest.raises(rldp.InvalidArgument, match=r"must be among the value columns|could give, before it"):
        rldp.design(
            rldp.Sample.from_data(rows, secret="sex", value=["region", "job"], after=[second.protocol]),
            0.9,
            after=[second],
            distortion="hamming",
            **OPTIONS,
        )


def test_the_same_column_a_year_later_and_people_who_were_not_there(rows, first):
    later = rows["age"].to_pylist()
    before = [None if i % 5 == 0 else age for i, age in enumerate(later)]
    later = [60 if i % 7 == 0 else age for i, age in enumerate(later)]
    linked = pyarrow.table({"sex": rows["sex"], "then": before, "now": later})
    sample = rldp.Sample.from_data(
        linked, secret="sex", value=["then", "now"], missing="category", after={"then": first}
    )
    design = rldp.design(sample, 0.6, after={"then": first}, **OPTIONS)
    stage = design.protocol.stages[0]
    assert stage.outputs[-1] == "(missing)"
    np.testing.assert_array_equal(stage.table[0, :, -1], [[0, 0, 0, 1]] * 2)
    np.testing.assert_array_equal(stage.table[0, :, :3, :3], first.matrix)
    assert rldp.verify(design).ok
    assert rldp.Protocol.from_json(design.protocol.to_json()) == design.protocol


def test_a_kept_column_and_an_earlier_release_together(rows, first):
    sample = rldp.Sample.from_data(rows, secret="sex", value=["age", "job"], given=["region"], after=[first])
    design = rldp.design(sample, 0.8, after=[first], distortion="hamming", **OPTIONS)
    assert rldp.verify(design).ok
    released = design.protocol.release_frame(
        with_earlier(first, rows), as_earlier="age_out", allow_drift=True
    )
    assert released.column_names == ["region", "age_out", "job"]


def test_contexts_of_an_earlier_table_are_those_of_its_own_columns(rows):
    """Another column with as many labels would make another law, and another total, of the same table."""
    rows = rows.append_column("town", rows["region"].take(np.random.default_rng(0).permutation(len(rows))))
    one = rldp.design(
        rldp.Sample.from_data(rows, secret="sex", value="age", given=["region"]), 0.5, **OPTIONS
    )
    sample = rldp.Sample.from_data(
        rows, secret="sex", value=["age", "job"], given=["region", "town"], after=[one]
    )
    both = rldp.design(sample, 1.0, after=[one], distortion="hamming", **OPTIONS)
    refused(both, lambda t: t["stages"][2]["earlier"].update(context=["town"]), "another digest")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"privacy": "chi2", "utility": "chi2"},
            "privacy must be 'credible' and utility must be 'nominal' beside given columns",
        ),
        ({"utility": "chi2"}, "utility must be 'nominal' beside given columns"),
        ({"privacy": "all", "given_known": True}, "given must be left out of the sample for privacy='all'"),
        ({"chain": False}, "chain must not be False with given columns"),
        ({"windows": True}, "windows must not be given"),
    ],
)
def test_what_given_columns_cannot_have_is_refused(sample, options, message):
    with pytest.raises(rldp.InvalidArgument, match=message):
        rldp.design(sample, 0.5, **(OPTIONS | options))


@pytest.mark.parametrize("kappa", [0.7, 0.0])
def test_readers_who_know_the_values_beside_a_kept_column(sample, kappa):
    protocol = rldp.design(sample, 0.8, epsilon_known=kappa, **OPTIONS).protocol
    assert rldp.known_leakage(protocol) <= kappa
    verdict = rldp.verify(protocol)
    assert verdict.ok
    assert verdict.epsilon_known == kappa


def test_earlier_releases_spend_what_readers_who_know_the_values_may_learn(rows, first):
    both = rldp.Sample.from_data(rows, secret="sex", value=["age", "job"], after=[first])
    with pytest.raises(rldp.InvalidArgument, match=r"epsilon_known must be at least .* earlier releases"):
        rldp.design(both, 0.8, after=[first], distortion="hamming", epsilon_known=0.0, **OPTIONS)


def test_beside_what_is_out_counts_have_no_noise(sample):
    noisy = rldp.Sample(sample.counts, sample.secrets, sample.values, reading=sample.reading, noise=1.0)
    with pytest.raises(rldp.InvalidArgument, match="given and after must be left out"):
        rldp.design(noisy, 0.8, **OPTIONS)


def test_what_after_cannot_have_is_refused(rows, sample, first):
    alone = rldp.Sample.from_data(rows, secret="sex", value="job")
    with pytest.raises(rldp.InvalidArgument, match=r"after needs linked rows: 'age'.*privacy='all' add up"):
        rldp.design(alone, 0.5, after=[first], **OPTIONS)
    with pytest.raises(rldp.InvalidArgumentType, match="after must be a list of protocols"):
        rldp.design(alone, 0.5, after=first, **OPTIONS)
    for after, message in ((first, "must be a list of protocols"), (["first.json"], "must hold protocols")):
        with pytest.raises(rldp.InvalidArgumentType, match=f"after {message}, got"):
            rldp.Sample.from_data(rows, secret="sex", value=["age", "job"], after=after)
    with pytest.raises(rldp.InvalidArgument, match="given_known must be False"):
        rldp.design(alone, 0.5, given_known=True, **OPTIONS)
    only = rldp.Sample.from_data(rows, secret="sex", value="age")
    with pytest.raises(rldp.InvalidArgument, match="value must name a column that is not yet published"):
        rldp.design(only, 0.5, after=[first], **OPTIONS)
    with pytest.raises(rldp.InvalidArgument, match="the sample must have no given columns here"):
        rldp.frontier(sample, [0.5])


def test_another_secret_with_the_same_labels_and_two_draws_of_one_column_are_refused(rows, first):
    """The earlier table would be read with labels of another attribute, or one of the draws be forgotten."""
    other = rows.append_column("partner", rows["sex"])
    linked = rldp.Sample.from_data(other, secret="partner", value=["age", "job"], after=[first])
    with pytest.raises(
        rldp.InvalidArgument, match="must be that of the earlier release, 'sex', got 'partner'"
    ):
        rldp.design(linked, 0.5, after=[first], distortion="hamming", **OPTIONS)
    linked = rldp.Sample.from_data(rows, secret="sex", value=["age", "job"], after=[first])
    for twice in ([first, first], [first, rldp.Protocol.from_json(first.to_json())]):
        with pytest.raises(rldp.InvalidArgument, match="one release of 'age', got two: two draws"):
            rldp.design(linked, 0.5, after=twice, distortion="hamming", **OPTIONS)
    copied = rows.append_column("again", rows["age"])
    both = {"age": first, "again": first}
    linked = rldp.Sample.from_data(copied, secret="sex", value=["age", "again", "job"], after=both)
    with pytest.raises(rldp.InvalidArgument, match=r"'age', 'again' must reveal less .* ε\* is about 6"):
        rldp.design(linked, 0.6, after=both, distortion="hamming", **OPTIONS)  # 0.15 each


def test_a_single_secret_needs_no_protection_beside_a_kept_column(rows):
    alone = rows.set_column(0, "sex", pyarrow.array(["f"] * len(rows)))
    sample = rldp.Sample.from_data(alone, secret="sex", value="age", given=["region"])
    found = rldp.design(sample, 0.5, **OPTIONS)
    assert found.objective < 1e-3
    assert rldp.verify(found).ok


def test_a_chain_has_a_positive_level(sample):
    with pytest.raises(rldp.InvalidArgument, match="epsilon must be above 0 for a chain of columns"):
        rldp.design(sample, 0.0, given_known=True, **OPTIONS)


def test_a_chain_has_one_level(sample):
    levels = [[0, 0.5], [0.6, 0]]
    with pytest.raises(rldp.InvalidArgument, match="epsilon must be one number for a chain of columns"):
        rldp.design(sample, levels, **OPTIONS)
    rough = {**OPTIONS, "gap": 0.1}
    assert rldp.design(sample, {"sex": 0.5}, **rough).protocol == rldp.design(sample, 0.5, **rough).protocol


def test_a_sample_with_given_columns_comes_back_from_its_file(sample, tmp_path):
    sample.save(tmp_path / "sample.json")
    loaded = rldp.Sample.load(tmp_path / "sample.json")
    assert loaded == sample
    assert loaded.reading == sample.reading
