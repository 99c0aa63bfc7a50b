"""What a column tells of itself: by what its cells look like, and by its name.

Every function takes distinct texts (none missing) and tells for each whether it matches.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.assess.recognisers import check_digits

Flags = NDArray[np.bool_]
Test = Callable[[pl.Series], Flags]

_OCTET = r"(?:25[0-5]|2[0-4]\d|1?\d?\d)"


@dataclass(frozen=True, slots=True)
class Pattern:
    """How sure cells make us of a kind of content, alone and with the column's name."""

    kind: str
    test: Test | str
    """Which texts have it; a regular expression, or more than one can say."""
    alone: float | None
    """Share of matching cells that suffices without a telling name; None: the name is needed."""
    named: float = 0.3
    """Share that suffices if the name tells the same."""

    def flags(self, texts: pl.Series) -> Flags:
        """Which of some texts have the content."""
        if isinstance(self.test, str):
            return np.asarray(texts.str.contains(self.test).to_numpy(), dtype=np.bool_)
        return self.test(texts)


def _checked(
    form: str, check: Callable[[str], bool], *, marks: str = "", as_written: bool = False
) -> Test:
    """Which texts have a form and add up, without some marks between their characters.

    The form is that of the text without the marks, or of the text as it is written.
    """

    def test(texts: pl.Series) -> Flags:
        upper = texts.str.to_uppercase()
        bare = upper.str.replace_all(marks, "") if marks else upper
        fits = (upper if as_written else bare).str.contains(f"^(?:{form})$").to_numpy()
        found = np.zeros(len(texts), dtype=np.bool_)
        found[fits] = [check(text) for text in bare.filter(pl.Series(fits, dtype=pl.Boolean))]
        return found

    return test


is_account = _checked("[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}", check_digits.iban, marks=" ")
is_rut = _checked(
    r"(?:[0-9]{1,2}\.[0-9]{3}\.[0-9]{3}-|[0-9]{7,8}-?)[0-9K]",
    check_digits.rut,
    marks="[.-]",
    as_written=True,
)
is_dni = _checked(
    "[XYZ0-9][0-9]{7}[A-Z]",
    lambda text: check_digits.dni(text) or check_digits.nie(text),
    marks="[ .-]",
)
is_card = _checked(
    # 15 digits are American Express or else a device; lengths that no issuer has are left out.
    "4[0-9]{12}|3[47][0-9]{13}|3[068][0-9]{12}|[2-6][0-9]{15}|[56][0-9]{17,18}",
    check_digits.luhn,
    marks="[ -]",
)
is_vehicle = _checked("[A-HJ-NPR-Z0-9]{17}", check_digits.vin)


def _social_security(texts: pl.Series) -> Flags:
    parts = texts.str.contains(r"^\d{3}([- ]?)\d{2}([- ]?)\d{4}$")
    unused = texts.str.contains(r"^(?:000|666|9)|^\d{3}[- ]?00|0000$")
    return np.asarray((parts & ~unused).to_numpy(), dtype=np.bool_)


def _spelt_social_security(texts: pl.Series) -> Flags:
    dashed = texts.str.contains(r"^\d{3}-\d{2}-\d{4}$")
    return np.asarray(dashed.to_numpy() & _social_security(texts), dtype=np.bool_)


@cache
def _given_names() -> list[str]:
    """Common ones, English and Spanish; those that are also places or words are left out."""
    text = files("celosia.assess.risk").joinpath("given_names.txt").read_text(encoding="utf-8")
    return text.split()


def _given_name(texts: pl.Series) -> Flags:
    first = texts.str.to_lowercase().str.normalize("NFKD").str.replace_all(r"\p{M}", "")
    # "Ana Rojas", "Rojas, Ana" and "ana" alike; a sentence that starts with a name is no name.
    wanted = first.str.extract(r"^(?:[\p{L}' -]+, )?([a-z]+)(?:[ .-][\p{L}'. -]+)?$")
    short = texts.str.len_chars() <= 60
    return np.asarray((wanted.is_in(_given_names()).fill_null(value=False) & short).to_numpy())


