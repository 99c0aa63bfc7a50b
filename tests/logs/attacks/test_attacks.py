"""Attacks of the AOL kind, linked sessions, hashes, and associations of disassociated records."""

from __future__ import annotations

import random
from base64 import b64encode
from hashlib import md5, sha256
from itertools import combinations

import polars as pl
import pytest

from celosia import datasets
from celosia.core.errors import InputError
from celosia.core.randomness import Seeded
from celosia.logs import (
    DisassociatedSets,
    Disassociation,
    Fields,
    ItemTree,
    LogDeclaration,
    SetContext,
    Transactions,
    UserThreshold,
    attacks,
    log_of,
)
from celosia.logs.attacks import AttackedLog, HashColumns, RareQueries, SessionLinking
from celosia.logs.attacks.publication import ChunkedSets
from celosia.logs.run import apply_methods
from celosia.logs.sets.disassociation import Cluster
from celosia.tables.hierarchies import Hierarchy


def test_rare_queries_expose_persons_until_a_threshold_drops_them() -> None:
    log = datasets.searches(300, seed=2).log()
    before = RareQueries().run(AttackedLog(original=log), rng=Seeded(1))
    assert before.share_exposed > 0.7
    assert before.facts["persons_with_own_name_or_number"] > 100
    release = apply_methods(log, UserThreshold(k=2), rng=Seeded(1))
    after = RareQueries().run(AttackedLog(original=log, release=release), rng=Seeded(1))
    assert after.exposed == 0


def test_sessions_are_linked_by_habits_and_not_where_nothing_links_records() -> None:
    log = datasets.searches(300, seed=2).log()
    before = SessionLinking().run(AttackedLog(original=log), rng=Seeded(1))
    assert before.share_exposed > 0.3
    assert before.share_exposed > 20 * before.chance
    dropped = apply_methods(log, UserThreshold(k=5), rng=Seeded(1))
    assert (
        SessionLinking().run(AttackedLog(original=log, release=dropped), rng=Seeded(1)).exposed == 0
    )
    linked = apply_methods(log, [Fields(person="pseudonym"), UserThreshold(k=5)], rng=Seeded(1))
    found = SessionLinking().run(AttackedLog(original=log, release=linked), rng=Seeded(1))
    assert 0 < found.share_exposed < before.share_exposed


def test_plain_hashes_are_undone_and_random_numbers_are_not() -> None:
    """W10: a hash column called anonymous."""
    users = [f"customer{n}" for n in range(30)]
    frame = pl.DataFrame(
        {
            "user": users * 2,
            "query": ["x", "y"] * 30,
            "card": [sha256(str(4_000 + n).encode()).hexdigest() for n in range(60)],
            "shop": [b64encode(md5(str(n).encode()).digest()).decode() for n in range(60)],
        }
    )
    log = log_of(frame, LogDeclaration(person="user", text="query", keep=("card", "shop")))
    release = apply_methods(log, [Fields(person="pseudonym", period="whole")], rng=Seeded(1))
    attacked = AttackedLog(original=log, release=release)
    assert HashColumns(numbers=5_000).run(attacked, rng=Seeded(1)).share_exposed == 1
    assert HashColumns(numbers=100).run(attacked, rng=Seeded(1)).exposed == 60  # the shops
    assert HashColumns(numbers=0).run(attacked, rng=Seeded(1)).exposed == 0


def test_a_planted_cover_problem_is_reported() -> None:
    """Check 26, second half: every record of the cluster has the secret."""
    sets = [["a", "b", "secret"]] * 3 + [["a", "c", "secret"]] * 3
    chunks = (((("secret",),) * 6), (("a", "b"),) * 3 + (("a", "c"),) * 3)
    covered = DisassociatedSets((Cluster(6, chunks, ()),))
    found = attacks.association(
        Transactions.of(sets), covered, sensitive=["secret"], items=2, rng=Seeded(1)
    )
    assert found.share_exposed == 1
    assert found.facts["surest"] == 1
    half = (((("secret",),) * 3), (("a", "b"),) * 3 + (("a", "c"),) * 3)
    hidden = DisassociatedSets((Cluster(6, half, ()),))
    lower = attacks.association(
        Transactions.of(sets[:3] + [["a", "c"]] * 3), hidden, sensitive=["secret"], rng=Seeded(1)
    )
    assert lower.facts["surest"] == pytest.approx(0.5)
    assert lower.exposed == 0


def test_expected_matches_multiply_over_chunks() -> None:
    cluster = Cluster(4, ((("a",), ("a", "b")), (("c",),)), ("t",))
    read = attacks.publication_of(DisassociatedSets((cluster,)))
    assert read.expected(["a"]) == 2
    assert read.expected(["a", "c"]) == read.expected(["a", "t"]) == 0.5
    assert read.expected(["zz"]) == 0
    assert read.is_gone("zz")
    assert not read.is_gone("t")


def test_items_of_a_group_are_equally_likely() -> None:
    tree = ItemTree.of(Hierarchy.from_paths([(x, x[0].upper(), "*") for x in ("a1", "a2", "b1")]))
    read = attacks.publication_of(Transactions.of([["A", "b1"], ["a1"], ["A"]]), tree)
    assert read.expected([]) == 3
    assert read.expected(["a1"]) == 2
    assert read.expected(["a2", "b1"]) == 0.5
    assert read.is_gone("c")


def test_generalisation_lowers_what_is_inferred() -> None:
    """A6 on generalised sets: the groups hide which item the sensitive one goes with."""
    paths = [("a1", "A", "*"), ("a2", "A", "*"), ("s", "S", "*")]
    tree = ItemTree.of(Hierarchy.from_paths(paths))
    original = Transactions.of([["a1", "s"]] * 4 + [["a2"]] * 12)
    made = Transactions.of([["A", "s"]] * 4 + [["A"]] * 12)
    before = attacks.association(original, sensitive=["s"], items=1, rng=Seeded(1))
    assert before.share_exposed == 1
    after = attacks.association(original, made, sensitive=["s"], items=1, tree=tree, rng=Seeded(1))
    assert after.targets == 4
    assert after.facts["surest"] == pytest.approx(0.25)
    method = attacks.set_attack_from_text("association:1,above=0.2")
    subject = attacks.AttackedSets(
        original=original, release=made, context=SetContext(tree=tree, sensitive=frozenset({"s"}))
    )
    assert method.run_on_sets(subject, rng=Seeded(1)).share_exposed == 1
    with pytest.raises(InputError, match="declared sensitive"):
        method.run_on_sets(
            attacks.AttackedSets(original=original, context=SetContext()), rng=Seeded(1)
        )


@pytest.mark.parametrize("seed", range(6))
def test_disassociated_records_hide_known_items_among_k(seed: int) -> None:
    """A5: by the promise, up to m items of a record are in k records of some original."""
    k, m = 3, 2
    rng = random.Random(seed)
    sets = [rng.sample("abcdefgh", rng.randint(1, 5)) for _ in range(40)]
    data = Transactions.of(sets)
    joint = 1 + seed % 2
    method = Disassociation(k=k, m=m, max_cluster=8, joint=joint)
    made = method.apply(data, SetContext(rng=Seeded(seed))).data
    read = ChunkedSets(made)
    for row in sets:
        for size in range(1, min(m, len(row)) + 1):
            assert all(read.most(known) >= k for known in combinations(row, size))
    found = attacks.known_items_of(data, read, items=m, rng=Seeded(1))
    assert found.exposed == 0
    assert found.smallest is not None
    assert found.smallest >= k
