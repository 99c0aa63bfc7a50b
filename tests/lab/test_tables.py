"""The study of the published tables (specification, sections 4.2 and 4.4 to 4.6)."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import polars as pl
import pytest

from celosia import InputError, KAnonymity, datasets, lab
from celosia.core.errors import Cancelled
from celosia.core.progress import Step, silent
from celosia.lab import Cell
from celosia.lab.tables import experiment
from celosia.lab.tables.experiment import cells_of, loss_of_labels, reproduce
from celosia.lab.tables.runs import TOLERANCES, Run, runs, tolerance_of
from celosia.lab.tables.setting import QUASI_IDENTIFIERS, published_ages, published_schema
from celosia.tables import Hierarchy, TableRelease, publish

ROWS = 30_162
PUBLISHED = runs("published.csv")


@pytest.fixture(scope="module")
def hierarchies() -> dict[str, Hierarchy]:
    people = datasets.census(10)
    columns = published_schema().quasi_identifiers
    return {column.name: column.hierarchy_for(people[column.name]) for column in columns}


@pytest.fixture(scope="module")
def release() -> TableRelease:
    """A small census, published; some are suppressed."""
    with pytest.warns(match="original order"):
        return publish(
            datasets.census(3000), published_schema(), KAnonymity(4), suppression=1, keep_order=True
        )


@pytest.mark.parametrize(
    ("age", "labels"),
    [
        ("1", ["0-4", "0-9", "0-19"]),
        ("17", ["15-19", "10-19", "0-19"]),
        ("20", ["15-19", "10-19", "0-19"]),
        ("40", ["35-39", "30-39", "20-39"]),
        ("41", ["40-44", "40-49", "40-59"]),
        ("90", ["85-89", "80-89", "80-99"]),
        ("100", ["95-99", "90-99", "80-99"]),
    ],
)
def test_ages_have_the_published_labels(age: str, labels: list[str]) -> None:
    assert [published_ages().label(age, level=level) for level in (1, 2, 3)] == labels
    assert len(published_ages().leaves) == 100


def test_the_published_ages_group_as_the_true_labels_do(hierarchies: dict[str, Hierarchy]) -> None:
    ages = {column.name: column for column in datasets.census_schema().columns}["age"]
    true = ages.hierarchy_for(pl.Series([17, 90]))
    assert (true.nodes == hierarchies["age"].nodes).all()


def test_the_files_hold_24_published_runs_of_16_cells_and_80_reference_runs() -> None:
    assert [len(run.cells) for run in PUBLISHED] == [16] * 24
    assert Counter(run.name[0] for run in PUBLISHED) == {"k": 8, "l": 6, "t": 10}
    assert all(run.suppression == 1 for run in PUBLISHED)
    reference = runs("reference.csv")
    assert len(reference) == len({run.name for run in reference}) == 80
    assert sum(len(run.cells) for run in reference) == 395


@pytest.mark.parametrize("run", PUBLISHED, ids=lambda run: run.name)
def test_published_cells_agree_among_themselves(run: Run) -> None:
    cells = {name: cell for name, cell in run.cells.items() if not isinstance(cell, str)}
    assert cells["tuples"] + cells["suppressed"] == ROWS
    assert cells["average class"] == pytest.approx(cells["tuples"] / cells["classes"], rel=1e-12)
    assert cells["average risk %"] * cells["average class"] == pytest.approx(100, rel=1e-12)
    assert cells["maximum risk %"] * cells["minimum class"] == pytest.approx(100, rel=1e-12)
    assert set(TOLERANCES) <= set(cells)


def test_what_a_release_shows_is_measured_as_by_hand(
    release: TableRelease, hierarchies: dict[str, Hierarchy]
) -> None:
    labels = [tuple(map(str, row)) for row in release.data.select(QUASI_IDENTIFIERS).rows()]
    stars = ("*",) * len(QUASI_IDENTIFIERS)
    sizes = Counter(row for row in labels if row != stars)
    kept = sum(sizes.values())
    ages = [row[1] for row in labels]
    limits = [tuple(map(int, age.split("-"))) for age in ages if age != "*"]
    mode, count = Counter(ages).most_common(1)[0]
    loss = 1.0
    for name, tree in hierarchies.items():
        stands_for = [
            sum(label in path for path in tree.paths()) for label in map(str, release.data[name])
        ]
        least, most = len(labels), len(labels) * len(tree.leaves)
        loss *= (1 + (sum(stands_for) - least) / (most - least)) ** (1 / 8)
    expected: dict[str, Cell] = {
        "loss %": 100 * (loss - 1),
        "average class": kept / len(sizes),
        "maximum class": max(sizes.values()),
        "minimum class": min(sizes.values()),
        "classes": len(sizes),
        "tuples": kept,
        "suppressed": len(labels) - kept,
        "mean age (midpoint)": sum((low + high) // 2 for low, high in limits) // len(limits),
        "mean age (lower limit)": sum(low for low, _ in limits) // len(limits),
        "maximum age": max(high for _, high in limits),
        "minimum age": min(low for low, _ in limits),
        "mode": mode if mode == "*" else f"[{mode}]",
        "mode count": count,
        "average risk %": 100 * len(sizes) / kept,
        "maximum risk %": 100 / min(sizes.values()),
        "at risk %": 100 * sum(size for size in sizes.values() if size < 10) / kept,
    }
    assert expected["suppressed"]
    assert expected["mean age (midpoint)"]
    found = cells_of(release, hierarchies)
    assert all(
        tolerance_of(cell).matches(value, found[cell]) for cell, value in expected.items()
    ), found


def test_the_loss_of_the_labels_is_the_loss_that_the_release_tells(
    release: TableRelease, hierarchies: dict[str, Hierarchy]
) -> None:
    assert loss_of_labels(release.data, hierarchies) == pytest.approx(
        release.solution.loss, abs=1e-12
    )


@pytest.mark.usefixtures("real")
def test_every_published_cell_of_k_anonymity_is_reproduced() -> None:
    steps: list[Step] = []
    found = lab.find("tables/k-anonymity").run(progress=steps.append)
    assert str(found) == "128 of 128 cells match", [str(r) for r in found.rows if r.differs]
    assert list(found.by_run()) == [f"k={k}" for k in (2, 5, 8, 12, 15, 17, 20, 25)]
    assert [row.published for row in found.rows] == [
        cell for run in PUBLISHED[:8] for cell in (*run.cells.values(), run.seconds)
    ]
    assert {step.total for step in steps} == {8}
    assert steps[-1].done == 8


@pytest.mark.usefixtures("real")
@pytest.mark.parametrize("run", ["l=8", "t=0.2"])
def test_the_published_cells_of_diversity_and_closeness_are_reproduced(run: str) -> None:
    rows = reproduce("published.csv", run, None, None, silent)
    assert len(rows) == 17  # 16 that are compared, and a time
    assert [str(row) for row in rows if row.differs] == []


@pytest.mark.usefixtures("real")
@pytest.mark.parametrize(
    ("run", "cells"), [("c=4, l=3", 6), ("entropy l=4", 6), ("equal distance, t=0.6", 6)]
)
def test_reference_runs_are_reproduced(run: str, cells: int) -> None:
    rows = reproduce("reference.csv", run, "program", None, silent)
    assert len(rows) == cells
    assert [str(row) for row in rows if row.differs] == []


@pytest.mark.usefixtures("real")
def test_a_run_without_a_solution_says_so() -> None:
    (row,) = reproduce("reference.csv", "c=2, l=12", "program", None, silent)
    assert (row.cell, row.expected, row.computed, row.matches) == ("levels", "none", "none", True)


@pytest.mark.usefixtures("real")
def test_a_wrong_cell_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    right = next(run for run in PUBLISHED if run.name == "k=5")
    wrong = Run("k=5", right.models, 1, right.cells | {"classes": 519, "mode": "20-39"})
    monkeypatch.setattr(experiment, "runs", lambda file: (wrong,))
    rows = reproduce("published.csv", "", None, None, silent)
    assert [(row.cell, row.computed) for row in rows if row.differs] == [
        ("classes", 518),
        ("mode", "[20-39]"),
    ]


@pytest.mark.usefixtures("real")
def test_a_study_can_be_stopped_between_two_runs() -> None:
    def stop(step: Step) -> None:
        if step.done == 1:
            raise Cancelled()

    with pytest.raises(Cancelled):
        lab.find("tables/k-anonymity").run(progress=stop)


def test_other_rows_than_the_published_ones_are_refused(tmp_path: Path) -> None:
    datasets.census(50).write_csv(tmp_path / "adult.csv", separator=";")
    with pytest.raises(InputError) as caught:
        lab.find("tables").run(path=tmp_path / "adult.csv")
    assert caught.value.code == "CEL-D006"
