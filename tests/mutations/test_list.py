"""The list of mutations fits the source, the tests and the page of today."""

from __future__ import annotations

import re

import pytest
from tests.mutations.mutations import PACKAGE, ROOT, Mutation, read_catches, read_mutations
from tests.mutations.page import PAGE, render

MUTATIONS = read_mutations()
AGAIN = "run `python -m tests.mutations --write --only {}`"


def test_there_are_enough_mutations_with_an_id_each() -> None:
    assert len({mutation.id for mutation in MUTATIONS}) == len(MUTATIONS) >= 60


def test_every_package_has_a_mutation() -> None:
    packages = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert {mutation.package for mutation in MUTATIONS} == packages


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.id)
def test_a_mutation_fits_the_source_and_was_caught(mutation: Mutation) -> None:
    source = (PACKAGE / mutation.file).read_text("utf-8")
    compile(mutation.apply(source), mutation.file, "exec")
    assert mutation.old != mutation.new
    assert re.fullmatch(r"[A-Z][^|\n]*\.", mutation.fault), "the fault is one sentence"
    assert mutation.tests
    assert all((ROOT / test).exists() for test in mutation.tests)
    path, *names = read_catches()[mutation.id].split("::")
    text = (ROOT / path).read_text("utf-8")
    assert all(re.search(rf"\b{name}\b", text) for name in names if name != "runTest"), (
        AGAIN.format(mutation.id)
    )


def test_the_page_lists_the_mutations_and_their_catches() -> None:
    assert PAGE.read_text("utf-8") == render(MUTATIONS, read_catches())
