"""
When people change
==================

A protocol was designed on yesterday's sample. ``rldp.audit`` measures its leakage and
distortion on today's data, and whether the difference is more than chance.
"""

# %%
# Yesterday's truth, and another one towards which people move.
import matplotlib.pyplot as plt
import numpy as np

import rldp

rng = np.random.default_rng(5)
yesterday = np.array([[0.06, 0.12, 0.17, 0.15], [0.18, 0.15, 0.11, 0.06]])
elsewhere = np.array([[0.04, 0.08, 0.16, 0.22], [0.22, 0.15, 0.09, 0.04]])


def drawn(n, truth):
    return rldp.Sample(rng.multinomial(n, truth.ravel()).reshape(2, 4))


protocol = rldp.design(drawn(2000, yesterday), 0.5, privacy=rldp.ChiSquare()).protocol

# %%
# Audits of 10 000 new rows each, as people move.
moves = np.linspace(0, 1, 11)
audits = [
    rldp.audit(protocol, drawn(10_000, (1 - move) * yesterday + move * elsewhere))
    for move in moves
]

figure, (above, below) = plt.subplots(2, 1, figsize=(7.5, 5), sharex=True)
drifted = np.array([found.drifted for found in audits])
leaks = np.array([found.leakage for found in audits])
costs = np.array([found.distortion for found in audits])
for axis, numbers, promised, label in (
    (above, leaks, audits[0].epsilon, "ε* on the new rows"),
    (below, costs, audits[0].objective, "D* on the new rows"),
):
    axis.plot(moves, numbers, color="#0072B2", linewidth=1)
    axis.plot(
        moves[drifted], numbers[drifted], "s", color="#D55E00", label="drift shown"
    )
    axis.plot(
        moves[~drifted], numbers[~drifted], "o", color="#0072B2", label="no drift shown"
    )
    axis.axhline(promised, color="black", linewidth=1)
    axis.text(1, promised, "promised", va="bottom", ha="right")
    axis.set_ylim(bottom=0)
    axis.set_title(label)
above.legend(loc="lower right")
below.set_xlabel("how far people have moved")
plt.show()

# %%
# As long as the new rows hardly differ from the old ones, ε* stays near or below the
# promised ε. When drift is shown, design again: the proof no longer applies. In words,
# half of the way:
for sentence in audits[5].sentences[:4]:
    print("-", sentence)
