"""Design a protocol for one sample, or for many samples of one shape."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rldp._common.checks import Label, count_array, finite_number, labels, level_number
from rldp._common.process import require_bytes, within_memory
from rldp.designer.batches import ADVICE
from rldp.designer.certify import CertifiedBatch
from rldp.designer.chain_designs import design_chain
from rldp.designer.contexts import After
from rldp.designer.credible import with_noise
from rldp.designer.designs import Batch, ColumnCost, Design
from rldp.designer.engine import Progress
from rldp.designer.engine.settings import Settings
from rldp.designer.notices import warn_of_sample, warn_open
from rldp.designer.request import (
    CPU,
    SolveRequest,
    checked_settings,
    device_named,
    device_of,
    in_memory,
    levels_of_batch,
    levels_of_sample,
)
from rldp.designer.routes import is_chained, solve
from rldp.designer.status import BatchStatus, Status
from rldp.distortions import Distortion, Outputs, SampleDistortion, distortion_matrix, distortion_of
from rldp.errors import (
    InvalidArgument,
    InvalidArgumentType,
    NotEnoughMemory,
)
from rldp.protocol import Certificate, Guarantee, Protocol
from rldp.sample import Sample
from rldp.sets import (
    Credible,
    Nominal,
    PrivacySet,
    UncertaintySet,
    UtilitySet,
    checked_set,
    require_confidence,
)
from rldp.theory.arrays import from_pairs
from rldp.theory.bounds import estimated_members
from rldp.theory.model import DesignProblem, Floats

__all__ = ["Batch", "Design", "design", "design_batch", "design_levels", "usual_utility"]

_log = logging.getLogger(__name__)

_FEW = 300  # combinations of several columns, which are designed for in seconds


def design(
    sample: Sample,
    epsilon: float | ArrayLike | Mapping[str, float],
    *,
    privacy: PrivacySet = "chi2",
    utility: UtilitySet | None = None,
    distortion: Distortion | Mapping[str, Distortion] = "squared",
    weights: Mapping[str, float] | None = None,
    outputs: Outputs = None,
    epsilon_known: float = math.inf,
    gap: float = 1e-6,
    windows: bool = False,
    chain: bool | Sequence[str] | None = None,
    after: After = (),
    given_known: bool = False,
    callback: Callable[[Progress], None] | None = None,
    max_seconds: float | None = None,
    settings: Settings | None = None,
) -> Design:
    r"""Design the private protocol with the smallest distortion.

    Solves

    .. math::
        &\min_Q \sup_{P\in F_u} E_P\,d(U,Y)\quad\text{subject to}\\
        &P(Y{=}y\,|\,S{=}s_1) \le e^\varepsilon P(Y{=}y\,|\,S{=}s_2)\ \ \forall P\in F_p, y, s_1, s_2,

    and returns a protocol that satisfies the constraint strictly, after rounding. See
    ``docs/theory.md``, 'Model'.

    Parameters
    ----------
    sample : Sample
        The public sample.
    epsilon : float, array (|S|, |S|), or mapping {secret column: float}
        Privacy level, 0 ≤ ε ≤ ∞; smaller is more private. An array holds a level for each ordered pair of
        secrets: P(y|s₁) ≤ e^ε[s₁, s₂] P(y|s₂), with ∞ for pairs that need no protection; its diagonal is
        ignored. A mapping gives each of several secret columns its own level: levels add up over the columns
        in which two people differ. ``docs/guide/levels.md`` explains whom this protects.
    privacy, utility : UncertaintySet or its name
        The sets of distributions over which privacy and utility must hold. Names are "chi2", "cr", "g",
        "credible", "nominal" (the estimate alone) and, for privacy, "pairs" and "all". By default, utility
        is "chi2", or "nominal" for the designs that support no other: chains, designs with given columns or
        after earlier releases, and those on noisy counts.
    distortion : {"squared", "absolute", "hamming"}, callable d(u, y), or |U|×|Y| array
        For several value columns, one distortion for all or a mapping {value column: distortion}; the design
        minimises their weighted sum. A function or an array then refers to whole rows.
    weights : mapping {value column: float}, optional
        Weights of the columns' distortions. By default one over the distortion of the best constant, so that
        publishing nothing costs 1 for every column.
    outputs : sequence of labels, or mapping {value column: labels}, optional
        The alphabet of Y; by default the alphabet of U.
    epsilon_known : float
        κ ≥ 0. Also requires P(y|s₁,u) ≤ e^κ P(y|s₂,u) for all y, u, s₁, s₂: the output reveals at most κ more
        about the secret to a reader who knows the value, under every distribution. With 0 the protocol does
        not read the secret. By default nothing is promised to such readers.
    gap : float
        Requested optimality: objective − lower_bound ≤ gap·max(1, objective).
    windows : bool
        Use a stronger, faster constraint: the probabilities of an output under all secrets lie in one window.
        This makes alphabets of thousands of cells feasible. The protocol is as private, but its distortion
        can be much larger. ``gap`` then refers to the best protocol under this constraint, while
        ``lower_bound`` still holds for every private protocol, so the two show what it may have cost.
    chain : bool, or sequence of str, optional
        Design several value columns one after the other, each given the outputs so far, instead of all
        combinations at once: True, or the order of the columns. A chain costs more distortion, but handles
        more combinations. It needs ``privacy="credible"`` and is the default above 1000 combinations. See
        ``docs/theory.md``, 'Chains'.
    after : sequence of Protocol, or mapping {value column: Protocol}
        Protocols whose outputs of value columns of the sample are already published, in the order of their
        release. These columns are not published again; a release reads their outputs from the rows. **epsilon
        is the total of all releases together**, so it must be larger than theirs. The sample must hold linked
        rows, with the values of both releases. The secret of a person must be the same in both, and taking
        part in the second release must not depend on the value of the first. People without an earlier output
        need missing entries there and ``missing="category"``. Pass a mapping from the sample's column names
        to protocols if the names differ. See ``docs/theory.md``, 'Contexts'.
    given_known : bool
        With given columns (``given=`` of :meth:`rldp.Sample.from_data`): whether epsilon refers to readers
        who know them, P(y|s₁,k) ≤ e^ε P(y|s₂,k), and does not bound what the given columns themselves tell.
        By default it bounds the whole row: P(k,y|s₁) ≤ e^ε P(k,y|s₂). Both need ``privacy="credible"``.
    callback : callable, optional
        Called with a :class:`rldp.Progress` after each iteration of the solver, or each chunk of a large
        batch.
    max_seconds : float, optional
        A time limit in wall-clock seconds. The best private protocol found by then is returned with valid
        bounds, and a warning if the gap is still open.
    settings : Settings, optional
        Parameters of the solver; see :class:`rldp.Settings`. They affect the speed of a design and its gap,
        never its privacy.

    Returns
    -------
    Design

    Raises
    ------
    InvalidArgument, InvalidArgumentType
        If an argument is unusable.
    NotEnoughMemory
        If the design would take more memory than is available.

    Warns
    -----
    GapWarning
        If the problem is too ill-conditioned for the requested gap. The protocol is private nevertheless, and
        its bounds are valid.
    PriceWarning
        If ``windows`` may have cost more distortion than privacy requires.
    SparseTableWarning
        If more than a fifth of the cells were seen fewer than 5 times and a set gets its radius from
        ``alpha``: it may then miss the truth far more often. Also if a credible promise of privacy has
        fewer rows than the table has cells.
    UnseenSecretWarning
        If a nominal privacy constraint has to leave out a secret without data.

    Examples
    --------
    >>> import rldp
    >>> sample = rldp.Sample([[30, 10, 5], [5, 25, 25]])
    >>> designed = rldp.design(sample, epsilon=1.0)
    >>> designed.problem, designed.protocol.matrix.shape
    ('RURP', (2, 3, 3))
    >>> designed.objective - designed.lower_bound <= 1e-6
    True
    """
    private = checked_set("privacy", privacy)
    chained = isinstance(sample, Sample) and is_chained(
        sample, chain, private, after, checked_settings(settings)
    )
    useful = checked_set("utility", usual_utility(sample, utility, chained=chained))
    for name, uncertainty in (("privacy", private), ("utility", useful)):
        require_confidence(name, uncertainty)
    if chained:
        if windows:
            raise InvalidArgument("windows must not be given for a chain of columns")
        if sample.noise is not None and (after or (sample.reading is not None and sample.reading.given)):
            raise InvalidArgument(
                "given and after must be left out if the counts have noise: such designs do not account "
                "for the noise"
            )
        if isinstance(private, Credible):
            anything = np.ones((len(sample.values), 1))  # the warning depends on the counts alone
            table = _problem(sample.counts[None], np.zeros(1), anything, private, useful, math.inf)
            if sample.noisy_counts is not None:
                table = replace(table, noisy_counts=sample.noisy_counts[None])
            warn_of_sample(table, private, useful, stacklevel=4)
        return design_chain(
            sample,
            _one_level(sample, epsilon),
            private,
            useful,
            lambda columns: distortion_of(columns, distortion, outputs, weights),
            None if isinstance(chain, bool | None) else chain,
            SolveRequest.of(gap, settings, max_seconds, time.perf_counter()),
            epsilon_known=level_number("epsilon_known", epsilon_known),
            after=after,
            given_known=bool(given_known),
        )
    if given_known:
        raise InvalidArgument("given_known must be False where the sample has no given columns")
    (designed,) = design_levels(
        sample,
        [epsilon],
        privacy=private,
        utility=useful,
        distortion=distortion,
        weights=weights,
        outputs=outputs,
        epsilon_known=epsilon_known,
        gap=gap,
        windows=windows,
        callback=callback,
        max_seconds=max_seconds,
        settings=settings,
    )
    return designed


def usual_utility(sample: Sample, utility: UtilitySet | None, *, chained: bool = False) -> UtilitySet:
    """Return the set of the distortion; by default the paper's, or the estimate where no other works."""
    if utility is not None:
        return utility
    return "nominal" if chained or getattr(sample, "noise", None) is not None else "chi2"


