"""``rldp.estimate``: unbiased, by secret, for every functional, and honest about what it cannot tell."""

from functools import partial
from itertools import product

import numpy as np
import pytest

import rldp
from games import in_order
from rldp.theory import estimation
from rldp.theory.likelihood import agreement
from rldp.theory.tallies import Tally

estimate = partial(rldp.estimate, seed=0)
FULL = rldp.Protocol(
    [[[0.7, 0.2, 0.1], [0.2, 0.6, 0.2], [0.1, 0.2, 0.7]]], values=[1, 2, 4], outputs=[1, 2, 4]
)
MATRIX = np.array(
    [
        [[0.7, 0.2, 0.1], [0.2, 0.6, 0.2], [0.1, 0.2, 0.7]],
        [[0.5, 0.3, 0.2], [0.3, 0.4, 0.3], [0.2, 0.3, 0.5]],
    ]
)
TWO = rldp.Protocol(MATRIX, secrets=["a", "b"], values=[1, 2, 4], outputs=[1, 2, 4])
TRUTH = np.array([[0.2, 0.15, 0.15], [0.05, 0.15, 0.3]])
SHARES = TRUTH.sum(axis=0)


def counts_like(law, n):
    """Rows as nearly distributed like the law as whole numbers are."""
    counts = np.floor(law * n).astype(np.int64)
    counts.flat[0] += n - counts.sum()
    return counts


def outputs(protocol, truth):
    """The law of secrets and outputs: (|S|, |Y|)."""
    return np.einsum("su,suy->sy", truth, protocol.matrix)


SAMPLE = rldp.Sample(counts_like(TRUTH, 400), TWO.secrets, TWO.values)
RELEASED = rldp.Released(counts_like(outputs(TWO, TRUTH).sum(axis=0), 100_000), TWO)
WITH_SECRETS = rldp.Released(counts_like(outputs(TWO, TRUTH), 100_000), TWO)


@pytest.mark.slow
@pytest.mark.numerical
@pytest.mark.parametrize("sampled", [True, False], ids=["rank-deficient, with a sample", "full rank"])
def test_estimates_are_unbiased(sampled):
    """The mean of 60 estimates is off by five of its standard errors with probability below 1e-5 at most.

    Three shares are looked at, and each is one minus the others.
    """
    rng = np.random.default_rng(0)
    protocol, truth = (TWO, TRUTH) if sampled else (FULL, SHARES[None])
    law = outputs(protocol, truth).sum(axis=0)
    found = []
    for seed in range(60):
        sample = rldp.Sample(rng.multinomial(40, TRUTH.ravel()).reshape(2, 3), TWO.secrets, TWO.values)
        rows = rldp.Released(rng.multinomial(200, law), protocol)
        found.append(estimate(rows, sample=sample if sampled else None, seed=seed, min_agreement=0).values)
    errors = np.array(found) - SHARES
    z = errors.mean(axis=0) / (errors.std(axis=0) / np.sqrt(len(found)))
    assert np.abs(z).max() < 5.0


@pytest.mark.numerical
def test_over_all_rows_and_all_orders_the_estimate_is_the_truth(monkeypatch):
    """Three rows of a sample and four released ones in every order; one seed for all samples has a bias."""
    coin = rldp.Protocol([[[0.99, 0.01], [0.05, 0.95]]])
    truth = np.array([0.9, 0.1])
    mean, fixed, known = 0.0, 0.0, {}
    for rows in product(range(2), repeat=7):
        public, shown = rows[:3], rows[3:]
        counts = [np.bincount(some, minlength=2) for some in (public, shown)]
        chance = np.prod(truth[list(public)]) * np.prod((truth @ coin.matrix[0])[list(shown)])
        asked = {"released": rldp.Released(counts[1], coin), "sample": rldp.Sample([counts[0]])}
        ones = counts[0][1], counts[1][1]
        if ones not in known:
            known[ones] = rldp.estimate(**asked, seed=1, min_agreement=0).values[1]
        fixed += chance * known[ones]
        with monkeypatch.context() as patch:
            patch.setattr(estimation, "split", in_order(public, shown))
            mean += chance * rldp.estimate(**asked, min_agreement=0).values[1]
    assert mean == pytest.approx(0.1, abs=1e-12)
    assert fixed > 0.11


