"""`label`, `annotate`, `patch`, `scale`, `diff` and `run` of the command line."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from kubeloop.blocking import Client
from kubeloop.wire.core.v1 import ConfigMap, Secret
from kubeloop.wire.meta.v1 import ObjectMeta
from kubeloop.wire.yaml import load_documents
from kubeloop_testing import APIServer

from .conftest import Call
from .test_apply import CRD, WEBSITE


@pytest.fixture
def client(kube_blocking_client: Client) -> Client:
    """With two config maps in the namespace shop."""
    maps = kube_blocking_client.core_v1.config_maps("shop")
    for name in ("one", "two"):
        metadata = ObjectMeta(name=name, labels={"app": "web"}, annotations={"note": "a"})
        maps.create(ConfigMap(metadata=metadata, data={"colour": "blue"}))
    return kube_blocking_client


def one(client: Client) -> ConfigMap:
    return client.core_v1.config_maps("shop").get("one")


# --- label and annotate


@pytest.mark.parametrize(
    ("changes", "output", "labels"),
    [
        (["tier=front"], "labeled", {"app": "web", "tier": "front"}),
        (["app=web"], "not labeled", {"app": "web"}),
        (["app-"], "unlabeled", {}),
        (["app=api", "--overwrite"], "labeled", {"app": "api"}),
        (["x=", "app-", "--overwrite"], "labeled", {"x": ""}),
    ],
)
def test_labels_are_changed(
    kubeloop: Call, client: Client, changes: list[str], output: str, labels: dict[str, str]
) -> None:
    result = kubeloop("label", "cm", "one", *changes, "-n", "shop")

    assert (result.exit_code, result.stdout) == (0, f"configmap/one {output}\n")
    assert one(client).metadata.labels == labels


def test_a_value_is_not_replaced_without_overwrite(kubeloop: Call, client: Client) -> None:
    label = kubeloop("label", "cm", "one", "app=api", "-n", "shop")
    annotation = kubeloop("annotate", "cm", "one", "note=b", "-n", "shop")

    assert label.exit_code == annotation.exit_code == 1
    assert label.stderr == "error: 'app' already has a value (web), and --overwrite is false\n"
    assert "'note' already has a value (a)" in annotation.stderr


def test_all_and_selectors_change_many_objects(kubeloop: Call, client: Client) -> None:
    every = kubeloop("annotate", "cm", "--all", "seen=yes", "-n", "shop", "-o", "name")
    some = kubeloop("label", "cm,deploy", "-A", "-l", "app=web", "tier=x", "--dry-run=server")

    assert every.stdout == "configmap/one\nconfigmap/two\n"
    assert some.stdout.splitlines() == [
        "configmap/one labeled (server dry run)",
        "configmap/two labeled (server dry run)",
        "deployment.apps/web labeled (server dry run)",
    ]
    assert one(client).metadata.annotations["seen"] == "yes"


def test_labels_are_listed(kubeloop: Call, client: Client) -> None:
    single = kubeloop("label", "cm", "one", "--list", "-n", "shop")
    several = kubeloop("label", "cm/one", "deploy/web", "--list", "-n", "shop")

    assert single.stdout == "app=web\n"
    assert several.stdout == (
        "Listing labels for ConfigMap./one:\n app=web\n"
        "Listing labels for Deployment.apps/web:\n app=web\n"
    )


def test_objects_are_printed_as_documents(kubeloop: Call, client: Client) -> None:
    result = kubeloop("label", "cm", "--all", "x=y", "-n", "shop", "-o", "yaml", "--dry-run=client")

    objects = load_documents(result.stdout)
    assert [obj["metadata"]["labels"]["x"] for obj in objects if isinstance(obj, dict)] == ["y"] * 2
    assert "managedFields" not in result.stdout
    assert "x" not in one(client).metadata.labels


def test_a_version_is_a_precondition(kubeloop: Call, client: Client) -> None:
    version = one(client).metadata.resource_version or ""

    old = kubeloop("label", "cm", "one", "x=1", "--resource-version=1", "-n", "shop")
    many = kubeloop("label", "cm", "--all", "x=1", "--resource-version=1", "-n", "shop")
    right = kubeloop("label", "cm", "one", "x=1", f"--resource-version={version}", "-n", "shop")

    assert (old.exit_code, many.exit_code, right.exit_code) == (1, 2, 0)
    assert "409 Conflict" in old.stderr
    assert "single resource" in many.stderr


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["label", "cm", "one"], "at least one label update is required"),
        (["annotate", "cm", "one"], "at least one annotation update is required"),
        (["label", "cm", "one", "a=b", "two"], "must be specified before label changes: two"),
        (["label", "cm", "one", "a=b", "a-"], "more than one change of the label 'a'"),
        (["label", "cm", "a=b"], "no name was specified"),
        (["patch", "cm", "one"], "must specify --patch or --patch-file"),
        (["patch", "cm", "one", "-p", "["], "patch: --patch, line"),
        (["patch", "cm", "one", "-p", "text"], "expected one object or list"),
        (["patch", "cm", "one", "--patch-file", "none"], "unable to read patch file none"),
        (["patch", "cm", "one", "--type=apply", "-p", "{}"], "'apply' is not one of"),
        (["scale", "deploy/web"], "Missing option '--replicas'"),
        (["scale", "deploy/web", "--replicas=-1"], "--replicas"),
        (["scale", "deploy", "--replicas=1"], "no name was specified"),
        (["run", "a"], "Missing option '--image'"),
        (["run", "a", "--image=b", "--rm"], "--rm should only be used for attached"),
        (["run", "a", "--image=b", "--attach", "--restart=Always"], "use --restart=Never"),
        (["run", "a", "--image=b", "--env=c"], "--env c: expected key=value"),
        (["diff"], "must specify one of -f and -k"),
        (["drain"], "expected either names of nodes or --selector"),
        (["cordon", "a", "-l", "b=c"], "expected either names of nodes or --selector"),
        (["rollout", "restart"], "expected KIND NAME"),
        (["rollout", "pause", "ds/a", "-f", "b"], "expected KIND NAME"),
        (["rollout", "restart", "cm/one"], "have rollouts"),
        (["auth", "can-i"], "expected VERB KIND"),
        (["auth", "can-i", "get"], "expected VERB KIND"),
        (["auth", "can-i", "get", "pods", "--list"], "or --list"),
    ],
)
def test_invalid_arguments_are_one_line(
    kubeloop: Call, client: Client, arguments: list[str], text: str
) -> None:
    result = kubeloop(*arguments, "-n", "shop")

    assert (result.exit_code, result.stdout) == (2, "")
    (line,) = result.stderr.splitlines()
    assert text in line


# --- patch


@pytest.mark.parametrize(
    ("patch_type", "patch"),
    [
        ("strategic", '{"data": {"colour": "red"}}'),
        ("merge", "data: {colour: red}"),
        ("json", '[{"op": "replace", "path": "/data/colour", "value": "red"}]'),
    ],
)
def test_a_patch_is_sent_and_applied_in_dry_runs(
    kubeloop: Call, client: Client, patch_type: str, patch: str
) -> None:
    words = ("patch", "cm", "one", "-n", "shop", f"--type={patch_type}", "-p", patch)

    tried = kubeloop(*words, "--dry-run=client", "-o", "jsonpath={.data.colour}")
    before = one(client).data
    sent, again = kubeloop(*words), kubeloop(*words)

    assert (tried.stdout.strip(), before) == ("red", {"colour": "blue"})
    assert sent.stdout == "configmap/one patched\n"
    assert again.stdout == "configmap/one patched (no change)\n"
    assert one(client).data == {"colour": "red"}


def test_a_patch_of_a_custom_kind_is_not_strategic(kubeloop: Call) -> None:
    kubeloop("apply", "-f", "-", stdin=f"{CRD}---{WEBSITE}")

    result = kubeloop("patch", "website", "home", "-p", "{}", "--dry-run=client")

    assert result.exit_code == 2
    assert "not a built-in kind (use --type=merge)" in result.stderr


# --- scale


def test_the_number_of_replicas_is_set_if_it_is_as_expected(
    kubeloop: Call, kube_blocking_client: Client
) -> None:
    deployments = kube_blocking_client.apps_v1.deployments("shop")

    refused = kubeloop("scale", "deploy/web", "-n", "shop", "--replicas=5", "--current-replicas=7")
    old = kubeloop("scale", "deploy/web", "-n", "shop", "--replicas=5", "--resource-version=1")
    scaled = kubeloop("scale", "deploy/web", "-n", "shop", "--replicas=5", "--current-replicas=2")

    assert (refused.exit_code, old.exit_code, scaled.exit_code) == (1, 1, 0)
    assert "Expected replicas to be 7, was 2" in refused.stderr
    assert "Expected resource version to be 1, was" in old.stderr
    assert scaled.stdout == "deployment.apps/web scaled\n"
    assert deployments.get("web").spec.replicas == 5


def test_scaling_nothing_is_an_error(kubeloop: Call) -> None:
    result = kubeloop("scale", "deploy", "-l", "app=none", "--replicas=1", "-n", "shop")

    assert result.exit_code == 1
    assert "no objects passed to scale" in result.stderr


@pytest.mark.timeout(60)
@pytest.mark.usefixtures("kube_workloads")
def test_a_timeout_waits_for_the_replicas(kubeloop: Call, kube_blocking_client: Client) -> None:
    words = ("scale", "deploy/web", "-n", "shop", "--replicas=4", "--timeout=30s")

    result = kubeloop(*words, "-o", "jsonpath={.status.readyReplicas}")

    assert result.stdout.strip() == "4"


# --- diff


def test_differences_are_printed_and_have_an_exit_code(
    kubeloop: Call, client: Client, tmp_path: Path
) -> None:
    file = tmp_path / "map.yaml"
    file.write_text("{apiVersion: v1, kind: ConfigMap, metadata: {name: one}, data: {size: '3'}}")

    result = kubeloop("diff", "-f", str(file), "-n", "shop")

    assert (result.exit_code, result.stderr) == (1, "")
    lines = result.stdout.splitlines()
    assert lines[:2] == ["--- LIVE/v1.ConfigMap.shop.one", "+++ MERGED/v1.ConfigMap.shop.one"]
    assert [line for line in lines[2:] if line[0] in "+-"] == ['+  size: "3"']
    assert one(client).data == {"colour": "blue"}


def test_no_difference_prints_nothing(kubeloop: Call, tmp_path: Path) -> None:
    file = tmp_path / "map.yaml"
    file.write_text("{apiVersion: v1, kind: ConfigMap, metadata: {name: new}, data: {size: '3'}}")
    kubeloop("apply", "-f", str(file))

    result = kubeloop("diff", "-f", str(file))

    assert (result.exit_code, result.stdout) == (0, "")


def test_errors_of_a_diff_have_a_larger_exit_code(
    kubeloop: Call, client: Client, tmp_path: Path
) -> None:
    rejected = "{apiVersion: v1, kind: ConfigMap, metadata: {name: Not A Name}}"

    result = kubeloop("diff", "-f", "-", stdin=rejected)

    assert result.exit_code == 2
    assert len(result.stderr.splitlines()) == 1


def test_values_of_secrets_are_not_printed(kubeloop: Call, kube_blocking_client: Client) -> None:
    secret = Secret(metadata=ObjectMeta(name="db"), data={"same": b"s3cr3t", "old": b"s3cr3t"})
    kube_blocking_client.core_v1.secrets("shop").create(secret, field_manager="kubeloop")
    text = (
        "{apiVersion: v1, kind: Secret, metadata: {name: db, namespace: shop},"
        " stringData: {same: s3cr3t, old: changed, new: s3cr3t}}"
    )

    result = kubeloop("diff", "-f", "-", "--force-conflicts", stdin=text)

    assert '-  old: "*** (before)"' in result.stdout
    assert '+  old: "*** (after)"' in result.stdout
    assert '+  new: "***"' in result.stdout
    assert "czNjcjN0" not in result.stdout
    assert "s3cr3t" not in result.stdout


def test_an_external_program_gets_two_folders(
    kubeloop: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "compare.py"
    script.write_text(
        "import sys\nfrom pathlib import Path\n"
        "read = lambda folder: {file.name: file.read_text() for file in Path(folder).iterdir()}\n"
        f"Path({str(tmp_path / 'seen')!r}).write_text(repr([read(each) for each in sys.argv[1:]]))\n"
        "sys.exit(1)\n"
    )
    text = "{apiVersion: v1, kind: ConfigMap, metadata: {name: new}}"

    monkeypatch.setenv("KUBECTL_EXTERNAL_DIFF", f"{sys.executable} {script}")
    result = kubeloop("diff", "-f", "-", stdin=text)
    monkeypatch.setenv("KUBECTL_EXTERNAL_DIFF", "no-such-program")
    failed = kubeloop("diff", "-f", "-", stdin=text)

    seen = (tmp_path / "seen").read_text()
    assert result.exit_code == 1
    assert "[{'v1.ConfigMap.default.new': ''}, {'v1.ConfigMap.default.new': 'apiVersion" in seen
    assert failed.exit_code == 2
    assert "failed to run 'no-such-program'" in failed.stderr


# --- run


def test_a_pod_is_created_from_flags(kubeloop: Call, kube_blocking_client: Client) -> None:
    flags = ("--image=app:1", "--port=80", "--env=A=1=2", "-l", "app=x,tier=y", "-n", "shop")

    result = kubeloop("run", "made", *flags, "--", "serve", "-n", "fast")

    pod = kube_blocking_client.core_v1.pods("shop").get("made")
    (container,) = pod.spec.containers
    assert result.stdout == "pod/made created\n"
    assert pod.metadata.labels == {"app": "x", "tier": "y"}
    assert container.args == ["serve", "-n", "fast"]
    assert [(each.name, each.value) for each in container.env] == [("A", "1=2")]


@pytest.mark.timeout(60)
@pytest.mark.usefixtures("kube_workloads")
def test_an_attached_run_prints_the_log_and_ends_with_the_code(
    kubeloop: Call, kube_blocking_client: Client
) -> None:
    flags = ("--image=busybox", "--attach", "--rm", "-n", "shop")

    result = kubeloop("run", "once", *flags, "--command", "--", "date")

    assert result.exit_code == 0, result.stderr
    assert "exited with code 0" in result.stdout
    assert result.stderr == 'pod "once" deleted from shop namespace\n'
    assert not kube_blocking_client.core_v1.pods("shop").exists("once")


def test_a_printed_pod_can_be_applied(kubeloop: Call, kube_server: APIServer) -> None:
    text = kubeloop("run", "made", "--image=app:1", "--dry-run=client", "-o", "json").stdout

    result = kubeloop("apply", "-f", "-", stdin=text)

    assert json.loads(text)["spec"]["restartPolicy"] == "Always"
    assert result.stdout == "pod/made created\n"
