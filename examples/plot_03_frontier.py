"""
What ε costs, promise by promise
================================

Distortion against ε for four promises on one table: the first figure to look at before choosing ε.
"""

# %%
# Counts of 2000 people: three secrets, six values.
import matplotlib.pyplot as plt
import numpy as np

import rldp

counts = np.array([
    [20, 60, 120, 140, 90, 50],
    [90, 160, 190, 140, 70, 30],
    [210, 260, 190, 110, 50, 20],
])

# %%
# The same counts at many ε are a batch of designs, solved in one array.
epsilons = np.geomspace(0.05, 4, 14)
promises = {
    "all distributions": rldp.AllDistributions(),
    "χ² (the paper)": rldp.ChiSquare(),
    "credible": rldp.Credible(),
    "nominal: no protection": rldp.Nominal(),
}
curves = {}
for name, privacy in promises.items():
    batch = rldp.design_batch(
        np.broadcast_to(counts, (len(epsilons), *counts.shape)),
        epsilons,
        privacy=privacy,
        utility=rldp.Nominal(),
        gap=1e-3,
    )
    curves[name] = batch.objective

# %%
# What a constant output costs is the upper end of all curves; below it, each curve says what the promise leaves.
values = np.arange(6)
shares = counts.sum(axis=0) / counts.sum()
constant = min(shares @ (values - y) ** 2 for y in values)

figure, axis = plt.subplots(figsize=(7.5, 4.4))
axis.axhline(constant, color="black", linewidth=0.8)
axis.text(epsilons[0], constant, "best constant", va="bottom")
labels = {"all distributions": (1.4, 6, 6), "χ² (the paper)": (0.2, 6, 6), "credible": (0.13, -56, -12),
          "nominal: no protection": (0.06, 0, -18)}
for name, curve in curves.items():
    (line,) = axis.plot(epsilons, curve)
    at, *offset = labels[name]
    height = np.interp(at, epsilons, curve)
    axis.annotate(name, (at, height), xytext=offset, textcoords="offset points", color=line.get_color())
axis.set_xscale("log")
axis.set_xticks([0.05, 0.1, 0.2, 0.5, 1, 2, 4], ["0.05", "0.1", "0.2", "0.5", "1", "2", "4"])
axis.minorticks_off()
axis.set_xlabel("ε")
axis.set_ylabel("expected squared distortion")
axis.set_ylim(bottom=0)
axis.set_title("3 secrets × 6 values, n = 2000, under the estimate")
plt.show()

# %%
# Read it from the left: at a small ε a promise about *all* distributions is hardly better than a constant. The
# distance between the credible and the nominal curve is what not knowing the truth costs; it shrinks as the
# sample grows.
