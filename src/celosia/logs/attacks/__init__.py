"""Attacks on published logs and sets: known items, rare queries, linked sessions, hashes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from celosia.core.lazy_imports import on_first_use

if TYPE_CHECKING:
    from celosia.logs.attacks.inference import association, matching_share
    from celosia.logs.attacks.method import (
        ATTACKS,
        AttackedLog,
        HashColumns,
        KnownItems,
        LogAttackMethod,
        RareQueries,
        SessionLinking,
        attack_from_text,
    )
    from celosia.logs.attacks.result import LogAttack
    from celosia.logs.attacks.unicity import Postings, known_items

__all__ = [
    "ATTACKS",
    "AttackedLog",
    "HashColumns",
    "KnownItems",
    "LogAttack",
    "LogAttackMethod",
    "Postings",
    "RareQueries",
    "SessionLinking",
    "association",
    "attack_from_text",
    "known_items",
    "matching_share",
]

__getattr__, __dir__ = on_first_use(__name__)
