"""Readers who know the value: designs against a linear program, promises against the integers of tables."""

import math
from fractions import Fraction
from itertools import pairwise, permutations, product

import mpmath
import numpy as np
import pytest

import rldp
from known_program import codes, nominal_optimum

pytestmark = [
    pytest.mark.numerical,
    pytest.mark.filterwarnings("ignore::rldp.errors.SparseTableWarning"),
]

# Counts of UCI Adult (B. Becker and R. Kohavi, 1996, CC BY 4.0): years of education by sex and by race, and
# age in bins of ten years by income; and of ProPublica's COMPAS data (compas-scores-two-years.csv, 2016):
# decile score by race, and prior counts, 12 and more together, by recidivism. Prices: squared distortion in
# codes at ε = 0.5.
TABLES = {
    "sex and education": (
        [
            [24, 61, 127, 239, 220, 457, 650, 211, 5097, 4178, 734, 627, 2477, 845, 132, 113],
            [59, 186, 382, 716, 536, 932, 1162, 446, 10687, 6700, 1327, 974, 5548, 1812, 702, 481],
        ],
        [0.0323, 0.0133, 0.0086, 0.0046, 0.0031, 0.0029],
    ),
    "race and education": (
        [
            [1, 4, 2, 10, 9, 22, 26, 5, 176, 124, 31, 13, 29, 13, 2, 3],
            [7, 10, 28, 14, 10, 16, 27, 15, 336, 302, 53, 49, 408, 140, 58, 46],
            [12, 24, 41, 90, 111, 182, 252, 105, 1780, 1078, 165, 161, 504, 143, 21, 16],
            [2, 13, 23, 23, 15, 11, 22, 17, 105, 85, 9, 10, 50, 13, 5, 3],
            [61, 196, 415, 818, 611, 1158, 1485, 515, 13387, 9289, 1803, 1368, 7034, 2348, 748, 526],
        ],
        [3.2484, 1.7620, 0.8692, 0.3357, 0.0908, 0.0568],
    ),
    "income and age": (
        [[2507, 11262, 9468, 6738, 4110, 2245, 668, 157], [3, 743, 3461, 3986, 2509, 809, 147, 29]],
        [0.5026, 0.3014, 0.1903, 0.1252, 0.0731, 0.0665],
    ),
    "race and decile": (
        [
            [398, 393, 346, 385, 365, 384, 400, 359, 380, 286],
            [681, 361, 273, 285, 241, 194, 143, 114, 98, 64],
            [196, 113, 86, 52, 52, 37, 34, 26, 20, 21],
            [165, 74, 42, 47, 23, 26, 15, 13, 10, 12],
        ],
        [4.0136, 2.2279, 1.2560, 0.5418, 0.3171, 0.2750],
    ),
    "recidivism and priors": (
        [
            [1520, 896, 471, 273, 183, 147, 92, 79, 65, 47, 26, 30, 134],
            [630, 501, 369, 295, 218, 187, 150, 131, 122, 102, 84, 68, 394],
        ],
        [6.3547, 3.5336, 1.7720, 0.8882, 0.6056, 0.5703],
    ),
}
LEVELS = [0.0, 0.5, 1.0, 2.0, 4.0, math.inf]
KAPPAS = [0.0, 0.3, 1.0, 3.0, math.inf]
COUNTS = np.array([[21, 9, 3, 1], [4, 11, 13, 6], [2, 8, 9, 17]])
SETS = {
    "nominal": {"privacy": "nominal", "utility": "nominal"},
    "robust": {},
    "robust privacy": {"utility": "nominal"},
    "robust utility": {"privacy": "nominal"},
    "all": {"privacy": "all", "utility": "nominal"},
    "windows": {"windows": True},
}


def ratio_holds(protocol, kappa):
    """From the integers, exactly: no numerator is more than e^κ times that of another secret."""
    table = protocol.numerators.tolist()
    with mpmath.workdps(60):
        factor = mpmath.exp(kappa)
        cells = product(permutations(table, 2), range(len(table[0])), range(len(table[0][0])))
        return all(
            one[u][y] <= other[u][y] or one[u][y] <= factor * other[u][y] for (one, other), u, y in cells
        )


@pytest.mark.parametrize("kappa", [*KAPPAS, 0.05, 8.0])
@pytest.mark.parametrize("windows", [False, True])
def test_the_nominal_optimum_is_that_of_the_linear_program(kappa, windows, monkeypatch):
    settings = rldp.Settings(windows_cells=0 if windows else 10_000)
    found = rldp.design(
        rldp.Sample(COUNTS), 0.5, privacy="nominal", utility="nominal", epsilon_known=kappa, settings=settings
    )
    assert found.status.route == ("windows" if windows else "pairs")
    best = nominal_optimum(COUNTS, 0.5, kappa).value
    assert found.lower_bound <= best * (1 + 1e-6)
    assert found.objective == pytest.approx(best, abs=2e-6)


