"""Association (A6): how sure an attacker becomes of a sensitive item from disassociated records.

Chunks are joined at random, each way with the same chance; a term belongs to one record.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from celosia.core.messages import Message
from celosia.core.randomness import Source
from celosia.logs.attacks.result import LogAttack
from celosia.logs.sets.disassociation import Cluster, DisassociatedSets
from celosia.logs.sets.transactions import Transactions


def matching_share(cluster: Cluster, items: Collection[str]) -> float:
    """The expected share of the records of a cluster that hold all of some items."""
    left = set(items)
    share = 1.0
    for chunk in cluster.chunks:
        here = left & {item for row in chunk for item in row}
        if here:
            share *= sum(here <= set(row) for row in chunk) / cluster.records
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
    exposed = 0
    surest = 0.0
    for own, others in chosen:
        known = [others[place] for place in rng.permutation(len(others))[:items]]
        base = np.array([c.records * matching_share(c, known) for c in release.clusters])
        total = float(base.sum())
        best = 0.0
        for one in own:
            joint = sum(
                cluster.records * matching_share(cluster, [*known, one])
                for cluster, count in zip(release.clusters, base, strict=True)
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