def test_without_a_seed_the_order_is_drawn_anew_and_told():
    found = [rldp.estimate(RELEASED, sample=SAMPLE) for _ in range(2)]
    assert found[0].seed != found[1].seed
    assert f"with seed {found[0].seed}; the same seed repeats this result." in " ".join(found[0].sentences)
    again = rldp.estimate(RELEASED, sample=SAMPLE, seed=found[0].seed)
    assert again.values.tolist() == found[0].values.tolist()


@pytest.mark.numerical
@pytest.mark.parametrize("method", ["unbiased", "projected", "shrunk", "likelihood", "posterior", "bayes"])
def test_every_method_finds_the_truth_that_the_rows_show(method):
    rows = rldp.Released(counts_like(SHARES @ FULL.matrix[0], 10**6), FULL)
    found = estimate(rows, method=method)
    np.testing.assert_allclose(found.values, SHARES, atol=1e-3)
    assert found.identifiable.all()
    assert ((found.lower < SHARES) & (found.upper > SHARES)).all()


@pytest.mark.numerical
def test_the_naive_answer_is_that_of_the_released_column():
    found = estimate([1, 1, 2, 4], FULL)
    assert found.naive.tolist() == [0.5, 0.25, 0.25]
    assert estimate([1, 1, 2, 4], FULL, of="mean").naive.tolist() == [2.0]
    other = rldp.Protocol(FULL.matrix, values=[1, 2, 4], outputs=["x", "y", "z"])
    assert estimate(["x", "y"], other).naive is None


@pytest.mark.numerical
def test_functionals_are_those_of_the_shares():
    of = {"mean": "mean", "four": [0, 0, 1], "a": [[1, 1, 1], [0, 0, 0]]}
    found = estimate(RELEASED, sample=SAMPLE, of=of)
    shares = estimate(RELEASED, sample=SAMPLE)
    assert found.labels == ("mean", "four", "a")
    np.testing.assert_allclose(found.values[:2], shares.values @ [[1, 0], [2, 0], [4, 1]], atol=1e-9)
    np.testing.assert_allclose(found.covariance[1, 1], shares.covariance[2, 2], rtol=1e-6)
    assert found.lower[2] < 0.5 < found.upper[2]
    assert np.isnan(found.naive[0]) if found.naive is not None else True
    np.testing.assert_allclose(estimate(RELEASED, sample=SAMPLE, of="mean").values, found.values[:1])


@pytest.mark.numerical
def test_estimates_by_secret_are_those_of_the_people_with_it():
    found = estimate(WITH_SECRETS, sample=SAMPLE)
    assert found.secrets == ("a", "b")
    assert found.values.shape == found.lower.shape == (2, 3)
    for s in range(2):
        alone = rldp.Protocol(MATRIX[s : s + 1], secrets=["only"], values=[1, 2, 4], outputs=[1, 2, 4])
        sample = rldp.Sample(SAMPLE.counts[s : s + 1], ["only"], [1, 2, 4])
        apart = estimate(rldp.Released(WITH_SECRETS.counts[s], alone), sample=sample)
        np.testing.assert_allclose(found.values[s], apart.values, atol=1e-12)
        np.testing.assert_allclose(found.upper[s], apart.upper, atol=1e-12)
    np.testing.assert_allclose(found.values, TRUTH / 0.5, atol=0.01)
    np.testing.assert_allclose(found.overall.values, SHARES, atol=0.01)
    assert (found.overall.standard_errors < estimate(RELEASED, sample=SAMPLE).standard_errors).all()


def test_without_a_sample_what_outputs_do_not_tell_is_an_interval():
    found = estimate(RELEASED, of={"share": [1, 0, 0], "sum": [1, 1, 1]})
    assert found.identifiable.tolist() == [False, True]
    assert np.isnan(found.values[0])
    assert found.lower[0] <= found.least[0] < SHARES[0] < found.most[0] <= found.upper[0]
    assert found.values[1] == pytest.approx(1.0, abs=1e-9)
    assert any("not determined" in sentence for sentence in found.sentences)


def test_where_nobody_has_a_secret_everything_is_possible():
    rows = rldp.Released([[5, 3, 2], [0, 0, 0]], TWO)
    found = estimate(rows)
    assert np.isnan(found.values[1]).all()
    assert (found.lower[1].tolist(), found.upper[1].tolist()) == ([0, 0, 0], [1, 1, 1])
    assert not found.identifiable[1].any()


