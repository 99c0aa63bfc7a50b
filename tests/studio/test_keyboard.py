"""The studio without a mouse and by night: levels by lists, contrast, focus, and the way out."""

from __future__ import annotations

import re
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from playwright.sync_api import Browser, expect

from celosia.studio.mask.pages import charts
from celosia.studio.publish.pages import results_lattice
from celosia.studio.publish.results_solutions import Solutions
from celosia.studio.widgets import chart
from celosia.studio.widgets.contrast import between, contrast, letters_on
from tests.studio.conftest import Visit, running_studio, visiting
from tests.studio.seeing import STYLE, colours, turn, unseen_focus, wcag

READ = 4.5
"""What letters need (WCAG 2.2, 1.4.3); lines and marks need 3 (1.4.11)."""
COLOURS = st.integers(0, 2**24 - 1).map(lambda number: f"#{number:06x}")
SHAPE = (3, 4, 2)
SCORES = {(0, 3, 1): 0.2, (1, 1, 1): 0.3, (2, 2, 0): 0.4, (2, 3, 0): 0.5, (2, 3, 1): 1.0}


@pytest.fixture
def solutions() -> Solutions:
    """Five solutions in a lattice of 24 nodes."""
    return Solutions(
        {
            "metric": "loss",
            "columns": ["age", "zip", "sex"],
            "shape": SHAPE,
            "nodes": 24,
            "tried": 24,
            "found": len(SCORES),
            "points": [[list(levels), score, 0, 4, 0.1, 0.2] for levels, score in SCORES.items()],
            "front": [0],
        }
    )


def test_levels_lead_to_the_best_solution_that_has_them(solutions: Solutions) -> None:
    for wanted in product(*((None, *range(size)) for size in SHAPE)):
        if None not in wanted:
            assert solutions.best_with(wanted) == wanted  # a node, whether it is a solution or not
            continue
        fitting = [
            levels
            for levels in SCORES
            if all(want in (None, level) for want, level in zip(wanted, levels, strict=True))
        ]
        assert solutions.best_with(wanted) == min(fitting, key=SCORES.__getitem__, default=None)


def test_levels_that_no_column_has_lead_nowhere(solutions: Solutions) -> None:
    assert solutions.best_with((3, 0, 0)) is None
    assert solutions.best_with((None, 9, 0)) is None


@given(one=COLOURS, other=COLOURS)
def test_contrast_is_that_of_wcag(one: str, other: str) -> None:
    assert contrast(one, other) == pytest.approx(wcag(one, other), rel=1e-12)


def test_contrast_has_the_values_that_everybody_knows() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#767676", "#ffffff") == pytest.approx(4.54, abs=0.005)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.005)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_letters_are_read_on_paper_and_on_cards(theme: str) -> None:
    found = colours(theme)
    for paper in ("paper", "card"):
        for letters in ("ink", "quiet", "accent", "brick", "good", "bad", "warn"):
            assert wcag(found[letters], found[paper]) >= READ, (letters, paper)
        for mark in (*chart.PALETTE, chart.LINE):
            assert wcag(mark, found[paper]) >= 3, (mark, paper)


def test_the_line_of_an_editor_that_is_written_in_is_read_in_the_dark() -> None:
    found = re.search(r"cm-activeLineGutter\) \{ background: rgba\(255,255,255,(\.\d+)\)", STYLE)
    assert found is not None
    card = [int(colours("dark")["card"][at : at + 2], 16) for at in (1, 3, 5)]
    paper = "".join(f"{round(each + (255 - each) * float(found[1])):02x}" for each in card)
    assert wcag("#6a9955", f"#{paper}") >= READ  # comments, the palest letters of the editor


