"""Whatever happens to a file, it is read or refused; nothing else."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from celosia.core.errors import InputError
from celosia.graphs.examples import dan
from celosia.graphs.graph import Graph
from celosia.graphs.readers import read
from celosia.graphs.writers import write

ENDINGS = ("edges", "csv", "tsv", "graphml", "gml", "net", "json")
cuts = st.lists(
    st.tuples(st.integers(0, 2000), st.integers(0, 8), st.binary(max_size=4)), max_size=3
)
signs = st.lists(st.tuples(st.integers(0, 2000), st.integers(0, 3), st.sampled_from(
    [b'"', b"[", b"]", b"<", b">", b"\n", b" ", b",", b"-", b"1", b"*", b"{", b"}", b"&#0;", b"%"]
)), max_size=4)  # fmt: skip


@settings(
    max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.sampled_from(ENDINGS), st.one_of(cuts, signs))
def test_a_damaged_file_is_read_or_refused(
    tmp_path: Path, ending: str, damage: list[tuple[int, int, bytes]]
) -> None:
    path = tmp_path / f"graph.{ending}"
    write(dan(), path)
    data = path.read_bytes()
    for place, length, put in damage:
        at = place % len(data)
        data = data[:at] + put + data[at + length :]
    path.write_bytes(data)
    try:
        graph = read(path).graph
    except InputError:
        return
    assert isinstance(graph, Graph)
    assert all(u < v < graph.order for u, v in graph.edges.tolist())


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize(
    "data", [b"\x00" * 50, b"\xff\xfe1 2", b"9" * 5000, b"[" * 5000], ids=range(4)
)
def test_no_graph_at_all_is_read_or_refused(tmp_path: Path, ending: str, data: bytes) -> None:
    path = tmp_path / f"graph.{ending}"
    path.write_bytes(data)
    with pytest.raises(InputError):
        read(path)


def test_endless_numbers_and_strange_encodings_are_refused(tmp_path: Path) -> None:
    for name, data in (
        ("a.json", b'{"nodes": [{"id": ' + b"1" * 5000 + b'}], "links": []}'),
        ("a.gml", b"graph [ node [ id " + b"1" * 5000 + b" ] ]"),
        ("a.net", b"*Vertices " + b"1" * 5000),
        ("a.graphml", b'<?xml version="1.0" encoding="no-such"?><graphml><graph/></graphml>'),
        ("b.graphml", b'<?xml version="1.0" encoding="utf-7"?><graphml><graph/></graphml>'),
    ):
        path = tmp_path / name
        path.write_bytes(data)
        with pytest.raises(InputError):
            read(path)
