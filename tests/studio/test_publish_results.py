"""Publish, from the run to what is taken away, in a real browser."""

from __future__ import annotations

import json
import re
import zipfile
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, expect

from tests.studio.conftest import Visit
from tests.studio.seeing import dim_letters, turn, unseen_focus

VIEWS = {
    "summary": ("Key figures", "Cifras clave"),
    "tradeoff": ("Every solution", "Cada solución"),
    "lattice": ("The lattice of all", "El retículo de todas"),
    "rows": ("The table before and after", "La tabla antes y después"),
    "shapes": ("How often each value occurs", "Con qué frecuencia aparece"),
    "risk": ("Success of each attacker", "Éxito de cada atacante"),
    "statistics": ("Statistics of the numeric", "Estadísticas de las columnas"),
    "attacks": ("Attacks on the release", "Ataques a la publicación"),
    "compare": ("Compare candidates", "Comparar candidatas"),
    "take": ("Download the release", "Descargar la publicación"),
}
CHARTS = {"tradeoff": 1, "lattice": 1, "shapes": 3, "risk": 4, "attacks": 1}
PEOPLE = "age,zip,disease\n" + "".join(
    f"{20 + place % 30},{47600 + place % 7},{('flu', 'asthma', '<b>cold</b>')[place % 3]}\n"
    for place in range(60)
)
CODES = ("zip", "postcode", "postal code", "zip code", "age", "post code", "zipcode", "postal")
SLOW = ",".join(CODES) + "\n"
SLOW += "".join(
    ",".join(str(10000 + place * 7919 * (column + 3) % 89999) for column in range(len(CODES)))
    + "\n"
    for place in range(300)
)
"""A lattice of some hundred thousand nodes: it is tried until the time is up, a minute later."""


def settled(page: Page) -> None:
    """Wait until the page answers."""
    page.wait_for_function("window.socket !== undefined && window.socket.connected")


def begin(visit: Visit, sample: str) -> str:
    """Take a sample as far as its models; the name of its work."""
    page = visit.open("/publish")
    page.locator(f"[data-test=sample-{sample}]").click()
    return to_models(page)


def bring(visit: Visit, name: str, content: str) -> str:
    """Bring a file, and take it as far as its models; the name of its work."""
    page = visit.open("/publish")
    page.locator(".q-uploader__input").first.set_input_files(
        {"name": name, "mimeType": "text/csv", "buffer": content.encode()}
    )
    return to_models(page)


def to_models(page: Page) -> str:
    page.wait_for_url(re.compile(r"/publish/[A-Za-z0-9_-]{11}$"))
    address = page.url
    page.goto(f"{address}?step=models")
    settled(page)
    return address.rsplit("/", 1)[1]


def run(page: Page) -> None:
    """Press Run, and wait for the results."""
    page.locator("[data-test=run]").click()
    page.wait_for_url(re.compile(r"/results"))
    page.locator("[data-test=view-summary]").wait_for()
    settled(page)


def pixel(page: Page, test: str, series: str, place: int) -> tuple[float, float]:
    """Where a point of a chart is on the screen."""
    found: Any = page.evaluate(
        """([test, series, place]) => {
            const element = document.querySelector(`[data-test=${test}]`);
            const chart = window.getElement(element.id.replace(/^c/, "")).chart;
            const all = chart.getOption().series;
            const index = all.findIndex((each) => each.id === series);
            const spot = chart.convertToPixel({seriesIndex: index}, all[index].data[place]);
            const box = element.getBoundingClientRect();
            return [box.x + spot[0], box.y + spot[1]];
        }""",
        [test, series, place],
    )
    return found[0], found[1]


def node_is_clicked(visit: Visit, work: str) -> None:
    """Click the top of the diagram."""
    page = visit.page
    visit.open(f"/publish/{work}/results?view=lattice&node=0-0")
    detail = page.locator("[data-test=detail]")
    expect(detail).to_contain_text("does not meet the models")
    page.locator("[data-test=lattice] canvas").wait_for()
    spot: Any = page.evaluate(
        """() => {
            const element = document.querySelector("[data-test=lattice]");
            const chart = window.getElement(element.id.replace(/^c/, "")).chart;
            const data = chart.getModel().getSeriesByIndex(0).getData();
            const at = data.indexOfName(data.getName(data.count() - 1));
            const shape = data.getItemGraphicEl(at);
            const where = shape.transformCoordToGlobal(0, 0);
            const box = element.getBoundingClientRect();
            return [box.x + where[0], box.y + where[1]];
        }"""
    )
    page.mouse.click(spot[0], spot[1])
    expect(detail).to_contain_text("Average risk")
    page.wait_for_url(re.compile(r"node=5-2"))


