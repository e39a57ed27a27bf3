"""`kubeloop logs` and `kubeloop wait`."""

from __future__ import annotations

import pytest

from kubeloop.blocking import Client
from kubeloop.wire.core.v1 import Container, Pod, PodSpec
from kubeloop.wire.meta.v1 import ObjectMeta
from kubeloop_testing import APIServer

from .conftest import SHOP, Call, line_of, started, until


@pytest.fixture
def server(kube_server: APIServer) -> APIServer:
    """A server with a log for one pod."""
    kube_server.set_log("shop", "web-1", "one\ntwo\nthree\n")
    return kube_server


def two_containers(name: str, **annotations: str) -> Pod:
    return Pod(
        metadata=ObjectMeta(name=name, annotations=annotations),
        spec=PodSpec(containers=[Container(name=each, image="app:1") for each in ("main", "side")]),
    )


# --- logs


def test_a_log_is_printed_line_by_line(kubeloop: Call, server: APIServer) -> None:
    result = kubeloop("logs", "web-1", "-n", "shop")

    assert (result.stdout, result.stderr) == ("one\ntwo\nthree\n", "")


def test_tail_requests_only_the_last_lines(kubeloop: Call, server: APIServer) -> None:
    assert kubeloop("logs", "pod/web-1", "-n", "shop", "--tail", "1").stdout == "three\n"


def test_an_object_that_selects_pods_uses_one_of_them(kubeloop: Call, server: APIServer) -> None:
    result = kubeloop("logs", "deploy/web", "-n", "shop")

    assert result.stdout == "one\ntwo\nthree\n"
    assert result.stderr == "Found 2 pods, using pod/web-1\n"


def test_flags_become_query_parameters(kubeloop: Call, server: APIServer) -> None:
    kubeloop("logs", "web-1", "-n", "shop", "--since", "1m30s", "--timestamps", "--previous")

    (request,) = [seen for seen in server.requests if seen.path.endswith("/log")]
    assert request.query == {
        "container": ["web"],
        "previous": ["true"],
        "sinceSeconds": ["90"],
        "timestamps": ["true"],
    }


def test_of_several_containers_the_first_or_the_default_is_used_and_reported(
    kubeloop: Call, server: APIServer, kube_blocking_client: Client
) -> None:
    pods = kube_blocking_client.core_v1.pods("shop")
    pods.create(two_containers("plain"))
    pods.create(two_containers("marked", **{"kubectl.kubernetes.io/default-container": "side"}))

    assert 'container "main" out of: main, side' in kubeloop("logs", "plain", "-n", "shop").stderr
    assert 'container "side" out of: main, side' in kubeloop("logs", "marked", "-n", "shop").stderr
    assert kubeloop("logs", "plain", "-n", "shop", "-c", "side").stderr == ""


def test_an_object_without_pods_has_no_log(kubeloop: Call) -> None:
    nothing = kubeloop("logs", "ns/shop")
    service = kubeloop("logs", "svc/kubernetes")

    assert nothing.exit_code == service.exit_code == 2
    assert "it selects no pods (name a pod)" in nothing.stderr


# --- wait


def test_a_condition_that_is_met_already_returns_at_once(kubeloop: Call) -> None:
    result = kubeloop(
        "wait", "pod/web-1", "-n", "shop", "--for", "jsonpath={.status.phase}=Pending"
    )

    assert (result.exit_code, result.stdout) == (0, "pod/web-1 condition met\n")


def test_a_timeout_has_its_own_exit_code(kubeloop: Call) -> None:
    result = kubeloop(  # a timeout of zero checks once, however long the response takes
        "wait", "pod", "web-1", "-n", "shop", "--for", "condition=Ready", "--timeout", "0s"
    )

    assert result.exit_code == 3
    assert "last seen: no condition Ready" in result.stderr


def test_all_objects_with_a_label_are_waited_for(kubeloop: Call) -> None:
    result = kubeloop("wait", "po", "-l", "app=web", "-n", "shop", "--for", "create")
    none = kubeloop("wait", "po", "-l", "app=db", "-n", "shop", "--for", "create")

    assert result.stdout.splitlines() == ["pod/web-1 condition met", "pod/web-2 condition met"]
    assert none.exit_code == 1
    assert "no objects match app=db" in none.stderr


@pytest.mark.timeout(60)
def test_a_deletion_is_waited_for(
    kube_server: APIServer, kube_blocking_client: Client, environment: dict[str, str]
) -> None:
    pods = kube_blocking_client.core_v1.pods("shop")
    with started(environment, "wait", "pod/web-1", "-n", "shop", "--for", "delete") as process:
        until(lambda: any(seen.verb == "watch" for seen in kube_server.requests))
        pods.delete("web-1", grace_period=0)

        assert line_of(process) == "pod/web-1 condition met"
        assert process.wait() == 0


def test_several_kinds_and_manifests_are_waited_for(kubeloop: Call) -> None:
    every = kubeloop("wait", "po,deploy", "--all", "-A", "--for", "create")
    manifest = kubeloop("wait", "-f", str(SHOP), "--for", "jsonpath={.metadata.uid}")

    assert every.stdout.splitlines() == [
        "pod/web-1 condition met",
        "pod/web-2 condition met",
        "deployment.apps/web condition met",
    ]
    assert manifest.stdout.splitlines()[0] == "namespace/shop condition met"
    assert len(manifest.stdout.splitlines()) == 4


def test_a_timeout_of_one_object_does_not_prevent_the_wait_for_others(kubeloop: Call) -> None:
    goal = "jsonpath={.metadata.name}=web-2"

    result = kubeloop("wait", "po", "--all", "-n", "shop", "--for", goal, "--timeout", "0s")

    assert (result.exit_code, result.stdout) == (3, "pod/web-2 condition met\n")
    (line,) = result.stderr.splitlines()
    assert "pods/web-1: not met" in line


def test_waiting_for_the_deletion_of_nothing_succeeds(kubeloop: Call) -> None:
    assert kubeloop("wait", "po", "-l", "app=none", "--for", "delete").exit_code == 0
