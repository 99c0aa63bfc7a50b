"""Publish a table: generalise and suppress until its models hold, losing as little as can be.

declare (schema, models) -> protect (search, recode) -> release -> account (risk before and after).
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.assess.risk import RiskProfile
from celosia.core.errors import InputError, PrivacyWarning
from celosia.core.guarantee import Guarantee
from celosia.core.progress import Progress, Step, silent
from celosia.core.provenance import Provenance
from celosia.core.randomness import Source, System
from celosia.frames import as_frame
from celosia.tables.coding import CodedColumn, code_column
from celosia.tables.hierarchies import ROOT
from celosia.tables.models import Classes, Model, hold_all
from celosia.tables.recoding.lattice import Lattice, Outcome
from celosia.tables.recoding.search import Found, optimum
from celosia.tables.release import TableRelease
from celosia.tables.schema import Role, Schema
from celosia.tables.solution import ColumnOutcome, Solution


def publish(  # noqa: PLR0913 - each is a choice that an officer answers for
    data: Any,
    schema: Schema,
    models: Model | Sequence[Model],
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
        can
            be joined row by row, so the default is to shuffle.
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
    wanted = [models] if not isinstance(models, Sequence) else list(models)
    frame = as_frame(data)
    _check(frame, schema, wanted)
    columns = code_columns(frame, schema, progress)
    lattice = Lattice(columns)
    found = optimum(lattice, wanted, suppression=suppression, progress=progress)
    progress(Step("Recoding the table", 0))
    class_of, sizes = lattice.classes_of_rows(found.best.node)
    kept = hold_all(Classes(sizes), wanted)
    source = randomness or System()
    hidden = ~kept[class_of]
    table = _recode(frame, schema, columns, found.best, hidden)
    notes = _warn(found.best, wanted, keep_order=keep_order, drop_suppressed=drop_suppressed)
    return TableRelease(
        data=_arrange(
            table, hidden, source, keep_order=keep_order, drop_suppressed=drop_suppressed
        ),
        guarantee=guarantee_of(wanted, schema, simulation=source.simulation and not keep_order),
        provenance=Provenance.now(
            "celosia.publish",
            {
                "models": [model.as_dict() for model in wanted],
                "suppression": suppression,
                "quasi_identifiers": list(schema.named(Role.QUASI_IDENTIFIER)),
                "keep_order": keep_order,
                "drop_suppressed": drop_suppressed,
            },
            seed=source.seed,
        ),
        warnings=notes,
        solution=solution_of(lattice, found, sizes[kept]),
        risk=RiskProfile.of_sizes(sizes[kept], suppressed=found.best.suppressed),
        risk_before=RiskProfile.of_sizes(lattice.class_table((0,) * len(columns)).sizes),
    )


def code_columns(
    frame: pl.DataFrame, schema: Schema, progress: Progress = silent
) -> list[CodedColumn]:
    """The quasi-identifiers of a table as leaf numbers of their hierarchies."""
    columns = schema.quasi_identifiers
    coded = []
    for number, column in enumerate(columns):
        progress(Step("Reading the columns", number, len(columns)))
        coded.append(code_column(frame[column.name], column))
    return coded


def _check(frame: pl.DataFrame, schema: Schema, models: Sequence[Model]) -> None:
    schema.check_columns(frame.columns)
    if not schema.quasi_identifiers:
        raise InputError(
            "CEL-P013",
            "the schema names no quasi-identifier.",
            why="Without one there is nothing to generalise and nothing to promise.",
            fix='Give at least one column the role "quasi-identifier".',
        )
    if not models:
        raise InputError("CEL-P014", "no privacy model was given.", fix="Add one: KAnonymity(5).")
    if frame.height == 0:
        raise InputError("CEL-P015", "the table has no rows.", fix="Check the file.")


def _recode(
    frame: pl.DataFrame,
    schema: Schema,
    columns: Sequence[CodedColumn],
    outcome: Outcome,
    hidden: NDArray[np.bool_],
) -> pl.DataFrame:
    """The released table in the order of the input: no identifiers, quasi-identifiers general."""
    dropped = [name for name in frame.columns if schema.role_of(name) is Role.IDENTIFIER]
    recoded = [
        _released_column(frame[column.name], column, level, hidden)
        for column, level in zip(columns, outcome.node, strict=True)
    ]
    return frame.drop(dropped).with_columns(recoded)


def _released_column(
    raw: pl.Series, column: CodedColumn, level: int, hidden: NDArray[np.bool_]
) -> pl.Series:
    if level == 0 and not hidden.any():
        return raw  # untouched, so it keeps its type
    labels = column.labels_at(level)
    return pl.select(
        pl.when(pl.Series(hidden)).then(pl.lit(ROOT)).otherwise(labels).alias(column.name)
    ).to_series()


def _arrange(
    table: pl.DataFrame,
    hidden: NDArray[np.bool_],
    source: Source,
    *,
    keep_order: bool,
    drop_suppressed: bool,
) -> pl.DataFrame:
    if drop_suppressed:
        table = table.filter(~hidden)
    return table if keep_order else table[source.permutation(table.height)]


def _warn(
    outcome: Outcome, models: Sequence[Model], *, keep_order: bool, drop_suppressed: bool
) -> tuple[str, ...]:
    smallest = max(model.smallest for model in models)
    notes = []
    if keep_order:
        notes.append(
            "The rows are in their original order: another release of the same table in the same "
            "order can be joined to this one row by row."
        )
    if 0 < outcome.suppressed < smallest and not drop_suppressed:
        notes.append(
            f"Only {outcome.suppressed} records are suppressed: whoever fits no class must be one "
            f"of them, a crowd of fewer than {smallest}. Drop suppressed records to close this."
        )
    for note in notes:
        warnings.warn(note, PrivacyWarning, stacklevel=3)
    return tuple(notes)


def guarantee_of(models: Sequence[Model], schema: Schema, *, simulation: bool) -> Guarantee:
    """What a release under these models promises."""
    names = ", ".join(schema.named(Role.QUASI_IDENTIFIER))
    return Guarantee(
        promise=f"{' and '.join(model.promise() for model in models)} over {names}",
        unit="record",
        protects="; ".join(model.protects() for model in models),
        assumes=(
            "each person has at most one record",
            f"an attacker knows nothing of a person that the table has, but for {names}",
        ),
        leaves_open=tuple(dict.fromkeys(gap for model in models for gap in model.leaves_open())),
        simulation=simulation,
    )


def solution_of(lattice: Lattice, found: Found, kept_sizes: NDArray[np.int64]) -> Solution:
    """The facts of the chosen node."""
    sizes, numbers = np.unique(kept_sizes, return_counts=True)
    best = found.best
    return Solution(
        rows=lattice.rows,
        suppressed=best.suppressed,
        loss=lattice.loss.total(best.leaf_sums),
        columns=tuple(
            ColumnOutcome(
                column.name,
                best.node[number],
                column.hierarchy.height,
                lattice.loss.column(number, best.leaf_sums[number]),
            )
            for number, column in enumerate(lattice.columns)
        ),
        class_sizes=dict(zip(sizes.tolist(), numbers.tolist(), strict=True)),
        search=found.certificate,
    )
