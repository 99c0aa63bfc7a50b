"""Released tables as numbers: the same cells, and nothing that no row shows."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.effort import examples

from celosia import KAnonymity, Seeded, datasets, frames
from celosia.tables import TableRelease, publish, release, released_table
from celosia.tables.released_table import ReleasedColumn, ReleasedTable, class_numbers

CELLS = st.lists(st.sampled_from(["a", "b", "c", "*", "", None]), min_size=1, max_size=8)


@given(cells=CELLS, data=st.data())
@settings(max_examples=examples(80))
def test_each_row_shows_its_cell_and_cells_are_those_shown(
    cells: list[str | None], data: st.DataObject
) -> None:
    places = np.array(data.draw(st.lists(st.integers(0, len(cells) - 1), min_size=1, max_size=9)))
    column = ReleasedColumn.of(pl.Series("x", cells, dtype=pl.String), places)
    expected = [cells[place] for place in places]
    assert column.series().to_list() == expected
    assert len(column.cells) == len({*expected})
    assert {*column.cells.to_list()} == {*expected}
    assert column.shows("*").tolist() == [cell == "*" for cell in expected]
    again = ReleasedColumn.of_series(column.series())
    assert again.series().equals(column.series())
    order = np.arange(places.size)[::-1]
    assert column.take(order).series().to_list() == expected[::-1]


@pytest.mark.parametrize(
    ("cells", "shown"),
    [
        (pl.Series([-0.0, 0.0, 2.5]), [0.0, 0.0, 2.5]),
        (pl.Series(["f", "m", None], dtype=pl.Enum(["m", "f", "never"])), ["f", "m", None]),
        (pl.Series([True, None, False]), [True, None, False]),
    ],
)
def test_zeros_have_no_sign_and_categories_become_text(cells: pl.Series, shown: list[Any]) -> None:
    column = ReleasedColumn.of_series(cells)
    assert [str(cell) for cell in column.series()] == [str(cell) for cell in shown]
    assert column.cells.dtype in (pl.Float64, pl.String, pl.Boolean)
    assert column.cells.dtype == ReleasedColumn.of(cells, np.arange(3)).cells.dtype


def test_classes_are_rows_that_show_the_same() -> None:
    rows = [("a", 1), ("b", 1), ("a", 1), ("a", 2), ("b", 1)]
    numbers = class_numbers(
        [
            ReleasedColumn.of_series(pl.Series([word for word, _ in rows])),
            ReleasedColumn.of_series(pl.Series([number for _, number in rows])),
        ]
    )
    same = [[one == other for other in rows] for one in rows]
    assert (numbers[:, None] == numbers[None, :]).tolist() == same


@pytest.fixture(scope="module")
def published() -> TableRelease:
    census = datasets.census(900, seed=3)
    return publish(census, datasets.census_schema(), KAnonymity(5), rng=Seeded(1))


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".arrow", ".jsonl"])
def test_a_large_table_is_written_in_parts_as_it_is_written_whole(
    published: TableRelease, suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, parts = tmp_path / f"whole{suffix}", tmp_path / f"parts{suffix}"
    published.write_data(whole)
    monkeypatch.setattr(release, "SLICE", 200)
    monkeypatch.setattr(released_table, "SLICE", 200)
    published.write_data(parts)
    text: dict[str, frames.ColumnType] = dict.fromkeys(published.table.text_columns, "string")
    assert frames.read(parts, types=text).equals(frames.read(whole, types=text))
    if suffix == ".csv":
        assert parts.read_bytes() == whole.read_bytes()


def test_what_is_kept_and_pickled_names_no_label_that_no_row_shows(
    published: TableRelease,
) -> None:
    columns = {
        each.name: each for each in published.table.columns if isinstance(each, ReleasedColumn)
    }
    assert {"age", "education"} <= {*columns}
    for name, column in columns.items():
        assert {*column.cells} == {*published.data[name]}
    kept = pickle.dumps(published.table)
    raw = datasets.census(900, seed=3)
    texts = {cell for name in columns for cell in raw[name] if isinstance(cell, str)}
    gone = {text for text in texts if len(text) > 8} - {
        cell for column in published.data for cell in column
    }
    assert len(gone) > 5
    assert not any(text.encode() in kept for text in gone)
    assert pickle.loads(pickle.dumps(published)).data.equals(published.data)


def test_a_table_that_is_a_frame_stays_it() -> None:
    frame = pl.DataFrame({"a": [1, None], "b": ["x", "y"]})
    table = ReleasedTable.of(frame)
    assert table.frame().equals(frame)
    assert (table.height, table.text_columns) == (2, ["b"])
    assert [part.height for part in table.slices()] == [2]
