"""Manifests: YAML text with many documents, in and out, typed where the kind is known."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

from .codec import from_builtins
from .errors import DecodeError
from .model import Kind, Model, api_version_of, kind_of
from .resources import class_for
from .sending import to_builtins

__all__ = ["dump_yaml", "load_yaml"]


def load_yaml(
    text: str | bytes, *, kinds: Iterable[type[Kind]] = (), source: str = ""
) -> list[Kind | dict[str, Any]]:
    """Read every object of a manifest; the items of a list count as objects of their own.

    Built-in kinds and the classes in `kinds` come typed, all others as plain dicts.

    Raises:
        DecodeError: not YAML, not an object of the API, or a value of the wrong type.
    """
    from .yaml import load_documents  # not before there is YAML to read

    own = {(kind_of(cls), api_version_of(cls)): cls for cls in kinds}
    return [
        _typed(document, own, place)
        for index, found in enumerate(load_documents(text, source=source))
        for place, document in _objects(found, f"{source or 'YAML'} document {index + 1}")
    ]


def dump_yaml(*objects: Model | dict[str, Any]) -> str:
    """Write objects as one text with a document each."""
    from .yaml import dump_documents

    return dump_documents(
        *(to_builtins(thing) if isinstance(thing, Model) else thing for thing in objects)
    )


def _objects(document: Any, place: str) -> Iterable[tuple[str, dict[str, Any]]]:
    if not isinstance(document, dict):
        raise DecodeError(f"expected an object of the API, found {_name(document)}", path=place)
    for key in ("apiVersion", "kind"):
        if not isinstance(document.get(key), str) or not document[key]:
            raise DecodeError(f"the object does not say its {key}", path=place)
    if not _is_list(document):
        yield place, document
        return
    # The items of a list of one kind need not say it: so a server answers.
    kind = document["kind"].removesuffix("List")
    implied = {"apiVersion": document["apiVersion"], "kind": kind} if kind else {}
    for index, item in enumerate(document.get("items") or []):
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
) -> Kind | dict[str, Any]:
    group, _, version = cast("str", document["apiVersion"]).rpartition("/")
    cls = own.get((document["kind"], document["apiVersion"]))
    cls = cls or class_for(group, version, document["kind"])
    if cls is None:
        return document
    try:
        return from_builtins(cls, document)
    except DecodeError as error:
        raise DecodeError(str(error), path=place) from error