@pytest.mark.parametrize("few_secrets", [0, 10])
def test_one_row_for_all_secrets_has_the_constraints_of_every_pair(few_secrets):
    """However forms of pairs are kept: with the cells of the two ends, or with those of all secrets."""
    settings = rldp.Settings(few_secrets=few_secrets)
    found = rldp.design(
        rldp.Sample(COUNTS), 0.2, privacy="nominal", utility="nominal", epsilon_known=0, settings=settings
    )
    assert found.status.route == "pairs"
    assert found.objective == pytest.approx(nominal_optimum(COUNTS, 0.2, 0.0).value, abs=2e-6)
    assert rldp.verify(found).reasons == ()


@pytest.mark.parametrize("name", TABLES)
def test_what_the_promise_costs_on_known_tables(name):
    counts, prices = TABLES[name]
    for kappa, price in zip(LEVELS, prices, strict=True):
        found = rldp.design(
            rldp.Sample(counts), 0.5, privacy="nominal", utility="nominal", epsilon_known=kappa, gap=1e-7
        )
        assert found.objective == pytest.approx(price, abs=6e-5)
        assert found.objective == pytest.approx(nominal_optimum(counts, 0.5, kappa).value, abs=2e-6)


@pytest.mark.parametrize("sets", SETS, ids=str)
def test_every_route_keeps_the_promise_and_is_proved(sets):
    objectives = []
    for kappa in KAPPAS:
        found = rldp.design(rldp.Sample(COUNTS), 0.7, epsilon_known=kappa, **SETS[sets])
        assert ratio_holds(found.protocol, kappa)
        assert rldp.known_leakage(found.protocol) <= kappa
        assert found.protocol.epsilon_known == kappa
        verdict = rldp.verify(found)
        assert verdict.reasons == ()
        assert verdict.epsilon_known == kappa
        if sets != "windows":
            assert found.objective - found.lower_bound <= 1e-6 * max(1, found.objective)
        objectives.append(found.objective)
    assert all(one >= other - 2e-6 for one, other in pairwise(objectives))


@pytest.mark.parametrize("epsilon", [0.0, 1e-9, 0.7, 40.0, math.inf])
@pytest.mark.parametrize("kappa", [0.0, 1e-300, 1e-9, 1e-4, 25.0, 800.0])
@pytest.mark.filterwarnings("ignore::rldp.errors.GapWarning")
def test_extreme_levels_keep_their_promises(epsilon, kappa):
    for sets in ("nominal", "robust"):
        found = rldp.design(rldp.Sample(COUNTS), epsilon, epsilon_known=kappa, **SETS[sets])
        assert ratio_holds(found.protocol, kappa)
        assert rldp.verify(found).reasons == ()
        if epsilon in (0.7, math.inf):
            assert found.objective - found.lower_bound <= 1e-6 * max(1, found.objective)


def test_without_the_secret_the_table_is_one_row_for_all():
    found = rldp.design(rldp.Sample(COUNTS), 0.7, epsilon_known=0)
    assert not found.protocol.reads_secret
    assert (found.protocol.numerators == found.protocol.numerators[:1]).all()
    assert rldp.design(rldp.Sample(COUNTS), 0.7).protocol.reads_secret


def test_all_distributions_without_the_secret_is_local_differential_privacy_of_the_value():
    found = rldp.design(rldp.Sample(COUNTS), 1.0, privacy="all", utility="nominal", epsilon_known=0)
    rows = found.protocol.numerators[0].tolist()
    for one, other in permutations(rows, 2):
        assert all(Fraction(a, max(b, 1)) <= Fraction(math.e) for a, b in zip(one, other, strict=True) if a)


@pytest.mark.filterwarnings("ignore::rldp.errors.GapWarning")
@pytest.mark.filterwarnings("ignore::rldp.errors.UnseenSecretWarning")
def test_at_zero_and_zero_the_outputs_have_exactly_the_same_law_for_every_secret():
    """ε = 0 under the estimate and κ = 0: one row for all secrets, whose law no secret changes."""
    for counts in (COUNTS, COUNTS[:, :2], np.array([[4, 0, 3], [2, 2, 2], [0, 0, 0]])):
        found = rldp.design(rldp.Sample(counts), 0.0, privacy="nominal", utility="nominal", epsilon_known=0)
        table = found.protocol.numerators.tolist()
        assert not found.protocol.reads_secret
        laws = {
            tuple(
                Fraction(sum(int(n) * row[y] for n, row in zip(rows, table[0], strict=True)), int(sum(rows)))
                for y in range(len(table[0][0]))
            )
            for rows in counts.tolist()
            if sum(rows)
        }
        assert len(laws) == 1
        assert rldp.verify(found).ok
        assert found.objective - found.lower_bound <= 1e-3


@pytest.mark.parametrize("kappa", [1e-5, 1.0])
@pytest.mark.filterwarnings("ignore::rldp.errors.GapWarning")
@pytest.mark.filterwarnings("ignore::rldp.errors.UnseenSecretWarning")
def test_at_tiny_levels_of_both_no_constant_stands_in_for_a_protocol_near_the_optimum(kappa):
    counts = [[0, 0, 0, 0], [9, 1, 0, 12], [3, 0, 8, 20]]
    found = rldp.design(rldp.Sample(counts), 1e-12, privacy="nominal", utility="nominal", epsilon_known=kappa)
    assert found.objective - found.lower_bound <= 1e-3
    assert rldp.verify(found).ok


