"""Small random hierarchies and tables."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from tests.tables.recoding.plain import Path, Row

from celosia.tables.coding import CodedColumn
from celosia.tables.hierarchies import Hierarchy


@st.composite
def paths(draw: st.DrawFn, max_leaves: int = 6, max_inner: int = 3) -> list[Path]:
    """The paths of a random hierarchy: each level merges labels of the one below."""
    leaves = draw(st.integers(1, max_leaves))
    columns = [[f"v{leaf}" for leaf in range(leaves)]]
    for level in range(draw(st.integers(0, max_inner))):
        merge = {label: draw(st.integers(0, 3)) for label in dict.fromkeys(columns[-1])}
        columns.append([f"l{level}g{merge[label]}" for label in columns[-1]])
    columns.append(["*"] * leaves)
    return list(zip(*columns, strict=True))


@st.composite
def tables(
    draw: st.DrawFn, max_columns: int = 3, max_rows: int = 24
) -> tuple[list[list[Path]], list[Row]]:
    """Hierarchies and rows over their leaves."""
    hierarchies = draw(st.lists(paths(), min_size=1, max_size=max_columns))
    row = st.tuples(*(st.sampled_from([path[0] for path in column]) for column in hierarchies))
    return hierarchies, draw(st.lists(row, min_size=1, max_size=max_rows))


def coded(hierarchies: list[list[Path]], rows: list[Row]) -> list[CodedColumn]:
    """The same table as the search takes it."""
    result = []
    for number, column in enumerate(hierarchies):
        hierarchy = Hierarchy.from_paths(column)
        leaf_of_row = np.array([hierarchy.index[row[number]] for row in rows], dtype=np.int32)
        result.append(CodedColumn(f"c{number}", hierarchy, leaf_of_row))
    return result
