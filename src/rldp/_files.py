"""Files that appear whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def write_whole(target: Path, content: bytes, *, scratch_folder: Path | None = None) -> None:
    """Write ``content`` to ``target``; whoever looks finds the old file or the new one, never a part.

    Parameters
    ----------
    scratch_folder : Path, optional
        Where the file grows, on the same disk; by default beside the target.

    Raises
    ------
    OSError
        If it cannot be written; nothing is left behind.
    """
    handle, scratch = tempfile.mkstemp(dir=scratch_folder or target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(scratch, 0o644)
        os.replace(scratch, target)
    finally:
        Path(scratch).unlink(missing_ok=True)
