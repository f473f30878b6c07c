"""Normalise released rows, given as columns, counts or a list for several protocols."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rldp._common.checks import shown
from rldp.errors import InvalidArgument, InvalidArgumentType
from rldp.estimator.released import Released
from rldp.protocol import Protocol, require_protocol

__all__ = ["sources_of"]


def sources_of(released: Any, protocol: Protocol | None, secrets: Any) -> list[Released]:
    """Return released rows by protocol, merging those of the same protocol."""
    if isinstance(released, Released):
        return _of_counts(released, protocol, secrets)
    if protocol is not None:
        require_protocol(protocol)
        return [Released.from_columns(released, protocol, secrets=secrets)]
    if isinstance(released, list | tuple) and released and all(map(_is_source, released)):
        if secrets is not None:
            raise InvalidArgument(
                "secrets must be left out where released is a list; give rldp.Released.from_columns(…, "
                "secrets=…) in it"
            )
        return _together(_source(item) for item in released)
    raise InvalidArgumentType(
        "protocol must be given, unless released is an rldp.Released or a list of them or of pairs "
        f"(released, protocol), got {shown(type(released).__name__)}"
    )


def _of_counts(released: Released, protocol: Protocol | None, secrets: Any) -> list[Released]:
    if secrets is not None:
        raise InvalidArgument(
            "secrets must be left out where released is counted; rldp.Released.from_columns(…, secrets=…) "
            "counts them"
        )
    if protocol is None or protocol is released.protocol:
        return [released]
    return [Released(released.counts, protocol)]


def _is_source(item: object) -> bool:
    pair = isinstance(item, tuple) and len(item) == 2 and isinstance(item[1], Protocol)
    return pair or isinstance(item, Released)


def _source(item: Any) -> Released:
    if isinstance(item, Released):
        return item
    rows, protocol = item
    return sources_of(rows, protocol, None)[0]


def _together(sources: Iterable[Released]) -> list[Released]:
    together: dict[tuple[int, bool], Released] = {}
    for source in sources:
        kind = id(source.protocol), source.knows_secrets
        together[kind] = together[kind] + source if kind in together else source
    if len({(each.protocol.secrets, each.protocol.values) for each in together.values()}) > 1:
        raise InvalidArgument("released must be of protocols with the same secrets and values, got others")
    return list(together.values())
