"""Parallel execution of tasks, with results stored as they finish."""

from __future__ import annotations

import signal
import threading
import warnings
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from typing import cast

from rldp.paper.plan import Task
from rldp.paper.settings import Settings
from rldp.paper.store import Store
from rldp.paper.work import lines

__all__ = ["Advance", "sweep"]

Advance = Callable[[float, float], None]
"""Called with the completed and the total work, in the same arbitrary unit."""

Result = tuple[int, str]


def sweep(tasks: Sequence[Task], store: Store, jobs: int | None, advance: Advance | None) -> None:
    """Run the tasks that are not stored yet, and store their results.

    Results do not depend on the number of jobs, the backend or the order, because a task is a pure function.
    Only this process writes files, so workers may be on other machines.

    Parameters
    ----------
    jobs : int or None
        Processes; None leaves it to :func:`joblib.parallel_config`.
    advance : callable, optional
        Called with the progress at the start and after every task.
    """
    total = sum(task.cost for task in tasks)
    left = sorted((task for task in tasks if not store.has(task)), key=lambda task: -task.cost)
    done = total - sum(task.cost for task in left)
    if advance is not None:
        advance(done, total)
    with _cancelled_quietly(), closing(_results(left, store.settings, jobs)) as results:
        for index, text in results:
            store.save_part(left[index], text)
            done += left[index].cost
            if advance is not None:
                advance(done, total)


def _results(tasks: Sequence[Task], settings: Settings, jobs: int | None) -> Generator[Result, None, None]:
    """Yield results as they arrive if the backend supports it, else a few at a time."""
    import joblib

    calls = [joblib.delayed(_numbered)(index, task, settings) for index, task in enumerate(tasks)]
    try:
        parallel = joblib.Parallel(n_jobs=jobs, batch_size=1, return_as="generator_unordered")
    except ValueError:
        parallel = joblib.Parallel(n_jobs=jobs, batch_size=1)
        block = 4 * joblib.effective_n_jobs(jobs)
        for start in range(0, len(calls), block):
            yield from parallel(calls[start : start + block])
        return
    with _interrupts_ignored():
        running = cast("Generator[Result, None, None]", parallel(calls))
    with closing(running) as results:
        yield from results


def _numbered(index: int, task: Task, settings: Settings) -> Result:
    return index, lines(task, settings)


@contextmanager
def _cancelled_quietly() -> Iterator[None]:
    """Suppress joblib's warning about tasks cancelled by an interruption."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", r"\d+ tasks which were still being processed", UserWarning)
        yield


@contextmanager
def _interrupts_ignored() -> Iterator[None]:
    """Start workers that ignore Ctrl-C: the terminal sends it to all, and only this process handles it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # inherited by new processes
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
