"""One text and one number for each term, whoever has parsed it."""

from __future__ import annotations

import hashlib
from datetime import datetime

import duckdb
import pyoxigraph as ox
import pytest
import rdflib
from hypothesis import given, settings
from hypothesis import strategies as st

from celosia.core.errors import InputError
from celosia.queries.rdf.term_sql import decode_sql, number_sql
from celosia.queries.rdf.terms import (
    DATE,
    DATE_TIME,
    XSD,
    address_text,
    canonical_text,
    decode,
    literal_text,
    parse_moment,
    parse_number,
    term_number,
)

VECTORS = {
    "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>": 3196482530602001455,
    "<http://www.w3.org/2001/XMLSchema#string>": 541131697843291659,
    '"Smith"': 4319453024874655476,
    '"Adiós"@es': 7206536361463556220,
    '"5"^^<http://www.w3.org/2001/XMLSchema#integer>': 6087728029245477381,
    "_:f1-b0": 4059399563616061290,
}
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12) | st.text(
    st.sampled_from('\x00\x01\x07\x08\t\n\x0b\x0c\r\x1f "\\u0001n\x7f\x80\ufffe\uffffé😀@^<>'),
    max_size=12,
)
LANGUAGES = st.from_regex(r"[a-zA-Z]{2,3}(-[A-Z][a-z]{3})?(-[a-zA-Z]{2})?", fullmatch=True)
TYPES = st.sampled_from([*(f"{XSD}{name}" for name in ("string", "integer", "date")), "urn:type"])
SUFFIXES = st.tuples(st.none() | LANGUAGES, st.none() | TYPES).filter(
    lambda suffix: suffix[0] is None or suffix[1] is None
)


def in_pyoxigraph(text: str, language: str | None, datatype: str | None) -> ox.Literal:
    if language is not None:
        return ox.Literal(text, language=language)
    return ox.Literal(text, datatype=ox.NamedNode(datatype) if datatype else None)


def in_rdflib(text: str, language: str | None, datatype: str | None) -> rdflib.Literal:
    kind = rdflib.URIRef(datatype) if datatype else None
    return rdflib.Literal(text, lang=language, datatype=kind, normalize=False)


@pytest.mark.parametrize(("text", "number"), VECTORS.items())
def test_numbers_never_change(text: str, number: int) -> None:
    assert term_number(text) == number
    digest = hashlib.md5(text.encode()).hexdigest()[16:]
    backwards = "".join(digest[at : at + 2] for at in range(14, -1, -2))
    assert number == int(backwards, 16) % 2**63
    assert duckdb.execute(f"SELECT {number_sql('?')}", [text]).fetchone() == (number,)


@given(TEXTS)
def test_the_engine_numbers_terms_alike(text: str) -> None:
    found = duckdb.execute(f"SELECT {number_sql('?')}", [literal_text(text)]).fetchone()
    assert found == (term_number(literal_text(text)),)


@given(TEXTS, SUFFIXES)
@pytest.mark.usefixtures("quiet_rdflib")
def test_both_libraries_give_one_text(text: str, suffix: tuple[str | None, str | None]) -> None:
    written = canonical_text(in_pyoxigraph(text, *suffix))
    assert written == canonical_text(in_rdflib(text, *suffix))
    assert written == literal_text(text, language=suffix[0], datatype=suffix[1])
    line = f"<urn:a> <urn:b> {written} ."
    assert next(iter(ox.parse(line, format=ox.RdfFormat.N_TRIPLES))).object == in_pyoxigraph(
        text, *suffix
    )
    assert decode(written).text == text


@given(st.lists(st.tuples(TEXTS, SUFFIXES), min_size=2, max_size=2), st.booleans())
def test_texts_are_equal_exactly_when_terms_are(
    drawn: list[tuple[str, tuple[str | None, str | None]]], same: bool
) -> None:
    (text, first), (other, second) = drawn
    if same:  # the texts agree, and languages up to case: the near misses
        other = text
        if first[0] is not None:
            second = (first[0].swapcase(), None)
    one, two = in_pyoxigraph(text, *first), in_pyoxigraph(other, *second)
    assert (canonical_text(one) == canonical_text(two)) == (one == two)


def test_every_character_is_written_as_pyoxigraph_does() -> None:
    for code in [
        *range(0x300),
        *range(0xD7F0, 0xD800),
        *range(0xE000, 0xE010),
        *range(0xFFF0, 0x10010),
    ]:
        assert literal_text(chr(code)) == str(ox.Literal(chr(code))), hex(code)


def test_addresses_and_blank_nodes_have_one_text() -> None:
    assert canonical_text(ox.NamedNode("http://é.org/%20")) == "<http://é.org/%20>"
    assert canonical_text(rdflib.URIRef("http://é.org/%20")) == "<http://é.org/%20>"
    assert canonical_text(ox.BlankNode("b1")) == canonical_text(rdflib.BNode("b1")) == "_:b1"


@pytest.mark.parametrize(
    "term",
    [
        "text",
        ox.Triple(ox.NamedNode("urn:a"), ox.NamedNode("urn:b"), ox.Literal("c")),
        rdflib.URIRef("urn:a b"),
        rdflib.Variable("x"),
    ],
)
def test_what_is_no_term_is_refused(term: object) -> None:
    with pytest.raises(InputError) as refusal:
        canonical_text(term)
    assert refusal.value.code == "CEL-Q220"


