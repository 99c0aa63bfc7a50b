"""Columns that are published as they are, and how far they single records out.

Sensitive and insensitive columns leave the table unchanged. If many records are unique on them, an
attacker who knows those values finds the records whatever the quasi-identifiers show. So they are
measured before anything is written, and such a release is refused unless the officer accepts the
columns in writing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from celosia.assess.risk.combinations import (
    FEWEST_TOGETHER,
    MOST_ALONE,
    Count,
    Uniqueness,
    protected_first,
)
from celosia.core.errors import InputError, PrivacyError
from celosia.core.messages import quoted_names
from celosia.core.methods import PlainValues
from celosia.tables.options import PublishOptions
from celosia.tables.schema import Role, Schema


@dataclass(frozen=True, slots=True, kw_only=True)
class RawColumn(PlainValues):
    """A column that is published as it is."""

    name: str
    role: str
    uniqueness: Uniqueness
    accepted: str | None = None
    """The reason that the officer gave for publishing it as it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RawColumns(PlainValues):
    """The columns of a release that are published as they are."""

    columns: tuple[RawColumn, ...]
    together: Uniqueness
    """All of them, as an attacker may know them all."""
    published: Uniqueness | None = None
    """All published columns, generalised and raw; None where an engine did not count them."""

    def with_published(self, published: Uniqueness) -> RawColumns:
        """The same with the figures of all published columns."""
        return replace(self, published=published)

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> RawColumns:
        """The measures behind `as_dict()`."""
        published = facts["published"]
        return cls(
            columns=tuple(
                RawColumn(**(each | {"uniqueness": Uniqueness(**each["uniqueness"])}))
                for each in facts["columns"]
            ),
            together=Uniqueness(**facts["together"]),
            published=None if published is None else Uniqueness(**published),
        )


def raw_names(names: Sequence[str], schema: Schema) -> list[str]:
    """Those of some columns that are published as they are."""
    kept = (Role.SENSITIVE, Role.INSENSITIVE)
    return [name for name in names if schema.role_of(name) in kept]


def measure_raw(names: Sequence[str], options: PublishOptions, count: Count) -> RawColumns | None:
    """How far the raw columns of a table single records out; None if it has none.

    Args:
        names: all columns of the table.
        options: the roles, and what the officer has accepted.
        count: counts the combinations of some columns.

    Raises:
        InputError: CEL-P081.not_raw a column was accepted that is not published as it is.
        PrivacyError: CEL-P080 records are unique or nearly so on columns that were not accepted.
    """
    raw = raw_names(names, options.schema)
    accepted = options.accept_raw
    if strange := [name for name in accepted if name not in raw]:
        raise InputError("CEL-P081.not_raw", names=quoted_names(strange, raw), columns=strange)
    if not raw:
        return None
    sets = raw_sets(names, options)
    measured = dict(zip(map(tuple, sets), count(sets), strict=True))
    _check([name for name in raw if name not in accepted], measured, count)
    columns = (
        RawColumn(
            name=name,
            role=str(options.schema.role_of(name)),
            uniqueness=measured[name,],
            accepted=accepted.get(name),
        )
        for name in raw
    )
    return RawColumns(columns=tuple(columns), together=measured[tuple(raw)])


def raw_sets(names: Sequence[str], options: PublishOptions) -> list[list[str]]:
    """The sets of columns that `measure_raw` asks for at first: each, all, those not accepted."""
    raw = raw_names(names, options.schema)
    rest = [name for name in raw if name not in options.accept_raw]
    sets = [*([name] for name in raw), raw, rest]
    return [list(names) for names in dict.fromkeys(map(tuple, sets)) if names]


def _check(names: list[str], measured: Mapping[tuple[str, ...], Uniqueness], count: Count) -> None:
    """Refuse columns that single records out, and name those without which the rest would not."""
    if not names or not (found := measured[tuple(names)]).too_high:
        return
    raise PrivacyError(
        "CEL-P080",
        alone=found.alone,
        records=found.records,
        share=found.alone_share,
        combinations=found.combinations,
        number=len(names),
        columns=list(protected_first(names, count)),
        most=MOST_ALONE,
        fewest=FEWEST_TOGETHER,
    )
