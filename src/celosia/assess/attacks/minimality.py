"""Minimality: the attacker knows that the publisher generalised no more than necessary."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import exp, lgamma
from typing import Any, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.assess.attacks.classes import Classes, number_combinations, texts_of
from celosia.assess.attacks.compatibility import CodedColumn
from celosia.assess.attacks.method import CAP, SAMPLES
from celosia.assess.attacks.result import Attack, Members, singles
from celosia.core.errors import InputError, PrivacyError
from celosia.core.messages import Message
from celosia.core.methods import checked
from celosia.core.progress import Progress, Step, silent
from celosia.core.randomness import Source
from celosia.frames import encode

World = NDArray[np.int64]
"""How many of each value (columns) each cell of like people (rows) gets."""

_DEEPEST = 300
"""Cells or values of a class beyond which its tables are not tried one by one."""


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """One published class: its cells, how many people each has, and the values to deal out."""

    cells: NDArray[np.int64]
    sizes: NDArray[np.int64]
    counts: NDArray[np.int64]

    def tables(self) -> Iterator[list[tuple[int, ...]]]:
        """Each table of counts with these margins; a column for each value that occurs."""
        present = self.counts[self.counts > 0]
        if present.size <= 1:
            return iter([[(size,) * present.size for size in self.sizes.tolist()]])
        return _tables(tuple(self.sizes.tolist()), tuple(present.tolist()))

    def ways(self) -> Iterator[tuple[float, World]]:
        """Each table, values that do not occur included, and its chance if all orders are alike."""
        total = _log_ways(self.counts)
        for rows in self.tables():
            dealt = np.zeros((self.sizes.size, self.counts.size), dtype=np.int64)
            dealt[:, self.counts > 0] = rows
            yield exp(sum(_log_ways(row) for row in dealt) - total), dealt

    @property
    def is_open(self) -> bool:
        """Whether there is more than one assignment."""
        return self.sizes.size > 1 and int(np.count_nonzero(self.counts)) > 1

    @property
    def is_deep(self) -> bool:
        """Whether there are too many cells or values to try all assignments."""
        widest = max(self.sizes.size, int(np.count_nonzero(self.counts)))
        return self.is_open and widest > _DEEPEST


def number_of_worlds(blocks: Sequence[Block], cap: int) -> int | None:
    """How many there are; None if more than the cap."""
    if any(block.is_deep for block in blocks):
        return None
    found = 1
    for block in blocks:
        here = 0
        for _ in block.tables():
            here += 1
            if found * here > cap:
                return None
        found *= here
    return found


def all_worlds(blocks: Sequence[Block], cells: int) -> Iterator[tuple[float, World]]:
    """Each world with its chance; the same array is handed out every time."""
    width = blocks[0].counts.size if blocks else 0
    world = np.zeros((cells, width), dtype=np.int64)
    open_blocks = []
    for block in blocks:
        if block.is_open:
            open_blocks.append(block)
        else:
            world[block.cells] = next(block.ways())[1]

    def deal(number: int, weight: float) -> Iterator[tuple[float, World]]:
        if number == len(open_blocks):
            yield weight, world
            return
        for chance, dealt in open_blocks[number].ways():
            world[open_blocks[number].cells] = dealt
            yield from deal(number + 1, weight * chance)

    return deal(0, 1.0)


def drawn_worlds(
    blocks: Sequence[Block], cells: int, samples: int, rng: Source
) -> Iterator[tuple[float, World]]:
    """So many worlds drawn at random, all of the same weight; always the same array."""
    width = blocks[0].counts.size if blocks else 0
    decks = [np.repeat(np.arange(width), block.counts) for block in blocks]
    owners = [np.repeat(block.cells, block.sizes) for block in blocks]
    world = np.zeros((cells, width), dtype=np.int64)
    for _ in range(samples):
        world[:] = 0
        for deck, owner in zip(decks, owners, strict=True):
            np.add.at(world, (owner, deck[rng.permutation(deck.size)]), 1)
        yield 1.0, world


def _tables(sizes: tuple[int, ...], counts: tuple[int, ...]) -> Iterator[list[tuple[int, ...]]]:
    """Tables of counts whose rows sum to the sizes and whose columns sum to the counts."""
    if len(sizes) <= 1:
        yield [counts] * len(sizes)
        return
    for row in _rows(sizes[0], counts):
        left = tuple(have - given for have, given in zip(counts, row, strict=True))
        for rest in _tables(sizes[1:], left):
            yield [row, *rest]


def _rows(size: int, counts: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Ways to take `size` things out of these counts."""
    if not counts:
        if size == 0:
            yield ()
        return
    others = sum(counts[1:])
    for given in range(max(size - others, 0), min(size, counts[0]) + 1):
        for rest in _rows(size - given, counts[1:]):
            yield (given, *rest)


