"""From file to file gives what memory gives, under models about sensitive columns too."""

from __future__ import annotations

from collections import Counter
from pathlib import Path as File
from typing import Any

import numpy as np
import polars as pl
import pytest

from celosia import KAnonymity
from celosia.core.errors import InputError, PrivacyError
from celosia.tables import (
    AlphaK,
    AverageRisk,
    BetaLikeness,
    Column,
    DeltaDisclosure,
    DistinctDiversity,
    EntropyDiversity,
    Hierarchy,
    KMap,
    Ordered,
    PopulationUniqueness,
    PSensitive,
    RecursiveDiversity,
    Role,
    Schema,
    TCloseness,
    Tree,
    publish,
    publish_file,
)
from celosia.tables.metrics import METRICS
from celosia.tables.models import Model

pytestmark = pytest.mark.filterwarnings("ignore::celosia.core.errors.PrivacyWarning")

TREE = Hierarchy.from_paths(
    [("flu", "lung", "*"), ("cough", "lung", "*"), ("ulcer", "gut", "*"), ("colic", "gut", "*")]
)
SCHEMA = Schema(
    (
        Column("name", Role.IDENTIFIER),
        Column(
            "age",
            Role.QUASI_IDENTIFIER,
            hierarchy=Hierarchy.from_paths(
                [(str(n), f"{n // 5 * 5}+", f"{n // 10 * 10}++", "*") for n in range(30)]
            ),
        ),
        Column(
            "sex", Role.QUASI_IDENTIFIER, hierarchy=Hierarchy.from_paths([("f", "*"), ("m", "*")])
        ),
        Column("illness", Role.SENSITIVE, hierarchy=TREE),
        Column("salary", Role.SENSITIVE),
        Column("note", Role.INSENSITIVE, accept_raw="it tells the rows of a test apart"),
    )
)


@pytest.fixture(scope="module")
def table() -> pl.DataFrame:
    generator = np.random.default_rng(17)
    rows = 400
    leaves = list(TREE.leaves)
    return pl.DataFrame(
        {
            "name": [f"n{number}" for number in range(rows)],
            "age": np.minimum(29, generator.poisson(11, rows)),
            "sex": generator.choice(["f", "m"], rows),
            "illness": generator.choice(leaves, rows, p=[0.4, 0.3, 0.2, 0.1]),
            "salary": generator.integers(1, 6, rows),
            "note": generator.integers(0, 1000, rows),
        }
    ).with_columns(
        salary=pl.when(pl.col("note") < 60).then(None).otherwise(pl.col("salary")),
    )


MODELS: list[list[Model]] = [
    [KAnonymity(5)],
    [DistinctDiversity(3)],
    [KAnonymity(3), DistinctDiversity(3, "illness")],
    [EntropyDiversity(2.5, column="illness")],
    [EntropyDiversity(2.5, estimator="grassberger", column="illness")],
    [RecursiveDiversity(3, 3, "illness")],
    [TCloseness(0.3, "equal", "salary")],
    [KAnonymity(2), TCloseness(0.25, "hierarchical", "illness")],
    [TCloseness(0.2, "ordered", "illness"), DistinctDiversity(3, "salary")],
    [AlphaK(0.6, 4, "illness")],
    [PSensitive(3, 4, "salary")],
    [BetaLikeness(1, column="illness")],
    [DeltaDisclosure(1.2, column="illness")],
    [AverageRisk(0.05)],
    [PopulationUniqueness(0.01, 0.1)],
    [KMap(5, sampling_fraction=0.2)],
]


def same(held: Any, streamed: Any, written: pl.DataFrame) -> None:
    assert streamed.solution == held.solution
    assert streamed.risk == held.risk
    assert streamed.risk_before == held.risk_before
    assert streamed.guarantee == held.guarantee
    text = held.data.with_columns(pl.all().cast(pl.String))
    assert Counter(written.with_columns(pl.all().cast(pl.String)).rows()) == Counter(text.rows())


