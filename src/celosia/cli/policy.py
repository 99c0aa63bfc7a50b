"""`celosia policy`: draft, check and show a policy."""

from __future__ import annotations

import os
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from celosia.cli import console, options
from celosia.cli.frame import FileOutputs, JsonOutputs, PrivateReportOutputs, write_text
from celosia.core.errors import InputError
from celosia.core.messages import Message, say, say_of

if TYPE_CHECKING:
    from celosia.queries.declaration_checks import OwnerCounts
    from celosia.queries.policy import Database, Policy, Spending
    from celosia.queries.policy.database import DatabaseKeys
    from celosia.queries.policy.values import Graph, TablePolicy

app = typer.Typer(
    no_args_is_help=True,
    help="""Draft, check and show a policy: the allowed queries of a database and their budget.

    **Examples**

    `celosia policy draft shop.duckdb -o policy.toml`

    `celosia policy check policy.toml --connect`

    `celosia policy show policy.toml`

    `celosia policy simulate policy.toml questions --epsilon 1`

    `celosia policy dummy policy.toml -o dummy.duckdb`
    """,
)

PolicyFile = Annotated[Path, "argument POLICY", "The policy file (TOML)."]
SECONDS = 600.0
"""For each look at the database."""


@app.command()
def check(
    policy: PolicyFile,
    outputs: JsonOutputs,
    connect: Annotated[bool, "--connect", "Also compare it with the database."] = False,
) -> None:
    """Check a policy file and report all its problems at once.

    With --connect the tables and columns must be in the database, with types that fit, and columns
    that are declared unique must be. That is what opening it for questions checks, too. Where
    people are protected, it also counts the rows that belong to no person: exact numbers, for the
    curator only.

    **Examples**

    `celosia policy check policy.toml`

    `celosia policy check policy.toml --connect --json`
    """
    from celosia.cli import owners
    from celosia.queries.declaration_checks import refuse_ownerless
    from celosia.queries.declared_sizes import undeclared_sizes
    from celosia.queries.policy import policy_hash

    with console.noted_warnings(of_policy=True):
        declared = _load(policy)
    counts = _compare(declared) if connect else ()
    try:
        refuse_ownerless(declared, counts)
    except InputError:
        owners.note(declared, counts)
        raise
    private = [table.name for table in declared.tables if not table.public]
    advice = [each.message for each in undeclared_sizes(declared)]
    found_owners = {"owners": [each.as_dict() for each in counts]} if connect else {}

    def lines() -> None:
        name, digest = declared.name, policy_hash(declared)
        console.show(say("cli.policy.policy", name=name, policy_hash=digest))
        console.show(say("cli.policy.protected", describe_unit=owners.describe_unit(declared)))
        owners.show(declared, counts)
        for each in advice:
            console.note(each)

    outputs.show(
        lambda: {
            "policy": declared.name,
            "hash": policy_hash(declared),
            "tables": len(declared.tables),
            "private": private,
            "connected": connect,
            **found_owners,
            "advice": advice,
        },
        lines,
        _sound(declared, private, connect=connect),
        note=None if connect else _how_to_connect(declared, policy),
    )


def _sound(declared: Policy, private: list[str], *, connect: bool) -> str:
    """That the policy is sound: how much of it is private, and its budget."""
    key, count = "cli.policy.sound", len(declared.tables)
    if declared.graph is not None:  # and not the tables that are made of several
        key, count = "cli.policy.sound_graph", len(declared.graph.predicates)
        private = [name for _, name in declared.graph.predicates if name in private]
    connected = {
        "cli.policy.sound": "cli.policy.sound_connected",
        "cli.policy.sound_graph": "cli.policy.sound_graph_opened",
    }
    return say(
        connected[key] if connect else key,
        count=count,
        private=len(private),
        budget=_amount(declared.budget),
    )


def _how_to_connect(declared: Policy, path: Path) -> str:
    if declared.graph is not None and not declared.graph.endpoint:
        return say("cli.policy.compare_graph", policy=path)
    return say("cli.policy.compare_database_celosia_policy", policy=path)


