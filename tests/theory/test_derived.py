"""Functions of moments: their values by direct formulas, gradients by differences, boxes by sampling."""

import numpy as np
import pytest

from rldp.theory.derived import Correlation, GroupDifferences, GroupMeans, Line

X, Y = np.repeat([1.0, 2.0, 5.0], 2), np.tile([10.0, 14.0], 3)
GROUPS = (np.array([1.0, 2.0, 5.0]) == X[:, None]).astype(float)
MEANS = GroupMeans(Y, GROUPS)
ALL = [Line(X, Y), Correlation(X, Y), MEANS, GroupDifferences(MEANS)]
LAW = np.array([0.05, 0.25, 0.2, 0.1, 0.3, 0.1])


def directly(law):
    """With weights of people, by NumPy's own functions."""
    slope, intercept = np.polyfit(X, Y, 1, w=np.sqrt(law))
    covariance = np.cov(X, Y, aweights=law, ddof=0)
    means = [np.average(Y[x == X], weights=law[x == X]) for x in (1, 2, 5)]
    return [
        np.array([slope, intercept]),
        np.array([covariance[0, 1] / np.sqrt(covariance[0, 0] * covariance[1, 1])]),
        np.array(means),
        np.array(means[1:]) - means[0],
    ]


@pytest.mark.parametrize("case", range(4))
def test_answers_are_those_of_weighted_rows(case):
    np.testing.assert_allclose(ALL[case].at(LAW @ ALL[case].moments), directly(LAW)[case], rtol=1e-9)


@pytest.mark.parametrize("derived", ALL)
def test_gradients_are_the_slopes_of_differences(derived):
    m = LAW @ derived.moments
    for i, step in enumerate(1e-6 * np.eye(len(m))):
        wanted = (derived.at(m + step) - derived.at(m - step)) / 2e-6
        np.testing.assert_allclose(derived.gradient(m)[:, i], wanted, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("derived", ALL)
def test_no_law_within_the_box_has_an_answer_outside_the_limits(derived):
    rng = np.random.default_rng(1)
    for spread in (0.01, 0.1, 1.0):
        laws = (1 - spread) * LAW + spread * rng.dirichlet(np.ones(6), 300)
        moments = laws @ derived.moments
        lower, upper = derived.between(moments.min(axis=0), moments.max(axis=0))
        answers = np.array([derived.at(m) for m in moments])
        assert (answers >= lower - 1e-9).all()
        assert (answers <= upper + 1e-9).all()
    low, high = derived.between(*[LAW @ derived.moments] * 2)
    np.testing.assert_allclose((low, high), (derived.at(LAW @ derived.moments),) * 2, rtol=1e-9)


@pytest.mark.parametrize("derived", ALL)
def test_answers_of_all_laws_lie_within_what_is_possible(derived):
    laws = np.random.default_rng(2).dirichlet(0.2 * np.ones(6), 2000)
    answers = np.array([derived.at(law @ derived.moments) for law in laws])
    lowest, highest = derived.limits()
    assert np.nanmin(answers - lowest) >= -1e-6
    assert np.nanmax(answers - highest) <= 1e-6


def test_where_a_variance_or_a_share_is_not_positive_there_is_no_answer():
    assert np.isnan(Line(X, Y).at(np.array([1.0, 0.0, 0.5, 0.0]))).all()
    assert np.isnan(Correlation(X, Y).at(np.array([0.0, 0.0, 1.0, 0.5, -0.1]))).all()
    found = MEANS.at(np.array([-0.01, 0.5, 0.5, 0.0, 0.5, 0.1]))
    assert np.isnan(found).tolist() == [True, False, False]
