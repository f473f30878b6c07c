"""Measure estimates from released rows against qif and multi-freq-ldpy; a section of docs/performance.md.

Everyone sees the same releases. Errors are root mean squares over the shares of all values and over draws of
a truth, a public sample, a protocol and a release.
"""

from __future__ import annotations

import argparse
import os
import time

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[_name] = "1"

import warnings  # noqa: E402

import numpy as np  # noqa: E402
import qif  # noqa: E402
from multi_freq_ldpy.estimators.Histogram_estimator import IBU, MI  # noqa: E402

import rldp  # noqa: E402
from page import machine, write_section  # noqa: E402
from rldp.adviser.demo import adult  # noqa: E402
from rldp.theory.estimation import on_simplex, shrunk  # noqa: E402

ROWS = (300, 3000, 30_000, 300_000, 3_000_000)
ALPHABETS = ((2, 3, 75), (3, 5, 300), (5, 10, 1000))  # secrets, values, rows of the public sample
CENSUS = (2, 16, 500)  # sex and education of the demo's table
GRR = tuple(
    (values, spread) for spread in (1.0, 0.3) for values in (3, 10, 50)
)  # spread: of Dirichlet truths
ELSEWHERE = tuple((values, spread) for spread in (3.0, 0.1) for values in (3, 10, 50))
FEW = ROWS[:3]
KEPT = (0.5, 0.4)  # with which probability a value is released as it is, by secret; else a random one
FRESH = 1000  # added to seeds: not the draws on which the form of "shrunk" was chosen
EPSILON = 1.0
TEN_MILLION = 10**7
OURS = "rldp, "
POSTERIOR = OURS + "posterior"


def designed(rng, secrets, values, n):
    """A truth, a public sample of it, and the protocol that is designed on the sample."""
    truth = rng.dirichlet(np.full(secrets * values, 1.0)).reshape(secrets, values)
    if (secrets, values, n) == CENSUS:
        truth = adult().distribution
    sample = rldp.Sample(rng.multinomial(n, truth.ravel()).reshape(secrets, values))
    return truth, sample, rldp.design(sample, EPSILON, gap=1e-3).protocol


def with_sample(rng, protocol, sample, truth, rows):
    """Estimates of the shares, by name, of a release with a public sample beside it; and intervals."""
    channel = protocol.matrix.reshape(-1, protocol.matrix.shape[2])
    counts = rng.multinomial(rows, truth.ravel() @ channel)
    cells = sample.distribution.ravel()
    smoothed = (sample.counts.ravel() + 0.5) / (sample.n + 0.5 * sample.counts.size)
    shape = truth.shape
    released = rldp.Released(counts, protocol)
    plain = rldp.estimate(released, sample=sample, min_agreement=0)
    found = {
        OURS + "unbiased (default)": plain.values,
        OURS + "projected": on_simplex(plain.values),
        OURS + "shrunk": shrunk(plain.values, plain.covariance),
        OURS + "likelihood": rldp.estimate(
            released, sample=sample, min_agreement=0, method="likelihood"
        ).values,
        POSTERIOR: rldp.estimate(released, sample=sample, min_agreement=0, method="posterior").values,
        "public sample alone": cells.reshape(shape).sum(axis=0),
        "released column as it stands": counts / rows,
        "pseudo-inverse": (counts / rows @ np.linalg.pinv(channel, rcond=1e-6)).reshape(shape).sum(axis=0),
        "qif": _qif(channel, counts / rows, None).reshape(shape).sum(axis=0),
        "qif, started at the sample": _qif(channel, counts / rows, smoothed).reshape(shape).sum(axis=0),
    }
    return found, plain, released


def _qif(channel, shares, start):
    table = np.asarray(channel / channel.sum(axis=1, keepdims=True))
    options = {} if start is None else {"start": start}
    return np.asarray(qif.channel.iterative_bayesian_update(table, shares, max_iter=20_000, **options)[0])


