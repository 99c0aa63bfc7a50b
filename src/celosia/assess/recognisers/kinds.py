"""Kinds of what identifies a person in a text, and what each is to an attacker."""

from __future__ import annotations

from typing import Literal

Role = Literal["direct", "quasi", "confidential"]
"""Names a person by itself; only together with others; is what a person wants to keep private."""

ROLES: dict[str, Role] = {
    "person": "direct",
    "id": "direct",
    "account": "direct",
    "contact": "direct",
    "address": "direct",
    "plate": "direct",
    "device": "direct",
    "url": "quasi",
    "record": "direct",
    "birth": "direct",
    "date": "quasi",
    "age": "quasi",
    "place": "quasi",
    "organisation": "quasi",
    "profession": "quasi",
    "nation": "quasi",
    "amount": "quasi",
    "health": "confidential",
    "belief": "confidential",
    "other": "quasi",
}
"""Every kind with its role, in the order in which kinds win over each other."""

KINDS: tuple[str, ...] = tuple(ROLES)
"""A closed list: national, social, passport and licence numbers are `id`; cards and bank accounts
`account`; e-mail, telephone and handles `contact`; addresses of machines, MAC, IMEI and keys
`device`; numbers of histories and cases `record`."""
