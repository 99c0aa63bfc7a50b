"""Methods: a name with declared parameters, from which everything else about them follows.

A model, a metric, a hierarchy builder, a masking or graph method, a protocol is a frozen dataclass
that extends `Method`. Each field is declared once: its type, its range and its default here, its
help in the catalogue (`core/catalogue/methods.toml`, English and Spanish). From this come the
validation, `as_dict` and `method_from_dict`, the notation of the command line
(`NAME:key=value,...`), the forms of the studio and the reference pages.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, replace
from fractions import Fraction
from functools import cache, cached_property
from math import isfinite
from types import NoneType, UnionType
from typing import (
    Any,
    ClassVar,
    Literal,
    Self,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from celosia.core.errors import InputError
from celosia.core.messages import Message, did_you_mean, read_family
from celosia.core.numbers import exact, real, whole

Kind = Literal[
    "whole", "number", "exact", "flag", "choice", "text", "column", "columns", "several", "values",
    "toml",
]  # fmt: skip
"""How a parameter is asked for: a number of three sorts, yes or no, one of some words, a text, one
or several columns of the table, several of some words, a list of values, or any TOML value."""

_BY_TYPE: dict[Any, Kind] = {
    bool: "flag",
    int: "whole",
    float: "number",
    Fraction: "exact",
    str: "text",
}

Checker = Callable[[Any], Any]
"""Returns the value as the method keeps it, or raises ValueError where it is not allowed."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """What a parameter of a method may be; `parameters` fills in what the class says."""

    name: str = ""
    kind: Kind = "toml"
    least: float | None = None
    most: float | None = None
    above: float | None = None
    below: float | None = None
    choices: tuple[str, ...] = ()
    default: Any = None
    is_required: bool = True
    is_optional: bool = False
    """Whether it may be None."""
    start: Any = None
    """What a form starts with, and what an error advises."""
    is_main: bool = False
    """Whether a form shows it at once; the others on demand."""
    is_asked: bool = True
    """Whether forms ask for it; what a method is told of its columns is asked for elsewhere."""
    example: str = ""
    """How a value looks in TOML, where it is no plain number or word."""
    unit: str = ""
    check: Checker | None = None
    allowed: str = ""
    """The key of the message that says what `check` lets pass."""

    @property
    def advice(self) -> Any:
        """A value that is usual: where forms start, else the default."""
        return self.default if self.start is None else self.start


_UNDECLARED = Parameter()


def parameter(default: Any = MISSING, *, like: Parameter | None = None, **declared: Any) -> Any:
    """A field of a method: its default, if it has one, and what a `Parameter` declares.

    What several methods declare alike is a `Parameter` of its own, given as `like`.
    """
    shared = _UNDECLARED if like is None else like
    return field(default=default, metadata={"parameter": replace(shared, **declared)})


class Method:
    """A name with parameters; the base of a frozen dataclass whose fields are its parameters."""

    __slots__ = ()
    method_name: ClassVar[str]
    """What it is called in files, on the command line and in reports."""

    def __post_init__(self) -> None:
        for each in parameters(type(self)):
            value = checked(self.method_name, each, getattr(self, each.name))
            object.__setattr__(self, each.name, value)
        self.check()

    def check(self) -> None:
        """Refuse parameters that do not go together; each by itself has been checked."""

    def as_dict(self) -> dict[str, Any]:
        """The name and the parameters as plain values, defaults left out."""
        values: dict[str, Any] = {"method": self.method_name}
        for each in parameters(type(self)):
            value = getattr(self, each.name)
            if each.is_required or value != each.default:
                values[each.name] = plain(value)
        return values


Some = TypeVar("Some")
Known = TypeVar("Known", bound=Method)


def parameters(method: type[Any]) -> tuple[Parameter, ...]:
    """The declared parameters of a method, in the order of its class."""
    found: tuple[Parameter, ...] = _parameters(method)  # type: ignore[arg-type]  # a class hashes
    return found


@cache
def _parameters(method: Any) -> tuple[Parameter, ...]:
    hints = get_type_hints(method)
    found = []
    for each in fields(method):
        if not each.init:  # what the method finds out itself
            continue
        declared: Parameter = each.metadata.get("parameter", _UNDECLARED)
        kind, choices, is_optional = _of_type(hints[each.name])
        default = None if each.default is MISSING else each.default
        if each.default_factory is not MISSING:
            default = each.default_factory()
        found.append(
            Parameter(
                name=each.name,
                kind=declared.kind if declared.kind != "toml" or declared.check else kind,
                least=declared.least,
                most=declared.most,
                above=declared.above,
                below=declared.below,
                choices=declared.choices or choices,
                default=default,
                is_required=each.default is MISSING and each.default_factory is MISSING,
                is_optional=is_optional,
                start=declared.start,
                is_main=declared.is_main,
                is_asked=declared.is_asked,
                example=declared.example,
                unit=declared.unit,
                check=declared.check,
                allowed=declared.allowed,
            )
        )
    return tuple(found)


def _of_type(hint: Any) -> tuple[Kind, tuple[str, ...], bool]:
    """How a parameter of a type is asked for, the words it may be, and whether it may be None."""
    is_optional = False
    if get_origin(hint) in (Union, UnionType):
        rest = [each for each in get_args(hint) if each is not NoneType]
        is_optional = len(rest) < len(get_args(hint))
        hint = rest[0] if len(rest) == 1 else Any
    if get_origin(hint) is Literal:
        return "choice", tuple(get_args(hint)), is_optional
    return _BY_TYPE.get(hint, "toml"), (), is_optional


def checked(method: str, declared: Parameter, value: Any) -> Any:
    """A value as the method keeps it.

    Raises:
        InputError: CEL-I060 the parameter may not have this value.
    """
    if value is None and declared.is_optional:
        return None
    found = _converted(declared, value)
    if found is None or not _is_within(declared, found):
        raise bad_parameter(method, declared, value)
    return found


def _converted(declared: Parameter, value: Any) -> Any:
    """A value as its kind; None where it is of no such kind."""
    if declared.check is not None:
        try:
            return declared.check(value)
        except (AttributeError, TypeError, ValueError):
            return None
    convert = _CONVERSIONS.get(declared.kind)
    if convert is not None:
        return convert(value)
    if declared.kind == "choice":
        return value if isinstance(value, str) and value in declared.choices else None
    return value


def _finite(value: Any) -> float | None:
    number = real(value)
    return number if number is not None and isfinite(number) else None


def _flag(value: Any) -> bool | None:
    """NumPy's truth values too; nothing that merely counts as one of them."""
    return bool(value) if type(value).__name__ in ("bool", "bool_") else None


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


