"""Disassociation: conditions of chunks, and every reconstruction of small clusters (check 26)."""

from __future__ import annotations

import json
from collections import Counter
from itertools import combinations, pairwise, permutations, product

import numpy as np
import pytest

from celosia.core.randomness import Seeded
from celosia.logs import DisassociatedSets, Disassociation, SetContext, Transactions
from celosia.logs.sets.disassociation import Cluster
from celosia.logs.sets.verification import rare_sets


def random_sets(seed: int) -> list[list[str]]:
    rng = np.random.default_rng(seed)
    items = [f"i{number}" for number in range(6)]
    return [
        [item for item in items if rng.random() < 0.45] or [items[0]]
        for _ in range(int(rng.integers(4, 14)))
    ]


def released(sets: list[list[str]], **given: int) -> DisassociatedSets:
    method = Disassociation(**given)
    return method.apply(Transactions.of(sets), SetContext(rng=Seeded(1))).data


def made(sets: list[list[str]], **given: int) -> tuple[Cluster, ...]:
    return released(sets, **given).clusters


def reconstructions(cluster: Cluster) -> set[tuple[frozenset[str], ...]]:
    """Every way to join the sub-records of the chunks to records; terms are left to the reader.

    Records have no order: the first chunk keeps its own.
    """
    padded = [[*chunk, *[()] * (cluster.records - len(chunk))] for chunk in cluster.chunks]
    found = set()
    ways = ([chunk] if at == 0 else set(permutations(chunk)) for at, chunk in enumerate(padded))
    for orders in product(*ways):
        rows = zip(*orders, strict=True) if orders else [()] * cluster.records
        found.add(tuple(frozenset(x for part in row for x in part) for row in rows))
    return found


@pytest.mark.parametrize("seed", range(25))
def test_chunks_are_anonymous_and_clusters_not_too_small(seed: int) -> None:
    sets = random_sets(seed)
    k, m = 2 + seed % 2, 1 + seed % 3
    clusters = made(sets, k=k, m=m, max_cluster=6)
    assert sum(cluster.records for cluster in clusters) == len(sets)
    for cluster in clusters:
        assert cluster.records >= k
        for chunk in cluster.chunks:
            assert list(rare_sets(chunk, k=k, m=m)) == []
        total = sum(len(chunk) for chunk in cluster.chunks)
        needed = cluster.records + k * (min(m, len(cluster.chunks)) - 1)
        assert cluster.terms or not cluster.chunks or total >= needed


def test_no_item_is_lost_or_invented() -> None:
    sets = random_sets(3)
    clusters = made(sets, k=2, m=2, max_cluster=6)
    published = {x for each in clusters for chunk in each.chunks for row in chunk for x in row} | {
        x for each in clusters for x in each.terms
    }
    assert published == {item for row in sets for item in row}


@pytest.mark.parametrize("seed", range(6))
def test_for_known_items_some_original_has_k_matching_records(seed: int) -> None:
    """Enumerated for clusters of up to 6 records; a term may belong to any record."""
    k, m = 2, 2
    for cluster in made(random_sets(seed)[:12], k=k, m=m, max_cluster=6):
        if cluster.records > 6 or len(cluster.chunks) > 2:
            continue
        worlds = reconstructions(cluster)
        known = sorted({x for chunk in cluster.chunks for row in chunk for x in row})
        for size in range(1, m + 1):
            for items in combinations([*known, *cluster.terms], size):
                linked = frozenset(items) - set(cluster.terms)
                matches = [sum(linked <= record for record in world) for world in worlds]
                if max(matches) > 0:  # otherwise no original has these items together
                    assert max(matches) >= k


SHARED = [
    [["a", "x"], ["a"], ["a"], ["b", "x"], ["b"], ["b"]],
    [["a", "x"], ["a"], ["a", "y"], ["b", "x"], ["b"], ["b", "y"]],
    [["a", "x", "y"], ["a"], ["a"], ["b", "x", "y"], ["b"], ["b"]],
]
"""Two sorts of records that are cut apart, with items that are rare in each."""


def worlds(release: DisassociatedSets) -> set[tuple[tuple[frozenset[str], ...], ...]]:
    """Every way to join sub-records to the records of their clusters, shared ones to any of them.

    Terms are left out: each may belong to any record of its cluster.
    """
    sizes = [cluster.records for cluster in release.clusters]
    found = set()
    for joined in product(*(reconstructions(cluster) for cluster in release.clusters)):
        flat = [record for part in joined for record in part]
        options = []
        for each in release.shared:
            padded = [*each.chunk, *[()] * (sum(sizes) - len(each.chunk))]
            options.append(set(permutations(padded)))
        for orders in product(*options):
            rows = [
                record | {x for order in orders for x in order[place]}
                for place, record in enumerate(flat)
            ]
            cut = np.cumsum([0, *sizes])
            found.add(tuple(tuple(rows[a:b]) for a, b in pairwise(cut.tolist())))
    return found


@pytest.mark.parametrize("sets", SHARED)
def test_shared_chunks_link_rare_items_and_keep_the_promise(sets: list[list[str]]) -> None:
    """Enumerated: for known items, some original of the joint clusters has k matching records."""
    k = m = 2
    release = released(sets, k=k, m=m, max_cluster=4, joint=2)
    assert release.shared
    assert len(release.clusters) == 2
    for each in release.shared:
        assert list(rare_sets(each.chunk, k=k, m=m)) == []
        assert each.clusters == (0, 1)
    originals = worlds(release)
    domain = sorted({x for chunk in release.chunks() for row in chunk for x in row})
    for size in range(1, m + 1):
        for items in combinations(domain, size):
            matches = [
                sum(set(items) <= record for part in world for record in part)
                for world in originals
            ]
            assert max(matches) == 0 or max(matches) >= k


@pytest.mark.parametrize("seed", range(12))
def test_shared_items_leave_the_terms_and_nothing_is_lost(seed: int) -> None:
    sets = random_sets(seed)
    k, m = 2 + seed % 2, 1 + seed % 3
    release = released(sets, k=k, m=m, max_cluster=2 * k, joint=3)
    counts = Counter(x for row in sets for x in row)
    linked = Counter(x for chunk in release.chunks() for row in chunk for x in row)
    terms = {x for cluster in release.clusters for x in cluster.terms}
    assert all(linked[item] == count or item in terms for item, count in counts.items())
    for each in release.shared:
        own = {x for row in each.chunk for x in row}
        assert list(rare_sets(each.chunk, k=k, m=m)) == []
        for place in each.clusters:
            cluster = release.clusters[place]
            assert not own & set(cluster.terms)
            assert not own & {x for chunk in cluster.chunks for row in chunk for x in row}
    for cluster in release.clusters:
        total = sum(len(chunk) for chunk in cluster.chunks)
        needed = cluster.records + k * (min(m, len(cluster.chunks)) - 1)
        assert cluster.terms or total >= needed
    again = DisassociatedSets.from_dict(json.loads(json.dumps(release.as_dict())))
    assert again.as_dict() == release.as_dict()
