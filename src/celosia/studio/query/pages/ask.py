"""Query: the editor, the plan and its price, the answer, and what is left of the budget."""

from __future__ import annotations

from dataclasses import asdict
from html import escape
from typing import Any

from nicegui import ui

from celosia.core.messages import capital, render, unit_word
from celosia.queries import METHODS, QueryRequest
from celosia.studio.language import _, figure, n_, number, short
from celosia.studio.query import jobs, model
from celosia.studio.query.model import PlanBranch
from celosia.studio.query.pages.ledger import amounts, show_account
from celosia.studio.query.pages.start import KIND
from celosia.studio.shell import page, visitor
from celosia.studio.visitors import Work
from celosia.studio.widgets import chart
from celosia.studio.widgets.code import show_code
from celosia.studio.widgets.job_progress import start
from celosia.studio.widgets.table import key_figures, show_table
from celosia.studio.widgets.text import (
    heading,
    main_heading,
    name_editor,
    paragraph,
    quiet,
)
from celosia.studio.worker import task

EPSILONS = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0)


@page("/query/{work_id}", "Query", door="/query")
def ask_page(work_id: str, epsilon: float | None = None) -> None:
    """The bench: what may be asked on the left, the question in the middle, the budget below."""
    made = visitor().work(work_id, KIND)
    main_heading("Query private data")
    place = ui.column().classes("w-full")
    with place:
        start(
            _("Opening the database"),
            task(jobs.schema, folder=str(made.folder)),
            on_done=lambda schema: _QueryWorkbench(made, schema, epsilon),
        )


