"""Publish, from a file to a run, in a real browser."""

from __future__ import annotations

import re

from playwright.sync_api import Browser, Locator, Page, expect

from tests.studio.conftest import Visit, visiting

expect.set_options(timeout=180_000)  # as the other waits of a visit
PEOPLE = "name;edad;ciudad;enfermedad\n" + "".join(
    f"P{place};{20 + place % 30};{('Lima', 'Quito', 'Talca', 'Madrid')[place % 4]};"
    f"{('flu', 'asthma', 'cancer')[place % 3]}\n"
    for place in range(60)
)
HOSTILE = (
    '<script>window.broken=1</script>,"x"" onmouseover=""window.broken=1",city,=1+1\n'
    'a,b,"<img src=x onerror=window.broken=1>",=cmd()\n'
    "c,d,<b>Lima</b>,@SUM(A1)\n"
    "e,f,Quito,+1\n"
)


def bring(page: Page, name: str, content: str | bytes) -> None:
    """Hand a file to the first upload of the page."""
    data = content.encode() if isinstance(content, str) else content
    page.locator(".q-uploader__input").first.set_input_files(
        {"name": name, "mimeType": "text/csv", "buffer": data}
    )


def to_columns(page: Page) -> str:
    """Wait for the columns of a new piece of work; its address."""
    page.wait_for_url(re.compile(r"/publish/[A-Za-z0-9_-]{11}$"))
    page.wait_for_selector(".celosia-role")
    page.wait_for_selector("[data-test=exposure] .value, [data-test=exposure] .text-bold")
    page.wait_for_function("window.socket !== undefined && window.socket.connected")
    return page.url


def settled(page: Page) -> None:
    """Wait until the page answers."""
    page.wait_for_function("window.socket !== undefined && window.socket.connected")


def field(page: Page, name: str) -> Locator:
    """A field by its name for tests, whichever element of it carries the name."""
    inside = page.locator(f"[data-test={name}]")
    return inside.locator("input, textarea").or_(
        page.locator(f"input[data-test={name}], textarea[data-test={name}]")
    )


def role(page: Page, column: int, which: int) -> None:
    """Make a column an identifier (0), a quasi-identifier, sensitive or neither (3)."""
    button = page.locator(".celosia-role-choice").nth(column).get_by_role("button").nth(which)
    button.click()
    expect(button).to_have_attribute("aria-pressed", "true")


def test_a_file_is_brought_and_all_is_chosen_up_to_the_run(both_languages: Visit) -> None:
    visit = both_languages
    page = visit.open("/publish")
    assert page.locator("[data-test^=sample-]").count() == 6
    assert visit.fits_a_phone()
    bring(page, "gente.csv", PEOPLE)
    address = to_columns(page)
    _choose_roles(page)
    _follow_the_rail(page)
    visit.picture("columns")
    assert visit.fits_a_phone()
    page.goto(f"{address}?step=hierarchies&column=1")
    _edit_intervals(page)
    visit.picture("intervals")
    assert visit.fits_a_phone("hierarchies")
    page.goto(f"{address}?step=hierarchies&column=2")
    _edit_tree(page)
    visit.picture("tree")
    page.goto(f"{address}?step=models")
    _add_a_model(page)
    visit.picture("models")
    page.goto(f"{address}?step=models&column=99")  # as a reload, and a place that is not there
    settled(page)
    assert visit.fits_a_phone("models")
    expect(page.locator("pre.celosia-code").first).to_contain_text("--model distinct-diversity:l=3")
    page.locator("[data-test=run]").click()
    page.wait_for_url(re.compile(r"/publish/[A-Za-z0-9_-]{11}/results"))


def _choose_roles(page: Page) -> None:
    figures = page.locator("[data-test=exposure]")
    expect(figures).to_contain_text("60 (100")  # age and city tell all sixty apart
    role(page, 0, 0)
    role(page, 2, 3)
    expect(figures).to_contain_text("0 (0")
    role(page, 2, 1)
    expect(figures).to_contain_text("60 (100")
    role(page, 3, 2)


def _follow_the_rail(page: Page) -> None:
    """Figures of risk and use follow a change of role, and each says what it is."""
    figures = page.locator("[data-test=rail] .celosia-rail-part:not(.faded)")
    with_city = figures.inner_text()
    role(page, 2, 3)
    expect(figures).not_to_have_text(with_city, use_inner_text=True)
    role(page, 2, 1)
    expect(figures).to_have_text(with_city, use_inner_text=True)
    names = figures.locator(".name").count()
    assert figures.locator(".celosia-help").count() == names == 5
    figures.locator(".celosia-help").first.click()
    meaning = page.locator(".celosia-meaning")
    expect(meaning.locator("math")).to_be_visible()
    page.keyboard.press("Escape")
    expect(meaning).to_have_count(0)


def _edit_intervals(page: Page) -> None:
    settled(page)
    preview = page.locator("[data-test=preview]")
    field(page, "widths").fill("10, 30")
    expect(preview).to_contain_text("16-25")
    expect(preview).to_contain_text("16-45")
    field(page, "widths").fill("10, 25")
    expect(preview.get_by_role("alert")).to_contain_text("CEL-H021")
    field(page, "widths").fill("10, 20")
    expect(preview).to_contain_text("16-35")


