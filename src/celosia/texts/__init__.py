"""Publish documents: find what identifies people, replace it, and account for what is left.

`read` documents, `find` what identifies people in them, `publish` them with an action for each kind
and models for what is left; attack the release (`attacks`), and build an index that may be
published (`index`). Names load on first use.

>>> from celosia import texts
>>> note = "Mr. John Whitfield called from 0161 496 0123."
>>> found = texts.find(texts.Collection.of([note], persons=["P1"]))
>>> found.counts()
{'person': 1, 'contact': 1}
>>> texts.publish(found).texts[0]
'Mr. [PERSON 1] called from █████.'
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from celosia.core.lazy_imports import on_first_use

if TYPE_CHECKING:
    from celosia.core.pseudonyms.keys import Key
    from celosia.texts import attacks, index, measures, models, private
    from celosia.texts.actions import (
        Action,
        Encrypt,
        Generalise,
        Keep,
        Label,
        Pseudonym,
        Redact,
        Shift,
        Surrogate,
    )
    from celosia.texts.detection import Facts, FoundTexts, PresidioEngine, SpacyEngine, find
    from celosia.texts.documents import Collection, Document, Finding, Span
    from celosia.texts.index import SafeIndex, safe_index
    from celosia.texts.models import CSanitised, KSafety, RareTerms, TextModel, TPlausibility
    from celosia.texts.options import TextDeclaration
    from celosia.texts.readers import ReadResult, read
    from celosia.texts.release import TextRelease
    from celosia.texts.review import read_findings, write_findings
    from celosia.texts.run import publish

__getattr__, __dir__ = on_first_use(__name__)
__all__ = [
    "Action",
    "CSanitised",
    "Collection",
    "Document",
    "Encrypt",
    "Facts",
    "Finding",
    "FoundTexts",
    "Generalise",
    "KSafety",
    "Keep",
    "Key",
    "Label",
    "PresidioEngine",
    "Pseudonym",
    "RareTerms",
    "ReadResult",
    "Redact",
    "SafeIndex",
    "Shift",
    "SpacyEngine",
    "Span",
    "Surrogate",
    "TPlausibility",
    "TextDeclaration",
    "TextModel",
    "TextRelease",
    "attacks",
    "find",
    "index",
    "measures",
    "models",
    "private",
    "publish",
    "read",
    "read_findings",
    "safe_index",
    "write_findings",
]
