"""Objects on an embedded server, over HTTP."""

from __future__ import annotations

from contextlib import aclosing

import msgspec
import pytest

from kubeloop.clients import ALL_NAMESPACES, APIClient
from kubeloop.errors import (
    AlreadyExists,
    BadRequest,
    Conflict,
    DecodeError,
    Expired,
    NotFound,
    TooManyRequests,
    UnsupportedMediaType,
    has_cause,
)
from kubeloop.meta import GroupVersionResource
from kubeloop.wire import Model, Resource
from kubeloop.wire.apps.v1 import Deployment, DeploymentSpec
from kubeloop.wire.core.v1 import (
    ConfigMap,
    Container,
    EnvVar,
    Node,
    Pod,
    PodSpec,
    PodStatus,
    PodTemplateSpec,
    ServiceAccount,
)
from kubeloop.wire.meta.v1 import LabelSelector, ObjectMeta
from kubeloop_testing.server.faults import Match
from kubeloop_testing.server.service import Service

from .conftest import CRD, a_pod


class WebsiteSpec(Model):
    image: str = ""
    replicas: int = 1


class Website(Resource, group="example.com", version="v1", plural="websites"):
    spec: WebsiteSpec


def a_deployment(name: str = "web") -> Deployment:
    labels = {"app": name}
    return Deployment(
        metadata=ObjectMeta(name=name),
        spec=DeploymentSpec(
            replicas=1,
            selector=LabelSelector(match_labels=labels),
            template=PodTemplateSpec(
                metadata=ObjectMeta(labels=labels),
                spec=PodSpec(containers=[Container(name="main", image="app:1")]),
            ),
        ),
    )


async def test_create_read_change_and_delete_an_object(client: APIClient) -> None:
    """TYP-1, TYP-2: create, get, list, update, patch, delete."""
    pods = client.resource(Pod)

    made = await pods.create(a_pod(app="web"))
    assert made.metadata.uid
    with pytest.raises(AlreadyExists):
        await pods.create(a_pod())

    made.metadata.labels["tier"] = "front"
    updated = await pods.update(made)
    assert updated.metadata.resource_version != made.metadata.resource_version
    with pytest.raises(Conflict):
        await pods.update(made)

    patched = await pods.patch("web", {"metadata": {"labels": {"tier": None}}}, type="merge")
    assert patched.metadata.labels == {"app": "web"}
    replaced = await pods.patch(
        "web", [{"op": "replace", "path": "/metadata/labels/app", "value": "x"}], type="json"
    )
    assert replaced.metadata.labels == {"app": "x"}

    page = await pods.list(selector="app=x")
    assert [pod.metadata.name for pod in page] == ["web"]
    assert page.version
    await pods.delete("web", grace_period=0, expected_uid=made.metadata.uid)
    assert not await pods.exists("web")


async def test_a_dry_run_changes_nothing(client: APIClient) -> None:
    """TYP-11: Create/update/patch options: dryRun, fieldManager, fieldValidation."""
    pods = client.resource(Pod)

    made = await pods.create(a_pod(), dry_run=True)

    assert made.metadata.uid
    assert await pods.get_or_none("web") is None


async def test_strict_validation_rejects_unknown_fields(client: APIClient) -> None:
    """TYP-11: Create/update/patch options: dryRun, fieldManager, fieldValidation."""
    pods = client.resource("v1", "Pod")
    body = a_pod().to_dict()
    body["spec"]["novelty"] = 1

    with pytest.raises(BadRequest, match="novelty"):
        await pods.create(body, field_validation="Strict")
    await pods.create(body, field_validation="Ignore")


async def test_a_missing_object_is_none_and_a_missing_kind_is_an_error(client: APIClient) -> None:
    assert await client.resource(Pod).get_or_none("gone") is None
    assert not await client.resource(Pod).exists("gone")
    await client.resource(Pod).delete("gone", missing_ok=True)
    for call in (
        client.resource(Website).get_or_none("gone"),
        client.resource(Website).exists("gone"),
    ):
        with pytest.raises(NotFound):
            await call


async def test_delete_keeps_its_preconditions(client: APIClient) -> None:
    """TYP-10: delete options: gracePeriodSeconds, preconditions {uid, resourceVersion}."""
    pods = client.resource(Pod)
    made = await pods.create(a_pod())

    with pytest.raises(Conflict):
        await pods.delete("web", expected_uid="another")
    with pytest.raises(Conflict):
        await pods.delete("web", expected_version="1")

    assert (await pods.get("web")).metadata.uid == made.metadata.uid


