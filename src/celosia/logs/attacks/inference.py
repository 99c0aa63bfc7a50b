"""Attacks on published sets: known items (A5), and sensitive ones that are inferred (A6)."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from celosia.core.messages import Message
from celosia.core.randomness import Source
from celosia.logs.attacks.publication import (
    ChunkedSets,
    GeneralisedSets,
    Publication,
    publication_of,
)
from celosia.logs.attacks.result import LogAttack
from celosia.logs.attacks.unicity import KnownItems, draw_known, known_items, singled_out
from celosia.logs.sets.disassociation import DisassociatedSets
from celosia.logs.sets.item_tree import ItemTree
from celosia.logs.sets.transactions import Transactions


def known_items_of(
    original: Transactions,
    release: GeneralisedSets | ChunkedSets,
    *,
    items: int = 2,
    choice: KnownItems = "random",
    targets: int = 500,
    rng: Source,
) -> LogAttack:
    """How many persons are alone with `items` of their items in published sets.

    Of disassociated records, the candidates are as many records as may hold all of the items.

    Args:
        original: the items of each person.
        release: what is published.
        items: how many the attacker knows of a person.
        choice: at random, or the rarest ones that the person has.
        targets: of disassociated records, how many persons are attacked, drawn at random.
        rng: which items are known, and who is attacked.
    """
    if isinstance(release, GeneralisedSets):
        postings = release.postings(original.labels)
        return known_items(original, postings, items=items, choice=choice, rng=rng)
    _targets, known = draw_known(original, items, choice, rng)
    chosen = known[rng.permutation(len(known))[:targets]].tolist()
    counts = np.array(
        [
            release.most(x for item in row if not release.is_gone(x := original.labels[item]))
            for row in chosen
        ],
        dtype=np.int64,
    )
    left_out = original.count - len(known)
    return singled_out(counts, counts == 1, items=items, choice=choice, left_out=left_out)


def association(
    original: Transactions,
    release: Transactions | DisassociatedSets | Publication | None = None,
    *,
    sensitive: Collection[str],
    tree: ItemTree | None = None,
    items: int = 2,
    above: float = 0.5,
    targets: int = 500,
    rng: Source,
) -> LogAttack:
    """Persons whose sensitive item is inferred with a confidence above `above`.

    Chunks of disassociated records are joined at random, and the items of a group are equally
    likely. What the release has nowhere is not counted as known.

    Args:
        original: the items of each person.
        release: what is published; the original itself if not given.
        sensitive: what must not be learnt.
        tree: the hierarchy of the items, where they were generalised.
        items: how many other items of the person are known.
        above: the confidence that counts as learnt.
        targets: how many persons are attacked, drawn at random.
        rng: who is attacked, and what is known.
    """
    if not isinstance(release, Publication):
        release = publication_of(original if release is None else release, tree)
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
        best = _confidence(release, [each for each in known if not release.is_gone(each)], own)
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


def _confidence(release: Publication, known: list[str], own: set[str]) -> float:
    """The largest chance of one of the person's sensitive items, given what is known."""
    total = release.expected(known)
    if not total:
        return 0.0
    return max(release.expected([*known, one]) / total for one in own)
