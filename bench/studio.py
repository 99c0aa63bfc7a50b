"""The studio in a real browser: first page, click, 12,960 points, and twenty visitors at once.

The bars: the first page within 2 s, an answer to a click within 200 ms, the scatter of 12,960
solutions within 2 s; twenty visitors who each load pages and run a job, without an error. Times are
of a Chromium without a window on the same machine as the studio: all twenty share its cores, so the
pages in the crowd are as slow as the machine is small. `ratios` are against the bars: below 1 is
good.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter, sleep
from typing import Any

from playwright.async_api import async_playwright

from celosia import datasets, tables
from celosia.studio.publish import results_solutions
from celosia.tables import Hierarchy, Role

FIRST_PAGE = DRAWN = 2.0
CLICK = 0.2
VISITORS = 20
CLICKS = 20
CHROMIUM = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
READY = "window.socket !== undefined && window.socket.connected"


def run() -> dict[str, dict[str, Any]]:
    """Seconds, and ratios against the bars."""
    with TemporaryDirectory(prefix="bench-") as folder, _studio(Path(folder)) as address:
        return asyncio.run(_measured(address, Path(folder)))


async def _measured(address: str, folder: Path) -> dict[str, dict[str, Any]]:
    async with _browser() as browser:
        first = await _first_pages(browser, address)
        drawn, clicks = await _scatter(browser, address, folder)
        quiet = await _visits(browser, address, 1)
        crowd = await _visits(browser, address, VISITORS)
    slowest = _share(clicks, 0.95)
    return {
        "seconds": {
            "first page, empty cache, median of 5": round(median(first), 3),
            "12,960 points, from the address to the drawing": round(drawn, 3),
            "click on a point, median": round(median(clicks), 3),
            "click on a point, 95 % are below": round(slowest, 3),
            "a page for one visitor, median": round(median(quiet.pages), 3),
            f"a page while {VISITORS} run jobs, median": round(median(crowd.pages), 3),
            f"a page while {VISITORS} run jobs, 95 % are below": round(
                _share(crowd.pages, 0.95), 3
            ),
            "a job from its click to its results, one visitor": round(median(quiet.jobs), 3),
            f"the same, {VISITORS} visitors, median": round(median(crowd.jobs), 3),
            f"the same, {VISITORS} visitors, the longest": round(max(crowd.jobs), 3),
        },
        "facts": {
            "visitors": VISITORS,
            "pages that they loaded": len(crowd.pages),
            "jobs that they ran": len(crowd.jobs),
            "errors": len(crowd.errors),
            "the first of them": next((each[:200] for each in crowd.errors), "none"),
            "processes that wanted a core, over cores": round(
                os.getloadavg()[0] / (os.cpu_count() or 1), 1
            ),
        },
        "ratios": {
            "first page / 2 s": round(median(first) / FIRST_PAGE, 2),
            "12,960 points / 2 s": round(drawn / DRAWN, 2),
            "click / 200 ms, median": round(median(clicks) / CLICK, 2),
            "click / 200 ms, 95 % are below": round(slowest / CLICK, 2),
            "page in the crowd / 2 s, 95 % are below": round(
                _share(crowd.pages, 0.95) / FIRST_PAGE, 2
            ),
        },
    }


@dataclass
class Visits:
    """What visitors waited for."""

    pages: list[float] = field(default_factory=list)
    jobs: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)


async def _first_pages(browser: Any, address: str) -> list[float]:
    taken = []
    for _ in range(6):
        context = await browser.new_context()
        page = await context.new_page()
        began = perf_counter()
        await page.goto(address)
        await page.wait_for_function(READY)
        taken.append(perf_counter() - began)
        await context.close()
    return taken[1:]


async def _scatter(browser: Any, address: str, folder: Path) -> tuple[float, list[float]]:
    """Seconds until all points are drawn, and of clicks on some of them until their figures."""
    context = await browser.new_context(viewport={"width": 1280, "height": 900})
    page = await context.new_page()
    work = await _published(page, address)
    [file] = folder.rglob(f"{work}/{results_solutions.FILE}")
    file.write_text(json.dumps(_every_node(json.loads(file.read_text()))))
    taken = []
    for _ in range(4):
        began = perf_counter()
        await page.goto(f"{address}/publish/{work}/results?view=tradeoff")
        await page.wait_for_function(
            """() => {
                const element = document.querySelector("[data-test=scatter]");
                const found = element && window.getElement(element.id.replace(/^c/, ""));
                const option = found && found.chart && found.chart.getOption();
                return option && option.series[0].data.length === 12960;
            }"""
        )
        taken.append(perf_counter() - began)
    await page.wait_for_function(READY)
    clicks = [await _click(page, 37 + 600 * place) for place in range(CLICKS)]
    await context.close()
    return median(taken[1:]), clicks


async def _click(page: Any, place: int) -> float:
    """Seconds from a click in the browser, through the studio, to what it changes on the page."""
    spot = await page.evaluate(
        """(place) => {
            const element = document.querySelector("[data-test=scatter]");
            const chart = window.getElement(element.id.replace(/^c/, "")).chart;
            const point = chart.getOption().series[0].data[place];
            const spot = chart.convertToPixel({seriesIndex: 0}, point);
            const box = element.getBoundingClientRect();
            window.taken = null;
            const detail = document.querySelector("[data-test=detail]");
            let began = null;
            element.addEventListener("mouseup", () => { began = performance.now(); },
                                     {capture: true, once: true});
            const observer = new MutationObserver(() => {
                if (began !== null) {
                    window.taken = performance.now() - began;
                    observer.disconnect();
                }
            });
            observer.observe(detail, {childList: true, subtree: true, characterData: true});
            return [box.x + spot[0], box.y + spot[1]];
        }""",
        place,
    )
    await page.mouse.click(*spot)
    await page.wait_for_function("window.taken !== null")
    taken: float = await page.evaluate("window.taken")
    await page.wait_for_timeout(50)
    return taken / 1000


async def _visits(browser: Any, address: str, visitors: int) -> Visits:
    visits = Visits()
    await asyncio.gather(*(_visit(browser, address, visits) for _ in range(visitors)))
    return visits


async def _visit(browser: Any, address: str, visits: Visits) -> None:
    """One visitor: look around, run a job, look at its results."""
    context = await browser.new_context()
    context.set_default_timeout(180_000)
    page = await context.new_page()
    page.on("pageerror", lambda error: visits.errors.append(str(error)))
    page.on("response", lambda got: visits.errors.extend([got.url] * (got.status >= 500)))
    try:
        for path in ("/", "/learn", "/publish"):
            await _load(context, f"{address}{path}", visits)
        work = await _published(page, address, visits)
        for view in ("summary", "tradeoff", "rows", "risk", "take"):
            await _load(context, f"{address}/publish/{work}/results?view={view}", visits)
    except Exception as error:
        visits.errors.append(str(error))
    finally:
        await context.close()


async def _load(context: Any, url: str, visits: Visits) -> None:
    began = perf_counter()
    answer = await context.request.get(url)
    visits.pages.append(perf_counter() - began)
    if answer.status != 200:
        visits.errors.append(f"{url}: {answer.status}")


async def _published(page: Any, address: str, visits: Visits | None = None) -> str:
    """Publish the sample of nine patients by clicks; the name of the work."""
    await page.goto(f"{address}/publish")
    await page.wait_for_function(READY)
    await page.click("[data-test=sample-patients]")
    await page.wait_for_url(re.compile(r"/publish/[A-Za-z0-9_-]{11}"))
    work = page.url.rsplit("/", 1)[1].partition("?")[0]
    await page.goto(f"{address}/publish/{work}?step=models")
    await page.wait_for_function(READY)
    began = perf_counter()
    await page.click("[data-test=run]")
    await page.wait_for_selector("[data-test=view-summary]")
    if visits is not None:
        visits.jobs.append(perf_counter() - began)
    return str(work)


def _every_node(told: dict[str, Any]) -> dict[str, Any]:
    """The solutions of the nine-column census without a limit to suppression: every node."""
    schema = datasets.census_schema()
    columns = tuple(
        tables.Column(each.name, Role.QUASI_IDENTIFIER, hierarchy=each.hierarchy)
        for each in schema.columns
    )
    census = datasets.census(5000)
    found = tables.explore(census, tables.Schema(columns), tables.KAnonymity(2), suppression=1.0)
    heights = [_height(each, census) for each in columns]
    points = [
        [list(p.levels), p.score, p.suppressed, p.classes, p.average_risk, p.highest_risk]
        for p in found.solutions
    ]
    front = {choice.levels for choice in found.front}
    assert len(points) == found.nodes == 12_960, "the lattice of the nine columns has changed"
    return told | {
        "columns": list(found.columns),
        "shape": [height + 1 for height in heights],
        "nodes": found.nodes,
        "tried": found.tried,
        "found": len(points),
        "points": points,
        "front": [place for place, each in enumerate(found.solutions) if each.levels in front],
    }


def _height(column: tables.Column, census: Any) -> int:
    rule = column.hierarchy
    built = rule if isinstance(rule, Hierarchy) else column.hierarchy_for(census[column.name])
    return built.height


def _share(values: list[float], share: float) -> float:
    """The value below which this share of them lies."""
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


@asynccontextmanager
async def _browser() -> AsyncIterator[Any]:
    found = next((path for name in CHROMIUM if (path := shutil.which(name))), None)
    async with async_playwright() as playwright:
        opened = await playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield opened
        await opened.close()


@contextmanager
def _studio(folder: Path) -> Iterator[str]:
    """A studio in a process of its own, whose works lie in a folder that we know."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    program = str(Path(sys.executable).parent / "celosia")
    process = subprocess.Popen(
        [program, "studio", "--no-open", "--port", str(port)],
        env=os.environ | {"TMPDIR": str(folder)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    address = f"http://127.0.0.1:{port}"
    try:
        for _ in range(600):
            try:
                urllib.request.urlopen(f"{address}/health", timeout=2).close()
                break
            except OSError:
                sleep(0.1)
        yield address
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(timeout=30)
