"""What a published network kept of the original, and whom its profiles expose."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.core.messages import Message, say
from celosia.core.methods import PlainValues
from celosia.core.report import Block, Heading, Table
from celosia.graphs.attacks.result import (
    GraphAttack,
    classes,
)
from celosia.graphs.attacks.structural import attack_by_classes
from celosia.graphs.networks.network import Network
from celosia.graphs.networks.profiles import degree_columns, profiles, strength_columns

RATIO = 2.0
"""Weighted degrees within one power of this look alike to the attacker, where no other is given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkChanges(PlainValues):
    """Two networks over the same vertices: their edges with directions and snapshots, and sums."""

    edges_before: int
    edges_after: int
    kept: int
    """Edges of the original that are still there: same ends, direction and snapshot."""
    reciprocity_before: float | None
    """The share of arcs whose opposite is there too; None without directions."""
    reciprocity_after: float | None
    moved_ends: float
    """Half the sum of the differences of all degrees, for each edge of the original."""
    weight_before: float | None
    weight_after: float | None
    moved_weight: float | None
    """Half the sum of the differences of all weighted degrees, over that of the original."""

    def rows(self) -> list[tuple[str, str, str]]:
        """Words and numbers of both networks."""
        found = [
            (say("graphs.network.edges"), f"{self.edges_before:,}", f"{self.edges_after:,}"),
            (say("graphs.network.kept"), "", f"{self.kept / max(self.edges_before, 1):.1%}"),
            (say("graphs.network.moved_ends"), "", f"{self.moved_ends:.4f}"),
        ]
        if self.reciprocity_before is not None and self.reciprocity_after is not None:
            both = f"{self.reciprocity_before:.4f}", f"{self.reciprocity_after:.4f}"
            found.append((say("graphs.network.reciprocity"), *both))
        if self.weight_before is not None and self.weight_after is not None:
            both = f"{self.weight_before:,.6g}", f"{self.weight_after:,.6g}"
            found.append((say("graphs.network.weight"), *both))
            found.append((say("graphs.network.moved_weight"), "", f"{self.moved_weight:.4f}"))
        return found

    def blocks(self) -> list[Block]:
        """The comparison as parts of a report."""
        columns = "graphs.report.number", "graphs.report.original", "graphs.report.changed"
        return [
            Heading(say("graphs.network.title"), level=3),
            Table(
                [say(column) for column in columns],
                [list(row) for row in self.rows()],
                say("graphs.network.caption"),
                numeric=(1, 2),
            ),
        ]

    def __str__(self) -> str:
        return say(
            "graphs.network.line",
            kept=self.kept / max(self.edges_before, 1),
            removed=self.edges_before - self.kept,
            added=self.edges_after - self.kept,
        )


def compare_networks(original: Network, changed: Network) -> NetworkChanges:
    """What a changed network over the same vertices kept of the original."""
    before, after = degree_columns(original), degree_columns(changed)
    ends = before.shape[1] // max(original.periods, 1)
    heavy = strength_columns(original), strength_columns(changed)
    total, weighted = float(heavy[0].sum()), original.weights is not None
    moved = float(np.abs(heavy[0] - heavy[1]).sum()) / total if total else 0.0
    size = max(int(before.sum()), 1) if ends == 2 else max(2 * original.size, 1)
    return NetworkChanges(
        edges_before=original.size,
        edges_after=changed.size,
        kept=int(np.isin(original.keys, changed.keys, assume_unique=True).sum()),
        reciprocity_before=reciprocity(original),
        reciprocity_after=reciprocity(changed),
        moved_ends=float(np.abs(before - after).sum()) / size,
        weight_before=_total(original),
        weight_after=_total(changed),
        moved_weight=moved if weighted else None,
    )


def _total(network: Network) -> float | None:
    return None if network.weights is None else float(network.weights.sum())


def reciprocity(network: Network) -> float | None:
    """The share of arcs whose opposite is there in the same snapshot; None without directions."""
    if not network.directed:
        return None
    ends = network.edges.astype(np.int64)
    back = ends[:, 1] * network.order + ends[:, 0]
    if network.snapshots is not None:
        back = network.snapshots * np.int64(network.order**2) + back
    return float(np.isin(back, network.keys).mean()) if network.size else 0.0


def profile_attack(
    original: Network,
    release: Network,
    *,
    ratio: float = RATIO,
    numbers: NDArray[np.int64] | None = None,
) -> GraphAttack:
    """The attacker knows the profile of each target.

    That is its degrees, out and in and in each snapshot, its side, and its weighted degrees up to a
    power of `ratio`.

    Args:
        original: what the attacker knows.
        release: what is published.
        ratio: how exactly weighted degrees are known.
        numbers: the number in the release of each vertex of the original, the same by default.
    """
    same = np.arange(original.order, dtype=np.int64)
    return attack_by_classes(
        classes(profiles(original, ratio), profiles(release, ratio)),
        same,
        same if numbers is None else numbers,
        name=Message("graphs.attack.profile"),
        assumption=Message("graphs.attack.profile_knows", parts=profile_parts(original, ratio)),
        mitigation=Message("graphs.attack.degree_prevent"),
    )


def profile_parts(network: Network, ratio: float) -> list[Message]:
    """What a profile of this network is made of, in words."""
    ends = "graphs.profile.pairs" if network.directed else "graphs.profile.degree"
    found = [Message(ends)]
    if network.weights is not None:
        found.append(Message("graphs.profile.weighted", ratio=ratio))
    if network.sides is not None:
        found.append(Message("graphs.profile.side"))
    if network.snapshots is not None:
        found.append(Message("graphs.profile.snapshots", count=network.periods))
    return found


def facts_of(changes: NetworkChanges) -> dict[str, Any]:
    """The facts of a method that changed a network."""
    return {
        Message("graphs.fact.edges_before"): changes.edges_before,
        Message("graphs.fact.edges_after"): changes.edges_after,
        Message("graphs.fact.edges_deleted"): changes.edges_before - changes.kept,
        Message("graphs.fact.edges_added"): changes.edges_after - changes.kept,
    }
