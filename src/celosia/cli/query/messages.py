"""Answers and plans on the terminal; the most important line comes last."""

from __future__ import annotations

from itertools import compress
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

from celosia.cli import console
from celosia.core.messages import say

if TYPE_CHECKING:
    from celosia.accounting.filters import Price
    from celosia.queries import Plan, QueryAnswer
    from celosia.queries.service import RemotePlan

MOST_SHOWN = 100
"""Rows of an answer that are printed; all of them are in the file."""


def show_plan(plan: Plan | RemotePlan, *, as_json: bool) -> None:
    """Show the plan of a question and its cost; nothing was spent."""
    if as_json:
        console.show_json(plan.as_dict())
        return
    console.show(say("cli.query.how_would_be_answered"), strong=True)
    for line in plan.tree:
        console.show(f"  {line}")
    console.show_table(
        say("cli.query.what_would_be_measured"),
        [
            "",
            say("cli.column.mechanism"),
            say("cli.column.one_unit_adds"),
            say("cli.column.epsilon"),
            say("cli.column.delta"),
            say("cli.column.typical_error"),
        ],
        [
            [
                part.name,
                part.mechanism,
                part.bound,
                console.number(float(part.epsilon), ".6g"),
                console.number(float(part.delta), ".6g"),
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
    console.note(say("cli.query.nothing_spent_leave_out"))
    console.show(
        say("cli.query.price", price=_price(float(plan.epsilon), float(plan.delta))), strong=True
    )


def show_answer(
    answer: QueryAnswer, left: dict[str, Price], output: Path | None, report: Path | None
) -> None:
    """Show an answer: its rows, its promise, its cost and the remaining budget."""
    from celosia.core.release import certificate_path
    from celosia.core.wording import sentence

    _show_rows(answer)
    guarantee = answer.guarantee
    key = "cli.query.promise_without_seed" if guarantee.simulation else "cli.query.promise"
    console.show(say(key, promise=guarantee.promise, neighbours=guarantee.neighbours))
    console.show(say("cli.query.meaning", protects=sentence(guarantee.protects)))
    for assumption in guarantee.assumes:
        console.show(say("cli.query.assumes", assumption=assumption))
    price = _price(answer.epsilon, answer.delta)
    if answer.entry is None:
        console.show(say("cli.query.cost_nothing_as_only"))
    elif answer.stored:
        console.show(say("cli.query.cost_nothing_now_when", price=price, entry=answer.entry))
        console.show(say("cli.query.rows_may_have_changed", stored_note=answer.stored_note))
    else:
        console.show(say("cli.query.cost_entry_ledger", price=price, entry=answer.entry))
    for name, price_left in left.items():
        key = "cli.query.left" if name == "total" else "cli.query.left_to"
        console.show(say(key, name=name, price=price_left))
    if answer.head is not None:
        console.show(say("cli.query.head_ledger", head=answer.head))
    certificate = None if output is None else certificate_path(output)
    console.show_files({"release": output, "certificate": certificate, "report": report})
    console.show(str(answer), strong=True)


def _show_rows(answer: QueryAnswer) -> None:
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
    shown = zip(answer.rows[:MOST_SHOWN], answer.intervals, answer.noise_only, strict=False)
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
