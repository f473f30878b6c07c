"""``rldp key``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rldp.cli.app import Json, command, is_quiet, require_writable
from rldp.cli.machine import show_json


@command(example="rldp key -o release.key")
def key(
    output: Annotated[Path, typer.Option("--output", "-o", help="File to write; it must not exist.")],
    as_json: Json = False,
) -> None:
    """Write a new secret key for 'rldp release --key' to a file that only its owner can read.

    The key has 32 random bytes. With it, a person with the same secret and value always gets the same output.
    Whoever has the key can undo every draw, so keep it apart from what you release. A lost key cannot be
    recovered.
    """
    from rldp.releaser.keys import KEY_BYTES, write_new_key
    from rldp.reporter import terminal

    require_writable(output)
    fingerprint = write_new_key(output)
    if as_json:
        show_json({"output": output, "bytes": KEY_BYTES, "key": fingerprint}, indent=2)
    elif not is_quiet():
        terminal.tell(
            "Whoever has this key can undo every draw made with it. Keep it apart from the release, and do "
            "not lose it."
        )
        terminal.say(f"{KEY_BYTES} random bytes written to {output} (fingerprint {fingerprint})")
