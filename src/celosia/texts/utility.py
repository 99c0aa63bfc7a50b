"""What is still useful of published documents: words, ranking and retrieval."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from celosia.core.errors import InputError
from celosia.texts.attacks.authorship import tf_idf
from celosia.texts.detection.tokens import words_of

TOP = 10


def utility(original: Sequence[str], published: Sequence[str]) -> dict[str, float]:
    """Shares from 0 to 1: words kept, tf-idf cosine, and the overlap of the ten nearest documents.

    Raises:
        InputError: CEL-N042 there are not as many texts as documents.
    """
    if len(original) != len(published) or not original:
        raise InputError("CEL-N042", texts=len(published), documents=len(original))
    kept = total = 0
    for before, after in zip(original, published, strict=True):
        own = words_of(before).words
        left = set(words_of(after).words)
        total += len(own)
        kept += sum(word in left for word in own)
    weights = tf_idf([words_of(text).words for text in (*original, *published)])
    count = len(original)
    first, second = weights[:count], weights[count:]
    cosine = float(np.asarray(first.multiply(second).sum(axis=1)).mean())
    return {
        "words_kept": kept / total if total else 1.0,
        "cosine": cosine,
        "retrieval": _retrieval(first, second),
    }


def _retrieval(first: object, second: object) -> float:
    """The mean overlap of the nearest documents of each document, before and after."""
    near = []
    for weights in (first, second):
        likeness = np.asarray((weights @ weights.T).todense())  # type: ignore[attr-defined]
        np.fill_diagonal(likeness, -1)
        near.append(likeness)
    count = near[0].shape[0]
    top = min(TOP, count - 1)
    if top < 1:
        return 1.0
    before, after = (np.argsort(-each, axis=1, kind="stable")[:, :top] for each in near)
    shared = [len(set(a) & set(b)) / top for a, b in zip(before, after, strict=True)]
    return float(np.mean(shared))
