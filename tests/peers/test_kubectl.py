"""kubectl against the embedded server."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import click
import pytest

from kubeloop_cli.program import ONLY_KUBECTL
from kubeloop_cli.program import kubeloop as program
from kubeloop_testing import APIServer
from tests.support.kubectl import Kubectl

DEPLOYMENT = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {app: web}}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: nginx, image: "nginx:1", ports: [{containerPort: 80}]}
"""
DEFINITION = """
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: crontabs.kubectl.example.com}
spec:
  group: kubectl.example.com
  scope: Namespaced
  names: {plural: crontabs, kind: CronTab, shortNames: [ct]}
  versions:
    - name: v1
      served: true
      storage: true
      subresources:
        status: {}
        scale: {specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas}
      additionalPrinterColumns: [{name: Schedule, type: string, jsonPath: .spec.schedule}]
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec:
              type: object
              required: [schedule]
              properties:
                schedule: {type: string, description: When to run it}
                replicas: {type: integer, minimum: 0}
            status: {type: object, properties: {replicas: {type: integer}}}
"""
CRONTAB = """
apiVersion: kubectl.example.com/v1
kind: CronTab
metadata: {name: nightly}
spec: {schedule: "0 3 * * *", replicas: 1}
"""


def rows(table: str) -> list[list[str]]:
    return [re.split(r"\s{2,}", line.strip()) for line in table.splitlines()]


