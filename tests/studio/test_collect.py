"""Collect in a real browser, and the collections behind it."""

from __future__ import annotations

import json
import re
import shlex
from base64 import b64encode
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect
from typer.testing import CliRunner

from celosia.cli.app import app
from celosia.collect.clients.files import CONFORMANCE, JAVASCRIPT, shipped
from celosia.core.errors import InputError
from celosia.core.progress import Step
from celosia.studio.collect import jobs, sweep_model
from celosia.studio.collect.model import (
    DATA,
    PROTOCOLS,
    Collection,
    CollectionForm,
    compared,
    edges,
)
from celosia.studio.collect.surveys import MOST_SURVEYS, SurveyForm, Surveys
from celosia.studio.collect.sweep_model import SweepForm, shown
from celosia.studio.visitors import Visitor
from celosia.studio.worker import JobProgress
from tests.studio.conftest import Visit, visiting

CHECKS = Path(__file__).parents[1] / "collect" / "check_conformance.mjs"
FORM = CollectionForm(devices=2000, protocol="grr")


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_every_protocol_comes_near_the_truth_and_says_how_near(protocol: str) -> None:
    collection = Collection(
        CollectionForm(data="letters", devices=4000, protocol=protocol, epsilon=4, seed=3)
    )
    states = list(collection.play())
    last = states[-1]
    assert last.devices == 4000
    assert states[0].expected > last.expected
    # Eight values, each with an error of at most a normal law's six deviations: one in 1e8.
    assert last.error < 6 * last.expected


@pytest.mark.parametrize("data", DATA)
def test_all_data_can_be_played(data: str) -> None:
    collection = Collection(
        CollectionForm(data=data, devices=500, protocol="hcms", epsilon=2, seed=1)
    )
    assert 0 < sum(collection.truth) <= 1 + 1e-9
    assert len(collection.candidates) == len(collection.truth)


@pytest.mark.parametrize(
    "wrong",
    [
        CollectionForm(data="/etc/passwd"),
        CollectionForm(protocol="__class__"),
        CollectionForm(devices=10**7),
    ],
)
def test_nothing_else_can_be_played(wrong: CollectionForm) -> None:
    with pytest.raises(InputError) as refusal:
        Collection(wrong)
    assert refusal.value.code == "CEL-W080"


@pytest.mark.parametrize("devices", [1, 2, 100, 12_345])
def test_looks_grow_and_end_with_all_devices(devices: int) -> None:
    found = edges(devices)
    assert found[-1] == devices
    assert found == sorted(set(found))
    assert found[0] >= 1


def test_the_same_device_sends_other_bits_each_time() -> None:
    collection = Collection(
        CollectionForm(data="letters", devices=100, protocol="oue", epsilon=1, seed=1)
    )
    assert collection.one_report(1) != collection.one_report(2)
    assert collection.one_report(1) == collection.one_report(1)


def test_every_protocol_errs_less_with_a_greater_epsilon() -> None:
    for points in compared(users=10**6, domain=100).values():
        errors = [share for _epsilon, share, _bits in points]
        assert errors == sorted(errors, reverse=True)


def test_the_python_text_runs_and_the_command_says_the_same(
    capsys: pytest.CaptureFixture[str],
) -> None:
    exec(FORM.python)
    assert "2,000" in capsys.readouterr().out
    assert "--data letters:2000" in FORM.command


def test_devices_report_and_the_histogram_comes_out(both_languages: Visit) -> None:
    page = both_languages.open("/collect?protocol=oue&devices=1000")
    page.locator("main button").first.click()
    page.locator("table.celosia-table").first.wait_for()
    assert page.locator(".nicegui-echart canvas").count() == 2
    page.locator(".celosia-bits").nth(1).wait_for()
    assert "1e-08" in page.locator("main").inner_text()  # what a shuffler would promise
    assert "protocol=oue" in page.url
    both_languages.picture()


def test_protocols_are_compared(both_languages: Visit) -> None:
    page = both_languages.open("/collect/compare?users=10000&domain=16&epsilon=1")
    page.locator(".nicegui-echart canvas").wait_for()
    assert page.locator("table.celosia-table tbody tr").count() >= 10
    both_languages.picture()


SWEEP = SweepForm(data="letters", protocol=["grr"], epsilon="1, 4", users="100, 200", vary="")


