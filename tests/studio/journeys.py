"""Work of a visitor behind every door, made by clicks as a visitor makes it, and its pages."""

from __future__ import annotations

import re
from collections.abc import Callable
from urllib.parse import urlsplit

from playwright.sync_api import Page

from celosia.studio.publish.pages.results import VIEWS
from tests.studio.conftest import Visit

WORK = re.compile(r"/[a-z]+/[A-Za-z0-9_-]{11}")


def publish(visit: Visit) -> list[str]:
    """The nine patients, to the last view of the results."""
    start = _sample(visit, "publish", "patients")
    visit.open(f"{start}?step=models")
    _run(visit.page, "**/results")
    visit.page.locator("[data-test=view-summary]").wait_for()
    steps = [f"{start}?step={step}" for step in ("columns", "hierarchies", "models")]
    return [*steps, *(f"{start}/results?view={view}" for view in VIEWS)]


def mask(visit: Visit) -> list[str]:
    """Incomes that are masked, as a table and as a stream, and synthesised."""
    start = _sample(visit, "mask", "incomes")
    _run(visit.page, "**step=result**")
    made = start.replace("/mask/", "/synthesise/")
    steps = ("columns", "recipe", "result", "map", "stream")
    return [*(f"{start}?step={step}" for step in steps), made]


def graphs(visit: Visit) -> list[str]:
    """The karate club."""
    start = _sample(visit, "graphs", "karate")
    _run(visit.page, "**step=result**")
    return [f"{start}?step={step}" for step in ("method", "result", "attacks")]


def traces(visit: Visit) -> list[str]:
    """People of a town."""
    start = _sample(visit, "traces", "town")
    _run(visit.page, "**step=result**")
    visit.open(f"{start}?step=private")
    visit.press("run")
    visit.page.locator("[data-test='file-private.csv']").wait_for()
    return [f"{start}?step={step}" for step in ("method", "result", "private")]


def texts(visit: Visit) -> list[str]:
    """Spanish notes."""
    start = _sample(visit, "texts", "notes_en")
    _run(visit.page, "**step=result**")
    visit.open(f"{start}?step=terms")
    visit.press("run")
    visit.page.locator("[data-test='file-terms.csv']").wait_for()
    return [f"{start}?step={step}" for step in ("find", "review", "result", "terms")]


def logs(visit: Visit) -> list[str]:
    """Searches of people."""
    start = _sample(visit, "logs", "searches")
    _run(visit.page, "**step=result**")
    return [f"{start}?step={step}" for step in ("fields", "result", "keys", "plan")]


def query(visit: Visit) -> list[str]:
    """A shop, of which one question was asked."""
    start = _sample(visit, "query", "shop")
    visit.page.locator("[data-test=ask]").click()
    visit.page.get_by_text("epsilon 9").first.wait_for()
    return [start, f"{start}/policy", f"{start}/batch"]


def related(visit: Visit) -> list[str]:
    """A clinic with its visits."""
    start = _sample(visit, "related", "clinic")
    visit.open(f"{start}?step=declare")
    _run(visit.page, "**step=result")
    return [f"{start}?step={step}" for step in ("tables", "declare", "result")]


def survey(visit: Visit) -> list[str]:
    """A question to the browsers in the room."""
    page = visit.open("/collect/live")
    page.locator(".celosia-main button").last.click()
    page.locator('[data-test="device-address"]').wait_for()
    start = urlsplit(page.url).path
    return [start, f"{start}/device"]


def sweep(visit: Visit) -> list[str]:
    """Some runs of one protocol."""
    page = visit.open("/collect/sweep")
    page.locator('[data-test="sweep-users"]').fill("100, 300")
    page.locator('[data-test="sweep-epsilon"]').fill("4")
    visit.press("run-sweep")
    page.wait_for_url(re.compile(r"/collect/sweep/[A-Za-z0-9_-]{11}"))
    page.locator("canvas").first.wait_for()
    return [urlsplit(page.url).path]


def school(visit: Visit) -> list[str]:
    """A class, its board, and a seat with its task."""
    page = visit.open("/class")
    page.locator('[data-test="title"]').fill("Privacy")
    page.locator('[data-test="school"]').click()
    code = page.locator('[data-test="code"]').inner_text().replace(" ", "")
    page.wait_for_function("window.socket !== undefined && window.socket.connected")
    page.locator('[data-test="set-task"]').click()
    page.locator(".celosia-tasks li").first.wait_for()
    return [f"/class/{code}/teach", f"/class/{code}/board", f"/class/join/{code}"]


JOURNEYS: dict[str, Callable[[Visit], list[str]]] = {
    "publish": publish,
    "mask": mask,
    "graphs": graphs,
    "traces": traces,
    "texts": texts,
    "logs": logs,
    "query": query,
    "related": related,
    "survey": survey,
    "sweep": sweep,
    "school": school,
}


def _sample(visit: Visit, door: str, name: str) -> str:
    """Take a sample; the address of its work."""
    page = visit.open(f"/{door}")
    page.locator(f'[data-test="sample-{name}"]').click()
    page.wait_for_url(WORK)
    page.wait_for_function("window.socket !== undefined && window.socket.connected")
    found = WORK.match(urlsplit(page.url).path)
    assert found is not None
    return found[0]


def _run(page: Page, result: str) -> None:
    page.locator('[data-test="run"]').first.click()
    page.wait_for_url(result)
    page.wait_for_function("window.socket !== undefined && window.socket.connected")