@app.command()
def show(
    policy: PolicyFile,
    outputs: JsonOutputs,
) -> None:
    """Show what a policy declares. All of it is public, and nothing but the file is read.

    **Examples**

    `celosia policy show policy.toml`

    `celosia policy show policy.toml --json`
    """
    from celosia.queries.policy import policy_facts, policy_hash

    with console.noted_warnings(of_policy=True):
        declared = _load(policy)
    outputs.show(
        lambda: policy_facts(declared) | {"hash": policy_hash(declared)},
        lambda: _show_policy(declared),
        say("cli.policy.budget", name=declared.name, amount=_amount(declared.budget)),
    )


def _show_policy(declared: Policy) -> None:
    from celosia.accounting.amounts import format_amount
    from celosia.cli import owners
    from celosia.queries.policy import policy_hash

    if declared.graph is not None:
        _show_graph(declared, declared.graph)
    for table in declared.tables if declared.graph is None else ():
        bound = "" if table.rows is None else Message("cli.policy.most_rows", rows=table.rows)
        console.show_table(
            say(
                "cli.policy.public_table" if table.public else "cli.policy.private_table",
                table=table.name,
                bound=bound,
            ),
            console.columns("column", "type", "declared"),
            [
                [each.name, each.type, "; ".join(_describe_column(table, each))]
                for each in table.columns
            ],
            numbers=False,
        )
    if declared.analysts:
        console.show_table(
            say("cli.ledger.analysts"),
            console.columns("name", "budget"),
            [[name, _amount(limit)] for name, limit in declared.analysts],
            numbers=False,
        )
    console.show(say("cli.policy.protected", describe_unit=owners.describe_unit(declared)))
    if not declared.unit.is_row and declared.graph is None:
        console.show(
            say("cli.policy.rows_without_owner", describe_rule=owners.describe_rule(declared))
        )
    console.show(
        say(
            "cli.policy.who_may_ask",
            value=Message(
                "cli.policy.analysts_above" if declared.analysts else "cli.policy.any_analyst"
            ),
        )
    )
    console.show(
        say(
            "cli.policy.least_price_question_epsilon",
            format_amount=format_amount(declared.least_epsilon),
        )
    )
    console.show(say_of("cli.policy.one_analyst_one_day", declared))
    seconds = declared.deadline
    chosen = Message("cli.policy.by_sizes") if seconds is None else f"{float(seconds):g} s"
    console.show(say("cli.policy.time_every_answer", chosen=chosen))
    console.show(
        say(
            "cli.policy.elastic_sensitivity",
            value=Message("cli.word.allowed" if declared.elastic else "cli.word.not_allowed"),
        )
    )
    console.show(say("cli.policy.hash", policy_hash=policy_hash(declared)))


@app.command()
def draft(
    sources: Annotated[
        list[str],
        "argument DATABASE...",
        "A DuckDB file, or CSV and Parquet files, or the store of a graph, or '$NAME', a "
        "variable that holds the address of a PostgreSQL server.",
    ],
    outputs: FileOutputs,
    name: Annotated[str, "The name of the data set."] = "my-data",
    output: Annotated[
        Path | None, "--output -o", "The file of the draft; by default it is printed."
    ] = None,
) -> None:
    """Draft a policy from the names, types and keys of a database; no row is read.

    Primary and foreign keys that the database declares become unique columns and references. What
    protects people is left for you to fill in: bounds and caps that are known without looking at
    the data, the unit of protection, and the budget. A CSV file names no types, so its values
    are scanned to find them. Of a graph, predicates and classes are read from its facts.

    **Examples**

    `celosia policy draft shop.duckdb --name shop -o policy.toml`

    `celosia policy draft orders.parquet customer.csv -o policy.toml`

    `celosia policy draft '$SHOP_DATABASE'`

    `celosia policy draft people.graph -o policy.toml`
    """
    from celosia.queries.policy import draft_policy

    outputs.check(inputs=map(Path, sources), draft=output)
    database = _database(sources, folder=Path() if output is None else output.parent)
    columns, keys = read_database_schema(database)
    if {"terms", "triples", "meta"} <= set(columns):
        if len(sources) > 1:
            raise _is_store(sources[0])
        text = _draft_of_graph(Path(sources[0]), name, output)
        content = say("cli.policy.predicates_of_draft", count=text.count("\n[graph.predicates."))
        remark = say("cli.policy.fill_unit_budget_caps", output=output)
    else:
        text = _fill_in_location(draft_policy(columns, name=name, keys=keys), database)
        content = say("cli.policy.tables_of_draft", count=len(columns))
        remark = say("cli.policy.fill_unit_budget_bounds", output=output)
    if output is not None:
        write_text(output, text, outputs.overwrite)

    def lines() -> None:
        for line in text.splitlines() if output is None else ():
            console.show(line)

    written = output is not None
    outputs.show(
        lambda: {"tables": columns, "output": str(output) if written else None, "text": text},
        lines,
        say("cli.policy.draft_to_be_filled", content=content, output=output) if written else None,
        note=remark if written else None,
    )


