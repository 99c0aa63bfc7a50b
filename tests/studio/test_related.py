"""Related tables in a real browser: from the sample to what is taken away."""

from __future__ import annotations

import io
import zipfile

from playwright.sync_api import expect

from tests.studio.conftest import Visit


def test_persons_and_their_visits_are_made_anew(both_languages: Visit) -> None:
    visit = both_languages
    page = visit.open("/mask")
    page.locator("a[href='/related']").click()
    page.locator("[data-test=sample-clinic]").click()
    page.wait_for_url("**/related/*step=tables")
    page.locator("table td", has_text="visits").first.wait_for()
    page.locator("a.celosia-way").first.click()
    card = page.locator("[data-test=table-visits]")
    expect(card.locator("[data-test=visits-most_rows]")).to_have_value("6")
    page.get_by_role("heading", name="persons", exact=True).wait_for()  # a name stays as it is
    visit.picture("declared")
    assert visit.fits_a_phone("declared")
    ward = card.locator("[data-test=visits-ward]")
    ward.click()
    page.get_by_role("option").last.click()  # it is left out
    expect(card.locator("input[aria-label*=ward]")).to_have_count(0)  # no values are asked for
    page.locator("[data-test=run]").click()
    page.wait_for_url("**step=result")
    page.locator("canvas").first.wait_for()
    visit.picture("made")
    assert visit.overflow() == 0
    link = page.locator("[data-test='file-made.zip']").evaluate("link => link.href")
    with zipfile.ZipFile(io.BytesIO(page.request.get(link).body())) as archive:
        assert set(archive.namelist()) == {
            "made/persons.csv",
            "made/visits.csv",
            "made.cert.json",
        }
        assert archive.read("made/visits.csv").startswith(b"visit,person,days\n")
    paper = page.locator("[data-test='file-report.pdf']").evaluate("link => link.href")
    assert page.request.get(paper).body().startswith(b"%PDF")  # it is made when it is asked for
    page.goto(f"{visit.address}/works")
    page.wait_for_function("window.socket !== undefined && window.socket.connected")
    visit.picture("works")
    assert visit.fits_a_phone("works")
    page.locator("a[href^='/related/']").wait_for()
    page.locator("[data-test=delete]").click()
    expect(page.locator("a[href^='/related/']")).to_have_count(0)
    assert page.request.get(paper).status == 404
