"""Reads JSON into models and sends models as JSON, losing nothing on the way.

Promises: what a class does not know comes back as it came, at every depth; `null` and
"not there" read as empty; only what is set is sent; an error names the path of the value
it is about and never shows the value of a Secret. Any thread may read and send.
How: msgspec reads strictly, which is the fast way. Where it refuses, the text is read
again as plain data, unknown keys and nulls are set aside, and the keys are then put into
the structs they belong to. Objects that hold nothing unknown never pay for it.
Elsewhere: what a field is (`plan`), text formats (`yaml`).
"""

from __future__ import annotations

import base64
import enum
import functools
import re
import threading
from collections.abc import Callable, Hashable, Mapping
from datetime import datetime
from typing import Any, TypeVar, cast

import msgspec

from .errors import DecodeError, InvalidValue
from .model import (
    IMPLIED,
    UNSET,
    Extra,
    ImpliedList,
    ImpliedMap,
    Kind,
    Model,
    api_version_of,
    kind_of,
    zero_of,
)
from .plan import ListOf, MapOf, Node, Object, Value, node_for, plan_of
from .quantity import Quantity, decode_quantity
from .times import Duration, MicroTime, format_micro_time, format_time, parse_micro_time

__all__ = [
    "decode",
    "from_builtins",
    "from_json",
    "from_yaml",
    "hook",
    "to_builtins",
    "to_json",
    "to_yaml",
]

T = TypeVar("T")
M = TypeVar("M", bound=Model)

# --- reading


