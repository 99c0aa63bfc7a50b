"""A policy as values, nothing measured on the database; and the hash of a policy."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from celosia.accounting.amounts import Spending
from celosia.core.neighbours import Relation

if TYPE_CHECKING:
    from celosia.queries.policy.market import Market

MOST_PER_UNIT = 2**20
"""The default of the most that one unit may add to any answer."""

Ownerless = Literal["leave-out", "refuse"]
"""The treatment of rows that lead to no person: left out of every answer, or a refusal."""
LEAST_EPSILON = Fraction(1, 100)
"""The least price of a question where nothing is declared."""
QUESTIONS_PER_DAY = 1_000
EXCEEDED_PER_DAY = 3
_TABLES_KEPT = 10_000
"""A policy remembers so many names of tables that were looked up."""
ColumnType = Literal["integer", "number", "text", "boolean", "date", "timestamp"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnPolicy:
    """The declaration of a column. All of it is public."""

    name: str
    type: ColumnType
    lower: Fraction | None = None
    upper: Fraction | None = None
    grid: Fraction | None = None
    """The step that values are rounded to before they are added up."""
    keys: tuple[str | int | bool, ...] | None = None
    """All values that groups may be shown for, dates as ISO texts; None where they are private."""
    unique: bool = False
    """Whether no two rows share a value: a primary key, enforced by the database."""
    most: int | None = None
    """The most rows that may share one value; the others are left out of every answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TablePolicy:
    """The declaration of a table."""

    name: str
    columns: tuple[ColumnPolicy, ...]
    public: bool = False
    references: tuple[tuple[str, str, str], ...] = ()
    """Foreign keys: a column, the table it points to, and the unique column there."""
    rows: int | None = None
    """A public bound on the number of rows."""
    ownerless: Ownerless | None = None
    """The treatment of its rows without an owner; None for that of the policy."""
    key: tuple[str, ...] = ()
    """Columns in which, taken together, no two rows agree; enforced, as for facts of a graph."""
    _by_name: dict[str, ColumnPolicy] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        names = {each.name.lower(): each for each in reversed(self.columns)}
        object.__setattr__(self, "_by_name", names)

    def column(self, name: str) -> ColumnPolicy | None:
        """The column of a name, whatever its case."""
        return self._by_name.get(name.lower())


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """The unit of protection: a person by the key of a table or by columns, or a single row."""

    name: str = "row"
    table: str | None = None
    key: str | None = None
    """The unique column of `table` that tells people apart; None for rows."""
    columns: tuple[tuple[str, str], ...] = ()
    """Where no table lists each person once: the private tables with the column that holds the key
    of the person that a row belongs to."""

    @property
    def is_row(self) -> bool:
        """Whether single rows are protected, in whichever private table they are."""
        return self.table is None and not self.columns

    def columns_of(self, table: str) -> tuple[str, ...]:
        """The columns of a table that hold the key of a person, as `columns` lists them."""
        return tuple(word for name, word in self.columns if name.lower() == table.lower())


@dataclass(frozen=True, slots=True, kw_only=True)
class Database:
    """Where the tables are."""

    kind: Literal["duckdb", "postgres", "spark"] = "duckdb"
    path: str | None = None
    """A DuckDB file; None for files only, in memory."""
    url: str | None = None
    """Of PostgreSQL or Spark; `$NAME` is read from the environment."""
    files: tuple[tuple[str, str], ...] = ()
    """Tables that are CSV or Parquet files; on Spark also folders of Parquet files."""
    folder: str | None = field(default=None, compare=False)
    """Where relative paths start: the folder of the policy file; None for the working folder."""

    def resolve_path(self, written: str) -> str:
        """The path of a file as the policy writes it, from the folder of the policy."""
        is_elsewhere = self.kind == "spark" and "://" in written
        return written if self.folder is None or is_elsewhere else str(Path(self.folder, written))


