"""Policies of RDF graphs: predicates become tables, and everything that is wrong is told."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from celosia.core.errors import InputError
from celosia.queries.policy import load_policy, policy_hash, policy_text, read_policy
from celosia.queries.policy.values import ANY_PREDICATE, ENTITIES, Unit
from celosia.queries.rdf.terms import term_number
from celosia.queries.rdf.views import make_views

PEOPLE = """\
name = "people"

[unit]
name = "person"

[budget]
epsilon = 2

[graph]
store = "people.graph"

[graph.prefixes]
foaf = "http://xmlns.com/foaf/0.1/"
ex = "http://example.org/"

[graph.classes.Person]
predicates = ["foaf:age", "foaf:knows", "ex:city"]

[graph.predicates."foaf:age"]
most_per_subject = 1
lower = 0
upper = 120

[graph.predicates."ex:city"]
keys = ["ex:Zurich", "<http://example.org/a b>", "\\"5\\"^^xsd:integer", "\\"Z\\\\u00fcrich\\"@DE"]

[graph.predicates."ex:country"]
public = true
""".replace("/a b>", "/a-b>")


def changed(old: str, new: str) -> str:
    assert old in PEOPLE
    return PEOPLE.replace(old, new)


def test_predicates_become_tables_whose_rows_belong_to_their_subjects() -> None:
    policy = read_policy(PEOPLE)
    assert policy.unit == Unit(name="person", table=ENTITIES, key="subject")
    names = [table.name for table in policy.tables]
    assert names == ["foaf:age", "foaf:knows", "ex:city", "ex:country", ENTITIES]
    age, country = policy.table("foaf:age"), policy.table("ex:country")
    assert age is not None
    assert country is not None
    assert age.references == (("subject", ENTITIES, "subject"),)
    assert age.key == ("subject", "object")
    subject, number = age.column("subject"), age.column("number")
    assert subject is not None
    assert number is not None
    assert (subject.most, number.lower, number.upper) == (1, Fraction(0), Fraction(120))
    assert country.public
    assert country.references == ()


def test_single_facts_are_the_unit_when_it_is_called_triple() -> None:
    policy = read_policy(changed('name = "person"', 'name = "triple"'))
    assert policy.unit.is_row
    assert policy.table(ENTITIES) is None
    assert policy.table(ANY_PREDICATE) is not None


def test_keys_are_numbers_of_terms_and_keep_their_words() -> None:
    policy = read_policy(PEOPLE)
    city = policy.table("ex:city")
    assert city is not None
    objects = city.column("object")
    assert objects is not None
    texts = [
        "<http://example.org/Zurich>",
        "<http://example.org/a-b>",
        '"5"^^<http://www.w3.org/2001/XMLSchema#integer>',
        '"Zürich"@de',
    ]
    assert objects.keys == tuple(map(term_number, texts))
    assert policy.graph is not None
    labels = dict(policy.graph.labels)
    shown = ["ex:Zurich", "ex:a-b", '"5"^^xsd:integer', '"Zürich"@de']
    assert [labels[term_number(text)] for text in texts] == shown


def test_the_text_of_a_graph_policy_reads_back_as_the_same_policy() -> None:
    policy = read_policy(PEOPLE)
    again = read_policy(policy_text(policy))
    assert again == policy
    assert policy_hash(again) == policy_hash(policy)


def test_the_hash_tells_apart_what_is_public_and_who_belongs_to_a_class() -> None:
    plain = policy_hash(read_policy(PEOPLE))
    others = [
        changed('"foaf:knows", ', '"foaf:knows", "ex:pet", '),
        changed("upper = 120", "upper = 130"),
        changed('name = "person"', 'name = "triple"'),
    ]
    assert len({plain, *(policy_hash(read_policy(each)) for each in others)}) == 4


def test_predicates_that_differ_in_case_only_get_names_that_differ_by_more() -> None:
    policy = read_policy(changed('"foaf:knows"', '"foaf:knows", "foaf:Knows"'))
    assert policy.table("foaf:Knows (2)") is not None


def test_the_store_is_found_from_the_folder_of_the_policy(tmp_path: Path) -> None:
    file = tmp_path / "people.toml"
    file.write_text(PEOPLE)
    graph = load_policy(file).graph
    assert graph is not None
    assert graph.store_path() == str(tmp_path / "people.graph")


def test_a_view_shows_the_facts_of_its_predicate_and_no_others() -> None:
    policy = read_policy(PEOPLE)
    views = make_views(policy)
    closures = {f"{table.name}+" for table in policy.tables if table.public}
    halves = {"any private predicate", "any public predicate"}
    assert set(views) == {table.name for table in policy.tables} | closures | halves
    number = term_number("<http://xmlns.com/foaf/0.1/age>")
    assert views["foaf:age"].sql("duckdb").endswith(f'FROM "triples" WHERE "p" = {number}')
    public = term_number("<http://example.org/country>")
    assert str(public) not in views[ENTITIES].sql("duckdb")


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ('store = "people.graph"', "", "CEL-Q280"),
        ('[unit]\nname = "person"', "", "CEL-Q010"),
        ('"foaf:knows"', '"other:knows"', "CEL-Q280"),
        ('"foaf:knows"', '"foaf:kn ows"', "CEL-Q280"),
        ('keys = ["ex:Zurich"', 'keys = ["Zurich"', "CEL-Q280"),
        ('keys = ["ex:Zurich"', 'keys = ["\\"Zurich"', "CEL-Q280"),
        ("public = true", "public = false", "CEL-Q280"),
        ("most_per_subject = 1\n", "most_per_subject = 1\npublic = true\n", "CEL-Q280"),
        ("most_per_subject = 1\n", "most_per_object = 1\n", "CEL-Q280"),
        ("most_per_subject = 1\n", "most_per_subject = 0\n", "CEL-Q006"),
        ("most_per_subject = 1\n", "most = 1\n", "CEL-Q004"),
        ("[graph.prefixes]", "[database]\n[graph.prefixes]", "CEL-Q280"),
        ('predicates = ["foaf:age", "foaf:knows", "ex:city"]', "predicates = 3", "CEL-Q005"),
    ],
)
def test_what_is_wrong_with_a_graph_is_told(old: str, new: str, code: str) -> None:
    with pytest.raises(InputError) as caught:
        read_policy(changed(old, new))
    problems: Any = caught.value.details["problems"]
    assert code in {each["code"] for each in problems}


@pytest.mark.parametrize("unit", ["person", "triple"])
def test_a_predicate_of_a_class_is_never_public(unit: str) -> None:
    text = changed("most_per_subject = 1\n", "public = true\n")
    with pytest.raises(InputError, match="foaf:age is public, and in a class"):
        read_policy(text.replace('name = "person"', f'name = "{unit}"'))


def test_a_predicate_that_is_written_in_two_ways_has_one_section() -> None:
    other = '[graph.predicates."<http://xmlns.com/foaf/0.1/age>"]\nmost_per_subject = 9\n'
    with pytest.raises(InputError, match="foaf:age has two sections"):
        read_policy(PEOPLE + other)


def test_a_long_address_may_be_a_predicate() -> None:
    long = f"<http://example.org/{'x' * 200}>"
    policy = read_policy(changed('"foaf:knows"', f'"{long}"'))
    assert policy.graph is not None
    assert policy.graph.table_of(long[1:-1]) is not None
