"""How objects are decoded and encoded: as instances of a class, or as dicts; and patches.

Guarantees: fields that a class does not know survive decoding and encoding; a codec requests
a representation that it can decode.
See also: `kubeloop.wire` (models), `metadata` (metadata-only objects).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Generic, Literal, Protocol, TypeVar, cast, final

from kubeloop.errors import DecodeError, InvalidArgument
from kubeloop.rest import (
    APPLY_PATCH,
    JSON_PATCH,
    MERGE_PATCH,
    STRATEGIC_MERGE_PATCH,
    JsonCodec,
    Response,
)
from kubeloop.wire import (
    Kind,
    Model,
    Raw,
    RawList,
    ResourceInfo,
    TypeFacts,
    decode,
    facts_of,
    resource_of,
    to_builtins,
    to_data,
)
from kubeloop.wire.protobuf_messages import MAGIC, PROTOBUF

__all__ = [
    "ACCEPT_PROTOBUF",
    "DEFAULT_MANAGER",
    "NO_PROTOBUF",
    "DictCodec",
    "ObjectCodec",
    "ObjectReader",
    "PatchBody",
    "PatchType",
    "TypedCodec",
    "ViewReader",
    "body_of",
    "check_appliable",
    "check_object",
    "condition_update",
    "decode_protobuf",
    "is_protobuf",
    "patch_text",
    "patch_type_of",
]

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

PatchType = Literal["merge", "strategic", "json", "apply"]
PatchBody = Mapping[str, Any] | Sequence[Mapping[str, Any]] | Model | bytes | str

DEFAULT_MANAGER = "kubeloop"
"""The field manager of an apply that does not set one."""

_CONTENT_TYPES: dict[PatchType, str] = {
    "merge": MERGE_PATCH,
    "strategic": STRATEGIC_MERGE_PATCH,
    "json": JSON_PATCH,
    "apply": APPLY_PATCH,
}

_ESCAPED_BY_GO = tuple(
    (character.encode(), f"\\u{ord(character):04x}".encode()) for character in "<>&\u2028\u2029"
)


class ObjectReader(Protocol[T_co]):
    """How objects are requested and decoded."""

    @property
    def accept_one(self) -> str:
        """The `Accept` header for one object; empty for the client's default."""
        ...

    @property
    def accept_many(self) -> str:
        """The `Accept` header for a list."""
        ...

    @property
    def protobuf(self) -> tuple[str, str]:
        """The `Accept` headers for one object and for a list as protobuf; empty if the kind has
        none, or the extra is not installed."""
        ...

    @property
    def resource(self) -> ResourceInfo | None:
        """The resource that a list must be of, if the reader is for one kind."""
        ...

    def decode(self, response: Response) -> T_co: ...
    def decode_item(self, item: Raw | bytes, of: RawList | None) -> T_co:
        """An item of the list `of`, or the object of a watch event."""
        ...


class ObjectCodec(ObjectReader[T], Protocol[T]):
    """How the objects of a client are decoded and encoded."""

    @property
    def object_type(self) -> type[T]: ...

    @property
    def facts(self) -> TypeFacts | None:
        """The rules of strategic merge patches: only for built-in kinds, as on the server."""
        ...

    @property
    def rules(self) -> TypeFacts | None:
        """Which fields and list elements can be changed independently, if the class has it."""
        ...

    def to_dict(self, obj: T) -> dict[str, Any]:
        """The data that would be sent as plain JSON; a copy."""
        ...

    def to_data(self, obj: T) -> dict[str, Any]:
        """As `to_dict`, for a body that is encoded at once; only its metadata is a copy."""
        ...

    def refresh(self, obj: T, by: T) -> None:
        """Copy the content of `by` into `obj`."""
        ...


NO_PROTOBUF = ("", "")
ACCEPT_PROTOBUF = f"{PROTOBUF},application/json"  # as client-go asks for built-in kinds


def is_protobuf(item: Raw | bytes, of: RawList | None) -> bool:
    """Whether an item of a list, or the object of an event, is protobuf."""
    if of is not None:
        return of.is_protobuf
    return type(item) is bytes and item.startswith(MAGIC)