_CONVERSIONS: dict[Kind, Checker] = {
    "whole": whole,
    "number": _finite,
    "exact": exact,
    "flag": _flag,
    "text": _text,
    "column": _text,
}


def _is_within(declared: Parameter, value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float | Fraction):
        return True
    bounds: Sequence[Any] = (declared.least, declared.most, declared.above, declared.below)
    if isinstance(value, Fraction):
        bounds = [_meant(bound) for bound in bounds]
    least, most, above, below = bounds
    return not (
        (least is not None and value < least)
        or (most is not None and value > most)
        or (above is not None and value <= above)
        or (below is not None and value >= below)
    )


@cache
def _meant(bound: float | None) -> Fraction | None:
    """A bound as the decimal that it is written as, which its float may be a little beside."""
    return exact(bound)


def bad_parameter(method: str, declared: Parameter, value: Any) -> InputError:
    """The error for a parameter that may not have its value.

    Only numbers are told again: a text or a list may hold values of the data.
    """
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    received = Message("words.received", value=value) if is_number else ""
    words = [value] if isinstance(value, str) else value if isinstance(value, list | tuple) else []
    if declared.kind in ("choice", "several"):
        unknown = (each for each in words if isinstance(each, str) and each not in declared.choices)
        received = did_you_mean(next(unknown, ""), declared.choices) or received
    advice = declared.advice
    return InputError(
        "CEL-I060" if advice is None else "CEL-I060.advised",
        method=method,
        parameter=declared.name,
        allowed=allowed(declared),
        received=received,
        help=help_of(method, declared.name),
        advice=str(advice),  # to be typed, so not in the numbers of a language
    )


