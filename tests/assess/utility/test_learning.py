"""Train on the release, test on the original."""

from __future__ import annotations

import json
import sys
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.assess.utility.meanings import Groups

from celosia import InputError
from celosia.assess.meaning import ExactMeaning, Meaning
from celosia.assess.utility import CLASSIFIERS, LogisticRegression, compare, learning
from celosia.assess.utility.learning import features
from celosia.core.progress import Step
from celosia.core.randomness import Seeded

FAST = (LogisticRegression(),)
AGES = Groups(
    tuple(map(str, range(20, 60))),
    {f"{low}-{low + 9}": [str(low + n) for n in range(10)] for low in range(20, 60, 10)},
)


def people(count: int = 400) -> pl.DataFrame:
    """Ages, a town that says nothing, and an answer that is yes from 40 on."""
    random = np.random.default_rng(2)
    age = random.integers(20, 60, count)
    town = random.choice(["north", "south"], count)
    return pl.DataFrame({"age": age, "town": town, "answer": np.where(age >= 40, "yes", "no")})


def decades(table: pl.DataFrame) -> pl.DataFrame:
    low = pl.col("age") // 10 * 10
    return table.with_columns(age=pl.format("{}-{}", low, low + 9))


def test_labels_that_keep_the_border_keep_the_accuracy() -> None:
    table = people()
    tables = compare(table, decades(table), table.columns, meanings={"age": AGES}, aligned=True)
    found = learning(tables, "answer", rng=Seeded(1))
    assert found.is_held_out
    assert [lesson.as_dict()["method"] for lesson in found.lessons] == [
        "logistic-regression",
        "gradient-boosting",
    ]
    for lesson in found.lessons:
        assert lesson.accuracy == 1.0
        assert lesson.kept >= 1.0


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_a_release_without_the_telling_column_learns_no_more_than_the_majority(name: str) -> None:
    table = people()
    released = table.with_columns(age=pl.lit("*"))
    tables = compare(table, released, table.columns, meanings={"age": AGES}, aligned=True)
    found = learning(tables, "answer", rng=Seeded(1), classifiers=[CLASSIFIERS[name]()])
    assert found.majority == max(table["answer"].value_counts()["count"]) / table.height
    assert found.majority_balanced == 0.5
    # Five standard deviations of a fair guess of 400: 5 * sqrt(0.25 / 400) = 0.125.
    assert abs(found.lessons[0].accuracy - 0.5) < 0.125
    assert found.lessons[0].original_accuracy > 0.98


def test_shuffled_rows_without_suppressed_ones_are_learnt_from_as_well() -> None:
    table = people()
    released = decades(table).sample(fraction=0.9, shuffle=True, seed=1)
    tables = compare(table, released, table.columns, meanings={"age": AGES})
    found = learning(tables, "answer", rng=Seeded(1), classifiers=FAST)
    assert not found.is_held_out
    assert found.lessons[0].accuracy == 1.0


def test_aligned_records_are_never_tested_by_what_learnt_from_them() -> None:
    # Everybody is unique and the answers are coin flips: only cheating gets above chance.
    random = np.random.default_rng(7)
    table = pl.DataFrame(
        {
            "name": [f"n{number}" for number in range(150)],
            "answer": random.choice(["yes", "no"], 150),
        }
    )
    aligned = learning(
        compare(table, table, table.columns, aligned=True),
        "answer",
        rng=Seeded(1),
        classifiers=FAST,
        folds=5,
    )
    loose = learning(
        compare(table, table, table.columns), "answer", rng=Seeded(1), classifiers=FAST, folds=5
    )
    # Five standard deviations of a fair guess of 150: 5 * sqrt(0.25 / 150) = 0.204.
    assert abs(aligned.lessons[0].accuracy - 0.5) < 0.204
    assert loose.lessons[0].accuracy > 0.75


def test_suppressed_records_and_unclear_targets_teach_nothing() -> None:
    table = people()
    released = decades(table).with_columns(
        answer=pl.when(pl.col("town") == "north").then(pl.lit("*")).otherwise("answer")
    )
    stars = pl.DataFrame({"age": ["*"] * 300, "town": ["*"] * 300, "answer": ["yes"] * 300})
    tables = compare(table, pl.concat([released, stars]), table.columns, meanings={"age": AGES})
    found = learning(tables, "answer", rng=Seeded(1), classifiers=FAST)
    assert found.lessons[0].accuracy == 1.0


def test_a_release_that_teaches_nothing_gets_the_majority_guess() -> None:
    table = people(60)
    released = table.with_columns(answer=pl.lit("*"))
    found = learning(
        compare(table, released, table.columns), "answer", rng=Seeded(1), classifiers=FAST
    )
    assert found.lessons[0].accuracy == found.majority


def test_a_release_with_one_class_guesses_it() -> None:
    table = people(60)
    released = table.with_columns(answer=pl.lit("no"))
    found = learning(
        compare(table, released, table.columns), "answer", rng=Seeded(1), classifiers=FAST
    )
    assert found.lessons[0].accuracy == (table["answer"] == "no").mean()
    assert found.lessons[0].balanced_accuracy == 0.5


