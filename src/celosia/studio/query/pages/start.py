"""Query: choose a database to ask, or bring tables and say what may be asked of them."""

from __future__ import annotations

from nicegui import ui

from celosia.studio.language import _
from celosia.studio.query import databases, jobs
from celosia.studio.samples import Sample
from celosia.studio.shell import page, show_problem, visitor
from celosia.studio.visitors import Work
from celosia.studio.widgets.job_progress import start
from celosia.studio.widgets.method_form import sample_cards
from celosia.studio.widgets.text import heading, lead, main_heading, name_editor, paragraph
from celosia.studio.widgets.upload import SUFFIXES, upload
from celosia.studio.worker import task

KIND = "query"
SAMPLES = (
    Sample(
        name="shop",
        title="A shop, in SQL",
        about="Customers, their orders and lines, invented. Ask with joins.",
    ),
    Sample(
        name="graph",
        title="A network of buyers, in SPARQL",
        about="Who follows whom and likes what, as RDF facts.",
    ),
)


@page("/query", "Query", door="/query")
def choose() -> None:
    """Samples, own tables, earlier work."""
    main_heading("Query private data")
    lead(
        "An answer is the exact result plus noise that protects every person. Each query "
        "is charged to a privacy budget; when the budget is spent, queries are refused."
    )
    heading("Try with sample data")
    place = ui.column().classes("w-full")

    def make(sample: Sample) -> None:
        made = visitor().new_work(KIND)
        made.save("shown", sample.name)
        place.clear()
        with place:
            start(
                _("Making the database"),
                task(jobs.make_sample, folder=str(made.folder), sample=sample.name),
                on_done=lambda _nothing: ui.navigate.to(f"/query/{made.id}"),
                address=f"/query/{made.id}",
            )

    sample_cards(SAMPLES, make)
    heading("Bring your own tables")
    paragraph(
        "Each file becomes a table, and a SQLite database all of its tables. Then say what each "
        "column means, whom to protect and how much may be spent: a policy is drafted for you."
    )
    table = ui.input(
        _("Name of the table"),
        value="people",
        validation={
            _("Small letters, digits and _ only"): lambda text: (
                text.isascii()
                and text.replace("_", "a").isalnum()
                and text == text.lower()
                and text[:1].isalpha()
                and len(text) <= 40
            )
        },
    )

    def arrived(made: Work, file: str, shown: str) -> None:
        if not table.validate():
            made.remove()
            return show_problem(
                _("The table has no name that can be used."),
                _("Questions call the table by it."),
                _("Write a name of small letters, digits and _ above, then bring the file again."),
            )
        made.save("shown", shown)
        start(
            _("Reading the file"),
            task(jobs.bring, folder=str(made.folder), file=file, shown=shown, table=table.value),
            on_done=lambda text: _drafted(made, text),
            address=f"/query/{made.id}/policy",
            attend=True,
        )

    upload(lambda: visitor().new_work(KIND), arrived, suffixes=(*SUFFIXES, *databases.SUFFIXES))
    _earlier()


def _drafted(made: Work, text: str) -> None:
    made.save("draft", text)
    ui.navigate.to(f"/query/{made.id}/policy")


def _earlier() -> None:
    works = [each for each in visitor().works(KIND) if each.path("policy.toml").is_file()]
    if not works:
        return
    heading("Your databases")
    for each in works:
        with ui.row().classes("items-center"):
            ui.link(_shown(each), f"/query/{each.id}")
            ui.button(
                _("Delete now"), icon="delete", on_click=lambda each=each: _removed(each)
            ).props("flat dense")


def _shown(work: Work) -> str:
    """What a database is called: one of ours, or the file that was brought."""
    name = str(work.load("shown", ""))
    return next((_(each.title) for each in SAMPLES if each.name == name), name)


def _removed(each: Work) -> None:
    each.remove()
    ui.navigate.to("/query")


@page("/query/{work_id}/policy", "Policy", door="/query")
def policy(work_id: str) -> None:
    """The draft of a policy, to be filled in, with what is still wrong."""
    made = visitor().work(work_id, KIND)
    main_heading("Allowed queries")
    lead(
        "Fill in the draft: whom to protect ([unit]), how much may be spent ([budget]), and "
        "the bounds of each number. Nothing here may be measured on the data."
    )
    file = made.path("policy.toml")
    text = file.read_text("utf-8") if file.is_file() else str(made.load("draft", ""))
    editor = ui.codemirror(text, language="TOML").classes("w-full q-mt-md celosia-editor")
    editor.style("height: 24rem")
    name_editor(editor, _("The policy, as TOML"))
    result = ui.column().classes("w-full")

    def check() -> None:
        result.clear()
        made.save("draft", editor.value)
        with result:
            start(
                _("Checking the policy"),
                task(jobs.check, folder=str(made.folder), text=editor.value),
                on_done=lambda _schema: ui.navigate.to(f"/query/{work_id}"),
            )

    ui.button(_("Check and open"), icon="verified", on_click=check).classes("q-my-md")
    result.move(target_index=-1)
