"""HDT files: every fact of the file in the store, and nothing of a file that was changed."""

from __future__ import annotations

import gzip
from pathlib import Path

import pyoxigraph as ox
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.queries.rdf.graphs import facts_of
from tests.queries.rdf.hdt_writer import Fact, hdt_file

from celosia.core.errors import InputError
from celosia.queries.rdf.file_loader import BrokenHdtError, load
from celosia.queries.rdf.hdt import HdtReader

FACTS: list[Fact] = [
    ("urn:a", "urn:knows", "urn:b"),
    ("urn:a", "urn:knows", "urn:c"),
    ("urn:b", "urn:knows", "urn:a"),
    ("urn:b", "urn:age", '"31"^^<http://www.w3.org/2001/XMLSchema#integer>'),
    ("_:x", "urn:says", '"a \\ and a "quote"\nand a line"@es'),
    ("_:x", "urn:says", '"ñandú 🦤"'),
]
"""Shared terms, other ones, blank nodes, and texts that N-Triples must escape."""
NAMES = st.sampled_from([f"urn:{letter}{letter * each}" for letter in "abc" for each in range(5)])


def quads(data: bytes) -> set[str]:
    text = HdtReader(data, lambda _: None).read()
    return {str(each) for each in ox.parse(text, format=ox.RdfFormat.N_TRIPLES)}


@given(st.sets(st.tuples(NAMES, NAMES, NAMES), max_size=40))
def test_every_fact_is_read_and_no_other(facts: set[Fact]) -> None:
    wanted = {f"<{s}> <{p}> <{o}>" for s, p, o in facts}
    assert quads(hdt_file(facts)) == wanted


def test_long_lists_are_read_in_several_parts() -> None:
    facts = [(f"urn:s{each % 7}", f"urn:p{each % 3}", f"urn:o{each}") for each in range(40_000)]
    reader = HdtReader(hdt_file(facts), lambda _: None)
    pieces = []
    while piece := reader.read(100_000):
        pieces.append(piece)
    lines = b"".join(pieces).decode().splitlines()
    assert sorted(lines) == sorted(f"<{s}> <{p}> <{o}> ." for s, p, o in facts)


@pytest.mark.parametrize("name", ["a.hdt", "a.hdt.gz"])
def test_a_store_holds_the_same_as_from_n_triples(name: str, tmp_path: Path) -> None:
    data = hdt_file(FACTS)
    Path(tmp_path, name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    Path(tmp_path, "a.nt").write_bytes(HdtReader(data, lambda _: None).read())
    for source in (name, "a.nt"):
        load(tmp_path / source, tmp_path / f"{source}.duckdb")
    assert load(tmp_path / name, tmp_path / "again.duckdb").triples == len(FACTS)
    mine, other = (facts_of(tmp_path / f"{source}.duckdb") for source in (name, "a.nt"))
    assert mine == other


@given(st.data())
def test_a_changed_byte_is_noticed(data: st.DataObject) -> None:
    whole = hdt_file(FACTS)
    header = whole.index(b"<file://a>")  # passed over, so that it has no checksum
    ends = whole.index(b"$HDT", header)
    at = data.draw(st.integers(0, len(whole) - 1).filter(lambda at: not header <= at < ends))
    changed = bytearray(whole)
    changed[at] ^= data.draw(st.integers(1, 255))
    with pytest.raises(BrokenHdtError):
        quads(bytes(changed))


@given(st.integers(0, len(hdt_file(FACTS)) - 1))
def test_a_file_that_is_cut_off_is_refused(size: int) -> None:
    with pytest.raises(BrokenHdtError):
        quads(hdt_file(FACTS)[:size])


def test_facts_in_another_order_are_refused_and_nothing_is_written(tmp_path: Path) -> None:
    Path(tmp_path, "a.hdt").write_bytes(hdt_file(FACTS, order=5))
    with pytest.raises(InputError) as refused:
        load(tmp_path / "a.hdt", tmp_path / "store.duckdb")
    assert refused.value.key == "CEL-Q221.broken_hdt"
    assert [each.name for each in tmp_path.iterdir()] == ["a.hdt"]
