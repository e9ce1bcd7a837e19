"""What data that were read from JSON have to look like, told by an example of types.

A schema is one of

    int, str, bool      a value of exactly this type
    float               a finite number with a decimal point or an exponent, as Python writes them
    range(a, b)         a whole number from a to b - 1
    None                null
    [schema]            a list of any length
    (schema, ...)       a list of this length
    {"key": schema}     an object with exactly these keys
    {schema: schema}    an object with any keys of this kind
    frozenset({...})    any of these
    a function          whatever it returns True for
"""

from __future__ import annotations

import json
import math
import types
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints


def load(raw: bytes) -> Any:
    """Data from JSON; raises `ValueError`, also for numbers that are none, and where it is nested too deeply."""
    try:
        return json.loads(raw, parse_constant=_refuse)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no number")


def of(hint: Any) -> Any:
    """The schema of a type: a `NamedTuple` is an object, what is `Annotated` has the schema that stands there."""
    if get_origin(hint) is Annotated:
        return hint.__metadata__[0]
    if hasattr(hint, "_fields"):
        return {name: of(one) for name, one in get_type_hints(hint, include_extras=True).items()}
    kind, inner = get_origin(hint), list(map(of, get_args(hint)))
    if kind in (list, tuple):
        return kind(inner)
    if kind is dict:
        return dict([inner])
    if kind in (Union, types.UnionType):
        return frozenset(inner)
    return {str: text, types.NoneType: None}.get(hint, hint)


def misfit(value: Any, schema: Any, where: str) -> str:
    """Where in a value something does not fit a schema, beginning with the name of the value; "" if all fits."""
    if isinstance(schema, list | tuple):
        if type(value) is not list or (isinstance(schema, tuple) and len(value) != len(schema)):
            return where
        kinds = schema if isinstance(schema, tuple) else schema * len(value)
        return _first(misfit(one, kind, f"{where}[{at}]") for at, (one, kind) in enumerate(zip(value, kinds)))
    if isinstance(schema, dict):
        return _misfit_of_object(value, schema, where)
    if isinstance(schema, frozenset):
        return "" if any(fits(value, kind) for kind in schema) else where
    return "" if _fits_one(value, schema) else where


def fits(value: Any, schema: Any) -> bool:
    """Whether a value fits a schema."""
    return not misfit(value, schema, "it")


def _misfit_of_object(value: Any, schema: dict[Any, Any], where: str) -> str:
    if type(value) is not dict:
        return where
    if all(type(key) is str for key in schema):
        if value.keys() != schema.keys():
            return where
        return _first(misfit(value[key], kind, f"{where}.{key}") for key, kind in schema.items())
    ((of_key, kind),) = schema.items()
    return _first(misfit(key, of_key, where) or misfit(one, kind, f"{where}.{key[:40]}") for key, one in value.items())


def _first(found: Any) -> str:
    return next(filter(None, found), "")


def _fits_one(value: Any, schema: Any) -> bool:
    if schema is None:
        return value is None
    if schema is float:
        return type(value) is float and math.isfinite(value)
    if isinstance(schema, type):
        return type(value) is schema
    if isinstance(schema, range):
        return type(value) is int and value in schema
    return bool(schema(value))


def text(value: Any) -> bool:
    """The schema of a name that Blender can have: short, and valid Unicode."""
    if type(value) is not str or len(value) > 1024 or "\0" in value:
        return False
    return not any("\ud800" <= character <= "\udfff" for character in value)