@pytest.mark.parametrize(
    "wrong",
    [
        SweepForm(data="/etc/passwd"),
        SweepForm(protocol=["__class__"]),
        SweepForm(users="10000000"),
        SweepForm(repeats=1000),
        SweepForm(users="1e400"),
    ],
    ids=["data", "protocol", "reports", "runs", "infinite"],
)
def test_a_sweep_of_the_studio_is_bounded(wrong: SweepForm) -> None:
    with pytest.raises(InputError):
        wrong.options()


def test_a_sweep_shows_charts_and_the_same_as_text(capsys: pytest.CaptureFixture[str]) -> None:
    found = shown(SWEEP.run())
    assert [each["x"] for each in found["charts"]] == ["epsilon", "users"]
    assert found["csv"].count("\n") == 1 + 4
    exec(SWEEP.python.replace(', state="sweep.runs"', ""))
    assert capsys.readouterr().out == f"{found['summary']}\n"
    assert "--users 100,200" in SWEEP.command


def test_a_sweep_that_is_stopped_goes_on_in_the_studio_and_on_the_command_line(
    tmp_path: Path,
) -> None:
    """A worker that is ended, by a cancel, a limit or a restart, gets no chance to tidy up."""
    visitor = Visitor("", tmp_path / "visitor", 0.0)
    work = sweep_model.keep(visitor, SWEEP)
    told: list[Step] = []

    def stopping(step: Step) -> None:
        told.append(step)
        if step.done == 2:
            raise KeyboardInterrupt  # nothing of ours expects it

    with pytest.raises(KeyboardInterrupt):
        sweep_model.run_in(work, SWEEP, stopping)
    state = work.path(sweep_model.STATE)
    assert SWEEP.finished(state) == (2, 4)
    assert not sweep_model.has_ended(work, SWEEP)

    again = sweep_model.keep(Visitor("", visitor.folder, 0.0), SWEEP)  # the studio was restarted
    assert again == work
    fresh = jobs.sweep(JobProgress(lambda event: None), folder=str(work.folder), form=SWEEP)
    assert fresh["resumed"] == 2
    assert [row[:7] for row in fresh["rows"]] == [row[:7] for row in shown(SWEEP.run())["rows"]]
    assert sweep_model.has_ended(work, SWEEP)

    larger = replace(SWEEP, epsilon="1, 4, 8")
    assert sweep_model.keep(visitor, larger) == work
    assert larger.finished(state) == (4, 6)
    assert sweep_model.keep(visitor, replace(SWEEP, users="100, 300")) != work, "other values"

    command = larger.command.replace(sweep_model.STATE, str(state)).split("--report")[0]
    found = CliRunner().invoke(app, [*shlex.split(command)[1:], "--json"])
    assert json.loads(found.stdout)["data"]["resumed"] == 4


def test_parameters_are_swept_in_a_browser(both_languages: Visit) -> None:
    page = both_languages.open("/collect/sweep")
    page.locator('[data-test="sweep-users"]').fill("100, 300")
    page.locator('[data-test="sweep-epsilon"]').fill("4")
    both_languages.press("run-sweep")
    page.locator("table.celosia-table").last.wait_for()
    # A chart may draw on several canvases.
    expect(page.locator(".nicegui-echart:has(canvas)")).to_have_count(4)
    expect(page.locator(".nicegui-echart")).to_have_count(4)
    both_languages.picture()
    both_languages.open("/collect/sweep")  # as after a break: the sweep is listed, and is there
    assert "8 de 8 " in page.locator('[data-test="finished-runs"]').inner_text().replace("of", "de")
    page.locator("a[href^='/collect/sweep/']").click()
    page.locator("table.celosia-table").last.wait_for()
    assert page.get_by_text(re.compile("^8 .*(before|de antes)")).is_visible()


def test_what_is_typed_into_the_address_cannot_do_harm(browser: Browser, address: str) -> None:
    with visiting(browser, address, "collect-hostile", phone=True) as visit:
        page = visit.open("/collect?data=<script>alert(1)</script>&epsilon=1e9&devices=10000000000")
        assert "alert(1)" not in page.locator("main").inner_html()
        assert visit.overflow() == 0


