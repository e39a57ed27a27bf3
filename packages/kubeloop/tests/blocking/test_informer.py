"""Informers and leadership for code without asyncio."""

from __future__ import annotations

import gc
import queue
import threading
from typing import Any, assert_type

import msgspec
import pytest

from kubeloop.blocking import Client, SharedInformer
from kubeloop.blocking.informer import HandlerThread
from kubeloop.cache import ChangeType, InformerStopped, NotSynced
from kubeloop.clients import PartialObjectMetadata
from kubeloop.election import ElectionTimes, LeadershipLost
from kubeloop.meta import GroupVersionKind, ObjectKey
from kubeloop.runtime import LeaderElection
from kubeloop.wire.core.v1 import Pod
from kubeloop_testing import APIServer
from kubeloop_testing.server.faults import Match

from .conftest import a_pod, until


def test_a_cache_is_read_without_requests(client: Client, server: APIServer) -> None:
    pods = client.core_v1.pods()
    pods.create(a_pod("one", app="web"))
    pods.create(a_pod("two", app="db"))

    with client.informer(Pod, index={"app": "metadata.labels.app"}) as informer:
        requests = len(server.requests)
        lister = informer.lister
        found = [pod.metadata.name for pod in lister.list("app=web")]
        by_index = [pod.metadata.name for pod in lister.by_index("app", "db")]

        assert (found, by_index) == (["one"], ["two"])
        assert len(server.requests) - requests <= 1  # the watch
        assert informer.has_synced
        assert informer.last_sync_version


def test_get_waits_for_a_write(client: Client) -> None:
    with client.informer(Pod) as informer:
        made = client.core_v1.pods().create(a_pod())
        version = made.metadata.resource_version or ""

        found = informer.get("web", namespace="default", resource_version=version)

        assert found is not None
        assert found.metadata.uid == made.metadata.uid
        with pytest.raises(NotSynced):
            informer.wait_for_version(str(int(version) + 1000), timeout=0.01)


def test_a_handler_has_its_own_thread_and_can_make_calls(client: Client) -> None:
    calls: queue.SimpleQueue[tuple[str, str]] = queue.SimpleQueue()
    pods = client.core_v1.pods()
    pods.create(a_pod())

    def on_add(pod: Pod) -> None:
        seen = pods.get(pod.metadata.name or "")  # a blocking call inside a handler
        calls.put((threading.current_thread().name, seen.metadata.name or ""))

    with client.informer(Pod) as informer:
        registration = informer.add_handler(on_add=on_add, name="labels")
        registration.wait_synced()

        assert calls.get() == ("kubeloop labels", "web")
        assert registration.has_synced
        assert registration.stats().notified == 1
        registration.remove()

    assert "kubeloop labels" not in [thread.name for thread in threading.enumerate()]


def test_a_re_creation_in_a_watch_gap_is_a_delete_and_an_add(server: APIServer) -> None:
    calls: queue.SimpleQueue[tuple[str, str | None]] = queue.SimpleQueue()
    with Client(server.config) as client, client.informer(Pod) as informer:
        pods = client.core_v1.pods()
        old = pods.create(a_pod())
        informer.get(
            "web", namespace="default", resource_version=old.metadata.resource_version or ""
        )
        informer.add_handler(
            on_add=lambda pod: calls.put(("add", pod.metadata.uid)),
            on_delete=lambda pod: calls.put(("delete", pod.metadata.uid)),
        ).wait_synced()

        release = server.faults.hold(Match(verb="watch"))
        server.drop_connections()
        with Client(server.config) as other:
            other.core_v1.pods().delete("web", grace_period=0)
            new = other.core_v1.pods().create(a_pod())
        server.expire_history()
        release()

        uids = (old.metadata.uid, new.metadata.uid)
        assert [calls.get() for _ in range(3)] == [
            ("add", uids[0]),
            ("delete", uids[0]),
            ("add", uids[1]),
        ]


