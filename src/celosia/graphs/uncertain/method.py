"""k-obfuscation: the least noise on edge probabilities that hides enough vertices."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, pi, sqrt

import numpy as np
from numpy.typing import NDArray

from celosia.core.errors import PrivacyError
from celosia.core.messages import Message
from celosia.core.methods import parameter
from celosia.core.numbers import exactly
from celosia.core.progress import Progress, Step, silent
from celosia.core.randomness import Source
from celosia.graphs.graph import Graph
from celosia.graphs.method import GraphMethod, MethodResult
from celosia.graphs.sampling import among, pairs_of
from celosia.graphs.uncertain.entropy import Obfuscation, check_k, obfuscation, recounted_failures
from celosia.graphs.uncertain.graph import GRID, UncertainGraph

PATIENCE = 50
"""So many draws for each pair wanted; then the pairs found so far are taken."""

_GUIDE = 1 << 14
"""Equal shares of all weights that are looked up: a draw then tries one or two classes."""

_FEW = 1000
"""Pairs that are drawn at least at once."""


def uniqueness(degrees: NDArray[np.int64], sigma: float) -> NDArray[np.float64]:
    """How much the degree of each vertex stands out, seen through a blur of width `sigma`.

    The inverse of the sum, over all vertices, of the normal density of the difference in degree.

    >>> uniqueness(np.array([1, 1, 9]), 0.1).round(3).tolist()
    [0.125, 0.125, 0.251]

    Reference: Boldi, Bonchi, Gionis, Tassa 2012, definition 3.
    """
    values, place, counts = np.unique(degrees, return_inverse=True, return_counts=True)
    # Degrees are below 2**31, and their differences floats: no overflow.
    apart = (values[:, None] - values[None, :]) / sigma
    density = np.exp(-0.5 * apart**2) / (sigma * sqrt(2 * pi))
    return np.asarray(1.0 / (density @ counts))[place]


@dataclass(frozen=True, eq=False, kw_only=True)
class UncertainGraphSampler:
    """One graph, and how uncertain versions of it are drawn."""

    graph: Graph
    spared: int
    """How many of the vertices that stand out most get no new pairs: they are given up."""
    target: int
    """How many pairs shall have a chance."""
    uniform: float
    """The share of pairs whose chance is moved by a uniform amount."""

    def draw(self, sigma: float, rng: Source) -> UncertainGraph:
        """One uncertain graph; `sigma` is the mean width of the noise."""
        from celosia.graphs.uncertain._kernels import blur, weigh

        stands_out = uniqueness(self.graph.degrees, sigma)
        keys, real = self._pairs(stands_out, rng)
        pairs = np.empty((keys.size, 2), dtype=np.int32)
        mean = weigh(keys, stands_out, pairs)
        steps = np.empty(keys.size, dtype=np.int64)
        words = rng.words(keys.size)
        kept = blur(pairs, real, words, stands_out, sigma / mean, self.uniform, GRID, steps)
        pairs, steps = pairs[:kept], steps[:kept]
        pairs.flags.writeable = steps.flags.writeable = False
        order, labels = self.graph.order, self.graph.labels
        return UncertainGraph(order=order, pairs=pairs, steps=steps, labels=labels)

    def _pairs(
        self, stands_out: NDArray[np.float64], rng: Source
    ) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """The candidates in order, and which of them are edges.

        They start as the edges. A drawn pair that is an edge is taken out, any other is put in, and
        a pair that was drawn before is left alone, until there are as many as wanted.
        """
        from celosia.graphs.uncertain import _kernels as kernels

        graph = self.graph
        more = self.target - graph.size
        chosen = np.argsort(-stands_out, kind="stable")[self.spared :].astype(np.int32)
        drawn = np.empty(0, dtype=np.int64)
        if more > 0 and chosen.size > 1:
            classes = weight_classes(stands_out[chosen])
            missing, left, ahead = more, PATIENCE * more + 64, _FEW
            while missing > 0 and left > 0 and drawn.size <= graph.size + 2 * more:
                some = min(left, max(missing, ahead))
                left -= some
                fresh = np.empty(some, dtype=np.int64)
                kernels.draw_keys(rng.words(2 * some), chosen, classes, graph.order, fresh)
                if some > missing:  # as many as are missing can all be used
                    fresh = _first_enough(fresh, drawn, graph.keys, missing)
                fresh.sort()
                drawn, before = kernels.unite(drawn, fresh), missing
                missing = more - drawn.size + 2 * kernels.count_common(drawn, graph.keys)
                if 2 * missing > before:  # hardly any pair is left that was not drawn
                    ahead = 2 * some
        found: tuple[NDArray[np.int64], NDArray[np.bool_]] = kernels.toggle(graph.keys, drawn)
        return found


def weight_classes(
    weights: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]:
    """Runs of equal weights, as the kernel `pick` takes them."""
    first = np.concatenate([[0], np.flatnonzero(np.diff(weights)) + 1, [weights.size]])
    ends = np.concatenate([[0.0], np.cumsum(weights[first[:-1]] * np.diff(first))])
    ends /= ends[-1]
    ends[-1] = 1.0
    guide = np.searchsorted(ends, np.arange(_GUIDE) / _GUIDE, side="right") - 1
    return ends, first, guide


def _first_enough(
    fresh: NDArray[np.int64], drawn: NDArray[np.int64], edges: NDArray[np.int64], missing: int
) -> NDArray[np.int64]:
    """The first of the pairs, as they were drawn, that put in `missing` more than they take out."""
    values, first = np.unique(fresh, return_index=True)
    new = (values >= 0) & ~among(drawn, values)
    values, first = values[new], first[new]
    in_turn = np.argsort(first)
    gained = np.cumsum(np.where(among(edges, values[in_turn]), -1, 1))
    enough = np.flatnonzero(gained == missing)
    return np.asarray(values[in_turn][: enough[0] + 1] if enough.size else values)


WIDEST = 1024.0
"""Noise this wide is uniform on 0 .. 1 for all that matters: more changes nothing."""

NARROWEST = 2.0**-10
"""Noise of a thousandth: below it the uniform amounts do all the work."""

_FIRST = 2.0**-5
"""The first width that is tried: halfway, in doublings, between the narrowest and 1."""

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
        for _ in range(_AGAIN):
            recounted = recounted_failures(made, graph, k=self.k).size
            if recounted <= tolerance * graph.order:
                break
            width, made, check = search.from_width(width * CLOSE)  # the two disagree by a hair
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
        first = self._at(_FIRST)
        if first is None:
            best = self.from_width(1.0)
            lower = best[0] / 2 if best[0] > 1 else _FIRST
        else:
            best, lower = (_FIRST, *first), 0.0
        while best[0] > max(NARROWEST, CLOSE * lower):
            middle = sqrt(lower * best[0]) if lower else NARROWEST
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
                return made, check
            if check.failing.size > allowed + 4 * sqrt(allowed) + 10:  # draws differ by less
                break
        return None


def _exact(value: float) -> Fraction:
    return exactly(value)


def _out_of_reach(method: KObfuscation) -> PrivacyError:
    return PrivacyError("CEL-G203", tolerance=method.tolerance, k=method.k)
