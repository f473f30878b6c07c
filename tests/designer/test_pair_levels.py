"""Levels of pairs of secrets: optimal by a linear program, none where none is asked for, read from users."""

import itertools
import math
import time

import numpy as np
import pyarrow
import pytest
from scipy.optimize import linprog

import rldp
from rldp.designer.request import levels_of_batch, levels_of_sample
from strategies import jeffreys_counts

pytestmark = pytest.mark.numerical

INF = math.inf
RNG = np.random.default_rng(11)
COUNTS = jeffreys_counts(RNG, 1, (3, 5), 400)[0] + 1
SAMPLE = rldp.Sample(COUNTS)
NOMINAL = {"privacy": "nominal", "utility": "nominal"}


def same(level, **pairs):
    """One level for all pairs, and others for some: ``p01=INF``."""
    table = np.full((3, 3), level)
    for name, other in pairs.items():
        table[int(name[1]), int(name[2])] = other
    return table


def optimum(counts, levels, distortion):
    """The nominal problem as a linear program; pairs with ε = ∞ have no row."""
    secrets, values = counts.shape
    outputs = distortion.shape[1]
    q = np.arange(secrets * values * outputs).reshape(secrets, values, outputs)
    conditionals = counts / counts.sum(axis=1, keepdims=True)
    rows = []
    for a, b in itertools.permutations(range(secrets), 2):
        for y in range(outputs if levels[a][b] < 100 else 0):
            row = np.zeros(q.size)
            row[q[a, :, y]] = conditionals[a]
            row[q[b, :, y]] = -np.exp(levels[a][b]) * conditionals[b]
            rows.append(row)
    sums = np.zeros((secrets * values, q.size))
    for cell, places in enumerate(q.reshape(-1, outputs)):
        sums[cell, places] = 1
    cost = ((counts / counts.sum())[..., None] * distortion).ravel()
    return linprog(cost, np.array(rows), np.zeros(len(rows)), sums, np.ones(len(sums)), bounds=(0, 1)).fun


SQUARED = np.subtract.outer(np.arange(5.0), np.arange(5.0)) ** 2
LEVELS = {
    "two values": same(0.5, p01=1.0, p10=1.0),
    "one way": same(0.5, p01=2.0),
    "a pair open": same(0.5, p01=INF, p10=INF),
    "open one way": same(0.5, p01=INF, p21=INF),
    "a single pair": same(INF, p01=0.5, p10=0.5),
    "all different": np.exp(np.random.default_rng(2).normal(size=(3, 3))),
    "large": same(0.3, p02=12.0, p20=800.0),
}


@pytest.mark.parametrize("levels", LEVELS.values(), ids=LEVELS)
def test_the_objective_is_that_of_a_linear_program(levels):
    design = rldp.design(SAMPLE, levels, **NOMINAL)
    wanted = optimum(COUNTS, levels, SQUARED)
    assert design.is_optimal
    assert design.lower_bound <= wanted * (1 + 1e-9)
    assert wanted * (1 - 1e-9) <= design.objective <= wanted + 1e-6
    verdict = rldp.verify(design)
    assert verdict.ok
    off = ~np.eye(3, dtype=bool)
    assert np.array_equal(np.array(verdict.levels)[off], levels[off])


@pytest.mark.parametrize("privacy", ["nominal", "chi2", "pairs", "all"])
def test_a_level_that_paths_imply_changes_nothing(privacy):
    """1 between 0 and 1 by way of 2, with ½ each: asking for ∞, 50 or 1.0 between them is the same."""
    costs = [
        rldp.design(SAMPLE, same(0.5, p01=x, p10=x), privacy=privacy, utility="nominal")
        for x in (1.0, 50, INF)
    ]
    assert all(rldp.verify(each).ok for each in costs)
    assert np.ptp([each.objective for each in costs]) < 3e-6


def test_levels_that_paths_all_but_imply_leave_no_gap():
    counts = [[4, 137, 0, 91, 107], [4, 0, 22, 0, 3], [5, 7, 0, 2, 22], [0, 59, 22, 0, 15]]
    levels = [[0, 1, np.inf, 1], [20, 0, 0.5, 20], [0.3, 0.3, 0, 0.3], [1, 1, 0.5, 0]]
    assert rldp.design(rldp.Sample(counts), levels, privacy="nominal", utility="nominal").is_optimal


