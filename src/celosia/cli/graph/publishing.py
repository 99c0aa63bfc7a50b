"""`celosia graph publish`: protect a graph and write it."""

from __future__ import annotations

import warnings
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from celosia.cli import console, options
from celosia.cli.graph import choosing, telling
from celosia.cli.graph.reading import GraphFile, Rules
from celosia.core.errors import InputError

if TYPE_CHECKING:
    from celosia.graphs.method import GraphMethod


def publish(
    rules: Rules,
    graph: GraphFile,
    k_degree: Annotated[
        int | None,
        typer.Option("--k-degree", metavar="K", help="Every degree is that of K vertices."),
    ] = None,
    methods: choosing.Methods = None,
    parameters: choosing.Parameters = None,
    attributes: Annotated[
        Path | None,
        typer.Option(help="How attributes of vertices are masked (a recipe); else they stay here."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Where the release goes; its ending is the format."),
    ] = None,
    report: Annotated[
        Path | None, typer.Option(help="Write a report (one HTML file) for your own eyes.")
    ] = None,
    key: Annotated[
        Path | None,
        typer.Option(help="Write which vertex has which number (CSV). Keep it: it undoes all."),
    ] = None,
    keep_names: Annotated[
        bool, typer.Option("--keep-names", help="Publish the names of the vertices.")
    ] = False,
    drop_edge_attributes: Annotated[
        bool,
        typer.Option(
            "--drop-edge-attributes",
            help="Leave out what is known of the edges (weights, times): no method protects it.",
        ),
    ] = False,
    no_assess: Annotated[
        bool, typer.Option("--no-assess", help="Neither attack nor measure the release.")
    ] = False,
    seed: Annotated[
        int | None, typer.Option(help="Repeat every draw; makes the release a simulation.")
    ] = None,
    overwrite: options.Overwrite = False,
    as_json: options.AsJson = False,
) -> None:
    """Publish a graph under random numbers, after one method or several, and account for it.

    Of several promises only that of the last method stands. Attributes of vertices are left out
    unless a recipe masks them. A graph with edge attributes is refused unless
    --drop-edge-attributes leaves them out.

    **Examples**

    `celosia graph publish friends.edges --k-degree 10 -o safe.edges --report report.html`

    `celosia graph publish friends.edges --method uncertain --set k=20 -o safe.csv --key key.csv`

    `celosia graph publish friends.edges --method random-switch --set amount=0.1 --k-degree 5`

    `celosia graph publish friends.edges --method sangreea --set k=5 -o groups.json`

    `celosia graph publish friends.graphml --k-degree 5 --attributes recipe.toml -o safe.graphml`

    `celosia graph publish calls.csv --k-degree 5 --drop-edge-attributes -o safe.edges`
    """
    from celosia import graphs
    from celosia.core.randomness import source
    from celosia.core.release import certificate_path
    from celosia.graphs.keys import write_key
    from celosia.tables.masking import Recipe

    places = {
        "the release": output,
        "its certificate": None if output is None else certificate_path(output),
        "the report": report,
        "the key": key,
    }
    inputs = (graph, rules.vertices, attributes)
    options.check_output_paths(places, inputs=inputs, overwrite=overwrite)
    wanted = choosing.chosen(methods, parameters, k_degree=k_degree)
    _check(wanted, output, key, masked=attributes is not None, keep_names=keep_names)
    recipe = None if attributes is None else Recipe.load(attributes)
    with console.progress_bar(quiet=as_json) as progress, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the release carries them, and they are shown below
        reading = rules.read(graph, progress)
        release = graphs.publish(
            reading,
            wanted,
            attributes=recipe,
            keep_names=keep_names,
            drop_edge_attributes=drop_edge_attributes,
            assess=not no_assess,
            randomness=source(seed),
            progress=progress,
        )
    with ExitStack() as files:  # the key takes its name only with the release
        if key is not None and release.key is not None:
            files.enter_context(write_key(reading.graph, release.key, key, overwrite=overwrite))
        if output is not None:
            release.save(output, overwrite=overwrite)
    if report is not None:
        release.report(report, overwrite=overwrite)
    if key is not None:
        console.note(f"Warning: {key} undoes the release: it tells who is who. Keep it secret.")
    telling.published(
        release, reading, {"data": output, "report": report, "key": key}, as_json=as_json
    )


def _check(
    methods: tuple[GraphMethod[Any], ...],
    output: Path | None,
    key: Path | None,
    *,
    masked: bool,
    keep_names: bool,
) -> None:
    """Refuse, before any work, files that the release could not be written to."""
    from celosia.graphs import GeneralisedGraph, Graph
    from celosia.graphs.publishing import check_order
    from celosia.graphs.reading import format_of
    from celosia.graphs.registry import makes
    from celosia.graphs.release import check_ending

    check_order(methods, keep_names=keep_names)
    made = makes(type(methods[-1]))
    new = made is GeneralisedGraph or any(method.is_private for method in methods)
    if key is not None and (keep_names or new):
        raise InputError(
            "CEL-G026",
            "there is no key to write.",
            why="Vertices keep their names, or those of the release are nobody: super-vertices, or "
            "a private graph's.",
            fix="Leave --key out.",
        )
    if output is None:
        return
    check_ending(made, output)
    if masked and made is Graph and format_of(output) in {"edges", "csv", "tsv", "pajek"}:
        raise InputError(
            "CEL-G014",
            f"{output}: this format cannot hold attributes of vertices.",
            why="What is read back would be another graph.",
            fix="Choose GraphML or JSON, or leave the recipe out.",
        )
