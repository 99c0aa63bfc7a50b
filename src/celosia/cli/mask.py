"""`celosia mask`: mask a table by a recipe and write it."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from celosia.cli import console, options
from celosia.cli.outcome import warn
from celosia.core.errors import InputError

if TYPE_CHECKING:
    from celosia.tables.masking import MaskedTable, Recipe

EXAMPLES = """**Examples**

`celosia mask people.csv --recipe people-recipe.toml -o safe.csv --report report.html`

`celosia mask people.csv --method mdav --set k=5 -c age -c income -q age -q income -o safe.csv`

`celosia mask people.csv --method rank-swap --set percent=5 -c income -s people.toml -o safe.csv`

`celosia mask people.csv --recipe people-recipe.toml --seed 7 --json`  (a simulation)
"""


def _methods(wanted: bool) -> None:
    if not wanted:
        return
    from dataclasses import fields

    from celosia.tables.masking.registry import methods

    for name, kind in methods().items():
        console.show(name, strong=True)
        console.show(f"  {kind.summary}")
        keys = ", ".join(each.name for each in fields(kind))  # type: ignore[arg-type]
        console.show(f"  parameters: {keys or 'none'}")
    raise typer.Exit


def mask(
    table: options.Input,
    recipe: Annotated[
        Path | None, typer.Option("--recipe", "-r", help="Roles and steps (TOML).")
    ] = None,
    method: Annotated[
        str | None, typer.Option(help="Instead of a recipe: one method (see --methods).")
    ] = None,
    columns: Annotated[
        list[str] | None,
        typer.Option("--column", "-c", metavar="COLUMN", help="With --method: what it masks."),
    ] = None,
    parameters: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="NAME=VALUE", help="With --method: a parameter, as in a recipe."
        ),
    ] = None,
    schema: options.SchemaFile = None,
    quasi_identifiers: options.QuasiIdentifiers = None,
    sensitive: options.Sensitive = None,
    identifiers: options.Identifiers = None,
    others: options.Others = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Where the release goes; its suffix names the format."),
    ] = None,
    report: Annotated[
        Path | None, typer.Option(help="Write a report (one HTML file, opens offline).")
    ] = None,
    keep_order: Annotated[
        bool,
        typer.Option(
            "--keep-order", help="Do not shuffle the rows (their order tells who is who)."
        ),
    ] = False,
    seed: Annotated[
        int | None, typer.Option(help="Repeat every draw; makes the release a simulation.")
    ] = None,
    listed: Annotated[
        bool,
        typer.Option(
            "--methods", callback=_methods, is_eager=True, help="List the methods and exit."
        ),
    ] = False,
    delimiter: options.Delimiter = None,
    encoding: options.Encoding = None,
    header: options.Header = None,
    force: options.Force = False,
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
    from celosia.tables.masking.reading import read_for

    certificate = None if output is None else certificate_path(output)
    places = {"the release": output, "its certificate": certificate, "the report": report}
    options.check_places(places, inputs=(table, recipe, schema), overwrite=force)
    if output is not None:
        format_of(output)
    roles = {
        "quasi_identifiers": quasi_identifiers,
        "sensitive": sensitive,
        "identifiers": identifiers,
        "others": others,
    }
    wish = _recipe(recipe, method, columns, parameters, schema, roles)
    reading = options.Reading(delimiter, encoding, header).as_arguments()
    with console.progress_bar(quiet=as_json) as progress, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the release carries them, and they are shown below
        progress(Step("Reading the file", 0))
        steps = [step.method for step in wish.steps]
        frame = read_for(table, steps, types=wish.schema.types(), **reading)
        release = masking.mask(
            frame, wish, keep_order=keep_order, randomness=source(seed), progress=progress
        )
        if output is not None:
            release.save(output, overwrite=force)
    if report is not None:
        release.report(report, overwrite=force)
    tell(release, output, report, as_json=as_json)


mask.__doc__ = f"{mask.__doc__}\n\n{EXAMPLES}"


def _recipe(
    recipe: Path | None,
    method: str | None,
    columns: list[str] | None,
    parameters: list[str] | None,
    schema: Path | None,
    roles: dict[str, Any],
) -> Recipe:
    from celosia.tables.masking import Recipe

    single = bool(method or columns or parameters)
    if (recipe is None) == (not single) or (recipe and (schema or any(roles.values()))):
        raise InputError(
            "CEL-V018",
            "a recipe and a single method were both given, or neither.",
            why="A recipe has its own steps and roles; a method needs --column and roles.",
            fix="Give --recipe FILE, or --method NAME with -c COLUMN and --schema or -q.",
        )
    if recipe is not None:
        return Recipe.load(recipe)
    step = {"method": method, "columns": columns or [], **dict(map(setting, parameters or ()))}
    return Recipe.from_table({"steps": [step]}, schema=options.schema_from(schema, **roles))


def setting(text: str) -> tuple[str, Any]:
    """A parameter of a method, as a recipe has it."""
    name, equals, value = text.partition("=")
    if not (equals and name.strip()):
        raise InputError(
            "CEL-V019", f"--set {text!r} is not NAME=VALUE.", fix="Write --set k=5, for example."
        )
    return name.strip(), options.value(value)


def tell(release: MaskedTable, output: Path | None, report: Path | None, *, as_json: bool) -> None:
    """Say what was done, what was measured and where it lies, the most important line last."""
    from celosia.core.release import certificate_path

    warn(release)
    if as_json:
        console.show_json(release.certificate())
        return
    for number, step in enumerate(release.steps, 1):
        console.show(f"step {number}: {step}")
    told = release.account.lines()
    if told:
        console.show_table("Risk and use", ["", "value"], told)
    certificate = None if output is None else certificate_path(output)
    for what, path in (("data", output), ("certificate", certificate), ("report", report)):
        if path is not None:
            console.show(f"{what}: {path}")
    if output is None:
        console.note("The release was not written: give -o FILE to keep it.")
    console.show(str(release), strong=True)
