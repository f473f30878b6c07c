"""What is said to lie in a set does, in an arithmetic of sixty digits too."""

import mpmath
import numpy as np
import pytest

from rldp.theory.membership import _divergence_at_most, pulled_inside


def exact(order, estimate, distribution):
    with mpmath.workdps(60):
        hats, ps = ([mpmath.mpf(x) for x in table.ravel().tolist()] for table in (estimate, distribution))
        hats, ps = ([x / mpmath.fsum(entries) for x in entries] for entries in (hats, ps))
        pairs = [(h, p) for h, p in zip(hats, ps, strict=True) if h > 0]
        if order == 0:
            return mpmath.fsum(h * mpmath.log(h / p) for h, p in pairs)
        return mpmath.fsum(h * ((h / p) ** mpmath.mpf(order) - 1) for h, p in pairs)


def tables(seed, shape):
    rng = np.random.default_rng(seed)
    counts = rng.multinomial(97, rng.dirichlet(np.full(np.prod(shape), 0.3))).reshape(shape)
    target = rng.dirichlet(np.ones(np.prod(shape))).reshape(shape)
    return counts / counts.sum(), target


@pytest.mark.parametrize("order", [0, 0.1, 2 / 3, 1, 5, 100])
@pytest.mark.parametrize("share", [0, 1e-15, 1e-12, 1e-9, 1e-6, 1e-3, 0.2])
def test_the_bound_is_one_and_not_far(order, share):
    for seed in range(20):
        estimate, target = tables(seed, (2, 4))
        mixed = (1 - share) * estimate + share * target
        bound = _divergence_at_most(order, estimate, mixed / mixed.sum())
        truth = exact(order, estimate, mixed / mixed.sum())
        assert truth <= bound
        assert bound <= float(truth) * (1 + 1e-9) + 1e-11


@pytest.mark.parametrize("order", [0, 1, 3])
@pytest.mark.parametrize("radius", [0.5, 1e-3, 1e-9, 1e-13])
def test_the_point_is_inside_and_as_far_out_as_can_be(order, radius):
    for seed in range(10):
        estimate, target = tables(seed, (3, 3))
        point = pulled_inside(order, radius, estimate, target)
        assert point.sum() == pytest.approx(1, abs=1e-15)
        assert exact(order, estimate, point) <= radius
        assert _divergence_at_most(order, estimate, point) <= radius
        whole = exact(order, estimate, target) <= radius
        assert (
            np.array_equal(point, target / target.sum())
            if whole
            else (exact(order, estimate, point) >= 0.5 * radius)
        )
