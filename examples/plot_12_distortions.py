"""
What "close" means
==================

The protocol depends on how far an output is from a value: squared, absolute, Hamming,
or a table of your own.
"""

# %%
# One sample, one ε, four distortions. In the last one, publishing too high a value is
# four times as bad as publishing one that is too low.
import matplotlib.pyplot as plt

import rldp

sample = rldp.Sample(
    [[60, 110, 130, 100, 60, 40], [140, 130, 100, 70, 40, 20]],
    secrets=["a", "b"],
    values=[0, 1, 2, 3, 4, 5],
)
distortions = {
    "squared": "squared",
    "absolute": "absolute",
    "hamming": "hamming",
    "too high is worse": lambda u, y: 4 * (y - u) if y > u else u - y,
}
designs = {
    name: rldp.design(
        sample,
        0.2,
        privacy=rldp.Credible(),
        utility=rldp.Nominal(),
        distortion=distortion,
    )
    for name, distortion in distortions.items()
}

# %%
# Rows are true values, columns are outputs. Squared distortion avoids long moves and
# makes many short ones; Hamming counts moves, whatever their length; the last one moves
# down where it can.
figure, axes = plt.subplots(2, 4, figsize=(9, 4.9), sharex=True, sharey=True)
for column, (name, design) in zip(axes.T, designs.items(), strict=True):
    for axis, secret, table in zip(
        column, sample.secrets, design.protocol.matrix, strict=True
    ):
        axis.imshow(table, vmin=0, vmax=1)
        axis.set_xticks(range(6))
        axis.set_yticks(range(6))
        axis.grid(visible=False)
        axis.set_title(name if secret == "a" else "", fontsize=10)
for axis, secret in zip(axes[:, 0], sample.secrets, strict=True):
    axis.set_ylabel(f"secret {secret}: value")
for axis in axes[1]:
    axis.set_xlabel("output")
plt.show()

# %%
# What each protocol costs by each measure: every one is best by its own.
print(f"{'designed for':18}" + "".join(f"{name:>19}" for name in distortions))
for name, design in designs.items():
    costs = (
        rldp.distortion(design.protocol, sample.distribution, measure)
        for measure in distortions.values()
    )
    print(f"{name:18}" + "".join(f"{cost:19.3f}" for cost in costs))
