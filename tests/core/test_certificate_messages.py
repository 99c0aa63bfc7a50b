"""Certificates keep what their texts are made of, and nothing that the texts do not show."""

from __future__ import annotations

import json
from typing import Any

import pytest

from celosia import KAnonymity, Schema, datasets, publish, tables
from celosia.core.errors import PrivacyWarning
from celosia.core.messages import Message, speaking
from celosia.core.release import Guarantee, KeptMessages, kept
from celosia.tables import TableRelease

PRICE = "queries.plan.epsilon_delta"
"""Two numbers, each with few digits."""


def through_json(message: Message) -> str:
    """A message as it comes back from a certificate."""
    facts = json.loads(json.dumps(kept([message])))
    return KeptMessages(facts).message(str.__str__(message))


@pytest.mark.parametrize(
    "message",
    [
        Message("words.did_you_mean", name="age"),
        Message("words.neighbours.add_remove", one=Message("words.one.other", unit="lodger")),
        Message(PRICE, epsilon=0.1, delta=1e-6),
    ],
    ids=lambda each: each.key,
)
def test_a_message_comes_back_in_every_language(message: Message) -> None:
    back = through_json(message)
    assert isinstance(back, Message)
    assert back == message
    assert back.render("es") == message.render("es")


def test_no_more_digits_are_kept_than_are_shown() -> None:
    message = Message(PRICE, epsilon=0.123456789123, delta=1 / 3)
    text = json.dumps(kept([message]))
    assert "0.123456789" not in text
    assert "0.33333333" not in text
    assert through_json(message).endswith(str.__str__(message))


def test_a_field_that_is_not_shown_is_not_kept() -> None:
    message = Message("words.did_you_mean", name="age", secret="a cell")
    assert "a cell" not in json.dumps(kept([message]))


@pytest.mark.parametrize(
    "change",
    [
        {"text": "another text"},
        {"key": "words.no_such_message"},
        {"key": "../../../etc/passwd.x"},
        {"key": 3},
        {"fields": {}},
        {"fields": {"name": {"key": "words.no_such_message", "fields": {}, "text": ""}}},
        {"fields": [1]},
    ],
)
def test_what_does_not_say_what_is_written_stays_text(change: dict[str, Any]) -> None:
    message = Message("words.did_you_mean", name="age")
    [facts] = kept([message])
    back = KeptMessages([facts | change]).message(str.__str__(message))
    assert not isinstance(back, Message)
    assert back == message


@pytest.mark.parametrize("messages", [None, 3, [None], ["text"], [{}]])
def test_a_list_of_messages_that_is_none_is_passed_over(messages: Any) -> None:
    assert KeptMessages(messages).message("text") == "text"


def test_a_certificate_of_an_earlier_version_is_read() -> None:
    facts = {"promise": "p", "unit": "row", "protects": "x", "assumes": [], "leaves_open": ["y"]}
    assert Guarantee.from_dict(facts).leaves_open == ("y",)


def test_a_release_from_disk_is_told_in_spanish(tmp_path: Any) -> None:
    schema = Schema.of(
        quasi_identifiers={"zip": tables.Mask(), "age": tables.Intervals(widths=(10, 20))},
        sensitive=["disease"],
    )
    with pytest.warns(PrivacyWarning, match="original order"):
        release = publish(
            datasets.examples.patients(), schema, [KAnonymity(3)], suppression=0, keep_order=True
        )
    path = release.save(tmp_path / "safe.csv")
    written = json.loads((tmp_path / "safe.csv.cert.json").read_text("utf-8"))
    back = TableRelease.load(path)
    assert back.certificate() == release.certificate()
    guarantee = back.guarantee
    for text in (guarantee.promise, guarantee.protects, *guarantee.leaves_open, *back.warnings):
        assert isinstance(text, Message), text
    assert written["guarantee"]["promise"] == "3-anonymity over zip, age"
    with speaking("es"):
        assert str(back.guarantee) == str(release.guarantee)
        assert "3-anonimato" in str(back.guarantee)
