"""A file of text for a private step: no cell decides a type or a refusal."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from celosia import Schema, Seeded
from celosia.tables import masking, private
from celosia.tables.masking.recipe import read_for_methods

HISTOGRAM = private.NoisyHistogram(
    epsilon=1,
    bounds={"age": (0, 100), "height": (1.0, 2.5)},
    domains={"sex": ("f", "m"), "floor": (0, 1, 2)},
)
LINES = ["age,height,sex,floor", *["30,1.8,f,1"] * 30]


def _written(folder: Path, *extra: str) -> Path:
    path = folder / f"people{len(extra)}.csv"
    path.write_text("\n".join([*LINES, *extra]) + "\n")
    return path


@pytest.mark.parametrize(
    "row",
    [
        "x,1.8,f,1",
        "30.5,1.8,f,1",
        "30,tall,f,1",
        "30,1.8,7,1",
        "30,1.8,f,ground",
        "1e400,-inf,f,1.5",
        "nan,nan,,",
        ",,,",
        "99999999999999999999,2,f,1",
        "2020-01-01,2,f,1",
    ],
)
def test_one_row_more_changes_no_type_and_causes_no_refusal(tmp_path: Path, row: str) -> None:
    schemas, released = [], []
    for path in (_written(tmp_path), _written(tmp_path, row)):
        frame = read_for_methods(path, [HISTOGRAM])
        recipe = masking.Recipe.of(
            Schema.of(quasi_identifiers=["age"], other_columns="insensitive"),
            [(HISTOGRAM, frame.columns)],
        )
        schemas.append(frame.schema)
        released.append(masking.mask(frame, recipe, rng=Seeded(1)).data.schema)
    assert schemas[0] == schemas[1]
    assert released[0] == released[1]
    assert dict(released[0]) == {
        "age": pl.Int64,
        "height": pl.Float64,
        "sex": pl.String,
        "floor": pl.Int64,
    }


def test_cells_are_read_by_their_declaration(tmp_path: Path) -> None:
    frame = read_for_methods(_written(tmp_path, " 41 ,1.75, f,2", "30.6,x,f,2.0"), [HISTOGRAM])[-2:]
    assert frame["age"].to_list() == [41, 31]
    assert frame["height"].to_list() == [1.75, None]
    assert frame["sex"].to_list() == [" f", "f"]
    assert frame["floor"].to_list() == [2, 2]


def test_other_methods_and_other_formats_keep_the_types_of_the_file(tmp_path: Path) -> None:
    plain = read_for_methods(_written(tmp_path), [masking.Noise(amount=1)])
    assert plain.schema["age"] == pl.Int64
    assert plain.schema["floor"] == pl.Int64
    kept = pl.DataFrame({"age": [1.5], "height": [2], "sex": ["f"], "floor": ["x"]})
    kept.write_parquet(tmp_path / "people.parquet")
    assert read_for_methods(tmp_path / "people.parquet", [HISTOGRAM]).schema == kept.schema


def test_types_that_a_schema_declares_still_count(tmp_path: Path) -> None:
    frame = read_for_methods(_written(tmp_path), [masking.Noise(amount=1)], types={"age": "string"})
    assert frame.schema["age"] == pl.String


@pytest.mark.parametrize(
    "row", ["x;x;f;1", "30,5;1.8;f;1", "1,234;1,8;f;1,0", ";;;", "1.5;3,14;f;"]
)
def test_decimal_commas_are_read_cell_by_cell(tmp_path: Path, row: str) -> None:
    lines = [LINES[0].replace(",", ";"), *["30;1,8;f;1", "31,4;1,234;m;2"] * 15]
    found = []
    for extra in ([], [row]):
        path = tmp_path / "people.csv"
        path.write_text("\n".join([*lines, *extra]) + "\n")
        found.append(read_for_methods(path, [HISTOGRAM]))
    assert found[0].rows()[:2] == [(30, 1.8, "f", 1), (31, 1.234, "m", 2)]
    assert found[1].head(30).equals(found[0])
    assert read_for_methods(path, [HISTOGRAM], decimal=".")["height"].head(30).null_count() == 30
    assert read_for_methods(path, [HISTOGRAM], decimal=",").head(30).equals(found[0])


def test_what_a_private_column_holds_does_not_decide_how_others_are_read(tmp_path: Path) -> None:
    for height in ("1,8", "tall"):
        path = tmp_path / "people.csv"
        path.write_text(f"age;height;sex;floor;other\n30;{height};f;1;1,234\n")
        assert read_for_methods(path, [HISTOGRAM], header=True)["other"].to_list() == ["1,234"]
