"""Candidates of known items, against plain sets."""

from __future__ import annotations

import numpy as np

from celosia.core.randomness import Seeded
from celosia.logs import Transactions
from celosia.logs.attacks import _kernels, known_items
from celosia.logs.attacks.unicity import draw_known, postings_of


def test_the_kernel_counts_as_plain_sets_do() -> None:
    rng = np.random.default_rng(1)
    sets = [[f"i{n}" for n in range(9) if rng.random() < 0.4] or ["i0"] for _ in range(30)]
    data = Transactions.of(sets)
    targets, known = draw_known(data, 2, "random", Seeded(3))
    where = postings_of(data)
    counts, last = _kernels.candidate_counts(where.starts, where.units, known, where.total)
    rows = [set(row) for row in data.rows()]
    for items, count, one in zip(known.tolist(), counts.tolist(), last.tolist(), strict=True):
        fits = [number for number, row in enumerate(rows) if set(items) <= row]
        assert (len(fits), fits[-1]) == (count, one)
    assert all(set(items) <= rows[t] for t, items in zip(targets, known.tolist(), strict=True))
    nothing, _ = _kernels.candidate_counts(
        where.starts, where.units, np.full((1, 2), -1), where.total
    )
    assert nothing.tolist() == [30]


def test_persons_with_too_few_items_are_left_out_and_counted() -> None:
    data = Transactions.of([["a"], ["a", "b"], ["a", "b"], ["a", "c"]])
    found = known_items(data, items=2, rng=Seeded(1))
    assert (found.targets, found.left_out, found.exposed) == (3, 1, 1)
    assert found.smallest == 1


def test_the_rarest_items_are_the_worst_case() -> None:
    data = Transactions.of([["a", f"own{n}"] for n in range(10)])
    rare = known_items(data, items=1, choice="rare", rng=Seeded(1))
    assert rare.share_exposed == 1
    assert known_items(data, items=1, rng=Seeded(1)).share_exposed < 1
