"""Leakage and distortion under one distribution, and at worst over a set."""

import itertools
import math

import mpmath
import numpy as np
import pytest

import rldp
from oracles import JointSet, PairSets, largest_leakage, radius_of
from problems import ORDERS, SAMPLES, UNSEEN_SECRET, absolute
from rldp.sets import Radius
from rldp.theory.radii import pair_level, pair_radii

pytestmark = pytest.mark.numerical

SMALL = rldp.Sample([[30, 10], [5, 25]])
each_order = pytest.mark.parametrize("order", ORDERS)
each_sample = pytest.mark.parametrize("counts", SAMPLES.values(), ids=SAMPLES.keys())


def random_protocol(shape, seed, outputs=3, least=0.05):
    """A protocol with every probability at least ``least``/``outputs``."""
    rng = np.random.default_rng(seed)
    matrix = rng.dirichlet(np.ones(outputs), size=shape)
    return rldp.Protocol((1 - least) * matrix + least / outputs)


def randomised_response(epsilon, size):
    """Keep the secret with odds e^ε against each other one; the value plays no part."""
    table = np.ones((size, size)) + (math.exp(epsilon) - 1) * np.eye(size)
    return rldp.Protocol(np.repeat(table[:, None] / table.sum(axis=1)[0], 2, axis=1))


def direct_leakage(matrix, joint):
    """ε* by its definition, entry by entry."""
    given_secret = [p / p.sum() @ q for p, q in zip(joint, matrix, strict=True) if p.sum() > 0]
    return max(
        0.0 if p1 == p2 else math.inf if p2 == 0 else math.log(p1 / p2) if p1 > 0 else 0.0
        for one in given_secret
        for other in given_secret
        for p1, p2 in zip(one, other, strict=True)
    )


def assert_worst_case_is_proved(worst, protocol, sample, uncertainty):
    """lower ≤ upper, nearly equal; the lower one is attained by a member of the set."""
    assert worst.lower <= worst.upper
    assert worst.upper - worst.lower <= 1e-6 * max(1.0, worst.lower)
    assert worst.lower == rldp.leakage(protocol, worst.distribution)
    assert uncertainty.contains(sample, worst.distribution)