def allowed(declared: Parameter) -> str:
    """What a parameter may be, in words: 'a whole number of at least 2'.

    >>> allowed(Parameter(kind="number", above=0, most=1))
    'a number above 0 and at most 1'
    """
    if declared.allowed:
        # Such a message may name the words or the bounds that are declared.
        return Message(
            declared.allowed,
            words=list(declared.choices),
            least=declared.least,
            most=declared.most,
        )
    if declared.kind == "choice":
        return Message("words.one_of", words=list(declared.choices))
    if declared.kind == "several":
        return Message("words.some_of", words=list(declared.choices))
    noun = Message(f"words.kind_{declared.kind}")
    bounds = {
        name: value
        for name in ("least", "above", "most", "below")
        if (value := getattr(declared, name)) is not None
    }
    return (
        Message(f"words.{'_'.join(['bounds', *bounds])}", noun=noun, **bounds) if bounds else noun
    )


def help_of(method: str, name: str) -> str:
    """What a parameter of a method is, in one line; shared by methods that do not say their own."""
    known = read_family("methods")
    if name in known.get(method, {}):
        return Message(f"methods.{method}.{name}")
    return Message(f"methods.any.{name}") if name in known.get("any", {}) else ""


def check_list(value: Any) -> tuple[Any, ...]:
    """A list as a tuple, for checks of parameters; a text is no list, though it has a length."""
    if isinstance(value, str | bytes) or not isinstance(value, Sequence):
        raise ValueError
    return tuple(value)


def method_from_dict(
    known: Mapping[str, type[Some]], description: object, *, what: str = "method"
) -> Some:
    """The method that an `as_dict()` describes.

    Args:
        known: the classes by name.
        description: the name under `method`, and the parameters.
        what: the noun of such a method, for messages: a key of `words`.

    Raises:
        InputError: CEL-I061 no such method; CEL-I062 a parameter that it does not have; CEL-I063
            one that it needs is not given; CEL-I060 a parameter may not have its value.
    """
    if not isinstance(description, Mapping) or not isinstance(description.get("method"), str):
        raise InputError("CEL-I061.no_name", what=Message(f"words.{what}"), known=list(known))
    given = {key: value for key, value in description.items() if key != "method"}
    return build(known, description["method"], given, what=what)


def by_name(*methods: type[Known]) -> dict[str, type[Known]]:
    """Methods by their names, as registries hold them."""
    return {each.method_name: each for each in methods}


def build(
    known: Mapping[str, type[Some]],
    name: Any,
    given: Mapping[str, Any],
    *,
    what: str = "method",
) -> Some:
    """One of the known methods with its parameters; see `method_from_dict`."""
    if not isinstance(name, str) or name not in known:
        raise unknown_method(known, name, what)
    kind = known[name]
    declared = {each.name: each for each in parameters(kind)}
    for key in given:
        if key not in declared:
            hint = did_you_mean(key, declared)
            key_of = "CEL-I062" if declared else "CEL-I062.none"
            raise InputError(key_of, method=name, parameter=key, hint=hint, known=list(declared))
    for key, each in declared.items():
        if each.is_required and key not in given:
            raise InputError("CEL-I063", method=name, parameter=key)
    return kind(**{key: _read(declared[key], value) for key, value in given.items()})


_FRACTION = re.compile(r"-?[0-9]{1,40}(/[0-9]{1,40})?|-?[0-9]{0,20}\.[0-9]{1,40}")


def _read(declared: Parameter, value: Any) -> Any:
    """A value of a file; exact numbers that no decimal can tell are texts there ("1/3")."""
    is_fraction = declared.kind == "exact" and isinstance(value, str)
    if not is_fraction or not _FRACTION.fullmatch(value):
        return value
    try:
        return Fraction(value)
    except ZeroDivisionError:
        return value


