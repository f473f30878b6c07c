"""The black-box check of released rows: valid, powerful, and quiet on honest releases."""

import math
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest
from scipy.stats import binom

import rldp
from releases import (
    STRONG,
    THREE_SECRETS,
    calls_with_one_seed,
    ignoring_the_secret,
    nominal_protocol,
    people,
    release,
    with_a_last_output_for_itself_alone,
    without_randomising_the_last,
)
from rldp.auditor.leakage_shown import Columns, shown_by
from rldp.auditor.repetition import find_repetition

pytestmark = pytest.mark.numerical

EPSILON = 0.5


def honest(counts, n, seed, epsilon=EPSILON):
    rng = np.random.default_rng(seed)
    secrets, values = people(counts, n, rng)
    return secrets, values, release(nominal_protocol(counts, epsilon), secrets, values, rng.random(n))


# --- the bound is valid ----------------------------------------------------------------------------


def exceedances(joint, epsilon, alpha, releases, rows, seed):
    """In how many releases from P(y|s) the bound exceeds the true ε."""
    rng = np.random.default_rng(seed)
    steps = joint.cumsum(axis=1)[:, :-1]
    over = 0
    for _ in range(releases):
        secrets = rng.integers(0, len(joint), rows)
        outputs = (rng.random(rows)[:, None] >= steps[secrets]).sum(axis=1)
        found = rldp.audit_release(secrets, outputs, alpha=alpha, outputs=range(joint.shape[1]))
        over += found.epsilon > epsilon
    return over


def randomised_response(epsilon, size):
    table = np.ones((size, size)) + (math.exp(epsilon) - 1) * np.eye(size)
    return table / table.sum(axis=1)[0]


@pytest.mark.parametrize("rows", [20, 300])
@pytest.mark.parametrize(
    ("joint", "epsilon"),
    [
        (randomised_response(0.0, 5), 0.0),
        (randomised_response(0.5, 2), 0.5),
        (randomised_response(2.0, 4), 2.0),
        (np.array([[0.002, 0.998], [0.001, 0.999]]), math.log(2)),
    ],
    ids=["nothing leaks", "two", "four", "rare"],
)
def test_the_bound_seldom_exceeds_the_truth(joint, epsilon, rows):
    allowed = binom.ppf(1 - 1e-4, 400, 0.2)
    assert exceedances(joint, epsilon, 0.2, 400, rows, seed=1) <= allowed


def test_the_bound_is_that_of_clopper_and_pearson():
    """Ratio of the exact one-sided limits, found here by bisection of the binomial tails."""
    found = rldp.audit_release(["a"] * 40 + ["b"] * 50, [1] * 30 + [0] * 10 + [1] * 5 + [0] * 45, alpha=0.1)
    share = 0.1 / (2 * 4)

    def root(tail):
        low, high = 0.0, 1.0
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if tail(middle) else (low, middle)
        return low

    lower = root(lambda p: binom.sf(29, 40, p) < share)
    upper = root(lambda p: binom.cdf(5, 50, p) > share)
    exact = math.log(lower / upper)
    assert exact - 1e-5 < found.epsilon <= exact  # rounded down
    assert (found.output, found.secrets, found.frequencies) == (1, ("a", "b"), (0.75, 0.1))


def test_more_rows_and_less_confidence_sharpen_the_bound():
    secrets, _, outputs = honest(STRONG, 40_000, seed=2)
    few, many = (rldp.audit_release(secrets[:n], outputs[:n]).epsilon for n in (4000, 40_000))
    unsure = rldp.audit_release(secrets, outputs, alpha=0.5).epsilon
    assert 0 < few < many < unsure < EPSILON


def test_outputs_that_could_have_come_count():
    secrets, _, outputs = honest(STRONG, 4000, seed=3)
    seen = rldp.audit_release(secrets, outputs).epsilon
    assert rldp.audit_release(secrets, outputs, outputs=range(3)).epsilon == seen
    assert rldp.audit_release(secrets, outputs, outputs=range(8)).epsilon < seen  # more are grouped at random


# --- planted faults are caught ---------------------------------------------------------------------


@pytest.mark.parametrize("counts", [STRONG, THREE_SECRETS], ids=["two secrets", "three secrets"])
def test_an_honest_release_contradicts_nothing(counts):
    secrets, values, outputs = honest(counts, 100_000, seed=4)
    for known in (None, values):
        found = rldp.audit_release(secrets, outputs, values=known, epsilon=EPSILON)
        assert found.ok
        assert 0.4 < found.epsilon <= EPSILON
        assert found.repeats is None


