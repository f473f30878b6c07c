"""
What a larger sample buys
=========================

The less is known about the truth, the more distortion a promise costs. How fast does the price fall as the sample
grows?
"""

# %%
# A truth with three secrets and five values; at each size, ten samples drawn from it.
import matplotlib.pyplot as plt
import numpy as np

import rldp

rng = np.random.default_rng(1)
values = np.arange(5)
centres = np.array([1.2, 2.0, 2.8])
truth = np.exp(-0.3 * (values - centres[:, None]) ** 2)
truth /= truth.sum()
sizes = np.array([500, 1_000, 3_000, 10_000, 30_000, 100_000])

# %%
# All samples go into one batch for each promise. What is shown is D*, the expected squared error under the truth.
promises = {"χ² (the paper)": rldp.ChiSquare(), "credible": rldp.Credible()}
counts = np.concatenate([rng.multinomial(n, truth.ravel(), size=10) for n in sizes]).reshape(-1, 3, 5)
squares = (values[:, None] - values) ** 2.0
costs = {}
for name, privacy in promises.items():
    batch = rldp.design_batch(counts, 0.5, privacy=privacy, utility=rldp.Nominal(), gap=1e-3)
    costs[name] = np.einsum("ksuy,su,uy->k", batch.matrices, truth, squares).reshape(len(sizes), 10)

# %%
# Below everything lies what could be had if the truth were known: a design for the truth itself.
known = rldp.Sample(np.round(truth * 10**9).astype(int))
floor = rldp.design(known, 0.5, privacy=rldp.Nominal(), utility=rldp.Nominal()).objective

figure, axis = plt.subplots(figsize=(7.5, 4.2))
labels = {"χ² (the paper)": (1, 6, 8), "credible": (1, -60, -22)}
for name, cost in costs.items():
    low, middle, high = np.quantile(cost, [0.1, 0.5, 0.9], axis=1)
    (line,) = axis.plot(sizes, middle, marker="o")
    axis.fill_between(sizes, low, high, alpha=0.2, color=line.get_color())
    at, *offset = labels[name]
    axis.annotate(name, (sizes[at], middle[at]), xytext=offset, textcoords="offset points",
                  color=line.get_color())
axis.axhline(floor, color="black", linewidth=0.8)
axis.text(sizes[0], floor, "if the truth were known", va="bottom")
axis.set_xscale("log")
axis.set_ylim(bottom=0)
axis.set_xlabel("rows in the sample")
axis.set_ylabel("D* (median; band: 10 % to 90 %)")
axis.set_title("ε = 0.5, squared distortion, 3 secrets × 5 values")
plt.show()

# %%
# A credible promise on 1000 rows costs about as much as a χ² promise on several thousand. When samples are very large, every
# promise comes close to what could be had for the truth itself.
