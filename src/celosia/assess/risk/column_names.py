"""What the name of a column says about its content, in English and Spanish."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import cache

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
        *("codigo postal", "cod postal", "cp"),
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
        *("identificador", "folio", "numero registro", "clave"),
    ),
    "demographic": (
        *("sex", "gender", "race", "ethnicity", "ethnic", "marital", "marital status"),
        *("education", "schooling", "degree", "occupation", "profession", "job", "job title"),
        *("workclass", "work class", "employer", "nationality", "citizenship", "language"),
        *("household", "children", "veteran", "birthplace", "relationship"),
        *("sexo", "genero", "raza", "etnia", "estado civil", "educacion", "escolaridad"),
        *("estudios", "ocupacion", "profesion", "empleo", "cargo", "empleador", "nacionalidad"),
        *("idioma", "hogar", "hijos", "parentesco"),
    ),
    "sensitive attribute": (
        *("salary", "income", "wage", "wages", "earnings", "diagnosis", "disease", "illness"),
        *("condition", "hiv", "religion", "political", "party", "sexual orientation", "treatment"),
        *("medication", "drug", "debt", "balance", "offence", "crime", "disability", "genetic"),
        *("insurance", "blood type", "grade", "test result"),
        *("sueldo", "salario", "ingreso", "ingresos", "renta", "diagnostico", "enfermedad"),
        *("vih", "religion", "partido", "orientacion sexual", "tratamiento", "medicamento"),
        *("deuda", "saldo", "delito", "discapacidad", "prevision", "grupo sanguineo", "nota"),
    ),
}
"""Words and phrases by kind; a name that has one of them in it suggests the kind."""

_THINGS = frozenset(
    (
        *("product", "file", "brand", "species", "drug", "column", "variable", "event", "test"),
        *("class", "model", "table", "item", "field", "host", "course", "school", "hospital"),
        *("company", "country", "city", "producto", "archivo", "marca", "especie", "columna"),
        *("evento", "curso", "colegio", "empresa"),
    )
)
"""What has names too: with one of these words a column of names is not about people."""


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


def suggests(name: str, kind: str) -> bool:
    """Whether the name of a column speaks of this kind of content.

    >>> suggests("customer_email", "e-mail address"), suggests("product name", "personal name")
    (True, False)
    """
    said = words(name)
    if kind == "personal name" and _THINGS.intersection(said):
        return False
    return any(_within(tuple(phrase.split()), said) for phrase in NAMES[kind])


def suggested(name: str, kinds: Iterable[str]) -> str | None:
    """The first of these kinds that the name of a column speaks of."""
    return next((kind for kind in kinds if suggests(name, kind)), None)


def _within(phrase: tuple[str, ...], said: tuple[str, ...]) -> bool:
    """Whether the words of a phrase stand together, or written as one."""
    if "".join(phrase) in said:
        return True
    width = len(phrase)
    return any(said[at : at + width] == phrase for at in range(len(said) - width + 1))