# --- one distribution -------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [2, 3, 5])
@pytest.mark.parametrize("epsilon", [0.0, 0.5, 3.0])
def test_randomised_response_leaks_its_epsilon(epsilon, size):
    uniform = np.full((size, 2), 1 / (2 * size))
    assert rldp.leakage(randomised_response(epsilon, size), uniform) == pytest.approx(epsilon, abs=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_leakage_is_the_largest_log_ratio(seed):
    protocol = random_protocol((3, 4), seed)
    joint = np.random.default_rng(seed).dirichlet(np.full(12, 0.5)).reshape(3, 4)
    assert rldp.leakage(protocol, joint) == pytest.approx(direct_leakage(protocol.matrix, joint), rel=1e-12)


def test_publishing_the_value_leaks_what_the_value_tells():
    joint = np.array([[0.3, 0.1], [0.2, 0.4]])
    identity = rldp.Protocol(np.tile(np.eye(2), (2, 1, 1)))
    assert rldp.leakage(identity, joint) == pytest.approx(math.log((2 / 3) / (1 / 4)), rel=1e-14)


def test_an_output_that_is_never_given_leaks_nothing():
    constant = rldp.Protocol(np.tile([1.0, 0.0], (2, 2, 1)))
    assert rldp.leakage(constant, np.full((2, 2), 0.25)) == 0.0


def test_an_output_that_only_one_secret_can_give_leaks_everything():
    telling = rldp.Protocol([[[1.0, 0.0]], [[0.5, 0.5]]])
    assert rldp.leakage(telling, [[0.5], [0.5]]) == math.inf


def test_secrets_of_probability_zero_are_left_out():
    telling = rldp.Protocol([[[0.5, 0.5]], [[0.25, 0.75]], [[1.0, 0.0]]])
    assert rldp.leakage(telling, [[0.5], [0.5], [0.0]]) == pytest.approx(math.log(2), rel=1e-14)
    assert rldp.leakage(telling, [[0.0], [0.0], [1.0]]) == 0.0


def test_leakage_of_one_secret_is_zero():
    assert rldp.leakage(random_protocol((1, 3), 0), [[0.2, 0.3, 0.5]]) == 0.0


@pytest.mark.parametrize("seed", range(20))
def test_post_processing_never_raises_leakage(seed):
    rng = np.random.default_rng(seed)
    protocol = random_protocol((3, 4), seed, outputs=4)
    joint = rng.dirichlet(np.full(12, 0.5)).reshape(3, 4)
    processed = rldp.Protocol(protocol.matrix @ rng.dirichlet(np.full(3, 0.5), size=4))
    assert rldp.leakage(processed, joint) <= rldp.leakage(protocol, joint) + 1e-12


def test_distortion_is_the_expected_distance():
    protocol = rldp.Protocol([[[0.9, 0.1], [0.2, 0.8]], [[0.5, 0.5], [0.0, 1.0]]])
    joint = np.array([[0.1, 0.2], [0.3, 0.4]])
    expected = 0.1 * 0.1 + 0.2 * 0.2 + 0.3 * 0.5 + 0.4 * 0.0
    for named in ("squared", "absolute", "hamming"):
        assert rldp.distortion(protocol, joint, named) == pytest.approx(expected, rel=1e-14)


def test_distortion_tells_its_measures_apart():
    always_zero = rldp.Protocol(np.tile([1.0, 0.0, 0.0], (2, 3, 1)))
    joint = np.array([[0.1, 0.2, 0.1], [0.1, 0.3, 0.2]])
    assert rldp.distortion(always_zero, joint, "hamming") == pytest.approx(0.8, rel=1e-14)
    assert rldp.distortion(always_zero, joint, "absolute") == pytest.approx(0.5 + 2 * 0.3, rel=1e-14)
    assert rldp.distortion(always_zero, joint, "squared") == pytest.approx(0.5 + 4 * 0.3, rel=1e-14)
    assert rldp.distortion(always_zero, joint, absolute(3)) == pytest.approx(1.1, rel=1e-14)
    assert rldp.distortion(always_zero, joint) == rldp.distortion(always_zero, joint, "squared")


@pytest.mark.parametrize(
    "designed_for", ["absolute", "hamming", "squared", [[0, 3, 1], [2, 0, 2], [1, 3, 0]]]
)
def test_a_protocol_is_measured_with_its_own_distortion(designed_for):
    sample = rldp.Sample([[12, 7, 3], [4, 9, 15]])
    protocol = rldp.design(sample, 0.5, distortion=designed_for).protocol
    joint = np.array([[0.1, 0.2, 0.1], [0.1, 0.3, 0.2]])
    expected = np.einsum("su,suy,uy", joint, protocol.matrix, protocol.guarantee.distortion)
    assert rldp.distortion(protocol, joint) == pytest.approx(float(expected), rel=1e-14)
    assert rldp.distortion(protocol, joint) == rldp.distortion(protocol, joint, designed_for)
    bare = rldp.Protocol(protocol.matrix)
    assert rldp.distortion(bare, joint) == rldp.distortion(protocol, joint, "squared")


@pytest.mark.parametrize("measure", [rldp.leakage, rldp.distortion])
@pytest.mark.parametrize(
    "distribution",
    [
        [[0.5, 0.5, 0.0]],
        [[0.5, 0.6], [0.0, 0.0]],
        [[0.5, 0.7], [-0.2, 0.0]],
        [[0.5, 0.5], [math.nan, 0.0]],
        "uniform",
    ],
)
def test_what_is_no_distribution_is_refused(measure, distribution):
    with pytest.raises(rldp.RldpError, match="distribution must"):
        measure(random_protocol((2, 2), 0), distribution)


# --- over a set -------------------------------------------------------------------------------------


@each_order
@each_sample
def test_worst_case_is_what_a_direct_search_finds(counts, order):
    protocol, sample = random_protocol(counts.shape, 1, outputs=2), rldp.Sample(counts)
    uncertainty = rldp.PowerDivergence(order)
    worst = rldp.worst_case(protocol, sample, uncertainty)
    assert_worst_case_is_proved(worst, protocol, sample, uncertainty)
    found = largest_leakage(JointSet(counts, order, radius_of(order, counts)), protocol.matrix)
    assert worst.lower == pytest.approx(found, rel=1e-7)
    assert worst.upper >= found * (1 - 1e-12)


@each_order
def test_worst_case_covers_a_secret_never_seen(order):
    protocol, sample = random_protocol(UNSEEN_SECRET.shape, 2), rldp.Sample(UNSEEN_SECRET)
    uncertainty = rldp.PowerDivergence(order)
    worst = rldp.worst_case(protocol, sample, uncertainty)
    assert_worst_case_is_proved(worst, protocol, sample, uncertainty)
    joint_set = JointSet(UNSEEN_SECRET, order, radius_of(order, UNSEEN_SECRET))
    assert worst.lower == pytest.approx(largest_leakage(joint_set, protocol.matrix), rel=1e-7)


@each_order
@each_sample
def test_no_member_of_the_set_leaks_more_than_the_upper_bound(counts, order):
    protocol, sample = random_protocol(counts.shape, 3), rldp.Sample(counts)
    uncertainty = rldp.PowerDivergence(order)
    _, upper = rldp.worst_case_leakage(protocol, sample, uncertainty)
    rng = np.random.default_rng(4)
    members = 0
    for share in 10.0 ** rng.uniform(-4, 0, size=200):
        far = rng.dirichlet(np.full(counts.size, 0.5)).reshape(counts.shape)
        joint = (1 - share) * sample.distribution + share * far
        if uncertainty.contains(sample, joint):
            members += 1
            assert rldp.leakage(protocol, joint) <= upper
    assert members >= 20


@each_order
def test_worst_case_names_the_output_and_the_secrets_that_leak(order):
    matrix = np.array([[[0.5, 0.5, 0.0]] * 2, [[0.45, 0.55, 0.0]] * 2, [[0.8, 0.2, 0.0]] * 2])
    protocol = rldp.Protocol(matrix, secrets=["a", "b", "c"], outputs=["x", "y", "z"])
    sample = rldp.Sample([[5, 5], [6, 4], [3, 7]], secrets=["a", "b", "c"])
    worst = rldp.worst_case(protocol, sample, rldp.PowerDivergence(order))
    assert (worst.output, worst.secrets) == ("y", ("b", "c"))
    assert worst.lower == pytest.approx(math.log(0.55 / 0.2), rel=1e-9)
    assert worst.upper == pytest.approx(math.log(0.55 / 0.2), rel=1e-9)


def test_worst_case_over_the_estimate_alone_is_the_leakage():
    counts = SAMPLES["three secrets, zeros"]
    protocol, sample = random_protocol(counts.shape, 5), rldp.Sample(counts)
    worst = rldp.worst_case(protocol, sample, rldp.Nominal())
    expected = direct_leakage(protocol.matrix, sample.distribution)
    assert worst.lower <= expected <= worst.upper
    assert worst.upper - worst.lower <= 1e-12
    np.testing.assert_array_equal(worst.distribution, sample.distribution)
    first, second = (
        sample.distribution[s] / sample.distribution[s].sum() @ protocol.matrix[s, :, worst.output]
        for s in worst.secrets
    )
    assert math.log(first / second) == pytest.approx(expected, rel=1e-12)


def test_the_estimate_alone_leaves_out_a_secret_never_seen():
    protocol, sample = random_protocol(UNSEEN_SECRET.shape, 6), rldp.Sample(UNSEEN_SECRET)
    worst = rldp.worst_case(protocol, sample, rldp.Nominal())
    assert 1 not in worst.secrets
    assert worst.lower == pytest.approx(rldp.leakage(protocol, sample.distribution), rel=1e-12)


@each_order
def test_an_output_that_a_member_of_the_set_rules_out_for_one_secret_leaks_everything(order):
    matrix = np.array([[[0.5, 0.5], [0.5, 0.5]], [[1.0, 0.0], [1.0, 0.0]]])
    sample = rldp.Sample([[10, 10], [10, 10]])
    lower, upper = rldp.worst_case_leakage(rldp.Protocol(matrix), sample, rldp.PowerDivergence(order))
    assert lower == upper == math.inf


@each_order
def test_an_unseen_secret_can_have_the_conditional_that_leaks_everything(order):
    """Only one value of the unseen secret can give the output; the set lets it have the other one."""
    matrix = np.array([[[0.5, 0.5], [0.5, 0.5]], [[0.5, 0.5], [1.0, 0.0]]])
    sample = rldp.Sample([[10, 10], [0, 0]])
    lower, upper = rldp.worst_case_leakage(rldp.Protocol(matrix), sample, rldp.PowerDivergence(order))
    assert lower == upper == math.inf


@each_order
def test_a_protocol_that_ignores_everything_leaks_nothing_at_worst(order):
    constant = rldp.Protocol(np.tile([0.2, 0.8, 0.0], (2, 3, 1)))
    lower, upper = rldp.worst_case_leakage(
        constant, rldp.Sample(SAMPLES["fifteen draws"]), rldp.PowerDivergence(order)
    )
    assert lower == pytest.approx(0, abs=1e-12)
    assert upper == pytest.approx(0, abs=1e-12)


@each_order
def test_worst_case_of_one_secret_is_zero(order):
    worst = rldp.worst_case(random_protocol((1, 3), 7), rldp.Sample([[4, 5, 6]]), rldp.PowerDivergence(order))
    assert worst.lower == 0.0
    assert worst.upper <= 1e-12


@each_order
@pytest.mark.parametrize("radius", [10.0, 100.0, 1000.0, 1e4])
def test_worst_case_over_a_wide_set_is_sharp_and_within_the_ratios_of_a_column(order, radius):
    protocol = random_protocol((2, 3), 8)
    limit = math.log((protocol.matrix.max(axis=(0, 1)) / protocol.matrix.min(axis=(0, 1))).max())
    wide = rldp.PowerDivergence(order, radius=radius)
    lower, upper = rldp.worst_case_leakage(protocol, rldp.Sample(SAMPLES["fifteen draws"]), wide)
    assert lower <= upper <= limit * (1 + 1e-12)
    assert upper - lower <= 1e-8


@each_order
def test_worst_case_grows_with_confidence(order):
    protocol, sample = random_protocol((2, 3), 9), rldp.Sample(SAMPLES["fifteen draws"])
    nominal = rldp.leakage(protocol, sample.distribution)
    loose, strict = (
        rldp.worst_case(protocol, sample, rldp.PowerDivergence(order, alpha=alpha)) for alpha in (0.5, 0.01)
    )
    assert nominal < loose.lower <= loose.upper < strict.lower


@pytest.mark.parametrize("seed", range(4))
@each_order
def test_post_processing_never_raises_the_worst_case(order, seed):
    rng = np.random.default_rng(seed)
    sample, uncertainty = rldp.Sample(SAMPLES["fifteen draws"]), rldp.PowerDivergence(order)
    protocol = random_protocol((2, 3), seed, outputs=4)
    processed = rldp.Protocol(protocol.matrix @ rng.dirichlet(np.full(3, 0.5), size=4))
    lower, _ = rldp.worst_case_leakage(processed, sample, uncertainty)
    _, upper = rldp.worst_case_leakage(protocol, sample, uncertainty)
    assert lower <= upper


@each_order
@pytest.mark.parametrize("epsilon", [0.1, 0.5, 2.0])
def test_a_designed_protocol_leaks_at_worst_its_epsilon(order, epsilon):
    sample, uncertainty = rldp.Sample(SAMPLES["a value never seen"]), rldp.PowerDivergence(order)
    designed = rldp.design(sample, epsilon, privacy=uncertainty, utility=rldp.Nominal())
    lower, upper = rldp.worst_case_leakage(designed.protocol, sample, uncertainty)
    assert lower <= epsilon
    assert upper <= epsilon + 1e-6


# Sets that are too small for floats


def exact_divergence(sample, order, distribution):
    """Divergence of the distribution, made to sum to one, from the estimate; sixty digits."""
    with mpmath.workdps(60):
        total = mpmath.fsum(map(mpmath.mpf, distribution.ravel().tolist()))
        pairs = [
            (mpmath.mpf(int(count)) / sample.n, mpmath.mpf(p) / total)
            for count, p in zip(sample.counts.ravel(), distribution.ravel().tolist(), strict=True)
            if count
        ]
        if order == 0:
            return mpmath.fsum(p_hat * mpmath.log(p_hat / p) for p_hat, p in pairs)
        return mpmath.fsum(p_hat * ((p_hat / p) ** mpmath.mpf(order) - 1) for p_hat, p in pairs)


TINY = [rldp.Sample([[12, 7, 3], [4, 9, 15]]), rldp.Sample([[12, 7, 3], [0, 0, 0], [4, 0, 15]])]
FLIP = np.random.default_rng(8).dirichlet(np.ones(3), size=(3, 3))


TINY_RADII = (3e-11, 1e-12, 1e-14, 1e-22, 1e-40)
QUICK = {(0, 1e-12), (2 / 3, 1e-40), (1, 1e-14), (3, 1e-22)}


@pytest.mark.parametrize("sample", TINY, ids=["all seen", "one secret never seen"])
@pytest.mark.parametrize(
    ("order", "radius"),
    [
        pytest.param(*case, marks=[] if case in QUICK else pytest.mark.slow)
        for case in itertools.product((0, 2 / 3, 1, 3), TINY_RADII)
    ],
)
def test_the_worst_distribution_of_a_tiny_set_is_in_the_set(sample, order, radius):
    """The engine works on a larger set there; what it finds must be brought back into the true one."""
    uncertainty = rldp.PowerDivergence(order, radius=radius)
    protocol = rldp.Protocol(FLIP[: len(sample.secrets)])
    found = rldp.worst_case(protocol, sample, uncertainty)
    assert uncertainty.contains(sample, found.distribution)
    assert found.lower == pytest.approx(rldp.leakage(protocol, found.distribution), abs=1e-13)
    assert found.lower <= found.upper
    assert found.lower >= rldp.leakage(protocol, sample.distribution) - 1e-13
    rounding = 1e-30  # of the estimate itself, whose entries no float holds: second order
    assert exact_divergence(sample, order, found.distribution) <= radius + rounding
    if radius < rounding and sample is TINY[0]:  # no room to move: ε* is that of the estimate
        assert found.lower <= rldp.leakage(protocol, sample.distribution)


@pytest.mark.parametrize("order", [0, 1, 3])
@pytest.mark.parametrize("radius", [3e-11, 1e-12])
def test_the_worst_distribution_of_a_tiny_set_is_nearly_the_worst(order, radius):
    """To first order a tiny set is an ellipsoid, λ(λ+1)/2 · Σ δ²/P̂ ≤ B or Σ δ²/P̂ ≤ 2r."""
    sample, protocol = TINY[0], rldp.Protocol(FLIP[:2])
    found = rldp.worst_case(protocol, sample, rldp.PowerDivergence(order, radius=radius))
    p = sample.distribution
    conditional = p / p.sum(axis=1, keepdims=True)
    y = protocol.outputs.index(found.output)
    gain = 0.0
    for s, sign in zip(map(protocol.secrets.index, found.secrets), (1, -1), strict=True):
        column = protocol.matrix[s, :, y]
        mean = conditional[s] @ column
        gain += sign**2 * (conditional[s] @ (column / mean - 1) ** 2) / p[s].sum()
    reach = 2 * radius if order == 0 else 2 * radius / (order * (order + 1))
    wanted = math.sqrt(reach * gain)
    assert found.lower - rldp.leakage(protocol, p) == pytest.approx(wanted, rel=0.05)


@pytest.mark.parametrize("radius", [3e-11, 1e-17, 1e-200])
def test_a_secret_without_data_may_be_anyone_however_small_the_set(radius):
    protocol = rldp.Protocol(FLIP)
    found = rldp.worst_case(protocol, TINY[1], rldp.PowerDivergence(1, radius=radius))
    seen = TINY[1].distribution[[0, 2]]
    seen = (seen / seen.sum(axis=1, keepdims=True))[:, :, None] * FLIP[[0, 2]]
    outputs = seen.sum(axis=1)
    ratios = [max(FLIP[1].max(axis=0) / outputs[i]) for i in (0, 1)]
    ratios += [max(outputs[i] / FLIP[1].min(axis=0)) for i in (0, 1)]
    assert found.lower == pytest.approx(math.log(max(ratios)), abs=1e-4)


# --- over pairs, over everything, over what a search has found -----------------------------------------


def pair_sets(counts, radii):
    places = itertools.combinations(range(len(counts)), 2)
    return PairSets(counts, dict(zip(places, radii, strict=True)))


def given_pairs(radii):
    return rldp.Pairs(radii=[Radius(x, "A1") for x in radii])


@pytest.mark.parametrize("radii", [(1.0, 1.5, 1.2), (8.0, 0.3, 2.0)], ids=["alike", "far apart"])
@pytest.mark.parametrize(
    "counts", [SAMPLES["three secrets, zeros"], UNSEEN_SECRET], ids=["all seen", "a secret never seen"]
)
def test_worst_case_over_pairs_is_bracketed_and_shown_by_a_member_of_all_of_them(counts, radii):
    protocol, sample = random_protocol(counts.shape, 11), rldp.Sample(counts)
    sets, uncertainty = pair_sets(counts, radii), given_pairs(radii)
    worst = rldp.worst_case(protocol, sample, uncertainty)
    assert worst.lower <= worst.upper
    assert worst.lower <= rldp.leakage(protocol, worst.distribution) <= worst.lower + 1e-12
    sets.assert_holds(worst.distribution)
    found = largest_leakage(sets, protocol.matrix)
    assert worst.upper == pytest.approx(found, rel=1e-6)
    assert worst.upper >= found * (1 - 1e-12)


def test_worst_case_over_pairs_with_like_radii_is_sharp():
    counts = SAMPLES["three secrets, zeros"]
    protocol, sample = random_protocol(counts.shape, 12), rldp.Sample(counts)
    lower, upper = rldp.worst_case_leakage(protocol, sample, given_pairs((1.0, 1.5, 1.2)))
    assert upper - lower <= 1e-6


def test_worst_case_over_pairs_uses_the_radii_that_are_proved():
    sample = rldp.Sample([[9, 3, 1], [2, 8, 7], [30, 20, 50]])
    rows = [(13, 17), (13, 100), (17, 100)]
    radii = [radius.value for radius in pair_radii(rows, 3, pair_level(0.05, 3))]
    protocol = random_protocol((3, 3), 13)
    assert rldp.worst_case_leakage(protocol, sample, rldp.Pairs()) == rldp.worst_case_leakage(
        protocol, sample, given_pairs(radii)
    )


@pytest.mark.parametrize("seed", range(5))
def test_worst_case_over_everything_is_the_largest_ratio_between_secrets(seed):
    protocol, sample = random_protocol((3, 4), seed), rldp.Sample(np.ones((3, 4), dtype=int))
    worst = rldp.worst_case(protocol, sample, rldp.AllDistributions())
    matrix = protocol.matrix
    expected, s1, s2, y = max(
        (math.log(matrix[s1, u1, y] / matrix[s2, u2, y]), s1, s2, y)
        for s1, s2 in itertools.permutations(range(3), 2)
        for u1, u2, y in itertools.product(range(4), range(4), range(3))
    )
    assert worst.lower <= expected <= worst.upper
    assert worst.upper - worst.lower <= 1e-13
    assert (worst.secrets, worst.output) == ((s1, s2), y)
    assert rldp.leakage(protocol, worst.distribution) == pytest.approx(expected, rel=1e-13)


def test_over_everything_entries_of_one_secret_are_not_compared():
    """Within a secret the ratio is 4; between the two it is at most 2.5."""
    matrix = [[[0.8, 0.2], [0.2, 0.8]], [[0.5, 0.5], [0.5, 0.5]]]
    lower, upper = rldp.worst_case_leakage(
        rldp.Protocol(matrix), rldp.Sample([[1, 1], [1, 1]]), rldp.AllDistributions()
    )
    assert lower == pytest.approx(math.log(2.5), rel=1e-14)
    assert upper == pytest.approx(math.log(2.5), rel=1e-14)


def test_over_everything_an_output_that_one_cell_cannot_give_leaks_everything():
    matrix = [[[0.5, 0.5], [1.0, 0.0]], [[0.5, 0.5], [0.5, 0.5]]]
    worst = rldp.worst_case(rldp.Protocol(matrix), rldp.Sample([[50, 1], [50, 50]]), rldp.AllDistributions())
    assert worst.lower == worst.upper == math.inf
    assert worst.secrets == (1, 0)


@pytest.mark.parametrize("uncertainty", [rldp.Pairs(), rldp.AllDistributions()])
def test_one_secret_and_constant_outputs_leak_nothing_over_any_set(uncertainty):
    alone = rldp.worst_case(random_protocol((1, 3), 7), rldp.Sample([[4, 5, 6]]), uncertainty)
    assert alone.upper <= 1e-12
    constant = rldp.Protocol(np.tile([0.2, 0.8, 0.0], (2, 3, 1)))
    lower, upper = rldp.worst_case_leakage(constant, rldp.Sample(SAMPLES["fifteen draws"]), uncertainty)
    assert lower == pytest.approx(0, abs=1e-12)
    assert upper == pytest.approx(0, abs=1e-12)


def test_a_credible_set_stands_for_the_radius_that_was_found():
    protocol, sample = random_protocol((2, 3), 9), rldp.Sample(SAMPLES["fifteen draws"])
    for lambda_ in (0.0, 1.0):
        found = rldp.Credible(lambda_=lambda_, radius=0.3)
        plain = rldp.PowerDivergence(lambda_, radius=0.3)
        assert rldp.worst_case_leakage(protocol, sample, found) == rldp.worst_case_leakage(
            protocol, sample, plain
        )
    with pytest.raises(rldp.InvalidArgument, match="no radius before a design has found one"):
        rldp.worst_case(protocol, sample, rldp.Credible())


# --- distortion at worst ----------------------------------------------------------------------------


@each_order
@each_sample
def test_the_worst_distortion_is_that_of_a_search_through_the_set(counts, order):
    counts = np.asarray(counts)
    sample, protocol = rldp.Sample(counts), random_protocol(counts.shape, seed=3)
    radius = radius_of(order, counts)
    d = np.abs(np.subtract.outer(np.arange(counts.shape[1]), np.arange(3)))
    lower, upper = rldp.worst_case_distortion(protocol, sample, rldp.PowerDivergence(order), d)
    costs = (protocol.matrix * d).sum(axis=2)
    found = JointSet(counts, order, radius).largest_mean(costs).value
    assert found <= upper
    assert lower <= upper <= lower + 1e-6 * upper
    assert found == pytest.approx(lower, rel=1e-5)


def test_the_worst_distortion_over_everything_is_that_of_the_worst_cell():
    protocol = rldp.Protocol([[[0.5, 0.5], [0.25, 0.75]], [[1.0, 0.0], [0.0, 1.0]]])
    lower, upper = rldp.worst_case_distortion(protocol, SMALL, rldp.AllDistributions(), "hamming")
    assert lower <= 0.5 <= upper
    assert upper - lower < 1e-12


def test_the_worst_distortion_over_the_estimate_is_the_expected_one():
    protocol = random_protocol((2, 2), seed=1, outputs=2)
    lower, upper = rldp.worst_case_distortion(protocol, SMALL, rldp.Nominal())
    assert lower <= rldp.distortion(protocol, SMALL.distribution) <= upper
    assert upper - lower < 1e-12


@pytest.mark.parametrize("radius", [1e-11, 1e-15])
def test_the_worst_distortion_over_a_tiny_set_is_bounded_on_both_sides(radius):
    protocol = random_protocol((2, 2), seed=1, outputs=2)
    uncertainty = rldp.PowerDivergence(1, radius=radius)
    lower, upper = rldp.worst_case_distortion(protocol, SMALL, uncertainty)
    costs = (protocol.matrix * [[0, 1], [1, 0]]).sum(axis=2)
    spread = math.sqrt(radius * (SMALL.distribution * (costs - costs.mean()) ** 2).sum())
    expected = rldp.distortion(protocol, SMALL.distribution)
    assert lower <= expected + spread
    assert expected <= upper


def test_a_design_promises_its_worst_distortion():
    designed = rldp.design(SMALL, 0.5)
    lower, upper = rldp.worst_case_distortion(designed.protocol, SMALL, rldp.ChiSquare())
    assert lower <= designed.objective
    assert upper == pytest.approx(designed.objective, rel=1e-9)


def test_pairs_leave_open_how_frequent_secrets_are():
    with pytest.raises(rldp.InvalidArgument, match="uncertainty must be a set of joint distributions"):
        rldp.worst_case_distortion(random_protocol((2, 2), seed=1), SMALL, rldp.Pairs())


# Readers who know the value


def test_a_table_that_ignores_the_secret_tells_nothing_to_who_knows_the_value():
    same = rldp.Protocol([[[0.3, 0.7], [1.0, 0.0]]] * 3)
    assert rldp.known_leakage(same) == 0.0
    assert not same.reads_secret
    assert same.epsilon_known == math.inf


def test_one_unit_of_the_grid_is_seen():
    table = np.array([[[0.25, 0.75]]] * 2)
    table[1, 0] += [2.0**-52, -(2.0**-52)]
    protocol = rldp.Protocol(table)
    assert rldp.known_leakage(protocol) > 0
    assert protocol.reads_secret


def test_the_largest_ratio_given_a_value_is_told_whatever_the_mixture_over_values():
    """Both secrets give both outputs as often, and the value tells them apart."""
    swapped = rldp.Protocol([[[0.2, 0.8], [0.8, 0.2]], [[0.8, 0.2], [0.2, 0.8]]])
    assert rldp.leakage(swapped, np.full((2, 2), 0.25)) == pytest.approx(0, abs=1e-12)
    assert rldp.known_leakage(swapped) == pytest.approx(math.log(4))
    only = rldp.Protocol([[[1.0, 0.0]], [[0.5, 0.5]]])
    assert rldp.known_leakage(only) == math.inf
    with pytest.raises(rldp.InvalidArgumentType, match=r"protocol must be an rldp.Protocol, got list"):
        rldp.known_leakage([[[1.0]]])