@pytest.mark.parametrize("local", [False, True])
@pytest.mark.parametrize(
    "models", MODELS, ids=lambda models: ", ".join(m.promise() for m in models)
)
def test_streaming_gives_what_memory_gives(
    table: pl.DataFrame, tmp_path: File, models: list[Model], local: bool
) -> None:
    table.write_parquet(tmp_path / "in.parquet")
    schema = SCHEMA
    if any(getattr(model, "distance", None) == "ordered" for model in models):
        in_order = Column("illness", Role.SENSITIVE, hierarchy=Ordered(order=TREE.leaves))
        schema = Schema(
            tuple(in_order if each.name == "illness" else each for each in SCHEMA.columns)
        )
    held = publish(table, schema, models, suppression=0.2, local=local)
    streamed = publish_file(
        tmp_path / "in.parquet",
        tmp_path / "out.parquet",
        schema,
        models,
        suppression=0.2,
        local=local,
        chunk_rows=90,
    )
    same(held, streamed, pl.read_parquet(tmp_path / "out.parquet"))


@pytest.mark.parametrize("metric", METRICS)
def test_streaming_heeds_every_metric(table: pl.DataFrame, tmp_path: File, metric: str) -> None:
    table.write_parquet(tmp_path / "in.parquet")
    asked: dict[str, Any] = {"suppression": 0.1, "metric": metric, "drop_suppressed": True}
    models = [KAnonymity(3), DistinctDiversity(2, "illness")]
    held = publish(table, SCHEMA, models, **asked)
    streamed = publish_file(
        tmp_path / "in.parquet", tmp_path / "out.parquet", SCHEMA, models, chunk_rows=90, **asked
    )
    same(held, streamed, pl.read_parquet(tmp_path / "out.parquet"))


def test_streaming_heeds_chosen_levels(table: pl.DataFrame, tmp_path: File) -> None:
    table.write_csv(tmp_path / "in.csv")
    asked: dict[str, Any] = {"suppression": 1, "levels": {"age": 2}}
    model = DistinctDiversity(2, "illness")
    held = publish(table, SCHEMA, model, **asked)
    streamed = publish_file(tmp_path / "in.csv", tmp_path / "out.csv", SCHEMA, model, **asked)
    assert streamed.solution == held.solution
    assert streamed.solution.levels == (2, 0)
    assert streamed.solution.search is not None
    assert not streamed.solution.search.is_optimal
    with pytest.raises(InputError) as refused:
        publish_file(tmp_path / "in.csv", tmp_path / "out.csv", SCHEMA, model, levels={"age": 4})
    assert refused.value.code == "CEL-P008"


def test_nothing_is_written_where_a_model_cannot_be_met(
    table: pl.DataFrame, tmp_path: File
) -> None:
    table.write_parquet(tmp_path / "in.parquet")
    with pytest.raises(PrivacyError) as refused:
        publish_file(
            tmp_path / "in.parquet",
            tmp_path / "out.parquet",
            SCHEMA,
            DistinctDiversity(9, "illness"),
        )
    assert refused.value.code == "CEL-P001"
    assert "only 4 different values" in str(refused.value)
    assert [path.name for path in tmp_path.iterdir()] == ["in.parquet"]


def test_a_sensitive_tree_that_lacks_a_value_is_refused(
    table: pl.DataFrame, tmp_path: File
) -> None:
    short = Schema(
        tuple(
            Column("illness", Role.SENSITIVE, hierarchy=Tree({"lung": ["flu", "cough"]}))
            if column.name == "illness"
            else column
            for column in SCHEMA.columns
        )
    )
    table.write_parquet(tmp_path / "in.parquet")
    for run in (
        lambda: publish(table, short, TCloseness(0.3, "hierarchical", "illness")),
        lambda: publish_file(
            tmp_path / "in.parquet",
            tmp_path / "out.parquet",
            short,
            TCloseness(0.3, "hierarchical", "illness"),
        ),
    ):
        with pytest.raises(InputError) as refused:
            run()
        assert "ulcer" not in str(refused.value)
        assert "colic" not in str(refused.value)