def test_a_failing_handler_is_notified_of_the_next_change(
    client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    calls: queue.SimpleQueue[ObjectKey] = queue.SimpleQueue()

    def on_key(key: ObjectKey) -> None:
        calls.put(key)
        raise SystemExit("not ours to end")

    with client.informer(Pod) as informer:
        informer.add_key_handler(on_key)
        client.core_v1.pods().create(a_pod("one"))
        client.core_v1.pods().create(a_pod("two"))

        names = {calls.get().name, calls.get().name}

    assert names == {"one", "two"}
    assert "failed" in caplog.text


def test_removed_handlers_leave_no_threads(client: Client) -> None:
    """X-6: while the informer is running."""
    client.core_v1.pods().create(a_pod())
    with client.informer(Pod) as informer:
        for _ in range(20):
            handler = informer.add_handler(on_add=lambda pod: None)
            handler.wait_synced()
            handler.remove()
            until(
                lambda: not any(each.name == "kubeloop handler" for each in threading.enumerate())
            )
        del handler
        informer.add_handler().remove()
        gc.collect()

        assert sum(isinstance(each, HandlerThread) for each in gc.get_objects()) <= 2


def test_changes_are_iterated(client: Client) -> None:
    pods = client.core_v1.pods()
    pods.create(a_pod())

    with client.informer(Pod) as informer, informer.changes() as changes:
        first = next(changes)
        pods.delete("web", grace_period=0)
        marked, gone = next(changes), next(changes)

    types = (first.type, marked.type, gone.type)
    assert types == (ChangeType.ADDED, ChangeType.UPDATED, ChangeType.DELETED)
    assert list(changes) == []


def test_an_informer_runs_once(client: Client) -> None:
    informer = client.informer(Pod)
    with informer:
        pass

    with pytest.raises(InformerStopped), informer:
        pytest.fail("the block was entered again")


class Name(msgspec.Struct):
    metadata: dict[str, Any]


def types(client: Client) -> None:
    assert_type(client.informer(Pod), SharedInformer[Pod])
    assert_type(client.informer(Pod, model=Name), SharedInformer[Name])
    kind = GroupVersionKind("", "v1", "Pod")
    assert_type(client.informer(kind), SharedInformer[dict[str, Any]])
    assert_type(client.informer(Pod, metadata_only=True), SharedInformer[PartialObjectMetadata])


# --- leadership

# A short retry period, so that the second candidate soon acquires a released lease.
PATIENT = ElectionTimes(lease_duration=15, renew_deadline=10, retry_period=0.05)
# A short renew deadline, so that a lost lease is detected soon.
FLEETING = ElectionTimes(lease_duration=1, renew_deadline=0.5, retry_period=0.05)


def test_there_is_one_leader_and_it_releases_the_lease(client: Client) -> None:
    leases = client.coordination_v1.leases()
    order = []

    def lead(name: str) -> None:
        with client.leadership(LeaderElection("web", identity=name, times=PATIENT)) as term:
            term.ensure()
            order.append(f"{name} begins")
            client.core_v1.pods().list()
            order.append(f"{name} ends")

    threads = [threading.Thread(target=lead, args=(name,)) for name in ("a", "b")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert [line.partition(" ")[2] for line in order] == ["begins", "ends"] * 2
    spec = leases.get("web").spec
    assert spec is not None
    assert not spec.holder_identity


def test_a_block_that_lost_the_lease_continues_and_ensure_raises(client: Client) -> None:
    leases = client.coordination_v1.leases()
    election = LeaderElection("web", identity="a", times=FLEETING)

    def lead() -> None:
        with client.leadership(election) as term:
            leases.patch("web", {"spec": {"holderIdentity": "b"}}, type="merge")
            until(lambda: term.remaining() <= 0)
            with pytest.raises(LeadershipLost):
                term.ensure()

    with pytest.raises(LeadershipLost):
        lead()
    spec = leases.get("web").spec
    assert spec is not None
    assert spec.holder_identity == "b"  # not released: another candidate holds it
