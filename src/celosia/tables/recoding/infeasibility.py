"""Why no generalisation of a table meets its models."""

from __future__ import annotations

from collections.abc import Sequence

from celosia.core.errors import PrivacyError
from celosia.core.wording import joined
from celosia.tables.models import Classes, Model


def infeasibility_error(
    one_class: Classes, models: Sequence[Model], suppression: float
) -> PrivacyError:
    """The error for models that no recoding meets, with the reason if one is known.

    Args:
        one_class: all records as one class.
        models: what was asked for.
        suppression: the largest share of the records that might have been suppressed.
    """
    promises = [model.promise() for model in models]
    rows = int(one_class.sizes.sum())
    smallest = max(model.smallest for model in models)
    if rows < smallest:
        return PrivacyError(
            "CEL-P001.too_few_rows", promises=promises, rows=rows, smallest=smallest
        )
    reasons = [
        reason for model in models if (reason := model.why_infeasible(one_class)) is not None
    ]
    return PrivacyError(
        "CEL-P001.unreachable_because" if reasons else "CEL-P001.unreachable",
        promises=promises,
        suppression=suppression,
        reason=joined("reports.joined.sentence", reasons) if reasons else "",
        rows=rows,
    )
