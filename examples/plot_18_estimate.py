"""
What a released column says about the values
============================================

A released column is not a copy of the values. Whoever has it and the protocol can
undo the randomisation on average, with error bars: ``rldp.estimate``.
"""

# %%
# A public sample, a protocol, and 50 000 people whose values we know for once.
import matplotlib.pyplot as plt
import numpy as np

import rldp

truth = np.array([[0.02, 0.06, 0.07, 0.05], [0.28, 0.27, 0.17, 0.08]])
rng = np.random.default_rng(3)
counts = rng.multinomial(2000, truth.ravel()).reshape(2, 4)
tests, ages = ["positive", "negative"], [20, 30, 40, 50]
sample = rldp.Sample(counts, secrets=tests, values=ages)
protocol = rldp.design(sample, epsilon=0.2).protocol

cells = rng.choice(8, size=50_000, p=truth.ravel())
people_tests, people_ages = np.array(tests)[cells // 4], np.array(ages)[cells % 4]
released = protocol.release(people_tests, people_ages, seed=1)

# %%
# The shares of the released column are wrong, however many rows there are. The estimate
# corrects them with the help of the public sample.
found = rldp.estimate(released, protocol, sample=sample)
for label, value, low, high, naive in zip(
    found.labels, found.values, found.lower, found.upper, found.naive, strict=True
):
    print(f"{label}: {value:.3f} ({low:.3f} to {high:.3f}); as it stands {naive:.3f}")

# %%
figure, axis = plt.subplots(figsize=(7.5, 4.0))
place = np.arange(4)
axis.plot(place, truth.sum(axis=0), "k_", markersize=34, label="the truth")
axis.plot(
    place - 0.12, found.naive, "x", markersize=9, label="released column as it stands"
)
axis.errorbar(
    place + 0.12,
    found.values,
    [found.values - found.lower, found.upper - found.values],
    fmt="o",
    capsize=4,
    label="estimate, 95 % interval",
)
axis.set_xticks(place, ["20s", "30s", "40s", "50 and more"])
axis.set_xlabel("age")
axis.set_ylabel("share of the people")
axis.set_ylim(bottom=0)
axis.set_title("ε = 0.2, 50 000 released rows, a public sample of 2000")
axis.legend()
plt.show()

# %%
# If the secrets of the released rows are known, the estimates are by secret and need no
# sample.
by_secret = rldp.estimate(
    released, protocol, secrets=people_tests, of="mean", sample=None
)
rows = zip(
    by_secret.secrets, by_secret.values, by_secret.lower, by_secret.upper, strict=True
)
for name, (mean,), (low,), (high,) in rows:
    print(f"mean age, {name}: {mean:.1f} ({low:.1f} to {high:.1f})")
