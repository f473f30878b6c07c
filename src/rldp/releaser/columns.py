"""Columns in, column out: a protocol applied to people's data."""

from __future__ import annotations

from typing import Any

import numpy as np

from rldp._common.checks import Label, whole_number
from rldp.data.columns import encode, kind_of
from rldp.data.decoding import decode
from rldp.data.labels import Alphabet, faults
from rldp.errors import DataError, InvalidArgument
from rldp.protocol import Protocol
from rldp.releaser.randomness import randomness
from rldp.releaser.requests import draw_pairs

__all__ = ["output_for", "release"]


def release(protocol: Protocol, secrets: Any, values: Any, *, seed: int | None = None) -> Any:
    """Draw an output for every row; see :meth:`rldp.Protocol.release`."""
    source = randomness(seed)
    for name, column in (("secrets", secrets), ("values", values)):
        kind_of(name, column)
    if len(secrets) != len(values):
        raise InvalidArgument(
            f"secrets and values must have the same length, got {len(secrets)} and {len(values)}"
        )
    _require_same_rows(secrets, values)
    s = encode("secrets", secrets, Alphabet(protocol.secrets))
    u = encode("values", values, Alphabet(protocol.values))
    faults(s, u).refuse("released")
    decode(values[:0], u.codes[:0], protocol.outputs)  # fails where the kind of column cannot hold them
    return decode(values, draw_pairs(protocol, s.codes, u.codes, source), protocol.outputs)


def output_for(protocol: Protocol, secret: Label, value: Label, word: int) -> Label:
    """The output that a word stands for; see :meth:`rldp.Protocol.output_for`."""
    integer = whole_number("word", word, 0, protocol.denominator - 1)
    s = _place("secret", secret, protocol.secrets)
    u = _place("value", value, protocol.values)
    row = np.array([s * len(protocol.values) + u])
    return protocol.outputs[int(protocol.sampler.outputs(row, np.array([integer]))[0])]


def _place(name: str, entry: object, labels: tuple[Label, ...]) -> int:
    """Where a label stands; an entry that is none is somebody's, and is not shown."""
    code = int(Alphabet(labels).of_objects([entry])[0])
    if code < 0:
        raise DataError(f"{name} must be one of the protocol's {len(labels)} {name}s, got another entry")
    return code


def _require_same_rows(secrets: Any, values: Any) -> None:
    """Two pandas series must name their rows alike: pairing them by place would mix people up."""
    both_pandas = kind_of("secrets", secrets) == kind_of("values", values) == "pandas"
    if both_pandas and not secrets.index.equals(values.index):
        raise InvalidArgument("secrets and values must have the same index, got two that differ")
