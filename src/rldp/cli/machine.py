"""Output for machines: JSON with stable keys, which ``docs/json.md`` lists."""

from __future__ import annotations

import dataclasses
import json
import math
from pathlib import PurePath
from typing import Any

import numpy as np
import typer

__all__ = ["picked", "plain", "show_json"]


def show_json(document: dict[str, Any], *, indent: int | None = None) -> None:
    """Print JSON, with unprintable characters escaped."""
    text = json.dumps(plain(document), ensure_ascii=False, allow_nan=False, indent=indent)
    typer.echo("".join(c if c.isprintable() or c == "\n" else json.dumps(c)[1:-1] for c in text))


def picked(thing: Any, *names: str) -> dict[str, Any]:
    """Return attributes by their names."""
    return {name: getattr(thing, name) for name in names}


def plain(thing: Any) -> Any:
    """Convert dataclasses, arrays and paths to JSON types; ∞ is "infinity", as in protocol files."""
    match thing:
        case dict():
            return {key: plain(item) for key, item in thing.items()}
        case np.ndarray():
            return plain(thing.tolist())
        case list() | tuple():
            return [plain(item) for item in thing]
        case float() if math.isinf(thing):
            return "infinity"
        case PurePath():
            return str(thing)
    if dataclasses.is_dataclass(thing):
        return {field.name: plain(getattr(thing, field.name)) for field in dataclasses.fields(thing)}
    return thing
