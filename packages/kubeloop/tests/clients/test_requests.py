"""The request of every verb."""

from __future__ import annotations

import copy
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from kubeloop.clients import ALL_NAMESPACES, APIClient, ResourceClient, proxy_name
from kubeloop.errors import InvalidArgument
from kubeloop.meta import GroupVersionResource
from kubeloop.rest import APPLY_PATCH, JSON_PATCH, MERGE_PATCH, STRATEGIC_MERGE_PATCH
from kubeloop.wire.apps.v1 import Deployment
from kubeloop.wire.core.v1 import Namespace, Node, Pod, Secret, ServiceAccount
from kubeloop.wire.meta.v1 import ObjectMeta

from .conftest import Recorder, a_pod

POD = {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "web"}}
PODS = "/api/v1/namespaces/shop/pods"

Call = Callable[[ResourceClient[Pod]], Awaitable[object]]


async def test_create_or_update_with_dry_run_only_checks_the_change(recorder: Recorder) -> None:
    recorder.answers = [{**POD, "metadata": {"name": "web", "resourceVersion": "7"}}, POD]
    desired = a_pod()
    desired.metadata.labels = {"tier": "front"}

    await recorder.client.resource(Pod, namespace="shop").create_or_update(desired, dry_run=True)

    assert recorder.line == f"PATCH {PODS}/web?dryRun=All"


@pytest.mark.parametrize(
    ("verb", "call"),
    [
        ("get", lambda pods: pods.get("web", versoin="0")),
        ("list", lambda pods: pods.list(lables="app=web")),
        ("list_all", lambda pods: pods.list_all(lables="app=web")),
        ("table", lambda pods: pods.table(lables="app=web")),
        ("create", lambda pods: pods.create(a_pod(), dryrun=True)),
        ("create_or_update", lambda pods: pods.create_or_update(a_pod(), dryrun=True)),
        ("update", lambda pods: pods.update(a_pod(), unconditional=True, dryrun=True)),
        ("patch", lambda pods: pods.patch("web", {}, type="merge", dryrun=True)),
        ("apply", lambda pods: pods.apply(a_pod(), dryrun=True)),
        ("modify", lambda pods: pods.modify("web", lambda pod: pod, dryrun=True)),
        ("delete", lambda pods: pods.delete("web", dryrun=True)),
        ("delete_collection", lambda pods: pods.delete_collection(lables="app=web")),
        ("evict", lambda pods: pods.evict("web", dryrun=True)),
        ("patch", lambda pods: pods.status.patch("web", {}, type="merge", dryrun=True)),
    ],
)
async def test_a_misspelt_keyword_is_an_error_of_its_verb_and_nothing_is_sent(
    verb: str, call: Callable[[Any], Awaitable[object]], recorder: Recorder
) -> None:
    with pytest.raises(TypeError, match=rf"\b{verb}\(\) got an unexpected keyword argument"):
        await call(recorder.client.resource(Pod, namespace="shop"))

    assert recorder.requests == []


@pytest.mark.parametrize(
    ("call", "line"),
    [
        (lambda pods: pods.get("web"), f"GET {PODS}/web"),
        (lambda pods: pods.get("web", resource_version="0"), f"GET {PODS}/web?resourceVersion=0"),
        (lambda pods: pods.create(a_pod()), f"POST {PODS}"),
        (
            lambda pods: pods.create(
                a_pod(), dry_run=True, field_manager="me", field_validation="Strict"
            ),
            f"POST {PODS}?dryRun=All&fieldManager=me&fieldValidation=Strict",
        ),
        (lambda pods: pods.update(a_pod(), unconditional=True), f"PUT {PODS}/web"),
        (lambda pods: pods.status.update(a_pod(), unconditional=True), f"PUT {PODS}/web/status"),
        (lambda pods: pods.status.get("web"), f"GET {PODS}/web/status"),
        (lambda pods: pods.patch("web", {}, type="merge"), f"PATCH {PODS}/web"),
        (lambda pods: pods.status.patch("web", {}, type="merge"), f"PATCH {PODS}/web/status"),
        (
            lambda pods: pods.apply(a_pod(), field_manager="me"),
            f"PATCH {PODS}/web?fieldManager=me&force=false",
        ),
        (
            lambda pods: pods.apply(a_pod(), field_manager="me", force=True),
            f"PATCH {PODS}/web?fieldManager=me&force=true",
        ),
        (
            lambda pods: pods.status.apply(a_pod()),
            f"PATCH {PODS}/web/status?fieldManager=kubeloop&force=false",
        ),
        (
            lambda pods: pods.ephemeral_containers.update(a_pod(), unconditional=True),
            f"PUT {PODS}/web/ephemeralcontainers",
        ),
        (lambda pods: pods.resize.update(a_pod(), unconditional=True), f"PUT {PODS}/web/resize"),
    ],
)
async def test_verbs_of_objects(call: Call, line: str) -> None:
    """TYP-1, TYP-2, TYP-5, TYP-11, TYP-14, TYP-C7: verbs per resource."""
    recorder = Recorder(POD)

    await call(recorder.client.resource(Pod, namespace="shop"))

    assert recorder.line == line


