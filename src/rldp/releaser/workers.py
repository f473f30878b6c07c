"""Other processes that release files of a folder, one each at a time.

Each is this module, run as a program: it takes pickled work from its standard input and gives pickled
outcomes to its standard output. (A pool of ``multiprocessing`` would run a user's main program again.) A
worker ends when its input ends, or when the process that started it is gone.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Any

from rldp import errors
from rldp.errors import DataFileError, RldpError
from rldp.releaser.files import Outcome, Step
from rldp.releaser.folders import Piece, release_piece
from rldp.releaser.requests import Request

__all__ = ["in_processes"]


def in_processes(
    request: Request,
    pieces: Sequence[Piece],
    processes: int,
    lock: int | None,
    tell: Callable[[Outcome], None],
) -> list[Outcome]:
    """Release the pieces, in so many processes; outcomes in the order of the pieces.

    Parameters
    ----------
    request : Request
    pieces : sequence of Piece
    processes : int
    lock : int or None
        A handle that the processes hold open while they run.
    tell : callable
        Called with each outcome when it is there.
    """
    waiting: SimpleQueue[int] = SimpleQueue()
    for i in range(len(pieces)):
        waiting.put(i)
    outcomes: dict[int, Outcome] = {}

    def drive(worker: subprocess.Popen[bytes]) -> None:
        _send(worker, request)
        with suppress(Empty):
            while True:
                i = waiting.get_nowait()
                _send(worker, pieces[i])
                outcomes[i] = _answer(worker)
                tell(outcomes[i])

    workers = [_started(lock) for _ in range(processes)]
    try:
        with ThreadPoolExecutor(processes) as threads:
            driven = [threads.submit(drive, worker) for worker in workers]
            try:
                ended, _ = wait(driven, return_when=FIRST_EXCEPTION)
            finally:
                if len(outcomes) < len(pieces):  # a failure, or an interruption: the others stop at once
                    for worker in workers:
                        worker.kill()
            for future in ended:
                future.result()
    finally:
        for worker in workers:
            worker.kill()
            worker.wait()
            for pipe in (worker.stdin, worker.stdout):
                with suppress(OSError):
                    pipe.close()  # type: ignore[union-attr]
    return [outcomes[i] for i in range(len(pieces))]


def _started(lock: int | None) -> subprocess.Popen[bytes]:
    paths = [path or os.getcwd() for path in sys.path]  # noqa: PTH109
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "rldp.releaser.workers"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        pass_fds=() if lock is None else (lock,),
    )


def _send(worker: subprocess.Popen[bytes], work: object) -> None:
    assert worker.stdin is not None
    with suppress(BrokenPipeError):  # the answer, or that there is none, tells
        pickle.dump(work, worker.stdin)
        worker.stdin.flush()


def _answer(worker: subprocess.Popen[bytes]) -> Outcome:
    assert worker.stdout is not None
    try:
        found = pickle.load(worker.stdout)
    except EOFError:
        raise DataFileError(
            "a process that releases files must not end before its work is done, but one did; nothing was "
            "written"
        ) from None
    if isinstance(found, Outcome):
        return found
    kind, message = found
    raise getattr(errors, kind)(message)


# The other process


def _main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that started this one decides
    import pyarrow

    pyarrow.set_cpu_count(1)
    parent, work, answers = os.getppid(), sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever prints does not print among the answers

    def alone(step: Step) -> None:
        if os.getppid() != parent:
            os._exit(1)

    with suppress(EOFError):
        request: Request = pickle.load(work)
        while True:
            piece: Piece = pickle.load(work)
            pickle.dump(_outcome(request, piece, alone), answers)
            answers.flush()


def _outcome(request: Request, piece: Piece, callback: Callable[[Step], None]) -> Any:
    """What was found, or the error of ours as its kind and its sentence."""
    try:
        return release_piece(request, piece, callback=callback)
    except RldpError as error:
        kind = next(each for each in type(error).__mro__ if each.__module__ == errors.__name__)
        return kind.__name__, str(error)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        return "DataFileError", f"output must be writable, but it is not: {reason}"


if __name__ == "__main__":
    _main()
