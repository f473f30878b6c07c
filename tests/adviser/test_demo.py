"""The story that the demonstration tells is true of the protocol that it tells it of."""

import math

import numpy as np
import pytest

import rldp
from rldp.adviser.demo import adult, story
from rldp.reporter.words import story_lines


@pytest.fixture(scope="module")
def told():
    sample = adult(2000)
    designed = rldp.design(sample, 0.5)
    return sample, designed, story(sample, designed)


def test_the_raw_column_leaks_what_the_identity_leaks(told):
    sample, _, found = told
    identity = rldp.Protocol(np.stack([np.eye(len(sample.values))] * 2), sample.secrets, sample.values)
    assert found.raw_leakage == pytest.approx(rldp.leakage(identity, sample.distribution), rel=1e-12)


def test_what_stays_is_what_releases_leave_as_it_is(told):
    sample, designed, found = told
    s, u = np.nonzero(sample.counts)
    rows = np.repeat(np.arange(len(s)), sample.counts[s, u])
    secrets = [sample.secrets[i] for i in s[rows]] * 20
    values = [sample.values[i] for i in u[rows]] * 20
    released = designed.protocol.release(secrets, values, seed=1)
    same = np.mean([one == other for one, other in zip(values, released, strict=True)])
    assert same == pytest.approx(found.unchanged, abs=6 * math.sqrt(0.25 / len(values)))
    error = np.mean([(one - other) ** 2 for one, other in zip(values, released, strict=True)])
    assert math.sqrt(error) == pytest.approx(found.error, rel=0.1)


def test_a_value_that_one_secret_never_has_tells_all():
    sample = rldp.Sample([[30, 10, 0], [5, 25, 10]])
    found = story(sample, rldp.design(sample, 1.0))
    assert (found.raw_value, found.raw_leakage) == (2, math.inf)
    assert "never" in story_lines(found, 1.0, 80)["the raw column"]
