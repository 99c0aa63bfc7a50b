"""`celosia ledger`: the charges of a data set; only `new`, `convert` and `declare` write."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from celosia.cli import console, options
from celosia.cli.addresses import resolve_address
from celosia.cli.frame import FileOutputs, JsonOutputs
from celosia.core.errors import CelosiaError, EngineError, InputError
from celosia.core.messages import Message, counted, say
from celosia.queries.paths import audit_log_path, ledger_path, trace_paths

if TYPE_CHECKING:
    from celosia.accounting.ledger import Head, Incident, LedgerView, Record
    from celosia.accounting.ledger.terms import Terms

app = typer.Typer(
    no_args_is_help=True,
    help="""Show, check and export the privacy ledger: every charge and the remaining budget.

    **Examples**

    `celosia ledger show policy.toml`

    `celosia ledger show policy.toml --analyst ana --delta 1e-6`

    `celosia ledger verify policy.toml --anchor 12:9f86d081884c7d65...`  (a head from a release)

    `celosia ledger export policy.toml -o ledger.jsonl`

    `celosia ledger incidents policy.toml`  (for the curator only)

    `celosia ledger new policy.toml --after-loss`  (where a ledger was lost)

    `celosia ledger convert policy.toml`  (where its budget is in another currency now)

    `celosia ledger declare city.ledger --epsilon 3`  (for private releases without a policy)
    """,
)

Location = Annotated[
    str,
    "argument POLICY|LEDGER",
    "A policy file, whose ledger lies beside it; or the ledger itself: its file, or "
    "'$NAME', a variable that holds the address of a PostgreSQL database.",
]
MOST_SHOWN = 100
"""Charges that are printed; --json has all of them."""
EXPORTED = (".jsonl", ".ndjson")


@app.command()
def show(
    place: Location,
    outputs: JsonOutputs,
    analyst: Annotated[str | None, "NAME", "Only the charges of one analyst."] = None,
    delta: Annotated[
        float | None, "Also the least epsilon that holds with this delta for all charges."
    ] = None,
) -> None:
    """Show the questions, their analysts and prices, and the budget that is left.

    **Examples**

    `celosia ledger show policy.toml`

    `celosia ledger show shop.ledger.sqlite --analyst ana --json`
    """
    from celosia.accounting.amounts import check_chance

    if delta is not None:
        check_chance(delta)
    with open_ledger(place) as (ledger, terms):
        charges = ledger.history(analyst)
        spent = ledger.spent if analyst is None else ledger.spent_by(analyst)
        left = ledger.remaining if analyst is None else ledger.remaining_of(analyst)
        tight = None if delta is None else ledger.tight_epsilon(delta)
        facts: dict[str, Any] = {
            "dataset": terms.dataset,
            "policy": terms.policy,
            "rule": terms.rule,
            "analyst": analyst,
            "spent": spent.as_dict(),
            "remaining": left.as_dict(),
            "head": str(ledger.head),
            "charges": [charge.as_dict() for charge in charges],
        }
        if analyst is None:
            facts["analysts"] = {
                name: {
                    "spent": ledger.spent_by(name).as_dict(),
                    "remaining": ledger.remaining_of(name).as_dict(),
                }
                for name in terms.analysts
            }
        if tight is not None:
            facts["tight"] = {"epsilon": tight, "delta": delta}
        whose = (
            terms.dataset
            if analyst is None
            else Message("cli.ledger.analyst_of", analyst=analyst, dataset=terms.dataset)
        )

        def lines() -> None:
            _show_charges(charges)
            if analyst is None and terms.analysts:
                console.show_table(
                    say("cli.ledger.analysts"),
                    console.columns("name", "spent", "left"),
                    [
                        [name, str(ledger.spent_by(name)), str(ledger.remaining_of(name))]
                        for name in terms.analysts
                    ],
                )
            if tight is not None:
                console.show(say("cli.ledger.tight_epsilon_holds_at", tight=tight, delta=delta))
                console.note(say("cli.ledger.questions_fixed_beforehand_budget"))
            _show_head(ledger.head)

        last = say("cli.ledger.spent_left", whose=whose, spent=spent, left=left)
        outputs.show(lambda: facts, lines, last)


@app.command()
def verify(
    place: Location,
    outputs: JsonOutputs,
    anchor: Annotated[
        str | None, "HEAD", "A head from a release, which the ledger must hold."
    ] = None,
) -> None:
    """Check every link of the ledger, or of an exported one; exit code 1 if it was changed.

    The head that a release prints shows also that the ledger is no older copy: give it as --anchor.

    **Examples**

    `celosia ledger verify policy.toml`

    `celosia ledger verify ledger.jsonl --anchor 12:9f86d081884c7d65...`
    """
    from celosia.accounting.ledger import verify_export

    if place.lower().endswith(EXPORTED):
        _check_file(Path(place))
        head = verify_export(place, anchor=anchor)
    else:
        with open_ledger(place) as (ledger, _):
            head = ledger.verify(anchor=anchor)
    held = "" if anchor is None else Message("cli.ledger.anchor_among")
    outputs.show(
        lambda: _head_facts(head) | {"anchor": anchor},
        lambda: _show_head(head),
        say("cli.ledger.sound_entries_each_as", sequence=head.sequence + 1, held=held),
        note=say("cli.ledger.give_head_from_release") if anchor is None else None,
    )


@app.command()
def export(
    place: Location,
    output: Annotated[Path, "--output -o", "The file (JSON lines)."],
    outputs: FileOutputs,
) -> None:
    """Write the ledger as JSON lines, which can be verified without the database.

    It holds every question and every answer that was released.

    **Example**

    `celosia ledger export policy.toml -o ledger.jsonl`
    """
    outputs.check(inputs=(Path(place),), export=output)
    if not output.name.lower().endswith(EXPORTED):
        raise InputError("CEL-Q203", output_name=output.name)
    with open_ledger(place) as (ledger, _):
        head = ledger.export(output, overwrite=outputs.overwrite)
    outputs.show(
        lambda: _head_facts(head) | {"output": str(output)},
        lambda: _show_head(head),
        say("cli.ledger.entries", sequence=head.sequence + 1, output=output),
    )


@app.command()
def incidents(
    place: Location,
    outputs: JsonOutputs,
    analyst: Annotated[str | None, "NAME", "Only the incidents of one analyst."] = None,
) -> None:
    """Show questions that ran past their deadline, or failed; for the curator only.

    Incidents may depend on the rows: do not show them to an analyst.

    **Examples**

    `celosia ledger incidents policy.toml`

    `celosia ledger incidents policy.toml --analyst ana --json`
    """
    with open_ledger(place) as (ledger, terms):
        found = ledger.incidents(analyst)
    facts = {
        "dataset": terms.dataset,
        "analyst": analyst,
        "incidents": [each.as_dict() for each in found],
    }
    last = f"{terms.dataset}: {counted(len(found), 'incident', 'incidents')}"
    outputs.show(lambda: facts, lambda: _show_incidents(found), last)


def _show_incidents(found: Sequence[Incident]) -> None:
    if not found:
        return
    console.note(say("cli.ledger.incidents_may_depend_rows"))
    console.show_table(
        say("cli.ledger.incidents"),
        console.columns("at", "analyst", "entry", "kind"),
        [[each.at, each.analyst, str(each.entry), each.kind] for each in found],
        numbers=False,
    )


@app.command()
def new(
    policy: Annotated[Path, "argument POLICY", "The policy file."],
    outputs: JsonOutputs,
    ledger: options.LedgerPlace = None,
    after_loss: Annotated[
        bool,
        "--after-loss",
        "Also where an audit log or a tokens file records that a ledger was lost.",
    ] = False,
) -> None:
    """Begin the ledger of a policy, with nothing spent.

    The first question does that too, unless the audit log or the tokens beside the policy tell that
    questions were charged before: then the ledger is lost, and a new one would let the budget be
    spent a second time. Put the old one back; or say --after-loss, which the new ledger records,
    and lower the budget of the policy by what was spent.

    **Examples**

    `celosia ledger new policy.toml`

    `celosia ledger new policy.toml --after-loss`
    """
    from celosia.accounting.ledger import Ledger
    from celosia.accounting.ledger.ledger import known_charges
    from celosia.queries import load_policy
    from celosia.queries.sessions import make_ledger_opener

    with console.noted_warnings(of_policy=True):
        declared = load_policy(policy)
    place = ledger_path(policy) if ledger is None else resolve_address(ledger)
    standing = Ledger.open_view(place)
    if standing is not None:
        standing.close()
        raise InputError("CEL-Q307")
    account = make_ledger_opener(declared, place, traces=trace_paths(policy), new_ledger=after_loss)
    with account() as begun:
        head, left = begun.head, begun.remaining
    charges, spent = known_charges(audit_log_path(policy))
    known = {"charges": charges, "epsilon": float(spent)}
    audit_note = say("cli.ledger.audit_log_knows_charge", charges=charges, spent=float(spent))
    outputs.show(
        lambda: {
            "ledger": str(place),
            "head": str(head),
            "remaining": left.as_dict(),
            "known": known,
        },
        lambda: _show_head(head),
        say("cli.ledger.new_ledger_left", name=declared.name, left=left, place=place),
        note=audit_note if charges else None,
    )


@app.command()
def convert(
    policy: Annotated[Path, "argument POLICY", "The policy file."],
    outputs: JsonOutputs,
    ledger: options.LedgerPlace = None,
) -> None:
    """Keep a ledger in the currency that its policy declares now: epsilon, rho or renyi.

    Every charge so far stays and counts in the new currency, by the loss that was recorded with it.
    The change is an entry of the ledger. A budget that is spent by then allows nothing more.

    **Example**

    `celosia ledger convert policy.toml`
    """
    from celosia.accounting.ledger import Ledger
    from celosia.queries import load_policy
    from celosia.queries.sessions import make_ledger_opener

    with console.noted_warnings(of_policy=True):
        declared = load_policy(policy)
    place = ledger_path(policy) if ledger is None else resolve_address(ledger)
    standing = Ledger.open_view(place)
    if standing is None:
        raise _no_ledger()
    with standing:
        old, spent = standing.terms.total.currency, standing.spent
    new = declared.budget.currency
    if old == new:
        raise InputError("CEL-Q308", currency=new)
    with make_ledger_opener(declared, place, convert=True)() as converted:
        head, now, left = converted.head, converted.spent, converted.remaining
    outputs.show(
        lambda: {
            "ledger": str(place),
            "head": str(head),
            "from": old,
            "to": new,
            "spent_before": spent.as_dict(),
            "spent": now.as_dict(),
            "remaining": left.as_dict(),
        },
        lambda: _show_head(head),
        say(
            "cli.ledger.converted",
            name=declared.name,
            old=old,
            new=new,
            spent=spent,
            now=now,
            left=left,
        ),
        note=say("cli.ledger.convert_promise"),
    )


@app.command()
def declare(
    place: Annotated[
        str,
        "argument LEDGER",
        "The ledger: a file, or '$NAME', a variable with the address of a database.",
    ],
    outputs: JsonOutputs,
    epsilon: Annotated[
        float | None, options.EPSILON, "The most that all releases may cost together."
    ] = None,
    rho: Annotated[
        float | None, "Instead: the most in rho of zero-concentrated differential privacy."
    ] = None,
    delta: Annotated[float, "The same for delta; with --rho, at half of it epsilon is told."] = 0.0,
    unit: Annotated[
        str, "Whom it protects: person, row, edge, 'vertex with its edges'."
    ] = "person",
    dataset: Annotated[str | None, "The data set; the name of the file without it."] = None,
    rule: Annotated[str, "How charges add up: basic (sums), either, concentrated, ..."] = "basic",
) -> None:
    """Declare a budget for private releases: what they may cost together, and whom it protects.

    Name the ledger in `celosia release`, `graph release`, `trace release`, `log release` and `text
    release`. Declared again, a budget can become smaller, never larger.

    **Examples**

    `celosia ledger declare city.ledger --epsilon 3`

    `celosia ledger declare city.ledger --rho 0.5 --delta 1e-6`

    `celosia ledger declare friends.ledger --epsilon 2 --delta 1e-6 --unit edge`
    """
    from celosia.accounting.ledger import LedgerBudget

    address = resolve_address(place)
    with LedgerBudget.begin(
        address,
        dataset=dataset or Path(place).stem,
        epsilon=epsilon,
        delta=delta,
        rho=rho,
        unit=unit,
        rule=rule,
    ) as budget:
        name, head, left = budget.ledger.terms.dataset, budget.ledger.head, budget.remaining
        neighbours = str(budget.allowance.neighbours)
    outputs.show(
        lambda: {
            "ledger": place,
            "dataset": name,
            "head": str(head),
            "remaining": left.as_dict(),
            "neighbours": neighbours,
        },
        lambda: _show_head(head),
        say("cli.ledger.declared", name=name, left=left, whom=neighbours),
    )


@contextmanager
def open_ledger(place: str) -> Iterator[tuple[LedgerView, Terms]]:
    """Open the ledger of a policy, or at a location, for reading under its last terms.

    Raises:
        InputError: CEL-Q207 there is none; nothing is made where there is none.
        EngineError: CEL-Q206 it cannot be read.
    """
    from celosia.accounting.ledger import Ledger

    try:
        found = Ledger.open_view(_ledger_at(place))
    except CelosiaError as error:
        if error.code not in {"CEL-Q101", "CEL-Q114"}:
            raise
        found, unread = None, True
    else:
        unread = False
    if unread:
        raise EngineError("CEL-Q206")
    if found is None:
        raise _no_ledger()
    with found as ledger:
        yield ledger, ledger.terms


def _ledger_at(written: str) -> str:
    if Path(written).suffix.lower() != ".toml":
        return resolve_address(written)
    from celosia.queries import load_policy

    with console.noted_warnings(of_policy=True):
        load_policy(written)  # what is wrong with it is said here, and not that it has no ledger
    return str(ledger_path(written))


def _check_file(path: Path) -> None:
    if not path.is_file():
        raise _no_ledger()


def _head_facts(head: Head) -> dict[str, Any]:
    return {"head": str(head), "entries": head.sequence + 1}


def _show_head(head: Head) -> None:
    console.show(say("cli.ledger.head", head=head))


def _no_ledger() -> InputError:
    return InputError("CEL-Q207")


def _show_charges(charges: Sequence[Record]) -> None:
    from celosia.accounting.amounts import format_amount

    if not charges:
        console.show(say("cli.ledger.no_questions_so_far"))
        return
    rows = [
        [
            str(charge.sequence),
            charge.at[:16].replace("T", " "),
            charge.analyst,
            "; ".join(line.strip() for line in charge.question.splitlines()),
            format_amount(charge.epsilon),
            format_amount(charge.delta),
            charge.status,
        ]
        for charge in charges[-MOST_SHOWN:]
    ]
    header = ["entry", "at", "analyst", "question", "epsilon", "delta", "state"]
    console.show_table(say("cli.ledger.charges"), header, rows, numbers=False)
    if len(charges) > MOST_SHOWN:
        console.note(
            say("cli.ledger.earlier_ones_json", number_of_charges=len(charges) - MOST_SHOWN)
        )