def read(kubectl: Kubectl, *what: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(kubectl("get", *what, "--output=json"))
    return found


@pytest.fixture
def web(kubectl: Kubectl) -> Kubectl:
    """With the deployment `web` applied."""
    kubectl("apply", "--filename=-", stdin=DEPLOYMENT)
    return kubectl


# --- discovery


def test_version_names_the_server(kubectl: Kubectl) -> None:
    output = json.loads(kubectl("version", "--output=json"))

    assert output["serverVersion"]["gitVersion"].startswith("v1.")


def test_api_resources_and_versions_are_those_of_kubernetes(kubectl: Kubectl) -> None:
    resources = rows(kubectl("api-resources"))
    versions = kubectl("api-versions").splitlines()

    assert ["deployments", "deploy", "apps/v1", "true", "Deployment"] in resources
    assert {"v1", "apps/v1", "batch/v1", "autoscaling/v2"} <= set(versions)


def test_explain_knows_fields(kubectl: Kubectl) -> None:
    output = kubectl("explain", "deployment.spec.strategy")

    assert re.search(r"rollingUpdate\s<RollingUpdateDeployment>", output)
    assert re.search(r"type\s<string>", output)
    assert "does not exist" in kubectl.refused("explain", "deployment.spec.nothing")


def test_explain_goes_down_the_whole_tree(kubectl: Kubectl) -> None:
    assert re.search(
        r"ephemeralContainers\s<\[\]EphemeralContainer>", kubectl("explain", "pod", "--recursive")
    )


def test_explain_knows_fields_that_hold_anything(kubectl: Kubectl) -> None:
    output = kubectl("explain", "crd.spec.versions.schema.openAPIV3Schema", "--recursive")

    assert re.search(r"default\s<JSON>", output)
    assert re.search(r"enum\s<\[\]JSON>", output)


# --- reading


def test_get_prints_a_table_wide_and_not(web: Kubectl) -> None:
    head, row = rows(web("get", "deployments", "--output=wide"))

    assert head == [
        "NAME",
        "READY",
        "UP-TO-DATE",
        "AVAILABLE",
        "AGE",
        "CONTAINERS",
        "IMAGES",
        "SELECTOR",
    ]
    assert row[:2] == ["web", "0/2"]
    assert row[5:] == ["nginx", "nginx:1", "app=web"]
    assert web("get", "deploy", "--no-headers").startswith("web   0/2")


def test_get_prints_yaml_names_and_paths(web: Kubectl) -> None:
    assert "progressDeadlineSeconds: 600" in web("get", "deploy", "web", "--output=yaml")
    assert web("get", "deploy", "--output=name") == "deployment.apps/web"
    assert web("get", "deploy", "web", "--output=jsonpath={.spec.replicas}") == "2"
    assert web("get", "deploy,cm", "--selector=app=web", "--output=name") == "deployment.apps/web"
    assert web("get", "deploy", "--field-selector=metadata.name=other", "--output=name") == ""


def test_a_long_list_comes_in_chunks(kubectl: Kubectl) -> None:
    for name in "abc":
        kubectl("create", "configmap", name)

    found = kubectl("get", "configmaps", "--chunk-size=1", "--output=name").splitlines()

    assert {f"configmap/{name}" for name in "abc"} <= set(found)


def test_describe_tells_about_a_deployment_and_a_namespace(web: Kubectl) -> None:
    assert re.search(r"Replicas:\s+2 desired \|", web("describe", "deployment", "web"))
    assert re.search(r"Status:\s+Active", web("describe", "namespace", web.namespace))


def test_a_watch_prints_what_happens(kubectl: Kubectl) -> None:
    kubectl("run", "first", "--image=nginx")

    with kubectl.start("get", "pods", "--watch", "--output=name") as watch:
        assert watch.stdout is not None
        seen = [watch.stdout.readline().strip()]
        kubectl("run", "second", "--image=nginx")
        seen.append(watch.stdout.readline().strip())

    assert seen == ["pod/first", "pod/second"]


def test_logs_are_what_the_test_says(kubectl: Kubectl, kube_server: object) -> None:
    if not isinstance(kube_server, APIServer):
        pytest.skip("a control plane without nodes has no logs")
    kubectl("run", "web", "--image=nginx")
    kube_server.set_log(kubectl.namespace, "web", "one\ntwo\n")

    assert kubectl("logs", "web") == "one\ntwo"
    assert kubectl("logs", "web", "--tail=1") == "two"


# --- writing


def test_create_makes_what_its_arguments_say(kubectl: Kubectl) -> None:
    assert kubectl("create", "configmap", "cm", "--from-literal=a=b") == "configmap/cm created"
    assert kubectl("create", "secret", "generic", "s", "--from-literal=a=b") == "secret/s created"
    assert kubectl("create", "deployment", "web", "--image=nginx") == "deployment.apps/web created"
    assert kubectl("create", "job", "once", "--image=busybox") == "job.batch/once created"
    assert kubectl("expose", "deployment", "web", "--port=80") == "service/web exposed"
    assert kubectl("autoscale", "deployment", "web", "--max=3").endswith("/web autoscaled")

    assert read(kubectl, "cm", "cm")["data"] == {"a": "b"}
    assert re.match(r"10\.", read(kubectl, "svc", "web")["spec"]["clusterIP"])


def test_create_reads_lists_and_checks_what_is_in_them(kubectl: Kubectl) -> None:
    item = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"generateName": "x-"}}
    good = {"apiVersion": "v1", "kind": "List", "items": [item, item]}
    bad = {"apiVersion": "v1", "kind": "List", "items": [{**item, "dataa": {}}]}

    created = kubectl("create", "--filename=-", stdin=json.dumps(good)).splitlines()

    assert len([line for line in created if re.fullmatch(r"configmap/x-\w{5} created", line)]) == 2
    assert 'unknown field "dataa"' in kubectl.refused(
        "create", "--filename=-", stdin=json.dumps(bad)
    )


def test_apply_creates_changes_and_leaves_alone(kubectl: Kubectl) -> None:
    output = [
        kubectl("apply", "--filename=-", stdin=text)
        for text in (DEPLOYMENT, DEPLOYMENT, DEPLOYMENT.replace("nginx:1", "nginx:2"))
    ]

    assert [line.split()[1] for line in output] == ["created", "unchanged", "configured"]
    (container,) = read(kubectl, "deploy", "web")["spec"]["template"]["spec"]["containers"]
    assert container["image"] == "nginx:2"
    assert container["ports"] == [{"containerPort": 80, "protocol": "TCP"}]


