"""`celosia mask`: mask a table by a recipe and write it."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from celosia.cli import console, engines, options
from celosia.cli.release_summary import show_warnings
from celosia.core.errors import InputError
from celosia.core.messages import Message, say

if TYPE_CHECKING:
    from celosia.tables.masking import Recipe
    from celosia.tables.masking.release import MaskingRelease

EXAMPLES = """**Examples**

`celosia mask people.csv --recipe people-recipe.toml -o safe.csv --report report.html`

`celosia mask people.csv --method mdav:k=5 -c age -c income -q age -q income -o safe.csv`

`celosia mask people.csv --method rank-swap:percent=5 -c income -s people.toml -o safe.csv`

`celosia mask people.csv --recipe people-recipe.toml --seed 7 --json`  (a simulation)

`celosia mask 'raw/*.parquet' --recipe people-recipe.toml --engine duckdb -o safe.parquet`
"""


def _methods(wanted: bool) -> None:
    if not wanted:
        return
    from celosia.core.messages import say
    from celosia.core.methods import parameters
    from celosia.tables.masking.method import REACHES
    from celosia.tables.masking.registry import methods

    for name, kind in methods().items():
        console.show(name, strong=True)
        console.show(f"  {say(f'methods.{name}.summary')}")
        keys = ", ".join(each.name for each in parameters(kind))
        console.show(say("cli.mask.parameters", keys=keys or Message("cli.word.none")))
        console.show(
            say("cli.mask.engine", reaches="; or ".join(REACHES[each] for each in kind.reaches))
        )
    raise typer.Exit


def mask(
    table: engines.Table,
    recipe: Annotated[
        Path | None,
        typer.Option("--recipe", "-r", help="The recipe: column roles and masking steps (TOML)."),
    ] = None,
    method: Annotated[
        str | None,
        typer.Option(
            metavar="NAME:KEY=VALUE,...",
            help="One masking method and its parameters, instead of a recipe (see --methods).",
        ),
    ] = None,
    columns: Annotated[
        list[str] | None,
        typer.Option(
            "--column",
            "-c",
            metavar="COLUMN",
            help="With --method: a column to mask; may be repeated.",
        ),
    ] = None,
    schema: options.SchemaFile = None,
    quasi_identifiers: options.QuasiIdentifiers = None,
    sensitive: options.Sensitive = None,
    identifiers: options.Identifiers = None,
    other_columns: options.OtherColumns = None,
    output: engines.Output = None,
    report: Annotated[
        Path | None, typer.Option(help="Write a report (one HTML file, opens offline).")
    ] = None,
    keep_order: Annotated[
        bool,
        typer.Option(
            "--keep-order", help="Do not shuffle the rows (their order re-identifies records)."
        ),
    ] = False,
    seed: Annotated[
        int | None, typer.Option(help="Seed of the random draws; makes the release a simulation.")
    ] = None,
    listed: Annotated[
        bool,
        typer.Option(
            "--methods", callback=_methods, is_eager=True, help="List the methods and exit."
        ),
    ] = False,
    engine: engines.Engine = None,
    url: engines.Url = None,
    certificate: engines.Certificate = None,
    classes: Annotated[
        bool,
        typer.Option(
            "--classes/--no-classes",
            help="With --engine: count classes of equal quasi-identifiers, whose distinct "
            "combinations must fit in memory.",
        ),
    ] = True,
    delimiter: options.Delimiter = None,
    encoding: options.Encoding = None,
    header: options.Header = None,
    decimal: options.Decimal = None,
    overwrite: options.Overwrite = False,
    as_json: options.AsJson = False,
) -> None:
    """Mask a table by a recipe: noise, microaggregation, swapping, synthesis and more.

    With --methods, every method is listed with its parameters.
    """
    from celosia.core.progress import Step
    from celosia.core.randomness import source
    from celosia.core.release import certificate_path
    from celosia.frames import format_of
    from celosia.tables import masking
    from celosia.tables.masking.readers import read_for_methods

    reading = options.ReadOptions(delimiter, encoding, header, decimal).as_arguments()
    engines.check_options(
        engine,
        url,
        certificate,
        output,
        others={"--delimiter, --encoding, --header or --decimal": bool(reading)},
    )
    file = None if output is None else Path(output)
    inputs = (recipe, schema)
    if engine is None:
        paper = None if file is None else certificate_path(file)
        places = {"release": file, "certificate": paper, "report": report}
        options.check_outputs(places, inputs=(Path(table), *inputs), overwrite=overwrite)
        if file is not None:
            format_of(file)
    else:
        options.check_outputs({"report": report}, inputs=inputs, overwrite=overwrite)
    roles = {
        "quasi_identifiers": quasi_identifiers,
        "sensitive": sensitive,
        "identifiers": identifiers,
        "other_columns": other_columns,
    }
    masking_recipe = _recipe(recipe, method, columns, schema, roles)
    release: MaskingRelease
    with console.progress_bar(quiet=as_json) as progress, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the release carries them, and they are shown below
        if engine is not None and output is not None:
            with engines.open_engine(engine, url) as there:
                release = masking.mask_on(
                    there,
                    table,
                    output,
                    masking_recipe,
                    keep_order=keep_order,
                    classes=classes,
                    rng=source(seed),
                    progress=progress,
                    overwrite=overwrite,
                    certificate=certificate,
                )
        else:
            progress(Step(Message("cli.step.reading_file"), 0))
            steps = [step.method for step in masking_recipe.steps]
            frame = read_for_methods(table, steps, types=masking_recipe.schema.types(), **reading)
            made = masking.mask(
                frame, masking_recipe, keep_order=keep_order, rng=source(seed), progress=progress
            )
            if file is not None:
                made.save(file, overwrite=overwrite)
            release = made
    if report is not None:
        release.report(report, overwrite=overwrite)
    show_masked_table(release, file, report, as_json=as_json)


mask.__doc__ = f"{mask.__doc__}\n\n{EXAMPLES}"


def _recipe(
    recipe: Path | None,
    method: str | None,
    columns: list[str] | None,
    schema: Path | None,
    roles: dict[str, Any],
) -> Recipe:
    from celosia.tables.masking import Recipe, method_from_text

    if recipe is None and method is not None:
        roles_of = options.schema_from(schema, **roles)
        return Recipe.of(roles_of, [(method_from_text(method), columns or ())])
    if recipe is None or method or columns or schema or any(roles.values()):
        raise InputError("CEL-V018")
    return Recipe.load(recipe)


def show_masked_table(
    release: MaskingRelease, output: Path | None, report: Path | None, *, as_json: bool
) -> None:
    """Say what was done, what was measured and where it lies, the most important line last."""
    from celosia.core.release import certificate_path

    show_warnings(release)
    if as_json:
        console.show_json(release.certificate())
        return
    for number, step in enumerate(release.steps, 1):
        console.show(say("cli.mask.step", number=number, step=step))
    lines = release.account.lines()
    if lines:
        console.show_table(say("cli.mask.risk_use"), ["", say("cli.column.value")], lines)
    if "left_out" in release.figures:
        console.show(
            say("cli.mask.measured_engine", left_out=", ".join(release.figures["left_out"]))
        )
    beside = None if output is None else certificate_path(output)
    certificate = getattr(release, "certificate_file", beside)  # or elsewhere
    console.show_files({"data": output, "certificate": certificate, "report": report})
    if output is None:
        console.note(say("cli.graph.release_written_give_o"))
    console.show(str(release), strong=True)