class _QueryWorkbench:
    """One database that is being asked."""

    def __init__(self, made: Work, schema: dict[str, Any], epsilon: float | None) -> None:
        self._work = made
        last = made.load("question", {})
        epsilon = epsilon if epsilon is not None else float(last.get("epsilon", 0.5))
        self._is_sql = schema["language"] == "SQL"
        self._analyst: ui.select | ui.input | None = None
        with ui.element("div").classes("celosia-split"):
            with ui.column():
                _schema(schema, made)
            with ui.column():
                self._question(str(last.get("query", "")), model.examples(schema))
                self._who(schema["who"], last.get("analyst"))
                self._accuracy()
                self._settings(last)
                self._price(epsilon)
        self._result = ui.column().classes("w-full q-mt-md")
        self._code = ui.column().classes("w-full")
        heading("Budget", 2)
        self._ledger = ui.column().classes("w-full")
        self._show_ledger()

    def _question(self, query: str, examples: tuple[tuple[str, str], ...]) -> None:
        heading("Question", 2)
        self._text = ui.codemirror(
            query or examples[0][1],
            language="SQL" if self._is_sql else "SPARQL",
            line_wrapping=True,
            on_change=self._keep,
        ).classes("w-full celosia-editor")
        self._text.style("height: 10rem")
        name_editor(self._text, _("The question"))
        with ui.row().classes("gap-1"):
            for title, text in examples:
                ui.button(_(title), on_click=lambda text=text: self._text.set_value(text)).props(
                    "flat dense no-caps"
                )

    def _who(self, who: dict[str, Any] | None, last: str | None) -> None:
        """Who asks, where the policy names analysts or sells answers."""
        if who is None:
            return
        label = _("Analyst who asks")
        if who["are_all"]:
            first = last if last in who["names"] else who["names"][0]
            self._analyst = ui.select(who["names"], label=label, value=first, on_change=self._keep)
        else:
            self._analyst = ui.input(
                label, value=last or "", autocomplete=who["names"], on_change=self._keep
            )
            quiet("Budgets and invoices are by analyst. Without a name, anybody asks.")
        self._analyst.style("width: 16rem").props["data-test"] = "analyst"

    def _settings(self, last: dict[str, Any]) -> None:
        """What is seldom chosen: the method, delta, and ranges that cost something."""
        methods = {"": _("The one of least error")} | {
            name: capital(model.method_label(name)) for name in METHODS
        }
        given = [last.get("method"), last.get("delta"), last.get("rank_intervals")]
        with (
            ui.expansion(_("More settings"), value=any(given))
            .classes("w-full celosia-quiet")
            .props("data-test=settings"),
            ui.element("div").classes("celosia-parameters"),
        ):
            with ui.element("div").classes("celosia-parameter"):
                self._method = ui.select(
                    methods,
                    label=_("Method"),
                    value=last.get("method") or "",
                    on_change=self._keep,
                ).props("data-test=method")
                self._method.classes("w-full")
                quiet(
                    "The largest groups are chosen privately where a question orders groups by a "
                    "count and takes the first few: only they are told."
                )
            with ui.element("div").classes("celosia-parameter"):
                self._delta = ui.number(
                    "delta", value=last.get("delta") or 0, min=0, max=1, on_change=self._keep
                ).props("data-test=delta step=any debounce=400")
                self._delta.classes("w-full")
                quiet(
                    "The chance that the promise fails, such as 1e-6. Gaussian noise and groups "
                    "that are not declared need it."
                )
            with ui.element("div").classes("celosia-parameter"):
                self._ranges = ui.checkbox(
                    _("Ranges of least, greatest and median values too"),
                    value=bool(last.get("rank_intervals")),
                    on_change=self._keep,
                ).props("data-test=rank-intervals")
                quiet("For half of their epsilon; without, nothing says how far they are off.")

    @property
    def _asking(self) -> str | None:
        """The analyst; None is anybody."""
        return None if self._analyst is None else str(self._analyst.value or "").strip() or None

    def _price(self, epsilon: float) -> None:
        """The epsilon of the question, and what can be done with it."""
        self._epsilon = ui.toggle([], on_change=self._keep).props(
            'no-caps padding="xs sm" data-test=epsilon'
        )
        self._epsilon.props["aria-label"] = "epsilon"
        self._choose(epsilon if epsilon > 0 else 0.5)
        quiet(
            "epsilon, the privacy loss: stronger privacy on the left, a more accurate "
            "answer on the right"
        )
        with ui.row().classes("q-my-sm"):
            ui.button(_("Explain (free)"), icon="account_tree", on_click=self._explain).props(
                "outline data-test=explain"
            )
            ui.button(_("Ask"), icon="send", on_click=self._ask).props("data-test=ask")
            ui.button(
                _("Compare with the true answer"), icon="balance", on_click=self._compare
            ).props("flat data-test=compare")

    def _accuracy(self) -> None:
        """How accurate the answer shall be: epsilon follows from it."""
        heading("How accurate", 3)
        with ui.row().classes("items-center"):
            share = ui.number(_("Within (%)"), value=5, min=0.01, max=100).style("width: 7rem")
            size = ui.number(_("of an answer of about"), min=0, value=None).style("width: 15rem")
            size.tooltip(_("Your own guess: nothing is looked up in the data for it."))
            for box, name in ((share, "share"), (size, "size")):
                box.props["data-test"] = f"accuracy-{name}"
            button = ui.button(_("Find epsilon (free)"), icon="straighten")
            button.props("outline data-test=find-epsilon")
            button.bind_enabled_from(size, "value", bool)
        quiet(
            "19 times in 20 the answer is then within that share of the exact one. It follows from "
            "the policy and the question; how much people add is a guess where it is not declared."
        )
        place = ui.column().classes("w-full")

        def found() -> None:
            within = float(share.value or 0) / 100 * float(size.value or 0)
            place.clear()
            with place:
                start(
                    _("Planning the answer"),
                    task(
                        jobs.find_epsilon,
                        folder=str(self._work.folder),
                        request=self._request(),
                        within=within,
                    ),
                    on_done=lambda epsilon: chosen(epsilon, within),
                    attend=True,
                )

        def chosen(epsilon: float, within: float) -> None:
            self._choose(epsilon)
            text = _(
                "epsilon {epsilon}: within {within} of the exact answer, 19 times in 20.",
                epsilon=short(epsilon),
                within=short(within),
            )
            ui.label(text).props('role="status" data-test=found-epsilon')

        button.on_click(found)

    def _choose(self, epsilon: float) -> None:
        """Choose an epsilon, which need not be one of the usual ones."""
        values = sorted({*EPSILONS, epsilon})
        self._epsilon.set_options({each: short(each) for each in values}, value=epsilon)

    def _request(self, *, of_owner: bool = False) -> QueryRequest:
        """The question as it stands."""
        return QueryRequest(
            str(self._text.value),
            epsilon=float(self._epsilon.value),
            delta=float(self._delta.value or 0),
            method=str(self._method.value) or None,
            analyst=None if of_owner else self._asking,
            rank_intervals=bool(self._ranges.value),
        )

    def _keep(self) -> None:
        """Keep what is typed, for a reload."""
        if self._epsilon.value is not None:
            self._work.save("question", asdict(self._request()))

    def _start(self, title: str, function: Any, on_done: Any, *, of_owner: bool = False) -> None:
        self._result.clear()
        self._code.clear()
        self._keep()
        request = self._request(of_owner=of_owner)
        with self._result:
            start(
                title,
                task(function, folder=str(self._work.folder), request=request),
                on_done=on_done,
                on_end=self._show_ledger,
                address=f"/query/{self._work.id}",
            )
        command = (_("Command line"), model.command_text(request))
        with self._code:
            if of_owner:
                show_code([(command[0], f"{command[1]} --curator")])
            else:
                show_code([command, ("Python", model.python_text(request))])

    def _explain(self) -> None:
        self._start(_("Planning the answer"), jobs.explain, _plan)

    def _ask(self) -> None:
        self._start(_("Asking the database"), jobs.ask, _answer)

    def _compare(self) -> None:
        self._start(_("Comparing with the true answer"), jobs.compare, _comparison, of_owner=True)

    def _show_ledger(self) -> None:
        self._ledger.clear()
        with self._ledger:
            start(
                _("Reading the ledger"),
                task(jobs.account, folder=str(self._work.folder)),
                on_done=lambda found: show_account(self._work, found),
            )


