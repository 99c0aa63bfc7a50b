"""`celosia query`: a private SQL or SPARQL query."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from celosia.cli import console, options
from celosia.cli.query import messages
from celosia.cli.query.arguments import check_options, check_outputs, read_question
from celosia.cli.query.sessions import TOKEN, open_vault
from celosia.core.messages import Message, say

if TYPE_CHECKING:
    from celosia.accounting.filters import Price
    from celosia.queries import QueryAnswer, QueryRequest, Vault
    from celosia.queries.service import Client

EXAMPLES = """**Examples**

`celosia query policy.toml "SELECT count(*) FROM orders" --explain`  (the plan and its price)

`celosia query policy.toml "SELECT count(*) FROM orders" --epsilon 0.5`

`celosia query people.toml friends.rq --epsilon 0.5`  (a graph, in SPARQL)

`celosia query policy.toml prices.sql -e 0.5 --analyst ana -o prices.csv --report prices.html`

`celosia query --server https://vault.example.org --token-file ana.token - -e 0.5`  (from a pipe)
"""


def query(
    policy: Annotated[
        str | None,
        typer.Argument(
            metavar="POLICY", help="The policy file; not with --server.", show_default=False
        ),
    ] = None,
    sql: Annotated[
        str | None,
        typer.Argument(
            metavar="QUERY",
            help="One SELECT (SPARQL for a graph), or a file of it (.sql, .rq), or - for standard "
            "input.",
            show_default=False,
        ),
    ] = None,
    epsilon: Annotated[
        float | None,
        typer.Option("--epsilon", "-e", help="The price of the whole question: 0.1 to 1."),
    ] = None,
    delta: Annotated[
        float, typer.Option(help="The chance that the promise fails, for mechanisms that need it.")
    ] = 0.0,
    analyst: Annotated[
        str | None, typer.Option(metavar="NAME", help="The analyst, as named in the policy.")
    ] = None,
    method: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="How one person's part is bounded: capped, chosen-cap, r2t, r2t-cap, global or "
            "elastic; the one of least error without it.",
        ),
    ] = None,
    confidence: Annotated[
        float, typer.Option(help="The probability that the interval holds the exact answer.")
    ] = 0.95,
    fresh: Annotated[
        bool,
        typer.Option(
            "--fresh", help="Pay for a new answer where one is stored: rows may have changed."
        ),
    ] = False,
    explain: Annotated[
        bool, typer.Option("--explain", help="Spend nothing: show the plan, price and error.")
    ] = False,
    ledger: Annotated[
        str | None,
        typer.Option(
            metavar="PLACE",
            help="A file, or '$NAME', a variable with the address of a PostgreSQL database; beside "
            "the policy without it.",
        ),
    ] = None,
    server: Annotated[
        str | None,
        typer.Option(metavar="URL", help="The address of a service, instead of a policy."),
    ] = None,
    token_file: Annotated[
        Path | None,
        typer.Option(help=f"With --server: the file of your token; else {TOKEN} holds it."),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="Repeat the noise; makes the answer a simulation.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="The file of the answer: .json, or a table such as .csv."
        ),
    ] = None,
    report: Annotated[
        Path | None, typer.Option(help="Write a report (one HTML file, opens offline).")
    ] = None,
    overwrite: options.Overwrite = False,
    as_json: options.AsJson = False,
) -> None:
    """Query tables in SQL or a graph in SPARQL with differential privacy, within a budget.

    What --epsilon says is spent, whatever the answer is; the same question asked again gets the
    stored answer for free, unless --fresh pays for a new one. Ask with --explain first: it shows
    how the question would be answered and how exactly, and costs nothing.
    """
    # Before NumPy is loaded: the threads of its BLAS would else wait for work in a busy loop, which
    # takes as much processor time as to load NumPy.
    os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "4")
    from celosia.mechanisms.parameters import check_confidence
    from celosia.queries.request import QueryRequest

    if server is not None and sql is None:  # then there is one argument, and it is the question
        policy, sql = None, policy
    check_options(
        policy,
        sql,
        epsilon=epsilon,
        explain=explain,
        is_remote=server is not None,
        with_server={"--token-file": token_file},
        without={"--analyst": analyst, "--ledger": ledger, "--seed": seed},
    )
    check_confidence(confidence)
    question = str(sql)
    check_outputs(policy, question, ledger, output, report, overwrite=overwrite)
    request = QueryRequest(
        read_question(question),
        epsilon=1.0 if epsilon is None else epsilon,
        delta=delta,
        method=method,
        confidence=confidence,
        analyst=analyst,
        fresh=fresh,
    )
    with open_vault(policy, server, ledger=ledger, token_file=token_file, seed=seed) as vault:
        if explain:
            messages.show_plan(vault.plan(request), as_json=as_json)
            return
        answer = _run_query(vault, request, quiet=as_json)
        left = _remaining_budgets(vault, answer, analyst)
    if output is not None:
        answer.save(output, overwrite=overwrite)
    if report is not None:
        answer.report(report, overwrite=overwrite)
    for warning in () if as_json else answer.warnings:  # which JSON holds anyway
        console.note(say("cli.query.warning", warning=warning))
    if answer.guarantee.simulation:
        console.note(say("cli.magnitude.simulation_made_seed_release"))
    if as_json:
        remaining = {name: price.as_dict() for name, price in left.items()}
        console.show_json(answer.as_dict() | {"remaining": remaining})
    else:
        messages.show_answer(answer, left, output, report)


query.__doc__ = f"{query.__doc__}\n\n{EXAMPLES}"


def _run_query(vault: Vault | Client, request: QueryRequest, *, quiet: bool) -> QueryAnswer:
    from celosia.core.progress import Step

    try:
        with console.progress_bar(quiet=quiet) as progress:
            progress(Step(Message("cli.step.asking_database"), 0))
            return vault.ask(request)
    except BaseException as error:
        # An engine may tell Ctrl-C as an error of its own.
        if isinstance(error, KeyboardInterrupt) or console.STOPPED.is_set():
            console.note(say("cli.query.if_reserved_stays_charged"))
        raise


def _remaining_budgets(vault: Any, answer: QueryAnswer, analyst: str | None) -> dict[str, Price]:
    """The remaining budget, and that of the analyst; empty where none was needed."""
    if answer.entry is None:
        return {}  # a question about public tables begins no ledger
    left: dict[str, Price] = {"total": vault.ledger.remaining}
    if analyst is not None and vault.policy.analysts:
        left[analyst] = vault.ledger.remaining_of(analyst)
    return left
