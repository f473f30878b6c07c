"""Linear programs with HiGHS, and the closed form as what finds the constraints they lack.

A program knows some members of the privacy set for each output and pair, and some distributions of the
utility set. Its protocol is shown the worst members for it; those that it fails on are added, and HiGHS goes
on from where it was. Each program is a relaxation, and its multipliers prove a lower bound by the
library's own formula: the members of one pair add up, weighted by their multipliers, to one member.
"""

from __future__ import annotations

import time
from typing import NamedTuple

import highspy
import numpy as np

from instances import Answer, GaveUp, Instance
from rldp.theory import bounds
from rldp.theory.arrays import ordered_pairs
from rldp.theory.model import Witness
from rldp.theory.support import worst_members

TOLERANCE = 1e-7
"""By how much the last protocol may fail: in probability, and in objective relative to max(1, objective)."""

MOST_ROUNDS = 2000

_FEASIBILITY = 1e-9  # of HiGHS, well below what it is asked for


class PrivacyCuts(NamedTuple):
    """Rows of the program that hold members (2, U) for an output and a pair each."""

    rows: np.ndarray
    output: np.ndarray
    pair: np.ndarray
    members: np.ndarray


class Relaxation:
    """A linear program in Q (secrets, values, outputs) and the objective, that grows."""

    def __init__(self, instance: Instance) -> None:
        self.instance, self.problem = instance, instance.as_problem
        secrets, values = instance.counts.shape
        self.shape = (secrets, values, instance.distortion.shape[1])
        self.columns = np.arange(np.prod(self.shape)).reshape(self.shape)
        self.pairs = ordered_pairs(secrets)
        self.sign = np.array([1.0, -instance.e])[:, None]
        self.privacy: list[PrivacyCuts] = []
        self.utility: list[tuple[int, np.ndarray]] = []
        self.solver = self._solver()
        self._add(self.columns.reshape(-1, self.shape[2]), 1.0, 1.0, 1.0)
        members = bounds.estimated_members(self.problem)[0]
        known = instance.robust_privacy | instance.counts.any(axis=1)[self.pairs].all(axis=1)
        self._cut_privacy(np.broadcast_to(known, members.shape[:2]), members)
        self._cut_utility(instance.estimate)

    def _solver(self) -> highspy.Highs:
        solver = highspy.Highs()
        for option, value in {
            "output_flag": False,
            "threads": 1,
            "primal_feasibility_tolerance": _FEASIBILITY,
            "dual_feasibility_tolerance": _FEASIBILITY,
        }.items():
            solver.setOptionValue(option, value)
        size = self.columns.size
        solver.addVars(size + 1, np.zeros(size + 1), np.full(size + 1, highspy.kHighsInf))
        solver.changeColCost(size, 1.0)
        return solver

    def _add(self, columns: np.ndarray, values: object, lower: float, upper: float) -> np.ndarray:
        """Add rows with as many entries each, and return their numbers."""
        count, entries = columns.shape
        first = self.solver.getNumRow()
        self.solver.addRows(
            count,
            np.full(count, lower),
            np.full(count, upper),
            columns.size,
            np.arange(count, dtype=np.int32) * entries,
            columns.ravel().astype(np.int32),
            np.broadcast_to(values, columns.shape).astype(float).ravel(),
        )
        return np.arange(first, first + count)

    def _cut_privacy(self, where: np.ndarray, members: np.ndarray) -> None:
        """Σ_u R1(u) Q[s1,u,y] ≤ e^ε Σ_u R2(u) Q[s2,u,y] for the outputs and pairs in ``where``."""
        output, pair = np.nonzero(where)
        if len(output) == 0:
            return
        columns = self.columns[self.pairs[pair], :, output[:, None]].reshape(len(output), -1)
        values = (members[where] * self.sign).reshape(len(output), -1)
        rows = self._add(columns, values, -highspy.kHighsInf, 0.0)
        self.privacy.append(PrivacyCuts(rows, output, pair, members[where]))

    def _cut_utility(self, distribution: np.ndarray) -> None:
        """Σ P_su d(u,y) Q[s,u,y] ≤ objective."""
        values = distribution[:, :, None] * self.instance.distortion
        columns = np.append(self.columns, self.columns.size)
        (row,) = self._add(columns[None], np.append(values, -1.0)[None], -highspy.kHighsInf, 0.0)
        self.utility.append((row, distribution))

    def solve(self) -> tuple[np.ndarray, float]:
        """The best protocol for the constraints so far, and its objective."""
        self.solver.run()
        status = self.solver.getModelStatus()
        if status != highspy.HighsModelStatus.kOptimal:
            raise GaveUp(self.solver.modelStatusToString(status))
        *q, objective = self.solver.getSolution().col_value
        return np.array(q).reshape(self.shape), objective

    def cut(self, matrix: np.ndarray, objective: float, tolerance: float) -> bool:
        """Add what the protocol fails on; False if there is nothing."""
        rows = self.solver.getNumRow()
        if self.problem.privacy is not None:
            x = bounds.seen_by_pairs(self.problem, matrix[None])
            members = worst_members(bounds.privacy_mean(self.problem), x)
            self._cut_privacy((x * members).sum(axis=(3, 4))[0] > tolerance, members[0])
        if self.problem.utility is not None:
            v = (matrix * self.instance.distortion).sum(axis=2)
            worst = bounds.worst_distribution(self.problem, v[None])[0]
            if (worst * v).sum() - objective > tolerance * max(1.0, objective):
                self._cut_utility(worst)
        return self.solver.getNumRow() > rows

    def lower_bound(self) -> float:
        """What the multipliers of the last program prove of every private protocol."""
        multipliers = np.maximum(-np.array(self.solver.getSolution().row_dual), 0.0)
        members = bounds.estimated_members(self.problem)
        z = np.zeros(members.shape[:3])
        total = np.zeros(members.shape)
        for rows, output, pair, some in self.privacy:
            np.add.at(z[0], (output, pair), multipliers[rows])
            np.add.at(total[0], (output, pair), multipliers[rows, None, None] * some)
        weighed = z[..., None, None] > 0
        members = np.divide(
            total, z[..., None, None], out=members, where=weighed & np.ones(total.shape, bool)
        )
        rows, distributions = zip(*self.utility, strict=True)
        distribution = np.average(distributions, axis=0, weights=multipliers[list(rows)])
        return float(bounds.lower_bound(self.problem, Witness(z, members, distribution[None]))[0])


def cutting_plane_design(instance: Instance, tolerance: float = TOLERANCE) -> Answer:
    """Add cuts until the protocol fails by at most ``tolerance``; one thread."""
    relaxation = Relaxation(instance)
    seconds = 0.0
    for rounds in range(1, MOST_ROUNDS + 1):
        start = time.perf_counter()
        matrix, objective = relaxation.solve()
        seconds += time.perf_counter() - start
        if not relaxation.cut(matrix, objective, tolerance):
            return Answer(matrix, objective, seconds, relaxation.lower_bound(), rounds)
    raise GaveUp(f"{MOST_ROUNDS} rounds")
