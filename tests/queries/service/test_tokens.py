"""Tokens: hashed, expiring, revocable, for their owner only."""

from __future__ import annotations

import re
import sqlite3
import stat
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from celosia.core.errors import CelosiaError, EngineError, InputError
from celosia.queries.service import AccessDenied, TokenStore

DAY = 86_400


@pytest.fixture
def store(tmp_path: Path) -> TokenStore:
    return TokenStore(tmp_path / "tokens.sqlite")


def test_a_token_is_known_by_its_text(store: TokenStore) -> None:
    made = store.create(role="analyst", name="ada")
    assert store.holder(made.text) == made.token
    assert (made.token.role, made.token.name) == ("analyst", "ada")


def test_tokens_have_256_bits_and_are_kept_as_their_hash(store: TokenStore) -> None:
    made = store.create(role="curator", name="carla")
    assert re.fullmatch(r"celosia_[0-9a-f]{16}_[0-9a-f]{64}", made.text)
    with sqlite3.connect(store.path) as file:
        ((kept,),) = file.execute("SELECT hash FROM celosia_tokens").fetchall()
    file.close()
    assert kept == sha256(made.text.encode()).hexdigest()
    assert made.text not in repr(made)


def test_the_file_is_for_its_owner_only(store: TokenStore) -> None:
    assert stat.S_IMODE(store.path.stat().st_mode) == 0o600


def test_a_token_ends_when_it_expires(tmp_path: Path) -> None:
    now = 1000.0
    store = TokenStore(tmp_path / "tokens.sqlite", clock=lambda: now)
    made = store.create(role="analyst", name="ada", days=2)
    now += 2 * DAY - 1
    assert store.holder(made.text).name == "ada"
    now += 1
    with pytest.raises(AccessDenied):
        store.holder(made.text)


def test_every_bad_text_is_refused_in_the_same_words(store: TokenStore) -> None:
    good = store.create(role="analyst", name="ada")
    revoked = store.create(role="analyst", name="ben")
    assert store.revoke(revoked.token.id).revoked is not None
    texts = ["", "x", good.text[:-1], good.text + " ", good.text.upper(), revoked.text, "\ud800"]
    texts.append(good.text[:-64] + revoked.text[-64:])
    said = set()
    for text in texts:
        with pytest.raises(AccessDenied) as caught:
            store.holder(text)
        said.add((caught.value.code, str(caught.value)))
    assert len(said) == 1


def test_another_process_sees_a_revocation_at_once(store: TokenStore) -> None:
    made = store.create(role="analyst", name="ada")
    elsewhere = TokenStore(store.path)
    assert elsewhere.holder(made.text)
    store.revoke(made.token.id)
    with pytest.raises(AccessDenied):
        elsewhere.holder(made.text)


def test_revoking_twice_keeps_the_first_moment(tmp_path: Path) -> None:
    now = 1000.0
    store = TokenStore(tmp_path / "tokens.sqlite", clock=lambda: now)
    made = store.create(role="analyst", name="ada").token
    store.revoke(made.id)
    now += 50
    assert store.revoke(made.id).revoked == 1000.0
    assert "revoked" in str(store.tokens()[0])


@pytest.mark.parametrize(
    "wrong",
    [
        {"role": "owner"},
        {"name": ""},
        {"name": "  "},
        {"name": "a\nb"},
        {"name": "x" * 101},
        {"name": "\ud800"},
        {"name": None},
        {"days": 0},
        {"days": -1},
        {"days": 367},
        {"days": float("nan")},
        {"days": "long"},
    ],
)
def test_a_token_that_says_nothing_is_not_made(store: TokenStore, wrong: dict[str, Any]) -> None:
    given: dict[str, Any] = {"role": "analyst", "name": "ada", "days": 1}
    with pytest.raises(InputError) as caught:
        store.create(**(given | wrong))
    assert caught.value.code == "CEL-Q182"
    assert store.tokens() == ()


def test_a_good_curator_is_told_from_one_that_has_ended(tmp_path: Path) -> None:
    now = 1000.0
    store = TokenStore(tmp_path / "tokens.sqlite", clock=lambda: now)
    store.create(role="analyst", name="ada")
    assert not store.has_curator()
    made = store.create(role="curator", name="carla", days=1)
    assert store.has_curator()
    now += DAY
    assert not store.has_curator()
    now -= DAY
    store.revoke(made.token.id)
    assert not store.has_curator()


def test_a_file_of_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("not a database at all, and longer than a header " * 50)
    for path in (tmp_path / "notes.txt", tmp_path, tmp_path / "no" / "where"):
        with pytest.raises(EngineError) as caught:
            TokenStore(path)
        assert caught.value.key == "CEL-Q181.tokens"


def test_a_file_that_breaks_later_admits_nobody(store: TokenStore) -> None:
    made = store.create(role="curator", name="carla")
    with sqlite3.connect(store.path) as file:
        file.execute("DROP TABLE celosia_tokens")
    file.close()
    with pytest.raises(CelosiaError) as caught:
        store.holder(made.text)
    assert caught.value.key == "CEL-Q181.tokens"
