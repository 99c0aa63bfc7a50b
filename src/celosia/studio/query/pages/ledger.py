"""Query: what was spent, by which questions, and what is left of the budget."""

from __future__ import annotations

from typing import Any

from nicegui import ui

from celosia.studio.language import _, figure, number, short
from celosia.studio.widgets import chart
from celosia.studio.widgets.table import key_figures, show_table
from celosia.studio.widgets.text import heading, quiet


def show_account(found: dict[str, Any]) -> None:
    """The budget that is left, question by question; says so where none was asked."""
    if found["market"] is not None:
        _show_market(found["market"])
    if not found["begun"] or not found["records"]:
        quiet("Nothing was spent yet. The ledger begins with the first question.")
        return
    left_after, told = found["left_after"], found["left_as"]
    total, left = left_after[0], left_after[-1]
    mean = (total - left) / len(found["records"])
    key_figures(
        [
            figure("Left", f"epsilon {short(left)}", "of {total} in all", total=short(total))
            if told is None
            else figure(
                "Left", f"{short(left)} %", "of the budget: {amounts}", amounts=amounts(told)
            ),
            figure(
                "Questions at the same price",
                number(int(left / mean)) if mean > 0 else "",
                "that could still be paid, if they cost what the others did",
            ),
            figure("Chain", f"{found['head'][:12]}…", "every entry is as it was written"),
        ]
    )
    chart.bars(
        [number(place) for place in range(len(left_after))],
        [(_("Left"), left_after)],
        description=_("The budget that is left after each question."),
        x=_("Questions"),
        y=_("epsilon left") if told is None else _("left of the budget, %"),
        height="14rem",
    )
    is_sold = any(each["price"] is not None for each in found["records"])
    if is_sold:
        ui.label(_("Owed in money for all answers: {amount}", amount=found["owed"]))
    with ui.element("div").classes("celosia-preview w-full"):
        show_table(
            [
                "",
                _("Question"),
                "epsilon",
                "delta",
                _("When (UTC)"),
                _("State"),
                *([_("Price in money")] if is_sold else []),
            ],
            [
                [
                    place,
                    each["question"],
                    each["epsilon"],
                    f"{each['delta']:g}",
                    _when(each["at"]),
                    _state_label(each["status"]),
                    *([each["price"] or ""] if is_sold else []),
                ]
                for place, each in enumerate(found["records"], start=1)
            ],
        )
    with ui.expansion(_("Questions, as they were understood"), icon="schema").classes("w-full"):
        show_table(
            ["", _("Question, as it was understood")],
            [[at, each["understood"]] for at, each in enumerate(found["records"], start=1)],
        )


def amounts(told: dict[str, float | None]) -> str:
    """Amounts of a budget in another currency than epsilon, with the epsilon that they give."""
    listed = [
        f"{name} {short(amount)}"
        for name, amount in told.items()
        if amount is not None and name not in {"delta", "as_epsilon", "at_delta"}
    ]
    promise = _(
        "epsilon {epsilon} at delta {delta}",
        epsilon=short(told["as_epsilon"] or 0.0),
        delta=f"{told['at_delta'] or 0.0:g}",
    )
    return f"{', '.join(listed)} ({promise})"


def _show_market(market: dict[str, Any]) -> None:
    """The price list, and what the people in the data are paid."""
    heading("Market", 3)
    shared = market["compensation"]
    key_figures(
        [
            figure("Owed by analysts", f"{market['owed']} {market['currency']}", "for all answers"),
            *(
                []
                if shared is None
                else [
                    figure(
                        "Each person may claim",
                        f"{shared['per_person']} {market['currency']}",
                        "the same for all {people} people, from public facts only",
                        people=number(shared["people"]),
                    )
                ]
            ),
        ]
    )
    show_table(
        ["epsilon", _("Price in {currency}", currency=market["currency"])],
        [[short(epsilon), price] for epsilon, price in market["prices"]],
        caption=_("The list price of one answer; buying it in parts is never cheaper"),
    )


def _state_label(status: str) -> str:
    """What became of a question, in words."""
    labels = {"sealed": _("answered"), "reserved": _("reserved"), "failed": _("failed")}
    return labels.get(status, status)


def _when(at: str) -> str:
    """A moment to the minute, as the ledger has it."""
    return at[:16].replace("T", " ")
