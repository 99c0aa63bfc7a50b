"""What is said where a method that was asked for does not fit: policy by policy."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.queries.vaults import BY_ROW, POLICY, capped

from celosia.core.errors import QueryRefused
from celosia.queries.planning import METHODS, make_plan
from celosia.queries.policy import Policy
from celosia.queries.request import QueryRequest

COUNT = "SELECT COUNT(*) FROM orders"
JOIN = "SELECT COUNT(*) FROM orders o JOIN person p ON p.id = o.person"
SIGNED = "SELECT SUM(balance) FROM orders"
SELF = "SELECT COUNT(*) FROM message m JOIN message w ON m.receiver = w.sender"
POLICIES: dict[str, Policy] = {
    "person": POLICY,
    "capped": capped(POLICY, orders__person=5),
    "row": BY_ROW,
    "elastic": replace(BY_ROW, elastic=True),
}
ROWS_ONLY = "It protects single rows, and the policy protects people."
PEOPLE_ONLY = "It bounds what a person adds, and the policy protects single rows."
NO_CAPS = "No declared caps bound the rows of one person."
SEVERAL = "A row of the result can belong to"
BELOW_ZERO = "may add values below 0"
NOT_ALLOWED = "The policy does not allow noise that is scaled by the data."
UNDECLARED = "One row may meet all of them in the join"
LARGEST = "finds the groups with the largest counts"
NAMELESS = "no unique column is declared"

REFUSED: dict[tuple[str, str, str], str] = {
    **{("person", method, query): ROWS_ONLY for method in ("global", "elastic")
       for query in (COUNT, JOIN, SIGNED, SELF)},
    **{("capped", method, query): ROWS_ONLY for method in ("global", "elastic")
       for query in (COUNT, JOIN, SIGNED, SELF)},
    **{("person", "capped", query): NO_CAPS for query in (COUNT, JOIN, SIGNED)},
    **{(policy, method, SELF): SEVERAL for policy in ("person", "capped")
       for method in ("capped", "chosen-cap", "gaussian")},
    **{(policy, method, SIGNED): BELOW_ZERO for policy in POLICIES
       for method in ("r2t", "r2t-cap")},
    **{(policy, method, query): PEOPLE_ONLY for policy in ("row", "elastic")
       for method in ("capped", "chosen-cap") for query in (COUNT, JOIN, SIGNED, SELF)},
    **{("row", "elastic", query): NOT_ALLOWED for query in (COUNT, JOIN, SIGNED, SELF)},
    **{(policy, method, query): UNDECLARED for policy in ("row", "elastic")
       for method in ("global", "gaussian") for query in (JOIN, SELF)},
    **{(policy, "top-k", query): LARGEST for policy in ("person", "capped")
       for query in (COUNT, JOIN, SIGNED, SELF)},
    **{(policy, "top-k", query): PEOPLE_ONLY for policy in ("row", "elastic")
       for query in (COUNT, JOIN, SIGNED, SELF)},
    **{("person", "gaussian", query): NO_CAPS for query in (COUNT, JOIN, SIGNED)},
    **{(policy, method, SELF): NAMELESS for policy in ("row", "elastic")
       for method in ("r2t", "r2t-cap")},
}  # fmt: skip


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("query", [COUNT, JOIN, SIGNED, SELF])
def test_a_method_is_taken_or_refused_for_the_reason_that_it_has(
    policy: str, method: str, query: str
) -> None:
    asked = QueryRequest(query, epsilon=1, delta=1e-6, method=method)
    wanted = REFUSED.get((policy, method, query))
    if wanted is None:
        assert make_plan(asked, POLICIES[policy]).method == method
        return
    with pytest.raises(QueryRefused) as refused:
        make_plan(asked, POLICIES[policy])
    assert refused.value.code == ("CEL-Q060" if wanted == UNDECLARED else "CEL-Q143")
    assert wanted in refused.value.why
    assert refused.value.fix
    if wanted != UNDECLARED:
        assert f"the method '{method}'" in refused.value.what
