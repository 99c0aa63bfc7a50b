"""Choose a node by its levels: what a click in the scatter or the lattice does, without a mouse."""

from __future__ import annotations

from collections.abc import Callable

from nicegui import ui

from celosia.studio.language import _
from celosia.studio.publish.pages.results_parts import Results, level_text, picker, show_point
from celosia.studio.publish.results_solutions import Levels, Solutions
from celosia.studio.widgets.text import heading, quiet

ANY = -1
"""In a list of levels: none of them is asked for."""
Pick = Callable[[Levels], None]


class LevelPicker:
    """A list of levels for each column, and a button that shows the node they lead to.

    Args:
        found: the results.
        solutions: the solutions among which is chosen.
        pick: called with the levels, as by a click in the chart.
        given: the node that is shown already; None for the levels of the release in a small
            lattice, and for any levels in one that is shown by cells of many nodes.
    """

    def __init__(
        self, found: Results, solutions: Solutions, pick: Pick, given: Levels | None
    ) -> None:
        self._solutions = solutions
        self._pick = pick
        heading("Choose by levels", 3)
        quiet(
            "A level for each column. Where any level will do, the best solution with the "
            "others is shown."
        )
        usual = found.chosen if solutions.is_small else None
        start = given or usual or (ANY,) * len(solutions.shape)
        with ui.element("div").classes("celosia-parameters q-mt-sm"):
            self._lists = [
                self._list(found, name, size, level)
                for name, size, level in zip(solutions.columns, solutions.shape, start, strict=True)
            ]
        with ui.row().classes("items-center q-mt-md q-mb-sm"):
            button = ui.button(_("Show this node"), icon="my_location", on_click=self._chosen)
            button.props("outline").props["data-test"] = "show-node"
            self._status = ui.label().props('role="status"')

    def show(self, levels: Levels) -> None:
        """Set the lists to a node that was chosen elsewhere."""
        self._status.set_text("")
        for each, level in zip(self._lists, levels, strict=True):
            each.set_value(level)

    def _list(self, found: Results, name: str, size: int, level: int) -> ui.select:
        options = {ANY: _("any level")} | {
            each: level_text(found, name, each, size - 1) for each in range(size)
        }
        made = picker(name, options, level, "level")
        return made.classes("w-full", remove="q-mb-md").style("min-width: 0")

    def _chosen(self) -> None:
        wanted = [None if each.value == ANY else int(each.value) for each in self._lists]
        levels = self._solutions.best_with(wanted)
        if levels is None:
            self._status.set_text(_("No solution has these levels."))
        else:
            self._pick(levels)


def detail_of(found: Results, named: Levels | None) -> ui.column:
    """Where the chosen node is shown, read out when it changes; with the one the address names."""
    detail = ui.column().classes("w-full").props('aria-live="polite"')
    detail.props["data-test"] = "detail"
    if named is not None:
        with detail:
            show_point(found, named)
    return detail
