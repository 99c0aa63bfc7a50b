"""Collect, live: browsers report with the JavaScript client, and only reports come here."""

from __future__ import annotations

import json
from html import escape
from typing import Any

from nicegui import app, ui
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response

from celosia.collect.clients.files import JAVASCRIPT, shipped
from celosia.core.errors import InputError
from celosia.studio.collect.surveys import SURVEYS, Survey, SurveyForm
from celosia.studio.language import _, figure, number, percent
from celosia.studio.shell import page
from celosia.studio.widgets import chart
from celosia.studio.widgets.code import show_code
from celosia.studio.widgets.live import follow_changes
from celosia.studio.widgets.table import key_figures, show_table
from celosia.studio.widgets.text import heading, lead, main_heading, quiet

CLIENT = "/collect/client.mjs"
SCRIPT = """<script type="module">
import {{ BudgetSpent, Client, IndexedMemory }} from "{client}";
const parameters = {parameters}, words = {words};
let report = null;
document.addEventListener("click", async (event) => {{
  const button = event.target.closest("#celosia-send");
  const chosen = document.querySelector("input[name=celosia-answer]:checked");
  if (!button || !chosen) return;
  const status = document.querySelector("#celosia-status");
  button.disabled = true;
  try {{
    const memory = await IndexedMemory.open(parameters.fingerprint, parameters.price);
    const device = new Client(parameters, {{ memory }});
    report ??= await device.report(parameters.domain[Number(chosen.value)]);
    await device.send("{address}", [report]);
    const bits = [...report].map((byte) => byte.toString(2).padStart(8, "0")).join(" ");
    status.textContent = words.sent.replace("BITS", bits);
  }} catch (error) {{
    status.textContent = error instanceof BudgetSpent ? words.spent : words.failed;
    button.disabled = error instanceof BudgetSpent;
  }}
}});
</script>"""


@page("/collect/live", "Live collection", door="/collect")
def begin() -> None:
    """What to ask."""
    main_heading("Ask the browsers in the room")
    lead(
        "Each browser draws its report itself and sends only that: the answer never leaves the "
        "phone or the computer. Open the studio to the network to let phones take part."
    )
    question = ui.input(_("Question"), value=_("How did you come here today?")).classes("w-full")
    answers = ui.textarea(
        _("Answers, one on each line"), value="\n".join(map(_, ("on foot", "by bike", "by car")))
    ).classes("w-full")
    epsilon = ui.number("epsilon", value=1.0, min=0.1, max=10, step=0.1)
    quiet("With a small epsilon each report says little, and the estimates need many reports.")

    def start() -> None:
        listed = tuple(each.strip() for each in answers.value.splitlines() if each.strip())
        try:
            form = SurveyForm(question.value or "", listed, float(epsilon.value or 0))
            survey = SURVEYS.start(form)
        except InputError as error:
            ui.notify(error.what, type="warning")
            return
        ui.navigate.to(f"/collect/live/{survey.id}")

    ui.button(_("Start the survey"), icon="play_arrow", on_click=start).classes("q-my-md")


@page("/collect/live/{survey}", "Live collection", door="/collect")
def watch(survey: str, request: Request) -> None:
    """The estimates, as reports come in."""
    found = SURVEYS.of(survey)
    main_heading(found.form.question)
    address = f"{str(request.base_url).rstrip('/')}/collect/live/{survey}/device"
    with ui.row().classes("items-center"):
        quiet("Open this address in each browser that takes part:")
        link = ui.link(address, address, new_tab=True).classes("celosia-break")
        link.props('data-test="device-address"')
    show_estimates(found)
    show_code([("JavaScript", _snippet(found))])


def show_estimates(found: Survey) -> None:
    """The bars of a survey with their table; they follow the reports."""
    figures = ui.column().classes("w-full")
    heading("Estimates", 2)
    bars = chart.chart(
        {
            "xAxis": chart.axis(_("Answer"), kind="category", data=list(found.form.answers)),
            "yAxis": chart.axis(_("Share of devices (%)")),
            "series": [],
        },
        description=_("Bars of the estimated share of each answer."),
    )
    table = ui.column().classes("w-full")
    follow_changes(lambda: found.reports, lambda: _show(found, bars, figures, table))


def _show(survey: Survey, bars: ui.echart, figures: ui.column, table: ui.column) -> None:
    rows = survey.shares() if survey.reports else []
    bars.options["series"] = [{"type": "bar", "data": [round(100 * row[1], 2) for row in rows]}]
    bars.update()
    figures.clear()
    with figures:
        key_figures(
            [
                figure("Reports so far", number(survey.reports), "one from each browser"),
                ("epsilon", number(survey.form.epsilon, 1), _("of one report")),
            ]
        )
    table.clear()
    with table:
        show_table(
            [_("Answer"), _("Estimate"), _("From"), _("To")],
            [[row[0], *(percent(each, 1) for each in row[1:])] for row in rows],
            caption=_("Shares of devices; the truth lies between From and To 19 times in 20"),
        )


def _snippet(survey: Survey) -> str:
    return (
        'import { Client } from "./celosia_client.mjs";\n\n'
        f"const parameters = {json.dumps(survey.parameters, ensure_ascii=False)};\n"
        "const device = new Client(parameters);\n"
        f'await device.send("/collect/live/{survey.id}", [await device.report('
        f"{json.dumps(survey.form.answers[0], ensure_ascii=False)})]);\n"
    )


@page("/collect/live/{survey}/device", "Your answer", door="/collect")
def device(survey: str) -> None:
    """A browser that takes part. Plain elements: the toolkit would tell the server each click."""
    found = SURVEYS.of(survey)
    main_heading(found.form.question)
    lead(
        "Your browser tosses coins, and sends the result instead of your answer. What you choose "
        "here stays in this browser."
    )
    choices = "".join(
        f'<p><label><input type="radio" name="celosia-answer" value="{at}"> {escape(text)}</label>'
        for at, text in enumerate(found.form.answers)
    )
    button = (
        f'<button id="celosia-send" class="q-btn q-pa-md">{escape(_("Send a report"))}</button>'
    )
    ui.html(
        f'<fieldset style="border: 0; font-size: 1.2rem">{choices}</fieldset>{button}'
        '<p id="celosia-status" role="status" class="celosia-quiet"></p>',
        sanitize=False,
    )
    words = {
        "sent": _("Sent. This is all that left your browser: {bits}", bits="BITS"),
        "spent": _("This browser has reported already: a second report would cost privacy again."),
        "failed": _("The report was not sent. Try again: the same report is sent."),
    }
    ui.add_body_html(
        SCRIPT.format(
            client=CLIENT,
            parameters=_inside_script(found.parameters),
            words=_inside_script(words),
            address=f"/collect/live/{found.id}",
        )
    )


def _inside_script(values: dict[str, Any]) -> str:
    """JSON that no text can end the script from within."""
    return json.dumps(values).replace("<", "\\u003c")


async def _client(_request: Request) -> Response:
    return PlainTextResponse(shipped(JAVASCRIPT), media_type="text/javascript")


async def _absorb(request: Request) -> Response:
    try:
        survey = SURVEYS.of(request.path_params["survey"])
        survey.absorb(await request.body(), request.headers.get("idempotency-key", ""))
    except InputError as error:
        return JSONResponse({"ok": False, "code": error.code, "error": error.what}, 422)
    return JSONResponse({"ok": True})


app.add_route(CLIENT, _client, methods=["GET"])
app.add_route("/collect/live/{survey}/v1/reports", _absorb, methods=["POST"])
