"""Which columns may leave beside the released one."""

from __future__ import annotations

import shlex
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rldp.errors import InvalidArgument, KeptColumnsWarning
from rldp.protocol import Protocol
from rldp.releaser.options import ReleaseOptions

__all__ = ["KeptColumns", "warn_of_kept"]

FEWEST_ROWS = 50
"""In fewer rows, entries that all differ say little about the column."""

NEARLY_UNIQUE = 0.9
"""A column identifies people if it has at least so many distinct entries for each that is not missing."""


@dataclass(frozen=True)
class KeptColumns:
    """Refuses to keep the secret, the value, and what identifies people, unless that is allowed.

    Attributes
    ----------
    secret, value : tuple of str
        What the protocol calls the columns of its secret and its value.
    id : str or None
        The column that identifies people, if it is named.
    allow_original, allow_identifier : bool
    """

    secret: tuple[str, ...]
    value: tuple[str, ...]
    id: str | None
    allow_original: bool
    allow_identifier: bool

    @classmethod
    def of(cls, protocol: Protocol, options: ReleaseOptions) -> KeptColumns:
        """What the options of a release allow."""
        own = protocol.reading
        names = ((), ()) if own is None else (own.secret_names, own.value_names)
        return cls(*names, options.id, options.allow_original, options.allow_identifier)

    def require_names(self, secret: Sequence[str], value: Sequence[str], kept: Mapping[str, str]) -> None:
        """Refuse the columns that are read, by whatever name, and the one named as identifier.

        Parameters
        ----------
        secret, value : sequence of str
            What the columns that are read are called in the table.
        kept : mapping
            Columns to keep: as they are asked for → what they are called.
        """
        roles = {"secret": (*secret, *self.secret), "value": (*value, *self.value)}
        for role, columns in roles.items():
            for column in kept.values():
                if column not in columns or self.allow_original:
                    continue
                raise InvalidArgument(
                    f"keep must not name the {role} column {column!r}, which would be written as it is; "
                    "allow that with allow_original=True if it is meant"
                )
        if self.id is not None and self.id in (*kept, *kept.values()) and not self.allow_identifier:
            raise InvalidArgument(
                f"keep must not name {self.id!r}, which identifies people (id=); allow that with "
                "allow_identifier=True if it is meant"
            )

    def require_rows(self, kept: Mapping[str, Any]) -> None:
        """Refuse columns whose entries are nearly unique: they identify people, whatever they are called."""
        if self.allow_identifier:
            return
        for name, column in kept.items():
            if _is_nearly_unique(column):
                raise InvalidArgument(
                    f"keep must not name {name!r}, whose entries are nearly unique and identify people; "
                    "allow that with allow_identifier=True if it is meant"
                )


def _is_nearly_unique(column: Any) -> bool:
    """Of an Arrow array, a pandas or a Polars series."""
    drop = next(
        getattr(column, name) for name in ("drop_null", "drop_nulls", "dropna") if hasattr(column, name)
    )
    try:
        there = drop()
        return len(there) >= FEWEST_ROWS and len(there.unique()) >= NEARLY_UNIQUE * len(there)
    except Exception:  # whatever a library raises about entries that it cannot compare, such as lists
        return False


def warn_of_kept(
    secret: Sequence[str], keep: Sequence[str], data: object = None, options: ReleaseOptions | None = None
) -> None:
    """Say what kept columns mean, with what measures it: on the data, where the secrets stand."""
    kept = [column for column in keep if column not in secret]
    if not kept:
        return
    secret = secret or ("COLUMN",)  # that the protocol does not read
    if data is None:
        line = f"rldp.audit_release(secrets, kept), of the columns {secret[0]!r} and {kept[0]!r}"
    else:
        given = [("delimiter", options and options.delimiter), ("encoding", options and options.encoding)]
        dialect = [f"--{option}={text}" for option, text in given if text]
        words = [
            "rldp",
            "audit-release",
            str(data),
            *dialect,
            f"--secret={secret[0]}",
            f"--released={kept[0]}",
        ]
        line = shlex.join(words)
    others = "" if len(kept) == 1 else ", and the same with each other kept column"
    if len(secret) > 1:
        others += ", and with each other column of the secret"
    warnings.warn(
        "ε is that of the released column alone; kept columns are copied as they are and can tell the "
        f"secret. This bounds from below how much {kept[0]!r} tells: {line}{others}",
        KeptColumnsWarning,
        stacklevel=4,
    )
