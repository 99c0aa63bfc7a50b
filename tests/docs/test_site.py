"""The documentation builds, its links lead somewhere, and it asks nothing of any network."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest
from tests.docs.examples import plain_environment

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
TEXTS = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")] + PAGES

LOADING = {
    "script": "src",
    "img": "src",
    "iframe": "src",
    "source": "src",
    "audio": "src",
    "video": "src",
    "embed": "src",
    "object": "data",
}
"""What a browser fetches by itself, and where the address is."""

LOADING_LINKS = {"stylesheet", "preload", "prefetch", "preconnect", "dns-prefetch", "icon"}


class Fetched(HTMLParser):
    """Collects the addresses that a page makes a browser fetch."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag in LOADING:
            self.addresses += [given.get(LOADING[tag], ""), given.get("srcset", "")]
        if tag == "link" and LOADING_LINKS & set(given.get("rel", "").split()):
            self.addresses.append(given.get("href", ""))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built site, made from a copy so that no other build is in the way."""
    zensical = Path(sys.executable).parent / "zensical"
    if not zensical.exists():
        pytest.skip("zensical is not installed: `make test` installs it")
    folder = tmp_path_factory.mktemp("docs")
    shutil.copy(ROOT / "mkdocs.yml", folder)
    shutil.copytree(DOCS, folder / "docs", ignore=shutil.ignore_patterns("__pycache__"))
    done = subprocess.run(
        [zensical, "build", "--clean", "--strict"],
        cwd=folder,
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        env=plain_environment(),
        timeout=600,
    )
    assert done.returncode == 0, done.stdout
    assert "No issues found" in done.stdout, done.stdout
    return folder / "site"


def test_every_page_is_built(site: Path) -> None:
    built = {path.relative_to(site).with_suffix(".md") for path in site.rglob("*.html")}
    assert [page for page in PAGES if page.relative_to(DOCS) not in built] == []


def test_the_site_asks_nothing_of_any_network(site: Path) -> None:
    outside = []
    for page in site.rglob("*.html"):
        parser = Fetched()
        parser.feed(page.read_text("utf-8"))
        outside += [
            f"{page.name}: {address}"
            for address in parser.addresses
            if re.match(r"(https?:)?//", address)
        ]
    for sheet in site.rglob("*.css"):
        text = sheet.read_text("utf-8")
        outside += re.findall(r"(?:url\(|@import)\s*['\"]?(?:https?:)?//[^)'\"]+", text)
    assert outside == []


def test_no_page_draws_by_script() -> None:
    drawn = ("```mermaid", "<script")
    assert [page for page in PAGES if any(mark in page.read_text("utf-8") for mark in drawn)] == []


def test_the_navigation_has_every_page_once() -> None:
    settings = (ROOT / "mkdocs.yml").read_text("utf-8")
    listed = sorted(re.findall(r": (\S+\.md)$", settings, flags=re.MULTILINE))
    assert listed == sorted(str(page.relative_to(DOCS)) for page in PAGES)


@pytest.mark.parametrize("page", TEXTS, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    lost = []
    for target in _links(page.read_text("utf-8")):
        path, _, anchor = target.partition("#")
        goal = (page.parent / path).resolve() if path else page
        if not goal.exists() or (anchor and anchor not in _anchors(goal)):
            lost.append(target)
    assert lost == []


def test_the_picture_of_a_report_is_small() -> None:
    assert (DOCS / "images" / "report.png").stat().st_size < 250_000


def _links(text: str) -> Iterator[str]:
    prose = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", prose):
        if not target.startswith(("http:", "https:")):
            yield target


def _anchors(page: Path) -> set[str]:
    """The anchors of the headings: given ones, else the words in small letters."""
    anchors = set()
    for heading in re.findall(r"^#+ (.+)$", page.read_text("utf-8"), flags=re.MULTILINE):
        given = re.search(r"\{#([^}]+)\}", heading)
        words = re.sub(r"[^\w\s-]", "", heading.lower()).strip()
        anchors.add(given.group(1) if given else re.sub(r"[\s-]+", "-", words))
    return anchors
