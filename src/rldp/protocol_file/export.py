"""Export the table of a protocol file: what a client needs, without sample and proof."""

from __future__ import annotations

from dataclasses import replace

from rldp._version import __version__
from rldp.protocol_file.format import text_of
from rldp.protocol_file.json import ProtocolFile

__all__ = ["table_of"]


def table_of(file: ProtocolFile) -> str:
    """Return the text of a protocol file with the same labels and probabilities that claims nothing.

    Its ``generator`` contains the SHA-256 of the original file, so that both can be matched. Nothing else of
    the guarantee is kept: no counts of the sample, no ε, no proof.

    Examples
    --------
    >>> import json, tempfile, rldp
    >>> from rldp.protocol_file.json import read
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     rldp.design(rldp.Sample([[30, 10], [5, 25]]), 1.0).protocol.save(f"{folder}/protocol.json")
    ...     table = json.loads(table_of(read(f"{folder}/protocol.json")))
    >>> table["guarantee"] is None
    True
    """
    origin = f"rldp {__version__} export of the protocol file with SHA-256 {file.sha256}"
    return text_of(replace(file.document, generator=origin, guarantee=None))
