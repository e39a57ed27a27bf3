"""Which resources there are: the built-in ones as a table, a user's class by what it says.

Nothing of a group is imported before one of its classes is asked for.
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
    """A part of an object under a path of its own, and the kind that is spoken there."""

    name: str
    group: str
    version: str
    kind: str
    verbs: tuple[str, ...]


class ResourceInfo(msgspec.Struct, frozen=True):
    """One collection of the API: where it is and what can be done with it."""

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
    # Where several collections share a kind, the one whose objects can be read comes last.
    ordered = sorted(resources(), key=lambda info: "get" in info.verbs)
    return {(info.group, info.version, info.kind): info for info in ordered}


def resource_for(group: str, version: str, kind: str) -> ResourceInfo | None:
    """The built-in resource of a kind; None for kinds that are not built in."""
    return _by_kind().get((group, version, kind))


def is_list_kind(found: str | None, *, kind: str, api_version: str) -> bool:
    """Whether `found` is the kind of a list of `kind`; a list without a kind always fits.

    A CRD can name its list freely, so only lists of built-in kinds are known.
    """
    group, _, version = api_version.rpartition("/")
    if not found or found == f"{kind}List":
        return True
    return found != "Table" and resource_for(group, version, kind) is None


@functools.cache
def resource_of(cls: type[Kind]) -> ResourceInfo:
    """The resource that a class stands for, built in or a user's own.

    Raises:
        InvalidArgument: the class does not say which resource it is.
    """
    said = cls.__kind_options__
    if not {"group", "version"} <= said.keys() or not issubclass(cls, Resource):
        raise InvalidArgument(
            f"{cls.__name__} does not say which resource it is (derive it from Resource "
            'with group="…", version="…" and plural="…")'
        )
    kind = kind_of(cls)
    known = resource_for(said["group"], said["version"], kind)
    if known is not None and known.plural == said.get("plural"):
        return known
    return ResourceInfo(
        group=said["group"],
        version=said["version"],
        plural=said.get("plural", f"{kind.lower()}s"),
        kind=kind,
        singular=said.get("singular", kind.lower()),
        namespaced=said.get("namespaced", True),
        short_names=tuple(said.get("short_names", ())),
        categories=tuple(said.get("categories", ())),
        subresources=tuple(_own_subresources(cls)),
    )


def _own_subresources(cls: type[Kind]) -> Iterator[Subresource]:
    said, verbs = cls.__kind_options__, ("get", "patch", "update")
    if "scale" in said:
        yield Subresource("scale", "autoscaling", "v1", "Scale", verbs)
    if said.get("status_subresource", "status" in cls.__struct_encode_fields__):
        yield Subresource("status", said["group"], said["version"], kind_of(cls), verbs)


@functools.cache
def class_for(group: str, version: str, kind: str) -> type[Kind] | None:
    """The built-in class of a kind, imported now; None for kinds that are not built in."""
    from ._generated.resources import GROUPS

    module = GROUPS.get((group, version))
    if module is None:
        return None
    found = getattr(importlib.import_module(f"._generated.{module}", __package__), kind, None)
    return cast("type[Kind]", found) if _says(found, kind) else None


def _says(found: object, kind: str) -> bool:
    return isinstance(found, type) and issubclass(found, Kind) and kind_of(found) == kind
