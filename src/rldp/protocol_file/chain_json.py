"""Chains to files and back. The format itself is in :mod:`rldp.protocol_file.chains`."""

from __future__ import annotations

import numpy as np

from rldp._version import __version__
from rldp.chain import Chain, ChainGuarantee, ColumnProof, Stage
from rldp.errors import InvalidArgument
from rldp.protocol_file.chains import ChainClaim, ChainDocument, ColumnClaim, StageTable, text_of
from rldp.sample import Sample
from rldp.sets import Credible, Nominal
from rldp.theory.dyadic import DENOMINATOR, numerators

__all__ = ["chain_of", "to_json"]


def to_json(chain: Chain) -> str:
    """The text of the chain's file; the same chain always gives the same text."""
    try:
        return text_of(_document(chain))
    except ValueError as error:
        raise InvalidArgument(f"protocol must hold finite numbers to be saved, but: {error}") from error


def _document(chain: Chain) -> ChainDocument:
    claim = chain.guarantee
    assert chain.reading is not None
    return ChainDocument(
        generator=f"rldp {__version__}",
        secrets=chain.secrets,
        reading=chain.reading,
        stages=tuple(
            StageTable(stage.column, stage.outputs, numerators(stage.table).tolist())
            for stage in chain.stages
        ),
        guarantee=_claim(claim) if isinstance(claim, ChainGuarantee) else None,
    )


def _claim(claim: ChainGuarantee) -> ChainClaim:
    assert isinstance(claim.privacy, Credible)
    return ChainClaim(
        epsilon=claim.epsilon,
        n=claim.sample.n,
        counts=claim.sample.counts.tolist(),
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
    )


def chain_of(document: ChainDocument) -> Chain:
    """The chain that a document describes."""
    stages = [
        Stage(stage.column, stage.outputs, np.array(stage.numerators, dtype=np.float64) / DENOMINATOR)
        for stage in document.stages
    ]
    claim = document.guarantee
    guarantee = None if claim is None else _guarantee(claim, document)
    return Chain(stages, document.secrets, document.reading, guarantee=guarantee)


def _guarantee(claim: ChainClaim, document: ChainDocument) -> ChainGuarantee:
    reading = document.reading
    return ChainGuarantee(
        epsilon=claim.epsilon,
        sample=Sample(claim.counts, document.secrets, reading.values, reading=reading),
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
    )
