"""Query: what was spent, by which questions, and what is left of the budget."""

from __future__ import annotations

from typing import Any

from nicegui import ui

from celosia.queries.execution import ANYBODY
from celosia.studio.language import _, figure, n_, number, short
from celosia.studio.query import jobs, model
from celosia.studio.visitors import Work
from celosia.studio.widgets import chart
from celosia.studio.widgets.code import show_code
from celosia.studio.widgets.empty import draw_empty
from celosia.studio.widgets.job_progress import start
from celosia.studio.widgets.method_form import downloads
from celosia.studio.widgets.table import key_figures, show_table
from celosia.studio.widgets.text import heading, quiet
from celosia.studio.worker import task


def show_account(work: Work, found: dict[str, Any]) -> None:
    """The budget that is left, question by question; says so where none was asked."""
    if found["market"] is not None:
        _show_market(work, found["market"])
    if not found["begun"] or not found["records"]:
        draw_empty("ledger")
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
    is_named = any(each["analyst"] is not None for each in found["records"])
    if is_sold:
        ui.label(_("Owed in money for all answers: {amount}", amount=found["owed"]))
    with ui.element("div").classes("celosia-preview w-full"):
        show_table(
            [
                "",
                *([_("Analyst")] if is_named else []),
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
                    *([analyst_name(each["analyst"])] if is_named else []),
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


def _show_market(work: Work, market: dict[str, Any]) -> None:
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
    if market["analysts"]:
        _invoices(work, market)


def analyst_name(name: str | None) -> str:
    """An analyst; one without a name is anybody."""
    return _("anybody") if name in (None, ANYBODY) else str(name)


def _invoices(work: Work, market: dict[str, Any]) -> None:
    """An invoice to take away, of one analyst and of one month or of all."""
    heading("Invoices", 3)
    with ui.row().classes("items-center"):
        names = {each: analyst_name(each) for each in market["analysts"]}
        who = ui.select(names, label=_("Analyst"), value=market["analysts"][0])
        who.style("width: 16rem")
        months = {"": _("all months"), **{each: each for each in market["months"]}}
        month = ui.select(months, label=_("Month (UTC)"), value="").style("width: 10rem")
        button = ui.button(_("Make the invoice"), icon="receipt_long").props("outline")
        button.props["data-test"] = "make-invoice"
    place = ui.column().classes("w-full")

    def make() -> None:
        analyst, period = str(who.value), str(month.value) or None
        place.clear()
        with place:
            start(
                _("Make the invoice"),
                task(jobs.invoice, folder=str(work.folder), analyst=analyst, month=period),
                on_done=lambda made: shown(made, analyst, period),
            )

    def shown(made: dict[str, Any], analyst: str, period: str | None) -> None:
        total = f"{made['total']} {made['currency']}"
        text = n_("{count} answer", "{count} answers", len(made["sales"]))
        key_figures([(analyst_name(analyst), total, text)])
        downloads(
            work.id,
            [
                (
                    f"{model.INVOICE}.html",
                    "receipt_long",
                    _("Invoice"),
                    _("every answer with its entry of the ledger and its price"),
                ),
                (f"{model.INVOICE}.json", "data_object", "JSON", _("the same for programs")),
            ],
        )
        show_code([(_("Command line"), model.invoice_command(analyst, period))])

    button.on_click(make)


def _state_label(status: str) -> str:
    """What became of a question, in words."""
    labels = {"sealed": _("answered"), "reserved": _("reserved"), "failed": _("failed")}
    return labels.get(status, status)


def _when(at: str) -> str:
    """A moment to the minute, as the ledger has it."""
    return at[:16].replace("T", " ")
