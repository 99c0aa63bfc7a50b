"""Collect: every protocol on one chart, and which one to take."""

from __future__ import annotations

from functools import partial
from typing import Any

from nicegui import ui

from celosia.studio.collect import jobs
from celosia.studio.collect.model import EPSILONS
from celosia.studio.collect.pages.simulator import DEVICES, PROTOCOL_NAMES
from celosia.studio.language import _, number, percent
from celosia.studio.shell import page
from celosia.studio.widgets import chart
from celosia.studio.widgets.code import show_code
from celosia.studio.widgets.job_progress import start
from celosia.studio.widgets.table import show_table
from celosia.studio.widgets.text import lead, main_heading, paragraph
from celosia.studio.worker import task

DOMAINS = (16, 100, 1_000, 10_000)


@page("/collect/compare", "Compare protocols", door="/collect")
def comparison(users: int = 1_000_000, domain: int = 1_000, epsilon: float = 2.0) -> None:
    """Every protocol on one chart, and which to take."""
    main_heading("Which protocol?")
    lead(
        "The error of a rare value against epsilon, for every protocol that fits. It follows "
        "from the exact variances alone; no data is read."
    )
    choices: dict[str, Any] = {"users": users, "domain": domain, "epsilon": epsilon}
    with ui.element("div").classes("celosia-split"):
        ui.select(
            {each: number(each) for each in sorted({*DEVICES, 10**7, users})}, label=_("Devices")
        ).bind_value(choices, "users")
        ui.select(
            {each: number(each) for each in sorted({*DOMAINS, domain})},
            label=_("Different values"),
        ).bind_value(choices, "domain")
        ui.select(
            {each: number(each, 2) for each in sorted({*EPSILONS, epsilon})}, label="epsilon"
        ).bind_value(choices, "epsilon")
    place = ui.column().classes("w-full")

    def compare() -> None:
        words = "&".join(f"{name}={value}" for name, value in choices.items())
        ui.navigate.history.replace(f"/collect/compare?{words}")
        place.clear()
        with place:
            start(
                _("Comparing the protocols"),
                task(jobs.compare, **choices),
                on_done=partial(_compared, choices=dict(choices)),
                address=f"/collect/compare?{words}",
            )

    ui.button(_("Compare"), icon="compare_arrows", on_click=compare).classes("q-my-md")
    place.move(target_index=-1)
    compare()


def _compared(found: dict[str, Any], choices: dict[str, Any]) -> None:
    lines = [
        (name, [(epsilon, 100 * share) for epsilon, share, _bits in points])
        for name, points in found["lines"].items()
    ]
    best = found["ranked"][0]
    chart.lines(
        lines,
        description=_(
            "The error of each protocol falls as epsilon grows; at {epsilon} the least is that of "
            "{protocol}.",
            epsilon=number(choices["epsilon"], 2),
            protocol=best["label"],
        ),
        x="epsilon",
        y=_("Standard error (% of devices)"),
        log_y=True,
        height="26rem",
    )
    paragraph(
        "First choice: {protocol}, with an error of {error} of all devices. Where errors are "
        "nearly the same, the shorter report goes first.",
        protocol=best["label"],
        error=percent(best["share"], 3),
    ).classes("text-bold")
    show_table(
        [
            _("Protocol"),
            _("Standard error"),
            _("Bits of a report"),
            _("Memory of the server (KB)"),
            _("Its name"),
        ],
        [
            [
                each["label"],
                percent(each["share"], 3),
                each["report_bits"],
                round(each["server_bytes"] / 1000),
                _full_name(each["label"]),
            ]
            for each in found["ranked"]
        ],
        caption=_("The best first; errors as shares of all devices"),
    )
    show_code(
        [
            (
                _("Command line"),
                f"celosia collect choose --users {choices['users']} --domain {choices['domain']} "
                f"--epsilon {choices['epsilon']:g}",
            ),
            (
                "Python",
                "from celosia.collect import choose\n\n"
                f"print(choose(users={choices['users']}, domain={choices['domain']}, "
                f"epsilon={choices['epsilon']:g}))",
            ),
        ]
    )


def _full_name(label: str) -> str:
    """What a protocol is called in full; some come in two kinds."""
    if label == "olh-pool":
        return _("Optimal local hashing, with a pool of hash functions")
    return _(PROTOCOL_NAMES[label]) if label in PROTOCOL_NAMES else label
