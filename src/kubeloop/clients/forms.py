"""In which form objects are handed out: as a class's instances, as dicts, as metadata.

Promises: what a form does not know survives reading and sending; a form asks the server
for what it can read.
Elsewhere: the models (`kubeloop.wire`), who uses the forms (`verbs`).
"""

from __future__ import annotations

from typing import Any, Protocol, TypeVar, cast, final

from kubeloop.machinery import DecodeError, InvalidValue, ObjectKey
from kubeloop.rest import Answer, JsonCodec
from kubeloop.wire import (
    Kind,
    Raw,
    RawList,
    ResourceInfo,
    TypeFacts,
    decode,
    facts_of,
    resource_of,
)

__all__ = ["DictForm", "Form", "TypedForm", "body_of", "check_object"]

T = TypeVar("T")

_JSON = JsonCodec()


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

    def read(self, answer: Answer) -> T: ...
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

    def read(self, answer: Answer) -> Any:
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

    def read(self, answer: Answer) -> dict[str, Any]:
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
    texts = {f"metadata.{key}": (metadata or {}).get(key) for key in _NAMING}
    for path, value in {**{key: data.get(key) for key in ("apiVersion", "kind")}, **texts}.items():
        if value is not None and not isinstance(value, str):
            raise _wrong_type(path, "text", value)
    return data


_NAMING = ("name", "generateName", "namespace", "resourceVersion", "uid")


def _wrong_type(path: str, expected: str, found: object) -> InvalidValue:
    return InvalidValue(f"{path} of an object: expected {expected}, found a {type(found).__name__}")


def body_of(data: Any) -> bytes:
    """Plain data or a model as a JSON body. Raises: InvalidValue."""
    return _JSON.encode(data)


def key_in(data: dict[str, Any]) -> ObjectKey:
    """The key of an object that may have no metadata yet."""
    return ObjectKey.of(data) if isinstance(data.get("metadata"), dict) else ObjectKey("", "")
