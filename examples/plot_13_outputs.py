"""
Other outputs than values
=========================

Outputs need not look like values. Here the values are ages and the outputs coarse
groups, with our own distortion.
"""

# %%
# Ages from 20 to 79 in steps of five. Two secrets.
import matplotlib.pyplot as plt
import numpy as np

import rldp

ages = np.arange(20, 80, 5)
ill = np.exp(-0.5 * ((ages - 62) / 12) ** 2)
well = np.exp(-0.5 * ((ages - 45) / 18) ** 2)
counts = np.round([400 * ill / ill.sum() + 2, 1200 * well / well.sum() + 2]).astype(int)
sample = rldp.Sample(counts, secrets=["ill", "well"], values=ages.tolist())

# %%
# An output is an interval; its distortion is how far the age lies from its middle.
groups = {
    "3 groups": {"20-39": 30, "40-59": 50, "60-79": 70},
    "6 groups": {
        "20-29": 25,
        "30-39": 35,
        "40-49": 45,
        "50-59": 55,
        "60-69": 65,
        "70-79": 75,
    },
    "12 ages": {str(age): age for age in ages.tolist()},
}
epsilons = np.array([0.1, 0.3, 0.5, 1.0, 2.0])
figure, axis = plt.subplots(figsize=(7.5, 4.2))
for (name, middles), offset in zip(
    groups.items(), ((8, 4), (-20, -18), (-66, -4)), strict=True
):
    table = np.abs(ages[:, None] - np.array(list(middles.values())))
    promised = [
        rldp.design(
            sample,
            epsilon,
            privacy=rldp.Credible(),
            utility=rldp.Nominal(),
            distortion=table,
            outputs=list(middles),
            gap=1e-3,
        ).objective
        for epsilon in epsilons
    ]
    (line,) = axis.plot(epsilons, promised, marker="o")
    axis.annotate(
        name,
        (epsilons[3], promised[3]),
        xytext=offset,
        textcoords="offset points",
        color=line.get_color(),
    )
axis.set_xlabel("ε")
axis.set_ylabel("expected distance in years")
axis.set_ylim(bottom=0)
axis.set_title("credible promise, 2 secrets × 12 ages, n ≈ 1650")
plt.show()

# %%
# At a small ε, six groups are as good as twelve ages: the protocol could not use finer
# outputs. At a large ε, finer outputs pay off.
