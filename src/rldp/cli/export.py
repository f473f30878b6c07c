"""``rldp export``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rldp.cli.admission import Requirements
from rldp.cli.app import Json, command, is_quiet, progress, require_writable
from rldp.cli.columns import chosen
from rldp.cli.machine import show_json
from rldp.errors import ProtocolFileError
from rldp.gate.admission import admitted


@command(example="rldp export protocol.json -o table.json")
def export(
    protocol: Annotated[Path, typer.Argument(help="Protocol file that 'rldp design' wrote.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="File to write (JSON).")],
    asked: Requirements,
    as_json: Json = False,
) -> None:
    """Export the table of a protocol, without the counts of the sample and the proof.

    The protocol is verified first, as 'rldp release' does. The exported file is for clients that draw
    outputs themselves. It proves nothing, so 'rldp release' refuses it without --unproved.
    """
    from rldp.data.atomic import replacing, require_other_file
    from rldp.protocol_file.export import table_of
    from rldp.releaser.options import ReleaseOptions
    from rldp.reporter import terminal

    require_writable(output)
    require_other_file(output, protocol, "the protocol")
    with progress("Verifying"):
        options = ReleaseOptions(**chosen(asked))
        file, verdict = admitted(protocol, options, all_the_same="--unproved exports")
    content = table_of(file).encode("utf-8")
    with replacing(output, name="output", error=ProtocolFileError) as target:
        target.write(content)
    if as_json:
        facts = {"output": output, "bytes": len(content), "protocol": protocol, "sha256": file.sha256}
        show_json({**facts, "proved": verdict.ok, "epsilon": verdict.epsilon, "promise": verdict.promise})
    elif not is_quiet():
        terminal.tell(
            f"The protocol was verified: {verdict.promise}."
            if verdict.ok
            else "The protocol claims nothing or does not prove its claims; it was exported anyway."
        )
        terminal.tell(
            "The table holds neither the sample's counts nor the proof: keep the protocol file. Without them "
            "nothing can be verified, so rldp release takes the table with --unproved only."
        )
        terminal.say(f"{len(content):,} bytes written to {output}")
