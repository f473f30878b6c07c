"""Every mistake gets one sentence before any work; what looks odd but is sound gets an answer."""

import importlib
import itertools
import math

import numpy as np
import pytest

import rldp

NAN, INF = math.nan, math.inf
SAMPLE = rldp.Sample([[3, 1], [1, 3]])
PROTOCOL = rldp.Protocol([[[1, 0], [0, 1]], [[0.5, 0.5], [0.5, 0.5]]])
VALUE, TYPE = rldp.InvalidArgument, rldp.InvalidArgumentType


@pytest.fixture
def no_work(monkeypatch):
    """Fail as soon as a solver starts."""

    def started(*_, **__):
        raise AssertionError("work started on bad input")

    monkeypatch.setattr(importlib.import_module("rldp.designer.api"), "solve", started)


def refused(call, error, message):
    """``call`` raises ``error`` with exactly ``message`` ('…' at its end: and something more)."""
    with pytest.raises(rldp.RldpError) as caught:
        call()
    assert type(caught.value) is error
    assert isinstance(caught.value, TypeError if error is TYPE else ValueError)
    text = str(caught.value)
    assert "\n" not in text
    assert len(text) < 250
    if message.endswith("…"):
        assert text.startswith(message[:-1])
    else:
        assert text == message


def table(*rows):
    """Cases by their first entry."""
    return [pytest.param(*row[1:], id=row[0]) for row in rows]


# Counts

WHOLE = "counts must hold non-negative integers, got "


@pytest.mark.parametrize(
    ("entry", "error", "message"),
    table(
        ("negative", -1, VALUE, WHOLE + "-1"),
        ("negative float", -1.0, VALUE, WHOLE + "-1"),
        ("fraction", 0.5, VALUE, WHOLE + "0.5"),
        ("NaN", NAN, VALUE, WHOLE + "NaN"),
        ("infinity", INF, VALUE, WHOLE + "inf"),
        ("minus infinity", -INF, VALUE, WHOLE + "-inf"),
        ("string", "a", TYPE, WHOLE + "text"),
        ("string of digits", "1", TYPE, WHOLE + "text"),
        ("bytes", b"1", TYPE, WHOLE + "…"),
        ("None", None, TYPE, WHOLE + "None"),
        ("object", {"a": 1}, TYPE, WHOLE + "{'a': 1}"),
        ("complex", 1j, TYPE, WHOLE + "entries of type complex128"),
        ("date", np.datetime64("2024-01-31"), TYPE, WHOLE + "…"),
    ),
)
def test_entries_that_are_no_counts(no_work, entry, error, message):
    refused(lambda: rldp.Sample([[1, entry], [1, 2]]), error, message)
    refused(lambda: rldp.design_batch([[[1, entry], [1, 2]]], 1.0), error, message)


def test_booleans_are_no_counts(no_work):
    refused(lambda: rldp.Sample([[True, False]]), TYPE, WHOLE + "booleans")
    refused(lambda: rldp.design_batch([[[True, False]]], 1.0), TYPE, WHOLE + "booleans")


@pytest.mark.parametrize(
    ("counts", "error", "message"),
    table(
        ("nothing", None, TYPE, WHOLE + "None"),
        ("number", 5, VALUE, "counts must have two axes (secrets, values), got shape ()"),
        ("string", "abc", TYPE, WHOLE + "text"),
        ("dict", {"a": 1}, TYPE, WHOLE + "{'a': 1}"),
        ("one axis", [1, 2], VALUE, "counts must have two axes (secrets, values), got shape (2,)"),
        ("three axes", [[[1]]], VALUE, "counts must have two axes (secrets, values), got shape (1, 1, 1)"),
        ("ragged", [[1, 2], [3]], VALUE, "counts must be a rectangular table, got rows that differ"),
        ("no rows", [], VALUE, "counts must have two axes (secrets, values), got shape (0,)"),
        ("no columns", [[], []], VALUE, "counts must not be empty, got shape (2, 0)"),
        ("zeros", [[0, 0]], VALUE, "counts must hold at least one observation, got all zeros"),
        ("zero floats", [[0.0, -0.0]], VALUE, "counts must hold at least one observation, got all zeros"),
    ),
)
def test_tables_that_are_no_sample(counts, error, message):
    refused(lambda: rldp.Sample(counts), error, message)


