"""`celosia hierarchy`: build and check generalisation hierarchies."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from celosia.cli import console, options
from celosia.cli.frame import FileOutputs, JsonOutputs, Outputs
from celosia.core.errors import InputError
from celosia.core.messages import say

if TYPE_CHECKING:
    from celosia.tables import Hierarchy
    from celosia.tables.hierarchies import Builder

app = typer.Typer(
    no_args_is_help=True,
    help="""Build and check generalisation hierarchies.

    **Examples**

    `celosia hierarchy build people.csv --column age --method 'intervals:widths=[5,10,20]'
    -o age.csv`

    `celosia hierarchy check age.csv --table people.csv --column age`
    """,
)


@app.command()
def build(
    table: options.Input,
    reading: options.Reading,
    outputs: FileOutputs,
    column: Annotated[str, "--column -c", "The column to generalise."],
    method: Annotated[
        str,
        "NAME:KEY=VALUE,...",
        "automatic, intervals, ordered, mask, dates or tree, with parameters as in a schema file.",
    ] = "automatic",
    output: Annotated[Path | None, "--output -o", "The hierarchy file (CSV, ARX's format)."] = None,
    groups: Annotated[Path | None, "A tree: a TOML file with the groups under [groups]."] = None,
) -> None:
    """Build the hierarchy of a column from its values.

    **Examples**

    `celosia hierarchy build people.csv --column age --method 'intervals:widths=[5,10,20]'
    -o age.csv`

    `celosia hierarchy build people.csv --column zip --method mask -o zip.csv`

    `celosia hierarchy build people.csv --column born --method 'dates:levels=[month,year]'
    -o born.csv`

    `celosia hierarchy build people.csv --column city --groups cities.toml -o city.csv`

    `celosia hierarchy build people.csv --column job`  (look at what would be chosen by itself)
    """
    from celosia.core.files import replacing
    from celosia.frames import encode
    from celosia.tables.hierarchies import Automatic, is_nominal, write_hierarchy

    outputs.check(inputs=(table, groups), hierarchy=output)
    rule = _rule(method, groups)
    values = encode(_column(table, column, reading)).values
    hierarchy = rule.build(values)
    if output is not None:
        with replacing(output, overwrite=outputs.overwrite) as draft:
            write_hierarchy(hierarchy, draft)
    if isinstance(rule, Automatic) and is_nominal(values):
        console.note(options.no_groups([column]))
    _show(hierarchy, _chosen(rule, values), outputs, output)


@app.command()
def check(
    hierarchy: Annotated[Path, "argument", "A hierarchy file (CSV, ARX's format)."],
    reading: options.Reading,
    outputs: JsonOutputs,
    table: Annotated[Path | None, "Check that it covers a column of this table."] = None,
    column: Annotated[str | None, "--column -c", "The column to cover."] = None,
) -> None:
    """Check a hierarchy file: consistent levels, one root, and every value of a column covered.

    **Examples**

    `celosia hierarchy check age.csv`

    `celosia hierarchy check age.csv --table people.csv --column age`
    """
    from celosia.tables.coded_table import code_column
    from celosia.tables.hierarchies import read_hierarchy
    from celosia.tables.schema import Column, Role

    if (table is None) != (column is None):
        raise InputError("CEL-I034")
    found = read_hierarchy(hierarchy)
    if table is not None and column is not None:
        rule = Column(column, Role.QUASI_IDENTIFIER, hierarchy=found, missing="value")
        code_column(_column(table, column, reading), rule)
    if found.note is not None:
        console.note(f"{hierarchy}: {found.note}")
    if not outputs.as_json:
        console.note(say("cli.hierarchy.levels_consistent_end_one"))
        if column is not None:
            console.note(say("cli.hierarchy.every_value_column_has", column=column))
    _show(found, None, outputs)


def _show(
    hierarchy: Hierarchy, rule: dict[str, Any] | None, outputs: Outputs, output: Path | None = None
) -> None:
    from dataclasses import asdict

    from celosia.tables.hierarchies import summary

    levels = summary(hierarchy)

    def lines() -> None:
        console.show_table(
            say("cli.hierarchy.levels_from_raw_value"),
            console.columns("level", "labels:,", "fewest_leaves_under_one:,", "most:,"),
            [[each.level, each.labels, each.smallest, each.largest] for each in levels],
        )
        if rule is not None:
            values = ("order", "tree")  # as long as the column, and not for the eyes of everybody
            settings = ", ".join(f"{key} = {rule[key]}" for key in rule if key not in values)
            console.note(say("cli.hierarchy.rule", settings=settings))

    outputs.show(
        lambda: {
            "leaves": len(hierarchy.leaves),
            "levels": [asdict(level) for level in levels],
            "rule": rule,
            "output": None if output is None else str(output),
        },
        lines,
        say(
            "cli.hierarchy.leaves_levels",
            number_of_leaves=len(hierarchy.leaves),
            levels=hierarchy.levels,
        ),
        hierarchy=output,
    )


def _chosen(rule: Builder, values: Any) -> dict[str, Any]:
    """The rule that was used: for an automatic one, what it chose."""
    from celosia.tables.hierarchies import Automatic, propose

    return (propose(values) if isinstance(rule, Automatic) else rule).as_dict()


def _column(table: Path | str, column: str, reading: options.Reading) -> Any:
    from celosia.core.messages import did_you_mean

    frame = reading.read(table)
    if column not in frame.columns:
        raise InputError(
            "CEL-I035",
            table=table,
            column=column,
            hint=did_you_mean(column, frame.columns),
            columns=frame.columns,
        )
    return frame[column]


def _rule(method: str, groups: Path | None) -> Builder:
    from celosia.tables.hierarchies import Tree, builder_from_text

    if groups is None:
        return builder_from_text(method)
    if method not in ("automatic", "tree"):
        raise InputError("CEL-H062.groups", method=method)
    return Tree(_groups(groups))


def _groups(path: Path) -> Any:
    import tomllib

    try:
        return tomllib.loads(path.read_text("utf-8"))["groups"]
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, KeyError) as error:
        raise InputError("CEL-I037", path=path) from error
