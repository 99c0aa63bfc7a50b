"""What the curator's side does when a vault is opened: find the tables and check declarations."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from celosia.core.errors import InputError
from celosia.queries.casting import as_texts
from celosia.queries.catalogue import enforced_unique
from celosia.queries.emission.target import chosen, column, grouped, name, named, whole
from celosia.queries.ledger import Ledger
from celosia.queries.ledger.terms import Terms
from celosia.queries.policy import Policy, TablePolicy, database_url, policy_hash
from celosia.queries.policy.matching import Columns
from celosia.queries.policy.values import Graph
from celosia.queries.rdf.views import views_of, without_needless_caps

if TYPE_CHECKING:
    from celosia.engines import SqlEngine

Ask = Callable[[exp.Expr], Any]


def open_engine(policy: Policy) -> SqlEngine:
    """The engine that holds the tables of a policy.

    Raises:
        EngineError: CEL-E013 to CEL-E015, CEL-E050 to CEL-E053 it cannot be opened.
    """
    from celosia.engines import DuckDbEngine, PostgresEngine, SparkEngine  # noqa: PLC0415 - loads databases

    if policy.graph is not None:
        return _open_graph(policy, policy.graph)
    database = policy.database
    if database.kind == "postgres":
        return PostgresEngine(database_url(database))
    if database.kind == "spark":
        url = None if database.url is None else database_url(database)
        files = {table: database.located(written) for table, written in database.files}
        return SparkEngine(url, files=files)
    path = None if database.path is None else database.located(database.path)
    files = {table: database.located(written) for table, written in database.files}
    return DuckDbEngine(path, files=files)


def _open_graph(policy: Policy, graph: Graph) -> SqlEngine:
    from celosia.engines import DuckDbEngine  # noqa: PLC0415 - as above
    from celosia.queries.rdf.store import GraphStore  # noqa: PLC0415 - as above

    with GraphStore.open(graph.located()):
        pass  # what is no store is told here
    return DuckDbEngine(graph.located(), views=views_of(policy))


def prepared(
    policy: Policy, types: Columns, engine: SqlEngine, *, timeout: float
) -> Callable[[exp.Expr], exp.Expr]:
    """What is done to every query before the engine runs it."""
    if policy.graph is None:
        return as_texts(policy, types)
    return without_needless_caps(policy, lambda query: engine.run(query, timeout=timeout))


def check_unique(policy: Policy, engine: SqlEngine, *, timeout: float) -> None:
    """Refuse a column that is declared unique and is not; for the curator's eyes.

    Raises:
        InputError: CEL-Q152.
    """
    if policy.graph is not None:  # a store holds each fact once, and its entities are told apart
        return
    with engine.snapshot(timeout=timeout) as read:
        check_unique_in(policy.tables, read, dialect=engine.dialect)


def check_unique_in(tables: Iterable[TablePolicy], ask: Ask, *, dialect: str) -> None:
    """The same for some tables, in one state of the data.

    What the server enforces is believed, and costs nothing; else the values are counted.

    Raises:
        InputError: CEL-Q152.
    """
    enforced = enforced_unique(ask, dialect)
    for table in tables:
        for each in table.columns:
            if not each.unique or (table.name.lower(), each.name.lower()) in enforced:
                continue
            if not _is_unique(table.name, each.name, ask):
                raise InputError(
                    "CEL-Q152",
                    f"column '{table.name}.{each.name}' is declared unique, but values repeat.",
                    why="Bounds rest on it, so answers would protect less than they promise.",
                    fix="Correct the data, or take `unique` out of the policy.",
                    table=table.name,
                    column=each.name,
                )


def tables_behind(policy: Policy, names: Iterable[str]) -> list[TablePolicy]:
    """Tables of a question, and those that their references lead to."""
    waiting, found = list(names), dict[str, TablePolicy]()
    while waiting:
        table = policy.table(waiting.pop())
        if table is not None and table.name not in found:
            found[table.name] = table
            waiting += [target for _, target, _ in table.references]
    return list(found.values())


def _is_unique(table: str, word: str, ask: Ask) -> bool:
    filled = exp.Count(this=column(word))
    different = exp.Count(this=exp.Distinct(expressions=[column(word)]))
    query = exp.Select(
        expressions=[named(exp.EQ(this=filled, expression=different), "is_unique")],
        from_=exp.From(this=exp.Table(this=name(table))),
    )
    ((found,),) = ask(query)
    return bool(found)


def account_of(policy: Policy, place: str | Path, *, simulation: bool) -> Callable[[], Ledger]:
    """Opens the ledger of a policy; here one that stands is only looked at.

    So whoever asks for nothing but a plan leaves no trace, and what does not fit is told at once.

    Raises:
        PrivacyError: CEL-Q102, CEL-Q103 the ledger that stands was kept for something else.
    """
    # A simulation must neither repeat real answers nor be repeated as one.
    dataset = f"{policy.name} (simulation)" if simulation else policy.name
    limits: dict[str, Any] = {"total": policy.budget, "analysts": dict(policy.analysts)}
    standing = Ledger.look(place)
    if standing is not None:
        with standing:
            terms = Terms.of(dataset=dataset, policy=policy_hash(policy), rule="basic", **limits)
            terms.check_follows(standing.terms, enlarge=False)
    return lambda: Ledger.open(place, dataset=dataset, policy_hash=policy_hash(policy), **limits)


def public_count(policy: Policy, ask: Ask) -> Callable[[str, str], int]:
    """Counts the most rows of a public table that share a value of a column."""

    def count(table: str, word: str) -> int:
        declared = policy.table(table)
        assert declared is not None
        assert declared.public
        spelled = declared.column(word)
        assert spelled is not None
        word = spelled.name
        rows = exp.Select(
            expressions=[column(word), named(exp.Count(this=exp.Star()), "n")],
            from_=exp.From(this=exp.Table(this=name(declared.name))),
            where=exp.Where(this=exp.Not(this=exp.Is(this=column(word), expression=exp.Null()))),
        )
        most = exp.func("COALESCE", exp.Max(this=column("n")), whole(0))
        ((found,),) = ask(chosen(grouped(rows, [word]), [named(most, "n")]))
        return int(found)

    return count