@pytest.mark.parametrize(
    ("counts", "error", "message"),
    table(
        (
            "two axes",
            [[1]],
            VALUE,
            "counts must have three axes (samples, secrets, values), got shape (1, 1)",
        ),
        ("ragged", [[[1, 2]], [[3]]], VALUE, "counts must be a rectangular table, got rows that differ"),
        ("no samples", np.zeros((0, 2, 2), int), VALUE, "counts must not be empty, got shape (0, 2, 2)"),
        ("a zero sample", [[[1]], [[0]]], VALUE, "counts must hold at least one observation, got all zeros…"),
        ("a sample", SAMPLE, TYPE, WHOLE + "…"),
    ),
)
def test_tables_that_are_no_batch(no_work, counts, error, message):
    refused(lambda: rldp.design_batch(counts, 1.0), error, message)


# Labels


@pytest.mark.parametrize("name", ["secrets", "values", "outputs"])
@pytest.mark.parametrize(
    ("given", "error", "message"),
    table(
        ("none", [], VALUE, "must hold at least one label, got none"),
        ("twice", ["a", "a"], VALUE, "must hold distinct labels, got 'a' more than once"),
        ("equal", [1, 1.0], VALUE, "must hold distinct labels, got 1.0 more than once"),
        ("None", ["a", None], TYPE, "must hold strings, numbers or booleans, got None of type NoneType"),
        ("NaN", [1.0, NAN], VALUE, "must hold finite labels, got nan"),
        ("infinity", [1.0, -INF], VALUE, "must hold finite labels, got -inf"),
        ("tuple", [("a",), ("b",)], TYPE, "must hold strings, numbers or booleans, got ('a',) of type tuple"),
        ("table", np.zeros((2, 90)), TYPE, "must hold strings, numbers or booleans, got array([0., …"),
        ("half a character", ["a", "\ud800"], VALUE, r"must hold labels of valid Unicode, got '\ud800'"),
        ("string", "ab", TYPE, "must be a list of labels, got 'ab'"),
        ("empty string", "", TYPE, "must be a list of labels, got ''"),
        ("bytes", b"ab", TYPE, "must be a list of labels, got b'ab'"),
        ("number", 2, TYPE, "must be a list of labels, got 2"),
    ),
)
def test_labels_that_are_none(no_work, name, given, error, message):
    if name != "outputs":
        refused(lambda: rldp.Sample([[3, 1], [1, 3]], **{name: given}), error, f"{name} {message}")
    else:
        refused(lambda: rldp.design(SAMPLE, 1.0, outputs=given), error, f"{name} {message}")
        refused(lambda: rldp.design_batch([[[1, 2]]], 1.0, outputs=given), error, f"{name} {message}")
    refused(lambda: rldp.Protocol(PROTOCOL.matrix, **{name: given}), error, f"{name} {message}")


@pytest.mark.parametrize("given", [["a"], ["a", "b", "c"]], ids=["too few", "too many"])
@pytest.mark.parametrize("name", ["secrets", "values", "outputs"])
def test_labels_of_the_wrong_number(name, given):
    message = f"{name} must hold 2 labels, got {len(given)}"
    refused(lambda: rldp.Protocol(PROTOCOL.matrix, **{name: given}), VALUE, message)
    if name != "outputs":
        refused(lambda: rldp.Sample([[3, 1], [1, 3]], **{name: given}), VALUE, message)


# The privacy level


@pytest.mark.parametrize(
    ("epsilon", "error", "message"),
    table(
        ("negative", -0.5, VALUE, "epsilon must be at least 0, got -0.5"),
        ("minus infinity", -INF, VALUE, "epsilon must be at least 0, got -inf"),
        ("NaN", NAN, VALUE, "epsilon must be a number, got NaN"),
        ("string", "1", TYPE, "epsilon must be a number, got '1'"),
        ("None", None, TYPE, "epsilon must be a number, got None"),
        ("boolean", True, TYPE, "epsilon must be a number, got True"),
        ("complex", 1j, TYPE, "epsilon must be a number, got 1j"),
        ("object", {}, TYPE, "epsilon must be a number, got {}"),
        ("too large", 10**400, VALUE, "epsilon must be a number that a float can hold, got 1000…"),
        ("two axes", [[1.0, 2.0]], VALUE, "epsilon must be one number…"),
        ("none of them", [], VALUE, "epsilon must be one number…"),
    ),
)
def test_epsilon_that_is_no_level(no_work, epsilon, error, message):
    refused(lambda: rldp.design(SAMPLE, epsilon), error, message)
    refused(lambda: rldp.design_batch([[[1, 2]]] * 2, epsilon), error, message)