def caught(faulty, counts, n, seed, epsilon=EPSILON):
    rng = np.random.default_rng(seed)
    secrets, values = people(counts, n, rng)
    found = rldp.audit_release(secrets, release(faulty, secrets, values, rng.random(n)), epsilon=epsilon)
    assert not found.ok
    assert found.epsilon > epsilon
    assert found.repeats is None


@pytest.mark.parametrize("counts", [STRONG, THREE_SECRETS], ids=["two secrets", "three secrets"])
@pytest.mark.parametrize("fault", [without_randomising_the_last, with_a_last_output_for_itself_alone])
def test_a_last_output_that_is_never_randomised_is_caught(counts, fault):
    caught(fault(nominal_protocol(counts, EPSILON)), counts, 2000, seed=5)


@pytest.mark.parametrize("counts", [STRONG, THREE_SECRETS], ids=["two secrets", "three secrets"])
def test_an_epsilon_that_is_off_by_a_fifth_is_caught(counts):
    caught(nominal_protocol(counts, 1.2 * EPSILON), counts, 200_000, seed=6)


@pytest.mark.parametrize("counts", [STRONG, THREE_SECRETS], ids=["two secrets", "three secrets"])
def test_ignoring_the_secret_is_caught(counts):
    caught(ignoring_the_secret(nominal_protocol(counts, EPSILON)), counts, 2000, seed=7)


