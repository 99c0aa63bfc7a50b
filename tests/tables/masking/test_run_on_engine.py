"""Masking on an engine gives what masking in memory gives, or is refused before any work."""

from __future__ import annotations

import datetime as dt
import json
import math
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from tests.engines.server import postgres_server
from tests.engines.tables import as_rows, same_rows
from tests.engines.test_postgres_tables import fetched, store
from tests.spark import on_spark, spark

from celosia import Schema, Seeded, frames
from celosia.assess.risk import measure
from celosia.core.errors import (
    Cancelled,
    CelosiaError,
    EngineError,
    InputError,
    PrivacyWarning,
)
from celosia.core.progress import Step, silent
from celosia.core.randomness import Source, System
from celosia.engines import DuckDBTables, Groups, PostgresTables, duckdb_tables
from celosia.engines.spark.tables import SparkTables
from celosia.frames.columns import without_minus_zero
from celosia.tables import masking, private, synthesis
from celosia.tables.masking import MaskedTable, MaskingMethod, Recipe, mask, mask_on, methods
from celosia.tables.masking.release import StepOutcome
from celosia.tables.masking.run import run_steps
from celosia.tables.masking.run_on_engine import Masker, PreparedStep
from celosia.tables.masking.value_counts import ValueCounts
from celosia.tables.released_table import without_trace

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["spark"]

BOUNDS = {"x": (0, 9)}
MATRIX = ((0.75, 0.25, 0.0), (0.25, 0.5, 0.25), (0.0, 0.25, 0.75))
DECADES = {"method": "intervals", "widths": [10, 20]}

NUMBERS: list[MaskingMethod] = [
    masking.Rounding(base=5),
    masking.Rounding(base=0.1),
    masking.Rounding(base=10, random=True),
    masking.Recoding(breaks=(20, 40, 60)),
    masking.Recoding(hierarchy=DECADES, level=2),
    masking.TopBottom(top=60, bottom=20),
    masking.TopBottom(top_quantile=0.9, bottom=25, inclusive=True),
    masking.TopBottom(top_quantile=0.9, bottom_quantile=0.07, replace="mean"),
    masking.TopBottom(top=60, replace="median"),
    masking.Noise(amount=0.3),
    masking.Noise(alpha=0.1, distribution="laplace", correct="expected"),
    masking.Noise(amount=0.3, multiplicative=True, integer=True, lower=0, upper=90),
]
LETTERS: list[MaskingMethod] = [
    masking.Recoding(mapping={"a": "A"}, other="-"),
    masking.Recoding(hierarchy={"method": "mask", "levels": [1]}),
    masking.Pram(matrix=MATRIX, values=("c", "a", "b")),
    masking.Pram(matrix=MATRIX),
    masking.Pram(stay=0.75),
    masking.Pram(theta=0.5),
    masking.Pram(stay=0.6, rest="frequency", invariant=True),
]
WHOLE: list[MaskingMethod] = [
    masking.Noise(amount=0.3, correlated=True),
    masking.Noise(amount=0.3, correct="exact"),
    masking.LocalSuppression(k=2),
    masking.Mdav(k=3, block=20),
    masking.Microaggregation(k=3),
    masking.PrincipalComponent(k=3),
    masking.ProbabilisticK(k=3),
    masking.RankSwap(window=2),
    masking.RefinedMdav(k=3),
    masking.Resampling(samples=3),
    masking.Sampling(fraction=0.5),
    masking.Shuffling(),
    masking.VariableMdav(k=3),
    private.Contingency(epsilon=1, bounds=BOUNDS, bins=4),
    private.Marginals(epsilon=1, bounds=BOUNDS),
    private.AdaptiveMarginals(epsilon=1, bounds=BOUNDS),
    private.NoisyHistogram(epsilon=1, bounds=BOUNDS),
    private.PrivateMicroaggregation(epsilon=1, bounds=BOUNDS, k=3),
    private.SafePub(epsilon=1, bounds=BOUNDS),
    synthesis.BayesianNetwork(),
    synthesis.Copula(),
    synthesis.Distribution(),
    synthesis.Trees(),
]
SCHEMA = Schema.of(
    quasi_identifiers=["age", "kind"], identifiers=["name"], other_columns="insensitive"
)
DETERMINISTIC = Recipe.of(
    SCHEMA,
    [
        (masking.TopBottom(top_quantile=0.97, bottom_quantile=0.02, replace="mean"), ["pay"]),
        (masking.Rounding(base=0.5), ["pay", "half"]),
        (masking.TopBottom(top=60, bottom_quantile=0.1), ["age"]),
        (masking.Recoding(hierarchy={"method": "mask", "levels": [1]}), ["age"]),
        (masking.Recoding(mapping={"a": "few", "b": "few"}, other="rest"), ["kind"]),
        (masking.Recoding(breaks=(0, 3)), ["x.y"]),
    ],
)
RANDOM = Recipe.of(
    SCHEMA,
    [
        (masking.TopBottom(top_quantile=0.97, replace="mean"), ["pay"]),
        (masking.Noise(amount=0.2), ["pay"]),
        (masking.Pram(stay=0.7, rest="frequency"), ["kind"]),
    ],
)
quiet = pytest.mark.filterwarnings("ignore::celosia.core.errors.PrivacyWarning")


