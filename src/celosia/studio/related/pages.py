"""Related tables: bring them, say how they hang together, and see the new ones beside them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from nicegui import ui

from celosia.core.messages import render
from celosia.studio.language import _, n_, number
from celosia.studio.mask.pages import charts
from celosia.studio.mask.pages.result import both_sides, side_by_side
from celosia.studio.query.databases import SUFFIXES as DATABASES
from celosia.studio.related import jobs, model
from celosia.studio.shell import in_thread, page, ways_on
from celosia.studio.uploads import Brought
from celosia.studio.visitors import Work
from celosia.studio.widgets.job_progress import start
from celosia.studio.widgets.method_form import parameter_controls, promise
from celosia.studio.widgets.table import show_table
from celosia.studio.widgets.text import heading, lead, name_heading, notice, quiet
from celosia.studio.widgets.upload import SUFFIXES, upload
from celosia.studio.workbench import (
    Door,
    Workbench,
    WorkStep,
    certificate_file,
    report_file,
    start_page,
)
from celosia.studio.worker import Task, task


def _size(state: Mapping[str, Any]) -> str:
    tables = n_("{count} table", "{count} tables", len(state["tables"]))
    rows = sum(each["rows"] for each in state["tables"])
    return f"{tables}, {n_('{count} row', '{count} rows', rows)}"


class RelatedWorkbench(Workbench):
    """One piece of work: several tables, how they hang together, and the new ones."""

    door = Door(
        name="related",
        under="/mask",
        title="Related tables",
        steps=(
            WorkStep("tables", "Tables", "table_view"),
            WorkStep("declare", "Keys and columns", "key"),
            WorkStep("result", "Result", "compare"),
        ),
        first="tables",
        prepare=jobs.bring,
        samples=model.SAMPLES,
        size=_size,
        heading="Synthesise related tables",
        about="Persons and what belongs to them, such as their visits: new tables whose keys fit, "
        "with one promise for each person with all their rows.",
        bring="Bring your tables",
        kinds="Begin with the table of persons, one row each; the next page takes the other files. "
        "A SQLite database brings all of its tables.",
        suffixes=(*SUFFIXES, *DATABASES),
    )

    @property
    def tables(self) -> list[dict[str, Any]]:
        """What is known of each table."""
        return list(self.state["tables"])

    @property
    def form(self) -> dict[str, Any]:
        """What was chosen for each table."""
        return dict(self.state["form"])

    def choose(self, table: str, **values: Any) -> None:
        """Keep what is chosen for a table."""
        form = self.form
        self.save(form=form | {table: form[table] | values})


start_page(RelatedWorkbench.door)


@page("/related/{work_id}", "Related tables", door="/mask")
async def related(work_id: str, step: str = "tables") -> None:
    """Show one step of a piece of work."""
    workbench, known = RelatedWorkbench.open_at(work_id, step)
    if known == "result":
        await _result(workbench)
    elif known == "declare":
        await in_thread(model.controls)  # loads compiled kernels, once
        _declare(workbench)
    else:
        _tables(workbench)


def _tables(workbench: RelatedWorkbench) -> None:
    show_table(
        [_("table"), _("rows"), _("columns")],
        [
            [each["name"], each["rows"], ", ".join(column["name"] for column in each["columns"])]
            for each in workbench.tables
        ],
        label=_("Tables"),
    )
    ways_on([(_("Keys and columns"), workbench.address("declare"))])
    heading("Add a table")
    quiet(
        "A file takes the place of a table of the same name. A declaration (.toml), as the command "
        "line reads it, fills the next page."
    )
    upload(
        lambda: workbench.work,
        lambda work, file, shown: _bring(workbench, work, Brought(file=file, shown=shown)),
        suffixes=(*RelatedWorkbench.door.suffixes, ".toml"),
    )


def _bring(workbench: RelatedWorkbench, work: Work, brought: Brought) -> None:
    start(
        _("Reading {name}", name=brought.shown),
        task(jobs.bring, folder=str(work.folder), brought=brought),
        on_done=lambda _state: ui.navigate.to(workbench.address("tables")),
        address=workbench.address("tables"),
        attend=True,
    )


def _declare(workbench: RelatedWorkbench) -> None:
    lead(
        "Each table hangs on another one by a key. What one person can change follows from the "
        "rows of one person that count."
    )
    if workbench.state["sample"] is None:
        quiet(
            "Keys are guessed by their names, and columns with many different texts, such as "
            "names, are left out: read it over."
        )
    forms: list[_TableForm] = []

    def changed() -> None:
        for each in forms:
            each.links.refresh()
            each.found.refresh()

    def put(parameters: dict[str, Any]) -> None:
        workbench.save(parameters=parameters)
        changed()

    with ui.card().classes("w-full"):
        heading("Privacy loss")
        numbers = [
            column["name"]
            for each in workbench.tables
            for column in each["columns"]
            if column["kind"] != "text"
        ]
        parameter_controls(
            model.METHOD,
            model.controls(),
            workbench.state["parameters"],
            numbers,
            put,
            prefix="related-",
        )
        workbench.seed_box()
    for table in workbench.tables:
        forms.append(_TableForm(workbench, table, changed))
        forms[-1].draw()
    workbench.run_button(
        "Make the synthetic tables", "Synthesising {name}", lambda: _task(workbench)
    )


def _task(workbench: RelatedWorkbench) -> Task[Any]:
    from celosia.tables.private.related import RelatedTables

    declared = model.declaration(workbench.form, workbench.tables)
    RelatedTables.from_table(declared)
    return task(
        jobs.run,
        folder=workbench.folder,
        declared=declared,
        parameters=workbench.state["parameters"],
        seed=workbench.seed,
    )


class _TableForm:
    """The card of one table: what it hangs on, and what is done with its columns.

    What is chosen changes what else is asked for; only that part is drawn anew, so that nobody who
    uses the keyboard loses the place.
    """

    def __init__(
        self,
        workbench: RelatedWorkbench,
        table: Mapping[str, Any],
        changed: Callable[[], object],
    ) -> None:
        self._workbench = workbench
        self._table = table
        self._name = str(table["name"])
        self._columns = {str(each["name"]): str(each["name"]) for each in table["columns"]}
        self._changed = changed
        self.links = ui.refreshable(self._links)
        """What is asked of a table that hangs on another one, whose columns it may follow."""
        self.found = ui.refreshable(self._least_found)
        """How frequent a value must be: it follows the choices of all tables."""
        self._kept = ui.refreshable(self._column_forms)

    @property
    def _entry(self) -> dict[str, Any]:
        return dict(self._workbench.form[self._name])

    def draw(self) -> None:
        """Draw the card."""
        others = {
            each["name"]: _("Rows that belong to: {table}", table=each["name"])
            for each in self._workbench.tables
            if each["name"] != self._name
        }
        with ui.card().classes("w-full q-mt-md").props(f'data-test="table-{self._name}"'):
            name_heading(self._name)
            with ui.element("div").classes("celosia-parameters"):
                self._select(
                    _("What it holds"), {"": _("Persons, one row each")} | others, "parent"
                )
                self._select(
                    _("Key"),
                    {"": _("no column")} | self._columns,
                    "key",
                    "Rows of other tables name a row of this one by it.",
                )
            self.links()
            heading("Columns", 3)
            self._fill_button()
            self.found()
            self._kept()

    def _put(self, **values: Any) -> None:
        self._workbench.choose(self._name, **values)

    def _select(self, label: str, options: Mapping[str, str], name: str, text: str = "") -> None:
        """A list to choose one of; what depends on it follows."""

        def chosen(value: str | None) -> None:
            self._put(**{name: value or None})
            if name == "parent":
                self.links.refresh()
            self._kept.refresh()  # a key is no column to be made

        value = self._entry[name] or ""
        with ui.element("div").classes("celosia-parameter"):
            box = ui.select(
                dict(options),
                label=label,
                value=value if value in options else None,
                on_change=lambda event: chosen(event.value),
            )
            box.props(f'data-test="{self._name}-{name}"').classes("w-full")
            box.props["aria-label"] = f"{label}: {self._name}"
            if text:
                quiet(text)

    def _links(self) -> None:
        entry = self._entry
        if not entry["parent"]:
            return
        with ui.element("div").classes("celosia-parameters"):
            self._select(
                _("Column that names the row of {table}", table=entry["parent"]),
                self._columns,
                "foreign_key",
            )
            with ui.element("div").classes("celosia-parameter"):
                label = _("Rows that count, at most")
                most = ui.number(
                    label,
                    value=entry["most_rows"],
                    min=1,
                    step=1,
                    on_change=lambda event: self._put_most(event.value),
                ).props(f'debounce=400 data-test="{self._name}-most_rows"')
                most.classes("w-full").props["aria-label"] = f"{label}: {self._name}"
                quiet("Of each row above. A public fact: the noise grows with it.")
            with ui.element("div").classes("celosia-parameter"):
                self._given(entry)

    def _put_most(self, value: float | None) -> None:
        if value is not None:
            self._put(most_rows=max(1, int(value)))
            self.found.refresh()

    def _given(self, entry: Mapping[str, Any]) -> None:
        above = model.made_columns(self._workbench.form[entry["parent"]])
        label = _("Columns of {table} that its rows follow", table=entry["parent"])
        box = ui.select(
            {name: name for name in above},
            label=label,
            value=[name for name in entry["given"] if name in above],
            multiple=True,
            on_change=lambda event: self._put(given=list(event.value or ())),
        ).props("use-chips")
        box.classes("w-full").props["aria-label"] = f"{label}: {self._name}"

    def _fill_button(self) -> None:
        is_sample = self._workbench.state["sample"] is not None
        label = (
            _("Use the values of the sample") if is_sample else _("Use the values from the data")
        )
        place = ui.element("div").classes("w-full")

        def filled(state: dict[str, Any]) -> None:
            self._workbench.state = state
            self._kept.refresh()

        def fill() -> None:
            place.clear()
            with place:
                start(
                    _("Looking at the columns"),
                    task(jobs.fill, folder=self._workbench.folder, table=self._name),
                    on_done=filled,
                )

        if not is_sample:
            quiet(
                "Values that are found with noise take a part of the privacy loss. Values taken "
                "from the data break the guarantee: use them to try, not to publish."
            )
        button = ui.button(label, on_click=fill).props(f'outline data-test="fill-{self._name}"')
        button.props["aria-label"] = f"{label}: {self._name}"

    def _least_found(self) -> None:
        state = self._workbench.state
        least = model.least_found(state["form"], state["tables"], state["parameters"])
        if self._name in least:
            quiet(
                "A text is found if about {count} persons have it, or more; all others are one "
                "empty value.",
                count=number(least[self._name]),
            )

    def _column_forms(self) -> None:
        entry = self._entry
        keys = model.keys_of(entry)
        with ui.element("div").classes("celosia-parameters q-mt-sm"):
            for column in self._table["columns"]:
                if column["name"] not in keys:
                    with ui.element("div").classes("celosia-parameter"):
                        self._column_form(column, entry["columns"][column["name"]])

    def _column_form(self, column: Mapping[str, Any], chosen: Mapping[str, Any]) -> None:
        name = str(column["name"])
        more = ui.refreshable(lambda: self._facts(column))

        def choose(treatment: str) -> None:
            self._keep(name, treatment=treatment)
            more.refresh()
            self._changed()

        label = _("What is done with it")
        ui.label(name).classes("text-bold celosia-break")
        box = ui.select(
            _treatments(str(column["kind"]), str(chosen["treatment"])),
            value=chosen["treatment"],
            label=label,
            on_change=lambda event: choose(str(event.value)),
        ).props(f'data-test="{self._name}-{name}"')
        box.classes("w-full").props["aria-label"] = f"{label}: {self._name}, {name}"
        more()

    def _keep(self, column: str, **values: Any) -> None:
        columns = self._entry["columns"]
        self._put(columns=columns | {column: columns[column] | values})

    def _facts(self, column: Mapping[str, Any]) -> None:
        """What is public of a column, where anything is."""
        name, kind = str(column["name"]), str(column["kind"])
        chosen = self._entry["columns"][name]
        if chosen["treatment"] == model.VALUES:
            box = ui.input(
                _("All values, with commas"),
                value=", ".join(map(str, chosen.get("values") or ())),
                on_change=lambda event: self._keep(
                    name, values=model.parsed_values(str(event.value), kind)
                ),
            ).props("debounce=600")
            box.classes("w-full").props["aria-label"] = _("All values of {column}", column=name)
        elif chosen["treatment"] == model.BOUNDS:
            self._bounds(name, kind, list(chosen.get("bounds") or (None, None)))

    def _bounds(self, name: str, kind: str, bounds: list[Any]) -> None:
        def put(place: int, value: Any) -> None:
            is_whole = kind == "integer" and value is not None
            bounds[place] = int(value) if is_whole else value
            self._keep(name, bounds=list(bounds))

        with ui.row().classes("no-wrap"):
            for place, label in enumerate((_("Least"), _("Greatest"))):
                field = ui.number(
                    label,
                    value=bounds[place],
                    on_change=lambda event, place=place: put(place, event.value),
                ).props("debounce=400")
                field.props["aria-label"] = f"{label}: {name}"


def _treatments(kind: str, chosen: str) -> dict[str, str]:
    """What can be done with a column, in words."""
    words = {
        model.FIND: _("Found with noise"),
        model.VALUES: _("Public list of values"),
        model.BOUNDS: _("Public bounds"),
        model.LEFT_OUT: _("Left out"),
    }
    unfit = {"text": model.BOUNDS, "decimal": model.VALUES}.get(kind)
    return {name: text for name, text in words.items() if name != unfit or name == chosen}


async def _result(workbench: RelatedWorkbench) -> None:
    result = workbench.last_result(
        "Nothing was made yet.", "Choose and make the tables", name="made"
    )
    if result is None:
        return
    lead(
        "New persons with new rows: none is a real person's. Keys are new numbers, and each of "
        "them fits."
    )
    ui.link(_("Other settings"), workbench.address("declare"))
    notice(
        "The tables themselves are covered by the privacy loss. The figures and drawings here "
        "compare them with the real rows, and are not: keep them to yourself."
    )
    for warning in result["warnings"]:
        notice(render(warning))
    if result["not_found"]:
        notice(
            "Of some columns no value was frequent enough to be found, so they are empty: "
            "{columns}. List their values, or leave out columns that nobody needs.",
            columns=", ".join(result["not_found"]),
        )
    real = {each["name"]: each["rows"] for each in workbench.tables}
    show_table(
        [_("table"), _("rows before"), _("rows now"), _("rows of one person"), _("noise")],
        [
            [name, real.get(name), rows, most, deviation]
            for name, rows, _width, most, deviation in result["rows"]
        ],
        caption=_(
            "Rows of one person: as many count at most. Noise: the standard deviation of a count"
        ),
    )
    promise(result["guarantee"], simulation=result["simulation"])
    for each in result["tables"]:
        await _compare(workbench, each)
    workbench.take_away(
        [
            (
                jobs.ARCHIVE,
                "folder_zip",
                _("Synthetic tables"),
                _("all tables with their certificate, to be published"),
            ),
            *(
                (f"made-{each['name']}.csv", "table_view", each["name"], _("CSV, one of them"))
                for each in result["tables"]
            ),
            certificate_file("certificate.json", "made"),
            report_file("report.html"),
            (jobs.DECLARED, "description", _("Declaration"), _("how the tables hang together")),
        ]
    )
    workbench.same_elsewhere(
        model.code(workbench.state["sample"], result["parameters"], seed=result["seed"]),
        _(
            "Put the declaration, {file}, where you work, and your tables into the folder.",
            file=jobs.DECLARED,
        ),
    )


async def _compare(workbench: RelatedWorkbench, found: Mapping[str, Any]) -> None:
    """One table beside the new one."""
    name_heading(str(found["name"]))
    names = (f"real-{found['name']}", f"made-{found['name']}")
    sides = await in_thread(both_sides, workbench.work.folder, names)
    if sides is not None:  # None where the studio is closing
        side_by_side(*sides, (_("Original"), _("Synthetic")))
    drawn = list(found["distributions"])
    if found["rows_of_one"] is not None:
        title = _("rows of {table} that belong together", table=found["name"])
        drawn.insert(0, found["rows_of_one"] | {"column": title})
    with ui.expansion(_("Distributions ({count})", count=number(len(drawn))), value=True).classes(
        "w-full"
    ):
        quiet("Broad bars are the originals, narrow ones the synthetic tables.")
        charts.distributions(drawn, (_("original"), _("synthetic")))
