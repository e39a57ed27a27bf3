"""What a request's path names: a resource, a document about the API, or nothing.

Promises: pure; a path that names nothing is None, never a guess.
Elsewhere: whether the named resource exists (`registry`), what the query says (`options`).
"""

from __future__ import annotations

from typing import final
from urllib.parse import unquote

import msgspec

__all__ = ["ResourcePath", "parse_resource_path", "verb_of"]


@final
class ResourcePath(msgspec.Struct, frozen=True):
    """The parts of `/apis/{group}/{version}/namespaces/{namespace}/{plural}/{name}/{part}`."""

    group: str
    version: str
    plural: str = ""
    namespace: str = ""
    name: str = ""
    subresource: str = ""
    rest: str = ""  # what stands behind the subresource, for proxies
    watch: bool = False  # the deprecated /watch/ prefix


def parse_resource_path(path: str) -> ResourcePath | None:
    """Read the path of a resource or of a group version; None for all others."""
    parts = path.strip("/").split("/")
    match parts:
        case ["api", version, *rest]:
            return _in_version("", version, rest)
        case ["apis", group, version, *rest]:
            return _in_version(group, version, rest)
    return None


def _in_version(group: str, version: str, rest: list[str]) -> ResourcePath | None:
    watch = rest[:1] == ["watch"] and len(rest) > 1
    steps = [unquote(step) if "%" in step else step for step in rest[watch:]]
    if not all(steps):
        return None
    found = _named(group, version, steps)
    return msgspec.structs.replace(found, watch=True) if watch else found


def _named(group: str, version: str, steps: list[str]) -> ResourcePath:
    # `namespaces/x/status` is a part of a namespace; `namespaces/x/pods` is in one.
    in_namespace = (
        len(steps) > 2
        and steps[0] == "namespaces"
        and not (group == "" and len(steps) == 3 and steps[2] in {"status", "finalize"})
    )
    namespace = ""
    if in_namespace:
        namespace, steps = steps[1], steps[2:]
    plural, name, subresource, *rest = [*steps, "", "", ""][: max(len(steps), 3)]
    return ResourcePath(
        group=group,
        version=version,
        plural=plural,
        namespace=namespace,
        name=name,
        subresource=subresource,
        rest="/".join(rest),
    )


_NAMED_VERBS = {"GET": "get", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}
_COLLECTION_VERBS = {"GET": "list", "POST": "create", "DELETE": "deletecollection"}


def verb_of(method: str, path: ResourcePath, *, watch: bool) -> str:
    """The API's verb for a request; empty where the method means nothing."""
    # A watch that is asked for at an object's own path is a get, but for the old prefix.
    if method == "GET" and (path.watch or (watch and not path.name)) and not path.subresource:
        return "watch"
    if path.name:
        if method == "POST" and path.subresource:
            return "create"
        return _NAMED_VERBS.get(method, "")
    return _COLLECTION_VERBS.get(method, "")
