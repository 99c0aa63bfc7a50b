"""Collect: devices report before one's eyes, and the histogram comes out of the noise."""

from __future__ import annotations

from dataclasses import replace
from math import exp
from typing import Any

from nicegui import ui

from celosia.studio.collect import jobs
from celosia.studio.collect.model import DATA, MOST_DEVICES, PROTOCOLS, CollectionForm
from celosia.studio.language import _, figure, n_, number, percent, short
from celosia.studio.shell import page
from celosia.studio.widgets import chart
from celosia.studio.widgets.code import show_code
from celosia.studio.widgets.job_progress import start
from celosia.studio.widgets.table import key_figures, show_table
from celosia.studio.widgets.text import heading, lead, main_heading, quiet
from celosia.studio.worker import task

DATA_NAMES = {
    "letters": "Letters, some far more common than others",
    "exponential": "Numbers with an exponential distribution",
    "normal": "Numbers with a normal distribution",
    "anglicisms": "English words that Spanish speakers use",
}
PROTOCOL_NAMES = {
    "hcms": "Hadamard Count Mean Sketch (one bit and where it stands)",
    "cms": "Count Mean Sketch",
    "rappor": "RAPPOR",
    "dbitflip": "dBitFlip",
    "grr": "Generalised randomised response",
    "oue": "Optimised unary encoding",
    "sue": "Symmetric unary encoding",
    "olh": "Optimal local hashing",
    "hr": "Hadamard response",
    "ss": "Subset selection",
    "pgr": "Projective geometry response",
}
DEVICES = (1_000, 10_000, 50_000, 200_000, MOST_DEVICES)


@page("/collect", "Collect", door="/collect")
def simulator(
    data: str = "letters",
    protocol: str = "hcms",
    epsilon: float = 2.0,
    devices: int = 50_000,
    seed: int = 1,
) -> None:
    """The live simulation; all choices are in the address."""
    main_heading("Collect with local differential privacy")
    lead(
        "Each device randomises its value before it sends a report, so that no report "
        "reveals the value. The server never sees a value, but estimates the frequency "
        "of each one. Start the simulation and watch."
    )
    form = CollectionForm(data=data, protocol=protocol, epsilon=epsilon, devices=devices, seed=seed)
    _controls(form.nearest())
    ui.link(_("Compare all protocols"), "/collect/compare").classes("q-mt-lg block")
    ui.link(_("Sweep parameters"), "/collect/sweep").classes("block")
    ui.link(_("Ask the browsers in the room"), "/collect/live").classes("block")


def _controls(form: CollectionForm) -> None:
    with ui.element("div").classes("celosia-sides"):
        ui.select(
            {each: _(DATA_NAMES[each]) for each in DATA}, label=_("Values of the devices")
        ).bind_value(form, "data")
        ui.select(
            {each: _(PROTOCOL_NAMES[each]) for each in PROTOCOLS}, label=_("Protocol")
        ).bind_value(form, "protocol")
        sizes = sorted({*DEVICES, form.devices})
        ui.select({each: number(each) for each in sizes}, label=_("Devices")).bind_value(
            form, "devices"
        )
        with ui.column().classes("gap-0"):
            label = ui.label(_epsilon(form.epsilon))
            slider = ui.slider(min=0.1, max=10, step=0.1).bind_value(form, "epsilon")
            slider.props["aria-label"] = "epsilon"
            slider.on_value_change(lambda event: label.set_text(_epsilon(event.value)))
            quiet("stronger privacy on the left, more accurate estimates on the right")
    with ui.row().classes("q-my-md"):
        button = ui.button(_("Start the simulation"), icon="play_arrow")
        again = ui.button(_("New random seed"), icon="casino").props("flat")
        again.props["title"] = _("The same devices with another random seed")
    stage = ui.column().classes("w-full")
    address = ui.column().classes("w-full")

    def play() -> None:
        stage.clear()
        button.disable()
        again.disable()
        ui.navigate.history.replace(f"/collect?{form.query}")
        with stage:
            _CollectionView(replace(form), on_end=ended)
        address.clear()
        with address:
            show_code(
                [
                    (_("Command line"), form.command),
                    ("Python", form.python),
                ]
            )

    def ended() -> None:
        button.enable()
        again.enable()

    def shuffle() -> None:
        form.seed += 1
        play()

    button.on_click(play)
    again.on_click(shuffle)
    quiet(
        "This is a simulation on made-up values: the truth is known here, so that it can be "
        "drawn beside the estimates. A real server never sees it."
    )