@dataclass(frozen=True, slots=True, kw_only=True)
class Graph:
    """An RDF graph as tables: one for each predicate that may be asked, with its facts as rows.

    The columns of such a table are those of `FACT_COLUMNS`; terms are identified by the numbers of
    `queries.rdf.terms.number_of`.
    """

    store: str
    """The file that facts were loaded into; relative paths start at the folder of the policy."""
    endpoint: str = ""
    """Without a store: the address of a SPARQL endpoint that is asked by aggregates. `$NAME` is
    read from the environment."""
    prefixes: tuple[tuple[str, str], ...] = ()
    predicates: tuple[tuple[str, str], ...] = ()
    """The address (IRI) of each predicate, with the name of its table."""
    classes: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Kinds of entities by the tables of their private predicates; empty where facts are units."""
    labels: tuple[tuple[int, str], ...] = ()
    """The numbers of terms that are declared as keys, each with the term as it is written."""
    graphs: tuple[tuple[str, str], ...] = ()
    """The address of each named graph that GRAPH may ask, with its short name. If there are any,
    patterns outside of GRAPH are about the default graph alone; else all graphs are one."""
    folder: str | None = field(default=None, compare=False)

    def table_of(self, address: str) -> str | None:
        """The table of a predicate; None where it may not be asked."""
        return dict(self.predicates).get(address)

    def graph_name(self, address: str) -> str | None:
        """The short name of a named graph; None where it may not be asked."""
        return dict(self.graphs).get(address)

    def store_path(self) -> str:
        """The path of the store, from the folder of the policy."""
        return self.store if self.folder is None else str(Path(self.folder, self.store))


ANY_PREDICATE = "any predicate"
"""The table of all facts that may be asked, with their `predicate` as one more column."""
ANY_PRIVATE, ANY_PUBLIC = "any private predicate", "any public predicate"
"""The same of private and of public predicates, where a policy with entities has both."""
ANY_TABLES = (ANY_PREDICATE, ANY_PRIVATE, ANY_PUBLIC)
ENTITIES = "entities"
"""The table of all subjects of private facts: its `subject` is the key of an entity."""
_CLOSURE = "+"


def closure_table(table: str) -> str:
    """The name of the table of all ways of one step or more along a public predicate."""
    return table + _CLOSURE


_IN_GRAPH = " in graph "


def graph_table(table: str, graph: str) -> str:
    """The name of the table of those facts of a table that are in a named graph."""
    return f"{table}{_IN_GRAPH}{graph}"


def split_graph_table(table: str) -> tuple[str, str]:
    """The table of a predicate, and the short name of the graph that it is in, if any.

    >>> split_graph_table(graph_table("ex:age", "ex:clinic"))
    ('ex:age', 'ex:clinic')
    >>> split_graph_table("ex:age")
    ('ex:age', '')
    """
    name, _, graph = table.partition(_IN_GRAPH)
    return name, graph


FACT_COLUMNS: tuple[tuple[str, ColumnType], ...] = (
    ("subject", "integer"),
    ("object", "integer"),
    ("kind", "integer"),
    ("text", "text"),
    ("language", "text"),
    ("datatype", "integer"),
    ("number", "number"),
    ("moment", "timestamp"),
)
"""Of each fact: numbers of its subject and object, and what the object is. `kind` is 0 for an
address, 1 for a blank node and 2 for a literal; the others are NULL unless the object is a literal:
its text, its language (lower case), the number of its datatype, its value as a number, and its
value as a moment in universal time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """Everything that decides about questions: declared by the owner, public, checked."""

    name: str
    tables: tuple[TablePolicy, ...]
    budget: Spending
    database: Database = field(default_factory=Database)
    unit: Unit = field(default_factory=Unit)
    relation: Relation = Relation.ADD_REMOVE
    analysts: tuple[tuple[str, Spending], ...] = ()
    """The analysts with their limits; if it is not empty, no others may ask."""
    most_per_unit: int = MOST_PER_UNIT
    """A public bound on what one unit adds to any answer; where the race to the top begins."""
    elastic: bool = False
    """Whether noise may be scaled by what is measured on the data (smooth elastic sensitivity)."""
    least_epsilon: Fraction = LEAST_EPSILON
    """The least epsilon of a question; stored answers are given again anyway."""
    questions_per_day: int = QUESTIONS_PER_DAY
    """Questions of one analyst that are charged in one day of universal time, at most."""
    exceeded_per_day: int = EXCEEDED_PER_DAY
    """Questions of one analyst in one day that may be too much for the rows: those that are not
    answered by their deadline, or fail. After them the analyst asks no more until the next day."""
    deadline: Fraction | None = None
    """Seconds after which every question is answered; if None, each plan chooses a time class by
    its method, the engine and the declared numbers of rows."""
    ownerless: Ownerless = "leave-out"
    """The treatment of rows without an owner, where their table declares none."""
    graph: Graph | None = None
    """Where the tables are the predicates of an RDF graph."""
    market: Market | None = None
    """Prices of answers in money. They change no answer, and so are no part of the hash."""
    _found: dict[str, TablePolicy | None] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    @property
    def people(self) -> int | None:
        """A public bound on the number of units: the declared rows of their table, or none."""
        table = None if self.unit.table is None else self.table(self.unit.table)
        return None if table is None else table.rows

    def refuses_ownerless(self, table: TablePolicy) -> bool:
        """Whether each row of a table must lead to a person that the unit's table holds."""
        if self.unit.is_row or table.public:
            return False
        return (table.ownerless or self.ownerless) == "refuse"

    def table(self, name: str) -> TablePolicy | None:
        """The table of a name, whatever its case; closures of public predicates among them."""
        try:
            return self._found[name]
        except KeyError:
            found = self._look_up(name)
        # Plans ask for the same few tables thousands of times, analysts for any number of others.
        if len(self._found) < _TABLES_KEPT:
            self._found[name] = found
        return found

    def _look_up(self, name: str) -> TablePolicy | None:
        found = next((each for each in self.tables if each.name.lower() == name.lower()), None)
        if self.graph is not None and name.lower() in ANY_TABLES:
            return self._any_predicate(name.lower(), found)
        if found is None and self.graph is not None and name.endswith(_CLOSURE):
            steps = self.table(name.removesuffix(_CLOSURE))
            if steps is not None and steps.public and "predicate" not in steps.key:
                columns = tuple(replace(each, most=None, unique=False) for each in steps.columns)
                return replace(steps, name=steps.name + _CLOSURE, columns=columns)
        if found is None and self.graph is not None and _IN_GRAPH in name.lower():
            return self._in_graph(*split_graph_table(name.lower()))
        return found

    def _in_graph(self, name: str, graph: str) -> TablePolicy | None:
        """The facts of a table in a named graph: other facts, of which the same is declared."""
        assert self.graph is not None
        found = self.table(name)
        short = next((each for _, each in self.graph.graphs if each.lower() == graph), None)
        if found is None or short is None or found.name == ENTITIES:
            return None
        return replace(found, name=graph_table(found.name, short))

    def _any_predicate(self, name: str, found: TablePolicy | None) -> TablePolicy | None:
        """The table of all facts, or of all private or public ones where there are both.

        Which predicates may be asked is public, so groups may be shown for each of them.
        """
        assert self.graph is not None
        of = {iri: self.table(table) for iri, table in self.graph.predicates}
        if name == ANY_PREDICATE:
            if found is None:
                return None
            among = tuple(of)
        else:
            kinds = {each.public for each in of.values() if each is not None}
            if self.unit.is_row or len(kinds) < 2:
                return None
            is_public = name == ANY_PUBLIC
            among = tuple(
                iri for iri, each in of.items() if each is not None and each.public == is_public
            )
            found = TablePolicy(
                name=name,
                columns=(
                    *(ColumnPolicy(name=word, type=type_) for word, type_ in FACT_COLUMNS),
                    ColumnPolicy(name="predicate", type="integer"),
                ),
                public=is_public,
                references=() if is_public else (("subject", ENTITIES, "subject"),),
                key=("subject", "predicate", "object"),
            )
        parts = [table for iri in among if (table := of[iri]) is not None]
        changes: dict[str, dict[str, Any]] = {"predicate": {"keys": predicate_numbers(among)}}
        caps = [_subject_cap(of[iri]) for iri in among]
        if not self.unit.is_row and not found.public and None not in caps:
            # The facts of an entity are those of its predicates: their caps add up.
            changes["subject"] = {"most": sum(each or 0 for each in caps)}
        columns = tuple(
            replace(
                _declared_by_all(each, [part.column(each.name) for part in parts]),
                **changes.get(each.name, {}),
            )
            for each in found.columns
        )
        return replace(found, columns=columns)


