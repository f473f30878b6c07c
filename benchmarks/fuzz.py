"""Random designs by the thousand, each saved and judged: no foreign exception, none unproved, none slow.

A design fails if it raises anything but an RldpError, if the judge does not prove all that its file claims,
if the file claims another ε than was asked for, or if it takes longer than a minute. What is drawn is in
``benchmarks/odd_designs.py``.

    python benchmarks/fuzz.py --designs 2000 --jobs 2      a table of what was drawn, and every failure
    python benchmarks/fuzz.py --designs 20000 --out FILE   on every core; taken up again where it stopped
    python benchmarks/fuzz.py --only 1234                  one design again, with arguments and traceback

Exit code 1 if any failed.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict, dataclass
from pathlib import Path

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")  # as many processes as cores: threads of their own would only quarrel

import rldp  # noqa: E402
from odd_designs import OddDesign, odd_design  # noqa: E402

SLOW = 60.0
HOPELESS = 5 * SLOW  # where a design is given up
CHUNK = 20


@dataclass(frozen=True)
class Outcome:
    """What became of one design; ``fault`` is None where nothing is wrong."""

    number: int
    problem: str
    route: str
    seconds: float
    fault: str | None = None


def outcome(design: OddDesign, number: int = 0) -> Outcome:
    """Design, save, load and judge."""
    started = time.process_time()  # others may use the machine too
    route, fault = "refused", None
    try:
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            warnings.simplefilter("ignore", rldp.RldpWarning)
            designed = design.run()
            route, fault = designed.status.route, _judged(design, designed)
        if fault is None and heard:  # with a filter of a user's own, an exception
            fault = f"warned: {_place(heard[0].message, heard[0].filename, heard[0].lineno)}"
    except rldp.RldpError as error:
        fault = f"refused: {error}"  # all that is drawn is allowed
    except Exception as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        fault = f"raised: {_place(error, last.filename, last.lineno)}"
    seconds = time.process_time() - started
    if fault is None and seconds > SLOW:
        fault = f"slow: {seconds:.0f} s"
    return Outcome(number, design.problem, route, seconds, fault)


def _place(error: object, file: str, line: int | None) -> str:
    return f"{type(error).__name__}: {error} ({Path(file).name}:{line})"


def _judged(design: OddDesign, designed: rldp.Design) -> str | None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "protocol.json"
        designed.protocol.save(path)
        verdict = rldp.verify(path)
        again = rldp.load(path)
    if not verdict.ok:
        return f"unproved: {verdict.reasons[0]}"
    if verdict.epsilon != design.epsilon:
        return f"unproved: ε is {verdict.epsilon!r}"
    if (again.matrix != designed.protocol.matrix).any():
        return "unproved: the file holds another table"
    return None


def _give_up(*_: object) -> None:
    raise TimeoutError(f"took more than {HOPELESS:.0f} s")


def _chunk(seed: int, numbers: Iterable[int], cells: int) -> list[Outcome]:
    found = []
    signal.signal(signal.SIGALRM, _give_up)
    for number in numbers:
        signal.alarm(int(HOPELESS))
        found.append(outcome(odd_design(seed, number, cells=cells), number))
        signal.alarm(0)
    return found


def outcomes(seed: int, numbers: list[int], *, jobs: int, cells: int) -> Iterator[list[Outcome]]:
    """What became of designs, a chunk at a time, in the order in which they are done."""
    chunks = [numbers[i : i + CHUNK] for i in range(0, len(numbers), CHUNK)]
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, mp_context=context) as pool:
        work = {pool.submit(_chunk, seed, chunk, cells): chunk for chunk in chunks}
        for done in as_completed(work):
            try:
                yield done.result()
            except BrokenProcessPool:
                numbers = work[done]
                print(
                    f"a process died at one of {numbers[0]} to {numbers[-1]}, or beside it", file=sys.stderr
                )
                raise


def _known(path: Path | None) -> list[Outcome]:
    if path is None or not path.exists():
        return []
    return [Outcome(**json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]


def report(found: list[Outcome], seed: int, cells: int) -> str:
    """A table by problem and by route, and every failure with what reproduces it."""
    faults = [o for o in found if o.fault is not None]
    kinds = sorted({(o.fault or "").split(":")[0] for o in faults})
    lines = ["| kind | designs | " + "".join(f"{kind} | " for kind in kinds) + "slowest |"]
    lines += ["|---|---|" + "---|" * len(kinds) + "---|"]
    for title, key in (("problem", "problem"), ("route", "route")):
        for kind, designs in sorted(Counter(getattr(o, key) for o in found).items()):
            mine = [o for o in found if getattr(o, key) == kind]
            failed = Counter((o.fault or "").split(":")[0] for o in mine)
            counts = "".join(f"{failed[k]} | " for k in kinds)
            lines.append(f"| {title} {kind} | {designs} | {counts}{max(o.seconds for o in mine):.1f} s |")
    lines += [
        f"{o.fault}\n    python benchmarks/fuzz.py --seed {seed} --cells {cells} --only {o.number}"
        for o in sorted(faults, key=lambda o: o.number)
    ]
    lines.append(f"{len(found)} designs, {len(faults)} failed, {sum(o.seconds for o in found):.0f} s of work")
    return "\n".join(lines)


def again(seed: int, number: int, cells: int) -> int:
    """One design, with its arguments; what it raises comes through."""
    design = odd_design(seed, number, cells=cells)
    print(design)
    warnings.simplefilter("error")
    warnings.simplefilter("always", rldp.RldpWarning)
    started = time.perf_counter()
    designed = design.run()
    print(f"{designed.status}, {time.perf_counter() - started:.1f} s")
    fault = _judged(design, designed)
    print(fault or "proved")
    return int(fault is not None)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--designs", type=int, default=1000)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--cells", type=int, default=60, help="cells of the largest alphabet")
    parser.add_argument("--first", type=int, default=0, help="number of the first design")
    parser.add_argument("--only", type=int, help="number of the one design to run again")
    parser.add_argument(
        "--out", type=Path, help="file of results, a line each; what it holds is not run again"
    )
    given = parser.parse_args()
    if given.only is not None:
        return again(given.seed, given.only, given.cells)
    found = _known(given.out)
    done = {o.number for o in found}
    numbers = [i for i in range(given.first, given.first + given.designs) if i not in done]
    started = time.perf_counter()
    for chunk in outcomes(given.seed, numbers, jobs=given.jobs, cells=given.cells):
        found += chunk
        if given.out is not None:
            with given.out.open("a", encoding="utf-8") as file:
                file.writelines(json.dumps(asdict(o)) + "\n" for o in chunk)
        failed = sum(o.fault is not None for o in found)
        print(
            f"{len(found)} designs, {failed} failed, {time.perf_counter() - started:.0f} s",
            file=sys.stderr,
            flush=True,
        )
    print(report(found, given.seed, given.cells))
    return int(any(o.fault is not None for o in found))


if __name__ == "__main__":
    sys.exit(main())
