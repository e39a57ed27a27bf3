"""`rollout`, `cordon`, `uncordon`, `drain` and `auth` of the command line."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from kubeloop.blocking import Client
from kubeloop.wire.core.v1 import Node
from kubeloop.wire.meta.v1 import LabelSelector, ObjectMeta
from kubeloop.wire.policy.v1 import PodDisruptionBudget, PodDisruptionBudgetSpec
from kubeloop_testing import APIServer

from .conftest import Call

simulated = pytest.mark.usefixtures("kube_workloads")
SHOP = ("-n", "shop")


def wait_for_rollout(kubeloop: Call) -> str:
    result = kubeloop("rollout", "status", "deploy/web", *SHOP, "--timeout=30s")
    assert result.exit_code == 0, result.stderr
    return result.stdout


# --- rollouts


@simulated
@pytest.mark.timeout(60)
def test_a_restart_is_followed_and_undone(kubeloop: Call, kube_blocking_client: Client) -> None:
    wait_for_rollout(kubeloop)

    assert kubeloop("rollout", "restart", "deploy", *SHOP).stdout == (
        "deployment.apps/web restarted\n"
    )
    assert wait_for_rollout(kubeloop).endswith('deployment "web" successfully rolled out\n')
    history = kubeloop("rollout", "history", "deploy/web", *SHOP).stdout
    template = kubeloop("rollout", "history", "deploy/web", "--revision=2", *SHOP).stdout
    undone = kubeloop("rollout", "undo", "deploy/web", *SHOP).stdout
    wait_for_rollout(kubeloop)
    again = kubeloop("rollout", "undo", "deploy/web", "--to-revision=3", *SHOP).stdout

    assert history == (
        "deployment.apps/web \nREVISION  CHANGE-CAUSE\n1         <none>\n2         <none>\n\n"
    )
    assert "kubectl.kubernetes.io/restartedAt" in template
    assert undone == "deployment.apps/web rolled back\n"
    assert "restartedAt" not in str(
        kube_blocking_client.apps_v1.deployments("shop").get("web").spec
    )
    assert again == (
        "deployment.apps/web skipped rollback (current template already matches revision 3)\n"
    )


@simulated
@pytest.mark.timeout(60)
def test_a_rollout_that_does_not_complete_has_the_exit_code_of_a_timeout(
    kubeloop: Call, kube_blocking_client: Client
) -> None:
    wait_for_rollout(kubeloop)
    notes = {"kubeloop.testing/outcome": "no-image"}
    change = {"spec": {"template": {"metadata": {"annotations": notes}}}}
    deployments = kube_blocking_client.apps_v1.deployments("shop")
    changed = deployments.patch("web", change, type="strategic")
    # Before the controller has seen the change, the command waits for that, and says so.
    observed = f"{{.status.observedGeneration}}={changed.metadata.generation}"
    deployments.wait_for("web", jsonpath=observed, timeout=30)

    # Long enough for a read on a busy machine; nothing ends the rollout earlier.
    result = kubeloop("rollout", "status", "deploy/web", *SHOP, "--timeout=2s")

    assert result.exit_code == 3
    assert 'Waiting for deployment "web" rollout to finish' in result.stdout
    assert "not complete within 2 s" in result.stderr


@pytest.mark.parametrize(
    "words",
    [
        ["delete", "--dry-run", "pod", "web-1"],
        ["delete", "--dry-run=server", "--wait", "pod/web-1"],
        ["label", "--dry-run", "pod", "web-1", "a=b"],
        ["rollout", "restart", "--dry-run", "deploy/web"],
        ["create", "sa", "--dry-run", "robot"],
    ],
)
def test_a_flag_with_an_optional_value_does_not_take_the_next_argument(
    kubeloop: Call, words: list[str]
) -> None:
    result = kubeloop(*words, *SHOP)

    assert result.exit_code == 0, result.stderr
    assert result.stdout.endswith("(server dry run)\n")


def test_the_status_can_be_printed_once(kubeloop: Call) -> None:
    result = kubeloop("rollout", "status", "deploy/web", *SHOP, "--watch=false")

    assert result.exit_code == 0
    assert len(result.stdout.splitlines()) == 1


def test_a_deployment_is_paused_and_resumed_once(kubeloop: Call) -> None:
    results = [
        kubeloop("rollout", verb, "deploy/web", *SHOP)
        for verb in ("pause", "pause", "restart", "undo", "resume", "resume")
    ]

    assert [result.exit_code for result in results] == [0, 1, 2, 2, 0, 1]
    assert results[0].stdout == "deployment.apps/web paused\n"
    assert results[1].stderr == 'error: deployments.apps "web" is already paused\n'
    assert "can't restart paused deployment (resume it first)" in results[2].stderr
    assert results[4].stdout == "deployment.apps/web resumed\n"
    assert results[5].stderr == 'error: deployments.apps "web" is not paused\n'


def test_a_dry_run_restarts_nothing(kubeloop: Call, kube_server: APIServer) -> None:
    before = len(kube_server.requests)

    results = [
        kubeloop("rollout", "restart", "deploy/web", *SHOP, f"--dry-run={where}").stdout
        for where in ("client", "server")
    ]

    assert results == [
        "deployment.apps/web restarted (dry run)\n",
        "deployment.apps/web restarted (server dry run)\n",
    ]
    patches = [seen.query for seen in kube_server.requests[before:] if seen.verb == "patch"]
    assert [query.get("dryRun") for query in patches] == [["All"]]


def test_a_missing_deployment_does_not_prevent_the_others(kubeloop: Call) -> None:
    result = kubeloop("rollout", "restart", "deploy", "none", "web", *SHOP)

    assert (result.exit_code, result.stdout) == (1, "deployment.apps/web restarted\n")
    assert 'deployments.apps "none" not found' in result.stderr


def test_a_revision_that_does_not_exist_is_an_error(kubeloop: Call) -> None:
    assert "No rollout history" in kubeloop("rollout", "history", "deploy/web", *SHOP).stdout
    result = kubeloop("rollout", "undo", "deploy/web", "--to-revision=7", *SHOP)

    assert result.exit_code == 2
    assert "unable to find specified revision 7" in result.stderr


# --- nodes


@pytest.fixture
def nodes(kube_blocking_client: Client) -> Client:
    """Two nodes; the pods web-1 and web-2 are on the first."""
    for name, zone in (("node-1", "a"), ("node-2", "b")):
        node = Node(metadata=ObjectMeta(name=name, labels={"zone": zone}))
        kube_blocking_client.core_v1.nodes().create(node)
    return kube_blocking_client


def test_nodes_are_cordoned_by_name_or_label(kubeloop: Call, nodes: Client) -> None:
    results = [
        kubeloop("cordon", "node-1", "node-2").stdout,
        kubeloop("cordon", "-l", "zone=a").stdout,
        kubeloop("uncordon", "node-1", "--dry-run=server").stdout,
        kubeloop("uncordon", "node-1").stdout,
    ]

    assert results == [
        "node/node-1 cordoned\nnode/node-2 cordoned\n",
        "node/node-1 already cordoned\n",
        "node/node-1 uncordoned (server dry run)\n",
        "node/node-1 uncordoned\n",
    ]


def test_no_node_is_changed_if_one_is_missing(kubeloop: Call, nodes: Client) -> None:
    result = kubeloop("cordon", "node-1", "none")

    assert (result.exit_code, result.stdout) == (1, "")
    assert not nodes.core_v1.nodes().get("node-1").spec.unschedulable


def test_a_drain_that_needs_a_flag_names_it(kubeloop: Call, nodes: Client) -> None:
    result = kubeloop("drain", "node-1", "node-2")

    assert result.exit_code == 1
    assert result.stdout.splitlines() == [
        "node/node-1 cordoned",
        "node/node-2 cordoned",
        "node/node-2 drained",
    ]
    (line,) = result.stderr.splitlines()
    assert "Pods that declare no controller (use --force to override): shop/web-1, shop/w" in line


@pytest.mark.parametrize("dry_run", ["client", "server"])
def test_a_dry_run_evicts_nothing(kubeloop: Call, nodes: Client, dry_run: str) -> None:
    result = kubeloop("drain", "node-1", "--force", f"--dry-run={dry_run}")

    ending = " (server dry run)" if dry_run == "server" else " (dry run)"
    assert sorted(result.stdout.splitlines()) == [
        f"evicting pod shop/web-1{ending}",
        f"evicting pod shop/web-2{ending}",
        f"node/node-1 cordoned{ending}",
        f"node/node-1 drained{ending}",
    ]
    assert result.stderr.startswith("Warning: deleting Pods that declare no controller: shop/web-1")
    assert nodes.core_v1.pods("shop").exists("web-1")
    assert not nodes.core_v1.nodes().get("node-1").spec.unschedulable


@pytest.mark.timeout(60)
def test_a_drain_evicts_pods_and_says_so(kubeloop: Call, nodes: Client) -> None:
    result = kubeloop("drain", "node-1", "--force", "--grace-period=0", "--timeout=20s")

    assert result.exit_code == 0, result.stderr
    lines = result.stdout.splitlines()
    assert (lines[0], lines[-1]) == ("node/node-1 cordoned", "node/node-1 drained")
    assert sorted(lines[1:-1]) == [
        "evicting pod shop/web-1",
        "evicting pod shop/web-2",
        "pod/web-1 evicted",
        "pod/web-2 evicted",
    ]
    assert len(nodes.core_v1.pods("shop").list_all(field_selector="spec.nodeName=node-1")) == 0


@pytest.mark.timeout(60)
def test_a_budget_that_forbids_an_eviction_until_the_timeout_is_exit_code_3(
    kubeloop: Call, nodes: Client
) -> None:
    budget = PodDisruptionBudget(
        metadata=ObjectMeta(name="web"),
        spec=PodDisruptionBudgetSpec(
            min_available=2, selector=LabelSelector(match_labels={"app": "web"})
        ),
    )
    nodes.policy_v1.pod_disruption_budgets("shop").create(budget)
    ready = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
    for name in ("web-1", "web-2"):
        nodes.core_v1.pods("shop").status.patch(name, {"status": ready}, type="merge")

    result = kubeloop("drain", "node-1", "--force", "--timeout=300ms")

    assert result.exit_code == 3
    assert "will retry after 5s" in result.stderr
    assert "pods are left" in result.stderr.splitlines()[-1]
    assert nodes.core_v1.pods("shop").exists("web-1")


# --- auth


def test_permissions_are_a_word_and_an_exit_code(kubeloop: Call) -> None:
    allowed = kubeloop("auth", "can-i", "get", "pods/web-1", "--subresource=log", *SHOP)
    quiet = kubeloop("auth", "can-i", "create", "deploy.apps", "-A", "-q")

    assert (allowed.exit_code, allowed.stdout, allowed.stderr) == (0, "yes\n", "")
    assert (quiet.exit_code, quiet.stdout, quiet.stderr) == (0, "", "")


def test_what_a_resource_is_not_is_a_warning(kubeloop: Call) -> None:
    unknown = kubeloop("auth", "can-i", "get", "gadgets")
    cluster = kubeloop("auth", "can-i", "list", "nodes")

    assert unknown.stderr == "Warning: the server doesn't have a resource type 'gadgets'\n"
    assert cluster.stderr == "Warning: resource 'nodes' is not namespace scoped\n"
    assert unknown.stdout == cluster.stdout == "yes\n"


def test_the_review_asks_for_what_was_named(kubeloop: Call, kube_server: APIServer) -> None:
    kubeloop("auth", "can-i", "get", "pods/web-1", "--subresource=log", *SHOP)
    kubeloop("auth", "can-i", "list", "deploy", "-A")
    kubeloop("auth", "can-i", "get", "/metrics")

    sent: list[Mapping[str, Any]] = [
        json.loads(seen.body)["spec"]
        for seen in kube_server.requests
        if seen.resource == "selfsubjectaccessreviews"
    ]
    assert sent[0]["resourceAttributes"] == {
        "verb": "get",
        "resource": "pods",
        "group": "",
        "subresource": "log",
        "name": "web-1",
        "namespace": "shop",
    }
    assert sent[1]["resourceAttributes"] == {
        "verb": "list",
        "resource": "deployments",
        "group": "apps",
        "subresource": "",
        "name": "",
        "namespace": "",
    }
    assert sent[2]["nonResourceAttributes"] == {"path": "/metrics", "verb": "get"}


def test_rules_and_identity_are_tables(kubeloop: Call) -> None:
    rules = kubeloop("auth", "can-i", "--list").stdout.splitlines()
    bare = kubeloop("auth", "can-i", "--list", "--no-headers").stdout.splitlines()
    who = kubeloop("auth", "whoami", "--as=joe", "--as-group=a", "--as-group=b", "--as-uid=7")
    data = kubeloop("auth", "whoami", "-o", "jsonpath={.status.userInfo.username}")

    assert rules[0].split("   ") == ["Resources", "Non-Resource URLs", "Resource Names", "Verbs"]
    assert len(bare) == len(rules) - 1
    assert who.stdout.splitlines()[1:] == [
        "Username    joe",
        "UID         7",
        "Groups      [a b system:authenticated]",
    ]
    assert data.stdout.strip() == "kubernetes-admin"