async def test_a_collection_is_deleted_by_selector(client: APIClient) -> None:
    """TYP-C6: DeleteCollection sends selectors in the query and delete options in the body."""
    maps = client.resource(ConfigMap)
    for name, tier in (("a", "x"), ("b", "x"), ("c", "y")):
        await maps.create(ConfigMap(metadata=ObjectMeta(name=name, labels={"tier": tier})))

    await maps.delete_collection(selector="tier=x")

    left = [each.metadata.name for each in await maps.list(selector="tier")]
    assert left == ["c"]


async def test_the_status_is_written_apart(client: APIClient) -> None:
    """TYP-1, TYP-2: neither writes the fields of the other."""
    pods = client.resource(Pod)
    pod = await pods.create(a_pod())
    pod.status = PodStatus(phase="Running")
    pod.metadata.labels["x"] = "y"

    await pods.status.update(pod)

    found = await pods.status.get("web")
    assert (found.status.phase, found.spec.containers[0].image) == ("Running", "app:1")
    patched = await pods.status.patch("web", {"status": {"phase": "Failed"}}, type="merge")
    assert patched.status.phase == "Failed"


async def test_an_apply_owns_its_fields(client: APIClient) -> None:
    """TYP-5, TYP-8: a conflict names the fields; force takes them."""
    maps = client.resource(ConfigMap)
    await maps.apply(
        ConfigMap(metadata=ObjectMeta(name="a"), data={"k": "1", "mine": "1"}), field_manager="one"
    )

    with pytest.raises(Conflict) as caught:
        await maps.apply(
            ConfigMap(metadata=ObjectMeta(name="a"), data={"k": "2"}), field_manager="two"
        )
    assert has_cause(caught.value, "FieldManagerConflict")
    taken = await maps.apply(
        ConfigMap(metadata=ObjectMeta(name="a"), data={"k": "2"}), field_manager="two", force=True
    )

    assert taken.data == {"k": "2", "mine": "1"}


async def test_an_edit_sends_the_difference_and_comes_back_fresh(
    server: Service, client: APIClient
) -> None:
    pods = client.resource(Pod)
    await pods.create(a_pod(app="web"))

    async with pods.edit("web", field_manager="me") as pod:
        pod.metadata.labels["tier"] = "front"

    seen = server.faults.requests[-1]
    assert (seen.method, seen.headers["Content-Type"]) == (
        "PATCH",
        "application/strategic-merge-patch+json",
    )
    assert set(seen.json()["metadata"]) == {"labels", "resourceVersion", "uid"}
    assert seen.json()["metadata"]["labels"] == {"tier": "front"}
    assert pod == await pods.get("web")


async def test_an_edit_without_a_change_or_with_an_error_sends_nothing(
    server: Service, client: APIClient
) -> None:
    pods = client.resource(Pod)
    await pods.create(a_pod())
    server.faults.clear_record()

    async with pods.edit("web") as pod:
        _ = pod.metadata.annotations  # looking is not changing
    with pytest.raises(LookupError):  # noqa: PT012 - what the block raises is the point
        async with pods.edit("web") as pod:
            pod.metadata.labels["x"] = "y"
            raise LookupError

    assert [seen.method for seen in server.faults.requests] == ["GET", "GET"]


async def test_an_edit_that_meets_another_is_made_in_the_newer_object(client: APIClient) -> None:
    pods = client.resource(Pod)
    await pods.create(a_pod(app="web"))

    async with pods.edit("web") as mine:
        mine.metadata.labels["mine"] = "x"
        async with pods.edit("web") as theirs:
            theirs.metadata.labels["theirs"] = "y"

    assert (await pods.get("web")).metadata.labels == {"app": "web", "mine": "x", "theirs": "y"}


async def test_an_edit_of_the_same_field_in_two_ways_is_a_conflict(client: APIClient) -> None:
    pods = client.resource(Pod)
    await pods.create(a_pod(app="web"))

    with pytest.raises(Conflict, match=r"metadata\.labels\.app"):  # noqa: PT012 - raised at the end
        async with pods.edit("web") as mine:
            mine.metadata.labels["app"] = "mine"
            async with pods.edit("web") as theirs:
                theirs.metadata.labels["app"] = "theirs"

    assert (await pods.get("web")).metadata.labels == {"app": "theirs"}