def decode(type_: type[T], text: bytes | str | msgspec.Raw) -> T:
    """Read JSON text as any type: a model, a view (a plain struct), a list of either.

    Raises:
        DecodeError: not JSON, or not of this type; names the path of the offending value.
    """
    try:
        value: T = _decoder(cast("Hashable", type_)).decode(text)
    except msgspec.ValidationError as error:
        value = _read_with_care(type_, text, error)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
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
    except (TypeError, ValueError, RecursionError) as error:
        raise DecodeError(f"cannot read a {cls.__name__} from this data: {error}") from error
    return from_json(cls, text)


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
        raise InvalidValue(
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
        child = getattr(value, place) if isinstance(value, Model) else value[place]
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
        case Object() if isinstance(data, dict):
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


# --- sending


def to_builtins(model: Model) -> dict[str, Any]:
    """What would be sent, as plain data of the caller's own.

    Raises:
        InvalidValue: a field holds something that JSON cannot say; its path is named.
    """
    try:
        fields = _object(model)
    except _Unsendable as error:
        raise InvalidValue(f"cannot send {type(model).__name__}.{error.path}: {error}") from error
    except RecursionError as error:
        raise InvalidValue(f"cannot send {type(model).__name__}: nested too deeply") from error
    if not isinstance(model, Kind):
        return fields
    said = {"apiVersion": model.api_version, "kind": model.kind}
    return {key: value for key, value in said.items() if value} | fields


def to_json(model: Model) -> bytes:
    """What would be sent, as JSON text."""
    return msgspec.json.encode(to_builtins(model))


def to_yaml(model: Model) -> str:
    """What would be sent, as one YAML document."""
    from .yaml import dump_document

    return dump_document(to_builtins(model))


class _Unsendable(Exception):
    """Carries the path while it grows outwards, from the value to the root."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.path = ""

    def at(self, step: str) -> _Unsendable:
        self.path = f"{step}.{self.path}" if self.path and self.path[0] != "[" else step + self.path
        return self


def _object(model: Model) -> dict[str, Any]:
    sent: dict[str, Any] = {}
    for wire, read, send in _senders(type(model)):
        value = read(model)
        if value is UNSET or value is None:
            continue
        if send is not None:
            try:
                value = send(value)
            except _Unsendable as error:
                raise error.at(wire) from None
            if value is UNSET:
                continue
        sent[wire] = value
    extra = model._extra
    if extra is not UNSET and extra is not IMPLIED:
        sent |= {key: _plain(value) for key, value in extra.items()}
    return sent


_Sender = Callable[[Any], Any]


@functools.cache
def _senders(cls: type[Model]) -> tuple[tuple[str, Callable[[Model], Any], _Sender | None], ...]:
    return tuple((field.wire, field.read, _sender(field.node)) for field in plan_of(cls).values())


def _sender(node: Node) -> _Sender | None:
    """How a value is sent; None where it goes out as it is."""
    match node:
        case Object():
            return _send_object
        case ListOf():
            return functools.partial(_send_list, _sender(node.item))
        case MapOf():
            return functools.partial(_send_map, _sender(node.value))
        case Value():
            return _SCALARS.get(node.hint, _plain)


def _send_object(value: Any) -> Any:
    if not isinstance(value, Model):
        return _plain(value)  # a plain dict in the place of a model is as good
    sent = _object(value)
    return UNSET if not sent and value._extra is IMPLIED else sent


def _send_list(send: _Sender | None, value: Any) -> Any:
    if not isinstance(value, list | tuple):
        raise _Unsendable(f"expected a list, found {type(value).__name__}")
    if not value and type(value) is ImpliedList:
        return UNSET
    return [_element(f"[{index}]", send, item) for index, item in enumerate(value)]


def _send_map(send: _Sender | None, value: Any) -> Any:
    if not isinstance(value, Mapping):
        raise _Unsendable(f"expected a map, found {type(value).__name__}")
    if not value and type(value) is ImpliedMap:
        return UNSET
    return {str(key): _element(f"[{key}]", send, item) for key, item in value.items()}


def _element(step: str, send: _Sender | None, value: Any) -> Any:
    try:
        sent = send(value) if send else _plain(value)
    except _Unsendable as error:
        raise error.at(step) from None
    return {} if sent is UNSET else sent


def _plain(value: Any) -> Any:
    """Free-form data, copied; models and scalars of ours inside it are sent as such."""
    match value:
        case None | str() | bool() | int() | float() if type(value) in _JSON_SCALARS:
            return value
        case Model():
            return _object(value)
        case Mapping():
            return {str(key): _element(f"[{key}]", None, item) for key, item in value.items()}
        case list() | tuple():
            return [_element(f"[{index}]", None, item) for index, item in enumerate(value)]
        case enum.Enum():
            return _plain(value.value)
    send = _SCALARS.get(type(value))
    if send is not None:
        return send(value)
    try:
        return msgspec.to_builtins(value)  # a struct or dataclass of the user's
    except TypeError as error:
        raise _Unsendable(f"JSON cannot say a {type(value).__name__}") from error


def _send_time(value: Any) -> str:
    return value if isinstance(value, str) else _checked(format_time, value)


def _send_micro_time(value: Any) -> str:
    return value if isinstance(value, str) else _checked(format_micro_time, value)


def _send_quantity(value: Any) -> str:
    return _checked(lambda given: Quantity(given).text, value)


def _send_bytes(value: Any) -> str:
    if not isinstance(value, bytes | bytearray | memoryview):
        found = type(value).__name__
        raise _Unsendable(
            f"expected bytes, found {found} (encode it; a Secret takes text as string_data)"
        )
    return base64.b64encode(value).decode()


def _checked(send: Callable[[Any], str], value: Any) -> str:
    try:
        return send(value)
    except (InvalidValue, TypeError, AttributeError) as error:
        raise _Unsendable(str(error)) from error


_JSON_SCALARS = frozenset({type(None), str, bool, int, float})
_SCALARS: dict[Any, _Sender | None] = {
    str: None,
    bool: None,
    int: None,
    float: None,
    datetime: _send_time,
    MicroTime: _send_micro_time,
    Quantity: _send_quantity,
    Duration: str,
    bytes: _send_bytes,
}
