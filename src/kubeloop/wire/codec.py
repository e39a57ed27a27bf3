"""Reads JSON into models, losing nothing on the way.

Guarantees: what a class does not know is kept as it came, at every depth; `null` and "not
there" read as empty; an error names the path of the value it is about and never shows the
value of a Secret. Any thread may read.
How: msgspec reads strictly, which is the fast way. Where it refuses, the text is read
again as plain data, unknown keys and nulls are set aside, and the keys are then put into
the structs they belong to. Objects that hold nothing unknown never pay for it.
See also: the way back (`sending`), what a field is (`plan`), text formats (`yaml`).
"""

from __future__ import annotations

import functools
import math
import re
import threading
from collections.abc import Hashable, Mapping
from typing import Any, TypeVar, cast

import msgspec

from .errors import DecodeError, InvalidArgument
from .model import UNSET, Extra, Kind, Model, api_version_of, kind_of, zero_of
from .plan import ListOf, MapOf, Node, Object, Value, View, node_for, plan_of
from .quantity import Quantity, decode_quantity
from .times import Duration, MicroTime, parse_micro_time

__all__ = ["decode", "from_builtins", "from_json", "from_yaml", "hook"]

T = TypeVar("T")
M = TypeVar("M", bound=Model)


def decode(type_: type[T], text: bytes | str | msgspec.Raw) -> T:
    """Read JSON text as any type: a model, a view (a plain struct), a list of either.

    Raises:
        DecodeError: not JSON, or not of this type; names the path of the offending value.
    """
    try:
        value: T = _decoder(cast("Hashable", type_)).decode(text)
    except msgspec.ValidationError as error:
        value = _read_with_care(type_, text, error)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise _not_json(error) from error
    if isinstance(value, Kind):
        _check_kind(value)
    return value


def from_json(cls: type[M], text: bytes | str) -> M:
    """Read JSON text into a model."""
    return decode(cls, text)


def from_builtins(cls: type[M], data: Mapping[str, Any]) -> M:
    """Read plain data into a model that shares nothing with it."""
    try:
        text = msgspec.json.encode(data)
        if b"null" in text:  # which is also how msgspec writes NaN and infinity
            _refuse_nonfinite(data)
    except (TypeError, ValueError, RecursionError) as error:
        raise DecodeError(f"cannot read a {cls.__name__} from this data: {error}") from error
    return from_json(cls, text)


def _refuse_nonfinite(data: Any) -> None:
    match data:
        case float() if not math.isfinite(data):
            raise ValueError(f"JSON has no number {data}")
        case Mapping():
            for item in data.values():
                _refuse_nonfinite(item)
        case list() | tuple():
            for item in data:
                _refuse_nonfinite(item)


def from_yaml(cls: type[M], text: bytes | str) -> M:
    """Read one YAML document into a model."""
    from .yaml import load_document  # PyYAML costs more to import than everything else here

    return from_builtins(cls, load_document(text))


def hook(type_: type, value: Any) -> Any:
    """Reads the scalars that msgspec has never heard of."""
    if value is None:
        raise TypeError("nothing is there")  # null is "not set", which reading with care knows
    if type_ is Quantity:
        return decode_quantity(value)
    if type_ is MicroTime:
        return parse_micro_time(value)
    if type_ is Duration:
        return Duration.parse(value)
    raise TypeError(f"nothing can be read as {type_.__name__}")


# msgspec keeps what it knows of a class on the class, and puts it there before it is whole:
# a decoder made of it meanwhile by another thread would crash the interpreter.
_one_at_a_time = threading.RLock()


@functools.cache
def _decoder(type_: Hashable) -> msgspec.json.Decoder[Any]:
    try:
        with _one_at_a_time:
            return msgspec.json.Decoder(type_, dec_hook=hook)
    except (NameError, TypeError) as error:
        name = getattr(type_, "__name__", str(type_))
        raise InvalidArgument(
            f"nothing can be read as {name}: {error} (classes that annotations name must be "
            "defined or imported at the top of a module)"
        ) from error


def _read_with_care(
    type_: Any, text: bytes | str | msgspec.Raw, refused: msgspec.ValidationError
) -> Any:
    """Read what strict decoding refused: unknown keys and nulls, or a real mistake."""
    try:
        data = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise _not_json(error) from error
    node = node_for(type_)
    try:
        tidy, extras = _tidied(node, data)
        value = msgspec.convert(tidy, type_, dec_hook=hook)
        _attach(value, extras)
    except msgspec.ValidationError as error:
        raise _mistake(node, tidy, type_, error) from refused
    except RecursionError as error:
        raise _not_json(error) from error
    return value


# The unknown keys below one place: its own, and those of its children by name or index.
_Extras = tuple[dict[str, Any] | None, dict[Any, Any]]


