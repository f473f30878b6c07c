"""Where the engine's arrays live: NumPy's in memory, or CuPy's and PyTorch's on an accelerator."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import array_api_compat
import numpy as np
from numpy.typing import NDArray

from rldp._common.checks import shown
from rldp.errors import InvalidArgument, InvalidArgumentType, needs
from rldp.theory.arrays import Array

__all__ = ["CPU", "Device", "device_named", "device_of", "in_memory"]


@dataclass(frozen=True)
class Device:
    """An array library, and for PyTorch the device that its new arrays are made on."""

    library: str = "numpy"
    place: str | None = None
    bytes: int = 2**35  # of arrays that may be held there at once

    @property
    def xp(self) -> Any:
        """The library's namespace, as the array API standard has it."""
        return import_module(f"array_api_compat.{self.library}")

    @property
    def is_cpu(self) -> bool:
        """Whether nothing has to move: NumPy."""
        return self.library == "numpy"

    @contextmanager
    def working(self) -> Iterator[None]:
        """New arrays are made here; PyTorch's lack of memory becomes a MemoryError."""
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
        """Gamma variables of these shapes, an array of this device; None where the library has none."""
        if self.library == "torch":
            torch = import_module("torch")
            generator = torch.Generator(device=self.place)
            generator.manual_seed(seed)
            return torch._standard_gamma(shapes.contiguous(), generator=generator)
        if self.library == "cupy":
            return import_module("cupy").random.default_rng(seed).standard_gamma(shapes)
        return None

    def array(self, x: NDArray[Any]) -> Array:
        """NumPy's array as one of this device."""
        with self.working():
            return self.xp.asarray(np.array(x))


CPU = Device()


def device_named(name: str | None) -> Device:
    """The device that a user means: None or "cpu", "cupy", or a device of PyTorch such as "cuda"."""
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
    """Where an array lives; lists and everything unknown are NumPy's."""
    if array_api_compat.is_torch_array(x):
        return Device("torch", str(x.device))
    return Device("cupy") if array_api_compat.is_cupy_array(x) else CPU


def in_memory(x: Array) -> NDArray[Any]:
    """An array of any library as NumPy's."""
    if array_api_compat.is_torch_array(x):
        return np.asarray(x.detach().cpu())
    return np.asarray(x.get()) if array_api_compat.is_cupy_array(x) else np.asarray(x)