async def test_an_edit_never_changes_another_object_of_the_same_name(client: APIClient) -> None:
    maps = client.resource(ConfigMap)
    await maps.create(ConfigMap(metadata=ObjectMeta(name="a"), data={"k": "1"}))

    with pytest.raises(Conflict, match="deleted and created again since it was read"):  # noqa: PT012 - raised at the end
        async with maps.edit("a") as mine:
            mine.data["mine"] = "x"
            await maps.delete("a")
            await maps.create(ConfigMap(metadata=ObjectMeta(name="a"), data={"k": "1"}))

    assert (await maps.get("a")).data == {"k": "1"}


async def test_modify_calls_the_function_again_on_a_conflict(client: APIClient) -> None:
    """UTL-8: with the current object."""
    maps = client.resource(ConfigMap)
    await maps.create(ConfigMap(metadata=ObjectMeta(name="a"), data={"n": "0"}))
    calls = 0

    async def count(found: ConfigMap) -> None:
        nonlocal calls
        calls += 1
        if calls == 1:
            await maps.patch("a", {"data": {"n": "41"}}, type="merge")
        found.data["n"] = str(int(found.data["n"]) + 1)

    changed = await maps.modify("a", count)

    assert (calls, changed.data) == (2, {"n": "42"})


async def test_create_or_update_changes_only_the_given_fields(
    server: Service, client: APIClient
) -> None:
    maps = client.resource(ConfigMap)
    desired = ConfigMap(metadata=ObjectMeta(name="a"), data={"mine": "1"})
    made = await maps.create_or_update(desired)
    await maps.patch("a", {"data": {"theirs": "2"}}, type="merge")

    desired.data["mine"] = "3"
    changed = await maps.create_or_update(desired)
    server.faults.clear_record()
    same = await maps.create_or_update(desired)

    assert changed.metadata.uid == made.metadata.uid
    assert changed.data == {"mine": "3", "theirs": "2"}
    assert same.metadata.resource_version == changed.metadata.resource_version
    assert [seen.method for seen in server.faults.requests] == ["GET"]


async def test_create_or_update_merges_lists_of_built_in_kinds_by_name(client: APIClient) -> None:
    deployments = client.resource(Deployment)
    await deployments.create(a_deployment())
    desired = a_deployment()
    assert desired.spec.template.spec is not None
    desired.spec.template.spec.containers[0].env = [EnvVar(name="A", value="1")]
    desired.spec.template.spec.containers[0].image = None

    changed = await deployments.create_or_update(desired)

    assert changed.spec.template.spec is not None
    (container,) = changed.spec.template.spec.containers
    assert (container.image, container.env[0].value) == ("app:1", "1")


async def test_a_scale_is_read_and_set(client: APIClient) -> None:
    """TYP-16: service ProxyGet as above. Node PatchStatus: strategic merge patch on `/status`."""
    deployments = client.apps_v1.deployments()
    await deployments.create(a_deployment())

    scale = await deployments.scale.set("web", 3)
    assert scale.spec.replicas == 3
    scale.spec.replicas = 5
    await deployments.scale.update(scale)

    assert (await deployments.get("web")).spec.replicas == 5
    with pytest.raises(Conflict):
        await deployments.scale.set("web", 7, expected_version="1")


async def test_a_pod_is_bound_and_evicted(client: APIClient) -> None:
    """TYP-14, TYP-C8: pod expansion: GetLogs(name, opts) builds a request on `/log`."""
    pods = client.resource(Pod)
    await client.resource(Node).create(Node(metadata=ObjectMeta(name="n1")))
    await pods.create(a_pod())

    await pods.bind("web", node="n1")
    assert (await pods.get("web")).spec.node_name == "n1"
    await pods.evict("web", grace_period=0)

    assert not await pods.exists("web")


async def test_a_log_comes_line_by_line(server: Service, client: APIClient) -> None:
    """TYP-14, TYP-C5: pod expansion: GetLogs(name, opts) builds a request on `/log`."""
    pods = client.resource(Pod)
    await pods.create(a_pod())
    server.set_log("default", "web", "one\ntwo\nthree\n")

    assert [line async for line in pods.logs("web")] == ["one", "two", "three"]
    assert [line async for line in pods.logs("web", tail_lines=1)] == ["three"]
    with pytest.raises(NotFound):
        await anext(pods.logs("gone"))


