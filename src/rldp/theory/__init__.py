"""The mathematics, on arrays: no labels, no files, no policy. Sections as in ``docs/theory.md``."""