def unknown_method(known: Mapping[str, Any], name: Any, what: str = "method") -> InputError:
    """The error for a name that no method has."""
    hint = did_you_mean(str(name), known)
    return InputError(
        "CEL-I061", what=Message(f"words.{what}"), name=str(name), hint=hint, known=list(known)
    )


Getter = TypeVar("Getter", bound=Callable[..., object])


def derived(getter: Getter) -> Getter:
    """Below `@property`: the property is told too, after the fields of `PlainValues`."""
    getter.__dict__["is_derived"] = True
    return getter


class PlainValues:
    """A dataclass that can be told as plain values: numbers, texts, lists and dictionaries.

    What `repr` leaves out, such as arrays and cells, is left out here too.

    >>> from dataclasses import dataclass, field
    >>> @dataclass(frozen=True, slots=True)
    ... class Share(PlainValues):
    ...     found: tuple[int, ...]
    ...     of: int
    ...     secret: str = field(repr=False)
    ...     @property
    ...     @derived
    ...     def share(self) -> float:
    ...         return len(self.found) / self.of
    >>> Share((3, 5), 8, "x").as_dict()
    {'found': [3, 5], 'of': 8, 'share': 0.25}
    """

    __slots__ = ()

    def as_dict(self) -> dict[str, Any]:
        kind: Any = type(self)
        names = [*(each.name for each in fields(kind) if each.repr), *_derived(kind)]
        return {name: plain(getattr(self, name)) for name in names}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """The inverse of `as_dict`, for values that a file held: each is read as its field says.

        Raises:
            TypeError, ValueError: these are not values of this class.
        """
        this: Any = cls
        hints, further = _hints(this), _derived(this)
        given = {name: each for name, each in values.items() if name not in further}
        return cls(**{name: _restored(hints.get(name, Any), each) for name, each in given.items()})


@cache
def _derived(kind: type[PlainValues]) -> tuple[str, ...]:
    """The properties that are told; those that it inherits come first."""
    listed = {name: each for base in reversed(kind.__mro__) for name, each in vars(base).items()}
    return tuple(
        name
        for name, each in listed.items()
        if isinstance(each, property | cached_property) and _is_derived(each)
    )


def _is_derived(each: property | cached_property[Any]) -> bool:
    getter = each.fget if isinstance(each, property) else each.func
    return bool(getattr(getter, "is_derived", False))


@cache
def _hints(kind: type[PlainValues]) -> dict[str, Any]:
    return get_type_hints(kind)


_SCALARS: dict[type, Any] = {bool: bool, int: int, float: (int, float), str: str}


def _restored(hint: Any, value: Any) -> Any:
    """A plain value as its type: lists become tuples, the texts that JSON makes of keys numbers."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        if value is None and NoneType in inner:
            return None
        rest = [each for each in inner if each is not NoneType]
        return _restored(rest[0], value) if len(rest) == 1 else value
    if isinstance(hint, type) and issubclass(hint, PlainValues):
        return hint.from_dict(value)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        keys, values = inner
        read = int if keys is int else str
        return {read(key): _restored(values, each) for key, each in value.items()}
    if isinstance(origin, type) and issubclass(origin, Sequence):
        if not isinstance(value, list | tuple):
            raise TypeError("a list was expected")
        return tuple(_restored(inner[0], each) for each in value)
    if isinstance(hint, type) and hint in _SCALARS:
        is_flag = isinstance(value, bool)
        if not isinstance(value, _SCALARS[hint]) or is_flag is not (hint is bool):
            raise TypeError(f"{hint.__name__} was expected")
    return value


def plain(value: Any) -> Any:
    """A parameter or a result as JSON and TOML can write it."""
    if isinstance(value, Method | PlainValues):
        return value.as_dict()
    if isinstance(value, Fraction):
        near = int(value) if value.denominator == 1 else float(value)
        return near if exact(near) == value else str(value)
    if isinstance(value, Mapping):
        return {key: plain(each) for key, each in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [plain(each) for each in value]
    return value
