"""
From a messy CSV file to a released file
========================================

Semicolons, gaps, two secrets, a number with many values: design, save, verify,
release, all from one file.
"""

# %%
# A file as it comes out of a spreadsheet.
import subprocess
import sys
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import rldp

folder = Path(tempfile.mkdtemp())
rng = np.random.default_rng(2)
n = 3000
ill = rng.random(n) < 0.35
north = rng.random(n) < 0.5
income = np.round(1000 + 3000 * rng.beta(np.where(ill, 2, 3), np.where(north, 3, 4)))
lines = ["diagnosis;origin;income"]
for i in range(n):
    diagnosis = "" if i % 40 == 0 else ("ill" if ill[i] else "well")
    lines.append(f"{diagnosis};{'north' if north[i] else 'south'};{income[i]:.0f}")
(folder / "people.csv").write_text("\n".join(lines) + "\n")
print("\n".join(lines[:4]))

# %%
# The delimiter is found automatically. Gaps become a label of their own, the two
# secrets are protected jointly, and the income is cut into eight bins.
sample = rldp.Sample.from_data(
    folder / "people.csv",
    secret=["diagnosis", "origin"],
    value="income",
    missing="category",
    bins=8,
)
print(sample)

# %%
# Design, and save the protocol with its proof. The file remembers columns, bins and the
# treatment of gaps.
design = rldp.design(
    sample, 1.0, privacy=rldp.Credible(), utility=rldp.Nominal(), gap=1e-3
)
design.protocol.save(folder / "protocol.json")
verdict = rldp.verify(folder / "protocol.json")
print(verdict.ok, "-", verdict.promise)
print(f"root of the expected squared error: {np.sqrt(design.objective):.0f}")

# %%
# Release with the command, as a script would. It verifies the protocol once more, and
# reads the columns that the file names.
command = [
    sys.executable,
    "-m",
    "rldp",
    "release",
    "protocol.json",
    "people.csv",
    "-o",
    "released.csv",
]
print(
    subprocess.run(
        command, cwd=folder, stdout=subprocess.PIPE, encoding="utf-8", check=True
    ).stdout
)
released = np.loadtxt(folder / "released.csv", skiprows=1)

# %%
# The true incomes and the released ones, in all.
figure, axis = plt.subplots(figsize=(7.5, 3.8))
edges = np.linspace(1000, 4000, 31)
axis.hist(income, bins=edges, color="#56B4E9", label="true, for 100 of income")
outputs, counts = np.unique(released, return_counts=True)
widths = np.diff([1000, *(outputs[1:] + outputs[:-1]) / 2, 4000])
axis.vlines(
    outputs,
    0,
    counts * 100 / widths,
    color="#D55E00",
    linewidth=2.5,
    label="released, for 100 of income",
)
axis.set_xlabel("income")
axis.set_ylabel("people")
axis.set_title("ε = 1, credible, 8 bins, two secrets jointly")
axis.legend()
plt.show()
