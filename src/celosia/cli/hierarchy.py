"""`celosia hierarchy`: build and check generalisation hierarchies."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from celosia.cli import console, options
from celosia.cli.advice import no_groups
from celosia.core.errors import InputError
from celosia.core.messages import Message, say

if TYPE_CHECKING:
    from celosia.tables import Hierarchy
    from celosia.tables.hierarchies import Builder

app = typer.Typer(
    no_args_is_help=True,
    help="""Build and check generalisation hierarchies.

    **Examples**

    `celosia hierarchy build people.csv --column age --kind intervals --widths 5,10,20 -o age.csv`

    `celosia hierarchy check age.csv --table people.csv --column age`
    """,
)

BUILD_EXAMPLES = """**Examples**

`celosia hierarchy build people.csv --column age --kind intervals --widths 5,10,20 -o age.csv`

`celosia hierarchy build people.csv --column zip --kind mask -o zip.csv`

`celosia hierarchy build people.csv --column born --kind dates --levels month,year -o born.csv`

`celosia hierarchy build people.csv --column city --kind tree --groups cities.toml -o city.csv`

`celosia hierarchy build people.csv --column job`  (look at what would be chosen by itself)
"""


def build(
    table: options.Input,
    column: Annotated[str, typer.Option("--column", "-c", help="The column to generalise.")],
    kind: Annotated[
        str, typer.Option(help="automatic, intervals, ordered, mask, dates or tree.")
    ] = "automatic",
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The hierarchy file (CSV, ARX's format).")
    ] = None,
    widths: Annotated[str | None, typer.Option(help="intervals: width per level, 5,10,20.")] = None,
    start: Annotated[
        float | None, typer.Option(help="intervals: start of the first interval.")
    ] = None,
    bounds: Annotated[
        list[str] | None,
        typer.Option(help="intervals: cut points of a level, 20,30,40,60; once per level."),
    ] = None,
    open_below: Annotated[
        bool, typer.Option("--open-below", help="intervals: add a group below the first cut point.")
    ] = False,
    open_above: Annotated[
        bool, typer.Option("--open-above", help="intervals: add a group above the last cut point.")
    ] = False,
    domain: Annotated[
        str | None, typer.Option(help="intervals: all whole numbers of the domain, 1,100.")
    ] = None,
    order: Annotated[str | None, typer.Option(help="ordered: all values in order, a,b,c.")] = None,
    sizes: Annotated[str | None, typer.Option(help="ordered: group size per level, 2,4.")] = None,
    levels: Annotated[
        str | None,
        typer.Option(help="mask: characters hidden per level, 1,2,3; dates: month,year."),
    ] = None,
    direction: Annotated[
        str | None, typer.Option(help="mask: hide characters from the right or the left.")
    ] = None,
    date_format: Annotated[
        str | None, typer.Option("--format", help="dates: format of the text, %d/%m/%Y.")
    ] = None,
    groups: Annotated[
        Path | None, typer.Option(help="tree: a TOML file with the groups under [groups].")
    ] = None,
    delimiter: options.Delimiter = None,
    encoding: options.Encoding = None,
    header: options.Header = None,
    decimal: options.Decimal = None,
    overwrite: options.Overwrite = False,
    as_json: options.AsJson = False,
) -> None:
    """Build the hierarchy of a column from its values."""
    from celosia.core.files import check_writable, replacing
    from celosia.frames import encode
    from celosia.tables.hierarchies import Automatic, is_nominal, write_hierarchy

    if output is not None:
        check_writable(output, overwrite=overwrite)
    rule = _rule(
        kind,
        widths=_numbers(widths),
        start=start,
        bounds=[_numbers(cuts) for cuts in bounds] if bounds else None,
        open_below=open_below or None,
        open_above=open_above or None,
        domain=_numbers(domain),
        order=_words(order),
        sizes=_numbers(sizes),
        levels=_numbers(levels) if kind == "mask" else _words(levels),
        direction=direction,
        format=date_format,
        tree=_groups(groups),
    )
    series = _column(table, column, options.ReadOptions(delimiter, encoding, header, decimal))
    values = encode(series).values
    hierarchy = rule.build(values)
    if output is not None:
        with replacing(output, overwrite=overwrite) as draft:
            write_hierarchy(hierarchy, draft)
    if isinstance(rule, Automatic) and is_nominal(values):
        console.note(no_groups([column]))
    _show(hierarchy, _chosen(rule, values), output, as_json=as_json)


build.__doc__ = f"{build.__doc__}\n\n{BUILD_EXAMPLES}"
app.command("build")(build)


@app.command()
def check(
    hierarchy: Annotated[Path, typer.Argument(help="A hierarchy file (CSV, ARX's format).")],
    table: Annotated[
        Path | None, typer.Option(help="Check that it covers a column of this table.")
    ] = None,
    column: Annotated[
        str | None, typer.Option("--column", "-c", help="The column to cover.")
    ] = None,
    delimiter: options.Delimiter = None,
    encoding: options.Encoding = None,
    header: options.Header = None,
    decimal: options.Decimal = None,
    as_json: options.AsJson = False,
) -> None:
    """Check a hierarchy file: consistent levels, one root, and every value of a column covered.

    **Examples**

    `celosia hierarchy check age.csv`

    `celosia hierarchy check age.csv --table people.csv --column age`
    """
    from celosia.tables.coded_column import code_column
    from celosia.tables.hierarchies import read_hierarchy
    from celosia.tables.schema import Column, Role

    if (table is None) != (column is None):
        raise InputError("CEL-I034")
    found = read_hierarchy(hierarchy)
    if table is not None and column is not None:
        series = _column(table, column, options.ReadOptions(delimiter, encoding, header, decimal))
        code_column(series, Column(column, Role.QUASI_IDENTIFIER, hierarchy=found, missing="value"))
    if found.note is not None:
        console.note(f"{hierarchy}: {found.note}")
    if not as_json:
        console.note(say("cli.hierarchy.levels_consistent_end_one"))
        if column is not None:
            console.note(say("cli.hierarchy.every_value_column_has", column=column))
    _show(found, None, None, as_json=as_json)


def _show(
    hierarchy: Hierarchy, rule: dict[str, Any] | None, output: Path | None, *, as_json: bool
) -> None:
    from dataclasses import asdict

    from celosia.tables.hierarchies import summary

    levels = summary(hierarchy)
    if as_json:
        console.show_json(
            {
                "leaves": len(hierarchy.leaves),
                "levels": [asdict(level) for level in levels],
                "rule": rule,
                "output": None if output is None else str(output),
            }
        )
        return
    console.show_table(
        say("cli.hierarchy.levels_from_raw_value"),
        [
            say("cli.column.level"),
            say("cli.column.labels"),
            say("cli.column.fewest_leaves_under_one"),
            say("cli.column.most"),
        ],
        [
            [
                str(level.level),
                console.number(level.labels, ","),
                console.number(level.smallest, ","),
                console.number(level.largest, ","),
            ]
            for level in levels
        ],
    )
    if rule is not None:
        values = ("order", "tree")  # as long as the column, and not for the eyes of everybody
        settings = ", ".join(f"{key} = {rule[key]}" for key in rule if key not in values)
        console.note(say("cli.hierarchy.rule", settings=settings))
    if output is not None:
        console.show(say("cli.hierarchy.hierarchy", output=output))
    console.show(
        say(
            "cli.hierarchy.leaves_levels",
            number_of_leaves=len(hierarchy.leaves),
            levels=hierarchy.levels,
        ),
        strong=True,
    )


def _chosen(rule: Builder, values: Any) -> dict[str, Any]:
    """The rule that was used: for an automatic one, what it chose."""
    from celosia.tables.hierarchies import Automatic, propose

    return (propose(values) if isinstance(rule, Automatic) else rule).as_table()


def _column(table: Path, column: str, reading: options.ReadOptions) -> Any:
    from celosia.core.wording import did_you_mean
    from celosia.frames import read

    frame = read(table, **reading.as_arguments())
    if column not in frame.columns:
        raise InputError(
            "CEL-I035",
            table=table,
            column=column,
            hint=did_you_mean(column, frame.columns),
            columns=frame.columns,
        )
    return frame[column]


def _rule(kind: str, **settings: Any) -> Builder:
    from celosia.tables.hierarchies import Hierarchy, from_table

    given = {name: value for name, value in settings.items() if value is not None}
    try:
        rule = from_table({"kind": kind, **given}, folder=Path())
    except InputError as error:
        if error.code == "CEL-H062":  # told in the words of a schema file
            raise _misplaced(kind, given, settings) from error
        raise
    assert not isinstance(rule, Hierarchy)  # only a file gives one
    return rule


def _misplaced(kind: str, given: dict[str, Any], settings: dict[str, Any]) -> InputError:
    """The error about options that belong to another kind of hierarchy."""
    from dataclasses import fields

    from celosia.tables.hierarchies.notation import KINDS

    known = {field.name for field in fields(KINDS[kind])}
    strange = ", ".join(_flag(name) for name in given if name not in known)
    usual = ", ".join(_flag(name) for name in settings if name in known)
    return InputError(
        "CEL-H062.misplaced", kind=kind, strange=strange, usual=usual or Message("cli.no_options")
    )


def _flag(setting: str) -> str:
    """The option that gives a setting of a hierarchy."""
    return "--groups" if setting == "tree" else f"--{setting.replace('_', '-')}"


def _words(text: str | None) -> list[str] | None:
    return None if text is None else [word.strip() for word in text.split(",")]


def _numbers(text: str | None) -> list[float] | None:
    if text is None:
        return None
    try:
        return [
            int(word) if word.lstrip("-").isdigit() else float(word) for word in _words(text) or ()
        ]
    except ValueError as error:
        raise InputError("CEL-I036.option", text=text) from error


def _groups(path: Path | None) -> Any:
    if path is None:
        return None
    import tomllib

    try:
        return tomllib.loads(path.read_text("utf-8"))["groups"]
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, KeyError) as error:
        raise InputError("CEL-I037", path=path) from error
