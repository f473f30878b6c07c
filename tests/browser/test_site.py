"""The documentation, where it was built: every page works without the rest of the world."""

from pathlib import Path

import pytest

pytestmark = pytest.mark.browser

SITE = Path(__file__).parents[2] / "build" / "docs"
LOOKED_AT = [
    "index.html",
    "quickstart.html",
    "guide/epsilon.html",
    "api/rldp.design.html",
    "report.html",
    "gallery/index.html",
    "gallery/plot_03_frontier.html",
    "theory.html",
]


@pytest.fixture(scope="module")
def site():
    if not (SITE / "index.html").exists():
        pytest.skip("the documentation is not built; 'make docs' builds it")
    return SITE


def test_no_page_of_the_site_asks_for_anything_outside(site, visit):
    pages = [page for page in sorted(site.rglob("*.html")) if "_static" not in page.relative_to(site).parts]
    assert len(pages) > 20
    shown = visit(pages[0])
    wrong = {}
    for page in pages:
        shown.complaints.clear()
        shown.requests.clear()
        shown.page.goto(page.as_uri())
        if shown.complaints or shown.outside:
            wrong[page.name] = (shown.complaints[:3], shown.outside[:3])
    assert wrong == {}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", LOOKED_AT)
def test_nothing_serious_stands_in_anybodys_way(site, visit, name, scheme):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    if not (site / name).exists():
        pytest.skip(f"the documentation has no page {name}")
    shown = visit(site / name, color_scheme=scheme)
    found = axe.Axe().run(shown.page).response["violations"]
    serious = [
        (fault["id"], fault["impact"], [node["html"][:160] for node in fault["nodes"]][:3])
        for fault in found
        if fault["impact"] in ("serious", "critical")
    ]
    assert serious == []


@pytest.mark.parametrize(("width", "height"), [(1400, 1600), (400, 2400)])
def test_pictures_of_the_site(site, visit, pictures, width, height):
    shown = visit(site / "index.html", width)
    clip = {"x": 0, "y": 0, "width": width, "height": height}
    shown.page.screenshot(path=pictures / f"site-{width}.png", full_page=True, clip=clip)
    assert (pictures / f"site-{width}.png").stat().st_size > 20_000
