"""``rldp show``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from rldp.cli.app import Json, command
from rldp.cli.machine import show_json
from rldp.data.reading import Reading
from rldp.protocol_file.json import ProtocolFile, read


@command(example="rldp show protocol.json")
def show(
    protocol: Annotated[Path, typer.Argument(help="Protocol file to draw.")],
    as_json: Json = False,
) -> None:
    """Draw a protocol, and say what its file claims; 'rldp verify' says whether that is proved."""
    from rldp.reporter import terminal

    file = read(protocol)
    if as_json:
        show_json(_facts(file))
        return
    screen = terminal.console()
    screen.print(terminal.protocol_report(file.protocol, width=screen.width))


def _facts(file: ProtocolFile) -> dict[str, Any]:
    from rldp.adviser.verdict import outputs_used

    protocol, claim, reading = file.protocol, file.protocol.guarantee, file.protocol.reading
    return {
        "protocol": file.path,
        "sha256": file.sha256,
        "columns": None if reading is None else _columns(reading),
        "secrets": protocol.secrets,
        "values": protocol.values,
        "outputs": protocol.outputs,
        "probabilities": protocol.matrix,
        "outputs_used": outputs_used(protocol),
        "epsilon": None if claim is None else claim.epsilon,
        "promise": None if claim is None else claim.promise,
        "objective": None if claim is None else claim.objective,
        "lower_bound": None if claim is None else claim.lower_bound,
        "rows": None if claim is None else claim.sample.n,
    }


def _columns(reading: Reading) -> dict[str, Any]:
    value = reading.value_names[0] if len(reading.value) == 1 else list(reading.value_names)
    return {"secret": list(reading.secret_names), "value": value}
