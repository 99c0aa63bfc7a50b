"""The report of a simulation: estimates beside the truth, errors, and how long it took."""

from __future__ import annotations

from math import inf

from celosia.collect.simulation.results import Element, Simulation
from celosia.core import figures, report
from celosia.core.messages import say, sentence

MOST_BARS = 30
MOST_ROWS = 1000
NORMAL_95 = 1.96
"""Standard errors to either side that hold the truth 19 times of 20."""


def document(found: Simulation) -> report.Document:
    """The whole report, as blocks."""
    blocks: list[report.Block] = [
        report.Notice(say("collect.simulation_report.no_privacy"), tone="simulation"),
        *(report.Notice(str(note), tone="info") for note in found.notes),
        report.Heading(say("collect.simulation_report.in_short")),
        _cards(found),
        *_plot(found.elements),
        report.Heading(say("collect.simulation_report.by_value")),
        report.Table(
            [
                say("collect.simulation_report.value"),
                say("collect.simulation_report.real"),
                say("collect.simulation_report.estimated"),
                say("collect.simulation_report.share"),
                say("collect.simulation_report.difference"),
                say("collect.simulation_report.standard_error"),
            ],
            element_rows(found)[:MOST_ROWS],
            say("collect.simulation_report.mean_caption")
            if found.is_mean
            else say("collect.simulation_report.counts_caption"),
            numeric=range(1, 6),
        ),
        report.Heading(say("collect.simulation_report.errors")),
        _figures(metric_rows(found), say("collect.simulation_report.errors_caption")),
        report.Paragraph(say("collect.simulation_report.careful")),
        report.Heading(say("collect.simulation_report.time_and_size")),
        _figures(timing_rows(found), say("collect.simulation_report.time_caption")),
        report.Heading(say("collect.simulation_report.made")),
        report.Facts(_provenance(found)),
    ]
    title = say("collect.simulation_report.title", protocol=found.name)
    return report.Document(title, sentence(str(found)), tuple(blocks))


def _figures(rows: list[list[str]], caption: str) -> report.Table:
    return report.Table(["", say("collect.simulation_report.value")], rows, caption, numeric=(1,))


def element_rows(found: Simulation) -> list[list[str]]:
    """The values as texts; a mean has no share."""
    return [
        [
            str(each.value),
            number(each.real),
            number(each.estimated),
            "" if found.is_mean else _shown(each.estimated / found.users, ".3%"),
            f"{'+' if each.difference > 0 else ''}{number(each.difference)}",
            number(each.error),
        ]
        for each in found.elements
    ]


def metric_rows(found: Simulation) -> list[list[str]]:
    """The table of errors as texts."""
    metrics = found.metrics
    pooled = found.pooled_rmse if found.runs > 1 else None
    rows: list[tuple[str, float | None]] = [
        (say("collect.metric.mean_error"), metrics.mean_error),
        (say("collect.metric.percent_error"), metrics.percent_error),
        (say("collect.metric.mse"), metrics.mse),
        (say("collect.metric.rmse"), metrics.rmse),
        (say("collect.metric.pooled_rmse", runs=found.runs), pooled),
        (say("collect.metric.predicted_rmse"), found.predicted_rmse),
    ]
    if not found.is_mean:
        rows = [
            (say("collect.metric.errors"), metrics.errors),
            *rows,
            (say("collect.metric.nmse"), metrics.nmse),
            (say("collect.metric.nrmse"), metrics.nrmse),
            (say("collect.metric.table_nrmse"), metrics.table_nrmse),
            (say("collect.metric.pearson"), metrics.pearson),
            (say("collect.metric.top_precision", top=metrics.top), metrics.top_precision),
            (say("collect.metric.relative_error"), metrics.relative_error),
        ]
    return [[name, number(value)] for name, value in rows if value is not None]


