"""How objects are decoded and encoded: as instances of a class, as dicts; and patches.

Guarantees: fields that a form does not know survive decoding and encoding; a form asks the
server for a representation that it can decode.
See also: the models (`kubeloop.wire`), metadata alone (`metadata`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Protocol, TypeVar, cast, final

from kubeloop.machinery import DecodeError, InvalidValue
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
)

__all__ = [
    "DEFAULT_MANAGER",
    "DictForm",
    "Form",
    "PatchBody",
    "PatchType",
    "TypedForm",
    "body_of",
    "check_appliable",
    "check_object",
    "condition_update",
    "patch_text",
    "patch_type_of",
]

T = TypeVar("T")

_JSON = JsonCodec()

PatchType = Literal["merge", "strategic", "json", "apply"]
PatchBody = Mapping[str, Any] | Sequence[Mapping[str, Any]] | Model | bytes | str

DEFAULT_MANAGER = "kubeloop"
"""The field manager of an apply that names none."""

_CONTENT_TYPES: dict[PatchType, str] = {
    "merge": MERGE_PATCH,
    "strategic": STRATEGIC_MERGE_PATCH,
    "json": JSON_PATCH,
    "apply": APPLY_PATCH,
}

_ESCAPED_BY_GO = tuple(
    (character.encode(), f"\\u{ord(character):04x}".encode()) for character in "<>&\u2028\u2029"
)


class Form(Protocol[T]):
    """How objects are read and sent."""

    @property
    def accept_one(self) -> str:
        """What to ask for where one object comes back; empty: the client's own."""
        ...

    @property
    def accept_many(self) -> str: ...

    @property
    def object_type(self) -> type[T]: ...

    @property
    def facts(self) -> TypeFacts | None:
        """The merge rules, where the server has them too: only for built-in kinds."""
        ...

    @property
    def rules(self) -> TypeFacts | None:
        """Which fields and elements are changed independently, where the class says it."""
        ...

    @property
    def resource(self) -> ResourceInfo | None:
        """What a list has to be a list of, where the form is that of one kind."""
        ...

    def read(self, answer: Response) -> T: ...
    def read_item(self, item: Raw | bytes, of: RawList | None) -> T:
        """An item of a list, or of an event, which has no list."""
        ...

    def to_dict(self, obj: T) -> dict[str, Any]:
        """What would be sent, as data of the caller's own."""
        ...

    def refresh(self, obj: T, by: T) -> None:
        """Make `obj` say what `by` says."""
        ...


@final
class TypedForm:
    """Objects of one class."""

    accept_one = accept_many = ""

    def __init__(self, cls: type[Kind]) -> None:
        self.cls: type[Any] = cls
        built_in = cls.__module__.startswith("kubeloop.wire.")
        self._facts = facts_of(cls) if built_in else None

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

    def read(self, answer: Response) -> Any:
        return answer.decode(self.cls)

    def read_item(self, item: Raw | bytes, of: RawList | None) -> Any:  # noqa: ARG002
        return decode(self.cls, item)

    def to_dict(self, obj: Any) -> dict[str, Any]:
        if not isinstance(obj, self.cls):
            raise InvalidValue(
                f"a {self.cls.__name__} is expected, this is a {type(obj).__name__}"
                " (use the client of its kind)"
            )
        return cast("Kind", obj).to_dict()

    def refresh(self, obj: Any, by: Any) -> None:
        for name in obj.__struct_fields__:
            setattr(obj, name, getattr(by, name))


@final
class DictForm:
    """Objects as they stand in JSON, of kinds that may be known only at run time."""

    accept_one = accept_many = "application/json"
    facts = rules = resource = None
    object_type: type[dict[str, Any]] = dict

    def read(self, answer: Response) -> dict[str, Any]:
        found = answer.decode(dict[str, Any])
        if not found.get("kind"):
            raise DecodeError(f"{answer.request.action}: the answer does not say its kind")
        return found

    def read_item(self, item: Raw | bytes, of: RawList | None) -> dict[str, Any]:
        found = decode(dict[str, Any], item)
        if of is not None:
            return _named(found, of)
        if not found.get("kind"):
            raise DecodeError("watch: an object does not say its kind")
        return found

    def to_dict(self, obj: dict[str, Any]) -> dict[str, Any]:
        if not isinstance(obj, dict):
            raise InvalidValue(
                f"a dict is expected, this is a {type(obj).__name__} (use the client of its class)"
            )
        # A copy of our own, and a check that JSON can say it, in one.
        return decode(dict[str, Any], body_of(obj))

    def refresh(self, obj: dict[str, Any], by: dict[str, Any]) -> None:
        obj.clear()
        obj.update(by)


