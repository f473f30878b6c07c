"""The documentation, where it was built: every page works without the rest of the world."""

from pathlib import Path

import pytest

pytestmark = pytest.mark.browser

SITE = Path(__file__).parents[2] / "build" / "docs"


def test_no_page_of_the_site_asks_for_anything_outside(visit):
    pages = sorted(SITE.rglob("*.html"))
    if not pages:
        pytest.skip("the documentation is not built; 'make docs' builds it")
    wrong = {}
    for page in pages:
        shown = visit(page)
        shown.page.wait_for_load_state("load")
        if shown.complaints or shown.outside:
            wrong[str(page)] = (shown.complaints[:3], shown.outside[:3])
        shown.page.close()
    assert wrong == {}
