"""The blocking client with the embedded server: calls, streams, contexts and threads."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, assert_type

import pytest

from kubeloop.blocking import (
    Client,
    PodClient,
    ResourceClient,
    Stream,
    WorkloadClient,
    retry_on_conflict,
)
from kubeloop.blocking._generated.clients import MetadataClient
from kubeloop.clients import ALL_NAMESPACES, WaitTimeout, WatchEvent
from kubeloop.config import ClusterConfig
from kubeloop.errors import AlreadyExists, Conflict, InvalidArgument, NotFound, TransportError
from kubeloop.meta import GroupResource, GroupVersion, GroupVersionResource
from kubeloop.rest import RESTClient, path_request
from kubeloop.wire.apps.v1 import Deployment
from kubeloop.wire.core.v1 import ConfigMap, Pod
from kubeloop.wire.meta.v1 import ObjectMeta
from kubeloop_testing import APIServer

from .conftest import a_pod, until


@pytest.fixture
def pods(client: Client) -> PodClient:
    return client.core_v1.pods()


# --- one result


def test_the_verbs_are_those_of_the_async_client(pods: PodClient) -> None:
    made = pods.create(a_pod(app="web"))
    made.metadata.labels = {"app": "front"}
    updated = pods.update(made)
    patched = pods.patch("web", {"metadata": {"annotations": {"a": "b"}}}, type="merge")
    pods.delete("web", grace_period=0)

    assert updated.metadata.labels == {"app": "front"}
    assert patched.metadata.annotations == {"a": "b"}
    assert pods.get_or_none("web") is None


def test_errors_have_the_same_classes(pods: PodClient) -> None:
    pods.create(a_pod())

    with pytest.raises(AlreadyExists):
        pods.create(a_pod())
    with pytest.raises(NotFound) as caught:
        pods.get("other")
    assert caught.value.code == 404


def test_a_resource_is_found_by_class_name_and_group(client: Client) -> None:
    client.resource(Pod).create(a_pod())

    assert client.core_v1.pods().exists("web")
    assert client.core_v1.pods(ALL_NAMESPACES).list().items[0].metadata.name == "web"
    assert client.resource("v1", "Pod", namespace="default").get("web")["kind"] == "Pod"
    assert client.dynamic.resource(Pod).get("web")["kind"] == "Pod"
    found = client.resource(GroupVersionResource("", "v1", "pods"), namespace="default")
    assert found.get("web")["kind"] == "Pod"
    assert client.metadata(Pod).get("web").metadata.name == "web"


def test_an_unknown_kind_is_an_error_at_the_first_call(client: Client) -> None:
    nothing = client.resource("v1", "")

    with pytest.raises(InvalidArgument):
        nothing.list()


def test_another_namespace_is_another_client(pods: PodClient) -> None:
    shop = pods.in_namespace("shop")

    assert shop.namespace == "shop"
    assert pods.namespace is None


def test_parts_of_objects_are_written_alone(pods: PodClient) -> None:
    pods.create(a_pod())

    pods.status.patch("web", {"status": {"phase": "Running"}}, type="merge")

    found = pods.get("web").status
    assert found is not None
    assert found.phase == "Running"


def test_replicas_are_set_by_kind_and_by_resource(client: Client) -> None:
    client.apply(
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": "web", "namespace": "default"},
            "spec": {
                "selector": {"matchLabels": {"app": "web"}},
                "template": {
                    "metadata": {"labels": {"app": "web"}},
                    "spec": {"containers": [{"name": "main", "image": "app:1"}]},
                },
            },
        }
    )

    client.apps_v1.deployments().scale.set("web", 3)

    scale = client.scales.get(GroupResource("apps", "deployments"), "default", "web")
    assert scale.spec is not None
    assert scale.spec.replicas == 3


def test_manifests_are_applied_in_order(client: Client, tmp_path: Path) -> None:
    path = tmp_path / "all.yaml"
    path.write_text(
        "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: shop}}\n---\n"
        "{apiVersion: v1, kind: Namespace, metadata: {name: shop}}\n"
    )

    applied = client.apply(path)

    assert len(applied) == 2
    assert client.core_v1.config_maps("shop").exists("a")


def test_what_a_folder_does_not_have_any_more_is_pruned(client: Client, tmp_path: Path) -> None:
    for name in ("a", "b"):
        text = f"{{apiVersion: v1, kind: ConfigMap, metadata: {{name: {name}}}}}\n"
        (tmp_path / f"{name}.yaml").write_text(text)
    client.apply_set("shop", tmp_path)
    (tmp_path / "a.yaml").unlink()

    result = client.apply_set("shop", tmp_path)

    assert [str(each) for each in result.pruned] == ["configmap/a"]
    assert not client.core_v1.config_maps().exists("a")


def test_discovery_and_version_are_available(client: Client) -> None:
    core = GroupVersion("", "v1")

    assert client.version() == client.discovery.version()
    assert any(row.name == "pods" for row in client.discovery.resources(core))
    assert client.mapper.find("deploy").kind == "Deployment"
    assert "api/v1" in client.discovery.openapi.paths()


def test_the_rest_client_sends_other_requests(client: Client) -> None:
    request = path_request("GET", "/version")

    assert b"gitVersion" in client.rest.send(request).body
    assert b"gitVersion" in b"".join(client.rest.stream(request))
    assert client.stats().requests == 2


# --- changes


def test_an_edit_sends_the_difference_at_the_end_of_its_block(
    pods: PodClient, server: APIServer
) -> None:
    pods.create(a_pod())

    with pods.edit("web") as pod:
        pods.patch("web", {"metadata": {"labels": {"by": "another"}}}, type="merge")
        pod.metadata.annotations = {"a": "b"}

    assert pods.get("web").metadata.labels == {"by": "another"}
    assert pod.metadata.annotations == {"a": "b"}
    assert pod.metadata.labels == {"by": "another"}  # from the response of the server


def test_an_edit_that_fails_sends_nothing_and_raises_its_error(pods: PodClient) -> None:
    pods.create(a_pod())

    def change() -> None:
        with pods.edit("web") as pod:
            pod.metadata.annotations = {"a": "b"}
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError) as caught:
        change()

    assert "asyncio" not in str(caught.getrepr())
    assert not pods.get("web").metadata.annotations


def test_an_edit_of_a_missing_object_does_not_enter_the_block(pods: PodClient) -> None:
    with pytest.raises(NotFound), pods.edit("web"):
        pytest.fail("the block was entered")


def test_an_edit_that_is_rejected_raises_at_the_end_of_its_block(pods: PodClient) -> None:
    pods.create(a_pod())

    def change() -> None:
        with pods.edit("web") as pod:
            pods.patch("web", {"metadata": {"labels": {"tier": "theirs"}}}, type="merge")
            pod.metadata.labels = {"tier": "ours"}

    with pytest.raises(Conflict):
        change()


def test_a_change_function_is_called_in_the_callers_thread(
    pods: PodClient,
) -> None:
    pods.create(a_pod())
    threads = []

    def change(pod: Pod) -> None:
        threads.append(threading.current_thread())
        pod.metadata.annotations = {"seen": str(len(pods.list()))}  # may make blocking calls

    changed = pods.modify("web", change)

    assert threads == [threading.current_thread()]
    assert changed.metadata.annotations == {"seen": "1"}


@pytest.mark.parametrize("error", [ZeroDivisionError, KeyboardInterrupt, StopIteration])
def test_an_error_of_a_change_function_propagates(
    pods: PodClient, error: type[BaseException]
) -> None:
    pods.create(a_pod())

    def change(_: Pod) -> None:
        raise error

    with pytest.raises(RuntimeError if error is StopIteration else error):
        pods.modify("web", change)
    assert pods.exists("web")


def test_a_change_is_retried_on_a_conflict(pods: PodClient) -> None:
    pods.create(a_pod())
    tries: list[Pod] = []

    def relabel() -> Pod:
        pod = pods.get("web")
        if not tries:
            pods.patch("web", {"metadata": {"labels": {"a": "b"}}}, type="merge")
        tries.append(pod)
        pod.metadata.annotations = {"try": str(len(tries))}
        return pods.update(pod)

    assert retry_on_conflict(relabel).metadata.annotations == {"try": "2"}


# --- streams


def test_each_iterates_over_all_pages(pods: PodClient) -> None:
    names = [f"web-{index:03}" for index in range(150)]
    for name in names:
        pods.create(a_pod(name))

    assert [pod.metadata.name for pod in pods.each(page_size=40)] == names


def test_a_watch_returns_initial_objects_and_changes(pods: PodClient) -> None:
    pods.create(a_pod("first"))

    with pods.watch() as events:
        first = next(events)
        pods.create(a_pod("second"))
        second = next(events)

    assert [first.object.metadata.name, second.object.metadata.name] == ["first", "second"]
    with pytest.raises(StopIteration):
        next(events)


def test_leaving_a_watch_closes_it_at_the_server(pods: PodClient, server: APIServer) -> None:
    pods.create(a_pod())
    version = pods.list().version
    pods.create(a_pod("second"))

    for _ in pods.watch(resource_version=version):
        assert server.stats().watches.watchers == 1
        break

    until(lambda: server.stats().watches.watchers == 0)


def test_an_error_is_raised_after_the_items(pods: PodClient, server: APIServer) -> None:
    pods.create(a_pod())
    server.expire_history()

    events = pods.watch(resource_version="1")

    with pytest.raises(Exception, match="410"):
        next(events)
    assert list(events) == []


def test_a_log_is_read_line_by_line(pods: PodClient, server: APIServer) -> None:
    pods.create(a_pod())
    server.set_log("default", "web", "one\ntwo\n")

    assert list(pods.logs("web")) == ["one", "two"]


def test_a_wait_ends_with_the_condition_or_the_timeout(pods: PodClient) -> None:
    pods.create(a_pod())
    pods.status.patch("web", {"status": {"phase": "Running"}}, type="merge")

    assert pods.wait_for("web", jsonpath="{.status.phase}=Running").metadata.name == "web"
    with pytest.raises(WaitTimeout):
        pods.wait_for("web", condition="Ready", timeout=0.05)


def test_until_waits_for_an_event(pods: PodClient) -> None:
    version = pods.list().version
    pods.create(a_pod())

    event = pods.until(lambda event: event.object.metadata.name == "web", resource_version=version)

    assert event is not None
    assert event.type == "ADDED"


# --- threads


def test_many_threads_use_one_client(client: Client) -> None:
    maps = client.core_v1.config_maps()

    def work(number: int) -> int:
        name = f"map-{number}"
        maps.create(ConfigMap(metadata=ObjectMeta(name=name)))
        with maps.edit(name) as found:
            found.data = {"number": str(number)}
        return int((maps.get(name).data or {})["number"])

    with ThreadPoolExecutor(16) as pool:
        assert list(pool.map(work, range(64))) == list(range(64))
    assert len(maps.list()) == 64


def test_many_threads_can_read_one_stream(client: Client) -> None:
    maps = client.core_v1.config_maps()
    for number in range(200):
        maps.create(ConfigMap(metadata=ObjectMeta(name=f"map-{number:03}")))
    stream = maps.each(page_size=20)

    with ThreadPoolExecutor(4) as pool:
        parts = list(pool.map(lambda _: [each.metadata.name for each in stream], range(4)))

    assert sorted(name for part in parts for name in part) == [
        f"map-{number:03}" for number in range(200)
    ]


# --- lifecycle


def test_a_closed_client_raises(server: APIServer) -> None:
    with Client(server.config) as client:
        pods = client.core_v1.pods()
        pods.list()

    client.close()
    with pytest.raises(TransportError, match="closed"):
        pods.list()


def test_closing_cancels_calls_of_other_threads(server: APIServer) -> None:
    client = Client(server.config)
    pods = client.core_v1.pods()
    version = pods.list().version
    with ThreadPoolExecutor(2) as pool:
        waiting = pool.submit(next, pods.watch(resource_version=version))
        other = pool.submit(lambda: pods.wait_for("web", condition="Ready", timeout=None))
        until(lambda: server.stats().watches.watchers == 2)

        client.close()

        with pytest.raises(TransportError, match="closed"):
            waiting.result()
        with pytest.raises(TransportError, match="closed"):
            other.result()


def test_a_collected_client_is_closed(server: APIServer) -> None:
    from kubeloop.blocking import PORTAL

    client = Client(server.config)
    before = PORTAL.stats().clients
    pods = client.core_v1.pods()
    pods.list()
    del client
    assert pods.list().items == []  # a resource client keeps the client open
    del pods

    until(lambda: PORTAL.stats().clients == before)


def test_a_function_can_create_the_rest_client(server: APIServer) -> None:
    with Client(rest=lambda: RESTClient(server.config, user_agent="mine/1")) as client:
        client.core_v1.pods().list()

    assert server.requests[-1].headers["User-Agent"] == "mine/1"


def test_a_configuration_and_a_function_are_rejected(server: APIServer) -> None:
    with pytest.raises(InvalidArgument):
        Client(server.config, rest=lambda: RESTClient(server.config))


def test_the_repr_of_a_client_names_the_server_after_its_first_use(
    client: Client, server: APIServer
) -> None:
    pods = client.core_v1.pods()

    assert repr(pods) == "blocking not used yet"
    pods.list()
    assert repr(pods) == "blocking PodClient(pods in default)"
    assert server.url in repr(client)
    assert client.namespace == "default"


def test_an_unreachable_server_is_a_kubeloop_error() -> None:
    config = ClusterConfig(server="http://127.0.0.1:9", anonymous=True)

    with Client(config) as client, pytest.raises(TransportError):
        client.version()


# --- types, checked by mypy


def types(client: Client) -> None:
    assert_type(client.core_v1.pods("shop"), PodClient)
    assert_type(client.apps_v1.deployments("shop"), WorkloadClient[Deployment])
    assert_type(client.resource(Deployment), WorkloadClient[Deployment])
    assert_type(client.resource("v1", "Pod"), ResourceClient[dict[str, Any]])
    assert_type(client.metadata(Pod), MetadataClient)
    pods = client.core_v1.pods()
    assert_type(pods.get("web"), Pod)
    assert_type(pods.get_or_none("web"), Pod | None)
    assert_type(pods.each(), Stream[Pod])
    assert_type(pods.watch(), Stream[WatchEvent[Pod]])
    assert_type(pods.logs("web"), Stream[str])
    assert_type(pods.wait_for("web", condition="Ready"), Pod)
    assert_type(pods.wait_for("web", deleted=True), None)
    assert_type(client.apply(Pod()), Pod)
    with pods.edit("web") as pod:
        assert_type(pod, Pod)
    client.apps_v1.deployments().evict("web")  # type: ignore[attr-defined] # only pods are evicted


def test_threads_that_modify_one_object_lose_no_increment(client: Client) -> None:
    maps = client.core_v1.config_maps("default")
    maps.create(ConfigMap(metadata=ObjectMeta(name="a"), data={"next": "0"}))

    def increase(found: ConfigMap) -> None:
        found.data["next"] = str(int(found.data["next"]) + 1)

    def work() -> None:
        for _ in range(4):
            maps.modify("a", increase, timeout=None)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert maps.get("a").data == {"next": "32"}


def test_an_edit_of_a_field_that_another_writer_changed_names_it(client: Client) -> None:
    maps = client.core_v1.config_maps("default")
    maps.create(ConfigMap(metadata=ObjectMeta(name="a"), data={"next": "5"}))

    def change(*, strict: bool, theirs: str) -> None:
        with maps.edit("a", strict=strict) as mine:
            mine.data["next"] = "6"
            maps.patch("a", {"data": {theirs: "6"}}, type="merge")

    with pytest.raises(Conflict, match=r"data\.next"):
        change(strict=False, theirs="next")
    maps.patch("a", {"data": {"next": "5"}}, type="merge")
    with pytest.raises(Conflict, match="modified"):
        change(strict=True, theirs="other")
    assert maps.get("a").data == {"next": "5", "other": "6"}
