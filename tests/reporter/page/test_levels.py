"""Pages about protocols in which pairs of secrets have levels of their own."""

import math

import pytest

import rldp

SAMPLE = rldp.Sample([[30, 20, 10], [10, 25, 15], [5, 10, 25]], secrets=["well", "flu", "hiv"])
LEVELS = [[0, 1.0, 0.25], [1.0, 0, 0.25], [0.25, 0.25, 0]]


def page(tmp_path, levels, **options):
    design = rldp.design(SAMPLE, levels, privacy="nominal", utility="nominal")
    rldp.report(design, tmp_path / "page.html", epsilons=[1.0], draws=2000, **options)
    return (tmp_path / "page.html").read_text(encoding="utf-8").replace("\xa0", " ")


def test_a_page_is_about_the_largest_level_and_names_the_others(tmp_path):
    text = page(tmp_path, LEVELS)
    assert "(ε = 1)" in text
    assert "That is the largest level. Some pairs of entries of" in text
    assert "well against hiv: 0.25" in text
    assert "flu against well: 1." in text


def test_a_page_about_one_level_names_no_pairs(tmp_path):
    assert "largest level" not in page(tmp_path, 1.0)


def test_page_one_says_so_in_every_language(tmp_path):
    assert "Das ist das höchste Niveau." in page(tmp_path, LEVELS, language="de")


def test_a_pair_that_is_not_protected_leaves_nothing_to_report_on(tmp_path):
    with pytest.raises(rldp.InvalidArgument, match="protocol must claim a privacy level to be reported on"):
        page(tmp_path, [[0, math.inf, 0.25], [math.inf, 0, 0.25], [0.25, 0.25, 0]])