def _edit_tree(page: Page) -> None:
    settled(page)
    page.locator("[data-test=kind]").click()
    page.get_by_role("option").last.click()
    tree = page.locator("[data-test=tree]")
    tree.get_by_text("Lima").wait_for()
    for place in (0, 2, 3):  # Lima, Quito and Talca; Madrid is between them
        tree.get_by_role("checkbox").nth(place).click()
    field(page, "group-name").fill("América")
    page.locator("[data-test=put]").click()
    expect(tree).to_contain_text("América")
    expect(page.locator("[data-test=preview]")).to_contain_text("América")


def _add_a_model(page: Page) -> None:
    settled(page)
    promise = page.locator("[data-test=promise]")
    field(page, "k-anonymity-k").fill("4")
    expect(promise).to_contain_text("4")
    page.locator("[data-test=add-model]").click()
    page.locator("[data-test=add-distinct-diversity]").click()
    page.locator("[data-test=model-distinct-diversity]").wait_for()
    expect(promise.locator("li")).to_have_count(3)
    code = page.locator("pre.celosia-code").first
    expect(code).to_contain_text("--k 4")
    expect(code).to_contain_text("--model distinct-diversity:l=3")


def test_a_sample_is_ready_to_run_and_its_faults_are_explained_and_mended(visit: Visit) -> None:
    page = visit.open("/publish")
    page.locator("[data-test=sample-patients]").click()
    address = to_columns(page)
    expect(page.locator("[data-test=run]")).to_be_enabled()

    page.goto(f"{address}?step=hierarchies&column=1")
    settled(page)
    field(page, "bounds").fill("20, 30, 50")
    expect(page.get_by_role("alert").last).to_contain_text("52")
    visit.picture("uncovered")
    page.locator("[data-test=repair]").click()
    expect(page.locator("[data-test=preview]")).to_contain_text(">= 50")

    page.goto(f"{address}?step=models")
    settled(page)
    page.locator("[data-test=add-model]").click()
    page.locator("[data-test=add-delta-presence]").click()
    expect(page.get_by_role("alert")).to_contain_text("population")
    expect(page.locator("[data-test=run]")).to_be_disabled()
    bring(page, "all.csv", "zip,age\n47677,29\n47602,22\n")
    expect(page.locator("[data-test=run]")).to_be_enabled()
    expect(page.locator("pre.celosia-code").first).to_contain_text("--population all.csv")
    visit.picture("population")
    page.locator("[data-test=undo]").click()
    expect(page.locator("[data-test=model-delta-presence]")).to_have_count(0)
    page.locator("[data-test=redo]").click()
    expect(page.locator("[data-test=model-delta-presence]")).to_have_count(1)


def test_a_file_that_is_no_table_is_explained_and_a_hostile_one_is_only_text(
    visit: Visit, browser: Browser, address: str
) -> None:
    page = visit.open("/publish")
    for name, content in (("empty.csv", b""), ("not.parquet", b"PAR1 not a table")):
        bring(page, name, content)
        expect(page.get_by_role("alert")).to_contain_text(name)
    visit.picture("no-table")
    bring(page, "../../<img src=x onerror=window.broken=1>.csv", HOSTILE)
    found = to_columns(page).removeprefix(visit.address)
    heading = page.get_by_role("heading", level=1)
    assert heading.inner_text() == "<img src=x onerror=window.broken=1>.csv"
    assert page.locator("th", has_text="<script>window.broken=1</script>").count() == 1
    for column in (0, 1):  # the city comes first then
        role(page, column, 0)
    visit.open(f"{found}?step=hierarchies")
    expect(page.locator("[data-test=preview]")).to_contain_text("<b>Lima</b>")
    visit.picture("hostile")
    with visiting(browser, address, "another-visitor") as other:
        other.open(found)
        expect(other.page.get_by_role("alert")).to_contain_text("CEL-W011")
        other.expect_status(404)
    visit.open("/publish")
    assert page.locator("[data-test=delete]").count() == 1  # nothing is left of the others
    assert page.evaluate("window.broken") is None
    page.locator("[data-test=delete]").click()
    expect(page.locator("[data-test=delete]")).to_have_count(0)
    _too_large(page)
    visit.open(found)
    expect(page.get_by_role("alert")).to_contain_text("CEL-W011")
    visit.expect_status(404)


def _too_large(page: Page) -> None:
    """Choose a file that is said to have a gigabyte: it never leaves the browser."""
    page.evaluate(
        """() => {
            const box = document.querySelector('.q-uploader__input');
            const data = new DataTransfer();
            const file = new File(['a'], 'large.csv');
            Object.defineProperty(file, 'size', {value: 1e9});
            data.items.add(file);
            Object.defineProperty(box, 'files', {value: [file]});
            box.dispatchEvent(new Event('change', {bubbles: true}));
        }"""
    )
    expect(page.get_by_role("alert").last).to_contain_text("100 MB")
