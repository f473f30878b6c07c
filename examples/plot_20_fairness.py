"""
Fair training data: what any decision can tell apart
====================================================

Rows with a feature and a label are released together, so that whatever is decided from
them keeps the ratio between two groups. How many rows change for that, and does it hold
for other people than those of the sample?
"""

# %%
# Two groups, three grades, and whether somebody was hired. Grades differ between the
# groups, and so do the shares of hired people within a grade.
import matplotlib.pyplot as plt
import numpy as np

import rldp

values = [f"{grade}, {hired}" for grade in ("C", "B", "A") for hired in ("no", "yes")]
counts = [[240, 40, 160, 80, 40, 40], [120, 40, 180, 160, 90, 210]]
sample = rldp.Sample(counts, secrets=["group 1", "group 2"], values=values)
hired = np.array([value.endswith("yes") for value in values])
shares = sample.counts[:, hired].sum(axis=1) / sample.counts.sum(axis=1)
print(f"hired: {shares[0]:.0%} and {shares[1]:.0%}, ratio {shares[0] / shares[1]:.2f}")

# %%
# A decision that is computed from a released row has a disparate impact of at least
# exp(-ε*): the smaller over the larger share of "yes". The posterior distribution of ε*
# shows how this ratio may be among all people.
levels = np.array([0.1, 0.223, 0.4, 0.7])
figure, axis = plt.subplots(figsize=(7.5, 4.6))
for promise, colour, marker, shift in (
    ("nominal", "#D55E00", "s", -0.008),
    ("credible", "#0072B2", "o", 0.008),
):
    for epsilon in levels:
        protocol = rldp.design(
            sample, epsilon, privacy=promise, utility="nominal", distortion="hamming"
        ).protocol
        law = rldp.posterior(protocol, sample, seed=1)
        median, low = np.exp(-np.quantile(law.leakage, [0.5, 0.95]))
        changed = rldp.distortion(protocol, sample.distribution, "hamming")
        axis.vlines(epsilon + shift, low, median, color=colour)
        axis.plot(
            epsilon + shift,
            median,
            marker,
            color=colour,
            label=promise if epsilon == levels[0] else None,
        )
        axis.annotate(
            f"{changed:.0%}",
            (epsilon + shift, median),
            (-7 if shift < 0 else 7, 0),
            textcoords="offset points",
            ha="right" if shift < 0 else "left",
            color=colour,
        )
axis.plot(np.linspace(0, 0.8), np.exp(-np.linspace(0, 0.8)), "k-", linewidth=1)
axis.text(0.8, np.exp(-0.8), "exp(-ε)", va="bottom", ha="right")
axis.axhline(0.8, color="black", linewidth=1, linestyle=":")
axis.text(0.8, 0.8, "four fifths", va="bottom", ha="right")
axis.set_xlim(0, 0.82)
axis.set_ylim(0.3, 1.02)
axis.set_xlabel("ε of the design; beside each mark, the rows that change")
axis.set_title("Disparate impact of the worst decision: median to 5 % point")
axis.legend(loc="lower left")
plt.show()

# %%
# The nominal designs promise exp(-ε) for the sample alone, and most of their posterior
# lies below it. The credible ones change more rows, and at least 95 % of it lies above.
