"""Association (A6): how sure an attacker becomes of a sensitive item from disassociated records.

Chunks are joined at random, each way with the same chance; a term belongs to one record.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from celosia.core.messages import Message
from celosia.core.randomness import Source
from celosia.logs.attacks.result import LogAttack
from celosia.logs.sets.disassociation import Cluster, DisassociatedSets, Subrecord
from celosia.logs.sets.transactions import Transactions

Chunks = list[tuple[tuple[Subrecord, ...], int]]
"""Chunks, each with the number of records that its sub-records may belong to."""


def matching_share(cluster: Cluster, items: Collection[str], shared: Chunks | None = None) -> float:
    """The expected share of the records of a cluster that hold all of some items."""
    left = set(items)
    share = 1.0
    for chunk, records in [*((each, cluster.records) for each in cluster.chunks), *(shared or [])]:
        here = left & {item for row in chunk for item in row}
        if here:
            share *= sum(here <= set(row) for row in chunk) / records
            left -= here
    terms = left & set(cluster.terms)
    share *= (1 / cluster.records) ** len(terms)
    return share if left == terms else 0.0


def association(
    original: Transactions,
    release: DisassociatedSets,
    *,
    sensitive: Collection[str],
    items: int = 2,
    above: float = 0.5,
    targets: int = 500,
    rng: Source,
) -> LogAttack:
    """Persons whose sensitive item is inferred with a confidence above `above`.

    Args:
        original: the items of each person.
        release: the published clusters.
        sensitive: what must not be learnt.
        items: how many other items of the person are known.
        above: the confidence that counts as learnt.
        targets: how many persons are attacked, drawn at random.
        rng: who is attacked, and what is known.
    """
    secret = set(sensitive)
    rows = [
        (set(row) & secret, sorted(set(row) - secret))
        for row in original.sets()
        if set(row) & secret
    ]
    able = [row for row in rows if len(row[1]) >= items]
    chosen = [able[place] for place in rng.permutation(len(able))[:targets]]
    clusters = _with_shared(release)
    exposed = 0
    surest = 0.0
    for own, others in chosen:
        known = [others[place] for place in rng.permutation(len(others))[:items]]
        base = np.array([c.records * matching_share(c, known, shared) for c, shared in clusters])
        total = float(base.sum())
        best = 0.0
        for one in own:
            joint = sum(
                cluster.records * matching_share(cluster, [*known, one], shared)
                for (cluster, shared), count in zip(clusters, base, strict=True)
                if count
            )
            best = max(best, joint / total if total else 0.0)
        surest = max(surest, best)
        exposed += best > above
    return LogAttack(
        name=Message("logs.attack.association", items=items),
        assumption=Message("logs.attack.knows_association", items=items),
        mitigation=Message("logs.attack.prevent_association"),
        targets=len(chosen),
        exposed=exposed,
        left_out=len(rows) - len(able),
        facts={"surest": surest},
    )


def _with_shared(release: DisassociatedSets) -> list[tuple[Cluster, Chunks]]:
    """Each cluster with the chunks that it shares with others."""
    found: list[tuple[Cluster, Chunks]] = [(cluster, []) for cluster in release.clusters]
    for each in release.shared:
        records = sum(release.clusters[place].records for place in each.clusters)
        for place in each.clusters:
            found[place][1].append((each.chunk, records))
    return found
