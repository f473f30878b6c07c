"""Pages in a real browser, Chromium without a window. ``make test-browser`` runs these tests and no other."""

import os
import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def pytest_ignore_collect(config):
    """Leave these tests to those who ask for them."""
    return None if config.getoption("markexpr") == "browser" else True


@pytest.fixture(scope="session")
def chromium():
    """A browser, if there is one."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if program is None:
        pytest.skip("there is no Chromium on this machine")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=FLAGS)
        yield browser
        browser.close()


class Visit:
    """A page that is open, with what it complained about and what it asked for."""

    def __init__(self, context, path):
        self.complaints, self.requests = [], []
        self.page = context.new_page()
        self.page.on("console", lambda said: self._hear(said))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("dialog", lambda dialog: self._hear_dialog(dialog))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(Path(path).as_uri())

    def _hear(self, said):
        if said.type in ("error", "warning"):
            self.complaints.append(said.text)

    def _hear_dialog(self, dialog):
        self.complaints.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    @property
    def outside(self):
        """Requests for anything but files and what the page made itself."""
        return [url for url in self.requests if not url.startswith(("file:", "blob:", "data:"))]

    def words(self, selector):
        return " ".join(self.page.inner_text(selector).split())

    def ready(self):
        """Wait until the script has done its first work."""
        self.page.wait_for_selector("#explore:not([hidden])")
        return self


@pytest.fixture
def visit(chromium):
    """Open a page: path, width, and settings of the browser."""
    contexts = []

    def opened(path, width=1400, **settings):
        size = {"width": width, "height": 1000}
        contexts.append(chromium.new_context(viewport=size, accept_downloads=True, **settings))
        return Visit(contexts[-1], path)

    yield opened
    for context in contexts:
        context.close()


@pytest.fixture(scope="session")
def pictures():
    """Where pictures of pages go: $RLDP_PICTURES, or build/pictures."""
    folder = Path(os.environ.get("RLDP_PICTURES") or ROOT / "build" / "pictures")
    folder.mkdir(parents=True, exist_ok=True)
    return folder