@pytest.mark.parametrize(
    ("call", "line"),
    [
        (lambda pods: pods.delete("web"), f"DELETE {PODS}/web"),
        (
            lambda pods: pods.delete_collection(
                selector="app=web", field_selector="status.phase=Failed"
            ),
            f"DELETE {PODS}?fieldSelector=status.phase%3DFailed&labelSelector=app%3Dweb",
        ),
        (
            lambda pods: pods.list(selector={"app": "web"}, limit=500),
            f"GET {PODS}?labelSelector=app%3Dweb&limit=500",
        ),
        (
            lambda pods: pods.list(resource_version="7", resource_version_match="NotOlderThan"),
            f"GET {PODS}?resourceVersion=7&resourceVersionMatch=NotOlderThan",
        ),
        (lambda pods: pods.list(next_page="t"), f"GET {PODS}?continue=t"),
        (lambda pods: pods.list(timeout_seconds=0), f"GET {PODS}?timeoutSeconds=0"),
        (
            lambda pods: pods.list(timeout_seconds=30),
            f"GET {PODS}?timeout=30s&timeoutSeconds=30",
        ),
        (lambda pods: pods.list(shard="s"), f"GET {PODS}?shardSelector=s"),
        (lambda pods: pods.evict("web"), f"POST {PODS}/web/eviction"),
        (lambda pods: pods.bind("web", node="n1"), f"POST {PODS}/web/binding"),
        (
            lambda pods: pods.proxy("name", scheme="https", port=443).get("/a/b"),
            f"GET {PODS}/https:name:443/proxy/a/b",
        ),
        (
            lambda pods: pods.proxy("web").request("POST", "x", params={"q": "1"}),
            f"POST {PODS}/web/proxy/x?q=1",
        ),
    ],
)
async def test_verbs_of_collections_and_actions(call: Call, line: str) -> None:
    """TYP-2, TYP-12, TYP-14, TYP-15, TYP-C2, TYP-C3, TYP-C4, TYP-C6, DYN-8: list options."""
    recorder = Recorder({"kind": "PodList", "items": []})

    await call(recorder.client.resource(Pod, namespace="shop"))

    assert recorder.line == line


async def test_a_watch_asks_for_what_a_server_allows(recorder: Recorder) -> None:
    """TYP-2, TYP-C10: a version match is sent only with initial events."""
    from kubeloop.clients import WatchOptions

    raw = recorder.client.resource(Pod, namespace="shop").raw

    plain = await raw.watch_request(WatchOptions(resource_version="7", selector="a=b"))
    streaming = await raw.watch_request(WatchOptions(initial_events=True, timeout_seconds=60))

    assert plain.url("") == (
        f"{PODS}?allowWatchBookmarks=true&labelSelector=a%3Db&resourceVersion=7&watch=true"
    )
    assert streaming.url("") == (
        f"{PODS}?allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan"
        "&sendInitialEvents=true&timeout=1m0s&timeoutSeconds=60&watch=true"
    )


