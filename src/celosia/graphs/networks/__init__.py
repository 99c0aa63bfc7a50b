"""Networks with directions, weights, two sides or times: k-anonymity of what each vertex shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from celosia.core.lazy_imports import on_first_use

if TYPE_CHECKING:
    from celosia.graphs.networks.account import NetworkChanges, compare_networks, profile_attack
    from celosia.graphs.networks.anonymity import anonymise
    from celosia.graphs.networks.method import NetworkMethod
    from celosia.graphs.networks.network import Kind, Network

__all__ = [
    "Kind",
    "Network",
    "NetworkChanges",
    "NetworkMethod",
    "anonymise",
    "compare_networks",
    "profile_attack",
]

__getattr__, __dir__ = on_first_use(__name__)