def _tidied(node: Node, data: Any) -> tuple[Any, _Extras | None]:
    """`data` without unknown keys and nulls, and the unknown keys by place."""
    match node:
        case Object() if isinstance(data, dict):
            return _tidied_object(node, data)
        case View() if isinstance(data, dict):
            return _tidied_view(node, data)
        case MapOf() if isinstance(data, dict):
            pairs = {key: _tidied(node.value, _filled(node.value, v)) for key, v in data.items()}
            below = {key: extras for key, (_, extras) in pairs.items() if extras}
            return {key: tidy for key, (tidy, _) in pairs.items()}, (None, below)
        case ListOf() if isinstance(data, list):
            items = [_tidied(node.item, _filled(node.item, item)) for item in data]
            below = {index: extras for index, (_, extras) in enumerate(items) if extras}
            return [tidy for tidy, _ in items], (None, below)
        case Value(hint=hint) if hint is bytes and isinstance(data, str):
            return data.translate(_LINE_ENDS), None
    return data, None


# Base64 in a manifest may be folded, and Go reads it so.
_LINE_ENDS = {ord("\r"): None, ord("\n"): None}


def _tidied_object(node: Object, data: dict[str, Any]) -> tuple[Any, _Extras | None]:
    plan = plan_of(node.hint)
    tidy, unknown, below = {}, {}, {}
    for key, value in data.items():
        field = plan.get(key)
        if field is None:
            unknown[key] = value
        elif value is not None or field.node.optional:
            tidy[key], extras = _tidied(field.node, value)
            if extras:
                below[field.name] = extras
    return tidy, (unknown or None, below)


def _tidied_view(node: View, data: dict[str, Any]) -> tuple[Any, _Extras | None]:
    """A view's own keys stay as they are; only the models in it are tidied."""
    tidy, below = dict(data), {}
    for key, field in plan_of(node.hint).items():
        if key in data:
            tidy[key], extras = _tidied(field.node, data[key])
            if extras:
                below[field.name] = extras
    return tidy, (None, below)


def _filled(node: Node, value: Any) -> Any:
    """An element: null stands for the empty value of its type, as it does in Go."""
    if value is not None or node.optional:
        return value
    match node:
        case Object() | MapOf():
            return {}
        case ListOf():
            return []
        case Value():
            return _ZEROS.get(node.hint, zero_of(node.hint))


# The empty values whose text on the wire is not what Python would write.
_ZEROS: dict[Any, str] = {bytes: "", Quantity: "0", Duration: "0s"}


def _attach(value: Any, extras: _Extras | None) -> None:
    if extras is None:
        return
    unknown, below = extras
    if unknown:
        value._extra = Extra(unknown)
    for place, further in below.items():
        child = getattr(value, place) if isinstance(value, msgspec.Struct) else value[place]
        _attach(child, further)


def _check_kind(model: Kind) -> None:
    cls = type(model)
    for path, found, expected in (
        ("apiVersion", model.api_version, api_version_of(cls)),
        ("kind", model.kind, kind_of(cls)),
    ):
        if expected and found != expected:
            raise DecodeError(
                f"expected {expected} for a {cls.__name__}, found {found!r} "
                "(decode it as the class of that kind)",
                path=path,
            )
    # They say what the class says: one text for all objects instead of two for each.
    if expected:
        model.api_version = model.kind = UNSET


# --- errors about what was read


def _not_json(error: Exception) -> DecodeError:
    if isinstance(error, RecursionError):
        return DecodeError("the JSON text is nested too deeply")
    return DecodeError(f"the text is not JSON: {error}")


_AT = re.compile(r" - at `(?:key in )?\$(.*)`$", re.DOTALL)


def _mistake(node: Node, data: Any, type_: Any, error: msgspec.ValidationError) -> DecodeError:
    """msgspec's complaint in our words, with the one place it is about."""
    path, found = _locate(node, data, "")
    text = _AT.sub("", str(found or error))
    at = _AT.search(str(found or error))
    where = path + (at[1] if at else "")
    name = getattr(type_, "__name__", str(type_))
    return DecodeError(f"cannot read {name}: {text}".replace("`", ""), path=where.lstrip("."))


def _locate(node: Node, data: Any, path: str) -> tuple[str, msgspec.ValidationError | None]:
    """The innermost place that cannot be read; msgspec does not name keys of maps."""
    for step, child, value in _children(node, data):
        try:
            msgspec.convert(value, child.hint, dec_hook=hook)
        except msgspec.ValidationError as error:
            deeper, cause = _locate(child, value, path + step)
            return deeper, cause or error
    return path, None


def _children(node: Node, data: Any) -> list[tuple[str, Node, Any]]:
    match node:
        case Object() | View() if isinstance(data, dict):
            plan = plan_of(node.hint)
            return [
                (f".{key}", plan[key].node, v)
                for key, v in data.items()
                if key in plan and v is not None
            ]
        case MapOf() if isinstance(data, dict):
            return [(f"[{key}]", node.value, v) for key, v in data.items()]
        case ListOf() if isinstance(data, list):
            return [(f"[{index}]", node.item, v) for index, v in enumerate(data)]
    return []
