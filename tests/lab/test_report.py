"""The report of a study."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from celosia.core.progress import Progress, Step, silent
from celosia.core.report import Block, Figure, Heading, KeyFigures
from celosia.lab import Findings, Row, Study, document
from celosia.lab.tables.figures import GROUPS, sweeps
from celosia.lab.tables.runs import runs

RIGHT = Row("1+1", "sum", 2, 2)
WRONG = Row("2+2", "sum", 5, 4)


def study(**more: object) -> Study:
    plain = {"name": "sums", "title": "Sums", "source": "school", "rules": "exactly"}
    return Study(work=lambda path, progress: (), **plain, **more)  # type: ignore[arg-type]


def test_a_report_shows_both_values_of_every_cell() -> None:
    page = document(study(), Findings("sums", (RIGHT, Row("3+3", "name", "<6>", "<6>"))))
    text = page.html()
    assert "2 of 2 cells match" in text
    assert text.count("&lt;6&gt;") == 2
    assert "1+1: 1 of 1" in text
    assert "differ" not in text
    assert "<script" not in text


def test_a_run_that_was_not_checked_does_not_count_as_matching() -> None:
    absent = Row("adult", "package", None, None, not_run="not installed")
    page = document(study(), Findings("sums", (RIGHT, absent)))
    [figures] = [block for block in page.blocks if isinstance(block, KeyFigures)]
    assert [(each.value, each.note) for each in figures.items[:2]] == [("1", "of 1")] * 2
    assert "1 run was not checked, and does not count as matching: adult." in page.html()


def test_a_report_names_what_differs() -> None:
    text = document(study(), Findings("sums", (RIGHT, WRONG))).html()
    assert "1 cell differs from what was published" in text
    assert text.index("1 cell differs") < text.rindex("Cell by cell")


def test_the_figures_of_a_study_stand_in_its_report() -> None:
    def figures(findings: Findings, progress: Progress) -> Sequence[Block]:
        progress(Step("Drawing", 0))
        return [Heading("Drawn here")]

    steps: list[Step] = []
    page = document(study(figures=figures), Findings("sums", (RIGHT,)), progress=steps.append)
    assert "Drawn here" in page.html()
    assert [step.stage for step in steps] == ["Drawing"]


@pytest.fixture(scope="module")
def charts() -> Sequence[Block]:
    """The charts of two values of k and of t; the second loss was computed wrongly."""
    wanted = [run for run in runs("published.csv") if run.name in ("k=2", "k=5", "t=0.1", "t=1.0")]
    rows = [
        Row(run.name, cell, value, value) for run in wanted for cell, value in run.cells.items()
    ]
    rows[16] = Row("k=5", "loss %", 16.21326131666998, 17.0)
    return sweeps(Findings("tables", tuple(rows)), silent)


def test_there_is_a_chart_for_every_metric_and_parameter(charts: Sequence[Block]) -> None:
    captions = [block.caption for block in charts if isinstance(block, Figure)]
    assert len(captions) == 2 * len(GROUPS) == 28
    assert captions[:3] == [
        "Information loss against k: 1 of 2 published values match.",
        "Information loss against t: 2 of 2 published values match.",
        "Average risk of re-identification against k: 2 of 2 published values match.",
    ]


def test_a_chart_shows_both_series_and_tells_the_published_values(charts: Sequence[Block]) -> None:
    loss = next(block for block in charts if isinstance(block, Figure))
    assert "published" in str(loss.svg)
    assert "computed" in str(loss.svg)
    assert "16.21326131666998 at k=5" in loss.description
