"""Rows by what they show: the same order in memory and by way of files, equal rows as they come."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from celosia.frames.sorting import label_key, sort_chunks, sort_order


@pytest.mark.parametrize("most_rows", [1, 7, 1000])
def test_files_give_the_order_of_memory(tmp_path: Path, most_rows: int) -> None:
    rng = np.random.default_rng(5)
    table = pl.DataFrame(
        {
            "age": rng.choice(["20-39", "100-119", "*", "<20", "old"], 300),
            "cost": pl.Series(rng.integers(0, 9, 300)).replace(3, None),
            "row": range(300),
        }
    )
    names = ["age", "cost"]
    chunks = (table[start : start + 50] for start in range(0, 300, 50))
    found = pl.concat(sort_chunks(chunks, names, tmp_path, most_rows))
    assert found["row"].to_list() == sort_order(table, names).tolist()
    assert [*tmp_path.iterdir()] == []
    plain = sorted(
        table.rows(), key=lambda row: (label_key(row[0]), row[1] is None, row[1] or 0, row[2])
    )
    assert found.rows() == plain


def test_no_rows_are_sorted_to_no_rows(tmp_path: Path) -> None:
    table = pl.DataFrame({"a": pl.Series([], dtype=pl.String)})
    assert sum(part.height for part in sort_chunks(iter([table]), ["a"], tmp_path, 10)) == 0
