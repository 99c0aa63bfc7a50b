"""`celosia query`: ask data that one may not see, in SQL or SPARQL."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from celosia.cli import console, options
from celosia.cli.query import telling
from celosia.cli.query.vaults import TOKEN, Wish, opened
from celosia.cli.query.wanted import check_places, check_use, text_of

if TYPE_CHECKING:
    from celosia.accounting.prices import Price
    from celosia.queries import QueryAnswer, Vault
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
        float, typer.Option(help="Where a mechanism needs it: the chance that the promise fails.")
    ] = 0.0,
    analyst: Annotated[
        str | None, typer.Option(metavar="NAME", help="Who asks, as the policy names them.")
    ] = None,
    method: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="How one person's part is bounded: capped, chosen-cap, race, race-cap, global or "
            "elastic; the one of least error without it.",
        ),
    ] = None,
    confidence: Annotated[
        float, typer.Option(help="How often the interval holds the exact answer.")
    ] = 0.95,
    fresh: Annotated[
        bool,
        typer.Option(
            "--fresh", help="Pay again where an answer is stored: rows may have changed since."
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
        str | None, typer.Option(metavar="URL", help="Instead of a policy: ask a service.")
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
            "--output", "-o", help="Where the answer goes: .json, or a table such as .csv."
        ),
    ] = None,
    report: Annotated[
        Path | None, typer.Option(help="Write a report (one HTML file, opens offline).")
    ] = None,
    force: options.Force = False,
    as_json: options.AsJson = False,
) -> None:
    """Ask tables in SQL or a graph in SPARQL, with differential privacy, paid from a budget.

    What --epsilon says is spent, whatever the answer is; the same question asked again gets the
    stored answer for free, unless --fresh pays for a new one. Ask with --explain first: it shows
    how the question would be answered and how exactly, and costs nothing.
    """
    # Before NumPy is loaded: the threads of its BLAS would else wait for work in a busy loop, which
    # takes as much processor time as to load NumPy.
    os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "4")
    from celosia.mechanisms.parameters import check_confidence

    if server is not None and sql is None:  # then there is one argument, and it is the question
        policy, sql = None, policy
    check_use(
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
    check_places(policy, question, ledger, output, report, force=force)
    wish = Wish(
        sql=text_of(question),
        epsilon=epsilon,
        delta=delta,
        method=method,
        confidence=confidence,
        analyst=analyst,
        fresh=fresh,
    )
    with opened(policy, server, ledger=ledger, token_file=token_file, seed=seed) as vault:
        if explain:
            telling.show_plan(wish.plan(vault), as_json=as_json)
            return
        answer = _asked(vault, wish, quiet=as_json)
        left = _left(vault, answer, analyst)
    if output is not None:
        answer.save(output, overwrite=force)
    if report is not None:
        answer.report(report, overwrite=force)
    for warning in () if as_json else answer.warnings:  # which JSON holds anyway
        console.note(f"Warning: {warning}")
    if answer.guarantee.simulation:
        console.note("Simulation: made with a seed, not for release.")
    if as_json:
        remaining = {name: price.as_dict() for name, price in left.items()}
        console.show_json(answer.as_dict() | {"remaining": remaining})
    else:
        telling.show_answer(answer, left, output, report)


query.__doc__ = f"{query.__doc__}\n\n{EXAMPLES}"


def _asked(vault: Vault | Client, wish: Wish, *, quiet: bool) -> QueryAnswer:
    from celosia.core.progress import Step

    try:
        with console.progress_bar(quiet=quiet) as progress:
            progress(Step("Asking the database", 0))
            return wish.answer(vault)
    except BaseException as error:
        # An engine may tell Ctrl-C as an error of its own.
        if isinstance(error, KeyboardInterrupt) or console.STOPPED.is_set():
            console.note("If it was reserved, it stays charged: see `celosia ledger show`.")
        raise


def _left(vault: Any, answer: QueryAnswer, analyst: str | None) -> dict[str, Price]:
    """What is left of the budget, and of that of the analyst; nothing where none was needed."""
    if answer.entry is None:
        return {}  # a question about public tables begins no ledger
    left: dict[str, Price] = {"total": vault.ledger.remaining}
    if analyst is not None and vault.policy.analysts:
        left[analyst] = vault.ledger.remaining_of(analyst)
    return left
