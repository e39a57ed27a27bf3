"""`kubeloop logs` and `kubeloop wait`."""

from __future__ import annotations

import pytest

from kubeloop.blocking import Client
from kubeloop.testing import APIServer
from kubeloop.wire.core.v1 import Container, Pod, PodSpec
from kubeloop.wire.meta.v1 import ObjectMeta

from .conftest import Call, line_of, started, until


@pytest.fixture
def server(kube_server: APIServer) -> APIServer:
    """Whose pods have said something."""
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


def test_only_the_last_lines_are_asked_for(kubeloop: Call, server: APIServer) -> None:
    assert kubeloop("logs", "pod/web-1", "-n", "shop", "--tail", "1").stdout == "three\n"


def test_what_selects_pods_stands_for_one_of_them(kubeloop: Call, server: APIServer) -> None:
    result = kubeloop("logs", "deploy/web", "-n", "shop")

    assert result.stdout == "one\ntwo\nthree\n"
    assert result.stderr == "2 pods, taken is pod/web-1\n"


def test_flags_become_the_parameters_of_the_server(kubeloop: Call, server: APIServer) -> None:
    kubeloop("logs", "web-1", "-n", "shop", "--since", "1m30s", "--timestamps", "--previous")

    (asked,) = [seen for seen in server.requests if seen.path.endswith("/log")]
    assert asked.query == {
        "container": ["web"],
        "previous": ["true"],
        "sinceSeconds": ["90"],
        "timestamps": ["true"],
    }


def test_of_several_containers_the_first_or_the_default_is_taken_and_said(
    kubeloop: Call, server: APIServer, kube_blocking_client: Client
) -> None:
    pods = kube_blocking_client.core_v1.pods("shop")
    pods.create(two_containers("plain"))
    pods.create(two_containers("marked", **{"kubectl.kubernetes.io/default-container": "side"}))

    assert "taken is main" in kubeloop("logs", "plain", "-n", "shop").stderr
    assert "taken is side" in kubeloop("logs", "marked", "-n", "shop").stderr
    assert kubeloop("logs", "plain", "-n", "shop", "-c", "side").stderr == ""


def test_something_without_pods_has_no_log(kubeloop: Call) -> None:
    nothing = kubeloop("logs", "ns/shop")
    service = kubeloop("logs", "svc/kubernetes")

    assert nothing.exit_code == service.exit_code == 2
    assert "it selects no pods (name a pod)" in nothing.stderr


# --- wait


def test_what_is_so_already_is_not_waited_for(kubeloop: Call) -> None:
    result = kubeloop(
        "wait", "pod/web-1", "-n", "shop", "--for", "jsonpath={.status.phase}=Pending"
    )

    assert (result.exit_code, result.stdout) == (0, "pod/web-1 met\n")


def test_what_does_not_come_in_time_has_an_exit_code_of_its_own(kubeloop: Call) -> None:
    result = kubeloop(  # without time it looks once, however long the answer takes
        "wait", "pod", "web-1", "-n", "shop", "--for", "condition=Ready", "--timeout", "0s"
    )

    assert result.exit_code == 3
    assert "last seen: no condition Ready" in result.stderr


def test_all_objects_with_a_label_are_waited_for(kubeloop: Call) -> None:
    result = kubeloop("wait", "po", "-l", "app=web", "-n", "shop", "--for", "create")
    nobody = kubeloop("wait", "po", "-l", "app=db", "-n", "shop", "--for", "create")

    assert result.stdout.splitlines() == ["pod/web-1 met", "pod/web-2 met"]
    assert nobody.exit_code == 1
    assert "none has the labels app=db" in nobody.stderr


@pytest.mark.timeout(60)
def test_a_deletion_is_waited_for(
    kube_server: APIServer, kube_blocking_client: Client, environment: dict[str, str]
) -> None:
    pods = kube_blocking_client.core_v1.pods("shop")
    with started(environment, "wait", "pod/web-1", "-n", "shop", "--for", "delete") as process:
        until(lambda: any(seen.verb == "watch" for seen in kube_server.requests))
        pods.delete("web-1", grace_period=0)

        assert line_of(process) == "pod/web-1 deleted"
        assert process.wait() == 0
