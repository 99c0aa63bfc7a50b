"""`celosia synthesise`: a synthetic table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from celosia.cli import options
from celosia.cli.frame import ReleaseOutputs
from celosia.cli.mask import show_masked_table
from celosia.core.errors import InputError

if TYPE_CHECKING:
    from celosia.tables.masking import MaskingMethod


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
    seed: options.Seed = None,
) -> None:
    """Make a synthetic table, and measure its disclosure risk and its utility.

    Without noise there is no guarantee: the report counts the real records that are repeated.

    **Examples**

    `celosia synthesise people.csv --method trees -o fake.csv --report report.html`

    `celosia synthesise people.csv --method copula --identifier name --rows 5000 -o fake.csv`

    `celosia synthesise people.csv --method trees --holdout others.csv`  (membership inference)

    `celosia synthesise census.csv --schema census.toml --method adaptive-marginals:epsilon=1
    -o fake.csv`  (differentially private, domains by the schema)

    `celosia synthesise people.csv -o fake.csv  --method
    'marginals:epsilon=1,bounds={age=[0,100]},domains={sex=["F","M"]}'`  (differentially private)
    """
    from celosia.core.randomness import source
    from celosia.tables import Role, Schema, masking
    from celosia.tables.masking.recipe import read_for_methods
    from celosia.tables.private.method import DeclaredMethod

    outputs.check(inputs=(table, holdout, schema))
    if rows is not None:
        method += f"{',' if ':' in method else ':'}rows={rows}"
    made = masking.method_from_text(method)
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
    outputs.finish(release, lambda: show_masked_table(release))


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
