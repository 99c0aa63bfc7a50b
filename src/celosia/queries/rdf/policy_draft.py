"""The draft of a policy for a graph: predicates, prefixes and classes found, caps left blank.

Names of predicates and classes are the schema of a graph. They are read from the facts, so a draft
is for the owner, who strikes out what must not be known. No number of the data is in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from celosia.core.messages import say
from celosia.queries.policy.writer import quote, toml_key
from celosia.queries.rdf.notation import STANDARD, abbreviate
from celosia.queries.rdf.store import GraphStore
from celosia.queries.rdf.terms import address_text, term_number

TYPE = STANDARD["rdf"] + "type"
KNOWN = {
    "dc": "http://purl.org/dc/elements/1.1/",
    "dcterms": "http://purl.org/dc/terms/",
    "foaf": "http://xmlns.com/foaf/0.1/",
    "geo": "http://www.w3.org/2003/01/geo/wgs84_pos#",
    "owl": "http://www.w3.org/2002/07/owl#",
    "schema": "http://schema.org/",
    "skos": "http://www.w3.org/2004/02/skos/core#",
    "vcard": "http://www.w3.org/2006/vcard/ns#",
    "wd": "http://www.wikidata.org/entity/",
    "wdt": "http://www.wikidata.org/prop/direct/",
}
"""Prefixes that people know; others are numbered."""
MOST_GRAPHS = 16
"""Named graphs that are listed: a GRAPH with a variable asks as many."""
MOST_CLASSES = 100
"""Types that become classes; entities of all others are one class together."""
Stars = Mapping[str, frozenset[int]]


def draft_graph_policy(store: GraphStore, *, name: str = "my-data", path: str | None = None) -> str:
    """The text of a policy file with every predicate private, to be filled in by the owner.

    As it is it is refused: unit and budget must be chosen.

    Args:
        store: the facts.
        name: of the data set.
        path: of the store, as the policy will have it; that of the store if None.
    """
    found = sorted(store.predicates(), key=lambda each: each.predicate)
    prefixes = _prefixes((each.predicate for each in found), store.prefixes)
    words = {
        each.number: abbreviate(address_text(each.predicate), {**STANDARD, **prefixes})
        for each in found
    }
    numeric = {
        number
        for (number,) in store.rows("SELECT DISTINCT p FROM triples WHERE number IS NOT NULL")
    }
    texts = {number for (number,) in store.rows("SELECT DISTINCT p FROM triples WHERE kind = 2")}
    examples = {
        number: "queries.draft.graph_number"
        if number in numeric
        else "queries.draft.graph_text"
        if number in texts
        else "queries.draft.graph_term"
        for number in words
    }
    parts = [
        f"name = {quote(name)}",
        say("queries.draft.graph_head").rstrip(),
        _head(store, path),
        "\n".join(
            ["[graph.prefixes]", *(f"{toml_key(k)} = {quote(v)}" for k, v in prefixes.items())]
        ),
    ]
    for star, members in _stars(store, frozenset(words)).items():
        listed = ", ".join(quote(words[each]) for each in sorted(members, key=lambda n: words[n]))
        parts.append(f"[graph.classes.{toml_key(star)}]\npredicates = [{listed}]")
    parts += [_predicate(word, examples[number]) for number, word in words.items()]
    return "\n\n".join(parts) + "\n"


def _head(store: GraphStore, path: str | None) -> str:
    """Where the facts are, and the named graphs that may be asked apart."""
    lines = ["[graph]", f"store = {quote(path or str(store.path))}"]
    named = [quote(address_text(each)) for each in store.graphs() if not each.startswith("_:")]
    if named:
        listed = ", ".join(named[:MOST_GRAPHS])
        lines.append(say("queries.draft.graph_graphs", listed=listed).rstrip())
    return "\n".join(lines)


def _predicate(word: str, example: str) -> str:
    lines = [f"[graph.predicates.{quote(word)}]", say("queries.draft.graph_predicate").rstrip()]
    return "\n".join([*lines, say(example).rstrip()])


def _prefixes(addresses: Iterable[str], declared: Mapping[str, str]) -> dict[str, str]:
    """A prefix for each start of an address, up to its last # or /: that of the files, if any."""
    starts = {found[0] for each in addresses if (found := re.match(r".*[#/]", each)) is not None}
    named = {start: word for word, start in KNOWN.items()}
    named |= {start: word for word, start in declared.items() if word not in STANDARD}
    made: dict[str, str] = {}
    for start in sorted(starts - set(STANDARD.values())):
        made[named.get(start, f"ns{len(made) + 1}")] = start
    return made


def _stars(store: GraphStore, predicates: frozenset[int]) -> Stars:
    """Kinds of entities with their predicates: by type, or by what subjects share."""
    kind = term_number(address_text(TYPE))
    typed = store.rows(
        "SELECT name.text, list(DISTINCT fact.p) FROM triples AS mark "
        "JOIN triples AS fact ON fact.s = mark.s JOIN terms AS name ON name.id = mark.o "
        "WHERE mark.p = ? AND mark.kind = 0 GROUP BY name.text ORDER BY name.text LIMIT ?",
        [kind, MOST_CLASSES],
    )
    made: dict[str, frozenset[int]] = {}
    for text, members in typed:
        made[_free(_local_name(text), made)] = frozenset(members)
    rest = predicates.difference(*made.values())
    for group in _shared(store, rest):
        made[_free("Star", made)] = group
    return made


def _shared(store: GraphStore, rest: frozenset[int]) -> Iterator[frozenset[int]]:
    """Predicates that some subject has together, directly or by way of others."""
    groups = [frozenset({each}) for each in sorted(rest)]
    found = store.rows("SELECT DISTINCT list_sort(list(DISTINCT p)) FROM triples GROUP BY s")
    for (members,) in found:
        together = frozenset(members) & rest
        touched = [each for each in groups if each & together]
        groups = [each for each in groups if not each & together]
        groups += [frozenset[int]().union(*touched)] if touched else []
    yield from sorted(groups, key=min)


def _local_name(text: str) -> str:
    return re.sub(r"\W", "_", re.split(r"[#/:]", text.strip("<>").rstrip("#/"))[-1]) or "Class"


def _free(word: str, taken: Iterable[str]) -> str:
    used = {each.lower() for each in taken}
    name, number = word, 1
    while name.lower() in used:
        number += 1
        name = f"{word}{number}"
    return name
