"""The recognisers of identifiers, and the numbers that identify nobody: one table each."""

from __future__ import annotations

import re

from celosia.assess.recognisers import check_digits
from celosia.assess.recognisers.places import Anchor, Begins
from celosia.assess.recognisers.recogniser import LIKELY, POSSIBLE, SURE, Protected, Recogniser


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_ID = _words(
    "dni nif nie documento identidad identificacion identity id cedula rut run cuit cuil cpf curp"
    " ssn nino passport pasaporte licence license licencia conducir permiso nss afiliacion"
    " seguridad social security nacional national nhs insurance ciudadano fiscal tax cif"
)
_CARD = _words("tarjeta card visa mastercard amex maestro credito debito credit debit pago payment")
_ACCOUNT = _words("iban cuenta account bank banco bancaria domiciliacion ccc payment pago")
_PHONE = _words(
    "tel telefono telefonos tfno tlf tf movil fijo celular fax whatsapp llamar llame contacto phone"
    " telephone mobile cell call calls ring contact reached number"
)
_CAR = _words(
    "matricula vehiculo coche placa patente plate registration vehicle car licence license vin"
    " chassis bastidor"
)
_DEVICE = _words("ip imei mac device dispositivo terminal equipo serial serie host cookie")
_NHS = _words("nhs health service patient document identity")
_PASSPORT = _words("passport pasaporte licence license licencia permiso conducir driving")
_RECORD = r"[A-Za-z]{0,4}[-/ ]?\d[\dA-Za-z]{2,11}(?:[-/.]\d[\dA-Za-z]{0,9}){0,3}"
_RECORD_STARTS = _words(
    "nhc mrn historia expediente ficha folio caso episodio factura medical record case file chart"
    " episode invoice hospital policy poliza"
)
"""The first words of those below."""
_RECORD_WORDS = (
    "NHC|MRN|historia(?: cl[ií]nica)?|expediente|ficha|folio|caso|episodio|factura|medical record"
    "|record|case|file|chart|episode|invoice|hospital (?:number|no)|policy|p[oó]liza"
)
_OCTET = r"(?:25[0-5]|2[0-4]\d|1?\d?\d)"
_HEX = "[0-9A-Fa-f]"
_AT = (Anchor(re.compile("@"), marks="_.+%'-"),)

_NUMBER: tuple[Begins, ...] = ("long number",)
_LETTERS: tuple[Begins, ...] = ("letters",)
_BOTH = (*_NUMBER, *_LETTERS)


def _is_phone(text: str) -> bool:
    return 8 <= sum(map(str.isdigit, text)) <= 17


def _is_dni(text: str) -> bool:
    return check_digits.dni(text.zfill(9))


def _bare(body: str) -> re.Pattern[str]:
    """A number of its own: not in a longer word, a decimal number or an address."""
    return re.compile(rf"(?<![\w.,@-])(?:{body})(?![\w@])")


def _any_case(body: str) -> re.Pattern[str]:
    return re.compile(_bare(body).pattern, re.IGNORECASE)


def _before(pattern: str, *back: int) -> tuple[Anchor]:
    return (Anchor(re.compile(pattern), back),)


# A search for one letter is far quicker than one for any of several: an anchor each.
_SCHEME = (Anchor(re.compile("://")), *_before(r"\.(?<=[wW]{3}.)", 3))
_HEX_PAIR = (*_before(rf":{_HEX}{{2}}:", 2), *_before(rf"-{_HEX}{{2}}-", 2))
_LAWS = tuple(
    Anchor(re.compile(pattern), (0,))
    for pattern in (r"L(?<!\w.)ey", r"R(?<!\w.)(?:e[ag]|\.|D)", r"D(?<!\w.)irec", r"A(?<!\w.)ct")
)


