"""`kubeloop delete` deletes what is named or selected, and waits until it is gone."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from kubeloop.blocking import Client
from kubeloop.wire.core.v1 import ConfigMap
from kubeloop.wire.meta.v1 import ObjectMeta
from kubeloop_testing import APIServer, Match, StatusError

from .conftest import Call, line_of, started, until
from .test_program import NOT_FOR_GET


@pytest.fixture
def client(kube_blocking_client: Client) -> Client:
    """With two config maps in the namespace shop."""
    maps = kube_blocking_client.core_v1.config_maps("shop")
    for name, colour in (("one", "blue"), ("two", "red")):
        maps.create(ConfigMap(metadata=ObjectMeta(name=name, labels={"colour": colour})))
    return kube_blocking_client


def names(client: Client) -> list[str]:
    return [str(each.metadata.name) for each in client.core_v1.config_maps("shop").list_all()]


def test_each_deleted_object_is_a_line(kubeloop: Call, client: Client) -> None:
    result = kubeloop("delete", "cm", "one", "two", "-n", "shop")

    assert result.exit_code == 0
    assert result.stdout == (
        'configmap "one" deleted from shop namespace\nconfigmap "two" deleted from shop namespace\n'
    )
    assert names(client) == []


def test_a_missing_object_does_not_prevent_the_others(kubeloop: Call, client: Client) -> None:
    result = kubeloop("delete", "cm/none", "cm/one", "-n", "shop")

    assert result.exit_code == 1
    assert result.stdout == 'configmap "one" deleted from shop namespace\n'
    (line,) = result.stderr.splitlines()
    assert 'configmaps "none" not found' in line


def test_a_selector_deletes_what_matches_and_nothing_else(kubeloop: Call, client: Client) -> None:
    result = kubeloop("delete", "cm", "-l", "colour=red", "-n", "shop", "-o", "name")

    assert result.stdout == "configmap/two\n"
    assert names(client) == ["one"]


def test_all_namespaces_are_searched_for_a_selector(kubeloop: Call, client: Client) -> None:
    result = kubeloop("delete", "cm", "-A", "-l", "colour")

    assert 'configmap "one" deleted from shop namespace' in result.stdout
    assert names(client) == []


def test_nothing_selected_is_not_an_error(kubeloop: Call, client: Client) -> None:
    result = kubeloop("delete", "cm", "--field-selector", "metadata.name=none", "-n", "shop")

    assert (result.exit_code, result.stdout) == (0, "No resources found\n")


@pytest.mark.parametrize("dry_run", ["client", "server"])
def test_a_dry_run_deletes_nothing(kubeloop: Call, client: Client, dry_run: str) -> None:
    result = kubeloop("delete", "cm", "--all", "-n", "shop", f"--dry-run={dry_run}")

    assert result.exit_code == 0
    assert result.stdout.count("dry run)") == 2
    assert names(client) == ["one", "two"]


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["cm"], "no name was specified"),
        ([], "expected KIND NAME"),
        (["cm", "one", "-l", "a=b"], "name cannot be provided when a selector is specified"),
        (["cm", "one", "--all"], "name cannot be provided when a selector is specified"),
        (["cm", "--all", "-l", "a=b"], "cannot set --all and a selector"),
        (["cm", "one", "-A"], "across all namespaces"),
        (["cm", "one", "--now", "--grace-period=3"], "--now and --grace-period"),
        (["cm", "one", "--force", "--grace-period=3"], "--force and --grace-period"),
        (["cm", "one", "-o", "yaml"], "unexpected -o output mode: yaml"),
        (["cm", "one", "-f", "file"], "expected KIND NAME"),
        (["-f", "file", "--all"], "manifests cannot be combined with --all"),
        (["cm", "one", "--cascade=never"], "'never' is not one of"),
    ],
)
def test_arguments_that_do_not_fit_together_delete_nothing(
    kubeloop: Call, client: Client, arguments: list[str], text: str
) -> None:
    result = kubeloop("delete", *arguments, "-n", "shop")

    assert (result.exit_code, result.stdout) == (2, "")
    (line,) = result.stderr.splitlines()
    assert text in line
    assert names(client) == ["one", "two"]


def test_flags_become_options_of_the_request(
    kubeloop: Call, client: Client, kube_server: APIServer
) -> None:
    kubeloop("delete", "cm", "one", "-n", "shop", "--cascade=orphan", "--grace-period=7")
    kubeloop("delete", "cm", "two", "-n", "shop", "--force")

    sent = [json.loads(seen.body) for seen in kube_server.requests if seen.verb == "delete"]
    assert [body.get("gracePeriodSeconds") for body in sent] == [7, 0]
    assert [body["propagationPolicy"] for body in sent] == ["Orphan", "Background"]


def test_a_forced_deletion_warns(kubeloop: Call, client: Client) -> None:
    result = kubeloop("delete", "cm", "one", "-n", "shop", "--force")

    assert result.stdout == 'configmap "one" force deleted from shop namespace\n'
    assert result.stderr.startswith("Warning: Immediate deletion does not wait")


def test_objects_of_manifests_are_deleted_and_bad_documents_reported(
    kubeloop: Call, client: Client, tmp_path: Path
) -> None:
    file = tmp_path / "maps.yaml"
    documents = [
        "{apiVersion: v1, kind: ConfigMap, metadata: {name: one}}",
        "{apiVersion: v1, kind: ConfigMap}",
        "{apiVersion: example.com/v1, kind: Nothing, metadata: {name: a}}",
        "{apiVersion: v1, kind: ConfigMap, metadata: {name: two, namespace: default}}",
    ]
    file.write_text("\n---\n".join(documents))

    result = kubeloop("delete", "-f", str(file), "-n", "shop")

    assert result.exit_code == 2
    assert result.stdout == 'configmap "one" deleted from shop namespace\n'
    missing, unknown, elsewhere = result.stderr.splitlines()
    assert "document 2: the ConfigMap has no name" in missing
    assert "find kind Nothing" in unknown
    assert 'does not match the namespace "shop" (use --namespace=default)' in elsewhere


@pytest.mark.timeout(60)
def test_the_command_waits_until_the_object_is_gone(
    kube_server: APIServer, client: Client, environment: dict[str, str]
) -> None:
    maps = client.core_v1.config_maps("shop")
    maps.patch("one", {"metadata": {"finalizers": ["example.com/wait"]}}, type="merge")
    with started(environment, "delete", "cm", "one", "-n", "shop") as process:
        assert line_of(process) == 'configmap "one" deleted from shop namespace'
        until(lambda: any(seen.verb == "watch" for seen in kube_server.requests))
        assert process.poll() is None
        maps.patch("one", {"metadata": {"finalizers": None}}, type="merge")

        assert process.wait() == 0


def test_a_timeout_of_the_wait_has_its_own_exit_code(kubeloop: Call, client: Client) -> None:
    change = {"metadata": {"finalizers": ["example.com/wait"]}}
    client.core_v1.config_maps("shop").patch("one", change, type="merge")

    result = kubeloop("delete", "cm", "one", "-n", "shop", "--timeout=50ms")

    assert result.exit_code == 3
    assert "example.com/wait" in result.stderr
    assert kubeloop("delete", "cm", "one", "-n", "shop", "--wait=false").exit_code == 0


def test_who_may_not_read_the_object_does_not_wait_for_it(
    kubeloop: Call, client: Client, kube_server: APIServer
) -> None:
    status = {"kind": "Status", "code": 403, "reason": "Forbidden", "message": "no"}
    kube_server.faults.refuse(StatusError(status), match=Match(verb="get", resource="configmaps"))

    result = kubeloop("delete", "cm", "one", "-n", "shop")

    assert (result.exit_code, result.stderr) == (0, "")


def test_an_object_that_was_created_again_is_not_waited_for(
    kubeloop: Call, client: Client, kube_server: APIServer
) -> None:
    maps = client.core_v1.config_maps("shop")
    release = kube_server.faults.hold(Match(verb="get", resource="configmaps"))

    has_ended = threading.Event()

    def create_again() -> None:
        until(lambda: "one" not in names(client) or has_ended.is_set())
        maps.create(ConfigMap(metadata=ObjectMeta(name="one")))
        release()

    with ThreadPoolExecutor(1) as pool:
        created = pool.submit(create_again)
        result = kubeloop("delete", "cm", "one", "-n", "shop", "--timeout=3s")
        has_ended.set()
        created.result()

    assert (result.exit_code, result.stderr) == (0, "")
    assert "one" in names(client)


DELETE = """
import sys
from kubeloop_cli import main

sys.argv = ["kubeloop", "delete", "pod/web-1", "-n", "shop", "--dry-run=server"]
try:
    main()
finally:
    print(*sys.modules, file=sys.stderr)
"""


@pytest.mark.timeout(60)
def test_a_deletion_by_name_loads_nothing_for_manifests_and_other_commands(
    environment: dict[str, str],
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", DELETE], env=environment, capture_output=True, text=True, check=True
    )

    assert done.stdout.endswith("(server dry run)\n")
    unneeded = NOT_FOR_GET - {"kubeloop.wire.manifests"} | {"kubeloop_cli.get"}
    assert unneeded & set(done.stderr.split()) == set()
