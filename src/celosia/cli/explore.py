"""`celosia explore`: all solutions for a table, to choose one."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any

from celosia.cli import console, options
from celosia.cli.frame import ReportOutputs
from celosia.core.messages import Message, say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from celosia.tables import Exploration
    from celosia.tables.recoding.exploration import ExploredSolution


def explore(
    table: options.Input,
    models: options.ModelOptions,
    schema: options.SchemaOptions,
    unit: options.UnitOptions,
    metric: options.MetricOptions,
    outputs: ReportOutputs,
    reading: options.Reading,
    suppression: options.Suppression = "5%",
    time_limit: Annotated[
        float | None, "SECONDS", "Stop after this time, and list the solutions found."
    ] = None,
    population: options.Population = None,
    show_all: Annotated[bool, "--all", "List every solution, not only those on the front."] = False,
    plot: Annotated[Path | None, "Write the trade-off of loss and risk (SVG)."] = None,
) -> None:
    """List the solutions on the front of loss and risk, to choose the one to publish.

    **Examples**

    `celosia explore people.csv --schema people.toml --k 5`

    `celosia explore people.csv -s people.toml --k 5 --l 3 --plot choice.svg --report choice.html`

    `celosia explore people.csv -q age -q zip --sensitive disease --k 5 --all --json`
    """
    from celosia import tables
    from celosia.tables import exploration_report

    outputs.check(inputs=(table, schema.schema, population), plot=plot)
    wanted, roles, measure = models.load(), unit.of(schema.load()), metric.load()
    limit = options.share(suppression, option="--suppression")
    with outputs.working() as progress:
        others = options.Reading()
        found = tables.explore(
            reading.read(table, roles.types()),
            roles,
            wanted,
            suppression=limit,
            metric=measure,
            time_limit=time_limit,
            population=None if population is None else others.read(population, roles.types()),
            progress=progress,
        )
    named = metric.metric or "loss"
    outputs.write_text(plot, lambda: exploration_report.trade_off(found, metric=named))
    promise = " and ".join(each.promise() for each in wanted)
    outputs.write_report(lambda: exploration_report.document(found, promise=promise, metric=named))
    options.note_open_identity(wanted)
    outputs.show(
        lambda: _facts(found, show_all=show_all),
        lambda: _show(found, named, show_all=show_all),
        found,
        note=say(
            "cli.explore.publish_first",
            command=_command(table, models, schema, unit, population, suppression, found),
        ),
        plot=plot,
    )


def _facts(found: Exploration, *, show_all: bool) -> dict[str, Any]:
    facts = found.as_dict()
    solutions = facts.pop("solutions")
    facts["found"] = len(solutions)
    return facts | {"solutions": solutions} if show_all else facts


def _show(found: Exploration, metric: str, *, show_all: bool) -> None:
    shown: Sequence[ExploredSolution] = found.solutions if show_all else found.front
    title = Message("cli.explore.every_solution" if show_all else "cli.explore.front")
    console.show_table(
        say(
            "cli.explore.levels_best_first",
            title=title,
            columns=", ".join(found.columns),
            metric=metric,
        ),
        [
            *console.columns("", "levels"),
            console.Column(metric, ".3%"),
            *console.columns("suppressed:,", "classes:,", "average_risk:.3%", "highest:.3%"),
        ],
        [
            [
                number,
                " ".join(map(str, choice.levels)),
                choice.score,
                choice.suppressed,
                choice.classes,
                choice.average_risk,
                choice.highest_risk,
            ]
            for number, choice in enumerate(shown, 1)
        ],
    )


def _command(
    table: str,
    models: options.ModelOptions,
    schema: options.SchemaOptions,
    unit: options.UnitOptions,
    population: Path | None,
    suppression: str,
    found: Exploration,
) -> str:
    """How to publish the first of the solutions."""
    first = found.solutions[0].levels
    levels = [f"{name}={level}" for name, level in zip(found.columns, first, strict=True)]
    given: dict[str, Sequence[object] | object | None] = {
        "--schema": schema.schema,
        "-q": schema.quasi_identifiers,
        "--sensitive": schema.sensitive,
        "--identifier": schema.identifiers,
        "--other-columns": schema.other_columns,
        "--person": unit.person,
        "--household": unit.household,
        "--unit": unit.unit,
        "--k": models.k,
        "--l": models.diversity,
        "--t": models.closeness,
        "--model": models.model,
        "--population": population,
        "--suppression": None if suppression == "5%" else suppression,
        "--level": levels,
        "-o": "safe.csv",
    }
    words = ["celosia", "publish", str(table)]
    for option, value in given.items():
        values = value if isinstance(value, list) else [] if value is None else [value]
        words += [word for each in values for word in (option, str(each))]
    return " ".join(map(quote, words))