def test_apply_on_the_server_owns_fields_and_meets_conflicts(kubectl: Kubectl) -> None:
    apply = ("apply", "--server-side", "--filename=-")
    assert kubectl(*apply, stdin=DEPLOYMENT) == "deployment.apps/web serverside-applied"

    changed = DEPLOYMENT.replace("replicas: 2", "replicas: 3")
    output = kubectl.refused(*apply, "--field-manager=other", stdin=changed)
    kubectl(*apply, "--field-manager=other", "--force-conflicts", stdin=changed)

    assert 'conflict with "kubectl": .spec.replicas' in output
    assert read(kubectl, "deploy", "web")["spec"]["replicas"] == 3


def test_apply_on_the_server_takes_over_from_apply_by_the_client(web: Kubectl) -> None:
    output = web(
        "apply", "--server-side", "--filename=-", stdin=DEPLOYMENT.replace("nginx:1", "nginx:2")
    )

    assert output == "deployment.apps/web serverside-applied"


@pytest.mark.parametrize("how", [[], ["--server-side"]], ids=["client", "server"])
def test_diff_shows_what_apply_would_change(web: Kubectl, how: list[str]) -> None:
    force = ["--force-conflicts"] if how else []
    changed = DEPLOYMENT.replace("replicas: 2", "replicas: 4")

    ended = web.run("diff", *how, *force, "--filename=-", stdin=changed)

    assert ended.returncode == 1  # there is a difference
    assert re.search(r"^-  replicas: 2\n\+  replicas: 4$", ended.stdout, re.MULTILINE)
    assert read(web, "deploy", "web")["spec"]["replicas"] == 2


def test_a_dry_run_changes_nothing(web: Kubectl) -> None:
    changed = DEPLOYMENT.replace("replicas: 2", "replicas: 4")

    output = web("apply", "--dry-run=server", "--filename=-", stdin=changed)

    assert output == "deployment.apps/web configured (server dry run)"
    assert read(web, "deploy", "web")["spec"]["replicas"] == 2


def test_unknown_and_mistyped_fields_are_refused(kubectl: Kubectl) -> None:
    unknown = DEPLOYMENT.replace("replicas:", "replicsa:")
    mistyped = DEPLOYMENT.replace("replicas: 2", "replicas: two")

    assert 'strict decoding error: unknown field "spec.replicsa"' in kubectl.refused(
        "apply", "--filename=-", stdin=unknown
    )
    assert "cannot unmarshal string" in kubectl.refused("apply", "--filename=-", stdin=mistyped)
    assert (
        'unknown field "spec.replicsa"'
        in kubectl.run("apply", "--validate=warn", "--filename=-", stdin=unknown).stderr
    )


def test_edit_sends_what_the_editor_changed(web: Kubectl) -> None:
    output = web("edit", "deployment", "web", editor="sed -i -e 's/replicas: 2/replicas: 7/'")

    assert output == "deployment.apps/web edited"
    assert read(web, "deploy", "web")["spec"]["replicas"] == 7


@pytest.mark.parametrize(
    ("kind", "patch"),
    [
        (
            "strategic",
            '{"spec":{"template":{"spec":{"containers":[{"name":"nginx","image":"x"}]}}}}',
        ),
        ("json", '[{"op":"replace","path":"/spec/template/spec/containers/0/image","value":"x"}]'),
    ],
)
def test_patch_of_either_kind_changes_one_container(web: Kubectl, kind: str, patch: str) -> None:
    assert web("patch", "deploy", "web", f"--type={kind}", f"--patch={patch}").endswith("patched")

    (container,) = read(web, "deploy", "web")["spec"]["template"]["spec"]["containers"]
    assert (container["name"], container["image"]) == ("nginx", "x")


def test_label_annotate_and_set_image(web: Kubectl) -> None:
    web("label", "deployment", "web", "tier=front", "app-")
    web("annotate", "deployment", "web", "note=hi")
    web("set", "image", "deployment/web", "nginx=nginx:9")

    found = read(web, "deploy", "web")
    assert found["metadata"]["labels"] == {"tier": "front"}
    assert found["metadata"]["annotations"]["note"] == "hi"
    assert found["spec"]["template"]["spec"]["containers"][0]["image"] == "nginx:9"