def node_is_chosen_without_a_mouse(visit: Visit, work: str) -> None:
    """Choose a node by the lists of levels, and go on to what a click would have offered."""
    page = visit.page
    visit.open(f"/publish/{work}/results?view=tradeoff")
    press = page.keyboard.press
    lists = page.get_by_role("combobox")
    expect(lists).to_have_count(4)  # the sort of risk, the front, and a level of each column
    for place, level in ((2, "level 5 of 5"), (3, "any level")):
        option = page.get_by_role("option", name=re.compile(f"^{level}")).last
        visit.open_list(lists.nth(place), option)
        press("End" if place == 2 else "Home")
        press("Enter")
    press("Tab")
    expect(page.get_by_role("button", name="Show this node")).to_be_focused()
    press("Enter")
    page.wait_for_url(re.compile(r"node=5-\d"))
    detail = page.locator("[data-test=detail]")
    detail.get_by_role("button", name="Add to the comparison").wait_for()
    for _ in range(50):  # the details may be drawn once more, and then lose the focus
        page.get_by_role("button", name="Show this node").focus()
        press("Tab")
        if detail.locator(":focus").count():
            break
        page.wait_for_timeout(100)
    expect(detail.locator(":focus")).to_have_count(1)  # what can be done with it comes next
    visit.picture("chosen-by-levels")
    stops, faint = unseen_focus(page)
    assert stops > 20
    assert faint == []


def test_every_view_is_there_at_its_address(both_languages: Visit) -> None:
    visit = both_languages
    spanish = "-es" in visit.name
    page = visit.page
    work = begin(visit, "patients")
    run(page)
    for view, titles in VIEWS.items():
        visit.open(f"/publish/{work}/results?view={view}")  # an address is enough to come back
        title = titles[1 if spanish else 0]
        expect(page.get_by_role("heading", name=re.compile(title))).to_be_visible()
        expect(page.locator(f"[data-test=view-{view}]")).to_have_attribute("aria-current", "page")
        if view in CHARTS:
            expect(page.locator(".nicegui-echart:has(canvas)")).to_have_count(CHARTS[view])
            if not spanish:
                for theme in ("dark", "light"):
                    turn(page, theme)
                    assert dim_letters(page) == []
        assert visit.overflow() == 0
        if view == "rows":  # its rows come from a thread, which speaks the language of the page
            head = page.locator("th", has_text="publicado" if spanish else "released")
            expect(head).to_have_count(2)
        visit.picture(view)
        on_phone = spanish and view in ("tradeoff", "rows", "risk")
        assert visit.fits_a_phone(view if on_phone else "")
    if not spanish:
        points_and_nodes_are_clicked_compared_and_applied(visit, work)


def points_and_nodes_are_clicked_compared_and_applied(visit: Visit, work: str) -> None:
    page = visit.page
    visit.open(f"/publish/{work}/results")
    loss = page.locator(".celosia-figure .value").first.inner_text()
    visit.open(f"/publish/{work}/results?view=compare")
    page.get_by_role("button", name="Add this release").click()
    page.locator("[data-test=tray]").wait_for()
    visit.open(f"/publish/{work}/results?view=tradeoff")
    page.locator("[data-test=scatter] canvas").wait_for()
    page.mouse.click(*pixel(page, "scatter", "all", 4))
    detail = page.locator("[data-test=detail]")
    detail.locator("[data-test=apply]").wait_for()
    page.wait_for_url(re.compile(r"node=\d"))
    visit.picture("picked")
    detail.get_by_role("button", name="Add to the comparison").click()
    page.get_by_text("2 candidates in the comparison").wait_for()
    page.reload()  # the point that was picked is in the address
    page.locator("[data-test=apply]").wait_for()
    settled(page)
    page.locator("[data-test=apply]").click()
    page.get_by_text("These levels were chosen by hand.").wait_for()
    assert page.locator(".celosia-figure .value").first.inner_text() != loss
    visit.open(f"/publish/{work}/results?view=compare")
    expect(page.locator("[data-test=tray] thead th")).to_have_count(4)
    expect(page.locator("[data-test=tray] tbody b").first).to_be_visible()
    expect(page.get_by_text(re.compile(r"^B loses .* points more than A"))).to_be_visible()
    visit.picture("compared")
    node_is_clicked(visit, work)
    node_is_chosen_without_a_mouse(visit, work)


