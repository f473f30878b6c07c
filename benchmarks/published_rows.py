"""The rows that the authors of Optimized Pre-Processing publish, as they are; called by preprocessing.py.

``Adult/experiment_data1`` of fair-preprocessing/nips2017 has training rows before and after, for five splits
at their ε of 0.05.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

SIZES = (7, 9, 2)


def combinations(path):
    """Sex and the number of the combination of age, education and income of each row."""
    rows = pd.read_csv(path, dtype=str)
    age = rows["Age (decade)"].map(lambda text: 6 if text.startswith(">") else int(float(text)) // 10 - 1)
    ends = {"<6": 0, ">12": 8}
    education = rows["Education Years"].map(lambda text: ends[text] if text in ends else int(text) - 5)
    values = np.ravel_multi_index((age, education, rows["Income Binary"].astype(int)), SIZES)
    return (rows["Gender"].str.strip() == "Male").to_numpy().astype(int), values


def of_split(folder, split):
    """What one split shows."""
    sex, before = combinations(folder / f"train_{split}.csv")
    again, after = combinations(folder / f"train_new_{split}.csv")
    if (sex != again).any():
        raise ValueError(f"the files of split {split} must hold the same people, got other sexes")
    cells = int(np.prod(SIZES))
    then, now = (
        np.bincount(sex * cells + values, minlength=2 * cells).reshape(2, -1) for values in (before, after)
    )
    one_sided = (now == 0).any(axis=0) & (now > 0).any(axis=0)
    return {
        "rows": len(sex),
        "changed": np.mean(before != after),
        "label before": largest_log_ratio(by_label(then)),
        "label": largest_log_ratio(by_label(now)),
        "all": largest_log_ratio(now),
        "told": now[:, one_sided].sum(),
    }


def by_label(counts):
    """Counts of the label alone."""
    return counts.reshape(2, -1, 2).sum(axis=1)


def largest_log_ratio(counts):
    """ε* of the shares that the counts have."""
    shares = counts[:, counts.any(axis=0)] / counts.sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore"):
        return float(np.abs(np.diff(np.log(shares), axis=0)).max())


def section(folder):
    """What the published rows show, in a sentence or two."""
    splits = sorted(int(path.stem.removeprefix("train_new_")) for path in folder.glob("train_new_*.csv"))
    found = [of_split(folder, split) for split in splits if (folder / f"train_{split}.csv").exists()]

    def mean(name, factor=1.0, digits=3):
        numbers = [factor * each[name] for each in found]
        if not all(np.isfinite(numbers)):
            return f"infinite in {sum(np.isinf(numbers))} of {len(numbers)} splits"
        return f"{np.mean(numbers):.{digits}f} ± {np.std(numbers, ddof=1):.{digits}f}"

    return f"""The authors publish the training rows of {len(found)} splits of Adult, before and after
(`Adult/experiment_data1` of `fair-preprocessing/nips2017`). Of the {found[0]["rows"]:,} rows of a split,
{mean("changed", 100, 1)} % are changed. The log-ratio of the label falls from {mean("label before")} to
{mean("label")}. That of the three columns together is {mean("all")}: {mean("told", 1, 0)} rows hold a
combination that only one sex has.
"""
