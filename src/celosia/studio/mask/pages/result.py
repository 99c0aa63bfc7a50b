"""The result of a recipe: both tables, what risk is left, what was lost, files and text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
from nicegui import ui

from celosia.studio.language import _, n_, number
from celosia.studio.mask import figures as mask_figures
from celosia.studio.mask import model
from celosia.studio.mask.pages import charts
from celosia.studio.mask.pages.start import MaskWorkbench
from celosia.studio.shell import in_thread
from celosia.studio.widgets.method_form import promise
from celosia.studio.widgets.table import html_table
from celosia.studio.widgets.text import figures, heading, lead, notice, quiet
from celosia.studio.workbench import File, certificate_file, report_file

SIZE = 12
"""Rows on a page of both tables."""


async def show(workbench: MaskWorkbench) -> None:
    """Everything about the last run of the recipe."""
    result = workbench.last_result("There is no result yet.", "Go to the recipe and run it")
    if result is None:
        return
    lead(
        n_(
            "{count} masked record. The figures compare it with the original: they are for you, "
            "not to be published.",
            "{count} masked records. The figures compare them with the originals: they are for "
            "you, not to be published.",
            result["rows"],
        )
    )
    if not workbench.state["steps"] or result["touched"] != _touched(workbench):
        quiet("The recipe has changed since: run it again to see what that does.")
    heading("Risk that is left")
    figures(mask_figures.risk_figures(result))
    heading("Loss")
    lost = mask_figures.loss_figures(result)
    if lost:
        figures(lost)
    else:
        quiet("No column of both tables can be compared.")
    promise(result["guarantee"], simulation=result["simulation"])
    heading("Before and after")
    sides = await in_thread(both_sides, workbench.work.folder, ("before", "after"))
    if result["aligned"]:
        quiet(
            "The same people on both sides, so that you can compare; in the released file the "
            "rows are shuffled."
        )
    else:
        notice("The released rows are a selection: the two sides do not show the same people.")
    if sides is not None:  # None where the studio is closing
        side_by_side(*sides, (_("Original"), _("Masked")))
    heading("Distributions")
    quiet("Broad bars are the original, narrow ones the masked table.")
    charts.distributions(result["distributions"], (_("original"), _("masked")))
    if result["correlations"] is not None:
        heading("Drift of correlations")
        quiet("After less before, for each pair of columns of numbers: 0 where nothing changed.")
        charts.correlations(result["correlations"])
    _take(workbench, result)


def _touched(workbench: MaskWorkbench) -> list[str]:
    return list(
        dict.fromkeys(name for step in workbench.state["steps"] for name in step["columns"])
    )


def both_sides(folder: Path, names: tuple[str, str]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Some rows of both tables."""
    return pl.read_parquet(folder / f"{names[0]}.parquet"), pl.read_parquet(
        folder / f"{names[1]}.parquet"
    )


def side_by_side(before: pl.DataFrame, after: pl.DataFrame, names: tuple[str, str]) -> None:
    """Two tables that turn their pages together."""
    most = max(before.height, after.height)
    with ui.element("div").classes("celosia-sides"):
        boxes = [ui.html(sanitize=False), ui.html(sanitize=False)]
    pages = max(1, -(-most // SIZE))

    def turn(to: int) -> None:
        begin = (to - 1) * SIZE
        for box, frame, name in zip(boxes, (before, after), names, strict=True):
            part = frame.slice(begin, SIZE)
            rows = [_rounded(row) for row in part.iter_rows()]
            caption = _(
                "{name}: rows {first} to {last}",
                name=name,
                first=number(begin + 1),
                last=number(begin + part.height),
            )
            # All cells are escaped by html_table.
            box.set_content(html_table(part.columns, rows, caption=caption, plain=True))

    if pages > 1:
        turner = ui.pagination(
            1, pages, direction_links=True, on_change=lambda event: turn(int(event.value))
        )
        turner.props("max-pages=7").props["aria-label"] = _("Page of both tables")
    turn(1)


def _rounded(row: tuple[Any, ...]) -> list[Any]:
    return [round(cell, 3) if isinstance(cell, float) else cell for cell in row]


def _take(workbench: MaskWorkbench, result: dict[str, Any]) -> None:
    workbench.take_away(
        [
            ("masked.csv", "table_view", _("Masked data"), _("CSV, to be published")),
            certificate_file("masked-certificate.json", "masked.csv"),
            report_file("masked-report.html"),
            ("recipe.toml", "receipt_long", _("Recipe"), _("roles and steps, to do it again")),
            original_file(),
        ]
    )
    texts = model.code(workbench.name, workbench.state["sample"], seed=result["seed"])
    recipe = workbench.work.path("recipe.toml").read_text("utf-8")
    workbench.same_elsewhere(
        [*texts, ("Recipe (TOML)", recipe)],
        "Put recipe.toml beside the table first. Draws are new each time unless seeded.",
    )


def original_file() -> File:
    """The table as it was brought, to take away."""
    text = _("what you brought; keep it to yourself")
    return "data.parquet", "lock", _("Original data"), text