@pytest.mark.parametrize(
    ("epsilon", "error", "message"),
    table(
        ("one negative", [1, -1], VALUE, "epsilon must be at least 0, got -1.0"),
        ("one NaN", [1, NAN], VALUE, "epsilon must be a number, got NaN"),
        ("one None", [1, None], TYPE, "epsilon must be a number, got None"),
        ("strings", ["a", "b"], TYPE, "epsilon must be a number, got …"),
        ("booleans", [True, True], TYPE, "epsilon must be a number, got …"),
        (
            "too many",
            [1, 2, 3],
            VALUE,
            "epsilon must be one number, one for each of 2 samples or an array (1, 1) for all …",
        ),
        (
            "a row",
            [[1, 2]],
            VALUE,
            "epsilon must be one number, one for each of 2 samples or an array (1, 1) for all …",
        ),
    ),
)
def test_levels_that_do_not_fit_a_batch(no_work, epsilon, error, message):
    refused(lambda: rldp.design_batch([[[1, 2]]] * 2, epsilon), error, message)


def test_one_sample_has_one_level(no_work):
    with pytest.raises(VALUE, match=r"^epsilon must be one number.*, got shape \(2,\)$"):
        rldp.design(SAMPLE, [1.0, 2.0])


# Sets


@pytest.mark.parametrize(
    "make", [rldp.ChiSquare, rldp.CressieRead, rldp.GTest, lambda alpha: rldp.PowerDivergence(1, alpha)]
)
@pytest.mark.parametrize(
    ("alpha", "error", "message"),
    table(
        ("zero", 0, VALUE, "alpha must lie strictly between 0 and 1, got 0.0"),
        ("one", 1, VALUE, "alpha must lie strictly between 0 and 1, got 1.0"),
        ("negative", -0.05, VALUE, "alpha must lie strictly between 0 and 1, got -0.05"),
        ("percent", 5, VALUE, "alpha must lie strictly between 0 and 1, got 5.0"),
        ("NaN", NAN, VALUE, "alpha must be a number, got NaN"),
        ("infinity", INF, VALUE, "alpha must be finite, got inf"),
        ("string", "5%", TYPE, "alpha must be a number, got '5%'"),
        ("None", None, TYPE, "alpha must be a number, got None"),
        ("boolean", True, TYPE, "alpha must be a number, got True"),
        ("array", np.full((9, 9), 0.05), TYPE, "alpha must be a number, got array([[0.05, 0.05, …"),
    ),
)
def test_alpha_that_is_no_level(make, alpha, error, message):
    refused(lambda: make(alpha), error, message)


@pytest.mark.parametrize(
    ("given", "error", "message"),
    table(
        ("negative", -1, VALUE, "must be at least 0, got -1"),
        ("NaN", NAN, VALUE, "must be a number, got NaN"),
        ("infinity", INF, VALUE, "must be finite, got inf"),
        ("string", "1", TYPE, "must be a number, got '1'"),
        ("boolean", True, TYPE, "must be a number, got True"),
        ("too large", 10**400, VALUE, "must be a number that a float can hold, got 1000…"),
    ),
)
def test_order_and_radius_are_finite_and_not_negative(given, error, message):
    refused(lambda: rldp.PowerDivergence(given), error, f"lambda_ {message}")
    refused(lambda: rldp.PowerDivergence(1, radius=given), error, f"radius {message}")


@pytest.mark.parametrize("name", ["privacy", "utility"])
@pytest.mark.parametrize(
    ("given", "got"),
    table(
        ("None", None, "None"),
        ("level", 0.05, "0.05"),
        ("class", rldp.ChiSquare, "<class 'rldp.sets.ChiSquare'>"),
        ("distribution", [[0.5, 0.5]], "[[0.5, 0.5]]"),
    ),
)
def test_a_set_is_wanted(no_work, name, given, got):
    message = f"{name} must be a set such as rldp.ChiSquare() or rldp.Nominal(), got {got}"
    if (name, given) != ("utility", None):  # which is the default
        refused(lambda: rldp.design(SAMPLE, 1.0, **{name: given}), TYPE, message)
    refused(lambda: rldp.design_batch([[[1, 2]]], 1.0, **{name: given}), TYPE, message)


