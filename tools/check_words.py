"""Is the English plain? ``python tools/check_words.py`` finds the phrases that ``tools/words.toml`` lists.

It reads pages, code, comments, templates and examples. A phrase is found in any case, and over the end of a
line of a paragraph or comment.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Phrase", "faults", "phrases"]

ROOT = Path(__file__).parents[1]
WORDS = "tools/words.toml"
READ = (
    "*.md", "docs/*.md", "docs/guide/*.md", "docs/about/*.md", "docs/_site/*.py", "src/**/*.py",
    "src/**/*.html", "src/**/*.js", "examples/**/*.py", "examples/*.rst", "benchmarks/*.py", "tools/*.py",
    "clients/javascript/*.md", "clients/javascript/src/*.js",
)  # fmt: skip
LEFT_OUT = ("CHANGELOG.md",)  # it tells what was


@dataclass(frozen=True)
class Phrase:
    """What is not said, what is said instead, and in which paths: in all if there are none."""

    phrase: str
    instead: str
    places: tuple[str, ...] = ()

    @property
    def pattern(self) -> re.Pattern[str]:
        """The words, with any space between them: also the start of a next line of a comment or a list."""
        words = map(re.escape, self.phrase.split())
        return re.compile(r"(?<!\w)" + r"[\s#*>\"]+".join(words) + r"(?!\w)", re.IGNORECASE)

    def is_about(self, path: str) -> bool:
        """Whether it is looked for in a path."""
        return not self.places or path.startswith(self.places)


def phrases(root: Path = ROOT) -> list[Phrase]:
    """The list."""
    listed = tomllib.loads((root / WORDS).read_text(encoding="utf-8"))["phrase"]
    return [Phrase(each["phrase"], each["instead"], tuple(each.get("in", ()))) for each in listed]


def faults(root: Path = ROOT) -> Iterator[str]:
    """A line for each place that says what the list asks to say otherwise."""
    listed = phrases(root)
    for path in sorted({found for pattern in READ for found in root.glob(pattern)}):
        name = path.relative_to(root).as_posix()
        if name in LEFT_OUT:
            continue
        text = path.read_text(encoding="utf-8")
        for each in listed:
            if each.is_about(name):
                for found in each.pattern.finditer(text):
                    line = text.count("\n", 0, found.start()) + 1
                    yield f"{name}:{line}: {each.phrase!r}; instead: {each.instead}"


if __name__ == "__main__":
    found = list(faults())
    print("\n".join(found))
    sys.exit(bool(found))
