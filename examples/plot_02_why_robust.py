"""
Why the estimate is not enough
==============================

A protocol that is private *for the sample* is usually not private for the people behind
the sample. A hundred samples from one known truth show by how much it fails, and what a
promise changes.
"""

# %%
# The truth, which nobody knows in real life: three secrets, five values. Each sample
# has 600 rows.
import matplotlib.pyplot as plt
import numpy as np

import rldp

rng = np.random.default_rng(4)
truth = rng.dirichlet(np.full(15, 2.0)).reshape(3, 5)
counts = rng.multinomial(600, truth.ravel(), size=100).reshape(100, 3, 5)

# %%
# One call designs for all samples. Each protocol is then judged by the truth: its
# leakage ε* should be at most the ε = 0.5 that it was designed for.
epsilon = 0.5
promises = {
    "nominal": rldp.Nominal(),
    "credible": rldp.Credible(),
    "chi2": rldp.ChiSquare(),
}
leakages, distortions = {}, {}
for name, privacy in promises.items():
    batch = rldp.design_batch(
        counts, epsilon, privacy=privacy, utility=rldp.Nominal(), gap=1e-3
    )
    protocols = [rldp.Protocol(matrix) for matrix in batch.matrices]
    leakages[name] = np.array([rldp.leakage(protocol, truth) for protocol in protocols])
    distortions[name] = np.array(
        [rldp.distortion(protocol, truth, "squared") for protocol in protocols]
    )

# %%
# To the right of the line, the promise is broken.
figure, axis = plt.subplots(figsize=(7.5, 4))
for row, name in enumerate(promises):
    leaks = np.clip(leakages[name], None, 3)
    height = row + rng.uniform(-0.25, 0.25, len(leaks))
    axis.plot(leaks, height, "o", markersize=4, alpha=0.5)
    failed = np.mean(leakages[name] > epsilon)
    cost = distortions[name].mean()
    axis.text(
        1.02,
        row,
        f"{failed:.1%} fail\nD* = {cost:.2f}",
        transform=axis.get_yaxis_transform(),
        va="center",
    )
axis.axvline(epsilon, color="black", linewidth=1)
axis.text(epsilon, 2.45, " ε = 0.5", va="bottom")
axis.set_xscale("log")
axis.set_xticks([0.1, 0.2, 0.5, 1, 2], ["0.1", "0.2", "0.5", "1", "2"])
axis.minorticks_off()
axis.set_yticks(range(3), list(promises))
axis.set_xlabel("ε* under the truth")
axis.set_title("100 samples of 600 rows; one point a protocol", pad=18)
plt.show()

# %%
# Nominal protocols sit on the edge of what is private for the estimate, so nearly all
# of them fall off it. The credible ones keep some distance, as much as the sample calls
# for; the χ² set keeps far more than it needs. :doc:`/promises` has such numbers for
# many truths.
