"""`celosia mask`: mask a table by a recipe and write it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from celosia.cli import console, options
from celosia.cli.frame import EngineOutputs, ReleaseOutputs
from celosia.core.errors import InputError
from celosia.core.messages import Message, say

if TYPE_CHECKING:
    from celosia.tables.masking import Recipe
    from celosia.tables.masking.release import MaskingRelease


def _methods(wanted: bool) -> None:
    if not wanted:
        return
    from celosia.core.messages import say
    from celosia.core.methods import parameters
    from celosia.tables.masking.method import REACHES
    from celosia.tables.masking.recipe import methods

    for name, kind in methods().items():
        console.show(name, strong=True)
        console.show(f"  {say(f'methods.{name}.summary')}")
        keys = ", ".join(each.name for each in parameters(kind))
        console.show(say("cli.mask.parameters", keys=keys or Message("cli.word.none")))
        reaches = say("cli.mask.or").join(str(REACHES[each]) for each in kind.reaches)
        console.show(say("cli.mask.engine", reaches=reaches))
    raise typer.Exit


def mask(
    table: options.EngineTable,
    schema: options.SchemaOptions,
    target: EngineOutputs,
    reading: options.Reading,
    recipe: Annotated[
        Path | None, "--recipe -r", "The recipe: column roles and masking steps (TOML)."
    ] = None,
    method: Annotated[
        str | None,
        "NAME:KEY=VALUE,...",
        "One masking method and its parameters, instead of a recipe (see --methods).",
    ] = None,
    columns: Annotated[
        list[str] | None, "--column -c COLUMN", "With --method: a column to mask; may be repeated."
    ] = None,
    keep_order: Annotated[
        bool, "--keep-order", "Do not shuffle the rows (their order re-identifies records)."
    ] = False,
    curator: options.CuratorFigures = False,
    seed: options.Seed = None,
    listed: Annotated[
        bool,
        typer.Option(
            "--methods", callback=_methods, is_eager=True, help="List the methods and exit."
        ),
    ] = False,
    classes: Annotated[
        bool,
        "--classes/--no-classes",
        "With --engine: count classes of equal quasi-identifiers, whose distinct combinations "
        "must fit in memory.",
    ] = True,
) -> None:
    """Mask a table by a recipe: noise, microaggregation, swapping, synthesis and more.

    With --methods, every method is listed with its parameters.

    **Examples**

    `celosia mask people.csv --recipe people-recipe.toml -o safe.csv --report report.html`

    `celosia mask people.csv --method mdav:k=5 -c age -c income -q age -q income -o safe.csv`

    `celosia mask people.csv --method rank-swap:percent=5 -c income -s people.toml -o safe.csv`

    `celosia mask people.csv --recipe people-recipe.toml --seed 7 --json`  (a simulation)

    `celosia mask 'raw/*.parquet' --recipe people-recipe.toml --engine duckdb -o safe.parquet`
    """
    from celosia.core.randomness import source
    from celosia.tables import masking
    from celosia.tables.masking.recipe import read_for_methods

    given = reading.as_arguments()
    refused = {options.READING_OPTIONS: bool(given)}
    outputs = target.check(table, inputs=(recipe, schema.schema), refused=refused)
    chosen = _recipe(recipe, method, columns, schema)
    release: MaskingRelease
    certificate = outputs.files()["certificate"]
    with outputs.working() as progress:
        if target.engine is not None and target.output is not None:
            with target.open_engine() as engine:
                release = masking.mask_on(
                    engine,
                    table,
                    target.output,
                    chosen,
                    keep_order=keep_order,
                    classes=classes,
                    rng=source(seed),
                    progress=progress,
                    overwrite=target.overwrite,
                    certificate=target.certificate,
                )
                certificate = release.certificate_file
        else:
            steps = [step.method for step in chosen.steps]
            frame = read_for_methods(
                options.source_of(table), steps, types=chosen.schema.types(), **given
            )
            release = masking.mask(
                frame, chosen, keep_order=keep_order, rng=source(seed), progress=progress
            )
            outputs.save(release)
    finish_masked_table(release, outputs, curator=curator, certificate=certificate)


def _recipe(
    recipe: Path | None,
    method: str | None,
    columns: list[str] | None,
    schema: options.SchemaOptions,
) -> Recipe:
    from celosia.tables.masking import Recipe, method_from_text

    if recipe is None and method is not None:
        return Recipe.of(schema.load(), [(method_from_text(method), columns or ())])
    if recipe is None or method or columns or schema.are_given:
        raise InputError("CEL-V018")
    return Recipe.load(recipe)


def finish_masked_table(
    release: MaskingRelease,
    outputs: ReleaseOutputs,
    *,
    curator: bool,
    certificate: Path | None,
) -> None:
    """Write the report and show the release; what is exact beside a private one, if it is wanted.

    Args:
        release: saved already.
        outputs: of the command.
        curator: whether exact figures of a private release are shown.
        certificate: where it lies.
    """
    shown = release if curator or not release.is_private else release.without_account()
    exact = curator and release.is_private
    outputs.finish(
        shown,
        lambda: show_masked_table(shown),
        facts=lambda: shown.certificate() | ({"curator": shown.account.figures()} if exact else {}),
        certificate=certificate,
    )


def show_masked_table(release: MaskingRelease) -> None:
    """Print what was done and what was measured."""
    for number, step in enumerate(release.steps, 1):
        console.show(say("cli.mask.step", number=number, step=step))
    lines = release.account.lines()
    if release.is_private:
        console.note(say("cli.mask.for_curator" if lines else "cli.mask.without_figures"))
    if lines:
        console.show_table(say("cli.mask.risk_use"), console.columns("", "value"), lines)
    if "left_out" in release.figures:
        console.show(
            say(
                "cli.mask.measured_engine",
                left_out=", ".join(map(str, release.figures["left_out"])),
            )
        )
