"""Malformed requests: the right Status, no traceback, nothing stored, and the server keeps running."""

from __future__ import annotations

import asyncio
import json
import random
from typing import Any

import pytest

from kubeloop_testing.server import Service
from tests.testing.server.conftest import Api
from tests.testing.server.server_objects import (
    CONFIG_MAPS,
    DEPLOYMENTS,
    PODS,
    definition,
    deployment,
    pod,
)


async def _raw(server: Service, *parts: bytes, close: bool = True) -> bytes:
    """Send bytes and read until the server closes the connection."""
    host, port = server.url.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    try:
        for part in parts:
            writer.write(part)
            await writer.drain()
        if close:
            writer.write_eof()
        async with asyncio.timeout(3):
            return await reader.read()
    finally:
        writer.close()


def _request(body: bytes, *, headers: str = "", path: str = CONFIG_MAPS) -> bytes:
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{headers}\r\n"
    return head.encode() + body


@pytest.mark.parametrize(
    "sent",
    [
        b"nonsense\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET  HTTP/1.1\r\n\r\n",
        b"GET /api/v1/pods HTTP/1.1\r\nBroken\r\n\r\n",
        b"GET /" + b"a" * 20_000 + b" HTTP/1.1\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        _request(b"zz\r\nabc\r\n0\r\n\r\n", headers="Transfer-Encoding: chunked\r\n"),
        _request(b"{}", headers="Content-Length: abc\r\n"),
        _request(b"{}", headers="Content-Length: 2\r\nContent-Encoding: gzip\r\n"),
        _request(b"\x00\xff", headers="Content-Length: 2\r\n"),
    ],
)
async def test_what_is_no_http_is_a_bad_request(api: Api, server: Service, sent: bytes) -> None:
    response = await _raw(server, sent)

    assert not response or response.startswith((b"HTTP/1.1 400", b"HTTP/1.0 400")), response
    assert b"Traceback" not in response
    if response:
        assert json.loads(response.split(b"\r\n\r\n", 1)[1])["kind"] == "Status"
    assert (await api.get(CONFIG_MAPS)).json["items"] == []


async def test_a_client_that_sends_half_a_body_and_goes_changes_nothing(
    api: Api, server: Service
) -> None:
    await _raw(server, _request(b'{"metadata":', headers="Content-Length: 500\r\n"))

    assert (await api.get(CONFIG_MAPS)).json["items"] == []


@pytest.mark.parametrize("depth", [200, 5_000, 200_000])
async def test_deep_nesting_is_refused_or_dropped(api: Api, depth: int) -> None:
    body = b'{"metadata":{"name":"a"},"x":' + b"[" * depth + b"]" * depth + b"}"

    response = await api("POST", CONFIG_MAPS, body)

    assert response.code in {201, 400, 422}
    assert b"Traceback" not in response.raw


async def test_deep_nesting_in_yaml_and_patches_is_refused(api: Api) -> None:
    await api.create(CONFIG_MAPS, {"metadata": {"name": "a"}})
    deep = b"[" * 50_000 + b"]" * 50_000

    yaml = await api("POST", CONFIG_MAPS, deep, headers={"Content-Type": "application/yaml"})
    merge = await api.patch(f"{CONFIG_MAPS}/a", b'{"x":' + deep + b"}")

    assert (yaml.code, merge.code) == (400, 400)


# --- a bounded fuzz test: thousands of slightly wrong requests

_ODD: list[Any] = [
    None,
    True,
    0,
    -1,
    2**70,
    1.5,
    "",
    "x" * 300,
    "\u0000",
    "é\ud7ff",
    "A_B",
    [],
    [None],
    [[]],
    {},
    {"": None},
    {"a": {"b": {"c": []}}},
]
_METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE", "FOO")
_PATHS = (
    CONFIG_MAPS,
    f"{CONFIG_MAPS}/a",
    PODS,
    f"{PODS}/web",
    f"{PODS}/web/status",
    f"{PODS}/web/log",
    f"{PODS}/web/eviction",
    f"{PODS}/web/binding",
    f"{PODS}/web/exec",
    DEPLOYMENTS,
    f"{DEPLOYMENTS}/web",
    f"{DEPLOYMENTS}/web/scale",
    "/api/v1/namespaces",
    "/api/v1/namespaces/default/services",
    "/api/v1/namespaces/default/serviceaccounts/default/token",
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
    "/apis/rbac.authorization.k8s.io/v1/clusterroles",
    "/apis/authorization.k8s.io/v1/subjectaccessreviews",
    "/apis/authentication.k8s.io/v1/tokenreviews",
    "/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers",
    "/apis/batch/v1/namespaces/default/cronjobs",
    "/apis/networking.k8s.io/v1/namespaces/default/ingresses",
    "/apis//v1/x",
    "/api/v1/%00",
    "/openapi/v3/apis/x/y",
    "/",
)
_TYPES = (
    "application/json",
    "application/yaml",
    "application/json-patch+json",
    "application/merge-patch+json",
    "application/strategic-merge-patch+json",
    "application/apply-patch+yaml",
    "text/plain",
    ";;;",
)
_QUERIES: tuple[dict[str, str], ...] = (
    {},
    {"dryRun": "All"},
    {"dryRun": "x"},
    {"limit": "-1"},
    {"limit": "1e9"},
    {"continue": "AAAA"},
    {"labelSelector": "a in (b"},
    {"fieldSelector": "=,=,="},
    {"resourceVersion": "-1"},
    {"fieldManager": "me", "force": "1"},
    {"fieldValidation": "Strict"},
    {"gracePeriodSeconds": "x"},
    {"pretty": "true"},
    {"container": "\u0000", "tailLines": "-1"},
    {"x" * 300: "y"},
)


