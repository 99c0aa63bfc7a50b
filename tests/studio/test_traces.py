"""Traces in a real browser: three clicks to published traces, with maps and attacks."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from celosia.core.errors import BudgetExceeded, InputError, PrivacyError
from celosia.studio.traces import model
from celosia.studio.uploads import Brought
from celosia.studio.visitors import Work
from celosia.studio.worker import JobProgress
from tests.studio.conftest import Visit


def test_a_town_is_published_mapped_and_attacked(both_languages: Visit) -> None:  # check 49
    visit = both_languages
    page = visit.open("/traces")
    visit.press("sample-town")
    page.locator('[data-test="run"]').wait_for()
    page.locator(".celosia-map svg").first.wait_for()
    visit.picture("1-method")
    assert visit.overflow() == 0
    visit.press("run")
    page.wait_for_url("**step=result**")
    page.locator(".celosia-map svg").first.wait_for()
    visit.picture("2-result")
    assert visit.overflow() == 0
    spanish = page.get_attribute("html", "lang") == "es"
    words = "vivienda a menos de 100 m" if spanish else "home within 100 m"
    page.get_by_text(words).last.wait_for()
    for name in ("published.csv", "certificate.json", "report.html", "key.csv", "trace.toml"):
        link = page.locator(f'[data-test="file-{name}"]').evaluate("link => link.href")
        assert page.request.get(link).ok


def test_a_map_is_released_privately(both_languages: Visit) -> None:
    visit = both_languages
    page = visit.open("/traces")
    page.locator('[data-test="sample-town"]').click()
    page.locator('[data-test="run"]').wait_for()
    page.goto(page.url.split("?")[0] + "?step=private")
    page.locator('[data-test="private-epsilon"]').wait_for()
    page.locator('[data-test="run"]').click()
    page.locator(".celosia-map svg").wait_for()
    visit.picture("3-private")
    assert visit.overflow() == 0
    for name in ("private.csv", "private-certificate.json", "private-report.html"):
        link = page.locator(f'[data-test="file-{name}"]').evaluate("link => link.href")
        assert page.request.get(link).ok


@pytest.mark.parametrize("statistic", ["grid", "visits", "flows", "synthetic"])
def test_a_private_release_is_charged_to_the_budget_of_the_work(
    statistic: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from celosia.studio.traces import jobs, private_jobs

    monkeypatch.setitem(model.PEOPLE, "town", (40, 2))
    quiet = JobProgress(lambda event: None)
    jobs.prepare(quiet, folder=str(tmp_path), brought=Brought(sample="town"))
    wanted = model.FIRST_PRIVATE | {"statistic": statistic, "size": 3, "epsilon": 2.0}
    done = private_jobs.release(quiet, folder=str(tmp_path), wanted=wanted, seed=1)
    assert done["left"] == {"epsilon": 1, "delta": 0}
    assert (done["map"] is None) == (statistic == "flows")
    assert "add or remove" in Work.at(str(tmp_path)).path("private-certificate.json").read_text()
    with pytest.raises(BudgetExceeded):
        private_jobs.release(quiet, folder=str(tmp_path), wanted=wanted, seed=1)
    command, python = (text for _name, text in model.private_code("town", wanted))
    assert "--ledger points.ledger" in command
    assert f"private.{statistic}(points, " in python


def test_a_measured_region_is_declared_before_a_private_release(tmp_path: Path) -> None:
    from celosia.studio.traces import jobs, private_jobs

    points = tmp_path / "up.csv"
    rows = "".join(
        f"p{each},{each},{40.1 + each / 500},{-3.9 + each / 100}\n" for each in range(12)
    )
    points.write_text("person,time,latitude,longitude\n" + rows, "utf-8")
    quiet = JobProgress(lambda event: None)
    jobs.prepare(quiet, folder=str(tmp_path), brought=Brought(file="up.csv", shown="up.csv"))
    with pytest.raises(PrivacyError) as caught:
        private_jobs.release(quiet, folder=str(tmp_path), wanted=model.FIRST_PRIVATE)
    assert caught.value.code == "CEL-J030"
    wanted = model.FIRST_PRIVATE | {"region": [40, -4, 40.2, -3.7]}
    done = private_jobs.release(quiet, folder=str(tmp_path), wanted=wanted, seed=1)
    assert done["left"]["epsilon"] == 2, "the refusal has cost nothing"
    assert not (Work.at(str(tmp_path)).load("traces") or {})["measured"]


def test_further_points_of_a_second_are_dropped_where_that_is_allowed(tmp_path: Path) -> None:
    from celosia.studio.traces import jobs

    points = tmp_path / "up.csv"
    brought = Brought(file="up.csv", shown="up.csv")
    rows = "person,time,latitude,longitude\np0,1,40.05,-3.95\np1,1,40.15,-3.85\n"
    rows += "p0,1,40.1,-3.9\n"
    points.write_text(rows, "utf-8")
    quiet = JobProgress(lambda event: None)
    with pytest.raises(InputError) as caught:
        jobs.prepare(quiet, folder=str(tmp_path), brought=brought)
    assert caught.value.key == "CEL-J003.same_time"
    points.write_text(rows, "utf-8")
    done = jobs.prepare(quiet, folder=str(tmp_path), brought=replace(brought, lenient=True))
    assert done["points"] == 2
    assert 'damaged = "drop"' in (tmp_path / "trace.toml").read_text("utf-8")


def test_a_wrong_file_is_refused_with_its_code(visit: Visit, tmp_path: Path) -> None:
    file = tmp_path / "points.csv"
    file.write_text("who,what\na,b\n", "utf-8")
    page = visit.open("/traces")
    page.locator('input[type="file"]').set_input_files(file)
    page.get_by_text("CEL-J001").wait_for()


def test_a_job_writes_all_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from celosia.studio.traces import jobs

    monkeypatch.setitem(model.PEOPLE, "town", (60, 3))
    quiet = JobProgress(lambda event: None)
    about = jobs.prepare(quiet, folder=str(tmp_path), brought=Brought(sample="town"))
    assert about["people"] == 60
    assert set(about["unicity"]) == {f"{c}/{h}" for c in model.CELLS for h in model.HOURS}
    choice = {"method": "planar-laplace", "parameters": {"times": 4, "within": 200}}
    result = jobs.run(quiet, folder=str(tmp_path), choice=choice, seed=1)
    assert result["simulation"]
    assert len(result["attacks"]) == 4
    assert "<svg" in result["maps"]
    for name in ("published.csv", "certificate.json", "report.html", "key.csv"):
        assert Work.at(str(tmp_path)).path(name).is_file()


@pytest.mark.parametrize("kind", [kind for kinds in model.FAMILIES.values() for kind in kinds])
def test_every_card_has_a_first_choice_that_runs_and_a_text(kind: str) -> None:
    choice = model.cards()[kind].first_choice()
    model.check(choice)
    command, python = (text for _name, text in model.code("town", choice, seed=3))
    assert command.startswith("celosia trace publish")
    assert "datasets.city(200, 7)" in python


def test_every_method_has_a_card() -> None:
    assert {kind for kinds in model.FAMILIES.values() for kind in kinds} == set(model.cards())
