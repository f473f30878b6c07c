"""The check of the built site, on pages with one fault each."""

import pytest

from check_site import Page, case_faults, faults, link_faults, main, name_faults, request_faults

SOUND = (
    '<link rel="stylesheet" href="style.css"><img src="data:image/png;base64,AA">'
    '<a href="other.html#place">x</a><a href="https://a.example">y</a>'
)


@pytest.fixture
def site(tmp_path):
    """A small site without a fault."""
    (tmp_path / "api").mkdir()
    (tmp_path / "index.html").write_text(SOUND)
    (tmp_path / "other.html").write_text(
        '<h1 id="place">x</h1><a href="index.html">y</a><a href="#place">z</a>'
    )
    (tmp_path / "search.html").write_text("")
    (tmp_path / "searchindex.js").write_text("")
    (tmp_path / "style.css").write_text("p { background: url(picture.png) }")
    (tmp_path / "api" / "rldp.design.html").write_text('<dt id="rldp.design"><a href="../index.html">x</a>')
    return tmp_path


def test_a_sound_site_has_no_fault(site):
    assert faults(site, ["design"]) == []


@pytest.mark.parametrize("name", ["index.html", "search.html", "searchindex.js"])
def test_a_site_without_what_everybody_needs_is_refused(site, name):
    (site / name).unlink()
    assert f"the site must have {name}, but it does not" in faults(site, ["design"])


@pytest.mark.parametrize(
    "tag",
    [
        '<script src="https://cdn.example/x.js"></script>',
        '<script src="//cdn.example/x.js"></script>',
        '<link rel="stylesheet" href="https://fonts.example/x">',
        '<link rel="preload" href="http://fonts.example/x">',
        '<img src="https://badges.example/x.svg">',
        '<img srcset="https://badges.example/x.svg">',
        '<iframe src="https://videos.example/x"></iframe>',
        '<object data="https://a.example/x"></object>',
        '<p style="background: url(https://a.example/x.png)">x</p>',
        "<style>@import 'https://fonts.example/x.css';</style>",
        "<style>p { src: url('https://fonts.example/x.woff') }</style>",
    ],
)
def test_a_page_that_asks_somebody_else_is_named(site, tag):
    (site / "other.html").write_text(f'<h1 id="place">x</h1>{tag}')
    (fault,) = request_faults(site)
    assert fault.startswith("other.html must load nothing from elsewhere, but it loads")


def test_a_style_sheet_that_asks_somebody_else_is_named(site):
    (site / "style.css").write_text("@font-face { src: url(//fonts.example/x.woff) }")
    (fault,) = request_faults(site)
    assert fault == "style.css must load nothing from elsewhere, but it loads //fonts.example/x.woff"


def test_a_link_for_people_may_lead_elsewhere(site):
    page = '<h1 id="place">x</h1><a href="https://a.example">x</a><link rel="canonical" href="https://b.example">'
    (site / "other.html").write_text(page)
    assert faults(site, ["design"]) == []


@pytest.mark.parametrize(
    ("link", "said"),
    [
        ("gone.html", "which does not exist"),
        ("other.html#gone", "but that page has no such place"),
        ("#gone", "but that page has no such place"),
    ],
)
def test_a_link_that_leads_nowhere_is_named(site, link, said):
    (site / "index.html").write_text(f'<a href="{link}">x</a>')
    (fault,) = link_faults(site.resolve())
    assert fault == f"index.html links to {link}, {said}"


def test_a_public_name_without_a_page_is_named(site):
    (fault,) = name_faults(site, ["design", "verify"])
    assert fault == "rldp.verify must have a page that explains it, but it has none"


def test_a_page_that_does_not_explain_its_name_is_not_taken_for_one_that_does(site):
    (site / "api" / "rldp.design.html").write_text("<h1>rldp.design</h1>")
    assert len(list(name_faults(site, ["design"]))) == 1


def test_text_beside_a_style_is_no_style():
    assert Page.of("<style>p{}</style><p>url(https://a.example)</p>").loaded == []


def test_faults_end_in_a_failure_and_stand_on_standard_error(site, capsys):
    (site / "index.html").write_text('<script src="https://cdn.example/x.js"></script>')
    assert main(str(site)) == 1
    assert "https://cdn.example/x.js" in capsys.readouterr().err


def test_pages_that_differ_by_case_alone_are_told(site):
    (site / "api" / "rldp.Design.html").write_text('<dt id="rldp.Design">')
    assert list(case_faults(site)) == [
        "api/rldp.design.html must differ from api/rldp.Design.html by more than case"
    ]


def test_a_class_may_have_a_page_beside_that_of_a_function(site):
    (site / "api" / "rldp.design-class.html").write_text('<dt id="rldp.Design">')
    assert faults(site, ["design", "Design"]) == []
