"""
How many bins?
==============

A number with many values must be cut into bins. Few bins lose detail; many bins are
each seen so seldom that privacy costs more. The best number lies between, and depends
on the size of the sample.
"""

# %%
# Incomes of people with two secrets, in thousands, from 0 to 100.
import matplotlib.pyplot as plt
import numpy as np
import pyarrow as pa

import rldp


def people(n, seed=0):
    rng = np.random.default_rng(seed)
    ill = rng.random(n) < 0.4
    income = 100 * rng.beta(np.where(ill, 2.0, 3.0), np.where(ill, 4.0, 3.0))
    return pa.table(
        {"diagnosis": np.where(ill, "ill", "well"), "income": income.round(1)}
    )


# %%
# ``bins`` cuts the column into bins of equal shares and publishes the mean of a bin.
# The distortion includes the loss by binning, so different numbers of bins can be
# compared.
bins = [2, 3, 4, 6, 8, 12, 16]
figure, axis = plt.subplots(figsize=(7.5, 4.2))
for n, offset in ((600, (0, 10)), (4_000, (0, 8)), (40_000, (0, -18))):
    promised = []
    for number in bins:
        sample = rldp.Sample.from_data(
            people(n), secret="diagnosis", value="income", bins=number
        )
        design = rldp.design(
            sample, 0.5, privacy=rldp.ChiSquare(), utility=rldp.Nominal(), gap=1e-3
        )
        promised.append(np.sqrt(design.objective))
    (line,) = axis.plot(bins, promised, marker="o")
    best = int(np.argmin(promised))
    axis.plot(
        bins[best],
        promised[best],
        "o",
        markersize=11,
        fillstyle="none",
        color=line.get_color(),
    )
    axis.annotate(
        f"{n:,} rows",
        (bins[4], promised[4]),
        xytext=offset,
        textcoords="offset points",
        color=line.get_color(),
        ha="center",
    )
axis.set_xscale("log")
axis.set_xticks(bins, bins)
axis.minorticks_off()
axis.set_xlabel("bins")
axis.set_ylabel("root of the expected squared distortion")
axis.set_title("ε = 0.5, χ²; a ring marks the best number of bins")
plt.show()

# %%
# With a credible promise, which needs fewer rows in each cell, the best number is
# larger. ``rldp design --bins auto`` makes this comparison for 4, 8, 16 and 32 bins.