# fmt: off
RECOGNISERS: tuple[Recogniser, ...] = (
    Recogniser("e-mail", "contact", 1.0, _AT, re.compile(
        r"(?<![\w.+%'-])[\w.+%'-]++@(?:[^\W_](?:[\w-]{0,61}[^\W_])?\.){1,8}[^\W\d_]{2,24}(?![\w-])")),
    Recogniser("url", "url", 1.0, _SCHEME, re.compile(
        r"(?<!\w)(?:https?://|ftp://|www\.)[^\s<>\"'\u2018-\u201d]{1,2000}", re.IGNORECASE)),
    Recogniser("handle", "contact", SURE, _before("@", 0), re.compile(
        r"(?<![\w@./])@[A-Za-z_][\w.]{2,29}(?![\w@])")),
    Recogniser("IBAN", "account", 0.95, _LETTERS,
        _any_case(r"[A-Z]{2}\d\d(?:[ -]?[A-Z0-9]{4}){2,7}(?:[ -]?[A-Z0-9]{1,3})?"),
        check_digits.iban, _ACCOUNT),
    Recogniser("card", "account", LIKELY, _NUMBER,
        _bare(r"\d{4}(?:[ -]?\d{4}){2}[ -]?\d{4}(?:[ -]?\d{3})?|3[47]\d\d[ -]?\d{6}[ -]?\d{5}"
              r"|\d{12,19}"),
        check_digits.card, _CARD, needs_context=True, typical=re.compile(
            r"\d{4}[ -]\d{4}[ -]\d{4}[ -][\d -]+|3\d{3}[ -]\d{6}[ -]\d{5}|\d{15,16}")),
    Recogniser("DNI", "id", SURE, _NUMBER,
        _bare(r"\d{8}[- ]?[A-Za-z]|\d{1,2}\.\d{3}\.\d{3}[- ]?[A-Za-z]"),
        _is_dni, _ID, needs_context=True, typical=re.compile(r"[\d.]+-?[A-Z]")),
    Recogniser("NIE", "id", SURE, _LETTERS, _bare(r"[XYZxyz][-. ]?\d{7}[- ]?[A-Za-z]"),
        check_digits.nie, _ID),
    Recogniser("CIF", "id", LIKELY, _LETTERS, _bare(r"[ABCDEFGHJNPQRSUVW][- ]?\d{7}[- ]?[0-9A-J]"),
        check_digits.cif, _ID, needs_context=True,
        typical=re.compile(r"[A-Z]-?\d{8}|[A-Z]-?\d{7}-?[A-J]")),
    Recogniser("social security (ES)", "id", LIKELY, _NUMBER,
        _bare(r"\d{2}[ /-]?\d{8}[ /-]?\d{2}"), check_digits.social_security_es, _ID),
    Recogniser("CUIT", "id", LIKELY, _NUMBER, _bare(r"\d{2}-?\d{8}-?\d"),
        check_digits.cuit, _ID, needs_context=True, typical=re.compile(r"\d{2}-\d{8}-\d")),
    Recogniser("RUT", "id", LIKELY, _NUMBER,
        _bare(r"\d{1,2}\.\d{3}\.\d{3}-[\dkK]|\d{7,8}-[\dkK]"),
        check_digits.rut, _ID, needs_context=True, typical=re.compile(r"[\d.]+-[\dkK]")),
    Recogniser("CPF", "id", LIKELY, _NUMBER, _bare(r"\d{3}\.\d{3}\.\d{3}-\d{2}|\d{11}"),
        check_digits.cpf, _ID, needs_context=True,
        typical=re.compile(r"\d{3}\.\d{3}\.\d{3}-\d{2}")),
    Recogniser("CURP", "id", SURE, _LETTERS, _any_case(r"[A-Z]{4}\d{6}[HMXhmx][A-Z]{5}[A-Z0-9]\d"),
        check_digits.curp, _ID),
    Recogniser("NHS", "id", LIKELY, _NUMBER, _bare(r"\d{3}[ -]?\d{3}[ -]?\d{4}"),
        check_digits.nhs, _NHS, needs_context=True),
    Recogniser("SSN", "id", LIKELY, _NUMBER, _bare(r"\d{3}([- ]?)\d{2}\1\d{4}"),
        check_digits.ssn, _words("ssn social security"), needs_context=True,
        typical=re.compile(r"\d{3}-\d{2}-\d{4}")),
    Recogniser("national insurance (GB)", "id", SURE, _LETTERS,
        _bare(r"(?!BG|GB|NK|KN|TN|NT|ZZ)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z]"
              r" ?\d{2} ?\d{2} ?\d{2} ?[A-D]"), context=_ID),
    Recogniser("passport or licence", "id", POSSIBLE, _BOTH,
        _bare(r"[A-Z]{1,3}[- ]?\d{6,9}|\d{8,9}"), context=_PASSPORT, needs_context=True),
    Recogniser("record number", "record", SURE,
        (Anchor(re.compile(r"[NnMmHhEeFfCcRrIiPp](?<!\w.)"
                           r"(?i:hc|rn|is|xp|ic|ol|as|pi|ac|ed|ec|il|ha|nv|os|ól)"), (0,),
                words=_RECORD_STARTS),),
        re.compile(rf"(?<!\w)(?:{_RECORD_WORDS})"
                   r"(?:[ .]{0,2}(?:no|n[uú]m|n[º°]|n[uú]mero|number|id))?[ .:#º°-]{1,3}"
                   rf"(?P<value>{_RECORD})(?![\w@])", re.IGNORECASE)),
    Recogniser("telephone (international)", "contact", SURE, ("sign", "long number"),
        re.compile(r"(?<![\w+])(?:\+|00)\d{1,3}(?:[ .-]?\(?\d{1,4}\)?){2,6}(?![\w@])"),
        _is_phone, _PHONE, keeps_wrong=False),
    Recogniser("telephone (ES)", "contact", LIKELY, _NUMBER,
        _bare(r"[6789]\d{2}[ .-]?\d{3}[ .-]?\d{3}|[6789]\d{2}(?:[ .-]\d{2}){3}"
              r"|[89]\d[ .-]\d{3}(?:[ .-]\d{2}){2}"),
        context=_PHONE, needs_context=True,
        typical=re.compile(r"[6789]\d{8}|\d{2,3}[ .-]\d{2,3}[ .-]\d{2,3}(?:[ .-]\d{2})?")),
    Recogniser("telephone", "contact", LIKELY, ("sign", "long number"),
        _bare(r"\(\d{2,4}\) ?\d{3,4}[ .-]?\d{3,4}|\d{3}[ .-]\d{3,4}[ .-]\d{4}"
              r"|\d{3}[ .-]\d{4}|0\d{2,4}[ -]?\d{3,4}[ -]?\d{3,4}|\d{7,11}"),
        context=_PHONE, needs_context=True, typical=re.compile(
            r"\(\d{2,4}\) ?\d{3,4}[ .-]?\d{3,4}|\d{3}[.-]\d{3}[.-]\d{4}"
            r"|0\d{2,4} \d{3,4} ?\d{3,4}")),
    Recogniser("IPv4", "device", SURE, _NUMBER,
        re.compile(rf"(?<![\w.])(?:{_OCTET}\.){{3}}{_OCTET}(?![\w]|\.\d)"), context=_DEVICE,
        # Four small numbers are rather the version of a program.
        needs_context=True, typical=re.compile(r"10\..*|(?:\d+\.)*(?:[2-9]\d|\d{3})(?:\.\d+)*")),
    Recogniser("IPv6", "device", SURE, _before(rf":{_HEX}{{0,4}}:", 1, 2, 3, 4),
        re.compile(rf"(?<![\w:])(?:{_HEX}{{1,4}}:){{7}}{_HEX}{{1,4}}(?![\w:])"
                   rf"|(?<![\w:])(?:{_HEX}{{1,4}}:){{1,6}}(?::{_HEX}{{1,4}}){{1,6}}(?![\w:])"
                   rf"|(?<![\w:])(?:{_HEX}{{1,4}}:){{2,7}}:(?![\w:])"), context=_DEVICE),
    Recogniser("MAC", "device", SURE, _HEX_PAIR, re.compile(
        rf"(?<![\w:-]){_HEX}{{2}}(?:([:-]){_HEX}{{2}})(?:\1{_HEX}{{2}}){{4}}(?![\w:-])")),
    Recogniser("IMEI", "device", LIKELY, _NUMBER, _bare(r"\d{2}-?\d{6}-?\d{6}-?\d"),
        check_digits.luhn, _words("imei"), needs_context=True),
    Recogniser("UUID", "device", SURE, _before(rf"-{_HEX}{{4}}-{_HEX}{{4}}-", 8), re.compile(
        rf"(?<![\w-]){_HEX}{{8}}(?:-{_HEX}{{4}}){{3}}-{_HEX}{{12}}(?![\w-])")),
    Recogniser("VIN", "plate", SURE, 
        (Anchor(re.compile("[A-HJ-NPR-Z0-9]"), every=17),),
        _bare(r"[A-HJ-NPR-Z0-9]{17}"), check_digits.vin, _CAR),
    Recogniser("plate (ES)", "plate", SURE, _BOTH,
        _bare(r"\d{4}[ -]?[BCDFGHJKLMNPRSTVWXYZ]{3}|[A-Z]{1,2}[ -]\d{4}[ -][A-Z]{1,2}"),
        # A year and an abbreviation is no plate.
        context=_CAR, needs_context=True, typical=re.compile(r"(?!(?:19|20)\d\d ).*")),
    Recogniser("plate (GB)", "plate", LIKELY, _LETTERS, _bare(r"[A-Z]{2}\d{2} ?[A-Z]{3}"),
        context=_CAR),
)
"""All of them. Their order is no rank: the longest match wins, then the surest."""

