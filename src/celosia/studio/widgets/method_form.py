"""Cards of samples and methods, forms of their parameters, guarantees, and files to take away."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from nicegui import ui

from celosia.core.errors import CelosiaError
from celosia.core.messages import capital, current, render
from celosia.core.methods import Parameter
from celosia.studio.language import _, n_, number, short
from celosia.studio.parameters import MethodCard, changed, help_text, shown
from celosia.studio.samples import Sample
from celosia.studio.shell import notify_error
from celosia.studio.widgets.text import heading, notice, paragraph, quiet


def sample_cards(samples: Sequence[Sample], choose: Callable[[Sample], object]) -> None:
    """Samples to begin with, each with its size where it has one."""
    with ui.element("div").classes("celosia-cards"):
        for sample in samples:
            with ui.element("div").classes("celosia-card q-pa-md column"):
                heading(_(sample.title), 3)
                ui.label(_(sample.about))
                ui.label(_size(sample)).classes("celosia-quiet q-mb-sm")
                ui.space()
                button = ui.button(
                    _("Use this sample"),
                    icon="play_circle",
                    on_click=lambda sample=sample: choose(sample),
                ).props(f'outline data-test="sample-{sample.name}"')
                button.props["aria-label"] = _("Use the sample: {title}", title=_(sample.title))


def table_size(rows: int, columns: int) -> str:
    """How large a table is, in words."""
    return n_(
        "{count} row, {columns} columns",
        "{count} rows, {columns} columns",
        rows,
        columns=number(columns),
    )


def _size(sample: Sample) -> str:
    if sample.columns:
        return table_size(sample.rows, sample.columns)
    return n_("{count} record", "{count} records", sample.rows) if sample.rows else ""


def method_cards(
    families: Mapping[str, Sequence[str]],
    cards: Mapping[str, MethodCard],
    choose: Callable[[str], object],
    *,
    label: str,
    chosen: str = "",
) -> None:
    """All methods as cards, those of like idea together; a click chooses one."""
    for family, kinds in families.items():
        heading(_(family), 3)
        with ui.element("div").classes("celosia-cards"):
            for kind in kinds:
                card = cards[kind]
                frame = ui.element("div").classes("celosia-card q-pa-md column celosia-method")
                if kind == chosen:
                    frame.classes("chosen")
                with frame:
                    ui.label(card.title).classes("text-bold")
                    ui.label(card.summary).classes("celosia-quiet q-mb-sm")
                    ui.space()
                    with ui.row().classes("items-center w-full no-wrap"):
                        ui.label(card.kind).classes("celosia-kind")
                        ui.space()
                        button = ui.button(
                            _("Chosen") if kind == chosen else label,
                            icon="check" if kind == chosen else None,
                            on_click=lambda kind=kind: choose(kind),
                        ).props(f'flat dense data-test="method-{kind}"')
                        button.props["aria-label"] = f"{label}: {card.title}"


def parameter_controls(
    method: str,
    controls: Sequence[Parameter],
    parameters: Mapping[str, Any],
    columns: Sequence[str],
    save: Callable[[dict[str, Any]], Any],
    *,
    prefix: str = "",
) -> None:
    """A control for each parameter; those that few people need open when asked for.

    Args:
        method: its name.
        controls: what is asked for.
        parameters: what was chosen; `save` is called with what it becomes.
        columns: the columns of the table, for parameters that name some.
        save: keeps the new parameters.
        prefix: of the names for tests.
    """
    state = dict(parameters)

    def put(control: Parameter, given: Any) -> None:
        try:
            new = changed(method, state, control, given)
        except CelosiaError as error:
            notify_error(error)
            return
        if new != state:
            state.clear()
            state.update(new)
            save(dict(state))

    first = [each for each in controls if each.is_main or each.name in parameters]
    rest = [each for each in controls if each not in first]
    with ui.element("div").classes("celosia-parameters"):
        for control in first:
            _control(method, control, state, columns, put, prefix=prefix)
    if rest:
        with (
            ui.expansion(_("More settings")).classes("w-full celosia-quiet"),
            ui.element("div").classes("celosia-parameters"),
        ):
            for control in rest:
                _control(method, control, state, columns, put, prefix=prefix)


def _control(
    method: str,
    control: Parameter,
    state: Mapping[str, Any],
    columns: Sequence[str],
    put: Callable[[Parameter, Any], None],
    *,
    prefix: str,
) -> None:
    value, name = shown(control, state), label_of(control.name)
    with ui.element("div").classes("celosia-parameter"):
        if control.kind == "flag":
            box: Any = ui.checkbox(name, value=bool(value))
        elif control.kind == "choice":
            box = ui.select(list(control.choices), value=value, label=name)
        elif control.kind == "column":
            options = {"": _("no column")} | {each: each for each in columns}
            box = ui.select(options, value=value or "", label=name)
        elif control.kind in ("columns", "several"):
            options = {each: each for each in (control.choices or columns)}
            known = [each for each in value if each in options]
            box = ui.select(options, value=known, label=name, multiple=True)
            box.props("use-chips")
        elif control.kind in ("whole", "number"):
            box = ui.number(name, value=value, min=control.least, max=control.most)
            # Sent when the field is left: half a number is not a choice.
            box.props("debounce=400")
            if control.kind == "whole":
                box.props("step=1")
        else:
            box = ui.input(name, value=value or "", placeholder=control.example)
            box.props("debounce=600")
        box.props(f'data-test="{prefix}{control.name}"').classes("w-full")
        box.on_value_change(lambda event: put(control, event.value))
        quiet(_with_range(method, control))


def label_of(name: str) -> str:
    """The name of a parameter as a label: words, not a name of a program.

    >>> label_of("max_metres"), label_of("k")
    ('Max metres', 'k')
    """
    if len(name) == 1:  # a letter of a formula, in every language
        return name
    words = capital(name.replace("_", " "))
    key = f"parameter {name}"
    return words if current() == "en" or _(key) == key else _(key)


def _with_range(method: str, control: Parameter) -> str:
    """What a parameter does, with the range that it must be in."""
    text = help_text(method, control)
    if control.least is not None and control.most is not None:
        return _(
            "{help} From {least} to {most}.",
            help=text,
            least=short(control.least),
            most=short(control.most),
        )
    if control.least is not None:
        return _("{help} At least {least}.", help=text, least=short(control.least))
    return text


def promise(guarantee: Mapping[str, Any], *, simulation: bool) -> None:
    """What is promised, as the certificate says it."""
    if simulation:
        notice(
            "A seed was given, so this is a simulation: whoever knows the seed can repeat "
            "every draw. Leave it empty for a release."
        )
    with ui.expansion(_("The guarantee of the certificate"), icon="verified").classes("w-full"):
        ui.label(render(guarantee["promise"])).classes("text-bold celosia-break")
        ui.label(render(guarantee["protects"])).classes("celosia-break")
        if guarantee["leaves_open"]:
            paragraph("Not covered:").classes("q-mt-sm")
            with ui.element("ul").classes("celosia-points"):
                for gap in guarantee["leaves_open"]:
                    with ui.element("li"):
                        ui.label(render(gap)).classes("celosia-break")


def downloads(work_id: str, files: Sequence[tuple[str, str, str, str]]) -> None:
    """Files to take away: (name, icon, title, what it is); a report can be read here too."""
    with ui.element("div").classes("celosia-cards"):
        for name, icon, title, text in files:
            with ui.element("div").classes("celosia-card q-pa-md column"):
                with ui.row().classes("items-center no-wrap"):
                    ui.icon(icon, size="1.5rem").props('aria-hidden="true"')
                    ui.label(title).classes("text-bold")
                ui.label(text).classes("celosia-quiet q-mb-sm")
                ui.space()
                with ui.row():
                    link = ui.link(_("Download"), f"/files/{work_id}/{name}")
                    link.props(f'download data-test="file-{name}"')
                    link.props["aria-label"] = _("Download: {title}", title=title)
                    if name.endswith(".html"):
                        paper = f"{name.removesuffix('.html')}.pdf"
                        link = ui.link(_("PDF"), f"/files/{work_id}/{paper}")
                        link.props(f'download data-test="file-{paper}"')
                        link.props["aria-label"] = _("Download: {title}", title=f"{title}, PDF")
                        ui.link(_("Read it here"), f"/files/{work_id}/{name}?show", new_tab=True)