@pytest.mark.parametrize(
    ("kind", "content_type"),
    [
        ("json", JSON_PATCH),
        ("merge", MERGE_PATCH),
        ("strategic", STRATEGIC_MERGE_PATCH),
        ("apply", APPLY_PATCH),
    ],
)
async def test_the_type_of_a_patch_is_its_content_type(kind: Any, content_type: str) -> None:
    """DYN-C7: and bytes are sent unchanged."""
    recorder = Recorder(POD)

    await recorder.client.resource(Pod, namespace="shop").patch("web", b' {"a": 1}', type=kind)

    assert recorder.last.content_type == content_type
    assert recorder.last.body == b' {"a": 1}'


async def test_force_is_for_apply_patches_only(recorder: Recorder) -> None:
    """TYP-11: Create/update/patch options: dryRun, fieldManager, fieldValidation."""
    pods = recorder.client.resource(Pod, namespace="shop")

    with pytest.raises(InvalidArgument, match="force"):
        await pods.patch("web", {}, type="merge", force=True)
    with pytest.raises(InvalidArgument, match="merg"):
        await pods.patch("web", {}, type="merg")  # type: ignore[arg-type] # the point

    assert recorder.requests == []


async def test_the_text_of_a_patch_is_valid_unicode(recorder: Recorder) -> None:
    with pytest.raises(InvalidArgument, match="half a surrogate pair at position 2"):
        await recorder.client.resource(Pod).patch("web", '{"\ud800": 1}', type="merge")

    assert recorder.requests == []


async def test_an_apply_is_json_under_the_yaml_type_with_a_manager_and_force() -> None:
    """TYP-5, TYP-6, DYN-7: `force` is always sent; options that are not set are not; a client's own
    manager is used where none is."""
    recorder = Recorder(POD)
    client = APIClient(rest=recorder, field_manager="mine")  # type: ignore[arg-type] # fits by shape

    await client.resource(Pod, namespace="shop").apply(a_pod(app="web"))

    assert recorder.last.content_type == APPLY_PATCH
    assert recorder.line == f"PATCH {PODS}/web?fieldManager=mine&force=false"
    assert recorder.body == {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "web", "labels": {"app": "web"}},
        "spec": {"containers": [{"name": "main", "image": "app:1"}]},
    }


async def test_an_apply_without_a_name_or_with_managed_fields_is_rejected(
    recorder: Recorder,
) -> None:
    """TYP-C1, DYN-C4: before any request."""
    pods = recorder.client.dynamic.resource(Pod, namespace="shop")

    with pytest.raises(InvalidArgument, match="no name"):
        await pods.apply({"kind": "Pod", "apiVersion": "v1"})
    with pytest.raises(InvalidArgument, match="managedFields"):
        await pods.apply({"kind": "Pod", "metadata": {"name": "a", "managedFields": [{}]}})

    assert recorder.requests == []


async def test_delete_sends_its_options_as_a_body(recorder: Recorder) -> None:
    """TYP-10, DYN-8, REST-23: delete options: gracePeriodSeconds."""
    await recorder.client.resource(Pod, namespace="shop").delete(
        "web",
        propagation="Foreground",
        grace_period=0,
        expected_uid="u",
        expected_version="7",
        dry_run=True,
    )

    assert recorder.body == {
        "kind": "DeleteOptions",
        "apiVersion": "v1",
        "gracePeriodSeconds": 0,
        "preconditions": {"uid": "u", "resourceVersion": "7"},
        "propagationPolicy": "Foreground",
        "dryRun": ["All"],
    }


async def test_deleting_a_collection_has_selectors_in_the_url_and_options_in_the_body(
    recorder: Recorder,
) -> None:
    """TYP-C6, DYN-8, REST-42: delete and DeleteCollection send DeleteOptions as body."""
    await recorder.client.resource(Pod, namespace="shop").delete_collection(
        selector="app=web", grace_period=5, timeout_seconds=3
    )

    assert recorder.line == f"DELETE {PODS}?labelSelector=app%3Dweb&timeout=3s&timeoutSeconds=3"
    assert recorder.body["gracePeriodSeconds"] == 5


