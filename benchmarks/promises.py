"""docs/promises.md: what every promise costs, and how often protocols fail under truths they never saw.

``make promises`` computes what docs/promises.json does not hold yet, a case and a promise at a time, and
writes the page and its figures from the record: a run that was stopped goes on where it was. ``--only`` names
cases, ``--jobs 16`` uses so many processes, ``--device cuda`` makes designs on an accelerator,
``--again`` forgets what was computed before.

A case is a table's shape, a number of rows and a law of truths. For every one of K truths a sample is drawn,
each promise gets its protocol at ε = ½ (squared distortion, utility under the estimate), and the protocol is
judged by the truth: its distortion D*, and whether it is ½-private. The posterior risk of every credible
protocol is counted once more, by the judge, with draws of its own.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import platform
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from multiprocessing import Value
from pathlib import Path

import numpy as np

import rldp
from credible_prior import on_one_core
from page import write_section
from rldp.adviser.demo import adult
from rldp.data.atomic import replacing
from rldp.judge.posterior import privacy_trial

DOCS = Path(__file__).resolve().parent.parent / "docs"
PAGE, RECORD = DOCS / "promises.md", DOCS / "promises.json"

EPSILON, ALPHA = 0.5, 0.05
GAP = 1e-4
_NEGLIGIBLE = 1e-3  # distortions about as large as the gap

Truths = Callable[[np.random.Generator, int, tuple[int, int]], np.ndarray]


def dirichlet(shape: float) -> Truths:
    """Every cell alike, the smaller the shape the more uneven."""
    return lambda rng, count, table: rng.dirichlet(np.full(np.prod(table), shape), count).reshape(-1, *table)


def smooth(rng: np.random.Generator, count: int, table: tuple[int, int]) -> np.ndarray:
    """Bell curves over the values, with a centre of its own for every secret, and uneven secrets."""
    secrets, values = table
    centres = rng.uniform(0.25, 0.75, (count, secrets, 1)) * (values - 1)
    widths = rng.uniform(0.15, 0.35, (count, 1, 1)) * values
    bells = np.exp(-(((np.arange(values) - centres) / widths) ** 2) / 2)
    shares = rng.dirichlet(np.full(secrets, 2.0), count)
    return shares[..., None] * bells / bells.sum(axis=2, keepdims=True)


def uniform(rng: np.random.Generator, count: int, table: tuple[int, int]) -> np.ndarray:
    return np.full((count, *table), 1 / np.prod(table))


def census(rng: np.random.Generator, count: int, table: tuple[int, int]) -> np.ndarray:
    """Sex by years of education in the UCI Adult data set, as if it were everybody."""
    return np.repeat(adult().distribution[None], count, axis=0)


LAWS: dict[str, Truths] = {
    "Dirichlet ½": dirichlet(0.5),
    "Dirichlet .1": dirichlet(0.1),
    "smooth": smooth,
    "uniform": uniform,
    "census": census,
}

DRAWN = tuple(law for law in LAWS if law != "census")

PROMISES: dict[str, rldp.UncertaintySet] = {
    "nominal": rldp.Nominal(),
    "credible": rldp.Credible(ALPHA),
    "pairs": rldp.Pairs(ALPHA),
    "chi2": rldp.ChiSquare(ALPHA),
    "all": rldp.AllDistributions(),
}


@dataclass(frozen=True)
class Case:
    """Truths of one law, and a sample of n rows from each."""

    secrets: int
    values: int
    n: int
    law: str
    truths: int

    @property
    def name(self) -> str:
        return f"{self.secrets}×{self.values}, n = {self.n}, {self.law}"

    @property
    def seed(self) -> tuple[int, ...]:
        return self.secrets, self.values, self.n, list(LAWS).index(self.law)

    @property
    def cells(self) -> int:
        return self.secrets * self.values

    def parts(self, jobs: int) -> list[slice]:
        """Truths that are computed at once: all of them, or few enough that no process waits for long."""
        size = self.truths if jobs == 1 else max(1, 400 // self.cells)
        return [slice(start, min(start + size, self.truths)) for start in range(0, self.truths, size)]

    def drawn(self) -> tuple[np.ndarray, np.ndarray]:
        """Truths and counts (K, |S|, |U|)."""
        rng = np.random.default_rng(self.seed)
        truths = LAWS[self.law](rng, self.truths, (self.secrets, self.values))
        flat = truths.reshape(self.truths, -1)
        return truths, rng.multinomial(self.n, flat).reshape(truths.shape)


CASES = (
    *(Case(3, 5, n, law, 400) for law in DRAWN for n in (75, 750, 15_000)),
    *(Case(5, 10, n, law, 100) for law in DRAWN for n in (500, 2000)),
    *(Case(5, 20, n, law, 60 if n == 2000 else 24) for law in DRAWN for n in (500, 2000, 8000)),
    *(Case(10, 50, 20_000, law, 8) for law in ("Dirichlet ½", "smooth")),
    *(Case(10, 50, 20_000, law, 4) for law in ("Dirichlet .1", "uniform")),
    Case(10, 50, 5000, "Dirichlet ½", 4),
    *(Case(2, 16, n, "census", 200) for n in (100, 500, 2000)),
)


def main() -> None:
    options = _options()
    old = options.record.exists() and not options.again
    record = json.loads(options.record.read_text(encoding="utf-8")) if old else {}
    cases = [case for case in CASES if not options.only or any(part in case.name for part in options.only)]
    wanted = [
        (case, promise)
        for case in cases
        for promise in PROMISES
        if promise not in record.get(case.name, {"promises": {}})["promises"] or promise in options.anew
    ]
    for case, promise, row in _computed(wanted, options.jobs, options.device):
        record.setdefault(case.name, {"case": asdict(case), "promises": {}})["promises"][promise] = row
        print(case.name, promise, row, flush=True)
        _save(record, options.record)
    _save(record, options.record)
    if options.page:
        _write_page(_ordered(record))


def _write_page(record: dict) -> None:
    import charts  # so that a machine without matplotlib can compute

    for name, text in sections(record).items():
        write_section(name, text, PAGE)
    charts.save(charts.ratios(ratios(record)), "promise-costs")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="*", default=[], metavar="PART", help="cases whose names hold a part")
    parser.add_argument("--jobs", type=int, default=1, help="processes, of one core each")
    parser.add_argument("--device", help="where designs are made, such as cuda")
    parser.add_argument("--record", type=Path, default=RECORD, help="what is computed, and was before")
    parser.add_argument("--no-page", dest="page", action="store_false", help="compute the record only")
    parser.add_argument("--anew", nargs="*", default=[], metavar="PROMISE", help="promises to compute anew")
    parser.add_argument("--again", action="store_true", help="forget what was computed before")
    return parser.parse_args()


def _save(record: dict, path: Path) -> None:
    text = json.dumps(_ordered(record), ensure_ascii=False, indent=1) + "\n"
    with replacing(path) as file:
        file.write(text.encode("utf-8"))


def _ordered(record: dict) -> dict:
    """Cases in the order of the list, whatever order they were computed in."""
    return {case.name: record[case.name] for case in CASES if case.name in record}


def _computed(
    wanted: list[tuple[Case, str]], jobs: int, device: str | None
) -> Iterator[tuple[Case, str, dict[str, float]]]:
    """Each case and promise with its row, as soon as all of its truths are done; large tables first."""
    wanted = sorted(wanted, key=lambda each: each[0].cells, reverse=True)
    pieces = [
        (case, promise, part, device)
        for case, promise in wanted
        for part in case.parts(1 if device else jobs)
    ]
    if jobs == 1:
        yield from _collected(((piece, _measured(*piece)) for piece in pieces), pieces)
        return
    with ProcessPoolExecutor(jobs, initializer=on_one_core, initargs=(Value("i", 0),)) as pool:
        futures = {pool.submit(_measured, *piece): piece for piece in pieces}
        yield from _collected(((futures[done], done.result()) for done in as_completed(futures)), pieces)


def _collected(found: Iterator, pieces: list) -> Iterator[tuple[Case, str, dict[str, float]]]:
    """Pieces of a case and promise put together, when the last of them is there."""
    needed, ready = defaultdict(int), defaultdict(list)
    for case, promise, _, _ in pieces:
        needed[case, promise] += 1
    for (case, promise, part, _), measured in found:
        ready[case, promise].append((part.start, measured))
        if len(ready[case, promise]) == needed[case, promise]:
            parts = [measured for _, measured in sorted(ready[case, promise], key=lambda each: each[0])]
            yield case, promise, _row({name: np.concatenate([p[name] for p in parts]) for name in parts[0]})


def _row(found: dict[str, np.ndarray]) -> dict[str, float]:
    """Mean D* with its standard error, how many protocols are not private, how many the judge confirms."""
    distortion = found["distortion"]
    row = {
        "distortion": float(distortion.mean()),
        "error": float(distortion.std(ddof=1) / np.sqrt(len(distortion))),
        "fails": int(found["fails"].sum()),
    }
    return row | ({"confirmed": int(found["confirmed"].sum())} if "confirmed" in found else {})


def _measured(case: Case, promise: str, part: slice, device: str | None) -> dict[str, np.ndarray]:
    """D* of each of some truths, whether the protocol is not private, and whether the judge confirms it."""
    truths, counts = (drawn[part] for drawn in case.drawn())
    options = {"gap": GAP, "device": device, "utility": rldp.Nominal()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rldp.RldpWarning)
        batch = rldp.design_batch(counts, EPSILON, privacy=PROMISES[promise], **options)
    given_secret = np.einsum("ksu,ksuy->ksy", truths / truths.sum(axis=2, keepdims=True), batch.matrices)
    leaks = (given_secret.max(axis=1) > np.exp(EPSILON) * (1 + 1e-13) * given_secret.min(axis=1)).any(axis=1)
    values = np.arange(case.values)
    d = np.subtract.outer(values, values) ** 2.0
    found = {"distortion": np.einsum("ksu,ksuy,uy->k", truths, batch.matrices, d), "fails": leaks}
    if promise == "credible":
        found["confirmed"] = _confirmed(case, part.start, counts, batch.matrices)
    return found


def _confirmed(case: Case, start: int, counts: np.ndarray, matrices: np.ndarray) -> np.ndarray:
    """Whether the judge counts a posterior risk of at most α for each protocol; it errs once in 10⁹."""
    numerators = np.rint(matrices * 2.0**52).astype(np.int64).tolist()
    generator = np.random.default_rng([*case.seed, 1, start])
    trials = (
        privacy_trial(table, rows, EPSILON, alpha=ALPHA, prior="adaptive", generator=generator)
        for table, rows in zip(numerators, counts.tolist(), strict=True)
    )
    return np.array([trial.confirmed for trial in trials])


# The page


def sections(record: dict) -> dict[str, str]:
    """The parts of the page that the record gives."""
    packages = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in ("numpy", "scipy"))
    return {
        "versions": f"Written by `make promises` with rldp {rldp.__version__}, Python "
        f"{platform.python_version()}, {packages}; [promises.json](promises.json) is the record.",
        "costs": _table(record, "distortion"),
        "failures": _table(record, "fails"),
        "confirmed": _confirmations(record),
    }


def _confirmations(record: dict) -> str:
    """What the judge's count says of all credible protocols."""
    rows = [(entry["case"]["truths"], entry["promises"]["credible"]) for entry in record.values()]
    protocols, confirmed = sum(truths for truths, _ in rows), sum(row["confirmed"] for _, row in rows)
    return (
        f"Given its sample and the prior, each of the {protocols:,} credible protocols must fail with a "
        "probability of at most 5 %. The judge checked this again, with its own draws and a rule that is "
        f"wrong once in 10⁹. It confirmed {confirmed:,} of them."
    )


