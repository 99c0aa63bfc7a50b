"""The tree of a question in words, each line with the rule that is used there."""

from __future__ import annotations

from celosia.core.wording import plural
from celosia.queries.algebra import Join, Match, Question, Scan, Stack
from celosia.queries.ownership import Owned
from celosia.queries.policy.values import Policy
from celosia.queries.sql import TextLine, describe


def tree_of(question: Question, policy: Policy, owned: Owned | None) -> tuple[str, ...]:
    """All lines, the outermost first; each two spaces further in than the one it belongs to."""
    return tuple(_lines(describe(question), 0, policy, owned))


def _lines(line: TextLine, depth: int, policy: Policy, owned: Owned | None) -> list[str]:
    rule = _rule(line.of, policy, owned)
    own = "  " * depth + line.text + (f"   -- {rule}" if rule else "")
    below = [text for each in line.below for text in _lines(each, depth + 1, policy, owned)]
    return [own, *below]


def _rule(  # noqa: PLR0911 - one for each kind of part
    part: object, policy: Policy, owned: Owned | None
) -> str:
    match part:
        case Question() if owned is not None:
            owners = ", ".join(map(str, owned.owners)) or "nobody"
            what = "rows" if policy.graph is None else "solutions"
            return f"{what} belong to {plural(policy.unit.name)}: {owners}"
        case Scan(table=table):
            return _scan_rule(table, policy)
        case Join() if owned is None:
            if policy.graph is None:
                return "one row moves as many rows as share its key on the other side"
            return "one fact moves as many solutions as share its terms on the other side"
        case Match(negated=negated):
            return "anti-join: treated as a join" if negated else "semi-join: treated as a join"
        case Stack():
            return "the bounds of all parts add up"
    return ""


def _scan_rule(name: str, policy: Policy) -> str:
    table = policy.table(name)
    if table is None or table.public:
        return "public: the same for all neighbours"
    what = "rows" if policy.graph is None else "facts"
    facts = [
        f"{each.name} unique" if each.unique else f"at most {each.most} {what} for each {each.name}"
        for each in table.columns
        if each.unique or each.most is not None
    ]
    return "; ".join(["private", *facts])
