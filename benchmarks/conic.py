r"""The design problem in two scalars per output and pair, as one conic program in plain arrays.

With p = η − x ≥ 0 and w = P̂, robust privacy asks for η1 + η2 ≤ (ℓ1^{2/3} + ℓ2^{2/3})³/C² with
ℓ_i = Σ_u w_iu √p_iu (``docs/theory.md``, 'Special forms'). With g = η1 + η2 that is

    b_iu² ≤ p_iu g,   a_i³ C² ≤ (Σ_u w_iu b_iu)² g,   a1 + a2 ≥ g,

and a³ ≤ L²g says that a² ≤ Lh and h² ≤ ga for some h. Robust utility, t ≤ (Σ w √(η − v))²/(1 + B), is
b² ≤ pt and Σ w b ≥ √(1 + B) t. So every curved constraint is b² ≤ xy, a cone of three numbers.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field

import clarabel
import numpy as np
import scs
from scipy import sparse

from instances import Answer, GaveUp, Instance
from rldp.theory.arrays import ordered_pairs


@dataclass(frozen=True, eq=False)
class Linear:
    """Linear expressions of the variables, one a row: the entries of a sparse matrix."""

    size: int
    row: np.ndarray
    column: np.ndarray
    value: np.ndarray

    @classmethod
    def total(cls, columns: np.ndarray, weights: object = 1.0) -> Linear:
        """Weighted sums over the last axis; all axes before it are rows."""
        size, terms = math.prod(columns.shape[:-1]), columns.shape[-1]
        value = np.broadcast_to(weights, columns.shape).ravel()
        return cls(size, np.repeat(np.arange(size), terms), columns.ravel(), value)

    @classmethod
    def each(cls, columns: np.ndarray, weights: object = 1.0) -> Linear:
        """The variables themselves, weighted."""
        return cls.total(columns[..., None], np.asarray(weights)[..., None])

    def __add__(self, other: Linear) -> Linear:
        joined = ((getattr(self, name), getattr(other, name)) for name in ("row", "column", "value"))
        return Linear(self.size, *(np.concatenate(pair) for pair in joined))

    def __mul__(self, factor: object) -> Linear:
        factors = np.broadcast_to(factor, self.size)
        return Linear(self.size, self.row, self.column, self.value * factors[self.row])

    def __sub__(self, other: Linear) -> Linear:
        return self + other * -1.0


@dataclass
class Builder:
    """Variables and constraints as they are named; each list holds the rows of one kind of cone."""

    variables: int = 0
    zero: list[tuple[Linear, float]] = field(default_factory=list)
    nonnegative: list[Linear] = field(default_factory=list)
    products: list[Linear] = field(default_factory=list)

    def new(self, *shape: int) -> np.ndarray:
        """The columns of new variables."""
        count = math.prod(shape)
        self.variables += count
        return np.arange(self.variables - count, self.variables).reshape(shape)

    def square_below(self, b: Linear, x: Linear, y: Linear) -> None:
        """b² ≤ xy with x, y ≥ 0, row by row: (x + y, x − y, 2b) in the second-order cone."""
        parts = (x + y, x - y, b * 2.0)
        row = np.concatenate([3 * part.row + place for place, part in enumerate(parts)])
        column, value = (np.concatenate([getattr(p, name) for p in parts]) for name in ("column", "value"))
        self.products.append(Linear(3 * b.size, row, column, value))


@dataclass(frozen=True, eq=False)
class Program:
    """min cost·x with rhs − matrix·x in the cones: zeros, non-negatives, second-order cones of three."""

    cost: np.ndarray
    matrix: sparse.csc_matrix
    rhs: np.ndarray
    zeros: int
    nonnegatives: int
    products: int
    scale: float
    shape: tuple[int, int, int]

    def protocol(self, x: np.ndarray) -> np.ndarray:
        """The first variables are Q, outputs first."""
        return np.moveaxis(x[: math.prod(self.shape)].reshape(self.shape), 0, 2)


def program(instance: Instance) -> Program:
    """The conic program of an instance; distortions are scaled to at most one."""
    build = Builder()
    secrets, values = instance.counts.shape
    outputs = instance.distortion.shape[1]
    scale = instance.distortion.max()
    d = instance.distortion / scale
    q = build.new(outputs, secrets, values)
    build.zero.append((Linear.total(np.moveaxis(q, 0, 2)), 1.0))
    build.nonnegative.append(Linear.each(q))
    if instance.robust_privacy:
        _robust_privacy(build, instance, q)
    else:
        _nominal_privacy(build, instance, q)
    if instance.robust_utility:
        objective = _robust_utility(build, instance, q, d)
    else:
        objective = Linear.total(q.ravel()[None], (instance.estimate * d.T[:, None, :]).ravel())
    return _assembled(build, objective, scale, q.shape)


def _robust_privacy(build: Builder, instance: Instance, q: np.ndarray) -> None:
    pairs = ordered_pairs(len(instance.counts))
    x = q[:, pairs]  # (Y, T, 2, U)
    sides, cells = x.shape[:-1], x.shape
    weight = np.broadcast_to(instance.estimate[pairs], cells)
    sign = np.broadcast_to(np.array([1.0, -instance.e])[:, None], cells)
    masses = instance.estimate.sum(axis=1)[pairs]
    size = math.sqrt(1 + instance.radius) - 1 + masses.sum(axis=1)  # C
    eta, a = build.new(*sides), build.new(*sides)
    build.nonnegative.append(Linear.total(a) - Linear.total(eta))

    eta_cell = np.broadcast_to(eta[..., None], cells)
    both = np.broadcast_to(eta[:, :, None, None, :], (*cells, 2))
    seen = weight > 0
    p = Linear.each(eta_cell[~seen]) - Linear.each(x[~seen], sign[~seen])
    build.nonnegative.append(p)
    b = np.zeros(cells, dtype=int)
    b[seen] = build.new(np.count_nonzero(seen))
    p = Linear.each(eta_cell[seen]) - Linear.each(x[seen], sign[seen])
    build.square_below(Linear.each(b[seen]), p, Linear.total(both[seen]))

    present = np.broadcast_to(masses > 0, sides)
    build.nonnegative.append(Linear.each(a[~present]) * -1.0)
    both = np.broadcast_to(eta[:, :, None, :], (*sides, 2))[present]
    means = weight[present] / np.broadcast_to(size[:, None], sides)[present][:, None]
    a, h = Linear.each(a[present]), Linear.each(build.new(np.count_nonzero(present)))
    build.square_below(a, Linear.total(b[present], means), h)
    build.square_below(h, Linear.total(both), a)


def _nominal_privacy(build: Builder, instance: Instance, q: np.ndarray) -> None:
    masses = instance.estimate.sum(axis=1)
    pairs = ordered_pairs(len(masses))
    pairs = pairs[(masses[pairs] > 0).all(axis=1)]
    weight = instance.estimate[pairs] / masses[pairs][..., None] * np.array([-1.0, instance.e])[:, None]
    columns = q[:, pairs]
    flat = (*columns.shape[:2], -1)
    weights = np.broadcast_to(weight, columns.shape)
    build.nonnegative.append(Linear.total(columns.reshape(flat), weights.reshape(flat)))


def _robust_utility(build: Builder, instance: Instance, q: np.ndarray, d: np.ndarray) -> Linear:
    eta, t, v = build.new(1), build.new(1), build.new(*instance.counts.shape)
    cost = Linear.total(np.moveaxis(q, 0, 2), d[None])
    build.zero.append((Linear.each(v) - cost, 0.0))
    seen = instance.counts > 0
    for mask in (~seen, seen):
        p = Linear.each(np.broadcast_to(eta, np.count_nonzero(mask))) - Linear.each(v[mask])
        if mask is seen:
            b = build.new(np.count_nonzero(seen))
            build.square_below(Linear.each(b), p, Linear.each(np.broadcast_to(t, b.shape)))
        else:
            build.nonnegative.append(p)
    mean = Linear.total(b[None], instance.estimate[seen])
    build.nonnegative.append(mean - Linear.each(t, math.sqrt(1 + instance.radius)))
    return Linear.each(eta) - Linear.each(t)


def _assembled(build: Builder, objective: Linear, scale: float, shape: tuple[int, ...]) -> Program:
    blocks = [part for part, _ in build.zero] + build.nonnegative + build.products
    starts = np.cumsum([0, *(block.size for block in blocks)])
    row = np.concatenate([block.row + start for block, start in zip(blocks, starts[:-1], strict=True)])
    column, value = (np.concatenate([getattr(b, name) for b in blocks]) for name in ("column", "value"))
    matrix = sparse.csc_matrix((-value, (row, column)), shape=(starts[-1], build.variables))
    matrix.eliminate_zeros()
    rhs = np.zeros(starts[-1])
    zeros = np.concatenate([np.full(part.size, -constant) for part, constant in build.zero])
    rhs[: len(zeros)] = zeros
    cost = np.bincount(objective.column, objective.value, minlength=build.variables)
    nonnegatives = sum(part.size for part in build.nonnegative)
    products = sum(part.size for part in build.products) // 3
    return Program(cost, matrix, rhs, len(zeros), nonnegatives, products, float(scale), shape)


def by_clarabel(instance: Instance) -> Answer:
    """Clarabel on the arrays themselves, default tolerances, one thread."""
    given = program(instance)
    cones = [clarabel.ZeroConeT(given.zeros), clarabel.NonnegativeConeT(given.nonnegatives)]
    cones += [clarabel.SecondOrderConeT(3)] * given.products
    settings = clarabel.DefaultSettings()
    settings.verbose, settings.max_threads = False, 1
    nothing = sparse.csc_matrix((len(given.cost),) * 2)
    start = time.perf_counter()
    solver = clarabel.DefaultSolver(nothing, given.cost, given.matrix, given.rhs, cones, settings)
    found = solver.solve()
    seconds = time.perf_counter() - start
    if "Solved" not in str(found.status):
        raise GaveUp(str(found.status))
    x = np.array(found.x)
    return Answer(given.protocol(x), given.scale * found.obj_val, seconds, steps=found.iterations)


def by_tight_scs(instance: Instance) -> Answer:
    """SCS at tolerances of 1e-6."""
    return by_scs(instance, 1e-6)


def by_scs(instance: Instance, tolerance: float | None = None) -> Answer:
    """SCS on the same arrays, at its own tolerances or at ``tolerance``."""
    given = program(instance)
    data = {"A": given.matrix, "b": given.rhs, "c": given.cost}
    cone = {"z": given.zeros, "l": given.nonnegatives, "q": [3] * given.products}
    options = {} if tolerance is None else {"eps_abs": tolerance, "eps_rel": tolerance}
    start = time.perf_counter()
    found = scs.SCS(data, cone, verbose=False, **options).solve()
    seconds = time.perf_counter() - start
    if found["info"]["status_val"] not in (1, 2):
        raise GaveUp(found["info"]["status"])
    info = found["info"]
    return Answer(given.protocol(found["x"]), given.scale * info["pobj"], seconds, steps=info["iter"])
