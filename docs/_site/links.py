"""Links that plain Markdown cannot say: a public name in code type leads to its page.

Pages stay readable as files: they write `rldp.design`, and the site makes a link of it. What lies above
the folder of the pages (the changelog, the page on contributing) has a page of the site in its place.
"""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.transforms import SphinxTransform

import rldp

NAME = re.compile(r"rldp\.(\w+)(?:\.\w+)*(?:\(.*\))?", re.S)
SIZE = re.compile(r"(?<![\\`])\|([SUY])\|(?!`)")
CHAPTERS = re.compile(r"``docs/(?P<page>[\w-]+)\.md``(?P<chapters>(?:,?\s+(?:and\s+)?'[^']+')*)")
ABOVE = {
    "SECURITY.md": "about/vulnerabilities.md",
    "CHANGELOG.md": "about/changelog.md",
    "CONTRIBUTING.md": "about/contributing.md",
    "README.md": "index.md",
    "clients/javascript/README.md": "guide/browser.md",
}


class PublicNames(SphinxTransform):
    """Make every public name in code type a link to its page."""

    default_priority = 480

    def apply(self, **_: Any) -> None:
        """Called by Sphinx for each page."""
        for literal in list(self.document.findall(nodes.literal)):
            found = NAME.fullmatch(literal.astext())
            linked = isinstance(literal.parent, nodes.reference | pending_xref | nodes.title)
            if found and found[1] in rldp.__all__ and not linked:
                link = pending_xref(
                    "", refdomain="py", reftype="obj", reftarget=f"rldp.{found[1]}", refexplicit=True
                )
                link["refdoc"] = self.env.docname
                literal.replace_self(link)
                link += literal


class LastLines(SphinxTransform):
    """Leave out the empty line with which an example in a page must end."""

    default_priority = 479

    def apply(self, **_: Any) -> None:
        """Called by Sphinx for each page."""
        for block in self.document.findall(nodes.literal_block):
            if block.rawsource == block.astext():
                block.rawsource = block.astext().rstrip("\n")
                block[:] = [nodes.Text(block.rawsource)]


def lead_to_pages(app: Any, page: str, content: list[str]) -> None:
    """Where a page links to a file above the folder, link to its page."""
    up = "../" * page.count("/")
    for name, place in ABOVE.items():
        content[0] = re.sub(rf"\]\((?:\.\./)+{re.escape(name)}(#[\w-]+)?\)", rf"]({up}{place}\1)", content[0])


def lead_to_chapters(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """In a docstring ``docs/theory.md``, 'Model' is a link to that chapter."""

    def linked(found: re.Match[str]) -> str:
        page, chapters = found["page"], found["chapters"]

        def chapter(each: re.Match[str]) -> str:
            title = " ".join(each[1].split())
            slug = re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
            return f"`{title} <../{page}.html#{slug}>`__"

        return f":doc:`{page} </{page}>`" + re.sub(r"'([^']+)'", chapter, " ".join(chapters.split(" ")))

    text = CHAPTERS.sub(linked, "\n".join(lines))
    lines[:] = text.split("\n")


def keep_bars(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """In a docstring |S| is the size of an alphabet, not a text to be put in its place."""
    in_mathematics = False
    for number, line in enumerate(lines):
        if line.strip():
            in_mathematics = ".. math::" in line or (in_mathematics and line.startswith((" ", "\t")))
        if not in_mathematics and ":math:" not in line:
            lines[number] = SIZE.sub(r"\\|\1\\|", line)


def setup(app: Any) -> dict[str, bool]:
    """Called by Sphinx."""
    app.add_transform(PublicNames)
    app.add_transform(LastLines)
    app.connect("source-read", lead_to_pages)
    app.connect("autodoc-process-docstring", lead_to_chapters, priority=899)
    app.connect("autodoc-process-docstring", keep_bars, priority=900)  # once numpydoc is done
    return {"parallel_read_safe": True, "parallel_write_safe": True}
