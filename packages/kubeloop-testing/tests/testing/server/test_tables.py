"""Objects as rows of a Table."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kubeloop_testing.server.kinds.rules.cell_text import human_duration, human_since
from kubeloop_testing.server.registry import Registry, ServedResource
from kubeloop_testing.server.representations.representation import PARTIAL, Representation
from kubeloop_testing.server.representations.tables import table
from kubeloop_testing.server.schema.crds import CustomKind
from kubeloop_testing.server.storage.store import Entry

NOW = datetime(2024, 1, 10, 0, 0, 0, tzinfo=UTC)
CREATED = "2024-01-06T20:00:00Z"  # 3d4h ago
REGISTRY = Registry()
DAY, YEAR = 86400, 365 * 86400


def _served(group: str, version: str, plural: str) -> ServedResource:
    found = REGISTRY.find(group, version, plural)
    assert found is not None
    return found


PODS = _served("", "v1", "pods")


def _obj(name: str = "web", **more: Any) -> dict[str, Any]:
    return {"metadata": {"name": name, "creationTimestamp": CREATED}, **more}


def _row(served: ServedResource, obj: dict[str, Any]) -> dict[str, Any]:
    result = table(served, [obj], now=NOW)
    names = [each["name"] for each in result["columnDefinitions"]]
    [row] = result["rows"]
    return dict(zip(names, row["cells"], strict=True))


# --- durations


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (-2, "<invalid>"),
        (-1.5, "0s"),
        (0, "0s"),
        (119, "119s"),
        (120, "2m"),
        (200, "3m20s"),
        (599, "9m59s"),
        (600, "10m"),
        (179 * 60, "179m"),
        (180 * 60, "3h"),
        (5 * 3600 + 60, "5h1m"),
        (8 * 3600, "8h"),
        (47 * 3600 + 3599, "47h"),
        (2 * DAY, "2d"),
        (3 * DAY + 4 * 3600, "3d4h"),
        (8 * DAY, "8d"),
        (2 * YEAR - 1, "729d"),
        (2 * YEAR, "2y"),
        (2 * YEAR + 40 * DAY, "2y40d"),
        (9 * YEAR, "9y"),
    ],
)
def test_a_duration_has_at_most_two_units(seconds: float, text: str) -> None:
    assert human_duration(seconds) == text


@given(st.floats(min_value=0, max_value=4e9), st.floats(min_value=0, max_value=4e9))
def test_any_duration_is_short(seconds: float, other: float) -> None:
    assert len(human_duration(seconds)) <= 7
    assert human_duration(max(seconds, other))[-1] in "smhdy"


@pytest.mark.parametrize("moment", [None, "", 5])
def test_the_age_of_a_missing_time_is_unknown(moment: object) -> None:
    assert human_since(moment, NOW) == "<unknown>"


# --- the table


def test_a_table_has_columns_rows_and_the_metadata_of_the_objects() -> None:
    """API-46: the columns and rows of a Table."""
    obj = _obj(spec={"secret": 1})
    obj["metadata"]["resourceVersion"] = "7"

    result = table(PODS, [obj], now=NOW)

    assert (result["kind"], result["apiVersion"]) == ("Table", "meta.k8s.io/v1")
    assert result["metadata"] == {"resourceVersion": "7"}
    first, *rest = result["columnDefinitions"]
    assert first == {
        "name": "Name",
        "type": "string",
        "format": "name",
        "description": "",
        "priority": 0,
    }
    assert [(each["name"], each["priority"]) for each in rest] == [
        ("Ready", 0),
        ("Status", 0),
        ("Restarts", 0),
        ("Age", 0),
        ("IP", 1),
        ("Node", 1),
        ("Nominated Node", 1),
        ("Readiness Gates", 1),
    ]
    assert result["rows"][0]["object"] == {
        "kind": "PartialObjectMetadata",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": obj["metadata"],
    }


def test_include_selects_the_object_of_a_row() -> None:
    """API-46: includeObject."""
    obj = _obj()

    assert table(PODS, [obj], include="None")["rows"][0]["object"] is None
    assert table(PODS, [obj], include="Object")["rows"][0]["object"] is obj


def test_later_events_have_no_columns() -> None:
    """API-46: column definitions come once in a watch."""
    assert table(PODS, [_obj()], columns=False)["columnDefinitions"] is None


def test_the_metadata_of_a_list_is_kept() -> None:
    metadata = {"resourceVersion": "9", "continue": "x", "remainingItemCount": 3}

    assert table(PODS, [], metadata=metadata)["metadata"] == metadata


def test_metadata_only_lists_keep_nothing_else() -> None:
    """API-47: PartialObjectMetadataList."""
    entry = Entry("default/web", _obj(spec={}), b"", 7)

    body = Representation(PODS, kind=PARTIAL).encode_list([entry], {"resourceVersion": "9"})

    result = json.loads(body)
    assert result["kind"] == "PartialObjectMetadataList"
    assert [set(each) for each in result["items"]] == [{"kind", "apiVersion", "metadata"}]


def test_kinds_without_columns_have_name_and_creation_time() -> None:
    role = _served("rbac.authorization.k8s.io", "v1", "clusterroles")

    assert _row(role, _obj()) == {"Name": "web", "Created At": CREATED}
    assert table(role, [])["columnDefinitions"][1]["type"] == "date"


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2)
    ),
    max_leaves=4,
)


@settings(max_examples=20)
@given(spec=_json, status=_json)
def test_every_kind_has_a_cell_for_every_column_of_any_object(spec: Any, status: Any) -> None:
    for served in REGISTRY.all():
        result = table(served, [_obj(spec=spec, status=status)], now=NOW)
        assert len(result["rows"][0]["cells"]) == len(result["columnDefinitions"])


# --- pods


def _pod(
    *statuses: dict[str, Any], phase: str = "Running", init: Any = None, **more: Any
) -> dict[str, Any]:
    spec: dict[str, Any] = {"containers": [{"name": f"c{i}"} for i in range(max(len(statuses), 1))]}
    status: dict[str, Any] = {"phase": phase, "containerStatuses": list(statuses)}
    if init is not None:
        spec["initContainers"] = init[0]
        status["initContainerStatuses"] = init[1]
    return _obj(spec=spec, status={**status, **more})


RUNNING = {"ready": True, "state": {"running": {}}}
DONE = {"state": {"terminated": {"exitCode": 0, "reason": "Completed"}}}
READY = [{"type": "Ready", "status": "True"}]
TWO_INITS = [{"name": "a"}, {"name": "b"}]


@pytest.mark.parametrize(
    ("pod", "ready", "status"),
    [
        (_pod(phase="Pending"), "0/1", "Pending"),
        (_pod(RUNNING, RUNNING), "2/2", "Running"),
        (_pod({"state": {"waiting": {"reason": "CrashLoopBackOff"}}}), "0/1", "CrashLoopBackOff"),
        (_pod({"state": {"terminated": {"exitCode": 3}}}), "0/1", "ExitCode:3"),
        (_pod({"state": {"terminated": {"exitCode": 1, "signal": 9}}}), "0/1", "Signal:9"),
        (_pod({"state": {"terminated": {"exitCode": 1, "reason": "Error"}}}), "0/1", "Error"),
        (_pod(DONE, phase="Succeeded"), "0/1", "Completed"),
        (_pod(DONE, RUNNING), "1/2", "NotReady"),
        (_pod(DONE, RUNNING, conditions=READY), "1/2", "Running"),
        (_pod(phase="Failed", reason="Evicted"), "0/1", "Evicted"),
        (
            _pod(
                phase="Pending",
                conditions=[{"type": "PodScheduled", "reason": "SchedulingGated"}],
            ),
            "0/1",
            "SchedulingGated",
        ),
        (_pod(init=(TWO_INITS, [DONE, {"state": {"running": {}}}])), "0/1", "Init:1/2"),
        (
            _pod(init=(TWO_INITS, [{"state": {"waiting": {"reason": "ErrImagePull"}}}])),
            "0/1",
            "Init:ErrImagePull",
        ),
        (
            _pod(init=(TWO_INITS, [{"state": {"waiting": {"reason": "PodInitializing"}}}])),
            "0/1",
            "Init:0/2",
        ),
        (
            _pod(init=(TWO_INITS, [{"state": {"terminated": {"exitCode": 2}}}])),
            "0/1",
            "Init:ExitCode:2",
        ),
        (
            _pod(
                RUNNING,
                init=(
                    [{"name": "s", "restartPolicy": "Always"}],
                    [{"name": "s", "started": True, "ready": True}],
                ),
            ),
            "2/2",
            "Running",
        ),
    ],
)
def test_the_status_of_a_pod_summarizes_its_containers(
    pod: dict[str, Any], ready: str, status: str
) -> None:
    row = _row(PODS, pod)

    assert (row["Ready"], row["Status"]) == (ready, status)


def test_a_deleted_pod_is_terminating_until_it_has_finished() -> None:
    going, ended, lost = _pod(RUNNING), _pod(DONE, phase="Succeeded"), _pod(reason="NodeLost")
    for pod in (going, ended, lost):
        pod["metadata"]["deletionTimestamp"] = CREATED

    assert [_row(PODS, pod)["Status"] for pod in (going, ended, lost)] == [
        "Terminating",
        "Completed",
        "Unknown",
    ]


def test_restarts_are_counted_with_the_age_of_the_last() -> None:
    last = {"terminated": {"finishedAt": "2024-01-09T23:00:00Z"}}
    pod = _pod({**RUNNING, "restartCount": 2, "lastState": last}, {**RUNNING, "restartCount": 1})

    assert _row(PODS, pod)["Restarts"] == "3 (60m ago)"
    assert _row(PODS, _pod(RUNNING))["Restarts"] == "0"


def test_a_pods_wide_columns() -> None:
    pod = _pod(RUNNING, podIPs=[{"ip": "10.0.0.1"}], conditions=[{"type": "g", "status": "True"}])
    pod["spec"] |= {
        "nodeName": "n",
        "readinessGates": [{"conditionType": "g"}, {"conditionType": "h"}],
    }

    row = _row(PODS, pod)

    assert [row[each] for each in ("IP", "Node", "Nominated Node", "Readiness Gates")] == [
        "10.0.0.1",
        "n",
        "<none>",
        "1/2",
    ]


@pytest.mark.parametrize("phase", ["Succeeded", "Failed"])
def test_a_finished_pod_has_the_condition_completed(phase: str) -> None:
    [row] = table(PODS, [_pod(phase=phase)])["rows"]

    assert row["conditions"][0]["type"] == "Completed"
    assert row["conditions"][0]["reason"] == phase


# --- other kinds

TEMPLATE = {"spec": {"containers": [{"name": "a", "image": "x"}, {"name": "b", "image": "y"}]}}
SELECTOR = {"matchLabels": {"app": "web"}}
WORKLOAD = {"Containers": "a,b", "Images": "x,y", "Selector": "app=web"}


@pytest.mark.parametrize(
    ("resource", "obj", "expected"),
    [
        (
            ("apps", "v1", "deployments"),
            _obj(
                spec={"replicas": 3, "selector": SELECTOR, "template": TEMPLATE},
                status={"readyReplicas": 1, "updatedReplicas": 2, "availableReplicas": 1},
            ),
            {"Ready": "1/3", "Up-to-date": 2, "Available": 1, "Age": "3d4h", **WORKLOAD},
        ),
        (
            ("apps", "v1", "replicasets"),
            _obj(
                spec={"replicas": 3, "selector": SELECTOR, "template": TEMPLATE},
                status={"replicas": 2},
            ),
            {"Desired": 3, "Current": 2, "Ready": 0, "Age": "3d4h", **WORKLOAD},
        ),
        (
            ("apps", "v1", "statefulsets"),
            _obj(spec={"replicas": 1, "template": TEMPLATE}),
            {"Ready": "0/1", "Age": "3d4h", "Containers": "a,b", "Images": "x,y"},
        ),
        (
            ("apps", "v1", "daemonsets"),
            _obj(spec={"selector": SELECTOR, "template": TEMPLATE}, status={"numberReady": 2}),
            {
                "Desired": 0,
                "Current": 0,
                "Ready": 2,
                "Up-to-date": 0,
                "Available": 0,
                "Node Selector": "<none>",
                "Age": "3d4h",
                **WORKLOAD,
            },
        ),
        (
            ("batch", "v1", "jobs"),
            _obj(
                spec={"completions": 2, "selector": SELECTOR, "template": TEMPLATE},
                status={
                    "succeeded": 2,
                    "startTime": "2024-01-01T00:00:00Z",
                    "completionTime": "2024-01-01T00:00:42Z",
                    "conditions": [{"type": "Complete", "status": "True"}],
                },
            ),
            {
                "Status": "Complete",
                "Completions": "2/2",
                "Duration": "42s",
                "Age": "3d4h",
                **WORKLOAD,
            },
        ),
        (
            ("batch", "v1", "cronjobs"),
            _obj(
                spec={
                    "schedule": "@daily",
                    "suspend": False,
                    "jobTemplate": {"spec": {"template": TEMPLATE}},
                },
                status={"active": [{}], "lastScheduleTime": "2024-01-09T23:59:00Z"},
            ),
            {
                "Schedule": "@daily",
                "Timezone": "<none>",
                "Suspend": "False",
                "Active": 1,
                "Last Schedule": "60s",
                "Age": "3d4h",
                **WORKLOAD,
                "Selector": "<none>",
            },
        ),
        (
            ("", "v1", "services"),
            _obj(
                spec={
                    "type": "LoadBalancer",
                    "clusterIPs": ["10.0.0.1"],
                    "ports": [
                        {"port": 80, "nodePort": 30080, "protocol": "TCP"},
                        {"port": 53, "protocol": "UDP"},
                    ],
                    "selector": {"app": "web"},
                },
                status={"loadBalancer": {"ingress": [{"ip": "1.2.3.4"}, {"hostname": "lb"}]}},
            ),
            {
                "Type": "LoadBalancer",
                "Cluster-IP": "10.0.0.1",
                "External-IP": "1.2.3.4,lb",
                "Port(s)": "80:30080/TCP,53/UDP",
                "Age": "3d4h",
                "Selector": "app=web",
            },
        ),
        (
            ("", "v1", "endpoints"),
            _obj(
                subsets=[
                    {
                        "addresses": [{"ip": "10.0.0.1"}, {"ip": "fd00::1"}],
                        "ports": [{"port": 80}, {"port": 443}],
                    }
                ]
            ),
            {
                "Endpoints": "10.0.0.1:80,[fd00::1]:80,10.0.0.1:443 + 1 more...",
                "Age": "3d4h",
            },
        ),
        (
            ("discovery.k8s.io", "v1", "endpointslices"),
            _obj(addressType="IPv4", ports=[{"port": 80}], endpoints=[{"addresses": ["a", "b"]}]),
            {"AddressType": "IPv4", "Ports": "80", "Endpoints": "a,b", "Age": "3d4h"},
        ),
        (
            ("networking.k8s.io", "v1", "ingresses"),
            _obj(
                spec={
                    "ingressClassName": "nginx",
                    "rules": [{"host": f"{each}.test"} for each in "abcd"],
                    "tls": [{}],
                }
            ),
            {
                "Class": "nginx",
                "Hosts": "a.test,b.test,c.test + 1 more...",
                "Address": "",
                "Ports": "80, 443",
                "Age": "3d4h",
            },
        ),
        (
            ("networking.k8s.io", "v1", "networkpolicies"),
            _obj(spec={"podSelector": {}}),
            {"Pod-Selector": "<none>", "Age": "3d4h"},
        ),
        (
            ("", "v1", "configmaps"),
            _obj(data={"a": ""}, binaryData={"b": ""}),
            {"Data": 2, "Age": "3d4h"},
        ),
        (
            ("", "v1", "secrets"),
            _obj(type="Opaque", data={"a": ""}),
            {"Type": "Opaque", "Data": 1, "Age": "3d4h"},
        ),
        (
            ("", "v1", "namespaces"),
            _obj(status={"phase": "Active"}),
            {"Status": "Active", "Age": "3d4h"},
        ),
        (
            ("", "v1", "persistentvolumes"),
            _obj(
                spec={
                    "capacity": {"storage": "1Gi"},
                    "accessModes": ["ReadWriteMany", "ReadWriteOnce"],
                    "persistentVolumeReclaimPolicy": "Retain",
                    "claimRef": {"namespace": "shop", "name": "data"},
                    "storageClassName": "fast",
                    "volumeMode": "Filesystem",
                },
                status={"phase": "Bound"},
            ),
            {
                "Capacity": "1Gi",
                "Access Modes": "RWO,RWX",
                "Reclaim Policy": "Retain",
                "Status": "Bound",
                "Claim": "shop/data",
                "StorageClass": "fast",
                "VolumeAttributesClass": "<unset>",
                "Reason": "",
                "Age": "3d4h",
                "VolumeMode": "Filesystem",
            },
        ),
        (
            ("", "v1", "persistentvolumeclaims"),
            _obj(spec={"storageClassName": "fast"}, status={"phase": "Pending"}),
            {
                "Status": "Pending",
                "Volume": "",
                "Capacity": "",
                "Access Modes": "",
                "StorageClass": "fast",
                "VolumeAttributesClass": "<unset>",
                "Age": "3d4h",
                "VolumeMode": "<unset>",
            },
        ),
        (
            ("coordination.k8s.io", "v1", "leases"),
            _obj(spec={"holderIdentity": "me"}),
            {"Holder": "me", "Age": "3d4h"},
        ),
        (
            ("policy", "v1", "poddisruptionbudgets"),
            _obj(spec={"minAvailable": "50%"}, status={"disruptionsAllowed": 1}),
            {
                "Min Available": "50%",
                "Max Unavailable": "N/A",
                "Allowed Disruptions": 1,
                "Age": "3d4h",
            },
        ),
        (
            ("autoscaling", "v2", "horizontalpodautoscalers"),
            _obj(
                spec={
                    "scaleTargetRef": {"kind": "Deployment", "name": "web"},
                    "minReplicas": 1,
                    "maxReplicas": 5,
                    "metrics": [
                        {
                            "type": "Resource",
                            "resource": {"name": "cpu", "target": {"averageUtilization": 80}},
                        },
                        {"type": "Pods", "pods": {"target": {"averageValue": "10"}}},
                        {"type": "Odd"},
                    ],
                },
                status={
                    "currentReplicas": 2,
                    "currentMetrics": [
                        {"type": "Resource", "resource": {"current": {"averageUtilization": 20}}}
                    ],
                },
            ),
            {
                "Reference": "Deployment/web",
                "Targets": "cpu: 20%/80%, <unknown>/10 + 1 more...",
                "MinPods": "1",
                "MaxPods": 5,
                "Replicas": 2,
                "Age": "3d4h",
            },
        ),
        (
            ("rbac.authorization.k8s.io", "v1", "rolebindings"),
            _obj(
                roleRef={"kind": "Role", "name": "r"},
                subjects=[
                    {"kind": "User", "name": "ann"},
                    {"kind": "User", "name": "bob"},
                    {"kind": "ServiceAccount", "namespace": "shop", "name": "web"},
                ],
            ),
            {
                "Role": "Role/r",
                "Age": "3d4h",
                "Users": "ann, bob",
                "Groups": "",
                "ServiceAccounts": "shop/web",
            },
        ),
    ],
    ids=lambda value: value[2] if isinstance(value, tuple) else "",
)
def test_a_kind_has_its_cells(
    resource: tuple[str, str, str], obj: dict[str, Any], expected: dict[str, Any]
) -> None:
    assert _row(_served(*resource), obj) == {"Name": "web", **expected}


def test_a_node_has_cells_for_status_roles_and_addresses() -> None:
    node = _obj(
        spec={"unschedulable": True},
        status={
            "conditions": [{"type": "Ready", "status": "False"}],
            "addresses": [{"type": "InternalIP", "address": "10.0.0.1"}],
            "nodeInfo": {"kernelVersion": "6.1", "architecture": "arm64", "kubeletVersion": "v1"},
        },
    )
    node["metadata"]["labels"] = {
        "node-role.kubernetes.io/worker": "",
        "node-role.kubernetes.io/control-plane": "",
    }

    row = _row(_served("", "v1", "nodes"), node)

    assert row["Status"] == "NotReady,SchedulingDisabled"
    assert row["Roles"] == "control-plane,worker"
    assert (row["Internal-IP"], row["External-IP"]) == ("10.0.0.1", "<none>")
    assert row["Kernel-Version"] == "6.1 (arm64)"
    assert row["OS-Image"] == "<unknown>"


@pytest.mark.parametrize(
    ("group", "event"),
    [
        (
            "",
            {
                "involvedObject": {"kind": "Pod", "name": "web"},
                "source": {"component": "kubelet", "host": "n"},
                "message": " pulled ",
                "count": 3,
            },
        ),
        (
            "events.k8s.io",
            {
                "regarding": {"kind": "Pod", "name": "web"},
                "reportingController": "kubelet",
                "reportingInstance": "n",
                "note": "pulled",
                "series": {"count": 3, "lastObservedTime": "2024-01-09T23:59:00.000000Z"},
            },
        ),
    ],
)
def test_an_event_has_the_same_cells_in_both_groups(group: str, event: dict[str, Any]) -> None:
    common = {
        "type": "Normal",
        "reason": "Pulled",
        "eventTime": "2024-01-09T23:58:00.000000Z",
        "lastTimestamp": "2024-01-09T23:59:00Z",
    }

    row = _row(_served(group, "v1", "events"), _obj(**common, **event))

    assert row == {
        "Last Seen": "60s",
        "Type": "Normal",
        "Reason": "Pulled",
        "Object": "pod/web",
        "Subobject": "",
        "Source": "kubelet, n",
        "Message": "pulled",
        "First Seen": "2m",
        "Count": 3,
        "Name": "web",
    }


def test_the_newest_default_storage_class_is_marked_and_stays_as_it_is() -> None:
    classes = [_obj("old"), _obj("new"), _obj("plain")]
    classes[1]["metadata"]["creationTimestamp"] = "2024-01-07T00:00:00Z"
    for each in classes[:2]:
        each["metadata"]["annotations"] = {"storageclass.kubernetes.io/is-default-class": "true"}

    result = table(_served("storage.k8s.io", "v1", "storageclasses"), classes)

    assert [row["cells"][0] for row in result["rows"]] == ["old", "new (default)", "plain"]
    assert result["rows"][1]["object"]["metadata"]["name"] == "new"


def test_flow_schemas_are_listed_in_the_order_of_their_precedence() -> None:
    served = _served("flowcontrol.apiserver.k8s.io", "v1", "flowschemas")
    found = [("b", 2), ("c", 1), ("a", 2)]
    objects = [_obj(name, spec={"matchingPrecedence": each}) for name, each in found]

    result = table(served, objects, now=NOW)

    assert [row["cells"][0] for row in result["rows"]] == ["c", "a", "b"]


# --- custom kinds


def _custom(*columns: dict[str, Any]) -> ServedResource:
    crd = {
        "metadata": {"name": "websites.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": "websites", "kind": "Website", "listKind": "WebsiteList"},
            "versions": [
                {
                    "name": "v1",
                    "served": True,
                    "storage": True,
                    "schema": {
                        "openAPIV3Schema": {
                            "type": "object",
                            "x-kubernetes-preserve-unknown-fields": True,
                        }
                    },
                    "additionalPrinterColumns": list(columns),
                }
            ],
        },
    }
    registry = Registry()
    registry.add_custom(CustomKind.from_crd(crd))
    found = registry.find("example.com", "v1", "websites")
    assert found is not None
    return found


def test_a_custom_kind_without_columns_has_its_age() -> None:
    assert _row(_custom(), _obj()) == {"Name": "web", "Age": "3d4h"}


@pytest.mark.parametrize(
    ("sort", "path", "cell"),
    [
        ("string", ".spec.image", "nginx"),
        ("string", ".spec.replicas", "3"),
        ("string", ".spec.list", "[1,2]"),
        ("string", ".spec.gone", None),
        ("integer", ".spec.replicas", 3),
        ("integer", ".spec.ratio", 2),
        ("integer", ".spec.image", None),
        ("number", ".spec.replicas", 3.0),
        ("boolean", ".spec.on", True),
        ("boolean", ".spec.image", None),
        ("date", ".metadata.creationTimestamp", "3d4h"),
        ("date", ".spec.image", "<invalid>"),
        ("date", ".spec.gone", None),
        ("string", '.spec.conditions[?(@.type=="Ready")].status', "True"),
    ],
)
def test_printer_columns_have_the_value_of_their_path(sort: str, path: str, cell: Any) -> None:
    column = {"name": "C", "type": sort, "jsonPath": path, "priority": 1}
    spec = {
        "image": "nginx",
        "replicas": 3,
        "ratio": 2.5,
        "on": True,
        "list": [1, 2],
        "conditions": [{"type": "Ready", "status": "True"}],
    }

    row = _row(_custom(column), _obj(spec=spec))

    assert row == {"Name": "web", "C": cell}


def test_a_printer_column_keeps_its_description() -> None:
    plain = {"name": "C", "type": "string", "jsonPath": ".spec.c"}
    wordy = {**plain, "name": "D", "description": "d", "format": "byte", "priority": 1}

    _, first, second = table(_custom(plain, wordy), [])["columnDefinitions"]

    assert first["description"] == "Custom resource definition column (in JSONPath format): .spec.c"
    assert second == {
        "name": "D",
        "type": "string",
        "format": "byte",
        "description": "d",
        "priority": 1,
    }
