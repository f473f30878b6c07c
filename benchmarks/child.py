"""Run a contender in a process of its own: on one core, within a limit of time, its memory its own.

The parent writes a task to the child's standard input and reads a line for each instance. The child sets an
alarm that ends it, whatever library it is in, when one design takes longer than the limit.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from operator import itemgetter
from pathlib import Path

import numpy as np

from instances import Answer, GaveUp, Instance

ONE_THREAD = dict.fromkeys(
    ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS"), "1"
)
WARM_UP = np.array([[5, 3], [2, 6]])


@dataclass(frozen=True, eq=False)
class Outcome:
    """What came of one instance.

    Attributes
    ----------
    answer : Answer or None
    seconds : float
        Median time by the clock, building the program included.
    memory : float
        MB of resident memory at its peak, over the peak after the warm-up.
    failure : str
        Empty, or why there is no answer.
    """

    answer: Answer | None = None
    seconds: float = np.nan
    memory: float = np.nan
    failure: str = ""


def run(
    contender: str,
    instances: Sequence[Instance],
    *,
    limit: float,
    repeats: int = 1,
    together: bool = False,
) -> list[Outcome]:
    """One outcome for each instance, or a single one without an answer for all of them ``together``.

    What takes less than two seconds is measured ``repeats`` times. An instance that exceeds the
    limit ends the process; the instances after it share its fate.
    """
    task = {
        "contender": contender,
        "instances": [_packed(instance) for instance in instances],
        "limit": limit,
        "repeats": repeats,
        "together": together,
    }
    done = subprocess.run(
        [sys.executable, __file__],
        input=json.dumps(task),
        capture_output=True,
        text=True,
        env={**os.environ, **ONE_THREAD},
        check=False,
    )
    found = [_unpacked(line) for line in done.stdout.splitlines()]
    if done.returncode not in (0, -signal.SIGALRM):
        message = (done.stderr.strip().splitlines() or ["ended"])[-1]
        raise RuntimeError(f"{contender}: {message}")
    wanted = 1 if together else len(instances)
    return found + [Outcome(failure=f"over {limit:g} s")] * (wanted - len(found))


def peak_memory() -> float:
    """The largest resident memory of this process so far, in MB."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(re.search(r"VmHWM:\s*(\d+) kB", status)[1]) / 1e3


def _packed(instance: Instance) -> dict[str, object]:
    return {**asdict(instance), "counts": instance.counts.tolist()}


def _unpacked(line: str) -> Outcome:
    found = json.loads(line)
    answer = found.pop("answer")
    if answer is not None:
        answer = Answer(**{**answer, "matrix": np.array(answer["matrix"])})
    return Outcome(answer, **found)


def _say(outcome: Outcome) -> None:
    answer = outcome.answer
    if answer is not None:
        answer = {**asdict(answer), "matrix": answer.matrix.tolist()}
    print(json.dumps({**asdict(replace(outcome, answer=None)), "answer": answer}), flush=True)


def _timed(work: Callable[[], object], limit: float, repeats: int) -> tuple[object, float]:
    """What the run of ``work`` with the median time returned, and that time."""
    runs: list[tuple[float, object]] = []
    while not runs or (len(runs) < repeats and runs[-1][0] < 2):
        signal.setitimer(signal.ITIMER_REAL, limit)
        start = time.perf_counter()
        result = work()
        runs.append((time.perf_counter() - start, result))
        signal.setitimer(signal.ITIMER_REAL, 0)
    seconds, result = sorted(runs, key=itemgetter(0))[len(runs) // 2]
    return result, seconds


def _main() -> None:
    from contenders import CONTENDERS, OURS, ours_together

    warnings.simplefilter("ignore")
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    task = json.load(sys.stdin)
    contender = CONTENDERS[task["contender"]]
    instances = [Instance(**{**each, "counts": np.array(each["counts"])}) for each in task["instances"]]
    design, limit, repeats = contender.design, task["limit"], task["repeats"]
    design(replace(instances[0], counts=WARM_UP))
    before = peak_memory()
    if task["together"]:
        batch = ours_together if contender == OURS else lambda some: [design(each) for each in some]
        _, seconds = _timed(lambda: batch(instances), limit, repeats)
        _say(Outcome(None, seconds, peak_memory() - before))
        return
    for instance in instances:
        try:
            answer, seconds = _timed(lambda each=instance: design(each), limit, repeats)
        except GaveUp as error:
            _say(Outcome(failure=f"gave up: {error}"))
        else:
            _say(Outcome(answer, seconds, peak_memory() - before))


if __name__ == "__main__":
    _main()
