"""Roles, kinds and findings in the language of the page."""

from __future__ import annotations

from celosia.studio.language import _


def role_word(role: str) -> str:
    """What a role is called.

    >>> role_word("quasi-identifier")
    'quasi-identifier'
    """
    return {
        "identifier": _("identifier"),
        "quasi-identifier": _("quasi-identifier"),
        "sensitive": _("sensitive"),
        "insensitive": _("insensitive"),
    }[role]


def kind_word(kind: str) -> str:
    """What a column holds."""
    return {
        "text": _("text"),
        "integer": _("whole numbers"),
        "decimal": _("numbers with decimals"),
        "date": _("dates"),
        "time": _("times"),
        "boolean": _("true or false"),
    }[kind]


def finding(kind: str) -> str:
    """What a column seems to hold, in the words of `celosia.assess.risk.detection`."""
    return {
        "e-mail address": _("e-mail address"),
        "web address": _("web address"),
        "device identifier": _("device identifier"),
        "IP address": _("IP address"),
        "bank account": _("bank account"),
        "Chilean identity number": _("Chilean identity number"),
        "Spanish identity number": _("Spanish identity number"),
        "identity number": _("identity number"),
        "card number": _("card number"),
        "vehicle identifier": _("vehicle identifier"),
        "social security number": _("social security number"),
        "medical record number": _("medical record number"),
        "telephone number": _("telephone number"),
        "key": _("key"),
        "unique key": _("unique key"),
        "personal name": _("personal name"),
        "street address": _("street address"),
        "postal code": _("postal code"),
        "date": _("date"),
        "birth date": _("birth date"),
        "admission or discharge date": _("admission or discharge date"),
        "age": _("age"),
        "age over 89": _("age over 89"),
        "geographic": _("a place"),
        "demographic": _("a trait of people"),
        "sensitive attribute": _("something sensitive"),
        "free text": _("free text"),
        "category": _("a category"),
        "number": _("a number"),
        "empty": _("nothing"),
    }.get(kind, kind)


def reason(why: str) -> str:
    """Why it seems so, in the words of `celosia.assess.risk.detection`."""
    return {
        "its name and its cells say so": _("its name and its cells say so"),
        "its cells look so": _("its cells look so"),
        "its name says so and its cells may be such": _(
            "its name says so and its cells may be such"
        ),
        "its name says so": _("its name says so"),
        "ages above 89 are so rare that they identify": _(
            "ages above 89 are so rare that they identify"
        ),
        "long texts may hold any identifier": _("long texts may hold any identifier"),
        "nearly every record has a value of its own": _(
            "nearly every record has a value of its own"
        ),
        "its name says so and no two records share a value": _(
            "its name says so and no two records share a value"
        ),
        "it numbers the records": _("it numbers the records"),
        "its name says so and few records share a value": _(
            "its name says so and few records share a value"
        ),
        "no cell is filled": _("no cell is filled"),
        "neither its name nor its cells point at a person": _(
            "neither its name nor its cells point at a person"
        ),
    }.get(why, why)