def describe(method: MaskingMethod) -> str:
    return json.dumps(method.as_dict(), default=str)


def people(rows: int) -> pl.DataFrame:
    drawn = Seeded(3).integers(10_000, 4 * rows).reshape(4, rows)
    pay = [None if each % 31 == 0 else each / 7 - 50 for each in drawn[1].tolist()]
    pay[5], pay[6] = math.nan, -0.0
    return pl.DataFrame(
        {
            "name": [f"SECRET {row}" for row in range(rows)],
            "age": pl.Series(drawn[0] % 75, dtype=pl.Int32),
            "pay": pay,
            "kind": [None if each == 4 else "abc?"[each] for each in (drawn[2] % 5).tolist()],
            "half": pl.Series(drawn[3] % 13 / 4, dtype=pl.Float32),
            "x.y": drawn[3] % 6,
            "day": [dt.date(2020, 1, 1) + dt.timedelta(int(each)) for each in drawn[1] % 999],
        }
    )


def cells_for(method: MaskingMethod) -> pl.Series:
    if method in NUMBERS:
        tenths = Seeded(5).integers(800, 240).tolist()
        return pl.Series("x", [None if each < 20 else each / 10 for each in tenths])
    drawn = Seeded(6).integers(7, 240)
    return pl.Series("x", [None if each == 6 else "abc"[each % 3] for each in drawn.tolist()])


def in_memory(frame: pl.DataFrame, recipe: Recipe) -> tuple[pl.DataFrame, tuple[StepOutcome, ...]]:
    """What `mask` releases in order, without its account: linking takes its time."""
    made = run_steps(without_minus_zero(frame.drop("name")), recipe, Seeded(1), silent)
    return without_trace(made.frame), made.outcomes


def counting(cells: pl.Series) -> ValueCounts:
    return ValueCounts.of(cells, np.ones(len(cells), dtype=np.int64))


def test_every_method_declares_its_reach() -> None:
    every = [*NUMBERS, *LETTERS, *WHOLE]
    for kind, declared in methods().items():
        found = {method.reach for method in every if method.method_name == kind}
        assert found == set(declared.reaches), kind
    assert {method.reach for method in WHOLE} == {"whole"}
    assert "whole" not in {method.reach for method in (*NUMBERS, *LETTERS)}


