"""
How private is it, given the sample?
====================================

ε* depends on a truth that nobody knows. Given the sample and a prior, it has a
posterior distribution, for any protocol.
"""

# %%
# Three protocols for the same sample, all of them called "ε = 0.5".
import matplotlib.pyplot as plt
import numpy as np

import rldp

sample = rldp.Sample(
    [[20, 45, 70, 65], [85, 70, 45, 20], [50, 60, 55, 45]], secrets=["a", "b", "c"]
)
epsilon = 0.5
promises = {
    "nominal": rldp.Nominal(),
    "credible": rldp.Credible(),
    "chi2": rldp.ChiSquare(),
}
protocols = {
    name: rldp.design(
        sample, epsilon, privacy=privacy, utility=rldp.Nominal(), gap=1e-4
    ).protocol
    for name, privacy in promises.items()
}

# %%
# Twenty thousand draws from the posterior, the same for all three.
laws = {
    name: rldp.posterior(protocol, sample, seed=1)
    for name, protocol in protocols.items()
}

figure, axes = plt.subplots(3, 1, figsize=(7.5, 5.2), sharex=True)
for axis, (name, law) in zip(axes, laws.items(), strict=True):
    axis.hist(law.leakage, bins=np.linspace(0, 1.2, 90), density=True, color="#56B4E9")
    axis.axvline(epsilon, color="black", linewidth=1)
    axis.axvline(law.epsilon(0.05), color="#D55E00", linestyle="--")
    low, high = law.risk(epsilon)
    axis.set_title(f"{name}: Pr(ε* > 0.5) between {low:.1%} and {high:.1%}")
    axis.set_yticks([])
    axis.grid(visible=False)
axes[-1].set_xlabel("ε*; black: ε = 0.5; dashed: 95 % point")
plt.show()

# %%
# The bounds on the risk are wrong with probability at most 10⁻⁶ each, over the draws.
# The same draws give the distribution of the distortion:
for name, law in laws.items():
    low, middle, high = np.quantile(law.distortion, [0.05, 0.5, 0.95])
    print(
        f"{name:9} D* {middle:.3f}, nine times in ten between {low:.3f} and {high:.3f}"
    )
