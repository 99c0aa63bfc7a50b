"""The worked example of k^m-anonymity, and what the search gives away against the optimum."""

from __future__ import annotations

from collections.abc import Iterable

from celosia.core.messages import Message
from celosia.core.progress import Progress, Step
from celosia.core.randomness import Seeded
from celosia.lab.findings import Row
from celosia.lab.tolerance import EXACT, Cell, Tolerance
from celosia.logs import ItemTree, KmAnonymity, SetContext, Transactions
from celosia.logs.sets.verification import rare_sets
from celosia.tables.hierarchies import Hierarchy

EXAMPLE = (("a1", "b1", "b2"), ("a2", "b1"), ("a2", "b1", "b2"), ("a1", "a2", "b2"))
PATHS = (("a1", "A", "*"), ("a2", "A", "*"), ("b1", "B", "*"), ("b2", "B", "*"))


def rows(progress: Progress) -> Iterable[Row]:
    """Every cell, computed again."""
    progress(Step(Message("lab.studies.logs.sets.title"), 0))
    data = Transactions.of(EXAMPLE)
    context = SetContext(tree=ItemTree.of(Hierarchy.from_paths(PATHS)), rng=Seeded(1))
    yield _row("2^1", "violations", "none", _named(data.sets(), 2, 1))
    yield _row("2^2", "violations", "a1 a2, a1 b1", _named(data.sets(), 2, 2))
    for search in ("apriori", "optimal"):
        method = KmAnonymity(k=2, m=2, search=search)
        done = method.apply(data, context)
        cut = " ".join(sorted({item for each in done.data.sets() for item in each}))
        yield _row(f"{search}, 2^2", "cut", "A b1 b2", cut)
        loss = done.facts["ncp"]
        near = Tolerance(absolute=5e-6)
        yield Row(f"{search}, 2^2", "NCP", 0.22727, loss, near.matches(0.22727, loss))
        yield _row(f"{search}, 2^3", "violations", "none", _named(done.data.sets(), 2, 3))
        yield _row(f"{search}, 3^2", "violations", "b1 b2", _named(done.data.sets(), 3, 2))


def _named(sets: list[tuple[str, ...]], k: int, m: int) -> str:
    found = sorted(" ".join(each) for each in rare_sets(sets, k=k, m=m))
    return ", ".join(found) or "none"


def _row(run: str, cell: str, published: Cell, computed: Cell) -> Row:
    return Row(run, cell, published, computed, EXACT.matches(published, computed))
