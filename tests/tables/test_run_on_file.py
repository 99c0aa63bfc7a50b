"""Publishing from file to file gives what publishing in memory gives."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.effort import examples

from celosia import (
    InputError,
    KAnonymity,
    PrivacyError,
    PrivacyWarning,
    Role,
    Schema,
    Seeded,
    datasets,
    frames,
)
from celosia.core.errors import Cancelled
from celosia.core.progress import Step
from celosia.engines.shuffling import shuffle
from celosia.tables import FileRelease, TableRelease, publish, publish_file

SCHEMA = datasets.census_schema()
MODEL = KAnonymity(5)
ORDERED = pytest.warns(PrivacyWarning, match="original order")


@pytest.fixture(scope="module")
def census() -> pl.DataFrame:
    return datasets.census(3000, seed=8)


def stored(frame: pl.DataFrame, folder: Path, suffix: str = ".csv") -> Path:
    path = folder / f"raw{suffix}"
    frames.write(frame, path)
    return path


@pytest.mark.parametrize(
    ("suffix", "method"),
    [
        (".csv", "lattice"),
        (".csv.gz", "lattice"),
        (".parquet", "mondrian"),
        (".arrow", "lattice"),
        (".jsonl", "mondrian"),
    ],
)
def test_chunks_give_the_rows_that_memory_gives(
    census: pl.DataFrame, tmp_path: Path, suffix: str, method: str
) -> None:
    source, target = stored(census, tmp_path, suffix), tmp_path / f"safe{suffix}"
    with ORDERED:
        whole = publish(census, SCHEMA, MODEL, method=method, keep_order=True)
    with ORDERED:
        release = publish_file(
            source, target, SCHEMA, MODEL, method=method, keep_order=True, chunk_rows=700
        )
    assert frames.read(target).equals(whole.data)
    assert release.measures() == whole.measures()
    assert release.guarantee == whole.guarantee
    assert release.path == target


@pytest.mark.parametrize("drop", [False, True])
def test_a_shuffled_release_holds_the_same_rows_in_another_order(
    census: pl.DataFrame, tmp_path: Path, drop: bool
) -> None:
    source, target = stored(census, tmp_path), tmp_path / "safe.parquet"
    publish_file(source, target, SCHEMA, MODEL, chunk_rows=700, drop_suppressed=drop)
    with ORDERED:
        whole = publish(census, SCHEMA, MODEL, keep_order=True, drop_suppressed=drop).data
    found = frames.read(target)
    assert not found.equals(whole)
    assert Counter(found.rows()) == Counter(whole.rows())


def test_a_seed_repeats_the_order_and_is_told(census: pl.DataFrame, tmp_path: Path) -> None:
    source = stored(census, tmp_path)
    results = []
    for name in ("one.csv", "two.csv"):
        release = publish_file(
            source, tmp_path / name, SCHEMA, MODEL, rng=Seeded(4), chunk_rows=700
        )
        assert release.guarantee.simulation
        results.append((tmp_path / name).read_bytes())
    assert results[0] == results[1]


@pytest.mark.statistical
def test_every_order_is_equally_likely_though_rows_pass_through_several_files(
    tmp_path: Path,
) -> None:
    source = Seeded(5)

    def check(orders: Counter[Any]) -> None:
        # Binomial with p = 1/6: six deviations of sqrt(n p (1-p)).
        draws = orders.total()
        assert len(orders) == 6
        assert all(abs(n - draws / 6) < 6 * np.sqrt(draws * 5 / 36) for n in orders.values())

    # Three rows, so that files stay empty or get one.
    chunks = [pl.DataFrame({"row": [0, 1]}), pl.DataFrame({"row": [2]})]
    check(
        Counter(
            tuple(pl.concat(shuffle(iter(chunks), tmp_path, 2, source))["row"])
            for _ in range(examples(1200))
        )
    )
    # Where all orders of many rows are equally likely, so are the six of each three of them, and
    # threes that share no row are independent: 12,000 draws in one go, 2000 give or take 245.
    threes = 12_000
    chunks = [
        pl.DataFrame({"row": np.arange(2 * threes)}),
        pl.DataFrame({"row": np.arange(2 * threes, 3 * threes)}),
    ]
    found = pl.concat(shuffle(iter(chunks), tmp_path, 4, source))["row"].to_numpy()
    place = np.argsort(found)  # of row i
    check(Counter(map(tuple, np.argsort(place.reshape(3, threes).T, axis=1).tolist())))


def test_the_release_loads_as_a_file_or_as_a_table(census: pl.DataFrame, tmp_path: Path) -> None:
    target = tmp_path / "safe.parquet"
    made = publish_file(stored(census, tmp_path), target, SCHEMA, MODEL)
    assert FileRelease.load(target) == made
    assert TableRelease.load(target).data.height == census.height


def test_identifiers_go_and_other_columns_stay_in_place(tmp_path: Path) -> None:
    raw = pl.DataFrame({"name": ["a", "b", "c"], "n": [1, 2, 3], "zip": ["11", "11", "12"]})
    schema = Schema.of(
        identifiers=["name"], quasi_identifiers=["zip"], other_columns=Role.INSENSITIVE
    )
    target = tmp_path / "safe.csv"
    with ORDERED:
        publish_file(stored(raw, tmp_path), target, schema, KAnonymity(3), keep_order=True)
    assert frames.read(target).columns == ["n", "zip"]
    assert frames.read(target)["n"].to_list() == [1, 2, 3]


@pytest.mark.parametrize("name", ["hidden", "released zip", "row", "size", "count"])
def test_columns_with_the_names_used_inside_do_no_harm(tmp_path: Path, name: str) -> None:
    raw = pl.DataFrame({name: ["x", "y", "z"], "zip": ["11", "11", "92"]})
    target = tmp_path / "safe.csv"
    for schema in (
        Schema.of(quasi_identifiers=["zip"], sensitive=[name]),
        Schema.of(quasi_identifiers=["zip", name]),
    ):
        publish_file(
            stored(raw, tmp_path),
            target,
            schema,
            KAnonymity(2),
            suppression=0.4,
            drop_suppressed=True,
        )
        with ORDERED:
            whole = publish(
                raw, schema, KAnonymity(2), suppression=0.4, drop_suppressed=True, keep_order=True
            )
        assert sorted(frames.read(target).columns) == sorted(whole.data.columns)
        assert frames.read(target).height == whole.data.height


def test_an_empty_cell_is_reported_by_its_row_in_the_file(tmp_path: Path) -> None:
    zips = ["11", "12"] * 10
    raw = pl.DataFrame({"zip": [*zips, None, "11", None], "n": range(23)})
    schema = Schema.of(quasi_identifiers=["zip"], insensitive=["n"])
    with pytest.raises(InputError, match=r"2 cells are empty \(first at row 21") as refused:
        publish_file(
            stored(raw, tmp_path), tmp_path / "safe.csv", schema, KAnonymity(2), chunk_rows=5
        )
    assert refused.value.details["row"] == 21


def test_nothing_is_left_behind_when_the_work_fails(census: pl.DataFrame, tmp_path: Path) -> None:
    source = stored(census, tmp_path)

    def stop(step: Step) -> None:
        if step.stage == "Recoding the file":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        publish_file(source, tmp_path / "safe.csv", SCHEMA, MODEL, chunk_rows=700, progress=stop)
    with pytest.raises(PrivacyError):
        publish_file(source, tmp_path / "safe.csv", SCHEMA, KAnonymity(5000))
    assert [*tmp_path.iterdir()] == [source]


def test_a_file_without_rows_or_with_a_strange_column_is_refused(tmp_path: Path) -> None:
    empty = stored(pl.DataFrame({"zip": pl.Series([], dtype=pl.String)}), tmp_path, ".parquet")
    schema = Schema.of(quasi_identifiers=["zip"])
    with pytest.raises(InputError, match="no rows"):
        publish_file(empty, tmp_path / "safe.csv", schema, KAnonymity(2))
    strange = stored(pl.DataFrame({"zip": ["1", "2"], "name": ["a", "b"]}), tmp_path)
    with pytest.raises(InputError, match="no role to column 'name'"):
        publish_file(strange, tmp_path / "safe.csv", schema, KAnonymity(2))


def test_a_format_that_cannot_grow_is_refused_before_any_work(
    census: pl.DataFrame, tmp_path: Path
) -> None:
    steps: list[Step] = []
    with pytest.raises(InputError):
        publish_file(
            stored(census, tmp_path), tmp_path / "a.xlsx", SCHEMA, MODEL, progress=steps.append
        )
    assert steps == []


def test_what_goes_wrong_in_a_later_chunk_comes_out_as_it_is(tmp_path: Path) -> None:
    source = tmp_path / "raw.csv"
    rows = [f"{age},x" for age in range(400)]
    source.write_text("\n".join(["age,zip", *rows, "PLANTED,x", "1,x"]))
    schema = Schema.from_table(
        {
            "columns": {
                "age": {"role": "quasi-identifier", "type": "integer"},
                "zip": {"role": "quasi-identifier"},
            }
        }
    )
    with pytest.raises(InputError, match="column 'age'") as refused:
        publish_file(source, tmp_path / "safe.csv", schema, KAnonymity(2), chunk_rows=50)
    assert refused.value.details["row"] == 401
    assert "PLANTED" not in str(refused.value)
    assert [*tmp_path.iterdir()] == [source]


def test_cancelling_while_the_engine_reads_is_a_cancellation(
    census: pl.DataFrame, tmp_path: Path
) -> None:
    def stop(step: Step) -> None:
        raise Cancelled

    source = stored(census, tmp_path)
    with pytest.raises(Cancelled):
        publish_file(source, tmp_path / "a.csv", SCHEMA, MODEL, chunk_rows=700, progress=stop)
    assert [*tmp_path.iterdir()] == [source]


def test_a_file_is_not_published_over_itself(census: pl.DataFrame, tmp_path: Path) -> None:
    source = stored(census, tmp_path)
    with pytest.raises(InputError, match="both source and target"):
        publish_file(source, tmp_path / "." / source.name, SCHEMA, MODEL)


def test_columns_left_raw_keep_their_types_when_the_suppressed_are_dropped(tmp_path: Path) -> None:
    raw = pl.DataFrame({"age": [30, 30, 44], "zip": ["1", "1", "2"]})
    schema = Schema.of(quasi_identifiers=["age", "zip"])
    target = tmp_path / "safe.parquet"
    arguments: dict[str, Any] = {"suppression": 0.4, "drop_suppressed": True}
    publish_file(stored(raw, tmp_path, ".parquet"), target, schema, KAnonymity(2), **arguments)
    release = publish(raw, schema, KAnonymity(2), **arguments)
    assert frames.read(target).equals(release.data)
    assert release.data["age"].to_list() == [30, 30]
