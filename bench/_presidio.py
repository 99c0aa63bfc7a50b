"""Run by the Python of an environment with Presidio: its patterns over texts, as one JSON object.

`python _presidio.py TEXTS RUNS KIND...` where TEXTS is a file of JSON, a list of texts, the best of
RUNS runs counts, and the kinds are further ones to look for. The pipeline is blank (no language
model), the recognisers are those whose kinds Celosía looks for, too, and what is scored below 0.4
is left out. Nothing of Celosía is imported here.
"""

import json
import sys
import time
import warnings
from importlib.metadata import version
from pathlib import Path

import spacy
from presidio_analyzer import AnalyzerEngine
from presidio_analyzer.nlp_engine import SpacyNlpEngine

LEAST = 0.4
KINDS = [
    "EMAIL_ADDRESS", "PHONE_NUMBER", "CREDIT_CARD", "IBAN_CODE", "IP_ADDRESS", "URL", "US_SSN",
    "US_PASSPORT", "US_DRIVER_LICENSE", "UK_NHS", "ES_NIF", "ES_NIE", "MAC_ADDRESS", "UK_NINO",
]  # fmt: skip


class Blank(SpacyNlpEngine):
    """A pipeline that splits words and knows nothing else."""

    def __init__(self):
        super().__init__()
        self.nlp = {"en": spacy.blank("en")}

    def load(self):
        """There is nothing to load."""


def main():
    """Seconds of the processor, the best of some runs, and what was found."""
    warnings.simplefilter("ignore")
    texts = json.loads(Path(sys.argv[1]).read_text("utf-8"))
    analyzer = AnalyzerEngine(nlp_engine=Blank(), supported_languages=["en"])
    known = analyzer.get_supported_entities("en")
    kinds = [each for each in (*KINDS, *sys.argv[3:]) if each in known]
    analyzer.analyze(text="warm up a@b.org", language="en", entities=kinds)
    times = []
    for _ in range(int(sys.argv[2])):
        started = time.process_time()
        found = [
            analyzer.analyze(text=text, language="en", entities=kinds, score_threshold=LEAST)
            for text in texts
        ]
        times.append(time.process_time() - started)
    print(
        json.dumps(
            {
                "seconds": min(times),
                "version": version("presidio-analyzer"),
                "kinds": kinds,
                "found": sum(map(len, found)),
            }
        )
    )


main()
