"""
What ε costs, promise by promise
================================

Distortion against ε for several promises on one table: the first figure to look at
before choosing ε.
"""

# %%
# Counts of 2000 people: three secrets, six values.
import matplotlib.pyplot as plt
import numpy as np

import rldp

sample = rldp.Sample(
    [
        [20, 60, 120, 140, 90, 50],
        [90, 160, 190, 140, 70, 30],
        [210, 260, 190, 110, 50, 20],
    ]
)

# %%
# One call designs for all ε and all promises. Its table has a row for each point;
# data-frame libraries take it as it is.
found = rldp.frontier(
    sample,
    np.geomspace(0.05, 4, 14),
    privacy=["all", "chi2", "credible", "nominal"],
    utility=rldp.Nominal(),
    gap=1e-3,
)
print({name: column[:3] for name, column in found.table().items()})

# %%
# All curves start at the distortion of a constant output. Below it, each curve shows
# the cost of its promise.
constant = found.points[0].design.constant_objective

figure, axis = plt.subplots(figsize=(7.5, 4.4))
axis.axhline(constant, color="black", linewidth=0.8)
axis.text(0.05, constant, "best constant", va="bottom")
labels = {
    "all": (1.4, 6, 6),
    "chi2": (0.2, 6, 6),
    "credible": (0.13, -60, -12),
    "nominal": (0.06, 0, -18),
}
for name, (at, *offset) in labels.items():
    epsilons = [point.epsilon for point in found.of(name)]
    promised = [point.promised for point in found.of(name)]
    (line,) = axis.plot(epsilons, promised)
    place = (at, np.interp(at, epsilons, promised))
    axis.annotate(
        name, place, xytext=offset, textcoords="offset points", color=line.get_color()
    )
axis.set_xscale("log")
axis.set_xticks(
    [0.05, 0.1, 0.2, 0.5, 1, 2, 4], ["0.05", "0.1", "0.2", "0.5", "1", "2", "4"]
)
axis.minorticks_off()
axis.set_xlabel("ε")
axis.set_ylabel("expected squared distortion")
axis.set_ylim(bottom=0)
axis.set_title("3 secrets × 6 values, n = 2000, under the estimate")
plt.show()

# %%
# Read it from the left: at a small ε a promise about *all* distributions is no better
# than a constant. The distance between the credible and the nominal curve is the price
# of not knowing the truth. It shrinks as the sample grows.
#
# ``found.plot("frontier.svg")`` and the command ``rldp frontier`` draw such a figure
# into a file.