@pytest.mark.parametrize("name", ["privacy", "utility"])
@pytest.mark.parametrize("given", ["chi", "Chi2", ""])
def test_the_name_of_no_set(no_work, name, given):
    known = "all, pairs, chi2, cr, g, credible, nominal"
    message = f"{name} must be a set or one of {known}, got {given!r}"
    refused(lambda: rldp.design(SAMPLE, 1.0, **{name: given}), VALUE, message)
    refused(lambda: rldp.design_batch([[[1, 2]]], 1.0, **{name: given}), VALUE, message)


# Distortions

DISTORTION = "distortion must be 'squared', 'absolute' or 'hamming', a function or a matrix of numbers, got "


def raises(u, y):
    return {}[u]


@pytest.mark.parametrize(
    ("distortion", "error", "message"),
    table(
        ("NaN", [[0, NAN], [1, 0]], VALUE, "distortion must be finite, got nan for value 1 and output 2"),
        (
            "infinity",
            [[0, 1], [INF, 0]],
            VALUE,
            "distortion must be finite, got inf for value 2 and output 1",
        ),
        (
            "negative",
            [[0, 1], [-1, 0]],
            VALUE,
            "distortion must be 0 or more, got -1 for value 2 and output 1",
        ),
        ("row missing", [[0, 1]], VALUE, "distortion must have shape (2, 2) (values, outputs), got (1, 2)"),
        ("one axis", [0, 1], VALUE, "distortion must have shape (2, 2) (values, outputs), got (2,)"),
        ("number", 5, VALUE, "distortion must have shape (2, 2) (values, outputs), got ()"),
        ("ragged", [[0, 1], [1]], TYPE, DISTORTION + "rows that differ"),
        ("unknown name", "manhattan", VALUE, DISTORTION + "'manhattan'"),
        ("other case", "Squared", VALUE, DISTORTION + "'Squared'"),
        ("text", [["0", "1"], ["1", "0"]], TYPE, DISTORTION + "text"),
        ("complex", np.array([[0, 1j], [1, 0]]), TYPE, DISTORTION + "entries of type complex128"),
        ("a None in it", [[0, None], [1, 0]], TYPE, DISTORTION + "None"),
        ("too large", [[0, 10**400], [1, 0]], VALUE, DISTORTION + "one that a float cannot hold"),
        ("None", None, TYPE, DISTORTION + "None"),
        (
            "of None",
            lambda u, y: None,
            TYPE,
            "distortion must return a number, got NoneType for value 1 and output 1",
        ),
        (
            "of text",
            lambda u, y: "1",
            TYPE,
            "distortion must return a number, got str for value 1 and output 1",
        ),
        (
            "of lists",
            lambda u, y: [u],
            TYPE,
            "distortion must return a number, got list for value 1 and output 1",
        ),
        (
            "of complex",
            lambda u, y: 1j,
            TYPE,
            "distortion must return a number, got complex for value 1 and output 1",
        ),
        ("of NaN", lambda u, y: NAN, VALUE, "distortion must be finite, got nan for value 1 and output 1"),
        (
            "of infinity",
            lambda u, y: INF,
            VALUE,
            "distortion must be finite, got inf for value 1 and output 1",
        ),
        (
            "of large",
            lambda u, y: 10**400,
            VALUE,
            "distortion must be finite, got more than a float holds for value 1 and output 1",
        ),
        (
            "of negative",
            lambda u, y: u - y,
            VALUE,
            "distortion must be 0 or more, got -1 for value 1 and output 2",
        ),
        (
            "that raises",
            raises,
            VALUE,
            "distortion must return a number, but for value 1 and output 1 it raised KeyError",
        ),
        (
            "of one",
            lambda u: 0,
            VALUE,
            "distortion must return a number, but for value 1 and output 1 it raised TypeError",
        ),
    ),
)
def test_distortions_that_are_none(no_work, distortion, error, message):
    refused(lambda: rldp.design(SAMPLE, 1.0, distortion=distortion), error, message)
    refused(lambda: rldp.design_batch([SAMPLE.counts], 1.0, distortion=distortion), error, message)
    if distortion is not None:  # there it stands for the protocol's own
        refused(lambda: rldp.distortion(PROTOCOL, SAMPLE.distribution, distortion), error, message)


