"""Pages about protocols with kept columns and after earlier releases."""

import html
import math
import re

import numpy as np
import pyarrow as pa
import pytest

import rldp
from rldp.measures.association import associations, by_column
from rldp.reporter.page.api import page
from rldp.reporter.page.beside import distortion_of_rows
from rldp.reporter.page.cover import LANGUAGES, Cover, cover
from rldp.reporter.page.facts import gathered
from rldp.reporter.page.law import _risk

pytestmark = pytest.mark.filterwarnings("ignore")

DRAWS = 500
ROWS = pa.table(
    {
        "ill": ["yes", "no", "no", "yes", "no", "yes", "no", "no"] * 300,
        "region": ["north", "south", "north", "south", "south", "north", "north", "south"] * 300,
        "age": [60, 20, 40, 40, 20, 60, 60, 40] * 300,
        "job": ["none", "desk", "desk", "none", "field", "none", "field", "desk"] * 300,
    }
)
HOW = {"privacy": "credible", "utility": "nominal", "gap": 1e-2}


def sample(value, **options):
    return rldp.Sample.from_data(ROWS, secret="ill", value=value, **options)


@pytest.fixture(scope="module")
def kept():
    return rldp.design(sample("age", given=["region"]), 0.8, **HOW).protocol


@pytest.fixture(scope="module")
def known():
    return rldp.design(sample("age", given=["region"]), 0.8, given_known=True, **HOW).protocol


@pytest.fixture(scope="module")
def after():
    first = rldp.design(sample("age"), 0.3, **HOW).protocol
    linked = sample(["age", "job"], after=[first])
    return rldp.design(linked, 0.6, after=[first], distortion="hamming", **HOW).protocol


def on(protocol, **options):
    return gathered(protocol, draws=DRAWS, **options)


def words_of(text):
    """What is read, without markup; no-break spaces as blanks."""
    text = re.sub(r"<(style|script|svg).*?</\1>", " ", text, flags=re.DOTALL)
    text = html.unescape(re.sub(r"<[^>]+>", "", text)).replace("\u00a0", " ")
    return re.sub(r"\s+", " ", text)


def test_a_kept_column_is_told_as_part_of_the_promise(kept):
    found = on(kept)
    text = words_of(page(found))
    assert found.verdict.ok
    assert "Published unchanged beside it: “region”." in text
    assert "No published “region” and “age” is more than 2.23 times as likely" in text
    assert "“region” is inside this promise: ε = 0.8 is the total" in text
    assert "inside the promise: ε = 0.8 covers everything together" in text
    assert "Among people with the same" not in text
    assert "Other mechanisms are not shown" in text
    assert "No other ε were tried, because columns are kept" in text
    assert "Columns kept as they are" in text


def test_a_promise_to_readers_who_know_the_kept_column_says_so(known):
    text = words_of(page(on(known)))
    assert "from readers who know “region” of the person" in text
    assert "Among people with the same “region”, no published “age” is more than 2.23 times" in text
    assert "That “region” reveals nothing about “ill”: what it reveals by itself comes on top of ε." in text
    assert "What “region” itself reveals about “ill” comes on top, and nothing bounds it." in text
    assert "inside th" not in text


def test_an_earlier_release_is_counted_in(after):
    found = on(after)
    text = words_of(page(found))
    assert found.verdict.ok
    assert "How “job” is published without leaking “ill”" in text
    assert "Already published: “age”, by an earlier release about the same people." in text
    assert "The earlier release of “age” is included: ε = 0.6 is the total of both releases." in text
    assert after.stages[0].earlier.sha256 in text
    assert "Columns of earlier releases" in text
    assert found.worth.changed is None


def test_the_law_is_that_of_the_promise(kept, known, after):
    for protocol in (kept, after):
        law = on(protocol).law
        drawn = rldp.posterior(on(protocol).protocol, protocol.guarantee.sample, draws=DRAWS, seed=0)
        assert law.risk == drawn.risk(protocol.guarantee.epsilon)
    claim = known.guarantee
    law, p = on(known).law, claim.sample.distribution
    to_readers = leakage_by_hand(known, p)
    everything = rldp.leakage(known, p)
    assert to_readers < 0.8 < everything  # the region comes on top
    assert abs(law.median - to_readers) < 0.1 * to_readers
    assert 0 <= law.risk[0] < 0.05 < law.risk[1] + 0.05


def leakage_by_hand(protocol, p):
    """ε* of P(age | ill, region), region by region."""
    worst = 0.0
    for region in {value[0] for value in protocol.values}:
        u = [i for i, value in enumerate(protocol.values) if value[0] == region]
        y = [i for i, output in enumerate(protocol.outputs) if output[0] == region]
        laws = [p[s, u] @ protocol.matrix[s][np.ix_(u, y)] / p[s, u].sum() for s in range(2)]
        worst = max(worst, float(np.abs(np.log(laws[0] / laws[1])).max()))
    return worst


def test_infinite_draws_count_as_possible_alone():
    leakage = np.array([0.1] * 900 + [math.inf] * 100)
    low, high = _risk(leakage, 0.5, 10)
    assert low < 1e-6
    assert 0.1 < high < 0.16
    assert _risk(np.where(np.isinf(leakage), 0.6, leakage), 0.5, 10)[0] > 0.05


def test_whole_rows_lose_what_the_drawn_columns_lose(kept, after):
    assert np.array_equal(distortion_of_rows(kept), kept.guarantee.distortion)
    off = [[float(u[1] != y[1]) for y in after.outputs] for u in after.values]
    weight = after.guarantee.columns[0].weight
    assert np.allclose(distortion_of_rows(after), weight * np.array(off), rtol=1e-12)


def test_drawn_columns_keep_their_tables_behind_kept_ones():
    protocol = rldp.design(
        sample(["age", "job"], given=["region"]), 1.2, distortion={"job": "hamming", "age": "squared"}, **HOW
    ).protocol
    p = protocol.guarantee.sample.distribution
    tables = by_column(protocol, p)
    assert {name: table.values for name, table in tables.items()} == {
        "age": (20, 40, 60),
        "job": ("desk", "field", "none"),
    }
    age = np.array([[float(u[1] == x) for x in (20, 40, 60)] for u in protocol.values])
    out = np.array([[float(y[1] == x) for x in (20, 40, 60)] for y in protocol.outputs])
    joint = np.einsum("su,suy,ua,yb->sab", p, protocol.matrix, age, out)
    seen = joint.sum(axis=2) > 1e-6
    wanted = joint / np.maximum(joint.sum(axis=2, keepdims=True), 1e-300)
    assert np.allclose(tables["age"].matrix[seen], wanted[seen], atol=1e-6)
    assert [found.columns for found in associations(protocol, p)] == [
        ("region", "age"),
        ("region", "job"),
        ("age", "job"),
    ]
    assert "a published “age” is off by" in words_of(page(on(protocol)))


def test_other_levels_are_refused_in_a_sentence(kept):
    with pytest.raises(rldp.InvalidArgument, match="epsilons must be left out where columns are kept"):
        on(kept, epsilons=[0.5])


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_tells_all_of_it(known, after, language):
    for protocol, name in ((known, "region"), (after, "age")):
        parts = cover(on(protocol, cover=Cover(language=language)))
        said = " ".join(str(sentence) for _, row in parts["rows"] for sentence in row)
        assert f"<bdi>{name}</bdi>" in said