@pytest.mark.parametrize(
    ("build", "line"),
    [
        (lambda c: c.resource(Pod), "GET /api/v1/namespaces/home/pods"),
        (lambda c: c.resource(Pod, namespace=ALL_NAMESPACES), "GET /api/v1/pods"),
        (lambda c: c.resource(Node), "GET /api/v1/nodes"),
        (lambda c: c.apps_v1.deployments("shop"), "GET /apis/apps/v1/namespaces/shop/deployments"),
        (lambda c: c.core_v1.nodes(), "GET /api/v1/nodes"),
        (lambda c: c.resource("v1", "Pod", namespace="shop"), f"GET {PODS}"),
        (
            lambda c: c.resource(GroupVersionResource("a.io", "v1", "as"), namespace="shop"),
            "GET /apis/a.io/v1/namespaces/shop/as",
        ),
        (lambda c: c.resource(GroupVersionResource("a.io", "v1", "as")), "GET /apis/a.io/v1/as"),
        (
            lambda c: c.resource(Deployment, namespace="a").in_namespace("b"),
            "GET /apis/apps/v1/namespaces/b/deployments",
        ),
    ],
)
async def test_where_a_collection_is(
    build: Callable[[APIClient], ResourceClient[Any]], line: str
) -> None:
    """TYP-3, DYN-2, DYN-4: no namespace is the configuration's, `ALL_NAMESPACES` all of them."""
    recorder = Recorder({"metadata": {}, "items": []})

    await build(recorder.client).list()

    assert recorder.line == line


async def test_another_namespace_leaves_the_first_client_as_it_is(recorder: Recorder) -> None:
    """DYN-4: `Namespace(ns)` returns a new handle; the original stays cluster-wide."""
    pods = recorder.client.resource(Pod, namespace="a")

    pods.in_namespace("b")

    assert pods.namespace == "a"


@pytest.mark.parametrize("name", ["", "a/b", ".", "..", "a%2fb"])
async def test_a_name_that_no_path_can_hold_is_rejected(recorder: Recorder, name: str) -> None:
    """DYN-3, DYN-C1: without a request, for every verb that names an object."""
    things = recorder.client.resource("v1", "Pod", namespace="shop")
    body = {"kind": "Pod", "metadata": {"name": name}}

    for call in (
        things.get(name),
        things.delete(name),
        things.patch(name, {}, type="merge"),
        things.update(body),
        things.apply(body),
    ):
        with pytest.raises(InvalidArgument):
            await call

    assert recorder.requests == []


async def test_a_namespace_that_no_path_can_hold_is_rejected(recorder: Recorder) -> None:
    """DYN-3, DYN-C2: on every verb."""
    things = recorder.client.resource("v1", "Pod", namespace="..")
    body = {"kind": "Pod", "metadata": {"name": "a"}}

    for call in (
        things.get("a"),
        things.list(),
        things.delete("a"),
        things.delete_collection(),
        things.create(body),
        things.update(body),
        things.apply(body),
        things.patch("a", {}, type="merge"),
    ):
        with pytest.raises(InvalidArgument):
            await call

    assert recorder.requests == []


async def test_a_part_is_created_under_the_name_of_its_object(recorder: Recorder) -> None:
    """DYN-3, DYN-C3: without a name there is none."""
    parts = recorder.client.resource("v1", "Pod", namespace="shop").subresource("poke")

    await parts.create({"kind": "Poke", "metadata": {"name": "web"}})
    assert recorder.line == f"POST {PODS}/web/poke"
    with pytest.raises(InvalidArgument, match="no name"):
        await parts.create({"kind": "Poke"})


async def test_an_object_of_another_namespace_is_rejected(recorder: Recorder) -> None:
    """TYP-17, TYP-C9: for events as for everything; a client for all takes the object's."""
    from kubeloop.wire.core.v1 import Event

    event = Event(metadata=ObjectMeta(name="e", namespace="other"))
    recorder.answers.append({"kind": "Event"})

    with pytest.raises(InvalidArgument, match="other"):
        await recorder.client.resource(Event, namespace="shop").create(event)
    assert recorder.requests == []
    await recorder.client.resource(Event, namespace=ALL_NAMESPACES).create(event)
    assert recorder.line == "POST /api/v1/namespaces/other/events"