def _small(delta: float) -> str:
    """A delta, which has many zeros: 1e-06."""
    return f"{delta:g}"


def _spent(price: dict[str, Any]) -> str:
    """An epsilon with its delta."""
    return f"epsilon {short(price['epsilon'])}, delta {_small(price['delta'])}"


def _schema(schema: dict[str, Any], made: Work) -> None:
    heading("Allowed queries", 2)
    budget = schema["budget"]
    paragraph(
        "Protected: every {unit}, with all that belongs to it. Budget: epsilon {epsilon}, "
        "delta {delta}.",
        unit=unit_word(schema["unit"]["name"]),
        epsilon=short(budget["epsilon"]),
        delta=_small(budget["delta"]),
    )
    quiet(
        "Each question costs at least epsilon {least}; at most {questions} questions a day.",
        least=short(schema["least_epsilon"]),
        questions=number(schema["questions_per_day"]),
    )
    for each in schema["warnings"]:
        with ui.card().classes("celosia-warning w-full q-my-sm").props('role="note"'):
            ui.label(render(each))
    ui.link(_("See or change the policy"), f"/query/{made.id}/policy")
    ui.link(_("Batch of questions, for the owner"), f"/query/{made.id}/batch")
    with ui.element("div").classes("celosia-list").props('tabindex="0"'):
        for name, table in schema["tables"].items():
            _table(name, table)


def _table(name: str, table: dict[str, Any]) -> None:
    text = _("public") if table["public"] else _("private")
    with ui.expansion(f"{name} ({text})").classes("w-full").props("dense"):
        show_table(
            [_("Column"), _("Type"), _("Known of it")],
            [[column, facts["type"], _known(facts)] for column, facts in table["columns"].items()],
        )


def _known(facts: dict[str, Any]) -> str:
    parts = []
    if "lower" in facts and "upper" in facts:
        parts.append(
            _("from {lower} to {upper}", lower=short(facts["lower"]), upper=short(facts["upper"]))
        )
    if "keys" in facts:
        parts.append(n_("{count} key", "{count} keys", len(facts["keys"])))
    if facts.get("unique"):
        parts.append(_("unique"))
    if "most" in facts:
        parts.append(_("at most {most} a person", most=number(facts["most"])))
    return ", ".join(parts)


def _plan(plan: dict[str, Any]) -> None:
    heading("How it would be answered", 2)
    ui.html(_nested(model.tree(plan["tree"])), sanitize=False)  # escaped there
    key_figures(
        [
            figure("Price", _spent(plan), "of the whole question"),
            figure(
                "Neighbours",
                render(plan["neighbours"]),
                "the difference between two neighbouring databases",
            ),
            figure(
                "Method",
                model.method_label(plan["method"]),
                "how the contribution of one person is bounded",
            ),
        ]
    )
    show_table(
        [_("Measured"), _("Mechanism"), _("One unit adds"), "epsilon", _("Typical error")],
        [
            [
                render(part["name"]),
                render(part["mechanism"]),
                render(part["bound"]),
                part["epsilon"],
                _("not public") if part["error"] is None else part["error"],
            ]
            for part in plan["parts"]
        ],
        caption=_("Nothing was spent: all of this follows from the policy and the question"),
    )
    for note in (*plan["notes"], *([plan["price"]] if "price" in plan else [])):
        ui.label(render(note)).classes("celosia-quiet")
    quiet(
        "The typical error is the usual size of the noise, in the unit of the answer: orders "
        "for a count of orders, a price for a mean price."
    )
    if len(plan["curve"]) > 1:
        heading("More accurate answers cost more", 3)
        chart.lines(
            [(_("Typical error"), plan["curve"])],
            description=_("The typical error of the first number falls as epsilon grows."),
            x="epsilon",
            y=_("Typical error"),
            log_x=True,
            log_y=True,
            height="16rem",
        )


