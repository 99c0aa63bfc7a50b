"""`celosia datasets`: data to start with."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from celosia.cli import console
from celosia.cli.frame import FileOutputs, JsonOutputs, check_outputs
from celosia.core.errors import InputError
from celosia.core.messages import Message, say, say_of

if TYPE_CHECKING:
    from celosia.datasets import Dataset
    from celosia.datasets.shop import Shop
    from celosia.datasets.watdiv import ShopGraph

app = typer.Typer()

CITY = "city"
"""Points of people for `celosia trace`, with their declaration in the place of a schema."""
WITH_SCHEMA = ("census", "adult", CITY, "published-patients")
NETWORK = "network"
"""A graph of people for `celosia graph`, in a file."""
NOTES = "notes"
"""Invented clinical notes for `celosia text`, in a folder."""
BASKETS = "baskets"
"""Transactions for `celosia log publish --sets`, one a line."""
SHOP, GRAPH = "tpch", "watdiv"
"""Tables, and facts, in a folder with a policy, rather than one table in a file."""
CLINIC = "clinic"
"""Two tables of persons and visits, and how they hang together, in a folder."""
FACTS_OF_SCALE = 1_000_000
"""What the scale 1 means for a graph."""


@app.callback(invoke_without_command=True)
def overview(
    context: typer.Context,
    outputs: JsonOutputs,
) -> None:
    """List the sample data, generated or loaded; nothing is downloaded.

    **Examples**

    `celosia datasets`

    `celosia datasets get census -o census.csv --schema census.toml`

    `celosia datasets get census --rows 1000000 --seed 7 -o big.parquet`

    `celosia datasets get tpch --scale 0.01 -o shop`  (a shop with a policy, for private SQL)

    `celosia datasets get watdiv --triples 100000 -o graph`  (the same for private SPARQL)

    `celosia datasets get network -o friends.edges --people people.csv`  (to publish a graph)
    """
    context.obj = outputs.as_json
    if context.invoked_subcommand is not None:
        return
    from celosia import datasets

    known = datasets.catalogue()
    outputs.show(lambda: [asdict(entry) for entry in known], lambda: _show_catalogue(known))


def _show_catalogue(known: Iterable[Dataset]) -> None:
    for entry in known:
        console.show(entry.name, strong=True)
        console.show(f"    {entry.title}")
        console.show(
            say_of("cli.datasets.rows_columns", entry, number_of_columns=len(entry.columns))
        )
        console.show(say("cli.datasets.python", load=entry.load))
    console.note(say("cli.datasets.write_one_file_celosia"))
    console.note(say("cli.datasets.shop_ask_sql_its", shop=SHOP))
    console.note(say("cli.datasets.graph_ask_sparql_its", graph=GRAPH))
    console.note(say("cli.datasets.network_friends_publish_celosia", network=NETWORK))
    console.note(say("texts.cli.notes_note", notes=NOTES))
    console.note(say("cli.datasets.clinic_note", clinic=CLINIC))


@app.command()
def get(
    context: typer.Context,
    name: Annotated[str, "argument", "A name that `celosia datasets` lists."],
    output: Annotated[Path, "--output -o", "Output file; for tpch, watdiv and clinic a folder."],
    outputs: FileOutputs,
    schema: Annotated[Path | None, "Also write its schema with all hierarchies (TOML)."] = None,
    rows: Annotated[int | None, "Number of rows to generate."] = None,
    scale: Annotated[
        float | None,
        "For tpch: 0.001 to 10; 1 means six million lines; 0.01 by default. For watdiv: 0.01 to "
        "10; 1 means a million triples; 0.1 by default.",
    ] = None,
    triples: Annotated[int | None, "For watdiv, instead of --scale: number of triples."] = None,
    vertices: Annotated[int | None, "For network: number of people; 1,000 by default."] = None,
    edges: Annotated[int | None, "For network: number of edges; 5 per person by default."] = None,
    people: Annotated[
        Path | None, "For network and notes: also write a table of the people."
    ] = None,
    hierarchy: Annotated[
        Path | None, "For baskets: also write the hierarchy of the items (CSV)."
    ] = None,
    seed: Annotated[int | None, "Seed of the generator."] = None,
    path: Annotated[Path | None, "--path", "The file that holds the original rows."] = None,
) -> None:
    """Write a data set to a file; tpch and watdiv, shops with a policy, to a folder.

    **Examples**

    `celosia datasets get census -o census.csv --schema census.toml`

    `celosia datasets get published-patients -o patients.csv --schema patients.toml`

    `celosia datasets get adult --path adult.data -o adult.csv`

    `celosia datasets get tpch --scale 0.01 -o shop`

    `celosia datasets get watdiv --triples 1000000 -o graph`

    `celosia datasets get network --vertices 500 -o friends.edges --people people.csv`

    `celosia datasets get notes --rows 200 -o notes --people patients.csv`

    `celosia datasets get clinic --rows 20000 -o clinic`  (for celosia synthesise --tables)

    `celosia datasets get city -o pings.csv --schema trace.toml`

    `celosia datasets get baskets --rows 5000 -o baskets.txt --hierarchy items.csv`
    """
    from celosia import datasets, frames
    from celosia.core.files import replacing
    from celosia.core.progress import Step

    # Also before the name: `celosia datasets --json get`.
    outputs = replace(outputs, as_json=outputs.as_json or context.obj is True)
    if name == NOTES:
        _refuse(name, {"scale": scale, "triples": triples, "path": path, "schema": schema})
        _refuse(name, {"vertices": vertices, "edges": edges})
        _get_notes(output, people, rows, seed, outputs)
        return
    if name == NETWORK:
        _refuse(name, {"rows": rows, "scale": scale, "triples": triples, "path": path})
        places = {"network": output, "people": people, "schema": schema}
        _get_network(places, vertices, edges, seed, outputs)
        return
    _refuse(name, {"vertices": vertices, "edges": edges, "people": people})
    if name == BASKETS:
        _refuse(name, {"scale": scale, "triples": triples, "path": path, "schema": schema})
        _get_baskets(output, hierarchy, rows, seed, outputs)
        return
    _refuse(name, {"hierarchy": hierarchy})
    if name == CLINIC:
        _refuse(name, {"scale": scale, "triples": triples, "path": path, "schema": schema})
        _get_clinic(output, rows, seed, outputs)
        return
    if name in {SHOP, GRAPH}:
        _refuse(name, {"rows": rows, "schema": schema, "path": path})
        if name == GRAPH:
            _get_graph(output, _facts(scale, triples), seed, outputs)
            return
        _refuse(name, {"triples": triples})
        _get_shop(output, scale, seed, outputs)
        return
    _refuse(name, {"scale": scale, "triples": triples})
    outputs.check(table=output, its_schema=schema)
    frames.format_of(output)
    with outputs.working(None) as progress:
        progress(Step(Message("cli.step.making_table"), 0))
        frame = datasets.load(name, rows=rows, seed=seed, path=path)
        if schema is not None and name not in WITH_SCHEMA:
            example = " ".join(f"-q {column}" for column in frame.columns[:2])
            raise InputError("CEL-I039", name=name, example=example)
        progress(Step(Message("cli.step.writing_table"), 0))
        with replacing(output, overwrite=outputs.overwrite) as draft:
            frames.write(frame, draft)
            if schema is not None:
                with replacing(schema, overwrite=outputs.overwrite) as paper:
                    text = (
                        datasets.city_declaration() if name == CITY else datasets.schema_text(name)
                    )
                    paper.write_text(text, "utf-8")
    facts = {"rows": frame.height, "columns": frame.columns, "data": str(output)}
    if schema is not None:
        facts["schema"] = str(schema)
    size = {"height": frame.height, "width": frame.width}
    outputs.show(lambda: facts, None, say("cli.datasets.rows_columns_2", output=output, **size))


def _written(**paths: Path | None) -> dict[str, str]:
    """The files that were wanted, as facts."""
    return {name: str(path) for name, path in paths.items() if path is not None}


def _get_notes(
    folder: Path,
    people: Path | None,
    rows: int | None,
    seed: int | None,
    outputs: FileOutputs,
) -> None:
    """Write invented notes as text files, and what is known of their persons beside them."""
    from celosia import datasets

    outputs.check(people=people)
    made = datasets.notes(200 if rows is None else rows, seed=64 if seed is None else seed)
    made.write(folder)
    if people is not None:
        from celosia.core.files import replacing

        with replacing(people, overwrite=outputs.overwrite) as draft:
            made.facts.write_csv(draft)
    facts = {"documents": len(made.collection), "people": made.collection.persons}
    last = say("texts.cli.notes", output=folder, **facts)
    outputs.show(lambda: facts | {"data": str(folder)}, None, last)


def _get_clinic(folder: Path, rows: int | None, seed: int | None, outputs: FileOutputs) -> None:
    """Write invented persons and their visits as CSV files, and their declaration."""
    from celosia.datasets.clinic import PERSONS, SEED, clinic

    made = clinic(PERSONS if rows is None else rows, seed=SEED if seed is None else seed)
    made.write(folder, overwrite=outputs.overwrite)
    facts = {"persons": made.persons.height, "visits": made.visits.height}
    last = say("cli.datasets.clinic", output=folder, **facts)
    outputs.show(lambda: facts | {"data": str(folder)}, None, last)


def _get_shop(folder: Path, scale: float | None, seed: int | None, outputs: FileOutputs) -> None:
    """Write the tables of a shop as Parquet files, and the policy beside them."""
    from celosia import datasets

    size = 0.01 if scale is None else scale
    with outputs.working(None) as progress:
        if seed is None:
            shop = datasets.tpch(size, progress=progress)
        else:  # the generator of the benchmark takes none
            shop = datasets.tpch(size, seed=seed, maker="celosia", progress=progress)
        policy = shop.save(folder, overwrite=outputs.overwrite, progress=progress)
    _show_policy(shop, policy, folder, outputs)


def _get_graph(folder: Path, triples: int, seed: int | None, outputs: FileOutputs) -> None:
    """Write the facts of a shop as N-Triples and as a store, and the policy beside them."""
    from celosia import datasets

    graph = datasets.watdiv(triples) if seed is None else datasets.watdiv(triples, seed=seed)
    with outputs.working(None) as progress:
        policy = graph.save(folder, overwrite=outputs.overwrite, progress=progress)
    _show_policy(graph, policy, folder, outputs)


def _show_policy(made: Shop | ShopGraph, policy: Path, folder: Path, outputs: FileOutputs) -> None:
    outputs.show(
        lambda: made.as_dict() | {"policy": str(policy)},
        lambda: console.show(say("cli.datasets.policy", policy=policy)),
        f"{made}: {folder}",
    )


def _get_baskets(
    output: Path,
    hierarchy: Path | None,
    rows: int | None,
    seed: int | None,
    outputs: FileOutputs,
) -> None:
    """Write baskets, one a line, with the hierarchy of their items beside them."""
    from celosia.datasets.baskets import SEED, TRANSACTIONS, baskets
    from celosia.tables.hierarchies import write_hierarchy

    outputs.check(release=output, hierarchy=hierarchy)
    made = baskets(TRANSACTIONS if rows is None else rows, seed=SEED if seed is None else seed)
    lines = ("\t".join(items) + "\n" for items in made.transactions.sets())
    outputs.write_text(output, lambda: "".join(lines))
    if hierarchy is not None:
        write_hierarchy(made.hierarchy, hierarchy)
    count = made.transactions.count
    outputs.show(
        lambda: {"transactions": count} | _written(data=output, hierarchy=hierarchy),
        None,
        say("cli.datasets.baskets", count=count, output=output),
        hierarchy=hierarchy,
    )


def _get_network(
    places: dict[str, Path | None],
    vertices: int | None,
    edges: int | None,
    seed: int | None,
    outputs: FileOutputs,
) -> None:
    """Write a network of friends, with a table of the people and its schema beside it."""
    from contextlib import ExitStack

    from celosia.core.files import replacing
    from celosia.core.progress import Step
    from celosia.datasets.friends import SCHEMA, SEED, VERTICES, friends
    from celosia.graphs import write
    from celosia.graphs.readers import format_of

    check_outputs(places, overwrite=outputs.overwrite)
    output, people, schema = places.values()
    assert output is not None, "a required option"
    kind = format_of(output)
    if kind not in {"edges", "csv", "tsv"}:  # it holds them itself
        _refuse(Message("cli.datasets.network_as", name=NETWORK, kind=kind), {"people": people})
    with outputs.working(None) as progress, ExitStack() as files:
        progress(Step(Message("cli.step.making_network"), 0))
        count = VERTICES if vertices is None else vertices
        contacts = 5 * count if edges is None else edges
        graph = friends(count, contacts, seed=SEED if seed is None else seed)
        drafts = {  # all of them take their names, or none
            what: files.enter_context(replacing(path, overwrite=outputs.overwrite))
            for what, path in places.items()
            if path is not None
        }
        # Without a table an edge list has neither attributes nor those who know nobody.
        write(graph, drafts["network"], vertices=drafts.get("people"), partial=True)
        if schema is not None:
            drafts["schema"].write_text(SCHEMA, "utf-8")
    facts = {"vertices": graph.order, "edges": graph.size}

    def lines() -> None:
        if people is not None:
            console.show(say("cli.datasets.people", people=people))
        if schema is not None:
            console.show(say("cli.datasets.schema", schema=schema))

    written = _written(data=output, people=people, schema=schema)
    outputs.show(lambda: facts | written, lines, f"{graph}: {output}")


def _facts(scale: float | None, triples: int | None) -> int:
    """How many facts a graph shall have, said in one of two ways."""
    from math import isfinite

    if scale is not None and triples is not None:
        raise InputError("CEL-D026")
    if triples is not None:
        return triples
    size = 0.1 if scale is None else scale
    return round(size * FACTS_OF_SCALE) if isfinite(size) else 0  # no such size: refused


def _refuse(name: str, given: dict[str, object]) -> None:
    idle = [option for option, value in given.items() if value is not None]
    if idle:
        raise InputError("CEL-D008", name=name, idle=", ".join(idle))
