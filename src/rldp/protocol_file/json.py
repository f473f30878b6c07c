"""Convert protocols to files and back. The format itself is in :mod:`rldp.protocol_file.format`."""

from __future__ import annotations

import hashlib
import logging
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rldp._version import __version__
from rldp.chain import Chain
from rldp.data.atomic import replacing
from rldp.errors import InvalidArgument, InvalidArgumentType, ProtocolFileError
from rldp.protocol import Certificate, Guarantee, Protocol
from rldp.protocol_file import reader
from rldp.protocol_file.chain_json import chain_of, document_of_chain
from rldp.protocol_file.chains import ChainDocument
from rldp.protocol_file.format import (
    Claim,
    CredibleClaim,
    Document,
    EverythingClaim,
    PairsClaim,
    Promise,
    Proof,
    SetClaim,
    document_of,
    text_of,
)
from rldp.protocol_file.reader import DENOMINATOR, TOO_LARGE, content_of
from rldp.sample import Sample
from rldp.sets import (
    AllDistributions,
    Centre,
    Credible,
    Nominal,
    Pairs,
    PowerDivergence,
    Radius,
    UncertaintySet,
)

__all__ = ["ProtocolFile", "from_json", "load", "read", "save", "to_json"]

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class ProtocolFile:
    """A protocol file that was read once, so that the checked and the used bytes are the same.

    Attributes
    ----------
    path : str
        Its path; the file may have changed since.
    sha256 : str
        Digest of its bytes, in hexadecimal digits.
    document : Document or ChainDocument
        What the judge judges.
    protocol : Protocol
        The protocol to release from, made from the document alone.
    """

    path: str
    sha256: str
    document: Document | ChainDocument
    protocol: Protocol


def read(path: str | PathLike[str]) -> ProtocolFile:
    """Read a protocol file, once; raises as :func:`load` does."""
    content = content_of(path)
    try:
        document = document_of(content)
        protocol = _protocol_of(document)
    except ProtocolFileError as error:
        raise ProtocolFileError(f"{path} must be a protocol file, but {error}") from error
    digest = hashlib.sha256(content).hexdigest()
    vars(protocol)["_sha256"] = digest  # Protocol.sha256
    _log.info("read the protocol file %s: %d bytes, SHA-256 %s", path, len(content), digest)
    return ProtocolFile(str(path), digest, document, protocol)


def from_json(text: str) -> Protocol:
    """Return the protocol that a file's text describes; raises as :func:`load` does."""
    if not isinstance(text, str):
        raise InvalidArgumentType(f"text must be the text of a protocol file, got {type(text).__name__}")
    try:
        return _protocol_of(document_of(text.encode("utf-8", "surrogatepass")))
    except ProtocolFileError as error:
        raise ProtocolFileError(f"text must be that of a protocol file, but {error}") from error


def to_json(protocol: Protocol) -> str:
    """Return the text of the protocol's file; equal protocols give equal texts."""
    try:
        text = text_of(document_of_chain(protocol) if isinstance(protocol, Chain) else _document(protocol))
    except ValueError as error:
        raise InvalidArgument(f"protocol must hold finite numbers to be saved, but: {error}") from error
    if len(text) > reader.MOST_BYTES:
        advice = "" if isinstance(protocol, Chain) else "; windows=True has smaller proofs"
        raise ProtocolFileError(f"protocol must fit a file, but it {TOO_LARGE}{advice}")
    return text


def save(protocol: Protocol, path: str | PathLike[str]) -> None:
    """Write ``protocol`` to ``path``; the file appears whole or not at all."""
    content = protocol.to_json().encode("utf-8")
    with replacing(path, error=ProtocolFileError) as file:
        file.write(content)
    _log.info("wrote the protocol file %s: %d bytes", path, len(content))


def load(path: str | PathLike[str]) -> Protocol:
    """Read a protocol that :meth:`Protocol.save` wrote.

    Its guarantee is what the file claims; :func:`rldp.verify` checks it.

    Raises
    ------
    ProtocolFileError
        If the file is missing, is not a protocol, or has a version this library does not know.
    """
    return read(path).protocol


def _protocol_of(document: Document | ChainDocument) -> Protocol:
    return chain_of(document) if isinstance(document, ChainDocument) else _protocol(document)


def _document(protocol: Protocol) -> Document:
    return Document(
        generator=f"rldp {__version__}",
        secrets=protocol.secrets,
        values=protocol.values,
        outputs=protocol.outputs,
        numerators=protocol.numerators.tolist(),
        guarantee=None if protocol.guarantee is None else _claim(protocol.guarantee),
        reading=protocol.reading,
    )