@pytest.mark.parametrize("privacy", ["nominal", "chi2", "pairs", "all", "credible"])
@pytest.mark.parametrize("open_too", [False, True])
def test_equality_of_two_secrets_leaves_the_third_free(privacy, open_too):
    """ε = 0 between 0 and 1; the third has a level or none."""
    other = INF if open_too else 0.5
    utility = "credible" if privacy == "credible" else "nominal"
    levels = same(other, p01=0.0, p10=0.0)
    design = rldp.design(SAMPLE, levels, privacy=privacy, utility=utility, gap=1e-4)
    verdict = rldp.verify(design)
    assert verdict.ok
    assert design.gap <= 1e-4
    every = rldp.design(SAMPLE, 0.0, privacy=privacy, utility=utility, gap=1e-4)
    assert design.objective <= every.objective * (1 + 1e-3)
    assert design.objective < every.objective * 0.9 or not open_too
    law = np.einsum("su,suy->sy", COUNTS / COUNTS.sum(axis=1, keepdims=True), design.protocol.matrix)
    np.testing.assert_allclose(law[0], law[1], atol=1e-12)
    if privacy == "nominal":
        assert abs(design.objective - optimum(COUNTS, levels, SQUARED)) < 1e-4


@pytest.mark.filterwarnings("ignore::rldp.GapWarning")
def test_equal_secrets_with_rare_outputs_cost_what_the_linear_program_says():
    """Under secret 0 the second value never occurs: its output is next to nothing, and cannot be balanced."""
    counts = np.array([[391, 0, 1620, 2334], [0, 80, 13, 21], [201, 2, 104, 234]])
    levels = np.array([[0, 0.3, 0], [INF, 0, INF], [INF, 0.3, 0]])
    design = rldp.design(rldp.Sample(counts), levels, **NOMINAL)
    assert rldp.verify(design).ok
    assert design.objective <= optimum(counts, levels, SQUARED[:4, :4]) * (1 + 1e-3)


@pytest.mark.parametrize("privacy", ["nominal", "chi2", "pairs", "all", "credible"])
def test_no_pair_protected_is_no_constraint_and_equal_levels_are_one(privacy):
    designs = [
        rldp.design(SAMPLE, epsilon, privacy=privacy, utility="nominal")
        for epsilon in (INF, same(INF), 0.5, same(0.5), same(0.5, p00=9.0, p22=-0.0))
    ]
    free, none, one, *each = (found.protocol for found in designs)
    assert none == free
    assert all(found == one for found in each)
    assert designs[0].status.route == designs[1].status.route == "unconstrained"
    assert one.guarantee.levels is None


@pytest.mark.filterwarnings("ignore::rldp.PriceWarning")
def test_windows_keep_the_smallest_level_for_all_pairs():
    design = rldp.design(
        SAMPLE, same(0.5, p01=INF), privacy="chi2", utility="nominal", windows=True, gap=1e-4
    )
    narrow = rldp.design(SAMPLE, 0.5, privacy="chi2", utility="nominal", windows=True, gap=1e-4)
    assert rldp.verify(design).ok
    assert design.objective == pytest.approx(narrow.objective, rel=1e-3)
    assert 0 < design.lower_bound < narrow.lower_bound + 1e-3


@pytest.mark.parametrize("kappa", [0.0, 0.5])
@pytest.mark.parametrize("privacy", ["nominal", "chi2"])
def test_readers_who_know_the_value_are_promised_as_much_beside_levels(privacy, kappa):
    for levels in (same(0.5, p01=INF, p10=INF), same(0.5, p02=0.0, p20=0.0)):
        design = rldp.design(
            SAMPLE, levels, privacy=privacy, utility="nominal", epsilon_known=kappa, gap=1e-4
        )
        verdict = rldp.verify(design)
        assert verdict.ok
        assert verdict.epsilon_known == kappa


def test_batches_take_levels_for_all_samples_and_for_each():
    counts = np.stack([COUNTS, COUNTS[:, ::-1]])
    levels = LEVELS["a pair open"]
    alone = [rldp.design(rldp.Sample(each), levels, **NOMINAL).objective for each in counts]
    batch = rldp.design_batch(counts, levels, **NOMINAL)
    np.testing.assert_allclose(batch.objective, alone, atol=2e-6)
    mixed = rldp.design_batch(counts, np.stack([levels, same(0.5)]), **NOMINAL)
    assert mixed.objective[0] == pytest.approx(alone[0], abs=2e-6)
    assert mixed.objective[1] > alone[1] + 1e-3


# Own levels of several secrets


PEOPLE = pyarrow.table(
    {
        "sex": ["f", "m"] * 60,
        "ill": (["no"] * 2 + ["yes"]) * 40,
        "age": RNG.integers(0, 3, size=120).tolist(),
    }
)


