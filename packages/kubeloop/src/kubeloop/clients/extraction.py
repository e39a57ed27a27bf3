"""The fields of an object that one field manager applied, from its managedFields.

Guarantees: pure; the result can be changed and applied again by the same manager without losing
or taking over any field.
See also: `resource` (apply).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, overload

import msgspec

from kubeloop.errors import InvalidArgument
from kubeloop.wire import Kind

__all__ = ["extract"]

Json = dict[str, Any]


@overload
def extract(obj: Kind, manager: str, *, subresource: str = ...) -> Json: ...
@overload
def extract(obj: Json, manager: str, *, subresource: str = ...) -> Json: ...
def extract(obj: Kind | Json, manager: str, *, subresource: str = "") -> Json:
    """The fields that `manager` has applied, and the identity of the object.

    The object must be as the server returned it, with its managedFields.

    Raises:
        InvalidArgument: a stored object without managedFields. Informers drop them by default.
    """
    whole = obj.to_dict() if isinstance(obj, Kind) else obj
    owned: Json = {}
    metadata = whole.get("metadata") or {}
    if metadata.get("resourceVersion") and not metadata.get("managedFields"):
        # An empty result would be wrong: applied, it removes all that the manager has applied.
        raise InvalidArgument(
            f"extract from {metadata.get('name')}: it has no managedFields (get the object from"
            " the server, or cache it with drop=())"
        )
    for entry in metadata.get("managedFields") or ():
        if (
            entry.get("manager") == manager
            and entry.get("operation") == "Apply"
            and (entry.get("subresource") or "") == subresource
        ):
            owned = entry.get("fieldsV1") or {}
    part = _part(whole, owned) if owned else {}
    return _with_identity(part if isinstance(part, dict) else {}, whole)


def _with_identity(part: Json, whole: Json) -> Json:
    types: Json = {key: whole[key] for key in ("apiVersion", "kind") if key in whole}
    metadata = whole.get("metadata") or {}
    named = {key: metadata[key] for key in ("name", "namespace") if metadata.get(key)}
    return {**types, **part, "metadata": {**named, **(part.get("metadata") or {})}}


def _part(value: Any, owned: Json) -> Any:
    """The owned part of a value; without nested fields all of it is owned."""
    if not owned:
        return value
    if isinstance(value, dict):
        parts = {
            key: _part(value[key], below)
            for name, below in owned.items()
            if (key := name.removeprefix("f:")) != name and key in value
        }
        # A list without owned elements is left out: applied as [], it would become owned.
        return {key: part for key, part in parts.items() if part != [] or value[key] == []}
    if isinstance(value, list):
        return list(_elements(value, owned))
    return value


def _elements(items: list[Any], owned: Json) -> Iterator[Any]:
    """The owned elements of a list, in the list's order."""
    for index, item in enumerate(items):
        for name, below in owned.items():
            mark, _, text = name.partition(":")
            if mark == "v" and msgspec.json.decode(text) == item:
                yield item
            elif mark == "i" and int(text) == index:
                yield _part(item, below)
            elif mark == "k" and isinstance(item, dict):
                keys = msgspec.json.decode(text)
                if all(item.get(key) == value for key, value in keys.items()):
                    yield {**keys, **_part(item, below)}
