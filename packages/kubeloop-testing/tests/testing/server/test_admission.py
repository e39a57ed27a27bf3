"""Mutating and validating webhooks, and the namespace lifecycle."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from aiohttp import web

from kubeloop.kit import ManualClock
from kubeloop_testing.server.access.certs import Authority, server_context
from kubeloop_testing.server.admission.plugins.namespace_lifecycle import check_namespace
from kubeloop_testing.server.admission.webhook_calls import CallFailed, post
from kubeloop_testing.server.admission.webhooks import (
    AdmissionRequest,
    Target,
    Webhooks,
)
from kubeloop_testing.server.identity import User
from kubeloop_testing.server.registry import Registry
from kubeloop_testing.server.statuses import StatusError
from tests.support.https import serve_app

ANN = User("ann", "7", ("dev",), {"team": ("x",)})
PODS = Target("", "v1", "pods", "Pod")
POD: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "web", "namespace": "shop", "labels": {"app": "web"}},
}
SHOP = {"metadata": {"name": "shop", "labels": {"team": "x"}}}
RULE = {"operations": ["*"], "apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*/*"]}

Answer = Callable[[dict[str, Any]], dict[str, Any] | bytes]


def _hook(name: str = "h", **more: Any) -> dict[str, Any]:
    return {
        "name": name,
        "clientConfig": {"url": f"https://{name}/check"},
        "rules": [RULE],
        "admissionReviewVersions": ["v1"],
        "sideEffects": "None",
        **more,
    }


def _allow(request: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"uid": request["uid"], "allowed": True, **more}


class World:
    """Stored configurations, and webhooks that respond by function."""

    def __init__(self) -> None:
        self.mutating: list[dict[str, Any]] = []
        self.validating: list[dict[str, Any]] = []
        self.responses: dict[str, Answer] = {}
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.urls: list[str] = []
        self.trusted: list[bytes | None] = []

    def objects(self, group: str, plural: str) -> Iterable[dict[str, Any]]:
        return {
            "mutatingwebhookconfigurations": self.mutating,
            "validatingwebhookconfigurations": self.validating,
            "namespaces": [SHOP],
        }[plural]

    def mutates(self, *hooks: dict[str, Any], name: str = "m") -> None:
        self.mutating.append({"metadata": {"name": name}, "webhooks": list(hooks)})

    def validates(self, *hooks: dict[str, Any], name: str = "v") -> None:
        self.validating.append({"metadata": {"name": name}, "webhooks": list(hooks)})

    async def post(
        self, url: str, body: bytes, ca_bundle: bytes | None, seconds: float, /
    ) -> tuple[int, bytes]:
        review = json.loads(body)
        host = url.split("/")[2]
        self.calls.append((host, review))
        self.urls.append(url)
        self.trusted.append(ca_bundle)
        response = self.responses.get(host, _allow)(review["request"])
        if isinstance(response, bytes):
            return 200, response
        reviewed = {
            "kind": "AdmissionReview",
            "apiVersion": review["apiVersion"],
            "response": response,
        }
        return 200, json.dumps(reviewed).encode()

    @property
    def webhooks(self) -> Webhooks:
        return Webhooks(self.objects, self.post)


@pytest.fixture
def world() -> World:
    return World()


def _request(operation: str = "CREATE", **more: Any) -> AdmissionRequest:
    response: dict[str, Any] = {"name": "web", "namespace": "shop", "obj": POD, **more}
    return AdmissionRequest(operation, response.pop("target", PODS), ANN, **response)


def _patch(*operations: dict[str, Any]) -> dict[str, str]:
    text = base64.b64encode(json.dumps(operations).encode()).decode()
    return {"patch": text, "patchType": "JSONPatch"}


# --- requests


async def test_a_webhook_gets_the_operation_the_object_and_the_user(world: World) -> None:
    world.validates(_hook())
    options = {"kind": "CreateOptions", "apiVersion": "meta.k8s.io/v1"}

    await world.webhooks.validate(_request(options=options, dry_run=True))

    [(_, review)] = world.calls
    request = review["request"]
    assert (review["kind"], review["apiVersion"]) == ("AdmissionReview", "admission.k8s.io/v1")
    assert request.pop("uid")
    assert request == {
        "kind": {"group": "", "version": "v1", "kind": "Pod"},
        "resource": {"group": "", "version": "v1", "resource": "pods"},
        "requestKind": {"group": "", "version": "v1", "kind": "Pod"},
        "requestResource": {"group": "", "version": "v1", "resource": "pods"},
        "name": "web",
        "namespace": "shop",
        "operation": "CREATE",
        "userInfo": {
            "username": "ann",
            "uid": "7",
            "groups": ["dev"],
            "extra": {"team": ["x"]},
        },
        "object": POD,
        "oldObject": None,
        "dryRun": True,
        "options": options,
    }


async def test_the_timeout_and_the_trusted_certificates_are_handed_over(world: World) -> None:
    config = {"url": "https://h/x", "caBundle": base64.b64encode(b"pem").decode()}
    world.validates(_hook(timeoutSeconds=3, clientConfig=config))

    await world.webhooks.validate(_request())

    assert world.urls == ["https://h/x?timeout=3s"]
    assert world.trusted == [b"pem"]


@pytest.mark.parametrize(
    ("path", "called"), [("//x", "/x"), ("/a/../b/", "/b"), ("", "/"), ("/a//b", "/a/b")]
)
async def test_the_path_of_a_webhook_is_cleaned(world: World, path: str, called: str) -> None:
    world.validates(_hook(clientConfig={"url": f"https://h{path}"}))

    await world.webhooks.validate(_request())

    assert world.urls == [f"https://h{called}?timeout=10s"]


# --- responses


async def test_patches_are_applied_one_after_the_other_by_name(world: World) -> None:
    world.mutates(_hook("b"), name="z")
    world.mutates(_hook("a"), name="y")
    label = {"op": "add", "path": "/metadata/labels/by", "value": "a"}
    world.responses["a"] = lambda request: _allow(request, **_patch(label), warnings=["from a"])
    world.responses["b"] = lambda request: _allow(
        request,
        **_patch({"op": "test", "path": "/metadata/labels/by", "value": "a"}),
        auditAnnotations={"k": "v"},
    )

    admitted = await world.webhooks.mutate(_request())

    assert [host for host, _ in world.calls] == ["a", "b"]
    assert admitted.obj is not None
    assert admitted.obj["metadata"]["labels"] == {"app": "web", "by": "a"}
    assert admitted.warnings == ("from a",)
    assert admitted.annotations == {"b/k": "v"}
    assert POD["metadata"]["labels"] == {"app": "web"}


async def test_a_denial_keeps_code_reason_and_details(world: World) -> None:
    world.validates(_hook("deny.example.com"))
    status = {
        "code": 409,
        "reason": "Conflict",
        "message": "no pods today",
        "details": {"name": "web"},
    }
    world.responses["deny.example.com"] = lambda request: {
        "uid": request["uid"],
        "allowed": False,
        "status": status,
    }

    with pytest.raises(StatusError) as error:
        await world.webhooks.validate(_request())

    assert error.value.status == {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": 'admission webhook "deny.example.com" denied the request: no pods today',
        "reason": "Conflict",
        "details": {"name": "web"},
        "code": 409,
    }


@pytest.mark.parametrize(
    ("status", "code", "end"),
    [
        (None, 400, " without explanation"),
        ({"code": 200}, 400, " without explanation"),
        ({"reason": "Forbidden", "code": 403}, 403, ": Forbidden"),
    ],
)
async def test_a_denial_that_says_little_is_a_denial(
    world: World, status: dict[str, Any] | None, code: int, end: str
) -> None:
    world.mutates(_hook())
    world.responses["h"] = lambda request: {
        "uid": request["uid"],
        "allowed": False,
        "status": status,
    }

    with pytest.raises(StatusError) as error:
        await world.webhooks.mutate(_request())

    assert error.value.code == code
    assert error.value.status["message"] == f'admission webhook "h" denied the request{end}'


BAD_ANSWERS: list[tuple[str, Answer]] = [
    ("webhook response was absent", lambda request: b"{}"),
    ("json parse error", lambda request: b"<html>"),
    ('expected response.uid="', lambda request: {"uid": "other", "allowed": True}),
    (
        "expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got /v1, Kind=Pod",
        lambda request: json.dumps(
            {"kind": "Pod", "apiVersion": "v1", "response": _allow(request)}
        ).encode(),
    ),
    (
        "webhook returned response.patch but not response.patchType",
        lambda request: _allow(request, patch="W10="),
    ),
    (
        "webhook returned response.patchType but not response.patch",
        lambda request: _allow(request, patchType="JSONPatch"),
    ),
    (
        'unsupported patch type "Magic"',
        lambda request: _allow(request, patch="W10=", patchType="Magic"),
    ),
    (
        "received undecodable patch in webhook response",
        lambda request: _allow(request, patch="e30=", patchType="JSONPatch"),
    ),
]


@pytest.mark.parametrize(("message", "response"), BAD_ANSWERS, ids=[e[0] for e in BAD_ANSWERS])
async def test_an_answer_that_is_none_decides_by_the_failure_policy(
    world: World, message: str, response: Answer
) -> None:
    world.mutates(_hook(failurePolicy="Fail"))
    world.responses["h"] = response

    with pytest.raises(StatusError) as error:
        await world.webhooks.mutate(_request())
    world.mutating[0]["webhooks"][0]["failurePolicy"] = "Ignore"
    ignored = await world.webhooks.mutate(_request())

    assert error.value.code == 500
    assert 'Internal error occurred: failed calling webhook "h": ' in str(error.value)
    assert message in str(error.value)
    assert ignored.obj == POD


@pytest.mark.parametrize("more", [{"patch": "W10="}, {"patchType": "JSONPatch"}])
async def test_a_validating_webhook_may_not_patch(world: World, more: dict[str, str]) -> None:
    world.validates(_hook())
    world.responses["h"] = lambda request: _allow(request, **more)

    with pytest.raises(StatusError, match="validating webhook may not return"):
        await world.webhooks.validate(_request())


async def test_a_patch_that_does_not_fit_is_an_internal_error(world: World) -> None:
    world.mutates(_hook(failurePolicy="Ignore"))
    world.responses["h"] = lambda request: _allow(
        request, **_patch({"op": "remove", "path": "/nope"})
    )

    with pytest.raises(StatusError) as error:
        await world.webhooks.mutate(_request())

    assert error.value.code == 500


async def test_a_deletion_cannot_be_patched(world: World) -> None:
    world.mutates(_hook())
    world.responses["h"] = lambda request: _allow(request, **_patch({"op": "remove", "path": "/x"}))

    with pytest.raises(StatusError, match="attempted to modify the object, which is not supported"):
        await world.webhooks.mutate(_request("DELETE", obj=None, old=POD))


async def test_all_validating_webhooks_are_called_and_the_first_denial_counts(world: World) -> None:
    world.validates(_hook("a"), _hook("b"), _hook("c"))
    for host in "bc":
        world.responses[host] = lambda request: {"uid": request["uid"], "allowed": False}

    with pytest.raises(StatusError, match='"b" denied'):
        await world.webhooks.validate(_request())

    assert sorted(host for host, _ in world.calls) == ["a", "b", "c"]


# --- calls that fail


async def test_a_service_cannot_be_reached_and_the_message_says_so(world: World) -> None:
    service = {"service": {"namespace": "shop", "name": "hook"}}
    world.validates(_hook(clientConfig=service))

    with pytest.raises(StatusError, match="this server has no service network") as error:
        await world.webhooks.validate(_request())

    assert 'service "shop/hook"' in str(error.value)
    assert world.calls == []


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (404, "the server could not find the requested resource"),
        (500, 'an error on the server ("boom") has prevented the request from succeeding'),
    ],
)
async def test_an_http_error_is_a_failed_call(world: World, status: int, message: str) -> None:
    async def fails(*rest: Any) -> tuple[int, bytes]:
        return status, b"boom"

    world.validates(_hook())

    with pytest.raises(StatusError) as error:
        await Webhooks(world.objects, fails).validate(_request())

    assert str(error.value) == (
        f'Internal error occurred: failed calling webhook "h": failed to call webhook: {message}'
    )


async def test_a_webhook_has_its_time_and_no_more(world: World) -> None:
    async def hangs(*rest: Any) -> tuple[int, bytes]:
        await asyncio.Event().wait()
        raise AssertionError

    clock = ManualClock()
    world.validates(_hook(timeoutSeconds=5))
    call = asyncio.ensure_future(Webhooks(world.objects, hangs, clock=clock).validate(_request()))

    await clock.advance(4.9)
    assert not call.done()
    await clock.advance(0.2)

    with pytest.raises(
        StatusError, match=r'Post "https://h/check\?timeout=5s": context deadline exceeded'
    ):
        await call


async def test_a_refused_connection_is_a_failed_call(world: World) -> None:
    async def refuses(*rest: Any) -> tuple[int, bytes]:
        raise ConnectionRefusedError("connection refused")

    world.mutates(_hook(failurePolicy="Ignore"))
    world.validates(_hook())
    webhooks = Webhooks(world.objects, refuses)

    assert (await webhooks.mutate(_request())).obj == POD
    with pytest.raises(StatusError, match="connection refused"):
        await webhooks.validate(_request())


# --- which webhooks are called


def _rule(**more: Any) -> dict[str, Any]:
    return {**RULE, **more}


DEPLOYMENTS = Target("apps", "v1", "deployments", "Deployment")
NODES = Target("", "v1", "nodes", "Node")
NAMESPACES = Target("", "v1", "namespaces", "Namespace")


@pytest.mark.parametrize(
    ("rule", "request_", "is_called"),
    [
        (_rule(operations=["CREATE", "UPDATE"]), _request("UPDATE"), True),
        (_rule(operations=["CREATE"]), _request("DELETE"), False),
        (_rule(apiGroups=["apps"]), _request(), False),
        (_rule(apiGroups=[""]), _request(), True),
        (_rule(apiGroups=["apps"]), _request(target=DEPLOYMENTS), True),
        (_rule(apiVersions=["v1beta1"]), _request(), False),
        (_rule(resources=["pods"]), _request(), True),
        (_rule(resources=["pods"]), _request(subresource="status"), False),
        (_rule(resources=["pods/status"]), _request(subresource="status"), True),
        (_rule(resources=["pods/status"]), _request(), False),
        (_rule(resources=["pods/*"]), _request(subresource="exec"), True),
        (_rule(resources=["*"]), _request(), True),
        (_rule(resources=["*"]), _request(subresource="status"), False),
        (_rule(resources=["*/scale"]), _request(subresource="scale"), True),
        (_rule(scope="Namespaced"), _request(), True),
        (_rule(scope="Cluster"), _request(), False),
        (_rule(scope="Cluster"), _request(target=NODES, namespace=""), True),
        (_rule(scope="Cluster"), _request(target=NAMESPACES, obj=SHOP), True),
        (_rule(scope="Namespaced"), _request(target=NAMESPACES, obj=SHOP), False),
    ],
)
async def test_rules_name_operations_resources_and_scope(
    world: World, rule: dict[str, Any], request_: AdmissionRequest, is_called: bool
) -> None:
    world.validates(_hook(rules=[rule]))

    await world.webhooks.validate(request_)

    assert bool(world.calls) is is_called
    assert world.webhooks.applies(request_) is is_called


OLD = {**POD, "metadata": {**POD["metadata"], "labels": {"app": "old"}}}
BARE = {"metadata": {"name": "shop", "labels": {}}}


@pytest.mark.parametrize(
    ("selectors", "request_", "is_called"),
    [
        ({"namespaceSelector": {"matchLabels": {"team": "x"}}}, _request(), True),
        ({"namespaceSelector": {"matchLabels": {"team": "y"}}}, _request(), False),
        (
            {"namespaceSelector": {"matchLabels": {"team": "y"}}},
            _request(target=NODES, namespace=""),
            True,
        ),
        (
            {"namespaceSelector": {"matchLabels": {"team": "x"}}},
            _request(target=NAMESPACES, obj=BARE),
            False,
        ),
        ({"objectSelector": {"matchLabels": {"app": "web"}}}, _request(), True),
        ({"objectSelector": {"matchLabels": {"app": "db"}}}, _request(), False),
        ({"objectSelector": {"matchLabels": {"app": "old"}}}, _request("UPDATE", old=OLD), True),
        ({"objectSelector": {}, "namespaceSelector": {}}, _request(), True),
    ],
)
async def test_selectors_look_at_namespace_and_object(
    world: World, selectors: dict[str, Any], request_: AdmissionRequest, is_called: bool
) -> None:
    world.validates(_hook(**selectors))

    await world.webhooks.validate(request_)

    assert bool(world.calls) is is_called


async def test_webhook_configurations_concern_no_webhook(world: World) -> None:
    own = Target(
        "admissionregistration.k8s.io",
        "v1",
        "validatingwebhookconfigurations",
        "ValidatingWebhookConfiguration",
    )
    world.validates(_hook())

    await world.webhooks.validate(_request(target=own, namespace=""))

    assert world.calls == []


@pytest.mark.parametrize("effects", ["Some", "Unknown", None])
async def test_a_webhook_with_side_effects_refuses_dry_runs(
    world: World, effects: str | None
) -> None:
    world.mutates(_hook(sideEffects=effects, failurePolicy="Ignore"))

    with pytest.raises(StatusError) as error:
        await world.webhooks.mutate(_request(dry_run=True))

    assert error.value.code == 400
    assert str(error.value) == 'admission webhook "h" does not support dry run'


async def test_an_equivalent_version_is_asked_for_in_the_version_of_the_rule(
    world: World,
) -> None:
    hpa = Target("autoscaling", "v1", "horizontalpodautoscalers", "HorizontalPodAutoscaler")
    obj = {"apiVersion": "autoscaling/v1", "kind": hpa.kind, "metadata": {"name": "web"}}
    rule = _rule(apiGroups=["autoscaling"], apiVersions=["v2"], resources=[hpa.plural])
    world.mutates(_hook(rules=[rule]))
    world.responses["h"] = lambda request: _allow(
        request, **_patch({"op": "add", "path": "/metadata/labels", "value": {"a": "b"}})
    )

    def convert(obj: dict[str, Any], group: str, kind: str, to: str) -> dict[str, Any]:
        return {**obj, "apiVersion": f"{group}/{to}"}

    webhooks = Webhooks(world.objects, world.post, registry=Registry(), convert=convert)
    admitted = await webhooks.mutate(_request(target=hpa, obj=obj))

    request = world.calls[0][1]["request"]
    assert request["kind"]["version"] == "v2"
    assert request["requestKind"]["version"] == "v1"
    assert request["object"]["apiVersion"] == "autoscaling/v2"
    assert admitted.obj is not None
    assert admitted.obj["apiVersion"] == "autoscaling/v1"
    assert admitted.obj["metadata"]["labels"] == {"a": "b"}

    world.mutating[0]["webhooks"][0]["matchPolicy"] = "Exact"
    assert not webhooks.applies(_request(target=hpa, obj=obj))


# --- over the wire


async def test_a_webhook_is_called_over_https_and_only_its_authority_is_trusted(
    world: World,
) -> None:
    async def check(request: web.Request) -> web.Response:
        review = await request.json()
        response = _allow(review["request"], warnings=[request.query["timeout"]])
        return web.json_response({**review, "response": response})

    authority = Authority()
    app = web.Application()
    app.router.add_post("/check", check)
    async with serve_app(app, server_context(authority.server())) as port:
        url = f"https://127.0.0.1:{port}/check"
        good = {"url": url, "caBundle": base64.b64encode(authority.pem).decode()}
        bad = {"url": url, "caBundle": base64.b64encode(Authority().pem).decode()}

        world.validates(_hook(clientConfig=good))
        admitted = await Webhooks(world.objects).validate(_request())
        world.validating[0]["webhooks"][0]["clientConfig"] = bad
        with pytest.raises(StatusError, match="certificate verify failed"):
            await Webhooks(world.objects).validate(_request())

    assert admitted.warnings == ("10s",)


async def test_a_bundle_without_certificates_is_a_failed_call() -> None:
    with pytest.raises(CallFailed, match="caBundle"):
        await post("https://127.0.0.1:1/x", b"", b"nothing", 1.0)


# --- namespaces


def _check(operation: str, plural: str, found: dict[str, Any] | None, **more: str) -> None:
    response = {"group": "", "name": "web", "namespace": "shop", **more}
    check_namespace(operation=operation, plural=plural, found=found, **response)


def test_nothing_is_created_in_a_namespace_that_is_not_there() -> None:
    with pytest.raises(StatusError) as error:
        _check("CREATE", "pods", None)

    assert error.value.code == 404
    assert str(error.value) == 'namespaces "shop" not found'


def test_nothing_is_created_in_a_namespace_that_goes_away() -> None:
    with pytest.raises(StatusError) as error:
        _check("CREATE", "pods", {"status": {"phase": "Terminating"}})

    assert error.value.code == 403
    assert str(error.value) == (
        'pods "web" is forbidden: unable to create new content in namespace shop because it is '
        "being terminated"
    )
    assert error.value.status["details"]["causes"] == [
        {
            "reason": "NamespaceTerminating",
            "message": "namespace shop is being terminated",
            "field": "metadata.namespace",
        }
    ]


@pytest.mark.parametrize("operation", ["UPDATE", "DELETE"])
def test_what_is_there_may_still_change_and_go(operation: str) -> None:
    _check(operation, "pods", {"status": {"phase": "Terminating"}})
    _check(operation, "pods", None)


def test_cluster_wide_objects_and_access_reviews_need_no_namespace() -> None:
    _check("CREATE", "nodes", None, namespace="")
    _check("CREATE", "localsubjectaccessreviews", None, group="authorization.k8s.io")


@pytest.mark.parametrize("name", ["default", "kube-system", "kube-public"])
def test_some_namespaces_cannot_be_deleted(name: str) -> None:
    with pytest.raises(StatusError, match="this namespace may not be deleted"):
        _check("DELETE", "namespaces", None, name=name)
    _check("DELETE", "namespaces", None, name="shop")
