"""The risk of a table as it stands, raw or released, however large."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.assess.risk.profile import THRESHOLD, RiskProfile
from celosia.core.errors import InputError
from celosia.core.suggest import did_you_mean
from celosia.engines import DuckDB
from celosia.frames import as_frame, read_chunks

SUPPRESSED = "*"
"""What a suppressed record has in every quasi-identifier."""


def measure(
    data: Any,
    quasi_identifiers: Sequence[str],
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
    if not quasi_identifiers:
        raise InputError(
            "CEL-A002",
            "no quasi-identifiers were given.",
            why="Risk is judged by what an attacker may know of a person.",
            fix="Name the columns, or give a schema that marks them.",
        )
    chunks = _chunks(data)
    first = next(chunks)
    _check_known(quasi_identifiers, first.columns)
    with DuckDB() as engine:
        groups = engine.count_groups(chain([first], chunks), quasi_identifiers)
    hidden = _all_stars(groups.values)
    if hidden.all():
        return RiskProfile.of_sizes(groups.sizes, threshold=threshold)
    return RiskProfile.of_sizes(
        groups.sizes[~hidden], suppressed=int(groups.sizes[hidden].sum()), threshold=threshold
    )


def _chunks(data: Any) -> Iterator[pl.DataFrame]:
    if isinstance(data, str | Path):
        return read_chunks(data)
    return data if isinstance(data, Iterator) else iter([as_frame(data)])


def _all_stars(groups: pl.DataFrame) -> NDArray[np.bool_]:
    starred = pl.all_horizontal(pl.all().cast(pl.String).eq_missing(SUPPRESSED))
    return groups.select(starred).to_series().to_numpy()


def _check_known(wanted: Sequence[str], known: Sequence[str]) -> None:
    absent = [name for name in wanted if name not in known]
    if absent:
        names = ", ".join(f"'{name}'{did_you_mean(name, known)}" for name in absent)
        raise InputError(
            "CEL-A003",
            f"the table has no column {names}.",
            fix="Correct the name.",
            columns=absent,
        )
