"""The resources of the API: a table of the built-in ones, and those of user-defined classes.

The module of a group version is imported when one of its classes is first used.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Iterator
from typing import Any, cast

import msgspec

from .errors import InvalidArgument
from .kinds import Resource
from .model import Kind, kind_of

__all__ = [
    "ResourceInfo",
    "Subresource",
    "class_for",
    "is_list_kind",
    "resource_for",
    "resource_of",
    "resources",
]


class Subresource(msgspec.Struct, frozen=True):
    """A subresource: its path segment, and the kind of its bodies."""

    name: str
    group: str
    version: str
    kind: str
    verbs: tuple[str, ...]


class ResourceInfo(msgspec.Struct, frozen=True):
    """One resource of the API: its names, its scope and its verbs."""

    group: str
    version: str
    plural: str
    kind: str
    singular: str
    namespaced: bool
    verbs: tuple[str, ...] = (
        "create",
        "delete",
        "deletecollection",
        "get",
        "list",
        "patch",
        "update",
        "watch",
    )
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    subresources: tuple[Subresource, ...] = ()

    @property
    def api_version(self) -> str:
        """`apps/v1`, or `v1` for the core group."""
        return f"{self.group}/{self.version}" if self.group else self.version


@functools.cache
def resources() -> tuple[ResourceInfo, ...]:
    """Every built-in resource, in the server's order of groups and versions."""
    from ._generated.resources import RESOURCES

    return tuple(map(_info, RESOURCES))


def _info(row: tuple[Any, ...]) -> ResourceInfo:
    *facts, parts = row
    return ResourceInfo(*facts, tuple(Subresource(*part) for part in parts))  # type: ignore[call-arg] # mypy counts a star as many


@functools.cache
def _by_kind() -> dict[tuple[str, str, str], ResourceInfo]:
    # If several resources share a kind, the readable one is last and wins.
    ordered = sorted(resources(), key=lambda info: "get" in info.verbs)
    return {(info.group, info.version, info.kind): info for info in ordered}


def resource_for(group: str, version: str, kind: str) -> ResourceInfo | None:
    """The resource of a built-in kind; None for other kinds."""
    return _by_kind().get((group, version, kind))


def is_list_kind(found: str | None, *, kind: str, api_version: str) -> bool:
    """Whether `found` is the kind of a list of `kind`; a list without a kind always matches.

    A CRD may choose the name of its list, so only lists of built-in kinds are checked.
    """
    group, _, version = api_version.rpartition("/")
    if not found or found == f"{kind}List":
        return True
    return found != "Table" and resource_for(group, version, kind) is None


@functools.cache
def resource_of(cls: type[Kind]) -> ResourceInfo:
    """The resource of a class, built-in or user-defined.

    Raises:
        InvalidArgument: the class does not name a resource.
    """
    options = cls.__kind_options__
    if not {"group", "version"} <= options.keys() or not issubclass(cls, Resource):
        raise InvalidArgument(
            f"{cls.__name__} does not name a resource (derive it from Resource "
            'with group="…", version="…" and plural="…")'
        )
    kind = kind_of(cls)
    known = resource_for(options["group"], options["version"], kind)
    if known is not None and known.plural == options.get("plural"):
        return known
    return ResourceInfo(
        group=options["group"],
        version=options["version"],
        plural=options.get("plural", f"{kind.lower()}s"),
        kind=kind,
        singular=options.get("singular", kind.lower()),
        namespaced=options.get("namespaced", True),
        short_names=tuple(options.get("short_names", ())),
        categories=tuple(options.get("categories", ())),
        subresources=tuple(_own_subresources(cls)),
    )


def _own_subresources(cls: type[Kind]) -> Iterator[Subresource]:
    options, verbs = cls.__kind_options__, ("get", "patch", "update")
    if "scale" in options:
        yield Subresource("scale", "autoscaling", "v1", "Scale", verbs)
    if options.get("status_subresource", "status" in cls.__struct_encode_fields__):
        yield Subresource("status", options["group"], options["version"], kind_of(cls), verbs)


@functools.cache
def class_for(group: str, version: str, kind: str) -> type[Kind] | None:
    """The class of a built-in kind, imported if necessary; None for other kinds."""
    from ._generated.resources import GROUPS

    module = GROUPS.get((group, version))
    if module is None:
        return None
    found = getattr(importlib.import_module(f"._generated.{module}", __package__), kind, None)
    return cast("type[Kind]", found) if _says(found, kind) else None


def _says(found: object, kind: str) -> bool:
    return isinstance(found, type) and issubclass(found, Kind) and kind_of(found) == kind