def _comparison(found: dict[str, Any]) -> None:
    """True and private numbers side by side: what is seen here is never shown to an analyst."""
    heading("For the owner of the data only", 2)
    paragraph(
        "This shows true answers. Nothing was charged, because nothing may be passed on: not to "
        "an analyst, not in a report."
    )
    rows = []
    for each in found["numbers"]:
        errors = each["errors"] or {}
        rows.append(
            [
                ", ".join(map(str, (*each["group"], each["name"]))),
                *(each["true"], each["private"]),
                *(errors.get("mean_absolute"), errors.get("mean_relative")),
            ]
        )
    show_table(
        [_("Number"), _("True"), _("Private"), _("Mean error"), _("Relative error")],
        [["" if cell is None else cell for cell in row] for row in rows],
        caption=_("Errors are means over {runs} private answers", runs=number(found["runs"])),
    )
    _plan(found["plan"] | {"curve": []})


def _nested(branches: list[PlanBranch]) -> str:
    """The tree of a plan as nested lists, every word escaped."""
    items = []
    for each in branches:
        text, why = render(each.text), render(each.reason)
        reason = f'<div class="celosia-quiet">{escape(why)}</div>' if why else ""
        items.append(f"<li><code>{escape(text)}</code>{reason}{_nested(each.parts)}</li>")
    return f'<ul class="celosia-plan">{"".join(items)}</ul>' if items else ""


def _answer(answer: dict[str, Any]) -> None:
    heading("Answer", 2)
    if answer["stored"]:
        quiet(
            "This question was answered before: the same answer again, for free. Asking for a "
            "new one would cost again."
        )
    rows = answer["rows"]
    names = list(rows[0]) if rows else []
    noisy = [name for name in names if any(_band(answer, at, name) for at in range(len(rows)))]
    if len(rows) == 1 and len(noisy) == 1:
        low, high = _band(answer, 0, noisy[0]) or (None, None)
        key_figures(
            [
                (noisy[0], short(rows[0][noisy[0]]), _("with noise that protects every person")),
                *(
                    []
                    if low is None or high is None
                    else [(_("Range"), _interval_text((low, high)), _surely(answer))]
                ),
            ]
        )
    else:
        _groups(answer, names, noisy)
    if answer["more"]:
        quiet(
            n_(
                "{count} more row is not shown here.",
                "{count} more rows are not shown here.",
                answer["more"],
            )
        )
    _price(answer)


def _groups(answer: dict[str, Any], names: list[str], noisy: list[str]) -> None:
    rows = answer["rows"]
    labels = [", ".join(str(row[name]) for name in names if name not in noisy) for row in rows]
    if noisy and len(rows) > 1:
        first = noisy[0]
        bands = [_band(answer, at, first) or (row[first],) * 2 for at, row in enumerate(rows)]
        chart.chart(
            {
                "xAxis": chart.axis("", kind="category", data=labels),
                "yAxis": chart.axis(first),
                "series": [
                    {"type": "bar", "name": first, "data": [row[first] for row in rows]},
                    chart.ranges(_("Range"), bands),
                ],
            },
            description=_(
                "Bars of {name} for each group, with the range of the noise.", name=first
            ),
        )
    heads = [word for name in names for word in ((name, _("range")) if name in noisy else (name,))]
    show_table(
        heads,
        [
            [
                cell
                for name in names
                for cell in (
                    (row[name], _interval_text(_band(answer, at, name)))
                    if name in noisy
                    else (row[name],)
                )
            ]
            for at, row in enumerate(rows)
        ],
        caption=_surely(answer),
    )


def _band(answer: dict[str, Any], at: int, name: str) -> tuple[float, float] | None:
    """The range of a number: of its noise under chosen caps, else of the exact answer."""
    value = answer["rows"][at].get(name)
    noise = answer["noise_only"][at].get(name)
    if noise is not None and value is not None:
        return value - noise, value + noise
    found = answer["intervals"][at].get(name)
    if found is None or found[0] is None or found[1] is None:
        return None
    return found[0], found[1]


def _interval_text(band: tuple[float, float] | None) -> str:
    return "" if band is None else _("{low} to {high}", low=short(band[0]), high=short(band[1]))


def _surely(answer: dict[str, Any]) -> str:
    if any(answer["noise_only"]):
        return _(
            "The range of the noise, 19 times in 20; what the chosen caps cut off is not in it"
        )
    return _("The exact answer is in the range 19 times in 20")


def _price(answer: dict[str, Any]) -> None:
    left = answer["left"]
    key_figures(
        [
            figure(
                "Cost",
                _("nothing") if answer["stored"] else _spent(answer),
                "taken from the budget before the data was touched",
            ),
            *(
                []
                if left is None
                else [
                    figure(
                        "Left",
                        _spent({"epsilon": left, "delta": answer["left_delta"]})
                        if answer["left_as"] is None
                        else amounts(answer["left_as"]),
                        "for all later questions",
                    )
                ]
            ),
        ]
    )
    for note in (*answer["warnings"], *([answer["price"]] if "price" in answer else [])):
        ui.label(render(note)).classes("celosia-quiet")
