"""The optional recognisers with the real packages, which come last on the path.

`python _recognisers.py PACKAGES` prints one JSON object: the versions, and what was found.
"""

from __future__ import annotations

import json
import sys
import tempfile
import warnings
from importlib.metadata import version
from typing import Any


def main() -> None:
    """What the engines find in a sentence for each language."""
    warnings.simplefilter("ignore")
    sys.path.append(sys.argv[1])
    import spacy

    from celosia.texts import Collection, PresidioEngine, SpacyEngine, find

    found: dict[str, Any] = {name: version(name) for name in ("spacy", "presidio-analyzer")}
    with tempfile.TemporaryDirectory() as folder:
        model = spacy.blank("en")
        ruler = model.add_pipe("entity_ruler")
        ruler.add_patterns([{"label": "PERSON", "pattern": "brook farthing"}])
        model.to_disk(folder)
        texts = ["later brook farthing left, from 192.0.2.7", "escriba a eva@example.org hoy"]
        collection = Collection.of(texts)
        for name, engine in (
            ("spaCy", SpacyEngine(folder)),
            ("Presidio", PresidioEngine()),
            ("Presidio with the model", PresidioEngine(folder)),
        ):
            found[name] = sorted(
                each.kind
                for each in find(collection, engine=engine).findings
                if engine.name in each.by
            )
    print(json.dumps(found))


main()
