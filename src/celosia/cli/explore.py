"""`celosia explore`: all solutions for a table, to choose one."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any

import typer

from celosia.cli import console, model_options, options
from celosia.core.messages import Message, say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from celosia.tables import Exploration
    from celosia.tables.recoding.exploration import ExploredSolution

EXAMPLES = """**Examples**

`celosia explore people.csv --schema people.toml --k 5`

`celosia explore people.csv -s people.toml --k 5 --l 3 --plot choice.svg --report choice.html`

`celosia explore people.csv -q age -q zip --sensitive disease --k 5 --all --json`
"""


def explore(
    table: options.Input,
    k: model_options.K = None,
    diversity: model_options.L = None,
    closeness: model_options.T = None,
    model: model_options.OtherModels = None,
    schema: options.SchemaFile = None,
    suppression: Annotated[
        str, typer.Option(help="Largest share of records to suppress; 100% for no limit.")
    ] = "5%",
    metric: model_options.MetricName = None,
    weights: model_options.Weights = None,
    time_limit: Annotated[
        float | None,
        typer.Option(metavar="SECONDS", help="Stop after this time, and list the solutions found."),
    ] = None,
    population: options.Population = None,
    show_all: Annotated[
        bool, typer.Option("--all", help="List every solution, not only those on the front.")
    ] = False,
    plot: Annotated[
        Path | None, typer.Option(help="Write the trade-off of loss and risk (SVG).")
    ] = None,
    report: Annotated[
        Path | None, typer.Option(help="Write a report (one HTML file, opens offline).")
    ] = None,
    quasi_identifiers: options.QuasiIdentifiers = None,
    sensitive: options.Sensitive = None,
    identifiers: options.Identifiers = None,
    other_columns: options.OtherColumns = None,
    delimiter: options.Delimiter = None,
    encoding: options.Encoding = None,
    header: options.Header = None,
    decimal: options.Decimal = None,
    overwrite: options.Overwrite = False,
    as_json: options.AsJson = False,
) -> None:
    """List the solutions on the front of loss and risk, to choose the one to publish."""
    from celosia import tables
    from celosia.core.progress import Step
    from celosia.frames import read
    from celosia.tables import exploration_report

    places = {"plot": plot, "report": report}
    options.check_outputs(places, inputs=(table, schema, population), overwrite=overwrite)
    models = model_options.models_from(k, diversity, closeness, model)
    limit = options.share(suppression, option="--suppression")
    measure = model_options.metric_from(metric, weights)
    roles = options.schema_from(
        schema,
        quasi_identifiers,
        identifiers=identifiers,
        sensitive=sensitive,
        other_columns=other_columns,
    )
    reading = options.ReadOptions(delimiter, encoding, header, decimal).as_arguments()
    with console.progress_bar(quiet=as_json) as progress:
        progress(Step(Message("cli.step.reading_file"), 0))
        frame = read(table, types=roles.types(), **reading)
        people = None if population is None else read(population, types=roles.types())
        found = tables.explore(
            frame,
            roles,
            models,
            suppression=limit,
            metric=measure,
            time_limit=time_limit,
            population=people,
            progress=progress,
        )
    named = metric or "loss"
    if plot is not None:
        options.write_text(plot, str(exploration_report.trade_off(found, metric=named)), overwrite)
    if report is not None:
        promise = " and ".join(each.promise() for each in models)
        page = exploration_report.document(found, promise=promise, metric=named)
        options.write_text(report, page.html(), overwrite)
    if not model_options.hides_identity(models):
        console.note(say("cli.explore.warning", identity_open=Message(model_options.IDENTITY_OPEN)))
    if as_json:
        console.show_json(_facts(found, show_all=show_all))
        return
    _show(found, named, show_all=show_all)
    for what, path in (("plot", plot), ("report", report)):
        if path is not None:
            console.show(f"{what}: {path}")
    repeated_options = [
        *([] if schema is None else ["--schema", str(schema)]),
        *_repeated("-q", quasi_identifiers),
        *_repeated("--sensitive", sensitive),
        *_repeated("--identifier", identifiers),
        *_repeated("--other-columns", [other_columns] if other_columns else None),
        *([] if k is None else ["--k", str(k)]),
        *_repeated("--l", diversity),
        *_repeated("--t", closeness),
        *_repeated("--model", model),
        *_repeated("--population", None if population is None else [str(population)]),
        *([] if suppression == "5%" else ["--suppression", suppression]),
    ]
    console.note(
        say(
            "cli.explore.publish_first",
            command=_command(str(table), repeated_options, found, found.solutions[0]),
        )
    )
    console.show(str(found), strong=True)


explore.__doc__ = f"{explore.__doc__}\n\n{EXAMPLES}"


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
            "",
            say("cli.column.levels"),
            metric,
            say("cli.column.suppressed"),
            say("cli.column.classes"),
            say("cli.column.average_risk"),
            say("cli.column.highest"),
        ],
        [
            [
                str(number),
                " ".join(map(str, choice.levels)),
                console.number(choice.score, ".3%"),
                console.number(choice.suppressed, ","),
                console.number(choice.classes, ","),
                console.number(choice.average_risk, ".3%"),
                console.number(choice.highest_risk, ".3%"),
            ]
            for number, choice in enumerate(shown, 1)
        ],
    )


def _repeated(option: str, values: Sequence[str] | None) -> list[str]:
    return [word for value in values or () for word in (option, value)]


def _command(
    table: str, repeated_options: Sequence[str], found: Exploration, choice: ExploredSolution
) -> str:
    """How to publish one of the solutions."""
    levels = [f"{name}={level}" for name, level in zip(found.columns, choice.levels, strict=True)]
    words = [
        "celosia",
        "publish",
        table,
        *repeated_options,
        *_repeated("--level", levels),
        "-o",
        "safe.csv",
    ]
    return " ".join(map(quote, words))