@pytest.mark.parametrize("bad", ["a b", "a>b", "a\nb", 'a"b', "a\\b"])
def test_an_address_holds_no_forbidden_character(bad: str) -> None:
    with pytest.raises(InputError, match="not allowed"):
        address_text(bad)


@pytest.mark.parametrize(
    ("lexical", "datatype", "value"),
    [
        ("5", "integer", 5.0),
        ("+05", "long", 5.0),
        ("-5", "unsignedByte", -5.0),
        ("5.0", "integer", None),
        (" 5", "integer", None),
        ("5\n", "integer", None),
        ("٣", "integer", None),
        ("1_000", "integer", None),
        (".5", "decimal", 0.5),
        ("5.", "decimal", 5.0),
        ("1e3", "decimal", None),
        ("1e3", "double", 1000.0),
        ("0.1", "float", 0.10000000149011612),
        ("INF", "double", None),
        ("NaN", "float", None),
        ("1e400", "double", None),
        ("1e39", "float", None),
        ("true", "boolean", None),
        ("5", "string", None),
    ],
)
def test_numbers_have_values(lexical: str, datatype: str, value: float | None) -> None:
    assert parse_number(lexical, f"<{XSD}{datatype}>") == value


@pytest.mark.parametrize(
    ("lexical", "datatype", "value"),
    [
        ("2015-01-13", DATE, datetime(2015, 1, 13)),
        ("2015-01-13+02:00", DATE, datetime(2015, 1, 12, 22)),
        ("2015-02-29", DATE, None),
        ("0000-01-01", DATE, None),
        ("12015-01-13", DATE, None),
        ("2015-01-13", DATE_TIME, None),
        ("2015-01-13T10:20:30", DATE_TIME, datetime(2015, 1, 13, 10, 20, 30)),
        ("2015-01-13T10:20:30Z", DATE_TIME, datetime(2015, 1, 13, 10, 20, 30)),
        ("2015-01-13T10:20:30.1234567-05:30", DATE_TIME, datetime(2015, 1, 13, 15, 50, 30, 123456)),
        ("2015-12-31T24:00:00", DATE_TIME, datetime(2016, 1, 1)),
        ("2015-12-31T24:00:01", DATE_TIME, None),
        ("2015-12-31T23:59:60", DATE_TIME, None),
        ("9999-12-31T24:00:00", DATE_TIME, None),
        ("0001-01-01T00:00:00+00:01", DATE_TIME, None),
        ("2015-12-31T00:00:00+14:01", DATE_TIME, None),
    ],
)
def test_moments_are_in_universal_time(lexical: str, datatype: str, value: datetime | None) -> None:
    assert parse_moment(lexical, datatype) == value


NUMERIC = st.from_regex(r"[+-]?[0-9]{0,20}(\.[0-9]{0,6})?([eE][+-]?[0-9]{1,3})?", fullmatch=True)
MOMENTS = st.from_regex(
    r"[0-9]{4}-[01][0-9]-[0-3][0-9](T[0-2][0-9]:[0-6][0-9]:[0-6][0-9](\.[0-9]{1,8})?)?"
    r"(Z|[+-][01][0-9]:[0-6][0-9])?",
    fullmatch=True,
)
ALL_TYPES = st.sampled_from(
    ["integer", "byte", "decimal", "float", "double", "date", "dateTime", "boolean", "string"]
)


@given(
    st.lists(
        st.one_of(
            st.builds(
                lambda lexical, name: literal_text(lexical, datatype=f"{XSD}{name}"),
                NUMERIC | MOMENTS | TEXTS,
                ALL_TYPES,
            ),
            st.builds(
                lambda text, language: literal_text(text, language=language), TEXTS, LANGUAGES
            ),
            st.sampled_from(["<urn:a>", "_:b"]),
        ),
        min_size=1,
        max_size=20,
    )
)
@settings(max_examples=50)
def test_the_engine_decodes_alike(texts: list[str]) -> None:
    numbered = "(SELECT unnest(range(len($1))) AS id, unnest($1) AS text)"
    rows = duckdb.execute(f"{decode_sql(numbered)} ORDER BY id", [texts]).fetchall()
    for text, (_, *found) in zip(texts, rows, strict=True):
        wanted = decode(text)
        assert found == [
            *(wanted.kind, wanted.text, wanted.language),
            *(wanted.datatype, wanted.number, wanted.moment),
        ], text


@given(NUMERIC, st.sampled_from(["integer", "double", "float"]))
def test_values_are_those_of_pyoxigraph(lexical: str, datatype: str) -> None:
    query = f'SELECT (xsd:double("{lexical}"^^xsd:{datatype}) AS ?n) {{}}'
    (row,) = ox.Store().query(f"PREFIX xsd: <{XSD}> {query}")  # type: ignore[misc]
    found, ours = row["n"], parse_number(lexical, f"<{XSD}{datatype}>")
    if datatype == "integer" and ours is not None and not -(2**63) <= ours < 2**63:
        return  # whole numbers of pyoxigraph have 64 bits
    theirs = None if found is None or found.value in ("INF", "-INF", "NaN") else float(found.value)
    if datatype == "float" and ours is not None:
        assert ours == pytest.approx(theirs, rel=1e-6)
    else:
        assert ours == theirs
