"""The techniques in the order of their years, each with a sentence; and what follows what."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module

from celosia.core.errors import InputError
from celosia.core.wording import did_you_mean
from celosia.studio.language import _
from celosia.studio.learn.parts import Lesson

SLUGS = (
    "naive",
    "k-anonymity",
    "l-diversity",
    "t-closeness",
    "differential-privacy",
    "local-privacy",
    "graphs",
    "masking",
    "synthetic-data",
)
"""The addresses of the techniques, in the order in which they are read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Technique:
    """One technique, in the present language."""

    slug: str
    name: str
    years: str
    sentence: str
    door: str
    """Where the studio does it in earnest."""
    following: str | None
    """The technique that repairs it, or that comes next."""

    @property
    def text(self) -> str:
        """The name of its text among `texts`."""
        return f"learn/{self.module}"

    @property
    def module(self) -> str:
        """The module of its lesson."""
        return self.slug.replace("-", "_")


def techniques() -> tuple[Technique, ...]:
    """All of them, the oldest idea first.

    >>> [each.slug for each in techniques()] == list(SLUGS)
    True
    """
    return (
        Technique(
            slug="naive",
            name=_("Removal of names"),
            years=_("always"),
            sentence=_(
                "Names and numbers of identity are taken out; what is left still points at people."
            ),
            door="/publish",
            following="k-anonymity",
        ),
        Technique(
            slug="k-anonymity",
            name=_("k-anonymity"),
            years="1998, 2002",
            sentence=_("Everybody looks like at least k - 1 others to whoever links tables."),
            door="/publish",
            following="l-diversity",
        ),
        Technique(
            slug="l-diversity",
            name=_("l-diversity"),
            years="2006",
            sentence=_("Those who look alike must have at least l different secrets."),
            door="/publish",
            following="t-closeness",
        ),
        Technique(
            slug="t-closeness",
            name=_("t-closeness"),
            years="2007",
            sentence=_("The secrets of a group are spread much as those of everybody."),
            door="/publish",
            following="differential-privacy",
        ),
        Technique(
            slug="differential-privacy",
            name=_("Differential privacy"),
            years="2006",
            sentence=_(
                "Answers carry noise, so that they are nearly as likely without you as with you."
            ),
            door="/query",
            following="local-privacy",
        ),
        Technique(
            slug="local-privacy",
            name=_("Local differential privacy"),
            years="1965, 2014, 2017",
            sentence=_(
                "Each device adds the noise itself: randomised response (1965), RAPPOR (2014), "
                "Apple's count mean sketch (2017)."
            ),
            door="/collect",
            following="graphs",
        ),
        Technique(
            slug="graphs",
            name=_("Graphs"),
            years="2007, 2008",
            sentence=_(
                "Who knows whom is a fingerprint: networks need methods of their own, such as "
                "k-degree anonymity."
            ),
            door="/graphs",
            following="masking",
        ),
        Technique(
            slug="masking",
            name=_("Masking"),
            years="1982, 1993",
            sentence=_(
                "Cells are changed instead of generalised: averages of small groups, swaps, noise."
            ),
            door="/mask",
            following="synthetic-data",
        ),
        Technique(
            slug="synthetic-data",
            name=_("Synthetic data"),
            years="1993",
            sentence=_("An artificial table of nobody, drawn from what was learnt of everybody."),
            door="/mask",
            following=None,
        ),
    )


def technique_of(slug: str) -> Technique:
    """The technique with an address.

    Raises:
        InputError: CEL-W040, there is none.
    """
    found = next((each for each in techniques() if each.slug == slug), None)
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
