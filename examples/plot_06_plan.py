"""
What a larger sample would buy
==============================

The less is known about the truth, the more distortion a promise costs. ``rldp.plan``
predicts what samples of other sizes would promise.
"""

# %%
# A sample of 600 rows, three secrets, four values.
import matplotlib.pyplot as plt
import numpy as np

import rldp

sample = rldp.Sample([[20, 45, 70, 65], [85, 70, 45, 20], [50, 50, 45, 35]])
sizes = [300, 600, 2_000, 6_000, 20_000]

# %%
# For each size, draw new samples from distributions that this one makes likely, and
# design for them.
plans = {
    name: rldp.plan(sample, 0.5, sizes, privacy=name, utility=rldp.Nominal(), draws=12)
    for name in ("chi2", "credible")
}

figure, axis = plt.subplots(figsize=(7.5, 4.2))
for (name, plan), (at, *offset) in zip(
    plans.items(), ((2, 8, 8), (0, 10, -10)), strict=True
):
    median = np.array([row.median for row in plan.rows])
    (line,) = axis.plot(sizes, median, marker="o")
    low, high = [row.low for row in plan.rows], [row.high for row in plan.rows]
    axis.fill_between(sizes, low, high, alpha=0.18, color=line.get_color())
    axis.annotate(
        name,
        (sizes[at], median[at]),
        xytext=offset,
        textcoords="offset points",
        color=line.get_color(),
    )
axis.axhline(plan.limit.median, color="black", linewidth=0.8)
axis.text(sizes[0], plan.limit.median, "if the distribution were known", va="top")
axis.set_xscale("log")
axis.set_xticks(sizes, [f"{n:,}" for n in sizes])
axis.minorticks_off()
axis.set_ylim(bottom=0)
axis.set_xlabel("rows in the sample")
axis.set_ylabel("promised distortion (median, 90 % band)")
axis.set_title("ε = 0.5, planned from 600 rows")
plt.show()

# %%
# How many rows for half of the present distortion?
for name, plan in plans.items():
    half = plan.present / 2
    print(f"{name}: {plan.present:.2f} now, {half:.2f} at {plan.size_for(half)} rows")

# %%
# The band is a prediction based on the present sample, not a guarantee.
# ``plan.plot("plan.svg")`` and ``rldp plan`` draw it.