def test_letters_of_charts_have_the_quiet_colour_of_the_page() -> None:
    assert chart.TEXT == "var(--quiet)"  # tested above in both themes
    assert "'--quiet'" in chart._INK
    option = {
        "legend": {"data": ["a"]},
        "visualMap": {"min": 0},
        "xAxis": chart.axis("x"),
        "yAxis": [chart.axis("y"), chart.axis("z", axisLabel={"rotate": 40})],
        "series": [{"type": "graph", "label": {"color": chart.TEXT}, "name": chart.TEXT}],
    }
    made = chart._inked(chart._readable(option))
    assert made["legend"]["textStyle"] == made["legend"]["pageTextStyle"] == {":color": chart._INK}
    assert made["visualMap"]["textStyle"] == {":color": chart._INK}
    for axis in (made["xAxis"], *made["yAxis"]):
        assert axis["nameTextStyle"] == {":color": chart._INK}
        assert axis["axisLabel"][":color"] == chart._INK
    # Only a colour is ever handed to the browser as a program, whatever a column is called.
    assert made["series"] == [
        {"type": "graph", "label": {":color": chart._INK}, "name": chart.TEXT}
    ]


@given(colour=COLOURS)
def test_letters_on_a_colour_are_read(colour: str) -> None:
    assert wcag(letters_on(colour), colour) >= READ


@pytest.mark.parametrize("ramp", [results_lattice.RAMP, charts.DRIFT])
def test_letters_on_cells_are_read(ramp: tuple[str, ...]) -> None:
    assert [between(ramp, share) for share in (-1, 0, 0.5, 1, 2)] == [
        ramp[0],
        ramp[0],
        ramp[1],
        ramp[2],
        ramp[2],
    ]
    for step in range(101):
        cell = between(ramp, step / 100)
        assert wcag(letters_on(cell), cell) >= READ


def test_the_first_stop_leads_past_the_doors_and_every_stop_is_seen(visit: Visit) -> None:
    page = visit.open("/")
    page.keyboard.press("Tab")
    skip = page.get_by_role("link", name="Skip to the content")
    expect(skip).to_be_focused()
    assert (skip.bounding_box() or {"height": 0})["height"] > 20
    page.keyboard.press("Enter")
    expect(page.locator(".celosia-main")).to_be_focused()
    for landmark in ("banner", "main"):
        expect(page.get_by_role(landmark)).to_have_count(1)
    expect(page.get_by_role("navigation", name="Doors")).to_have_count(1)
    for theme in ("light", "dark"):
        turn(page, theme)
        stops, faint = unseen_focus(page)
        assert stops > 20
        assert faint == []


@pytest.mark.parametrize("path", ["/collect/sweep", "/learn/run", "/publish"])
def test_the_second_stop_leads_to_the_button_that_a_page_is_for(visit: Visit, path: str) -> None:
    page = visit.open(path)
    for _stop in range(2):
        page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the main button")).to_be_focused()
    page.keyboard.press("Enter")
    names = {"/collect/sweep": "Start the sweep", "/learn/run": "Run now"}
    wanted = names.get(path, "Use the sample: Census")
    expect(page.get_by_role("button", name=wanted, exact=path != "/publish")).to_be_focused()


def test_whoever_leaves_a_shared_studio_leaves_it_on_all_pages(
    browser: Browser, tmp_path: Path
) -> None:
    secret = tmp_path / "password.txt"
    secret.write_text("correct horse battery")
    with (
        running_studio("--password-file", str(secret), "--workers", "1") as address,
        visiting(browser, address, "leaving") as visit,
    ):
        page = visit.page
        page.goto(address)
        page.get_by_label("Password").fill("correct horse battery")
        page.keyboard.press("Enter")
        page.wait_for_selector("main a.celosia-card")
        other = visit.context.new_page()
        other.goto(f"{address}/learn")
        other.wait_for_function("window.socket !== undefined && window.socket.connected")
        page.wait_for_function("window.socket !== undefined && window.socket.connected")
        page.get_by_role("button", name="Leave", exact=True).press("Enter")
        dialog = page.get_by_role("dialog", name="Leave the studio?")
        dialog.wait_for()
        visit.picture("asked")
        dialog.get_by_role("button", name="Leave and remove my work").press("Enter")
        for each in (page, other):
            expect(each.get_by_role("status")).to_contain_text("You have left")
        visit.picture("left")
        page.goto(address)
        expect(page.get_by_label("Password")).to_be_visible()
        visit.complaints.clear()  # the browser says that the entrance is not a page like others