def decode_protobuf(type_: type[T], item: bytes, of: RawList | None) -> T:
    """An item of a list, which is a message, or the object of an event, in an envelope.

    Raises: UnknownFields, DecodeError.
    """
    from kubeloop.wire.protobuf_codec import MessageReader, decode_envelope, message_reader

    if of is None:
        return decode_envelope(type_, item)
    reader: MessageReader[T] = message_reader(
        type_,  # type: ignore[arg-type] # hashable
        api_version=of.api_version or "",
        kind=(of.kind or "").removesuffix("List"),
    )
    return reader.decode(item)


@final
class TypedCodec:
    """Objects of one class."""

    accept_one = accept_many = ""

    def __init__(self, cls: type[Kind]) -> None:
        self.cls: type[Any] = cls
        built_in = cls.__module__.startswith("kubeloop.wire.")
        self._facts = facts_of(cls) if built_in else None

    @cached_property
    def protobuf(self) -> tuple[str, str]:
        from kubeloop.wire.protobuf_codec import is_readable

        return (ACCEPT_PROTOBUF, ACCEPT_PROTOBUF) if is_readable(self.cls) else NO_PROTOBUF

    @property
    def object_type(self) -> type[Any]:
        return self.cls

    @property
    def facts(self) -> TypeFacts | None:
        return self._facts

    @property
    def rules(self) -> TypeFacts:
        return facts_of(cast("type[Kind]", self.cls))

    @property
    def resource(self) -> ResourceInfo:
        return resource_of(cast("type[Kind]", self.cls))

    def decode(self, response: Response) -> Any:
        return response.decode(self.cls)

    def decode_item(self, item: Raw | bytes, of: RawList | None) -> Any:
        if is_protobuf(item, of):
            return decode_protobuf(self.cls, item, of)
        return decode(self.cls, item)

    def to_dict(self, obj: Any) -> dict[str, Any]:
        return to_builtins(self._check(obj))

    def to_data(self, obj: Any) -> dict[str, Any]:
        return to_data(self._check(obj))

    def _check(self, obj: Any) -> Kind:
        if not isinstance(obj, self.cls):
            name = self.cls.__name__
            use = f"{name}.from_dict(…)" if isinstance(obj, dict) else "the client of its kind"
            raise InvalidArgument(f"expected a {name}, got a {type(obj).__name__}").with_hint(
                python=f"use {use}"
            )
        return cast("Kind", obj)

    def refresh(self, obj: Any, by: Any) -> None:
        for name in obj.__struct_fields__:
            setattr(obj, name, getattr(by, name))


@final
class DictCodec:
    """Objects as dicts, of kinds that may be known only at run time."""

    accept_one = accept_many = "application/json"
    protobuf = ("", "")
    facts = rules = resource = None
    object_type: type[dict[str, Any]] = dict

    def decode(self, response: Response) -> dict[str, Any]:
        found = response.decode(dict[str, Any])
        if not found.get("kind"):
            raise DecodeError(f"{response.request.action}: the object in the response has no kind")
        return found

    def decode_item(self, item: Raw | bytes, of: RawList | None) -> dict[str, Any]:
        found = decode(dict[str, Any], item)
        if of is not None:
            return _with_type(found, of)
        if not found.get("kind"):
            raise DecodeError("watch: the object of an event has no kind")
        return found

    def to_dict(self, obj: dict[str, Any]) -> dict[str, Any]:
        # Copies it, and checks that it can be encoded as JSON.
        return decode(dict[str, Any], body_of(self.to_data(obj)))

    def to_data(self, obj: dict[str, Any]) -> dict[str, Any]:
        if not isinstance(obj, dict):
            raise InvalidArgument(f"expected a dict, got a {type(obj).__name__}").with_hint(
                python="use the client of its class, or its to_dict()"
            )
        metadata = obj.get("metadata")
        return {**obj, "metadata": {**metadata}} if isinstance(metadata, dict) else {**obj}

    def refresh(self, obj: dict[str, Any], by: dict[str, Any]) -> None:
        obj.clear()
        obj.update(by)


