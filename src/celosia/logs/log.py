"""A log in memory: its records, what its columns mean, and whose record each is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.core.errors import InputError
from celosia.core.messages import did_you_mean
from celosia.frames.codes import encode
from celosia.logs.damage import Damage, together
from celosia.logs.declaration import LogDeclaration
from celosia.logs.normalisation import normalise

LONGEST_QUERY = 10_000
"""Characters of a query or an item; longer ones are no query and are dropped, counted."""


@dataclass(frozen=True, eq=False)
class Log:
    """Records with declared columns; use `log_of` or `read`, which check them.

    Args:
        frame: the records.
        declaration: what the columns are.
        unread: how many lines of the file became no record, by the reason.
        hidden: columns that methods still need and that are not published.
        units: the person of each record as a number, kept when the column itself was replaced.
        copies: for how many persons each record stands, where groups share one log.
    """

    frame: pl.DataFrame = field(repr=False)
    declaration: LogDeclaration
    unread: Mapping[str, int] = field(default_factory=dict)
    hidden: frozenset[str] = frozenset()
    units: NDArray[np.int32] | None = field(default=None, repr=False)
    copies: NDArray[np.int64] | None = field(default=None, repr=False)

    @property
    def records(self) -> int:
        """How many records there are."""
        return self.frame.height

    @cached_property
    def people(self) -> NDArray[np.int32]:
        """The person of each record as a number from 0; each record its own where unit is record.

        Raises:
            InputError: CEL-U010 no person is declared.
        """
        if self.units is not None:
            return self.units
        if self.declaration.unit == "record":
            return np.arange(self.records, dtype=np.int32)
        return encode(person_names(self.column("person"))).codes

    @cached_property
    def persons(self) -> int:
        """How many different persons there are."""
        return int((np.bincount(self.people) > 0).sum())

    def column(self, role: str) -> pl.Series:
        """The column of a role.

        Raises:
            InputError: CEL-U010 none is declared.
        """
        name = self.declaration.columns.get(role)
        if name is None:
            raise InputError("CEL-U010", role=role)
        return self.frame.get_column(name)

    @property
    def item_role(self) -> str:
        """What persons have in common or not: the text, else the address that was asked for."""
        return "url" if self.declaration.text is None else "text"

    @cached_property
    def queries(self) -> tuple[NDArray[np.int32], pl.Series]:
        """The normalised query or item of each record as a code, and the distinct ones."""
        coded = encode(self.column(self.item_role).cast(pl.String).fill_null(""))
        how = self.declaration.normalise if self.item_role == "text" else "none"
        again = encode(normalise(coded.values, how))
        return again.codes[coded.codes], again.values

    @property
    def published(self) -> pl.DataFrame:
        """The columns that a release has."""
        return self.frame.select([each for each in self.frame.columns if each not in self.hidden])

    def kept(self, is_kept: NDArray[np.bool_]) -> Self:
        """The log with some of its records."""
        return replace(self, frame=self.frame.filter(is_kept), units=self.people[is_kept])

    def __repr__(self) -> str:
        # No value of the data: a representation ends up in logs and tracebacks.
        return f"Log(records={self.records})"


def person_names(column: pl.Series) -> pl.Series:
    """The names of persons in one form: an e-mail address in two cases is one person.

    >>> person_names(pl.Series(["Ann@example.org", "ann@example.org ", "Ann"])).to_list()
    ['ann@example.org', 'ann@example.org', 'Ann']
    """
    names = column.cast(pl.String).str.strip_chars()
    return names.str.to_lowercase().zip_with(names.str.contains("@").fill_null(False), names)


def log_of(frame: pl.DataFrame, declaration: LogDeclaration, *, lines: Damage | None = None) -> Log:
    """A log of a frame, every record with a person and a text.

    Args:
        frame: the records.
        declaration: what the columns are, and whether damaged records are dropped.
        lines: what was damaged in the file that they come from.

    Raises:
        InputError: CEL-U011 a declared column is not there; CEL-U012 no record is left; CEL-U013
            all records have the same person; CEL-U014 a record has no person, no text or too long
            a one, and is not to be dropped.
    """
    damage = Damage()
    used = sound_records(frame, declaration, damage)
    if used.height == 0:
        raise InputError("CEL-U012")
    damage.check(declaration.damaged)
    found = Log(used, declaration, together(lines or Damage(), damage))
    if declaration.unit == "person" and declaration.person and found.persons == 1:
        raise InputError("CEL-U013", column=declaration.person)
    return found


def sound_records(frame: pl.DataFrame, declaration: LogDeclaration, damage: Damage) -> pl.DataFrame:
    """The declared columns of the records that have a person and a text; others are counted.

    Raises:
        InputError: CEL-U011 a declared column is not there.
    """
    names = list(dict.fromkeys([*declaration.columns.values(), *declaration.keep]))
    for name in names:
        if name not in frame.columns:
            raise InputError("CEL-U011", column=name, hint=did_you_mean(name, frame.columns))
    used = frame.select(names)
    is_there = pl.Series([True]).new_from_index(0, used.height)
    for role in ("person", "text"):
        if role not in declaration.columns:
            continue
        texts = used.get_column(declaration.columns[role]).cast(pl.String).fill_null("")
        reasons = {f"no_{role}": texts.str.strip_chars() == ""}
        if role == "text":
            reasons["long_text"] = texts.str.len_chars() > LONGEST_QUERY
        for reason, is_gone in reasons.items():
            damage.add(reason, is_gone & is_there)
            is_there &= ~is_gone
    damage.before += used.height
    return used if bool(is_there.all()) else used.filter(is_there)