PATTERNS: tuple[Pattern, ...] = (
    Pattern("e-mail address", r"(?i)^[^@\s,;]+@[^@\s,;]+\.[a-z]{2,}$", 0.1, 0.05),
    Pattern("web address", r"(?i)^(?:https?://|ftp://|www\.)\S+$", 0.1, 0.05),
    Pattern("device identifier", r"(?i)^[0-9a-f]{2}([:-][0-9a-f]{2}){5}$", 0.5),
    Pattern(
        "IP address",
        rf"(?i)^{_OCTET}(?:\.{_OCTET}){{3}}$|^[0-9a-f]{{1,4}}(?::[0-9a-f]{{1,4}}){{7}}$"
        r"|^[0-9a-f]{1,4}(?::[0-9a-f]{1,4})*::(?:[0-9a-f]{1,4}(?::[0-9a-f]{1,4})*)?$",
        0.5,
    ),
    Pattern("bank account", is_account, 0.2, 0.1),
    Pattern("Chilean identity number", is_rut, 0.5),
    Pattern("Spanish identity number", is_dni, 0.5),
    Pattern("card number", is_card, 0.5),
    Pattern("vehicle identifier", is_vehicle, 0.5),
    Pattern("social security number", _spelt_social_security, 0.5),
    Pattern(
        "telephone number",
        r"^\+\d{1,3}[ .-]?(?:\(?\d{1,4}\)?[ .-]?){2,5}$|^\(\d{2,4}\) ?\d{3,4}[ .-]?\d{3,4}$"
        r"|^\d{3}-\d{3}-\d{4}$",
        0.5,
    ),
    Pattern("key", r"(?i)^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$", 0.5),
    Pattern("personal name", _given_name, 0.5, 0.1),
    Pattern(
        "postal code",
        r"^[A-Z]{1,2}\d[A-Z\d]? \d[A-Z]{2}$|^[A-Z]\d[A-Z] ?\d[A-Z]\d$|^\d{5}-\d{4}$",
        0.8,
    ),
    Pattern(
        "date",
        r"^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}.*)?$|^\d{4}/\d{1,2}/\d{1,2}$"
        r"|^\d{1,2}([/.-])\d{1,2}[/.-](?:19|20)\d{2}(?: \d{1,2}:\d{2}.*)?$",
        0.8,
    ),
)
"""Content that is recognised by itself, the surest first."""

LIKELY: tuple[Pattern, ...] = (
    Pattern("social security number", _social_security, None, 0.5),
    Pattern("telephone number", r"^\+?[\d ()./-]{6,20}$", None, 0.6),
    Pattern("device identifier", r"^[A-Za-z0-9:-]*\d[A-Za-z0-9:-]*$", None, 0.6),
    Pattern("vehicle identifier", r"^[A-Z0-9][A-Z0-9 ·-]{3,16}$", None, 0.6),
    Pattern("bank account", r"^[\d -]{6,34}$", None, 0.6),
    Pattern("identity number", r"^[A-Z]{0,6}[\d.\-]{4,20}[A-Z0-9]{0,8}$", None, 0.6),
    Pattern("Chilean identity number", r"^[\d.]{6,10}-[\dkK]$", None, 0.6),
    Pattern("Spanish identity number", r"^[XYZ\d]\d{7}[A-Z]$", None, 0.6),
    Pattern("medical record number", r"^[A-Za-z]{0,6}[ -]?\d[\d -]*$", None, 0.6),
    Pattern(
        "personal name",
        r"^\p{L}[\p{L}'\u{2019}. -]*(?:, \p{L}[\p{L}'. -]*)?$",
        None,
        0.6,
    ),
    Pattern("street address", r"\p{L}", None, 0.6),
    Pattern("postal code", r"^[A-Z0-9 -]*\d[A-Z0-9 *-]*$", None, 0.6),
)
"""Looser shapes that only a telling name makes suspicious."""


