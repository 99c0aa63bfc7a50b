"""The tray: up to four candidates in one table with their differences marked."""

from __future__ import annotations

from html import escape

from nicegui import ui

from celosia.studio.language import _, n_, number, percent, short
from celosia.studio.publish import model_kinds, results_tray
from celosia.studio.publish.pages.results_parts import Results, apply, keep, metric_name
from celosia.studio.publish.results_tray import Candidate
from celosia.studio.widgets.empty import draw_empty
from celosia.studio.widgets.text import heading, lead, paragraph, quiet

NAMES = "ABCD"


def show(found: Results) -> None:
    """The candidates beside each other."""
    heading("Compare candidates", 2)
    lead(
        "Keep up to four candidates here: this release, or points of the trade-off. Rows in "
        "which they differ are marked with ≠."
    )
    tray = results_tray.load(found.work)
    release = Candidate.of_release(found.facts)
    with ui.row().classes("items-center q-mb-md"):
        if release not in tray and len(tray) < results_tray.MOST:
            ui.button(
                _("Add this release"), icon="playlist_add", on_click=lambda: _added(found, release)
            ).props("outline")
        ui.link(_("Find candidates in the trade-off"), found.address("tradeoff"))
    if not tray:
        draw_empty("comparison")
        quiet("Nothing to compare yet.")
        return
    ui.html(_table(tray, release), sanitize=False)  # all cells are escaped
    _words(tray)
    heading("What to do with them", 3)
    for place, candidate in enumerate(tray):
        with ui.row().classes("items-center"):
            paragraph("Candidate {name}", name=NAMES[place])
            _apply_button(found, candidate, release)
            ui.button(
                _("Remove"),
                icon="close",
                on_click=lambda place=place: _removed(found, place),
            ).props("flat dense")


def _apply_button(found: Results, candidate: Candidate, release: Candidate) -> None:
    solutions = found.solutions
    if candidate == release:
        quiet("This is the release as it is now.")
        return
    same = (candidate.promise, candidate.suppression) == (release.promise, release.suppression)
    levels = tuple(level for level in candidate.levels if level is not None)
    if not same or solutions is None or not solutions.has(candidate.levels):
        quiet("From another run; run its models again to publish it.")
        return
    ui.button(
        _("Apply: publish like this"),
        icon="published_with_changes",
        on_click=lambda: apply(found, levels),
    ).props("flat dense")


def _added(found: Results, candidate: Candidate) -> None:
    keep(found, candidate)
    ui.navigate.to(found.address("compare"))


def _removed(found: Results, place: int) -> None:
    results_tray.remove(found.work, place)
    ui.navigate.to(found.address("compare"))


def _table(tray: list[Candidate], release: Candidate) -> str:
    differ = results_tray.differing(tray)
    rows = [
        ("promise", _("Models"), [_models(each) for each in tray]),
        ("score", metric_name(tray[0].metric), [percent(each.score, 2) for each in tray]),
        (
            "suppressed",
            _("Suppressed records"),
            [
                f"{number(each.suppressed)} ({percent(each.suppressed / each.rows)})"
                for each in tray
            ],
        ),
        ("classes", _("Classes"), [number(each.classes) for each in tray]),
        ("highest_risk", _("Smallest class, records"), [number(each.smallest) for each in tray]),
        ("average_risk", _("Average risk"), [percent(each.average_risk, 2) for each in tray]),
        ("highest_risk", _("Highest risk"), [percent(each.highest_risk, 2) for each in tray]),
    ]
    for name in dict.fromkeys(name for each in tray for name in each.columns):
        levels = [results_tray.level_of(each, name) for each in tray]
        facts = [_("of its own") if level is None else str(level) for level in levels]
        rows.append((f"level:{name}", _("Level of {column}", column=name), facts))
    here = f" · {escape(_('the release'))}"
    head = "".join(
        f'<th scope="col">{NAMES[place]}{here if each == release else ""}</th>'
        for place, each in enumerate(tray)
    )
    body = []
    for key, name, cells in rows:
        other = key in differ
        mark = f'<td title="{escape(_("they differ"))}">≠</td>' if other else "<td></td>"
        line = "".join(
            f'<td class="number">{f"<b>{escape(cell)}</b>" if other else escape(cell)}</td>'
            for cell in cells
        )
        body.append(f'<tr><th scope="row">{escape(name)}</th>{mark}{line}</tr>')
    return (
        '<div class="celosia-scroll" tabindex="0" role="region" '
        f'aria-label="{escape(_("Compare"))}">'
        '<table class="celosia-table" data-test="tray">'
        f'<thead><tr><th scope="col">{escape(_("figure"))}</th><th scope="col">≠</th>{head}</tr>'
        f"</thead><tbody>{''.join(body)}</tbody></table></div>"
    )


def _models(candidate: Candidate) -> str:
    """The models with their parameters, such as k-anonymity (k 5)."""
    facts = []
    for model in candidate.models:
        rest = [
            f"{key} {value if isinstance(value, str) else short(value)}"
            for key, value in model.items()
            if key != "method" and value is not None and not isinstance(value, bool)
        ]
        facts.append(f"{model_kinds.title(model['method'])} ({', '.join(rest)})")
    return "; ".join(facts)


def _words(tray: list[Candidate]) -> None:
    """The difference of each candidate from the first, in words."""
    first = tray[0]
    for place, each in enumerate(tray[1:], 1):
        cost = each.score - first.score
        sentence = (
            _(
                "{name} loses {points} points more than A",
                name=NAMES[place],
                points=number(100 * cost, 1),
            )
            if cost >= 0
            else _(
                "{name} loses {points} points less than A",
                name=NAMES[place],
                points=number(-100 * cost, 1),
            )
        )
        risk = _("its average risk is the same")
        if first.average_risk and each.average_risk != first.average_risk:
            risk = _(
                "its average risk is {times} times that of A",
                times=number(each.average_risk / first.average_risk, 2),
            )
        more = each.suppressed - first.suppressed
        gone = (
            n_(
                "it suppresses {count} record more",
                "it suppresses {count} records more",
                more,
            )
            if more > 0
            else _("it suppresses as many records")
            if more == 0
            else n_(
                "it suppresses {count} record less",
                "it suppresses {count} records less",
                -more,
            )
        )
        ui.label(f"{'; '.join((sentence, risk, gone))}.").classes("q-mt-sm")
