"""Records whose empty cells suppress them: they count in the limit, the loss and the risk."""

from __future__ import annotations

from pathlib import Path as File
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.tables.recoding.plain_metrics import loss
from tests.tables.recoding.strategies import People, people

from celosia import KAnonymity
from celosia.core.errors import PrivacyError
from celosia.tables import (
    Column,
    DistinctDiversity,
    Hierarchy,
    Role,
    Schema,
    TCloseness,
    publish,
    publish_file,
)
from celosia.tables.recoding import allowance

pytestmark = pytest.mark.filterwarnings("ignore::celosia.core.errors.PrivacyWarning")

LETTERS = Hierarchy.from_paths([(leaf, "*") for leaf in "xyzw"])


def schema(**sensitive: Any) -> Schema:
    return Schema(
        (
            Column("a", Role.QUASI_IDENTIFIER, hierarchy=LETTERS, missing="suppress"),
            *(Column(name, Role.SENSITIVE) for name in sensitive),
        )
    )


@pytest.mark.parametrize("rows", [3, 6, 9, 23, 49, 98])
def test_every_record_that_the_limit_leaves_may_still_be_suppressed(rows: int) -> None:
    # One empty, three alone: four may go in all, however the shares round.
    data = pl.DataFrame({"a": ["x"] * rows + [*"yzw"] + [None]})
    total = rows + 4
    limit = next(n / 10_000 for n in range(10_000) if allowance(n / 10_000, total) == 4)
    solution = publish(data, schema(), KAnonymity(2), suppression=limit).solution
    assert (solution.levels, solution.suppressed) == ((0,), 4)
    less = next(n / 10_000 for n in range(10_000) if allowance(n / 10_000, total) == 3)
    solution = publish(data, schema(), KAnonymity(2), suppression=less).solution
    assert (solution.levels, solution.suppressed) == ((1,), 1)


@settings(max_examples=100)
@given(people(), st.data(), st.sampled_from([0.0, 0.2, 0.5, 1.0]))
def test_the_optimum_is_that_of_the_others_within_what_the_limit_leaves(
    table: People, data: st.DataObject, suppression: float
) -> None:
    empty = [data.draw(st.sampled_from([False, False, False, True])) for _ in table.rows]
    rows = len(table.rows)
    cells = [None if gone else row[0] for row, gone in zip(table.rows, empty, strict=True)]
    columns: dict[str, list[Any]] = {
        f"c{n}": [row[n] for row in table.rows] for n in range(len(table.hierarchies))
    }
    frame = pl.DataFrame(columns | {"c0": pl.Series(cells, dtype=pl.String)})
    roles = Schema(
        tuple(
            Column(
                f"c{n}",
                Role.QUASI_IDENTIFIER,
                hierarchy=Hierarchy.from_paths(paths),
                missing="suppress",
            )
            for n, paths in enumerate(table.hierarchies)
        )
    )
    left = [n for n in range(rows) if not empty[n]]
    hierarchies = list(table.hierarchies)
    if any(empty):  # an empty cell is a leaf of its own
        hierarchies[0] = [*hierarchies[0], ("",) * (len(hierarchies[0][0]) - 1) + ("*",)]
    rest = People(hierarchies, [table.rows[n] for n in left], [table.values[n] for n in left], [])
    allowed = min(allowance(suppression, rows), rows - 1)
    solutions = []
    for node in rest.nodes:
        release = rest.release(node, [KAnonymity(2)])
        gone = rows - release.kept.count(True)
        if gone <= allowed:
            solutions.append((node, gone, release))
    if not solutions:
        with pytest.raises(PrivacyError) as refused:
            publish(frame, roles, KAnonymity(2), suppression=suppression)
        assert refused.value.code in {"CEL-P001", "CEL-P004"}
        return
    found = publish(frame, roles, KAnonymity(2), suppression=suppression)
    chosen: dict[tuple[int | None, ...], int] = {node: gone for node, gone, _ in solutions}
    assert found.solution.levels in chosen
    assert found.solution.suppressed == chosen[found.solution.levels]
    # Where every column is at its root, suppressed records look like the kept ones.
    at_root = all(column.level == column.height for column in found.solution.columns)
    assert found.risk.records == rows - (0 if at_root else found.solution.suppressed)
    assert found.risk_before.records == rows
    assert found.solution.loss >= found.solution.score - 1e-12
    least = min(loss(release) for _, _, release in solutions)
    assert found.solution.score == pytest.approx(least, abs=1e-9)
    stars = found.data.filter(pl.all_horizontal(pl.all() == "*"))
    if found.solution.suppressed and any(level == 0 for level in found.solution.levels):
        assert stars.height == found.solution.suppressed


