"""A draft of a schema: the roles that the columns of a table suggest, to be read and corrected."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from celosia.assess.risk.finding import Finding
from celosia.core.messages import say
from celosia.core.progress import Progress, silent
from celosia.frames import as_frame, encode
from celosia.tables.hierarchies import Mask, is_nominal
from celosia.tables.schema import Column, Role, Schema


@dataclass(frozen=True, slots=True)
class ColumnDraft:
    """What a column seems to hold, and what to say of it in a schema."""

    finding: Finding
    nominal: bool = False
    """Whether it is a quasi-identifier whose values do not say how they group."""

    @property
    def column(self) -> Column:
        """The column as the draft declares it.

        Empty cells that the table has are a value of their own: the draft fits the table.
        """
        quasi = self.finding.role == "quasi-identifier"
        is_code = self.finding.kind == "postal code"
        return Column(
            self.finding.column,
            Role(self.finding.role),
            type="string" if is_code else None,
            hierarchy=Mask() if is_code else None,
            missing="value" if quasi and self.finding.empty else "refuse",
        )

    def lines(self) -> Iterator[str]:
        """The section of the column in a schema file."""
        finding, column = self.finding, self.column
        yield f"\n[columns.{_quoted(finding.column)}]\n"
        yield f'role = "{finding.role}"  # {finding.kind}: {finding.why}\n'
        if column.type is not None:
            yield f'type = "{column.type}"\n'
        if column.missing != "refuse":
            empty = say("tables.draft.empty", cells=finding.empty)
            yield f'missing = "{column.missing}"  # {empty}\n'
        if column.hierarchy is not None:
            yield 'hierarchy = { method = "mask" }\n'
        if self.nominal:
            yield say("tables.draft.no_groups")


@dataclass(frozen=True, slots=True)
class SchemaDraft:
    """A draft of a schema, as a value and as a file to read and correct."""

    columns: tuple[ColumnDraft, ...]
    person: str | None = None
    """The identifier that tells people apart, where one occurs in several records."""

    @property
    def schema(self) -> Schema:
        """The schema; it fits the table that the draft was made from."""
        return Schema(tuple(each.column for each in self.columns), person=self.person)

    @property
    def nominal(self) -> tuple[str, ...]:
        """The quasi-identifiers whose values do not say how they group."""
        return tuple(each.finding.column for each in self.columns if each.nominal)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What each column seems to hold."""
        return tuple(each.finding for each in self.columns)

    def text(self) -> str:
        """The schema file, with a comment on each role; `Schema.load` can read it."""
        table = ""
        if self.person is not None:
            told = say("tables.draft.person")
            table = f"\n[table]\nperson = {_quoted(self.person)}  # {told}\n"
        lines = (line for each in self.columns for line in each.lines())
        return say("tables.draft.head") + table + "".join(lines)


def draft_schema(data: Any, *, progress: Progress = silent) -> SchemaDraft:
    """A draft of the schema of a table: a start to be looked at, not a considered choice.

    >>> draft = draft_schema(pl.DataFrame({"sex": ["F", None, "M"], "disease": ["flu"] * 3}))
    >>> [(column.name, str(column.role), column.missing) for column in draft.schema.columns]
    [('sex', 'quasi-identifier', 'value'), ('disease', 'sensitive', 'refuse')]
    """
    from celosia.assess.risk.detection import detect  # it knows many patterns: heavy

    frame = as_frame(data)
    found = detect(frame, progress=progress)
    return SchemaDraft(
        tuple(
            ColumnDraft(finding, _is_nominal(series, finding))
            for series, finding in zip(frame, found, strict=True)
        ),
        _person(found),
    )


def _person(found: Sequence[Finding]) -> str | None:
    """The identifier to count people by, if one repeats: a key, or that with most values.

    Records that share it count as one person: if they are of several, classes are larger than they
    need to be, and never smaller.
    """
    repeated = [
        each
        for each in found
        if each.role == "identifier" and not each.empty and 0 < each.distinctness < 1
    ]
    best = max(repeated, key=lambda each: (each.kind == "key", each.distinctness), default=None)
    return None if best is None else best.column


def _is_nominal(series: pl.Series, finding: Finding) -> bool:
    if finding.role != "quasi-identifier" or finding.kind == "postal code":
        return False
    return is_nominal(encode(series.alias("values")).values)


def _quoted(name: str) -> str:
    """A name as a TOML key; JSON writes all but one control character as TOML wants it."""
    return json.dumps(name, ensure_ascii=False).replace("\x7f", "\\u007f")
