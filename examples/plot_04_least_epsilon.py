"""
The smallest ε for a distortion that you can live with
======================================================

Sometimes the distortion is given, and ε is the question: "the published age may be off
by eight years or so; how private can that be?"
"""

# %%
# A sample of ages with two secrets, in steps of ten years.
import matplotlib.pyplot as plt
import numpy as np

import rldp

sample = rldp.Sample(
    [[10, 25, 40, 60, 65], [80, 95, 90, 75, 60]],
    secrets=["ill", "well"],
    values=[30, 40, 50, 60, 70],
)
wanted = 8.0**2  # expected squared distortion

# %%
# Both sides are proved: at ``epsilon`` the distortion is promised, and at ``too_small``
# no protocol promises it.
found = rldp.least_epsilon(
    sample, wanted, privacy=rldp.ChiSquare(), utility=rldp.ChiSquare()
)
print(f"ε = {found.epsilon:.4f} is enough, ε = {found.too_small:.4f} is not")

# %%
# On the frontier it is the place where the curve crosses the line.
curve = rldp.frontier(sample, np.linspace(0.05, 1.5, 12), privacy="chi2", gap=1e-3).of(
    "chi2"
)
figure, axis = plt.subplots(figsize=(7.5, 4))
axis.plot([p.epsilon for p in curve], [p.promised**0.5 for p in curve], marker="o")
axis.axhline(wanted**0.5, color="black", linewidth=0.8)
axis.text(1.5, wanted**0.5, "wanted", va="bottom", ha="right")
axis.plot(
    found.epsilon, wanted**0.5, "o", markersize=11, fillstyle="none", color="#D55E00"
)
axis.annotate(
    f"ε = {found.epsilon:.2f}",
    (found.epsilon, wanted**0.5),
    xytext=(10, 10),
    textcoords="offset points",
    color="#D55E00",
)
axis.set_xlabel("ε")
axis.set_ylabel("promised error in years (root of the square)")
axis.set_ylim(bottom=0)
axis.set_title("2 secrets × 5 ages, n = 600, χ² promise")
plt.show()

# %%
# An impossible distortion is refused, and the message gives the smallest possible one.
# On the command line it is ``rldp design … --max-distortion 64``.