async def test_without_a_namespace_the_objects_own_is_used() -> None:
    recorder = Recorder({"kind": "Pod"})
    pod = a_pod()
    pod.metadata.namespace = "other"

    await recorder.client.resource(Pod).create(pod)

    assert recorder.line == "POST /api/v1/namespaces/other/pods"


async def test_a_named_object_needs_a_namespace(recorder: Recorder) -> None:
    """TYP-3, REST-19: rejected here; in client-go the server rejects it."""
    with pytest.raises(InvalidArgument, match="namespace"):
        await recorder.client.resource(Pod, namespace=ALL_NAMESPACES).get("web")


async def test_the_dynamic_client_asks_for_json(recorder: Recorder) -> None:
    """DYN-1, DYN-C5: whatever the configuration prefers."""
    await recorder.client.dynamic.resource(Pod, namespace="shop").get("web")

    assert recorder.last.accept == "application/json"


async def test_an_eviction_and_a_binding_name_what_they_are_about(recorder: Recorder) -> None:
    """TYP-14, TYP-16, TYP-C8: the response is ignored."""
    recorder.answers = [{"kind": "Status", "status": "Success"}] * 2
    pods = recorder.client.resource(Pod, namespace="shop")

    await pods.evict("web", grace_period=3, max_retries=0)
    assert recorder.body["metadata"] == {"name": "web", "namespace": "shop"}
    assert recorder.body["apiVersion"] == "policy/v1"
    assert recorder.body["deleteOptions"]["gracePeriodSeconds"] == 3
    assert recorder.last.max_retries == 0

    await pods.bind("web", node="n1")
    assert recorder.body["target"] == {"apiVersion": "v1", "kind": "Node", "name": "n1"}


async def test_a_token_request(recorder: Recorder) -> None:
    """TYP-16: POST to `token`."""
    recorder.answers.append({"kind": "TokenRequest", "status": {"token": "t"}})
    accounts = recorder.client.resource(ServiceAccount, namespace="shop")

    answer = await accounts.token("builder", audiences=["vault"], expiration_seconds=600)

    assert recorder.line == "POST /api/v1/namespaces/shop/serviceaccounts/builder/token"
    assert recorder.body["spec"] == {"audiences": ["vault"], "expirationSeconds": 600}
    assert answer.status.token == "t"


async def test_parts_of_single_kinds() -> None:
    """TYP-16: finalize, approval, scale, a node's status, a node's proxy."""
    from kubeloop.wire.certificates.v1 import CertificateSigningRequest

    def answering(kind: str) -> Recorder:
        return Recorder({"kind": kind, "metadata": {"name": "a"}})

    recorder = answering("Namespace")
    await recorder.client.resource(Namespace).finalize.update(
        Namespace(metadata=ObjectMeta(name="a", resource_version="1"))
    )
    assert recorder.line == "PUT /api/v1/namespaces/a/finalize"
    recorder = answering("CertificateSigningRequest")
    await recorder.client.resource(CertificateSigningRequest).approval.update(
        CertificateSigningRequest(metadata=ObjectMeta(name="a", resource_version="1"))
    )
    assert recorder.line == (
        "PUT /apis/certificates.k8s.io/v1/certificatesigningrequests/a/approval"
    )
    recorder = Recorder({"kind": "Scale"})
    await recorder.client.apps_v1.deployments("shop").scale.set("web", 3)
    assert recorder.line == "PATCH /apis/apps/v1/namespaces/shop/deployments/web/scale"
    assert recorder.body == {"spec": {"replicas": 3}}
    recorder = answering("Node")
    await recorder.client.resource(Node).status.patch("n1", {}, type="strategic")
    assert recorder.line == "PATCH /api/v1/nodes/n1/status"
    assert recorder.last.content_type == STRATEGIC_MERGE_PATCH
    await recorder.client.resource(Node).proxy("n1", port=10250).get("/stats")
    assert recorder.line == "GET /api/v1/nodes/n1:10250/proxy/stats"


