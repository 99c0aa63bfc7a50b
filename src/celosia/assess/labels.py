"""How values that are data (measures, kinds of columns, facts of attacks) are shown to people."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from celosia.core.messages import Message

LABELS: Mapping[str, str] = MappingProxyType(
    {
        # measure
        "accuracy": "assess.measure.accuracy",
        "variance explained": "assess.measure.variance_explained",
        "Cramér's V": "assess.measure.cramers_v",
        "correlation": "assess.measure.correlation",
        "correlation ratio": "assess.measure.correlation_ratio",
        "distance": "assess.measure.distance",
        "rank": "assess.measure.rank",
        "interval": "assess.measure.interval",
        "highest": "assess.measure.highest",
        "total variation": "assess.measure.total_variation",
        # verdict
        "violated": "assess.verdict.violated",
        "consistent": "assess.verdict.consistent",
        "unclaimed": "assess.verdict.unclaimed",
        # kind
        "e-mail address": "assess.kind.email",
        "telephone number": "assess.kind.telephone",
        "IP address": "assess.kind.ip",
        "web address": "assess.kind.web",
        "card number": "assess.kind.card",
        "bank account": "assess.kind.bank",
        "social security number": "assess.kind.social_security",
        "Spanish identity number": "assess.kind.spanish_identity",
        "Chilean identity number": "assess.kind.chilean_identity",
        "identity number": "assess.kind.identity",
        "medical record number": "assess.kind.medical_record",
        "vehicle identifier": "assess.kind.vehicle",
        "device identifier": "assess.kind.device",
        "birth date": "assess.kind.birth_date",
        "admission or discharge date": "assess.kind.admission_date",
        "date": "assess.kind.date",
        "age": "assess.kind.age",
        "age over 89": "assess.kind.age_over_89",
        "postal code": "assess.kind.postal_code",
        "street address": "assess.kind.street",
        "geographic": "assess.kind.geographic",
        "personal name": "assess.kind.name",
        "key": "assess.kind.key",
        "unique key": "assess.kind.unique_key",
        "demographic": "assess.kind.demographic",
        "sensitive attribute": "assess.kind.sensitive",
        "free text": "assess.kind.free_text",
        "empty": "assess.kind.empty",
        "number": "assess.kind.number",
        "category": "assess.kind.category",
        # role
        "identifier": "assess.role.identifier",
        "quasi-identifier": "assess.role.quasi_identifier",
        "sensitive": "assess.role.sensitive",
        "insensitive": "assess.role.insensitive",
        # fact
        "cells": "assess.fact.cells",
        "cells_recovered": "assess.fact.cells_recovered",
        "classes": "assess.fact.classes",
        "combinations": "assess.fact.combinations",
        "compatible_pairs": "assess.fact.compatible_pairs",
        "doubtful_singletons": "assess.fact.doubtful_singletons",
        "effective_values_of_table": "assess.fact.effective_values_of_table",
        "exclusions": "assess.fact.exclusions",
        "exposed_by_similarity": "assess.fact.exposed_by_similarity",
        "exposed_by_the_knowledge": "assess.fact.exposed_by_the_knowledge",
        "fewest_candidates": "assess.fact.fewest_candidates",
        "fit_expected_by_chance": "assess.fact.fit_expected_by_chance",
        "greatest_ratio": "assess.fact.greatest_ratio",
        "least_effective_values": "assess.fact.least_effective_values",
        "pairs": "assess.fact.pairs",
        "rows_recovered": "assess.fact.rows_recovered",
        "rows_that_fit": "assess.fact.rows_that_fit",
        "singletons": "assess.fact.singletons",
        "suppressed": "assess.fact.suppressed",
        "unique_on_both_sides": "assess.fact.unique_on_both_sides",
        "unmatched_people": "assess.fact.unmatched_people",
        "assignments": "assess.fact.assignments",
        "sampled": "assess.fact.sampled",
    }
)
"""The key in the catalogue of each value."""


def label(value: str) -> str:
    """A value as it is shown to people; one that has no label as it is.

    >>> label("variance explained").render("es"), label("maths")
    ('varianza explicada', 'maths')
    """
    return Message(LABELS[value]) if value in LABELS else value
