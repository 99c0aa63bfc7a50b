"""Documents in a real browser: search, review, publish."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from celosia.core.errors import BudgetExceeded, InputError, PrivacyError
from celosia.studio.texts import jobs, term_jobs
from celosia.studio.texts.pages import start, terms
from celosia.studio.uploads import Brought
from celosia.studio.visitors import Work
from celosia.studio.worker import JobProgress
from celosia.texts.detection import engines
from tests.studio.conftest import Visit


def quiet() -> JobProgress:
    return JobProgress(lambda event: None)


def test_notes_are_searched_reviewed_and_published(both_languages: Visit) -> None:
    # Check 49: three clicks to a result; raw text is blurred until it is asked for.
    visit = both_languages
    page = visit.open("/texts")
    visit.press("sample-notes_en")
    page.locator('[data-test="run"]').wait_for()
    assert page.locator("table tbody tr").count() >= 4
    visit.press("run")
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
    page.goto(page.url.replace("step=review", "step=terms"))
    page.locator('[data-test="run"]').click()
    page.locator('[data-test="file-terms.csv"]').wait_for()
    assert visit.overflow() == 0


@pytest.mark.filterwarnings("ignore::celosia.core.errors.PrivacyWarning")
def test_another_language_is_refused_unless_it_is_allowed(tmp_path: Path) -> None:
    brought = Brought(file="upload.txt", shown="note.txt")
    text = "Le patient est venu avec sa femme dans le service pour une visite, et il est parti. "
    place = tmp_path / "upload.txt"
    place.write_text(text * 2, "utf-8")
    with pytest.raises(InputError) as caught:
        jobs.prepare(quiet(), folder=str(tmp_path), brought=brought)
    assert caught.value.code == "CEL-N006"
    place.write_text(text * 2, "utf-8")
    jobs.prepare(quiet(), folder=str(tmp_path), brought=replace(brought, lenient=True))
    result = jobs.run(quiet(), folder=str(tmp_path), action="label", k=None, seed=1)
    assert any("neither English nor Spanish" in each for each in result["warnings"])
    assert "--other-languages publish" in start._command(result)


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = str(tmp_path_factory.mktemp("texts"))
    jobs.prepare(quiet(), folder=folder, brought=Brought(sample="notes_en"))
    return folder


def test_term_counts_are_paid_from_one_budget(prepared: str) -> None:
    wanted = term_jobs.FIRST_TERMS | {"epsilon": 2.0, "delta": 1e-2, "budget_delta": 0.05}
    first = term_jobs.release(quiet(), folder=prepared, wanted=wanted, seed=1)
    assert (first["unit"], first["left"]["epsilon"]) == ("person", 1.0)
    with pytest.raises(BudgetExceeded, match="does not allow"):
        term_jobs.release(quiet(), folder=prepared, wanted=wanted, seed=1)
    with pytest.raises(PrivacyError, match="allows more"):  # a larger budget is another one
        term_jobs.release(quiet(), folder=prepared, wanted=wanted | {"budget": 9.0}, seed=1)
    assert "--unit person" in terms._command(first)
    assert (Path(prepared) / "terms.csv").exists()


def test_a_release_has_an_index_and_a_gauge(prepared: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    class Stand:
        name = "stand-in"

        def find(self, text: str, language: str) -> list[object]:
            asked.append(language)
            return []

    monkeypatch.setattr(engines, "SpacyEngine", lambda model: Stand())
    work = Work.at(prepared)
    work.save("texts", (work.load("texts") or {}) | {"engine": "spacy:some_model"})
    result = jobs.run(quiet(), folder=prepared, action="label", k=None, seed=1)
    assert len(asked) == 12
    before, after = result["singled_out"]
    assert 0 <= after <= 1 >= before
    index = (Path(prepared) / "index.csv").read_text("utf-8")
    assert index.startswith("term,document,count")
    assert "--engine spacy:some_model" in start._command(result)