def _epsilon(value: float) -> str:
    return _("Privacy of one report: epsilon = {epsilon}", epsilon=number(value, 1))


class _CollectionView:
    """The drawing of one collection while it goes on."""

    def __init__(self, form: CollectionForm, *, on_end: Any) -> None:
        self._form = form
        self._facts: dict[str, Any] = {}
        self._path: list[tuple[float, float, float]] = []
        self._figures = ui.column().classes("w-full")
        self._bars: ui.echart | None = None
        self._lines: ui.echart | None = None
        self._drawings = ui.element("div").classes("celosia-split")
        self._table = ui.column().classes("w-full")
        start(
            _("Devices report"),
            task(jobs.play, form=form),
            on_done=self._done,
            on_part=self._part,
            on_end=on_end,
            address="/collect",
        )

    def _part(self, part: dict[str, Any]) -> None:
        if "values" in part:
            self._facts = part
            return
        self._path.append((part["devices"], part["error"], part["expected"]))
        if self._bars is None or self._lines is None:
            with self._drawings:
                self._draw(part)
        else:
            _renew(self._bars, _bar_series(self._facts, part))
            _renew(self._lines, _line_series(self._path))
        self._figures.clear()
        with self._figures:
            self._tell(part)

    def _draw(self, part: dict[str, Any]) -> None:
        with ui.column():
            heading("How common each value is", 2)
            self._bars = chart.chart(
                {
                    "legend": {"data": [_("Truth"), _("Estimate")]},
                    "xAxis": chart.axis(_("Value"), kind="category", data=self._facts["values"]),
                    "yAxis": chart.axis(_("Share of devices (%)")),
                    "series": _bar_series(self._facts, part),
                },
                description=_(
                    "Bars of the true and the estimated share of each value, with the range in "
                    "which the truth lies 19 times in 20."
                ),
            )
        with ui.column():
            heading("The error falls as devices report", 2)
            self._lines = chart.chart(
                {
                    "legend": {"data": [_("Error now"), _("Error expected in theory")]},
                    "xAxis": chart.axis(_("Devices that have reported"), kind="log"),
                    "yAxis": chart.axis(_("Error (percentage points)"), kind="log"),
                    "series": _line_series(self._path),
                },
                description=_(
                    "Two falling lines: the error of the estimates, and the error expected "
                    "from the variance of the protocol, by number of reports."
                ),
            )

    def _tell(self, part: dict[str, Any]) -> None:
        bits = self._facts["bits"]
        key_figures(
            [
                figure("Devices so far", number(part["devices"]), "each has sent one report"),
                figure(
                    "Typical error of a share",
                    f"{number(100 * part['error'], 2)} pp",
                    "its distance from the truth, in percentage points",
                ),
                figure(
                    "Expected error",
                    f"{number(100 * part['expected'], 2)} pp",
                    "from the variance of the protocol",
                ),
                figure(
                    "One report",
                    n_("{count} bit", "{count} bits", bits),
                    "what a device sends, without the head of a batch",
                ),
                (
                    "epsilon",
                    number(self._form.epsilon, 1),
                    _(
                        "no value makes a report more than e^epsilon = {times} times likelier "
                        "than another",
                        times=short(exp(self._form.epsilon)),
                    ),
                ),
            ]
        )

    def _done(self, state: dict[str, Any]) -> None:
        facts = self._facts
        with self._table:
            heading("Numbers", 2)
            show_table(
                [_("Value"), _("Truth"), _("Estimate"), _("From"), _("To")],
                [
                    [value, *(percent(each, 2) for each in numbers)]
                    for value, *numbers in zip(
                        facts["values"],
                        facts["truth"],
                        state["shares"],
                        state["low"],
                        state["high"],
                        strict=True,
                    )
                ],
                caption=_("Shares of devices; the truth lies between From and To 19 times in 20"),
            )
            with ui.expansion(_("The error as a table")).classes("w-full celosia-quiet"):
                show_table(
                    [
                        _("Devices that have reported"),
                        _("Error now"),
                        _("Error expected in theory"),
                    ],
                    [
                        [many, *(percent(each, 3) for each in errors)]
                        for many, *errors in self._path
                    ],
                    caption=_("Errors in percentage points"),
                )
            _trust(facts["shuffled"])
            _one_device(self._form)


