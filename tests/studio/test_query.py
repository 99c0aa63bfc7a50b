"""Query in a real browser: explain, ask, refusals and a budget that runs out."""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl
from playwright.sync_api import expect

from tests.studio.conftest import Visit

POLICY = """
name = "people"

[database.files]
people = "people.parquet"

[unit]
name = "row"

[budget]
epsilon = 1

[tables.people.columns]
age = {{ type = "integer", lower = 0, upper = 120 }}
{more}
"""
TOP = (
    "SELECT mktsegment, count(DISTINCT custkey) AS n FROM customer GROUP BY mktsegment "
    "ORDER BY n DESC LIMIT 2"
)
MARKET = """
[market]
currency = "EUR"
per_epsilon = 10
"""


def _type(visit: Visit, text: str) -> None:
    editor = visit.page.locator(".cm-content")
    editor.click()
    visit.page.keyboard.press("ControlOrMeta+a")
    visit.page.keyboard.insert_text(text)
    visit.page.wait_for_timeout(300)


def _ask(visit: Visit, text: str) -> None:
    _type(visit, text)
    visit.page.locator("[data-test=ask]").click()


def test_a_shop_is_asked_in_sql(both_languages: Visit) -> None:
    page = both_languages.open("/query")
    page.locator("[data-test=sample-shop]").click()
    page.locator("[data-test=accuracy-size]").fill("1000")
    page.locator("[data-test=find-epsilon]").click()
    page.locator("[data-test=found-epsilon]").wait_for()
    page.goto(page.url + "?epsilon=0.5")  # a link means what it says
    page.locator("[data-test=explain]").click()
    page.locator("ul.celosia-plan").first.wait_for()
    both_languages.picture("plan")
    page.locator("[data-test=compare]").click()  # costs nothing
    page.get_by_text("--curator").first.wait_for()
    page.locator("table td").get_by_text("7,500").or_(
        page.locator("table td").get_by_text("7.500")
    ).first.wait_for()
    page.locator("[data-test=ask]").click()
    page.get_by_text("epsilon 9").first.wait_for()
    both_languages.picture("answer")
    page.locator("[data-test=settings] [role=button]").first.click()
    page.locator("[data-test=method]").click()
    page.get_by_role("option").last.click()
    page.locator("[data-test=rank-intervals]").click()
    _type(both_languages, TOP)
    page.locator("[data-test=explain]").click()  # costs nothing
    page.get_by_text("--method top-k --rank-intervals").wait_for()
    expect(
        page.locator(".celosia-figures").get_by_text(re.compile("^(private|elec)"))
    ).to_be_visible()
    _ask(both_languages, "SELECT orderkey FROM orders WHERE custkey = 7")
    page.get_by_role("alert").wait_for()
    assert "CEL-Q" in page.get_by_role("alert").inner_text()
    page.reload()
    page.get_by_text("epsilon 9").first.wait_for()  # what was spent is in the ledger


def test_a_graph_is_asked_in_sparql(both_languages: Visit) -> None:
    page = both_languages.open("/query")
    page.locator("[data-test=sample-graph]").click()
    page.locator("[data-test=ask]").click()
    page.get_by_text("epsilon 9").first.wait_for()
    both_languages.picture()
    page.locator(".cm-content").focus()
    page.keyboard.press("Tab")  # leads out of the editor, and puts nothing into the text
    expect(page.locator(".cm-content")).not_to_be_focused()
    assert "\t" not in page.locator(".cm-content").inner_text()


def test_own_tables_are_asked_under_a_policy_until_the_budget_is_spent(
    visit: Visit, tmp_path: Path
) -> None:
    table = tmp_path / "people.csv"
    pl.DataFrame({"age": [20, 30, 40] * 20}).write_csv(table)
    page = visit.open("/query")
    page.locator("input[type=file]").set_input_files(table)
    page.wait_for_url("**/policy")
    editor = page.locator(".cm-content")
    editor.click()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.insert_text(POLICY.format(more=MARKET))
    page.wait_for_timeout(300)
    page.get_by_role("button", name="Check and open").click()
    page.locator("[data-test=analyst]").fill("ana")
    for text in ("SELECT count(*) FROM people", "SELECT avg(age) FROM people"):
        _ask(visit, text)
        page.get_by_text("taken from the budget").wait_for()
    _ask(visit, "SELECT sum(age) FROM people")
    page.get_by_role("alert").wait_for()
    assert "CEL-Q11" in page.get_by_role("alert").inner_text()
    visit.picture()
    visit.open(page.url.removeprefix(visit.address))  # the ledger is drawn anew after each question
    page.locator("[data-test=make-invoice]").click()
    with page.expect_download() as found:
        page.locator("[data-test='file-invoice.html']").click()
    assert "ana" in found.value.path().read_text("utf-8")
    page.get_by_role("link", name="Batch of questions").click()  # free, also without a budget
    page.locator("[data-test=batch-repeats]").fill("3")
    page.locator("[data-test=run-batch]").click()
    page.get_by_text("Report with figures").wait_for()
    assert page.locator("table td").get_by_text("How many rows are there?").first.is_visible()
    visit.picture("batch")


def test_a_policy_that_reaches_beyond_the_work_is_refused(visit: Visit, tmp_path: Path) -> None:
    table = tmp_path / "people.csv"
    pl.DataFrame({"age": [20, 30, 40]}).write_csv(table)
    page = visit.open("/query")
    page.locator("input[type=file]").set_input_files(table)
    page.wait_for_url("**/policy")
    editor = page.locator(".cm-content")
    editor.click()
    page.keyboard.press("ControlOrMeta+a")
    text = POLICY.format(more="").replace('"people.parquet"', '"/etc/passwd"')
    page.keyboard.insert_text(text)
    page.wait_for_timeout(300)
    page.get_by_role("button", name="Check and open").click()
    page.get_by_role("alert").wait_for()
    assert "CEL-W091" in page.get_by_role("alert").inner_text()
