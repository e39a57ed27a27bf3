"""OpenAPI, versions 2 and 3: what objects look like and where they are.

Good enough for `kubectl explain`, for `kubectl apply` (merge rules, validation by the
server) and for clients that look for query parameters; without descriptions.
Promises: documents are built when they are first asked for, and kept as bytes until what
is served changes; their hashes depend on what is served only.
Elsewhere: the schemas (`openapi_schemas`), the paths (`openapi_paths`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from typing import Any, Final

import msgspec

from kubeloop.wire import Model, class_for
from kubeloop.wire.meta.v1 import ListMeta, ObjectMeta

from ..registry import Registry, ServedResource
from .documents import Document, kept_for
from .openapi_paths import paths_of
from .openapi_schemas import Dialect, custom_schemas, schemas_of

__all__ = ["group_version_of", "v2", "v2_protobuf", "v3", "v3_index", "v3_url"]

_INFO: Final = {"title": "Kubernetes", "version": "v1.37.0"}
_FORMAT: Final = 1  # counts up when the documents change for the same resources


def v2(registry: Registry) -> Document:
    """The document at `/openapi/v2`: everything in one."""
    kept = kept_for(registry)
    key = ("openapi", "v2")
    if key not in kept:
        served = registry.all()
        body = {
            "swagger": "2.0",
            "info": _INFO,
            "paths": _paths(served, "v2"),
            "definitions": _schemas(served, "v2"),
            "securityDefinitions": {
                "BearerToken": {"type": "apiKey", "name": "authorization", "in": "header"}
            },
            "security": [{"BearerToken": []}],
        }
        kept[key] = Document(msgspec.json.encode(body), etag=f'"{_hash(served)}"')
    return kept[key]


def v2_protobuf(registry: Registry) -> Document:
    """The document at `/openapi/v2`, as kubectl asks for it."""
    from .openapi_protobuf import MEDIA, as_protobuf

    kept = kept_for(registry)
    key = ("openapi", "v2", "protobuf")
    if key not in kept:
        plain = v2(registry)
        body = as_protobuf(msgspec.json.decode(plain.body))
        # Caches know a document by its address: the two forms must not pass for each other.
        kept[key] = Document(body, etag=f'{plain.etag[:-1]}-protobuf"', media=MEDIA)
    return kept[key]


def v3_index(registry: Registry) -> Document:
    """The document at `/openapi/v3`: where the documents of the group versions are."""
    kept = kept_for(registry)
    key = ("openapi", "v3")
    if key not in kept:
        paths = {
            _place(group, version): {"serverRelativeURL": v3_url(registry, group, version)}
            for group, versions in registry.groups().items()
            for version in versions
        }
        body = msgspec.json.encode({"paths": paths})
        tag = hashlib.sha512(body).hexdigest().upper()
        kept[key] = Document(body, etag=f'"{tag}"')
    return kept[key]


def v3(registry: Registry, group: str, version: str) -> Document | None:
    """The document of one group version; None where it is not served.

    A request with a `hash` that is not the document's is redirected to `v3_url`.
    """
    if not registry.has_version(group, version):
        return None
    kept = kept_for(registry)
    key = ("openapi", "v3", group, version)
    if key not in kept:
        served = registry.in_version(group, version)
        security = {"BearerToken": {"type": "apiKey", "name": "authorization", "in": "header"}}
        body = {
            "openapi": "3.0.0",
            "info": {**_INFO, "title": "Kubernetes"},
            "paths": _paths(served, "v3"),
            "components": {"schemas": _schemas(served, "v3"), "securitySchemes": security},
        }
        kept[key] = Document(msgspec.json.encode(body), etag=f'"{_hash(served)}"')
    return kept[key]


def v3_url(registry: Registry, group: str, version: str) -> str:
    """Where a group version's document is, with its hash."""
    tag = _hash(registry.in_version(group, version))
    return f"/openapi/v3/{_place(group, version)}?hash={tag}"


def group_version_of(place: str) -> tuple[str, str] | None:
    """The group version that the rest of a path below `/openapi/v3/` names."""
    match place.strip("/").split("/"):
        case ["api", version]:
            return "", version
        case ["apis", group, version]:
            return group, version
    return None


def _place(group: str, version: str) -> str:
    return f"apis/{group}/{version}" if group else f"api/{version}"


def _paths(served: Iterable[ServedResource], dialect: Dialect) -> dict[str, Any]:
    found = [paths_of(each, dialect) for each in served]
    return dict(sorted((path, item) for paths in found for path, item in paths.items()))


def _schemas(served: Iterable[ServedResource], dialect: Dialect) -> dict[str, Any]:
    kinds = tuple(served)
    found = schemas_of(_classes(kinds), dialect)
    for each in kinds:
        if each.custom is not None:
            found |= custom_schemas(each, dialect)
    return dict(sorted(found.items()))


def _classes(served: Iterable[ServedResource]) -> Iterator[type[Model]]:
    yield ObjectMeta
    yield ListMeta
    for each in served:
        names = {(each.group, each.version, each.list_kind)} if each.custom is None else set()
        names |= {(part.group, part.version, part.kind) for part in each.parts}
        names |= {(each.group, each.version, each.kind)}
        yield from (cls for name in sorted(names) if (cls := class_for(*name)) is not None)


def _hash(served: Iterable[ServedResource]) -> str:
    """What a document is made of, hashed: building all of them for the index costs too much."""
    said = [_FORMAT, _INFO["version"], *map(_told, served)]
    return hashlib.sha512(msgspec.json.encode(said)).hexdigest().upper()


def _told(served: ServedResource) -> list[Any]:
    told: list[Any] = [served.group, served.version, served.plural, served.kind]
    told += [served.namespaced, served.verbs, served.parts]
    return [*told, served.custom.schema.raw] if served.custom else told