@pytest.mark.parametrize("counts", [STRONG, THREE_SECRETS], ids=["two secrets", "three secrets"])
@pytest.mark.parametrize(("rows", "known"), [(2000, True), (100_000, False)])
def test_a_seed_used_again_for_every_chunk_is_caught(counts, rows, known):
    rng = np.random.default_rng(8)
    secrets, values = people(counts, rows, rng)
    uniforms = calls_with_one_seed(rows, [rows // 10] * 10, seed=9)
    outputs = release(nominal_protocol(counts, EPSILON), secrets, values, uniforms)
    found = rldp.audit_release(secrets, outputs, values=values if known else None, epsilon=EPSILON)
    assert found.epsilon <= EPSILON  # the shares look right
    assert found.repeats == rows // 10
    assert not found.ok


def test_a_seed_used_again_for_many_small_chunks_is_caught():
    """No single lag shows it; its multiples together do."""
    rng = np.random.default_rng(20)
    secrets, values = people(THREE_SECRETS, 10_000, rng)
    uniforms = calls_with_one_seed(10_000, [200] * 50, seed=21)
    outputs = release(nominal_protocol(THREE_SECRETS, EPSILON), secrets, values, uniforms)
    assert rldp.audit_release(secrets, outputs).repeats == 200


def test_a_seed_used_again_for_two_halves_is_caught():
    rng = np.random.default_rng(10)
    secrets, values = people(STRONG, 40_000, rng)
    uniforms = calls_with_one_seed(40_000, [20_000] * 2, seed=11)
    outputs = release(nominal_protocol(STRONG, EPSILON), secrets, values, uniforms)
    assert rldp.audit_release(secrets, outputs).repeats == 20_000


def test_a_seed_used_again_for_calls_of_different_lengths_is_caught():
    rng = np.random.default_rng(12)
    lengths = rng.integers(800, 1200, size=20)
    rows = int(lengths.sum())
    secrets, values = people(STRONG, rows, rng)
    outputs = release(
        nominal_protocol(STRONG, EPSILON), secrets, values, calls_with_one_seed(rows, lengths, seed=13)
    )
    starts = np.cumsum(lengths) - lengths
    found = rldp.audit_release(secrets, outputs, values=values)
    assert found.repeats in (starts[:, None] - starts[None, :])


def test_a_seed_used_again_for_every_row_is_caught_or_seen_not_to_vary():
    """Everybody gets the same random number: the output is a function of secret and value."""
    matrix = nominal_protocol(STRONG, EPSILON)
    rng = np.random.default_rng(14)
    secrets, values = people(STRONG, 20_000, rng)
    refuted = 0
    for number in (np.arange(20) + 0.5) / 20:
        outputs = release(matrix, secrets, values, np.full(20_000, number))
        found = rldp.audit_release(secrets, outputs, values=values, epsilon=EPSILON)
        assert not found.varies
        assert found.sentences[-1] == (
            "Given secret and value, the output never varies: the rows show no randomness at all."
        )
        assert found.epsilon == rldp.audit_release(secrets, outputs).epsilon
        refuted += not found.ok
    assert refuted >= 15


# --- no false alarms about repetition --------------------------------------------------------------

ORDERS = {
    "as drawn": lambda s, u: np.arange(len(s)),
    "by secret": lambda s, u: np.argsort(s, kind="stable"),
    "by value": lambda s, u: np.argsort(u, kind="stable"),
    "by secret, then value": lambda s, u: np.lexsort((u, s)),
    "by value, then secret": lambda s, u: np.lexsort((s, u)),
}


@pytest.mark.parametrize("order", ORDERS.values(), ids=ORDERS.keys())
@pytest.mark.parametrize("known", [False, True], ids=["values unknown", "values known"])
def test_sorted_tables_raise_no_alarm(order, known):
    rng = np.random.default_rng(15)
    for rows in (100, 3000, 60_000):
        for matrix in (nominal_protocol(THREE_SECRETS, EPSILON), np.tile(np.eye(5), (3, 1, 1))):
            secrets, values = people(THREE_SECRETS, rows, rng)
            sequence = order(secrets, values)
            secrets, values = secrets[sequence], values[sequence]
            outputs = release(matrix, secrets, values, rng.random(rows))
            found = rldp.audit_release(secrets, outputs, values=values if known else None)
            assert found.repeats is None, found


@pytest.mark.slow
def test_a_thousand_honest_tables_raise_no_alarm():
    """Random alphabets, distributions, protocols (rare outputs too), sizes and orders."""
    rng = np.random.default_rng(16)
    for _ in range(200):
        s, u, y = rng.integers(1, 5), rng.integers(1, 9), rng.integers(2, 7)
        rows = int(10 ** rng.uniform(1.5, 4.5))
        cells = rng.choice(s * u, size=rows, p=rng.dirichlet(np.full(s * u, rng.choice([0.3, 1, 5]))))
        matrix = rng.dirichlet(np.full(y, rng.choice([0.05, 0.3, 2])), size=(s, u))
        if rng.random() < 0.3:
            rare = 10 ** rng.uniform(-4, -1)
            matrix = np.tile([1 - rare, rare], (s, u, 1))
        for order in ORDERS.values():
            ordered = cells[order(cells // u, cells % u)]
            outputs = release(matrix, ordered // u, ordered % u, rng.random(rows))
            for codes, complete in ((ordered // u, False), (ordered, True)):
                found = find_repetition(outputs, codes, cells_are_complete=complete)
                assert found.score <= found.limit, (found, rows, matrix)


def test_secrets_of_two_rows_a_fixed_lag_apart_raise_no_alarm():
    """Their residuals cancel at that lag, which must not look like a peak beside it."""
    outputs = np.random.default_rng(22).integers(0, 2, 2000)
    assert rldp.audit_release(np.tile(np.arange(1000), 2), outputs).repeats is None


@pytest.mark.slow
def test_small_tables_raise_no_alarm_although_multiples_of_small_lags_have_heavy_tails():
    rng = np.random.default_rng(0)
    for _ in range(3000):
        rows = int(rng.integers(80, 200))
        cells = np.sort(rng.choice(8, size=rows, p=rng.dirichlet(np.full(8, 0.5))))
        matrix = rng.dirichlet(np.full(5, 0.3), size=(8, 1))
        outputs = release(matrix, cells, np.zeros_like(cells), rng.random(rows))
        found = find_repetition(outputs, cells, cells_are_complete=True)
        assert found.score <= found.limit, found


def test_a_table_that_repeats_is_told_from_randomness_that_repeats():
    """The same people in every chunk, drawn afresh: only the values explain what is seen."""
    rng = np.random.default_rng(17)
    secrets, values = (np.tile(column, 50) for column in people(STRONG, 400, rng))
    outputs = release(nominal_protocol(STRONG, EPSILON), secrets, values, rng.random(20_000))
    blind = rldp.audit_release(secrets, outputs)
    assert blind.repeats == 400
    assert (
        blind.sentences[-1] == "Or the values repeat every 400 rows; give the values to tell the two apart."
    )
    assert rldp.audit_release(secrets, outputs, values=values).repeats is None


# --- edge cases ------------------------------------------------------------------------------------


def test_one_secret_shows_nothing():
    found = rldp.audit_release(["a"] * 100, [0, 1] * 50, epsilon=0.0)
    assert (found.epsilon, found.output, found.secrets, found.frequencies) == (0.0, None, None, None)
    assert found.rows == 100


def test_one_row_and_one_output_show_nothing():
    for rows in (1, 2, 1000):
        found = rldp.audit_release([0, 1] * rows, [7] * (2 * rows), epsilon=0.0)
        assert (found.epsilon, found.ok, found.repeats, found.varies) == (0.0, True, None, False)


def test_an_output_that_one_secret_never_gives_has_a_finite_bound():
    found = rldp.audit_release([0] * 1000 + [1] * 1000, [0, 1] * 500 + [0] * 1000, epsilon=3.0)
    assert 3.0 < found.epsilon < math.inf
    assert (found.output, found.secrets, found.frequencies) == (1, (0, 1), (0.5, 0.0))


def test_without_a_claim_there_is_no_verdict():
    secrets, _, outputs = honest(STRONG, 2000, seed=18)
    assert rldp.audit_release(secrets, outputs).ok is None
    assert rldp.audit_release(secrets, outputs, epsilon=math.inf).ok is True


def test_the_findings_are_told_in_sentences():
    found = rldp.audit_release(
        ["a"] * 100 + ["b"] * 100, [1] * 90 + [0] * 10 + [1] * 10 + [0] * 90, epsilon=0.1
    )
    first, second, third, fourth = found.sentences
    assert first == (
        f"The ε of this release is at least {found.epsilon:.4f} (wrong with probability 0.01 "
        "at most): output 0 occurs in 90.00% of the rows with secret 'b' and in 10.00% of those with 'a'."
    )
    assert second == "That contradicts the claimed ε = 0.1."
    assert third == (
        f"An ε below {found.noticeable:.2g} would not be noticed to exceed 0.1 with these rows. A larger one "
        "is noticed if it shows in outputs that are frequent enough."
    )
    assert fourth.startswith("No repeated randomness was found (at most ")
    quiet = rldp.audit_release([0, 1], [0, 1], epsilon=1.0).sentences
    assert quiet[0] == "The 2 rows do not bound ε from below: any ε from 0 on explains them."
    assert quiet[1].startswith("That does not contradict the claimed ε = 1; it does not prove it either")
    assert "An ε below 0.82 would not be noticed" in rldp.audit_release([0, 1] * 60, [0] * 120).sentences[1]
    assert "no ε would be noticed." in " ".join(rldp.audit_release([0, 0], [0, 1]).sentences)


# --- many outputs, several columns -----------------------------------------------------------------


def ages(rows, rng):
    """Rare strokes, most of them old people, and 83 ages in years, as in public tables."""
    stroke = rng.random(rows) < 0.05
    return stroke, np.clip(
        np.where(stroke, rng.normal(68, 13, rows), rng.normal(42, 22, rows)), 0, 82
    ).astype(int)


def test_many_rare_outputs_do_not_hide_what_bands_of_them_show():
    stroke, age = ages(5000, np.random.default_rng(1))
    found = rldp.audit_release(stroke, age, epsilon=0.5, seed=1)
    bands = rldp.audit_release(stroke, np.digitize(age, [40, 60]), epsilon=0.5)
    assert bands.epsilon > 1.5
    assert found.epsilon > 0.75 * bands.epsilon
    assert (found.ok, found.output, found.secrets) == (False, None, (False, True))
    assert found.outputs == tuple(range(len(found.outputs)))  # the youngest: neighbours are grouped
    assert f"one of {len(found.outputs)} outputs (0, 1, 2, …) occurs in " in found.sentences[0]
    assert "seed 1 repeats this result" in " ".join(found.sentences)
    texts = rldp.audit_release(stroke, [f"{number}.0" for number in age], seed=1)  # as a CSV file has them
    assert texts.epsilon == found.epsilon
    assert texts.outputs == tuple(f"{number}.0" for number in found.outputs)


def test_groups_are_chosen_anew_in_every_call():
    stroke, age = ages(5000, np.random.default_rng(1))
    found = [rldp.audit_release(stroke, age) for _ in range(2)]
    assert found[0].seed != found[1].seed
    assert rldp.audit_release(stroke, age, seed=found[0].seed).epsilon == found[0].epsilon


def test_columns_that_tell_nothing_alone_are_tested_together():
    rng = np.random.default_rng(2)
    secret, one = rng.integers(0, 2, 4000), rng.integers(0, 4, 4000)
    other = (one + 2 * secret + rng.integers(0, 2, 4000)) % 4
    for column in (one, other):
        assert rldp.audit_release(secret, column).epsilon < 0.1
    found = rldp.audit_release(secret, {"one": one, "other": other}, seed=0)
    assert found.epsilon > 3
    assert all(len(output) == 2 for output in found.outputs)


@pytest.mark.parametrize("rows", [60, 600])
def test_bounds_from_groups_seldom_exceed_the_truth(rows):
    """Forty outputs, each e^±0.5 times as frequent under one secret; α = 0.2, 150 releases."""
    rng, over = np.random.default_rng(3), 0
    table = np.exp(np.resize([0.25, -0.25], 40))
    joint = np.stack([table / table.sum(), table[::-1] / table.sum()])
    for _ in range(150):
        secrets = rng.integers(0, 2, rows)
        outputs = (rng.random(rows)[:, None] >= joint.cumsum(axis=1)[secrets, :-1]).sum(axis=1)
        counts = np.zeros((2, 40), dtype=int)
        np.add.at(counts, (secrets, outputs), 1)
        found = shown_by(counts, Columns(np.arange(40)[:, None], (False,)), 0.2, rng)
        over += found is not None and found.epsilon > 0.5
    assert over <= binom.ppf(1 - 1e-4, 150, 0.2)


def test_a_release_that_is_barely_noticeable_is_noticed_half_of_the_time():
    """Randomised response at that ε, which is the most visible release with it."""
    rng, noticed = np.random.default_rng(4), 0
    secrets = np.repeat([0, 1], 500)
    epsilon = rldp.audit_release(secrets, secrets).noticeable
    for _ in range(60):
        flipped = rng.random(1000) < 1 / (1 + math.exp(epsilon))
        noticed += rldp.audit_release(secrets, secrets ^ flipped).epsilon > 0
    assert 15 < noticed < 45


def test_several_columns_are_refused_where_they_cannot_be_tested():
    with pytest.raises(rldp.InvalidArgument, match="released must hold at least one column, got none"):
        rldp.audit_release([0, 1], {})
    with pytest.raises(rldp.InvalidArgument, match="outputs must be left out where released is several"):
        rldp.audit_release([0, 1], {"a": [0, 1], "b": [1, 0]}, outputs=[0, 1])
    with pytest.raises(rldp.DataError, match=r"released\['b'\] must have as many rows as secrets, 2, got 1"):
        rldp.audit_release([0, 1], {"a": [0, 1], "b": [1]})


def test_lists_need_no_data_frame_library():
    code = """
        import sys
        sys.modules["narwhals"] = sys.modules["pyarrow"] = None
        import rldp
        print(rldp.audit_release(["a", "b"] * 50, [0, 1] * 50).epsilon > 0)
    """
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert (done.stderr, done.stdout) == ("", "True\n")


# --- columns ---------------------------------------------------------------------------------------


def columns_of(library):
    if library == "list":
        return list
    if library == "tuple":
        return tuple
    if library == "numpy":
        return np.array
    if library == "objects":
        return lambda items: np.array(items, dtype=object)
    module = pytest.importorskip(library.split()[0])
    return {
        "pandas": lambda items: module.Series(items, index=range(5, 5 + len(items))),
        "pandas category": lambda items: module.Series(items).astype("category"),
        "polars": lambda items: module.Series(items),
        "polars category": lambda items: module.Series([str(i) for i in items], dtype=module.Categorical),
        "pyarrow": lambda items: module.chunked_array([items[:3], items[3:]]),
        "pyarrow array": lambda items: module.array(items),
        "pyarrow dictionary": lambda items: module.array(items).dictionary_encode(),
    }[library]


LIBRARIES = [
    *("list", "tuple", "numpy", "objects", "pandas", "pandas category", "polars", "polars category"),
    *("pyarrow", "pyarrow array", "pyarrow dictionary"),
]


@pytest.mark.parametrize("library", LIBRARIES)
def test_columns_of_any_library_say_the_same(library):
    column = columns_of(library)
    secrets, values, outputs = ["b", "a"] * 100, [0.5, 1.5] * 100, [3, 3, 4, 3] * 50
    found = rldp.audit_release(column(secrets), column(outputs), values=column(values))
    expected = rldp.audit_release(secrets, outputs, values=values)
    assert found.epsilon == expected.epsilon > 0
    assert found.secrets == expected.secrets == ("b", "a")
    assert str(found.output) == str(expected.output) == "4"


@pytest.mark.parametrize("library", ["list", "objects", "pandas", "polars", "pyarrow"])
def test_nulls_are_counted_and_the_first_is_named(library):
    column = columns_of(library)
    with pytest.raises(
        rldp.DataError,
        match=r"^released must hold no nulls, but row 2 has no value; 2 of 5 rows cannot be counted$",
    ):
        rldp.audit_release(["a"] * 5, column(["x", None, "y", None, "x"]))


def test_a_null_is_the_output_missing_if_that_is_one():
    """As frames hold it beside numbers."""
    secrets, outputs = ["a"] * 50 + ["b"] * 50, [1, 2, "(missing)"]
    texts = [1, 2] * 25 + ["(missing)"] * 50
    nulls = [None if output == "(missing)" else output for output in texts]
    found = rldp.audit_release(secrets, nulls, outputs=outputs)
    assert rldp.audit_release(secrets, nulls, missing="category").epsilon == found.epsilon
    several = {"a": nulls, "b": [1] * 100}
    assert rldp.audit_release(secrets, several, missing="category").epsilon == found.epsilon
    with pytest.raises(rldp.InvalidArgument, match="missing must be one of refuse, category, got 'skip'"):
        rldp.audit_release(secrets, nulls, missing="skip")
    assert found == rldp.audit_release(secrets, texts, outputs=outputs, seed=found.seed)
    assert found.output == "(missing)"


@pytest.mark.parametrize("library", ["list", "numpy", "pandas", "polars", "pyarrow"])
def test_nan_is_a_null(library):
    column = columns_of(library)
    with pytest.raises(
        rldp.DataError,
        match=r"^secrets must hold no nulls, but row 3 has no value; 1 of 3 rows cannot be counted$",
    ):
        rldp.audit_release(column([0.0, 1.0, math.nan]), [0, 1, 0])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"secrets": [], "released": []}, "secrets must hold at least one row, got none"),
        ({"released": [0, 1, 0]}, "released must have as many rows as secrets, 4, got 3"),
        ({"values": [0]}, "values must have as many rows as secrets, 4, got 1"),
        ({"secrets": "abcd"}, "secrets must be a list, a NumPy array, a pandas or Polars series or an Arrow"),
        ({"values": range(4)}, "values must be a list, a NumPy array, a pandas or Polars series or an Arrow"),
        ({"released": np.zeros((2, 2))}, "released must have one axis, got shape (2, 2)"),
        ({"released": [0, 1, [0], [1]]}, "released must hold strings, numbers or booleans, but row 3 has an"),
        (
            {"outputs": [0]},
            "released must hold known labels, but row 2 has another entry; 2 of 4 rows cannot be counted",
        ),
        (
            {"values": [0, 1, 2, math.inf]},
            "values must hold finite labels, but row 4 has another entry",
        ),
        ({"outputs": 3}, "outputs must be a list of labels, got 3"),
        ({"epsilon": -1}, "epsilon must be at least 0, got -1.0"),
        ({"epsilon": "1"}, "epsilon must be a number, got '1'"),
        ({"alpha": 1.0}, "alpha must lie strictly between 0 and 1, got 1.0"),
        ({"alpha": 99}, "alpha must lie strictly between 0 and 1, got 99.0"),
    ],
)
def test_mistakes_are_told_in_one_sentence(arguments, message):
    given = {"secrets": [0, 0, 1, 1], "released": [0, 1, 0, 1]} | arguments
    with pytest.raises(rldp.RldpError) as raised:
        rldp.audit_release(given.pop("secrets"), given.pop("released"), **given)
    assert str(raised.value).startswith(message)


def test_a_column_of_a_thousand_and_one_labels_is_refused():
    with pytest.raises(
        rldp.DataError, match=r"^released must have at most 1000 distinct labels, got 1001; group or"
    ):
        rldp.audit_release([0] * 1001, np.arange(1001))


@pytest.mark.slow
def test_a_million_rows_take_seconds():
    secrets, values, outputs = honest(THREE_SECRETS, 1_000_000, seed=19)
    start = time.process_time()
    rldp.audit_release(secrets, outputs, values=values)
    assert time.process_time() - start < 20
