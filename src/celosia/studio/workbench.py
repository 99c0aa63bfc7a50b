"""One workbench for every door: load, form, run as a job, results, take away.

A door says once what it is (`Door`), and `start_page` makes its first page of it. The pages of one
piece of work open a `Workbench`: it keeps what was chosen as JSON, shows the steps, runs jobs and
hands out files.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, Self

from nicegui import ui

from celosia.core.errors import CelosiaError, InputError
from celosia.studio.language import _
from celosia.studio.parameters import MethodCard
from celosia.studio.runtime import studio
from celosia.studio.samples import Sample
from celosia.studio.shell import page, show_error, visitor, ways_on
from celosia.studio.uploads import Brought
from celosia.studio.visitors import Work
from celosia.studio.widgets import method_form
from celosia.studio.widgets.code import show_code
from celosia.studio.widgets.empty import draw_empty
from celosia.studio.widgets.job_progress import follow, start
from celosia.studio.widgets.text import heading, lead, main_heading, quiet
from celosia.studio.widgets.upload import SUFFIXES, upload
from celosia.studio.worker import JobProgress, Task, task

File = tuple[str, str, str, str]
"""A file to take away: its name, an icon, what it is called, what it is for."""


class Prepare(Protocol):
    """A job that puts a sample or an uploaded file in place, and saves the first state."""

    __module__: str
    __qualname__: str

    def __call__(self, progress: JobProgress, /, *, folder: str, brought: Brought) -> object:
        """Read what was brought to a folder."""


@dataclass(frozen=True, slots=True)
class WorkStep:
    """One page of a piece of work."""

    name: str
    """In the address; a whole address, with `{work}`, where it is a page of another door."""
    title: str
    icon: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Door:
    """What the workbench must know of a door; all texts are sentences of the catalogues."""

    name: str
    """Of its works, of the state that they keep, and of its addresses."""
    title: str
    steps: tuple[WorkStep, ...]
    first: str
    """The step that comes after reading."""
    prepare: Prepare
    samples: tuple[Sample, ...]
    size: Callable[[Mapping[str, Any]], str]
    """What is said of the size of a work, from its state."""
    heading: str
    """Of its first page."""
    about: str
    """What is done here."""
    bring: str
    """The heading above the place for a file."""
    kinds: str
    """Which files are read."""
    suffixes: tuple[str, ...] = SUFFIXES
    under: str = ""
    """The address of the door that it belongs to; nothing where it is one itself."""
    beside: WorkStep | None = None
    """The page of kindred work that begins elsewhere."""
    lenient: str = ""
    """What a visitor may allow of a file that is otherwise refused; nothing where it is empty."""

    def step(self, name: str) -> str:
        """The step that an address asks for; the first one where there is no such step."""
        return name if name in {each.name for each in self.steps} else self.first

    def address(self, work: Work, step: str) -> str:
        """The address of a step of a work."""
        if step.startswith("/"):
            return step.format(work=work.id)
        return f"/{self.name}/{work.id}?step={step}"


def start_page(door: Door) -> None:
    """Register the first page of a door: samples, the place for a file, and earlier work."""
    page(f"/{door.name}", door.title, door=door.under or f"/{door.name}")(lambda: _start(door))


def _start(door: Door) -> None:
    main_heading(door.heading)
    lead(door.about)
    if door.beside is not None:
        with ui.link(target=door.beside.name).classes("row items-center no-wrap q-mb-sm"):
            ui.icon(door.beside.icon).props('aria-hidden="true"').classes("q-mr-sm")
            ui.label(_(door.beside.title))
    heading("Try with a sample")
    progress = ui.element("div").classes("w-full")

    def choose(sample: Sample) -> None:
        progress.clear()
        with progress:
            read(visitor().new_work(door.name), _(sample.title), Brought(sample=sample.name))

    def arrived(work: Work, file: str, shown: str) -> None:
        lenient = allowed is not None and bool(allowed.value)
        read(work, shown, Brought(file=file, shown=shown, lenient=lenient))

    def read(work: Work, title: str, brought: Brought) -> None:
        asked = task(door.prepare, folder=str(work.folder), brought=brought)
        begin(work, title, asked, door.address(work, door.first), saved=door.name)

    method_form.sample_cards(door.samples, choose)
    heading(door.bring)
    quiet(door.kinds)
    allowed = ui.checkbox(_(door.lenient)).props('data-test="lenient"') if door.lenient else None
    upload(lambda: visitor().new_work(door.name), arrived, suffixes=door.suffixes)
    found = [
        (work, state) for work in visitor().works(door.name) if (state := work.load(door.name))
    ]
    if found:
        heading("Go on with")
    for work, state in found[:8]:
        with ui.row().classes("items-center"):
            ui.link(str(state["name"]), door.address(work, door.first)).classes("celosia-break")
            quiet(door.size(state))


def begin(work: Work, title: str, asked: Task[Any], address: str, *, saved: str) -> None:
    """Read what was brought, then go on; what was refused leaves nothing behind.

    Args:
        work: where it is kept.
        title: what the visitor calls it.
        asked: the job that reads it.
        address: where to go when it is read.
        saved: the name under which the job saves what it read.
    """

    def ended() -> None:
        if work.load(saved) is None:
            work.remove()

    job = start(
        _("Reading {name}", name=title),
        asked,
        on_done=lambda _result: ui.navigate.to(address),
        on_end=ended,
        address=address,
        attend=True,
    )
    if job is None:
        work.remove()


class Workbench:
    """One piece of work: what was read, chosen and found, shared by all pages of a door.

    A subclass names its `door`, and may give names to parts of the state.
    """

    door: ClassVar[Door]

    def __init__(self, work: Work) -> None:
        """Load the state of a work."""
        self.work = work
        self.state: dict[str, Any] = work.load(self.door.name) or {}
        if not self.state:
            raise InputError("CEL-W076")

    @classmethod
    def open(cls, work_id: str) -> Self:
        """The work of an address.

        Raises:
            InputError: CEL-W011, there is none; CEL-W076, it was not read to the end.
        """
        return cls(visitor().work(work_id, cls.door.name))

    @classmethod
    def open_at(cls, work_id: str, step: str) -> tuple[Self, str]:
        """The work of an address under its head, and the step that is meant."""
        workbench = cls.open(work_id)
        known = cls.door.step(step)
        workbench.head(known)
        return workbench, known

    def save(self, **values: Any) -> None:
        """Keep some values; other values that another window has changed stay."""
        self.state = (self.work.load(self.door.name) or self.state) | values
        self.work.save(self.door.name, self.state)

    @property
    def name(self) -> str:
        """What the visitor calls it."""
        return str(self.state["name"])

    @property
    def folder(self) -> str:
        """Where its files are, for a job."""
        return str(self.work.folder)

    @property
    def seed(self) -> int | None:
        """The seed of a simulation; None for a release."""
        found: int | None = self.state.get("seed")
        return found

    @property
    def choice(self) -> dict[str, Any]:
        """The chosen method and its parameters, where the work has one."""
        return dict(self.state["choice"])

    def choices(
        self, name: str, first: Mapping[str, Any]
    ) -> tuple[dict[str, Any], Callable[[str, Any], None]]:
        """What was chosen beside the method, by name, and what keeps one choice.

        Args:
            name: under which the state has it.
            first: what holds before anything is chosen.
        """
        chosen = dict(first) | dict(self.state.get(name, {}))

        def put(part: str, value: Any) -> None:
            chosen[part] = value
            self.save(**{name: dict(chosen)})

        return chosen, put

    def address(self, step: str) -> str:
        """The address of a step."""
        return self.door.address(self.work, step)

    def head(self, current: str) -> None:
        """The name of the work, its size, and the way to every step."""
        with ui.row().classes("items-baseline"):
            main_heading(self.door.title)
            ui.label(self.name).classes("celosia-quiet celosia-break")
            quiet(self.door.size(self.state))
        with ui.element("nav").classes("celosia-steps").props(f'aria-label="{_("Steps")}"'):
            for step in self.door.steps:
                with ui.link(target=self.address(step.name)).classes("celosia-step") as link:
                    ui.icon(step.icon).props('aria-hidden="true"')
                    ui.label(_(step.title))
                if step.name == current:
                    link.props('aria-current="step"')

    def seed_box(self) -> ui.number:
        """The seed: with one, a run is a simulation that can be repeated."""
        box = ui.number(
            _("Seed (for a simulation)"),
            value=self.seed,
            min=0,
            on_change=lambda event: self.save(
                seed=None if event.value is None else max(0, int(event.value))
            ),
        ).props("clearable debounce=400")
        box.style("min-width: 15rem")  # as its name
        box.tooltip(_("With a seed every draw can be repeated; leave it empty for a release."))
        return box

    def methods(
        self,
        families: Mapping[str, Sequence[str]],
        cards: Mapping[str, MethodCard],
        *,
        prefix: str,
        beside: Callable[[], object],
    ) -> MethodChoice:
        """The method to choose, with the form of its parameters and the seed.

        Args:
            families: the methods, those of like idea together.
            cards: each by its name.
            prefix: of the names of the controls.
            beside: draws what stands below the form.
        """

        def form() -> None:
            choice = self.choice
            card = cards[choice["method"]]
            with ui.card().classes("w-full").props('data-test="chosen"'):
                heading(card.title)
                quiet(card.summary)
                method_form.parameter_controls(
                    card.kind,
                    card.controls,
                    choice["parameters"],
                    [],
                    lambda parameters: self.save(choice=choice | {"parameters": parameters}),
                    prefix=prefix,
                )
                self.seed_box().classes("w-full")
                beside()

        return MethodChoice(
            families,
            cards,
            chosen=lambda: str(self.choice["method"]),
            choose=lambda kind: self.save(choice=cards[kind].first_choice()),
            form=form,
        )

    def run_button(
        self,
        label: str,
        title: str,
        asked: Callable[[], Task[Any]],
        *,
        result: str = "result",
        beside: Callable[[], object] = lambda: None,
    ) -> None:
        """A button that runs a job and goes to its result; a job that still runs is shown again.

        Args:
            label: of the button.
            title: what the job is called; `{name}` is the name of the work.
            asked: checks the choices and says what to do.
            result: the step, or the address, of the page with the result.
            beside: draws what stands beside the button.
        """
        with ui.row().classes("items-center q-mt-md"):
            button = ui.button(_(label), icon="play_arrow").props('data-test="run"')
            beside()
        place = ui.element("div").classes("w-full")
        button.on_click(lambda: self.run(place, title, asked, result))
        address = self.address(result)
        for job in studio().jobs.of(visitor().token):
            if job.address == address and not job.over:
                with place:
                    follow(job, on_done=lambda _result: ui.navigate.to(address))
                return

    def run(
        self,
        place: ui.element,
        title: str,
        asked: Callable[[], Task[Any]],
        result: str = "result",
    ) -> None:
        """Run a job at a place of the page and go to its result; what is wrong is said at once."""
        address = self.address(result)
        place.clear()
        with place:
            try:
                wanted = asked()
            except CelosiaError as error:
                show_error(error)
                return
            start(
                _(title, name=self.name),
                wanted,
                on_done=lambda _result: ui.navigate.to(address),
                address=address,
            )

    def last_result(self, missing: str, link: str, name: str = "result") -> Any:
        """What the last job saved; None where there is nothing yet, which is then said.

        Args:
            missing: what is said in the place of results that are not there.
            link: the way to them.
            name: under which the job saves it.
        """
        found = self.work.load(name)
        if found is None:
            draw_empty("release")
            lead(missing)
            ways_on([(_(link), self.address(self.door.first))])
        return found

    def published(self, cards: Mapping[str, MethodCard]) -> Any:
        """The last release, by the method that made it; None where there is none yet."""
        result = self.last_result("Nothing was published yet.", "Choose a method and publish")
        if result is not None:
            lead("Published by {method}.", method=cards[result["choice"]["method"]].title)
        return result

    def take_away(self, files: Sequence[File]) -> None:
        """The files of a result."""
        heading("Download")
        method_form.downloads(self.work.id, files)

    @staticmethod
    def same_elsewhere(texts: Sequence[tuple[str, str]], note: str = "") -> None:
        """The same as text: the command, the Python and the like, each with its name."""
        heading("The same elsewhere")
        if note:
            quiet(note)
        show_code([(_(name), text) for name, text in texts])


def certificate_file(name: str, data: str) -> File:
    """The certificate of a data file, to take away."""
    text = _(
        "what was done and is promised; beside the data call it {name}", name=f"{data}.cert.json"
    )
    return name, "verified", _("Certificate"), text


def report_file(name: str) -> File:
    """The report of a release, to take away."""
    text = _("all measures, for those who may see the original")
    return name, "description", _("Report"), text


class MethodChoice:
    """One method chosen among cards, with the form of its parameters.

    Args:
        families: the methods, those of like idea together.
        cards: each by its name.
        chosen: the name of the present one.
        choose: keeps another one.
        form: draws the present one.
    """

    def __init__(
        self,
        families: Mapping[str, Sequence[str]],
        cards: Mapping[str, Any],
        *,
        chosen: Callable[[], str],
        choose: Callable[[str], object],
        form: Callable[[], object],
    ) -> None:
        def changed(kind: str) -> None:
            choose(kind)
            self.form.refresh()
            shown.refresh()

        @ui.refreshable
        def shown() -> None:
            method_form.method_cards(families, cards, changed, label=_("Choose"), chosen=chosen())

        self.form = ui.refreshable(form)
        self._cards = shown

    def cards(self) -> None:
        """All methods, to choose another."""
        heading("Methods")
        self._cards()