def test_distortions_by_column_want_columns(no_work):
    by_column, message = {"a": "squared"}, DISTORTION + "{'a': 'squared'}"
    unknown = "distortion must be about value columns (none that have names), got 'a'"
    refused(lambda: rldp.design(SAMPLE, 1.0, distortion=by_column), VALUE, unknown)
    refused(lambda: rldp.design_batch([SAMPLE.counts], 1.0, distortion=by_column), TYPE, message)
    refused(lambda: rldp.distortion(PROTOCOL, SAMPLE.distribution, by_column), TYPE, message)


def test_a_column_that_is_left_out_has_the_default_distortion():
    given, default = rldp.design(SAMPLE, 1.0, distortion={}), rldp.design(SAMPLE, 1.0)
    assert given.protocol == default.protocol


@pytest.mark.parametrize("name", ["squared", "absolute"])
@pytest.mark.parametrize(
    ("values", "outputs", "kind", "got"),
    table(
        ("values", ["low", "high"], None, "values", "text"),
        ("one value", [1, "high"], None, "values", "text"),
        ("outputs", [1, 2], [1, "?"], "outputs", "text"),
        ("digits", ["1", "2"], None, "values", "texts that stand for numbers"),
    ),
)
def test_labels_without_a_distance_say_what_to_use_instead(no_work, name, values, outputs, kind, got):
    sample = rldp.Sample(SAMPLE.counts, values=values)
    helps = "use 'hamming', a function d(u, y) or a matrix instead"
    if "stand for" in got:
        helps = "bins= cuts them into bins, and number= reads them as numbers"
    message = f"distortion '{name}' needs {kind} that are numbers, got {got}; {helps}"
    refused(lambda: rldp.design(sample, 1.0, distortion=name, outputs=outputs), VALUE, message)


def test_numbers_too_far_apart_have_no_squared_distance(no_work):
    sample = rldp.Sample(SAMPLE.counts, values=[1e200, -1e200])
    message = "distortion must be finite, got inf for value 1 and output 2"
    refused(lambda: rldp.design(sample, 1.0), VALUE, message)


# The gap and the sample


@pytest.mark.parametrize(
    ("gap", "error", "message"),
    table(
        ("zero", 0, VALUE, "gap must be greater than 0, got 0"),
        ("negative", -1e-6, VALUE, "gap must be greater than 0, got -1e-06"),
        ("NaN", NAN, VALUE, "gap must be a number, got NaN"),
        ("infinity", INF, VALUE, "gap must be finite, got inf"),
        ("string", "small", TYPE, "gap must be a number, got 'small'"),
        ("None", None, TYPE, "gap must be a number, got None"),
        ("boolean", True, TYPE, "gap must be a number, got True"),
    ),
)
def test_gaps_that_cannot_be_reached(no_work, gap, error, message):
    refused(lambda: rldp.design(SAMPLE, 1.0, gap=gap), error, message)
    refused(lambda: rldp.design_batch([[[1, 2]]], 1.0, gap=gap), error, message)


@pytest.mark.parametrize(
    ("sample", "kind"),
    table(
        ("None", None, "NoneType"),
        ("counts", [[1, 2]], "list"),
        ("array", SAMPLE.counts, "ndarray"),
        ("path", "data.csv", "str"),
        ("class", rldp.Sample, "type"),
    ),
)
def test_a_sample_is_wanted(no_work, sample, kind):
    message = f"sample must be an rldp.Sample, got {kind}"
    refused(lambda: rldp.design(sample, 1.0), TYPE, message)
    refused(lambda: rldp.worst_case_leakage(PROTOCOL, sample, rldp.ChiSquare()), TYPE, message)
    refused(lambda: rldp.worst_case(PROTOCOL, sample, rldp.ChiSquare()), TYPE, message)


# Protocols


