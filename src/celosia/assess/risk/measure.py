"""The risk of a table, raw or released, of any size."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.assess.names import quoted_names
from celosia.assess.risk.profile import THRESHOLD, RiskProfile, check_threshold
from celosia.core.errors import InputError
from celosia.engines import DuckDB, Groups
from celosia.frames import as_frame, as_text, read_chunks

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
    chunks = _chunks(data)
    first = next(chunks, None)
    if first is None:
        raise InputError("CEL-A004")
    check_known(columns, first.columns)
    with DuckDB() as engine:
        groups = engine.count_groups(chain([first], chunks), columns)
    return classes_of(groups)


def classes_of(groups: Groups) -> ClassCounts:
    """The classes of groups that an engine has counted; what is suppressed is as `measure` says."""
    hidden = _all_stars(groups.values)
    if hidden.all():
        return ClassCounts(groups.values, groups.sizes, 0)
    kept = groups.values.filter(pl.Series(~hidden))
    return ClassCounts(kept, groups.sizes[~hidden], int(groups.sizes[hidden].sum()))


def _chunks(data: Any) -> Iterator[pl.DataFrame]:
    if isinstance(data, str | Path):
        return read_chunks(data)
    return data if isinstance(data, Iterator) else iter([as_frame(data)])


def _all_stars(groups: pl.DataFrame) -> NDArray[np.bool_]:
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
