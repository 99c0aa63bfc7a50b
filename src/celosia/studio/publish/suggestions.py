"""What the columns of a table seem to hold, and what to choose for them at first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from celosia.assess.risk import Finding, RiskProfile, detect
from celosia.core.methods import PlainValues
from celosia.core.progress import Progress, silent
from celosia.frames import encode
from celosia.studio.publish.form import ColumnForm, PublishForm
from celosia.tables.hierarchies import Automatic, propose

MOST_PROPOSED = 50_000
"""With more distinct values than this, a hierarchy is proposed when it is built."""

OF_ONE_PERSON = (
    "e-mail address",
    "telephone number",
    "identity number",
    "Chilean identity number",
    "Spanish identity number",
    "social security number",
)
"""Where each record has another one of these, people who share a name are namesakes."""
MANY_ROWS, SECONDS = 100_000, 15.0
"""In a table with more rows the search takes the best that it finds in so many seconds at first."""
FEW_ROWS = 50
"""In a table with fewer rows hardly anything is left at the k that is usual."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnFacts(PlainValues):
    """What can be told of a column before anything is chosen; no cell is quoted."""

    name: str
    kind: str
    distinct: int
    """Different values, empty not counted."""
    empty: int
    """Cells without a value."""
    alone: int
    """Records whose value nobody else has."""
    role: str
    """The role that is suggested."""
    seems: str
    """What the column seems to hold, such as `birth date`."""
    why: str


def column_facts(frame: pl.DataFrame, *, progress: Progress = silent) -> tuple[ColumnFacts, ...]:
    """What is known of each column, with the role that is suggested.

    >>> table = pl.DataFrame({"sex": ["F", "M", "F"], "disease": ["flu", None, "flu"]})
    >>> [(each.role, each.distinct, each.empty, each.alone) for each in column_facts(table)]
    [('quasi-identifier', 2, 0, 1), ('sensitive', 1, 1, 0)]
    """
    found = detect(frame, progress=progress)
    return tuple(_facts(column, finding) for column, finding in zip(frame, found, strict=True))


def suggest(
    file: str, frame: pl.DataFrame, facts: Sequence[ColumnFacts], *, sample: str | None = None
) -> PublishForm:
    """What to choose for a table at first: roles and hierarchies that are to be looked at."""
    from celosia.studio.publish.samples import sample_choices

    columns = tuple(
        ColumnForm(
            name=each.name,
            kind=each.kind,
            role=each.role,
            hierarchy=suggested_hierarchy(column) if each.role == "quasi-identifier" else None,
            missing="value" if each.empty else "refuse",
        )
        for column, each in zip(frame, facts, strict=True)
    )
    if sample is not None:
        return sample_choices(sample, columns, frame.height)
    k = 5 if frame.height >= FEW_ROWS else 2
    models = ({"method": "k-anonymity", "k": k},)
    person = _person(facts, frame.height)
    return PublishForm(
        file=file,
        rows=frame.height,
        columns=columns,
        models=models,
        time_limit=SECONDS if frame.height > MANY_ROWS else None,
        person=person,
        by_record=person is None and _one_record_each(facts, frame.height),
    )


def _person(facts: Sequence[ColumnFacts], rows: int) -> str | None:
    """The identifier that occurs in several records, if any; of several the most varied."""
    single = _one_record_each(facts, rows)
    repeated = [
        each
        for each in facts
        if each.role == "identifier"
        and not each.empty
        and each.distinct < rows
        and not (single and each.seems == "personal name")
    ]
    best = max(repeated, key=lambda each: each.distinct, default=None)
    return None if best is None else best.name


def _one_record_each(facts: Sequence[ColumnFacts], rows: int) -> bool:
    """Whether every record has a number or an address of its own that one person has."""
    return any(each.seems in OF_ONE_PERSON and each.distinct == rows for each in facts)


def suggested_hierarchy(column: pl.Series) -> dict[str, Any]:
    """A hierarchy that fits the values of a column, as a schema file writes it."""
    values = encode(column.alias("values")).values
    if len(values) == 0 or len(values) > MOST_PROPOSED:
        return Automatic().as_dict()
    return propose(values).as_dict()


def kind_of(dtype: pl.DataType) -> str:
    """What a column holds, in the words of `ColumnChoice`.

    >>> kind_of(pl.Int64()), kind_of(pl.Float64()), kind_of(pl.Datetime()), kind_of(pl.String())
    ('integer', 'decimal', 'time', 'text')
    """
    if dtype.is_integer():
        return "integer"
    if dtype.is_numeric():
        return "decimal"
    if dtype == pl.Date:
        return "date"
    if dtype.is_temporal():
        return "time"
    return "boolean" if dtype == pl.Boolean else "text"


def exposure(table: Path, places: Sequence[int]) -> RiskProfile:
    """How many records stand alone with their values in these columns of a Parquet file.

    Columns are told by their place: Polars takes some names for patterns.
    """
    if not places:
        return RiskProfile.of_sizes(pl.Series([], dtype=pl.Int64).to_numpy())
    frame = pl.read_parquet(table, columns=list(places))
    frame.columns = [f"c{place}" for place in range(frame.width)]
    sizes = frame.group_by(frame.columns).len("size")["size"].cast(pl.Int64)
    return RiskProfile.of_sizes(sizes.to_numpy())


def _facts(column: pl.Series, finding: Finding) -> ColumnFacts:
    counts = column.alias("cell").drop_nulls().value_counts(name="count")["count"]
    return ColumnFacts(
        name=column.name,
        kind=kind_of(column.dtype),
        distinct=len(counts),
        empty=column.null_count(),
        alone=int((counts == 1).sum()),
        role=finding.role,
        seems=finding.kind,
        why=finding.why,
    )