def _named(item: dict[str, Any], of: RawList) -> dict[str, Any]:
    """An item with what its list says of all of them: built-in lists leave it out."""
    kind = (of.kind or "").removesuffix("List")
    missing = {"apiVersion": of.api_version, "kind": kind}
    return {key: value for key, value in missing.items() if value and not item.get(key)} | item


def check_object(data: dict[str, Any]) -> dict[str, Any]:
    """The object, when what says which object it is has the right types.

    The rest is for the server to judge; these fields are needed for the request itself.
    Raises: InvalidValue.
    """
    metadata = data.get("metadata")
    if metadata is not None and not isinstance(metadata, dict):
        raise _wrong_type("metadata", "an object", metadata)
    for key in ("apiVersion", "kind"):
        if not isinstance(data.get(key), str | None):
            raise _wrong_type(key, "text", data[key])
    if metadata:
        for key in _NAMING:
            if not isinstance(metadata.get(key), str | None):
                raise _wrong_type(f"metadata.{key}", "text", metadata[key])
    return data


_NAMING = ("name", "generateName", "namespace", "resourceVersion", "uid")


def _wrong_type(path: str, expected: str, found: object) -> InvalidValue:
    return InvalidValue(f"{path} of an object: expected {expected}, found a {type(found).__name__}")


def body_of(data: Any) -> bytes:
    """Plain data or a model as a JSON body. Raises: InvalidValue."""
    return _JSON.encode(data)


def condition_update(data: dict[str, Any], *, unconditional: bool) -> None:
    """Make sure that an update says the version it replaces, or on purpose does not."""
    metadata = data.get("metadata")
    if not isinstance(metadata, dict):
        return  # which the request refuses: there is no name
    if unconditional:
        metadata.pop("resourceVersion", None)
    elif metadata.get("name") and not metadata.get("resourceVersion"):
        raise InvalidValue(
            f"update {data.get('kind') or 'object'} {metadata['name']}: it has no"
            " resourceVersion, so that what others wrote would be erased unseen"
        ).with_hint(
            "read the object and change that",
            python="use edit, modify, apply or unconditional=True",
        )


def check_appliable(data: dict[str, Any]) -> dict[str, Any]:
    """The object, when it can be applied. Raises: InvalidValue."""
    metadata = data.get("metadata") or {}
    if not metadata.get("name"):
        raise InvalidValue(f"apply a {data.get('kind') or 'object'}: it has no name")
    if metadata.get("managedFields"):
        raise InvalidValue(
            f"apply {data.get('kind')} {metadata['name']}: it has managedFields, so it was read"
            " from a server"
        ).with_hint("write only the fields you want to own", python="use extract()")
    return data


def patch_type_of(type_: str) -> str:
    """The content type of a patch. Raises: InvalidValue for one that there is not."""
    found = _CONTENT_TYPES.get(cast("PatchType", type_))
    if found is None:
        raise InvalidValue(f"patch of type {type_!r}: expected merge, strategic, json or apply")
    return found


def patch_text(patch: PatchBody, type_: PatchType) -> bytes:
    """A patch as it is sent; bytes and text are sent as they are."""
    if isinstance(patch, bytes):
        return patch
    if isinstance(patch, str):
        try:
            return patch.encode()
        except UnicodeEncodeError as error:
            raise InvalidValue(
                f"patch of type {type_}: the text holds half a surrogate pair at position"
                f" {error.start} (give valid Unicode)"
            ) from error
    text = body_of(patch)
    if type_ != "json":
        return text
    # A `test` of a JSON patch compares texts, and Go escapes these. They are only in strings.
    for character, escaped in _ESCAPED_BY_GO:
        text = text.replace(character, escaped)
    return text
