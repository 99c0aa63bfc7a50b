"""Documents in a real browser: search, review, publish."""

from __future__ import annotations

from tests.studio.conftest import Visit


def test_notes_are_searched_reviewed_and_published(both_languages: Visit) -> None:
    # Check 49: three clicks to a result; raw text is blurred until it is asked for.
    visit = both_languages
    page = visit.open("/texts")
    page.locator('[data-test="sample-notes_en"]').click()
    page.locator('[data-test="run"]').wait_for()
    assert page.locator("table tbody tr").count() >= 4
    page.locator('[data-test="run"]').click()
    page.wait_for_url("**step=result**")
    page.get_by_text("[PERSON 1]").first.wait_for()
    assert visit.overflow() == 0
    for name in ("published.zip", "certificate.json", "report.html"):
        link = page.locator(f'[data-test="file-{name}"]').evaluate("link => link.href")
        assert page.request.get(link).ok
    page.goto(page.url.replace("step=result", "step=review"))
    raw = page.locator('[data-test="raw"]')
    raw.wait_for(state="attached")
    assert "blur" in str(raw.get_attribute("style"))
    page.wait_for_function("window.socket !== undefined && window.socket.connected")
    page.locator('[data-test="show"]').click()
    page.wait_for_function(
        """() => !document.querySelector('[data-test="raw"]').style.filter.includes('blur')"""
    )
    assert raw.locator("mark").count() > 5
