"""The report of a sweep: lines along what was varied, histograms of the data, and every point."""

from __future__ import annotations

from celosia.collect.simulation.report import number
from celosia.collect.sweeps.charts import Chart, charts
from celosia.collect.sweeps.options import SweepPoint
from celosia.collect.sweeps.results import LABELS, PointResult, Sweep
from celosia.core import figures, report
from celosia.core.messages import say, sentence

MOST_ROWS = 1000


def document(found: Sweep) -> report.Document:
    """The whole report, as blocks."""
    heads, rows = point_table(found)
    blocks: list[report.Block] = [
        report.Notice(say("collect.simulation_report.no_privacy"), tone="simulation"),
        *(
            report.Notice(
                say("collect.sweep.left_out", point=point_text(each.point), reason=each.reason),
                tone="info",
            )
            for each in found.left_out
        ),
        report.Heading(say("collect.sweep.charts")),
        *(_figure(each) for each in charts(found)),
        report.Heading(say("collect.sweep.data")),
        *(_histogram(name, listed) for name, listed in found.histograms.items()),
        report.Heading(say("collect.sweep.points")),
        report.Table(
            heads,
            rows[:MOST_ROWS],
            say("collect.sweep.points_caption"),
            numeric=range(1, len(heads)),
        ),
    ]
    return report.Document(say("collect.sweep.title"), sentence(str(found)), tuple(blocks))


def point_table(
    found: Sweep, shown: tuple[str, ...] = tuple(LABELS)
) -> tuple[list[str], list[list[str]]]:
    """Heads and rows of the table of points: the protocol, what differs, and what is measured."""
    all_names = {name: None for each in found.points for name in each.point.coordinates()}
    names = [
        "protocol",
        *(each for each in all_names if each != "protocol" and _differs(found, each)),
    ]
    heads = [*names, *(say(LABELS[name]) for name in shown)]
    return heads, [_point_row(each, names, shown) for each in found.points]


def _differs(found: Sweep, name: str) -> bool:
    return len({each.point.coordinates().get(name) for each in found.points}) > 1


def _point_row(result: PointResult, names: list[str], shown: tuple[str, ...]) -> list[str]:
    own, mean = result.point.coordinates(), result.mean
    cells = [own.get(name, "") for name in names]
    measured: list[float | None] = [getattr(mean, name) for name in shown]
    return [
        *(each if isinstance(each, str) else number(each) for each in cells),
        *("" if each is None else number(each) for each in measured),
    ]


def point_text(point: SweepPoint) -> str:
    """A point in a line."""
    return ", ".join(f"{name}={value}" for name, value in point.coordinates().items())


def _figure(chart: Chart) -> report.Figure:
    drawn = figures.lines(
        chart.places,
        dict(chart.lines),
        x_label=str(chart.x_label),
        y_label=str(chart.y_label),
        log=chart.log_y,
        log_x=chart.log_x,
    )
    words = "; ".join(
        f"{name}: "
        + ", ".join(f"{number(x)}: {number(y)}" for x, y in zip(chart.places, line, strict=True))
        for name, line in chart.lines
    )
    return report.Figure(drawn, str(chart.title), words)


def _histogram(name: str, listed: tuple[tuple[str, int], ...]) -> report.Figure:
    drawn = figures.bars(
        [value for value, _ in listed],
        {say("collect.sweep.users"): [users for _, users in listed]},
        x_label=say("collect.simulation_report.value"),
        y_label=say("collect.sweep.users"),
    )
    words = "; ".join(f"{value}: {users:,}" for value, users in listed)
    return report.Figure(drawn, say("collect.sweep.histogram", data=name), words)
