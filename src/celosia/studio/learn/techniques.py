"""The techniques in the order of their years, each with a sentence; and what follows what."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module

from celosia.core.errors import InputError
from celosia.core.messages import did_you_mean
from celosia.studio.learn.parts import Lesson


@dataclass(frozen=True, slots=True)
class Technique:
    """One technique; its name, its years and its sentence are keys of the catalogues."""

    slug: str
    """Its address."""
    name: str
    years: str
    sentence: str
    door: str
    """Where the studio does it in earnest."""

    @property
    def text(self) -> str:
        """The name of its text among `texts`."""
        return f"learn/{self.module}"

    @property
    def module(self) -> str:
        """The module of its lesson."""
        return self.slug.replace("-", "_")

    @property
    def following(self) -> Technique | None:
        """The technique that repairs it, or that comes next; None after the last."""
        place = SLUGS.index(self.slug) + 1
        return TECHNIQUES[place] if place < len(TECHNIQUES) else None


TECHNIQUES = (
    Technique(
        "naive",
        "Removal of names",
        "always",
        "Names and numbers of identity are taken out; what is left still points at people.",
        "/publish",
    ),
    Technique(
        "k-anonymity",
        "k-anonymity",
        "1998, 2002",
        "Everybody looks like at least k - 1 others to whoever links tables.",
        "/publish",
    ),
    Technique(
        "l-diversity",
        "l-diversity",
        "2006",
        "Those who look alike must have at least l different secrets.",
        "/publish",
    ),
    Technique(
        "t-closeness",
        "t-closeness",
        "2007",
        "The secrets of a group are spread much as those of everybody.",
        "/publish",
    ),
    Technique(
        "differential-privacy",
        "Differential privacy",
        "2006",
        "Answers carry noise, so that they are nearly as likely without you as with you.",
        "/query",
    ),
    Technique(
        "local-privacy",
        "Local differential privacy",
        "1965, 2014, 2017",
        "Each device adds the noise itself: randomised response (1965), RAPPOR (2014), "
        "Apple's count mean sketch (2017).",
        "/collect",
    ),
    Technique(
        "graphs",
        "Graphs",
        "2007, 2008",
        "Who knows whom is a fingerprint: networks need methods of their own, such as "
        "k-degree anonymity.",
        "/graphs",
    ),
    Technique(
        "masking",
        "Masking",
        "1982, 1993",
        "Cells are changed instead of generalised: averages of small groups, swaps, noise.",
        "/mask",
    ),
    Technique(
        "synthetic-data",
        "Synthetic data",
        "1993",
        "An artificial table of nobody, drawn from what was learnt of everybody.",
        "/mask",
    ),
)
"""All of them, the oldest idea first: in the order in which they are read."""
SLUGS = tuple(each.slug for each in TECHNIQUES)


def technique_of(slug: str) -> Technique:
    """The technique with an address."""
    found = next((each for each in TECHNIQUES if each.slug == slug), None)
    if found is None:
        raise InputError("CEL-W040", hint=did_you_mean(slug, SLUGS))
    return found


def lesson_of(technique: Technique) -> Lesson:
    """The live side of a technique: the functions of its module."""
    module = import_module(f"celosia.studio.learn.{technique.module}")
    return Lesson(
        compute=module.compute,
        example=module.example,
        stories=module.stories,
        controls=module.controls,
        view=module.view,
    )
