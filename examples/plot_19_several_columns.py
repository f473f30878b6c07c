"""
Several columns in one release
==============================

Two columns, each released with its own protocol, can together reveal far more than the
sum of their ε. Designed jointly, whole rows keep the promise.
"""

# %%
# People whose education and hours are associated with their income.
from itertools import product

import matplotlib.pyplot as plt
import numpy as np

import rldp
from rldp.data.reading import Column, Reading

incomes, education, hours = ("low", "high"), (9, 12, 16), (20, 40, 60)
truth = np.array(
    [
        [[0.10, 0.08, 0.02], [0.08, 0.20, 0.05], [0.03, 0.08, 0.06]],
        [[0.00, 0.02, 0.01], [0.00, 0.06, 0.04], [0.02, 0.05, 0.10]],
    ]
).reshape(2, 9)
reading = Reading(
    (Column("income", incomes),),
    (Column("education", education), Column("hours", hours)),
)
counts = np.random.default_rng(1).multinomial(8000, truth.ravel()).reshape(2, 9)
sample = rldp.Sample(counts, incomes, reading.values, reading=reading)
together = rldp.design(sample, 0.5, privacy="credible", utility="nominal")


# %%
# The same columns one by one, each at half the level, and what a reader of both sees.
def alone(column):
    """A design for one column, as if the other did not exist."""
    j = reading.value_names.index(column)
    margin = counts.reshape(2, 3, 3).sum(axis=2 - j)
    labels = reading.value[j].labels
    return rldp.design(
        rldp.Sample(margin, incomes, labels),
        0.25,
        privacy="credible",
        utility="nominal",
    ).protocol


one, other = alone("education"), alone("hours")
table = np.einsum("say,sbz->sabyz", one.matrix, other.matrix).reshape(2, 9, 9)
apart = rldp.Protocol(
    table, incomes, reading.values, tuple(product(one.outputs, other.outputs))
)

names = [
    "education\nalone",
    "hours\nalone",
    "both, with a\nprotocol each",
    "both, designed\ntogether",
]
margins = [truth.reshape(2, 3, 3).sum(axis=2), truth.reshape(2, 3, 3).sum(axis=1)]
leakages = [
    rldp.leakage(one, margins[0]),
    rldp.leakage(other, margins[1]),
    rldp.leakage(apart, truth),
    rldp.leakage(together.protocol, truth),
]
for name, leakage in zip(names, leakages, strict=True):
    print(f"{' '.join(name.split()):30} ε* = {leakage:.2f}")

# %%
figure, axis = plt.subplots(figsize=(7.5, 3.6))
axis.bar(names, leakages, color=["C0", "C0", "C3", "C2"])
axis.axhline(0.5, color="black", linewidth=1, linestyle="--")
axis.text(-0.4, 0.52, "the level that was meant")
axis.set_ylabel("leakage ε* under the truth")
plt.show()

# %%
# The association that the released table keeps, and an estimate of the association of
# the values from released rows.
kept = rldp.associations(together.protocol, sample.distribution)[0]
print(
    f"{kept.measure}: {kept.before:.2f} before, {kept.after:.2f} in the released table"
)
law = np.einsum("su,suy->y", truth, together.protocol.matrix)
rows = rldp.Released(
    np.random.default_rng(6).multinomial(20_000, law), together.protocol
)
found = rldp.estimate(rows, of="slope of hours on education", seed=1)
low, high = found.lower[0], found.upper[0]
print(f"slope of hours on education: {found.values[0]:.2f} ({low:.2f} to {high:.2f})")
