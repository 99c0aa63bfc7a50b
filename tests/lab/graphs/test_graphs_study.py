"""The study of graphs (specification of masking and graphs, sections 3, 4 and 6)."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from tests.lab.studies import findings

from celosia import lab
from celosia.core.errors import Cancelled
from celosia.core.progress import Step, silent
from celosia.core.report import Figure, Table
from celosia.graphs import examples, methods
from celosia.graphs.kdegree.sequence import anonymous_degrees
from celosia.lab import Findings
from celosia.lab.graphs import changes, degrees, figures, shapes, supervertices
from celosia.lab.graphs import methods as runs
from celosia.lab.graphs.figure_graphs import edit, figure_9, figure_10, name_groups
from celosia.lab.graphs.publication import CENTRALITIES, METRICS

PARTS = {
    "graphs/shapes": 52,
    "graphs/perturbation": 77,
    "graphs/k-degree": 86,
    "graphs/uncertain": 48,
    "graphs/generalisation": 27,
    "graphs/planted": 4,
    "graphs/methods": 117,
}


@pytest.mark.parametrize(("name", "cells"), PARTS.items())
def test_every_part_is_reproduced(name: str, cells: int) -> None:
    found = findings(name)
    assert [str(row) for row in found.rows if row.differs] == []
    assert found.checked == cells
    assert len({(row.run, row.cell) for row in found.rows}) == cells


def test_the_whole_is_all_parts_and_can_be_ended_on_the_way() -> None:
    seen: list[str] = []

    def stop(step: Step) -> None:
        seen.append(step.stage)
        if len(seen) > 1:
            raise Cancelled()

    with pytest.raises(Cancelled):
        lab.find("graphs").run(progress=stop)
    assert seen == ["Computing shapes", "Computing perturbation"]
    parts = [study.name for study in lab.studies() if study.name.startswith("graphs/")]
    assert parts == list(PARTS)


def test_the_facts_of_the_specification_are_compared() -> None:
    stated = {
        ("Figure 9b, added and deleted", "degrees"): "2 1 3 4 1 5 3 3 2",
        ("Figure 9a", "largest eigenvalue"): 3.0465,
        ("Figure 9c, switched", "betweenness centrality moved by"): 0.0418,
        ("Figure 9b, what edges still tell", "chance that a published edge is true"): 0.8333,
        ("Figure 9, candidates", "classes by H2"): "{1} {2,5} {3} {4} {6} {7,8} {9}",
        ("Figure 10c, a vertex added", "average distance"): 2.2444,
        ("Supergraph of G10, k=2", "what Supergraph says"): "CEL-G101",
        ("Figure 11, averages", "greatest degree, over all worlds"): 2.47816,
        ("Figure 12, {1,2,3} {4,5,7} {6,8,9}", "possible worlds"): 104_976,
        ("SaNGreeA on G9, k=4", "NSIL"): 0.7093,
        ("All partitions of G9 into groups of 3 or more", "how many"): 491,
    }
    names = [name for name in PARTS if name not in {"graphs/methods", "graphs/planted"}]
    found = {(row.run, row.cell): row.stated for name in names for row in findings(name).rows}
    assert {cell: found[cell] for cell in stated} == stated


@pytest.mark.parametrize("number", [8, 9, 13, 14])
def test_an_erratum_is_named_where_it_shows(number: int) -> None:
    names = ["graphs/shapes", "graphs/k-degree", "graphs/uncertain"]
    rows = [row for name in names for row in findings(name).rows]
    flagged = [row for row in rows if f"erratum {number})" in f"{row.run} {row.cell}"]
    assert flagged
    assert all(row.matches for row in flagged)


def test_figures_are_edited_as_they_say() -> None:
    assert tuple(figure_9()[1].degrees.tolist()) == examples.G9_ADD_DELETE.degrees
    assert tuple(figure_9()[2].degrees.tolist()) == examples.G9_SWITCH.degrees
    assert tuple(figure_10()[1].degrees.tolist()) == examples.G10_EDGE_CHANGE.degrees
    assert edit(examples.g10(), examples.G10_VERTEX_ADDED).order == 10
    assert name_groups([[8], [2, 0]]) == "{1,3} {9}"


def _noticed(rows: Iterable[lab.Row]) -> set[str]:
    return {row.run for row in rows if not row.matches}


def test_a_wrong_metric_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(METRICS, "connectivity", ("0.6474", "0.3478", "0.5876"))
    monkeypatch.setitem(CENTRALITIES, (1, 2), 0.5)
    assert _noticed(changes.rows()) == {"Figure 9a", "Figure 9, neighbourhood centrality"}


def test_another_graph_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    other = examples.graph_of_names([*examples.G9_EDGES[:-1], (5, 8)])
    monkeypatch.setattr(examples, "g9", lambda: other)
    assert "Figure 9, candidates" in _noticed(shapes.rows())
    assert "SaNGreeA on G9, k=2" in _noticed(supervertices.rows())
    assert "G9, degrees averaged for k=3" in _noticed(degrees.rows())


def test_targets_that_cost_too_much_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        degrees, "anonymous_degrees", lambda d, k, **way: anonymous_degrees(d, k, **way) + 2
    )
    assert "G10, degrees raised for k=2" in _noticed(degrees.rows())


def test_every_method_runs_on_every_network() -> None:
    for network in runs.NETWORKS:
        assert set(runs.parameters(network)) == set(methods())


def test_the_naive_release_is_attacked_as_it_deserves() -> None:
    """Whoever knows degrees finds in it what they find in the original."""
    by_degree, by_contacts, edges, communities = runs.measure("karate club", "relabelling")
    assert by_degree == pytest.approx(11 / 34)  # 11 different degrees among 34 vertices
    assert by_contacts is not None
    assert by_contacts > 11 / 34
    assert edges == 1.0
    assert communities == pytest.approx(1.0)
    assert runs.measure("karate club", "sangreea") == (None,) * 4


def test_the_figures_show_every_method_on_every_network() -> None:
    drawn = figures.risk_and_use(Findings("graphs", ()), silent)
    tables = [block for block in drawn if isinstance(block, Table)]
    pictures = [block for block in drawn if isinstance(block, Figure)]
    assert len(tables) == len(pictures) == len(runs.NETWORKS)
    for table in tables:
        assert {row[0] for row in table.rows} == set(methods())
    assert all("Fewest right guesses" in picture.description for picture in pictures)
