"""`celosia synthesise`: a synthetic table."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from celosia.cli import console, options
from celosia.cli.frame import FolderOutputs, ReleaseOutputs
from celosia.cli.mask import finish_masked_table
from celosia.core.errors import InputError
from celosia.core.messages import say

if TYPE_CHECKING:
    from celosia.tables.masking import MaskingMethod
    from celosia.tables.private.related import SyntheticTables


def synthesise(
    table: options.Input,
    outputs: ReleaseOutputs,
    reading: options.Reading,
    method: Annotated[
        str,
        "NAME:KEY=VALUE,...",
        "copula, trees, bayesian-network or distribution, with parameters; adaptive-marginals "
        "or marginals, with noise that promises something (see celosia mask --methods).",
    ] = "copula",
    rows: Annotated[
        int | None, "Number of synthetic rows; by default as many as in the table."
    ] = None,
    schema: Annotated[
        Path | None,
        "--schema -s",
        "Roles of the columns (TOML); the values and bounds in its hierarchies are the domains "
        "of a private method.",
    ] = None,
    identifiers: Annotated[
        list[str] | None, "--identifier COLUMN", "An identifier, left out; may be repeated."
    ] = None,
    sensitive: Annotated[
        list[str] | None, "COLUMN", "Measure how well the other columns predict it."
    ] = None,
    holdout: Annotated[Path | None, "Records outside the table, for membership inference."] = None,
    tables: Annotated[
        Path | None,
        "FILE",
        "Several related tables instead of one: how they hang together (TOML); the files are in "
        "the folder that is given as the table.",
    ] = None,
    curator: options.CuratorFigures = False,
    seed: options.Seed = None,
) -> None:
    """Make a synthetic table, or several that hang together, and measure risk and utility.

    Without noise there is no guarantee: the report counts the real records that are repeated. With
    it such figures would break the promise: they are shown with --curator only.

    **Examples**

    `celosia synthesise people.csv --method trees -o fake.csv --report report.html`

    `celosia synthesise people.csv --method copula --identifier name --rows 5000 -o fake.csv`

    `celosia synthesise people.csv --method trees --holdout others.csv`  (membership inference)

    `celosia synthesise census.csv --schema census.toml --method adaptive-marginals:epsilon=1
    -o fake.csv`  (differentially private, domains by the schema)

    `celosia synthesise survey.csv --schema survey.toml -o fake.csv --method
    adaptive-marginals:epsilon=1,weight=w,most_weight=500`  (of the weighted population)

    `celosia synthesise clinic --tables clinic/clinic.toml --method adaptive-marginals:epsilon=1
    -o made`  (persons and their visits)

    `celosia synthesise people.csv -o fake.csv  --method
    'marginals:epsilon=1,bounds={age=[0,100]},domains={sex=["F","M"]}'`  (differentially private)
    """
    from celosia.core.randomness import source
    from celosia.tables import Role, Schema, masking
    from celosia.tables.masking.recipe import read_for_methods
    from celosia.tables.private.method import DeclaredMethod

    if rows is not None:
        method += f"{',' if ':' in method else ':'}rows={rows}"
    made = masking.method_from_text(method)
    if tables is not None:
        refused = {
            "--schema": schema,
            "--identifier": identifiers,
            "--sensitive": sensitive,
            "--holdout": holdout,
            "--curator": curator,
            options.READING_OPTIONS: reading.as_arguments(),
        }
        _check_refused(refused)
        _synthesise_tables(Path(table), tables, made, outputs, seed)
        return
    outputs.check(inputs=(table, holdout, schema))
    _check_new_rows(made)
    known = Schema(()) if schema is None else Schema.load(schema)
    left_out = [*known.named(Role.IDENTIFIER), *(identifiers or ())]
    roles = Schema.of(
        quasi_identifiers=(),
        identifiers=dict.fromkeys(left_out),
        sensitive=dict.fromkeys(
            [
                name
                for name in [*known.named(Role.SENSITIVE), *(sensitive or ())]
                if name not in left_out
            ]
        ),
        other_columns=Role.INSENSITIVE,
    )
    if isinstance(made, DeclaredMethod):
        columns = [column.name for column in known.columns if column.name not in left_out]
        made = made.with_schema(known, columns)
    given = {**reading.as_arguments(), "types": known.types()}
    with outputs.working() as progress:
        frame = read_for_methods(table, [made], **given)
        names = [name for name in frame.columns if name not in left_out]
        recipe = masking.Recipe.of(roles, [(made, names)])
        others = None if holdout is None else read_for_methods(holdout, [made], **given)
        release = masking.mask(frame, recipe, holdout=others, rng=source(seed), progress=progress)
        outputs.save(release)
    certificate = outputs.files()["certificate"]
    finish_masked_table(release, outputs, curator=curator, certificate=certificate)


def _check_new_rows(method: MaskingMethod) -> None:
    """Refuse a method that keeps the rows of real people, which are not synthetic."""
    from celosia.tables import private, synthesis

    makers = (*synthesis.METHODS, *private.METHODS)
    if not isinstance(method, makers):
        raise InputError(
            "CEL-V022",
            method=method.method_name,
            makers=[each.method_name for each in makers],
        )


def _check_refused(given: Mapping[str, object]) -> None:
    """Refuse options of a single table."""
    for option, value in given.items():
        if value:
            raise InputError("CEL-Y031.option", option=option)


def _synthesise_tables(
    folder: Path, declared: Path, method: MaskingMethod, single: ReleaseOutputs, seed: int | None
) -> None:
    from celosia.core.randomness import source
    from celosia.tables.private import AdaptiveMarginals
    from celosia.tables.private.related import RelatedTables, synthesise_tables

    outputs = FolderOutputs(
        output=single.output,
        report=single.report,
        overwrite=single.overwrite,
        as_json=single.as_json,
    )
    if not isinstance(method, AdaptiveMarginals):
        raise InputError("CEL-Y031.other_method", method=method.method_name)
    declaration = RelatedTables.load(declared)
    files = [folder / (table.file or f"{name}.csv") for name, table in declaration.tables.items()]
    outputs.check(inputs=(declared, *files))
    with outputs.working() as progress:
        given = declaration.read(folder, method)
        release = synthesise_tables(given, declaration, method, rng=source(seed), progress=progress)
        outputs.save(release)
    outputs.finish(release, lambda: _show_tables(release))


def _show_tables(release: SyntheticTables) -> None:
    """Print what was made of each table."""
    from celosia.tables.private.related.release import COLUMNS

    titles = [say(name) for name in COLUMNS]
    header = [console.Column(titles[0]), *(console.Column(title, ",") for title in titles[1:])]
    console.show_table(say("masking.report.related_table"), header, release.rows())