def test_scale_checks_its_preconditions(web: Kubectl) -> None:
    assert web("scale", "deploy", "web", "--replicas=5").endswith("scaled")

    assert "Expected replicas to be 2, was 5" in web.refused(
        "scale", "deploy", "web", "--current-replicas=2", "--replicas=1"
    )
    assert read(web, "deploy", "web")["spec"]["replicas"] == 5


def test_rollout_status_and_wait_see_the_status(web: Kubectl, kube_server: object) -> None:
    if not isinstance(kube_server, APIServer):
        pytest.skip("a real control plane keeps the status itself")
    status = {
        "observedGeneration": 1,
        **dict.fromkeys(("replicas", "updatedReplicas", "availableReplicas", "readyReplicas"), 2),
        "conditions": [{"type": "Available", "status": "True"}],
    }
    assert "timed out" in web.refused(
        "wait", "--for=condition=Available", "deploy/web", "--timeout=0.2s"
    )

    web(
        "patch", "deploy", "web", "--subresource=status", "--type=merge",
        f"--patch={json.dumps({'status': status})}",
    )  # fmt: skip

    assert "successfully rolled out" in web("rollout", "status", "deploy/web", "--timeout=10s")
    assert web("wait", "--for=condition=Available", "deploy/web").endswith("condition met")
    assert web("wait", "--for=jsonpath={.spec.replicas}=2", "deploy/web").endswith("condition met")
    assert web("rollout", "restart", "deploy/web").endswith("restarted")


def test_replace_wants_the_newest_version(web: Kubectl) -> None:
    old = json.dumps(read(web, "deploy", "web"))
    web("scale", "deploy", "web", "--replicas=1")

    output = web.refused("replace", "--filename=-", stdin=old)

    assert "the object has been modified" in output
    assert web("replace", "--filename=-", stdin=DEPLOYMENT) == "deployment.apps/web replaced"


# --- deleting


OWNED = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "owned"},
}


@pytest.fixture
def owned(kubectl: Kubectl) -> Kubectl:
    """With the config map `owned`, which the config map `owner` owns."""
    kubectl("create", "configmap", "owner")
    uid = read(kubectl, "configmap", "owner")["metadata"]["uid"]
    reference = {
        "apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": uid,
        "blockOwnerDeletion": True,
    }  # fmt: skip
    metadata = {"name": "owned", "ownerReferences": [reference]}
    kubectl("create", "--filename=-", stdin=json.dumps({**OWNED, "metadata": metadata}))
    return kubectl


@pytest.mark.parametrize("mode", ["background", "foreground"])
def test_delete_takes_what_is_owned_with_it(owned: Kubectl, mode: str) -> None:
    owned("delete", "configmap", "owner", f"--cascade={mode}", "--timeout=20s")

    owned("wait", "--for=delete", "configmap/owned", "--timeout=20s")
    assert "NotFound" in owned.refused("get", "configmap", "owned")


def test_delete_leaves_orphans(owned: Kubectl) -> None:
    owned("delete", "configmap", "owner", "--cascade=orphan", "--timeout=20s")

    assert "ownerReferences" not in read(owned, "configmap", "owned")["metadata"]


def test_delete_by_label_and_by_file(web: Kubectl) -> None:
    web("create", "configmap", "cm")
    web("label", "configmap", "cm", "app=web")

    assert 'configmap "cm" deleted' in web("delete", "configmaps", "--selector=app=web")
    assert 'deployment.apps "web" deleted' in web("delete", "--filename=-", stdin=DEPLOYMENT)
    assert web("get", "deploy", "--output=name") == ""


def test_a_namespace_ends_with_what_is_in_it(web: Kubectl) -> None:
    name = f"{web.namespace}-other"
    web("create", "namespace", name)
    web("create", "configmap", "cm", f"--namespace={name}")

    assert f'namespace "{name}" deleted' in web("delete", "namespace", name, "--timeout=30s")
    assert "NotFound" in web.refused("get", "configmap", "cm", f"--namespace={name}")


# --- access


