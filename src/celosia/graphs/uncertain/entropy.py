"""The entropy check: how well a vertex hides from an attacker who knows its degree."""

from __future__ import annotations

from dataclasses import dataclass
from math import log2
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.core.errors import InputError
from celosia.core.messages import say
from celosia.core.numbers import exact, whole
from celosia.graphs.graph import Graph
from celosia.graphs.uncertain.degrees import incident_chances
from celosia.graphs.uncertain.graph import UncertainGraph

UNLIKELY = 1e-9
"""A degree that fewer vertices than this are expected to have hides no vertex: its entropy is 0."""

SLACK = 1e-9
"""Entropies this close to log2 k are taken as equal: they are sums of rounded numbers."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Obfuscation:
    """The vertices that are hidden among k, and those that are not."""

    k: int
    entropies: NDArray[np.float64]
    """For each vertex, the bits that are left to find who has its degree of the original."""
    failing: NDArray[np.int64]
    """The vertices whose entropy is below log2 k."""

    @property
    def share(self) -> float:
        """The share of vertices that are not hidden: the least tolerance that is met."""
        return self.failing.size / max(self.entropies.size, 1)

    def holds(self, tolerance: float) -> bool:
        """Whether the graph is (k, tolerance)-obfuscated."""
        limit = exact(tolerance)
        return limit is not None and self.failing.size <= limit * self.entropies.size

    def as_dict(self) -> dict[str, Any]:
        """The counts as plain values, without vertices."""
        return {
            "k": self.k,
            "vertices": int(self.entropies.size),
            "failing": int(self.failing.size),
            "share": self.share,
            "least entropy": float(self.entropies.min(initial=np.inf)),
        }

    def __str__(self) -> str:
        failing, percent = int(self.failing.size), 100 * self.share
        return say("graphs.graph.hidden", failing=failing, k=self.k, percent=percent)


def obfuscation(uncertain: UncertainGraph, original: Graph, *, k: int) -> Obfuscation:
    """Check (k, epsilon)-obfuscation of the degree.

    An attacker who knows that a person has degree d in the original believes the person is vertex v
    with the chance Y(v) in proportion to that of v to have degree d; the entropy of Y says among
    how many they hide. It depends on the degree alone, so it is computed once for each that occurs.

    Degrees are convolved exactly, but for chances below 1e-24. Where the variance of a degree is
    above 225, as that of hubs with 900 coins, a normal curve with Edgeworth's correction for
    skewness and kurtosis takes over: each chance is within 1e-6, the total variation below 3e-5.
    A degree that fewer than 1e-9 vertices are expected to have counts as hiding no vertex.

    Raises:
        InputError: CEL-G201 the two graphs have different vertices, or k is no number of them.

    Reference: Boldi, Bonchi, Gionis, Tassa 2012, definition 2.
    """
    check_k(k, original.order)
    if uncertain.order != original.order:
        raise InputError("CEL-G201.other_graph", uncertain=uncertain.order, original=original.order)
    by_degree = degree_entropies(uncertain, original.degrees)
    entropies = by_degree[original.degrees]
    failing = np.flatnonzero(entropies < log2(k) - SLACK)
    return Obfuscation(k=k, entropies=entropies, failing=failing)


def degree_entropies(uncertain: UncertainGraph, degrees: NDArray[np.int64]) -> NDArray[np.float64]:
    """The entropy of the vertex for each degree that occurs; NaN for the others."""
    from celosia.graphs.uncertain._kernels import entropy_terms

    wanted = np.zeros(int(degrees.max(initial=0)) + 1, dtype=np.bool_)
    wanted[degrees] = True
    total, terms = np.zeros(wanted.size), np.zeros(wanted.size)
    if uncertain.order:
        starts, chances = incident_chances(uncertain)
        entropy_terms(starts, chances, wanted, total, terms, (0, uncertain.order))
    found = np.full(wanted.size, np.nan)
    found[wanted] = 0.0
    likely = wanted & (total > UNLIKELY)
    # H(Y) of Y = X / S is log2 S - (sum of X log2 X) / S.
    found[likely] = np.maximum(np.log2(total[likely]) - terms[likely] / total[likely], 0.0)
    return found


def check_k(k: object, order: int) -> None:
    """Refuse a k that no graph of `order` vertices can reach.

    Raises:
        InputError: CEL-G201 otherwise.
    """
    number = whole(k)
    if number is None or not 1 <= number <= max(order, 1):
        raise InputError("CEL-G201.no_k", order=order, k=k)
