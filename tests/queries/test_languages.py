"""What a vault says in another language; what it charges and keeps does not depend on it."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from tests.queries.vaults import BY_ROW, POLICY, capped, opened, shop

from celosia.core.errors import CelosiaError
from celosia.core.messages import speaking
from celosia.core.neighbours import Relation
from celosia.mechanisms.answer_report import guarantee_blocks, provenance_blocks
from celosia.queries import answer_report
from celosia.queries.execution import charge_of
from celosia.queries.planning import METHODS, make_plan
from celosia.queries.policy import Policy, draft_policy, read_policy
from celosia.queries.request import QueryRequest

ENGLISH = re.compile(
    r"\b(the|of|and|with|each|rows|row|is|was|at most|by|noise|none|nothing|answer|belongs?)\b"
)
QUESTIONS = [
    "SELECT COUNT(*) FROM orders",
    "SELECT AVG(price) FROM orders",
    "SELECT VAR_POP(price) FROM orders",
    "SELECT MAX(price) FROM orders",
    "SELECT status, MEDIAN(price) FROM orders GROUP BY status",
    "SELECT status, MIN(price) FROM orders GROUP BY status",
    "SELECT street, COUNT(*) FROM person GROUP BY street",
    "SELECT COUNT(*) FROM message m JOIN message w ON m.receiver = w.sender",
    "SELECT COUNT(*) FROM orders o JOIN person p ON p.id = o.person",
    "SELECT COUNT(*) FROM part",
]
POLICIES = {
    "person": POLICY,
    "capped": capped(POLICY, orders__person=5),
    "row": BY_ROW,
    "elastic": replace(BY_ROW, elastic=True),
    "change-one": replace(POLICY, relation=Relation.CHANGE_ONE),
}


@pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES)
@pytest.mark.parametrize("method", [None, *METHODS])
@pytest.mark.parametrize("query", QUESTIONS)
def test_plans_are_told_in_every_language_and_charged_as_one(
    policy: Policy, method: str | None, query: str
) -> None:
    def planned() -> tuple[str, str, list[str]]:
        try:
            plan = make_plan(QueryRequest(query, epsilon=1, delta=1e-6, method=method), policy)
        except CelosiaError as refusal:
            return refusal.code, "", [re.sub(r"`[^`]*`|'[^']*'", "", str(refusal))]
        kept = json.dumps([plan.as_dict(), plan.parameters])
        said = [f"{part.mechanism}; {part.bound}" for part in plan.parts]
        key = charge_of(plan, policy, QueryRequest("", epsilon=1)).key("") if plan.epsilon else ""
        return kept, key, said

    kept, key, _ = planned()
    with speaking("es"):
        kept_elsewhere, key_elsewhere, said = planned()
    assert (kept_elsewhere, key_elsewhere) == (kept, key)
    assert [text for text in said if ENGLISH.search(text)] == []


@pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES)
def test_an_answer_is_told_in_another_language(policy: Policy, tmp_path: Path) -> None:
    with opened(shop(Random(1)), tmp_path, policy) as vault, speaking("es"):
        answer = vault.sql("SELECT COUNT(*) FROM orders", epsilon=30, delta=0.0)
        blocks = [
            *answer_report._number_blocks(answer),
            *guarantee_blocks(answer.guarantee),
            *provenance_blocks(answer.provenance, answer_report._facts(answer)),
        ]
        warned = [str(each) for each in answer.warnings if "30" in each]
        texts = [str(answer), str(answer.guarantee.promise), *warned, *map(repr, blocks)]
    shown = re.sub(r"SELECT COUNT\(\*\) FROM orders|<svg.*?</svg>", "", " ".join(texts))
    assert ENGLISH.search(shown) is None
    assert json.loads(json.dumps(answer.as_dict()))["guarantee"]["promise"].endswith(
        "-differential privacy"
    )


def test_problems_of_a_policy_are_told_in_another_language() -> None:
    text = 'name = 3\nunit = { name = "row" }\nbudget = { epsilon = 0 }\n[tables.t]\nrows = "x"\n'
    with pytest.raises(CelosiaError) as caught:
        read_policy(text)
    assert str(caught.value).startswith("the policy has")
    with speaking("es"):
        said = str(caught.value)
    assert said.startswith("la política tiene")
    assert ENGLISH.search(re.sub(r"\brows\b", "", said)) is None


def test_a_draft_of_a_policy_reads_the_same_in_every_language() -> None:
    columns = {"visits": {"day": "DATE", "cost": "DOUBLE", "place": "GEOMETRY"}}
    drafts = []
    for language in ("en", "es"):
        with speaking(language):
            drafts.append(draft_policy(columns))
    plain = [re.sub(r"(?m)\s*#.*$", "", draft).strip() for draft in drafts]
    assert plain[0] == plain[1]
    assert drafts[0] != drafts[1]