NAMES: dict[str, tuple[str, ...]] = {
    "e-mail address": ("email", "e mail", "mail", "correo", "correo electronico"),
    "telephone number": (
        *("phone", "telephone", "tel", "mobile", "cell phone", "fax", "phone number"),
        *("telefono", "celular", "movil", "fono"),
    ),
    "IP address": ("ip", "ip address", "direccion ip"),
    "web address": ("url", "uri", "website", "web page", "homepage", "sitio web", "pagina web"),
    "card number": ("card number", "credit card", "debit card", "tarjeta", "numero tarjeta"),
    "bank account": (
        *("iban", "bank account", "account number", "account no", "account"),
        *("cuenta", "cuenta bancaria", "numero cuenta", "cuenta corriente"),
    ),
    "social security number": (
        *("ssn", "social security", "social security number", "nss"),
        *("seguro social", "seguridad social"),
    ),
    "Spanish identity number": ("dni", "nie", "nif"),
    "Chilean identity number": ("rut", "run", "rol unico", "rol unico tributario"),
    "identity number": (
        *("passport", "national id", "identity card", "identity number", "driver license"),
        *("driving licence", "licence number", "license number", "certificate number"),
        *("pasaporte", "cedula", "curp", "documento identidad", "licencia conducir"),
    ),
    "medical record number": (
        *("mrn", "medical record", "patient id", "patient number", "patient no", "health plan"),
        *("beneficiary", "policy number", "ficha clinica", "historia clinica", "nhc", "poliza"),
        *("numero ficha", "numero historia", "id paciente", "numero paciente", "folio paciente"),
    ),
    "vehicle identifier": (
        *("vin", "chassis", "license plate", "licence plate", "number plate", "plate"),
        *("patente", "matricula", "placa", "chasis"),
    ),
    "device identifier": (
        *("mac", "mac address", "imei", "serial number", "serial no", "device id", "udid"),
        *("numero serie", "numero de serie", "id dispositivo"),
    ),
    "birth date": (
        *("birth", "birthday", "birthdate", "date of birth", "dob", "born"),
        *("nacimiento", "fecha nacimiento", "fecha de nacimiento", "fec nac", "cumpleanos"),
    ),
    "admission or discharge date": (
        *("admission", "admitted", "discharge", "discharged", "death", "deceased"),
        *("fecha ingreso", "admision", "alta", "egreso", "defuncion", "fallecimiento"),
    ),
    "date": ("date", "fecha", "timestamp", "datetime"),
    "age": ("age", "edad", "years old"),
    "postal code": (
        *("zip", "zip code", "zipcode", "postal", "postal code", "postcode", "post code"),
        *("codigo postal", "cod postal", "cp", "c p"),
    ),
    "street address": (
        *("address", "street", "home address", "residence"),
        *("direccion", "domicilio", "calle", "residencia"),
    ),
    "geographic": (
        *("city", "town", "village", "county", "state", "province", "region", "district"),
        *("country", "municipality", "neighbourhood", "neighborhood", "latitude", "longitude"),
        *("lat", "lon", "lng", "location", "precinct", "parish"),
        *("ciudad", "comuna", "provincia", "pais", "municipio", "localidad", "barrio"),
        *("departamento", "latitud", "longitud", "pueblo", "distrito", "ubicacion"),
    ),
    "personal name": (
        *("name", "full name", "first name", "last name", "surname", "forename", "given name"),
        *("family name", "middle name", "maiden name", "fname", "lname"),
        *("nombre", "nombres", "apellido", "apellidos", "nombre completo"),
    ),
    "key": (
        *("id", "uid", "key", "uuid", "guid", "identifier", "record number", "record no", "pk"),
        *("pid", "hid", "hhid", "user id", "client id", "customer id", "member id", "person id"),
        *("household id", "student id", "employee id", "subject id", "case id", "account id"),
        *("identificador", "folio", "numero registro", "clave"),
    ),
    "demographic": (
        *("sex", "gender", "race", "ethnicity", "ethnic", "marital", "marital status"),
        *("education", "schooling", "degree", "occupation", "profession", "job", "job title"),
        *("workclass", "work class", "employer", "nationality", "citizenship", "language"),
        *("household", "children", "veteran", "birthplace", "relationship", "marriage", "married"),
        *("marst", "marstat", "marry", "educ", "edu", "hispanic", "family", "siblings", "parents"),
        *("spouse", "dependents", "citizen", "migrant", "relat", "employment", "height"),
        *("estado conyugal", "casado", "matrimonio", "familia", "estatura", "peso", "migrante"),
        *("sexo", "genero", "raza", "etnia", "estado civil", "educacion", "escolaridad"),
        *("estudios", "ocupacion", "profesion", "empleo", "cargo", "empleador", "nacionalidad"),
        *("idioma", "hogar", "hijos", "parentesco"),
    ),
    "amount": (
        *("amt", "amount", "bill", "pay", "payment", "limit", "price", "cost", "fee", "fare"),
        *("expend", "expenditure", "charges", "savings", "assets", "tax", "loan", "credit"),
        *("mortgage", "capital", "revenue", "sales", "profit", "monto", "importe", "pago"),
        *("cuota", "precio", "costo", "coste", "gasto", "ahorro", "factura", "impuesto"),
        *("prestamo", "credito", "hipoteca", "ventas", "ganancia", "limite"),
    ),
    "sensitive attribute": (
        *("salary", "income", "wage", "wages", "earnings", "diagnosis", "disease", "illness"),
        *("condition", "hiv", "religion", "political", "party", "sexual orientation", "treatment"),
        *("medication", "drug", "debt", "balance", "offence", "crime", "disability", "genetic"),
        *("insurance", "blood type", "grade", "test result", "default", "outcome", "survived"),
        *("arrest", "recid", "recidivism", "convicted", "suicide", "depression", "pregnant"),
        *("pregnancy", "smoker", "smoking", "alcohol", "affairs", "vote", "cancer", "tumor"),
        *("incumplimiento", "desenlace", "arresto", "condena", "suicidio", "depresion"),
        *("embarazo", "fumador", "voto", "resultado"),
        *("sueldo", "salario", "ingreso", "ingresos", "renta", "diagnostico", "enfermedad"),
        *("vih", "religion", "partido", "orientacion sexual", "tratamiento", "medicamento"),
        *("deuda", "saldo", "delito", "discapacidad", "prevision", "grupo sanguineo", "nota"),
    ),
}
"""Words and phrases by kind; a name that has one of them in it suggests the kind."""

