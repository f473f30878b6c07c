"""Convert chains to files and back. The format itself is in :mod:`rldp.protocol_file.chains`."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from math import prod

import numpy as np

from rldp._version import __version__
from rldp.chain import Chain, ChainGuarantee, ColumnProof, Earlier, Stage
from rldp.errors import ProtocolFileError
from rldp.protocol_file.chains import (
    ChainClaim,
    ChainDocument,
    ColumnClaim,
    EarlierTable,
    StageTable,
    table_digest,
)
from rldp.sample import Sample
from rldp.sets import Credible, Nominal
from rldp.theory.arrays import DENOMINATOR, numerators
from rldp.theory.chains import kept_as_it_is

__all__ = ["chain_of", "digest_of_stage", "document_of_chain"]


def document_of_chain(protocol: Chain) -> ChainDocument:
    """Return the document that describes a chain."""
    claim = protocol.guarantee
    return ChainDocument(
        generator=f"rldp {__version__}",
        secrets=protocol.secrets,
        reading=protocol.reading,
        stages=tuple(_table(stage, protocol) for stage in protocol.stages),
        guarantee=_claim(claim) if isinstance(claim, ChainGuarantee) else None,
    )


def _table(stage: Stage, protocol: Chain) -> StageTable:
    if stage.kept:
        return StageTable(stage.column, stage.outputs, [], kept=True)
    if stage.earlier is None:
        return StageTable(stage.column, stage.outputs, numerators(stage.table).tolist())
    out, own = stage.earlier, numerators(stage.earlier.table).tolist()
    earlier = EarlierTable(out.sha256, digest_of_stage(stage, protocol), out.context, out.absent)
    return StageTable(stage.column, stage.outputs, own, earlier=earlier)


def digest_of_stage(stage: Stage, protocol: Chain) -> str:
    """Return the digest of a stage's table: as this file has it if earlier, else as later files will."""
    out = stage.earlier
    table, absent = (stage.table, False) if out is None else (out.table, out.absent)
    before = {each.column: each.outputs for each in protocol.stages[: protocol.stages.index(stage)]}
    (column,) = (each for each in protocol.reading.value if each.name == stage.column)
    return table_digest(
        protocol.secrets,
        column.labels[: len(column.labels) - absent],
        stage.outputs[: len(stage.outputs) - absent],
        numerators(table).tolist(),
        [(name, before[name]) for name in (before if out is None else out.context)],
    )


def _claim(claim: ChainGuarantee) -> ChainClaim:
    assert isinstance(claim.privacy, Credible)
    return ChainClaim(
        epsilon=claim.epsilon,
        n=claim.sample.n,
        counts=claim.sample.observed.tolist(),
        alpha=claim.privacy.alpha,
        prior=claim.privacy.prior,
        seed=claim.privacy.seed,
        centre=claim.centre.tolist(),
        columns=tuple(
            ColumnClaim(proof.weight, proof.distortion.tolist(), proof.multipliers.tolist())
            for proof in claim.columns
        ),
        objective=claim.objective,
        lower_bound=claim.lower_bound,
        given_known=claim.given_known,
        epsilon_known=claim.epsilon_known,
        noise=claim.sample.noise,
        rows_a_person=claim.sample.rows_a_person,
    )


def chain_of(document: ChainDocument) -> Chain:
    """Return the chain that a document describes."""
    rows = (row for stage in document.stages for by_secret in stage.numerators for row in chain(*by_secret))
    if any(sum(row) != DENOMINATOR for row in rows):
        raise ProtocolFileError("its rows do not sum to the denominator 2^52")
    stages: list[Stage] = []
    for table in document.stages:
        stages.append(_stage(table, stages, len(document.secrets)))
    claim = document.guarantee
    guarantee = None if claim is None else _guarantee(claim, document)
    return Chain(stages, document.secrets, document.reading, guarantee=guarantee)


def _stage(table: StageTable, before: Sequence[Stage], secrets: int) -> Stage:
    sizes = [len(stage.outputs) for stage in before]
    if table.kept:
        same = kept_as_it_is(prod(sizes), secrets, len(table.outputs))
        return Stage(table.column, table.outputs, same, kept=True)
    own = np.array(table.numerators, dtype=np.float64) / DENOMINATOR
    if table.earlier is None:
        return Stage(table.column, table.outputs, own)
    out, names = table.earlier, [stage.column for stage in before]
    earlier = Earlier(own, out.context, out.absent, out.sha256)
    return Stage(table.column, table.outputs, earlier.spread(names, sizes), earlier=earlier)


def _guarantee(claim: ChainClaim, document: ChainDocument) -> ChainGuarantee:
    reading = document.reading
    return ChainGuarantee(
        epsilon=claim.epsilon,
        sample=Sample(
            claim.counts,
            document.secrets,
            reading.values,
            reading=reading,
            noise=claim.noise,
            rows_a_person=claim.rows_a_person,
        ),
        privacy=Credible(claim.alpha, prior=claim.prior, seed=claim.seed),
        utility=Nominal(),
        objective=claim.objective,
        lower_bound=claim.lower_bound,
        columns=tuple(
            ColumnProof(column.weight, np.array(column.distortion), np.array(column.multipliers))
            for column in claim.columns
        ),
        centre=np.array(claim.centre, dtype=np.int64),
        order=document.order,
        given_known=claim.given_known,
        epsilon_known=claim.epsilon_known,
    )
