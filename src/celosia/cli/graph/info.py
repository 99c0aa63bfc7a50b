"""`celosia graph info` and `methods`: describe a graph, and list the methods."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from celosia.cli import console
from celosia.cli.frame import JsonOutputs
from celosia.cli.graph import messages
from celosia.cli.graph.input_options import GraphFile, Rules
from celosia.core.messages import say

if TYPE_CHECKING:
    from celosia.graphs import Graph, Network
    from celosia.graphs.attacks import GraphAttack


def info(
    rules: Rules,
    graph: GraphFile,
    outputs: JsonOutputs,
    seed: Annotated[int | None, "Seed for the samples taken from a large graph."] = None,
) -> None:
    """Describe a graph, and count the vertices that are unique when only names are removed.

    **Examples**

    `celosia graph info friends.edges`

    `celosia graph info friends.graphml --directed mutual --json`
    """
    from celosia.core.randomness import source
    from celosia.graphs import attacks, measure
    from celosia.graphs.release import MOST_NEIGHBOURHOODS

    with outputs.working(None) as progress:
        reading = rules.read(graph, progress)
        read = reading.simple
        found = measure(read, rng=source(seed), progress=progress)
        results = [_by_degree(reading.content), attacks.refinement(read, read, rounds=2)]
        if read.order <= MOST_NEIGHBOURHOODS:
            results.append(attacks.neighbourhood(read, read, progress=progress))
    messages.note_ignored(reading, graph, changes=False)  # the result says how the file was read

    def lines() -> None:
        console.show(say("cli.graph.read", reading=reading))
        messages.show_numbers(say("cli.graph.whole_graph"), found.items())
        messages.show_candidates(results)

    outputs.show(
        lambda: {
            "reading": reading.as_dict(),
            "metrics": found.as_dict(),
            "degree_anonymity": results[0].smallest,
            "candidates": [each.as_dict(limit=0) for each in results],
        },
        lines,
        say(
            "cli.graph.degree_anonymous_unique_degree",
            smallest=results[0].smallest,
            alone=results[0].exposed.size,
            size=results[1].exposed.size,
        ),
    )


def _by_degree(content: Graph | Network) -> GraphAttack:
    """Whom degrees expose when only names are removed; of a network its profiles."""
    from celosia.graphs import Network, attacks
    from celosia.graphs.networks import profile_attack

    if isinstance(content, Network):
        return profile_attack(content, content)
    return attacks.degree(content, content)


def methods(outputs: JsonOutputs) -> None:
    """List the graph methods with their parameters.

    **Examples**

    `celosia graph methods`

    `celosia graph methods --json`
    """
    from celosia.cli.methods import show_methods
    from celosia.graphs.method import makes, takes
    from celosia.graphs.method import methods as known
    from celosia.graphs.networks.network import KINDS

    show_methods(
        outputs,
        known(),
        lambda kind: {"makes": makes(kind).__name__, "takes": takes(kind)},
        lambda kind: say("cli.graph.takes", kinds=[KINDS[one] for one in takes(kind)]),
    )
