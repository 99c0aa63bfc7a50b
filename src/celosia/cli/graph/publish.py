"""`celosia graph publish`: protect a graph and write it."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from celosia.cli import console, options
from celosia.cli.frame import check_outputs
from celosia.cli.graph import messages, method_options
from celosia.cli.graph.input_options import GraphFile, Rules
from celosia.core.errors import InputError
from celosia.core.messages import say

if TYPE_CHECKING:
    from celosia.graphs.options import GraphPublishOptions
    from celosia.tables.masking import Recipe


def publish(
    rules: Rules,
    graph: GraphFile,
    k_degree: Annotated[
        int | None,
        typer.Option(
            "--k-degree",
            metavar="K",
            help="k-degree anonymity: every degree is shared by at least K vertices.",
        ),
    ] = None,
    methods: method_options.Methods = None,
    attributes: Annotated[
        Path | None,
        typer.Option(help="Recipe that masks vertex attributes. Default: they are not published."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="File for the release; its suffix sets the format."),
    ] = None,
    report: Annotated[
        Path | None, typer.Option(help="Write a report (one HTML file); do not publish it.")
    ] = None,
    key: Annotated[
        Path | None,
        typer.Option(
            help="Write which vertex has which number (CSV). Keep this file secret: it "
            "re-identifies every vertex."
        ),
    ] = None,
    keep_names: Annotated[
        bool, typer.Option("--keep-names", help="Publish the names of the vertices.")
    ] = False,
    drop_edge_attributes: Annotated[
        bool,
        typer.Option(
            "--drop-edge-attributes",
            help="Leave out edge attributes (weights, times): no method protects them.",
        ),
    ] = False,
    no_assess: Annotated[
        bool, typer.Option("--no-assess", help="Do not attack or measure the release.")
    ] = False,
    seed: Annotated[
        int | None,
        typer.Option(help="Seed for the random draws; the release is then only a simulation."),
    ] = None,
    overwrite: options.Overwrite = False,
    as_json: options.AsJson = False,
) -> None:
    """Publish a graph by one or more methods, with random numbers in place of names.

    With several methods, only the guarantee of the last one holds. Vertex attributes are left out
    unless a recipe masks them. A graph with edge attributes is refused unless --drop-edge-
    attributes leaves them out.

    **Examples**

    `celosia graph publish friends.edges --k-degree 10 -o safe.edges --report report.html`

    `celosia graph publish friends.edges --method k-obfuscation:k=20 -o safe.csv`

    `celosia graph publish friends.edges --method random-switch:amount=0.1 --k-degree 5`

    `celosia graph publish friends.edges --method sangreea:k=5 -o groups.json`

    `celosia graph publish friends.graphml --k-degree 5 --attributes recipe.toml -o safe.graphml`

    `celosia graph publish calls.csv --k-degree 5 --drop-edge-attributes -o safe.edges`
    """
    from celosia.core.randomness import source
    from celosia.core.release import certificate_path
    from celosia.graphs.options import GraphPublishOptions
    from celosia.graphs.relabelling import write_key
    from celosia.graphs.run import publish_graph

    places = {
        "release": output,
        "certificate": None if output is None else certificate_path(output),
        "report": report,
        "key": key,
    }
    inputs = (graph, rules.vertices, attributes)
    check_outputs(places, inputs=inputs, overwrite=overwrite)
    asked = GraphPublishOptions(
        methods=method_options.methods_from_options(methods, k_degree=k_degree),
        attributes=None if attributes is None else _recipe(attributes),
        keep_names=keep_names,
        drop_edge_attributes=drop_edge_attributes,
        assess=not no_assess,
        rng=source(seed),
    )
    _check(asked, output, key)
    with console.progress_bar(quiet=as_json) as progress:
        reading = rules.read(graph, progress)
        release = publish_graph(reading, asked, progress=progress)
    with ExitStack() as files:  # the key takes its name only with the release
        if key is not None and release.key is not None:
            files.enter_context(write_key(reading.graph, release.key, key, overwrite=overwrite))
        if output is not None:
            release.save(output, overwrite=overwrite)
    if report is not None:
        release.report(report, overwrite=overwrite)
    if key is not None:
        console.note(say("cli.graph.warning_re_identifies_every", the_key=key))
    messages.show_release(
        release, reading, {"release": output, "report": report, "key": key}, as_json=as_json
    )


def _recipe(path: Path) -> Recipe:
    from celosia.tables.masking.recipe import Recipe  # loads all of masking

    return Recipe.load(path)


def _check(asked: GraphPublishOptions, output: Path | None, key: Path | None) -> None:
    """Refuse, before any work, files that the release could not be written to."""
    from celosia.graphs import GeneralisedGraph, Graph
    from celosia.graphs.readers import format_of
    from celosia.graphs.release import check_ending

    made = asked.makes
    if key is not None and (asked.keep_names or asked.is_private or made is GeneralisedGraph):
        raise InputError("CEL-G026")
    if output is None:
        return
    check_ending(made, output)
    masked = asked.attributes is not None
    if masked and made is Graph and format_of(output) in {"edges", "csv", "tsv", "pajek"}:
        raise InputError("CEL-G014.check", output=output)