def test_the_loss_counts_records_with_empty_cells_as_lost() -> None:
    data = pl.DataFrame({"a": [*"xxxxyyyy", None, None]})
    solution = publish(data, schema(), KAnonymity(2), suppression=0.2).solution
    assert (solution.suppressed, solution.levels) == (2, (0,))
    assert solution.loss == pytest.approx(0.2, abs=1e-9)  # two of ten records lose everything
    assert solution.score == 0


def test_too_many_empty_cells_are_refused() -> None:
    data = pl.DataFrame({"a": [*"xxxx", None]})
    with pytest.raises(PrivacyError) as refused:
        publish(data, schema(), KAnonymity(2), suppression=0.1)
    assert refused.value.code == "CEL-P004"
    nobody = pl.DataFrame({"a": [None, None]}, schema={"a": pl.String})
    with pytest.raises(PrivacyError) as refused:
        publish(nobody, schema(), KAnonymity(2), suppression=1)
    assert refused.value.code == "CEL-P004"


def test_distances_are_from_the_whole_table_records_with_empty_cells_included() -> None:
    # Without the two empty ones the table is 50:50; with them flu has 4 of 6.
    data = pl.DataFrame({"a": [*"xxyy", None, None], "s": ["f", "c", "f", "c", "f", "f"]})
    asked = TCloseness(0.1)
    with pytest.raises(PrivacyError):
        publish(data, schema(s=1), asked, suppression=0.5)
    assert publish(data, schema(s=1), TCloseness(0.17), suppression=0.5).solution.suppressed == 2


@pytest.mark.parametrize("local", [False, True])
def test_streaming_suppresses_the_same_records(tmp_path: File, local: bool) -> None:
    cells = ["x"] * 6 + ["y"] * 3 + ["z", "w"] + [None]
    data = pl.DataFrame({"a": cells, "s": ["f", "c", "h"] * 4})
    data.write_parquet(tmp_path / "in.parquet")
    asked = [KAnonymity(2), DistinctDiversity(2)]
    more: dict[str, Any] = {"suppression": 0.34, "local": local, "keep_order": True}
    held = publish(data, schema(s=1), asked, **more)
    streamed = publish_file(
        tmp_path / "in.parquet", tmp_path / "out.parquet", schema(s=1), asked, chunk_rows=5, **more
    )
    written = pl.read_parquet(tmp_path / "out.parquet")
    assert written.rows() == held.data.rows()
    assert streamed.solution == held.solution
    assert streamed.risk == held.risk
    assert written["a"][11] == "*"


def test_missing_may_differ_by_column() -> None:
    both = Schema(
        (
            Column("a", Role.QUASI_IDENTIFIER, hierarchy=LETTERS, missing="suppress"),
            Column("b", Role.QUASI_IDENTIFIER, hierarchy=LETTERS, missing="value"),
        )
    )
    data = pl.DataFrame({"a": [*"xxxx", None], "b": ["x", "x", None, None, "x"]})
    release = publish(data, both, KAnonymity(2), suppression=0.2, keep_order=True)
    assert release.data["a"].to_list() == [*"xxxx", "*"]
    assert release.data["b"].to_list() == ["x", "x", None, None, "*"]
