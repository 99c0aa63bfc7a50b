"""Every error code is explained, and every explanation belongs to a code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import celosia
from celosia.core.catalogue import explanation, explanations
from celosia.core.errors import InputError

SOURCE = Path(celosia.__file__).parent
CODE = re.compile(r'"(CEL-[A-Z]\d{3})"')


def used_codes() -> set[str]:
    return {code for path in SOURCE.rglob("*.py") for code in CODE.findall(path.read_text("utf-8"))}


def test_every_code_in_the_source_is_explained() -> None:
    assert used_codes() - set(explanations()) == set()


def test_no_explanation_is_left_without_a_code() -> None:
    assert set(explanations()) - used_codes() == set()


def test_an_explanation_has_a_title_and_a_text() -> None:
    for entry in explanations().values():
        assert entry.title
        assert len(entry.text) > 40, entry.code


def test_an_unknown_code_is_answered_with_the_nearest() -> None:
    with pytest.raises(InputError, match=r"'CEL-T01' \(did you mean 'CEL-T01"):
        explanation("CEL-T01")
