"""The words of the verdict: which distributions ε is about, and which distortion the objective is about."""

import numpy as np
import pytest

import rldp

SAMPLE = rldp.Sample([[9, 4, 2], [1, 3, 7]])
UNSEEN = rldp.Sample([[9, 4, 2], [1, 3, 7], [0, 0, 0]], ["a", "b", "never\x1b[2J"])
SETS = [
    rldp.Nominal(),
    rldp.ChiSquare(),
    rldp.CressieRead(0.2),
    rldp.GTest(1e-5),
    rldp.PowerDivergence(0.5, 0.1),
    rldp.PowerDivergence(1, radius=0.25),
    rldp.PowerDivergence(2, radius=0),
]


@pytest.mark.filterwarnings("ignore::rldp.UnseenSecretWarning")
@pytest.mark.parametrize("sample", [SAMPLE, UNSEEN], ids=["all seen", "one secret never seen"])
@pytest.mark.parametrize("privacy", SETS, ids=repr)
def test_the_judge_and_the_library_say_the_same_of_a_level(privacy, sample):
    """They share no code, so the words of one are a test of the other's."""
    protocol = rldp.design(sample, 0.5, privacy=privacy, utility=rldp.Nominal()).protocol
    verdict = rldp.verify(protocol)
    assert verdict.ok
    assert verdict.promise == protocol.guarantee.promise
    assert verdict.promise.startswith(f"ε = 0.5 for {privacy.scope}")


@pytest.mark.filterwarnings("ignore::rldp.UnseenSecretWarning")
def test_a_secret_that_was_never_seen_is_not_covered_by_the_estimate():
    promise = rldp.verify(rldp.design(UNSEEN, 0.5, privacy=rldp.Nominal()).protocol).promise
    assert promise == (
        "ε = 0.5 for the estimated distribution only, and not for secrets that the sample never shows "
        "('never\\x1b[2J')"
    )
    robust = rldp.verify(rldp.design(UNSEEN, 0.5).protocol).promise
    assert robust == "ε = 0.5 for every distribution that a χ² test at level 0.05 does not reject"


def test_a_level_is_told_in_full():
    epsilon = 0.1 + 0.2
    assert rldp.verify(rldp.design(SAMPLE, epsilon).protocol).promise.startswith(f"ε = {epsilon!r} for ")


def test_without_a_proof_there_is_no_promise():
    honest = rldp.design(SAMPLE, 0.5).protocol
    identity = np.broadcast_to(np.eye(3), honest.matrix.shape)
    assert rldp.verify(rldp.Protocol(identity, guarantee=honest.guarantee)).promise == "nothing proved"
    assert rldp.verify(rldp.Protocol(identity)).promise == "nothing proved"
    free = rldp.design(SAMPLE, np.inf).protocol
    assert rldp.verify(free).promise == free.guarantee.promise == "nothing claimed (ε = ∞)"


# Distortions

TABLE = [[0.0, 1.0, 2.5], [1.0, 0.0, 1.0], [2.5, 1.0, 0.25]]
HAMMING = "1 if y ≠ u, else 0"


@pytest.mark.parametrize(
    ("values", "outputs", "distortion", "words"),
    [
        ((0, 1, 2), None, "squared", "d(u, y) = (u − y)²"),
        ((0.1, 0.7, 3), (0.3, 2), "squared", "d(u, y) = (u − y)²"),
        ((0, 1, 2), None, "absolute", "d(u, y) = |u − y|"),
        ((0.1, 0.7, -3), (0.3, 2), "absolute", "d(u, y) = |u − y|"),
        ((0, 1, 2), None, "hamming", f"d(u, y) = {HAMMING}"),
        (("a", "b", "c"), None, "hamming", f"d(u, y) = {HAMMING}"),
        (("a", 1, True + 1.0), ("a", "z"), "hamming", f"d(u, y) = {HAMMING}"),
        ((0, 1, 2), (0, 1), "hamming", f"d(u, y) = {HAMMING}"),
        ((-1, 0, 1), (0,), "squared", f"d(u, y) = (u − y)² = |u − y| = {HAMMING}"),
        ((0, 1, 2), None, TABLE, "the table d(u, y) in the file, which goes from 0.0 to 2.5"),
        (("a", "b", "c"), None, TABLE, "the table d(u, y) in the file, which goes from 0.0 to 2.5"),
        ((0, 1, 2), None, np.full((3, 3), 0.5), "the table d(u, y) in the file, which goes from 0.5 to 0.5"),
        ((0, 1, 2), None, np.zeros((3, 3)), "d(u, y) = 0 whatever u and y are, so it measures nothing"),
        ((10**400, 1, 2), None, "hamming", f"d(u, y) = {HAMMING}"),
    ],
    ids=str,
)
def test_the_verdict_says_which_distortion_is_bounded(values, outputs, distortion, words):
    sample = rldp.Sample(SAMPLE.counts, values=values)
    verdict = rldp.verify(rldp.design(sample, 0.5, outputs=outputs, distortion=distortion).protocol)
    assert verdict.ok
    assert verdict.distortion == words
    assert verdict.proved[2].endswith(f"where distortion is {words}.")


def test_a_table_that_is_nearly_a_square_is_not_called_one():
    nearly = (np.arange(3.0)[:, None] - np.arange(3.0)) ** 2
    nearly[0, 2] = np.nextafter(4, 5)
    verdict = rldp.verify(rldp.design(SAMPLE, 0.5, distortion=nearly).protocol)
    assert verdict.distortion == "the table d(u, y) in the file, which goes from 0.0 to 4.000000000000001"


def test_a_design_is_judged_as_its_protocol():
    made = rldp.design(rldp.Sample([[30, 10], [5, 25]]), 1.0)
    assert rldp.verify(made) == rldp.verify(made.protocol)