@app.command()
def dummy(
    policy: PolicyFile,
    outputs: FileOutputs,
    output: Annotated[
        Path, "--output -o", "The DuckDB file; a policy for it is written beside it (.toml)."
    ],
    rows: Annotated[int, typer.Option(min=1, max=1_000_000, help="Rows of each table.")] = 100,
    seed: Annotated[int, "Seed of the invented values."] = 1,
) -> None:
    """Write invented tables that fit a policy, for analysts to try their questions on.

    They are made of the declarations alone: the database is not opened. Questions to them cost
    nothing of the real budget, because they have a policy and a ledger of their own.

    **Example**

    `celosia policy dummy policy.toml -o dummy.duckdb`
    """
    from dataclasses import replace

    from celosia.queries.dummy_data import write_dummy_database
    from celosia.queries.policy import Database, policy_text
    from celosia.queries.public_schema import public_schema

    beside = output.with_suffix(".toml")
    outputs.check(inputs=(policy,), table=output, draft=beside)
    with console.noted_warnings(of_policy=True):
        declared = _load(policy)
        there = replace(
            declared, name=f"{declared.name} (dummy)", database=Database(path=output.name)
        )
        text = policy_text(there)
    write_dummy_database(
        public_schema(declared), output, rows=rows, seed=seed, overwrite=outputs.overwrite
    )
    write_text(beside, text, outputs.overwrite)
    outputs.show(
        lambda: {"output": str(output), "policy": str(beside), "rows": rows},
        None,
        say("cli.policy.dummy", count=len(declared.tables), policy=beside),
        table=output,
    )


@app.command()
def simulate(
    policy: PolicyFile,
    folder: Annotated[
        Path, "argument FOLDER", "The folder of questions: .sql, .rq or .sparql files."
    ],
    outputs: PrivateReportOutputs,
    epsilon: Annotated[
        list[float] | None, "--epsilon -e NUMBER", "The price of a question; may be repeated."
    ] = None,
    repeats: Annotated[int, typer.Option(min=1, help="Private answers to each question.")] = 100,
    seed: options.NoiseSeed = None,
) -> None:
    """Measure the errors of a folder of questions over many runs, by question and by shape.

    For the curator: errors are measured against the true answers, so that output and report are not
    for analysts. Nothing is charged, because nothing is released.

    **Examples**

    `celosia policy simulate policy.toml questions --epsilon 1 --report errors.html`

    `celosia policy simulate policy.toml questions -e 0.1 -e 1 -e 10 --repeats 400 --json`
    """
    from celosia.cli.query import open_vault, read_question
    from celosia.queries import comparison_report as results
    from celosia.queries.comparison import LEAST_REPEATS
    from celosia.queries.request import QueryRequest
    from celosia.queries.vault import Vault

    outputs.check(inputs=(policy,))
    files = question_files(folder)
    found = []
    with (
        open_vault(str(policy), None, ledger=None, token_file=None, seed=seed) as vault,
        outputs.working(None) as progress,
    ):
        assert isinstance(vault, Vault)
        for file in files:
            for price in epsilon or [1.0]:
                request = QueryRequest(read_question(str(file)), epsilon=price)
                found.append(
                    vault.compare(request, runs=repeats, name=file.stem, progress=progress)
                )
    outputs.write_report(lambda: results.document(found))

    def lines() -> None:
        console.note(say("queries.comparison.simulation"))
        for title, names, rows in (
            ("by_question", results.QUESTION_COLUMNS, results.question_rows(found)),
            ("by_shape", results.SHAPE_COLUMNS, results.shape_rows(found)),
        ):
            console.show_table(say(f"queries.comparison.{title}"), results.titles(names), rows)
        if repeats < LEAST_REPEATS:
            console.note(say("queries.comparison.few_runs", repeats=repeats, least=LEAST_REPEATS))

    outputs.show(
        lambda: {"simulation": True, "questions": [each.as_dict() for each in found]},
        lines,
        say("queries.comparison.never_for_analysts"),
    )


