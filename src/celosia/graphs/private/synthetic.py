"""A graph made from private statistics of another: nothing in it is an edge of that one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

from celosia.core.errors import InputError
from celosia.core.progress import Progress, silent
from celosia.core.randomness import Source
from celosia.core.wording import did_you_mean
from celosia.graphs.graph import Graph
from celosia.graphs.kdegree.realisation import construct_graph
from celosia.graphs.method import Changed, GraphMethod
from celosia.graphs.perturbation.session import Exchanges
from celosia.graphs.private.degree_sequence import DegreeSequence
from celosia.graphs.private.fitting import graphical
from celosia.graphs.private.level import check_graph
from celosia.mechanisms.promises import at_least

Model = Literal["degrees"]

SWITCHES = 10
"""For each edge: after about so many a graph forgets how it was made."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PrivateGraph(GraphMethod[Graph]):
    """A random graph whose degrees are those of the given graph with noise.

    The degrees are released as by `DegreeSequence`, lowered to the nearest that some graph has,
    realised (Havel, Hakimi) in a random order of the vertices, and mixed by random switches. All
    but the first step only look at what was released.

    Guarantee: epsilon-DP with delta 0 for one edge; the number of vertices is public. Names and
    attributes are left out.

    Reference: Hay, Li, Miklau, Jensen 2009; Mahadevan, Krioukov, Fall, Vahdat 2006 (dK-1 graphs).

    >>> from celosia.core.randomness import Seeded
    >>> from celosia.graphs.generators import ring
    >>> made = PrivateGraph(epsilon=2).apply(ring(100), rng=Seeded(1)).graph
    >>> made.order, 80 < made.size < 120
    (100, True)
    """

    epsilon: float
    model: Model = "degrees"

    kind = "private-graph"
    summary = "a new random graph with the noisy degrees of the given one; one edge is hidden"
    randomised = True
    is_private = True

    def __post_init__(self) -> None:
        DegreeSequence(epsilon=self.epsilon)
        if self.model not in get_args(Model):
            hint = did_you_mean(str(self.model), get_args(Model))
            raise InputError(
                "CEL-G306",
                f"a private graph is made from its degrees, got {self.model!r}{hint}.",
                fix="Leave the model out.",
            )

    def apply(  # noqa: D102 - as in GraphMethod
        self, graph: Graph, *, rng: Source, progress: Progress = silent
    ) -> Changed[Graph]:
        released = DegreeSequence(epsilon=self.epsilon).release(check_graph(graph), rng=rng)
        degrees = graphical(released)
        made = construct_graph(degrees[rng.permutation(degrees.size)], rng=rng)
        assert made is not None, "the degrees are those of a graph"
        session = Exchanges(made, "switch")
        if made.size > 1:  # a star or a full graph has no switch, and stays as it is
            count = SWITCHES * made.size
            session.run(count, total=count, rng=rng, progress=progress)
        facts: dict[str, Any] = {
            "vertices": made.order,
            "edges after": made.size,
            "ends lowered": int(released.sum() - degrees.sum()),
            "switches": int(session.tally[0]),
        }
        return Changed(graph=session.result(), facts=facts, kept="the number of vertices")

    def promise(self, graph: Graph) -> str:  # noqa: D102 - as in GraphMethod
        amount = at_least(self.epsilon)
        return f"{amount}-differential privacy for one edge; the number of vertices is public"

    def leaves_open(self) -> tuple[str, ...]:  # noqa: D102 - as in GraphMethod
        return (
            "The promise is for one edge: whoever has many is protected less.",
            "Only degrees are like those of the given graph: triangles and communities are gone.",
        )