async def test_a_token_is_given(client: APIClient) -> None:
    """TYP-16: service ProxyGet as above. Node PatchStatus: strategic merge patch on `/status`."""
    accounts = client.resource(ServiceAccount)
    await accounts.create(ServiceAccount(metadata=ObjectMeta(name="builder")))

    answer = await accounts.token("builder", audiences=["vault"], expiration_seconds=600)

    assert answer.status.token
    assert "token=<hidden>" in repr(answer.status)


async def test_a_table_has_the_columns_of_its_kind(client: APIClient) -> None:
    """API-46: Table: Accept `application/json;as=Table;v=v1;g=meta.k8s.io`."""
    pods = client.resource(Pod)
    await pods.create(a_pod())

    table = await pods.table()
    one = await pods.table("web", include_object="None")

    assert table.columns[0].name == "Name"
    assert table.rows[0].cells[0] == "web"
    assert (len(one.rows), one.rows[0].object) == (1, None)


async def test_metadata_of_any_kind(client: APIClient) -> None:
    """DYN-11, API-47: accept for get/watch/patch."""
    await client.resource(Pod).create(a_pod(app="web"))
    pods = client.metadata("v1", "Pod")

    page = await pods.list(selector="app=web")
    assert page[0].metadata.name == "web"
    assert page[0].to_dict()["kind"] == "PartialObjectMetadata"
    await pods.patch("web", {"metadata": {"labels": {"x": "y"}}}, type="merge")
    assert [each.metadata.labels async for each in pods.each()] == [{"app": "web", "x": "y"}]
    await pods.delete("web", grace_period=0)


async def test_everything_is_walked_over_in_pages(server: Service, client: APIClient) -> None:
    """WTC-10, WTC-12: List: first page uses the given RV/RVMatch."""
    maps = client.resource(ConfigMap)
    for number in range(7):
        await maps.create(ConfigMap(metadata=ObjectMeta(name=f"m{number}", labels={"a": "b"})))
    server.faults.clear_record()

    walked = [each.metadata.name async for each in maps.each(selector="a=b", page_size=3)]
    listed = await maps.list_all(selector="a=b", page_size=3)

    assert walked == [each.metadata.name for each in listed] == [f"m{n}" for n in range(7)]
    assert len(server.faults.requests) == 6


async def test_an_iteration_continues_after_an_expired_token(
    server: Service, client: APIClient
) -> None:
    """WTC-11, API-42: nothing twice, nothing missing."""
    maps = client.resource(ConfigMap)
    for number in range(6):
        await maps.create(ConfigMap(metadata=ObjectMeta(name=f"m{number}", labels={"a": "b"})))

    page = await maps.list(selector="a=b", limit=2)
    await maps.patch("m5", {"data": {"k": "v"}}, type="merge")
    server.expire_history()
    with pytest.raises(Expired):
        await maps.list(selector="a=b", limit=2, next_page=page.next_page)
    walked: list[str] = []
    async for each in maps.each(selector="a=b", page_size=2):
        walked.append(each.metadata.name)
        if len(walked) == 2:
            await maps.patch("m5", {"data": {"k": "w"}}, type="merge")
            server.expire_history()

    assert walked == [f"m{n}" for n in range(6)]


async def test_one_client_for_all_namespaces(client: APIClient) -> None:
    """TYP-3: a namespaced client created with an empty namespace omits the namespace segment."""
    from kubeloop.wire.core.v1 import Namespace

    await client.resource(Namespace).create(Namespace(metadata=ObjectMeta(name="shop")))
    await client.resource(ConfigMap, namespace="shop").create(
        ConfigMap(metadata=ObjectMeta(name="mine"))
    )

    everywhere = client.resource(ConfigMap, namespace=ALL_NAMESPACES)

    assert "mine" in [each.metadata.name for each in await everywhere.list()]
    with pytest.raises(ValueError, match="namespace"):
        await everywhere.get("mine")