@pytest.mark.parametrize(
    ("matrix", "error", "message"),
    table(
        ("string", "abc", TYPE, "matrix must be a table of numbers (secrets, values, outputs), got …"),
        ("text", [[["a"]]], TYPE, "matrix must be a table of numbers (secrets, values, outputs), got …"),
        ("ragged", [[[1], [0, 1]]], TYPE, "matrix must be a table of numbers (secrets, values, outputs), …"),
        (
            "two axes",
            [[1, 0]],
            VALUE,
            "matrix must have three axes (secrets, values, outputs), got shape (1, 2)",
        ),
        (
            "empty",
            [[[]]],
            VALUE,
            "matrix must have three axes (secrets, values, outputs), got shape (1, 1, 0)",
        ),
        ("negative", [[[-1, 2]]], VALUE, "matrix must hold probabilities, got a negative number or NaN"),
        (
            "a hair below",
            [[[-1e-12, 1]]],
            VALUE,
            "matrix must hold probabilities, got a negative number or NaN",
        ),
        ("NaN", [[[NAN, 1]]], VALUE, "matrix must hold probabilities, got a negative number or NaN"),
        ("infinity", [[[INF, 0]]], VALUE, "matrix must have rows that sum to one, got a row off by inf"),
        ("too much", [[[0.5, 0.6]]], VALUE, "matrix must have rows that sum to one, got a row off by 0.1"),
        ("too little", [[[0, 0]]], VALUE, "matrix must have rows that sum to one, got a row off by 1"),
        (
            "not quite",
            [[[0.5, 0.49999]]],
            VALUE,
            "matrix must have rows that sum to one, got a row off by 1e-05",
        ),
    ),
)
def test_matrices_that_are_no_protocol(matrix, error, message):
    refused(lambda: rldp.Protocol(matrix), error, message)


def test_nothing_is_no_protocol():
    with pytest.raises(rldp.RldpError, match=r"^matrix must "):
        rldp.Protocol(None)


# Judging


@pytest.mark.parametrize("measure", [rldp.leakage, rldp.distortion])
@pytest.mark.parametrize(
    ("distribution", "message"),
    table(
        (
            "too much",
            [[1, 1], [1, 1]],
            r"distribution must hold probabilities that sum to one, got a sum of 4$",
        ),
        ("NaN", [[NAN, 0.5], [0.5, 0]], r"distribution must hold probabilities"),
        ("negative", [[-0.5, 0.5], [0.5, 0.5]], r"distribution must hold probabilities"),
        ("shape", [[0.5, 0.5]], r"distribution must have shape \(2, 2\) \(secrets, values\), got \(1, 2\)$"),
        ("text", [["a", "b"], ["c", "d"]], r"distribution must be a table of numbers"),
        ("ragged", [[0.5], [0.25, 0.25]], r"distribution must be a table of numbers"),
        ("None", None, r"distribution must "),
    ),
)
def test_distributions_that_are_none(measure, distribution, message):
    with pytest.raises(rldp.RldpError, match="^" + message) as caught:
        measure(PROTOCOL, distribution)
    assert isinstance(caught.value, ValueError | TypeError)


@pytest.mark.parametrize(
    ("protocol", "kind"),
    table(
        ("None", None, "NoneType"), ("matrix", PROTOCOL.matrix, "ndarray"), ("path", "protocol.json", "str")
    ),
)
def test_a_protocol_is_wanted(protocol, kind):
    message = f"protocol must be an rldp.Protocol, got {kind}"
    refused(lambda: rldp.leakage(protocol, SAMPLE.distribution), TYPE, message)
    refused(lambda: rldp.distortion(protocol, SAMPLE.distribution), TYPE, message)
    refused(lambda: rldp.worst_case_leakage(protocol, SAMPLE, rldp.ChiSquare()), TYPE, message)


@pytest.mark.parametrize("uncertainty", [None, 0.05, rldp.ChiSquare])
def test_a_set_is_wanted_to_judge_on(uncertainty):
    with pytest.raises(TYPE, match=r"^uncertainty must be a set such as rldp\.ChiSquare\(\)"):
        rldp.worst_case_leakage(PROTOCOL, SAMPLE, uncertainty)


def test_the_name_of_no_set_to_judge_on():
    with pytest.raises(VALUE, match=r"^uncertainty must be a set or one of all, pairs, .*, got 'chi'$"):
        rldp.worst_case_leakage(PROTOCOL, SAMPLE, "chi")


def test_protocol_and_sample_have_the_same_secrets_and_values():
    with pytest.raises(VALUE, match=r"must have shape \(2, 2\) \(secrets, values\), got \(1, 3\)$"):
        rldp.worst_case_leakage(PROTOCOL, rldp.Sample([[1, 2, 3]]), rldp.ChiSquare())


# What is not bad input