@pytest.mark.numerical
def test_several_protocols_together_tell_more_than_each():
    """Even what neither tells alone: two channels of rank two and three cells."""
    first = rldp.Protocol([[[0.8, 0.2], [0.2, 0.8], [0.2, 0.8]]])
    second = rldp.Protocol([[[0.3, 0.7], [0.3, 0.7], [0.9, 0.1]]])
    truth = np.array([0.5, 0.2, 0.3])
    rows = [counts_like(truth @ each.matrix[0], 50_000) for each in (first, second)]
    alone = estimate(rldp.Released(rows[0], first))
    both = estimate([rldp.Released(rows[0], first), (rldp.Released(rows[1], second), second)])
    assert alone.identifiable.tolist() == [True, False, False]
    assert both.identifiable.all()
    np.testing.assert_allclose(both.values, truth, atol=1e-3)
    half = [rldp.Released(rows[0] // 2, first), rldp.Released(rows[0] - rows[0] // 2, first)]
    again = estimate([*half, rldp.Released(rows[1], second)])
    np.testing.assert_allclose(again.values, both.values, atol=1e-12)


def test_intervals_that_hold_for_every_number_of_rows_are_wider():
    normal = estimate(RELEASED, sample=SAMPLE)
    betting = estimate(RELEASED, sample=SAMPLE, interval="betting")
    assert ((betting.upper - betting.lower) > (normal.upper - normal.lower)).all()
    assert ((betting.lower < SHARES) & (betting.upper > SHARES)).all()
    assert any("every distribution and every number of rows" in sentence for sentence in betting.sentences)


def test_a_projection_gives_shares_that_are_none_below_zero():
    rows = rldp.Released([90, 25, 60], FULL)
    plain, moved = estimate(rows), estimate(rows, method="projected")
    assert plain.values.min() < 0
    assert moved.values.min() == 0
    assert moved.values.sum() == pytest.approx(1.0)
    assert moved.lower.tolist() == plain.lower.tolist()
    assert any("too large on average" in sentence for sentence in moved.sentences)


def test_the_posterior_mean_uses_sample_and_released_rows():
    """With a sample of 12 rows and rank-deficient rows, each alone leaves more open than both together."""
    few = rldp.Sample([[4, 1, 1], [0, 2, 4]], TWO.secrets, TWO.values)
    rows = rldp.Released(counts_like(outputs(TWO, TRUTH).sum(axis=0), 3000), TWO)
    both = estimate(rows, sample=few, method="posterior")
    assert both.values.min() > 0
    assert both.values.sum() == pytest.approx(1.0)
    assert (np.abs(both.values - SHARES) < 3 * both.posterior_errors).all()
    assert (both.posterior_errors < np.sqrt(SHARES * (1 - SHARES) / 13)).all()
    other = rldp.Sample(few.counts[:, ::-1], TWO.secrets, TWO.values)
    moved = estimate(rows, sample=other, method="posterior").values - both.values
    assert np.abs(moved).max() > 0.01
    plain = estimate(rows, sample=few)
    assert both.lower.tolist() == plain.lower.tolist()
    assert plain.prior_rows is None
    assert plain.posterior_errors is None
    assert any("Dirichlet prior" in sentence for sentence in both.sentences)
    assert f"worth {both.prior_rows:.2g} rows" in " ".join(both.sentences)


def test_posterior_means_of_functionals_are_functionals_of_the_posterior_mean():
    shares = estimate(RELEASED, sample=SAMPLE, method="posterior")
    asked = {"mean": "mean", "large": [0, 0, 1]}
    found = estimate(RELEASED, sample=SAMPLE, method="posterior", of=asked)
    np.testing.assert_allclose(found.values, [shares.values @ [1, 2, 4], shares.values[2]], atol=1e-12)
    assert found.posterior_errors[1] == pytest.approx(shares.posterior_errors[2])


def test_posterior_means_by_secret_are_problems_of_their_own():
    found = estimate(WITH_SECRETS, method="posterior")
    alone = estimate(
        rldp.Released(
            WITH_SECRETS.counts[1], rldp.Protocol(MATRIX[1:], values=TWO.values, outputs=TWO.outputs)
        ),
        method="posterior",
    )
    np.testing.assert_array_equal(found.values[1], alone.values)
    assert found.posterior_errors.shape == (2, 3)
    assert found.prior_rows >= alone.prior_rows
    assert found.overall.prior_rows is not None
    nobody = estimate(rldp.Released([[5, 6, 7], [0, 0, 0]], TWO), method="posterior")
    assert np.isnan(nobody.values[1]).all()
    assert np.isfinite(nobody.values[0]).all()


def test_where_outputs_do_not_tell_a_share_the_posterior_mean_is_not_shown():
    found = estimate(RELEASED, method="posterior")
    assert not found.identifiable.any()
    assert np.isnan(found.values).all()
    assert np.isnan(found.posterior_errors).all()


def test_what_is_assumed_of_the_sample_is_said():
    found = estimate(RELEASED, sample=SAMPLE)
    assert found.agreement > 0.05
    assert found.sentences[1].startswith(
        "Assumed: the sample and the released rows come from one distribution"
    )
    assert "A test at level 0.05 does not reject that" in found.sentences[1]
    assert found.sentences[2].startswith(
        "The estimate is unbiased under this assumption, except for some hundredths"
    )
    untested = estimate(RELEASED, sample=SAMPLE, min_agreement=0)
    assert "The estimate is unbiased under this assumption: over many" in untested.sentences[2]
    assert "The estimate is unbiased: over many" in estimate(WITH_SECRETS, sample=None).sentences[1]


def test_a_sample_of_other_people_is_left_out_with_a_warning():
    other = rldp.Sample(SAMPLE.counts[:, ::-1] * 10, TWO.secrets, TWO.values)
    with pytest.warns(rldp.RldpWarning, match=r"The sample was left out: .* with probability .* only"):
        found = estimate(RELEASED, sample=other)
    alone = estimate(RELEASED, sample=None, alpha=0.005)
    assert found.agreement < 1e-6
    assert (found.sample_rejected, found.sample_rows, alone.sample_rejected) == (True, 0, False)
    np.testing.assert_allclose(found.lower, alone.lower, rtol=1e-12)
    assert np.isnan(found.values).all()
    assert found.sentences[1].startswith("The sample was left out: ")
    assert "A public sample of the same people would determine it." in found.sentences[-1]


def test_an_untested_sample_is_used_whatever_the_rows_say():
    other = rldp.Sample(SAMPLE.counts[:, ::-1] * 10, TWO.secrets, TWO.values)
    found = estimate(RELEASED, sample=other, min_agreement=0)
    assert (found.sample_rejected, found.sample_rows, found.identifiable.all()) == (False, 4000, True)
    assert "Such rows differ as much with probability" in found.sentences[1]


def test_a_sample_may_be_left_out_for_one_secret_alone():
    counts = SAMPLE.counts.copy()
    counts[1] = counts[1, ::-1]
    with pytest.warns(rldp.RldpWarning, match="The sample was left out"):
        found = estimate(WITH_SECRETS, sample=rldp.Sample(counts, TWO.secrets, TWO.values))
    assert found.sample_rejected.tolist() == [False, True]
    assert found.sample_rows == counts[0].sum()
    assert found.sentences[1].startswith("The sample was left out for secret 'b': ")
    alone = estimate(WITH_SECRETS, sample=None)
    np.testing.assert_array_equal(found.values[1], alone.values[1])
    assert (found.values[0] != alone.values[0]).any()


def test_proved_intervals_keep_their_level_over_the_choice_of_the_sample():
    """Where the sample is used they miss with 0.9 α, where it is rejected with 0.1 α: α in all."""
    options = {"interval": "betting", "of": "mean"}
    tested = estimate(RELEASED, sample=SAMPLE, alpha=0.05, **options)
    plain = estimate(RELEASED, sample=SAMPLE, alpha=0.045, min_agreement=0, **options)
    assert (tested.lower, tested.upper) == (plain.lower, plain.upper)


def test_samples_of_the_same_people_are_seldom_left_out():
    """The test is that of many rows. Of 200 pairs, 25 or more would be rejected with probability 1e-5."""
    rng, law = np.random.default_rng(3), outputs(TWO, TRUTH).sum(axis=0)
    rejected = 0
    for _ in range(200):
        tallies = [
            Tally.of_sample(rng.multinomial(60, TRUTH.ravel())),
            Tally(TWO.matrix.reshape(6, 3), rng.multinomial(500, law)),
        ]
        rejected += agreement(tallies) < 0.05
    assert rejected < 25


def test_without_a_word_the_sample_of_the_protocol_is_used():
    protocol = rldp.design(SAMPLE, 1.0).protocol
    people = np.repeat(np.arange(6), SAMPLE.counts.ravel())
    rows = protocol.release(np.array(["a", "b"])[people // 3], np.array([1, 2, 4])[people % 3], seed=1)
    found = estimate(rows, protocol)
    assert (found.sample_rows, found.identifiable.all()) == (SAMPLE.n, True)
    assert found.values.tolist() == estimate(rows, protocol, sample=SAMPLE).values.tolist()
    assert any("designed on this sample" in sentence for sentence in found.sentences)
    assert estimate(rows, protocol, sample=None).sample_rows == 0
    other = rldp.design(rldp.Sample(SAMPLE.counts + 1, TWO.secrets, TWO.values), 1.0).protocol
    assert estimate([(rows, protocol), (rows, other)]).sample_rows == 0


@pytest.mark.parametrize(
    "counts", [[0, 1000, 0], [[0, 1000, 0], [10, 10, 10]]], ids=["without secrets", "with secrets"]
)
def test_rows_that_no_distribution_explains_are_refused(counts):
    with pytest.raises(rldp.DataError, match="released must be rows of this protocol, but no distribution"):
        estimate(rldp.Released(counts, TWO))


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"alpha": 0.0}, rldp.InvalidArgument, "alpha must lie strictly between 0 and 1"),
        ({"method": "best"}, rldp.InvalidArgument, "method must be one of unbiased, projected.* got 'best'"),
        ({"interval": 3}, rldp.InvalidArgumentType, "interval must be one of normal, betting, got 3"),
        ({"of": "median"}, rldp.InvalidArgument, "of must be 'shares', 'mean' or numbers, got 'median'"),
        ({"of": [1, 2]}, rldp.InvalidArgument, r"of must have shape \(3,\) or \(2, 3\).* got \(2,\)"),
        ({"of": [1, np.inf, 2]}, rldp.InvalidArgument, "of must hold numbers of at most 1e.100 in size"),
        ({"of": {}}, rldp.InvalidArgument, "of must name at least one functional"),
        ({"of": None}, rldp.InvalidArgumentType, "of must be 'shares', 'mean' or numbers, got None"),
        ({"of": "mean", "method": "projected"}, rldp.InvalidArgument, "'projected' for shares only"),
        ({"secrets": ["a"]}, rldp.InvalidArgument, "secrets must be left out where released is counted"),
        ({"seed": -1}, rldp.InvalidArgument, "seed must lie between"),
        ({"min_agreement": 1}, rldp.InvalidArgument, "min_agreement must be at least 0 and below 1, got 1.0"),
        ({"sample": [[1]]}, rldp.InvalidArgumentType, "sample must be an rldp.Sample, got list"),
        ({"sample": rldp.Sample([[1, 2]])}, rldp.InvalidArgument, "sample must have the protocol's secrets"),
    ],
)
def test_arguments_that_do_not_fit(given, error, message):
    with pytest.raises(error, match=message):
        estimate(RELEASED, **given)


@pytest.mark.parametrize("released", [[1, 2], "rows.csv", None, []])
def test_a_protocol_is_needed(released):
    with pytest.raises(rldp.InvalidArgumentType, match="protocol must be given, unless"):
        estimate(released)


def test_what_is_no_protocol():
    with pytest.raises(rldp.InvalidArgumentType, match=r"protocol must be an rldp\.Protocol, got str"):
        estimate([1, 2], "protocol.json")


def test_means_need_numbers():
    words = rldp.Protocol(FULL.matrix, values=["x", "y", "z"])
    with pytest.raises(rldp.InvalidArgument, match="'mean' where all values are numbers, got others"):
        estimate([0, 1], words, of="mean")


def test_protocols_of_other_values_are_not_combined():
    with pytest.raises(rldp.InvalidArgument, match="protocols with the same secrets and values"):
        estimate([rldp.Released([1, 2, 3], FULL), RELEASED])


def test_an_estimate_reads_as_one_line():
    assert repr(estimate(RELEASED, sample=SAMPLE)).startswith(
        "<Estimate of 3 functionals from 100000 released rows: 1: 0.2"
    )
