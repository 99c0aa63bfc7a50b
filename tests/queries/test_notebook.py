"""What a notebook shows, and the magic that asks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, MutableMapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from tests.queries.vaults import opened, shop

from celosia.core.errors import InputError
from celosia.queries import QueryAnswer, Vault, notebook

BY_TOWN = "SELECT town, count(*) AS n FROM person GROUP BY town"


@dataclass
class Shell:
    """What the magic uses of IPython."""

    user_ns: MutableMapping[str, Any]
    magic: dict[tuple[str, str], Callable[..., Any]] = field(default_factory=dict)

    def register_magic_function(
        self, func: Callable[..., object], magic_kind: str, magic_name: str
    ) -> None:
        self.magic[magic_kind, magic_name] = func


@pytest.fixture(scope="module")
def vault(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Vault]:
    with opened(shop(Random(5)), tmp_path_factory.mktemp("notebook")) as made:
        yield made


@pytest.fixture
def shell(vault: Vault) -> Shell:
    made = Shell({"vault": vault})
    notebook.load_ipython_extension(made)
    return made


@pytest.fixture
def private(shell: Shell) -> Callable[..., Any]:
    return shell.magic["line_cell", "private"]


def test_a_line_opens_and_a_cell_asks(
    shell: Shell, private: Callable[..., Any], vault: Vault
) -> None:
    assert "Vault('shop')" in private("vault --epsilon 0.5")
    answer = private("--into found", BY_TOWN)
    assert isinstance(answer, QueryAnswer)
    assert shell.user_ns["found"] is answer
    assert answer.epsilon == 0.5
    assert answer.rows == vault.sql(BY_TOWN, epsilon=0.5).rows


def test_a_cell_may_only_be_explained(private: Callable[..., Any], vault: Vault) -> None:
    spent = vault.ledger.spent
    plan = private("vault --explain", "SELECT count(*) FROM message")
    assert float(plan.epsilon) == 1
    assert vault.ledger.spent == spent


@pytest.mark.parametrize(
    ("line", "cell", "code"),
    [
        ("", BY_TOWN, "CEL-Q343.nothing_open"),
        ("vault --epsilom 1", BY_TOWN, "CEL-Q343.options"),
        ("vault --epsilon much", BY_TOWN, "CEL-Q343.options"),
        ("'vault", BY_TOWN, "CEL-Q343.options"),
        ("vault", BY_TOWN, "CEL-Q341.no_price"),
    ],
)
def test_a_line_that_is_not_understood_asks_nothing(
    private: Callable[..., Any], vault: Vault, line: str, cell: str, code: str
) -> None:
    spent = vault.ledger.spent
    with pytest.raises(InputError) as caught:
        private(line, cell)
    assert caught.value.key == code
    assert vault.ledger.spent == spent


def test_a_policy_that_is_not_there_is_told_as_ours(
    private: Callable[..., Any], tmp_path: Path
) -> None:
    with pytest.raises(InputError):
        private(str(tmp_path / "none.toml"))


def test_an_answer_is_shown_with_its_intervals_and_its_promise(vault: Vault) -> None:
    answer = vault.sql(BY_TOWN, epsilon=1)
    html = answer._repr_html_()
    low, high = answer.intervals[0]["n"] or (0, 0)
    assert f"[{low:g}, {high:g}]" in html
    assert "<th>town</th><th>n</th>" in html
    assert "95% confidence" in html
    assert str(answer.guarantee.promise) in html


def test_names_and_keys_are_text_and_no_markup(vault: Vault) -> None:
    answer = vault.sql("SELECT count(*) AS n FROM person", epsilon=1)
    odd = replace(
        answer,
        columns=["<b>", "n"],
        rows=[{"<b>": "<script>alert(1)</script>", "n": 3}] * 200,
        intervals=[{"n": (1.0, float("inf"))}] * 200,
        noise=[{}] * 200,
    )
    html = odd._repr_html_()
    assert "<script" not in html
    assert "<th><b>" not in html
    assert "&lt;script&gt;" in html
    assert "[1, ∞]" in html
    assert html.count("<tr>") == 101
