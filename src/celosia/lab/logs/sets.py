"""Worked examples of k^m-anonymity, rho-uncertainty and disassociation, counted by their checks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction

from celosia.core.messages import Message
from celosia.core.progress import Progress, Step
from celosia.core.randomness import Seeded
from celosia.lab.findings import Row, compare
from celosia.lab.tolerance import Cell, Tolerance
from celosia.logs import (
    Disassociation,
    ItemTree,
    KmAnonymity,
    RhoUncertainty,
    SetContext,
    Transactions,
)
from celosia.logs.attacks import association
from celosia.logs.sets.verification import certain_rules, rare_sets
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
        near = Tolerance(absolute=5e-6, why=Message("lab.tolerance.digits"))
        yield compare(f"{search}, 2^2", "NCP", 0.22727, loss, near, kind="program")
        yield _row(f"{search}, 2^3", "violations", "none", _named(done.data.sets(), 2, 3))
        yield _row(f"{search}, 3^2", "violations", "b1 b2", _named(done.data.sets(), 3, 2))
    yield from _uncertain()
    yield from _disassociated()


RULES = (
    *[("a1", "s")] * 4, *[("a1",)] * 2, *[("a2",)] * 3, *[("b1", "s")] * 4, *[("b1", "b2")] * 6,
)  # fmt: skip
"""Four of six with a1 have the sensitive s; of nine with a1 or a2, fewer than half."""


def _uncertain() -> Iterator[Row]:
    """TDControl generalises a1 and keeps s; suppression alone must lose one of them."""
    data = Transactions.of(RULES)
    context = SetContext(
        tree=ItemTree.of(Hierarchy.from_paths((*PATHS, ("s", "S", "*")))),
        sensitive=frozenset({"s"}),
        rng=Seeded(1),
    )
    half = Fraction(1, 2)
    broken = list(certain_rules(data.sets(), {"s"}, rho=half, p=2))
    yield _row("rho = 1/2", "rules that break it", "a1 -> s", _rules(broken))
    for method, kept in (
        (RhoUncertainty(rho=half, p=2, search="top-down"), "A b1 b2 s"),
        (RhoUncertainty(rho=half, p=2, search="suppress"), "a2 b1 b2 s"),
    ):
        search = method.search
        done = method.apply(data, context).data.sets()
        found = " ".join(sorted({item for each in done for item in each}))
        yield _row(f"{search}, rho = 1/2", "labels", kept, found)
        left = list(certain_rules(done, {"s"}, rho=half, p=2))
        yield _row(f"{search}, rho = 1/2", "rules that break it", "none", _rules(left))


def _rules(found: list[tuple[tuple[str, ...], str]]) -> str:
    return ", ".join(f"{' '.join(items)} -> {one}" for items, one in found) or "none"


PARTS = (("a", "x", "y"), ("a",), ("a",), ("b", "x", "y"), ("b",), ("b",))
"""Two sorts of records, with two items that are rare in each and not in both."""


def _disassociated() -> Iterator[Row]:
    """Shared chunks link what is rare in one cluster; a covered item is learnt for certain."""
    data = Transactions.of(PARTS)
    for joint, linked in ((1, "none"), (2, "x y, x y")):
        method = Disassociation(k=2, m=2, max_cluster=4, joint=joint)
        made = method.apply(data, SetContext(rng=Seeded(1))).data
        shared = sorted(" ".join(row) for each in made.shared for row in each.chunk)
        yield _row(f"joint clusters: {joint}", "shared chunk", linked, ", ".join(shared) or "none")
        rare = [each for chunk in made.chunks() for each in rare_sets(chunk, k=2, m=2)]
        yield _row(f"joint clusters: {joint}", "rare sets in chunks", 0, len(rare))
    sets = Transactions.of([["a", "b", "s"]] * 3 + [["a", "c", "s"]] * 3)
    method = Disassociation(k=3, m=2)
    made = method.apply(sets, SetContext(rng=Seeded(1))).data
    found = association(sets, made, sensitive=["s"], rng=Seeded(1))
    yield _row("the cover problem", "share of persons whose item is learnt", 1, found.share_exposed)


def _named(sets: list[tuple[str, ...]], k: int, m: int) -> str:
    found = sorted(" ".join(each) for each in rare_sets(sets, k=k, m=m))
    return ", ".join(found) or "none"


def _row(run: str, cell: str, stated: Cell, computed: Cell) -> Row:
    return compare(run, cell, stated, computed, kind="program")