def test_a_file_that_was_brought_is_published_and_taken_away(visit: Visit, tmp_path: Path) -> None:
    page = visit.page
    work = bring(visit, "people.csv", PEOPLE)
    visit.open(f"/publish/{work}?step=models")
    page.locator("[data-test=history]").click()
    page.get_by_role("option", name="a history of this table").click()
    expect(page.locator("[data-test=accept-joint]")).to_be_visible()
    run(page)
    heading = page.get_by_role("heading", name="Columns published as they are")
    expect(heading).to_be_visible()
    visit.open(f"/publish/{work}/results?view=rows")
    expect(page.locator(".celosia-side table")).to_contain_text(", released")
    if page.locator("[data-test=unfold]").is_visible():
        page.locator("[data-test=unfold]").click()
    assert page.evaluate("window.broken") is None
    visit.picture("rows")
    page.get_by_role("button", name="3", exact=True).click()
    expect(page.get_by_text("Records 41 to 60 of 60").first).to_be_visible()
    page.wait_for_url(re.compile("page=3"))
    visit.open(f"/publish/{work}/results?view=take")
    expect(page.get_by_role("link", name="Download release.zip")).to_have_count(0)
    page.locator("[data-test=record]").click()
    expect(page.get_by_text("This release is recorded in the history.")).to_be_visible(
        timeout=120_000
    )
    with page.expect_download() as started:
        page.get_by_role("link", name="Download release.zip").click()
    archive = tmp_path / "release.zip"
    started.value.save_as(archive)
    with zipfile.ZipFile(archive) as opened:
        facts = json.loads(opened.read("release.csv.cert.json"))
        assert opened.read("release.csv").count(b"\n") == 61
    assert facts["measures"]["risk"]["smallest"] >= 5
    answer = visit.context.request.get(f"{visit.address}/files/{work}/report.html?show")
    assert answer.status == 200
    assert "sandbox" in answer.headers["content-security-policy"]
    assert "celosia publish people.csv" in page.locator("pre.celosia-code").first.inner_text()


def test_a_run_is_found_again_after_a_reload_and_cancelled(visit: Visit) -> None:
    page = visit.page
    work = bring(visit, "codes.csv", SLOW)
    page.locator("[data-test=run]").click()
    page.wait_for_url(re.compile(r"/results"))
    cancel = page.get_by_role("button", name="Cancel")
    cancel.wait_for()
    visit.picture("running")
    page.reload()
    settled(page)
    cancel.wait_for()
    cancel.click()
    page.get_by_text("Cancelled; nothing was kept.").wait_for()
    visit.open(f"/publish/{work}/results")
    page.get_by_text("The run was cancelled; nothing was kept.").wait_for()
    expect(page.get_by_role("link", name="Back to the models")).to_be_visible()


def test_results_of_nobody_are_refused_kindly(visit: Visit) -> None:
    page = visit.page
    for address_of in ("/publish/aaaaaaaaaaa/results", "/publish/../results"):
        page.goto(f"{visit.address}{address_of}")
        expect(page.get_by_role("alert").or_(page.get_by_text("404")).first).to_be_visible()
    visit.complaints.clear()  # the browser says that a page was not found


def test_whose_record_it_is_is_said_by_a_button_where_names_come_again(visit: Visit) -> None:
    names = ("", "Ana Ruiz", "Eva Paz", "Luis Gil")
    rows = (f"{names[min(3, place % 5)]},{20 + place % 2},{place % 3}" for place in range(60))
    bring(visit, "people.csv", "\n".join(["full name,age,children", *rows]))
    page = visit.page
    page.locator("[data-test=run]").click()
    alert = page.get_by_role("alert")
    alert.wait_for()
    expect(alert).to_contain_text("An identifier occurs in several records")
    expect(alert).not_to_contain_text("--person")
    expect(page.get_by_role("button", name="Count people by full name")).to_be_visible()
    visit.picture("whose")
    page.locator("[data-test=count-records]").click()
    page.locator("[data-test=view-summary]").wait_for()
