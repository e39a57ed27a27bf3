"""Reads and writes manifests: YAML text with several documents, typed if the kind is known."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

from .codec import from_builtins
from .encoding import to_builtins
from .errors import DecodeError
from .model import Kind, Model, api_version_of, kind_of
from .resources import class_for

__all__ = ["dump_yaml", "load_yaml", "parse_manifest"]


def load_yaml(
    text: str | bytes, *, kinds: Iterable[type[Kind]] = (), source: str = ""
) -> list[Kind | dict[str, Any]]:
    """Read every object of a manifest, including the items of lists.

    Objects of built-in kinds and of the classes in `kinds` are typed, all others are plain
    dicts. JSON documents may follow each other without a separator.

    Raises:
        DecodeError: not YAML, not an object of the API, or a value of the wrong type.
    """
    objects = []
    for _, found in parse_manifest(text, kinds=kinds, source=source):
        if isinstance(found, DecodeError):
            raise found
        objects.append(found)
    return objects


def parse_manifest(
    text: str | bytes, *, kinds: Iterable[type[Kind]] = (), source: str = ""
) -> list[tuple[str, Kind | dict[str, Any] | DecodeError]]:
    """As `load_yaml`, but with an error in place of each object that cannot be read.

    Returns the location of each object, such as `shop.yaml document 2`, and the object or the
    error.

    Raises:
        DecodeError: the text as a whole is not YAML.
    """
    from .yaml import load_documents  # the import of PyYAML is slow

    custom = {(kind_of(cls), api_version_of(cls)): cls for cls in kinds}
    return [
        (
            location,
            found if isinstance(found, DecodeError) else _decode_object(found, custom, location),
        )
        for index, document in enumerate(load_documents(text, source=source))
        for location, found in _objects(document, f"{source or 'YAML'} document {index + 1}")
    ]


def dump_yaml(*objects: Model | dict[str, Any]) -> str:
    """Write objects as one YAML text with one document each."""
    from .yaml import dump_documents

    return dump_documents(
        *(to_builtins(thing) if isinstance(thing, Model) else thing for thing in objects)
    )


def _objects(document: Any, location: str) -> Iterable[tuple[str, dict[str, Any] | DecodeError]]:
    if not isinstance(document, dict):
        message = f"expected an object of the API, found {_name(document)}"
        yield location, DecodeError(message, path=location)
        return
    for key in ("apiVersion", "kind"):
        if not isinstance(document.get(key), str) or not document[key]:
            yield location, DecodeError(f"the object does not say its {key}", path=location)
            return
    if not _is_list(document):
        yield location, document
        return
    items = document.get("items") or []
    if not isinstance(items, list):
        yield (
            location,
            DecodeError(f"expected a list as items, found {_name(items)}", path=location),
        )
        return
    # The items in a server's list response have neither apiVersion nor kind.
    kind = document["kind"].removesuffix("List")
    implied = {"apiVersion": document["apiVersion"], "kind": kind} if kind else {}
    for index, item in enumerate(items):
        complete = implied | item if isinstance(item, dict) else item
        yield from _objects(complete, f"{location} items[{index}]")


def _is_list(document: dict[str, Any]) -> bool:
    if document["kind"] == "List" and document["apiVersion"] == "v1":
        return True
    return document["kind"].endswith("List") and isinstance(document.get("items"), list)


def _name(value: Any) -> str:
    return "nothing" if value is None else f"a {type(value).__name__}"


def _decode_object(
    document: dict[str, Any], custom: dict[tuple[str, str], type[Kind]], location: str
) -> Kind | dict[str, Any] | DecodeError:
    group, _, version = cast("str", document["apiVersion"]).rpartition("/")
    cls = custom.get((document["kind"], document["apiVersion"]))
    cls = cls or class_for(group, version, document["kind"])
    if cls is None:
        return document
    try:
        return from_builtins(cls, document)
    except DecodeError as error:
        failure = DecodeError(str(error), path=location)
        failure.__cause__ = error
        return failure
