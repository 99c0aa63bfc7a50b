"""What kinds, roles, scopes and measures are called, in the language of the reader."""

from __future__ import annotations

from celosia.core.messages import Message

KIND_LABELS = {
    "person": Message("texts.kind.person"),
    "id": Message("texts.kind.id"),
    "account": Message("texts.kind.account"),
    "contact": Message("texts.kind.contact"),
    "address": Message("texts.kind.address"),
    "plate": Message("texts.kind.plate"),
    "device": Message("texts.kind.device"),
    "url": Message("texts.kind.url"),
    "record": Message("texts.kind.record"),
    "birth": Message("texts.kind.birth"),
    "date": Message("texts.kind.date"),
    "age": Message("texts.kind.age"),
    "place": Message("texts.kind.place"),
    "organisation": Message("texts.kind.organisation"),
    "profession": Message("texts.kind.profession"),
    "nation": Message("texts.kind.nation"),
    "amount": Message("texts.kind.amount"),
    "health": Message("texts.kind.health"),
    "belief": Message("texts.kind.belief"),
    "other": Message("texts.kind.other"),
}
"""The kinds of findings."""

ROLE_LABELS = {
    "direct": Message("texts.role.direct"),
    "quasi": Message("texts.role.quasi"),
    "confidential": Message("texts.role.confidential"),
}
"""What a kind is to an attacker."""

SCOPE_LABELS = {
    "document": Message("texts.scope.document"),
    "person": Message("texts.scope.person"),
    "collection": Message("texts.scope.collection"),
}
"""Where equal values are replaced alike."""

LEFT_OUT_LABELS = {
    "front matter": Message("texts.left_out.front_matter"),
    "comments": Message("texts.left_out.comments"),
    "scripts": Message("texts.left_out.scripts"),
    "styles": Message("texts.left_out.styles"),
    "hidden elements": Message("texts.left_out.hidden_elements"),
    "images": Message("texts.left_out.images"),
    "embedded objects": Message("texts.left_out.embedded_objects"),
    "metadata": Message("texts.left_out.metadata"),
    "attributes": Message("texts.left_out.attributes"),
    "revisions": Message("texts.left_out.revisions"),
    "hidden text": Message("texts.left_out.hidden_text"),
    "fields": Message("texts.left_out.fields"),
    "macros": Message("texts.left_out.macros"),
    "custom parts": Message("texts.left_out.custom_parts"),
    "annotations": Message("texts.left_out.annotations"),
    "attachments": Message("texts.left_out.attachments"),
    "outlines": Message("texts.left_out.outlines"),
    "marks": Message("texts.left_out.marks"),
    "characters": Message("texts.left_out.characters"),
}
"""What is read and not written."""

UTILITY_LABELS = {
    "words_kept": Message("texts.utility.words_kept"),
    "cosine": Message("texts.utility.cosine"),
    "retrieval": Message("texts.utility.retrieval"),
}
"""Measures of what is still useful."""
