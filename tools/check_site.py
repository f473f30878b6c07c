"""Check a built site: nothing that a page loads comes from elsewhere, every link leads somewhere.

Usage: python tools/check_site.py build/docs
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED = {
    "audio": ("src",),
    "embed": ("src",),
    "iframe": ("src",),
    "image": ("href", "xlink:href"),
    "img": ("src", "srcset"),
    "input": ("src",),
    "link": ("href",),
    "object": ("data",),
    "script": ("src",),
    "source": ("src", "srcset"),
    "track": ("src",),
    "use": ("href", "xlink:href"),
    "video": ("src", "poster"),
}
"""What a browser fetches by itself, by tag."""
NOT_FETCHED = {"canonical", "index", "search", "next", "prev", "author", "license"}
"""Relations of ``link`` that are told and not loaded."""
NEEDED = ("index.html", "search.html", "searchindex.js")

_IN_STYLES = re.compile(r"url\(\s*['\"]?([^'\")]+)|@import\s+['\"]([^'\"]+)")


@dataclass
class Page(HTMLParser):
    """What a page loads, where it leads to, and what can be led to."""

    loaded: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    anchors: set[str] = field(default_factory=set)
    _in_style: bool = False

    def __post_init__(self) -> None:
        super().__init__()

    @classmethod
    def of(cls, text: str) -> Page:
        """Read a page."""
        page = cls()
        page.feed(text)
        page.close()
        return page

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Called by the parser."""
        given = {name: value for name, value in attrs if value is not None}
        self.anchors.update(given[name] for name in ("id", "name") if name in given)
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        relations = set(given.get("rel", "").split())
        if tag != "link" or not relations & NOT_FETCHED:
            self.loaded += [given[name] for name in LOADED.get(tag, ()) if name in given]
        self.loaded += in_styles(given.get("style", ""))
        self._in_style = tag == "style"

    def handle_data(self, data: str) -> None:
        """Called by the parser."""
        if self._in_style:
            self.loaded += in_styles(data)

    def handle_endtag(self, tag: str) -> None:
        """Called by the parser."""
        self._in_style = False


def in_styles(text: str) -> list[str]:
    """What a style sheet loads."""
    return [first or second for first, second in _IN_STYLES.findall(text)]


def is_elsewhere(address: str) -> bool:
    """Whether an address leads away from the site."""
    found = urlsplit(address.strip())
    return bool(found.netloc) or found.scheme not in ("", "data")


def request_faults(site: Path) -> Iterator[str]:
    """Pages and style sheets that would ask somebody else for something."""
    for file in sorted(site.rglob("*.html")):
        yield from _requests(file, site, Page.of(file.read_text(encoding="utf-8")).loaded)
    for file in sorted(site.rglob("*.css")):
        yield from _requests(file, site, in_styles(file.read_text(encoding="utf-8")))


def _requests(file: Path, site: Path, loaded: Iterable[str]) -> Iterator[str]:
    for address in loaded:
        if is_elsewhere(address):
            yield f"{file.relative_to(site)} must load nothing from elsewhere, but it loads {address}"


def link_faults(site: Path) -> Iterator[str]:
    """Links inside the site that lead nowhere."""
    pages = {file: Page.of(file.read_text(encoding="utf-8")) for file in sorted(site.rglob("*.html"))}
    for file, page in pages.items():
        for address in page.links:
            if is_elsewhere(address) or address in ("", "#"):
                continue
            found = urlsplit(address)
            target = (file.parent / unquote(found.path)).resolve() if found.path else file
            here = file.relative_to(site)
            if not target.is_file():
                yield f"{here} links to {address}, which does not exist"
            elif target in pages and found.fragment and unquote(found.fragment) not in pages[target].anchors:
                yield f"{here} links to {address}, but that page has no such place"


def case_faults(site: Path) -> Iterator[str]:
    """Files whose names differ by case alone: on some disks they are one."""
    seen: dict[str, Path] = {}
    for path in sorted(site.rglob("*")):
        here = path.relative_to(site)
        other = seen.setdefault(str(here).lower(), here)
        if other != here:
            yield f"{here} must differ from {other} by more than case"


def name_faults(site: Path, names: Iterable[str]) -> Iterator[str]:
    """Public names that have no page."""
    for name in names:
        pages = [site / "api" / f"rldp.{page}.html" for page in (name, f"{name.lower()}-class")]
        texts = [page.read_text(encoding="utf-8") for page in pages if page.is_file()]
        if not any(f"rldp.{name}" in Page.of(text).anchors for text in texts):
            yield f"rldp.{name} must have a page that explains it, but it has none"


def faults(site: Path, names: Iterable[str]) -> list[str]:
    """All that is wrong with a site."""
    missing = [
        f"the site must have {name}, but it does not" for name in NEEDED if not (site / name).is_file()
    ]
    site = site.resolve()
    return [
        *missing,
        *request_faults(site),
        *link_faults(site),
        *case_faults(site),
        *name_faults(site, names),
    ]


def main(folder: str) -> int:
    """Tell what is wrong; how many things."""
    import rldp

    found = faults(Path(folder), rldp.__all__)
    for fault in found:
        print(fault, file=sys.stderr)
    if not found:
        pages = sum(1 for _ in Path(folder).rglob("*.html"))
        print(f"{folder}: {pages} pages load nothing from elsewhere, all links lead somewhere")
    return min(len(found), 1)


if __name__ == "__main__":
    raise SystemExit(main(*sys.argv[1:]))