def design_levels(
    sample: Sample,
    epsilons: Sequence[Any],
    *,
    privacy: PrivacySet = "chi2",
    utility: UtilitySet | None = None,
    distortion: Distortion | Mapping[str, Distortion] = "squared",
    weights: Mapping[str, float] | None = None,
    outputs: Outputs = None,
    epsilon_known: float = math.inf,
    gap: float = 1e-6,
    windows: bool = False,
    callback: Callable[[Progress], None] | None = None,
    max_seconds: float | None = None,
    settings: Settings | None = None,
) -> list[Design]:
    """Design a protocol for each of several ε in one batch; see :func:`design`.

    Each ε is a number, or anything else that :func:`design` accepts. The time in each status is an equal
    share of the total.
    """
    started = time.perf_counter()
    if not isinstance(sample, Sample):
        raise InvalidArgumentType(f"sample must be an rldp.Sample, got {type(sample).__name__}")
    with _within_memory(sample):
        if outputs is None:
            needed = 8 * len(sample.values) ** 2  # for the distances alone
            require_bytes(f"designing for {len(sample.values)} values", needed, ADVICE)
        measure = distortion_of(sample, distortion, outputs, weights)
        distances = measure.matrix
    request = SolveRequest.of(gap, settings, max_seconds, started, windows=windows, callback=callback)
    levels = levels_of_sample(sample, epsilons)
    counts = np.repeat(sample.counts[None], len(levels), axis=0)
    private = checked_set("privacy", privacy)
    useful = checked_set("utility", usual_utility(sample, utility))
    problem = _problem(counts, levels, distances, private, useful, epsilon_known)
    if sample.noise is not None:
        problem = with_noise(problem, sample, private, useful)
    warn_of_sample(problem.subset(np.array([0])), private, useful, stacklevel=5)
    with _within_memory(sample):
        result = solve(problem, private, useful, request)
    warn_open(result.problem, result.solved, gap, windows, stacklevel=4)
    seconds = (time.perf_counter() - started) / len(levels)
    return [
        _as_design(
            result.solved.subset(np.array([i])),
            sample,
            measure,
            result.problem.subset(np.array([i])),
            result.promise("privacy", private, i),
            result.promise("utility", useful, i),
            seconds,
        )
        for i in range(len(levels))
    ]


