"""Our joint release of features and label beside Optimized Pre-Processing; sections of docs/side-by-side.md.

The whole table is the truth. Each split draws training rows and held-out rows from it, independently, as many
as the authors have. Every way designs on the training rows. Its leakage is that under the truth, so that no
sampling noise of held-out rows is in it.

    make bench-side ADULT=adult.csv COMPAS=compas-scores-two-years.csv PUBLISHED=Adult/experiment_data1

Where to get the tables: benchmarks/preprocessing_tables.py.
"""

from __future__ import annotations

import argparse
import math
import os
import time

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[_name] = "1"

import warnings  # noqa: E402
from collections import defaultdict  # noqa: E402
from concurrent.futures import ProcessPoolExecutor  # noqa: E402
from dataclasses import dataclass  # noqa: E402
from multiprocessing import get_context  # noqa: E402
from pathlib import Path  # noqa: E402

import numpy as np  # noqa: E402
from sklearn.linear_model import LogisticRegression  # noqa: E402
from sklearn.metrics import roc_auc_score  # noqa: E402

import published_rows  # noqa: E402
import rldp  # noqa: E402
from child import peak_memory  # noqa: E402
from optimized import optimized  # noqa: E402
from page import machine, write_section  # noqa: E402
from preprocessing_tables import Table, adult, compas  # noqa: E402

PAGE = Path(__file__).resolve().parent.parent / "docs" / "side-by-side.md"
GAP = 1e-3
AS_IS = "dropping the secret"
THEIRS = "OptimPreproc"
CREDIBLE = "ours, credible"


@dataclass(frozen=True)
class Way:
    """A way from training rows to a protocol.

    ``epsilon`` is what it is to keep, in our form; None where it promises nothing.
    """

    name: str
    epsilon: float | None
    kind: str

    def protocol(self, table: Table, counts):
        """The protocol that it makes of training rows."""
        if self.kind == "as is":
            values = counts.shape[1]
            return rldp.Protocol(np.repeat(np.eye(values)[None], 2, axis=0))
        if self.kind in ("nominal", "credible"):
            return rldp.design(
                rldp.Sample(counts),
                self.epsilon,
                privacy=self.kind,
                utility="nominal",
                distortion="hamming",
                gap=GAP,
            ).protocol
        form, _, fewest = self.kind.partition(", ")
        return optimized(counts, table.labels, table.caps, table.epsilon, form=form, fewest=bool(fewest))


def ways(table: Table, equal: float):
    """What is compared; ``equal`` is the ε at which ours changes as many rows as theirs."""
    level = math.log1p(table.epsilon)
    return (
        Way(AS_IS, None, "as is"),
        Way(THEIRS, level, "ratio"),
        Way(THEIRS + ", fewest changes", level, "ratio, fewest"),
        Way("AIF360's form", level, "difference"),
        Way("ours, nominal", level, "nominal"),
        Way(CREDIBLE, level, "credible"),
        Way(CREDIBLE + ", equal share", equal, "credible"),
    )


def drawn(table: Table, seed: int):
    """Training rows and held-out rows of a split, as counts (2, W)."""
    rng = np.random.default_rng([seed, table.training])
    shares = table.truth.ravel()
    return (rng.multinomial(rows, shares).reshape(2, -1) for rows in (table.training, table.held_out))


