"""Attacks of the AOL kind, linked sessions, hashes, and associations of disassociated records."""

from __future__ import annotations

from hashlib import sha256

import polars as pl
import pytest

from celosia import datasets
from celosia.core.randomness import Seeded
from celosia.logs import (
    DisassociatedSets,
    Fields,
    LogDeclaration,
    Transactions,
    UserThreshold,
    attacks,
    log_of,
)
from celosia.logs.attacks import AttackedLog, HashColumns, RareQueries, SessionLinking
from celosia.logs.run import apply_methods
from celosia.logs.sets.disassociation import Cluster


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
        }
    )
    log = log_of(frame, LogDeclaration(person="user", text="query", keep=("card",)))
    release = apply_methods(log, [Fields(person="pseudonym", period="whole")], rng=Seeded(1))
    attacked = AttackedLog(original=log, release=release)
    assert HashColumns(numbers=5_000).run(attacked, rng=Seeded(1)).share_exposed == 1
    assert HashColumns(numbers=100).run(attacked, rng=Seeded(1)).exposed == 0


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


def test_shares_of_matching_records_multiply_over_chunks() -> None:
    cluster = Cluster(4, ((("a",), ("a", "b")), (("c",),)), ("t",))
    assert attacks.matching_share(cluster, ["a"]) == 0.5
    assert attacks.matching_share(cluster, ["a", "c"]) == 0.125
    assert attacks.matching_share(cluster, ["a", "t"]) == 0.125
    assert attacks.matching_share(cluster, ["zz"]) == 0
