"""Measure related tables one after the other, and draw new ones that hang together."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.accounting.belief import delta_warning
from celosia.core.errors import InputError, PrivacyWarning
from celosia.core.messages import Message, did_you_mean
from celosia.core.progress import Progress, Step, silent
from celosia.core.randomness import Source, System
from celosia.core.release import Guarantee, Provenance
from celosia.frames import as_frame, pick
from celosia.tables.private.adaptive import (
    AdaptiveMarginals,
    FittedTable,
    check_rounds,
    one_way_noise,
)
from celosia.tables.private.adaptive_rounds import BudgetFilter
from celosia.tables.private.declarations import PublicColumn
from celosia.tables.private.discovery import DiscoveryPlan
from celosia.tables.private.graphical_model import Axes
from celosia.tables.private.method import check_astray
from celosia.tables.private.related.declaration import RelatedTables
from celosia.tables.private.related.links import LinkedTable, link
from celosia.tables.private.related.release import SyntheticTables
from celosia.tables.private.row_counts import RowCounts
from celosia.tables.synthesis.checks import MOST_ROWS

Codes = NDArray[np.int64]
Columns = dict[str, dict[str, PublicColumn]]
"""Of each table, by their names."""


def synthesise_tables(
    tables: Mapping[str, Any],
    declaration: RelatedTables,
    method: AdaptiveMarginals,
    *,
    rng: Source | None = None,
    progress: Progress = silent,
) -> SyntheticTables:
    """New tables that hang together as the given ones do, with one promise for whole persons.

    The table of persons is measured as `adaptive-marginals` does, with the number of rows that each
    person has in every table that hangs on it as further columns. Each other table is measured with
    the columns that it is given of the table it hangs on. New persons are drawn first, with their
    numbers of rows, then their rows given their own columns; rows of one parent do not know of each
    other. Keys are new numbers. Each table has an equal share of the budget.

    Guarantee: the epsilon and delta of the method, when neighbours add or remove one person with
    all their rows. See `links` for why one person moves what is counted in a table by
    at most as many rows as are declared; noise and choices are for that many.

    Args:
        tables: Polars, pandas or Arrow tables by name.
        declaration: how they hang together, and what their columns hold.
        method: epsilon, delta, degree, model_cells, rows of the first table, weight of its rows.
        rng: where noise and rows are drawn from; a seeded source makes it a simulation.
        progress: called as the work proceeds; may raise `Cancelled`.

    Raises:
        InputError: a table or a column is missing, or has the wrong type; CEL-Y031 the method
            declares what belongs to the declaration.
    """
    rng = System() if rng is None else rng
    _check_method(method)
    frames = _check_tables(tables, declaration, method)
    plan = discovery_plan(declaration, method)
    share = Fraction(1, len(declaration.tables))
    _check_noise(declaration, method, plan, share)
    linked = link(frames, declaration, rng)
    columns = _columns(linked, declaration, plan, rng)
    root = linked[declaration.root]
    weighting = method.row_counts(root.frame)
    measured: dict[str, _MeasuredTable] = {}
    for place, name in enumerate(declaration.tables):
        progress(Step(Message("masking.stage.measuring_table", table=name), place, len(linked)))
        rows = RowCounts(
            None if weighting.weights is None else weighting.weights[linked[name].persons],
            weighting.steps,
            declaration.most_rows(name),
        )
        measured[name] = _measure(
            name, declaration, linked, columns, rows, method, BudgetFilter(plan.rest, share), rng
        )
    # From here on only released numbers are used.
    made = _draw(declaration, measured, columns, method, rng)
    note = delta_warning(method.delta)
    if note is not None:
        warnings.warn(note, PrivacyWarning, stacklevel=2)
    return SyntheticTables(
        tables={name: _in_order(frames[name], made[name]) for name in made},
        facts={
            name: each.facts(made[name].height, declaration.most_rows(name), columns[name])
            for name, each in measured.items()
        },
        guarantee=_guarantee(declaration, method, frames, simulation=rng.simulation),
        provenance=Provenance.now(
            "celosia.tables.private.related.synthesise_tables",
            {"method": method.as_dict(), "declaration": declaration.as_dict()},
            seed=rng.seed,
        ),
        warnings=() if note is None else (note,),
    )


@dataclass(frozen=True, slots=True, eq=False)
class _MeasuredTable:
    """A model of the columns given, of its own columns, and of how many rows hang on each row."""

    names: tuple[str, ...]
    """Of all columns of the model, for reports."""
    given: int
    """How many of them, the first ones, are of the parent table."""
    children: tuple[str, ...]
    """The tables whose numbers of rows are the last columns."""
    fitted: FittedTable

    def facts(self, rows: int, most_rows: int, columns: Mapping[str, Any]) -> dict[str, Any]:
        """What may be told: it was released."""
        return {
            "rows": rows,
            "rows of one person": most_rows,
            "columns": list(columns),
            "rounds": len(self.fitted.chosen),
            "marginals": [
                [self.names[axis] for axis in axes] for axes in dict.fromkeys(self.fitted.chosen)
            ],
            "deviation of one-way counts": self.fitted.deviation,
        }


def _measure(  # noqa: PLR0917 - a table, what is known of all of them, and what may be spent
    name: str,
    declaration: RelatedTables,
    linked: Mapping[str, LinkedTable],
    columns: Columns,
    rows: RowCounts,
    method: AdaptiveMarginals,
    spending: BudgetFilter,
    rng: Source,
) -> _MeasuredTable:
    table, mine = declaration.tables[name], linked[name]
    codes, sizes, names = list[Codes](), list[int](), list[str]()
    if table.parent is not None:
        above = linked[table.parent]
        for each in table.given:
            column = columns[table.parent][each]
            codes.append(column.codes(above.frame[each])[mine.parents])
            sizes.append(column.size)
            names.append(f"{table.parent}.{each}")
    for column in columns[name].values():
        codes.append(column.codes(mine.frame[column.name]))
        sizes.append(column.size)
        names.append(column.name)
    children = declaration.children(name)
    for child in children:
        most = int(declaration.tables[child].most_rows or 1)
        counts = np.bincount(linked[child].parents, minlength=mine.frame.height)
        codes.append(np.minimum(counts, most).astype(np.int64))
        sizes.append(most + 1)
        names.append(Message("masking.word.number_of", table=child))
    together: Axes = tuple(range(len(table.given)))
    cells = declaration.cells_of_given(
        {} if table.parent is None else {n: c.size for n, c in columns[table.parent].items()}, name
    )
    if cells > method.model_cells:
        raise InputError("CEL-Y031.given_cells", table=name, cells=cells, most=method.model_cells)
    degree = min(method.degree, len(sizes))
    fitted = FittedTable.of(
        codes,
        sizes,
        spending=spending,
        workload=list(combinations(range(len(sizes)), degree)),
        most_cells=method.model_cells,
        rng=rng,
        rows=rows,
        together=together,
    )
    return _MeasuredTable(tuple(names), len(table.given), tuple(children), fitted)


def _draw(
    declaration: RelatedTables,
    measured: Mapping[str, _MeasuredTable],
    columns: Columns,
    method: AdaptiveMarginals,
    rng: Source,
) -> dict[str, pl.DataFrame]:
    """New rows: persons first, then those that hang on them, given their columns."""
    made: dict[str, pl.DataFrame] = {}
    drawn: dict[str, dict[str, Codes]] = {}
    sizes: dict[str, Codes] = {}
    for name, table in declaration.tables.items():
        model = measured[name]
        if table.parent is None:
            population = model.fitted.total * (method.most_weight or 1.0)
            count = method.new_rows(population)
            parents = np.zeros(count, dtype=np.int64)
            known: dict[int, Codes] = {}
        else:
            numbers = sizes[name]
            count = int(numbers.sum())
            if count > MOST_ROWS:
                raise InputError("CEL-Y031.too_many", table=name, rows=count, most=MOST_ROWS)
            parents = np.repeat(np.arange(numbers.size), numbers)
            above = drawn[table.parent]
            known = {place: above[each][parents] for place, each in enumerate(table.given)}
        codes = model.fitted.draw(count, rng, known)
        mine = list(columns[name].values())
        own = codes[model.given : model.given + len(mine)]
        drawn[name] = {column.name: code for column, code in zip(mine, own, strict=True)}
        sizes |= zip(model.children, codes[model.given + len(mine) :], strict=True)
        cells = [column.series(code, rng) for column, code in zip(mine, own, strict=True)]
        if table.key is not None:
            cells.append(pl.Series(table.key, np.arange(1, count + 1)))
        if table.foreign_key is not None:
            cells.append(pl.Series(table.foreign_key, parents + 1))
        if table.parent is None and method.weight is not None:
            each_weight = population / max(count, 1)
            cells.append(pl.Series(method.weight, [each_weight] * count, pl.Float64))
        made[name] = pl.DataFrame(cells)
    return made


def _in_order(given: pl.DataFrame, made: pl.DataFrame) -> pl.DataFrame:
    """The columns in the order of the given table."""
    return pick(made, [name for name in given.columns if name in made.columns])


def _check_method(method: AdaptiveMarginals) -> None:
    """Refuse what belongs to the declaration of each table."""
    for parameter in ("domains", "bounds", "discover", "workload"):
        if getattr(method, parameter) is not None:
            raise InputError("CEL-Y031.method", parameter=parameter)


def _check_tables(
    tables: Mapping[str, Any], declaration: RelatedTables, method: AdaptiveMarginals
) -> dict[str, pl.DataFrame]:
    """The tables as frames with the columns that are used; by names and types alone."""
    found = {}
    for name, table in declaration.tables.items():
        if name not in tables:
            raise InputError("CEL-Y031.absent", table=name, hint=did_you_mean(name, tables))
        frame = as_frame(tables[name])
        weight = [method.weight] if table.parent is None and method.weight is not None else []
        wanted = [*table.keys, *table.columns, *weight]
        for column in wanted:
            if column not in frame.columns:
                raise InputError(
                    "CEL-V003", hint=did_you_mean(column, frame.columns), column=column
                )
        if weight and weight[0] in (*table.keys, *table.columns):
            raise InputError("CEL-Y020.twice", column=weight[0])
        if weight and not frame.schema[weight[0]].is_numeric():
            raise InputError(
                "CEL-Y022.kind", dtype=frame.schema[weight[0]], kind="decimal", column=weight[0]
            )
        found[name] = frame.select(
            frame.get_column(column) for column in frame.columns if column in wanted
        )
    return found


def discovery_plan(declaration: RelatedTables, method: AdaptiveMarginals) -> DiscoveryPlan:
    """What finding domains costs, and how many persons a value of text must have to be found."""
    kinds, caps = list[str](), list[int]()
    for name, table in declaration.tables.items():
        for kind in (table.discover or {}).values():
            kinds.append(kind)
            caps.append(declaration.most_rows(name))
    return DiscoveryPlan(method.budget, tuple(kinds), method.discovery_share, tuple(caps))


def _columns(
    linked: Mapping[str, LinkedTable],
    declaration: RelatedTables,
    plan: DiscoveryPlan,
    rng: Source,
) -> Columns:
    """The columns over their domains, declared or found, in the order of the declaration."""
    sought = [(name, each) for name, t in declaration.tables.items() for each in t.discover or {}]
    found = plan.find(
        [linked[name].frame[each] for name, each in sought],
        {each: _bins(declaration, name, each) for name, each in sought},
        rng=rng,
        units=[linked[name].persons for name, _ in sought],
    )
    columns: Columns = {}
    for name, table in declaration.tables.items():
        names = [*(table.domains or {}), *(table.bounds or {})]
        known = table.declarations.columns(linked[name].frame.schema, names)
        columns[name] = {column.name: column for column in known}
    for (name, each), column in zip(sought, found, strict=True):
        columns[name][each] = column
    return columns


def _bins(declaration: RelatedTables, name: str, column: str) -> int:
    bins = declaration.tables[name].bins
    return bins if isinstance(bins, int) else bins.get(column, 16)


def _check_noise(
    declaration: RelatedTables, method: AdaptiveMarginals, plan: DiscoveryPlan, share: Fraction
) -> None:
    """Refuse noise that cannot be drawn, before any is."""
    plan.losses()
    steps = method.row_counts(None).steps
    for name, table in declaration.tables.items():
        count = len(table.given) + len(table.columns) + len(declaration.children(name))
        moved = steps * declaration.most_rows(name)
        single = one_way_noise(plan.rest, share, count, moved)
        if table.parent is None and method.weight is None:
            check_astray(method.rows, variance=single.variance, cells=1)
        check_rounds(plan.rest, share, count, moved)


_CAPS = {"random": "masking.assumes.cap_random", "first": "masking.assumes.cap_first"}


def _guarantee(
    declaration: RelatedTables,
    method: AdaptiveMarginals,
    frames: Mapping[str, pl.DataFrame],
    *,
    simulation: bool,
) -> Guarantee:
    root = declaration.root
    others = [name for name in declaration.tables if name != root]
    caps = [
        Message(
            _CAPS[table.keep],
            table=name,
            most=int(table.most_rows or 1),
            parent=str(table.parent),
        )
        for name, table in declaration.tables.items()
        if table.parent is not None
    ]
    gaps = [
        Message("masking.gap.siblings", table=name, given=list(declaration.tables[name].given))
        for name in others
    ]
    return Guarantee(
        promise=method.budget.promise(),
        unit=Message("masking.unit.person_rows", table=root, tables=others),
        protects=Message("masking.protects.private"),
        neighbours=Message("masking.neighbours.add_remove_person"),
        assumes=(*caps, Message("masking.assumes.keys"), *method.assumes()),
        leaves_open=(
            *gaps,
            Message("masking.gap.chosen_marginals"),
            *method.base_gaps(),
        ),
        simulation=simulation,
    )