def equal_level(table: Table):
    """ε at which a credible design changes as many rows as theirs, on draws of their own, to 2 per cent."""
    draws = range(10**6, 10**6 + max(1, 26_048 // table.training))
    samples = [next(drawn(table, seed)) for seed in draws]

    def share(way):
        return np.mean(
            [rldp.distortion(way.protocol(table, counts), table.truth, "hamming") for counts in samples]
        )

    wanted = share(Way(THEIRS, None, "ratio"))
    low, high = 0.1, 1.0
    while high / low > 1.02:
        middle = math.sqrt(low * high)
        if share(Way(CREDIBLE, middle, "credible")) > wanted:
            low = middle
        else:
            high = middle
    return math.ceil(1000 * high) / 1000


def beyond(protocol, law, epsilon):
    """Σ_y max(0, P(y|s) − e^ε P(y|s′)), the larger of both directions; at ε = 0 the total variation."""
    released = np.einsum("su,suy->sy", law, protocol.matrix) / law.sum(axis=1, keepdims=True)
    first, second = released
    return max(
        np.maximum(one - math.exp(epsilon) * other, 0).sum()
        for one, other in ((first, second), (second, first))
    )


def measured(table: Table, way: Way, counts, held_out, seed):
    """All numbers of one way on one split."""
    start = time.process_time()
    protocol = way.protocol(table, counts)
    seconds = time.process_time() - start
    truth = table.truth
    label = rldp.Protocol(protocol.matrix @ np.eye(table.sizes[-1])[table.labels])
    level = math.log1p(table.epsilon) if way.epsilon is None else way.epsilon
    law = rldp.posterior(protocol, rldp.Sample(counts), seed=seed)
    return {
        "changed": rldp.distortion(protocol, truth, "hamming"),
        "label": rldp.leakage(label, truth),
        "all": rldp.leakage(protocol, truth),
        "held-out": rldp.leakage(protocol, held_out / held_out.sum()),
        "risk": sum(law.risk(level)) / 2,
        "median": float(np.quantile(law.leakage, 0.5, method="inverted_cdf")),
        "beyond": beyond(protocol, truth, level),
        "advantage": beyond(protocol, truth, 0.0),
        "keeps label": rldp.leakage(label, truth) <= level,
        "keeps all": rldp.leakage(protocol, truth) <= level,
        "seconds": seconds,
        **classified(table, protocol, counts, held_out, seed),
    }


def classified(table: Table, protocol, counts, held_out, seed):
    """Logistic regression trained on released training rows, one draw of each."""
    rng = np.random.default_rng(seed)
    released = _released(rng, protocol, counts).sum(axis=(0, 1))
    model = LogisticRegression(max_iter=1000)
    model.fit(table.features, table.labels, sample_weight=released)
    decided = model.predict(table.features)
    scores = model.decision_function(table.features)
    people = held_out.sum(axis=0)
    shown = _released(rng, protocol, held_out).sum(axis=1)  # secret, output
    return {
        "accuracy": float(people @ (decided == table.labels) / people.sum()),
        "auc": roc_auc_score(table.labels, scores, sample_weight=people),
        "impact": _impact(held_out, decided),
        "impact, released": _impact(shown, decided),
    }


def _released(rng, protocol, counts):
    """How many rows of each secret and value became each output, drawn: (S, W, W)."""
    return np.stack([rng.multinomial(row, table) for row, table in zip(counts, protocol.matrix, strict=True)])


def _impact(counts, decided):
    """The smaller over the larger share of positive decisions of the two groups."""
    shares = counts @ decided / counts.sum(axis=1)
    return float(shares.min() / shares.max())


def extra_memory(table: Table, way: Way, splits: int):
    """MB at the peak of a process that makes one protocol, over those before; for each of some splits."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn"), max_tasks_per_child=1) as pool:
        return list(pool.map(_peak, [table] * splits, [way] * splits, range(splits)))


def _peak(table: Table, way: Way, seed: int):
    warnings.simplefilter("ignore")
    counts, _ = drawn(table, seed)
    before = peak_memory()
    way.protocol(table, counts)
    return peak_memory() - before


def run(table: Table, splits: int, quick: bool):
    """The equal ε; all numbers by way and name; whether credible designs on further splits keep their ε."""
    equal = equal_level(table)
    chosen = ways(table, equal)
    found = {way: defaultdict(list) for way in chosen}
    for seed in range(splits):
        counts, held_out = drawn(table, seed)
        for way, numbers in found.items():
            for name, number in measured(table, way, counts, held_out, seed).items():
                numbers[name].append(number)
        print(table.name, "split", seed, flush=True)
    further = {}
    for way, more in zip(chosen[-2:], (1, 1) if quick else table.more, strict=True):
        if not more:
            continue
        further[way] = list(found[way]["all"])
        for seed in range(splits, splits + more):
            counts, _ = drawn(table, seed)
            further[way].append(rldp.leakage(way.protocol(table, counts), table.truth))
    memory = {way: extra_memory(table, way, min(splits, 3)) for way in chosen}
    return equal, found, further, memory


# The page


def _spread(numbers, digits=3):
    """Mean and standard deviation; how many are infinite."""
    finite = [number for number in numbers if math.isfinite(number)]
    infinite = len(numbers) - len(finite)
    if not finite:
        return "∞"
    text = f"{np.mean(finite):.{digits}f}"
    if len(finite) > 1:
        text += f" ± {np.std(finite, ddof=1):.{digits}f}"
    return f"∞ in {infinite} of {len(numbers)}, else {text}" if infinite else text


def _percent(numbers, digits=1):
    return f"{100 * np.mean(numbers):.{digits}f} ± {100 * np.std(numbers, ddof=1):.{digits}f} %"


def _of(flags):
    return f"{sum(flags)} of {len(flags)}"


def _lines(heads, rows):
    return "\n".join(
        ["| " + " | ".join(heads) + " |", "|---|" + "---|" * (len(heads) - 1)]
        + ["| " + " | ".join(row) + " |" for row in rows]
    )


def section(table: Table, splits, equal, found, further, memory):
    """The tables of one data set."""
    level = math.log1p(table.epsilon)
    names = {way: f"{way.name}" + (f" (ε = {way.epsilon:.3g})" if way.epsilon else "") for way in found}
    leaks = _lines(
        ["", "rows changed", "ε\\* of the label", "ε\\* of all columns", "advantage", "beyond its ε"],
        [
            (
                names[way],
                _percent(each["changed"]),
                _spread(each["label"]),
                _spread(each["all"]),
                _percent(each["advantage"]),
                _percent(each["beyond"], 2),
            )
            for way, each in found.items()
        ],
    )
    holds = _lines(
        [
            "",
            "label keeps its ε",
            "all columns keep its ε",
            "ε\\* of all columns, posterior median",
            "posterior risk",
            "ε\\* of the held-out rows",
        ],
        [
            (
                names[way],
                "promises none" if way.epsilon is None else _of(each["keeps label"]),
                "promises none" if way.epsilon is None else _of(each["keeps all"]),
                _spread(each["median"]),
                _spread(each["risk"]),
                _spread(each["held-out"]),
            )
            for way, each in found.items()
        ],
    )
    use = _lines(
        ["", "accuracy", "AUC", "disparate impact", "of released rows", "CPU s", "MB"],
        [
            (
                names[way],
                _percent(each["accuracy"]),
                _spread(each["auc"]),
                _spread(each["impact"], 2),
                _spread(each["impact, released"], 2),
                _spread(each["seconds"], 2),
                _spread(memory[way], 0),
            )
            for way, each in found.items()
        ],
    )
    kept = "\n".join(
        f"- {names[way]}: {_of([leak <= way.epsilon for leak in leaks])} splits, and the largest ε\\* is "
        f"{max(leaks):.3g}"
        for way, leaks in further.items()
    )
    alphabet = " × ".join(f"{name} {size}" for name, size in zip(table.columns, table.sizes, strict=True))
    return f"""{table.source}.
{table.counts.sum():,} rows; secret: {table.secret}; published: {alphabet},
that is {table.counts.shape[1]} combinations. Their ε is {table.epsilon:g}, which is {level:.4f} in our form.
Mean ± standard deviation over {splits} splits of {table.training:,} training rows and {table.held_out:,}
held-out rows; memory over {len(next(iter(memory.values())))} of them.

What leaks under the truth:

{leaks}

Whether a design on training rows holds beyond them:

{holds}

How often all columns keep their ε, further splits included:

{kept}

What a classifier makes of the released rows, and what the design takes:

{use}
"""


def main() -> None:
    """Run everything and write the sections."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--adult", type=Path, help="the file of the Adult table")
    parser.add_argument("--compas", type=Path, help="the file of the COMPAS table")
    parser.add_argument("--published", type=Path, help="the folder of rows that the authors publish")
    parser.add_argument("--splits", type=int, default=8)
    parser.add_argument("--quick", action="store_true", help="two splits, nothing written")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    splits = 2 if options.quick else options.splits
    packages = ("numpy", "scipy", "cvxpy", "clarabel", "scikit-learn", "multi-freq-ldpy")
    texts = {"machine": machine(*packages, command="make bench-side")}
    if options.published is not None:
        texts["published"] = published_rows.section(options.published)
    for read, path in ((adult, options.adult), (compas, options.compas)):
        if path is None:
            continue
        table = read(path)
        texts[table.name] = section(table, splits, *run(table, splits, options.quick))
        import several_attributes  # what it needs, tests do not have

        texts[f"attributes {table.name}"] = several_attributes.section(table, quick=options.quick)
    for name, text in texts.items():
        print(text)
        if not options.quick:
            write_section(name, text, PAGE)


if __name__ == "__main__":
    main()
