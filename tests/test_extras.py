"""A door whose extra is not installed says which one to install."""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from celosia import CelosiaError
from celosia.accounting.ledger.store import Store
from celosia.assess.utility import GradientBoosting
from celosia.collect.collector.service import serve as collect
from celosia.core.pseudonyms.crypto_pan import CryptoPan
from celosia.core.report import Document
from celosia.core.signatures import make_key
from celosia.datasets import city
from celosia.engines.postgres import PostgresEngine
from celosia.engines.postgres_tables import PostgresTables
from celosia.engines.spark import spark_session
from celosia.frames import read
from celosia.frames.formats import ReadOptions
from celosia.frames.statistical import read_statistical
from celosia.lab.sparql.small_graphs import asked_frequency
from celosia.queries.rdf.endpoint import _check_client
from celosia.queries.rdf.store_loader import check_parser
from celosia.queries.service import Client, serve
from celosia.queries.sparql.compiler import parse
from celosia.studio.app import check_toolkit
from celosia.tables.synthesis.trees import _trees
from celosia.texts.formats.pdf import shown_text, write_pages
from celosia.texts.models.rare_terms import information
from celosia.traces.places import place_levels

ROOT = Path(__file__).parent.parent
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"][
    "optional-dependencies"
]
SERVER = "postgresql://nobody@127.0.0.1:1/nothing"


def _rare_words() -> object:
    return information("word", "en")


USES: list[tuple[str, str, str, Callable[[], object]]] = [
    ("documents", "pikepdf", "CEL-N004", lambda: write_pages(["text"])),
    ("documents", "pypdf", "CEL-N004", lambda: shown_text(b"%PDF-")),
    ("mysql", "pymysql", "CEL-F029", lambda: read("mysql://nobody@127.0.0.1:1/x", query="t")),
    ("places", "h3", "CEL-J015", lambda: place_levels(city(2, 1).traces, "h3")),
    ("postgres", "psycopg", "CEL-E015", lambda: PostgresEngine(SERVER)),
    ("postgres", "psycopg", "CEL-E015", lambda: PostgresTables(SERVER)),
    ("postgres", "psycopg", "CEL-Q101", lambda: Store(SERVER)),
    ("pseudonyms", "cryptography", "CEL-I070", lambda: CryptoPan(bytes(32))),
    ("rdf", "pyoxigraph", "CEL-Q229", check_parser),
    ("rdf", "pyoxigraph", "CEL-Q229", lambda: asked_frequency(frozenset(), "?v")),
    ("rdf", "rdflib", "CEL-Q229", lambda: parse("SELECT (COUNT(*) AS ?n) WHERE { ?s ?p ?o }")),
    ("rdf,service", "httpx", "CEL-Q229", _check_client),
    ("reports", "fpdf", "CEL-I082", lambda: Document("", "", ()).pdf()),
    ("service", "httpx", "CEL-Q170", lambda: Client("https://vault.example", "token")),
    ("service", "uvicorn", "CEL-Q170", lambda: serve("policy.toml")),
    ("service", "uvicorn", "CEL-R083", lambda: collect("protocol.toml", folder="f")),
    ("signatures", "cryptography", "CEL-I070", lambda: make_key(Path("house.key"))),
    ("spark", "pyspark", "CEL-E050", spark_session),
    ("spark", "pandas", "CEL-E050", spark_session),
    (
        "statistics",
        "pyreadstat",
        "CEL-F029",
        lambda: read_statistical(Path("a.sav"), ReadOptions()),
    ),
    *[
        ("studio", package, "CEL-W031", check_toolkit)
        for package in ("babel", "fastapi", "nicegui", "uvicorn")
    ],
    ("words", "wordfreq", "CEL-N015", _rare_words),
    ("utility", "sklearn", "CEL-A080", lambda: GradientBoosting().make(1)),
    ("utility", "sklearn", "CEL-Y010", _trees),
]


@pytest.mark.parametrize(
    ("extra", "package", "code", "use"), USES, ids=[f"{use[1]}-{use[2]}" for use in USES]
)
def test_a_missing_package_leads_to_its_extra(
    extra: str,
    package: str,
    code: str,
    use: Callable[[], object],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in list(sys.modules):
        if name.partition(".")[0] == package:
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(CelosiaError) as caught:
        use()
    assert caught.value.code == code
    assert f"pip install 'celosia[{extra}]'" in caught.value.fix
    assert package in caught.value.what or package == "sklearn"


def test_every_extra_is_asked_for_here() -> None:
    """All but pandas: whoever hands over a frame of pandas has it."""
    asked = {name for extra, *_ in USES for name in extra.split(",")}
    assert asked == set(EXTRAS) - {"pandas"}
