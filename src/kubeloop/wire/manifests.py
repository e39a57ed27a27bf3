"""Manifests: YAML text with many documents, in and out, typed where the kind is known."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

from .codec import from_builtins
from .errors import DecodeError
from .model import Kind, Model, api_version_of, kind_of
from .resources import class_for
from .sending import to_builtins

__all__ = ["dump_yaml", "load_yaml", "parse_manifest"]


def load_yaml(
    text: str | bytes, *, kinds: Iterable[type[Kind]] = (), source: str = ""
) -> list[Kind | dict[str, Any]]:
    """Read every object of a manifest; the items of a list count as objects of their own.

    Built-in kinds and the classes in `kinds` come typed, all others as plain dicts. JSON
    documents may follow each other without a separator.

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
    """As `load_yaml`, but an object that cannot be read does not keep the others back.

    Returns where each object stands, such as `shop.yaml document 2`, and the object or why
    it is none.

    Raises:
        DecodeError: the text as a whole is not YAML.
    """
    from .yaml import load_documents  # not before there is YAML to read

    own = {(kind_of(cls), api_version_of(cls)): cls for cls in kinds}
    return [
        (place, found if isinstance(found, DecodeError) else _typed(found, own, place))
        for index, document in enumerate(load_documents(text, source=source))
        for place, found in _objects(document, f"{source or 'YAML'} document {index + 1}")
    ]


def dump_yaml(*objects: Model | dict[str, Any]) -> str:
    """Write objects as one text with a document each."""
    from .yaml import dump_documents

    return dump_documents(
        *(to_builtins(thing) if isinstance(thing, Model) else thing for thing in objects)
    )


def _objects(document: Any, place: str) -> Iterable[tuple[str, dict[str, Any] | DecodeError]]:
    if not isinstance(document, dict):
        message = f"expected an object of the API, found {_name(document)}"
        yield place, DecodeError(message, path=place)
        return
    for key in ("apiVersion", "kind"):
        if not isinstance(document.get(key), str) or not document[key]:
            yield place, DecodeError(f"the object does not say its {key}", path=place)
            return
    if not _is_list(document):
        yield place, document
        return
    items = document.get("items") or []
    if not isinstance(items, list):
        yield place, DecodeError(f"expected a list as items, found {_name(items)}", path=place)
        return
    # The items of a list of one kind need not say it: so a server answers.
    kind = document["kind"].removesuffix("List")
    implied = {"apiVersion": document["apiVersion"], "kind": kind} if kind else {}
    for index, item in enumerate(items):
        said = implied | item if isinstance(item, dict) else item
        yield from _objects(said, f"{place} items[{index}]")


def _is_list(document: dict[str, Any]) -> bool:
    if document["kind"] == "List" and document["apiVersion"] == "v1":
        return True
    return document["kind"].endswith("List") and isinstance(document.get("items"), list)


def _name(value: Any) -> str:
    return "nothing" if value is None else f"a {type(value).__name__}"


def _typed(
    document: dict[str, Any], own: dict[tuple[str, str], type[Kind]], place: str
) -> Kind | dict[str, Any] | DecodeError:
    group, _, version = cast("str", document["apiVersion"]).rpartition("/")
    cls = own.get((document["kind"], document["apiVersion"]))
    cls = cls or class_for(group, version, document["kind"])
    if cls is None:
        return document
    try:
        return from_builtins(cls, document)
    except DecodeError as error:
        fault = DecodeError(str(error), path=place)
        fault.__cause__ = error
        return fault
