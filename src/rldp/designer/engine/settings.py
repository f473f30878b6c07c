"""Every parameter of the engine, its routes and its proofs, with its effect and its origin.

The searches for credible sets and for chains keep their own beside them: :mod:`rldp.designer.credible`,
:mod:`rldp.designer.risks` and :mod:`rldp.designer.chains`.

*Derived* numbers follow from double precision or from the mathematics. *Measured: stress* means that
``benchmarks/settings.py`` changed the number alone and the problems of ``benchmarks/stress.py`` showed it,
in the designs that miss their gap, in steps or in time; other measurements are told in full. *Chosen*
numbers, and those that say nothing of the kind, were set with care, and no measurement tells them from
others of their size. None of them can weaken privacy: every protocol is checked afterwards by code that does
not use them.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Settings"]


@dataclass(frozen=True)
class Settings:
    """Parameters of routes, engine, repair and batches."""

    # Routes

    negligible: float = 0.1
    """Share of the gap that may be given up to avoid running the engine. Chosen."""
    smallest_epsilon: float = 1e-6
    """Below this ε the interior is too thin for floats. Derived: slacks of ε beside 1 keep 10 digits."""
    windows_cells: int = 100
    """Cells from which windows are taken under the estimate. Measured by ``settings.py --windows``: against
    pairs they take 1.2 times as long at 30 cells, 0.6 to 0.7 at 60, 0.3 at 100 and less beyond."""
    windows_gap: float = 1e-7
    """The smallest gap that windows are trusted to close under the estimate, for a linear utility. Measured
    by ``settings.py --windows`` with 30 to 300 cells: 50 of 50 designs close 1e-7."""
    windows_robust_gap: float = 1e-5
    """The same for a robust utility. Measured likewise: 49 of 50 designs close 1e-5, 33 close 1e-6."""
    slow_bytes: int = 2**27
    """Bytes of Newton blocks from which pairs take so long that windows go first. Chosen: those of 10×50
    are just below."""
    most_bytes: int = 2**31
    """Bytes of Newton blocks from which pairs are not tried again. Chosen: those of 10×100 are below."""

    seconds_a_number: float = 1.2e-6
    """Seconds that a step of pairs takes for a value of an end of a pair and an output. Where time is
    limited, it tells whether pairs can be solved, or at least begun. Measured: 0.8e-6 to 1.2e-6 from 5×20 to
    10×100."""
    usual_steps: int = 20
    """Steps of a design with pairs, likewise. Counted: 8 to 20, up to 40 in large tables."""

    # Gaps

    small_objective: float = 30.0
    """An objective far below 1 is solved to this many gaps of its own size, so that it has digits. Chosen."""
    least_allowed: float = 0.02
    """But to no less than this share of the gap: the objective may be 0. Chosen."""
    rough_gap: float = 0.01
    """Gap of the problem under the estimate that only gives multipliers for a weak bound of windows."""
    most_members: int = 4_000_000
    """Numbers in a proof of the lower bound; a longer one would not fit a file that people send around."""

    # The path

    most_steps: int = 200
    """The largest number of steps. Chosen: of 240 designs of ``stress.py`` none that closed its gap took 30.
    """
    start_unseen: float = 0.2
    """Share of the slack that η of a secret that was never seen uses up at the start; of others, a half.
    Measured: with a half, 22 of 960 designs of ``stress.py`` miss their gap."""
    start_spread: float = 0.1
    """Added to the spread of v, so that η starts above it where all v are equal. Measured: with ½ and 1, the
    designs of ``stress.py`` take 1 and 3 % more steps."""
    worth_proving: float = 3.0
    """Times the requested gap: if the multipliers promise more, a bound is not worth proving.
    Chosen: of 1200 designs of ``stress.py`` as many close, in as many steps, as with 50."""
    lag: float = 0.02
    """μ stays above this share of the gap, per slack. Measured: stress."""
    careful_lag: float = 0.5
    """The same in a second try, closer to the central path. Measured: stress."""
    patience: float = 16.0
    """Strikes until a problem is given up: an iteration that does not better the gap, or a step that cannot
    be taken. Measured: with 8, 2 of 960 designs of ``stress.py`` miss their gap; with 48 none, in as many
    steps."""
    proof_steps: float = 5.0
    """Steps that the proof of a protocol takes as long as, for which time is kept where it is limited.
    Measured: 2 of pairs and 5 of windows at 10×100."""

    # One step

    boundary: float = 0.99
    """Share of the way to the boundary that a step may go. σ is curved, so that it keeps the rest is checked.
    Measured: stress."""
    most_shortenings: int = 60
    """How often a step is shortened before it is not taken at all."""
    centring: float = 0.02
    """The next μ as a share of this one, or half of what the last step was short of 1. Chosen."""
    near: float = 0.3
    """A correction that goes no farther than this is halved, and then left out. Chosen."""
    known_cell_share: float = 0.02
    """What Q times its multiplier is on the central path, in units of μ, beside windows for readers who know
    the value, which imply Q > 0. Measured: NUNP 10×50 takes 21 steps with κ = 1 and 24 with 0.2; with
    1 it takes 25 and 28. 0.1 is as good, and in small tables there is little difference."""
    cells_an_end: float = 10.0
    """Cells that an end of a pair counts as on the path of a large table, however many values it sees.
    Measured at a gap of 1e-3, with ``sigma_share``: joint designs of 2×640 take 25 steps instead of 54, of
    2×128 13 instead of 21 and of 5×80 17 instead of 25; 6 is as good. With 2, RURP 5×20 takes a fifth
    more."""
    sigma_share: float = 0.15
    """What σ counts for on that path, for each value and other secret. Measured likewise: without it, 2×640
    takes 34 steps and 2×128 16; with .12 to .25 there is little difference."""
    large: int = 100
    """Cells from which these two hold, and a short step is corrected once more. Of the latter, measured on
    single designs over a set: 0.7 of the time at 10×60, 0.9 at 2×60 and with windows at 10×60, as long at
    5×20; longer in the small tables of ``stress.py``."""
    blends: tuple[float, ...] = (1.0, 0.5, 0.2, 0.0)
    """Shares of a correction that a short step in a large table may take. Measured on joint designs of two
    columns, 2×80 to 5×80 at a gap of 1e-3: 151 steps, and 145 to 148 with six to ten shares; 236 with one
    share for the point and the multipliers together."""
    careful_blends: tuple[float, ...] = (1.0, 0.0)
    """The same in a second try of windows under the estimate. Measured: of 8 RUNP designs of 5×40 3 miss
    a gap of 1e-5 with ``blends``, and none with these, in a third more steps."""
    far: float = 0.8
    """A step that goes this far is not short. Chosen."""
    accuracy: float = 10.0
    """Accuracy of a direction, in units of μ. Measured: stress."""

    # Linear algebra

    ease: float = 1e4
    """Over e^2ε: up to this ratio of multiplier to slack elimination counts as accurate. Measured: stress."""
    refinements: int = 20
    """Most steps of refinement (GCR)."""
    jitter: float = 1e-11
    """Relative ridge on blocks scaled to diagonal one, so that rounding cannot make them singular."""
    schur_jitter: float = 1e-15
    """The same for Schur complements and low-rank blocks, which lose fewer digits."""
    least_energy: float = 1e-12
    """Share of a direction's energy that elimination must leave, whatever rounding says."""
    linked_share: float = 0.5
    """Ranks of an output, as a share of its cells, up to which pairs are not written out as matrices.
    Measured on single NURP designs, with ``linked_more``: 0.8 of the time at 2×24, 0.6 at 3×30, 0.3 at 3×48
    and 5×60."""
    linked_more: int = 16
    """Ranks that are added before, for what low ranks cost whatever their number. At 2×16 and 3×20 they would
    take 1.35 and 1.2 times as long as matrices."""
    device_linked_share: float = 0.1
    """``linked_share`` on an accelerator, where matrices are quick. Measured on an H200: RURP 10×100, 0.36 of
    its cells, takes 5 s by ranks and 3 s by matrices; NURP 2×418, 0.01, takes 2 s by ranks."""
    gram_schmidt: int = 8
    """Columns up to which a basis is found for all blocks together, column by column; from there on LAPACK
    finds it block by block."""
    matrix_moves: int = 16
    """Secrets up to which moves between secrets and pairs are products with a matrix, and blocks are put in
    their places one by one. Measured: at 100×5 gathers take half the time, at 5×20 a tenth more."""
    few_secrets: int = 4
    """Secrets up to which rows of forms are spread over all cells. Measured: a single design with 3 secrets
    takes 1.05 to 1.1 times as long if they are not; otherwise there is little between the two."""
    cholesky_rows: int = 40
    """Rows from which one call of Cholesky per matrix costs less than it saves. Measured by
    ``settings.py --inverses``: against one call for all matrices it takes longer up to 30 rows, 0.6 to 0.9
    of the time at 40 and half of it at 100."""
    part_bytes: int = 2**22
    """Bytes of blocks assembled and inverted together: they fit a cache."""
    device_part_bytes: int = 2**31
    """The same on an accelerator: there are no caches to fit, but launches to save."""

    # Repair and proofs

    folding_budget: float = 2e-8
    """Share of the objective that folding rare outputs into used ones may cost."""
    rare: float = 1e-3
    """An output whose largest probability is smaller may be folded; but never one of the larger half."""
    repairs: int = 12
    """How often the trace of uniform output is enlarged before privacy counts as not proved."""
    shipments: int = 30
    """Rounds of scaling that turn weights of windows into weights of pairs."""

    # Batches

    chunk_bytes: int = 2**21
    """Bytes of Newton blocks of problems that are solved together. Chosen: they fit a cache."""
    chunk_problems: int = 256
    """Most problems that are solved together."""
