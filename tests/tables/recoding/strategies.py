"""Small random hierarchies and tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import polars as pl
from hypothesis import strategies as st
from tests.tables.recoding.plain import Path, Row, generalise
from tests.tables.recoding.plain_metrics import Release
from tests.tables.recoding.plain_models import PlainClass, Whole, kept_classes

from celosia.tables.coded_table import CodedColumn, CodedSensitive, code_sensitive
from celosia.tables.hierarchies import Hierarchy
from celosia.tables.models import (
    AlphaK,
    AverageRisk,
    BetaLikeness,
    DeltaDisclosure,
    DeltaPresence,
    DistinctDiversity,
    EntropyDiversity,
    KAnonymity,
    KMap,
    Model,
    NoAttack,
    PopulationUniqueness,
    Profitable,
    PSensitive,
    RecursiveDiversity,
    TCloseness,
)
from celosia.tables.recoding import Lattice
from celosia.tables.schema import Column, Role

Node = tuple[int, ...]

SENSITIVE = "illness"
TREE: list[Path] = [
    ("0", "a", "low", "*"),
    ("1", "a", "low", "*"),
    ("2", "b", "low", "*"),
    ("3", "c", "high", "*"),
    ("4", "c", "high", "*"),
]
"""The sensitive values, in order and as a hierarchy."""
ILLNESS = Column(SENSITIVE, Role.SENSITIVE, hierarchy=Hierarchy.from_paths(TREE))


LEAVES, INNER, GROUPS = 6, 3, 4
"""The most leaves and inner levels of a hierarchy, and labels of an inner level."""

ANY_LEAF = 60
"""A number below this is as likely to mean any of up to six leaves."""


# One number a row and a level, of strategies that are made once: drawing cell by cell takes longer
# than what is tested.
_merges = st.lists(st.integers(0, GROUPS**LEAVES - 1), max_size=INNER)


def _hierarchy(leaves: int, merges: list[int]) -> list[Path]:
    """Each level merges labels of the one below, the digits of its number saying which."""
    columns = [[f"v{leaf}" for leaf in range(leaves)]]
    for level, number in enumerate(merges):
        distinct = list(dict.fromkeys(columns[-1]))
        merge = {label: number // GROUPS**place % GROUPS for place, label in enumerate(distinct)}
        columns.append([f"l{level}g{merge[label]}" for label in columns[-1]])
    columns.append(["*"] * leaves)
    return list(zip(*columns, strict=True))


_paths = st.builds(_hierarchy, st.integers(1, LEAVES), _merges)


def paths() -> st.SearchStrategy[list[Path]]:
    """The paths of a random hierarchy."""
    return _paths


def _rows(hierarchies: list[list[Path]], numbers: list[int]) -> list[Row]:
    """A row for each number, whose digits choose the leaves."""
    return [
        tuple(
            [
                column[number // ANY_LEAF**place % ANY_LEAF % len(column)][0]
                for place, column in enumerate(hierarchies)
            ]
        )
        for number in numbers
    ]


def _table(hierarchies: list[list[Path]], numbers: list[int]) -> tuple[list[list[Path]], list[Row]]:
    return hierarchies, _rows(hierarchies, numbers)


def tables(
    max_columns: int = 3, max_rows: int = 24
) -> st.SearchStrategy[tuple[list[list[Path]], list[Row]]]:
    """Hierarchies and rows over their leaves."""
    numbers = st.integers(0, ANY_LEAF**max_columns - 1)
    return st.builds(
        _table,
        st.lists(_paths, min_size=1, max_size=max_columns),
        st.lists(numbers, min_size=1, max_size=max_rows),
    )


def coded(hierarchies: list[list[Path]], rows: list[Row]) -> list[CodedColumn]:
    """The same table as the search takes it."""
    result = []
    for number, column in enumerate(hierarchies):
        hierarchy = Hierarchy.from_paths(column)
        leaf_of_row = np.array([hierarchy.index[row[number]] for row in rows], dtype=np.int32)
        result.append(CodedColumn(f"c{number}", hierarchy, leaf_of_row))
    return result


@dataclass(frozen=True)
class People:
    """A table with a sensitive column, and the population that it is a sample of."""

    hierarchies: list[list[Path]]
    rows: list[Row]
    values: list[int]
    others: list[Row]
    """People of the population who are not in the table."""

    @property
    def nodes(self) -> list[Node]:
        return list(product(*(range(len(paths[0])) for paths in self.hierarchies)))

    def sensitive(self) -> CodedSensitive:
        return code_sensitive(pl.Series(SENSITIVE, self.values), ILLNESS)

    def lattice(self) -> Lattice:
        """As the search takes it."""
        leaves = [column.leaf_of_row for column in coded(self.hierarchies, self.rows + self.others)]
        return Lattice(
            coded(self.hierarchies, self.rows), sensitive=[self.sensitive()], population=leaves
        )

    def labels(self, node: Sequence[int]) -> list[Row]:
        return generalise(self.rows, self.hierarchies, node)

    def classes(self, node: Sequence[int]) -> dict[Row, PlainClass]:
        """The classes of the population at a node, those without a record of the table too."""
        found: dict[Row, PlainClass] = {}
        labels = generalise(self.rows + self.others, self.hierarchies, node)
        for label, people in Counter(labels).items():
            found[label] = PlainClass([], people)
        for label, value in zip(labels[: len(self.rows)], self.values, strict=True):
            found[label].values.append(value)
        return found

    def release(
        self, node: Sequence[int], models: Sequence[Model], weights: Mapping[int, float] = {}
    ) -> Release:
        """What a node gives, by the definitions."""
        labels = self.labels(node)
        kept = kept_classes(self.classes(node), Whole(self.values, TREE), models)
        return Release(
            self.hierarchies, self.rows, node, labels, [each in kept for each in labels], weights
        )


def _people(
    table: tuple[list[list[Path]], list[Row]], most: int, values: bytes, others: list[int]
) -> People:
    hierarchies, rows = table
    numbers = [value % (most + 1) for value in values[: len(rows)]]
    return People(hierarchies, rows, numbers, _rows(hierarchies, others))


def people(max_columns: int = 2, max_rows: int = 24) -> st.SearchStrategy[People]:
    """Small tables whose classes are seldom all alike."""
    return st.builds(
        _people,
        tables(max_columns, max_rows),
        st.sampled_from([1, 2, 4]),
        st.binary(min_size=max_rows, max_size=max_rows),
        st.lists(st.integers(0, ANY_LEAF**max_columns - 1), max_size=12),
    )


_share = st.sampled_from([0.1, 0.2, 0.25, 0.3, 0.5, 0.6, 0.75])
_few = st.integers(2, 4)
_here = st.just(SENSITIVE)

KINDS: dict[str, st.SearchStrategy[Model]] = {
    "k-anonymity": st.builds(KAnonymity, _few),
    "distinct": st.builds(DistinctDiversity, _few, _here),
    "entropy": st.builds(
        EntropyDiversity, st.sampled_from([1.3, 1.5, 2, 2.5, 3]), st.just("shannon"), _here
    ),
    "recursive": st.builds(
        RecursiveDiversity, st.sampled_from([0.5, 1, 1.5, 2, 3, 4]), st.integers(2, 3), _here
    ),
    "t equal": st.builds(TCloseness, _share, st.just("equal"), _here),
    "t ordered": st.builds(TCloseness, _share, st.just("ordered"), _here),
    "t hierarchical": st.builds(TCloseness, _share, st.just("hierarchical"), _here),
    "alpha-k": st.builds(AlphaK, st.sampled_from([0.4, 0.5, 0.6, 0.75]), _few, _here),
    "p-sensitive": st.builds(PSensitive, _few, _few, _here),
    "beta": st.builds(BetaLikeness, st.sampled_from([0.3, 0.5, 1, 2]), st.booleans(), _here),
    "delta-disclosure": st.builds(
        DeltaDisclosure, st.sampled_from([0.3, 0.7, 1, 1.5]), st.booleans(), _here
    ),
    "k-map": st.builds(KMap, st.integers(2, 8)),
    "delta-presence": st.builds(
        DeltaPresence, st.sampled_from([0, 0, 0.2]), st.sampled_from([0.3, 0.5, 0.75, 1])
    ),
    "average risk": st.builds(AverageRisk, _share),
    "no attack": st.builds(NoAttack, st.sampled_from([1, 2.5, 3, 7.2]), st.sampled_from([0.9, 1])),
}
"""Every model that has a plain twin."""

ESTIMATED: dict[str, st.SearchStrategy[Model]] = {
    "estimated entropy": st.builds(
        EntropyDiversity, st.sampled_from([1.3, 1.5, 2, 2.5, 3]), st.just("grassberger"), _here
    ),
    "estimated no attack": st.builds(
        NoAttack, st.sampled_from([1, 2.5]), st.just(0.5), st.just("journalist"), _share
    ),
    "profitable": st.builds(
        Profitable,
        st.just(10),
        st.sampled_from([5, 30]),
        st.sampled_from([1, 4]),
        st.sampled_from([0.3, 1]),
    ),
    "estimated k-map": st.builds(KMap, st.integers(2, 8), _share),
    "population uniqueness": st.builds(
        PopulationUniqueness, st.sampled_from([0.01, 0.1, 0.3]), _share
    ),
}
"""Those with an estimate inside, which is tested by itself."""

plain_models = st.one_of(*KINDS.values())
all_models = st.one_of(*KINDS.values(), *ESTIMATED.values())
