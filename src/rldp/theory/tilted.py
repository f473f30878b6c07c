r"""Integrals of :math:`t^{a-1}e^{\nu t-\tau t^2/2}` over t > 0, many at once.

In :math:`z=\log t` the integrand is :math:`e^{h(z)}` with :math:`h=az+\nu e^z-\frac\tau2e^{2z}`. For τ > 0 it
has one maximum, where :math:`h'=a+\nu t-\tau t^2=0`, and there :math:`-h''=a+\tau t^2`. To its right, d away,
h has fallen by :math:`a(e^d-1-d)+\frac12\tau t^2(e^d-1)^2`; to its left by at least :math:`a(d-1+e^{-d})`,
and by at least :math:`\frac12\nu t(1-e^{-d})^2` if ν > 0. Gauss–Legendre quadrature is used on two panels,
outside of which the integrand is below :math:`e^{-36}` of the maximum. For small t, where the exponential is
nearly 1, a power series is integrated.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rldp.theory.model import Floats

__all__ = ["has_peak", "moments"]

_NODES, _RULE = np.polynomial.legendre.leggauss(40)
_FALL = 36.0  # nats below the maximum at which the integrand is negligible
_SIGMAS = np.sqrt(2 * _FALL)  # where a parabola has fallen by this much
_SMALL = 1e-3  # where |νt| and √τ·t are below, the power series is exact to 1e-12
_BEND = 3.0  # largest distance left of a wide peak at which h is curved; beyond, it is nearly linear
_SMALLEST = 1e-300
_CLEARLY = 0.5  # least discriminant as a share of ν² if τ is negative


def has_peak(a: Floats, nu: Floats, tau: Floats) -> NDArray[np.bool_]:
    """Return whether the integrand has a clear maximum: always for τ > 0, else if ν is negative enough.

    For τ < 0 the integrand grows again far to the right; the part beyond the valley is left out.
    """
    return np.asarray((tau > 0) | ((nu < 0) & (4 * a * -tau < _CLEARLY * nu**2)))


def moments(a: Floats, nu: Floats, tau: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the logarithm of the integral, and the mean and variance of t: arrays of one shape.

    Parameters
    ----------
    a : array, positive
    nu, tau : array
        Such that there is a peak.
    """
    start, middle, end, series = _panels(a, nu, tau)
    z, rule = _nodes(start, middle, end)
    t = np.exp(z)
    h = a[..., None] * z + nu[..., None] * t - tau[..., None] * t**2 / 2
    at_start = np.where(start <= series, a * start, -np.inf)
    most = np.maximum(h.max(axis=-1), at_start)
    mass = rule * np.exp(h - most[..., None])
    first, below = np.exp(start), np.exp(at_start - most)
    parts = [below * first**j * _power(a + j, nu * first, tau * first**2 / 2) for j in range(3)]
    total = mass.sum(axis=-1) + parts[0]
    mean = ((mass * t).sum(axis=-1) + parts[1]) / total
    spread = (mass * (t - mean[..., None]) ** 2).sum(axis=-1)
    spread += parts[2] - 2 * mean * parts[1] + mean**2 * parts[0]
    return most + np.log(total), mean, np.maximum(spread / total, _SMALLEST)


def _panels(a: Floats, nu: Floats, tau: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Return the z where the two panels start, meet and end, and below which a power series suffices."""
    root = np.sqrt(nu**2 + 4 * a * tau)
    flat = tau <= 0
    steep = (nu > 0) & ~flat
    mode = np.where(
        steep, (nu + root) / (2 * np.where(flat, 1.0, tau)), 2 * a / np.where(steep, 1.0, root - nu)
    )
    top, width = np.log(mode), 1 / np.sqrt(a + tau * mode**2)
    fall = _FALL / a
    left = np.where(fall < 1, 1.5 * np.sqrt(2 * fall), fall + 1)
    linear = np.where(steep, nu * mode, 0.0)
    strong = linear > 2.2 * _FALL
    near = -np.log1p(-np.sqrt(2 * _FALL / np.where(strong, linear, 4 * _FALL)))
    left = np.where(strong, np.minimum(left, near), left)
    valley = np.log(np.where(flat, (root - nu) / (2 * np.where(flat, -tau, 1.0) + _SMALLEST), 1.0))
    right = np.log1p(fall + np.sqrt(2 * fall))  # x = e^d − 1 has x − log(1 + x) ≥ fall
    right = np.minimum(right, np.log1p(_SIGMAS / np.sqrt(np.where(flat, _SMALL, tau * mode**2))))
    right = np.where(flat, np.minimum(2 * _SIGMAS * width, valley - top), right)
    series = np.log(_SMALL / (np.abs(nu) + np.sqrt(np.abs(tau))))
    start, end = np.maximum(top - left, series), top + right
    return start, np.clip(top - np.minimum(_SIGMAS * width, _BEND), start, end), end, series


def _nodes(start: Floats, middle: Floats, end: Floats) -> tuple[Floats, Floats]:
    places, rules = [], []
    for low, high in ((start, middle), (middle, end)):
        half = (high - low)[..., None] / 2
        places.append((high + low)[..., None] / 2 + half * _NODES)
        rules.append(half * _RULE)
    return np.concatenate(places, axis=-1), np.concatenate(rules, axis=-1)


def _power(a: Floats, x: Floats, y: Floats) -> Floats:
    """Return ∫₀¹ s^{a−1} exp(xs − ys²) ds for small x and y."""
    return np.asarray(1 / a + x / (a + 1) + (x**2 / 2 - y) / (a + 2) + (x**3 / 6 - x * y) / (a + 3))