def _claim(guarantee: Guarantee) -> Claim:
    return Claim(
        epsilon=float(guarantee.epsilon),
        levels=_listed(guarantee.levels),
        n=guarantee.sample.n,
        counts=guarantee.sample.observed.tolist(),
        noise=guarantee.sample.noise,
        rows_a_person=guarantee.sample.rows_a_person,
        privacy=_promise(guarantee.privacy),
        utility=_set_claim(guarantee.utility),
        distortion=guarantee.distortion.tolist(),
        objective=float(guarantee.objective),
        lower_bound=float(guarantee.lower_bound),
        proof=Proof(**{name: _listed(given) for name, given in vars(guarantee.certificate).items()}),
        epsilon_known=float(guarantee.epsilon_known),
    )


def _promise(uncertainty: UncertaintySet) -> Promise:
    match uncertainty:
        case AllDistributions():
            return EverythingClaim()
        case Pairs(alpha, radii=radii):
            if radii is None:
                raise InvalidArgument("sets of pairs have no radii before a design has found them")
            return PairsClaim(alpha, tuple(r.value for r in radii), tuple(r.method for r in radii))
    return _set_claim(uncertainty)


def _set_claim(uncertainty: UncertaintySet) -> SetClaim | CredibleClaim:
    match uncertainty:
        case Credible(alpha, prior=prior, lambda_=lambda_, seed=seed, centre=centre):
            radius = uncertainty.proved_set.radius
            assert radius is not None
            return CredibleClaim(alpha, prior, lambda_, radius, seed, _lists(centre))
        case Nominal(centre=centre):
            return SetClaim(None, centre=_lists(centre))
        case PowerDivergence(lambda_, alpha, None):
            return SetClaim(lambda_, alpha=alpha)
        case PowerDivergence(lambda_, _, radius, centre):
            return SetClaim(lambda_, radius=radius, centre=_lists(centre))
    raise InvalidArgument(f"utility must be a set that a file can hold, got {uncertainty!r}")


def _lists(centre: Centre) -> list[list[int]] | None:
    return None if centre is None else [list(row) for row in centre]


def _listed(given: NDArray[np.float64] | float | None) -> Any:
    return None if given is None else np.asarray(given).tolist()


def _protocol(document: Document) -> Protocol:
    if any(sum(row) != DENOMINATOR for rows in document.numerators for row in rows):
        raise ProtocolFileError("its rows do not sum to the denominator 2^52")
    claim = document.guarantee
    return Protocol(
        np.array(document.numerators, dtype=np.float64) / DENOMINATOR,
        document.secrets,
        document.values,
        document.outputs,
        guarantee=None if claim is None else _guarantee(claim, document),
        reading=document.reading,
    )


def _guarantee(claim: Claim, document: Document) -> Guarantee:
    witnesses: dict[str, Any] = {name: _array(given) for name, given in vars(claim.proof).items()}
    return Guarantee(
        epsilon=claim.epsilon,
        levels=_array(claim.levels),
        sample=Sample(
            claim.counts,
            document.secrets,
            document.values,
            reading=document.reading,
            noise=claim.noise,
            rows_a_person=claim.rows_a_person,
        ),
        privacy=_set(claim.privacy),
        utility=_set(claim.utility),
        distortion=np.array(claim.distortion, dtype=np.float64),
        objective=claim.objective,
        lower_bound=claim.lower_bound,
        certificate=Certificate(**{**witnesses, "eta_utility": claim.proof.eta_utility}),
        epsilon_known=claim.epsilon_known,
    )


def _set(claim: Promise) -> UncertaintySet:
    match claim:
        case EverythingClaim():
            return AllDistributions()
        case PairsClaim(alpha, radii, methods):
            return Pairs(alpha, radii=tuple(map(Radius, radii, methods)))
        case CredibleClaim(alpha, prior, lambda_, radius, seed):
            centre = _tuples(claim.centre)
            return Credible(alpha, prior=prior, lambda_=lambda_, seed=seed, radius=radius, centre=centre)
    if claim.lambda_ is None:
        return Nominal(centre=_tuples(claim.centre))
    if claim.radius is not None:
        return PowerDivergence(claim.lambda_, radius=claim.radius, centre=_tuples(claim.centre))
    assert claim.alpha is not None
    return PowerDivergence(claim.lambda_, claim.alpha)


def _tuples(centre: list[list[int]] | None) -> Centre:
    return None if centre is None else tuple(map(tuple, centre))


def _array(listed: Any) -> NDArray[np.float64] | None:
    return None if listed is None else np.array(listed, dtype=np.float64)
