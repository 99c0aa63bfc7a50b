"""Candidates of each target of an attack: how they are found, and what they come to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.core.errors import InputError
from celosia.core.messages import Message, say, say_of, sentence
from celosia.core.report import Block, Facts, Heading, Paragraph, Table
from celosia.graphs.graph import Graph

BUCKETS = (
    (Message("graphs.attack.no_candidate"), 0, 0),
    ("1", 1, 1),
    ("2-4", 2, 4),
    ("5-10", 5, 10),
    ("11-20", 11, 20),
)
"""Sizes of candidate sets that are counted apart (Hay et al. 2008); above 20 is the last."""

SHOWN = 100
"""How many exposed vertices a dictionary lists."""


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class GraphAttack:
    """The candidates of each target: vertices of the release that look as the target did.

    A target is exposed if it has one candidate and that is the target. One candidate that is
    another vertex misleads the attacker.
    """

    name: str
    assumption: str
    """What the attacker must know."""
    mitigation: str
    """How to prevent it."""
    targets: NDArray[np.int64]
    """The vertices attacked, by their numbers in the original."""
    sizes: NDArray[np.int64]
    """How many candidates each target has."""
    hit: NDArray[np.bool_]
    """Whether the target itself is among its candidates."""
    facts: Mapping[str, int | float | str] = field(default_factory=dict)
    """Figures of this attack alone."""

    @property
    def exposed(self) -> NDArray[np.int64]:
        """The targets that are found for certain, by their numbers in the original."""
        return np.asarray(self.targets[(self.sizes == 1) & self.hit])

    @property
    def share_exposed(self) -> float:
        """The share of the targets that are found for certain."""
        return self.exposed.size / self.targets.size if self.targets.size else 0.0

    @property
    def share_unique(self) -> float:
        """The share of the targets with one candidate, true or not."""
        return float(np.mean(self.sizes == 1)) if self.sizes.size else 0.0

    @property
    def smallest(self) -> int:
        """The least number of candidates of a target; 0 if nothing released looks as it did."""
        return int(self.sizes.min()) if self.sizes.size else 0

    @property
    def chance(self) -> float:
        """The share of targets found by a random choice of one candidate each."""
        if not self.sizes.size:
            return 0.0
        return float(np.mean(np.where(self.hit, 1.0 / np.maximum(self.sizes, 1), 0.0)))

    @property
    def buckets(self) -> dict[str, int]:
        """The number of targets for each number of candidates."""
        counts = {
            name: int(np.count_nonzero((self.sizes >= low) & (self.sizes <= high)))
            for name, low, high in BUCKETS
        }
        return counts | {">20": int(np.count_nonzero(self.sizes > 20))}

    def as_dict(self, *, limit: int = SHOWN) -> dict[str, Any]:
        """Plain values for JSON; exposed vertices by number, no more than `limit`."""
        return {
            "name": self.name,
            "assumption": self.assumption,
            "mitigation": self.mitigation,
            "targets": int(self.targets.size),
            "buckets": self.buckets,
            "smallest": self.smallest,
            "share_unique": self.share_unique,
            "share_exposed": self.share_exposed,
            "chance": self.chance,
            "exposed": self.exposed[:limit].tolist(),
            "facts": dict(self.facts),
        }

    def blocks(self) -> list[Block]:
        """The attack as parts of a report."""
        facts = [(str(name), f"{value}") for name, value in self.facts.items()]
        return [
            Heading(sentence(self.name)[:-1], level=3),
            Paragraph(sentence(str(self))),
            Table(
                [say("graphs.report.candidates"), say("graphs.report.targets")],
                [[str(name), count] for name, count in self.buckets.items()],
                say("graphs.report.candidates_caption"),
            ),
            Facts(
                [
                    (say("graphs.report.attacker"), sentence(self.assumption)),
                    (say("graphs.report.prevent"), sentence(self.mitigation)),
                    *facts,
                ]
            ),
        ]

    def __str__(self) -> str:
        none = int(np.count_nonzero(self.sizes == 0))
        return say_of(
            "graphs.attack.line_none" if none else "graphs.attack.line",
            self,
            none=none,
            exposed=self.exposed.size,
            targets=int(self.targets.size),
            share=self.share_exposed,
        )

    def __repr__(self) -> str:
        return f"GraphAttack({self})"


Numbers = NDArray[np.int64]


def classes(*signatures: NDArray[np.integer]) -> tuple[Numbers, ...]:
    """Small numbers for signatures of two or more graphs: equal ones for equal rows.

    >>> [each.tolist() for each in classes(np.array([7, 9]), np.array([9, 9, 7]))]
    [[0, 1], [1, 1, 0]]
    """
    sizes = np.cumsum([len(each) for each in signatures])[:-1]
    rows = np.concatenate(signatures)
    if rows.ndim == 2:
        order = np.lexsort(rows.T[::-1])
        ranked = rows[order]
        new = np.any(ranked[1:] != ranked[:-1], axis=1)
    else:
        order = np.argsort(rows, kind="stable")
        ranked = rows[order]
        new = ranked[1:] != ranked[:-1]
    codes = np.empty(len(rows), dtype=np.int64)
    codes[order] = np.concatenate([[0], np.cumsum(new)]) if len(rows) else []
    return tuple(np.split(codes, sizes))


def candidate_sizes(original: Numbers, release: Numbers) -> Numbers:
    """How many vertices of the release are in the class of each vertex of the original."""
    most = max(int(original.max(initial=-1)), int(release.max(initial=-1))) + 1
    return np.bincount(release, minlength=most)[original]


def checked_targets(graph: Graph, targets: Iterable[int] | None) -> Numbers:
    """The vertices to attack: all where none are named."""
    if targets is None:
        return np.arange(graph.order, dtype=np.int64)
    chosen = np.asarray(list(targets))
    whole = chosen.size == 0 or np.issubdtype(chosen.dtype, np.integer)
    if not whole or (chosen.size and (chosen.min() < 0 or chosen.max() >= graph.order)):
        raise InputError("CEL-G401", order=graph.order - 1)
    return chosen.astype(np.int64)


def checked_truth(original: Graph, release: Graph, numbers: Numbers | None) -> Numbers:
    """The number in the release of each vertex of the original; -1 for one that is not there."""
    if numbers is None:
        same = np.arange(original.order, dtype=np.int64)
        return np.where(same < release.order, same, -1)
    truth = np.asarray(numbers, dtype=np.int64)
    fits = truth.shape == (original.order,)
    if not fits or truth.min(initial=-1) < -1 or truth.max(initial=-1) >= release.order:
        raise InputError("CEL-G402", order=original.order, last=release.order - 1)
    return truth


def hits(original: Numbers, release: Numbers, truth: Numbers) -> NDArray[np.bool_]:
    """Whether each vertex of the original is in the same class as itself in the release."""
    found = np.zeros(len(original), dtype=np.bool_)
    there = truth >= 0
    found[there] = original[there] == release[truth[there]]
    return found


def groups(codes: Numbers) -> list[list[int]]:
    """The classes themselves, each sorted, by their first vertices.

    >>> groups(np.array([5, 2, 5]))
    [[0, 2], [1]]
    """
    found: dict[int, list[int]] = {}
    for vertex, code in enumerate(codes.tolist()):
        found.setdefault(code, []).append(vertex)
    return list(found.values())