@pytest.mark.parametrize(
    ("scheme", "port", "spelt"),
    [
        ("https", 443, "https:web:443"),
        ("", "http", "web:http"),
        ("", "", "web"),
        ("http", "", "http:web:"),
    ],
)
def test_a_proxys_name_says_scheme_and_port(scheme: str, port: str | int, spelt: str) -> None:
    """TYP-15: proxy name: `scheme:name:port` if a scheme is given, `name:port` if only a port."""
    assert proxy_name("web", scheme=scheme, port=port) == spelt


async def test_the_options_of_a_log() -> None:
    """TYP-14: only what is set is sent, a zero that was set too."""
    from kubeloop.rest import ByteStream

    asked: list[str] = []

    class Streaming(Recorder):
        def stream(self, request: Any) -> ByteStream:
            asked.append(request.url(""))

            async def opener() -> Any:
                raise LookupError("enough")

            return ByteStream(opener, action="log")

    pods = Streaming().client.resource(Pod, namespace="shop")
    lines = pods.logs(
        "web",
        container="main",
        follow=True,
        previous=True,
        since_seconds=0,
        since_time=datetime(2030, 1, 1, tzinfo=UTC),
        tail_lines=0,
        limit_bytes=5,
        timestamps=True,
        stream="Stderr",
        insecure_skip_tls_verify_backend=True,
    )
    with pytest.raises(LookupError):
        await anext(lines)

    assert asked[0] == (
        f"{PODS}/web/log?container=main&follow=true&insecureSkipTLSVerifyBackend=true&limitBytes=5"
        "&previous=true&sinceSeconds=0&sinceTime=2030-01-01T00%3A00%3A00Z&stream=Stderr"
        "&tailLines=0&timestamps=true"
    )


@pytest.mark.parametrize("kind", ["dict", "class"])
async def test_a_write_does_not_change_the_object_of_its_caller(
    kind: str, recorder: Recorder
) -> None:
    data: dict[str, Any] = {
        **POD,
        "metadata": {"name": "web", "resourceVersion": "7", "ownerReferences": [{"uid": "u"}]},
    }
    owner = Namespace(metadata=ObjectMeta(name="shop", uid="n"))
    before = copy.deepcopy(data)
    obj: Any = data if kind == "dict" else Pod.from_dict(data)
    client = recorder.client
    pods: Any = client.resource("v1", "Pod") if kind == "dict" else client.resource(Pod)
    recorder.answers = [POD, POD, POD]

    await pods.create(obj)
    await pods.update(obj, unconditional=True)
    await client.apply(obj, owner=owner)

    assert (obj if kind == "dict" else obj.to_dict()) == before
    assert [each["uid"] for each in recorder.body["metadata"]["ownerReferences"]] == ["u", "n"]


async def test_the_body_of_a_write_is_the_plain_data_of_its_object(recorder: Recorder) -> None:
    data = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {
            "name": "a",
            "namespace": "home",
            "resourceVersion": "7",
            "creationTimestamp": "2024-05-06T07:08:09Z",
            "managedFields": [
                {"manager": "m", "fieldsV1": {"f:data": {}}, "time": "2024-05-06T07:08:09Z"}
            ],
        },
        "data": {"k": "AAH/"},
        "newer": {"x": 1},
    }
    secret = Secret.from_dict(data)
    assert secret.metadata.creation_timestamp is not None
    recorder.answers = [data, data]

    await recorder.client.resource(Secret).update(secret)
    assert recorder.body == secret.to_dict() == data

    secret.metadata.creation_timestamp = datetime(
        2024, 5, 6, 9, 8, 9, 5, timezone(timedelta(hours=2))
    )
    await recorder.client.resource(Secret).update(secret)
    assert recorder.body == secret.to_dict() == data


def test_a_client_keeps_its_resource_clients_but_not_any_number_of_them(
    recorder: Recorder,
) -> None:
    client = recorder.client
    first = client.core_v1.pods("shop")

    assert client.resource(Pod, namespace="shop") is first
    assert client.core_v1.pods() is not first
    for number in range(3000):
        client.core_v1.pods(f"n{number}")
    assert len(client._prepared) <= 1024
    assert client.core_v1.pods("shop").namespace == "shop"
