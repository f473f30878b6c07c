"""
Beside simple mechanisms, and your own
======================================

Is a designed protocol better than something simple? ``rldp.compare`` compares designs
with a constant, randomised response, other mechanisms, and any table of your own.
"""

# %%
# One sample with four values. Our own mechanism: publish the value of a quarter of the
# people and else a fixed middle value. It looks harmless.
import matplotlib.pyplot as plt
import numpy as np

import rldp

sample = rldp.Sample([[20, 45, 70, 65], [85, 70, 45, 20]], secrets=["ill", "well"])
table = 0.25 * np.eye(4) + 0.75 * np.eye(4)[[2]]
mine = rldp.Protocol(np.stack([table, table]), sample.secrets, sample.values)

# %%
# For each: the distortion under the estimate, the posterior distribution of its true
# leakage ε*, and the distributions for which its privacy is proved.
found = rldp.compare(
    sample,
    0.5,
    privacy=["chi2", "credible", "nominal"],
    protocols={"mine": mine},
    utility=rldp.Nominal(),
)
for row in found.rows:
    leak = f"{row.leakage_median:.2f} (95 %: {row.leakage_high:.2f})"
    proved = row.proved_for or "nobody"
    print(f"{row.name:26} D {row.estimate:.2f}  ε* {leak}  proved for {proved}")

# %%
# To the right of the line, a mechanism leaks more than ε = 0.5. The bar ends at the 95
# % point of the posterior of ε*.
figure, axis = plt.subplots(figsize=(8, 4.6), layout="constrained")
names = [row.name for row in found.rows]
for height, row in enumerate(found.rows):
    colour = {"design": "#0072B2", "simple": "#595959", "given": "#D55E00"}[row.kind]
    axis.plot(
        [row.leakage_median, row.leakage_high],
        [height] * 2,
        color=colour,
        linestyle="-",
    )
    axis.plot(row.leakage_median, height, "o", color=colour)
    axis.text(
        1.02,
        height,
        f"{row.estimate:.2f}",
        transform=axis.get_yaxis_transform(),
        va="center",
    )
axis.text(1.02, -1, "distortion", transform=axis.get_yaxis_transform(), va="center")
axis.axvline(0.5, color="black", linewidth=1)
axis.set_yticks(range(len(names)), names)
axis.set_ylim(len(names) - 0.5, -0.7)
axis.set_xlabel("ε* given the sample: median to 95 % point")
axis.set_title("2 secrets × 4 values, n = 420, ε = 0.5")
plt.show()

# %%
# Randomised response (GRR) is private for every distribution, but it protects the
# value, which nobody asked for; it costs more than a constant. Our own mechanism
# reveals a lot whenever it publishes anything but the middle value.
