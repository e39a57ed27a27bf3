"""Decodes JSON into models without loss.

Guarantees: unknown keys are kept unchanged at every depth; null and absent fields read as
empty; an error names the path of its value and never shows the value of a Secret. Thread-safe.
How: msgspec decodes strictly, which is the fast path. If it fails, the text is decoded again
as plain data, unknown keys and nulls are separated, and the keys are then attached to their
structs. Objects without unknown keys do not pay for it.
See also: encoding (`encoding`), the fields of a class (`plan`), YAML (`yaml`).
"""

from __future__ import annotations

import functools
import math
import re
import threading
from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

from ._generated.meta_v1 import ManagedFieldsEntry, ObjectMeta
from .errors import DecodeError, InvalidArgument
from .kinds import Resource
from .model import (
    UNSET,
    Extra,
    Kind,
    Model,
    api_version_of,
    api_version_slot,
    kind_of,
    kind_slot,
    resolve_annotations,
    slot_reader,
    zero_of,
)
from .plan import ListOf, MapOf, Node, Object, Value, View, node_for, plan_of
from .quantity import Quantity, cached_quantity, decode_quantity
from .times import Duration, MicroTime

__all__ = ["complete", "decode", "from_builtins", "from_json", "from_yaml", "hook"]

T = TypeVar("T")
M = TypeVar("M", bound=Model)


def decode(type_: type[T], text: bytes | str | msgspec.Raw) -> T:
    """Decode JSON text as any type: a model, a view (a plain struct), a list of either.

    Raises:
        DecodeError: not JSON, or not of this type; it has the path of the invalid value.
    """
    try:
        value: T = _decoder(type_).decode(text)  # type: ignore[arg-type] # hashable
    except msgspec.ValidationError as error:
        value = _decode_leniently(type_, text, error)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise _not_json(error) from error
    if isinstance(value, Kind):
        complete(value)
    return value


def from_json(cls: type[M], text: bytes | str) -> M:
    """Decode JSON text into a model."""
    return decode(cls, text)


def from_builtins(cls: type[M], data: Mapping[str, Any]) -> M:
    """Convert plain data into a model that shares nothing with it."""
    try:
        text = msgspec.json.encode(data)
        if b"null" in text:  # msgspec also encodes NaN and infinity as null
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
    """Decode one YAML document into a model."""
    from .yaml import load_document  # the import of PyYAML is slow

    return from_builtins(cls, load_document(text))


def hook(type_: type, value: Any) -> Any:
    """Decode the scalar types that msgspec does not know."""
    if type_ is Quantity and type(value) is str:  # a pod has many
        return cached_quantity(value)
    if value is None:
        raise TypeError("the value is null")  # `_decode_leniently` handles null
    if type_ is Quantity:
        return decode_quantity(value)
    if type_ is MicroTime:
        return MicroTime.parse(value)
    if type_ is Duration:
        return Duration.parse(value)
    raise TypeError(f"values cannot be decoded as {type_.__name__}")


# msgspec caches type information on the class before it is complete: a decoder that another
# thread creates at that time would crash the interpreter.
_decoder_lock = threading.RLock()


@functools.cache
def _decoder(type_: Any) -> msgspec.json.Decoder[Any]:
    try:
        with _decoder_lock:
            resolve_annotations(type_)
            return msgspec.json.Decoder(type_, dec_hook=hook)
    except (NameError, TypeError) as error:
        name = getattr(type_, "__name__", str(type_))
        raise InvalidArgument(
            f"values cannot be decoded as {name}: {error} (classes that annotations name must be "
            "defined or imported at the top of a module)"
        ) from error


def _decode_leniently(
    type_: Any, text: bytes | str | msgspec.Raw, refused: msgspec.ValidationError
) -> Any:
    """Decode text that strict decoding rejected: unknown keys and nulls, or a real error."""
    try:
        data = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise _not_json(error) from error
    node = node_for(type_)
    try:
        known, extras = _separate(node, data)
        value = msgspec.convert(known, type_, dec_hook=hook)
        _attach(value, extras)
    except msgspec.ValidationError as error:
        raise _decode_error(node, known, type_, error) from refused
    except RecursionError as error:
        raise _not_json(error) from error
    return value


# The unknown keys of a value, and those of its children by name or index.
_Extras = tuple[dict[str, Any] | None, dict[Any, Any]]