def test_the_javascript_client_passes_the_conformance_file_in_a_browser(browser: Browser) -> None:
    """Also where there is no Node; the page belongs to no site and loads nothing."""
    modules = [
        f"data:text/javascript;base64,{b64encode(text.encode()).decode()}"
        for text in (shipped(JAVASCRIPT), CHECKS.read_text("utf-8"))
    ]
    context = browser.new_context()
    try:
        found = context.new_page().evaluate(
            "async ([client, check, data]) => "
            "(await import(check)).check(await import(client), JSON.parse(data))",
            [*modules, shipped(CONFORMANCE)],
        )
    finally:
        context.close()
    assert found["wrong"] == []
    assert found["reports"] > 100


SECRET = "a very telling answer"


def test_browsers_report_and_no_answer_leaves_them(browser: Browser, address: str) -> None:
    with visiting(browser, address, "live") as watching:
        page = watching.open("/collect/live")
        page.get_by_label("Answers, one on each line").fill(f"{SECRET}\nanother")
        page.get_by_role("button", name="Start the survey").click()
        link = page.locator('[data-test="device-address"]')
        link.wait_for()
        survey = (link.get_attribute("href") or "").removeprefix(address)
        sent = [_answer(browser, address, survey, again=times == 0) for times in range(2)]
        page.locator("table.celosia-table tbody tr").nth(1).wait_for()
        expect(page.locator("main")).to_contain_text("Reports so far")
        page.get_by_text("2", exact=True).first.wait_for()
        watching.picture()
    for body in sent:
        assert body[:4] == b"CLR1"
        assert len(body) == 25  # the head, and one byte with one random bit
        assert body[-1] in (0, 1)


def _answer(browser: Browser, address: str, survey: str, *, again: bool) -> bytes:
    """One device answers; what it sent as its report. All else that it sent has no answer in it."""
    context = browser.new_context()
    bodies: list[bytes] = []
    others: list[str] = []
    page = context.new_page()
    page.on(
        "websocket", lambda socket: socket.on("framesent", lambda data: others.append(str(data)))
    )
    page.on("request", lambda each: others.append(f"{each.url} {each.headers}"))
    page.on("request", lambda each: bodies.append(each.post_data_buffer or b""))
    page.on("pageerror", lambda error: pytest.fail(str(error)))
    page.goto(f"{address}{survey}")
    page.locator("input[name=celosia-answer]").first.check()
    page.locator("#celosia-send").click()
    expect(page.locator("#celosia-status")).to_contain_text("all that left your browser")
    if again:  # the budget of the browser allows one report, also after the page was loaded again
        page.reload()
        page.locator("input[name=celosia-answer]").last.check()
        page.locator("#celosia-send").click()
        expect(page.locator("#celosia-status")).to_contain_text("has reported already")
    context.close()
    reports = [each for each in bodies if each.startswith(b"CLR1")]
    assert len(reports) == 1
    assert not any(SECRET in each for each in others)
    assert not any(SECRET.encode() in each for each in bodies)
    return reports[0]


@pytest.mark.parametrize(
    ("question", "answers"),
    [("", ("a", "b")), ("q", ("a",)), ("q", ("a", "a")), ("q", ("a", "b" * 300))],
)
def test_a_survey_has_a_question_and_different_answers(
    question: str, answers: tuple[str, ...]
) -> None:
    with pytest.raises(InputError) as refusal:
        SurveyForm(question, answers, 1.0)
    assert refusal.value.key == "CEL-W080.survey"


def test_a_survey_counts_one_report_of_a_mark_and_no_other_bytes() -> None:
    survey = Surveys().start(SurveyForm("q", ("a", "b"), 1.0))
    client = survey.protocol.client()
    one, two = client.privatise("a").to_bytes(), client.privatise(["a", "b"]).to_bytes()
    survey.absorb(one, "m" * 16)
    survey.absorb(one, "m" * 16)
    assert survey.reports == 1
    for data, mark in ((two, "n" * 16), (one, "short"), (b"CLR1", "o" * 16)):
        with pytest.raises(InputError):
            survey.absorb(data, mark)
    assert [row[0] for row in survey.shares()] == ["a", "b"]


def test_the_oldest_survey_goes() -> None:
    kept = Surveys()
    first = kept.start(SurveyForm("q", ("a", "b"), 1.0))
    for _ in range(MOST_SURVEYS):
        last = kept.start(SurveyForm("q", ("a", "b"), 1.0))
    assert kept.of(last.id) is last
    with pytest.raises(InputError):
        kept.of(first.id)
