"""Graphs in a real browser: publish a network, look at it, attack it."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Browser

from tests.studio.conftest import Visit, visiting


def test_the_karate_club_is_published_drawn_and_attacked(both_languages: Visit) -> None:
    visit = both_languages
    page = visit.open("/graphs")
    visit.picture("1-start")
    page.locator('[data-test="sample-karate"]').click()
    page.locator('[data-test="run"]').wait_for()
    page.locator("canvas").first.wait_for()
    visit.picture("2-method")
    page.locator('[data-test="run"]').click()
    page.wait_for_url("**step=result**")
    page.locator("canvas").nth(2).wait_for()
    visit.picture("3-result")
    assert visit.overflow() == 0
    spanish = page.get_attribute("html", "lang") == "es"
    assert page.get_by_text("17,6 % → 0,0 %" if spanish else "17.6 % → 0.0 %").is_visible()
    changes = " eliminadas, " if spanish else " removed, "
    assert page.get_by_text(changes).first.is_visible()
    for name in ("published.edges", "certificate.json", "report.html", "key.csv"):
        link = page.locator(f'[data-test="file-{name}"]').evaluate("link => link.href")
        assert page.request.get(link).ok
    page.goto(page.url.replace("step=result", "step=attacks"))
    page.wait_for_function("window.socket !== undefined && window.socket.connected")
    page.locator('[data-test="attack"]').click()
    page.locator('[data-test="more"] table').wait_for()
    visit.picture("4-attacks")
    assert page.locator('[data-test="more"] tbody tr').count() == 7


def test_groups_are_drawn_and_a_wrong_parameter_is_said(visit: Visit) -> None:
    page = visit.open("/graphs")
    page.locator('[data-test="sample-dan"]').click()
    page.locator('[data-test="method-sangreea"]').click()
    page.locator('[data-test="chosen"]').get_by_text("SaNGreeA").wait_for()
    box = page.locator('[data-test="graph-k"]')
    box.fill("50")
    page.locator('[data-test="run"]').click()  # a field that is left sends what it holds
    page.get_by_text("CEL-G211").wait_for()
    box.fill("3")
    page.locator('[data-test="run"]').click()
    page.wait_for_url("**step=result**")
    page.locator("canvas").nth(1).wait_for()
    visit.picture("groups")
    assert page.get_by_text("groups: each point stands for its people").is_visible()
    assert page.locator('[data-test="file-key.csv"]').count() == 0


def test_an_uploaded_edge_list_is_published_on_a_phone(
    browser: Browser, address: str, tmp_path: Path
) -> None:
    file = tmp_path / "friends.edges"
    names = ["ana", "<b>bea</b>", "eva", "luz", "sol", "mar"]
    file.write_text(
        "\n".join(f"{one} {two}" for one in names for two in names if one < two), "utf-8"
    )
    with visiting(browser, address, "graphs-phone", phone=True) as visit:
        page = visit.open("/graphs")
        page.locator('input[type="file"]').set_input_files(file)
        page.locator('[data-test="method-random-switch"]').click()
        page.locator('[data-test="chosen"]').get_by_text("Random switches").wait_for()
        page.locator('[data-test="method-random-perturbation"]').click()
        page.locator('[data-test="chosen"]').get_by_text("Random perturbation").wait_for()
        visit.picture("method")
        assert page.locator("main b").count() == 0
        assert visit.overflow() == 0


def test_edge_attributes_are_named_refused_and_left_out_by_a_switch(
    both_languages: Visit, tmp_path: Path
) -> None:
    visit = both_languages
    file = tmp_path / "calls.csv"
    file.write_text(
        "who,whom,weight,time\nana,bea,3,1\nbea,ana,5,2\nbea,eva,1,3\neva,luz,1,4\n", "utf-8"
    )
    page = visit.open("/graphs")
    page.locator('input[type="file"]').set_input_files(file)
    page.locator('[data-test="method-relabelling"]').click()
    spanish = page.get_attribute("html", "lang") == "es"
    named = "Las aristas tienen atributos: " if spanish else "The edges have attributes: "
    assert page.get_by_text(f"{named}weight, time.").is_visible()
    page.locator('[data-test="run"]').click()
    page.get_by_text("CEL-G033").wait_for()
    text = (
        "ningún método protege los atributos de aristas weight, time."
        if spanish
        else "no method protects the edge attributes weight, time."
    )
    assert page.get_by_text(text).first.is_visible()
    page.locator('[data-test="drop-edge-attributes"]').click()
    page.locator('[data-test="run"]').click()
    page.wait_for_url("**step=result**")
    heading = "Qué queda fuera" if spanish else "What is left out"
    page.get_by_text(heading).first.wait_for()
    assert page.get_by_text("weight, time").first.is_visible()
    words = "aristas repetidas" if spanish else "repeated edges, merged"
    assert page.get_by_text(words).first.is_visible()
    assert page.get_by_text("--drop-edge-attributes").count() > 0
    visit.picture("left-out")
    assert visit.overflow() == 0
