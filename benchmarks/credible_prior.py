"""What a credible promise costs and how often it fails, under fixed truths: real tables, and drawn ones.

``python benchmarks/credible_prior.py --jobs 16 --out found.json`` designs for samples of every case, in
processes of one core each, and judges each protocol by the truth its sample was drawn from: its distortion
D*, and whether it is ε-private. ``--prior 0.5`` measures another prior, ``--grid`` another grid of the
adaptive one, ``--only`` some of the cases, ``--judge`` has the judge confirm every protocol. Samples follow
from the case alone, so that two runs, also of two versions of the library, can be compared sample by sample:
``--against before.json`` prints the ratios of D*.

Tables of two columns need the rows of UCI Adult (``--adult adult.csv``, with columns sex, race, age,
education_num, hours_per_week, income); without them those cases are left out.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from multiprocessing import Value
from pathlib import Path

import numpy as np

import rldp
from page import write_section
from rldp.adviser.demo import adult

PAGE = Path(__file__).resolve().parent.parent / "docs" / "promises.md"
EPSILON, ALPHA, GAP = 0.5, 0.05, 1e-4
Row = dict[str, list[float]]
_SAMPLES_AT_ONCE = 8
_HOURS, _AGES = (35, 40, 41, 50), (25, 30, 35, 40, 45, 50, 60)  # where bins begin


# Counts of UCI Adult (B. Becker and R. Kohavi, 1996, CC BY 4.0), years of education by race, and of
# ProPublica's COMPAS data (compas-scores-two-years.csv, 2016), decile score by race.
TABLES = {
    "race × education": [
        [1, 4, 2, 10, 9, 22, 26, 5, 176, 124, 31, 13, 29, 13, 2, 3],
        [7, 10, 28, 14, 10, 16, 27, 15, 336, 302, 53, 49, 408, 140, 58, 46],
        [12, 24, 41, 90, 111, 182, 252, 105, 1780, 1078, 165, 161, 504, 143, 21, 16],
        [2, 13, 23, 23, 15, 11, 22, 17, 105, 85, 9, 10, 50, 13, 5, 3],
        [61, 196, 415, 818, 611, 1158, 1485, 515, 13387, 9289, 1803, 1368, 7034, 2348, 748, 526],
    ],
    "COMPAS race × decile": [
        [398, 393, 346, 385, 365, 384, 400, 359, 380, 286],
        [681, 361, 273, 285, 241, 194, 143, 114, 98, 64],
        [196, 113, 86, 52, 52, 37, 34, 26, 20, 21],
        [165, 74, 42, 47, 23, 26, 15, 13, 10, 12],
    ],
}


@dataclass(frozen=True)
class Case:
    """Samples of n rows from the truths of one law."""

    law: str
    n: int
    samples: int

    @property
    def name(self) -> str:
        return f"{self.law}, n = {self.n}"


def _drawn_law(shape: float, table: tuple[int, int]) -> Callable[[np.random.Generator], np.ndarray]:
    return lambda rng: rng.dirichlet(np.full(np.prod(table), shape)).reshape(table)


DRAWN = {
    "3×5 Dirichlet ½": _drawn_law(0.5, (3, 5)),
    "3×5 Dirichlet .1": _drawn_law(0.1, (3, 5)),
    "3×5 uniform": lambda rng: np.full((3, 5), 1 / 15),
    "5×10 Dirichlet ½": _drawn_law(0.5, (5, 10)),
    "5×10 Dirichlet .1": _drawn_law(0.1, (5, 10)),
    "5×10 Dirichlet .03": _drawn_law(0.03, (5, 10)),
    "5×10 uniform": lambda rng: np.full((5, 10), 1 / 50),
}

CASES = (
    *(Case("sex × education", n, 128) for n in (200, 1000)),
    *(Case("race × education", n, 64) for n in (200, 1000)),
    *(Case("COMPAS race × decile", n, 64) for n in (200, 1000)),
    *(Case("3×5 Dirichlet ½", n, 256) for n in (75, 750)),
    *(Case("3×5 Dirichlet .1", n, 256) for n in (75, 750)),
    *(Case("3×5 uniform", n, 256) for n in (75, 750)),
    Case("5×10 Dirichlet ½", 500, 96),
    Case("5×10 Dirichlet .1", 500, 96),
    Case("5×10 Dirichlet .03", 500, 96),
    Case("5×10 uniform", 500, 64),
    *(
        Case(f"{secret} × ({values})", n, 32)
        for secret in ("sex", "income")
        for values in ("education, hours", "age, hours", "education, age")
        for n in (100, 300, 500, 1000, 4000)
    ),
    *(Case("race × (age, hours)", n, 16) for n in (300, 1000, 4000)),
    *(Case("income × (education, hours)", n, 32) for n in (2000, 20_000)),
)


def main() -> None:
    options = _options()
    if options.page:
        found, before = (json.loads(path.read_text(encoding="utf-8")) for path in options.page)
        write_section("adaptive", _page(found, before), PAGE)
        return
    cases = [
        case
        for case in CASES
        if (options.adult or "(" not in case.law)
        and (not options.only or any(part in case.name for part in options.only))
    ]
    pieces = [
        (case, start, options)
        for case in sorted(cases, key=_work, reverse=True)
        for start in range(0, _scaled(case, options), _SAMPLES_AT_ONCE)
    ]
    started = time.perf_counter()
    found: dict[str, Row] = {}
    number = Value("i", 0)
    with ProcessPoolExecutor(options.jobs, initializer=on_one_core, initargs=(number,)) as pool:
        for (case, start, _), piece in zip(pieces, pool.map(_measured, pieces), strict=True):
            own = found.setdefault(case.name, {"start": [], "distortion": [], "fails": [], "confirmed": []})
            own["start"].append(start)
            for name, values in piece.items():
                own[name] += values
    print(f"{time.perf_counter() - started:.0f} s")
    ordered = {case.name: found[case.name] for case in cases}
    if options.out:
        options.out.write_text(json.dumps(ordered, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    before = json.loads(options.against.read_text(encoding="utf-8")) if options.against else {}
    for name, row in ordered.items():
        print(_line(name, row, before.get(name)))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=1, help="processes, of one core each")
    parser.add_argument("--out", type=Path, help="where to write what was found, as JSON")
    parser.add_argument("--against", type=Path, help="what was found before, to print ratios of D*")
    parser.add_argument("--adult", type=Path, help="the rows of UCI Adult, a CSV file")
    parser.add_argument("--prior", default="default", help='a number, or "default"')
    parser.add_argument("--grid", help="of the adaptive prior: numbers with commas between")
    parser.add_argument("--share", type=float, default=1.0, help="of the samples of each case")
    parser.add_argument("--only", nargs="*", default=[], metavar="PART", help="cases whose names hold a part")
    parser.add_argument("--page", nargs=2, type=Path, metavar="JSON", help="found and before: write the page")
    parser.add_argument("--judge", action="store_true", help="have the judge confirm every protocol")
    return parser.parse_args()


def _scaled(case: Case, options: argparse.Namespace) -> int:
    return max(_SAMPLES_AT_ONCE, round(case.samples * options.share))


def _work(case: Case) -> float:
    """Roughly in proportion to the time of a sample."""
    return np.prod(case_truth(case).shape) ** 2 if "(" not in case.law else 1e6 + case.n


def on_one_core(number: Value) -> None:
    """For a process of a pool: a core of its own, and no warnings about samples."""
    with number.get_lock():
        mine, number.value = number.value, number.value + 1
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {cores[mine % len(cores)]})
    warnings.simplefilter("ignore", rldp.RldpWarning)


def _measured(piece: tuple[Case, int, argparse.Namespace]) -> dict[str, list[float]]:
    """D*, whether it fails and whether the judge confirms, for some samples of a case."""
    case, start, options = piece
    if options.grid:
        _use_grid([float(part) for part in options.grid.split(",")])
    prior = {} if options.prior == "default" else {"prior": float(options.prior)}
    promise = rldp.Credible(ALPHA, **prior)
    last = min(start + _SAMPLES_AT_ONCE, _scaled(case, options))
    truths, counts = zip(*(drawn(case, options.adult, i) for i in range(start, last)), strict=True)
    d = _distances(case)
    promises = {"privacy": promise, "utility": rldp.Nominal()}
    designs = [rldp.design(rldp.Sample(n), EPSILON, **promises, distortion=d, gap=GAP) for n in counts]
    matrices = np.stack([design.protocol.matrix for design in designs])
    truth = np.stack(truths)
    conditional = truth / truth.sum(axis=2, keepdims=True)
    given_secret = np.einsum("ksu,ksuy->ksy", conditional, matrices)
    high, low = given_secret.max(axis=1), given_secret.min(axis=1)
    fails = (high > np.exp(EPSILON) * (1 + 1e-13) * low).any(axis=1)
    distortion = np.einsum("ksu,ksuy,uy->k", truth, matrices, d)
    pairs = zip(matrices, counts, strict=True) if options.judge else ()
    confirmed = [_confirmed(q, n, promise) for q, n in pairs]
    return {
        "distortion": distortion.tolist(),
        "fails": fails.astype(int).tolist(),
        "confirmed": confirmed,
    }


def _use_grid(grid: list[float]) -> None:
    import rldp.judge.posterior
    import rldp.theory.dirichlet

    rldp.theory.dirichlet.grid_for = lambda values: np.array(grid)
    rldp.judge.posterior.adaptive_grid = lambda values: tuple(grid)


def _confirmed(matrix: np.ndarray, counts: np.ndarray, promise: rldp.Credible) -> int:
    from rldp.judge.posterior import privacy_trial

    table = np.rint(matrix * 2.0**52).astype(np.int64).tolist()
    given = {"alpha": ALPHA, "prior": promise.prior}
    return int(privacy_trial(table, counts.tolist(), EPSILON, **given).confirmed)


# Truths


def drawn(case: Case, rows: Path | None, i: int) -> tuple[np.ndarray, np.ndarray]:
    """The i-th truth and its sample, the same in every run."""
    rng = np.random.default_rng([i, case.n, *case.law.encode()])
    truth = case_truth(case, rows, rng)
    return truth, rng.multinomial(case.n, truth.ravel()).reshape(truth.shape)


def case_truth(case: Case, rows: Path | None = None, rng: np.random.Generator | None = None) -> np.ndarray:
    if case.law in DRAWN:
        return DRAWN[case.law](rng or np.random.default_rng(0))
    if case.law == "sex × education":
        return adult().distribution
    if case.law in TABLES:
        return np.array(TABLES[case.law]) / np.sum(TABLES[case.law])
    return np.zeros((1, 1)) if rows is None else _table(case.law, rows)


@cache
def _table(law: str, rows: Path) -> np.ndarray:
    """The whole table of a secret and one or two columns of Adult, as probabilities."""
    secret, columns = law.split(" × ")
    values = columns.strip("()").split(", ")
    with rows.open(newline="", encoding="utf-8") as file:
        read = [(row[secret], *(_code(name, row) for name in values)) for row in csv.DictReader(file)]
    secrets = sorted({row[0] for row in read})
    table = np.zeros((len(secrets), *(SIZES[name] for name in values)))
    for first, *others in read:
        table[(secrets.index(first), *others)] += 1
    return (table / table.sum()).reshape(len(secrets), -1)


SIZES = {"education": 16, "hours": len(_HOURS) + 1, "age": len(_AGES) + 1}


def _code(name: str, row: dict[str, str]) -> int:
    if name == "education":
        return int(row["education_num"]) - 1
    if name == "hours":
        return int(np.searchsorted(_HOURS, float(row["hours_per_week"]), side="right"))
    return int(np.searchsorted(_AGES, float(row["age"]), side="right"))


def _distances(case: Case) -> np.ndarray:
    """Squared differences of codes; of two columns their sum, each over the variance of uniform codes."""
    if "(" not in case.law:
        size = case_truth(case).shape[1]
        return np.subtract.outer(np.arange(size), np.arange(size)) ** 2.0
    names = case.law.split(" × ")[1].strip("()").split(", ")
    codes = np.stack(np.meshgrid(*(np.arange(SIZES[name]) for name in names), indexing="ij"), axis=-1)
    flat = codes.reshape(-1, len(names)) / np.sqrt([(SIZES[name] ** 2 - 1) / 12 for name in names])
    return ((flat[:, None] - flat[None]) ** 2).sum(axis=2)


# Words


def _line(name: str, row: Row, before: Row | None) -> str:
    size = len(row["distortion"])
    share = sum(row["fails"]) / size
    error = (max(share, ALPHA) * (1 - max(share, ALPHA)) / size) ** 0.5
    text = f"{name:40s} K {size:4d}  D* {np.mean(row['distortion']):8.4f}  fails {share:.3f} ± {error:.3f}"
    if row["confirmed"]:
        text += f"  confirmed {sum(row['confirmed'])}"
    if before and len(before["distortion"]) == size:
        ratio = np.mean(row["distortion"]) / np.mean(before["distortion"])
        text += f"  D* over before {ratio:.3f} (it failed {sum(before['fails']) / size:.3f})"
    return text


def _page(found: dict[str, Row], before: dict[str, Row]) -> str:
    """The table of docs/promises.md."""
    lines = [
        "| truth, rows | samples | D* | over ½ at the estimate | fails | those fail |",
        "|---|" + "---:|" * 5,
    ]
    for name, row in found.items():
        old, size = before[name], len(row["distortion"])
        means = [float(np.mean(each["distortion"])) for each in (row, old)]
        fails = [sum(each["fails"]) / size for each in (row, old)]
        numbers = f"{means[0]:.3g} | {means[0] / means[1]:.2f} | {fails[0]:.3f} | {fails[1]:.3f}"
        lines.append(f"| {name} | {size} | {numbers} |")
    confirmed = sum(sum(row["confirmed"]) for row in found.values())
    tried = sum(len(row["confirmed"]) for row in found.values())
    if tried:
        lines += ["", f"The judge confirmed {confirmed:,} of {tried:,} protocols with its own draws."]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