@contextmanager
def _within_memory(sample: Sample) -> Iterator[None]:
    """Name what needs less memory: for several columns a chain, or bins."""
    try:
        with within_memory("designing", ADVICE):
            yield
    except NotEnoughMemory as error:
        if sample.reading is None or len(sample.reading.value) < 2:
            raise
        raise NotEnoughMemory(
            f"{error}; so does a chain of the columns (chain=True, with privacy='credible'), "
            f"or fewer bins{sample.reading.coarser(_FEW)}"
        ) from error


def design_batch(
    counts: ArrayLike,
    epsilon: ArrayLike,
    *,
    privacy: PrivacySet = "chi2",
    utility: UtilitySet = "chi2",
    distortion: Distortion = "squared",
    outputs: Iterable[Label] | None = None,
    epsilon_known: float = math.inf,
    gap: float = 1e-6,
    windows: bool = False,
    device: str | None = None,
    callback: Callable[[Progress], None] | None = None,
    max_seconds: float | None = None,
    settings: Settings | None = None,
) -> Batch:
    """Design protocols for many samples at once.

    Equivalent to :func:`design` for each sample, but solved as one array; see ``docs/theory.md``, 'Batches
    and cost'.

    Parameters
    ----------
    counts : array_like of int, shape (K, |S|, |U|)
    epsilon : float, or array_like (K,), (|S|, |S|) or (K, |S|, |S|)
        One level for all samples, or one for each; or a level for each ordered pair of secrets, as in
        :func:`design`, for all samples or for each.
    privacy, utility, distortion, outputs, epsilon_known, gap, windows
        As in :func:`design`; values have the labels 0, 1, 2, …
    device : str, optional
        Where the solver runs: "cupy", or a PyTorch device such as "cuda". By default where ``counts`` lives,
        and on the CPU for arrays of other libraries. Results are always certified on the CPU and are arrays
        of the library of ``counts``. Credible designs are proved with random draws made on the device, which
        differ from the CPU's.
    callback : callable, optional
    max_seconds : float, optional
    settings : Settings, optional
        As in :func:`design`.

    Returns
    -------
    Batch

    Examples
    --------
    >>> import rldp
    >>> batch = rldp.design_batch([[[30, 10], [5, 25]], [[9, 9], [1, 2]]], epsilon=0.5)
    >>> batch.matrices.shape, batch.objective.shape
    ((2, 2, 2, 2), (2,))
    """
    started = time.perf_counter()
    home = device_of(counts)
    array = count_array("counts", in_memory(counts) if home != CPU else counts, ndim=3)
    values = tuple(range(array.shape[2]))
    names = values if outputs is None else labels("outputs", outputs, of_columns=True)
    matrix = distortion_matrix(distortion, values, names)
    place = home if device is None else device_named(device)
    request = SolveRequest.of(
        gap, settings, max_seconds, started, windows=windows, device=place, callback=callback
    )
    private, useful = checked_set("privacy", privacy), checked_set("utility", utility)
    levels = levels_of_batch(epsilon, *array.shape[:2])
    problem = _problem(array, levels, matrix, private, useful, epsilon_known)
    warn_of_sample(problem, private, useful, stacklevel=4)
    with within_memory("designing", ADVICE):
        result = solve(problem, private, useful, request)
    solved = result.solved
    warn_open(result.problem, solved, gap, windows, stacklevel=3)
    arrays = (solved.matrix, solved.objective, solved.lower_bound)
    status = BatchStatus(solved.route, solved.steps, solved.reason, time.perf_counter() - started)
    matrices, objective, lower_bound = arrays if home == CPU else map(home.array, arrays)
    return Batch(matrices, objective, lower_bound, status)


