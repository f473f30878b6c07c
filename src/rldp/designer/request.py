"""Requests to the solver besides the problem itself, the device it works on, and its answers.

The engine's arrays are NumPy's in memory, or CuPy's and PyTorch's on an accelerator.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any, Literal

import array_api_compat
import numpy as np
from numpy.typing import NDArray

from rldp._common.checks import finite_number, real_number, shown
from rldp._common.process import needs
from rldp.designer.certify import CertifiedBatch
from rldp.designer.engine import Progress, Settings
from rldp.errors import InvalidArgument, InvalidArgumentType
from rldp.sample import Sample
from rldp.sets import Credible, Nominal, Pairs, UncertaintySet
from rldp.theory.arrays import Array, ordered_pairs
from rldp.theory.model import DesignProblem, Floats
from rldp.theory.pair_sets import radii_of

__all__ = [
    "CPU",
    "Device",
    "Promised",
    "SolveRequest",
    "SolveResult",
    "checked_settings",
    "device_named",
    "device_of",
    "in_memory",
    "levels_of_batch",
    "levels_of_sample",
]

Promised = Literal["privacy", "utility"]


@dataclass(frozen=True)
class Device:
    """An array library, and for PyTorch the device of new arrays."""

    library: str = "numpy"
    place: str | None = None
    bytes: int = 2**35  # of arrays that may be held there at once

    @property
    def xp(self) -> Any:
        """The library's namespace, as the array API standard has it."""
        return import_module(f"array_api_compat.{self.library}")

    @property
    def is_cpu(self) -> bool:
        """Whether arrays are NumPy's and need not be moved."""
        return self.library == "numpy"

    @contextmanager
    def working(self) -> Iterator[None]:
        """Make new arrays here; PyTorch's lack of memory becomes a MemoryError."""
        if self.library != "torch":
            yield
            return
        torch = import_module("torch")
        try:
            with torch.device(self.place or "cpu"):
                yield
        except torch.OutOfMemoryError as error:  # a RuntimeError
            raise MemoryError(str(error)) from error

    def gammas(self, shapes: Array, seed: int) -> Array | None:
        """Return gamma variables of these shapes on this device; None if the library has none."""
        if self.library == "torch":
            torch = import_module("torch")
            generator = torch.Generator(device=self.place)
            generator.manual_seed(seed)
            return torch._standard_gamma(shapes.contiguous(), generator=generator)
        if self.library == "cupy":
            return import_module("cupy").random.default_rng(seed).standard_gamma(shapes)
        return None

    def array(self, x: NDArray[Any]) -> Array:
        """Return NumPy's array as one of this device."""
        with self.working():
            return self.xp.asarray(np.array(x))


CPU = Device()


@dataclass(frozen=True)
class SolveRequest:
    """Requested accuracy, method and deadline.

    Attributes
    ----------
    gap : float
        Requested: objective − lower bound ≤ gap·max(1, objective).
    settings : Settings
    windows : bool
        Keep robust privacy by windows.
    device : Device
        The device of the engine's arrays.
    callback : callable, optional
        Called with a :class:`Progress` after each step, or each chunk of a large batch.
    deadline : float
        When to stop, by :func:`time.perf_counter`.
    """

    gap: float
    settings: Settings
    windows: bool = False
    device: Device = CPU
    callback: Callable[[Progress], None] | None = None
    deadline: float = math.inf

    @classmethod
    def of(
        cls,
        gap: float,
        settings: Settings | None,
        max_seconds: float | None,
        started: float,
        *,
        windows: bool = False,
        device: Device = CPU,
        callback: Callable[[Progress], None] | None = None,
    ) -> SolveRequest:
        """Return the checked arguments of a design that began at ``started``."""
        tolerance = finite_number("gap", gap)
        if tolerance <= 0:
            raise InvalidArgument(f"gap must be greater than 0, got {gap!r}")
        seconds = math.inf if max_seconds is None else real_number("max_seconds", max_seconds)
        if not seconds > 0:
            raise InvalidArgument(f"max_seconds must be greater than 0, got {max_seconds!r}")
        return cls(
            tolerance, checked_settings(settings), bool(windows), device, callback, deadline=started + seconds
        )

    @property
    def seconds_left(self) -> float:
        """Seconds until the deadline; infinite without one."""
        return self.deadline - time.perf_counter()


def checked_settings(settings: Settings | None) -> Settings:
    """Return the settings of a design; the usual ones by default."""
    if settings is not None and not isinstance(settings, Settings):
        raise InvalidArgumentType(f"settings must be an rldp.Settings, got {type(settings).__name__}")
    return settings or Settings()


@dataclass(frozen=True)
class SolveResult:
    """Designs and their problems, with the radii (K,) of sets that were searched for."""

    problem: DesignProblem
    solved: CertifiedBatch
    radii: Mapping[Promised, Floats]

    def promise(self, about: Promised, given: UncertaintySet, i: int) -> UncertaintySet:
        """Return the promise of design ``i``, with the numbers found for it."""
        if isinstance(given, Pairs):
            return replace(given, radii=radii_of(given, self.problem.counts[i : i + 1])[0])
        centres = self.problem.centre_of_privacy if about == "privacy" else self.problem.centre_of_utility
        centre = None if centres is None else tuple(map(tuple, centres[i].tolist()))
        if isinstance(given, Credible):
            return replace(given, radius=float(self.radii[about][i]), centre=centre)
        return replace(given, centre=centre) if isinstance(given, Nominal) else given


