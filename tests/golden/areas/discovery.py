"""Mapping of names to resources and back, by the discovery documents of a server."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Callable, Coroutine, Iterator
from typing import Any

import msgspec

from kubeloop.discovery import (
    DiscoveryClient,
    DiscoveryResult,
    RESTMapper,
    expand_category,
    guess_plural,
)
from kubeloop.discovery.parsing import parse_aggregated
from kubeloop.errors import api_error, failure
from kubeloop.meta import GroupKind, GroupVersion, GroupVersionResource
from kubeloop.rest import Request
from tests.golden.case import Area, Case

_KINDS = [
    *(
        "Pod",
        "Service",
        "Ingress",
        "NetworkPolicy",
        "Endpoints",
        "EndpointSlice",
        "Status",
        "Class",
    ),
    *(
        "Box",
        "Bus",
        "Day",
        "Key",
        "Fly",
        "y",
        "s",
        "Y",
        "S",
        "",
        "endpoints",
        "MyEndpoints",
        "Gateway",
    ),
    *(
        "Policy",
        "Proxy",
        "Quiz",
        "Leaf",
        "Data",
        "Sheep",
        "HTTPRoute",
        "IPAddress",
        "Mesh",
        "Batch",
    ),
]


def _row(name: str, kind: str, *, namespaced: bool = True, **more: Any) -> dict[str, Any]:
    return {"name": name, "kind": kind, "namespaced": namespaced, "verbs": ["get", "list"], **more}


def _server(*groups: tuple[str, str, dict[str, list[dict[str, Any]]]]) -> dict[str, Any]:
    """Documents of a server; a group is its name, its preferred version, and its rows."""
    served: dict[str, Any] = {}
    listed = []
    for name, preferred, versions in groups:
        for version, rows in versions.items():
            path = f"/apis/{name}/{version}" if name else f"/api/{version}"
            text = f"{name}/{version}" if name else version
            served[path] = {"kind": "APIResourceList", "groupVersion": text, "resources": rows}
        if not name:
            served["/api"] = {"kind": "APIVersions", "versions": list(versions)}
            continue
        named = [{"groupVersion": f"{name}/{each}", "version": each} for each in versions]
        chosen = {"groupVersion": f"{name}/{preferred}", "version": preferred}
        listed.append({"name": name, "versions": named, "preferredVersion": chosen})
    served["/apis"] = {"kind": "APIGroupList", "apiVersion": "v1", "groups": listed}
    return served


_POD = _row("pods", "Pod", singularName="pod", shortNames=["po"], categories=["all"])
_STATUS = _row("pods/status", "Pod")
_NODE = _row("nodes", "Node", namespaced=False, singularName="node", shortNames=["no"])
_DEPLOYMENT = _row("deployments", "Deployment", shortNames=["deploy"], categories=["all"])
_SCALE = _row("deployments/scale", "Scale", group="autoscaling", version="v1")
_EVENT = _row("events", "Event", shortNames=["ev"])
_SERVERS = {
    "usual": _server(
        ("", "v1", {"v1": [_POD, _STATUS, _NODE, _EVENT]}),
        ("apps", "v1", {"v1": [_DEPLOYMENT, _SCALE], "v1beta1": [_DEPLOYMENT]}),
        ("events.k8s.io", "v1", {"v1": [_EVENT]}),
        (
            "metrics.k8s.io",
            "v1beta1",
            {
                "v1beta1": [
                    _row("pods", "PodMetrics"),
                    _row("nodes", "NodeMetrics", namespaced=False),
                ]
            },
        ),
    ),
    "preferences": _server(
        (
            "a.example",
            "v1beta1",
            {
                "v1": [_row("widgets", "Widget"), _row("only1s", "Only1")],
                "v1beta1": [
                    _row("widgets", "Widget"),
                    _row("onlybetas", "OnlyBeta", namespaced=False),
                ],
            },
        ),
        ("b.example", "v2", {"v2": [_row("widgets", "Widget", shortNames=["w"])], "v1": []}),
        ("c.example", "v1", {"v1": [_row("gadgets", "Gadget", shortNames=["w", "g"])]}),
    ),
    "core only": _server(("", "v1", {"v1": [_POD, _NODE]})),
    "nothing": _server(),
}
_GROUPS = [
    "",
    "apps",
    "app",
    "metrics",
    "metrics.k8s.io",
    "a.example",
    "b",
    "nope",
    "events.k8s.io",
]
_NAMES = [
    *("pods", "pod", "Pods", "po", "nodes", "no", "deployments", "deployment", "deploy", "events"),
    *("ev", "widgets", "widget", "w", "g", "gadgets", "only1s", "onlybetas", "pods/status", ""),
]
_KIND_NAMES = [
    "Pod",
    "pod",
    "PodList",
    "Node",
    "Deployment",
    "Event",
    "Widget",
    "Only1",
    "Nope",
    "",
]


_RESPONSE_KINDS: list[dict[str, str] | None] = [
    None,
    {},
    *({"kind": "Scale", "group": group} for group in ("", "apps", "autoscaling")),
    *(
        {"kind": kind, "group": group, "version": version}
        for kind in ("Scale", "")
        for group in ("", "apps", "autoscaling")
        for version in ("v1", "v2")
    ),
    {"group": "autoscaling"},
    {"version": "v1"},
]


def _aggregated(kind: dict[str, str] | None, *, freshness: str = "Current") -> dict[str, Any]:
    """A group whose resource, and whose subresource, respond with `kind`."""
    answer = {} if kind is None else {"responseKind": kind}
    part = {"subresource": "scale", "verbs": ["get"], **answer}
    deployments = {"resource": "deployments", "scope": "Namespaced", "subresources": [part]}
    named = {**deployments, "singularResource": "deployment", "verbs": ["get"], **answer}
    versions = [
        {"version": "v2", "freshness": freshness, "resources": []},
        {"version": "v1", "resources": [named]},
    ]
    return {"items": [{"metadata": {"name": "apps"}, "versions": versions}]}


def _cases() -> Iterator[Case]:
    for freshness, response_kind in itertools.product(("Current", "Stale"), _RESPONSE_KINDS):
        yield Case("discovery.aggregated", _aggregated(response_kind, freshness=freshness))
    for kind in _KINDS:
        yield Case("mapper.guess", kind)
    for server, documents in _SERVERS.items():
        yield Case("server.describe", {"server": server, "documents": documents})
        yield from _inputs(server)


def _inputs(server: str) -> Iterator[Case]:
    for group, version, name in itertools.product(_GROUPS, ("", "v1", "v1beta1"), _NAMES):
        wanted = {"group": group, "version": version, "resource": name, "server": server}
        if group in ("", "apps", "metrics", "a.example", "b") and version != "v1beta1":
            yield Case("mapper.resourceFor", wanted)
            yield Case("mapper.expand", wanted)
        if version == "" and group in ("", "apps", "a.example"):
            yield Case("mapper.resourcesFor", wanted)
            yield Case("mapper.kindsFor", wanted)
            yield Case("mapper.kindFor", wanted)
    for group, kind in itertools.product(("", "apps", "a.example", "metrics.k8s.io"), _KIND_NAMES):
        for versions in ([], ["v1"], ["v1beta1"], ["v9", "v1"], ["v9"], [""]):
            given = {"group": group, "kind": kind, "versions": versions, "server": server}
            yield Case("mapper.mapping", given)
    for name in _NAMES if server != "nothing" else ("pods",):
        yield Case("mapper.singular", {"resource": name, "server": server})
    for category in ("all", "none", ""):
        yield Case("mapper.category", {"category": category, "server": server})
    yield Case("discovery.preferred", {"server": server})
    yield Case("discovery.preferredNamespaced", {"server": server})
    for group, version in (("", "v1"), ("apps", "v1"), ("apps", "v9"), ("nope", "v1")):
        given = {"group": group, "version": version, "server": server}
        yield Case("discovery.supports", given)
        for name in ("pods", "deployments", "nope"):
            yield Case("discovery.serves", {**given, "resource": name})


class _Response(msgspec.Struct, frozen=True):
    body: bytes
    content_type: str = "application/json"


class _Documents:
    """A server with fixed responses by path; other paths are not found."""

    def __init__(self, documents: dict[str, Any]) -> None:
        self._documents = documents

    async def send(self, request: Request, /) -> _Response:
        found = self._documents.get(request.path)
        if found is None:
            raise api_error(request.action, failure("NotFound", "not found"))
        return _Response(json.dumps(found).encode())


_Asked = Callable[[DiscoveryClient, Any], Coroutine[Any, Any, Any]]
_Mapped = Callable[[RESTMapper, Any], Any]


def _client(ask: _Asked) -> Callable[[Any], Any]:
    def answer(given: Any) -> Any:
        client = DiscoveryClient(_Documents(_SERVERS[given["server"]]), legacy=True)
        return asyncio.run(ask(client, given))

    return answer


def _mapper(ask: _Mapped) -> Callable[[Any], Any]:
    async def call(client: DiscoveryClient, given: Any) -> Any:
        return ask(RESTMapper(await client.discover()), given)

    return _client(call)


def _wanted(given: Any) -> GroupVersionResource:
    return GroupVersionResource(given["group"], given["version"], given["resource"])


def _resource(found: GroupVersionResource) -> list[str]:
    return [found.group, found.version, found.resource]


def _mapping(mapper: RESTMapper, given: Any) -> Any:
    found = mapper.mapping(GroupKind(given["group"], given["kind"]), *given["versions"])
    return [
        [found.group, found.version, found.plural],
        [found.group, found.version, found.kind],
        found.namespaced,
    ]


async def _expand(client: DiscoveryClient, given: Any) -> Any:
    warnings: list[str] = []
    mapper = RESTMapper(await client.discover(), on_warning=warnings.append)
    found = mapper.resource_for(mapper.expand(_wanted(given)))
    return {"resource": _resource(found), "warnings": len(warnings)}


async def _category(client: DiscoveryClient, given: Any) -> Any:
    found: DiscoveryResult = await client.discover()
    return [[each.group, each.resource] for each in expand_category(found, given["category"])]


def _discover_aggregated(documents: Any) -> Any:
    found = parse_aggregated(json.dumps(documents).encode())
    return {
        "groups": [[group.name, group.preferred] for group in found.groups],
        "resources": {
            str(version): [[r.name, r.group, r.version, r.kind, r.singular] for r in rows]
            for version, rows in found.resources.items()
        },
        "stale": sorted(map(str, found.failures)),
    }


def _preferred(*, namespaced: bool) -> Callable[[Any], Any]:
    async def call(client: DiscoveryClient, given: Any) -> Any:
        found = await client.preferred(namespaced=namespaced)
        return sorted([str(version), row.name] for version, rows in found.items() for row in rows)

    return _client(call)


AREA = Area(
    _cases,
    {
        "server.describe": lambda given: None,
        "mapper.guess": lambda kind: [guess_plural(kind), kind.lower()],
        "mapper.resourceFor": _mapper(lambda m, given: _resource(m.resource_for(_wanted(given)))),
        "mapper.resourcesFor": _mapper(
            lambda m, given: [_resource(each) for each in m.resources_for(_wanted(given))]
        ),
        "mapper.kindFor": _mapper(
            lambda m, given: list(msgspec.structs.astuple(m.kind_for(_wanted(given))))
        ),
        "mapper.kindsFor": _mapper(
            lambda m, given: [list(msgspec.structs.astuple(k)) for k in m.kinds_for(_wanted(given))]
        ),
        "mapper.mapping": _mapper(_mapping),
        "mapper.singular": _mapper(lambda m, given: m.singular_of(given["resource"])),
        "mapper.expand": _client(_expand),
        "mapper.category": _client(_category),
        "discovery.aggregated": _discover_aggregated,
        "discovery.preferred": _preferred(namespaced=False),
        "discovery.preferredNamespaced": _preferred(namespaced=True),
        "discovery.supports": _client(
            lambda client, given: client.supports(GroupVersion(given["group"], given["version"]))
        ),
        "discovery.serves": _client(lambda client, given: client.serves(_wanted(given))),
    },
)
