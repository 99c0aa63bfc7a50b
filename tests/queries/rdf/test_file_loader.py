"""Files into a store: every format, every fact, whole or not at all."""

from __future__ import annotations

import gzip
import os
import random
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import pyoxigraph as ox
import pytest
from tests.queries.rdf.graphs import EX, SMALL, facts_of, parsed, write

from celosia.core.errors import CelosiaError, EngineError, InputError
from celosia.core.progress import Step
from celosia.queries.rdf import store_loader, term_sql
from celosia.queries.rdf.file_loader import load
from celosia.queries.rdf.ntriples import BatchWriter
from celosia.queries.rdf.terms import decode, term_number

FORMATS = {
    ".ttl": ox.RdfFormat.TURTLE,
    ".nt": ox.RdfFormat.N_TRIPLES,
    ".rdf": ox.RdfFormat.RDF_XML,
    ".nq": ox.RdfFormat.N_QUADS,
    ".trig": ox.RdfFormat.TRIG,
}
MARK = "planted-7391"


def listing(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def fuzzed(seed: int, count: int) -> list[ox.Triple]:
    """Facts with all that texts may hold; some twice."""
    draw = random.Random(seed)
    letters = '\x01\x08\t\n\r\x0b\x1f "\\u0001nu@^<>_:.\x7f\x85\u2028\ufffe\uffffé😀ab'
    nodes = [ox.NamedNode(f"{EX}{draw.choice(['é', '%20', 'a'])}{number}") for number in range(20)]
    found = []
    for _ in range(count):
        text = "".join(draw.choices(letters, k=draw.randrange(8)))
        value: Any = draw.choice(
            [
                ox.Literal(text),
                ox.Literal(text, language=draw.choice(["en", "EN", "de-ch", "zh-Hant"])),
                ox.Literal(text, datatype=ox.NamedNode(f"{EX}type")),
                ox.Literal(draw.randrange(5)),
                draw.choice(nodes),
            ]
        )
        found.append(ox.Triple(draw.choice(nodes), draw.choice(nodes), value))
    return found + draw.sample(found, 5)


@pytest.mark.parametrize("ending", FORMATS)
def test_every_format_gives_the_facts_of_its_parser(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"graph{ending}"
    triples = list(ox.parse(SMALL, format=ox.RdfFormat.TURTLE))
    ox.serialize(triples, path, format=FORMATS[ending])
    made = load(path, tmp_path / "graph")
    expected = parsed(SMALL, ox.RdfFormat.TURTLE)
    assert facts_of(tmp_path / "graph") == expected
    assert (made.triples, made.read, made.added) == (19, 19, 19)
    assert made.terms == len({term for fact in expected for term in fact})
    assert f"{made.triples:,} facts" in str(made)
    assert made.as_dict()["triples"] == 19


@pytest.mark.parametrize("seed", range(4))
def test_nothing_is_lost_or_changed_on_fuzzed_facts(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_loader, "BatchWriter", partial(BatchWriter, size=700))  # many of them
    triples = fuzzed(seed, 300)
    path = tmp_path / "fuzzed.nt"
    ox.serialize(triples, path, format=ox.RdfFormat.N_TRIPLES)
    made = load(path, tmp_path / "graph")
    expected = {(str(each.subject), str(each.predicate), str(each.object)) for each in triples}
    assert facts_of(tmp_path / "graph") == expected
    assert (made.read, made.triples) == (305, len(expected))


def test_rows_hold_numbers_and_decoded_objects_in_order(tmp_path: Path) -> None:
    path = tmp_path / "fuzzed.nt"
    ox.serialize(fuzzed(9, 300), path, format=ox.RdfFormat.N_TRIPLES)
    load(path, tmp_path / "graph")
    import duckdb  # the file as others see it

    with duckdb.connect(str(tmp_path / "graph"), read_only=True) as connection:
        rows = connection.execute("SELECT * FROM triples").fetchall()
        terms = dict(connection.execute("SELECT id, text FROM terms").fetchall())
    assert all(term_number(text) == number for number, text in terms.items())
    assert [row[1::-1] + row[2:3] for row in rows] == sorted(row[1::-1] + row[2:3] for row in rows)
    for row in rows:
        wanted = decode(terms[row[2]])
        assert row[3:] == (
            *(wanted.kind, wanted.text, wanted.language),
            *(wanted.datatype, wanted.number, wanted.moment),
        )


def test_graphs_become_one_and_duplicates_collapse(tmp_path: Path) -> None:
    text = '<urn:a> <urn:b> "c" <urn:g> .\n<urn:a> <urn:b> "c" <urn:h> .\n<urn:a> <urn:b> "d" .\n'
    made = load(write(tmp_path / "a.nq", text), tmp_path / "graph")
    assert (made.read, made.triples) == (3, 2)


def test_blank_nodes_are_apart_for_each_file_and_each_loading(tmp_path: Path) -> None:
    one = write(tmp_path / "one.nt", "_:x <urn:p> _:y .\n_:y <urn:p> _:x .\n")
    two = write(tmp_path / "two.nt", "_:x <urn:p> <urn:c> .\n")
    load([one, two], tmp_path / "graph")
    load(two, tmp_path / "graph", add=True)
    assert facts_of(tmp_path / "graph") == {
        ("_:f1-x", "<urn:p>", "_:f1-y"),
        ("_:f1-y", "<urn:p>", "_:f1-x"),
        ("_:f2-x", "<urn:p>", "<urn:c>"),
        ("_:f3-x", "<urn:p>", "<urn:c>"),
    }


def test_packed_files_and_a_given_format_are_read(tmp_path: Path) -> None:
    with gzip.open(tmp_path / "a.TTL.gz", "wt") as file:
        file.write(SMALL)
    write(tmp_path / "b.txt", SMALL)
    load(tmp_path / "a.TTL.gz", tmp_path / "one")
    load(tmp_path / "b.txt", tmp_path / "two", format="turtle")
    assert facts_of(tmp_path / "one") == facts_of(tmp_path / "two")


def test_relative_addresses_need_a_base(tmp_path: Path) -> None:
    path = write(tmp_path / "a.ttl", "<a> <b> <c> .")
    with pytest.raises(InputError, match="--base"):
        load(path, tmp_path / "graph")
    load(path, tmp_path / "graph", base=EX)
    assert facts_of(tmp_path / "graph") == {(f"<{EX}a>", f"<{EX}b>", f"<{EX}c>")}


def test_facts_are_added_to_what_is_there(tmp_path: Path) -> None:
    first = write(tmp_path / "a.nt", "<urn:a> <urn:p> <urn:b> .\n")
    second = write(tmp_path / "b.nt", "<urn:a> <urn:p> <urn:b> .\n<urn:a> <urn:q> <urn:b> .\n")
    load(first, tmp_path / "graph", add=True)
    made = load(second, tmp_path / "graph", add=True)
    assert (made.triples, made.read, made.added) == (2, 2, 1)


def test_a_store_is_not_lost_by_accident(tmp_path: Path) -> None:
    path = write(tmp_path / "a.nt", "<urn:a> <urn:p> <urn:b> .\n")
    load(path, tmp_path / "graph")
    with pytest.raises(InputError) as refusal:
        load(path, tmp_path / "graph")
    assert refusal.value.code == "CEL-I004"
    load(path, tmp_path / "graph", overwrite=True)


def test_progress_tells_the_bytes_read(tmp_path: Path) -> None:
    steps: list[Step] = []
    text = "".join(f"<urn:a{number}> <urn:p> <urn:b> .\n" for number in range(100_000))
    path = write(tmp_path / "a.nt", text)
    load(path, tmp_path / "graph", progress=steps.append)
    read = [step for step in steps if step.stage == "Reading a.nt"]
    assert [step.done for step in read] == sorted({step.done for step in read})
    assert len(read) >= 3
    assert {step.total for step in read} == {len(text)}
    assert steps[-1].stage == "Writing the store"


@pytest.mark.parametrize(
    ("name", "text", "where"),
    [
        ("a.nt", f'<urn:a> <urn:b> "c" .\n<urn:a> <urn:b> "{MARK} .\n', "line 2, column 17"),
        ("a.nt", f'<urn:a> <urn:b> "c" .\n<urn:a> {MARK} "c" .\n', "line 2, column"),
        ("a.ttl", f'<urn:a> <urn:b> "c" .\n\n<urn:{MARK} a> <urn:b> 1 .', "line 3, column 1"),
        ("a.nq", "<urn:a> <urn:b> .", "line 1, column"),
        ("a.trig", "<urn:g> { <urn:a> <urn:b> ] }", "line 1, column"),
        (
            "a.rdf",
            '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">\n'
            f"<rdf:Description>\n<{MARK}:x/>\n</rdf:Description></rdf:RDF>",
            "line 4",
        ),
    ],
)
def test_a_broken_file_is_refused_by_its_place(
    name: str, text: str, where: str, tmp_path: Path
) -> None:
    load(write(tmp_path / "good.nt", "<urn:a> <urn:p> <urn:b> .\n"), tmp_path / "graph")
    before = (tmp_path / "graph").read_bytes()
    path = write(tmp_path / name, text)
    for add in (True, False):
        with pytest.raises(InputError) as refusal:
            load([tmp_path / "good.nt", path], tmp_path / "graph", add=add, overwrite=True)
        assert refusal.value.code == "CEL-Q221"
        assert f"{path} is no valid" in str(refusal.value)
        assert where in str(refusal.value)
        assert MARK not in str(refusal.value.as_dict())
    assert (tmp_path / "graph").read_bytes() == before
    assert listing(tmp_path) == sorted(["good.nt", "graph", name])


def test_a_packed_file_that_is_cut_off_is_refused(tmp_path: Path) -> None:
    packed = gzip.compress(SMALL.encode() * 50)
    (tmp_path / "cut.ttl.gz").write_bytes(packed[: len(packed) // 2])
    (tmp_path / "none.ttl.gz").write_text(SMALL)
    for name in ("cut.ttl.gz", "none.ttl.gz"):
        with pytest.raises(InputError, match="unpacked") as refusal:
            load(tmp_path / name, tmp_path / "graph")
        assert refusal.value.code == "CEL-Q221"
    assert listing(tmp_path) == ["cut.ttl.gz", "none.ttl.gz"]


@pytest.mark.parametrize(
    "fact",
    ["<urn:a> <urn:b> <<( <urn:a> <urn:b> <urn:c> )>> .", '<urn:a> <urn:b> "x"@en--ltr .'],
)
def test_terms_that_are_not_of_rdf_1_1_are_refused(fact: str, tmp_path: Path) -> None:
    path = write(tmp_path / "a.nt", f"{fact}\n")
    with pytest.raises(InputError, match=r"a\.nt") as refusal:
        load(path, tmp_path / "graph")
    assert refusal.value.code == "CEL-Q227"


def test_texts_that_look_like_directions_are_loaded(tmp_path: Path) -> None:
    text = '<urn:a> <urn:b> "x--ltr" .\n<urn:a> <urn:b> _:a--ltr .\n<urn:a> <urn:b> "@en--rtl" .\n'
    assert load(write(tmp_path / "a.nt", text), tmp_path / "graph").triples == 3


@pytest.mark.parametrize(
    ("sources", "format_name", "code"),
    [
        ([], None, "CEL-Q221"),
        (["missing.nt"], None, "CEL-Q221"),
        (["a.hdt"], None, "CEL-Q221"),
        (["a.hdt"], "hdt", "CEL-Q221"),
    ],
)
def test_what_is_no_file_of_facts_is_refused(
    sources: list[str], format_name: str | None, code: str, tmp_path: Path
) -> None:
    write(tmp_path / "a.hdt", "$HDT")
    paths = [tmp_path / source for source in sources]
    with pytest.raises(InputError) as refusal:
        load(paths, tmp_path / "graph", format=format_name)
    assert refusal.value.code == code


def test_adding_to_what_is_no_store_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "a.nt", "<urn:a> <urn:p> <urn:b> .\n")
    other = write(tmp_path / "other", "something else")
    with pytest.raises(InputError) as refusal:
        load(path, other, add=True)
    assert refusal.value.code == "CEL-Q228"
    assert other.read_text() == "something else"


def test_two_terms_of_one_number_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(term_sql, "number_sql", lambda text: f"CAST(length({text}) AS BIGINT)")
    path = write(tmp_path / "a.nt", "<urn:a> <urn:p> <urn:long> .\n")
    with pytest.raises(EngineError) as refusal:
        load(path, tmp_path / "graph")
    assert refusal.value.code == "CEL-Q225"
    assert listing(tmp_path) == ["a.nt"]


def test_a_store_that_somebody_else_replaced_is_not_lost(tmp_path: Path) -> None:
    path = write(tmp_path / "a.nt", "<urn:a> <urn:p> <urn:b> .\n")
    load(path, tmp_path / "graph")

    def intrude(step: Step) -> None:
        if step.stage == "Counting":
            load(path, tmp_path / "graph", add=True)

    with pytest.raises(CelosiaError) as refusal:
        load(path, tmp_path / "graph", add=True, progress=intrude)
    assert refusal.value.code == "CEL-Q226"


def test_ctrl_c_leaves_everything_as_it_was(tmp_path: Path) -> None:
    path = write(tmp_path / "a.nt", "<urn:a> <urn:p> <urn:b> .\n")

    for stage in ("Reading a.nt", "Sorting facts", "Writing the store"):

        def stop(step: Step, stage: str = stage) -> None:
            if step.stage == stage:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            load(path, tmp_path / "graph", progress=stop)
        assert listing(tmp_path) == ["a.nt"]


def _child(code: str, folder: Path) -> subprocess.Popen[str]:
    words = [sys.executable, "-c", code]
    return subprocess.Popen(
        words, cwd=folder, stdout=subprocess.PIPE, text=True, env={**os.environ}
    )


def test_a_killed_process_leaves_the_store_as_it_was(tmp_path: Path) -> None:
    path = write(tmp_path / "a.nt", "<urn:a> <urn:p> <urn:b> .\n")
    load(path, tmp_path / "graph")
    before = facts_of(tmp_path / "graph")
    code = """
import time
from celosia.queries.rdf.ntriples import BatchWriter
from celosia.queries.rdf.file_loader import load
def wait(step):
    if step.stage == "Writing the store":
        print("now", flush=True)
        time.sleep(60)
load("more.nt", "graph", add=True, progress=wait)
"""
    write(tmp_path / "more.nt", "<urn:a> <urn:p> <urn:c> .\n")
    with _child(code, tmp_path) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "now\n"
        child.send_signal(signal.SIGKILL)
    assert facts_of(tmp_path / "graph") == before
    load(tmp_path / "more.nt", tmp_path / "graph", add=True)
    assert len(facts_of(tmp_path / "graph")) == 2


def test_a_full_disk_leaves_the_store_as_it_was(tmp_path: Path) -> None:
    path = write(tmp_path / "a.nt", "<urn:a> <urn:p> <urn:b> .\n")
    load(path, tmp_path / "graph")
    before = facts_of(tmp_path / "graph")
    text = "".join(f'<urn:{n}> <urn:p> "{n * 7919 % 10**9:x}" .\n' for n in range(60_000))
    write(tmp_path / "more.nt", text)
    code = """
import resource
from celosia.core.errors import EngineError
from celosia.queries.rdf.ntriples import BatchWriter
from celosia.queries.rdf.file_loader import load
resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, 1_000_000))
try:
    load("more.nt", "graph", add=True)
except EngineError as error:
    print(error.code)
"""
    started = time.monotonic()
    with _child(code, tmp_path) as child:
        assert child.stdout is not None
        assert child.stdout.read() == "CEL-Q224\n"
    assert time.monotonic() - started < 600
    assert facts_of(tmp_path / "graph") == before
    assert listing(tmp_path) == ["a.nt", "graph", "more.nt"]


def xml(entities: str, used: str) -> str:
    """RDF/XML with entities and one fact."""
    start = 'xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="http://example.org/"'
    fact = f'<rdf:Description rdf:about="{EX}a"><e:p>{used}</e:p></rdf:Description>'
    return f"<!DOCTYPE r [{entities}]>\n<rdf:RDF {start}>{fact}</rdf:RDF>"


def test_entities_of_xml_that_grow_are_refused_before_they_do(tmp_path: Path) -> None:
    levels = "".join(f'<!ENTITY l{at + 1} "{f"&l{at};" * 10}">' for at in range(12))
    bombs = {
        "nested": f'<!ENTITY l0 "lol">{levels}',
        "on lines": f'<!ENTITY\nl0\n"lol">{levels}'.replace("><!", ">\n<!"),
        "after an element": f"<!ENTITY l0 \"<a b='c'/>\">{levels}",
        "long": f'<!ENTITY l12 "{"x" * 10_000}">',
    }
    for name, entities in bombs.items():
        file = write(tmp_path / f"{name}.rdf", xml(entities, "&l12;"))
        with pytest.raises(InputError, match="declares an entity") as caught:
            load(file, tmp_path / "s.graph")
        assert caught.value.code == "CEL-Q221"
    assert not (tmp_path / "s.graph").exists()


def test_entities_of_xml_that_shorten_addresses_are_read(tmp_path: Path) -> None:
    entities = f'\n<!ENTITY e "{EX}">\n<!ENTITY and "a &amp; b">\n'
    load(write(tmp_path / "s.rdf", xml(entities, "&e;x &and;")), tmp_path / "s.graph")
    assert facts_of(tmp_path / "s.graph") == {(f"<{EX}a>", f"<{EX}p>", f'"{EX}x a & b"')}


@pytest.mark.parametrize("ending", FORMATS)
def test_a_mark_of_byte_order_is_no_part_of_a_file(tmp_path: Path, ending: str) -> None:
    plain = ox.serialize(ox.parse(SMALL, format=ox.RdfFormat.TURTLE), format=FORMATS[ending])
    assert plain is not None
    (tmp_path / f"s{ending}").write_bytes(b"\xef\xbb\xbf" + plain)
    load(tmp_path / f"s{ending}", tmp_path / "s.graph")
    assert facts_of(tmp_path / "s.graph") == parsed(SMALL, ox.RdfFormat.TURTLE)


def test_a_term_that_is_too_long_is_told_as_that(tmp_path: Path) -> None:
    file = write(tmp_path / "s.nt", f'<{EX}a> <{EX}p> "{"x" * 2**25}" .\n')
    with pytest.raises(InputError, match="too long to read") as caught:
        load(file, tmp_path / "s.graph")
    assert caught.value.code == "CEL-Q221"