def test_the_same_seed_gives_the_same_figures() -> None:
    table = people(120)
    noisy = table.with_columns(answer=table["answer"].shuffle(seed=4))
    tables = compare(noisy, noisy, table.columns)
    runs = [learning(tables, "answer", rng=Seeded(3)).as_dict() for _ in range(2)]
    assert runs[0] == runs[1]
    assert json.loads(json.dumps(runs[0])) == runs[0] | {"lessons": list(runs[0]["lessons"])}


def test_a_raw_value_becomes_the_labels_that_cover_it_by_their_chances() -> None:
    meaning = Groups(("20", "25", "30"), {"20-29": ["20", "25"]})
    released = ["20-29"] * 6 + ["20"] * 2 + ["*"] * 3
    tables = compare({"age": ["20"]}, {"age": released}, ["age"], meanings={"age": meaning})
    column = tables.column("age")
    found = features(column, column.after, column.spread)
    order = [column.labels.index(label) for label in ("20-29", "20", "*")]
    rows = {
        value: found.of_value[place] @ found.of_label[order].T
        for place, value in enumerate(column.values)
    }
    # Weights of value 20: 6 * 1/2, 2 * 1 and 3 * 1/3; of 25: 3, 0 and 1; of 30 the star alone.
    assert rows["20"] == pytest.approx([3 / 6, 2 / 6, 1 / 6])
    assert rows["25"] == pytest.approx([3 / 4, 0, 1 / 4])
    assert rows["30"] == pytest.approx([0, 0, 1])


def test_an_amount_becomes_the_standardised_mean_of_its_label() -> None:
    meaning = Groups(("20", "25", "30"), {"20-29": ["20", "25"]})
    tables = compare(
        {"age": [20, 25, 30]}, {"age": ["20-29", "30"]}, ["age"], meanings={"age": meaning}
    )
    column = tables.column("age")
    found = features(column, column.after, column.spread)
    # Labels 22.5 and 30 once each: mean 26.25, deviation 3.75.
    assert found.of_label[:, 0] == pytest.approx([-1, 1])
    assert found.of_value[:, 0] == pytest.approx([-1, -1, 1])


def test_a_value_that_no_label_covers_keeps_its_own_amount() -> None:
    tables = compare({"age": [10, 20, 40]}, {"age": [10, 20]}, ["age"])
    column = tables.column("age")
    found = features(column, column.after, column.spread)
    assert found.of_value[:, 0] == pytest.approx([-1, 1, 5])


def test_empty_amounts_count_as_the_mean() -> None:
    tables = compare({"age": [10, 20, None]}, {"age": [10, 20, None]}, ["age"])
    column = tables.column("age")
    found = features(column, column.after, column.spread)
    assert found.of_value[:, 0] == pytest.approx([-1, 1, 0])


@pytest.mark.parametrize(
    ("code", "wrong"),
    [
        ("CEL-A071", {"target": "nobody"}),
        ("CEL-A081", {"classifiers": []}),
        ("CEL-A082", {"folds": 1}),
        ("CEL-A082", {"folds": 21}),
    ],
)
def test_what_cannot_be_learnt_is_refused(code: str, wrong: dict[str, Any]) -> None:
    table = people(20)
    options: dict[str, Any] = {"target": "answer", "rng": Seeded(1)} | wrong
    with pytest.raises(InputError) as caught:
        learning(compare(table, table, table.columns), options.pop("target"), **options)
    assert caught.value.code == code


def test_a_target_alone_has_no_features() -> None:
    tables = compare({"a": ["x", "y"]}, {"a": ["x", "y"]}, ["a"])
    with pytest.raises(InputError, match="0 features") as caught:
        learning(tables, "a", rng=Seeded(1))
    assert caught.value.code == "CEL-A081"


def test_without_scikit_learn_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn.ensemble", None)
    table = people(20)
    with pytest.raises(InputError, match=r"celosia\[utility\]") as caught:
        learning(compare(table, table, table.columns), "answer", rng=Seeded(1))
    assert caught.value.code == "CEL-A080"


def test_progress_is_told_before_every_training() -> None:
    steps: list[Step] = []
    table = people(30)
    tables = compare(table, table, table.columns)
    learning(tables, "answer", rng=Seeded(1), classifiers=FAST, folds=2, progress=steps.append)
    assert [step.done for step in steps] == [0, 1, 2, 3, 4]
    assert {step.total for step in steps} == {4}


def test_local_recoding_learns_where_labels_overlap() -> None:
    table = people()
    mixed = pl.concat([decades(table[:200]), table[200:].with_columns(pl.col("age").cast(str))])
    meanings: dict[str, Meaning] = {"age": AGES, "town": ExactMeaning(("north", "south"))}
    tables = compare(table, mixed, table.columns, meanings=meanings, aligned=True)
    found = learning(tables, "answer", rng=Seeded(1))
    for lesson in found.lessons:
        assert lesson.accuracy > 0.97
