"""The parameters of routes, engine, proofs and searches, with their effect and origin.

*Derived* numbers follow from double precision or from the mathematics. *Measured: stress* means that
``benchmarks/settings.py`` varied this number alone, and that the problems of ``benchmarks/stress.py`` showed
a difference in missed gaps, in steps or in time. Other measurements are described in place. *Chosen* numbers,
and numbers without a label, were set by judgement; no measurement separates them from similar values. None of
them can weaken privacy: every protocol is checked afterwards by code that does not use them.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Settings"]


@dataclass(frozen=True)
class Settings:
    """Parameters of the routes, the engine, the repair and the batches."""

    # Routes

    negligible: float = 0.1
    """Share of the gap that may be sacrificed to avoid running the engine. Chosen."""
    smallest_epsilon: float = 1e-6
    """Below this ε the interior is too thin for floats. Derived: slacks of ε next to 1 keep 10 digits. Also
    the least ε of a context of a chain: shares of ε from 3e-6 to 1e-3 cost the same there, and larger ones
    leave contexts without a private design."""
    most_joint: int = 1000
    """Combinations of values above which several columns are chained by default. Chosen."""
    windows_cells: int = 100
    """Number of cells from which nominal designs use windows. Measured by ``settings.py --windows``: relative
    to pairs they take 1.2 times as long at 30 cells, 0.6 to 0.7 at 60, 0.3 at 100 and less beyond."""
    windows_gap: float = 1e-7
    """The smallest gap for which nominal designs use windows, for a linear utility. Measured by
    ``settings.py --windows`` with 30 to 300 cells: 50 of 50 designs close 1e-7."""
    windows_robust_gap: float = 1e-5
    """The same for a robust utility. Measured in the same way: 49 of 50 designs close 1e-5, 33 close 1e-6."""
    slow_bytes: int = 2**27
    """Bytes of Newton blocks from which windows are tried before pairs, which are slow. Chosen: the blocks of
    a 10×50 table are just below."""
    most_bytes: int = 2**31
    """Bytes of Newton blocks from which pairs are not tried again. Chosen: the blocks of 10×100 are below."""

    seconds_a_number: float = 1.2e-6
    """Seconds per step with pairs, for each value, end of a pair and output. If time is limited, this
    predicts whether pairs can be solved, or at least started. Measured: 0.8e-6 to 1.2e-6 from 5×20 to
    10×100."""
    usual_steps: int = 20
    """Typical number of steps with pairs, for the same prediction. Counted: 8 to 20, up to 40 in large
    tables."""

    # Gaps

    small_objective: float = 30.0
    """An objective far below 1 is solved to a gap of this many times ``gap``, relative to its own size, so
    that it has correct digits. Chosen."""
    least_allowed: float = 0.02
    """Lower limit of that gap, as a share of the requested one, because the objective may be 0. Chosen."""
    rough_gap: float = 0.01
    """Gap of the nominal problem that is solved only for multipliers, if the bound from windows is weak; and
    of designs that are compared, not released. With .1 and .001, chains of ten samples cost the same."""
    most_members: int = 4_000_000
    """Largest count of numbers in a proof of the lower bound, so that protocol files stay small."""

    # The path

    most_steps: int = 200
    """The largest number of steps. Chosen: none of the 240 designs of ``stress.py`` that closed its gap took
    30."""
    start_unseen: float = 0.2
    """Share of the slack that η of an unseen secret uses up at the start; for seen secrets it is a half.
    Measured: with a half for all, 22 of 960 designs of ``stress.py`` miss their gap."""
    start_spread: float = 0.1
    """Added to the spread of v, so that η starts above it where all v are equal. Measured: with ½ and 1, the
    designs of ``stress.py`` take 1 and 3 % more steps."""
    worth_proving: float = 3.0
    """A bound is proved only if the multipliers promise a gap of at most this many requested gaps. Measured
    on 12 000 designs of ``stress.py``: with 1, 8 of them miss their gap; with 3, 5, in as many steps."""
    lag: float = 0.02
    """Lower limit of μ, as a share of the gap per slack. Measured: stress."""
    careful_lag: float = 0.5
    """The same in a second try, closer to the central path. Measured: stress."""
    patience: float = 16.0
    """Number of strikes after which a problem is given up. A strike is an iteration that does not reduce the
    gap, or a rejected step. Measured: with 8, 2 of 960 designs of ``stress.py`` miss their gap; with 48 none,
    in as many steps."""
    proof_steps: float = 5.0
    """Duration of the proof of a protocol, in steps; this time is reserved if time is limited. Measured: 2
    steps for pairs and 5 for windows at 10×100."""

    # One step

    boundary: float = 0.99
    """Largest share of the way to the boundary for a step. As σ is curved, its remaining share is checked
    separately. Measured: stress."""
    most_shortenings: int = 60
    """How often a step is shortened before it is rejected."""
    near: float = 0.3
    """A step of less than this length is short: shares of its correction are tried. Measured: stress."""
    known_cell_share: float = 0.02
    """Product of Q and its multiplier on the central path, in units of μ, if windows for readers who know the
    value already imply Q > 0. Measured: NUNP 10×50 takes 21 steps with κ = 1 and 24 with κ = 0.2; with a
    share of 1 it takes 25 and 28. A share of 0.1 is as good, and in small tables there is little
    difference."""
    cells_an_end: float = 10.0
    """Number of cells that an end of a pair counts for on the path of a large table, at most. Measured at a
    gap of 1e-3, with ``sigma_share``: joint designs of 2×640 take 25 steps instead of 54, of 2×128 13 instead
    of 21, and of 5×80 17 instead of 25; 6 is as good. With 2, RURP 5×20 takes a fifth more."""
    sigma_share: float = 0.15
    """Weight of σ on that path, per value and other secret. Measured in the same way: without it, 2×640 takes
    34 steps and 2×128 16; from .12 to .25 there is little difference."""
    large: int = 100
    """Number of cells from which these two apply, and short steps are corrected once more. That correction
    was measured on single designs over a set: 0.7 of the time at 10×60, 0.9 at 2×60 and with
    windows at 10×60, the same at 5×20, and more in the small tables of ``stress.py``."""
    blends: tuple[float, ...] = (1.0, 0.5, 0.2, 0.0)
    """Shares of a correction to try for a short step. Measured on joint designs of two columns, 2×80 to 5×80
    at a gap of 1e-3: 151 steps, and 145 to 148 with six to ten shares; 236 if the point and the multipliers
    use the same share."""
    careful_blends: tuple[float, ...] = (1.0, 0.0)
    """The same in a second try of nominal windows. Measured: 3 of 8 RUNP designs of 5×40 miss a gap of 1e-5
    with ``blends``, and none with these, in a third more steps."""
    far: float = 0.8
    """The same in a large table, where another solve is cheap. Chosen."""
    accuracy: float = 10.0
    """Accuracy of a direction, in units of μ. Measured: stress."""

    # Linear algebra

    ease: float = 1e4
    """Largest ratio of multiplier to slack, times e^2ε, up to which elimination counts as accurate. Measured:
    stress."""
    refinements: int = 20
    """Largest number of refinement steps (GCR)."""
    jitter: float = 1e-11
    """Relative ridge on blocks scaled to a unit diagonal, so that rounding cannot make them singular."""
    schur_jitter: float = 1e-15
    """The same for Schur complements and low-rank blocks, which lose fewer digits."""
    least_energy: float = 1e-12
    """Smallest share of a direction's energy after elimination, a guard against rounding."""
    linked_share: float = 0.5
    """Largest number of ranks of an output, as a share of its cells, for which pairs use low ranks instead of
    dense matrices. Measured on single NURP designs, with ``linked_more``: 0.8 of the time at 2×24, 0.6 at
    3×30, 0.3 at 3×48 and 5×60."""
    linked_more: int = 16
    """Number of ranks added in that comparison, for the fixed cost of low ranks. At 2×16 and 3×20 low ranks
    would take 1.35 and 1.2 times as long as matrices."""
    device_linked_share: float = 0.1
    """``linked_share`` on an accelerator, where dense matrices are fast. Measured on an H200: RURP 10×100,
    with a share of 0.36, takes 5 s by ranks and 3 s by matrices; NURP 2×418, with 0.01, takes 2 s by
    ranks."""
    gram_schmidt: int = 8
    """Largest number of columns for which bases of all blocks are computed together, column by column.
    Beyond, LAPACK computes them block by block."""
    matrix_moves: int = 16
    """Largest number of secrets for which moves between secrets and pairs are matrix products, and blocks are
    assigned one by one. Measured: at 100×5 gathers take half the time, at 5×20 a tenth more."""
    few_secrets: int = 4
    """Largest number of secrets for which rows of forms extend over all cells. Measured: otherwise a single
    design with 3 secrets takes 1.05 to 1.1 times as long; for more secrets there is little difference."""
    cholesky_rows: int = 40
    """Number of rows from which one Cholesky call per matrix pays off. Measured by ``settings.py
    --inverses``: relative to one call for all matrices it takes longer up to 30 rows, 0.6 to 0.9 of the time
    at 40 and half at 100."""
    part_bytes: int = 2**22
    """Bytes of blocks assembled and inverted together: they fit a cache."""
    device_part_bytes: int = 2**31
    """The same on an accelerator, where the aim is few launches rather than a fit in the cache."""

    # Repair and proofs

    folding_budget: float = 2e-8
    """Largest share of the objective that merging rare outputs into used ones may cost."""
    rare: float = 1e-3
    """An output whose largest probability is below this may be merged, unless it is in the larger half."""
    repairs: int = 12
    """How often the share of uniform output is increased before the proof of privacy fails."""
    shipments: int = 30
    """Rounds of scaling that convert weights of windows into weights of pairs."""

    # Chains

    chain_draws: int = 4000
    """Number of draws for the search, which the proof does not use. Measured, like the other numbers of
    chains, on ten samples of 2 to 4 columns: with 8000, costs are the same after 1.3 times as long."""
    chain_numbers: int = 2**25
    """Largest count of numbers in these draws; large tables get fewer draws."""
    chain_first_t: float = 2.5
    """The first t of the search. From 1.5 to 3 the chains cost the same; with 4 they cost .2 % more."""
    chain_close: float = 0.02
    """Share of t to which the search finds it, and by which t grows at first if draws do not prove it.
    Measured: .04 costs .3 % more, .01 takes a tenth longer."""
    chain_trials: int = 12
    """Largest number of designs in the search for t, and of proofs that are tried. Chosen: 4 to 9 do."""
    chain_ratios: tuple[float, ...] = (1.6, 1.0, 2.8)
    """Values to try for the ε of a stage over that of the stage before. Measured: each of the last two
    lowers the cost by .5 to 1 % on average, and by up to 5 %."""
    chain_orders_cells: int = 2000
    """Number of cells up to which other orders of the columns are tried than that of their sizes. Measured:
    without them, small chains cost 6 % more."""

    # Credible designs

    credible_gap: float = 1e-3
    """Gap of the two rough designs whose risks tell how large a set must be. Measured: with .01 they fail
    more rarely than a design of that size at a smaller gap, and the joint design of 2×640 is made twice."""
    credible_sizes: tuple[float, float] = (0.8, 0.95)
    """Sizes t of the sets of two rough designs, as a share of the t that would do if no two constraints
    failed together. Measured: (.7, .9) and (.85, 1) cost up to 1 % more at 3×5 (n = 75)."""
    credible_hits_a_cell: int = 15
    """Draws for a proof are planned to be so many that α allows this number of failures for each cell."""
    credible_least_hits: int = 1200
    """The smallest number of failures that α allows then, if there is one sample. Draws take most of the time
    of a batch of small tables, and count if time is limited: there it does not apply. Measured against
    bisections with 131 072 draws: with 300, designs cost 4.3 % more at 3×5 (n = 75), with 1200 2 %."""
    credible_most_hits: int = 2400
    """The largest number for large tables. Chosen: at 5×20 more draws save less than .5 %."""
    credible_looks: int = 3
    """Number of looks at these draws, in equal parts; the risks of rough designs are told from one part. A
    design is given up after four times as many. Chosen: with 2 or 4, designs cost the same."""
    credible_growth: float = 0.01
    """Share of t by which a set grows at least if its design is not accepted; each time twice as much.
    Chosen: with .005 or .02, designs cost the same."""

    # Batches

    chunk_bytes: int = 2**21
    """Bytes of Newton blocks for problems that are solved together. Chosen: they fit a cache."""
    chunk_problems: int = 256
    """Largest number of problems that are solved together."""
    most_threads: int = 3
    """Largest number of threads for problems whose blocks fit a cache, and for draws of small tables. Their
    short calls of NumPy take turns with Python's lock. Measured on 16 cores: batches of 3×5 and 5×20 take the
    least time with 2 to 4 threads, twice to four times as long with 16."""
    cells_a_thread: int = 25
    """Draws of larger tables use one thread for so many cells. Measured on 16 cores: one design of 2×100
    takes half the time with 8 or 16 threads that it takes with 2, one of 5×20 the same with 2 to 8."""
