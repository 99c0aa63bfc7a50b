"""Mask and synthesise: choose a sample or bring a table, or go on with what was begun."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from celosia.studio.language import n_
from celosia.studio.mask import jobs
from celosia.studio.mask.model import SAMPLES
from celosia.studio.workbench import Door, Workbench, WorkStep, start_page


def _size(state: Mapping[str, Any]) -> str:
    return n_("{count} record", "{count} records", state["rows"])


class MaskWorkbench(Workbench):
    """One piece of work: its table, roles, recipe and results."""

    door = Door(
        name="mask",
        title="Mask and synthesise",
        steps=(
            WorkStep("columns", "Columns", "view_column"),
            WorkStep("recipe", "Recipe", "format_list_numbered"),
            WorkStep("result", "Result", "compare"),
            WorkStep("map", "Map of variants", "scatter_plot"),
            WorkStep("stream", "Stream", "water"),
            WorkStep("/synthesise/{work}", "Synthesise", "auto_awesome"),
        ),
        beside=WorkStep(
            "/related", "Several related tables, such as persons and their visits", "account_tree"
        ),
        first="recipe",
        prepare=jobs.prepare,
        samples=SAMPLES,
        size=_size,
        heading="Mask or synthesise a table",
        about="Masking perturbs cells (noise, swapping, microaggregation) instead of "
        "generalising them; synthesis generates rows like the real ones. For both, the "
        "studio measures the remaining risk and the utility.",
        bring="Bring a table",
        kinds="CSV with any delimiter, Excel, Parquet, JSON lines, SPSS, Stata or SAS; one record "
        "for each person.",
    )

    @property
    def columns(self) -> list[dict[str, Any]]:
        """What is known of the columns, and their roles."""
        return list(self.state["columns"])

    @property
    def names(self) -> list[str]:
        """The columns that may be masked: all but identifiers, which are never released."""
        return [each["name"] for each in self.columns if each["role"] != "identifier"]


start_page(MaskWorkbench.door)
