"""Actions without a key: redact, label, keep."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from celosia.core.methods import parameter
from celosia.texts.actions.action import Action, ActionContext, Mention, entity_form


@dataclass(frozen=True)
class Redact(Action):
    """A bar of fixed width, or `[…]`: the length of what was there is not told.

    >>> Redact()
    Redact(style='bar')
    """

    method_name: ClassVar[str] = "redact"

    style: Literal["bar", "dots"] = parameter("bar")

    def replacement(self, mention: Mention, context: ActionContext) -> str:
        """The same for every mention."""
        return "█████" if self.style == "bar" else "[…]"


@dataclass(frozen=True)
class Label(Action):
    """The kind in brackets, with a number by order of appearance where several are told apart."""

    method_name: ClassVar[str] = "label"
    is_linkable: ClassVar[bool] = True

    numbered: bool = parameter(True)

    def replacement(self, mention: Mention, context: ActionContext) -> str:
        """`[PERSON]`, or `[PERSON 2]`."""
        kind = mention.finding.kind.upper()
        if not self.numbered:
            return f"[{kind}]"
        scope = context.scope_of(mention)
        entity = (self.method_name, scope, kind, entity_form(mention))
        if entity not in context.memory:
            place = ("labels", scope, kind)
            count = int(context.memory.get(place, "0")) + 1
            context.memory[place] = str(count)
            context.memory[entity] = f"[{kind} {count}]"
        return context.memory[entity]


@dataclass(frozen=True)
class Keep(Action):
    """The text as it is, for a reason that the report gives."""

    method_name: ClassVar[str] = "keep"

    reason: str = parameter()

    def replacement(self, mention: Mention, context: ActionContext) -> str:
        """The text itself."""
        return mention.text
