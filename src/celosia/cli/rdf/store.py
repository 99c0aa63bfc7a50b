"""`celosia rdf info` and `export`: the content of a store."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from celosia.cli import console
from celosia.cli.frame import FileOutputs, JsonOutputs
from celosia.core.messages import say

if TYPE_CHECKING:
    from celosia.queries.rdf.store import GraphStore

Store = Annotated[Path, "argument STORE", "The store."]


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
        exact = say("cli.rdf.these_figures_exact_private")
        outputs.show(graph.as_dict, lambda: _show(graph), graph, note=exact)


def _show(graph: GraphStore) -> None:
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
    console.show(say("cli.rdf.from_loaded", sources=", ".join(graph.sources), loaded=graph.loaded))


def export(
    store: Store,
    output: Annotated[Path, "--output -o", "The N-Triples file."],
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
    outputs.show(
        lambda: {"output": str(output), "triples": facts},
        None,
        say("cli.rdf.facts", facts=facts, output=output),
        note=say("cli.rdf.file_as_private_as"),
    )