def question_files(folder: Path) -> list[Path]:
    """The files of a folder that hold a question, by their names."""
    from celosia.cli.query import ENDINGS

    found = sorted(folder.iterdir()) if folder.is_dir() else []
    files = [file for file in found if file.suffix.lower() in ENDINGS]
    if not files:
        raise InputError("CEL-Q216.folder", folder=folder)
    return files


def read_database_schema(
    database: Database,
) -> tuple[dict[str, dict[str, str]], DatabaseKeys]:
    """The tables of a database with the type of each column, and the keys that it declares.

    Raises:
        EngineError: CEL-E013, CEL-E014 it cannot be opened.
    """
    from celosia.queries.catalogue import read_columns, read_keys
    from celosia.queries.policy import Policy, Spending
    from celosia.queries.sessions import open_engine

    whatever = Policy(
        name="draft", tables=(), budget=Spending(epsilon=Fraction(1)), database=database
    )
    engine = open_engine(whatever)
    try:
        return read_columns(engine, timeout=SECONDS), read_keys(engine, timeout=SECONDS)
    finally:
        engine.close()


def _compare(policy: Policy) -> tuple[OwnerCounts, ...]:
    """Refuse a policy that does not fit its database, as `Vault.open` does; count its owners."""
    from celosia.queries.catalogue import read_columns
    from celosia.queries.declaration_checks import count_owners
    from celosia.queries.policy import check_against_database
    from celosia.queries.sessions import check_unique, open_engine

    engine = open_engine(policy)
    try:
        types = read_columns(engine, timeout=SECONDS)
        check_against_database(policy, types)
        check_unique(policy, engine, timeout=SECONDS)
        return count_owners(policy, engine, types=types, timeout=SECONDS)
    finally:
        engine.close()


def _database(sources: list[str], *, folder: Path) -> Database:
    """The database of these sources; paths are relative to the folder of the policy."""
    from celosia.queries.policy import Database
    from celosia.queries.policy.database import FILE_ENDINGS

    here = folder.resolve()
    if len(sources) == 1 and sources[0].startswith("$"):
        return Database(kind="postgres", url=sources[0])
    for source in sources:
        if "://" in source or source.startswith("$"):
            raise InputError("CEL-Q200.address")
        if not Path(source).is_file():
            raise InputError("CEL-Q201.missing", path=source)
    files = [source for source in sources if source.lower().endswith(FILE_ENDINGS)]
    others = [source for source in sources if source not in files]
    names = [Path(source).name.partition(".")[0] for source in files]
    if len(others) > 1 or len({name.lower() for name in names}) < len(names):
        raise InputError("CEL-Q201.several")
    return Database(
        path=_from_folder(others[0], here) if others else None,
        files=tuple(
            (name, _from_folder(file, here)) for name, file in zip(names, files, strict=True)
        ),
        folder=str(here),
    )