SMALLEST = {
    "one draw": [[1, 0], [0, 0]],
    "one secret": [[3, 2, 1]],
    "one value": [[3], [2]],
    "one of each": [[1]],
    "unseen value": [[3, 0, 1], [1, 0, 3]],
    "unseen secret": [[3, 1], [0, 0]],
    "plain": [[3, 1], [1, 3]],
}


@pytest.mark.filterwarnings("ignore::rldp.errors.GapWarning", "ignore::rldp.errors.UnseenSecretWarning")
@pytest.mark.parametrize("counts", SMALLEST.values(), ids=SMALLEST)
@pytest.mark.parametrize("epsilon", [0, 0.5, INF], ids=["zero", "half", "infinity"])
@pytest.mark.parametrize("outputs", [None, [0], [0, 1, 2, 3]], ids=["values", "one output", "four outputs"])
def test_the_smallest_problems_have_answers(counts, epsilon, outputs):
    sample = rldp.Sample(counts)
    for utility, privacy in itertools.product((rldp.ChiSquare(), rldp.Nominal()), repeat=2):
        designed = rldp.design(sample, epsilon, privacy=privacy, utility=utility, outputs=outputs)
        assert (designed.protocol.matrix.sum(axis=2) == 1).all()
        assert 0 <= designed.lower_bound <= designed.objective < INF
        assert rldp.leakage(designed.protocol, sample.distribution) <= epsilon


@pytest.mark.parametrize(
    ("epsilon", "distortion"),
    [(0, 0.5), (INF, 0)],
    ids=["nothing may show", "everything may show"],
)
def test_the_two_ends_of_privacy_are_exact(epsilon, distortion):
    designed = rldp.design(SAMPLE, epsilon, utility=rldp.Nominal())
    assert designed.objective == pytest.approx(distortion, abs=1e-6)
    assert designed.lower_bound == pytest.approx(distortion, abs=1e-6)


def test_a_single_output_is_always_given():
    designed = rldp.design(SAMPLE, 0.5, outputs=[7], distortion="hamming")
    assert (designed.protocol.matrix == 1).all()
    assert designed.protocol.outputs == (7,)
    assert designed.lower_bound <= 1 <= designed.objective
    assert designed.objective - designed.lower_bound <= 1e-6


def test_a_distortion_of_zero_costs_nothing():
    designed = rldp.design(SAMPLE, 0.5, distortion=lambda u, y: 0)
    assert designed.objective == designed.lower_bound == 0


@pytest.mark.parametrize(
    "distortion",
    ["hamming", lambda u, y: u != y, np.array([[False, True], [True, False]]), [[0, 1], [1, 0]]],
    ids=["name", "function", "booleans", "matrix"],
)
def test_one_distortion_in_many_words(distortion):
    designed = rldp.design(SAMPLE, 1.0, distortion=distortion)
    assert designed.protocol.guarantee.distortion.tolist() == [[0, 1], [1, 0]]


def test_labels_may_be_text_where_distance_does_not_matter():
    sample = rldp.Sample(SAMPLE.counts, ["f", "m"], ["low", "high"])
    designed = rldp.design(sample, 1.0, distortion="hamming", outputs=["low", "high", "?"])
    assert designed.protocol.outputs == ("low", "high", "?")


@pytest.mark.parametrize("epsilon", [np.float32(0.5), np.array(0.5), np.int8(1)])
def test_levels_may_come_from_numpy(epsilon):
    assert rldp.design(SAMPLE, epsilon).protocol.guarantee.epsilon == float(epsilon)


def test_a_secret_without_data_is_warned_of_only_where_privacy_leaves_it_out():
    unseen = rldp.Sample([[3, 1], [0, 0]])
    with pytest.warns(
        rldp.UnseenSecretWarning, match=r"^nominal privacy leaves out secrets .*\(1 of 1 samples\)"
    ):
        rldp.design(unseen, 0.5, privacy=rldp.Nominal())
    rldp.design(unseen, 0.5)  # a warning would be an error here


def test_a_centre_of_another_table_is_refused_before_any_work(no_work):
    centre = ((2**50, 2**50), (2**50, 2**50), (0, 0))
    message = "centre must have the shape (2, 2) of the counts, got (3, 2)"
    refused(lambda: rldp.design(SAMPLE, 0.5, utility=rldp.Nominal(centre=centre)), VALUE, message)
