"""
A first protocol
================

Design a protocol from counts, look at its table of probabilities, release a column,
and see what a reader of the released column can still tell.
"""

# %%
# A public sample of 600 people: the secret is a diagnosis, the value an age group. Rows
# are secrets, columns are values.
import matplotlib.pyplot as plt
import numpy as np

import rldp

sample = rldp.Sample(
    [[10, 25, 60, 105], [130, 115, 95, 60]],
    secrets=["ill", "well"],
    values=[30, 45, 60, 75],
)

# %%
# The protocol with the smallest expected squared error that is private at ε = 0.5, for
# every distribution that the sample does not rule out.
epsilon = 0.5
design = rldp.design(sample, epsilon)
print(f"expected squared error at most {design.objective:.1f}")
print(f"no private protocol has less than {design.lower_bound:.1f}")

# %%
# It is a table: given secret and value, how likely each output is. Ill people are old
# in this sample, so old age would tell that somebody is ill. The protocol moves some
# ill people to younger ages and some well people to older ones, no further than it
# must.
figure, axes = plt.subplots(1, 2, figsize=(8, 3.6), sharey=True)
for axis, secret, table in zip(
    axes, sample.secrets, design.protocol.matrix, strict=True
):
    axis.imshow(table, vmin=0, vmax=1)
    for u, y in np.ndindex(table.shape):
        if table[u, y] >= 0.005:
            axis.text(
                y,
                u,
                f"{table[u, y]:.2f}",
                ha="center",
                va="center",
                color="white" if table[u, y] > 0.6 else "black",
            )
    axis.set_title(f"{secret}: P(output | age)")
    axis.set_xticks(range(4), design.protocol.outputs)
    axis.set_yticks(range(4), sample.values)
    axis.set_xlabel("output")
    axis.grid(visible=False)
axes[0].set_ylabel("true age")
plt.show()

# %%
# Release the column of a hundred thousand people who are like those of the sample, and
# count.
rng = np.random.default_rng(0)
people = rng.choice(8, size=100_000, p=sample.distribution.ravel())
secrets = np.array(sample.secrets)[people // 4]
ages = np.array(sample.values)[people % 4]
released = design.protocol.release(secrets, ages)

figure, axes = plt.subplots(1, 2, figsize=(8, 3.4), sharey=True)
for axis, title, column in zip(
    axes, ["true age", "released age"], [ages, released], strict=True
):
    for offset, secret, hatch in ((-2.5, "ill", ""), (2.5, "well", "//")):
        shares = [
            np.mean(column[secrets == secret] == value) for value in sample.values
        ]
        axis.bar(
            np.array(sample.values) + offset,
            shares,
            width=5,
            label=secret,
            hatch=hatch,
            edgecolor="white",
        )
    axis.set_title(f"{title}, by secret")
    axis.set_xticks(sample.values)
    axis.grid(visible=False, axis="x")
axes[0].set_ylabel("share of people")
axes[0].legend()
plt.show()

# %%
# In the released column no age is more than :math:`e^{0.5}\approx1.65` times as common
# among the ill as among the well, or the other way round. The largest log-ratio here,
# and the mean squared error:
shares = np.array(
    [
        [np.mean(released[secrets == s] == v) for v in sample.values]
        for s in sample.secrets
    ]
)
ratio = np.abs(np.log(shares[0, shares[1] > 0] / shares[1, shares[1] > 0])).max()
print(
    f"largest log-ratio {ratio:.3f} (promised: at most {epsilon}), mean squared error "
    f"{np.mean((released - ages) ** 2.0):.1f}"
)

# %%
# It is less than promised because these people are exactly like the sample. The promise
# covers all who might be behind it, and under the worst of those distributions ε is
# used up (:ref:`sphx_glr_gallery_plot_08_worst_case.py`).
#
# A judge that shares no code with the solver proves all claims of the protocol.
print(rldp.verify(design.protocol).promise)