def alone(rng, values, spread, rows):
    """Estimates of a release by k-ary randomised response, of which the other libraries know all."""
    truth = rng.dirichlet(np.full(values, spread))
    p = np.exp(EPSILON) / (np.exp(EPSILON) + values - 1)
    q = (1 - p) / (values - 1)
    channel = np.full((values, values), q)
    np.fill_diagonal(channel, p)
    counts = rng.multinomial(rows, truth @ channel)
    released = rldp.Released(counts, rldp.Protocol(channel[None]))
    plain = rldp.estimate(released, sample=None)
    return (
        truth,
        plain,
        {
            OURS + "unbiased (default)": plain.values,
            OURS + "projected": on_simplex(plain.values),
            OURS + "shrunk": shrunk(plain.values, plain.covariance),
            OURS + "likelihood": rldp.estimate(released, sample=None, method="likelihood").values,
            POSTERIOR: rldp.estimate(released, sample=None, method="posterior").values,
            "multi-freq-ldpy, matrix inversion": MI(counts, rows, p, q),
            "multi-freq-ldpy, IBU": IBU(values, channel, counts / rows, 10_000, 1e-12, "max_abs"),
            "qif": _qif(channel, counts / rows, None),
        },
    )


class Errors:
    """Squared errors, coverage and bias, summed up over draws."""

    def __init__(self):
        self.squares, self.covered, self.betting, self.scores = {}, [], [], []

    def add(self, truth, found, plain, betting=None):
        for name, shares in found.items():
            self.squares.setdefault(name, []).append(np.mean((np.asarray(shares) - truth) ** 2))
        self.covered.append(np.mean((plain.lower <= truth) & (truth <= plain.upper)))
        self.scores.append((plain.values - truth) / plain.standard_errors)
        if betting is not None:
            self.betting.append(np.mean((betting.lower <= truth) & (truth <= betting.upper)))

    def root(self, name):
        return float(np.sqrt(np.mean(self.squares[name])))

    def against(self, name):
        """The estimate ``name`` beside the peer that it is most standard errors above, or fewest below.

        The ratio of their errors, and by how many standard errors its mean square is larger, draw by draw.
        """
        return max(self._beside(name, peer) for peer in self.squares if not peer.startswith(OURS))[::-1]

    def _beside(self, name, peer):
        larger = np.subtract(self.squares[name], self.squares[peer])
        spread = larger.std(ddof=1) / np.sqrt(len(larger))
        return float(larger.mean() / spread), self.root(name) / self.root(peer)


def measure_with_sample(draws, bets):
    cells = {}
    for alphabet in (*ALPHABETS, CENSUS):
        rng = np.random.default_rng(FRESH + alphabet[0])
        for draw in range(draws):
            truth, sample, protocol = designed(rng, *alphabet)
            for rows in ROWS:
                found, plain, released = with_sample(rng, protocol, sample, truth, rows)
                betting = None
                if draw < bets and alphabet in ALPHABETS[:2]:
                    betting = rldp.estimate(released, sample=sample, min_agreement=0, interval="betting")
                cell = cells.setdefault((alphabet, rows), Errors())
                cell.add(truth.sum(axis=0), found, plain, betting)
        print(alphabet, "done", flush=True)
    return cells


def measure_kept(draws):
    """Of a protocol that keeps a value with a probability that depends on the secret, without a design."""
    matrix = np.stack([kept * np.eye(3) + (1 - kept) / 3 for kept in KEPT])
    protocol, cells = rldp.Protocol(matrix), {}
    rng = np.random.default_rng(FRESH)
    for _ in range(draws):
        truth = rng.dirichlet(np.ones(6)).reshape(2, 3)
        sample = rldp.Sample(rng.multinomial(75, truth.ravel()).reshape(2, 3))
        for rows in FEW:
            found, plain, _ = with_sample(rng, protocol, sample, truth, rows)
            cells.setdefault((KEPT, rows), Errors()).add(truth.sum(axis=0), found, plain)
    print("kept", "done", flush=True)
    return cells


