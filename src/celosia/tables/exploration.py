"""Every way to publish a table that meets its models, for an officer who wants to choose."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from celosia.core.progress import Progress, silent
from celosia.tables.metrics import Metric
from celosia.tables.models import Model
from celosia.tables.options import PublishOptions
from celosia.tables.protection import remaining_limit, without_empty
from celosia.tables.recoding import Lattice
from celosia.tables.recoding.exploration import Exploration, explore_lattice
from celosia.tables.run import code_data
from celosia.tables.schema import Schema


def explore(
    data: Any,
    schema: Schema,
    models: Model | Iterable[Model],
    *,
    suppression: float = 0.05,
    metric: Metric | str | None = None,
    time_limit: float | None = None,
    population: Any = None,
    progress: Progress = silent,
) -> Exploration:
    """All nodes that meet the models, with what each costs and what risk it leaves.

    Give the levels of the one you choose to `publish`. Arguments are as there; with a time limit
    nodes are tried in an order that spreads over the lattice, and `tried` says how many were.

    >>> from celosia import KAnonymity, datasets, tables
    >>> decades = tables.Intervals(bounds=((20, 30, 40, 60),))
    >>> schema = tables.Schema.of(
    ...     quasi_identifiers={"zip": tables.Mask(), "age": decades}, sensitive=["disease"])
    >>> found = explore(datasets.examples.patients(), schema, KAnonymity(3), suppression=0)
    >>> [solution.levels for solution in found.front]
    [(2, 1), (2, 2), (3, 2)]
    """
    options = PublishOptions.of(
        schema, models, suppression=suppression, metric=metric, time_limit=time_limit
    )
    return explore_table(data, options, population=population, progress=progress)


def explore_table(
    data: Any, options: PublishOptions, *, population: Any = None, progress: Progress = silent
) -> Exploration:
    """As `explore`, with the options as one value; how a release is recoded has no part in it."""
    _, table = code_data(data, options, population=population, progress=progress)
    part, _ = without_empty(table, options)
    found = explore_lattice(
        Lattice.of(part),
        options.models,
        suppression=remaining_limit(options, table, part),
        metric=options.metric,
        time_limit=options.time_limit,
        progress=progress,
    )
    empty = table.weight() - part.weight()
    one = 1 if table.units is None else table.units.scale  # what one record or unit weighs
    solutions = (
        replace(each, suppressed=-(-(each.suppressed + empty) // one)) for each in found.solutions
    )
    return replace(found, rows=table.weight() // one, solutions=tuple(solutions))
