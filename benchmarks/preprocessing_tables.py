"""Adult and COMPAS with the alphabets and caps of Optimized Pre-Processing (Calmon et al., NeurIPS 2017).

A combination of features and label is one value; its number is in the order of ``np.unravel_index``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from optimized import Caps

ADULT = "UCI Adult (Becker and Kohavi, CC BY 4.0): one CSV file with sex, age, education_num and income"
COMPAS = "compas-scores-two-years.csv of ProPublica's compas-analysis"


@dataclass(frozen=True, eq=False)
class Table:
    """A whole table, which is the truth of this measurement.

    Attributes
    ----------
    counts : array (2, W)
    secret : str
    columns : tuple of str
        Features, then the label.
    sizes : tuple of int
        Of their alphabets.
    caps : Caps
        The authors'.
    epsilon : float
        The authors': the ratio is at most 1 + epsilon.
    training, held_out : int
        Rows of the authors' splits.
    more : (int, int)
        Further splits that count how often ours keeps its ε: at equal ε, and at an equal share.
    """

    name: str
    source: str
    counts: np.ndarray
    secret: str
    columns: tuple[str, ...]
    sizes: tuple[int, ...]
    caps: Caps
    epsilon: float
    training: int
    held_out: int
    more: tuple[int, int]

    @property
    def truth(self):
        return self.counts / self.counts.sum()

    @property
    def codes(self):
        """Of each value, the code in each column: (columns, W)."""
        return np.array(np.unravel_index(np.arange(self.counts.shape[1]), self.sizes))

    @property
    def labels(self):
        return self.codes[-1]

    @property
    def features(self):
        """One-hot, without the label: (W, features)."""
        return np.column_stack(
            [np.eye(size)[code] for size, code in zip(self.sizes[:-1], self.codes[:-1], strict=True)]
        )


def adult(path):
    """Sex; decade of age, education in nine levels, income.

    Education may rise by one level and age move by one decade. Age moves, or income falls, with probability
    0.1 at most, and age moves with 0.05 at most.
    """
    rows = pd.read_csv(path, usecols=["sex", "age", "education_num", "income"])
    decade = (rows["age"] // 10).clip(1, 7) - 1
    education = rows["education_num"].clip(5, 13) - 5
    income = rows["income"].str.contains(">50K").astype(int)
    sizes = (7, 9, 2)
    counts = counted(rows["sex"].str.strip() == "Male", (decade, education, income), sizes)
    old, new = _before_and_after(sizes)
    age = np.abs(new[0] - old[0])
    rise = new[1] - old[1]
    allowed = (rise >= 0) & (rise <= 1) & (age <= 1)
    older = (age > 0) & allowed
    either = older | ((old[2] > new[2]) & allowed)
    caps = Caps(allowed, (either.astype(float), older.astype(float)), np.array([[0.1], [0.05]]), False)
    columns = ("age", "education", "income")
    return Table("Adult", ADULT, counts, "sex", columns, sizes, caps, 0.05, 26_048, 6_513, (0, 32))


def compas(path):
    """Race; age in three categories, degree of the charge, priors in three, recidivism.

    Priors may fall by one category, age move by one, recidivism not rise; each costs 1, another degree 4. The
    mean is at most 0.4 for African-Americans and 0.3 for others.
    """
    rows = pd.read_csv(path, keep_default_na=False, na_values=[""])
    rows = rows[
        rows["days_b_screening_arrest"].between(-30, 30)
        & (rows["is_recid"] != -1)
        & (rows["c_charge_degree"] != "O")
        & (rows["score_text"] != "N/A")
        & rows["race"].isin(["African-American", "Caucasian"])
    ]
    age = rows["age_cat"].map({"Less than 25": 0, "25 - 45": 1, "Greater than 45": 2})
    degree = (rows["c_charge_degree"] == "F").astype(int)
    priors = np.searchsorted([1, 4], rows["priors_count"], side="right")
    sizes = (3, 2, 3, 2)
    counts = counted(rows["race"] == "African-American", (age, degree, priors, rows["is_recid"]), sizes)
    old, new = _before_and_after(sizes)
    moved, fall = np.abs(new[0] - old[0]), old[2] - new[2]
    allowed = (fall >= 0) & (fall <= 1) & (moved <= 1) & (new[3] <= old[3])
    cost = (moved > 0) + 4.0 * (new[1] != old[1]) + (fall > 0) + (new[3] < old[3])
    caps = Caps(allowed, (np.where(allowed, cost, 0),), np.array([[0.3, 0.4]]), True)
    columns = ("age", "charge", "priors", "recidivism")
    return Table("COMPAS", COMPAS, counts, "race", columns, sizes, caps, 0.2, 4_222, 1_056, (112, 112))


def counted(second, columns, sizes):
    """Rows by secret (a bool) and value: (2, W)."""
    codes = np.ravel_multi_index([np.asarray(column, dtype=int) for column in columns], sizes)
    pairs = np.asarray(second, dtype=int) * np.prod(sizes) + codes
    return np.bincount(pairs, minlength=2 * int(np.prod(sizes))).reshape(2, -1)


def _before_and_after(sizes):
    """Codes of what is changed, (columns, W, 1), and of what it may become, (columns, 1, W)."""
    codes = np.array(np.unravel_index(np.arange(np.prod(sizes)), sizes))
    return codes[:, :, None], codes[:, None, :]
