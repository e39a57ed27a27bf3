"""Group versions, kinds, resources, keys of objects, and the order of versions."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from typing import Any

from kubeloop.meta import (
    GroupKind,
    GroupResource,
    GroupVersion,
    GroupVersionKind,
    ObjectKey,
    api_version_rank,
    compare_versions,
)
from tests.golden.case import Area, Case

_TEXTS = [
    *("", "v1", "apps/v1", "/", "/v1", "apps/", "a/b/c", "//", "a//b", "a b/c", ".", "a.b/v1"),
    *(
        "pods",
        "deployments.apps",
        "a.b.c",
        ".a",
        "a.",
        "..",
        "Deployment.apps",
        "é/ü",
        "/a/b",
        "a/b/",
    ),
]
_KIND_PARTS = ("", "apps", "a.b"), ("", "v1", "v2beta1"), ("", "Pod", "a/b")
_VERSIONS = [
    *(
        "v1",
        "v2",
        "v10",
        "v1alpha1",
        "v1alpha2",
        "v1beta1",
        "v2beta1",
        "v10beta3",
        "v1beta10",
        "foo",
    ),
    *(
        "foo1",
        "foo10",
        "v",
        "v0",
        "v01",
        "V1",
        "v1gamma1",
        "v1beta",
        "v1alpha0",
        "1",
        "",
        "v1beta1x",
    ),
    *("v-1", "v1.0", "v11alpha2", "v3beta1", "v12alpha1", "v11beta2", "v99999999999999999999"),
]
_RESOURCE_VERSIONS = [
    *("", "0", "1", "2", "10", "9", "01", "00", "-1", "+1", "1 ", " 1", "a", "1a", "1.0", "\u0663"),
    *(
        "99999999999999999999",
        "100000000000000000000",
        "18446744073709551616",
        "18446744073709551615",
    ),
]
_KEYS = ["", "a", "a/b", "/", "/a", "a/", "a/b/c", "//", " / ", "é/ü", "a//b"]


def _cases() -> Iterator[Case]:
    for text in _TEXTS:
        for operation in ("groupVersion.parse", "groupKind.parse", "groupResource.parse"):
            yield Case(operation, text)
        yield Case("groupVersionKind.of", [text, "Pod"])
    for parts in itertools.product(*_KIND_PARTS):
        yield Case("groupVersionKind.text", parts)
    source = random.Random(3)
    for first, second in itertools.product(_VERSIONS, _VERSIONS):
        yield Case("versions.order", [first, second])
    for _ in range(40):
        yield Case("versions.order", source.sample(_VERSIONS, k=8))
    for pair in itertools.product(_RESOURCE_VERSIONS, _RESOURCE_VERSIONS):
        yield Case("resourceVersion.compare", pair)
    for text in _KEYS:
        yield Case("key.split", text)
    for namespace, name in itertools.product(("", "shop", "a/b"), ("", "web", "a/b")):
        yield Case("key.of", {"namespace": namespace, "name": name})
    yield Case("key.of", None)


def _group_version(text: str) -> Any:
    found = GroupVersion.parse(text)
    return {"group": found.group, "version": found.version, "text": str(found)}


def _kind_text(given: list[str]) -> list[str]:
    found = GroupVersionKind(*given)
    return [str(found), str(found.group_version), str(found.group_kind)]


def _key(given: Any) -> str:
    return str(ObjectKey.of({} if given is None else {"metadata": given}))


def _parts(*parts: object) -> list[str]:
    return [str(part) for part in parts]


def _group_kind(text: str) -> list[str]:
    found = GroupKind.parse(text)
    return _parts(found.group, found.kind, found)


def _group_resource(text: str) -> list[str]:
    found = GroupResource.parse(text)
    return _parts(found.group, found.resource, found)


def _kind_of(given: list[str]) -> list[str]:
    found = GroupVersionKind.of(*given)
    return [found.group, found.version, found.kind]


def _split(text: str) -> list[str]:
    found = ObjectKey.parse(text)
    return [found.namespace, found.name]


AREA = Area(
    _cases,
    {
        "groupVersion.parse": _group_version,
        "groupKind.parse": _group_kind,
        "groupResource.parse": _group_resource,
        "groupVersionKind.of": _kind_of,
        "groupVersionKind.text": _kind_text,
        "versions.order": lambda given: sorted(given, key=api_version_rank),
        "resourceVersion.compare": lambda given: compare_versions(*given),
        "key.split": _split,
        "key.of": _key,
    },
)
