"""Page one of a report: every language, the unit of the column, names that are never more than text."""

import dataclasses
import datetime
import re
import string

import numpy as np
import pytest

import rldp
from rldp.data.reading import Column, Reading
from rldp.reporter.page.cover import LANGUAGES, Cover, _words, cover, measure, ranges_of
from rldp.reporter.page.facts import gathered
from rldp.sample import Sample

DRAWS = 500
AGES = Column("age", (25, 45, 70), (30.0, 60.0))


def sample_of(reading=None):
    return Sample([[52, 31, 17], [14, 38, 48]], ["ill", "well"], [25, 45, 70], reading=reading)


def said(designed, **options):
    """The text of page one."""
    found = gathered(designed.protocol, epsilons=[0.5], draws=DRAWS, cover=Cover(**options))
    parts = cover(found)
    rows = [sentence for _, sentences in parts["rows"] for sentence in sentences]
    everything = [parts["title"], parts["ruling"], parts["ruling_more"], *rows, *parts["not_rows"]]
    return " ".join(map(str, everything)).replace("\u00a0", " ")


def places(text):
    return sorted(name for _, name, _, _ in string.Formatter().parse(text) if name is not None)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_has_the_same_words_with_the_same_places(language):
    english, other = _words("en"), _words(language)
    assert other.keys() == english.keys()
    for key, text in english.items():
        assert set(places(other[key])) == set(places(text)), key
    if language != "en":
        same = [
            key for key in english if other[key] == english[key] and key not in ("decimal", "date", "secret")
        ]
        assert same == []


@pytest.fixture(scope="module")
def designed():
    reading = Reading((Column("diagnosis", ("ill", "well")),), (AGES,))
    return rldp.design(sample_of(reading), 0.5)


def test_it_says_what_the_library_found(designed):
    text = said(designed, unit="years")
    assert "“<bdi>age</bdi>”" in text
    assert "below 30; 30 to below 60; 60 or more" in text
    assert "100 rows" not in text
    assert "200 rows" in text
    assert "more than 1.65 times as likely" in text
    assert "at most 62.3 % sure" in text
    promised = rldp.worst_case_distortion(
        designed.protocol, designed.protocol.guarantee.sample, rldp.ChiSquare()
    )
    off = float(re.search(r"±([\d.]+) years", text)[1])
    assert promised[1] ** 0.5 <= off <= promised[1] ** 0.5 * 1.01


@pytest.mark.parametrize(("language", "words"), [("de", "1,65-mal"), ("fr", "1,65 fois")])
def test_other_languages_write_numbers_their_way(designed, language, words):
    text = said(designed, language=language)
    assert words in text
    assert not re.search(r"\d\.\d", text)


@pytest.mark.parametrize(
    ("privacy", "words"),
    [
        ("all", "Whatever the distribution of people is"),
        ("nominal", "They never are."),
        (
            "pairs",
            "contains the true distribution with a probability of at least 95 %, whatever the sample size.",
        ),
        ("credible", "the probability that more leaks is at most 5 %"),
        ("chi2", "a test at level 5 % does not reject"),
        (rldp.PowerDivergence(1.0, radius=0.01), "within a fixed distance"),
        (rldp.PowerDivergence(1.0, radius=0.0), "They never are."),
    ],
)
def test_every_promise_has_its_sentence(privacy, words):
    assert words in said(rldp.design(sample_of(), 0.5, privacy=privacy))


@pytest.mark.parametrize(
    ("distortion", "words"),
    [
        ("squared", "root mean square"),
        ("absolute", "The average error of a published"),
        ("hamming", "of the rows show another"),
        (lambda u, y: abs(u - y) ** 3, "The expected distortion is at most"),
    ],
)
def test_the_cost_is_told_in_the_unit_of_the_column(distortion, words):
    assert words in said(rldp.design(sample_of(), 0.5, distortion=distortion))


@pytest.mark.parametrize("name", ["squared", "absolute"])
def test_distances_of_bins_are_recognised(name, tmp_path):
    rng = np.random.default_rng(0)
    (tmp_path / "t.csv").write_text(
        "s,v\n" + "".join(f"{'ab'[i % 2]},{x:.2f}\n" for i, x in enumerate(rng.normal(50, 10, 400)))
    )
    sample = Sample.from_data(tmp_path / "t.csv", secret="s", value="v", bins=5)
    claim = rldp.design(sample, 0.5, distortion=name, gap=1e-3).protocol
    assert measure(claim.guarantee.distortion, claim.values, claim.outputs, binned=True) == name


def test_what_is_no_distance_is_not_taken_for_one():
    u = np.arange(4.0)[:, None]
    values = tuple(range(4))
    assert measure(np.abs(u - u.T) ** 2 * 1.01, values, values) is None
    assert measure(np.abs(u - u.T) + 0.01, values, values) is None
    assert measure(np.ones((4, 4)), values, values) is None
    assert measure((u - u.T) ** 2, ("a", "b", "c", "d"), values) is None


