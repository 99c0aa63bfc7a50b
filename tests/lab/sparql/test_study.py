"""The study of private SPARQL (specification, sections 2.8, 3.5 to 3.7 and 5.5)."""

from __future__ import annotations

import pytest
from tests.lab.studies import findings

from celosia import lab
from celosia.core.errors import Cancelled, InputError
from celosia.core.progress import Step, silent
from celosia.core.report import Figure
from celosia.datasets.watdiv import QUERIES
from celosia.lab import Findings
from celosia.lab.sparql import answers, publication, sensitivities, small_graphs
from celosia.lab.sparql.publication import ANSWERS, FREQUENCIES, SENSITIVITIES

QUICK = {"sparql/sensitivities": 297, "sparql/by-hand": 107, "sparql/defects": 19}


@pytest.fixture(scope="module")
def small() -> Findings:
    """All query shapes on the smallest graph."""
    return lab.find("sparql/answers").run(triples=10_000)


@pytest.mark.parametrize(("name", "cells"), QUICK.items())
def test_every_part_is_reproduced(name: str, cells: int) -> None:
    found = findings(name)
    assert [str(row) for row in found.rows if row.differs] == []
    assert found.checked == cells
    assert len({(row.run, row.cell) for row in found.rows}) == len(found.rows)


@pytest.mark.statistical
def test_every_shape_is_answered_at_every_epsilon_by_every_way(small: Findings) -> None:
    assert [str(row) for row in small.rows if row.differs] == []
    runs = small.by_run()
    assert len(runs) == 3 * len(QUERIES)
    for epsilon in ("0.01", "0.1", "1"):
        for name, query in QUERIES.items():
            form = f"{name} open" if query.open else name
            cells = {row.cell for row in runs[f"{form}, epsilon {epsilon}"]}
            assert {"original", "one fact, measured: private"} <= cells
            assert {f"one entity, {scope}, planned: error" for scope in answers.SCOPES} <= cells
            assert f"one entity, {answers.SCOPES[0]}, measured: bound" in cells
            # The broken analysis follows the text, in which patterns of C2 do not meet at first.
            assert ("broken analysis: bound" in cells) is (name != "C2")


def test_more_privacy_is_more_noise(small: Findings) -> None:
    """The bound for one fact is smoothed, so it grows as epsilon falls."""
    found = {(row.run, row.cell): row for row in small.rows}
    for name, query in QUERIES.items():
        form = f"{name} open" if query.open else name
        bounds = [
            found[f"{form}, epsilon {epsilon}", "one fact, measured: bound"].number
            for epsilon in ("0.01", "0.1", "1")
        ]
        assert bounds == sorted(bounds, reverse=True)


def test_the_figure_tells_its_numbers(small: Findings) -> None:
    blocks = lab.find("sparql/answers").figures(small, silent)
    (figure,) = [block for block in blocks if isinstance(block, Figure)]
    assert "one entity, people, planned" in figure.description


def test_all_that_was_printed_is_compared() -> None:
    found = Findings("sparql", tuple(sensitivities.rows(silent)))
    stated = {(row.run.partition(",")[0], row.cell): row.stated for row in found.rows}
    for name, known in SENSITIVITIES.items():
        assert stated[name, "sensitivity as printed (broken analysis)"] == known.printed
        for epsilon, text in zip(("0.1", "0.01", "1"), ANSWERS[name].scales, strict=True):
            assert stated[name, f"scale behind the answers, epsilon {epsilon}"] == float(text)


def test_another_frequency_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = {**FREQUENCIES, ("wsdbm:likes", "object"): 4244}
    monkeypatch.setattr(publication, "FREQUENCIES", wrong)
    assert not Findings("sparql", tuple(sensitivities.rows(silent))).is_reproduced


def test_a_wrong_count_by_hand_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(small_graphs, "count", lambda *_: 1)
    assert not Findings("sparql", tuple(small_graphs.rows(silent))).is_reproduced


def test_a_study_without_a_graph_has_no_size() -> None:
    for name in ("sparql/by-hand", "sql/flex"):
        with pytest.raises(InputError) as caught:
            lab.find(name).run(triples=10_000)
        assert caught.value.code == "CEL-L003"
    with pytest.raises(InputError) as caught:
        lab.find("sparql/answers").run(triples=10)
    assert caught.value.code == "CEL-D023"


def test_the_whole_study_can_be_stopped() -> None:
    def stop(step: Step) -> None:
        if step.done == 2:
            raise Cancelled

    with pytest.raises(Cancelled):
        lab.find("sparql").run(progress=stop)