def _subject_cap(table: TablePolicy | None) -> int | None:
    column = None if table is None else table.column("subject")
    return None if column is None else column.most


def _declared_by_all(column: ColumnPolicy, parts: list[ColumnPolicy | None]) -> ColumnPolicy:
    """A column of all facts: its keys and bounds are those of all predicates, if each has some."""
    given = [each for each in parts if each is not None]
    if given and all(each.keys is not None for each in given):
        listed = dict.fromkeys(key for each in given for key in each.keys or ())
        column = replace(column, keys=tuple(listed))
    lower = [each.lower for each in given if each.lower is not None]
    upper = [each.upper for each in given if each.upper is not None]
    if given and len(lower) == len(upper) == len(given):
        grids = [each.grid for each in given if each.grid is not None]
        column = replace(
            column, lower=min(lower), upper=max(upper), grid=min(grids) if grids else None
        )
    return column


@lru_cache(maxsize=64)
def predicate_numbers(addresses: tuple[str, ...]) -> tuple[int, ...]:
    """The numbers of predicates, as facts refer to them."""
    from celosia.queries.rdf.terms import address_text, term_number  # tables do without

    return tuple(term_number(address_text(each)) for each in addresses)


HASH_FORMAT = "celosia policy 1"
"""The hashed text begins with this, so that another format can never give the same hash."""
LATER_SETTINGS: dict[str, Any] = {
    "ownerless": "leave-out",
    "least_epsilon": "1/100",
    "questions_per_day": 1000,
    "exceeded_per_day": 3,
    "deadline": None,
}
"""Settings that came after the first form, with their defaults."""
LATER_TABLE_SETTINGS: dict[str, Any] = {"ownerless": None}