@pytest.mark.parametrize("method", [*NUMBERS, *LETTERS], ids=describe)
def test_batches_give_what_the_whole_column_gives(method: MaskingMethod) -> None:
    """Draws come one a cell and in order, so that one source gives the same over batches."""
    cells = cells_for(method)
    counted: list[ValueCounts] = []

    def value_counts() -> ValueCounts:
        counted.append(counting(cells))
        return counted[0]

    ready = method.cell_function(cells.clear(), value_counts)
    assert len(counted) == (method.reach == "facts")
    work = pickle.loads(pickle.dumps(ready.mask))
    whole = method.apply(cells.to_frame(), ["x"], rng=Seeded(9))
    rng: Source = Seeded(9)
    parts = [cells[:1], cells[1:40], cells[40:41], cells[41:], cells[:0]]
    batched = pl.concat([work(part, rng) for part in parts])
    assert batched.dtype == whole.frame["x"].dtype
    if batched.dtype == pl.Float64:
        # The deviation in memory is a sum of floats: off by the rounding of 240 terms.
        exact = 0 if not method.draws else 240 * 2.0**-53 * 80
        assert np.allclose(batched.to_numpy(), whole.frame["x"].to_numpy(), 0, exact, True)
        assert batched.null_count() == whole.frame["x"].null_count()
    else:
        assert batched.to_list() == whole.frame["x"].to_list()
    for name, fact in ready.facts.items():
        same = whole.facts["x"][name]
        assert fact == pytest.approx(same, rel=1e-12) if isinstance(fact, float) else fact == same
    assert not work(cells.new_from_index(0, 3).clear().extend_constant(None, 3), rng).drop_nulls(
    ).len()  # fmt: skip


def test_a_hierarchy_in_a_file_is_read_here_and_not_by_workers(tmp_path: Path) -> None:
    file = tmp_path / "kinds.csv"
    file.write_text("a;few;*\nb;few;*\nc;rest;*\n")
    method = masking.Recoding(hierarchy={"file": str(file), "delimiter": ";"}, level=1)
    assert method.reach == "row"
    cells = cells_for(LETTERS[0])
    ready = method.cell_function(cells.clear(), lambda: pytest.fail("nothing need be counted"))
    expected = method.apply(cells.to_frame(), ["x"], rng=Seeded(1)).frame["x"]
    file.unlink()
    assert ready.mask(cells, Seeded(1)).to_list() == expected.to_list()
    with pytest.raises(InputError) as caught:
        ready.mask(pl.Series("x", ["SECRET"]), Seeded(1))
    assert caught.value.code == "CEL-V270"
    assert "SECRET" not in str(caught.value)


class Untouched:
    """An engine that must not be asked for anything."""

    name = "untouched"

    def __getattr__(self, name: str) -> Any:
        pytest.fail(f"{name} was called")


@pytest.mark.parametrize("method", WHOLE, ids=describe)
def test_what_needs_all_rows_says_so_before_any_work(method: MaskingMethod, tmp_path: Path) -> None:
    schema = Schema.of(quasi_identifiers=["x"], other_columns="insensitive")
    recipe = Recipe.of(schema, [(masking.Rounding(base=2), ["y"]), (method, ["x"])])
    engine: Any = Untouched()
    with pytest.raises(InputError) as caught:
        mask_on(engine, "raw.parquet", tmp_path / "safe.parquet", recipe)
    assert caught.value.code == "CEL-V207"
    assert f"step 2 of the recipe ({method.method_name}) needs all rows in memory" in str(
        caught.value
    )


def test_facts_of_what_was_drawn_are_refused_before_any_work(tmp_path: Path) -> None:
    engine: Any = Untouched()
    noise, rounded = masking.Noise(amount=0.1), masking.Rounding(base=2, random=True)
    for first in (noise, rounded):
        recipe = Recipe.of(SCHEMA, [(first, ["pay"]), (noise, ["age", "pay"])])
        with pytest.raises(InputError, match=r"facts of 'pay', which step 1 draws") as caught:
            mask_on(engine, "raw.parquet", tmp_path / "safe.parquet", recipe)
        assert caught.value.code == "CEL-V208"


