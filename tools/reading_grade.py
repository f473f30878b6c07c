"""How hard are the pages to read? ``python tools/reading_grade.py [REVISION…]`` prints their grades.

It needs ``pip install 'textstat<0.7.4'``, which counts syllables without a download. Code, tables, headings
and formulas are left out, and a name in code type counts as one word. A grade counts long words and long
sentences only: ``tools/words.toml`` has what it cannot see.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import textstat

ROOT = Path(__file__).parents[1]
PAGES = ("README.md", "docs/quickstart.md", "docs/faq.md", "docs/guide/")


def prose(page: str) -> str:
    """The sentences of a Markdown page."""
    for pattern, put in (
        (r"^```.*?^```|^:::.*?$|\$\$.*?\$\$|<!--.*?-->|^\|.*?$|^#.*?$|!\[[^\]]*\]\([^)]*\)", ""),
        (r"\[([^\]]*)\]\([^)]*\)", r"\1"),
        (r"`[^`]*`|\$[^$\n]*\$", "it"),
        (r"[*_]", ""),
    ):
        page = re.sub(pattern, put, page, flags=re.MULTILINE | re.DOTALL)
    parts = (" ".join(part.split()) for part in re.split(r"\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )", page))
    return " ".join(part.rstrip(".:;,") + "." for part in parts if len(part.split()) > 4)


def _git(*words: str) -> str:
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True).stdout


def main(revisions: list[str]) -> None:
    """Print a line for each group of pages."""
    for revision in revisions or ["HEAD"]:
        print(f"{revision}: Flesch-Kincaid grade, words a sentence, words")
        for path in PAGES:
            names = _git("ls-tree", "-r", "--name-only", revision, path).split()
            text = " ".join(
                prose(_git("show", f"{revision}:{name}")) for name in names if name.endswith(".md")
            )
            words, sentences = textstat.lexicon_count(text), textstat.sentence_count(text)
            grade = textstat.flesch_kincaid_grade(text)
            print(f"  {path:20} {grade:4.1f} {words / max(sentences, 1):5.1f} {words:6}")


if __name__ == "__main__":
    main(sys.argv[1:])
