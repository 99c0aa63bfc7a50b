"""The [graph] section of a policy: the predicates of an RDF graph, each as a table of its facts.

[graph]
store = "people.graph"               # where `celosia rdf load` has put the facts
# endpoint = "https://..."           # or a SPARQL endpoint that is asked by aggregates
# graphs = ["ex:clinic"]             # named graphs that GRAPH and FROM may ask; without them all
                                     # graphs are one

[graph.prefixes]                     # names are short for addresses
foaf = "http://xmlns.com/foaf/0.1/"
ex = "http://example.org/"

[graph.classes.Person]               # kinds of entities by their private predicates
predicates = ["foaf:age", "foaf:knows", "ex:city"]

[graph.predicates."foaf:age"]        # what is known of a predicate; none of it measured
most_per_subject = 1                 # a functional property: further facts are left out
lower = 0
upper = 120

[graph.predicates."ex:city"]
keys = ["ex:Valparaiso", "ex:Zurich"]    # objects that groups may be shown for

[graph.predicates."ex:country"]
public = true

A predicate that is named in neither place is private and cannot be asked. With
`unit = { name = "triple" }` single facts are protected; with any other name an entity is, with all
private facts that it is the subject of.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from celosia.queries.policy.settings import Problems, Settings, Table
from celosia.queries.policy.values import (
    ANY_PREDICATE,
    ENTITIES,
    FACT_COLUMNS,
    ColumnPolicy,
    Graph,
    TablePolicy,
    Unit,
)
from celosia.queries.rdf.notation import STANDARD, abbreviate, expand_address, parse_term
from celosia.queries.rdf.terms import term_number

TRIPLE = "triple"
"""The name of the unit where single facts are protected."""

_PREDICATE = frozenset(
    {
        *("public", "most_per_subject", "most_per_object"),
        *("lower", "upper", "grid", "keys", "subject_keys"),
    }
)


def read_graph(top: Settings) -> tuple[Graph, tuple[TablePolicy, ...], Unit]:
    """The graph of a policy, its predicates as tables, and the unit."""
    section = top.section(
        "graph", "[graph]", {"store", "endpoint", "graphs", "prefixes", "classes", "predicates"}
    )
    store, endpoint = section.text("store"), section.text("endpoint")
    if bool(store) == bool(endpoint):
        top.problems.add("CEL-Q280.two_places" if store else "CEL-Q280.no_store")
    for other in ("database", "tables"):
        if top.has(other):
            top.problems.add("CEL-Q280.graph_and_tables", other=other)
    unit = _unit(top)
    reader = _TermReader(top.problems, _prefixes(section))
    graphs = _graphs(section, reader)
    if graphs and endpoint:
        top.problems.add("CEL-Q280.graphs_of_endpoint")
    classes = _classes(section, reader)
    settings = section.section("predicates", "[graph.predicates]")
    written = [*(each for _, names in classes for each in names), *settings.table]
    addresses = {word: reader.address(word) for word in dict.fromkeys(written)}
    names = _names([each for each in addresses.values() if each is not None], reader.prefixes)
    said: dict[str, Settings] = {}
    for word in settings.table:
        found = addresses[word]
        if found is None:
            continue
        if found in said:
            top.problems.add("CEL-Q280.predicate_two_sections", names=names[found])
        said[found] = settings.section(word, f"[graph.predicates.{word!r}]", _PREDICATE)
    tables = [
        _table(said.get(each, _nothing(top.problems)), name, unit, reader)
        for each, name in names.items()
    ]
    graph = Graph(
        store=store or "",
        endpoint=endpoint or "",
        prefixes=tuple(sorted(reader.prefixes.items())),
        predicates=tuple(names.items()),
        classes=tuple(
            (kind, tuple(names[found] for each in members if (found := addresses[each])))
            for kind, members in classes
        ),
        labels=tuple(sorted(reader.labels.items())),
        graphs=graphs,
    )
    _check(graph, tables, unit, top.problems)
    return graph, (*tables, *_combined_tables(tables, unit)), unit


@dataclass(slots=True)
class _TermReader:
    """Words of a policy that stand for terms."""

    problems: Problems
    prefixes: Mapping[str, str]
    labels: dict[int, str] = field(default_factory=dict)

    def address(self, word: str) -> str | None:
        found = expand_address(word, self.prefixes)
        if found is None:
            self._unknown(word)
        return found

    def number(self, word: str) -> int | None:
        text = parse_term(word, self.prefixes)
        if text is None:
            self._unknown(word)
            return None
        number = term_number(text)
        self.labels[number] = abbreviate(text, self.prefixes)
        return number

    def _unknown(self, word: str) -> None:
        self.problems.add("CEL-Q280.not_a_term", word=word)


def _unit(top: Settings) -> Unit:
    unit = top.section("unit", "[unit]", {"name"})
    name = unit.text("name")
    if name is None:
        top.problems.add("CEL-Q010.no_unit_of_graph", triple=TRIPLE)
    if name is None or name.lower() == TRIPLE:
        return Unit(name=TRIPLE)
    return Unit(name=name, table=ENTITIES, key="subject")


def _prefixes(section: Settings) -> dict[str, str]:
    given = section.section("prefixes", "[graph.prefixes]")
    return {**STANDARD, **{name: given.text(name) or "" for name in given.table}}


def _classes(section: Settings, reader: _TermReader) -> list[tuple[str, list[str]]]:
    classes = section.section("classes", "[graph.classes.NAME]")
    found = []
    for name in classes.table:
        one = classes.section(name, f"[graph.classes.{name}]", {"predicates"})
        found.append((name, _words(one, "predicates")))
    return found


def _graphs(section: Settings, reader: _TermReader) -> tuple[tuple[str, str], ...]:
    words = _words(section, "graphs")
    found = [each for each in map(reader.address, words) if each is not None]
    for each in found:
        reader.number(f"<{each}>")  # groups may be shown for them
    return tuple(_names(found, reader.prefixes).items())


def _words(settings: Settings, key: str) -> list[str]:
    value = settings.table.get(key, [])
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        return list(value)
    settings.add_wrong_type("CEL-Q005.not_terms", key, value)
    return []


def _names(addresses: Iterable[str], prefixes: Mapping[str, str]) -> dict[str, str]:
    """A short name for each predicate; engines know no case, so names differ by more than that."""
    names: dict[str, str] = {}
    for each in addresses:
        if each in names:
            continue
        short = abbreviate(f"<{each}>", prefixes)
        taken = {name.lower() for name in names.values()}
        number = 2
        name = short
        while name.lower() in taken:
            name, number = f"{short} ({number})", number + 1
        names[each] = name
    return names


def _table(settings: Settings, name: str, unit: Unit, reader: _TermReader) -> TablePolicy:
    public = settings.flag("public")
    declared = {
        "subject": ColumnPolicy(
            name="subject",
            type="integer",
            most=settings.count("most_per_subject"),
            keys=_keys(settings, "subject_keys", reader),
        ),
        "object": ColumnPolicy(
            name="object",
            type="integer",
            most=settings.count("most_per_object"),
            keys=_keys(settings, "keys", reader),
        ),
        "number": ColumnPolicy(
            name="number",
            type="number",
            lower=settings.number("lower"),
            upper=settings.number("upper"),
            grid=settings.number("grid"),
        ),
    }
    owned = not public and not unit.is_row
    return TablePolicy(
        name=name,
        columns=tuple(
            declared.get(word, ColumnPolicy(name=word, type=type_)) for word, type_ in FACT_COLUMNS
        ),
        public=public,
        references=(("subject", ENTITIES, "subject"),) if owned else (),
        key=("subject", "object"),
    )


def _keys(settings: Settings, key: str, reader: _TermReader) -> tuple[int, ...] | None:
    if not settings.has(key):
        return None
    numbers = [reader.number(word) for word in _words(settings, key)]
    return tuple(each for each in numbers if each is not None)


def _combined_tables(tables: list[TablePolicy], unit: Unit) -> list[TablePolicy]:
    """The tables that are made of several predicates: all entities, and all facts."""
    all_public = bool(tables) and all(each.public for each in tables)
    entities = TablePolicy(
        name=ENTITIES, columns=(ColumnPolicy(name="subject", type="integer", unique=True),)
    )
    anything = TablePolicy(
        name=ANY_PREDICATE,
        columns=(
            *(ColumnPolicy(name=word, type=type_) for word, type_ in FACT_COLUMNS),
            ColumnPolicy(name="predicate", type="integer"),
        ),
        public=all_public,
        references=() if unit.is_row or all_public else (("subject", ENTITIES, "subject"),),
        key=("subject", "predicate", "object"),
    )
    if unit.is_row:
        return [anything]
    # Private and public facts could not be distinguished in one table.
    mixed = any(each.public for each in tables) and not all_public
    return [entities] if mixed else [entities, anything]


def _check(graph: Graph, tables: list[TablePolicy], unit: Unit, problems: Problems) -> None:
    if not tables:
        problems.add("CEL-Q280.no_predicate")
    of_classes = {name for _, members in graph.classes for name in members}
    for table in tables:
        if table.public and table.name in of_classes:
            problems.add("CEL-Q280.predicate_public_in_class", table_name=table.name)
        if unit.is_row:
            continue
        if not table.public and table.name not in of_classes:
            problems.add("CEL-Q280.predicate_no_class", table_name=table.name, unit_name=unit.name)
        objects = table.column("object")
        if not table.public and objects is not None and objects.most is not None:
            problems.add(
                "CEL-Q280.predicate_most_per_object", table_name=table.name, unit_name=unit.name
            )


def _nothing(problems: Problems) -> Settings:
    empty: Table = {}
    return Settings(empty, "[graph.predicates]", problems, _PREDICATE)