def test_own_levels_add_up_over_the_columns_that_differ():
    sample = rldp.Sample.from_data(PEOPLE, secret=["sex", "ill"], value="age")
    design = rldp.design(sample, {"ill": 0.25, "sex": 0.5}, **NOMINAL)
    levels = design.protocol.guarantee.levels
    for (s, a), (t, b) in itertools.product(enumerate(itertools.product("fm", ["no", "yes"])), repeat=2):
        assert levels[s, t] == 0.5 * (a[0] != b[0]) + 0.25 * (a[1] != b[1])
    by_hand = rldp.design(sample, levels, **NOMINAL)
    assert by_hand.objective == design.objective
    assert design.protocol.guarantee.epsilon == 0.75


@pytest.mark.parametrize("seed", range(5))
def test_an_own_level_protects_readers_as_much_as_the_words_say(seed):
    """2×2 secrets by enumeration: ε_A if the other attribute is known; else the bound by total variation."""
    rng = np.random.default_rng(seed)
    own = rng.uniform(0.1, 1.0, size=2)
    counts = rng.multinomial(500, rng.dirichlet(np.full(12, 0.7))).reshape(2, 2, 3) + 1
    levels = [
        [own[0] * (a != c) + own[1] * (b != d) for c in (0, 1) for d in (0, 1)]
        for a in (0, 1)
        for b in (0, 1)
    ]
    design = rldp.design(rldp.Sample(counts.reshape(4, 3)), levels, **NOMINAL)
    table = design.protocol.matrix.reshape(2, 2, 3, 3)
    joint = counts / counts.sum()
    law = np.einsum("abu,abuy->aby", joint / joint.sum(axis=2, keepdims=True), table)
    for k in (0, 1):
        p, given = (np.swapaxes(x, 0, 1) if k else x for x in (joint.sum(axis=2), law))
        other = p / p.sum(axis=1, keepdims=True)
        for a, c in ((0, 1), (1, 0)):
            assert np.log(given[a] / given[c]).max() <= own[k] + 1e-12
            variation = np.abs(other[a] - other[c]).sum() / 2
            bound = own[k] + math.log1p(variation * math.expm1(own[1 - k]))
            reached = np.log((other[a] @ given[a]) / (other[c] @ given[c])).max()
            assert reached <= bound + 1e-12 <= own.sum() + 2e-12


# What users give


BAD = {
    "epsilon must be one number or an array (3, 3) for all pairs of secrets, got shape (3,)": [0.5] * 3,
    "epsilon must be one number or an array (3, 3) for all pairs of secrets, got shape (2, 2)": [[1, 2]] * 2,
    "epsilon must be one number or an array (3, 3) for all pairs of secrets, got rows that differ": [
        [0, 1],
        [1],
    ],
    "epsilon must be a number, got '0.5'": "0.5",
    "epsilon must be at least 0, got -1.0": same(0.5, p10=-1.0),
    "epsilon must be a number, got NaN": same(0.5, p10=math.nan),
    "epsilon must have a level for each secret column (no columns, as the sample names none), got 'a'": {
        "a": 1
    },
}


@pytest.mark.parametrize(("sentence", "given"), list(BAD.items()), ids=range(len(BAD)))
def test_what_is_no_level_is_refused_in_a_sentence(sentence, given):
    with pytest.raises(rldp.RldpError) as caught:
        rldp.design(SAMPLE, given)
    assert str(caught.value) == sentence


def test_columns_must_all_have_a_level_and_no_others():
    sample = rldp.Sample.from_data(PEOPLE, secret=["sex", "ill"], value="age")
    for own in ({"sex": 1}, {"sex": 1, "ill": 1, "age": 1}, {}):
        with pytest.raises(rldp.InvalidArgument, match=r"each secret column \('sex', 'ill'\), got"):
            levels_of_sample(sample, [own])
    with pytest.raises(rldp.InvalidArgument, match=r"epsilon of 'ill' must be at least 0, got -1\.0"):
        levels_of_sample(sample, [{"sex": 1, "ill": -1}])


def test_one_secret_column_or_one_secret_has_one_level():
    sample = rldp.Sample.from_data(PEOPLE, secret="sex", value="age")
    assert levels_of_sample(sample, [{"sex": 0.5}]).tolist() == [0.5]
    assert levels_of_batch([[7.0]], 2, 1).tolist() == [0.0, 0.0]


@pytest.mark.slow
def test_two_values_take_hardly_more_time_than_one():
    """At most 1.3 times the scalar's CPU time was asked for; measured 1.0. Alternated, to be even."""
    spent = {"one": 0.0, "two": 0.0}
    for k in range(12):
        counts = jeffreys_counts(np.random.default_rng(k), 1, (3, 5), 500)[0]
        for name, epsilon in (("one", 0.5), ("two", LEVELS["two values"])):
            started = time.process_time()
            rldp.design(rldp.Sample(counts), epsilon)
            spent[name] += time.process_time() - started
    assert spent["two"] <= 1.3 * spent["one"]
