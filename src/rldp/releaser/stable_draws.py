r"""Permanent draws: with the same key, a person with the same secret and value gets the same output.

The word of a draw is the first 52 bits, most significant first, of HMAC-SHA256(key, message). The message is
the canonical encoding (:mod:`rldp._common.canonical`) of a list of eight items:

1. the text ``rldp-draw-1``;
2. the 32 bytes of the table's digest: SHA-256 of the encoding of the list ``rldp-table-1``, secrets, values,
   outputs, and the integers of the table over 2^52 as bytes, 8 for each, most significant first, in the order
   (secret, value, output). For a chain, the list is ``rldp-chain-1``, secrets, and a list of the stages in
   order, each a list of its column's name, the column's labels, the stage's outputs and its integers in the
   order (context, secret, value, output);
3. a list of the names of the value columns, as the protocol has them; of a stage's column, for a chain;
4. the number of the stage, from 0; 0 where there is one table;
5. a list of the labels of the outputs of earlier stages, in their order; empty where there are none;
6. the identifier, as a text (:mod:`rldp.releaser.ids`);
7. the label of the secret, or nothing where no probability of the table depends on the secret;
8. the label of the value, a list of labels where the table has one for each of several columns.

Labels are those of the protocol, not the entries of the data: 37 and 39 are the same value if one bin holds
both. The output is the one that the word stands for, as for any word (:mod:`rldp.theory.sampling`): 52 bits
against a grid of 2⁻⁵² leave nothing to round.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from rldp._common.canonical import Item, encoded, list_of
from rldp.chain import Chain
from rldp.errors import InvalidArgument
from rldp.protocol import Protocol
from rldp.releaser.keys import Key

__all__ = ["StableDraws"]

_VERSION = "rldp-draw-1"
_BLOCK = 64  # bytes that SHA-256 takes at a time
_ITEMS = 8


@dataclass(frozen=True, eq=False, repr=False)
class _Stage:
    """The common part of a stage's messages, and the encodings of its labels."""

    head: bytes  # up to the number of the stage
    values: list[bytes]
    outputs: list[bytes]


@dataclass(frozen=True, eq=False, repr=False)
class StableDraws:
    """The words of some people's rows; a :class:`rldp.theory.sampling.RowWords`.

    Its pickle holds the key: workers of a cluster need it.

    Attributes
    ----------
    material : bytes
        The key.
    secrets : list of bytes
        The encodings of the protocol's secrets.
    stages : tuple
    ids : sequence of bytes
        The encodings of the people's identifiers, by row.
    """

    material: bytes
    secrets: list[bytes]
    stages: tuple[_Stage, ...]
    ids: Sequence[bytes] = ()

    @classmethod
    def of(cls, protocol: Protocol, key: Key) -> StableDraws:
        """Return the draws of a protocol with a key.

        Raises
        ------
        InvalidArgument
            If the protocol does not name its value columns: two columns would then share their draws.
        """
        if not protocol.value_columns:
            raise InvalidArgument(
                "key must come with a protocol that names its value columns, so that two columns of a person "
                "do not share a draw, got one without names"
            )
        table = bytes.fromhex(protocol.table_sha256)
        secrets = _all_encoded(protocol.secrets)
        if not protocol.reads_secret:
            secrets = [encoded(None)] * len(secrets)
        if isinstance(protocol, Chain):
            labels = {column.name: column.labels for column in protocol.reading.row}
            parts = [([stage.column], labels[stage.column], stage.outputs) for stage in protocol.stages]
        else:
            parts = [(list(protocol.value_columns), protocol.values, protocol.outputs)]
        stages = tuple(
            _Stage(_head(table, columns, number), _all_encoded(values), _all_encoded(outputs))
            for number, (columns, values, outputs) in enumerate(parts)
        )
        return cls(key.material, secrets, stages)

    @property
    def fingerprint(self) -> str:
        """The key's."""
        return Key(self.material).fingerprint

    def words(self, ids: Sequence[bytes]) -> StableDraws:
        """Return the words of rows of these people."""
        return replace(self, ids=ids)

    def of_stage(
        self,
        stage: int,
        secrets: NDArray[np.integer],
        values: NDArray[np.integer],
        before: Sequence[NDArray[np.integer]],
    ) -> NDArray[np.uint64]:
        """Return the first 64 bits of HMAC-SHA256 of each row's message."""
        s, u = self.secrets, self.stages[stage].values
        ends = (s[i] + u[j] for i, j in zip(secrets.tolist(), values.tolist(), strict=True))
        outputs = [
            [earlier.outputs[code] for code in codes.tolist()]
            for earlier, codes in zip(self.stages[:stage], before, strict=True)
        ]
        if not outputs:
            none = list_of([])
            tails = (none + id + end for id, end in zip(self.ids, ends, strict=True))
        else:
            contexts = map(list_of, zip(*outputs, strict=True))
            tails = (c + id + end for c, id, end in zip(contexts, self.ids, ends, strict=True))
        # The hashes of what all messages begin with are computed once.
        key = self.material if len(self.material) <= _BLOCK else hashlib.sha256(self.material).digest()
        inner, outer = (
            hashlib.sha256(bytes(byte ^ pad for byte in key.ljust(_BLOCK, b"\0"))) for pad in (0x36, 0x5C)
        )
        inner.update(self.stages[stage].head)
        digests = []
        for tail in tails:
            first, second = inner.copy(), outer.copy()
            first.update(tail)
            second.update(first.digest())
            digests.append(second.digest())
        return np.frombuffer(b"".join(digests), dtype=">u8")[::4].astype(np.uint64)


def _head(table: bytes, columns: list[str], stage: int) -> bytes:
    common: list[Item] = [_VERSION, table, columns, stage]
    return b"l%d:%b" % (_ITEMS, b"".join(map(encoded, common)))


def _all_encoded(labels: Iterable[Item]) -> list[bytes]:
    return [encoded(label) for label in labels]
