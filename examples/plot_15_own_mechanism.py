"""
A mechanism of your own, judged by the same measures
====================================================

Any table P(y | s, u) is a :class:`rldp.Protocol`. Here randomised response, which protects the value as well, stands beside protocols
that protect the secret alone.
"""

# %%
# One sample with four values. Randomised response at ε keeps a value with probability :math:`e^\varepsilon/(e^\varepsilon+3)`, and else
# takes another one; the secret plays no part. A best constant needs no data at all.
import matplotlib.pyplot as plt
import numpy as np

import rldp

sample = rldp.Sample([[20, 45, 70, 65], [85, 70, 45, 20]], secrets=["ill", "well"])
epsilon = 0.5
kept = np.exp(epsilon) / (np.exp(epsilon) + 3)
response = np.where(np.eye(4, dtype=bool), kept, (1 - kept) / 3)
constant = np.tile(np.eye(4)[2], (4, 1))

protocols = {
    "constant": rldp.Protocol(np.stack([constant, constant]), sample.secrets, sample.values),
    "randomised response": rldp.Protocol(np.stack([response, response]), sample.secrets, sample.values),
}
for name, privacy in {"χ²": rldp.ChiSquare(), "credible": rldp.Credible(), "nominal": rldp.Nominal()}.items():
    protocols[name] = rldp.design(sample, epsilon, privacy=privacy, utility=rldp.Nominal()).protocol

# %%
# How much they leak and how much they cost, given the sample: the posterior of ε* and of the squared distortion.
laws = {
    name: rldp.posterior(protocol, sample, distortion="squared", seed=1) for name, protocol in protocols.items()
}

figure, axis = plt.subplots(figsize=(7.5, 4.2))
for (name, law), marker in zip(laws.items(), "sD^ov", strict=True):
    low, middle, high = np.quantile(law.leakage, [0.05, 0.5, 0.95])
    cost = np.median(law.distortion)
    axis.errorbar(middle, cost, xerr=[[middle - low], [high - middle]], fmt=marker, capsize=3)
    axis.annotate(name, (high, cost), xytext=(8, -3), textcoords="offset points")
axis.axvline(epsilon, color="black", linewidth=1)
axis.set_xlim(-0.05, 1.0)
axis.set_ylim(0, 2.4)
axis.set_xlabel("ε* (median; bar: 5 % to 95 %)")
axis.set_ylabel("expected squared distortion")
axis.set_title("five mechanisms at ε = 0.5, given the sample")
plt.show()

# %%
# Randomised response is private for every distribution, but it protects the value, which nobody asked for. It leaks far less about
# the secret than it may, and publishes less of the value than a constant does.