def _separate(node: Node, data: Any) -> tuple[Any, _Extras | None]:
    """Separate `data` into known data without nulls, and the unknown keys."""
    match node:
        case Object() if isinstance(data, dict):
            return _separate_object(node, data)
        case View() if isinstance(data, dict):
            return _separate_view(node, data)
        case MapOf() if node.hint is msgspec.Raw:
            return msgspec.Raw(msgspec.json.encode(data)), None
        case MapOf() if isinstance(data, dict):
            pairs = {key: _separate(node.value, _or_zero(node.value, v)) for key, v in data.items()}
            below = {key: extras for key, (_, extras) in pairs.items() if extras}
            return {key: known for key, (known, _) in pairs.items()}, (None, below)
        case ListOf() if isinstance(data, list):
            items = [_separate(node.item, _or_zero(node.item, item)) for item in data]
            below = {index: extras for index, (_, extras) in enumerate(items) if extras}
            return [known for known, _ in items], (None, below)
        case Value(hint=hint) if hint is bytes and isinstance(data, str):
            return data.translate(_LINE_BREAKS), None
    return data, None


# Go ignores line breaks in base64, and manifests have them.
_LINE_BREAKS = {ord("\r"): None, ord("\n"): None}


def _separate_object(node: Object, data: dict[str, Any]) -> tuple[Any, _Extras | None]:
    plan = plan_of(node.hint)
    known, unknown, below = {}, {}, {}
    for key, value in data.items():
        field = plan.get(key)
        if field is None:
            unknown[key] = value
        elif value is not None or field.node.optional:
            known[key], extras = _separate(field.node, value)
            if extras:
                below[field.name] = extras
    return known, (unknown or None, below)


def _separate_view(node: View, data: dict[str, Any]) -> tuple[Any, _Extras | None]:
    """The keys of a view are unchanged; only the models in it are separated."""
    known, below = dict(data), {}
    for key, field in plan_of(node.hint).items():
        if key in data:
            known[key], extras = _separate(field.node, data[key])
            if extras:
                below[field.name] = extras
    return known, (None, below)


def _or_zero(node: Node, value: Any) -> Any:
    """An element, or the zero value of its type for null, as in Go."""
    if value is not None or node.optional:
        return value
    match node:
        case Object() | MapOf():
            return {}
        case ListOf():
            return []
        case Value():
            return _ZEROS.get(node.hint, zero_of(node.hint))


# The zero values of types that are text in JSON.
_ZEROS: dict[Any, str] = {bytes: "", Quantity: "0", Duration: "0s"}


def _attach(value: Any, extras: _Extras | None) -> None:
    if extras is None:
        return
    unknown, below = extras
    if unknown:
        value._extra = Extra(unknown)
    for step, inner in below.items():
        child = getattr(value, step) if isinstance(value, msgspec.Struct) else value[step]
        _attach(child, inner)


_metadata_slot = slot_reader(Resource, "metadata")
_managed_fields_slot = slot_reader(ObjectMeta, "managed_fields")
_fields_slot = slot_reader(ManagedFieldsEntry, "fields_v1")


def complete(model: Kind) -> None:
    """Check the kind of a decoded object, and let it own all its parts."""
    found_version, found_kind = api_version_slot(model), kind_slot(model)
    if found_kind is not UNSET or found_version is not UNSET:  # items of lists have neither
        expected = kind_of(type(model))
        if found_kind != expected or found_version != api_version_of(type(model)):
            _check_kind(model)
        if expected:
            # The class has the same values; this saves two strings for each object.
            model.api_version = model.kind = UNSET
    if isinstance(model, Resource):
        metadata = _metadata_slot(model)
        entries = UNSET if metadata is UNSET else _managed_fields_slot(metadata)
        if entries is not UNSET:
            for entry in entries:
                text = _fields_slot(entry)
                if type(text) is msgspec.Raw:
                    entry.fields_v1 = text.copy()  # else it would keep the whole text in memory


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


# --- errors


def _not_json(error: Exception) -> DecodeError:
    if isinstance(error, RecursionError):
        return DecodeError("the JSON text is nested too deeply")
    return DecodeError(f"the text is not JSON: {error}")


_AT = re.compile(r" - at `(?:key in )?\$(.*)`$", re.DOTALL)


def _decode_error(node: Node, data: Any, type_: Any, error: msgspec.ValidationError) -> DecodeError:
    """msgspec's error as a `DecodeError` with the path of the invalid value."""
    path, found = _locate(node, data, "")
    text = _AT.sub("", str(found or error))
    at = _AT.search(str(found or error))
    where = path + (at[1] if at else "")
    name = getattr(type_, "__name__", str(type_))
    return DecodeError(f"cannot read {name}: {text}".replace("`", ""), path=where.lstrip("."))


def _locate(node: Node, data: Any, path: str) -> tuple[str, msgspec.ValidationError | None]:
    """The path of the innermost invalid value; msgspec does not name keys of maps."""
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