_QUANTITY = (
    r"\d(?<![\w.,].)[\d.,]{0,12} ?(?:mg|mcg|µg|ug|g|kg|ml|mL|dl|dL|l|cm|mm|m|km|mmHg|bpm|lpm|ppm"
    r"|UI|IU|U/L|mmol|mEq|kcal|%|°C|ºC)(?:/[A-Za-zµ]{1,4})?(?!\w)"
)

PROTECTED: tuple[Protected, ...] = (
    Protected(re.compile(r"(?<!\w)ISBN(?:-1[03])?[: ]{0,2}[\d -]{9,16}[\dX]", re.IGNORECASE),
        (*_before("B(?<=[Ii][Ss].)", 2), *_before("b(?<=[Ii][Ss].)", 2))),
    Protected(re.compile(r"(?<!\w)10\.\d{4,9}/[^\s\"<>]{1,200}"), _before(r"10\.", 0)),
    Protected(re.compile(_QUANTITY), _before(_QUANTITY, 0)),
    Protected(re.compile(r"(?<!\w)(?:ICD|CIE)-?1?[0-9]?[: ]{0,2}[A-Z]\d{2}(?:\.\d{1,3})?(?!\w)"),
        (*_before("ICD", 0), *_before("CIE", 0))),
    Protected(re.compile(
        r"(?<!\w)(?:Ley(?: Org[aá]nica)?|Real Decreto(?:-ley)?|R\.?D\.?|Directiva|Reglamento"
        r"|Regulation|Directive|Act)(?: \((?:UE|EU|CE|EC)\))?(?: n[º°o]\.?)?"
        r" \d{1,4}/\d{2,4}(?!\w)"),
        _LAWS),
)
"""Numbers that identify no person: books, articles, quantities, codes of diseases, laws."""
# fmt: on
