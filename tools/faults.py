"""Plant known faults, one at a time, and see whether the tests notice.

The list is ``tests/faults.toml``. Every entry says which text of which file becomes which other text, and
which tests should then fail. A fault that no test can see, because the program does the same with it, says
so and why; it is planted all the same, and must survive.

    python tools/faults.py                      all faults, each against the tests it names
    python tools/faults.py --only A B           some of them
    python tools/faults.py --jobs 16            so many at a time, each in its own copy of the tree
    python tools/faults.py --all-tests          each against all quick tests

The working tree is never edited: faults are planted in copies, in a temporary folder. Any Python that can
import what the tests need will do; tests run with the copy's ``src`` before everything else. The exit code is
0 if every fault is caught or proved equivalent, else 1.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue

__all__ = ["Fault", "Outcome", "Stale", "faults_in", "main", "mirrored_tests", "planted", "report", "tried"]

ROOT = Path(__file__).resolve().parent.parent
LIST = "tests/faults.toml"
PARTS = (
    "src",
    "tests",
    "tools",
    "benchmarks",
    "clients",
    "docs",
    "pyproject.toml",
    "README.md",
    "CHANGELOG.md",
)
RUBBISH = shutil.ignore_patterns(
    "__pycache__", "*.pyc", ".hypothesis", ".pytest_cache", "*.png", "node_modules"
)
FIELDS = {"name", "file", "find", "replace", "tests", "equivalent"}
FAILED, PASSED = 1, 0  # exit codes of pytest

CAUGHT, SURVIVED, EQUIVALENT, STALE = "caught", "survived", "equivalent", "stale"
NOT_EQUIVALENT, TIMED_OUT, BROKEN = "not equivalent", "timed out", "tests broken"
GOOD = (CAUGHT, EQUIVALENT)


class Stale(Exception):
    """A fault that the tree has no place for any more."""


@dataclass(frozen=True)
class Fault:
    """A change that tests should notice.

    Attributes
    ----------
    name : str
        What goes wrong, in a few words; unique.
    file : str
        Path below the root of the tree.
    find, replace : str
        The text, which must occur exactly once, and what takes its place.
    tests : tuple of str
        Files or node identifiers for pytest; where there are none, the tests that mirror the file.
    equivalent : str
        Why no test can see it; empty where one can.
    """

    name: str
    file: str
    find: str
    replace: str
    tests: tuple[str, ...] = ()
    equivalent: str = ""


@dataclass(frozen=True)
class Outcome:
    """What became of a fault."""

    fault: Fault
    word: str
    seconds: float = 0.0
    detail: str = ""

    @property
    def good(self) -> bool:
        """Whether nothing has to be done about it."""
        return self.word in GOOD


def faults_in(path: Path) -> list[Fault]:
    """The faults of a list, in its order.

    Raises
    ------
    ValueError
        If an entry lacks something or has something unknown, or if two have one name.
    """
    found = []
    for entry in tomllib.loads(path.read_text(encoding="utf-8"))["fault"]:
        if unknown := set(entry) - FIELDS:
            raise ValueError(f"{entry.get('name')}: {', '.join(sorted(unknown))} means nothing here")
        if missing := {"name", "file", "find", "replace"} - set(entry):
            raise ValueError(f"{entry.get('name')}: {', '.join(sorted(missing))} is missing")
        found.append(Fault(**{**entry, "tests": tuple(entry.get("tests", ()))}))
    names = [fault.name for fault in found]
    if repeated := {name for name in names if names.count(name) > 1}:
        raise ValueError(f"names must differ, but {', '.join(sorted(repeated))} is there twice")
    return found


def planted(fault: Fault, root: Path) -> str:
    """The text of the fault's file with the fault in it.

    Raises
    ------
    Stale
        If the file is gone, the text does not occur exactly once, or nothing would change.
    """
    path = root / fault.file
    if not path.is_file():
        raise Stale(f"there is no {fault.file}")
    text = path.read_text(encoding="utf-8")
    if (times := text.count(fault.find)) != 1:
        raise Stale(f"the text occurs {times} times in {fault.file}")
    changed = text.replace(fault.find, fault.replace)
    if changed == text:
        raise Stale("the replacement is the text itself")
    return changed


def mirrored_tests(file: str, root: Path) -> tuple[str, ...]:
    """The test file that mirrors a module; where there is none, those of the nearest folder that has some."""
    below = Path(file).relative_to("src/rldp")
    own = Path("tests") / below.parent / f"test_{below.stem.lstrip('_')}.py"
    if (root / own).is_file():
        return (own.as_posix(),)
    folder = own.parent
    while not any((root / folder).glob("test_*.py")):
        folder = folder.parent
    return tuple(sorted(path.relative_to(root).as_posix() for path in (root / folder).glob("test_*.py")))


# Copies


def copied(root: Path, target: Path) -> Path:
    """A copy of what the tests need."""
    for part in PARTS:
        if (root / part).is_dir():
            shutil.copytree(root / part, target / part, ignore=RUBBISH)
        elif (root / part).is_file():
            shutil.copy(root / part, target / part)
    return target


@contextmanager
def changed(path: Path, text: str) -> Iterator[None]:
    """The file has another text for a while."""
    before = path.read_bytes()
    path.write_text(text, encoding="utf-8")
    try:
        yield
    finally:
        path.write_bytes(before)


# Tests


def run_tests(tests: Sequence[str], tree: Path, limit: float, python: str) -> tuple[int | None, str]:
    """Exit code and output of pytest in a copy; None where it took too long.

    Slow tests run if they are named. Bytecode is not kept: a planted file may have the size and the second of
    the one that it replaces.
    """
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join(str(tree / part) for part in ("src", "tools")),
        "PYTHONDONTWRITEBYTECODE": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
    }
    quick = [] if any("::" in test for test in tests) else ["-m", "not slow"]
    command = [python, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *quick, *tests]
    process = subprocess.Popen(
        command,
        cwd=tree,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
        start_new_session=True,
    )
    try:
        output, _ = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        _stop(process)
        return None, ""
    except BaseException:
        _stop(process)
        raise
    return process.returncode, output


def _stop(process: subprocess.Popen[str]) -> None:
    """The tests, and all that they started."""
    with suppress(OSError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    process.communicate()


def first_failure(output: str) -> str:
    """The first test that failed, or else the last line."""
    found = re.search(r"^(?:FAILED|ERROR) (\S+)", output, re.MULTILINE)
    lines = output.strip().splitlines()
    return found[1] if found else lines[-1] if lines else ""


def tried(
    fault: Fault, tree: Path, *, limit: float = 300.0, all_tests: bool = False, python: str = sys.executable
) -> Outcome:
    """Plant a fault in a copy of the tree, run its tests, and take the fault out again."""
    try:
        text = planted(fault, tree)
    except Stale as why:
        return Outcome(fault, STALE, detail=str(why))
    tests = ("tests",) if all_tests else fault.tests or mirrored_tests(fault.file, tree)
    started = time.monotonic()
    with changed(tree / fault.file, text):
        code, output = run_tests(tests, tree, limit, python)
    seconds = time.monotonic() - started
    if code is None:
        return Outcome(fault, TIMED_OUT, seconds, f"after {limit:g} s")
    if code == FAILED:
        return Outcome(fault, NOT_EQUIVALENT if fault.equivalent else CAUGHT, seconds, first_failure(output))
    if code == PASSED:
        return Outcome(fault, EQUIVALENT if fault.equivalent else SURVIVED, seconds, fault.equivalent)
    return Outcome(fault, BROKEN, seconds, first_failure(output))


def sound(faults: Sequence[Fault], tree: Path, *, limit: float, python: str = sys.executable) -> str | None:
    """None if all tests that are relied on pass without any fault and import the copy; else what is wrong."""
    probe = "import rldp, sys; sys.exit(not rldp.__file__.startswith(sys.argv[1]))"
    environment = os.environ | {"PYTHONPATH": str(tree / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    if subprocess.run([python, "-c", probe, str(tree)], env=environment, check=False).returncode:
        return "the copy's src is not what Python imports rldp from"
    tests = sorted({test for fault in faults for test in fault.tests or mirrored_tests(fault.file, tree)})
    whole = [test for test in tests if "::" not in test]
    for part in (whole, [test for test in tests if "::" in test]):
        code, output = run_tests(part, tree, limit, python) if part else (PASSED, "")
        if code is None:
            return f"without any fault the tests take more than {limit:g} s"
        if code:
            return f"a test fails without any fault: {first_failure(output)}"
    return None


# Report


def line_of(outcome: Outcome) -> str:
    """One line of the table."""
    return f"{outcome.word:14} {outcome.seconds:6.1f} s  {outcome.fault.name}  [{outcome.detail}]"


def report(outcomes: Sequence[Outcome]) -> str:
    """How many faults came to which end, and those that something has to be done about."""
    words = [outcome.word for outcome in outcomes]
    counted = ", ".join(f"{words.count(word)} {word}" for word in sorted(set(words)))
    lines = [f"{len(outcomes)} faults: {counted}"]
    lines += [line_of(outcome) for outcome in outcomes if not outcome.good]
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Plant the faults asked for and print what became of each."""
    parser = argparse.ArgumentParser(description="Plant known faults and see whether the tests notice.")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="faults to plant; by default all")
    parser.add_argument("--jobs", type=int, default=1, help="how many at a time")
    parser.add_argument(
        "--limit", type=float, default=300.0, help="seconds that the tests of a fault may take"
    )
    parser.add_argument("--all-tests", action="store_true", help="run all quick tests against each fault")
    parser.add_argument("--unchecked", action="store_true", help="do not run the tests without a fault first")
    parser.add_argument("--root", type=Path, default=ROOT, help="the tree to copy")
    parser.add_argument("--list", type=Path, help=f"the list of faults; by default {LIST} of the tree")
    options = parser.parse_args(arguments)
    faults = faults_in(options.list or options.root / LIST)
    if options.only:
        if unknown := set(options.only) - {fault.name for fault in faults}:
            parser.error(f"no fault is called {', '.join(sorted(unknown))}")
        faults = [fault for fault in faults if fault.name in options.only]
    with tempfile.TemporaryDirectory(prefix="faults-") as folder:
        trees: SimpleQueue[Path] = SimpleQueue()
        for number in range(min(options.jobs, len(faults)) or 1):
            trees.put(copied(options.root, Path(folder) / str(number)))
        if not options.unchecked and not options.all_tests:
            tree = trees.get()
            trouble = sound(faults, tree, limit=20 * options.limit)
            trees.put(tree)
            if trouble is not None:
                print(trouble)
                return 1

        def one(fault: Fault) -> Outcome:
            tree = trees.get()
            try:
                outcome = tried(fault, tree, limit=options.limit, all_tests=options.all_tests)
            finally:
                trees.put(tree)
            print(line_of(outcome), flush=True)
            return outcome

        with ThreadPoolExecutor(options.jobs) as pool:
            outcomes = list(pool.map(one, faults))
    print(report(outcomes))
    return 0 if all(outcome.good for outcome in outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())