def _from_folder(source: str, folder: Path) -> str:
    """A path as a policy in a folder writes it: relative where it lies below."""
    path = Path(source).resolve()
    return path.relative_to(folder).as_posix() if path.is_relative_to(folder) else str(path)


def _fill_in_location(text: str, database: Database) -> str:
    """The draft with the location of the database filled in, which is known."""
    from celosia.queries.policy.writer import quote, toml_key

    lines = [f"kind = {quote(database.kind)}"]
    if database.url is not None:
        lines.append(f"url = {quote(database.url)}")
    if database.path is not None:
        lines.append(f"path = {quote(database.path)}")
    if database.files:
        listed = [f"{toml_key(name)} = {quote(path)}" for name, path in database.files]
        lines.append(f"files = {{ {', '.join(listed)} }}")
    before, heading, after = text.partition("\n[database]\n")
    return before + heading + "\n".join([*lines, after])


def _load(path: Path) -> Policy:
    from celosia.queries.policy import load_policy

    return load_policy(path)


def _draft_of_graph(path: Path, name: str, output: Path | None) -> str:
    from celosia.queries.rdf.policy_draft import draft_graph_policy
    from celosia.queries.rdf.store import GraphStore

    folder = Path() if output is None else output.parent
    with GraphStore.open(path) as store:
        return draft_graph_policy(store, name=name, path=os.path.relpath(path, folder))


def _is_store(source: str) -> InputError:
    return InputError("CEL-Q280.is_store", path=source)


def _amount(amount: Spending) -> str:
    from celosia.accounting.amounts import format_amount

    delta = f", delta {format_amount(amount.delta)}" if amount.delta else ""
    if amount.currency == "epsilon":
        return f"epsilon {format_amount(amount.epsilon)}{delta}"
    orders = [
        f"order {format_amount(order)}: {format_amount(most)}" for order, most in amount.curve
    ]
    own = "rho " + format_amount(amount.rho) if amount.rho is not None else ", ".join(orders)
    told = say("cli.policy.as_epsilon", epsilon=float(amount.epsilon), delta=float(amount.delta))
    return f"{own}{delta} ({told})"


def _describe_column(table: Any, column: Any) -> Iterator[str]:
    """Describe the declarations of a column beyond its type."""
    from celosia.accounting.amounts import format_amount

    if column.unique:
        yield say("cli.policy.unique")
    if column.lower is not None and column.upper is not None:
        lower, upper = format_amount(column.lower), format_amount(column.upper)
        if column.grid is None:
            yield say("cli.policy.range", lower=lower, upper=upper)
        else:
            step = format_amount(column.grid)
            yield say("cli.policy.grid", lower=lower, upper=upper, step=step)
    if column.keys is not None:
        yield say("cli.policy.keys", keys=len(column.keys))
    if column.most is not None:
        yield say("cli.policy.most", most=column.most)
    for name, other, key in table.references:
        if name.lower() == column.name.lower():
            yield say("cli.policy.references", table=other, column=key)


def _show_graph(policy: Policy, graph: Graph) -> None:
    """Predicates, one a line, in the words of the policy file."""
    rows = []
    for address, name in graph.predicates:
        table = policy.table(name)
        assert table is not None, "each predicate is a table"
        classes = ", ".join(each for each, members in graph.classes if name in members)
        whose = say("cli.word.public") if table.public else classes or say("cli.word.private")
        rows.append([name, address, whose, "; ".join(_describe_predicate(table))])
    console.show_table(
        say("cli.policy.predicates"),
        console.columns("name", "address", "class", "declared"),
        rows,
        numbers=False,
    )


def _describe_predicate(table: TablePolicy) -> Iterator[str]:
    from celosia.accounting.amounts import format_amount

    for column in table.columns:
        if column.most is not None:
            yield say("cli.policy.most_each", most=column.most, name=column.name)
        if column.lower is not None and column.upper is not None:
            lower, upper = format_amount(column.lower), format_amount(column.upper)
            yield say("cli.policy.range", lower=lower, upper=upper)
        if column.keys is not None:
            yield say("cli.policy.predicate_keys", keys=len(column.keys), name=column.name)
