"""Checks of a policy as a whole, whether read from a file or made in Python."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from datetime import date
from fractions import Fraction
from graphlib import CycleError, TopologicalSorter

from celosia.accounting.amounts import Spending
from celosia.accounting.currencies import is_within
from celosia.core.errors import PrivacyWarning
from celosia.core.messages import Message, did_you_mean
from celosia.queries.policy.database import check_database
from celosia.queries.policy.settings import Problems
from celosia.queries.policy.values import ColumnPolicy, Policy, TablePolicy

FARTHEST = 2**50
"""Steps of the grid that a bound may be away from zero: the reach of `mechanisms.Grid`, and sums
of as many values still fit in the 128-bit integers of the engines."""
MOST_KEYS = 1_000_000
_KEY_TYPES: dict[str, type] = {"text": str, "integer": int, "boolean": bool, "date": str}


def check_column(column: ColumnPolicy, where: str, problems: Problems) -> None:
    """Note what is wrong with a column."""
    _check_bounds(column, where, problems)
    _check_grid(column, where, problems)
    if column.keys is not None:
        _check_keys(column, column.keys, where, problems)
    if column.unique and column.most is not None:
        problems.add("CEL-Q006.cap_unique_with_most", where=where)


def _check_bounds(column: ColumnPolicy, where: str, problems: Problems) -> None:
    lower, upper = column.lower, column.upper
    if lower is None and upper is None:
        return
    if column.type not in ("integer", "number"):
        problems.add("CEL-Q006.not_numeric", where=where, type=column.type)
        return
    if lower is None or upper is None:
        problems.add("CEL-Q006.one_bound", where=where)
        return
    if lower >= upper:
        problems.add("CEL-Q006.not_below", where=where)
    if column.type == "integer" and (lower.denominator, upper.denominator) != (1, 1):
        problems.add("CEL-Q006.not_whole", where=where)


def _check_grid(column: ColumnPolicy, where: str, problems: Problems) -> None:
    grid = column.grid
    if grid is not None and (column.lower is None or column.upper is None):
        problems.add("CEL-Q006.grid_no_bounds", where=where)
        return
    if column.lower is None or column.upper is None:
        return
    if grid is not None and grid <= 0:
        problems.add("CEL-Q006.grid_not_positive", where=where)
        return
    span = column.upper - column.lower
    if grid is not None and 0 < span < grid:
        problems.add("CEL-Q006.grid_too_wide", where=where)
    step = grid or Fraction(1)
    if column.type == "integer" and step.denominator != 1:
        problems.add("CEL-Q006.grid_not_whole", where=where)
    if (grid or column.type == "integer") and (
        max(abs(column.lower), abs(column.upper)) > FARTHEST * step
    ):
        problems.add("CEL-Q006.grid_too_fine", where=where)


def _check_keys(
    column: ColumnPolicy, keys: tuple[str | int | bool, ...], where: str, problems: Problems
) -> None:
    wanted = _KEY_TYPES.get(column.type)
    if wanted is None:
        problems.add("CEL-Q006.keys_no_keys_for_type", where=where, type=column.type)
        return
    if not 0 < len(keys) <= MOST_KEYS:
        problems.add("CEL-Q006.keys_wrong_number", where=where, keys=len(keys))
    wrong = sum(not _is_key(key, wanted, column.type) for key in keys)
    if wrong:
        problems.add("CEL-Q006.keys_other_type", wrong=wrong, where=where, type=column.type)
    elif len(set(keys)) < len(keys):
        problems.add("CEL-Q006.keys_repeated", where=where)


def _is_key(key: object, wanted: type, type_: str) -> bool:
    if type(key) is not wanted:  # True is an int to isinstance
        return False
    if isinstance(key, int):
        return -(2**63) <= key < 2**63  # what engines hold
    if type_ == "date":
        return _is_date(str(key))
    # A lone half of a pair is no text that a file or an engine could hold, nor is a null.
    return "\0" not in str(key) and str(key).encode("utf-8", "replace").decode() == key


def _is_date(text: str) -> bool:
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def check_references(policy: Policy, problems: Problems) -> None:
    """Note references that point nowhere, turn in a circle, or leave a private table unowned."""
    sound = True
    for table in policy.tables:
        for reference in table.references:
            sound = _check_reference(policy, table, reference, problems) and sound
        columns = [column.lower() for column, _, _ in table.references]
        if len(set(columns)) < len(columns):
            sound = False
            problems.add("CEL-Q009.two_targets", table_name=table.name)
    if sound and _check_circles(policy, problems):
        _check_paths(policy, problems)


def _check_reference(
    policy: Policy, table: TablePolicy, reference: tuple[str, str, str], problems: Problems
) -> bool:
    name, target_name, key_name = reference
    target = policy.table(target_name)
    column, key = table.column(name), None if target is None else target.column(key_name)
    fields: dict[str, object] = {}
    if column is None:
        problem = "CEL-Q009.from_unknown_column"
        fields["hint"] = _near(name, table.columns)
    elif target is None:
        problem = "CEL-Q009.to_unknown_table"
        fields["hint"] = _near(target_name, policy.tables)
    elif key is None:
        problem = "CEL-Q009.to_unknown_column"
        fields["hint"] = _near(key_name, target.columns)
    elif not key.unique:
        problem = "CEL-Q009.not_unique"
    elif column.type != key.type:
        problem = "CEL-Q009.other_type"
        fields |= {"type": column.type, "key_type": key.type}
    elif table.public and not target.public:
        problem = "CEL-Q009.public_to_private"
    else:
        return True
    problems.add(problem, table=table.name, column=name, target=target_name, key=key_name, **fields)
    return False


def _near(name: str, known: Iterable[TablePolicy | ColumnPolicy]) -> str:
    return did_you_mean(name, [each.name for each in known])


def _check_circles(policy: Policy, problems: Problems) -> bool:
    graph = {
        table.name.lower(): {target.lower() for _, target, _ in table.references}
        for table in policy.tables
    }
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        circle = " -> ".join(reversed(error.args[1]))
        problems.add("CEL-Q009.circle", circle=circle)
        return False
    return True


def _check_paths(policy: Policy, problems: Problems) -> None:
    unit = policy.unit
    if unit.columns:
        owned = {name.lower() for name, _ in unit.columns}
    elif unit.table is None or policy.table(unit.table) is None:
        return
    else:
        owned = {unit.table.lower()}
    grown = True
    while grown:  # at most once for each table
        more = {
            table.name.lower()
            for table in policy.tables
            if any(target.lower() in owned for _, target, _ in table.references)
        }
        grown = not more <= owned
        owned |= more
    for table in policy.tables:
        if not table.public and table.name.lower() not in owned:
            problems.add(
                "CEL-Q009.no_column" if unit.columns else "CEL-Q009.no_owner",
                table_name=table.name,
                unit_name=unit.name,
                **({} if unit.columns else {"table": unit.table, "key": unit.key}),
            )


MOST_EPSILON = Fraction(10**6)
"""The largest budget that is taken for one; what is sensible is far below."""
WARN_EPSILON = Fraction(20)
MOST_COUNT = 2**62
"""The largest cap: sums of counts below it stay in the integers of every engine."""
LEAST_DEADLINE, MOST_DEADLINE = Fraction(1, 10), Fraction(256)
"""Seconds to an answer: what any question takes, and what a service waits for."""
LONGEST_NAME = 63
"""Letters of a name: PostgreSQL cuts longer ones, and two of them could become one."""
LONGEST_ADDRESS = 1000
"""Letters of the name of a predicate, which may be a whole address."""


def check_policy(policy: Policy) -> None:
    """Refuse a policy on which no promise can be built; all problems in one error.

    Raises:
        InputError: CEL-Q003 several problems, or the code of the only one (CEL-Q005 to CEL-Q017).
    """
    problems = Problems()
    collect_problems(policy, problems)
    problems.refuse()
    warn_of_weak_budgets(policy, stacklevel=3)


def collect_problems(policy: Policy, problems: Problems, *, tables_are_read: bool = True) -> None:
    """Note all problems of a policy.

    Where some setting of a table could not be read, nothing is said of how tables go together:
    what it would have meant is not guessed.
    """
    _check_names(policy, problems)
    for table in policy.tables:
        rows = Message("queries.policy_part.rows", table=table.name)
        _check_count(table.rows, rows, 0, problems)
        for column in table.columns:
            names = {"table": table.name, "column": column.name}
            check_column(column, Message("queries.policy_part.column", **names), problems)
            most = Message("queries.policy_part.most", **names)
            _check_count(column.most, most, 1, problems)
    _check_count(policy.most_per_unit, "most_per_unit", 1, problems)
    _check_unit(policy, problems, tables_are_read)
    _check_ownerless(policy, problems)
    if tables_are_read:
        check_references(policy, problems)
    _check_budgets(policy, problems)
    _check_ceilings(policy, problems)
    if policy.market is not None:
        from celosia.queries.policy.market import check_market  # most policies do without

        check_market(policy.market, [name for name, _ in policy.analysts], problems)
    if policy.graph is None:
        check_database(policy, problems)


def warn_of_weak_budgets(policy: Policy, *, stacklevel: int) -> None:
    """Warn of budgets that are allowed but protect little."""
    if policy.budget.epsilon > WARN_EPSILON:
        warnings.warn(
            Message("queries.weak_budget.epsilon", most=WARN_EPSILON),
            PrivacyWarning,
            stacklevel=stacklevel,
        )
    if not policy.budget.delta:
        return
    from celosia.accounting.belief import delta_warning

    unlikely = delta_warning(policy.budget.delta, policy.people)
    if unlikely is not None:
        warnings.warn(unlikely, PrivacyWarning, stacklevel=stacklevel)


def _check_names(policy: Policy, problems: Problems) -> None:
    # Engines and our own look-ups know no case, so two names may differ by more than that.
    tables = Message("queries.policy_part.tables")
    groups: list[tuple[Message, list[str]]] = [
        (Message("queries.policy_part.policy"), [policy.name]),
        (Message("queries.policy_part.unit"), [policy.unit.name]),
        (tables, [table.name for table in policy.tables]),
        (Message("queries.policy_part.analysts"), [name for name, _ in policy.analysts]),
    ]
    groups += [
        (
            Message("queries.policy_part.columns", table=table.name),
            [column.name for column in table.columns],
        )
        for table in policy.tables
    ]
    for where, names in groups:
        # Predicates are named by their addresses, and a store is never in PostgreSQL.
        is_address = policy.graph is not None and where is tables
        longest = LONGEST_ADDRESS if is_address else LONGEST_NAME
        for name in names:
            if not (name and name.isprintable() and name == name.strip()) or (
                len(name.encode("utf-8", "replace")) > longest
            ):
                problems.add(
                    "CEL-Q005.name_not_a_name",
                    where=where,
                    name=name[:LONGEST_NAME],
                    longest=longest,
                )
        for name in _repeated(names):
            problems.add("CEL-Q005.name_repeated", where=where, name=name)


def _repeated(names: Iterable[str]) -> list[str]:
    return sorted(name for name, times in Counter(map(str.lower, names)).items() if times > 1)


def _check_count(value: int | None, where: str, least: int, problems: Problems) -> None:
    if value is not None and not least <= value <= MOST_COUNT:
        problems.add("CEL-Q006.cap_out_of_range", where=where, least=least)


def _check_ownerless(policy: Policy, problems: Problems) -> None:
    """Note a refusal of rows without an owner where rows have none, or where all have one."""
    has_people = not policy.unit.is_row and policy.graph is None
    whole = Message("queries.policy_part.policy")
    said = [(policy.ownerless == "refuse", whole, has_people)]
    said += [
        (
            table.ownerless is not None,
            Message("queries.policy_part.table", table=table.name),
            has_people and not table.public,
        )
        for table in policy.tables
    ]
    for is_said, where, has_owners in said:
        if is_said and not has_owners:
            problems.add("CEL-Q010.no_owners", where=where)


def _check_unit(policy: Policy, problems: Problems, tables_are_read: bool) -> None:
    unit = policy.unit
    if unit.columns:
        _check_unit_columns(policy, problems, tables_are_read)
        return
    if unit.table is None and unit.key is None:
        name = "row" if policy.graph is None else "triple"
        if unit.name.lower() != name and tables_are_read:
            problems.add("CEL-Q010.no_table", unit_name=unit.name)
        return
    if unit.table is None or unit.key is None:
        problems.add("CEL-Q010.half_a_key")
        return
    if unit.name.lower() == "row":
        problems.add("CEL-Q010.row_with_table")
    table = policy.table(unit.table)
    column = None if table is None else table.column(unit.key)
    if table is None or column is None:
        problems.add("CEL-Q010.unknown_key", table=unit.table, key=unit.key)
        return
    if tables_are_read:
        _check_unit_table(table, column.unique, unit.key, problems)


def _check_unit_columns(policy: Policy, problems: Problems, tables_are_read: bool) -> None:
    unit = policy.unit
    if unit.table is not None or unit.key is not None:
        problems.add("CEL-Q010.table_and_columns")
    if unit.name.lower() == "row":
        problems.add("CEL-Q010.row_with_table")
    if not tables_are_read:
        return
    types = set()
    for name, word in unit.columns:
        table = policy.table(name)
        column = None if table is None else table.column(word)
        if table is None or column is None:
            problems.add("CEL-Q010.unknown_key", table=name, key=word)
            continue
        types.add(column.type)
        if table.public:
            problems.add("CEL-Q010.public_table", table_name=table.name)
    if len(types) > 1:
        problems.add("CEL-Q010.columns_of_other_types", types=", ".join(sorted(types)))


def _check_unit_table(table: TablePolicy, unique: bool, key: str, problems: Problems) -> None:
    if not unique:
        problems.add("CEL-Q010.key_not_unique", table_name=table.name, key=key)
    if table.public:
        problems.add("CEL-Q010.public_table", table_name=table.name)


def _check_budgets(policy: Policy, problems: Problems) -> None:
    total = policy.budget
    if not _check_spending(total, "[budget]", "CEL-Q013", problems):
        return  # nothing that analysts could be held against
    for name, own in policy.analysts:
        _check_spending(own, f"[analysts.{name}]", "CEL-Q014", problems)
        if own.currency != total.currency:
            continue  # amounts of two currencies are not held against each other; both limits hold
        amount = total.currency
        if not is_within(replace(own, delta=total.delta), total):
            problems.add("CEL-Q014.above_budget", amount=amount, name=name)
        if own.delta > total.delta:
            problems.add("CEL-Q014.above_budget", amount="delta", name=name)


def _check_ceilings(policy: Policy, problems: Problems) -> None:
    if not 0 <= policy.least_epsilon <= MOST_EPSILON:
        problems.add("CEL-Q013.least_epsilon", most_epsilon=MOST_EPSILON)
    for name, most in (
        ("questions_per_day", policy.questions_per_day),
        ("exceeded_per_day", policy.exceeded_per_day),
    ):
        if not 1 <= most <= MOST_COUNT:
            problems.add("CEL-Q013.no_question_allowed", name=name)
    if policy.deadline is not None and not LEAST_DEADLINE <= policy.deadline <= MOST_DEADLINE:
        problems.add(
            "CEL-Q013.deadline",
            least_deadline=float(LEAST_DEADLINE),
            most_deadline=MOST_DEADLINE,
        )


def _check_spending(amount: Spending, where: str, code: str, problems: Problems) -> bool:
    before = len(problems.items)
    if amount.currency == "epsilon" and not 0 < amount.epsilon <= MOST_EPSILON:
        problems.add(f"{code}.epsilon_out_of_range", where=where, most=MOST_EPSILON)
    if not 0 <= amount.delta < 1:
        problems.add(f"{code}.delta_out_of_range", where=where)
    return len(problems.items) == before
