"""Options that several commands share, and their translation to values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from celosia.cli import console
from celosia.core.errors import InputError
from celosia.core.messages import Message, say

if TYPE_CHECKING:
    from celosia.tables import Role, Schema

Input = Annotated[Path, typer.Argument(help="The table: CSV, Parquet, Arrow, JSON lines or Excel.")]
SchemaFile = Annotated[
    Path | None, typer.Option("--schema", "-s", help="Roles and hierarchies of the columns (TOML).")
]
QuasiIdentifiers = Annotated[
    list[str] | None,
    typer.Option(
        "--quasi-identifier",
        "-q",
        metavar="COLUMN",
        help="A quasi-identifier, instead of a schema; may be repeated.",
    ),
]
Sensitive = Annotated[
    list[str] | None,
    typer.Option(metavar="COLUMN", help="With -q: a sensitive column, released unchanged."),
]
Identifiers = Annotated[
    list[str] | None,
    typer.Option("--identifier", metavar="COLUMN", help="With -q: an identifier, never released."),
]
OtherColumns = Annotated[
    str | None,
    typer.Option(
        "--other-columns",
        metavar="ROLE",
        help="With -q: the role of all other columns (insensitive or identifier).",
    ),
]
Population = Annotated[
    Path | None,
    typer.Option(help="The population table, of which this table is a sample."),
]
SamplingFraction = Annotated[
    float | None,
    typer.Option(help="Share of the population that is in the table, such as 0.1."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Overwrite files that exist.")]
Delimiter = Annotated[
    str | None, typer.Option(help="Field separator of a CSV file; detected by default.")
]
Encoding = Annotated[str | None, typer.Option(help="Encoding of a text file; detected by default.")]
Header = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header", help="Whether a CSV file has column names; detected by default."
    ),
]
Decimal = Annotated[
    str | None,
    typer.Option(
        metavar="MARK", help="Decimal mark of a CSV file, '.' or ','; detected by default."
    ),
]


OUTPUTS = {
    "release": "cli.output.release",
    "certificate": "cli.output.certificate",
    "report": "cli.output.report",
    "answer": "cli.output.answer",
    "key": "cli.output.key",
    "drawing": "cli.output.drawing",
    "candidates": "cli.output.candidates",
    "network": "cli.output.network",
    "people": "cli.output.people",
    "schema": "cli.output.schema",
    "table": "cli.output.table",
    "its_schema": "cli.output.its_schema",
    "export": "cli.output.export",
    "cells": "cli.output.cells",
    "estimates": "cli.output.estimates",
    "reports": "cli.output.reports",
    "draft": "cli.output.draft",
    "risks": "cli.output.risks",
    "plot": "cli.output.plot",
    "store": "cli.output.store",
    "token": "cli.output.token",
}
"""The files that commands write, and how messages call each."""


def _called(output: str) -> str:
    return Message(OUTPUTS[output]) if output in OUTPUTS else output


def check_outputs(
    places: Mapping[str, Path | None],
    *,
    inputs: Iterable[Path | None] = (),
    overwrite: bool,
) -> None:
    """Refuse, before any work, results that could not be written, or that would cost another file.

    Args:
        places: where each result goes, by its name in `OUTPUTS`, or a message.
        inputs: what is read, and must not be lost.
        overwrite: whether other files that exist may be replaced.
    """
    from celosia.core.files import check_writable

    read = {path.resolve() for path in inputs if path is not None}
    taken: dict[Path, str] = {}
    for name, path in places.items():
        if path is None:
            continue
        if path.resolve() in read:
            raise InputError("CEL-I007.output", output=_called(name), path=str(path))
        check_writable(path, overwrite=overwrite)
        other = taken.setdefault(path.resolve(), name)
        if other != name:
            raise InputError(
                "CEL-I043",
                other=_called(other),
                output=_called(name),
                path=str(path),
            )


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How to read a table from a file."""

    delimiter: str | None = None
    encoding: str | None = None
    header: bool | None = None
    decimal: str | None = None

    def as_arguments(self) -> dict[str, Any]:
        """Keyword arguments for `frames.read`."""
        given = {
            "delimiter": self.delimiter,
            "encoding": self.encoding,
            "header": self.header,
            "decimal": self.decimal,
        }
        return {name: value for name, value in given.items() if value is not None}


def write_text(path: Path, text: str, overwrite: bool) -> None:
    """Write a text file, whole or not at all."""
    from celosia.core.files import replacing

    with replacing(path, overwrite=overwrite) as draft:
        draft.write_text(text, "utf-8")


def share(text: str, *, option: str) -> float:
    """A share written as 0.05 or 5%.

    >>> share("5%", option="--suppression"), share("0.05", option="--suppression")
    (0.05, 0.05)
    """
    from decimal import Decimal

    try:
        number = Decimal(text.strip().removesuffix("%"))
        value = float(number / 100 if text.strip().endswith("%") else number)
    except (ArithmeticError, ValueError):  # no number, or a signalling NaN
        value = -1.0
    if not 0 <= value <= 1:  # also refuses NaN
        raise InputError("CEL-I030", option=option, text=text)
    return value


def value(text: str) -> Any:
    """A value as a TOML file would have it: numbers, truth and lists; anything else is a text.

    >>> value("5"), value("[1, 2]"), value("fixed")
    (5, [1, 2], 'fixed')
    """
    import tomllib

    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text.strip()


def schema_from(
    schema: Path | None,
    quasi_identifiers: list[str] | None,
    *,
    identifiers: list[str] | None = None,
    sensitive: list[str] | None = None,
    other_columns: str | None = None,
) -> Schema:
    """The schema file, or a schema made of the column names given as options."""
    from celosia.tables import Schema

    if schema is not None:
        if quasi_identifiers or identifiers or sensitive or other_columns is not None:
            raise InputError("CEL-I031")
        return _show_notes(Schema.load(schema))
    if not quasi_identifiers:
        raise InputError("CEL-I032")
    return Schema.of(
        quasi_identifiers=quasi_identifiers,
        identifiers=identifiers or (),
        sensitive=sensitive or (),
        other_columns=None if other_columns is None else _role(other_columns),
    )


def _show_notes(schema: Schema) -> Schema:
    """The same schema, after what there is to say of the files of its hierarchies."""
    from celosia.tables.hierarchies import Hierarchy

    for column in schema.columns:
        if isinstance(column.hierarchy, Hierarchy) and column.hierarchy.note is not None:
            console.note(
                say("cli.options.hierarchy_column", name=column.name, note=column.hierarchy.note)
            )
    return schema


def _role(name: str) -> Role:
    from celosia.core.wording import did_you_mean
    from celosia.tables import Role

    if name not in [*Role]:
        raise InputError(
            "CEL-S007.role", role=", ".join(Role), name=name, hint=did_you_mean(name, Role)
        )
    return Role(name)