def _log_ways(counts: NDArray[np.int64]) -> float:
    """The logarithm of the number of orders that things with these counts have."""
    return lgamma(int(counts.sum()) + 1) - sum(lgamma(count + 1) for count in counts.tolist())


Holds: TypeAlias = Callable[[Sequence[Counter[str]]], bool]
"""Whether a whole table meets the model, from the counts of the sensitive values by class."""


_RISE = 1e-9
"""A chance that rose by less than this rose by rounding."""


def minimality(
    release: Any,
    quasi_identifiers: str | Sequence[str],
    sensitive: str,
    *,
    finer: Sequence[Any],
    holds: Holds,
    watched: Collection[str] | None = None,
    cap: int = 20_000,
    samples: int = 2_000,
    rng: Source | None = None,
    progress: Progress = silent,
) -> Attack:
    """Discard every way to deal out the values under which less would have been published.

    Args:
        release: the table as published, one row a person; the attacker knows who is in each class,
            but not which record of it is whose.
        quasi_identifiers: the columns that were generalised.
        sensitive: the column that the attacker wants to learn.
        finer: the quasi-identifiers of the same people, row by row, at each node right below the
            published one: generalised less, and therefore rejected by the publisher.
        holds: the model, for a whole table: takes one `Counter` of values a class. Empty cells are
            dealt out like the values, but are not in it.
        watched: the values that matter, such as a disease; all of them if not given.
        cap: up to so many ways are tried one by one, and the result is exact; above it, ways are
            drawn at random.
        samples: how many are drawn then.
        rng: where they are drawn from; needed above the cap.
        progress: called as the work proceeds; may raise `Cancelled`.

    Suppressed records are left out, as if the publisher had not been free to suppress. Groups are
    indistinguishable people; each shows the value whose chance rose most.
    `confidence` is the chance in the ways that remain, `prior` the share of the value in the class,
    which is all that the class alone would tell.

    Raises:
        InputError: CEL-A061 a finer table is not finer, CEL-A062 too many ways and no rng,
            CEL-A065 no values.
        PrivacyError: CEL-A063 the release breaks the model, CEL-A064 no way remains.

    >>> people = pl.DataFrame({"job": ["*"] * 7, "ill": ["HIV", "HIV"] + ["none"] * 5})
    >>> below = pl.DataFrame({"job": ["cook"] * 2 + ["nurse"] * 5})
    >>> def half(classes):
    ...     return all(2 * counts["HIV"] <= counts.total() for counts in classes)
    >>> found = minimality(people, ["job"], "ill", finer=[below], holds=half, watched={"HIV"})
    >>> found.greatest, found.exposed_people
    (1.0, 2)

    Reference: Wong, Fu, Wang, Pei 2007.
    """
    cap, samples = checked("minimality", CAP, cap), checked("minimality", SAMPLES, samples)
    structure = _Structure.of(release, quasi_identifiers, sensitive, finer)
    if not holds(structure.counted([block.counts for block in structure.blocks])):
        raise PrivacyError("CEL-A063")
    ways = number_of_worlds(structure.blocks, cap)
    believed, tried, kept = _believe(structure, holds, ways, cap, samples, rng, progress)
    return _attack(
        structure, believed, sensitive, watched, {"ways_tried": tried, "ways_left": kept}
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Structure:
    """Indistinguishable people as cells, the classes that hold them, and the finer ones."""

    blocks: list[Block]
    """Each published class: its cells and the values to be dealt out to them."""
    values: pl.Series
    cell_of_row: NDArray[np.int64]
    cell_sizes: NDArray[np.int64]
    class_of_cell: NDArray[np.int64]
    finer: list[NDArray[np.int64]]
    """The class of each cell, for each finer table."""

    @classmethod
    def of(
        cls, release: Any, names: str | Sequence[str], sensitive: str, finer: Sequence[Any]
    ) -> _Structure:
        texts = texts_of(release, names)
        classes = Classes.of(texts)
        kept = np.flatnonzero(classes.of_row >= 0)
        coarse = classes.of_row[kept]
        below = _partitions(finer, texts.columns, classes.of_row)
        cell = number_combinations([coarse, *below])
        _, first, sizes = np.unique(cell, return_index=True, return_counts=True)
        cell_of_row = np.full(texts.height, -1, dtype=np.int64)
        cell_of_row[kept] = cell
        values, counts = _values_by_class(
            classes, texts_of(release, sensitive).get_column(sensitive)
        )
        # Cells are numbered class by class, so those of a class are neighbours.
        starts = np.searchsorted(coarse[first], np.arange(classes.sizes.size + 1))
        return cls(
            [
                Block(np.arange(start, end), sizes[start:end], amount)
                for (start, end), amount in zip(pairwise(starts.tolist()), counts, strict=True)
            ],
            values,
            cell_of_row,
            sizes.astype(np.int64),
            coarse[first],
            [fine[first] for fine in below],
        )

    def counted(self, classes: Iterable[NDArray[np.int64]]) -> list[Counter[str]]:
        """Counts by place as counts by value, empty cells left out."""
        texts = self.values.to_list()
        return [
            Counter({texts[place]: counts[place] for place in range(len(texts)) if counts[place]})
            for counts in (amounts.tolist() for amounts in classes)
        ]

    def would_do(self, world: NDArray[np.int64], holds: Holds) -> bool:
        """Whether a finer table would have met the model, had the values been dealt out so."""
        for classes in self.finer:
            counts = np.zeros((int(classes.max()) + 1, world.shape[1]), dtype=np.int64)
            np.add.at(counts, classes, world)
            there = counts.sum(axis=1) > 0
            if holds(self.counted(counts[there])):
                return True
        return False


def _partitions(
    finer: Sequence[Any], names: Sequence[str], of_row: NDArray[np.int64]
) -> list[NDArray[np.int64]]:
    """The class of each kept row in each finer table, refused if it does not lie in one of ours."""
    kept, found = np.flatnonzero(of_row >= 0), []
    for number, table in enumerate(finer):
        texts = texts_of(table, names, table=Message("assess.table.finer"))
        if texts.height != of_row.size:
            raise _not_finer(number)
        fine = number_combinations([CodedColumn.of(column).codes for column in texts])[kept]
        if int(number_combinations([fine, of_row[kept]]).max()) + 1 != np.unique(fine).size:
            raise _not_finer(number)
        found.append(fine)
    return found


def _values_by_class(classes: Classes, column: pl.Series) -> tuple[pl.Series, NDArray[np.int64]]:
    """The values to deal out, and how many of each a class has; empty cells come last."""
    coded = encode(column)
    if not len(coded.values) or not classes.sizes.size:
        raise InputError("CEL-A065", column=column.name)
    kept = classes.of_row >= 0
    place = np.where(coded.codes < 0, len(coded.values), coded.codes).astype(np.int64)
    counts = np.zeros((classes.sizes.size, len(coded.values) + 1), dtype=np.int64)
    np.add.at(counts, (classes.of_row[kept], place[kept]), 1)
    return coded.values, counts


def _believe(  # noqa: PLR0917 - the choice between counting and drawing
    structure: _Structure,
    holds: Holds,
    ways: int | None,
    cap: int,
    samples: int,
    rng: Source | None,
    progress: Progress,
) -> tuple[NDArray[np.float64], int, int]:
    """The expected counts of each cell over the ways that remain, and how many those are."""
    if ways is None and rng is None:
        raise InputError("CEL-A062", cap=cap)
    total = samples if ways is None else ways
    if ways is not None:
        worlds = all_worlds(structure.blocks, structure.cell_sizes.size)
    else:
        assert rng is not None
        worlds = drawn_worlds(structure.blocks, structure.cell_sizes.size, total, rng)
    believed = np.zeros((structure.cell_sizes.size, len(structure.values) + 1))
    mass, kept = 0.0, 0
    for number, (weight, world) in enumerate(worlds):
        if number % 256 == 0:
            progress(Step(Message("assess.stage.assign"), number, total))
        if not structure.would_do(world, holds):
            believed += weight * world
            mass += weight
            kept += 1
    if not kept:
        raise PrivacyError("CEL-A064")
    return believed / mass, total, kept


def _attack(
    structure: _Structure,
    believed: NDArray[np.float64],
    sensitive: str,
    watched: Collection[str] | None,
    facts: dict[str, int],
) -> Attack:
    sizes, width = structure.cell_sizes, len(structure.values)
    counts = np.array([block.counts for block in structure.blocks])
    of_class = counts[:, :width] / counts.sum(axis=1, keepdims=True)
    naive = of_class[structure.class_of_cell]
    after = believed[:, :width] / sizes[:, None]
    cells = np.arange(sizes.size)
    wanted = {watched} if isinstance(watched, str) else watched
    matters = [wanted is None or text in wanted for text in structure.values]
    risen = np.argmax(np.where(matters, after - naive, -1.0), axis=1)
    confidence, prior = after[cells, risen], naive[cells, risen]
    return Attack(
        name=Message("assess.attack.minimality"),
        assumption=Message("assess.knows.minimality"),
        mitigation=Message("assess.prevent.minimality"),
        column=sensitive,
        people=int(sizes.sum()),
        sizes=sizes,
        confidence=confidence,
        hit=confidence - prior > _RISE,
        learnt=singles(structure.values, risen),
        members=Members.of(structure.cell_of_row, sizes.size),
        prior=prior,
        facts=facts,
    )


def _not_finer(number: int) -> InputError:
    return InputError("CEL-A061", table=number + 1)
