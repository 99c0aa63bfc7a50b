"""Attacks on published logs and sets: known items, rare queries, linked sessions, hashes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from celosia.core.lazy_imports import on_first_use

if TYPE_CHECKING:
    from celosia.logs.attacks.inference import association, known_items_of
    from celosia.logs.attacks.method import (
        ATTACKS,
        SET_ATTACKS,
        Association,
        AttackedLog,
        AttackedSets,
        HashColumns,
        KnownItems,
        LogAttackMethod,
        RareQueries,
        SessionLinking,
        SetAttackMethod,
        attack_from_text,
        set_attack_from_text,
    )
    from celosia.logs.attacks.publication import publication_of
    from celosia.logs.attacks.result import LogAttack
    from celosia.logs.attacks.unicity import Postings, known_items

__all__ = [
    "ATTACKS",
    "SET_ATTACKS",
    "Association",
    "AttackedLog",
    "AttackedSets",
    "HashColumns",
    "KnownItems",
    "LogAttack",
    "LogAttackMethod",
    "Postings",
    "RareQueries",
    "SessionLinking",
    "SetAttackMethod",
    "association",
    "attack_from_text",
    "known_items",
    "known_items_of",
    "publication_of",
    "set_attack_from_text",
]

__getattr__, __dir__ = on_first_use(__name__)
