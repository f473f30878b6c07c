"""
The truth that a protocol fears most
====================================

A robust protocol is private for a whole set of distributions. One of them is the
worst: the truth that an attacker would hope for.
"""

# %%
# Two protocols for one sample: one private for the estimate, one private for the χ²
# set.
import matplotlib.pyplot as plt
import numpy as np

import rldp

sample = rldp.Sample(
    [[15, 40, 65, 80], [100, 90, 60, 50]], secrets=["ill", "well"], values=[0, 1, 2, 3]
)
chi2 = rldp.ChiSquare(alpha=0.05)
nominal = rldp.design(sample, 0.5, privacy=rldp.Nominal()).protocol
robust = rldp.design(sample, 0.5, privacy=chi2).protocol

# %%
# Bounds on the largest ε* over the set, and a distribution that attains (nearly) as
# much:
for name, protocol in {"nominal": nominal, "robust": robust}.items():
    worst = rldp.worst_case(protocol, sample, chi2)
    nearby = rldp.leakage(protocol, sample.distribution)
    print(
        f"{name:8} ε* under the estimate {nearby:.4f}, over the set {worst.upper:.4f}"
    )

# %%
# The worst distribution for the nominal protocol, beside the sample. It is not extreme:
# a χ² test at level 5 % would not reject it.
worst = rldp.worst_case(nominal, sample, chi2)
figure, axes = plt.subplots(1, 2, figsize=(8, 3.4), sharey=True)
for axis, s, secret in zip(axes, range(2), sample.secrets, strict=True):
    for offset, label, table, hatch in (
        (-0.2, "sample", sample.distribution, ""),
        (0.2, "worst in the set", worst.distribution, "//"),
    ):
        axis.bar(
            np.arange(4) + offset,
            table[s] / table[s].sum(),
            width=0.4,
            label=label,
            hatch=hatch,
            edgecolor="white",
        )
    axis.set_title(f"P(value | {secret})")
    axis.set_xticks(range(4))
    axis.grid(visible=False, axis="x")
    axis.set_xlabel("value")
axes[1].legend()
plt.show()

# %%
# What the outputs then reveal: P(y | ill) / P(y | well) under that distribution, on a
# logarithmic scale. A private protocol stays between the lines.
figure, axis = plt.subplots(figsize=(7, 3.4))
for offset, (name, protocol), hatch in (
    (-0.2, ("nominal", nominal), ""),
    (0.2, ("robust", robust), "//"),
):
    worst = rldp.worst_case(protocol, sample, chi2)
    table = worst.distribution / worst.distribution.sum(axis=1, keepdims=True)
    outputs = np.einsum("su,suy->sy", table, protocol.matrix)
    used = outputs.max(axis=0) > 1e-6
    ratio = np.where(used, np.log(outputs[0] / np.where(used, outputs[1], 1)), 0)
    axis.bar(
        np.arange(4) + offset,
        ratio,
        width=0.4,
        label=name,
        hatch=hatch,
        edgecolor="white",
    )
for level in (-0.5, 0.5):
    axis.axhline(level, color="black", linewidth=1)
axis.set_xticks(range(4))
axis.set_xlabel("output")
axis.set_ylabel("log P(y | ill) / P(y | well)")
axis.set_title("each under its own worst distribution; lines at ±ε")
axis.legend()
plt.show()