def _table(record: dict, what: str) -> str:
    heads = ["rows, truths", "K", *(f"`{name}`" for name in PROMISES)]
    lines = [" | ".join(heads), " | ".join(["---"] + ["---:"] * (len(heads) - 1))]
    lines += [" | ".join(row) for row in _rows(record, what)]
    return "\n".join(f"| {line} |" for line in lines)


def _rows(record: dict, what: str) -> Iterator[list[str]]:
    for name, entry in record.items():
        truths = entry["case"]["truths"]
        found = [entry["promises"].get(promise) for promise in PROMISES]
        yield [name, str(truths), *(_cell(row, what, truths) for row in found)]


def _cell(row: dict | None, what: str, truths: int) -> str:
    if row is None:
        return "–"
    if what == "fails":
        return f"{row['fails'] / truths:.3f}"
    return f"{row['distortion']:.3g}" if row["distortion"] >= _NEGLIGIBLE else f"< {_NEGLIGIBLE:g}"


def ratios(record: dict) -> dict[str, dict[str, float]]:
    """Distortion of every promise over that of the joint χ² set, by case."""
    return {
        name: {
            promise: row["distortion"] / entry["promises"]["chi2"]["distortion"]
            for promise, row in entry["promises"].items()
            if promise != "chi2"
        }
        for name, entry in record.items()
        if entry["promises"].get("chi2", {}).get("distortion", 0.0) >= _NEGLIGIBLE
    }


if __name__ == "__main__":
    main()