def _problem(
    counts: NDArray[np.int64],
    epsilon: Floats,
    distortion: Floats,
    privacy: UncertaintySet,
    utility: UncertaintySet,
    epsilon_known: float,
) -> DesignProblem:
    """Return the problem with all sets that are known before it is solved."""
    known = [Nominal() if isinstance(given, Credible) else given for given in (privacy, utility)]
    problem = DesignProblem.of(counts, epsilon, distortion, *known)
    return replace(problem, epsilon_known=level_number("epsilon_known", epsilon_known))


def _one_level(sample: Sample, epsilon: Any) -> float:
    """Return the level of a chain."""
    if isinstance(epsilon, Mapping | Sequence | np.ndarray) and not isinstance(epsilon, str):
        levels = levels_of_sample(sample, [epsilon])
        if levels.ndim > 1:
            raise InvalidArgument(
                "epsilon must be one number for a chain of columns, beside given columns and after an "
                "earlier release, got levels of pairs of secrets"
            )
        epsilon = float(levels[0])
    level = finite_number("epsilon", epsilon, at_least=0.0)
    if level == 0:
        raise InvalidArgument(
            "epsilon must be above 0 for a chain of columns, beside given columns and after an earlier "
            "release, got 0"
        )
    return level


def _as_design(
    solved: CertifiedBatch,
    sample: Sample,
    measure: SampleDistortion,
    problem: DesignProblem,
    privacy: UncertaintySet,
    utility: UncertaintySet,
    seconds: float,
) -> Design:
    """Return the design of a single problem."""
    weighs_members = solved.z[0].any() and not (
        solved.constant[0] or problem.privacy is None or _are_estimates(problem, solved)
    )
    certificate = Certificate(
        eta=None if problem.privacy is None else solved.eta[0],
        eta_utility=None if problem.utility is None else float(solved.eta_utility[0, 0]),
        multipliers=None if solved.constant[0] else solved.z[0],
        members=solved.members[0] if weighs_members else None,
        distribution=None if problem.utility is None or problem.utility.enlarged else solved.distribution[0],
        known=None if solved.witness.known is None else solved.known[0],
    )
    objective, lower_bound = float(solved.objective[0]), float(solved.lower_bound[0])
    guarantee = Guarantee(
        epsilon=float(problem.pair_epsilon.max()),
        levels=_levels(problem),
        sample=sample,
        privacy=privacy,
        utility=utility,
        distortion=problem.distortion,
        objective=objective,
        lower_bound=lower_bound,
        certificate=certificate,
        epsilon_known=problem.epsilon_known,
    )
    protocol = Protocol(
        solved.matrix[0],
        sample.secrets,
        sample.values,
        measure.outputs,
        guarantee=guarantee,
        reading=sample.reading,
    )
    kind = ("N" if problem.utility is None else "R") + "U" + ("N" if problem.privacy is None else "R") + "P"
    status = Status(solved.route[0], int(solved.steps[0]), solved.reason[0], seconds)
    _log.info(
        "designed by route '%s': %d steps, %.2g s; %s", status.route, status.steps, seconds, status.reason
    )
    columns = _column_costs(protocol, sample, measure) if measure.columns else ()
    return Design(kind, protocol, objective, lower_bound, certificate, status, columns=columns)


def _levels(problem: DesignProblem) -> Floats | None:
    """Return ε of every pair of secrets of a single problem, or None if all are equal."""
    levels = problem.pair_epsilon[0]
    return None if len(levels) == 1 else from_pairs(levels, problem.counts.shape[1])


def _column_costs(protocol: Protocol, sample: Sample, measure: SampleDistortion) -> tuple[ColumnCost, ...]:
    pairs = np.einsum("su,suy->uy", sample.distribution, protocol.matrix)
    seen = sample.distribution.sum(axis=0)
    return tuple(
        ColumnCost(
            column.name,
            column.weight,
            distortion=float((pairs * column.of_rows).sum()),
            constant=float((seen @ column.of_rows).min()),
        )
        for column in measure.columns
    )


def _are_estimates(problem: DesignProblem, solved: CertifiedBatch) -> bool:
    """Return whether the members are the estimated conditionals, which a file need not hold."""
    return np.array_equal(solved.members, estimated_members(problem))