def timing_rows(found: Simulation) -> list[list[str]]:
    """The table of times as texts."""
    timing = found.timing
    rows = []
    if timing.client_us is not None and timing.server_us is not None:
        rows += [
            [say("collect.simulation_report.client"), f"{_shown(timing.client_us, ',.3g')} µs"],
            [say("collect.simulation_report.server"), f"{_shown(timing.server_us, ',.3g')} µs"],
        ]
    if timing.aggregate_ms is not None:
        rows.append(
            [
                say("collect.simulation_report.aggregates"),
                f"{_shown(timing.aggregate_ms, ',.4g')} ms",
            ]
        )
    does = (
        say("collect.simulation_report.finding")
        if found.found
        else say("collect.simulation_report.estimating")
    )
    bits, whole_bytes = timing.report_bits, -(-timing.report_bits // 8)
    size = say("collect.simulation_report.size", bits=bits, bytes=whole_bytes)
    return [
        *rows,
        [does, f"{_shown(timing.estimate_ms, ',.4g')} ms"],
        [say("collect.simulation_report.report_size"), size],
    ]


def number(value: float) -> str:
    """A number of a table: whole from 1,000 on, four digits below.

    >>> number(1234.56), number(0.012345), number(20.0)
    ('1,235', '0.01235', '20')
    """
    return _shown(value, ",.0f" if abs(value) >= 1000 else ".4g")


def _shown(value: float, form: str) -> str:
    return say("collect.number", value=value, form=form)


def _cards(found: Simulation) -> report.KeyFigures:
    predicted = found.predicted_rmse
    predicted_text = (
        ""
        if predicted is None
        else say("collect.simulation_report.predicted", rmse=number(predicted))
    )
    return report.KeyFigures(
        [
            report.KeyFigure(
                say("collect.simulation_report.users"),
                _shown(found.users, ","),
                say("collect.simulation_report.runs", runs=found.runs),
            ),
            report.KeyFigure(
                say("collect.simulation_report.epsilon"),
                _shown(found.report_epsilon, ".4g"),
                say("collect.simulation_report.of_each_report"),
            ),
            report.KeyFigure(
                say("collect.simulation_report.rmse"), number(found.pooled_rmse), predicted_text
            ),
            report.KeyFigure(
                say("collect.simulation_report.report"),
                _shown(found.timing.report_bits, ","),
                say("collect.simulation_report.each"),
                say("collect.simulation_report.bits"),
            ),
        ]
    )


def _plot(elements: tuple[Element, ...]) -> list[report.Block]:
    shown = elements[:MOST_BARS]
    if not shown:
        return [report.Paragraph(say("collect.simulation_report.none_found"))]
    chart = figures.estimates(
        [str(each.value) for each in shown],
        [each.real for each in shown],
        [each.estimated for each in shown],
        [NORMAL_95 * each.error for each in shown],
    )
    words = "; ".join(
        say(
            "collect.simulation_report.point",
            value=each.value,
            real=number(each.real),
            estimated=number(each.estimated),
        )
        for each in shown
    )
    caption = say("collect.simulation_report.chart_caption")
    if len(elements) > MOST_BARS:
        caption = say(
            "collect.simulation_report.chart_caption_most", shown=MOST_BARS, values=len(elements)
        )
    return [report.Figure(chart, caption, words)]


def _provenance(found: Simulation) -> list[tuple[str, str]]:
    lasting = found.lasting_epsilon
    parts = [(str(name), str(value)) for name, value in found.protocol.items()]
    return [
        *parts,
        (say("collect.simulation_report.epsilon_of_one"), _shown(found.report_epsilon, ".6g")),
        (
            say("collect.simulation_report.epsilon_of_all"),
            say("collect.simulation_report.no_limit") if lasting == inf else _shown(lasting, ".6g"),
        ),
        (
            say("collect.simulation_report.seed"),
            say("collect.simulation_report.no_seed") if found.seed is None else str(found.seed),
        ),
    ]
