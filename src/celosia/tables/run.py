"""Publish a table: generalise and suppress until its models hold, losing as little as can be.

declare (schema, models) -> protect (search, recode) -> release -> account (risk before and after).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.assess.risk.combinations import count_in
from celosia.core.errors import InputError
from celosia.core.messages import Message
from celosia.core.progress import Progress, Step, Stopwatch, silent
from celosia.core.randomness import Source
from celosia.engines import Groups
from celosia.frames import as_frame
from celosia.frames.sorting import sort_order
from celosia.tables.account import RawColumns, account, measure_raw
from celosia.tables.coded_table import CodedTable, code_table
from celosia.tables.metrics import Metric
from celosia.tables.models import Model
from celosia.tables.options import PublishOptions
from celosia.tables.protection import Protection, protect
from celosia.tables.release import TableRelease
from celosia.tables.released_table import ReleasedColumn, ReleasedTable, without_trace
from celosia.tables.schema import Role, Schema, check_table, released_names
from celosia.tables.units import check_one_record_each

if TYPE_CHECKING:
    from celosia.tables.history.fingerprints import Identify
    from celosia.tables.history.series import ReleaseSeries


def publish(
    data: Any,
    schema: Schema,
    models: Model | Iterable[Model],
    *,
    suppression: float = 0.05,
    metric: Metric | str | None = None,
    method: str = "lattice",
    local: bool = False,
    levels: Mapping[str, int] | None = None,
    time_limit: float | None = None,
    population: Any = None,
    keep_order: bool = False,
    sort: str | Iterable[str] = (),
    drop_suppressed: bool = False,
    accept_raw: str | Iterable[str] = (),
    reason: str | None = None,
    history: str | Path | None = None,
    accept_joint: str | None = None,
    rng: Source | None = None,
    progress: Progress = silent,
) -> TableRelease:
    """The release of least loss that meets the models: exact over the generalisation lattice.

    Args:
        data: a Polars, pandas or Arrow table (never changed).
        schema: the role of every column, and the hierarchies of the quasi-identifiers.
        models: what each equivalence class must meet.
        suppression: the largest share of the records that may be suppressed; 1 for no limit.
        metric: the metric to minimise, or its name; the loss if not given.
        method: `lattice` for the optimum among full-domain generalisations, `mondrian` (or
            `mondrian-relaxed`) for finer labels where the table is crowded, at any size.
        local: recode suppressed records again by themselves, so that most need not be suppressed.
        levels: the level of each column, where the officer chooses the node.
        time_limit: seconds after which the best solution so far is taken; the certificate says how
            much better another could be at most.
        population: the table that `data` is a sample of, for models that compare the two.
        keep_order: leave the rows in their order. Two releases of the same rows in the same order
            can be joined row by row, so the default is to shuffle.
        sort: released columns by which the shuffled rows are sorted; rows that show the same there
            stay shuffled, so that the order tells nothing more than the values.
        drop_suppressed: leave suppressed records out instead of showing them as `*`.
        accept_raw: columns that are published as they are although records are unique on them.
        reason: why these columns are accepted; the certificate and the report keep it.
        history: the file of the releases of this source. The release is planned so that it stays
            anonymous together with the earlier ones, refused if it does not, and recorded.
        accept_joint: why joint classes that are too small are accepted; kept in the certificate.
        rng: where the shuffle draws from; a seeded source makes the release a simulation.
        progress: called as the work proceeds; may raise `Cancelled`.

    Raises:
        InputError: the table, the schema or a parameter is wrong.
        PrivacyError: no generalisation meets the models; CEL-P080 records are unique, or nearly so,
            on columns that would be published as they are.

    >>> from celosia import KAnonymity, datasets, tables
    >>> decades = tables.Intervals(bounds=((20, 30, 40, 60),))
    >>> schema = tables.Schema.of(
    ...     quasi_identifiers={"zip": tables.Mask(), "age": decades}, sensitive=["disease"])
    >>> release = publish(datasets.examples.patients(), schema, KAnonymity(3), suppression=0)
    >>> release.solution.levels, round(release.solution.loss, 6)
    ((2, 1), 0.369306)
    """
    options = PublishOptions.of(
        schema,
        models,
        suppression=suppression,
        metric=metric,
        method=method,
        local=local,
        levels=levels,
        time_limit=time_limit,
        keep_order=keep_order,
        sort=sort,
        drop_suppressed=drop_suppressed,
        accept_raw=accept_raw,
        reason=reason,
        history=history,
        accept_joint=accept_joint,
        rng=rng,
    )
    return publish_table(data, options, population=population, progress=progress)


def publish_table(
    data: Any,
    options: PublishOptions,
    *,
    population: Any = None,
    record: bool = True,
    progress: Progress = silent,
    stopwatch: Stopwatch | None = None,
) -> TableRelease:
    """As `publish`, with the options as one value.

    Without `record` nothing is written into the history of releases, for a release that only looks.
    A `stopwatch` that has measured how the data was read goes on with the other stages.
    """
    stopwatch = stopwatch or Stopwatch()
    with stopwatch.measure("coding"):
        frame, table = code_data(data, options, population=population, progress=progress)
    progress(Step(Message("tables.stage.raw_columns"), 0))
    unit = options.schema.unit_column
    units = None if unit is None else frame[unit]
    with stopwatch.measure("measuring"):
        raw = measure_raw(frame.columns, options, count_in(frame, units))
    with open_series(frame.columns, options, lambda hashes: hashes(frame)) as series:
        protection = protect_once_more(series, table, options, progress, stopwatch)
        progress(Step(Message("tables.stage.recoding"), 0))
        with stopwatch.measure("recoding"):
            source_rows = _order(protection.hidden, options)
            source_rows = _sorted(frame, protection.released, source_rows, options)
            released = _in_order(frame, protection.released, raw, options.schema, source_rows)
        with stopwatch.measure("measuring"):
            if raw is not None:
                shown = None if units is None else units.gather(source_rows)
                numbered = released.numbered()
                raw = raw.with_published(count_in(numbered, shown)([numbered.columns])[0])
            statements = account("celosia.publish", options, protection, raw)
        if series is not None and record:
            series.record(protection, statements["provenance"])
    timings = stopwatch.timings()
    return TableRelease(table=released, source_rows=source_rows, timings=timings, **statements)


def code_data(
    data: Any, options: PublishOptions, *, population: Any, progress: Progress
) -> tuple[pl.DataFrame, CodedTable]:
    """A table in memory that fits its schema, as it is and coded."""
    options.check_population(given=population is not None)
    frame = as_frame(data)
    check_table(frame, options.schema)
    options.check_columns(frame.columns)
    for name in options.schema.undeclared_units:
        cells = frame[name].drop_nulls()
        check_one_record_each(name, cells.len(), cells.n_unique())
    return frame, code_table(
        frame, options.schema, options.sensitive, population=population, progress=progress
    )


def open_series(
    names: Sequence[str],
    options: PublishOptions,
    identify: Identify,
    groups: Groups | None = None,
) -> AbstractContextManager[ReleaseSeries | None]:
    """The history that the options name, as `ReleaseSeries.open`; None if they name none."""
    if options.history is None:
        return nullcontext()
    from celosia.tables.history.series import ReleaseSeries

    return ReleaseSeries.open(names, options, identify, groups)


def protect_once_more(
    series: ReleaseSeries | None,
    table: CodedTable,
    options: PublishOptions,
    progress: Progress,
    stopwatch: Stopwatch,
) -> Protection:
    """As `protect`; where a history is kept, together with the earlier releases."""
    if series is None:
        return protect(table, options, progress, stopwatch)
    return series.protect(table, progress, stopwatch)


def check_out_of_core(options: PublishOptions) -> None:
    """Refuse, before any work, what cannot be done on distinct combinations."""
    if options.method == "mondrian-relaxed":
        raise InputError("CEL-P111.relaxed_mondrian")
    if options.needs_population:
        raise InputError("CEL-P111.population")


def grouped_names(options: PublishOptions) -> list[str]:
    """The columns by which an engine groups a table that does not fit in memory."""
    unit = options.schema.unit_column
    names = [*options.schema.named(Role.QUASI_IDENTIFIER), *options.sensitive]
    return names if unit is None else [*names, unit]


def code_groups(groups: Groups, options: PublishOptions, progress: Progress) -> CodedTable:
    """A table that an engine has grouped, coded."""
    # A table without rows has no groups; sensitive columns among them have been checked by now.
    check_table(groups.values, Schema(options.schema.quasi_identifiers, Role.SENSITIVE))
    return code_table(
        groups.values, options.schema, options.sensitive, groups=groups, progress=progress
    )


FEW = 8
"""Text is kept as numbers where each cell is shown by at least this many rows on average."""


def _in_order(
    frame: pl.DataFrame,
    recoded: Sequence[ReleasedColumn],
    raw: RawColumns | None,
    schema: Schema,
    rows: NDArray[np.int64],
) -> ReleasedTable:
    """The rows to release, without a trace of others."""
    known = {each.name: each for each in recoded}
    for each in () if raw is None else raw.columns:
        few = each.uniqueness.combinations * FEW <= frame.height
        if few and frame.schema[each.name] == pl.String:
            known[each.name] = ReleasedColumn.of_series(frame[each.name])
    return ReleasedTable(
        tuple(
            known[name].take(rows)
            if name in known
            else without_trace(frame[name].gather(rows).to_frame()).to_series()
            for name in released_names(frame, schema)
        )
    )


def _order(hidden: NDArray[np.bool_], options: PublishOptions) -> NDArray[np.int64]:
    """The rows to release, in the order to release them."""
    rows = np.flatnonzero(~hidden) if options.drop_suppressed else np.arange(hidden.size)
    return rows if options.keep_order else rows[options.rng.permutation(rows.size)]


def _sorted(
    frame: pl.DataFrame,
    recoded: Sequence[ReleasedColumn],
    rows: NDArray[np.int64],
    options: PublishOptions,
) -> NDArray[np.int64]:
    """Shuffled rows by what they show in the columns of the order, which may be none."""
    if not options.sort:
        return rows
    shown = {each.name: each for each in recoded}
    cells = [
        shown[name].take(rows).series() if name in shown else frame[name].gather(rows)
        for name in options.sort
    ]
    return rows[sort_order(pl.DataFrame(cells), options.sort)]
