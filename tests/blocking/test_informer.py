"""Mirrors and leadership for code without asyncio."""

from __future__ import annotations

import gc
import queue
import threading
from typing import Any, assert_type

import msgspec
import pytest

from kubeloop.blocking import Client, SharedInformer
from kubeloop.blocking.worker import Worker
from kubeloop.cache import ChangeType, InformerStopped, NotSynced
from kubeloop.clients import PartialObjectMetadata
from kubeloop.election import ElectionTimes, LeadershipLost
from kubeloop.meta import GroupVersionKind, ObjectKey
from kubeloop.runtime import LeaderElection
from kubeloop.testing import APIServer
from kubeloop.testing.server.faults import Match
from kubeloop.wire.core.v1 import Pod

from .conftest import a_pod, until


def test_a_mirror_is_read_without_asking_the_server(client: Client, server: APIServer) -> None:
    pods = client.core_v1.pods()
    pods.create(a_pod("one", app="web"))
    pods.create(a_pod("two", app="db"))

    with client.informer(Pod, index={"app": "metadata.labels.app"}) as mirror:
        asked = len(server.requests)
        lister = mirror.lister
        found = [pod.metadata.name for pod in lister.list("app=web")]
        by_index = [pod.metadata.name for pod in lister.by_index("app", "db")]

        assert (found, by_index) == (["one"], ["two"])
        assert len(server.requests) - asked <= 1  # the watch
        assert mirror.has_synced
        assert mirror.last_sync_version


def test_your_own_write_is_waited_for(client: Client) -> None:
    with client.informer(Pod) as mirror:
        made = client.core_v1.pods().create(a_pod())
        version = made.metadata.resource_version or ""

        found = mirror.get("web", namespace="default", resource_version=version)

        assert found is not None
        assert found.metadata.uid == made.metadata.uid
        with pytest.raises(NotSynced):
            mirror.wait_for_version(str(int(version) + 1000), timeout=0.01)


def test_a_handler_has_a_thread_of_its_own_and_may_make_calls(client: Client) -> None:
    told: queue.SimpleQueue[tuple[str, str]] = queue.SimpleQueue()
    pods = client.core_v1.pods()
    pods.create(a_pod())

    def on_add(pod: Pod) -> None:
        seen = pods.get(pod.metadata.name or "")  # a blocking call inside a handler
        told.put((threading.current_thread().name, seen.metadata.name or ""))

    with client.informer(Pod) as mirror:
        registration = mirror.add_handler(on_add=on_add, name="labels")
        registration.wait_synced()

        assert told.get() == ("kubeloop labels", "web")
        assert registration.has_synced
        assert registration.stats().notified == 1
        registration.remove()

    assert "kubeloop labels" not in [thread.name for thread in threading.enumerate()]


def test_a_re_creation_in_a_watch_gap_is_a_delete_and_an_add(server: APIServer) -> None:
    told: queue.SimpleQueue[tuple[str, str | None]] = queue.SimpleQueue()
    with Client(server.config) as client, client.informer(Pod) as mirror:
        pods = client.core_v1.pods()
        old = pods.create(a_pod())
        mirror.get("web", namespace="default", resource_version=old.metadata.resource_version or "")
        mirror.add_handler(
            on_add=lambda pod: told.put(("add", pod.metadata.uid)),
            on_delete=lambda pod: told.put(("delete", pod.metadata.uid)),
        ).wait_synced()

        release = server.faults.hold(Match(verb="watch"))
        server.drop_connections()
        with Client(server.config) as other:
            other.core_v1.pods().delete("web", grace_period=0)
            new = other.core_v1.pods().create(a_pod())
        server.expire_history()
        release()

        uids = (old.metadata.uid, new.metadata.uid)
        assert [told.get() for _ in range(3)] == [
            ("add", uids[0]),
            ("delete", uids[0]),
            ("add", uids[1]),
        ]


def test_a_handler_that_fails_hears_of_the_next_change(
    client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    told: queue.SimpleQueue[ObjectKey] = queue.SimpleQueue()

    def on_key(key: ObjectKey) -> None:
        told.put(key)
        raise SystemExit("not ours to end")

    with client.informer(Pod) as mirror:
        mirror.add_key_handler(on_key)
        client.core_v1.pods().create(a_pod("one"))
        client.core_v1.pods().create(a_pod("two"))

        names = {told.get().name, told.get().name}

    assert names == {"one", "two"}
    assert "failed" in caplog.text


def test_handlers_that_are_removed_leave_nothing_behind(client: Client) -> None:
    """X-6: however many there were, while the mirror lives on."""
    client.core_v1.pods().create(a_pod())
    with client.informer(Pod) as mirror:
        for _ in range(20):
            handler = mirror.add_handler(on_add=lambda pod: None)
            handler.wait_synced()
            handler.remove()
            until(
                lambda: not any(each.name == "kubeloop handler" for each in threading.enumerate())
            )
        del handler
        mirror.add_handler().remove()
        gc.collect()

        assert sum(isinstance(each, Worker) for each in gc.get_objects()) <= 2


def test_changes_come_one_by_one(client: Client) -> None:
    pods = client.core_v1.pods()
    pods.create(a_pod())

    with client.informer(Pod) as mirror, mirror.changes() as changes:
        first = next(changes)
        pods.delete("web", grace_period=0)
        marked, gone = next(changes), next(changes)

    types = (first.type, marked.type, gone.type)
    assert types == (ChangeType.ADDED, ChangeType.UPDATED, ChangeType.DELETED)
    assert list(changes) == []


def test_a_mirror_lives_once(client: Client) -> None:
    mirror = client.informer(Pod)
    with mirror:
        pass

    with pytest.raises(InformerStopped), mirror:
        pytest.fail("it began again")


class Name(msgspec.Struct):
    metadata: dict[str, Any]


def types(client: Client) -> None:
    assert_type(client.informer(Pod), SharedInformer[Pod])
    assert_type(client.informer(Pod, model=Name), SharedInformer[Name])
    kind = GroupVersionKind("", "v1", "Pod")
    assert_type(client.informer(kind), SharedInformer[dict[str, Any]])
    assert_type(client.informer(Pod, metadata_only=True), SharedInformer[PartialObjectMetadata])


# --- leadership

# The second looks often, so that it need not wait long for a lease that is given back.
PATIENT = ElectionTimes(lease_duration=15, renew_deadline=10, retry_period=0.05)
# Lost soon after somebody else has taken it, and also by whoever is held up for so long.
FLEETING = ElectionTimes(lease_duration=1, renew_deadline=0.5, retry_period=0.05)


def test_one_leads_at_a_time_and_gives_the_lease_back(client: Client) -> None:
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


def test_a_block_that_lost_the_lease_runs_on_and_hears_of_it(client: Client) -> None:
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
    assert spec.holder_identity == "b"  # not given back: it is another's