_ENDS_IN_ID = re.compile(r"[A-Z]{3,}ID")
_NO_ID = frozenset(
    (
        *("COVID", "PAID", "PREPAID", "UNPAID", "REPAID", "MEDICAID", "PLACID", "FLUID", "LIQUID"),
        *("LIPID", "VALID", "SOLID", "RAPID", "HYBRID", "THYROID", "STEROID", "OPIOID", "EYELID"),
    )
)
"""Words in capital letters that end so, and are no keys."""

_THINGS = frozenset(
    (
        *("product", "file", "brand", "species", "drug", "column", "variable", "event", "test"),
        *("class", "model", "table", "item", "field", "host", "course", "school", "hospital"),
        *("company", "country", "city", "producto", "archivo", "marca", "especie", "columna"),
        *("upstream", "package", "project", "module", "software", "library", "proyecto", "paquete"),
        *("evento", "curso", "colegio", "empresa"),
    )
)
"""What has names too: with one of these words a column of names is not about people."""


def is_of_things(name: str) -> bool:
    """Whether the name of a column speaks of things, and not of people.

    >>> is_of_things("product_id"), is_of_things("client_id")
    (True, False)
    """
    return not _THINGS.isdisjoint(words(name))


@cache
def words(name: str) -> tuple[str, ...]:
    """The words of a column name, in lower case and without accents.

    >>> words("FechaNacimiento"), words("Código_postal-2")
    (('fecha', 'nacimiento'), ('codigo', 'postal', '2'))
    """
    bare = "".join(
        letter
        for letter in unicodedata.normalize("NFKD", name)
        if not unicodedata.combining(letter)
    )
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", bare)
    return tuple(re.findall(r"[a-z]+|[0-9]+", spaced.lower()))


def _coded(word: str) -> str | None:
    """A word after the letter that marks a coded column: i for a code, d for a discrete value.

    >>> _coded("isex"), _coded("dage"), _coded("income")
    ('sex', 'age', 'ncome')
    """
    return word[1:] if word[:1] in ("i", "d") and len(word) > 3 else None


def suggests(name: str, kind: str) -> bool:
    """Whether the name of a column speaks of this kind of content.

    >>> suggests("customer_email", "e-mail address"), suggests("product name", "personal name")
    (True, False)
    """
    said = words(name)
    if kind == "personal name" and is_of_things(name):
        return False
    if kind == "key" and _ENDS_IN_ID.fullmatch(name) and name not in _NO_ID:
        return True  # UTILITYID: capital letters do not show where the last word begins
    return any(_within(tuple(phrase.split()), said) for phrase in NAMES[kind])


def suggested(name: str, kinds: Iterable[str]) -> str | None:
    """The first of these kinds that the name of a column speaks of."""
    return next((kind for kind in kinds if suggests(name, kind)), None)


def _within(phrase: tuple[str, ...], said: tuple[str, ...]) -> bool:
    """Whether the words of a phrase stand together, or written as one."""
    whole = "".join(phrase)
    if whole in said or any(_coded(word) == whole for word in said):
        return True
    width = len(phrase)
    return any(said[at : at + width] == phrase for at in range(len(said) - width + 1))