async def test_a_kind_known_only_by_name_is_looked_up(server: Service, client: APIClient) -> None:
    """DYN-2, DYN-5, MAP-9: and a kind that is created later is found."""
    websites = client.resource("example.com/v1", "Website")
    await client.mapper.find("pods")
    await client.apply(CRD)

    made = await websites.create(
        {
            "apiVersion": "example.com/v1",
            "kind": "Website",
            "metadata": {"name": "a"},
            "spec": {"replicas": 1, "novel": [1]},
        }
    )
    made["spec"]["replicas"] = 2
    await websites.update(made)
    assert (await client.resource(Website).get("a")).spec.replicas == 2
    async with client.resource(Website).edit("a") as site:
        site.spec.replicas = 3

    found = await websites.get("a")
    assert found["spec"] == {"replicas": 3, "novel": [1]}
    assert server.faults.requests[-2].headers["Content-Type"] == "application/merge-patch+json"
    with pytest.raises(UnsupportedMediaType):
        await websites.patch("a", {"spec": {}}, type="strategic")
    await websites.status.patch("a", {"status": {"replicas": 1}}, type="merge")
    assert (await websites.subresource("scale").get("a")).status.replicas == 1


async def test_what_the_server_rejects_is_raised(client: APIClient) -> None:
    """TYP-4: there is no empty object beside an error."""
    with pytest.raises(NotFound, match="pods/gone in default: 404 NotFound"):
        await client.resource(Pod).get("gone")


async def test_a_list_is_a_list(server: Service, client: APIClient) -> None:
    """TYP-9: only caches request a list as a watch."""
    await client.resource(Pod).list()
    _ = [each async for each in client.resource("v1", "Pod").each()]

    assert not [seen for seen in server.faults.requests if "watch" in seen.query]


async def test_an_eviction_that_is_put_off_is_tried_again(
    server: Service, hasty: APIClient
) -> None:
    """TYP-18: as every response with `Retry-After`, unless `max_retries` is 0."""
    pods = hasty.resource(Pod)
    await pods.create(a_pod())
    busy = Match(subresource="eviction")
    server.faults.fail(429, times=2, retry_after=1, match=busy)

    await pods.evict("web", grace_period=0)

    assert not await pods.exists("web")
    server.faults.fail(429, times=1, retry_after=1, match=busy)
    with pytest.raises(TooManyRequests):
        await pods.evict("web", max_retries=0)


async def test_built_in_kinds_are_never_looked_up(server: Service, client: APIClient) -> None:
    await client.resource(Pod).list()
    await client.resource("apps/v1", "Deployment").list()
    await client.core_v1.nodes().list()

    assert not [seen for seen in server.faults.requests if seen.path in {"/api", "/apis"}]


class Placement(msgspec.Struct, rename="camel"):
    node_name: str = ""


class Placed(msgspec.Struct):
    """The only field that a reader needs."""

    spec: Placement


async def test_objects_can_be_read_as_a_struct_with_some_of_their_fields(
    client: APIClient,
) -> None:
    pods = client.resource(Pod)
    for name in ("a", "b", "c"):
        pod = a_pod(name, app="web")
        pod.spec.node_name = f"node-{name}"
        await pods.create(pod)
    expected = ["node-a", "node-b", "node-c"]

    assert (await pods.get("b", model=Placed)).spec.node_name == "node-b"
    assert [each.spec.node_name for each in await pods.list(model=Placed)] == expected
    assert [each.spec.node_name async for each in pods.each(model=Placed, page_size=2)] == expected
    paged = await pods.list_all(model=Placed, page_size=1)
    assert [each.spec.node_name for each in paged] == expected
    async with aclosing(pods.watch(model=Placed)) as events:
        seen = [(await anext(events)).object.spec.node_name for _ in expected]
        await pods.patch("a", {"metadata": {"labels": {"new": "yes"}}}, type="merge")
        changed = await anext(events)
    assert seen == expected
    assert (changed.type, changed.object) == ("MODIFIED", Placed(Placement("node-a")))


async def test_dicts_of_a_kind_can_be_read_as_a_struct_too(client: APIClient) -> None:
    await client.resource(Pod).create(a_pod("a"))
    pods = client.dynamic.resource(GroupVersionResource("", "v1", "pods"))

    assert isinstance(await pods.get("a", model=Placed), Placed)
    assert [type(each) for each in await pods.list(model=Placed)] == [Placed]


async def test_an_object_that_does_not_fit_the_struct_is_an_error(client: APIClient) -> None:
    class Wrong(msgspec.Struct):
        spec: int

    await client.resource(Pod).create(a_pod("a"))

    with pytest.raises(DecodeError, match="spec: cannot read Wrong"):
        await client.resource(Pod).get("a", model=Wrong)
