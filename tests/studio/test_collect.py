"""Collect in a real browser, and the collections behind it."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser

from celosia.core.errors import InputError
from celosia.studio.collect.model import (
    DATA,
    PROTOCOLS,
    Collection,
    CollectionForm,
    compared,
    edges,
)
from celosia.studio.collect.sweep_model import SweepForm, shown
from tests.studio.conftest import Visit, visiting

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
    exec(SWEEP.python.replace(', state="my.sweep"', ""))
    assert capsys.readouterr().out == f"{found['summary']}\n"
    assert "--users 100,200" in SWEEP.command


def test_parameters_are_swept_in_a_browser(both_languages: Visit) -> None:
    page = both_languages.open("/collect/sweep")
    page.locator('[data-test="sweep-users"]').fill("100, 300")
    page.locator('[data-test="sweep-epsilon"]').fill("4")
    page.locator("main button.q-btn").first.click()
    page.locator("table.celosia-table").last.wait_for()
    assert page.locator(".nicegui-echart canvas").count() == 4
    both_languages.picture()


def test_what_is_typed_into_the_address_cannot_do_harm(browser: Browser, address: str) -> None:
    with visiting(browser, address, "collect-hostile", phone=True) as visit:
        page = visit.open("/collect?data=<script>alert(1)</script>&epsilon=1e9&devices=10000000000")
        assert "alert(1)" not in page.locator("main").inner_html()
        assert visit.overflow() == 0
