"""Opening a vault on the curator's side: engine, checks of declarations, and ledger."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from celosia.accounting.currencies import RULES
from celosia.accounting.ledger import Ceilings, Ledger
from celosia.accounting.ledger.ledger import check_no_traces
from celosia.accounting.ledger.terms import Terms
from celosia.core.errors import InputError
from celosia.queries.algebra import scans
from celosia.queries.catalogue import Executor, make_text_cast, read_unique_columns
from celosia.queries.declaration_checks import CheckRecord, check_owners, check_owners_of_tables
from celosia.queries.emission import syntax
from celosia.queries.policy import Policy, TablePolicy, database_url, policy_hash
from celosia.queries.policy.database import DatabaseColumns
from celosia.queries.policy.values import Graph

if TYPE_CHECKING:
    from celosia.engines import SqlEngine
    from celosia.queries.planning import Plan


def open_engine(policy: Policy) -> SqlEngine:
    """The engine that holds the tables of a policy.

    Raises:
        EngineError: CEL-E013 to CEL-E015, CEL-E050 to CEL-E053 it cannot be opened.
    """
    from celosia import engines  # each loads its database when it is named

    if policy.graph is not None:
        if policy.graph.endpoint:
            from celosia.queries.rdf.remote_engine import RemoteEngine

            return RemoteEngine(policy)
        return _open_graph(policy, policy.graph)
    database = policy.database
    if database.kind == "postgres":
        tables = [table.name for table in policy.tables]
        return engines.PostgresEngine(database_url(database), tables=tables)
    if database.kind == "spark":
        url = None if database.url is None else database_url(database)
        files = {table: database.resolve_path(written) for table, written in database.files}
        return engines.SparkEngine(url, files=files)
    path = None if database.path is None else database.resolve_path(database.path)
    files = {table: database.resolve_path(written) for table, written in database.files}
    return engines.DuckDBEngine(path, files=files)


def _open_graph(policy: Policy, graph: Graph) -> SqlEngine:
    from celosia.engines import DuckDBEngine
    from celosia.queries.rdf.store import GraphStore
    from celosia.queries.rdf.views import make_views

    with GraphStore.open(graph.store_path()) as store:  # refuses a file that is no store
        if graph.graphs and not store.keeps_graphs:
            raise InputError("CEL-Q228.other_version", path=graph.store_path())
    return DuckDBEngine(graph.store_path(), views=make_views(policy))


def make_rewriter(
    policy: Policy, types: DatabaseColumns, engine: SqlEngine, *, timeout: float
) -> Callable[[exp.Expr], exp.Expr]:
    """Make the function that rewrites every query before the engine runs it."""
    if policy.graph is None:
        return make_text_cast(policy, types)
    if policy.graph.endpoint:
        return lambda query: query
    from celosia.queries.rdf.views import make_cap_remover

    return make_cap_remover(policy, lambda query: engine.run(query, timeout=timeout))


def check_declarations(
    policy: Policy,
    engine: SqlEngine,
    *,
    types: DatabaseColumns,
    timeout: float,
    record: CheckRecord | None = None,
) -> None:
    """Refuse data that is not as the policy declares; for the curator only.

    Rows that passed are not checked again as long as a record of the check is valid.

    Raises:
        InputError: CEL-Q152 a column is not unique, CEL-Q152 rows without an owner.
    """
    if record is not None and record.is_valid(engine):
        return
    check_unique(policy, engine, timeout=timeout)
    check_owners(policy, engine, types=types, timeout=timeout)


def check_declarations_of_plan(
    plan: Plan,
    policy: Policy,
    dialect: str,
    execute: Executor,
    *,
    cast: Callable[[exp.Expr], exp.Expr],
) -> None:
    """Check the declarations of a question's tables, in the state of the data that answers it.

    Raises:
        InputError: as `check_declarations`.
    """
    original = plan.original
    names = [scan.table for each in original.each for scan in scans(each.source)]
    check_unique_tables(find_referenced_tables(policy, names), execute, dialect=dialect)
    queried = [table for table in map(policy.table, names) if table is not None]
    check_owners_of_tables(policy, queried, lambda query: execute(cast(query)), dialect=dialect)


def check_unique(policy: Policy, engine: SqlEngine, *, timeout: float) -> None:
    """Refuse a column that is declared unique and is not; for the curator only.

    Raises:
        InputError: CEL-Q152.
    """
    if policy.graph is not None:  # a store holds each fact once, and its entities are distinguished
        return
    with engine.snapshot(timeout=timeout) as read:
        check_unique_tables(policy.tables, read, dialect=engine.dialect)


def check_unique_tables(tables: Iterable[TablePolicy], execute: Executor, *, dialect: str) -> None:
    """Check some tables only, in one state of the data.

    What the server enforces is believed, and costs nothing; else the values are counted.
    """
    enforced = read_unique_columns(execute, dialect)
    for table in tables:
        for each in table.columns:
            if not each.unique or (table.name.lower(), each.name.lower()) in enforced:
                continue
            if not _is_unique(table.name, each.name, execute):
                raise InputError("CEL-Q152.not_unique", table=table.name, column=each.name)


def find_referenced_tables(policy: Policy, names: Iterable[str]) -> list[TablePolicy]:
    """Tables of a question, and those that their references lead to."""
    waiting, found = list(names), dict[str, TablePolicy]()
    while waiting:
        table = policy.table(waiting.pop())
        if table is not None and table.name not in found:
            found[table.name] = table
            waiting += [target for _, target, _ in table.references]
    return list(found.values())


def _is_unique(table: str, word: str, execute: Executor) -> bool:
    filled = exp.Count(this=syntax.column(word))
    different = exp.Count(this=exp.Distinct(expressions=[syntax.column(word)]))
    query = exp.Select(
        expressions=[syntax.as_alias(exp.EQ(this=filled, expression=different), "is_unique")],
        from_=exp.From(this=exp.Table(this=syntax.identifier(table))),
    )
    ((found,),) = execute(query)
    return bool(found)


def ceilings_of(policy: Policy, *, simulation: bool = False) -> Ceilings:
    """The ceilings of a policy beside its budget; a simulation has none per day."""
    if simulation:
        return Ceilings(least_epsilon=policy.least_epsilon)
    return Ceilings(
        least_epsilon=policy.least_epsilon,
        questions_per_day=policy.questions_per_day,
        exceeded_per_day=policy.exceeded_per_day,
    )


def make_ledger_opener(
    policy: Policy,
    place: str | Path,
    *,
    simulation: bool = False,
    traces: Iterable[Path] = (),
    new_ledger: bool = False,
    convert: bool = False,
    on_open: Callable[[], None] = lambda: None,
) -> Callable[[], Ledger]:
    """Make the function that opens the ledger of a policy; a ledger that exists is only read here.

    So a plan alone leaves no trace, and a ledger that does not fit is refused at once. The ledger
    that exists now must still exist when it is opened.

    Args:
        policy: whose budget it is.
        place: of the ledger.
        simulation: whether it is of simulated answers.
        traces: files that may record charges of a ledger that is lost.
        new_ledger: whether one may be begun all the same.
        convert: whether its budget may be in another currency than before, see `Ledger.open`.
        on_open: what is done as soon as the ledger is open, and files may be left beside it.

    Raises:
        PrivacyError: CEL-Q102, CEL-Q103 the ledger that stands was kept for something else;
            CEL-Q306 none stands, and a trace tells that there was one.
    """
    # A simulation must neither repeat real answers nor be repeated as one.
    dataset = f"{policy.name} (simulation)" if simulation else policy.name
    limits: dict[str, Any] = {
        "total": policy.budget,
        "analysts": dict(policy.analysts),
        "rule": RULES.get(policy.budget.currency, "basic"),
    }
    standing, head = Ledger.open_view(place), None
    if standing is None and not new_ledger:
        check_no_traces(traces)
    if standing is not None:
        with standing:
            terms = Terms.of(dataset=dataset, policy=policy_hash(policy), **limits)
            terms.check_follows(standing.terms, enlarge=False, convert=convert)
            head = standing.head

    def account() -> Ledger:
        ledger = Ledger.open(
            place,
            dataset=dataset,
            policy_hash=policy_hash(policy),
            anchor=head,
            after_loss=new_ledger,
            convert=convert,
            ceilings=ceilings_of(policy, simulation=simulation),
            **limits,
        )
        on_open()
        return ledger

    return account


def make_public_counter(policy: Policy, execute: Executor) -> Callable[[str, str | None], int]:
    """Counts the most rows of a public table that share a value of a column, or all its rows."""

    def count(table: str, word: str | None) -> int:
        declared = policy.table(table)
        assert declared is not None
        assert declared.public
        source = exp.From(this=exp.Table(this=syntax.identifier(declared.name)))
        counted = syntax.as_alias(exp.Count(this=exp.Star()), "n")
        if word is None:
            ((size,),) = execute(exp.Select(expressions=[counted], from_=source))
            return int(size)
        spelled = declared.column(word)
        assert spelled is not None
        word = spelled.name
        rows = exp.Select(
            expressions=[syntax.column(word), counted],
            from_=source,
            where=exp.Where(
                this=exp.Not(this=exp.Is(this=syntax.column(word), expression=exp.Null()))
            ),
        )
        most = exp.func("COALESCE", exp.Max(this=syntax.column("n")), syntax.integer_literal(0))
        ((found,),) = execute(
            syntax.select_from(syntax.group_by(rows, [word]), [syntax.as_alias(most, "n")])
        )
        return int(found)

    return count
