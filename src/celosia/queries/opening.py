"""What the curator's side does when a vault is opened: find the tables and check declarations."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from celosia.core.errors import InputError
from celosia.queries.algebra import scans
from celosia.queries.casting import as_texts
from celosia.queries.catalogue import enforced_unique
from celosia.queries.check_record import CheckRecord
from celosia.queries.emission.target import chosen, column, grouped, name, named, whole
from celosia.queries.ledger import Ceilings, Ledger
from celosia.queries.ledger.terms import Terms
from celosia.queries.ledger.traces import check_no_traces
from celosia.queries.ownerless import check_owned, check_owned_in
from celosia.queries.policy import Policy, TablePolicy, database_url, policy_hash
from celosia.queries.policy.matching import Columns
from celosia.queries.policy.values import Graph

if TYPE_CHECKING:
    from celosia.engines import SqlEngine
    from celosia.queries.planning import Plan

Ask = Callable[[exp.Expr], Any]


def open_engine(policy: Policy) -> SqlEngine:
    """The engine that holds the tables of a policy.

    Raises:
        EngineError: CEL-E013 to CEL-E015, CEL-E050 to CEL-E053 it cannot be opened.
    """
    from celosia import engines  # noqa: PLC0415 - each loads its database when it is named

    if policy.graph is not None:
        return _open_graph(policy, policy.graph)
    database = policy.database
    if database.kind == "postgres":
        return engines.PostgresEngine(database_url(database))
    if database.kind == "spark":
        url = None if database.url is None else database_url(database)
        files = {table: database.located(written) for table, written in database.files}
        return engines.SparkEngine(url, files=files)
    path = None if database.path is None else database.located(database.path)
    files = {table: database.located(written) for table, written in database.files}
    return engines.DuckDbEngine(path, files=files)


def _open_graph(policy: Policy, graph: Graph) -> SqlEngine:
    from celosia.engines import DuckDbEngine  # noqa: PLC0415 - as above
    from celosia.queries.rdf.store import GraphStore  # noqa: PLC0415 - as above
    from celosia.queries.rdf.views import views_of  # noqa: PLC0415 - as above

    with GraphStore.open(graph.located()):
        pass  # what is no store is told here
    return DuckDbEngine(graph.located(), views=views_of(policy))


def prepared(
    policy: Policy, types: Columns, engine: SqlEngine, *, timeout: float
) -> Callable[[exp.Expr], exp.Expr]:
    """What is done to every query before the engine runs it."""
    if policy.graph is None:
        return as_texts(policy, types)
    from celosia.queries.rdf.views import without_needless_caps  # noqa: PLC0415 - as above

    return without_needless_caps(policy, lambda query: engine.run(query, timeout=timeout))


def check_declared(
    policy: Policy,
    engine: SqlEngine,
    *,
    types: Columns,
    timeout: float,
    record: CheckRecord | None = None,
) -> None:
    """Refuse data that is not as the policy declares; for the curator's eyes.

    Rows that were found to be so are not looked at again, as long as a record of it stands.

    Raises:
        InputError: CEL-Q152 a column is not unique, CEL-Q304 rows without an owner.
    """
    if record is not None and record.stands(engine):
        return
    check_unique(policy, engine, timeout=timeout)
    check_owned(policy, engine, types=types, timeout=timeout)


def check_declared_of(
    plan: Plan,
    policy: Policy,
    dialect: str,
    ask: Ask,
    *,
    cast: Callable[[exp.Expr], exp.Expr],
) -> None:
    """The same for the tables of a question, in the state of the data that it is answered from.

    Raises:
        InputError: as `check_declared`.
    """
    names = [scan.table for scan in scans(plan.asked.source)]
    check_unique_in(tables_behind(policy, names), ask, dialect=dialect)
    asked = [table for table in map(policy.table, names) if table is not None]
    check_owned_in(policy, asked, lambda query: ask(cast(query)), dialect=dialect)


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


def ceilings_of(policy: Policy, *, simulation: bool = False) -> Ceilings:
    """What the ledger holds questions against, beside the budget; a simulation has no days."""
    if simulation:
        return Ceilings(least_epsilon=policy.least_epsilon)
    return Ceilings(
        least_epsilon=policy.least_epsilon,
        questions_per_day=policy.questions_per_day,
        exceeded_per_day=policy.exceeded_per_day,
    )


def account_of(  # noqa: PLR0913 - each is one fact of a ledger
    policy: Policy,
    place: str | Path,
    *,
    simulation: bool = False,
    traces: Iterable[Path] = (),
    new_ledger: bool = False,
    begun: Callable[[], None] = lambda: None,
) -> Callable[[], Ledger]:
    """Opens the ledger of a policy; here one that stands is only looked at.

    So whoever asks for nothing but a plan leaves no trace, and what does not fit is told at once.
    What stands here must still stand when it is opened.

    Args:
        policy: whose budget it is.
        place: of the ledger.
        simulation: whether it is of simulated answers.
        traces: files that may tell of charges of a ledger that is lost.
        new_ledger: whether one may be begun all the same.
        begun: what is done as soon as the ledger is open, and files may be left beside it.

    Raises:
        PrivacyError: CEL-Q102, CEL-Q103 the ledger that stands was kept for something else;
            CEL-Q306 none stands, and a trace tells that there was one.
    """
    # A simulation must neither repeat real answers nor be repeated as one.
    dataset = f"{policy.name} (simulation)" if simulation else policy.name
    limits: dict[str, Any] = {"total": policy.budget, "analysts": dict(policy.analysts)}
    standing, head = Ledger.look(place), None
    if standing is None and not new_ledger:
        check_no_traces(traces)
    if standing is not None:
        with standing:
            terms = Terms.of(dataset=dataset, policy=policy_hash(policy), rule="basic", **limits)
            terms.check_follows(standing.terms, enlarge=False)
            head = standing.head

    def account() -> Ledger:
        ledger = Ledger.open(
            place,
            dataset=dataset,
            policy_hash=policy_hash(policy),
            anchor=head,
            after_loss=new_ledger,
            ceilings=ceilings_of(policy, simulation=simulation),
            **limits,
        )
        begun()
        return ledger

    return account


def public_count(policy: Policy, ask: Ask) -> Callable[[str, str | None], int]:
    """Counts the most rows of a public table that share a value of a column, or all its rows."""

    def count(table: str, word: str | None) -> int:
        declared = policy.table(table)
        assert declared is not None
        assert declared.public
        source = exp.From(this=exp.Table(this=name(declared.name)))
        counted = named(exp.Count(this=exp.Star()), "n")
        if word is None:
            ((size,),) = ask(exp.Select(expressions=[counted], from_=source))
            return int(size)
        spelled = declared.column(word)
        assert spelled is not None
        word = spelled.name
        rows = exp.Select(
            expressions=[column(word), counted],
            from_=source,
            where=exp.Where(this=exp.Not(this=exp.Is(this=column(word), expression=exp.Null()))),
        )
        most = exp.func("COALESCE", exp.Max(this=column("n")), whole(0))
        ((found,),) = ask(chosen(grouped(rows, [word]), [named(most, "n")]))
        return int(found)

    return count