def test_rights_come_from_roles(kubectl: Kubectl) -> None:
    kubectl("create", "role", "reader", "--verb=get", "--resource=pods")
    kubectl("create", "rolebinding", "jane", "--role=reader", "--user=jane")

    assert kubectl("auth", "can-i", "get", "pods", "--as=jane") == "yes"
    assert kubectl.run("auth", "can-i", "delete", "pods", "--as=jane").stdout.strip() == "no"
    assert 'User "jane" cannot list resource "pods"' in kubectl.refused("get", "pods", "--as=jane")
    assert "pods" in kubectl("auth", "can-i", "--list", "--as=jane")


def test_a_token_of_a_service_account_is_its_identity(kubectl: Kubectl) -> None:
    kubectl("create", "serviceaccount", "bob")
    token = kubectl("create", "token", "bob")

    output = kubectl("auth", "whoami", f"--token={token}", "--output=json")

    user = json.loads(output)["status"]["userInfo"]
    assert user["username"] in {f"system:serviceaccount:{kubectl.namespace}:bob", "admin"}


# --- custom kinds


def test_a_custom_resource_is_like_any_other(kubectl: Kubectl) -> None:
    kubectl("apply", "--filename=-", stdin=DEFINITION)
    kubectl(
        "wait", "--for=condition=Established", "crd/crontabs.kubectl.example.com", "--timeout=20s"
    )
    kubectl("apply", "--filename=-", stdin=CRONTAB)

    assert rows(kubectl("get", "ct"))[1][:2] == ["nightly", "0 3 * * *"]
    assert "When to run it" in kubectl("explain", "ct.spec.schedule")
    assert kubectl("scale", "ct", "nightly", "--replicas=3").endswith("scaled")
    assert "Schedule:  0 3 * * *" in kubectl("describe", "ct", "nightly")
    assert "should be greater than or equal to 0" in kubectl.refused(
        "patch", "ct", "nightly", "--type=merge", '--patch={"spec":{"replicas":-1}}'
    )

    kubectl("delete", "crd", "crontabs.kubectl.example.com", "--timeout=20s")
    # kubectl itself may cache the kind for a while.
    assert re.search("have a resource type|not find", kubectl.refused("get", "ct"))


# --- errors


@pytest.mark.parametrize(
    ("arguments", "output"),
    [
        (["get", "nothing"], 'error: the server doesn\'t have a resource type "nothing"'),
        (["get", "pod", "x"], 'Error from server (NotFound): pods "x" not found'),
        (["get", "pods", "--field-selector=a=b"], "field label not supported"),
        (["create", "configmap", "kube-root-ca.crt", "--namespace=nowhere"], '"nowhere" not found'),
        (
            ["create", "configmap", "A"],
            'ConfigMap "A" is invalid: metadata.name: Invalid value',
        ),
        (["top", "pods"], "error: Metrics API not available"),
        (["get", "--raw", "/nothing"], "could not find the requested resource"),
        (["exec", "x", "--", "ls"], 'pods "x" not found'),
    ],
)
def test_errors_read_as_they_do_everywhere(
    kubectl: Kubectl, arguments: list[str], output: str
) -> None:
    assert output in kubectl.refused(*arguments)


def test_a_wrong_password_is_unauthorized(kubectl: Kubectl, tmp_path: Path) -> None:
    kubeconfig = tmp_path / "stranger"
    text = kubectl("config", "view", "--raw", "--flatten")
    kubeconfig.write_text(re.sub(r"    (token|client-\S+-data): .*\n", "", text))

    output = kubectl.refused("get", "pods", f"--kubeconfig={kubeconfig}", "--token=wrong")

    assert "You must be logged in to the server" in output


def test_every_command_of_kubectl_is_here_or_answered_as_kubectls(kubectl_program: str) -> None:
    listed = subprocess.run(
        [kubectl_program, "__complete", ""], capture_output=True, text=True, check=True
    )
    commands = {line.partition("\t")[0] for line in listed.stdout.splitlines()} - {"help"}

    missing = {name for name in commands if not name.startswith(":")} - {
        *program.list_commands(click.Context(program))
    }

    assert missing == {*ONLY_KUBECTL}
