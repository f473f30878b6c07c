"""
Release two million rows, and count
===================================

Outputs are drawn with exactly the probabilities of the protocol. Two million rows show
that, and how long a release takes.
"""

# %%
# A protocol, and two million people.
import time

import matplotlib.pyplot as plt
import numpy as np

import rldp

sample = rldp.Sample([[20, 45, 70, 65, 30], [85, 70, 45, 20, 10]])
protocol = rldp.design(sample, 0.5, privacy=rldp.Credible()).protocol
rng = np.random.default_rng(0)
people = rng.choice(10, size=2_000_000, p=sample.distribution.ravel())
secrets, values = people // 5, people % 5

# %%
# Without a seed, randomness comes from the operating system's secure source.
started = time.perf_counter()
released = protocol.release(secrets, values)
seconds = time.perf_counter() - started
speed = len(released) / seconds / 1e6
print(f"{len(released):,} rows in {seconds:.2f} s, {speed:.0f} million rows a second")

# %%
# The distance of each count from its expectation, in standard deviations. Nearly all
# lie within ±3, as they should.
counts = np.zeros((2, 5, 5))
np.add.at(counts, (secrets, values, released), 1)
rows = counts.sum(axis=2, keepdims=True)
expected = rows * protocol.matrix
deviation = np.sqrt(expected * (1 - protocol.matrix))
often = expected > 20
scores = (counts - expected)[often] / deviation[often]

figure, (left, right) = plt.subplots(1, 2, figsize=(8.5, 3.8))
left.loglog(expected[often], counts[often], "o")
left.loglog([20, 1e6], [20, 1e6], color="black", linewidth=0.8)
left.set_xlabel("expected rows")
left.set_ylabel("released rows")
left.set_title("one point for each secret, value, output")
right.hist(scores, bins=np.arange(-4, 4.1, 0.5))
right.set_xlabel("(released − expected) / standard deviation")
right.set_title("differences are those of chance")
right.set_ylabel("triples")
plt.show()

# %%
# What the protocol says cannot happen never happens:
print(
    int(counts[protocol.numerators == 0].sum()), "rows with an output of probability 0"
)
