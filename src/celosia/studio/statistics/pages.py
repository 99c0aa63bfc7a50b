"""The statistics: every published result that we build on, beside ours."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import urlencode

from nicegui import ui

from celosia import lab
from celosia.studio import stored_json
from celosia.studio.language import _, figure, n_, number, percent
from celosia.studio.runtime import studio
from celosia.studio.shell import page
from celosia.studio.statistics import jobs
from celosia.studio.statistics.model import (
    COMPARED,
    RISKS,
    Measure,
    compared,
    families,
    file_name,
    measures,
    shipped,
    shown,
    unchecked_runs,
)
from celosia.studio.widgets import chart
from celosia.studio.widgets.code import show_code
from celosia.studio.widgets.job_progress import start
from celosia.studio.widgets.table import key_figures, show_table
from celosia.studio.widgets.text import heading, lead, main_heading, notice, quiet
from celosia.studio.worker import task

NAMES = {
    "tables": "Tables",
    "mechanisms": "Mechanisms",
    "sql": "Private SQL",
    "sparql": "Private SPARQL",
    "collect": "Collect",
    "masking": "Masking",
    "graphs": "Graphs",
    "texts": "Documents",
    "traces": "Traces",
    "logs": "Logs",
}
LISTED = ("run", "cell", "published", "expected", "computed")
MOST_LISTED = 500
"""Cells in the list of one page; all are in the file."""


@page("/statistics", "Statistics", door="/statistics")
def overview() -> None:
    """All studies by family."""
    main_heading("Statistics")
    lead(
        "Celosía builds on published results, and computes every one of them again. Choose a "
        "study to see the published numbers beside ours."
    )
    _three_models()
    for family, studies in families().items():
        heading(NAMES.get(family, family))
        with ui.element("div").classes("celosia-cards"):
            for study in studies:
                _card(study)


def _three_models() -> None:
    """One chart of loss and risk for k-anonymity, l-diversity and t-closeness together."""
    heading("k-anonymity, l-diversity and t-closeness together")
    quiet(
        "The published experiments on one census, without a limit of suppression. Each point is a "
        "release: the further left, the less is lost; the lower, the smaller the risk. "
        "l-diversity and t-closeness are asked for together with k = 5."
    )
    risks = {
        "lab.tables.average_risk": _("Average risk (%)"),
        "lab.tables.maximum_risk": _("Highest risk (%)"),
        "lab.tables.at_risk": _("Records at risk (%), in classes of fewer than ten"),
    }
    choice = ui.select(risks, value=RISKS[0], label=_("Risk")).style("min-width: 20rem")
    choice.props('data-test="risk"')
    place = ui.element("div").classes("w-full").props('data-test="three-models"')

    def draw() -> None:
        place.clear()
        with place:
            _draw_models(choice.value, risks[choice.value])

    choice.on_value_change(draw)
    draw()


def _draw_models(risk: str, name: str) -> None:
    models = [("k-anonymity", "emptyCircle"), ("l-diversity", "rect"), ("t-closeness", "triangle")]
    series: list[chart.Option] = []
    rows: list[tuple[str, str, float, float]] = []
    for (model, symbol), study in zip(models, COMPARED, strict=True):
        points = compared(_kept(study) or {"rows": []}, risk)
        rows += [(_(model), each.run, each.loss, each.risk) for each in points]
        series.append(
            {
                "type": "line",
                "name": _(model),
                "symbol": symbol,
                "symbolSize": 10,
                "data": [{"value": [each.loss, each.risk], "name": each.run} for each in points],
                "label": {"show": True, "formatter": "{b}", "color": chart.TEXT},
                "labelLayout": {"hideOverlap": True},
            }
        )
    chart.chart(
        {
            "legend": {"data": [_(model) for model, _symbol in models]},
            "xAxis": chart.axis(_("Loss (%)"), scale=True),
            # Risks of a release and of another differ tenfold; a risk of 0 has no logarithm.
            "yAxis": chart.axis(name, kind="log" if all(row[-1] > 0 for row in rows) else "value"),
            "series": series,
        },
        description=_(
            "Loss and risk of {count} releases: one line for each model, one point for each "
            "parameter.",
            count=number(len(rows)),
        ),
        columns=[_("Model"), _("Parameter"), _("Loss (%)"), name],
        rows=rows,
        height="26rem",
    )


def _card(study: lab.Study) -> None:
    found = _kept(study.name)
    with (
        ui.link(target=f"/statistics/{study.name}")
        .classes("celosia-card q-pa-md")
        .style("text-decoration: none; display: block")
    ):
        heading(study.title, 3).classes("q-mt-none")
        if found is None:
            quiet("Not computed yet on this machine")
        else:
            ui.label(_agreement(found)).style("color: var(--ink)")


@page("/statistics/{name:path}", "Statistics", door="/statistics")
def one_study(name: str, measure: str = "") -> None:
    """One study: where it comes from, what agrees, each measure as a chart, and all cells."""
    study = lab.find(name)
    main_heading(study.title)
    lead("Source: {source}", source=_(study.source))
    quiet("A cell counts as the same when: {rules}", rules=_(study.rules))
    results = ui.column().classes("w-full q-my-md")

    def show(found: dict[str, Any]) -> None:
        with results:
            _results(found, measure)

    def compute() -> None:
        button.delete()
        results.clear()
        with results:
            start(
                _(study.title),
                task(jobs.run, study=name, folder=str(_folder())),
                on_done=show,
                address=f"/statistics/{name}",
            )

    found = _kept(name)
    if found is not None:
        quiet(
            "Computed on this machine."
            if _own(name) is not None
            else "Computed when this version of Celosía was made."
        ).move(target_index=3)
        show(found)
    button = ui.button(
        _("Compute the published numbers again"), icon="play_arrow", on_click=compute
    ).props('data-test="compute"')
    if found is not None:
        button.props("outline")
    show_code(
        [
            (_("Command line"), f"celosia lab run {name} --report report.html"),
            ("Python", f'from celosia import lab\n\nprint(lab.find("{name}").run())'),
        ]
    )


def _results(found: dict[str, Any], chosen: str) -> None:
    wrong = sum(bool(row["wrong"]) for row in found["rows"])
    key_figures(
        [
            figure("Cells", number(found["checked"]), "numbers that were computed again"),
            (_("They agree"), number(found["matched"]), _agreement(found)),
            figure("Proved wrong", number(wrong), "published numbers, each with the reason"),
        ]
    )
    absent = unchecked_runs(found["rows"])
    if absent:
        runs = ", ".join(shown(run) for run in absent)
        notice("Not checked, and not counted as matching: {runs}.", runs=runs)
    all_measures = measures(found["rows"])
    drawn = [each for each in all_measures if each.is_number and len(each.runs) > 1]
    if drawn:
        heading("Published beside reproduced", 2)
        names = [each.name for each in drawn]
        first = chosen if chosen in names else names[0]
        select = ui.select(
            {name: shown(name) for name in names}, value=first, label=_("Measure")
        ).classes("w-full")
        picture = ui.column().classes("w-full")

        def show(name: str) -> None:
            picture.clear()
            with picture:
                _draw(next(each for each in drawn if each.name == name))

        def chose(name: str) -> None:
            where = f"/statistics/{found['study']}?{urlencode({'measure': name})}"
            ui.navigate.history.replace(where)
            show(name)

        select.on_value_change(lambda event: chose(event.value))
        show(first)
    heading("All cells", 2)
    rows = found["rows"]
    with ui.expansion(n_("{count} cell", "{count} cells", len(rows)), icon="table_rows").classes(
        "w-full"
    ):
        show_table(
            [
                *(_("Run"), _("Measure"), _("Published"), _("Expected"), _("Computed")),
                *(_("Agree"), _("Remark")),
            ],
            [
                [*(_listed(each[key]) for key in LISTED), each["matches"], _remark(each)]
                for each in rows[:MOST_LISTED]
            ],
        )
    ui.button(
        _("Download all cells (JSON)"),
        icon="download",
        on_click=lambda: ui.download.content(
            json.dumps(found, indent=2), file_name(found["study"]), "application/json"
        ),
    ).props("flat")


def _listed(value: Any) -> Any:
    return "" if value is None else shown(value)


def _remark(row: dict[str, Any]) -> str:
    """Why a published number is wrong, why nothing was compared, or how the tolerance follows."""
    return str(shown(row["wrong"] or row["not_run"] or row["tolerance"]["why"]))


def _draw(measure: Measure) -> None:
    name = shown(measure.name)
    words = (
        "{measure} of {runs} runs, published and computed: {matched} of {runs} agree."
        if measure.is_published
        else "{measure} of {runs} runs, expected and computed: {matched} of {runs} agree."
    )
    description = _(
        words,
        measure=name,
        runs=number(len(measure.runs)),
        matched=number(measure.matched),
    )
    chart.bars(
        [shown(run) for run in measure.runs],
        [
            (_("Published") if measure.is_published else _("Expected"), measure.published),
            (_("Computed"), measure.computed),
        ],
        description=description,
        x=_("Run"),
        y=_("{measure}, logarithmic", measure=name) if measure.is_wide else name,
        log_y=measure.is_wide,
    )
    ui.label(description).classes("celosia-quiet")


def _agreement(found: dict[str, Any]) -> str:
    share = found["matched"] / found["checked"] if found["checked"] else 0.0
    return _("{share} of the numbers are reproduced", share=percent(share))


def _folder() -> Any:
    return studio().folder / "lab"


def _kept(study: str) -> dict[str, Any] | None:
    """What is known of a study: computed here, or shipped."""
    return _own(study) or shipped(study)


def _own(study: str) -> dict[str, Any] | None:
    """What was computed for this study since the studio was started."""
    path = _folder() / file_name(study)
    if not path.is_file():
        return None
    found: dict[str, Any] = stored_json.loads(path.read_text("utf-8"))
    return found