def _trust(found: dict[str, Any]) -> None:
    """What a report promises, with an honest shuffler and without."""
    heading("Whom devices must trust", 2)
    show_table(
        [_("Who is trusted"), _("Epsilon against the collector"), _("Delta")],
        [
            [_("Nobody"), number(found["colluding_epsilon"], 3), "0"],
            [
                _("A shuffler that does not work together with the collector"),
                number(found["honest_epsilon"], 3),
                f"{found['delta']:g}",
            ],
        ],
        caption=_("The promise to one device, if all of these devices report honestly"),
    )
    quiet(
        "A shuffler between devices and collector takes away who sent a report, when and in which "
        "order: celosia collect shuffle."
    )
    quiet(
        "The shuffler sees addresses and private reports, but no estimates. The collector sees "
        "shuffled reports, and no addresses, times or order."
    )
    quiet(
        "Two aggregators that do not work together add up counts, sums and histograms with far "
        "less noise, and neither can read a report alone; both together can read every report: "
        "celosia collect aggregator."
    )


def _one_device(form: CollectionForm) -> None:
    """What one device sends, twice for the same value."""
    heading("One device, bit by bit", 2)
    place = ui.column().classes("w-full")

    def show(found: list[list[int]]) -> None:
        for report in found:
            label = _("One report: {bits}", bits="".join(map(str, report[:256])))
            ui.html(
                f'<div class="celosia-bits" role="img" aria-label="{label}">'
                + "".join(f'<span class="bit-{each}">{each}</span>' for each in report[:256])
                + ("…" if len(report) > 256 else "")
                + "</div>",
                sanitize=False,  # noughts and ones only
            )
        quiet(
            "Two reports of the same device for the same value, with different "
            "randomness. The smaller epsilon is, the less a report reveals about the "
            "value."
        )

    with place:
        start(_("One device"), task(jobs.one_report, form=form), on_done=show)


def _bar_series(facts: dict[str, Any], part: dict[str, Any]) -> list[dict[str, Any]]:
    """Truth and estimate as bars, and the interval as a thin line on each estimate."""
    bands = [
        (round(100 * low, 3), round(100 * high, 3))
        for low, high in zip(part["low"], part["high"], strict=True)
    ]
    return [
        {"type": "bar", "name": _("Truth"), "data": [round(100 * e, 3) for e in facts["truth"]]},
        {
            "type": "bar",
            "name": _("Estimate"),
            "data": [round(100 * each, 3) for each in part["shares"]],
        },
        chart.ranges(_("Range"), bands, shift=0.2),
    ]


def _line_series(path: list[tuple[float, float, float]]) -> list[dict[str, Any]]:
    names = (_("Error now"), _("Error expected in theory"))
    return [
        {
            "type": "line",
            "name": name,
            "data": [[each[0], max(1e-4, 100 * each[place])] for each in path],
        }
        for place, name in enumerate(names, start=1)
    ]


def _renew(drawn: ui.echart, series: list[dict[str, Any]]) -> None:
    drawn.options["series"] = series
    drawn.update()