# Devices


def device_named(name: str | None) -> Device:
    """Return the device that a user names: None or "cpu", "cupy", or a device of PyTorch such as "cuda"."""
    if name is None or name == "cpu":
        return CPU
    if not isinstance(name, str):
        raise InvalidArgumentType(f"device must be a name such as 'cuda' or 'cupy', got {shown(name)}")
    if name == "cupy":
        with needs("device='cupy'", "CuPy", install="robust-ldp[cupy]"):
            import_module("cupy")
        return Device("cupy")
    with needs(f"device={name!r}", "PyTorch", install="robust-ldp[cuda]"):
        torch = import_module("torch")
    place = "cpu" if name == "torch" else name
    try:
        torch.zeros(1, device=place)
    except (RuntimeError, AssertionError) as error:
        reason = str(error).split("\n")[0]
        raise InvalidArgument(f"device must be one that PyTorch has here, got {name!r}: {reason}") from error
    return Device("torch", place)


def device_of(x: Any) -> Device:
    """Return the device of an array; lists and unknown objects are NumPy's."""
    if array_api_compat.is_torch_array(x):
        return Device("torch", str(x.device))
    return Device("cupy") if array_api_compat.is_cupy_array(x) else CPU


def in_memory(x: Array) -> NDArray[Any]:
    """Return an array of any library as NumPy's."""
    if array_api_compat.is_torch_array(x):
        return np.asarray(x.detach().cpu())
    return np.asarray(x.get()) if array_api_compat.is_cupy_array(x) else np.asarray(x)


# Levels of pairs of secrets, as users give them


def levels_of_sample(sample: Sample, epsilons: Sequence[Any]) -> Floats:
    """Levels of a problem for each of ``epsilons``: (K,) where all pairs have the same, otherwise (K, T).

    Each is a number, an array (|S|, |S|), or a mapping {secret column: number}.
    """
    secrets = len(sample.secrets)
    of_each = [levels_of_batch(_of_columns(sample, each), 1, secrets, one=True) for each in epsilons]
    if all(levels.ndim == 1 for levels in of_each):
        return np.concatenate(of_each)
    pairs = (1, secrets * (secrets - 1))
    return np.concatenate([np.broadcast_to(levels.reshape(1, -1), pairs) for levels in of_each])


def levels_of_batch(epsilon: Any, count: int, secrets: int, *, one: bool = False) -> Floats:
    """The levels of ``count`` problems: (count,) where pairs have the same, otherwise (count, T)."""
    of_all = "one number" if one else f"one number, one for each of {count} samples"
    needed = f"epsilon must be {of_all} or an array ({secrets}, {secrets}) for all pairs of secrets"
    if isinstance(epsilon, Mapping | str):
        real_number("epsilon", epsilon)  # refuses it
    try:
        given = np.asarray(epsilon, dtype=object)
    except ValueError as error:
        raise InvalidArgument(f"{needed}, got rows that differ") from error
    if given.ndim == 1 and any(isinstance(row, list | tuple | np.ndarray) for row in given):
        raise InvalidArgument(f"{needed}, got rows that differ")
    if given.ndim >= 2:
        if given.shape not in ((secrets, secrets), (count, secrets, secrets)) or (one and given.ndim > 2):
            raise InvalidArgument(f"{needed}, got shape {given.shape}")
        first, second = ordered_pairs(secrets).T
        given = given.reshape(-1, secrets, secrets)[:, first, second]
        pairs = np.repeat(_checked(given), count // len(given), axis=0)
        if pairs.shape[1] == 0:
            return np.zeros(count)
        return pairs[:, 0] if (pairs == pairs[:, :1]).all() else pairs
    levels = _checked(given)
    if levels.ndim == 0:
        return np.repeat(levels, count)
    if levels.shape != (count,) or one:
        raise InvalidArgument(f"{needed}, got shape {levels.shape}")
    return levels


def _checked(given: Any) -> Floats:
    levels = np.array([real_number("epsilon", item) for item in given.ravel()]).reshape(given.shape)
    if (levels < 0).any():
        raise InvalidArgument(f"epsilon must be at least 0, got {float(levels.min())!r}")
    return levels


def _of_columns(sample: Sample, own: Any) -> Any:
    """ε(s, s′) = Σ over the columns in which s and s′ differ, from {secret column: ε}; else as given."""
    columns = () if sample.reading is None else sample.reading.secret
    if not isinstance(own, Mapping) or not (own or columns):
        return own
    names = tuple(column.name for column in columns)
    if set(own) != set(names):
        known = ", ".join(map(shown, names)) or "no columns, as the sample names none"
        raise InvalidArgument(
            f"epsilon must have a level for each secret column ({known}), got {_listed(own)}"
        )
    levels = [_own_level(name, own[name]) for name in names]
    if len(levels) == 1:
        return levels[0]
    places = np.array(list(np.ndindex(*(len(column.labels) for column in columns))))
    differ = places[:, None] != places[None]
    return [
        [math.fsum(e for e, other in zip(levels, row, strict=True) if other) for row in rows]
        for rows in differ.tolist()
    ]


def _own_level(name: str, level: Any) -> float:
    number = real_number("epsilon", level)
    if number < 0:
        raise InvalidArgument(f"epsilon of {shown(name)} must be at least 0, got {number!r}")
    return number


def _listed(own: Mapping[Any, Any]) -> str:
    return ", ".join(map(shown, own)) or "none"