def _mangled(chance: random.Random, value: Any) -> Any:
    """`value` with one thing in it replaced by something odd."""
    if chance.random() < 0.15 or not isinstance(value, dict | list) or not value:
        return chance.choice(_ODD)
    if isinstance(value, list):
        index = chance.randrange(len(value))
        return [_mangled(chance, each) if i == index else each for i, each in enumerate(value)]
    key = chance.choice(list(value))
    if chance.random() < 0.1:
        return {**value, chance.choice(["unknown", "kind", "metadata"]): chance.choice(_ODD)}
    return {**value, key: _mangled(chance, value[key])}


def _method(chance: random.Random, path: str) -> str:
    """Mostly a method that the path supports."""
    if chance.random() < 0.2:
        return chance.choice(_METHODS)
    if path.endswith(("/a", "/web", "/status", "/scale")):
        return chance.choice(("PUT", "PATCH", "GET"))
    return "POST"


def _type(chance: random.Random, method: str) -> str:
    if chance.random() < 0.2:
        return chance.choice(_TYPES)
    return chance.choice(_TYPES[2:6]) if method == "PATCH" else "application/json"


def _body(chance: random.Random) -> bytes:
    rule = {"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}
    target = {"kind": "Deployment", "name": "web", "apiVersion": "apps/v1"}
    backend = {"service": {"name": "s", "port": {"number": 80}}}
    path = {"path": "/", "pathType": "Prefix", "backend": backend}
    template = {"spec": {**pod("x")["spec"], "restartPolicy": "Never"}}
    seeds: list[Any] = [
        definition(),
        {"metadata": {"name": "s"}, "spec": {"selector": {"a": "b"}, "ports": [{"port": 80}]}},
        {"metadata": {"name": "r"}, "rules": [rule], "aggregationRule": {}},
        {"metadata": {"name": "h"}, "spec": {"scaleTargetRef": target, "maxReplicas": 3}},
        {"metadata": {"name": "i"}, "spec": {"rules": [{"http": {"paths": [path]}}]}},
        {
            "metadata": {"name": "c"},
            "spec": {"schedule": "* * * * *", "jobTemplate": {"spec": {"template": template}}},
        },
        pod("web", app="x"),
        deployment("web"),
        {"metadata": {"name": "a"}, "data": {"x": "y"}},
        {"spec": {"replicas": 3}},
        [{"op": "add", "path": "/metadata/labels", "value": {}}],
        {"metadata": {"name": "web"}, "target": {"name": "n"}},
        {"spec": {"token": "x", "resourceAttributes": {"verb": "get"}}},
    ]
    text = json.dumps(_mangled(chance, chance.choice(seeds))).encode()
    if chance.random() < 0.15:
        cut = chance.randrange(len(text) + 1)
        return text[:cut] + chance.choice([b"", b"\xff", b"}", b"\x00"])
    return text


@pytest.mark.timeout(60)
@pytest.mark.parametrize("seed", range(4))
async def test_thousands_of_malformed_requests_do_the_server_no_harm(
    server: Service, api: Api, seed: int, caplog: pytest.LogCaptureFixture
) -> None:
    chance = random.Random(seed)
    await api.create(PODS, pod("web", app="x"))
    await api.create(DEPLOYMENTS, deployment("web"))

    for _ in range(700):
        path = chance.choice(_PATHS)
        method = _method(chance, path)
        query = chance.choice(_QUERIES) if chance.random() < 0.4 else {}
        headers = {"Content-Type": _type(chance, method)}
        response = await api(method, path, _body(chance), headers=headers, **query)
        # kube-apiserver itself responds with some 500s, but never "the server failed".
        assert response.code != 500 or not response.reason, (method, path, query, headers, response)
        assert b"Traceback" not in response.raw

    assert "the server failed" not in caplog.text
    assert (await api.get("/readyz")).raw == b"ok"
    assert (await api.get(PODS)).code == 200