def measure_alone(draws, kinds=GRR):
    cells = {}
    for values, spread in kinds:
        rng = np.random.default_rng(FRESH + values)
        for rows in ROWS:
            cell = cells.setdefault(((values, spread), rows), Errors())
            for _ in range(draws):
                truth, plain, found = alone(rng, values, spread, rows)
                cell.add(truth, found, plain)
        print(values, spread, "done", flush=True)
    return cells


def time_of_ten_million():
    """Seconds for ten million rows in memory, as integers and as text, from column to estimate."""
    import pyarrow as pa

    rng = np.random.default_rng(0)
    _, sample, protocol = designed(rng, 3, 5, 750)
    codes = rng.integers(0, 5, TEN_MILLION)
    named = rldp.Protocol(protocol.matrix, outputs=["a", "b", "c", "d", "e"])
    text = pa.array(np.array(["a", "b", "c", "d", "e"])[codes])
    times = {}
    for name, column, each in (("NumPy integers", codes, protocol), ("Arrow text", text, named)):
        times[name] = []
        for _ in range(3):
            start = time.perf_counter()
            rldp.estimate(column, each, sample=rldp.Sample(sample.counts), min_agreement=0)
            times[name].append(time.perf_counter() - start)
    return {name: min(each) for name, each in times.items()}


def table(cells, kinds, title, sizes=ROWS):
    lines = []
    for kind in kinds:
        names = list(cells[kind, sizes[0]].squares)
        lines.append(f"| {title(kind)} | " + " | ".join(f"N = {rows:,}" for rows in sizes) + " |")
        lines.append("|---|" + "---|" * len(sizes))
        best = {rows: min(cells[kind, rows].root(name) for name in names) for rows in sizes}
        for name in names:
            roots = [cells[kind, rows].root(name) for rows in sizes]
            shown = [
                f"**{root:.2g}**" if root <= 1.02 * best[rows] else f"{root:.2g}"
                for root, rows in zip(roots, sizes, strict=True)
            ]
            lines.append(f"| {name} | " + " | ".join(shown) + " |")
        lines.append("")
    return "\n".join(lines)


def duels(parts):
    """The posterior mean beside the best of its peers, for (cells, kinds, title) of each part."""
    lines = ["| | " + " | ".join(f"N = {rows:,}" for rows in ROWS) + " |", "|---|" + "---|" * len(ROWS)]
    for cells, kinds, title in parts:
        for kind in kinds:
            pairs = [cells[kind, rows].against(POSTERIOR) for rows in ROWS]
            shown = " | ".join(f"{ratio:.3f} ({excess:+.1f})" for ratio, excess in pairs)
            lines.append(f"| {title(kind)} | {shown} |")
    return "\n".join(lines)


def coverages(cells, kinds, title, attribute, sizes=ROWS):
    lines = ["| | " + " | ".join(f"N = {rows:,}" for rows in sizes) + " |", "|---|" + "---|" * len(sizes)]
    for kind in kinds:
        shares = [getattr(cells[kind, rows], attribute) for rows in sizes]
        if all(shares):
            lines.append(f"| {title(kind)} | " + " | ".join(f"{np.mean(each):.3f}" for each in shares) + " |")
    return "\n".join(lines)


def biases(cells, kinds, title):
    """The mean error over the mean standard error, largest over the values."""
    lines = ["| | " + " | ".join(f"N = {rows:,}" for rows in ROWS) + " |", "|---|" + "---|" * len(ROWS)]
    for kind in kinds:
        means = [np.mean(cells[kind, rows].scores, axis=0) for rows in ROWS]
        lines.append(f"| {title(kind)} | " + " | ".join(f"{np.abs(mean).max():.2f}" for mean in means) + " |")
    return "\n".join(lines)


def of_alphabet(kind):
    if kind == CENSUS:
        return f"{kind[0]}×{kind[1]} of the US census, sample of {kind[2]}"
    return f"{kind[0]}×{kind[1]}, sample of {kind[2]}"


def of_values(kind):
    return f"{kind[0]} values, truths Dirichlet({kind[1]:g})"