def policy_hash(policy: Policy) -> str:
    """The SHA-256 of what a policy says, as 64 hexadecimal digits.

    It does not depend on the order of tables, columns, keys, references, files and analysts, nor on
    comments, spaces, the way numbers are written, or the folder of the file.
    """
    return _hash(_IdentityKey(policy))


class _IdentityKey:
    """A policy that is equal to itself alone: 1 and True are equal, and not the same key."""

    def __init__(self, policy: Policy):
        self.policy = policy

    def __hash__(self) -> int:
        return id(self.policy)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _IdentityKey) and self.policy is other.policy


@lru_cache(maxsize=8)  # every answer tells it, and a policy never changes
def _hash(same: _IdentityKey) -> str:
    facts = _without_defaults(policy_facts(same.policy))
    said = json.dumps([HASH_FORMAT, facts], sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(said.encode()).hexdigest()


def _without_defaults(facts: dict[str, Any]) -> dict[str, Any]:
    """The facts without later settings at their defaults: older policies keep their hashes."""
    kept = {name: fact for name, fact in facts.items() if LATER_SETTINGS.get(name, ...) != fact}
    kept["tables"] = [
        [
            name,
            {
                word: fact
                for word, fact in table.items()
                if LATER_TABLE_SETTINGS.get(word, ...) != fact
            },
        ]
        for name, table in facts["tables"]
    ]
    return kept


def policy_facts(policy: Policy) -> dict[str, Any]:
    """Everything a policy says as plain JSON values, exact and in one order."""
    database, unit = policy.database, policy.unit
    facts: dict[str, Any] = {
        "name": policy.name,
        "neighbours": str(policy.relation),
        "most_per_unit": policy.most_per_unit,
        "elastic": policy.elastic,
        "least_epsilon": _fraction(policy.least_epsilon),
        "questions_per_day": policy.questions_per_day,
        "exceeded_per_day": policy.exceeded_per_day,
        "deadline": _fraction(policy.deadline),
        "ownerless": policy.ownerless,
        "database": {
            "kind": database.kind,
            "path": database.path,
            "url": database.url,  # as written: what $NAME stands for is no part of a policy
            "files": sorted(database.files),
        },
        "unit": {
            "name": unit.name,
            "table": unit.table,
            "key": unit.key,
            **({"columns": sorted(unit.columns)} if unit.columns else {}),
        },
        "budget": _spending(policy.budget),
        "analysts": sorted([name, _spending(amount)] for name, amount in policy.analysts),
        "tables": sorted(([each.name, _table(each)] for each in policy.tables), key=json.dumps),
    }
    if policy.graph is not None:
        facts["graph"] = {
            "store": policy.graph.store,
            **({"endpoint": policy.graph.endpoint} if policy.graph.endpoint else {}),
            **({"graphs": sorted(policy.graph.graphs)} if policy.graph.graphs else {}),
            "predicates": sorted(policy.graph.predicates),
            "classes": sorted([name, sorted(of)] for name, of in policy.graph.classes),
        }
    return facts


def _table(table: TablePolicy) -> dict[str, Any]:
    return {
        "public": table.public,
        "rows": table.rows,
        "ownerless": table.ownerless,
        "references": sorted(table.references),
        "columns": sorted(([each.name, _column(each)] for each in table.columns), key=json.dumps),
    }


def _column(column: ColumnPolicy) -> dict[str, Any]:
    return {
        "type": column.type,
        "lower": _fraction(column.lower),
        "upper": _fraction(column.upper),
        "grid": _fraction(column.grid),
        "keys": None if column.keys is None else sorted(map(json.dumps, column.keys)),
        "unique": column.unique,
        "most": column.most,
    }


def _spending(amount: Spending) -> list[Any]:
    delta = _fraction(amount.delta)
    if amount.rho is not None:
        return ["rho", _fraction(amount.rho), delta]
    if amount.curve:
        return ["renyi", [[*map(_fraction, pair)] for pair in amount.curve], delta]
    return [_fraction(amount.epsilon), delta]


def _fraction(number: Fraction | None) -> str | None:
    return None if number is None else f"{number.numerator}/{number.denominator}"
