"""Published files opened again, and their vertices found in the original."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.graphs.test_run import network

from celosia import Seeded
from celosia.core.errors import InputError
from celosia.core.release import certificate_path
from celosia.graphs import (
    GeneralisedGraph,
    Graph,
    KDegree,
    KObfuscation,
    RandomSparsification,
    SaNGreeA,
    UncertainGraph,
    matching,
    publish,
    relabelling,
    write,
)
from celosia.graphs.metrics.summary import align_vertices


def test_a_key_is_read_back_whatever_the_order_of_its_rows(tmp_path: Path) -> None:
    graph, path = network(), tmp_path / "key.csv"
    numbers = Seeded(1).permutation(graph.order)
    with relabelling.write_key(graph, numbers, path):
        assert not path.exists()
    assert relabelling.read_key(path, graph).to_list() == [
        str(number) for number in numbers.tolist()
    ]


def test_a_key_is_not_left_behind_by_a_failure(tmp_path: Path) -> None:
    graph = network()
    with (
        pytest.raises(RuntimeError),
        relabelling.write_key(graph, np.arange(graph.order), tmp_path / "key.csv"),
    ):
        raise RuntimeError
    assert [*tmp_path.iterdir()] == []


def test_names_that_look_like_numbers_stay_as_they_are(tmp_path: Path) -> None:
    graph = Graph.of([(0, 1), (1, 2)], labels=pl.Series(["007", "7", "1e3"]))
    with relabelling.write_key(graph, np.array([2, 0, 1]), tmp_path / "key.csv"):
        pass
    assert relabelling.read_key(tmp_path / "key.csv", graph).to_list() == ["2", "0", "1"]


@pytest.mark.parametrize("certified", [True, False], ids=["with certificate", "without"])
@pytest.mark.parametrize("ending", ["edges", "json"])
def test_the_key_brings_back_the_graph_before_its_numbers(
    certified: bool, ending: str, tmp_path: Path
) -> None:
    graph = network()
    method = RandomSparsification(probability=0.6)
    release = publish(graph, method, rng=Seeded(4), assess=False)
    path = release.save(tmp_path / f"safe.{ending}")
    assert release.key is not None
    with relabelling.write_key(graph, release.key, tmp_path / "key.csv"):
        pass
    if not certified:
        certificate_path(path).unlink()
    found = matching.match_vertices(
        graph, matching.open_release(path), key=tmp_path / "key.csv", rng=Seeded(1)
    )
    # The same seed draws the same edges first, and the random numbers afterwards.
    plain = method.apply(graph, rng=Seeded(4)).graph
    assert align_vertices(found.release, found.numbers).same_edges(plain.without_names())


def test_names_match_where_no_key_is_needed_and_strangers_are_refused(tmp_path: Path) -> None:
    graph = network()
    changed = KDegree(k=3).apply(graph, rng=Seeded(1)).graph
    write(changed, tmp_path / "named.edges", partial=True)
    found = matching.match_vertices(
        graph, matching.open_release(tmp_path / "named.edges"), key=None, rng=Seeded(1)
    )
    assert align_vertices(found.release, found.numbers).same_edges(changed.without_names())
    write(changed.without_names(), tmp_path / "numbered.edges", partial=True)
    with pytest.raises(InputError) as error:
        matching.match_vertices(
            graph, matching.open_release(tmp_path / "numbered.edges"), key=None, rng=Seeded(1)
        )
    assert error.value.code == "CEL-G028"


def test_a_file_tells_which_sort_of_graph_it_holds(tmp_path: Path) -> None:
    for method, name, sort in (
        (KDegree(k=3), "plain.csv", Graph),
        (KDegree(k=3), "plain.json", Graph),
        (KObfuscation(k=2, tolerance=0.3), "chances.csv.gz", UncertainGraph),
        (SaNGreeA(k=4), "groups.json", GeneralisedGraph),
    ):
        release = publish(network(), method, rng=Seeded(1), assess=False)
        path = release.save(tmp_path / name)
        assert matching.graph_type_of(path) is sort
        certificate_path(path).unlink()
        opened = matching.open_release(path)
        assert type(opened.content) is sort
        assert opened.content.order == 60 or name == "plain.csv"
        assert opened.hidden is None
