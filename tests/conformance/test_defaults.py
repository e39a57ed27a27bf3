"""Defaults, and the canonical form of quantities and times."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conformance.raw_client import RawClient
from tests.conformance.samples import deployment, pod, service


async def test_a_pod_is_defaulted(api: RawClient) -> None:
    reply = await api.create(api.at("pods"), pod())

    spec = reply.spec
    container = spec.pop("containers")[0]
    spec.pop("tolerations", None)  # of an admission plugin
    assert spec == {
        "restartPolicy": "Always",
        "terminationGracePeriodSeconds": 30,
        "dnsPolicy": "ClusterFirst",
        "securityContext": {},
        "schedulerName": "default-scheduler",
        "enableServiceLinks": True,
        "preemptionPolicy": "PreemptLowerPriority",
        "priority": 0,
    }
    assert container == {
        "name": "main",
        "image": "nginx:1",
        "resources": {},
        "terminationMessagePath": "/dev/termination-log",
        "terminationMessagePolicy": "File",
        "imagePullPolicy": "IfNotPresent",
    }
    assert reply.body["status"] == {"phase": "Pending", "qosClass": "BestEffort"}


async def test_a_pod_tolerates_lost_nodes_for_five_minutes(api: RawClient) -> None:
    reply = await api.create(api.at("pods"), pod())

    assert reply.spec["tolerations"] == [
        {
            "key": f"node.kubernetes.io/{word}",
            "operator": "Exists",
            "effect": "NoExecute",
            "tolerationSeconds": 300,
        }
        for word in ("not-ready", "unreachable")
    ]


@pytest.mark.parametrize(
    ("image", "policy"),
    [
        ("nginx", "Always"),
        ("nginx:latest", "Always"),
        ("nginx:1", "IfNotPresent"),
        ("registry:5000/nginx", "Always"),
        ("nginx@sha256:" + "a" * 64, "IfNotPresent"),
    ],
)
async def test_the_tag_of_an_image_decides_when_it_is_pulled(
    api: RawClient, image: str, policy: str
) -> None:
    body = pod()
    body["spec"]["containers"][0]["image"] = image

    reply = await api.create(api.at("pods"), body)

    assert reply.spec["containers"][0]["imagePullPolicy"] == policy


@pytest.mark.parametrize(
    ("resources", "quality"),
    [
        ({}, "BestEffort"),
        ({"requests": {"cpu": "1"}}, "Burstable"),
        ({"limits": {"cpu": "1", "memory": "1Gi"}}, "Guaranteed"),
        ({"limits": {"cpu": "1"}}, "Burstable"),
    ],
)
async def test_the_resources_decide_the_quality_of_service(
    api: RawClient, resources: Any, quality: str
) -> None:
    body = pod()
    body["spec"]["containers"][0]["resources"] = resources

    reply = await api.create(api.at("pods"), body)

    assert reply.body["status"]["qosClass"] == quality


async def test_missing_requests_default_to_the_limits(api: RawClient) -> None:
    body = pod()
    body["spec"]["containers"][0]["resources"] = {"limits": {"cpu": "1", "memory": "1Gi"}}

    reply = await api.create(api.at("pods"), body)

    wanted = {"cpu": "1", "memory": "1Gi"}
    assert reply.spec["containers"][0]["resources"] == {"limits": wanted, "requests": wanted}


async def test_a_deployment_is_defaulted(api: RawClient) -> None:
    reply = await api.create(api.at("apps/v1/deployments"), deployment())

    spec = reply.spec
    spec.pop("template")
    assert spec == {
        "replicas": 1,
        "selector": {"matchLabels": {"app": "web"}},
        "strategy": {
            "type": "RollingUpdate",
            "rollingUpdate": {"maxUnavailable": "25%", "maxSurge": "25%"},
        },
        "revisionHistoryLimit": 10,
        "progressDeadlineSeconds": 600,
    }


async def test_a_service_is_defaulted(api: RawClient) -> None:
    reply = await api.create(api.at("services"), service())

    spec = reply.spec
    assert spec.pop("clusterIP")
    assert spec.pop("clusterIPs")
    assert spec == {
        "ports": [{"protocol": "TCP", "port": 80, "targetPort": 80}],
        "selector": {"app": "web"},
        "type": "ClusterIP",
        "sessionAffinity": "None",
        "ipFamilies": ["IPv4"],
        "ipFamilyPolicy": "SingleStack",
        "internalTrafficPolicy": "Cluster",
    }


async def test_a_probe_is_defaulted(api: RawClient) -> None:
    body = pod()
    body["spec"]["containers"][0]["livenessProbe"] = {"httpGet": {"port": 80}}

    reply = await api.create(api.at("pods"), body)

    assert reply.spec["containers"][0]["livenessProbe"] == {
        "httpGet": {"path": "/", "port": 80, "scheme": "HTTP"},
        "timeoutSeconds": 1,
        "periodSeconds": 10,
        "successThreshold": 1,
        "failureThreshold": 3,
    }


async def test_a_job_is_defaulted(api: RawClient) -> None:
    template = {"spec": {"containers": pod()["spec"]["containers"], "restartPolicy": "Never"}}
    body = {"metadata": {"name": "a"}, "spec": {"template": template}}

    reply = await api.create(api.at("batch/v1/jobs"), body)

    spec = reply.spec
    labels = spec.pop("template")["metadata"]["labels"]
    assert spec.pop("selector") == {
        "matchLabels": {"batch.kubernetes.io/controller-uid": reply.meta["uid"]}
    }
    assert labels["batch.kubernetes.io/job-name"] == "a"
    assert labels["batch.kubernetes.io/controller-uid"] == reply.meta["uid"]
    assert spec == {
        "parallelism": 1,
        "completions": 1,
        "backoffLimit": 6,
        "completionMode": "NonIndexed",
        "suspend": False,
        "podReplacementPolicy": "TerminatingOrFailed",
        "manualSelector": False,
    }


async def test_a_cron_job_is_defaulted(api: RawClient) -> None:
    template = {"spec": {"containers": pod()["spec"]["containers"], "restartPolicy": "Never"}}
    body = {
        "metadata": {"name": "a"},
        "spec": {"schedule": "*/5 * * * *", "jobTemplate": {"spec": {"template": template}}},
    }

    reply = await api.create(api.at("batch/v1/cronjobs"), body)

    spec = reply.spec
    spec.pop("jobTemplate")
    assert spec == {
        "schedule": "*/5 * * * *",
        "concurrencyPolicy": "Allow",
        "suspend": False,
        "successfulJobsHistoryLimit": 3,
        "failedJobsHistoryLimit": 1,
    }


async def test_a_claim_is_defaulted(api: RawClient) -> None:
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    body = {"metadata": {"name": "a"}, "spec": spec}

    reply = await api.create(api.at("persistentvolumeclaims"), body)

    assert reply.spec == {**spec, "volumeMode": "Filesystem"}
    assert reply.body["status"] == {"phase": "Pending"}


async def test_the_api_groups_of_a_role_binding_are_defaulted(api: RawClient) -> None:
    body = {
        "metadata": {"name": "a"},
        "roleRef": {"kind": "Role", "name": "reader"},
        "subjects": [{"kind": "User", "name": "jane"}],
    }

    reply = await api.create(api.at("rbac.authorization.k8s.io/v1/rolebindings"), body)

    group = "rbac.authorization.k8s.io"
    assert reply.body["roleRef"] == {"apiGroup": group, "kind": "Role", "name": "reader"}
    assert reply.body["subjects"] == [{"kind": "User", "apiGroup": group, "name": "jane"}]


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        ("100.035k", "100.035k"),
        ("0.5", "500m"),
        ("1.5", "1500m"),
        ("1.5Gi", "1536Mi"),
        ("1024Mi", "1Gi"),
        ("0.05Gi", "53687091200m"),
        (".001Ki", "1024m"),
        ("12E", "12E"),
        (5, "5"),
        (0.25, "250m"),
        ("1e3", "1e3"),
        ("0Ki", "0"),
        ("1000M", "1G"),
    ],
)
async def test_quantities_are_stored_in_canonical_form(
    api: RawClient, sent: object, kept: str
) -> None:
    """V-2, API-19: canonical quantities."""
    body = {"metadata": {"name": "a"}, "spec": {"hard": {"limits.memory": sent}}}

    reply = await api("POST", api.at("resourcequotas"), body)

    assert (reply.code, reply.spec["hard"]) == (201, {"limits.memory": kept})


async def test_a_time_is_stored_in_utc_and_whole_seconds(api: RawClient) -> None:
    """API-23, API-C6: wire format of times."""
    body = pod()
    await api.create(api.at("pods"), body)
    condition = {
        "type": "Ready",
        "status": "True",
        "lastTransitionTime": "2024-01-02T03:04:05.999+02:00",
    }

    reply = await api.patch(
        api.at("pods", "web", "status"), {"status": {"conditions": [condition]}}
    )

    assert reply.body["status"]["conditions"][0]["lastTransitionTime"] == "2024-01-02T01:04:05Z"


@pytest.mark.parametrize("digits", ["", ".123", ".123456", ".123456789"])
async def test_a_time_may_have_any_number_of_digits(api: RawClient, digits: str) -> None:
    """V-3: fractional digits of times."""
    body = {
        "metadata": {"name": "a"},
        "involvedObject": {"namespace": api.namespace},
        "firstTimestamp": f"2024-01-02T03:04:05{digits}Z",
    }

    reply = await api.create(api.at("events"), body)

    assert reply.body["firstTimestamp"] == "2024-01-02T03:04:05Z"


@pytest.mark.parametrize(
    ("digits", "code"), [("", 400), (".123", 400), (".123456", 201), (".123456789", 400)]
)
async def test_a_micro_time_has_six_digits(api: RawClient, digits: str, code: int) -> None:
    """V-3, API-24: fractional digits of times."""
    body = {"metadata": {"name": "a"}, "spec": {"renewTime": f"2024-01-02T03:04:05{digits}Z"}}

    reply = await api("POST", api.at("coordination.k8s.io/v1/leases"), body)

    assert reply.code == code


async def test_a_job_without_labels_has_those_of_its_pods(api: RawClient) -> None:
    template = {"metadata": {"labels": {"app": "web"}}, "spec": pod()["spec"]}
    template["spec"]["restartPolicy"] = "Never"
    jobs = api.at("batch/v1/jobs")
    await api.create(jobs, {"metadata": {"name": "bare"}, "spec": {"template": template}})
    meta = {"name": "own", "labels": {"own": "1"}}
    await api.create(jobs, {"metadata": meta, "spec": {"template": template}})

    bare, own = await api.get(f"{jobs}/bare"), await api.get(f"{jobs}/own")

    assert bare.meta["labels"] == bare.spec["template"]["metadata"]["labels"]
    assert {"app", "job-name", "controller-uid"} <= bare.meta["labels"].keys()
    assert own.meta["labels"] == {"own": "1"}


async def test_a_daemon_set_counts_its_templates_in_an_annotation(api: RawClient) -> None:
    number = "deprecated.daemonset.template.generation"
    body = deployment()
    body["spec"].pop("replicas", None)
    sets = api.at("apps/v1/daemonsets")
    created = await api.create(sets, {**body, "kind": "DaemonSet"})

    labelled = await api.patch(f"{sets}/web", {"metadata": {"labels": {"a": "b"}}})
    template = {"metadata": {"annotations": {"restarted": "now"}}}
    restarted = await api.patch(f"{sets}/web", {"spec": {"template": template}})

    replies = (created, labelled, restarted)
    assert [each.meta["annotations"][number] for each in replies] == ["1", "1", "2"]


async def test_the_first_network_of_a_node_equals_the_single_one(api: RawClient) -> None:
    name = f"node-of-{api.namespace}"
    body = {"metadata": {"name": name}, "spec": {"podCIDR": "10.9.0.0/24"}}
    reply = await api.create("/api/v1/nodes", body)
    await api("DELETE", f"/api/v1/nodes/{name}")

    assert reply.spec["podCIDRs"] == ["10.9.0.0/24"]


async def test_a_quota_starts_with_an_empty_status(api: RawClient) -> None:
    body = {"metadata": {"name": "q"}, "spec": {"hard": {"pods": "3"}}}
    reply = await api.create(api.at("resourcequotas"), body)

    assert reply.body["status"] == {}
