"""Decide which columns may be published beside the released one."""

from __future__ import annotations

import shlex
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any

from rldp.errors import InvalidArgument, KeptColumnsWarning
from rldp.protocol import Protocol
from rldp.releaser.options import ReleaseOptions
from rldp.releaser.requests import Request

__all__ = ["KeptColumns", "warn_of_kept"]

FEWEST_ROWS = 50
"""With fewer rows, distinct entries say little about the column."""

NEARLY_UNIQUE = 0.9
"""A column identifies people if its distinct entries are at least this share of those that are not
missing.
"""


@dataclass(frozen=True)
class KeptColumns:
    """Refuses to keep the secret, the value and identifying columns, unless the options allow it.

    Attributes
    ----------
    secret, value : tuple of str
        The protocol's names for the columns of its secret and its value.
    id : str or None
        The column that identifies people, if named.
    allow_original, allow_identifier : bool
    """

    secret: tuple[str, ...]
    value: tuple[str, ...]
    id: str | None
    allow_original: bool
    allow_identifier: bool

    @classmethod
    def of(cls, protocol: Protocol, options: ReleaseOptions) -> KeptColumns:
        """Return the rules that the options of a release set."""
        own = protocol.reading
        names = ((), ()) if own is None else (own.secret_names, own.value_names)
        return cls(*names, options.id, options.allow_original, options.allow_identifier)

    def require_names(self, secret: Sequence[str], value: Sequence[str], kept: Mapping[str, str]) -> None:
        """Refuse the columns that are read, under any name, and the named identifier.

        Parameters
        ----------
        secret, value : sequence of str
            The names in the table of the columns that are read.
        kept : mapping
            Columns to keep: requested name → name in the table.
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

    def require_rows(self, kept: Mapping[str, Any]) -> bool:
        """Refuse columns whose entries are nearly unique, since they identify people.

        Return whether there were enough rows to tell.
        """
        if self.allow_identifier:
            return True
        for name, column in kept.items():
            if _is_nearly_unique(column):
                raise InvalidArgument(
                    f"keep must not name {name!r}, whose entries are nearly unique and identify people; "
                    "allow that with allow_identifier=True if it is meant"
                )
        return all(len(column) >= FEWEST_ROWS for column in kept.values())


def _is_nearly_unique(column: Any) -> bool:
    """Return whether an Arrow array, a pandas or a Polars series is nearly unique."""
    drop = next(
        getattr(column, name) for name in ("drop_null", "drop_nulls", "dropna") if hasattr(column, name)
    )
    try:
        there = drop()
        return len(there) >= FEWEST_ROWS and len(there.unique()) >= NEARLY_UNIQUE * len(there)
    except Exception:  # libraries raise many exceptions for entries they cannot compare, such as lists
        return False


def warn_of_kept(
    request: Request,
    released: Sequence[str] = (),
    names: Sequence[str] | None = None,
    *files: str | PathLike[str],
) -> None:
    """Warn that no promise covers kept columns, and say how to test them together with the released ones.

    Parameters
    ----------
    request : Request
    released : sequence of str
        Names of the released columns; by default as requested.
    names : sequence of str, optional
        Names of the kept columns in what is released; by default as requested.
    *files : path
        The protocol and the data, if both are files.
    """
    options, reading = request.options, request.columns.reading
    secret = reading.secret_names or ("COLUMN",)  # if the protocol does not read it
    kept = [column for column in (options.keep if names is None else names) if column not in secret]
    if not kept:
        return
    columns = [*kept, *(released or reading.value_names)]
    if files:
        tested = shlex.join([f"--released={column}" for column in columns])
        lines = f"{_commands(request, *files)} {tested}"
        how = f"This tests them together, in a file that must not be published: {lines}"
    else:
        listed = ", ".join(map(repr, columns))
        how = f"rldp.audit_release(secrets, columns) tests them together: {secret[0]!r} against {listed}"
    others = ", and the same with each other column of the secret" if len(secret) > 1 else ""
    warnings.warn(
        "ε covers only the released columns; kept columns are copied unchanged and can reveal the secret, "
        "alone or together with them. A design with given=['COLUMN'] has such a column inside its "
        "promise. If one of them was itself released by a protocol, design both columns in one release. "
        f"{how}{others}",
        KeptColumnsWarning,
        stacklevel=4,
    )


def _commands(request: Request, protocol: str | PathLike[str], data: str | PathLike[str]) -> str:
    """Return the commands that release the rows again beside the secret, and audit the result."""
    options = request.options
    words = ["rldp", "release", str(protocol), str(data)]
    for name in ("secret", "value", "as_secret", "as_value", "unknown", "delimiter", "encoding"):
        given = getattr(options, name)
        listed = given if isinstance(given, list | tuple) else [given]
        words += [f"--{name.replace('_', '-')}={each}" for each in listed if each not in (None, "refuse")]
    words += [f"--{name.replace('_', '-')}" for name in _FLAGS if getattr(options, name)]
    secret = next(iter(request.columns.reading.secret_names), "COLUMN")
    words += [f"--keep={column}" for column in dict.fromkeys([secret, *options.keep])]
    names = [options.released] if isinstance(options.released, str) else options.released or ()
    words += ["--allow-original", *(f"--released-name={name}" for name in names)]
    audit = ["rldp", "audit-release", "private.csv", f"--secret={secret}"]
    return f"{shlex.join([*words, '-o', 'private.csv'])} && {shlex.join(audit)}"


_FLAGS = ("unproved", "allow_drift", "allow_absence", "allow_identifier")
