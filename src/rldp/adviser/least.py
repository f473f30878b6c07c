"""Search for the smallest ε that allows a given distortion."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial

import numpy as np

from rldp._common.checks import finite_number
from rldp._common.digits import at_most
from rldp._common.process import silenced, warn
from rldp.designer.api import design_levels
from rldp.designer.designs import Design
from rldp.distortions import Distortion, Outputs
from rldp.errors import GapWarning, InvalidArgument
from rldp.sample import Sample
from rldp.sets import PrivacySet, UtilitySet

__all__ = ["LARGEST", "LeastDesign", "least_epsilon"]

LARGEST = 50.0
"""The largest ε that is tried: a protocol that needs more protects nothing."""
_SMALLEST = 1e-4
_FIRST = 20  # levels of the first batch
_LEVELS = 8  # levels of each further batch
_ROUNDS = 12
_FINEST = 1e-9


@dataclass(frozen=True, eq=False, repr=False)
class LeastDesign(Design):
    """A design with the smallest sufficient ε, and the proof that hardly less would suffice.

    Attributes
    ----------
    too_small : float
        At this and every smaller ε, proved to be impossible: no protocol has the wanted distortion. For a
        credible promise this refers to the set found at this ε. None if nothing was proved, in particular if
        ε = 0 suffices.
    wanted : float
        The requested distortion.
    """

    too_small: float | None
    wanted: float

    @classmethod
    def of(cls, designed: Design, too_small: float | None, wanted: float) -> LeastDesign:
        """Return the design, extended by what was found about smaller levels."""
        own = {each.name: getattr(designed, each.name) for each in fields(Design)}
        return cls(**own, too_small=too_small, wanted=wanted)


def least_epsilon(
    sample: Sample,
    distortion: float,
    *,
    privacy: PrivacySet = "chi2",
    utility: UtilitySet | None = None,
    measure: Distortion | Mapping[str, Distortion] = "squared",
    weights: Mapping[str, float] | None = None,
    outputs: Outputs = None,
    epsilon_known: float = math.inf,
    tolerance: float = 1e-3,
    callback: Callable[[int, float, float], None] | None = None,
) -> LeastDesign:
    """Find the smallest ε that promises a distortion of at most ``distortion``, and design for it.

    Both sides are proved: the design promises the distortion at its ε, and a lower bound shows that no
    protocol does at :attr:`~rldp.adviser.least.LeastDesign.too_small`. The interval between the two is at
    most ``tolerance`` of ε wide, unless the problem is too ill-conditioned for that.

    Parameters
    ----------
    sample : Sample
        The public sample.
    distortion : float
        The largest acceptable expected distortion.
    privacy, utility : UncertaintySet or its name
        The sets over which privacy and the distortion must hold; the defaults are those of
        :func:`rldp.design`.
    measure : {"squared", "absolute", "hamming"}, callable d(u, y), or |U|×|Y| array
        The distance of an output from a value, which :func:`rldp.design` calls ``distortion``.
    outputs : sequence of labels, optional
        The alphabet of Y; by default the alphabet of U.
    epsilon_known : float
        As in :func:`rldp.design`; it is fixed during the search.
    tolerance : float
        Relative tolerance of ε, between 1e-9 and 1.
    callback : callable (round, too_small, epsilon), optional
        Called after each batch of designs.

    Returns
    -------
    LeastDesign

    Raises
    ------
    InvalidArgument
        If no protocol has so small a distortion (the message names the smallest possible one), or none with ε
        at most 50.

    Warns
    -----
    GapWarning
        If the problem is too ill-conditioned for the tolerance.

    Examples
    --------
    >>> import rldp
    >>> found = rldp.least_epsilon(rldp.Sample([[300, 100], [50, 250]]), 0.1)
    >>> found.objective <= 0.1, found.epsilon - found.too_small <= 1e-3 * found.epsilon
    (True, True)
    """
    wanted = finite_number("distortion", distortion, at_least=0.0)
    close = finite_number("tolerance", tolerance)
    if not _FINEST <= close <= 1:
        raise InvalidArgument(f"tolerance must lie between {_FINEST:g} and 1, got {close!r}")
    gap = close * min(1.0, max(wanted, _FINEST)) / 100
    designs = partial(
        design_levels,
        sample,
        privacy=privacy,
        utility=utility,
        distortion=measure,
        weights=weights,
        outputs=outputs,
        epsilon_known=epsilon_known,
        gap=gap,
    )
    with silenced(GapWarning):
        bracket = _searched(designs, wanted, callback, close)
    if not bracket.is_within(close):
        low = "0" if bracket.too_small is None else f"{bracket.too_small:.6g}"
        warn(
            f"the smallest ε is known to lie between {low} and {bracket.epsilon:.6g} only; the problem is "
            "too ill-conditioned for less",
            GapWarning,
            stacklevel=2,
        )
    assert bracket.design is not None
    return LeastDesign.of(bracket.design, bracket.too_small, wanted)


@dataclass(frozen=True)
class _Bracket:
    """The best level that suffices, with its design, and the largest that does not."""

    wanted: float
    design: Design | None = None
    epsilon: float = math.inf
    too_small: float | None = None

    def narrowed(self, levels: Sequence[float], designs: Sequence[Design]) -> _Bracket:
        """Return the bracket narrowed by designs at some levels, in increasing order."""
        known = self
        for epsilon, designed in zip(levels, designs, strict=True):
            if designed.objective <= self.wanted:
                return replace(known, design=designed, epsilon=epsilon)
            if designed.lower_bound > self.wanted:
                known = replace(known, too_small=epsilon)
        return known

    def is_within(self, share: float) -> bool:
        """Return whether the bracket is at most a share of ε wide."""
        low = self.too_small
        return self.epsilon == 0 or (low is not None and self.epsilon - low <= share * self.epsilon)

    def levels(self) -> list[float]:
        """Return the levels to try next."""
        low = 0.0 if self.too_small is None else self.too_small
        inside: list[float] = np.linspace(low, self.epsilon, _LEVELS + 2)[1:-1].tolist()
        return inside


def _searched(
    designs: Callable[[list[float]], list[Design]],
    wanted: float,
    callback: Callable[[int, float, float], None] | None,
    close: float,
) -> _Bracket:
    """Narrow the bracket to ``close``."""
    (unprotected,) = designs([math.inf])
    if wanted < unprotected.lower_bound:
        raise InvalidArgument(
            f"distortion must be at least {at_most(unprotected.objective, 6)}, the smallest that is possible "
            f"without any privacy, got {wanted!r}"
        )
    bracket, levels = _Bracket(wanted), [0.0, *np.geomspace(_SMALLEST, LARGEST, _FIRST).tolist()]
    for number in range(_ROUNDS):
        before, made = bracket, designs(levels)
        bracket = bracket.narrowed(levels, made)
        if bracket.design is None:
            raise InvalidArgument(
                f"distortion must be at least {at_most(made[-1].objective, 6)} for an ε of at most "
                f"{LARGEST:g}, got {wanted!r}; without any privacy it is {at_most(unprotected.objective, 6)}"
            )
        if callback is not None:
            callback(number + 1, bracket.too_small or 0.0, bracket.epsilon)
        if bracket.is_within(close) or (bracket.epsilon, bracket.too_small) == (
            before.epsilon,
            before.too_small,
        ):
            break
        levels = bracket.levels()
    return bracket
