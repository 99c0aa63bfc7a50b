"""The report of a simulation: estimates beside the truth, errors, and how long it took."""

from __future__ import annotations

from math import inf

from celosia.collect.simulation.results import Element, Simulation
from celosia.core import figures
from celosia.core.report import (
    Block,
    Document,
    Facts,
    Figure,
    Heading,
    KeyFigure,
    KeyFigures,
    Notice,
    Paragraph,
    Table,
)
from celosia.core.wording import counted, sentence

MOST_BARS = 30
MOST_ROWS = 1000
NORMAL_95 = 1.96
"""Standard errors to either side that hold the truth 19 times of 20."""
CAREFUL = (
    "Read several of them together: squared errors are those of the few values that are farthest "
    "off, averages say little about rare values, and the correlation is high as soon as the common "
    "values are right."
)


def document(found: Simulation) -> Document:
    """The whole report, as blocks."""
    blocks: list[Block] = [
        Notice("Made from known values: no privacy is protected here.", tone="simulation"),
        *(Notice(note, tone="info") for note in found.notes),
        Heading("In short"),
        _cards(found),
        *_plot(found.elements),
        Heading("Value by value"),
        Table(
            ["value", "real", "estimated", "share", "difference", "standard error"],
            element_rows(found)[:MOST_ROWS],
            "Real and estimated counts" if not found.is_mean else "The real and the estimated mean",
            numeric=range(1, 6),
        ),
        Heading("Errors"),
        Table(["", "value"], metric_rows(found), "Errors over all values", numeric=(1,)),
        Paragraph(CAREFUL),
        Heading("Time and size"),
        Table(["", "value"], timing_rows(found), "What each side took", numeric=(1,)),
        Heading("How it was made"),
        Facts(_provenance(found)),
    ]
    return Document(f"Simulation of {found.name}", sentence(str(found)), tuple(blocks))


def element_rows(found: Simulation) -> list[list[str]]:
    """The values as texts; a mean has no share."""
    return [
        [
            str(each.value),
            number(each.real),
            number(each.estimated),
            "" if found.is_mean else f"{each.estimated / found.users:.3%}",
            f"{'+' if each.difference > 0 else ''}{number(each.difference)}",
            number(each.error),
        ]
        for each in found.elements
    ]


def metric_rows(found: Simulation) -> list[list[str]]:
    """The table of errors as texts."""
    metrics = found.metrics
    rows: list[tuple[str, float | None]] = [
        ("sum of all errors", metrics.errors),
        ("mean error", metrics.mean_error),
        ("mean error, percent of all users", metrics.percent_error),
        ("MSE", metrics.mse),
        ("RMSE", metrics.rmse),
        ("RMSE predicted by the formulas", found.predicted_rmse),
        ("nMSE (MSE / range)", metrics.nmse),
        ("nRMSE (RMSE / range)", metrics.nrmse),
        ("root of nMSE (printed as nRMSE in tables)", metrics.table_nrmse),
        ("Pearson r, value by value", metrics.pearson),
        (f"precision of the top {metrics.top}", metrics.top_precision),
        ("median relative error", metrics.relative_error),
    ]
    if found.runs > 1:
        rows.insert(5, (f"RMSE of all {found.runs:,} runs", found.pooled_rmse))
    if found.is_mean:
        rows = [each for each in rows if each[0].startswith(("RMSE", "MSE", "mean error"))]
    return [[name, number(value)] for name, value in rows if value is not None]


def timing_rows(found: Simulation) -> list[list[str]]:
    """The table of times as texts."""
    timing = found.timing
    rows = []
    if timing.client_us is not None and timing.server_us is not None:
        rows += [
            ["client, for each user", f"{timing.client_us:,.3g} µs"],
            ["server, for each report", f"{timing.server_us:,.3g} µs"],
        ]
    if timing.aggregate_ms is not None:
        rows.append(["drawing aggregates", f"{timing.aggregate_ms:,.4g} ms"])
    does = "finding and estimating values" if found.found else "all estimates"
    bits, whole_bytes = timing.report_bits, -(-timing.report_bits // 8)
    size = f"{counted(bits, 'bit', 'bits')} ({counted(whole_bytes, 'byte', 'bytes')})"
    return [*rows, [does, f"{timing.estimate_ms:,.4g} ms"], ["size of a report", size]]


def number(value: float) -> str:
    """A number of a table: whole from 1,000 on, four digits below.

    >>> number(1234.56), number(0.012345), number(20.0)
    ('1,235', '0.01235', '20')
    """
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def _cards(found: Simulation) -> KeyFigures:
    predicted = found.predicted_rmse
    predicted_text = "" if predicted is None else f"{number(predicted)} predicted"
    return KeyFigures(
        [
            KeyFigure("Users", f"{found.users:,}", counted(found.runs, "run", "runs")),
            KeyFigure("Epsilon", f"{found.report_epsilon:.4g}", "of each report"),
            KeyFigure("RMSE", number(found.pooled_rmse), predicted_text),
            KeyFigure("Report", f"{found.timing.report_bits:,}", "each", "bits"),
        ]
    )


def _plot(elements: tuple[Element, ...]) -> list[Block]:
    shown = elements[:MOST_BARS]
    if not shown:
        return [Paragraph("The server found no value that is surely common.")]
    chart = figures.estimates(
        [str(each.value) for each in shown],
        [each.real for each in shown],
        [each.estimated for each in shown],
        [NORMAL_95 * each.error for each in shown],
    )
    words = "; ".join(
        f"{each.value}: {number(each.real)} real, {number(each.estimated)} estimated"
        for each in shown
    )
    also = (
        f", the {MOST_BARS} most common of {len(elements):,}" if len(elements) > MOST_BARS else ""
    )
    return [Figure(chart, f"Real and estimated, with 95 % error bars{also}", words)]


def _provenance(found: Simulation) -> list[tuple[str, str]]:
    lasting = found.lasting_epsilon
    parts = [(str(name), str(value)) for name, value in found.protocol.items()]
    return [
        *parts,
        ("Epsilon of one report", f"{found.report_epsilon:.6g}"),
        (
            "Epsilon of all reports of one person",
            "no limit: every report costs again" if lasting == inf else f"{lasting:.6g}",
        ),
        ("Seed", "none" if found.seed is None else str(found.seed)),
    ]