@pytest.fixture(scope="module")
def table() -> pl.DataFrame:
    return people(9000)


@pytest.fixture(scope="module")
def raw(table: pl.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("raw") / "people.parquet"
    table.write_parquet(path, row_group_size=2000)
    return path


@pytest.fixture
def duck(monkeypatch: pytest.MonkeyPatch) -> Iterator[DuckDBTables]:
    monkeypatch.setattr(duckdb_tables, "BATCH", 2048)
    monkeypatch.setattr(duckdb_tables, "LEAST_BATCH", 2048)
    with DuckDBTables() as engine:
        yield engine


@pytest.mark.parametrize("keep_order", [False, True], ids=["shuffled", "kept"])
@quiet
def test_duckdb_gives_the_rows_and_figures_that_memory_gives(
    duck: DuckDBTables, table: pl.DataFrame, raw: Path, tmp_path: Path, keep_order: bool
) -> None:
    target = tmp_path / "safe.parquet"
    made = mask_on(duck, raw, target, DETERMINISTIC, keep_order=keep_order)
    whole, steps = in_memory(table, DETERMINISTIC)
    found = frames.read(target)
    assert same_rows(found, whole)
    assert found.equals(whole) == keep_order
    assert (made.rows_written, made.height) == (9000, 9000)
    assert made.account.risk == measure(whole, ["age", "kind"])
    assert made.account.risk_before == measure(table, ["age", "kind"])
    for here, there in zip(made.steps, steps, strict=True):
        for name, facts in here.facts.items():
            assert facts == there.facts[name]
    assert [*made.steps[0].facts["pay"]] == ["top", "bottom"]
    loaded = MaskedTable.load(target)
    assert loaded.guarantee == made.guarantee
    assert loaded.steps[0].facts == made.steps[0].facts
    assert loaded.data.equals(found)
    left = loaded.figures["left_out"]
    assert "information loss" in left
    assert "classes of equal quasi-identifiers" not in left
    assert "SECRET" not in made.certificate_file.read_text() + made.document().html()


@quiet
def test_memory_of_classes_can_be_spared(
    duck: DuckDBTables, raw: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[list[str]] = []
    counted = duck.count_groups

    def noted(source: Any, names: Any) -> Groups:
        asked.append([*names])
        return counted(source, names)

    monkeypatch.setattr(duck, "count_groups", noted)
    made = mask_on(duck, raw, tmp_path / "safe.parquet", DETERMINISTIC, classes=False)
    assert asked == [["pay"], ["age"], ["age"]]
    assert made.account.risk is made.account.risk_before is None
    assert "was not counted" in made.guarantee.leaves_open[0]


def test_what_is_drawn_is_drawn_anew_in_every_batch_and_counted_for_nobody(
    duck: DuckDBTables, table: pl.DataFrame, raw: Path, tmp_path: Path
) -> None:
    target = tmp_path / "safe.parquet"
    with pytest.warns(PrivacyWarning, match="original order"):
        made = mask_on(duck, raw, target, RANDOM, keep_order=True, rng=Seeded(4))
    assert made.guarantee.simulation
    assert made.account.risk is None
    assert made.account.risk_before is not None
    assert made.figures["left_out"][0] == "classes of equal quasi-identifiers"
    assert any("was not counted" in each for each in made.guarantee.leaves_open)
    assert made.certificate()["measures"]["steps"][1]["facts"] == {"pay": {"isolated": 0}}
    coded, _ = in_memory(table, Recipe(SCHEMA, RANDOM.steps[:1]))
    moved = (frames.read(target)["pay"] - coded["pay"]).drop_nulls().to_numpy()
    scale = made.steps[1].facts["pay"]["noise"]
    # A stream that starts again with each batch would give the same noise in other rows.
    assert np.unique((moved / scale).round(9)).size > 0.99 * moved.size
    # Five standard errors of a mean and of a deviation, both ways.
    error = 5 / math.sqrt(moved.size)
    assert abs(moved.mean() / scale) < error
    assert abs(moved.std() / scale - 1) < error < abs(moved.std() / (0.8 * scale) - 1)
    again = tmp_path / "again.parquet"
    with pytest.warns(PrivacyWarning, match="original order"):
        mask_on(duck, raw, again, RANDOM, keep_order=True, rng=Seeded(4))
    assert frames.read(again).equals(frames.read(target))


def test_real_releases_draw_from_the_system_in_every_batch() -> None:
    recipe = masking.Noise(amount=1)
    cells = pl.Series("x", [0.0, 1.0] * 20)
    ready = recipe.cell_function(cells.clear(), lambda: counting(cells))
    masker = Masker(("x",), (), System().seed).with_step(
        PreparedStep(1, {"x": ready.mask}, draws=True)
    )
    copies = [pickle.loads(pickle.dumps(masker))(cells.to_frame())["x"] for _ in range(2)]
    # Two of 80 draws of 52 bits are equal with a chance of less than 1e-12.
    assert pl.concat(copies).n_unique() == 80


@quiet
def test_refusals_leave_nothing(duck: DuckDBTables, raw: Path, tmp_path: Path) -> None:
    target = tmp_path / "safe.parquet"

    def refused(
        *steps: tuple[MaskingMethod, list[str]], source: Path = raw, **options: Any
    ) -> CelosiaError:
        with pytest.raises(CelosiaError) as caught:
            mask_on(duck, source, target, Recipe.of(SCHEMA, steps), **options)
        assert [*tmp_path.glob("*safe*")] == []
        assert "SECRET" not in str(caught.value)
        return caught.value

    noise, rounding = masking.Noise(amount=0.1), masking.Rounding(base=2)
    error = refused((rounding, ["age"]), (noise, ["kind"]))
    assert (error.code, error.what[:22]) == ("CEL-V004", "step 2 of the recipe: ")
    assert refused((rounding, ["agee"])).code == "CEL-V003"
    coded = (masking.TopBottom(top=60), ["age"])
    assert refused(coded, (rounding, ["age"])).code == "CEL-V004"
    few = masking.TopBottom(top_quantile=0.9999, replace="mean")
    assert refused((few, ["pay"])).code == "CEL-V280"
    strict = masking.Recoding(mapping={"a": "A"})  # found in the middle of the work
    assert refused((strict, ["kind"])).code == "CEL-V270"
    nobody = tmp_path / "nobody.parquet"
    people(9).clear().write_parquet(nobody)
    assert refused((noise, ["pay"]), source=nobody, classes=False).code == "CEL-P015"
    assert refused((rounding, ["pay"]), source=nobody).code == "CEL-P015"
    kept = {"classes": False, "keep_order": True}
    assert refused((rounding, ["pay"]), source=nobody, **kept).code == "CEL-P015"
    table_target = Recipe.of(SCHEMA, [(rounding, ["age"])])
    with pytest.raises(InputError) as caught:
        mask_on(duck, raw, "safe", table_target)
    assert caught.value.code == "CEL-P112"
    with pytest.raises(InputError) as caught:
        mask_on(duck, raw, raw, table_target)
    assert caught.value.code == "CEL-I007"


def test_a_table_that_grows_between_counting_and_masking_is_refused(
    duck: DuckDBTables, raw: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted = duck.count_groups

    def one_fewer(source: Any, names: Any) -> Groups:
        groups = counted(source, names)
        return Groups(groups.values, groups.sizes - (np.arange(groups.sizes.size) == 0))

    monkeypatch.setattr(duck, "count_groups", one_fewer)
    with pytest.raises(EngineError) as caught:
        mask_on(duck, raw, tmp_path / "safe.parquet", RANDOM)
    assert caught.value.code == "CEL-E002"
    assert [*tmp_path.iterdir()] == []


def test_whoever_cancels_leaves_nothing(duck: DuckDBTables, raw: Path, tmp_path: Path) -> None:
    seen: list[str] = []

    def cancel(step: Step) -> None:
        seen.append(step.stage)
        if "Masking" in step.stage:
            raise Cancelled

    with pytest.raises(Cancelled):
        mask_on(duck, raw, tmp_path / "safe.parquet", RANDOM, progress=cancel)
    assert seen[-2:] == ["Counting classes on the engine", "Masking on the engine"]
    assert [*tmp_path.iterdir()] == []


@quiet
def test_postgres_gives_the_rows_that_memory_gives(tmp_path: Path) -> None:
    psycopg = pytest.importorskip("psycopg", reason="psycopg is not installed")
    few = people(200)
    whole = mask(few, DETERMINISTIC)
    with (
        postgres_server() as url,
        psycopg.connect(url, autocommit=True, prepare_threshold=None) as owner,
    ):
        store(owner, "people", few)
        paper = tmp_path / "safe.cert.json"
        with PostgresTables(url) as engine:
            made = mask_on(engine, "people", "safe", DETERMINISTIC, certificate=paper)
        assert as_rows(fetched(owner, "safe", whole.data)) == as_rows(whole.data)
        with PostgresTables(url) as engine:
            mask_on(engine, "people", tmp_path / "safe.parquet", DETERMINISTIC)
        assert same_rows(frames.read(tmp_path / "safe.parquet"), whole.data)
        with PostgresTables(url) as engine:
            mask_on(engine, "people", tmp_path / "drawn.parquet", RANDOM)
        assert frames.read(tmp_path / "drawn.parquet").height == 200
    facts = json.loads(paper.read_text())
    assert (facts["data"]["engine"], facts["data"]["rows"]) == ("postgres", 200)
    assert made.account.risk == whole.account.risk
    assert made.guarantee == whole.guarantee


@on_spark
@quiet
def test_spark_gives_the_rows_that_memory_gives(spark: SparkSession, tmp_path: Path) -> None:
    few = people(300)
    (tmp_path / "raw").mkdir()
    few[:140].write_parquet(tmp_path / "raw" / "1.parquet")
    few[140:].write_parquet(tmp_path / "raw" / "2.parquet")
    whole, _ = in_memory(few, DETERMINISTIC)
    with SparkTables() as engine:
        made = mask_on(engine, tmp_path / "raw", tmp_path / "safe", DETERMINISTIC)
    found = pl.read_parquet(tmp_path / "safe" / "*.parquet", glob=True)
    assert same_rows(found, whole)
    assert made.account.risk == measure(whole, ["age", "kind"])


@on_spark
@quiet
def test_workers_of_spark_draw_by_themselves(spark: SparkSession, tmp_path: Path) -> None:
    half = pl.DataFrame({"x": [0.0, 1.0] * 10, "y": ["a", "b"] * 10})
    (tmp_path / "raw").mkdir()
    for name in ("1", "2"):
        half.write_parquet(tmp_path / "raw" / f"{name}.parquet")
    schema = Schema.of(quasi_identifiers=["y"], other_columns="insensitive")
    recipe = Recipe.of(schema, [(masking.Noise(amount=1), ["x"]), (masking.Pram(stay=0.5), ["y"])])
    strict = Recipe.of(schema, [(masking.Recoding(mapping={"a": "A"}), ["y"])])
    with SparkTables() as engine:
        made = mask_on(engine, tmp_path / "raw", tmp_path / "safe", recipe)
        with pytest.raises(InputError, match="step 1 of the recipe") as caught:
            mask_on(engine, tmp_path / "raw", tmp_path / "other", strict)
    assert caught.value.code == "CEL-V270"
    assert not (tmp_path / "other").exists()
    found = pl.read_parquet(tmp_path / "safe" / "*.parquet", glob=True)
    assert made.rows_written == found.height == 40
    # Both workers have the same rows: a seed that they share would give the same numbers.
    assert found["x"].n_unique() == 40
