"""Logs in a real browser: three clicks to a published log, and no value of it on the way."""

from __future__ import annotations

from pathlib import Path

import pytest

from celosia.core.methods import Parameter
from celosia.studio.logs import jobs, model
from celosia.studio.uploads import Brought
from celosia.studio.visitors import Work
from celosia.studio.worker import JobProgress
from tests.studio.conftest import Visit

ACCESS = '10.7.{n}.9 - - [01/Sep/2026:10:0{n}:00 +0000] "GET /{page} HTTP/1.1" 200 512\n'


def quiet() -> JobProgress:
    return JobProgress(lambda event: None)


def test_searches_are_declared_and_published(both_languages: Visit) -> None:
    visit = both_languages
    page = visit.open("/logs")
    page.locator('[data-test="sample-searches"]').click()
    page.locator('[data-test="run"]').wait_for()
    visit.picture("1-fields")
    assert visit.overflow() == 0
    # Shapes only: the first person of the sample is a number of seven digits.
    columns = page.locator("table").first.inner_text()
    assert "9999999" in columns
    assert "99.9.9.9" in columns
    threshold = page.locator('input[data-test="threshold"]')
    threshold.fill("7")
    page.locator("tr.marked td", has_text="7").first.wait_for()
    page.locator('[data-test="run"]').click()
    page.wait_for_url("**step=result**")
    spanish = page.get_attribute("html", "lang") == "es"
    page.get_by_text("4 elementos conocidos" if spanish else "4 known items").last.wait_for()
    page.get_by_text("--min-people 7").wait_for()
    visit.picture("2-result")
    assert visit.overflow() == 0
    for name in ("published.csv", "certificate.json", "report.html", "log.csv", "log.toml"):
        link = page.locator(f'[data-test="file-{name}"]').evaluate("link => link.href")
        assert page.request.get(link).ok


def test_a_log_without_persons_is_refused_with_its_code(visit: Visit, tmp_path: Path) -> None:
    file = tmp_path / "log.csv"
    file.write_text("colour,query\nred,a\nblue,b\n", "utf-8")
    page = visit.open("/logs")
    page.locator('input[type="file"]').set_input_files(file)
    page.get_by_text("CEL-U010").wait_for()


def test_an_access_log_is_read_as_one_and_published(tmp_path: Path) -> None:
    lines = [ACCESS.format(n=n, page=page) for n in range(6) for page in ("home", f"own{n}")]
    (tmp_path / "upload.log").write_text("".join(lines), "utf-8")
    about = jobs.prepare(
        quiet(), folder=str(tmp_path), brought=Brought(file="upload.log", shown="access.log")
    )
    assert (about["records"], about["persons"], about["file"]) == (12, 6, "log.log")
    address = next(each for each in about["columns"] if each["name"] == "ip")
    assert (address["roles"], address["shape"]) == (["person", "ip"], "99.9.9.9")
    assert "10.7." not in Work.at(str(tmp_path)).path("logs.json").read_text("utf-8")
    fields = {"url": "path", "depth": 1}
    result = jobs.run(quiet(), folder=str(tmp_path), k=5, fields=fields, seed=1)
    assert result["records"] == {"before": 12, "after": 6}  # each own page goes
    published = Work.at(str(tmp_path)).path("published.csv").read_text("utf-8")
    assert "10.7.0.0/24" in published
    assert "own" not in published


def test_json_lines_are_read(tmp_path: Path) -> None:
    lines = [f'{{"user": "u{n}", "query": "same", "rank": {n}}}\n' for n in range(6)]
    (tmp_path / "upload.jsonl").write_text("".join(lines), "utf-8")
    about = jobs.prepare(
        quiet(), folder=str(tmp_path), brought=Brought(file="upload.jsonl", shown="s.jsonl")
    )
    assert [each["roles"] for each in about["columns"]] == [["person"], ["text"], []]
    assert jobs.run(quiet(), folder=str(tmp_path), k=5, fields={})["records"]["after"] == 6


@pytest.mark.parametrize(
    "control", [each for each in model.field_controls() if each.choices], ids=lambda each: each.name
)
def test_every_treatment_is_told(control: Parameter) -> None:
    for choice in control.choices:
        if control.name != "period":
            assert model.treatment([control.name], {control.name: choice})


def test_a_shape_holds_no_letter_of_the_cell() -> None:
    assert model.shape("Ñandú 47 · 東京🙂") == "aaaaa 99 a aaa"
    assert model.shape("x" * 90) == "a" * 40 + "…"


def test_the_text_repeats_the_choice() -> None:
    command, python = (
        text for _name, text in model.code("searches", "log.csv", 7, {"ip": "drop"}, seed=3)
    )
    assert "--method fields:ip=drop --min-people 7" in command
    assert "logs.Fields(ip='drop'), logs.UserThreshold(k=7)" in python
