"""Re-identification risk of an attacker who knows that the person is in the table (prosecutor)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.core.errors import InputError
from celosia.core.messages import quoted_names
from celosia.core.methods import PlainValues
from celosia.core.numbers import real
from celosia.engines import DuckDB, Groups
from celosia.frames import as_frame, as_text, read_chunks

THRESHOLD = 0.1
"""Above this chance of re-identification a record is at risk: its class has fewer than 10."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RiskProfile(PlainValues):
    """How exposed the records of a table are; suppressed ones are counted apart.

    Risks are chances in [0, 1] for the kept records; an empty table has none, so they are 0.

    >>> profile = RiskProfile.of_sizes(np.array([5, 20]), suppressed=3)
    >>> profile.average, profile.maximum, profile.at_risk
    (0.08, 0.2, 0.2)

    Reference: El Emam, Dankar 2008.
    """

    records: int
    """Kept records."""
    suppressed: int
    classes: int
    smallest: int
    largest: int
    average_size: float
    unique: int
    """Records that are alone in their class."""
    average: float
    """Chance that a random kept record is picked rightly: classes / records."""
    maximum: float
    """The same for the most exposed record: 1 / smallest class."""
    at_risk: float
    """Share of the kept records whose own risk is above the threshold."""
    threshold: float

    @classmethod
    def of_sizes(
        cls, sizes: NDArray[np.int64], *, suppressed: int = 0, threshold: float = THRESHOLD
    ) -> RiskProfile:
        """The profile of a table whose kept classes have these sizes."""
        check_threshold(threshold)
        records = int(sizes.sum())
        return cls(
            records=records,
            suppressed=suppressed,
            classes=int(sizes.size),
            smallest=int(sizes.min(initial=records)),
            largest=int(sizes.max(initial=0)),
            average_size=records / sizes.size if sizes.size else 0.0,
            unique=int((sizes == 1).sum()),
            average=sizes.size / records if records else 0.0,
            maximum=1 / int(sizes.min()) if records else 0.0,
            at_risk=int(sizes[1 / sizes > threshold].sum()) / records if records else 0.0,
            threshold=threshold,
        )


def separation(sizes: NDArray[np.int64]) -> float:
    """The share of all pairs of records that differ in some of the columns.

    With the share of distinct rows (the average risk), the measure of how nearly columns are a key
    (Motwani, Xu 2007). A table of one record has no pairs, which are then all separated.

    >>> separation(np.array([2, 1, 1]))
    0.8333333333333334
    """
    records = int(sizes.sum())
    pairs = records * (records - 1) / 2
    return 1 - float((sizes * (sizes - 1.0) / 2).sum()) / pairs if pairs else 1.0


def check_threshold(threshold: float) -> None:
    """Refuse what is not a chance above 0."""
    chance = real(threshold)
    if chance is None or not 0 < chance <= 1:
        raise InputError("CEL-A001", threshold=threshold)


SUPPRESSED = "*"
"""What a suppressed record has in every quasi-identifier."""


def measure(
    data: Any,
    quasi_identifiers: str | Sequence[str],
    *,
    threshold: float = THRESHOLD,
) -> RiskProfile:
    """How exposed the records of a table are, judged by these columns.

    The table may be a frame, the path of a file, or what `frames.read_chunks` gives.

    Records with `*` in every one of them count as suppressed, unless all records are so: then the
    table was generalised fully and is one class. A file is streamed through the
    engine, so it may be larger than memory.

    >>> table = pl.DataFrame({"age": ["20-29", "20-29", "*"], "sex": ["F", "F", "*"]})
    >>> profile = measure(table, ["age", "sex"])
    >>> profile.maximum, profile.suppressed
    (0.5, 1)
    """
    check_threshold(threshold)
    classes = count_classes(data, quasi_identifiers)
    return RiskProfile.of_sizes(classes.sizes, suppressed=classes.suppressed, threshold=threshold)


@dataclass(frozen=True, slots=True)
class ClassCounts:
    """The kept classes of a table, and how many records were suppressed."""

    values: pl.DataFrame = field(repr=False)  # raw cells, which a traceback must not show
    sizes: NDArray[np.int64]
    suppressed: int


def count_classes(data: Any, quasi_identifiers: str | Sequence[str]) -> ClassCounts:
    """The classes of a frame, of a file or of chunks; what is suppressed is as `measure` says."""
    named = [quasi_identifiers] if isinstance(quasi_identifiers, str) else quasi_identifiers
    columns = list(dict.fromkeys(named))
    if not columns:
        raise InputError("CEL-A002.no_quasi_identifiers")
    if not isinstance(data, str | Path | Iterator):
        frame = as_frame(data)
        check_known(columns, frame.columns)
        return classes_of(_groups(frame, columns))
    chunks = read_chunks(data) if isinstance(data, str | Path) else data
    first = next(chunks, None)
    if first is None:
        raise InputError("CEL-A004")
    check_known(columns, first.columns)
    with DuckDB() as engine:
        groups = engine.count_groups(chain([first], chunks), columns)
    return classes_of(groups)


def classes_of(groups: Groups) -> ClassCounts:
    """The classes of groups that an engine has counted; what is suppressed is as `measure` says."""
    hidden = all_stars(groups.values)
    if hidden.all():
        return ClassCounts(groups.values, groups.sizes, 0)
    kept = groups.values.filter(pl.Series(~hidden))
    return ClassCounts(kept, groups.sizes[~hidden], int(groups.sizes[hidden].sum()))


def _groups(frame: pl.DataFrame, columns: Sequence[str]) -> Groups:
    """The groups of a frame in memory, which needs no engine."""
    # Names of our own: Polars would read some of a user's as patterns.
    places = [f"c{number}" for number in range(len(columns))]
    cells = pl.DataFrame([frame[name].alias(p) for name, p in zip(columns, places, strict=True)])
    counted = cells.group_by(places, maintain_order=True).len("size")
    values = [counted[p].alias(name) for name, p in zip(columns, places, strict=True)]
    return Groups(pl.DataFrame(values), counted["size"].to_numpy().astype(np.int64))


def all_stars(groups: pl.DataFrame) -> NDArray[np.bool_]:
    """Which rows are `*` in every column: those of suppressed records."""
    stars = np.ones(groups.height, dtype=np.bool_)
    for column in groups:
        text = as_text(column.alias("cell"))  # Polars would read some of a user's names as patterns
        stars &= (text == SUPPRESSED).fill_null(value=False).to_numpy()
    return stars


def check_known(wanted: Sequence[str], known: Sequence[str]) -> None:
    """Refuse columns that the table does not have."""
    absent = [name for name in wanted if name not in known]
    if absent:
        raise InputError("CEL-A003", names=quoted_names(absent, known), columns=absent)
