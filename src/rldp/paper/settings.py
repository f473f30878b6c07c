"""The settings of a reproduction, checked once."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

import numpy as np
import scipy

from rldp._common.checks import finite_number, whole_number
from rldp._version import __version__
from rldp.errors import InvalidArgument
from rldp.sets import Credible, Nominal, Pairs, PowerDivergence
from rldp.theory.model import Floats

__all__ = ["PROBLEMS", "PROMISES", "Settings"]

PROBLEMS = ("NUNP", "NURP", "RUNP", "RURP")
"""The paper's four problems, in the order of its data files."""

PROMISES = ("joint", "pairs", "credible")
"""Promises compared beyond the paper: its set, a set for each pair of secrets, the posterior."""

_LARGEST_EPSILON = 100.0
_MOST = 10**6  # instances, and symbols of an alphabet


@dataclass(frozen=True)
class Settings:
    """The options of a reproduction; the defaults are the paper's.

    Parameters
    ----------
    instances : int, optional
        Truths drawn for each figure; by default as many as in the paper.
    seed : int
        Seed of all random numbers.
    lambda_ : float
        λ of the sets: 1 is the paper's χ² set, 0 the G-test's, 2/3 Cressie and Read's.
    epsilon : float
        Privacy level of the designs.
    alpha : float
        Level of the sets, in every figure but ``alpha``.
    secrets, values : int
        Sizes of the alphabets; values are 0, 1, 2, …
    """

    instances: int | None = None
    seed: int = 0
    lambda_: float = 1.0
    epsilon: float = 0.5
    alpha: float = 0.05
    secrets: int = 3
    values: int = 5

    def __post_init__(self) -> None:
        if self.instances is not None:
            object.__setattr__(self, "instances", whole_number("instances", self.instances, 1, _MOST))
        object.__setattr__(self, "seed", whole_number("seed", self.seed, 0, 2**63 - 1))
        object.__setattr__(self, "secrets", whole_number("secrets", self.secrets, 2, _MOST))
        object.__setattr__(self, "values", whole_number("values", self.values, 2, _MOST))
        epsilon = finite_number("epsilon", self.epsilon)
        if not 0 < epsilon <= _LARGEST_EPSILON:
            raise InvalidArgument(
                f"epsilon must be greater than 0 and at most {_LARGEST_EPSILON:g}, got {epsilon!r}"
            )
        object.__setattr__(self, "epsilon", epsilon)
        checked = PowerDivergence(self.lambda_, self.alpha)
        object.__setattr__(self, "lambda_", checked.lambda_)
        object.__setattr__(self, "alpha", checked.alpha)

    @property
    def cells(self) -> int:
        """|S|·|U|."""
        return self.secrets * self.values

    @property
    def distortion(self) -> Floats:
        """The squared distortion, |U|×|U|."""
        u = np.arange(self.values)
        return np.asarray((u[:, None] - u[None, :]) ** 2.0)

    def uncertainty(self, alpha: float | None) -> Nominal | PowerDivergence:
        """Return the set at level ``alpha``; the estimate alone for None."""
        return Nominal() if alpha is None else PowerDivergence(self.lambda_, alpha)

    def promise(self, name: str) -> PowerDivergence | Pairs | Credible:
        """Return the privacy set of a name in :data:`PROMISES`, at level ``alpha``.

        Raises
        ------
        InvalidArgument
            If ``alpha`` is too small for a promise that is checked by draws.
        """
        if name == "joint":
            return PowerDivergence(self.lambda_, self.alpha)
        return Pairs(self.alpha) if name == "pairs" else Credible(self.alpha, lambda_=self.lambda_)

    def manifest(self) -> dict[str, object]:
        """Return all settings that the numbers depend on, as JSON types."""
        versions = {"rldp": __version__, "numpy": np.__version__, "scipy": scipy.__version__}
        return {"format": 1, **versions, **asdict(self)}

    @classmethod
    def from_manifest(cls, text: str) -> Settings:
        """Return the settings stored by :meth:`manifest`."""
        known = json.loads(text)
        return cls(**{name: known[name] for name in cls.__dataclass_fields__})
