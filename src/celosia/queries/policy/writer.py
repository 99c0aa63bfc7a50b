"""The writer of policy files, and drafts made of the names and types of columns only."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations

from celosia.accounting.amounts import Spending
from celosia.core.messages import say
from celosia.queries.policy.checks import check_policy
from celosia.queries.policy.database import NO_KEYS, DatabaseColumns, DatabaseKeys, policy_type
from celosia.queries.policy.market import Market
from celosia.queries.policy.values import ColumnPolicy, Database, Graph, Policy, TablePolicy

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def policy_text(policy: Policy) -> str:
    """The text of a policy file; reading it gives the same policy.

    Raises:
        InputError: the policy has problems, as `check_policy` tells them.
    """
    check_policy(policy)
    return "\n".join(_lines(policy)) + "\n"


def quote(text: str) -> str:
    r"""A text as TOML writes it.

    >>> print(quote('say "hi"'))
    "say \"hi\""
    """
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def toml_key(name: str) -> str:
    """A name as the key of a TOML table: bare where it can be.

    >>> print(toml_key("orders"), toml_key("sales.orders"))
    orders "sales.orders"
    """
    return name if _BARE.fullmatch(name) else quote(name)


def format_number(number: Fraction) -> str:
    """A number as TOML that reads back as itself: a decimal where it is one, else a fraction.

    >>> print(*map(format_number, [Fraction(1, 100), Fraction(3), Fraction(1, 3)]))
    0.01 3 "1/3"
    """
    if number.denominator == 1:
        # Readers of TOML may keep whole numbers in 64 bits.
        return str(number) if abs(number) < 2**63 else quote(str(number))
    places = _places(number.denominator)
    if places is None:
        return quote(str(number))
    digits = str(abs(number.numerator) * 10**places // number.denominator).rjust(places + 1, "0")
    sign = "-" if number < 0 else ""
    return f"{sign}{digits[:-places]}.{digits[-places:]}"


def _places(denominator: int) -> int | None:
    """The number of decimal places of fractions with this denominator; None if they never end."""
    twos = fives = 0
    while denominator % 2 == 0:
        denominator //= 2
        twos += 1
    while denominator % 5 == 0:
        denominator //= 5
        fives += 1
    return max(twos, fives) if denominator == 1 else None


def _lines(policy: Policy) -> Iterator[str]:
    yield f"name = {quote(policy.name)}"
    yield f"neighbours = {quote(policy.relation)}"
    yield f"most_per_unit = {policy.most_per_unit}"
    yield f"elastic = {_flag(policy.elastic)}"
    yield f"ownerless = {quote(policy.ownerless)}"
    yield f"least_epsilon = {format_number(policy.least_epsilon)}"
    yield f"questions_per_day = {policy.questions_per_day}"
    yield f"exceeded_per_day = {policy.exceeded_per_day}"
    if policy.deadline is not None:
        yield f"deadline = {format_number(policy.deadline)}"
    if policy.graph is None:
        yield from _database(policy.database)
    yield from ("", "[unit]", f"name = {quote(policy.unit.name)}")
    if policy.graph is None and policy.unit.table is not None and policy.unit.key is not None:
        yield f"table = {quote(policy.unit.table)}"
        yield f"key = {quote(policy.unit.key)}"
    if policy.unit.columns:
        yield f"columns = [{', '.join(_target(*each) for each in policy.unit.columns)}]"
    yield from ("", "[budget]", *_spending(policy.budget))
    for name, amount in policy.analysts:
        yield from ("", f"[analysts.{toml_key(name)}]", *_spending(amount))
    if policy.market is not None:
        yield from _market(policy.market)
    if policy.graph is not None:
        yield from _graph(policy, policy.graph)
        return
    for table in policy.tables:
        yield from _table(table)


def _market(market: Market) -> Iterator[str]:
    steps = (f"[{format_number(each)}, {format_number(price)}]" for each, price in market.prices)
    yield from ("", "[market]", f"currency = {quote(market.currency)}")
    yield f"fee = {format_number(market.fee)}"
    yield f"prices = [{', '.join(steps)}]"
    yield f"repeated = {quote(market.repeated)}"
    yield f"compensation = {format_number(market.compensation)}"
    if market.factors:
        yield from ("", "[market.factors]")
        yield from (f"{toml_key(name)} = {format_number(part)}" for name, part in market.factors)


def _database(database: Database) -> Iterator[str]:
    yield from ("", "[database]", f"kind = {quote(database.kind)}")
    if database.path is not None:
        yield f"path = {quote(database.path)}"
    if database.url is not None:
        yield f"url = {quote(database.url)}"
    if database.files:
        yield from ("", "[database.files]")
        yield from (f"{toml_key(name)} = {quote(path)}" for name, path in database.files)


def _graph(policy: Policy, graph: Graph) -> Iterator[str]:
    addresses = {name: quote(f"<{address}>") for address, name in graph.predicates}
    place = f"endpoint = {quote(graph.endpoint)}" if graph.endpoint else None
    yield from ("", "[graph]", place or f"store = {quote(graph.store)}")
    if graph.graphs:
        yield f"graphs = [{', '.join(quote(f'<{address}>') for address, _ in graph.graphs)}]"
    yield from ("", "[graph.prefixes]")
    yield from (f"{toml_key(name)} = {quote(start)}" for name, start in graph.prefixes)
    for kind, members in graph.classes:
        listed = ", ".join(addresses[each] for each in members)
        yield from ("", f"[graph.classes.{toml_key(kind)}]", f"predicates = [{listed}]")
    labels = dict(graph.labels)
    for name, address in addresses.items():
        table = policy.table(name)
        assert table is not None
        yield from ("", f"[graph.predicates.{address}]", *_predicate(table, labels))


def _predicate(table: TablePolicy, labels: Mapping[int, str]) -> Iterator[str]:
    yield f"public = {_flag(table.public)}"
    for side, words in (("subject", "subject_keys"), ("object", "keys")):
        column = table.column(side)
        assert column is not None
        if column.most is not None:
            yield f"most_per_{side} = {column.most}"
        if column.keys is not None:
            yield f"{words} = [{', '.join(quote(labels[int(key)]) for key in column.keys)}]"
    number = table.column("number")
    assert number is not None
    for word, value in (("lower", number.lower), ("upper", number.upper), ("grid", number.grid)):
        if value is not None:
            yield f"{word} = {format_number(value)}"


def _spending(amount: Spending) -> Iterator[str]:
    if amount.rho is not None:
        yield f"rho = {format_number(amount.rho)}"
    elif amount.curve:
        pairs = (", ".join(map(format_number, pair)) for pair in amount.curve)
        yield f"renyi = [{', '.join(f'[{each}]' for each in pairs)}]"
    else:
        yield f"epsilon = {format_number(amount.epsilon)}"
    yield f"delta = {format_number(amount.delta)}"


def _table(table: TablePolicy) -> Iterator[str]:
    name = toml_key(table.name)
    yield from ("", f"[tables.{name}]", f"public = {_flag(table.public)}")
    if table.rows is not None:
        yield f"rows = {table.rows}"
    if table.ownerless is not None:
        yield f"ownerless = {quote(table.ownerless)}"
    if table.references:
        parts = [
            f"{toml_key(column)} = {_target(target, key)}"
            for column, target, key in table.references
        ]
        yield f"references = {{ {', '.join(parts)} }}"
    yield from ("", f"[tables.{name}.columns]")
    for column in table.columns:
        yield f"{toml_key(column.name)} = {_column(column)}"


def _target(table: str, column: str) -> str:
    if "." in column:
        return f"{{ table = {quote(table)}, column = {quote(column)} }}"
    return quote(f"{table}.{column}")


def _column(column: ColumnPolicy) -> str:
    parts = [f"type = {quote(column.type)}"]
    for word, number in (("lower", column.lower), ("upper", column.upper), ("grid", column.grid)):
        if number is not None:
            parts.append(f"{word} = {format_number(number)}")
    if column.keys is not None:
        parts.append(f"keys = [{', '.join(map(_key, column.keys))}]")
    if column.unique:
        parts.append("unique = true")
    if column.most is not None:
        parts.append(f"most = {column.most}")
    return quote(column.type) if len(parts) == 1 else f"{{ {', '.join(parts)} }}"


def _key(key: str | int | bool) -> str:
    if isinstance(key, bool):
        return _flag(key)
    return str(key) if isinstance(key, int) else quote(key)


def _flag(value: bool) -> str:
    return "true" if value else "false"


def draft_policy(
    columns_in_database: DatabaseColumns, *, name: str = "my-data", keys: DatabaseKeys = NO_KEYS
) -> str:
    """The text of a policy file with every table private, to be filled in by a curator.

    It is made of names, types and declared keys and holds nothing of the data; but names may be
    private too, so it is for the curator. As it is it is refused: unit and budget must be chosen.

    >>> print(draft_policy({"visits": {"day": "DATE"}}).splitlines()[-1])
    day = "date"
    """
    asked = {
        (table, column)
        for table, columns in columns_in_database.items()
        for column, type_ in columns.items()
        if policy_type(type_) is not None
    }
    unique = keys.unique & asked
    references = [
        each for each in keys.references if each[:2] in asked and (each[2], each[3]) in unique
    ]
    parts = [f"name = {quote(name)}", say("queries.draft.head").rstrip()]
    if references:
        targets = dict.fromkeys(
            f"{toml_key(table)}.{toml_key(column)}" for *_, table, column in references
        )
        parts.append(say("queries.draft.targets", listed=", ".join(targets)))
    for table, columns in columns_in_database.items():
        own = {column: (target, key) for t, column, target, key in references if t == table}
        notes = [
            say("queries.draft.two_ways", one=toml_key(a), other=toml_key(b), target=toml_key(both))
            for a, b, both in _two_ways(table, own, references)
        ]
        parts.append("\n".join(_draft_table(table, columns, unique, own, notes)))
    return "\n\n".join(parts) + "\n"


def _two_ways(
    table: str, own: Mapping[str, tuple[str, str]], references: Iterable[tuple[str, str, str, str]]
) -> Iterator[tuple[str, str, str]]:
    """Pairs of references of a table, and a table that both lead to, directly or by others."""
    targets: dict[str, set[str]] = {}
    for source, _, target, _ in references:
        targets.setdefault(source, set()).add(target)

    def reached(start: str) -> list[str]:
        found = [start]
        for each in found:
            found += sorted(targets.get(each, set()) - set(found))
        return found

    for one, other in combinations(own, 2):
        others = reached(own[other][0])
        both = [each for each in reached(own[one][0]) if each in others and each != table]
        if both:
            yield one, other, both[0]


def _draft_table(
    name: str,
    columns: Mapping[str, str],
    unique: frozenset[tuple[str, str]],
    references: Mapping[str, tuple[str, str]],
    notes: Sequence[str],
) -> Iterator[str]:
    yield f"[tables.{toml_key(name)}]"
    yield say("queries.draft.table").rstrip()
    if references:
        written = ", ".join(
            f"{toml_key(word)} = {quote('.'.join(to))}" for word, to in references.items()
        )
        yield f"references = {{ {written} }}"
        yield from notes
    else:
        yield say("queries.draft.no_references")
    yield ""
    yield f"[tables.{toml_key(name)}.columns]"
    for column, database_type in columns.items():
        type_ = policy_type(database_type)
        if type_ is None:
            yield say("queries.draft.not_asked", column=toml_key(column))
            continue
        if (name, column) in unique:
            yield f"{toml_key(column)} = {{ type = {quote(type_)}, unique = true }}"
            continue
        line = f"{toml_key(column)} = {quote(type_)}"
        hint = say("queries.draft.reference") if column in references else _hint(type_)
        yield line if hint is None else f"{line:<36} # {hint}"


def _hint(type_: str) -> str | None:
    """What else may be declared of a column."""
    match type_:
        case "integer":
            return say("queries.draft.integer")
        case "number":
            return say("queries.draft.number")
        case "text":
            return say("queries.draft.text")
    return None