def of_kept(kind):
    return "values kept with probability " + " or ".join(f"{kept:g}" for kept in kind)


def section(sampled, kept, by_grr, elsewhere, times, draws):
    parts = [
        (sampled, ALPHABETS, of_alphabet),
        (by_grr, GRR, of_values),
        (elsewhere, ELSEWHERE, of_values),
        (sampled, [CENSUS], of_alphabet),
    ]
    packages = ("numpy", "scipy", "qif", "multi-freq-ldpy")
    quick = ", ".join(f"{seconds:.2f} s from {name}" for name, seconds in times.items())
    return f"""## Estimates

{machine(*packages)}

Root mean square error of the shares of the values, over {draws} draws of a truth (uniform on all
distributions), a public sample, a protocol designed on it (ε = {EPSILON:g}) and N released rows; all
methods see the same rows. Bold: the smallest, or within 2 % of it. `qif` is its iterative Bayesian update
with its own rule of stopping (at most 20 000 rounds), which uses the protocol and the released rows, and
the sample only if it starts there.

{table(sampled, ALPHABETS, of_alphabet)}
A protocol that was not designed, for 2×3 cells and a sample of 75: it releases the value with probability
{KEPT[0]:g} where the secret is the first and {KEPT[1]:g} where it is the second, else one of the three values
at random. Three outputs cannot determine six cells, so a pseudo-inverse has a bias for any number of rows:

{table(kept, [KEPT], of_kept, FEW)}
Share of the default 95 % intervals that contain the truth in this case:

{coverages(kept, [KEPT], of_kept, "covered", FEW)}

The setting of the other libraries: k-ary randomised response at ε = {EPSILON:g}, no sample, no secret. The
last step of `shrunk` was chosen among four on other draws, by its errors for Dirichlet(1) truths; for
Dirichlet(0.3), where few values have most of the people, its errors were larger than those of matrix
inversion.

{table(by_grr, GRR, of_values)}
`posterior` and its peers, which are all estimates above that are not ours. The number in brackets says by
how many
standard errors the mean squared error of `posterior` exceeds that of a peer, compared draw by draw
(negative: it is
smaller; up to 3 may be chance). Each cell shows the peer with the largest such number, and before it the
ratio of the
root mean square errors. A ratio near 0 belongs to a pseudo-inverse or an iterative update whose errors vary
so much
that the difference is only a few standard errors. The prior was chosen on other draws, of the
kinds of the first and of the last six tables above; the truths of the last seven lines had no part in that:

{duels(parts)}

Share of the normal (default) 95 % intervals that contain the truth. With few draws, and shares that depend
on one another, the numbers are accurate to about ±0.03:

{coverages(sampled, ALPHABETS, of_alphabet, "covered")}

{coverages(by_grr, GRR, of_values, "covered")}

The same for the intervals that are proved for every number of rows (`interval="betting"`, fewer draws):

{coverages(sampled, ALPHABETS, of_alphabet, "betting")}

The protocols were designed on these samples, so the default estimate is not exactly unbiased (see
[theory.md](theory.md#estimation)). The table shows the mean error in standard errors, the largest over the
values; chance alone contributes about {np.sqrt(2 * np.log(10) / draws):.2f}:

{biases(sampled, ALPHABETS, of_alphabet)}

Ten million rows in memory, 3×5, from column to estimates with intervals: {quick}.
"""


def main() -> None:
    """Run everything and write the section."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a few draws, nothing written")
    parser.add_argument("--draws", type=int, default=100)
    options = parser.parse_args()
    warnings.simplefilter("ignore", rldp.RldpWarning)
    draws = 3 if options.quick else options.draws
    text = section(
        measure_with_sample(draws, max(2, draws // 4)),
        measure_kept(draws),
        measure_alone(draws),
        measure_alone(draws, ELSEWHERE),
        time_of_ten_million(),
        draws,
    )
    print(text)
    if not options.quick:
        write_section("estimation", text)


if __name__ == "__main__":
    main()
