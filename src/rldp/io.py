"""The protocol file: versioned JSON with exact probabilities, the claim and its proof inside.

Probabilities are integers over 2^52, so the file holds the very numbers of the protocol; all other
numbers are written in full, so that they come back bit for bit. The same protocol always gives the
same bytes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rldp._checks import shown
from rldp._files import write_whole
from rldp.certificate import Certificate
from rldp.errors import InvalidArgument, InvalidArgumentType, ProtocolFileError, RldpError
from rldp.protocol import Guarantee, Protocol
from rldp.sample import Sample
from rldp.sets import Nominal, PowerDivergence, UncertaintySet

__all__ = ["load", "save"]

_FORMAT, _VERSION = "rldp-protocol", 1
_DENOMINATOR = 2**52


def save(protocol: Protocol, path: str | PathLike[str]) -> None:
    """Write ``protocol`` to ``path``; the file appears whole or not at all."""
    target = _checked_path(path)
    document = _document(protocol)
    try:
        text = json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except ValueError as error:
        raise InvalidArgument(f"protocol must hold finite numbers to be saved, but: {error}") from error
    try:
        write_whole(target, (text + "\n").encode())
    except OSError as error:
        reason = error.strerror or error
        raise ProtocolFileError(f"path must be writable, but {str(target)!r} is not: {reason}") from error


def _checked_path(path: str | PathLike[str]) -> Path:
    if not isinstance(path, str | PathLike):
        raise InvalidArgumentType(f"path must be a path, got {shown(path)}")
    if "\0" in str(path):
        raise InvalidArgument(f"path must not hold a null character, got {shown(path)}")
    return Path(path)


def load(path: str | PathLike[str]) -> Protocol:
    """Read a protocol that :meth:`Protocol.save` wrote.

    Its guarantee is what the file claims; ``docs/theory.md``, 'Two bounds', says how the numbers in it
    prove the claim.

    Raises
    ------
    ProtocolFileError
        If the file is missing, is not a protocol, or has a version this library does not know.
    """
    source = _checked_path(path)
    try:
        document = json.loads(source.read_text(encoding="utf-8"), parse_constant=_refused_constant)
    except FileNotFoundError as error:
        raise ProtocolFileError(f"path must be a protocol file, but {str(source)!r} is missing") from error
    except (OSError, ValueError, RecursionError) as error:
        raise ProtocolFileError(
            f"{source} must be a protocol file, but it cannot be read: {error}"
        ) from error
    if not isinstance(document, dict) or document.get("format") != _FORMAT:
        raise ProtocolFileError(f"{source} must be a protocol file, got other JSON")
    if document.get("version") != _VERSION:
        raise ProtocolFileError(f"{source} must have version {_VERSION}, got {document.get('version')!r}")
    try:
        return _protocol(document)
    except (KeyError, TypeError, ValueError, IndexError, OverflowError, RldpError) as error:
        raise ProtocolFileError(f"{source} is not a whole protocol file: {error!r}") from error


def _refused_constant(name: str) -> float:
    raise ValueError(f"{name} is not a number that JSON knows")


def _document(protocol: Protocol) -> dict[str, Any]:
    units = protocol.matrix * _DENOMINATOR
    if (units != np.floor(units)).any() or (units.sum(axis=2) != _DENOMINATOR).any():
        raise InvalidArgument(
            "protocol must hold multiples of 2^-52 that sum to one to be saved; rldp.design returns such"
        )
    document: dict[str, Any] = {
        "format": _FORMAT,
        "version": _VERSION,
        "secrets": list(protocol.secrets),
        "values": list(protocol.values),
        "outputs": list(protocol.outputs),
        "denominator": _DENOMINATOR,
        "numerators": units.astype(np.int64).tolist(),
    }
    if protocol.guarantee is not None:
        document["guarantee"] = _guarantee_document(protocol.guarantee)
    return document


def _guarantee_document(guarantee: Guarantee) -> dict[str, Any]:
    proof = guarantee.certificate
    epsilon = guarantee.epsilon
    return {
        "epsilon": epsilon if np.isfinite(epsilon) else "infinity",
        "counts": guarantee.sample.counts.tolist(),
        "privacy": _set_document(guarantee.privacy),
        "utility": _set_document(guarantee.utility),
        "distortion": guarantee.distortion.tolist(),
        "objective": guarantee.objective,
        "lower_bound": guarantee.lower_bound,
        "certificate": {
            "eta": _listed(proof.eta),
            "eta_utility": proof.eta_utility,
            "multipliers": _listed(proof.multipliers),
            "members": _listed(proof.members),
            "distribution": proof.distribution.tolist(),
        },
    }


def _set_document(uncertainty: UncertaintySet) -> dict[str, Any]:
    if isinstance(uncertainty, PowerDivergence):
        kind = {"kind": "power-divergence", "lambda": uncertainty.lambda_}
        if uncertainty.radius is not None:
            return {**kind, "radius": uncertainty.radius}
        return {**kind, "alpha": uncertainty.alpha}
    return {"kind": "nominal"}


def _listed(array: NDArray[np.float64] | None) -> list[Any] | None:
    return None if array is None else array.tolist()


def _protocol(document: Mapping[str, Any]) -> Protocol:
    numerators = np.array(document["numerators"], dtype=np.int64)
    if document["denominator"] != _DENOMINATOR or (numerators.sum(axis=-1) != _DENOMINATOR).any():
        raise ProtocolFileError("rows do not sum to the denominator 2^52")
    names = {name: document[name] for name in ("secrets", "values", "outputs")}
    guarantee = document.get("guarantee")
    return Protocol(
        numerators / _DENOMINATOR,
        **names,
        guarantee=None if guarantee is None else _guarantee(guarantee, names),
    )


def _guarantee(document: Mapping[str, Any], names: Mapping[str, Any]) -> Guarantee:
    epsilon = document["epsilon"]
    proof = document["certificate"]
    return Guarantee(
        epsilon=float("inf") if epsilon == "infinity" else float(epsilon),
        sample=Sample(document["counts"], names["secrets"], names["values"]),
        privacy=_set(document["privacy"]),
        utility=_set(document["utility"]),
        distortion=np.array(document["distortion"], dtype=np.float64),
        objective=float(document["objective"]),
        lower_bound=float(document["lower_bound"]),
        certificate=Certificate(
            eta=_array(proof["eta"]),
            eta_utility=proof["eta_utility"],
            multipliers=_array(proof["multipliers"]),
            members=_array(proof["members"]),
            distribution=np.array(proof["distribution"], dtype=np.float64),
        ),
    )


def _set(document: Mapping[str, Any]) -> UncertaintySet:
    if document["kind"] == "nominal":
        return Nominal()
    if document["kind"] != "power-divergence":
        raise ProtocolFileError(f"unknown kind of set {document['kind']!r}")
    if "radius" in document:
        return PowerDivergence(document["lambda"], radius=document["radius"])
    return PowerDivergence(document["lambda"], document["alpha"])


def _array(listed: list[Any] | None) -> NDArray[np.float64] | None:
    return None if listed is None else np.array(listed, dtype=np.float64)
