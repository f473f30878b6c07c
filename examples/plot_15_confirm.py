"""
Confirm on fresh rows
=====================

Rows that were not used for the design can prove ε by themselves, for every distribution
and every number of rows. The more there are, the closer the bound comes to the true
leakage.
"""

# %%
# A truth, a sample of 2000 rows, a credible design at ε = 0.5.
import matplotlib.pyplot as plt
import numpy as np

import rldp

rng = np.random.default_rng(3)
truth = np.array([[0.06, 0.12, 0.17, 0.15], [0.18, 0.15, 0.11, 0.06]])


def drawn(n):
    return rldp.Sample(rng.multinomial(n, truth.ravel()).reshape(2, 4))


sample = drawn(2000)
protocol = rldp.design(
    sample, 0.5, privacy=rldp.Credible(), utility=rldp.Nominal()
).protocol
print(f"ε* under the truth, which nobody knows: {rldp.leakage(protocol, truth):.3f}")

# %%
# Three fresh samples of each size. Each bound is too small with probability 0.05 at
# most.
sizes = np.array([100, 300, 1_000, 3_000, 10_000])
bounds = np.array(
    [[rldp.confirm(protocol, drawn(n)).epsilon for _ in range(3)] for n in sizes]
)

figure, axis = plt.subplots(figsize=(7.5, 4.2))
axis.plot(np.repeat(sizes, 3), bounds.ravel(), "o", alpha=0.6, color="#0072B2")
axis.plot(sizes, np.median(bounds, axis=1), color="#0072B2")
axis.axhline(0.5, color="black", linewidth=1)
axis.text(sizes[0], 0.5, "promised ε", va="bottom")
axis.axhline(rldp.leakage(protocol, truth), color="#D55E00", linestyle="--")
axis.text(
    sizes[0],
    rldp.leakage(protocol, truth),
    "ε* under the truth",
    va="bottom",
    color="#D55E00",
)
axis.set_xscale("log")
axis.set_ylim(bottom=0)
axis.set_xlabel("fresh rows")
axis.set_ylabel("ε* is at most")
axis.set_title("upper confidence bounds, level 95 %; one point a fresh sample")
plt.show()

# %%
# **From careful to bold.** Fix a list of protocols before you see the fresh rows, from
# the most careful to the boldest. The fresh rows pick the boldest that they can
# confirm, with the confidence of a single test.
radii = [0.02, 0.01, 0.004, 0.001, 0.0]
chain = [
    rldp.design(
        sample,
        0.5,
        privacy=rldp.PowerDivergence(1, radius=radius),
        utility=rldp.Nominal(),
    ).protocol
    for radius in radii
]
boldest = rldp.confirm_chain(chain, drawn(10_000))
for radius, protocol in zip(radii, chain, strict=True):
    is_chosen = boldest is not None and protocol is boldest.protocol
    cost, leak = rldp.distortion(protocol, truth), rldp.leakage(protocol, truth)
    mark = "  ← confirmed, the boldest" if is_chosen else ""
    print(f"radius {radius:<6} D* {cost:.3f}  ε* {leak:.3f}{mark}")