@pytest.mark.parametrize("kappa", [0.0, 0.5])
def test_unseen_secrets_and_values_are_kept_to_the_promise(kappa):
    counts = [[9, 0, 2], [1, 0, 7], [0, 0, 0]]
    found = rldp.design(rldp.Sample(counts), 0.7, epsilon_known=kappa)
    assert ratio_holds(found.protocol, kappa)
    assert rldp.verify(found).ok


def test_a_batch_keeps_it_as_single_designs_do():
    counts = np.stack([COUNTS, COUNTS[::-1], COUNTS + 5])
    for kappa in (0.0, 0.4):
        batch = rldp.design_batch(counts, [0.5, 0.7, 30.0], epsilon_known=kappa)
        for k, epsilon in enumerate([0.5, 0.7, 30.0]):
            assert ratio_holds(rldp.Protocol(batch.matrices[k]), kappa)
            single = rldp.design(rldp.Sample(counts[k]), epsilon, epsilon_known=kappa)
            assert batch.objective[k] == pytest.approx(single.objective, abs=2e-6)


def test_a_credible_design_keeps_it():
    found = rldp.design(
        rldp.Sample(COUNTS), 0.7, privacy="credible", utility="nominal", epsilon_known=0.5, gap=1e-4
    )
    assert ratio_holds(found.protocol, 0.5)
    assert rldp.verify(found).ok


def test_a_table_of_few_ranks_is_solved_as_one_that_is_written_out():
    """2×40 has few ranks beside its cells; with matrices the same optimum is found."""
    rng = np.random.default_rng(5)
    sample = rldp.Sample(rng.multinomial(4000, rng.dirichlet(np.full(80, 0.5))).reshape(2, 40))
    for kappa in (0.0, 1.0):
        found = [
            rldp.design(
                sample,
                0.5,
                epsilon_known=kappa,
                utility="nominal",
                settings=rldp.Settings(linked_share=share),
            )
            for share in (0.5, 0.0)
        ]
        assert found[0].objective == pytest.approx(found[1].objective, rel=3e-6)


@pytest.mark.parametrize(
    ("level", "error", "message"),
    [
        (-0.1, rldp.InvalidArgument, r"epsilon_known must be at least 0, got -0\.1"),
        (math.nan, rldp.InvalidArgument, "epsilon_known must be"),
        ("1", rldp.InvalidArgumentType, "epsilon_known must be"),
    ],
)
def test_a_level_that_is_none_is_refused(level, error, message):
    with pytest.raises(error, match=message):
        rldp.design(rldp.Sample(COUNTS), 0.5, epsilon_known=level)


def test_the_linear_program_is_right_where_everything_can_be_tried():
    """Two secrets, values and outputs: all tables of a grid of eighths that keep both constraints."""
    counts, epsilon, kappa = np.array([[6, 2], [1, 5]]), 0.6, 0.4
    estimate, given = counts / counts.sum(), counts / counts.sum(axis=1, keepdims=True)
    grid = np.linspace(0, 1, 25)
    first = np.stack(np.meshgrid(grid, grid, grid, grid, indexing="ij"), axis=-1).reshape(-1, 2, 2)
    table = np.stack([first, 1 - first], axis=-1)  # (N, S, U, Y)
    seen = np.einsum("su,nsuy->nsy", given, table)
    private = (seen.max(axis=1) <= math.exp(epsilon) * seen.min(axis=1) + 1e-12).all(axis=1)
    kept = (table.max(axis=1) <= math.exp(kappa) * table.min(axis=1) + 1e-12).all(axis=(1, 2))
    costs = np.einsum("su,uy,nsuy->n", estimate, codes(2), table)
    best = nominal_optimum(counts, epsilon, kappa).value
    assert costs[private & kept].min() >= best - 1e-9
    assert costs[private & kept].min() <= best + 0.06
    assert costs[private].min() < best - 0.01


def test_the_barrier_of_cells_weighs_little_beside_windows_that_imply_it():
    """Larger tables take fewer steps than with its whole weight, to an optimum within the same gap."""
    rng = np.random.default_rng(5)
    counts = rng.multinomial(8000, rng.dirichlet(np.full(320, 0.5))).reshape(8, 40)
    ways = [
        rldp.design(
            rldp.Sample(counts),
            0.5,
            privacy="nominal",
            utility="nominal",
            epsilon_known=0.2,
            gap=1e-4,
            settings=rldp.Settings(known_cell_share=share),
        )
        for share in (rldp.Settings().known_cell_share, 1.0)
    ]
    assert all(design.is_optimal for design in ways)
    assert ways[0].status.steps < ways[1].status.steps
    lower, upper = max(d.lower_bound for d in ways), min(d.objective for d in ways)
    assert lower <= upper
