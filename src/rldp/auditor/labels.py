"""Data for an audit must have the labels of the protocol."""

from __future__ import annotations

from rldp.errors import InvalidArgument, InvalidArgumentType
from rldp.protocol import Protocol
from rldp.sample import Sample

__all__ = ["require_labels"]


def require_labels(protocol: Protocol, sample: Sample, *, name: str = "sample") -> None:
    """Refuse what is no protocol or no sample, or a sample of other secrets or values."""
    if not isinstance(protocol, Protocol):
        raise InvalidArgumentType(f"protocol must be an rldp.Protocol, got {type(protocol).__name__}")
    if not isinstance(sample, Sample):
        raise InvalidArgumentType(f"{name} must be an rldp.Sample, got {type(sample).__name__}")
    for which, wanted, given in (
        ("secrets", protocol.secrets, sample.secrets),
        ("values", protocol.values, sample.values),
    ):
        if wanted != given:
            i = next((i for i, (a, b) in enumerate(zip(wanted, given, strict=False)) if a != b), None)
            found = (
                f"{len(given)} instead of {len(wanted)}" if i is None else f"{given[i]!r} for {wanted[i]!r}"
            )
            raise InvalidArgument(
                f"{name} must have the protocol's {which}, got {found}; "
                f"give Sample.from_data {which}=protocol.{which}"
            )
