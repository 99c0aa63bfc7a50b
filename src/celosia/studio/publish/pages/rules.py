"""The fields of a rule: intervals, masks, dates, orders and trees."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from nicegui import ui

from celosia.core.errors import InputError
from celosia.core.messages import Message, render
from celosia.studio.language import _, current
from celosia.studio.publish import rules
from celosia.studio.publish.pages.exchange import exchange
from celosia.studio.publish.pages.tree import edit_tree
from celosia.studio.widgets.text import paragraph
from celosia.tables.hierarchies import Coordinates, Dates, Mask
from celosia.tables.hierarchies.dates import LABELS

if TYPE_CHECKING:
    from celosia.studio.publish.pages.hierarchies import Editor


def edit_rule(editor: Editor) -> None:
    """Choose the method of the rule, fill in its fields, or bring it as a file."""
    rule = dict(editor.column.hierarchy or {"method": "automatic"})
    method = rule["method"]

    async def other_method(event: Any) -> None:
        made = await editor.ask("start", method=event.value)
        if made is not None:
            await editor.choose(made, redraw=True)
        else:
            editor.draw_rule()

    ui.select(
        _methods(), value=method, label=_("Kind of hierarchy"), on_change=other_method
    ).classes("w-full").props('data-test="kind"')
    fields: dict[str, Callable[[Editor, dict[str, Any]], None]] = {
        "automatic": _automatic,
        "intervals": _intervals,
        "mask": _mask,
        "dates": _dates,
        "classification": _classification,
        "coordinates": _coordinates,
        "ordered": _ordered,
        "tree": edit_tree,
    }
    if rules.has_no_groups(editor.column, rule, editor.facts["distinct"]):
        paragraph(
            "Nothing in these values says which belong together, so each is kept or becomes *. "
            "Groups of your own keep more detail, for example town, province, region: choose a "
            "tree, or import a CSV file with a row for each value."
        ).props('data-test="no-groups"')
    fields[method](editor, rule)
    exchange(editor)


def _methods() -> dict[str, str]:
    """The methods in the order of the list, with their titles."""
    names = (
        *("automatic", "intervals", "mask", "dates", "classification", "coordinates"),
        *("ordered", "tree"),
    )
    return {name: render(Message(f"methods.{name}.title"), current()) for name in names}


def _automatic(editor: Editor, rule: dict[str, Any]) -> None:
    paragraph("The rule is found by looking at the values when the table is published.")


class _Form:
    """Fields that make a rule: each change is tried, and what is wrong is said at the field."""

    def __init__(self, editor: Editor, make: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
        self._editor, self._make = editor, make
        self._fields: dict[str, Any] = {}
        self.fault: ui.label | None = None

    def add(self, key: str, field: Any) -> Any:
        self._fields[key] = field
        field.on_value_change(self._changed)
        return field.classes("w-full")

    async def _changed(self) -> None:
        values = {key: field.value for key, field in self._fields.items()}
        try:
            rule = self._make(values)
        except InputError as error:
            self._say(f"{error.what} {error.fix}")
            return
        except (TypeError, ValueError):
            self._say(_("This cannot be read."))
            return
        self._say("")
        await self._editor.choose(rule)

    def _say(self, text: str) -> None:
        if self.fault is not None:
            self.fault.set_text(text)
            self.fault.set_visibility(bool(text))

    def end(self) -> None:
        self.fault = ui.label().classes("text-negative").props('role="alert"')
        self.fault.set_visibility(False)


def _slow(field: ui.input | ui.number | ui.textarea) -> Any:
    return field.props("debounce=400")


def _intervals(editor: Editor, rule: dict[str, Any]) -> None:
    form = _Form(editor, rules.intervals_rule)
    by = form.add(
        "by",
        ui.toggle(
            {"widths": _("equal widths"), "bounds": _("cut points")},
            value="bounds" if rule.get("bounds") else "widths",
        ),
    )
    cuts = "\n".join(rules.as_text(level) for level in rule.get("bounds", []))
    with ui.element("div").classes("w-full").bind_visibility_from(by, "value", value="widths"):
        form.add(
            "widths",
            _slow(
                ui.input(
                    _("Width of each level, such as 5, 10, 20"),
                    value=rules.as_text(rule.get("widths")),
                )
            ),
        ).props('data-test="widths"')
        form.add("start", _slow(ui.number(_("The first begins at"), value=rule.get("start", 0))))
    with ui.element("div").classes("w-full").bind_visibility_from(by, "value", value="bounds"):
        form.add(
            "bounds",
            _slow(
                ui.textarea(
                    _("Cut points, one level in a line, such as 20, 30, 40, 60"), value=cuts
                )
            ),
        ).props('data-test="bounds"')
        form.add(
            "open_above",
            ui.switch(_("a group from the last cut on"), value=rule.get("open_above", False)),
        )
    form.add(
        "open_below",
        ui.switch(_("a group below the first"), value=rule.get("open_below", False)),
    )
    form.add(
        "domain",
        _slow(
            ui.input(
                _("First and last possible whole number, such as 1, 100 (may be empty)"),
                value=rules.as_text(rule.get("domain")),
            )
        ),
    )
    form.add(
        "style",
        ui.select(
            {"": _("automatic"), "range": "21-40", "bracket": "[20, 40["},
            value=rule.get("style") or "",
            label=_("How labels are written"),
        ),
    )
    form.end()


def _mask(editor: Editor, rule: dict[str, Any]) -> None:
    form = _Form(editor, rules.mask_rule)
    form.add(
        "direction",
        ui.toggle(
            {"right": _("from the right"), "left": _("from the left")},
            value=rule.get("direction", Mask().direction),
        ),
    )
    form.add(
        "character",
        _slow(
            ui.input(_("Mark"), value=rule.get("character", Mask().character)).props("maxlength=1")
        ),
    )
    form.add(
        "levels",
        _slow(
            ui.input(
                _("Letters hidden at each level, such as 2, 4 (empty: one more at each)"),
                value=rules.as_text(rule.get("levels")),
            )
        ),
    )
    form.end()


def _dates(editor: Editor, rule: dict[str, Any]) -> None:
    form = _Form(editor, rules.dates_rule)
    form.add(
        "levels",
        ui.select(
            _periods(),
            value=list(rule.get("levels", Dates().levels)),
            label=_("Levels, from fine to coarse"),
            multiple=True,
        ).props("use-chips"),
    )
    form.add(
        "format",
        ui.select(
            _written(str(rule.get("format") or "")),
            value=rule.get("format") or "",
            label=_("How the dates are written"),
            with_input=True,
            new_value_mode="add-unique",
            key_generator=str,
        ).props('data-test="date-format"'),
    )
    form.add(
        "century",
        _slow(
            ui.number(
                _("Century of two-digit years: 1900"),
                value=rule.get("century"),
                step=100,
            )
        ),
    )
    form.end()


def _classification(editor: Editor, rule: dict[str, Any]) -> None:
    form = _Form(editor, lambda fields: {"method": "classification", **fields})
    names = {
        "countries": _("countries by region and continent"),
        "us-states": _("states of the United States by division and region"),
        "spanish-provinces": _("Spanish provinces by community and region"),
        "education": _("levels of education"),
        "nuts": _("European regions (NUTS)"),
        "isco-08": _("occupations (ISCO-08)"),
        "icd-10": _("diagnoses (ICD-10)"),
    }
    form.add("name", ui.select(names, value=rule.get("name", "countries")))
    form.end()


def _coordinates(editor: Editor, rule: dict[str, Any]) -> None:
    form = _Form(editor, rules.coordinates_rule)
    widths = rules.as_text(rule.get("widths", Coordinates().widths))
    label = _("Sides of the cells in degrees, such as 0.1, 1, 10")
    form.add("widths", _slow(ui.input(label, value=widths)))
    form.end()


DATES = {
    "": "2026-11-30",
    "%d/%m/%Y": "30/11/2026",
    "%m/%d/%Y": "11/30/2026",
    "%d-%m-%Y": "30-11-2026",
    "%m-%d-%Y": "11-30-2026",
    "%d.%m.%Y": "30.11.2026",
    "%Y/%m/%d": "2026/11/30",
    "%Y%m%d": "20261130",
    "%d/%m/%y": "30/11/26",
    "%m/%d/%y": "11/30/26",
    "%d.%m.%y": "30.11.26",
    "%d %b %Y": "30 Nov 2026",
    "%d %B %Y": "30 November 2026",
    "%d de %B de %Y": "30 de noviembre de 2026",
}
"""The usual ways to write a date, each by what it makes of the last day of November 2026."""


def _written(now: str) -> dict[str, str]:
    """The usual ways, and the present one, which may have been typed."""
    return DATES if now in DATES else {**DATES, now: now}


def _periods() -> dict[str, str]:
    names = {
        "day": _("day"),
        "month": _("month"),
        "quarter": _("quarter"),
        "year": _("year"),
        "5 years": _("5 years"),
        "decade": _("decade"),
        "century": _("century"),
    }
    return {name: names[name] for name in LABELS}


def _ordered(editor: Editor, rule: dict[str, Any]) -> None:
    form = _Form(editor, rules.ordered_rule)
    form.add(
        "sizes",
        _slow(
            ui.input(
                _("Values in a group at each level, such as 2, 4"),
                value=rules.as_text(rule.get("sizes")),
            )
        ),
    )
    order = rule.get("order")
    texts = () if editor.values is None else editor.values.texts
    if editor.values is None or (order is None and len(texts) > rules.MOST_EDITED):
        form.end()
        return
    form.add(
        "order",
        _slow(
            ui.textarea(
                _("The values from first to last, one in a line (empty: sorted)"),
                value="\n".join(order or ()),
            )
        ),
    )
    if order is None:
        ui.button(
            _("Write down the values"),
            icon="format_list_numbered",
            on_click=lambda: editor.choose(rule | {"order": list(texts)}, redraw=True),
        ).props("flat dense")
    form.end()