@final
class ViewReader(Generic[T]):
    """The objects of a codec, read as another class: a struct with only the fields you need."""

    def __init__(self, codec: ObjectReader[Any], model: type[T]) -> None:
        self.accept_one, self.accept_many = codec.accept_one, codec.accept_many
        self.protobuf, self.resource = codec.protobuf, codec.resource
        self._model = model

    def decode(self, response: Response) -> T:
        return response.decode(self._model)

    def decode_item(self, item: Raw | bytes, of: RawList | None) -> T:
        if is_protobuf(item, of):
            return decode_protobuf(self._model, item, of)
        return decode(self._model, item)


def _with_type(item: dict[str, Any], of: RawList) -> dict[str, Any]:
    """The item with kind and apiVersion: items of built-in lists have none."""
    kind = (of.kind or "").removesuffix("List")
    missing = {"apiVersion": of.api_version, "kind": kind}
    return {key: value for key, value in missing.items() if value and not item.get(key)} | item


def check_object(data: dict[str, Any]) -> dict[str, Any]:
    """The object, if the fields that identify it have the right types.

    The request needs these; the server validates the rest. Raises: InvalidArgument.
    """
    metadata = data.get("metadata")
    if metadata is not None and not isinstance(metadata, dict):
        raise _wrong_type("metadata", "an object", metadata)
    for key in ("apiVersion", "kind"):
        found = data.get(key)
        if found is not None and not isinstance(found, str):
            raise _wrong_type(key, "a string", found)
    if metadata:
        for key in _IDENTITY:
            found = metadata.get(key)
            if found is not None and not isinstance(found, str):
                raise _wrong_type(f"metadata.{key}", "a string", found)
    return data


_IDENTITY = ("name", "generateName", "namespace", "resourceVersion", "uid")


def _wrong_type(path: str, expected: str, found: object) -> InvalidArgument:
    return InvalidArgument(
        f"{path} of an object: expected {expected}, got a {type(found).__name__}"
    )


# Plain data or a model as a JSON body. Raises: InvalidArgument.
body_of = JsonCodec().encode


def condition_update(data: dict[str, Any], *, unconditional: bool) -> None:
    """Check that an update has a version, or remove it if `unconditional`."""
    metadata = data.get("metadata")
    if not isinstance(metadata, dict):
        return  # the request rejects it: there is no name
    if unconditional:
        metadata.pop("resourceVersion", None)
    elif metadata.get("name") and not metadata.get("resourceVersion"):
        raise InvalidArgument(
            f"update {data.get('kind') or 'object'} {metadata['name']}: it has no"
            " resourceVersion, so that changes of other writers would be overwritten"
        ).with_hint(
            "read the object, and change what you read",
            python="use edit, modify, apply or unconditional=True",
        )


def check_appliable(data: dict[str, Any]) -> dict[str, Any]:
    """The object, if it can be applied. Raises: InvalidArgument."""
    metadata = data.get("metadata") or {}
    if not metadata.get("name"):
        raise InvalidArgument(f"apply a {data.get('kind') or 'object'}: the object has no name")
    if metadata.get("managedFields"):
        raise InvalidArgument(
            f"apply {data.get('kind')} {metadata['name']}: it has managedFields, so it was read"
            " from a server"
        ).with_hint("write only the fields you want to own", python="use extract()")
    return data


def patch_type_of(type_: str) -> str:
    """The content type of a patch. Raises: InvalidArgument for an unknown type."""
    found = _CONTENT_TYPES.get(cast("PatchType", type_))
    if found is None:
        raise InvalidArgument(f"patch of type {type_!r}: expected merge, strategic, json or apply")
    return found


def patch_text(patch: PatchBody, type_: PatchType) -> bytes:
    """The body of a patch; bytes and strings are sent unchanged."""
    if isinstance(patch, bytes):
        return patch
    if isinstance(patch, str):
        try:
            return patch.encode()
        except UnicodeEncodeError as error:
            raise InvalidArgument(
                f"patch of type {type_}: the text has half a surrogate pair at position"
                f" {error.start} (use valid Unicode)"
            ) from error
    text = body_of(patch)
    if type_ != "json":
        return text
    # kube-apiserver compares a `test` of a JSON patch as text, and Go escapes these characters.
    for character, escaped in _ESCAPED_BY_GO:
        text = text.replace(character, escaped)
    return text
