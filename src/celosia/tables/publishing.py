"""Publish a table: generalise and suppress until its models hold, losing as little as can be.

declare (schema, models) -> protect (search, recode) -> release -> account (risk before and after).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.core.errors import InputError
from celosia.core.progress import Progress, Step, silent
from celosia.core.randomness import Source, System
from celosia.frames import as_frame, pick
from celosia.tables.account import Wish, account
from celosia.tables.coding import CodedColumn, code_column
from celosia.tables.hierarchies import ROOT
from celosia.tables.models import Classes, Model, hold_all
from celosia.tables.recoding import Lattice, Node, optimum
from celosia.tables.release import TableRelease
from celosia.tables.schema import Role, Schema


def publish(  # noqa: PLR0913 - each is a choice that an officer answers for
    data: Any,
    schema: Schema,
    models: Model | Iterable[Model],
    *,
    suppression: float = 0.05,
    keep_order: bool = False,
    drop_suppressed: bool = False,
    randomness: Source | None = None,
    progress: Progress = silent,
) -> TableRelease:
    """The release of least loss that meets the models: exact over the generalisation lattice.

    Args:
        data: a Polars, pandas or Arrow table (never changed).
        schema: the role of every column, and the hierarchies of the quasi-identifiers.
        models: what each equivalence class must meet.
        suppression: the largest share of the records that may be suppressed; 1 for no limit.
        keep_order: leave the rows in their order. Two releases of the same rows in the same order
            can be joined row by row, so the default is to shuffle.
        drop_suppressed: leave suppressed records out instead of showing them as `*`.
        randomness: where the shuffle draws from; a seeded source makes the release a simulation.
        progress: called as the work proceeds; may raise `Cancelled`.

    Raises:
        InputError: the table, the schema or a parameter is wrong.
        PrivacyError: no generalisation meets the models.

    >>> from celosia import KAnonymity, datasets, tables
    >>> decades = tables.Intervals(bounds=((20, 30, 40, 60),))
    >>> schema = tables.Schema.of(
    ...     quasi_identifiers={"zip": tables.Mask(), "age": decades}, sensitive=["disease"])
    >>> release = publish(datasets.examples.patients(), schema, KAnonymity(3), suppression=0)
    >>> release.solution.levels, round(release.solution.loss, 6)
    ((2, 1), 0.369306)
    """
    wish = Wish(
        models=as_list(models),
        suppression=suppression,
        keep_order=keep_order,
        drop_suppressed=drop_suppressed,
        randomness=randomness or System(),
    )
    check_schema(schema)
    frame = as_frame(data)
    check_table(frame, schema)
    columns = _code(frame, schema, progress)
    lattice = Lattice(columns)
    found = optimum(lattice, wish.models, suppression=suppression, progress=progress)
    progress(Step("Recoding the table", 0))
    class_of, sizes = lattice.classes_of_rows(found.best.node)
    kept = hold_all(Classes(sizes), wish.models)
    hidden = ~kept[class_of]
    # Whoever is dropped needs no star, so columns left raw can keep their types.
    starred = hidden & (not drop_suppressed)
    recoded = frame.with_columns(released_columns(columns, found.best.node, starred))
    shown = pick(recoded, released_names(frame, schema))
    return TableRelease(
        data=arrange(shown, hidden, wish),
        **account("celosia.publish", wish, schema, lattice, found, kept_sizes=sizes[kept]),
    )


def as_list(models: Model | Iterable[Model]) -> list[Model]:
    """One model or several, as a list."""
    return list(models) if isinstance(models, Iterable) else [models]


def check_schema(schema: Schema) -> None:
    """Refuse a schema under which nothing can be promised."""
    if not isinstance(schema, Schema):
        raise InputError(
            "CEL-S012",
            f"a {type(schema).__name__} is not a schema.",
            fix='Read a file with Schema.load("people.toml"), or write Schema.of(...).',
        )
    if not schema.quasi_identifiers:
        raise InputError(
            "CEL-P013",
            "the schema names no quasi-identifier.",
            why="Without one there is nothing to generalise and nothing to promise.",
            fix='Give at least one column the role "quasi-identifier".',
        )


def check_table(frame: pl.DataFrame, schema: Schema) -> None:
    """Refuse a table that does not fit its schema, or that holds nobody."""
    schema.check_columns(frame.columns)
    if frame.height == 0:
        raise InputError("CEL-P015", "the table has no rows.", fix="Check the file.")


def released_names(frame: pl.DataFrame, schema: Schema) -> list[str]:
    """The columns that may be released: all but identifiers."""
    return [name for name in frame.columns if schema.role_of(name) is not Role.IDENTIFIER]


def released_columns(
    columns: Sequence[CodedColumn], node: Node, hidden: NDArray[np.bool_]
) -> list[pl.Series]:
    """The generalised quasi-identifiers, `*` where hidden; those left raw keep their type.

    A raw column appears only if some record is hidden: then it must hold `*` and becomes text.
    """
    stars = pl.Series("hidden", hidden)
    return [
        pl.select(
            pl.when(stars).then(pl.lit(ROOT)).otherwise(column.labels_at(level)).alias(column.name)
        ).to_series()
        for column, level in zip(columns, node, strict=True)
        if level > 0 or hidden.any()
    ]


def arrange(table: pl.DataFrame, hidden: NDArray[np.bool_], wish: Wish) -> pl.DataFrame:
    """The rows to release, in the order to release them."""
    if wish.drop_suppressed:
        table = table.filter(~hidden)
    return table if wish.keep_order else table[wish.randomness.permutation(table.height)]


def _code(frame: pl.DataFrame, schema: Schema, progress: Progress) -> list[CodedColumn]:
    columns = schema.quasi_identifiers
    coded = []
    for number, column in enumerate(columns):
        progress(Step("Reading the columns", number, len(columns)))
        coded.append(code_column(frame[column.name], column))
    return coded
