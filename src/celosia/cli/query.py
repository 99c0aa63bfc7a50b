"""`celosia query`: a private SQL or SPARQL query."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import compress
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

from celosia.cli import console, options
from celosia.cli.addresses import read_variable, resolve_address
from celosia.cli.frame import AnswerOutputs, JsonOutputs
from celosia.core.errors import InputError
from celosia.core.messages import Message, say
from celosia.core.progress import Step
from celosia.queries.paths import ledger_path

if TYPE_CHECKING:
    from celosia.accounting.filters import Price
    from celosia.queries import Plan, QueryAnswer, QueryRequest, Vault
    from celosia.queries.comparison import Comparison
    from celosia.queries.service import Client, RemotePlan

LONGEST = 1_000_000
"""Letters of a question that are read from a file; the vault refuses far shorter ones."""
STDIN = "-"
ENDINGS = (".sql", ".rq", ".sparql")
"""Of files that hold a question."""
TOKEN = "CELOSIA_TOKEN"  # noqa: S105 - the name of a variable
MOST_SHOWN = 100
"""Rows of an answer that are printed; all of them are in the file."""


def query(
    outputs: AnswerOutputs,
    policy: Annotated[str | None, "argument POLICY", "The policy file; not with --server."] = None,
    sql: Annotated[
        str | None,
        "argument QUERY",
        "One SELECT (SPARQL for a graph), or a file of it (.sql, .rq), or - for standard input.",
    ] = None,
    epsilon: Annotated[
        float | None, options.EPSILON, "The price of the whole question: 0.1 to 1."
    ] = None,
    delta: Annotated[
        float, "The chance that the promise fails, for mechanisms that need it."
    ] = 0.0,
    error: Annotated[
        str | None,
        "SIZE",
        "Instead of --epsilon: the typical error to accept, in the unit of the answer, or as 5% of "
        "it where the question was answered before. The least epsilon that promises it is taken.",
    ] = None,
    analyst: options.Analyst = None,
    method: Annotated[
        str | None,
        "NAME",
        "How one person's part is bounded: capped, chosen-cap, r2t, r2t-cap, global, gaussian "
        "(needs a delta), elastic or top-k (chooses the largest groups); the one of least error "
        "without it.",
    ] = None,
    confidence: options.Confidence = 0.95,
    fresh: Annotated[
        bool, "--fresh", "Pay for a new answer where one is stored: rows may have changed."
    ] = False,
    rank_intervals: Annotated[
        bool,
        "--rank-intervals",
        "Intervals for MIN, MAX and quantiles too, for half of their epsilon.",
    ] = False,
    synopsis: Annotated[
        bool,
        "--synopsis",
        "Spend nothing: answer from what `celosia workload` has measured, if that is enough.",
    ] = False,
    explain: Annotated[bool, "--explain", "Spend nothing: show the plan, price and error."] = False,
    curator: Annotated[
        bool,
        "--curator",
        "For the owner of the data only: show the true answer beside a private one, with error, "
        "bound and plan. Nothing is charged, because nothing is released.",
    ] = False,
    ledger: options.LedgerPlace = None,
    server: Annotated[str | None, "URL", "The address of a service, instead of a policy."] = None,
    token_file: Annotated[
        Path | None, f"With --server: the file of your token; else {TOKEN} holds it."
    ] = None,
    seed: options.NoiseSeed = None,
) -> None:
    """Query tables in SQL or a graph in SPARQL with differential privacy, within a budget.

    What --epsilon says is spent, whatever the answer is; the same question asked again gets the
    stored answer for free, unless --fresh pays for a new one. Ask with --explain first: it shows
    how the question would be answered and how exactly, and costs nothing.

    **Examples**

    `celosia query policy.toml "SELECT count(*) FROM orders" --explain`  (the plan and its price)

    `celosia query policy.toml "SELECT count(*) FROM orders" --epsilon 0.5`

    `celosia query policy.toml "SELECT count(*) FROM orders" --error 20 --explain`  (accuracy first)

    `celosia query policy.toml "SELECT count(*) FROM orders" --synopsis`  (free, after a workload)

    `celosia query people.toml friends.rq --epsilon 0.5`  (a graph, in SPARQL)

    `celosia query policy.toml prices.sql -e 0.5 --curator`  (with the true answer: never to
    analysts)

    `celosia query policy.toml prices.sql -e 0.5 --analyst ana -o prices.csv --report prices.html`

    `celosia query --server https://vault.example.org --token-file ana.token - -e 0.5`  (a pipe)
    """
    # Before NumPy is loaded: the threads of its BLAS would else wait for work in a busy loop, which
    # takes as much processor time as to load NumPy.
    os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "4")
    from celosia.mechanisms.parameters import check_confidence
    from celosia.queries.request import QueryRequest

    if server is not None and sql is None:  # then there is one argument, and it is the question
        policy, sql = None, policy
    _check_options(
        policy,
        sql,
        epsilon=epsilon,
        error=error,
        is_free=explain or synopsis,
        is_remote=server is not None,
        with_server={"--token-file": token_file},
        without={
            "--analyst": analyst,
            "--ledger": ledger,
            "--seed": seed,
            "--synopsis": synopsis or None,
        },
    )
    _check_curator(
        {
            "--server": curator and server is not None,
            "--token-file": curator and token_file is not None,
            "--analyst": curator and analyst is not None,
            "--explain": curator and explain,
            "--output": curator and outputs.output is not None,
            "--report": curator and outputs.report is not None,
        }
    )
    check_confidence(confidence)
    question = str(sql)
    inputs = [question_file(question), None if ledger is None else Path(ledger)]
    if policy is not None:
        inputs += [Path(policy), ledger_path(policy)]
    outputs.check(inputs=inputs)  # before anything is spent
    request = QueryRequest(
        read_question(question),
        epsilon=1.0 if epsilon is None else epsilon,
        delta=delta,
        method=method,
        confidence=confidence,
        analyst=analyst,
        fresh=fresh,
        rank_intervals=rank_intervals,
    )
    with open_vault(policy, server, ledger=ledger, token_file=token_file, seed=seed) as vault:
        if error is not None:
            request = replace(request, epsilon=_least_epsilon(vault, request, error))
        if explain:
            plan = vault.plan(request)
            price = say("cli.query.price", price=_price(float(plan.epsilon), float(plan.delta)))
            JsonOutputs(as_json=outputs.as_json).show(
                plan.as_dict,
                lambda: _show_plan(plan),
                price,
                note=say("cli.query.nothing_spent_leave_out"),
            )
            return
        if curator:
            with console.progress_bar(quiet=outputs.as_json) as progress:
                found = cast("Vault", vault).compare(request, progress=progress)
            JsonOutputs(as_json=outputs.as_json).show(
                found.as_dict,
                lambda: show_comparison(found),
                say("queries.comparison.never_for_analysts"),
            )
            return
        if synopsis:
            answer = cast("Vault", vault).from_synopsis(
                request.query, analyst=analyst, confidence=confidence
            )
        else:
            answer = _run_query(vault, request, quiet=outputs.as_json)
        left = _remaining_budgets(vault, answer, analyst)
    outputs.save(answer)
    remaining = {name: price.as_dict() for name, price in left.items()}
    outputs.finish(
        answer,
        lambda: _show_answer(answer, left),
        facts=lambda: answer.as_dict() | {"remaining": remaining},
        warns=not outputs.as_json,  # JSON has them
    )


def _check_options(
    policy: str | None,
    question: str | None,
    *,
    epsilon: float | None,
    error: str | None,
    is_free: bool,
    with_server: dict[str, object],
    without: dict[str, object],
    is_remote: bool,
) -> None:
    """Refuse a command that lacks an option, or has one that would be ignored.

    Args:
        policy: the policy file.
        question: what is asked.
        epsilon: at which price.
        error: the error to accept instead.
        is_free: whether nothing is to be spent.
        with_server: options that go with a service only, as they were given.
        without: options that go with a policy only.
        is_remote: whether a service is asked.
    """
    if is_remote and policy is not None:
        raise InputError("CEL-Q213.policy")
    for name, value in (without if is_remote else with_server).items():
        if value is not None:
            key = "CEL-Q213.not_for_service" if is_remote else "CEL-Q213.only_for_service"
            raise InputError(key, option=name)
    if question is None or (policy is None and not is_remote):
        raise InputError("CEL-Q213.missing")
    if epsilon is not None and error is not None:
        raise InputError("CEL-Q213.two_prices")
    if epsilon is None and error is None and not is_free:
        raise InputError("CEL-Q213.no_price")


def _check_curator(given: dict[str, bool]) -> None:
    """Refuse what would bring a true answer to an analyst, or into a file of answers."""
    for option, clashes in given.items():
        if clashes:
            raise InputError("CEL-Q213.curator", option=option)


def show_comparison(found: Comparison) -> None:
    """Show true and private numbers side by side, then the bounds and the plan."""
    from celosia.queries.comparison_report import SIDES, titles

    console.note(say("queries.comparison.contains_true"))
    rows = []
    for each in found.numbers[:MOST_SHOWN]:
        errors = each.errors
        private = each.private[0] if each.private else None
        rows.append(
            [
                ", ".join(map(str, (*each.group, each.name))),
                say("cli.word.nothing") if each.true is None else _cell(each.true),
                say("cli.word.nothing") if private is None else _cell(private),
                "" if errors is None else _cell(errors.mean_absolute),
                ""
                if errors is None or errors.mean_relative is None
                else console.number(errors.mean_relative, ".3%"),
            ]
        )
    console.show_table(
        say("queries.comparison.side_by_side"),
        titles(SIDES),
        rows,
    )
    _show_plan(found.plan)
    console.note(say("queries.comparison.not_charged"))


def _least_epsilon(vault: Vault | Client, request: QueryRequest, error: str) -> float:
    return vault.least_epsilon(
        request.query, error=error, delta=request.delta, method=request.method
    )


def question_file(written: str) -> Path | None:
    """The file that holds the question, if the argument names one.

    >>> question_file("prices.sql"), question_file("SELECT 1 FROM a.sql")
    (PosixPath('prices.sql'), None)
    """
    # A question has a space in it, so that it cannot be taken for the name of a file.
    is_file = written.lower().endswith(ENDINGS) and written.split() == [written]
    return Path(written) if is_file else None


def read_question(written: str) -> str:
    """Read the question: the argument itself, a file, or standard input."""
    source = question_file(written)
    if source is None and written != STDIN:
        return written
    try:
        if source is None:
            found = sys.stdin.read(LONGEST + 1)
        else:
            with source.open(encoding="utf-8-sig") as file:
                found = file.read(LONGEST + 1)
    except (OSError, ValueError):
        found = ""
    if not found.strip() or len(found) > LONGEST:
        raise InputError("CEL-Q216.question", source=source or Message("cli.standard_input"))
    return found


@contextmanager
def open_vault(
    policy: str | None,
    server: str | None,
    *,
    ledger: str | None,
    token_file: Path | None,
    seed: int | None,
) -> Iterator[Vault | Client]:
    """The vault of a policy, or one behind a service."""
    if server is not None:
        from celosia.queries.service import Client

        with Client(server, _token(token_file)) as client:
            yield client
        return
    from celosia.core.randomness import source
    from celosia.queries import Vault

    place = None if ledger is None else resolve_address(ledger)
    with console.noted_warnings(of_policy=True):
        vault = Vault.open(str(policy), ledger=place, rng=source(seed))
    with vault:
        yield vault


def _token(file: Path | None) -> str:
    if file is None:
        return read_variable(f"${TOKEN}")
    try:
        found = file.read_text("ascii").strip()
    except (OSError, ValueError):
        found = ""
    if not found or len(found) > 1000:
        raise InputError("CEL-Q216.token", file=file, token=TOKEN)
    return found


def _run_query(vault: Vault | Client, request: QueryRequest, *, quiet: bool) -> QueryAnswer:
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


def _show_plan(plan: Plan | RemotePlan) -> None:
    """Show the plan of a question; nothing was spent."""
    console.show(say("cli.query.how_would_be_answered"), strong=True)
    for line in plan.tree:
        console.show(f"  {line}")
    console.show_table(
        say("cli.query.what_would_be_measured"),
        console.columns(
            "", "mechanism", "one_unit_adds", "epsilon:.6g", "delta:.6g", "typical_error"
        ),
        [
            [
                part.name,
                part.mechanism,
                part.bound,
                float(part.epsilon),
                float(part.delta),
                say("cli.word.not_public") if part.error is None else _cell(part.error),
            ]
            for part in plan.parts
        ],
        numbers=False,
    )
    for note in plan.notes:
        console.show(say("cli.query.note", note=note))
    console.show(say("cli.query.neighbours", neighbours=plan.neighbours))
    console.show(say("cli.query.method", method=plan.method))
    if plan.price is not None:
        console.show(plan.price)


def _show_answer(answer: QueryAnswer, left: dict[str, Price]) -> None:
    """Show an answer: its rows, its promise, its cost and the remaining budget."""
    show_rows(answer)
    console.show_guarantee(answer.guarantee)
    price = _price(answer.epsilon, answer.delta)
    if answer.entry is None:
        console.show(say("cli.query.cost_nothing_as_only"))
    elif answer.stored:
        console.show(say("cli.query.cost_nothing_now_when", price=price, entry=answer.entry))
        console.show(say("cli.query.rows_may_have_changed", stored_note=answer.stored_note))
    else:
        console.show(say("cli.query.cost_entry_ledger", price=price, entry=answer.entry))
    if answer.price is not None:
        console.show(answer.price)
    for name, price_left in left.items():
        key = "cli.query.left" if name == "total" else "cli.query.left_to"
        console.show(say(key, name=name, price=price_left))
    if answer.head is not None:
        console.show(say("cli.query.head_ledger", head=answer.head))


def show_rows(answer: QueryAnswer) -> None:
    """The rows with the interval of each number beside it."""
    if not answer.rows:
        console.show(say("cli.query.no_rows"))
        return
    names = list(answer.rows[0])
    bounded = {name for row in answer.intervals for name, bounds in row.items() if bounds}
    noisy = {name for row in answer.noise_only for name, error in row.items() if error is not None}
    percent = f"{console.number(100 * answer.confidence, '.6g')}%"
    extra = {name: (name in bounded, name in noisy) for name in names}
    titles = (
        say("cli.query.interval", percent=percent),
        say("cli.query.noise", percent=percent),
    )
    header = [word for name in names for word in (name, *compress(titles, extra[name]))]
    shown = zip(answer.rows[:MOST_SHOWN], answer.shown_intervals, answer.noise_only, strict=False)
    rows = [
        [
            cell
            for name in names
            for cell in (
                _cell(row[name]),
                *compress((_ends(bounds.get(name)), _error(errors.get(name))), extra[name]),
            )
        ]
        for row, bounds, errors in shown
    ]
    console.show_table(say("cli.query.answer"), header, rows, numbers=len(rows) > 1)
    if noisy:
        console.note(say("cli.query.noise_answer_under_caps"))
    if len(answer.rows) > MOST_SHOWN:
        console.note(
            say("cli.query.more_file_give_o", number_of_rows=len(answer.rows) - MOST_SHOWN)
        )


def _cell(value: Any) -> str:
    if value is None:
        return say("cli.word.nothing")
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    is_long = isfinite(value) and (value == int(value) or abs(value) >= 100_000)
    return console.number(value, ",.0f" if is_long else ",.6g")


def _ends(bounds: Any) -> str:
    if bounds is None:
        return say("cli.word.not_public")
    low, high = (_cell(end) if isfinite(end) else None for end in bounds)
    if high is None and low is None:
        return say("cli.query.no_useful_bound")
    if high is None:
        return say("cli.query.at_least", bound=low)
    if low is None:
        return say("cli.query.at_most", bound=high)
    return say("cli.policy.range", lower=low, upper=high)


def _error(error: float | None) -> str:
    return say("cli.word.not_public") if error is None else f"± {_cell(error)}"


def _price(epsilon: float, delta: float) -> str:
    shown = f"epsilon {console.number(epsilon, '.6g')}"
    return shown + (f", delta {console.number(delta, '.6g')}" if delta else "")