def test_readers_who_know_the_value():
    plain = rldp.design(sample_of(), 0.5, privacy="nominal", utility="nominal")
    bounded = rldp.design(sample_of(), 0.5, epsilon_known=1.0)
    blind = rldp.design(sample_of(), 0.5, epsilon_known=0.0)
    assert "practically certain" in said(plain) or "by a factor of up to" in said(plain)
    assert "by a factor of up to 2.72 (κ = 1). That is proved" in said(bounded)
    assert "learns nothing more" in said(blind)


def test_page_one_tells_the_rows_of_each_secret_that_change_and_what_the_output_adds():
    """One number for all rows hides that the majority never changes."""
    sample = Sample([[900, 700, 400], [60, 90, 250]], ["hs", "other"], [0, 1, 2])
    text = said(rldp.design(sample, 0.3, privacy="nominal", utility="nominal"))
    assert (
        "By “<bdi>secret</bdi>”: &lt; 0.01 % of the rows with “<bdi>hs</bdi>”, "
        "54 % of the rows with “<bdi>other</bdi>”." in text
    )
    assert re.search(r"practically certain of “<bdi>secret</bdi>” \(κ = 1[5-9](\.\d)?\)", text)
    many = Sample(np.random.default_rng(0).multinomial(4000, np.full(27, 1 / 27)).reshape(9, 3))
    text = said(rldp.design(many, 0.3, privacy="nominal", utility="nominal", gap=1e-2))
    assert text.count("of the rows with") == 2
    assert "the smallest and the largest share" in text


def test_names_of_columns_are_never_more_than_text():
    wicked = "</bdi><script>alert(1)</script>{0}"
    reading = Reading((Column(wicked, ("ill", "well")),), (Column("{secret}", (25, 45, 70)),))
    text = said(rldp.design(sample_of(reading), 0.5), unit="<b>", author="<i>")
    assert "<script>" not in text
    assert "<b>" not in text
    assert "&lt;/bdi&gt;&lt;script&gt;alert(1)&lt;/script&gt;{0}" in text
    assert "<bdi>{secret}</bdi>" in text


def test_the_imprint(designed):
    found = gathered(designed.protocol, epsilons=[0.5], draws=DRAWS)
    assert cover(found)["facts"] == [("Date", datetime.date.today().isoformat())]
    with pytest.raises(rldp.InvalidArgument, match="language must be one of en, de, fr, got 'it'"):
        Cover(language="it")
    with pytest.raises(rldp.InvalidArgumentType, match="author must be text, got int"):
        Cover(author=3)


def test_a_column_without_bins_has_no_ranges():
    assert ranges_of(Column("age", (1, 2))) == []


def test_each_of_several_columns_is_told_in_its_own_unit():
    counts = [[30, 10, 10, 30], [10, 30, 30, 10]]
    values = [(1, "a"), (1, "b"), (4, "a"), (4, "b")]
    reading = Reading((Column("s", ("x", "y")),), (Column("n", (1, 4)), Column("t", ("a", "b"))))
    sample = Sample(counts, ["x", "y"], values, reading=reading)
    found = rldp.design(sample, 0.5, distortion={"n": "squared", "t": "hamming"}, gap=1e-3)
    joint = np.einsum("su,suy->uy", sample.distribution, found.protocol.matrix)
    off = sum(joint[u, y] * (values[u][0] - values[y][0]) ** 2 for u in range(4) for y in range(4)) ** 0.5
    changed = sum(joint[u, y] for u in range(4) for y in range(4) if values[u][1] != values[y][1])
    text = said(found)
    assert f"a published “<bdi>n</bdi>” is off by about ±{off:.3g}" in text
    assert f"“<bdi>t</bdi>” changes in {100 * changed:.0f} % of the rows" in text
    assert "That readers who know some of the published columns are covered." in text


@pytest.mark.parametrize(
    ("privacy", "words"),
    [
        ("chi2", "distributed as in the sample."),
        ("credible", "a single distribution near the sample, the posterior"),
    ],
)
def test_a_nominal_bound_names_its_distribution(privacy, words):
    text = said(rldp.design(sample_of(), 0.5, privacy=privacy, utility="nominal"))
    assert f"This bound holds for {'people who are ' * (privacy == 'chi2')}{words}" in text


def test_what_is_not_proved_about_readers_of_the_value_bounds_nothing():
    """The file claims less than its table shows."""
    designed = rldp.design(sample_of(), 0.5, epsilon_known=3.0)
    claim = dataclasses.replace(designed.protocol.guarantee, epsilon_known=0.1)
    names = designed.protocol.secrets, designed.protocol.values, designed.protocol.outputs
    forged = rldp.Protocol(designed.protocol.matrix, *names, guarantee=claim)
    found = gathered(forged, epsilons=[0.5], draws=DRAWS)
    text = " ".join(str(each) for _, sentences in cover(found)["rows"] for each in sentences)
    shown = float(re.search(r"κ\u00a0=\u00a0([\d.]+)", text)[1])
    assert shown >= rldp.known_leakage(forged) > 1


def test_a_lower_bound_of_a_risk_is_rounded_down(designed):
    found = gathered(designed.protocol, epsilons=[0.5], draws=DRAWS)
    found = dataclasses.replace(found, law=dataclasses.replace(found.law, risk=(0.1269, 0.2)))
    assert "with a probability of at least 12\u00a0%" in str(cover(found)["ruling_more"])
