"""
One rare secret drives the cost
===============================

Little is known about a secret that was seen only a few times, and everybody pays for
that. This example shows how much, and what merging the secret with another label saves.
"""

# %%
# Two common secrets with nearly the same values, so that privacy costs next to nothing.
# A third one is similar, but it becomes rarer from left to right, so that fewer and
# fewer rows show the similarity.
import matplotlib.pyplot as plt
import numpy as np

import rldp

shape = np.array(
    [
        [0.25, 0.25, 0.20, 0.20, 0.10],
        [0.20, 0.25, 0.20, 0.20, 0.15],
        [0.22, 0.25, 0.20, 0.20, 0.13],
    ]
)
rows_of_third = np.array([1000, 500, 200, 100, 60, 40, 20])
counts = np.array(
    [np.round(shape * [[1000], [1000], [m]]).astype(int) for m in rows_of_third]
)
options = {"privacy": rldp.Credible(), "utility": rldp.Nominal(), "gap": 1e-3}
apart = rldp.design_batch(counts, 0.5, **options).objective

# %%
# Merged: the third secret counts as the second. The protocol then treats both as one
# label, and ε bounds how well the two together can be told from the first.
together = counts.copy()
together[:, 1] += together[:, 2]
merged = rldp.design_batch(together[:, :2], 0.5, **options).objective

figure, axis = plt.subplots(figsize=(7.5, 4))
for curve, label, offset in (
    (apart, "three secrets", (-30, 10)),
    (merged, "third merged with second", (8, 8)),
):
    (line,) = axis.plot(rows_of_third, curve, marker="o")
    axis.annotate(
        label,
        (rows_of_third[3], curve[3]),
        xytext=offset,
        textcoords="offset points",
        color=line.get_color(),
    )
axis.set_xscale("log")
axis.invert_xaxis()
axis.set_xticks(rows_of_third, rows_of_third)
axis.minorticks_off()
axis.set_ylim(0, 0.035)
axis.set_xlabel("rows of the third secret (1000 each of the others)")
axis.set_ylabel("expected squared distortion")
axis.set_title("ε = 0.5, credible, 5 values")
plt.show()

# %%
# ``rldp design`` says by itself where one rare secret drives the cost. Merging is not
# free: people with the third secret are then protected as members of the merged group.
# Nothing is promised about telling the third secret from the second.
