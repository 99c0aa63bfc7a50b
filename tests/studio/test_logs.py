"""Logs in a real browser: three clicks to a published log, and no value of it on the way."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from celosia.core.errors import BudgetExceeded, InputError
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
    visit.press("sample-searches")
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
    visit.press("run")
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


def test_baskets_are_published_and_named_in_the_browser(visit: Visit) -> None:
    page = visit.open("/logs")
    page.locator('[data-test="sample-baskets"]').click()
    page.locator('[data-test="run"]').wait_for()
    visit.picture("3-sets")
    assert visit.overflow() == 0
    page.locator('[data-test="run"]').click()
    page.wait_for_url("**step=result**")
    page.get_by_text("Code that shares nothing with the method").wait_for()
    page.get_by_text("--method km-anonymity").first.wait_for()
    page.locator("nav.celosia-steps a", has_text="Frequent keys").click()
    page.locator('[data-test="run"]').wait_for()
    page.locator('[data-test="run"]').click()
    page.get_by_text("What was named").first.wait_for()
    visit.picture("4-keys")
    assert visit.overflow() == 0
    for name in ("keys.csv", "keys-certificate.json", "keys-report.html"):
        link = page.locator(f'[data-test="file-{name}"]').evaluate("link => link.href")
        assert page.request.get(link).ok
    page.locator("nav.celosia-steps a", has_text="Plan").click()
    page.locator('input[data-test="plan-people"]').fill("50")
    page.locator('[data-test="run"]').click()
    page.get_by_text("celosia log plan --people").wait_for()
    assert visit.overflow() == 0


@pytest.mark.parametrize("name", model.set_cards())
def test_every_method_publishes_the_sample_of_baskets(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(model.PEOPLE, "baskets", 200)
    about = jobs.prepare(quiet(), folder=str(tmp_path), brought=Brought(sample="baskets"))
    assert (about["kind"], about["records"]) == ("sets", 200)
    assert "item" not in str(about["known"][0]["share"])
    work = Work.at(str(tmp_path))
    work.save("logs", about | {"sensitive": "item000, item007"})
    choice = model.set_cards()[name].first_choice()
    result = jobs.run_sets(quiet(), folder=str(tmp_path), choice=choice, seed=1)
    assert result["violations"] in (0, None)
    assert work.path(result["file"]).exists()
    command, python = (text for _name, text in model.set_code(about, choice, seed=1))
    assert "--sets --method" in command
    assert "logs.publish_sets('log.txt', method, hierarchy=\"items.csv\"" in python


@pytest.mark.parametrize("name", model.key_cards())
def test_every_mechanism_names_keys(name: str, tmp_path: Path) -> None:
    lines = [f"u{n},{query}\n" for n in range(90) for query in ("flu", "rain", f"own{n}")]
    (tmp_path / "upload.csv").write_text("user,query\n" + "".join(lines), "utf-8")
    brought = Brought(file="upload.csv", shown="s.csv")
    about = jobs.prepare(quiet(), folder=str(tmp_path), brought=brought)
    choice = model.key_cards()[name].first_choice()
    choice["parameters"] |= {"epsilon": 3, "per_person": 2}
    result = jobs.release_keys(quiet(), folder=str(tmp_path), choice=choice, of="queries", seed=1)
    assert {"flu", "rain"} <= set(result["keys"]) <= {"flu", "rain", "flu | rain"}
    assert result["has_numbers"] == (name not in ("optimal-keys", "sips-keys"))
    assert "own" not in Work.at(str(tmp_path)).path("keys.csv").read_text("utf-8")
    command, python = (text for _n, text in model.key_code(about, choice, "queries", seed=1))
    assert "--epsilon 3" in command
    assert "epsilon=3" in python


def test_keys_are_paid_from_one_budget_and_planned_without_the_log(tmp_path: Path) -> None:
    (tmp_path / "upload.csv").write_text("user,query\nu1,flu\nu2,flu\nu3,rain\n", "utf-8")
    brought = Brought(file="upload.csv", shown="s.csv")
    jobs.prepare(quiet(), folder=str(tmp_path), brought=brought)
    choice = model.key_cards()["laplace-keys"].first_choice()
    choice["parameters"] |= {"epsilon": 2, "delta": 1e-5}
    folder = str(tmp_path)
    first = jobs.release_keys(quiet(), folder=folder, choice=choice, of="queries", seed=1)
    assert first["left"]["epsilon"] == 1
    with pytest.raises(BudgetExceeded, match="does not allow"):
        jobs.release_keys(quiet(), folder=folder, choice=choice, of="queries", seed=1)
    planned = jobs.plan(quiet(), folder=folder, wanted=model.FIRST_PLAN | {"people": 50})
    assert {row["per_person"] for row in planned["rows"]} == {1, 5, 20, 50}


def test_uploaded_baskets_get_groups_of_items(visit: Visit, tmp_path: Path) -> None:
    file = tmp_path / "shop.baskets"
    file.write_text("a1,b1,b2\na2,b1\na2,b1,b2\na1,a2,b2\n" * 5, "utf-8")
    page = visit.open("/logs")
    page.locator('input[type="file"]').set_input_files(file)
    page.locator('textarea[data-test="groups"]').fill("a1;A;*\na2;A;*\nb1;B;*\nb2;B;*")
    page.get_by_text("4 lines of groups").wait_for()
    page.locator('[data-test="method-km-anonymity"]').click()
    page.locator('[data-test="chosen"]', has_text="anonymity").wait_for()
    page.locator('[data-test="run"]').click()
    page.wait_for_url("**step=result**")
    page.get_by_text("--hierarchy items.csv").first.wait_for()


def test_a_damaged_log_is_refused_or_its_records_are_dropped(visit: Visit, tmp_path: Path) -> None:
    """The switch beside the place for a file; what is dropped is counted."""
    file = tmp_path / "searches.csv"
    rows = [f"u{n},{query}\n" for n in range(6) for query in ("flu", "rain")]
    file.write_text("user,query\n" + "".join(rows) + "u1,\n,flu\n", "utf-8")
    page = visit.open("/logs")
    page.locator('input[type="file"]').set_input_files(file)
    page.get_by_text("CEL-U014").wait_for()
    page.locator('[data-test="lenient"]').click()
    page.locator('input[type="file"]').set_input_files(file)
    page.locator('[data-test="run"]').click()
    page.wait_for_url("**step=result**")
    page.get_by_text("--min-people 5").wait_for()


def test_damaged_baskets_are_dropped_on_every_page_of_a_work(tmp_path: Path) -> None:
    content = b"milk,bread\nmilk,beer\nmilk\nb\xe9,milk\n" * 3
    brought = Brought(file="upload.txt", shown="s.txt")
    (tmp_path / "upload.txt").write_bytes(content)
    with pytest.raises(InputError) as caught:
        jobs.prepare(quiet(), folder=str(tmp_path), brought=brought)
    assert caught.value.code == "CEL-U014"
    (tmp_path / "upload.txt").write_bytes(content)
    about = jobs.prepare(quiet(), folder=str(tmp_path), brought=replace(brought, lenient=True))
    assert about["left_out"] == {"bad_encoding": 3}
    jobs.run_sets(quiet(), folder=str(tmp_path), choice=about["choice"], seed=1)
    choice = model.key_cards()["laplace-keys"].first_choice()
    jobs.release_keys(quiet(), folder=str(tmp_path), choice=choice, of="queries", seed=1)
    shown = [*model.set_code(about, about["choice"]), *model.key_code(about, choice, "queries")]
    assert all("damaged" in text for _kind, text in shown)


def test_basket_lines_are_told_from_tables_and_access_logs(tmp_path: Path) -> None:
    (tmp_path / "upload.txt").write_text("milk,bread\nmilk,beer\nmilk\n", "utf-8")
    brought = Brought(file="upload.txt", shown="s.txt")
    about = jobs.prepare(quiet(), folder=str(tmp_path), brought=brought)
    assert (about["kind"], about["items"], about["has_hierarchy"]) == ("sets", 3, False)
    assert about["choice"]["method"] == "disassociation"
    assert "milk" not in Work.at(str(tmp_path)).path("logs.json").read_text("utf-8")


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
