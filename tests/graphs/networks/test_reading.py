"""Directions, weights, times and sides from files; METIS, MatrixMarket, GEXF and KONECT."""

from __future__ import annotations

from pathlib import Path

import networkx as nx
import numpy as np
import pytest

from celosia.core.errors import InputError
from celosia.graphs import Network, as_graph, read

CALLS = "caller,callee,minutes,day\na,b,3,2024-01-01\nb,a,4,2024-01-02\na,b,5,2024-01-31\n"


def put(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_directions_weights_and_times_are_kept(tmp_path: Path) -> None:
    path = put(tmp_path, "calls.csv", CALLS)
    found = read(path, directed="keep", weight="minutes", time="day", snapshots=2)
    network = found.content
    assert isinstance(network, Network)
    assert network.kinds == ("directed", "weighted", "temporal")
    assert network.table()["weight"].to_list() == [3, 4, 5]
    assert network.table()["snapshot"].to_list() == [0, 0, 1]
    assert found.edge_attributes == ()
    once = read(path, directed="keep", weight="minutes")
    assert isinstance(once.content, Network)
    assert once.content.weights is not None
    assert once.content.weights.tolist() == [8, 4]
    assert once.edge_attributes == ("day",)
    assert once.counts.repeated == 1


@pytest.mark.parametrize(
    ("rules", "code"),
    [
        ({"weight": "length"}, "CEL-G034"),
        ({"weight": "day"}, "CEL-G034"),
        ({"time": "minutes", "snapshots": 0}, "CEL-G002"),
        ({"snapshots": 3}, "CEL-G002"),
        ({"weight": "minutes", "directed": "mutual"}, "CEL-G002"),
        ({"bipartite": True, "directed": "keep"}, "CEL-G002"),
    ],
)
def test_what_cannot_be_kept_is_refused(tmp_path: Path, rules: dict[str, str], code: str) -> None:
    with pytest.raises(InputError) as refused:
        read(put(tmp_path, "calls.csv", CALLS), **rules)  # type: ignore[arg-type]
    assert refused.value.code == code


def test_weights_must_be_positive_and_there(tmp_path: Path) -> None:
    for cell in ("-1", "0", ""):
        path = put(tmp_path, "a.csv", f"source,target,w\n1,2,3\n2,3,{cell}\n")
        with pytest.raises(InputError) as refused:
            read(path, weight="w")
        assert refused.value.code == "CEL-G034"


def test_two_columns_are_two_sides(tmp_path: Path) -> None:
    network = read(put(tmp_path, "a.csv", "1,1\n1,2\n2,2\n"), bipartite=True).content
    assert isinstance(network, Network)
    assert network.order == 4
    assert network.labels is not None
    assert network.labels.to_list() == ["1:1", "1:2", "2:1", "2:2"]
    with pytest.raises(InputError, match="same side"):
        as_graph(nx.cycle_graph(3), bipartite=True)
    ring = as_graph(nx.cycle_graph(6), bipartite=True).content
    assert isinstance(ring, Network)
    assert ring.sides is not None
    assert ring.sides.tolist() == [False, True] * 3


def test_metis(tmp_path: Path) -> None:
    found = read(put(tmp_path, "a.graph", "% c\n4 3 001\n2 5 3 1\n1 5\n1 1 4 2\n3 2\n"))
    assert found.graph.edges.tolist() == [[0, 1], [0, 2], [2, 3]]
    assert found.graph.edge_attributes is not None
    assert found.graph.edge_attributes["weight"].to_list() == [5, 1, 2]
    plain = read(put(tmp_path, "b.graph", "3 1\n2\n1\n\n")).graph
    assert (plain.order, plain.size) == (3, 1)


def test_matrix_market_is_what_scipy_writes(tmp_path: Path) -> None:
    from scipy.io import mmwrite
    from scipy.sparse import random_array

    matrix = random_array((12, 12), density=0.2, rng=np.random.default_rng(1))
    mmwrite(tmp_path / "a.mtx", matrix)
    mine = read(tmp_path / "a.mtx", directed="keep", weight="weight").content
    assert isinstance(mine, Network)
    dense = np.zeros((12, 12))
    dense[mine.edges[:, 0], mine.edges[:, 1]] = mine.weights
    expected = matrix.toarray()
    np.fill_diagonal(expected, 0)
    assert np.allclose(dense, expected)
    wide = put(
        tmp_path, "w.mtx", "%%MatrixMarket matrix coordinate pattern general\n2 3 2\n1 3\n2 1\n"
    )
    sides = read(wide, bipartite=True).content
    assert isinstance(sides, Network)
    assert sides.edges.tolist() == [[0, 4], [1, 2]]


def test_gexf_is_what_networkx_writes(tmp_path: Path) -> None:
    given = nx.gnp_random_graph(9, 0.3, seed=2, directed=True)
    for one, other in given.edges:
        given.edges[one, other]["weight"] = one + other + 0.5
    nx.write_gexf(given, tmp_path / "a.gexf")
    found = read(tmp_path / "a.gexf", directed="keep", weight="weight").content
    assert isinstance(found, Network)
    assert found.weights is not None
    mine = {(u, v): w for (u, v), w in zip(found.edges.tolist(), found.weights, strict=True)}
    assert mine == {(u, v): d["weight"] for u, v, d in given.edges(data=True)}


def test_konect(tmp_path: Path) -> None:
    text = "% asym posweighted\n% 3 3 3\n1 2 5 100\n2 3 1 200\n1 2 2 300\n"
    found = read(put(tmp_path, "out.calls", text), directed="keep", weight="weight", time="time")
    network = found.content
    assert isinstance(network, Network)
    assert network.table().rows() == [(1, 2, 5.0, 0), (2, 3, 1.0, 2), (1, 2, 2.0, 3)]
    both = read(put(tmp_path, "b.konect", "% bip unweighted\n1 1\n1 2\n"), bipartite=True).content
    assert (both.order, both.size) == (3, 2)


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("a.graph", "2\n", 1),
        ("a.graph", "2 1\n2\n\n", 2),
        ("a.graph", "2 1\n3\n1\n", 2),
        ("a.graph", "2 1\n2 2\n1\n", 2),
        ("a.graph", "2 5\n2\n1\n", 1),
        ("a.graph", "3 1\n2\n1\n", 1),
        ("a.graph", "2 1 001\n2\n1 1\n", 2),
        ("a.mtx", "1 2 3\n", 1),
        ("a.mtx", "%%MatrixMarket matrix array real general\n2 2\n1\n", 1),
        ("a.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 x\n", 3),
        ("a.mtx", "%%MatrixMarket matrix coordinate pattern general\n2 2 2\n1 2\n", 3),
        ("a.mtx", "%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 3\n", 3),
        ("a.konect", "1 2\n", 1),
        ("a.konect", "% sym unweighted\n1 2\n1 0\n", 3),
        ("a.konect", "% sym unweighted\n1 2\n1 2 3\n", 3),
        ("a.gexf", "<gexf><graph><nodes>\n<node/></nodes></graph></gexf>", 2),
        ("a.gexf", "<gexf><graph>\n<x></graph></gexf>", 2),
    ],
)
def test_a_place_that_cannot_be_read_is_named(
    tmp_path: Path, name: str, text: str, line: int
) -> None:
    with pytest.raises(InputError) as refused:
        read(put(tmp_path, name, text))
    assert refused.value.code in ("CEL-G003", "CEL-G005")
    assert f"line {line}" in str(refused.value)


def test_formats_that_are_only_read_are_not_written(tmp_path: Path) -> None:
    from celosia.graphs import write

    with pytest.raises(InputError, match="not written"):
        write(as_graph(nx.path_graph(3)).graph, tmp_path / "a.mtx")
