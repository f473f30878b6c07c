"""``rldp show``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from rldp.chain import Chain
from rldp.cli.app import Json, command
from rldp.cli.machine import show_json
from rldp.data.reading import Reading
from rldp.protocol import Protocol
from rldp.protocol_file.json import ProtocolFile, read

_MOST_OF_A_CHAIN = 10**6  # probabilities of whole rows, for each secret


@command(example="rldp show protocol.json")
def show(
    protocol: Annotated[Path, typer.Argument(help="Protocol file to show.")],
    as_json: Json = False,
) -> None:
    """Show a protocol and the claims of its file, without checking them."""
    from rldp.reporter import terminal

    file = read(protocol)
    if as_json:
        show_json(_facts(file))
        return
    screen = terminal.console()
    screen.print(terminal.protocol_report(file.protocol, width=screen.width))


def _facts(file: ProtocolFile) -> dict[str, Any]:
    from rldp.adviser.verdict import outputs_used
    from rldp.measures.association import associations, basis_of, by_column

    protocol, claim, reading = file.protocol, file.protocol.guarantee, file.protocol.reading
    columns = by_column(protocol, basis_of(protocol))
    return {
        "protocol": file.path,
        "sha256": file.sha256,
        "columns": None if reading is None else _columns(reading),
        "given": protocol.given_columns,
        "given_known": bool(getattr(claim, "given_known", False)),
        "earlier": getattr(protocol, "earlier_columns", ()),
        "secrets": protocol.secrets,
        "values": protocol.values,
        "outputs": protocol.outputs,
        "probabilities": protocol.matrix if is_small(protocol) else None,
        "by_column": [
            {"name": name, "values": each.values, "outputs": each.outputs, "probabilities": each.matrix}
            for name, each in columns.items()
        ],
        "associations": [] if claim is None else associations(protocol, claim.sample.distribution),
        "outputs_used": outputs_used(protocol),
        "epsilon": None if claim is None else claim.epsilon,
        "levels": None if claim is None else claim.levels,
        "promise": None if claim is None else claim.promise,
        "objective": None if claim is None else claim.objective,
        "lower_bound": None if claim is None else claim.lower_bound,
        "rows": None if claim is None else claim.sample.n,
        "noise": None if claim is None else claim.sample.noise,
        "rows_a_person": None if claim is None else claim.sample.rows_a_person,
    }


def is_small(protocol: Protocol) -> bool:
    """Return whether to print the table of whole rows, which may be huge for a chain."""
    return not isinstance(protocol, Chain) or len(protocol.values) * len(protocol.outputs) <= _MOST_OF_A_CHAIN


def _columns(reading: Reading) -> dict[str, Any]:
    value = reading.value_names[0] if len(reading.value) == 1 else list(reading.value_names)
    return {"secret": list(reading.secret_names), "value": value}
