"""`celosia datasets`: data to start with."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from celosia.cli import console, options

app = typer.Typer(help="Data to start with, generated or loaded; nothing is downloaded.")


@app.callback(invoke_without_command=True)
def overview(context: typer.Context, as_json: options.AsJson = False) -> None:
    """List the data sets.

    **Examples**

    `celosia datasets`

    `celosia datasets get census -o census.csv --schema census.toml`

    `celosia datasets get census --rows 1000000 --seed 7 -o big.parquet`
    """
    if context.invoked_subcommand is not None:
        return
    from dataclasses import asdict

    from celosia import datasets

    known = datasets.catalogue()
    if as_json:
        console.show_json([asdict(entry) for entry in known])
        return
    for entry in known:
        console.show(f"[bold]{entry.name}[/]  {entry.title}")
        console.show(f"    {entry.rows:,} rows, {len(entry.columns)} columns; {entry.source}")
        console.show(f"    in Python: {entry.load}")
    console.note("Write one to a file: celosia datasets get NAME -o FILE")


@app.command()
def get(
    name: Annotated[str, typer.Argument(help="A name that `celosia datasets` lists.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Where to write the table.")],
    schema: Annotated[
        Path | None, typer.Option(help="Also write its schema with all hierarchies (TOML).")
    ] = None,
    rows: Annotated[int | None, typer.Option(help="How many rows to generate.")] = None,
    seed: Annotated[int | None, typer.Option(help="Another seed gives other rows.")] = None,
    path: Annotated[
        Path | None, typer.Option("--from", help="The file that holds the original rows.")
    ] = None,
    force: options.Force = False,
    as_json: options.AsJson = False,
) -> None:
    """Write a data set to a file.

    **Examples**

    `celosia datasets get census -o census.csv --schema census.toml`

    `celosia datasets get adult --from adult.data -o adult.csv`
    """
    from celosia import datasets, frames
    from celosia.core.files import replacing

    frame = datasets.load(name, rows=rows, seed=seed, path=path)
    with replacing(output, overwrite=force) as draft:
        if schema is not None:
            with replacing(schema, overwrite=force) as paper:
                paper.write_text(datasets.schema_text(), "utf-8")
        frames.write(frame, draft)
    facts = {"rows": frame.height, "columns": frame.columns, "data": str(output)}
    if schema is not None:
        facts["schema"] = str(schema)
    if as_json:
        console.show_json(facts)
    else:
        console.show(f"[bold]{frame.height:,} rows, {frame.width} columns: {output}[/]")
