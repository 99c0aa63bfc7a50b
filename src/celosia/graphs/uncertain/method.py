"""k-obfuscation: the least noise on edge probabilities that hides enough vertices."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, sqrt

from celosia.core.errors import PrivacyError
from celosia.core.messages import Message
from celosia.core.methods import parameter
from celosia.core.numbers import exact
from celosia.core.progress import Progress, Step, silent
from celosia.core.randomness import Source
from celosia.graphs.graph import Graph
from celosia.graphs.method import GraphMethod, MethodResult
from celosia.graphs.sampling import pairs_of
from celosia.graphs.uncertain.candidates import UncertainGraphSampler
from celosia.graphs.uncertain.entropy import Obfuscation, check_k, obfuscation, recounted_failures
from celosia.graphs.uncertain.graph import UncertainGraph

WIDEST = 1024.0
"""Noise this wide is uniform on 0 .. 1 for all that matters: more changes nothing."""

NARROWEST = 2.0**-10
"""Noise of a thousandth: below it the uniform amounts do all the work."""

CLOSE = 1.2
"""The search ends when a width works and one this many times smaller does not."""

_AGAIN = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class KObfuscation(GraphMethod[UncertainGraph]):
    """Publish chances of edges, with the least noise that hides all but a few vertices.

    Pairs are drawn around vertices whose degree stands out, and the chances of these pairs and of
    the edges move away from 0 and 1. A search finds the least width of that noise; each try is
    judged by the entropy check, and what is published by a second one written apart. The first try
    that holds is taken; where one fails by more than tries differ, the others are spared.

    Guarantee: all but a share `tolerance` of the vertices are hidden among k in this sense:
    an attacker who knows only the degree of a vertex in the original graph is left with at least
    log2 k bits of doubt about which vertex of the release it is. It is no differential privacy.

    Reference: Boldi, Bonchi, Gionis, Tassa 2012.
    """

    k: int = parameter(least=2, start=3)
    """Among how many each vertex hides, measured by entropy."""
    tolerance: float = parameter(0.01, least=0, below=1, start=0.1)
    """The share of vertices that may stay exposed (epsilon in the paper)."""
    c: float = parameter(2.0, least=1, most=100)
    """How many pairs get a chance, for each edge of the graph."""
    q: float = parameter(0.01, least=0, most=1)
    """The share of these pairs whose chance moves by a uniform amount."""
    trials: int = parameter(5, least=1, most=1000)
    """How often each width of noise is tried."""

    method_name = "k-obfuscation"
    randomised = True
    gaps = (
        Message("graphs.open.rare_degrees"),
        Message("graphs.open.likely_edges"),
        Message("graphs.open.average_entropy"),
        Message("graphs.open.no_attributes"),
    )
    needs_original = True

    def apply(
        self, graph: Graph, *, rng: Source, progress: Progress = silent
    ) -> MethodResult[UncertainGraph]:
        check_k(self.k, graph.order)
        tolerance = _exact(self.tolerance)
        drawing = UncertainGraphSampler(
            graph=graph,
            spared=ceil(tolerance * graph.order / 2),
            target=min(floor(_exact(self.c) * graph.size), pairs_of(graph.order)),
            uniform=self.q,
        )
        search = _Search(self, drawing, rng, progress)
        width, made, check = search.least()
        made = drawing.in_order(made)
        for _ in range(_AGAIN):
            recounted = recounted_failures(made, graph, k=self.k).size
            if recounted <= tolerance * graph.order:
                break
            width, made, check = search.from_width(width * CLOSE)  # the two disagree by a hair
            made = drawing.in_order(made)
        else:
            raise _out_of_reach(self)
        facts = {
            Message("graphs.fact.vertices"): graph.order,
            Message("graphs.fact.edges_before"): graph.size,
            Message("graphs.fact.pairs_with_chance"): made.size,
            Message("graphs.fact.edges_expected"): made.expected_edges,
            Message("graphs.fact.noise_width"): width,
            Message("graphs.fact.widths_tried"): search.widths,
            Message("graphs.fact.graphs_drawn"): search.drawn,
            "k": self.k,
            Message("graphs.fact.exposed"): int(check.failing.size),
            Message("graphs.fact.share_exposed"): check.share,
            Message("graphs.fact.recounted"): int(recounted),
        }
        return MethodResult(graph=made, facts=facts, kept=Message("graphs.kept.vertices"))

    def promise(self, graph: Graph) -> str | None:
        exposed = floor(_exact(self.tolerance) * graph.order)
        return Message("graphs.promise.k_obfuscation", exposed=exposed, order=graph.order, k=self.k)


class _Search:
    """Widths of noise tried so far, and how."""

    def __init__(
        self, method: KObfuscation, drawing: UncertainGraphSampler, rng: Source, progress: Progress
    ):
        self.method, self.drawing, self.rng, self.progress = method, drawing, rng, progress
        self.widths = self.drawn = 0

    def least(self) -> tuple[float, UncertainGraph, Obfuscation]:
        """The least width that works, within `CLOSE`, and what it made."""
        best = self.from_width(1.0)
        lower = best[0] / 2 if best[0] > 1 else 0.0
        while best[0] > max(NARROWEST, CLOSE * lower):
            middle = sqrt(lower * best[0]) if lower else best[0] / 4
            found = self._at(middle)
            if found is None:
                lower = middle
            else:
                best = (middle, *found)
        return best

    def from_width(self, width: float) -> tuple[float, UncertainGraph, Obfuscation]:
        """The first width that works among this and its doubles.

        Raises:
            PrivacyError: CEL-G203 none does.
        """
        while width <= WIDEST:
            found = self._at(width)
            if found is not None:
                return width, *found
            width *= 2
        raise _out_of_reach(self.method)

    def _at(self, width: float) -> tuple[UncertainGraph, Obfuscation] | None:
        graph = self.drawing.graph
        allowed = _exact(self.method.tolerance) * graph.order
        self.widths += 1
        for _ in range(self.method.trials):
            self.progress(Step(Message("graphs.stage.least_noise"), self.drawn, None))
            self.drawn += 1
            made = self.drawing.draw(width, self.rng)
            check = obfuscation(made, graph, k=self.method.k)
            if check.failing.size <= allowed:
                return made, check  # its pairs are sorted once the search is over
            if check.failing.size > allowed + 4 * sqrt(allowed) + 10:  # draws differ by less
                break
        return None


def _exact(value: float) -> Fraction:
    number = exact(value)
    assert number is not None, "checked on creation"
    return number


def _out_of_reach(method: KObfuscation) -> PrivacyError:
    return PrivacyError("CEL-G203", tolerance=method.tolerance, k=method.k)
