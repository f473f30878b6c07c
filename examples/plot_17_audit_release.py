"""
Catch a faulty release
======================

``rldp.audit_release`` needs only secrets and released outputs. It does not use the
protocol, and finds systems that release less privately than they claim.
"""

# %%
# An honest system, one that releases at a larger ε than it says, one that ignores the
# secret, and one that uses the same seed for every thousand rows.
import matplotlib.pyplot as plt
import numpy as np

import rldp

truth = np.array([[0.06, 0.12, 0.17, 0.15], [0.18, 0.15, 0.11, 0.06]])
sample = rldp.Sample(np.round(truth * 10_000).astype(int))
design = {"privacy": rldp.Nominal(), "utility": rldp.Nominal()}
protocol = rldp.design(sample, 0.5, **design).protocol
bolder = rldp.design(sample, 0.75, **design).protocol


def seed_again(secrets, values):
    parts = (slice(start, start + 1000) for start in range(0, len(secrets), 1000))
    return np.concatenate(
        [protocol.release(secrets[part], values[part], seed=7) for part in parts]
    )


systems = {
    "honest": lambda secrets, values: protocol.release(secrets, values, seed=1),
    "at ε = 0.75": lambda secrets, values: bolder.release(secrets, values, seed=2),
    "secret ignored": lambda secrets, values: protocol.release(
        np.zeros_like(secrets), values, seed=3
    ),
    "one seed for every 1000 rows": seed_again,
}

# %%
# The lower bound on ε that the released rows prove, as more rows are looked at. Above
# the line, the claim of 0.5 is refuted. A ring marks rows whose randomness was found to
# repeat.
rng = np.random.default_rng(0)
people = rng.choice(8, size=100_000, p=truth.ravel())
secrets, values = people // 4, people % 4
sizes = [1_000, 3_000, 10_000, 30_000, 100_000]

figure, axis = plt.subplots(figsize=(8, 4.4))
for name, system in systems.items():
    released = system(secrets, values)
    found = [
        rldp.audit_release(secrets[:n], released[:n], values=values[:n], epsilon=0.5)
        for n in sizes
    ]
    (line,) = axis.plot(
        sizes, [each.epsilon for each in found], marker="o", markersize=4, label=name
    )
    repeated = [
        (n, each.epsilon) for n, each in zip(sizes, found, strict=True) if each.repeats
    ]
    if repeated:
        axis.plot(
            *zip(*repeated, strict=True),
            "o",
            markersize=11,
            fillstyle="none",
            color=line.get_color(),
        )
axis.axhline(0.5, color="black", linewidth=1)
axis.text(sizes[-1], 0.5, "claimed", va="bottom", ha="right")
axis.set_xscale("log")
axis.set_ylim(bottom=0)
axis.set_xlabel("rows")
axis.set_ylabel("ε is at least")
axis.set_title("lower bounds on ε, wrong with probability 0.01 at most")
axis.legend()
plt.show()

# %%
# A reused seed leaves all shares correct, so the bound on ε does not detect it, but the
# search for repetition does. An audit without findings proves nothing: :doc:`/audit`
# says what an audit cannot show.
