"""Publish logs and sets: access logs, search logs, baskets.

`read` a log with its declaration, `publish` its records, or `publish_sets` the items of each
person; `publish_file` takes a log that is larger than memory; attack it (`attacks`), release
frequent queries with differential privacy (`private`). Names load on first use.

>>> from celosia import Seeded, logs
>>> baskets = [["milk", "bread"], ["milk", "beer"], ["milk", "bread"], ["milk", "beer"]]
>>> release = logs.publish_sets(baskets, logs.Disassociation(k=2, m=2), rng=Seeded(7))
>>> release.data.count
4
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from celosia.core.lazy_imports import on_first_use

if TYPE_CHECKING:
    from celosia.logs import attacks, private
    from celosia.logs.declaration import LogDeclaration
    from celosia.logs.fields import Fields
    from celosia.logs.log import Log, log_of
    from celosia.logs.method import LogMethod, SetContext, SetMethod
    from celosia.logs.readers import read, read_sets, transactions_of
    from celosia.logs.records.lexicon import Lexicon
    from celosia.logs.records.microaggregation import UserMicroaggregation
    from celosia.logs.records.semantic_generalisation import SemanticGeneralisation
    from celosia.logs.records.user_threshold import UserThreshold
    from celosia.logs.registry import method_from, method_from_text, methods
    from celosia.logs.release import LogFileRelease, LogRelease, SetRelease
    from celosia.logs.run import publish, publish_sets
    from celosia.logs.run_on_file import publish_file
    from celosia.logs.sets.disassociation import DisassociatedSets, Disassociation
    from celosia.logs.sets.item_tree import ItemTree
    from celosia.logs.sets.km_anonymity import KmAnonymity
    from celosia.logs.sets.local_generalisation import LocalGeneralisation
    from celosia.logs.sets.suppression import Coherence, RhoUncertainty
    from celosia.logs.sets.transactions import Transactions

__all__ = [
    "Coherence",
    "DisassociatedSets",
    "Disassociation",
    "Fields",
    "ItemTree",
    "KmAnonymity",
    "Lexicon",
    "LocalGeneralisation",
    "Log",
    "LogDeclaration",
    "LogFileRelease",
    "LogMethod",
    "LogRelease",
    "RhoUncertainty",
    "SemanticGeneralisation",
    "SetContext",
    "SetMethod",
    "SetRelease",
    "Transactions",
    "UserMicroaggregation",
    "UserThreshold",
    "attacks",
    "log_of",
    "method_from",
    "method_from_text",
    "methods",
    "private",
    "publish",
    "publish_file",
    "publish_sets",
    "read",
    "read_sets",
    "transactions_of",
]

__getattr__, __dir__ = on_first_use(__name__)
