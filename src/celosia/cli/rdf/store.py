"""`celosia rdf info` and `export`: the content of a store."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from celosia.cli import console
from celosia.cli.frame import FileOutputs, JsonOutputs
from celosia.core.messages import say

Store = Annotated[Path, typer.Argument(metavar="STORE", help="The store.", show_default=False)]


def info(
    store: Store,
    outputs: JsonOutputs,
) -> None:
    """Show the counts of a store: exact, and for the curator only.

    **Examples**

    `celosia rdf info people.graph`

    `celosia rdf info people.graph --json`
    """
    from celosia.queries.rdf.store import GraphStore

    with GraphStore.open(store) as graph:
        if outputs.as_json:
            console.show_json(graph.as_dict())
            return
        console.show_table(
            say("cli.policy.predicates"),
            console.columns(
                "address", "facts:,", "subjects:,", "objects:,", "most_subject:,", "most_object:,"
            ),
            [
                [
                    each.predicate,
                    each.facts,
                    each.subjects,
                    each.objects,
                    each.most_of_subject,
                    each.most_of_object,
                ]
                for each in graph.predicates()
            ],
        )
        if graphs := graph.graphs():
            console.show_table(
                say("cli.rdf.named_graphs"), console.columns("address", "facts:,"), graphs.items()
            )
        console.show(
            say("cli.rdf.from_loaded", sources=", ".join(graph.sources), loaded=graph.loaded)
        )
        console.note(say("cli.rdf.these_figures_exact_private"))
        console.show(str(graph), strong=True)


def export(
    store: Store,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The N-Triples file.", show_default=False)
    ],
    outputs: FileOutputs,
) -> None:
    """Write all facts of a store as N-Triples, without protection.

    **Examples**

    `celosia rdf export people.graph -o people.nt`
    """
    from celosia.queries.rdf.store import GraphStore

    outputs.check(inputs=[store], export=output)
    with GraphStore.open(store) as graph, outputs.working(None) as progress:
        facts = graph.export(output, overwrite=outputs.overwrite, progress=progress)
    if outputs.as_json:
        console.show_json({"output": str(output), "triples": facts})
        return
    console.note(say("cli.rdf.file_as_private_as"))
    console.show(say("cli.rdf.facts", facts=facts, output=output), strong=True)
