"""Actions: what is published in the place of a finding, one for each kind.

`ACTIONS` lists them by the names that declarations and the command line use.
"""

from __future__ import annotations

from collections.abc import Mapping

from celosia.assess.recognisers import KINDS
from celosia.core.errors import InputError
from celosia.core.notation import method_from_text
from celosia.texts.actions.action import Action, ActionContext, Mention
from celosia.texts.actions.generalise import Generalise
from celosia.texts.actions.keyed import Encrypt, Pseudonym, Shift
from celosia.texts.actions.plain import Keep, Label, Redact
from celosia.texts.actions.surrogate import Surrogate

ACTIONS: dict[str, type[Action]] = {
    each.method_name: each
    for each in (Redact, Label, Pseudonym, Surrogate, Encrypt, Generalise, Shift, Keep)
}


def action_from_text(text: str) -> Action:
    """An action in the notation of the command line: NAME:KEY=VALUE,...

    >>> action_from_text("shift:days=30")
    Shift(days=30, weekday=False)
    """
    return method_from_text(ACTIONS, text)


def actions_by_kind(written: Mapping[str, str | Action]) -> dict[str, Action]:
    """The action of each kind.

    Raises:
        InputError: CEL-N022 a kind has none and there is no default; CEL-I061 no such action.
    """
    made = {
        kind: each if isinstance(each, Action) else action_from_text(each)
        for kind, each in written.items()
    }
    missing = [kind for kind in KINDS if kind not in made]
    if missing and "default" not in made:
        raise InputError("CEL-N022", kinds=missing)
    return {kind: made.get(kind) or made["default"] for kind in KINDS}


__all__ = [
    "ACTIONS",
    "Action",
    "ActionContext",
    "Encrypt",
    "Generalise",
    "Keep",
    "Label",
    "Mention",
    "Pseudonym",
    "Redact",
    "Shift",
    "Surrogate",
    "action_from_text",
    "actions_by_kind",
]
