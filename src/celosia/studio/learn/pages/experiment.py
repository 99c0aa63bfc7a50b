"""Learn: choose an algorithm and its parameters, run it on a sample, and see what it gives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

from nicegui import ui
from starlette.requests import Request

from celosia.core.errors import CelosiaError
from celosia.studio.classroom import jobs
from celosia.studio.language import _
from celosia.studio.learn.experiment import (
    ALGORITHM_NAMES,
    MOST,
    TABLE_NAMES,
    Experiment,
    figures,
)
from celosia.studio.learn.parts import Facts
from celosia.studio.shell import page, show_error
from celosia.studio.widgets.code import show_code
from celosia.studio.widgets.job_progress import start
from celosia.studio.widgets.table import key_figures, show_table
from celosia.studio.widgets.text import heading, lead, main_heading, notice, quiet
from celosia.studio.worker import task


@page("/learn/run", "Run an algorithm", door="/learn")
def experiment_page(request: Request) -> None:
    """One screen: the choices, a button, the result."""
    ui.link(_("All techniques"), "/learn").classes("celosia-quiet")
    main_heading("Run an algorithm")
    lead(
        "Choose a table, an algorithm and its parameters, and run it: loss, risk and the rows "
        "before and after. Change one thing at a time, and see what follows."
    )

    def keep(asked: Experiment, _found: Facts) -> None:
        ui.navigate.history.replace(f"/learn/run?{urlencode(asked.as_dict())}")

    bench(Experiment.read(dict(request.query_params)), on_result=keep)


def bench(
    first: Experiment,
    *,
    on_result: Callable[[Experiment, Facts], object],
    check: Callable[[], object] = lambda: None,
    tables: tuple[str, ...] = ("census", "patients"),
) -> None:
    """The controls of an experiment and its result.

    Args:
        first: what is chosen at first.
        on_result: called with what was chosen and what it gave.
        check: called before a run; it may refuse with a `CelosiaError`.
        tables: those to choose from.
    """
    chosen: dict[str, Any] = first.as_dict()
    with ui.element("div").classes("celosia-controls celosia-bench"):
        names = {name: text for name, text in TABLE_NAMES.items() if name in tables}
        if len(names) > 1:
            ui.select(names, label=_("Table")).bind_value(chosen, "table")
        ui.select(dict(ALGORITHM_NAMES), label=_("Algorithm")).bind_value(
            chosen, "algorithm"
        ).props('data-test="algorithm"')
        for name, label, step in (
            ("k", _("k: records in each class, at least"), 1),
            ("l", _("l: different sensitive values, at least (0: not asked)"), 1),
            ("t", _("t: distance to the whole table, at most (0: not asked)"), 0.05),
            ("suppression", _("Share of records that may be suppressed"), 0.01),
        ):
            value = chosen[name]
            ui.number(label, value=value, min=0, max=MOST[name], step=step).bind_value(
                chosen, name
            ).props(f'data-test="{name}"')
    button = ui.button(_("Run now"), icon="play_arrow").props('data-test="run"')
    place = ui.column().classes("w-full").props('aria-live="polite"')

    def run() -> None:
        place.clear()
        with place:
            try:
                check()
                asked = Experiment.read({key: each or 0 for key, each in chosen.items()})
            except CelosiaError as error:
                show_error(error, attend=True)
                return
            button.disable()

            def done(found: Facts) -> None:
                on_result(asked, found)  # it may draw what matters most, above all else
                show_result(asked, found)

            start(
                _("Run an algorithm"),
                task(jobs.experiment, asked=asked.as_dict()),
                on_done=done,
                on_end=button.enable,
                attend=True,
            )

    button.on_click(run)


def show_result(asked: Experiment, found: Facts) -> None:
    """What an experiment gave, and the same as text."""
    if not found["possible"]:
        notice(
            "No release of this table meets these models. Allow more suppression, or ask for less."
        )
    else:
        key_figures(figures(found))
        heading("Before and after", 3)
        quiet("Rows of one colour look alike in the release.")
        with ui.element("div").classes("celosia-sides"):
            for rows, caption in (
                (found["before"], _("The private table")),
                (found["after"], _("The release")),
            ):
                show_table(
                    found["columns"],
                    rows,
                    caption=caption,
                    classes=found["shown"],
                    plain=True,
                )
    show_code([("Python", asked.python)])
