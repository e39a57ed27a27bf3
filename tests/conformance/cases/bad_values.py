"""Values that kube-apiserver rejects or warns about, with its sentences."""

from __future__ import annotations

from typing import Any

_CORE = "/api/v1/namespaces/{ns}"
_APPS = "/apis/apps/v1/namespaces/{ns}"
_NETWORK = "/apis/networking.k8s.io/v1/namespaces/{ns}"
_MERGE = {"Content-Type": "application/merge-patch+json"}
_SIGNING = "/apis/certificates.k8s.io/v1/certificatesigningrequests"
_TEMPLATE: dict[str, Any] = {
    "metadata": {"labels": {"a": "b"}},
    "spec": {"containers": [{"name": "c", "image": "i"}]},
}
_REQUEST = "bm8="
_JOB = {"template": {"spec": {**_TEMPLATE["spec"], "restartPolicy": "Never"}}}


def _posted(path: str, *bodies: dict[str, Any]) -> list[tuple[Any, ...]]:
    return [("POST", f"{path}?dryRun=All", {"metadata": {"name": "x"}, **body}) for body in bodies]


def _specs(path: str, *specs: dict[str, Any]) -> list[tuple[Any, ...]]:
    return _posted(path, *({"spec": spec} for spec in specs))


def _services(*specs: dict[str, Any]) -> list[tuple[Any, ...]]:
    return _specs(f"{_CORE}/services", *({"ports": [{"port": 1}], **spec} for spec in specs))


def _pods(*specs: dict[str, Any]) -> list[tuple[Any, ...]]:
    return _specs(f"{_CORE}/pods", *({**_TEMPLATE["spec"], **spec} for spec in specs))


def _container(**fields: Any) -> dict[str, Any]:
    return {"containers": [{"name": "c", "image": "i", **fields}]}


def _deployments(*specs: dict[str, Any]) -> list[tuple[Any, ...]]:
    whole = {"selector": {"matchLabels": {"a": "b"}}, "template": _TEMPLATE}
    return _specs(f"{_APPS}/deployments", *({**whole, **spec} for spec in specs))


def _jobs(*specs: dict[str, Any]) -> list[tuple[Any, ...]]:
    return _specs("/apis/batch/v1/namespaces/{ns}/jobs", *({**_JOB, **spec} for spec in specs))


def _cron_jobs(*specs: dict[str, Any]) -> list[tuple[Any, ...]]:
    whole = {"schedule": "* * * * *", "jobTemplate": {"spec": _JOB}}
    path = "/apis/batch/v1/namespaces/{ns}/cronjobs"
    return _specs(path, *({**whole, **spec} for spec in specs))


def _scalers(*specs: dict[str, Any]) -> list[tuple[Any, ...]]:
    whole = {
        "maxReplicas": 3,
        "scaleTargetRef": {"kind": "Deployment", "name": "a", "apiVersion": "apps/v1"},
    }
    path = "/apis/autoscaling/v2/namespaces/{ns}/horizontalpodautoscalers"
    return _specs(path, *({**whole, **spec} for spec in specs))


def _metric(**metric: Any) -> dict[str, Any]:
    return {"metrics": [metric]}


def _resource(**target: Any) -> dict[str, Any]:
    return _metric(type="Resource", resource={"name": "cpu", "target": target})


def _changed(path: str, body: dict[str, Any], *patches: dict[str, Any]) -> list[tuple[Any, ...]]:
    """Create an object, and change it by merge patches."""
    return [
        ("POST", path, {"metadata": {"name": "x"}, **body}),
        *(("PATCH", f"{path}/x?dryRun=All", patch, _MERGE) for patch in patches),
    ]


_ADDRESSES = ("x", "", "1.2.3", "1.2.3.4.5", "256.1.1.1", "01.2.3.4", "1.2.3.4/8", "::ffff:1.2.3.4",
              "1::2::3", "fe80::1%eth0", "0.0.0.0", "127.0.0.1", "169.254.0.1", "224.0.0.1", "::1")  # fmt: skip
_NETWORKS = ("x", "", "1.2.3.4", "1.2.3.4/33", "1.2.3.4/-1", "1.2.3.4/8", "1.2.3.0/x", "01.2.3.0/24",
             "1.2.3.0/024", "::ffff:1.2.3.0/120", "1::/129", "1::1/64", "1.2.3.0/24/1")  # fmt: skip
_SIGNERS = ("", "x", "x/y", "a.b", "a.b/", "/y", "a.b/c/d", "A.b/c", "a.b/C_", "a_b.c/d", "a..b/c",
            "a.b/c..d", "x" * 64 + ".b/c", "kubernetes.io/x", "kubernetes.io/legacy-unknown",
            "a.b/" + "c" * 600)  # fmt: skip
_QUANTITIES = (
    "-1",
    "1.5.5",
    "x",
    "1Gib",
    "1 Gi",
    "",
    "1e",
    "--1",
    "0x1",
    "1m5",
    "9" * 30,
    ".5",
    "1.",
    "5.0001m",
)
_SCHEDULES = ("", "x", "* * * *", "* * * * * *", "60 * * * *", "* 24 * * *", "* * 0 * *", "* * * 13 *",
              "* * * * 8", "*/0 * * * *", "5-1 * * * *", "1-x * * * *", "@nope", "@every x", "@every 1s",
              "TZ=UTC * * * * *", "CRON_TZ=x * * * * *", "a * * * *", "*/x * * * *", "-1 * * * *",
              "1,, * * * *", "? * * * *", "@hourly", "* * * * mon-xyz")  # fmt: skip
_NODE_PATH = "/api/v1/nodes"

CASES: dict[str, list[tuple[Any, ...]]] = {
    "addresses of a service": _services(
        *({"externalIPs": [each]} for each in _ADDRESSES),
        *({"clusterIP": each} for each in _ADDRESSES[:10]),
        *({"type": "LoadBalancer", "loadBalancerIP": each} for each in _ADDRESSES[:10]),
        *({"type": "LoadBalancer", "loadBalancerSourceRanges": [each]} for each in _NETWORKS),
        {"clusterIPs": ["x", "y"]},
        {"clusterIP": "None", "clusterIPs": ["10.0.0.1"]},
        {"clusterIP": "1.2.3.4"},
    ),
    "other values of a service": _services(
        {"type": "Nope"},
        {"ports": []},
        {"ports": [{"port": 0}]},
        {"ports": [{"port": 65536}]},
        {"ports": [{"port": 1}, {"port": 2}]},
        {"ports": [{"port": 1, "name": "a"}, {"port": 1, "name": "a"}]},
        {"ports": [{"port": 1, "name": "A_b"}]},
        {"ports": [{"port": 1, "protocol": "HTTP"}]},
        {"ports": [{"port": 1, "targetPort": "A_"}]},
        {"ports": [{"port": 1, "targetPort": 0}]},
        {"ports": [{"port": 1, "targetPort": 70000}]},
        {"ports": [{"port": 1, "nodePort": 5}]},
        {"ports": [{"port": 1, "appProtocol": "a b"}]},
        {"type": "ExternalName"},
        {"type": "ExternalName", "externalName": "A_"},
        {"type": "ExternalName", "externalName": "a.b", "clusterIP": "None"},
        {"sessionAffinity": "Nope"},
        {"sessionAffinity": "None", "sessionAffinityConfig": {"clientIP": {"timeoutSeconds": 1}}},
        {"sessionAffinity": "ClientIP", "sessionAffinityConfig": {"clientIP": {"timeoutSeconds": 0}}},
        {"sessionAffinity": "ClientIP", "sessionAffinityConfig": {"clientIP": {"timeoutSeconds": 99999}}},
        {"externalTrafficPolicy": "Local"},
        {"type": "NodePort", "externalTrafficPolicy": "Nope"},
        {"internalTrafficPolicy": "Nope"},
        {"healthCheckNodePort": 1},
        {"ipFamilies": ["IPv5"]},
        {"ipFamilies": ["IPv4", "IPv4"]},
        {"ipFamilies": ["IPv6"]},
        {"ipFamilyPolicy": "Nope"},
        {"ipFamilyPolicy": "RequireDualStack"},
        {"allocateLoadBalancerNodePorts": True},
        {"loadBalancerClass": "a b"},
        {"type": "LoadBalancer", "loadBalancerClass": "a b"},
        {"trafficDistribution": "Nope"},
        {"selector": {"a b": "-"}},
    ),
    "networks of a policy": _specs(
        f"{_NETWORK}/networkpolicies",
        *({"podSelector": {}, "ingress": [{"from": [{"ipBlock": {"cidr": each}}]}]} for each in _NETWORKS),
        *(
            {"podSelector": {}, "egress": [{"to": [{"ipBlock": {"cidr": "1.2.0.0/16", "except": [each]}}]}]}
            for each in (*_NETWORKS, "1.2.0.0/16", "1.0.0.0/8", "1.3.0.0/24")
        ),
        {"podSelector": {}, "policyTypes": ["Nope"]},
        {"podSelector": {}, "policyTypes": ["Ingress", "Egress", "Ingress"]},
        {"podSelector": {}, "ingress": [{"ports": [{"port": 0}]}]},
        {"podSelector": {}, "ingress": [{"ports": [{"port": "A_"}]}]},
        {"podSelector": {}, "ingress": [{"ports": [{"port": 5, "endPort": 3}]}]},
        {"podSelector": {}, "ingress": [{"ports": [{"port": "a", "endPort": 3}]}]},
        {"podSelector": {}, "ingress": [{"ports": [{"endPort": 3}]}]},
        {"podSelector": {}, "ingress": [{"ports": [{"protocol": "HTTP"}]}]},
        {"podSelector": {}, "ingress": [{"from": [{}]}]},
        {"podSelector": {}, "ingress": [{"from": [{"podSelector": {}, "ipBlock": {"cidr": "1.0.0.0/8"}}]}]},
        {"podSelector": {"matchLabels": {"a b": "c"}}},
    ),
    "networks of a node": [
        *_specs(_NODE_PATH, *({"podCIDR": each, "podCIDRs": [each]} for each in _NETWORKS)),
        *_specs(_NODE_PATH, {"podCIDRs": ["1.0.0.0/24", "1::/64", "2::/64"]}),
        *_specs(_NODE_PATH, {"podCIDR": "1.0.0.0/24", "podCIDRs": ["2.0.0.0/24"]}),
        *_specs(_NODE_PATH, {"taints": [{"key": "a b", "value": "-", "effect": "Nope"}]}),
        *_specs(_NODE_PATH, {"taints": [{"key": "a", "effect": ""}]}),
        *_specs(_NODE_PATH, {"taints": [{"key": "a", "effect": "NoSchedule"}] * 2}),
        *_specs(_NODE_PATH, {"configSource": {}}, {"externalID": "a"}),
        *_posted(_NODE_PATH, {"status": {"addresses": [{"type": "InternalIP", "address": "x"}]}}),
        *_posted(_NODE_PATH, {"status": {"capacity": {"a b": "1", "cpu": "-1"}}}),
    ],
    "addresses of endpoints": _posted(
        f"{_CORE}/endpoints",
        *({"subsets": [{"addresses": [{"ip": each}], "ports": [{"port": 1}]}]} for each in _ADDRESSES),
        {"subsets": [{}]},
        {"subsets": [{"addresses": [{"ip": "1.2.3.4", "hostname": "A_"}], "ports": [{"port": 0}]}]},
        {"subsets": [{"addresses": [{"ip": "1.2.3.4"}], "ports": [{"port": 1}, {"port": 2}]}]},
        {"subsets": [{"addresses": [{"ip": "1.2.3.4", "nodeName": "A b"}]}]},
    ),
    "addresses of slices": _posted(
        "/apis/discovery.k8s.io/v1/namespaces/{ns}/endpointslices",
        *({"addressType": "IPv4", "endpoints": [{"addresses": [each]}]} for each in _ADDRESSES),
        *({"addressType": "IPv6", "endpoints": [{"addresses": [each]}]} for each in _ADDRESSES[-2:]),
        {"addressType": "FQDN", "endpoints": [{"addresses": ["A_"]}]},
        {"addressType": "Nope"},
        {},
        {"addressType": "IPv4", "endpoints": [{}]},
        {"addressType": "IPv4", "endpoints": [{"addresses": ["1.2.3.4"], "hostname": "A_"}]},
        {"addressType": "IPv4", "endpoints": [{"addresses": ["1.2.3.4"], "nodeName": "A b", "zone": "-"}]},
        {"addressType": "IPv4", "ports": [{"name": "A"}, {"name": "b", "protocol": "x"}, {"name": "b"}]},
        {"addressType": "IPv4", "ports": [{"port": 0, "appProtocol": "a b"}]},
    ),
    "addresses of a pod": _pods(
        *({"hostAliases": [{"ip": each, "hostnames": ["a"]}]} for each in _ADDRESSES[:11]),
        *({"dnsConfig": {"nameservers": [each]}} for each in _ADDRESSES[:11]),
        *(_container(ports=[{"containerPort": 1, "hostIP": each}]) for each in _ADDRESSES[:11]),
        {"dnsConfig": {"nameservers": ["1.1.1.1", "1.1.1.2", "1.1.1.3", "1.1.1.4"]}},
        {"dnsConfig": {"searches": ["A_", "a" * 254, ".", "a."]}},
        {"dnsConfig": {"searches": ["a"] * 33}},
        {"dnsConfig": {"options": [{"name": ""}]}},
        {"dnsPolicy": "None"},
    ),
    "autoscalers": _scalers(
        {"maxReplicas": 0},
        {"maxReplicas": -1},
        {"minReplicas": 5},
        {"minReplicas": 0},
        {"minReplicas": -1},
        {"scaleTargetRef": {}},
        {"scaleTargetRef": {"kind": "A b", "name": "a/b", "apiVersion": "a/b/c"}},
        {"scaleTargetRef": {"kind": "..", "name": "..", "apiVersion": "v1"}},
        {"scaleTargetRef": {"kind": "A%", "name": "%", "apiVersion": "-"}},
        _metric(),
        _metric(type="Nope"),
        _metric(type="Resource"),
        _metric(type="Pods"),
        _metric(type="Object"),
        _metric(type="External"),
        _metric(type="ContainerResource"),
        _resource(),
        _resource(type="Nope"),
        _resource(type="Utilization"),
        _resource(type="Utilization", averageUtilization=0),
        _resource(type="Utilization", averageUtilization=-1, averageValue="1"),
        _resource(type="Value", value="1"),
        _resource(type="AverageValue", averageValue="-1"),
        _resource(type="AverageValue", averageValue="0"),
        _resource(type="AverageValue"),
        _metric(type="Resource", resource={"target": {"type": "Utilization", "averageUtilization": 1}}),
        _metric(type="Resource", resource={"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 1}},
                pods={"metric": {"name": "a"}, "target": {"type": "AverageValue", "averageValue": "1"}}),
        _metric(type="Pods", pods={"metric": {"name": ""}, "target": {"type": "Value", "value": "1"}}),
        _metric(type="Pods", pods={"metric": {"name": "a/b"}, "target": {"type": "AverageValue", "averageValue": "1"}}),
        _metric(type="Object", object={"describedObject": {}, "metric": {"name": "a"}, "target": {"type": "Value", "value": "0"}}),
        _metric(type="Object", object={"describedObject": {"kind": "A", "name": "b"}, "metric": {"name": "a", "selector": {
            "matchLabels": {"a b": "c"}}}, "target": {"type": "Value"}}),
        _metric(type="External", external={"metric": {"name": ""}, "target": {"type": "Value", "value": "1", "averageValue": "1"}}),
        _metric(type="ContainerResource", containerResource={"name": "", "container": "", "target": {"type": "Value"}}),
        {"behavior": {"scaleUp": {"stabilizationWindowSeconds": -1}}},
        {"behavior": {"scaleUp": {"stabilizationWindowSeconds": 3601}}},
        {"behavior": {"scaleUp": {"selectPolicy": "Nope"}}},
        {"behavior": {"scaleUp": {"policies": []}}},
        {"behavior": {"scaleDown": {"policies": [{}]}}},
        {"behavior": {"scaleDown": {"policies": [{"type": "Nope", "value": 0, "periodSeconds": 0}]}}},
        {"behavior": {"scaleDown": {"policies": [{"type": "Pods", "value": 1, "periodSeconds": 1801}]}}},
        {"behavior": {"scaleDown": {"tolerance": "-1"}}},
    ),
    "autoscalers in version 1": _specs(
        "/apis/autoscaling/v1/namespaces/{ns}/horizontalpodautoscalers",
        {},
        {"maxReplicas": 1, "minReplicas": 2, "scaleTargetRef": {"kind": "A", "name": "b"}},
        {"maxReplicas": 1, "targetCPUUtilizationPercentage": 0, "scaleTargetRef": {"kind": "A", "name": "b"}},
    ),
    "signers": [
        *_specs(
            _SIGNING,
            *({"request": _REQUEST, "signerName": each, "usages": ["digital signature"]} for each in _SIGNERS),
        ),
        *_specs(_SIGNING, {}, {"request": "", "signerName": "a.b/c"}, {"signerName": "a.b/c", "usages": []}),
        *_specs(_SIGNING, {"request": _REQUEST, "signerName": "a.b/c", "usages": ["nope"]}),
        *_specs(_SIGNING, {"request": _REQUEST, "signerName": "a.b/c", "usages": ["any", "any"]}),
        *_specs(_SIGNING, {"request": _REQUEST, "signerName": "a.b/c", "usages": ["any"], "expirationSeconds": 1}),
        *_specs(
            "/apis/certificates.k8s.io/v1beta1/clustertrustbundles",
            *({"signerName": each, "trustBundle": "x"} for each in _SIGNERS[:6]),
        ),
    ],
    "priority classes": [
        *_posted(
            "/apis/scheduling.k8s.io/v1/priorityclasses",
            {"value": 1000000001},
            {"value": 2000000000},
            {"value": -2147483648},
            {"value": 2147483648},
            {"preemptionPolicy": "Nope"},
            {"value": 1, "metadata": {"name": "system-x"}},
            {"value": 1, "metadata": {"name": "A b"}},
            {"value": "x"},
            {"value": 1, "globalDefault": "x"},
            {"value": 1.5},
        ),
        ("POST", "/apis/scheduling.k8s.io/v1/priorityclasses", {"metadata": {"name": "x-{ns}"}, "value": 5}),
        *(
            ("PATCH", "/apis/scheduling.k8s.io/v1/priorityclasses/x-{ns}", patch, _MERGE)
            for patch in ({"value": 6}, {"preemptionPolicy": "Never"}, {"metadata": {"name": "y"}})
        ),
        ("POST", "/apis/scheduling.k8s.io/v1/priorityclasses", {"metadata": {"name": "x-{ns}"}, "value": 5}),
        ("DELETE", "/apis/scheduling.k8s.io/v1/priorityclasses/x-{ns}", None),
        ("DELETE", "/apis/scheduling.k8s.io/v1/priorityclasses/x-{ns}", None),
        ("DELETE", "/apis/scheduling.k8s.io/v1/priorityclasses/system-node-critical?dryRun=All", None),
        *_pods({"priorityClassName": "nope"}, {"priority": 5}, {"preemptionPolicy": "Nope"}),
        *_pods({"priorityClassName": "system-node-critical", "priority": 5}),
    ],
    "quantities": [
        *_pods(*(_container(resources={"limits": {"memory": each}}) for each in _QUANTITIES)),
        *_pods(
            _container(resources={"requests": {"cpu": "2"}, "limits": {"cpu": "1"}}),
            _container(resources={"requests": {"nope": "1"}}),
            _container(resources={"requests": {"a b": "1"}}),
            _container(resources={"requests": {"hugepages-2Mi": "1Mi"}}),
            _container(resources={"limits": {"hugepages-x": "2Mi"}}),
            _container(resources={"requests": {"example.com/a": "1"}}),
            _container(resources={"limits": {"example.com/a": "1.5"}}),
            _container(resources={"limits": {"cpu": "1m", "memory": "1.5"}}),
            _container(resources={"limits": {"ephemeral-storage": "-1", "storage": "1"}}),
            _container(resources={"claims": [{"name": "a"}]}),
        ),
        *_specs(f"{_CORE}/resourcequotas", {"hard": {"pods": "-1"}}, {"hard": {"pods": "1.5"}}, {"hard": {"nope": "1"}}),
        *_specs(f"{_CORE}/resourcequotas", {"hard": {"a b": "1"}}, {"scopes": ["Nope"]}, {"scopes": ["BestEffort", "NotBestEffort"]}),
        *_specs(f"{_CORE}/limitranges", {"limits": [{"type": "Container", "min": {"cpu": "2"}, "max": {"cpu": "1"}}]}),
        *_specs(f"{_CORE}/limitranges", {"limits": [{"type": "Pod", "default": {"cpu": "2"}}, {"type": "Pod"}]}),
        *_specs(f"{_CORE}/limitranges", {"limits": [{"type": "a b", "maxLimitRequestRatio": {"cpu": "0.5"}}]}),
        *_specs(f"{_CORE}/persistentvolumeclaims", {}, {"accessModes": ["Nope"], "resources": {"requests": {"storage": "0"}}}),
        *_specs(f"{_CORE}/persistentvolumeclaims", {"accessModes": ["ReadWriteOnce"], "storageClassName": "A b"}),
    ],
    "schedules": [
        *_cron_jobs(*({"schedule": each} for each in _SCHEDULES)),
        *_cron_jobs(
            {"timeZone": "Nope"},
            {"timeZone": ""},
            {"timeZone": "Local"},
            {"timeZone": "europe/berlin"},
            {"timeZone": " UTC"},
            {"concurrencyPolicy": "Nope"},
            {"startingDeadlineSeconds": -1},
            {"successfulJobsHistoryLimit": -1, "failedJobsHistoryLimit": -1},
            {"jobTemplate": {}},
            {"jobTemplate": {"spec": {"template": _TEMPLATE}}},
        ),
    ],
    "jobs": _jobs(
        {"parallelism": -1},
        {"completions": -1},
        {"backoffLimit": -1},
        {"activeDeadlineSeconds": -1},
        {"ttlSecondsAfterFinished": -1},
        {"completionMode": "Nope"},
        {"completionMode": "Indexed"},
        {"completionMode": "Indexed", "completions": 100001, "parallelism": 100001},
        {"backoffLimitPerIndex": 1},
        {"podReplacementPolicy": "Nope"},
        {"managedBy": "a b"},
        {"selector": {"matchLabels": {"a": "b"}}},
        {"manualSelector": True},
        {"template": _TEMPLATE},
        {"template": {"spec": {**_TEMPLATE["spec"], "restartPolicy": "Always"}}},
        {"template": {"spec": {"restartPolicy": "Never"}}},
        {"podFailurePolicy": {"rules": [{"action": "Nope"}]}},
        {"podFailurePolicy": {"rules": [{"action": "Ignore", "onExitCodes": {"operator": "In", "values": []}}]}},
    ),
    "deployments": _deployments(
        {"replicas": -1},
        {"minReadySeconds": -1},
        {"revisionHistoryLimit": -1},
        {"progressDeadlineSeconds": 0},
        {"minReadySeconds": 600},
        {"strategy": {"type": "Nope"}},
        {"strategy": {"type": "Recreate", "rollingUpdate": {}}},
        *(
            {"strategy": {"rollingUpdate": {"maxUnavailable": each}}}
            for each in ("x", "-1", -1, "101%", "1.5%", "%", "")
        ),
        {"strategy": {"rollingUpdate": {"maxUnavailable": 0, "maxSurge": 0}}},
        {"selector": {"matchLabels": {"a": "c"}}},
        {"selector": {}},
        {"selector": None},
        {"template": {}},
        {"template": {"metadata": {"labels": {"a": "b"}}, "spec": {}}},
        {"template": {**_TEMPLATE, "spec": {**_TEMPLATE["spec"], "restartPolicy": "Never"}}},
        {"template": {**_TEMPLATE, "spec": {**_TEMPLATE["spec"], "activeDeadlineSeconds": 5}}},
    ),
    "other workloads": [
        *_specs(f"{_APPS}/statefulsets", {}, {"replicas": -1, "podManagementPolicy": "Nope", "updateStrategy": {"type": "Nope"}}),
        *_specs(f"{_APPS}/daemonsets", {}, {"minReadySeconds": -1, "updateStrategy": {"type": "Nope"}}),
        *_specs(f"{_APPS}/replicasets", {}, {"replicas": -1}),
        *_specs(f"{_CORE}/replicationcontrollers", {}, {"replicas": -1}),
        *_specs("/apis/batch/v1/namespaces/{ns}/jobs", {}),
        *_specs("/apis/batch/v1/namespaces/{ns}/cronjobs", {}),
        *_specs("/apis/policy/v1/namespaces/{ns}/poddisruptionbudgets", {"minAvailable": 1, "maxUnavailable": 1}),
        *_specs("/apis/policy/v1/namespaces/{ns}/poddisruptionbudgets", {"minAvailable": "x"}, {"maxUnavailable": -1}, {"minAvailable": "101%"}),
        *_specs("/apis/policy/v1/namespaces/{ns}/poddisruptionbudgets", {"unhealthyPodEvictionPolicy": "Nope"}),
        *_posted(f"{_CORE}/services", {}),
        *_posted(f"{_CORE}/pods", {}),
        *_posted(f"{_APPS}/deployments", {}),
        *_posted(f"{_NETWORK}/ingresses", {}, {"spec": {"rules": [{"host": "A_"}]}}, {"spec": {"rules": [{"host": "1.2.3.4"}]}}),
        *_posted(f"{_NETWORK}/ingresses", {"spec": {"rules": [{"host": "*.*.a"}, {"host": "*"}]}}),
        *_posted(
            f"{_NETWORK}/ingresses",
            *(
                {"spec": {"rules": [{"http": {"paths": [{"path": path, "pathType": kind, "backend": backend}]}}]}}
                for path, kind, backend in (
                    ("x", "Exact", {"service": {"name": "a", "port": {"number": 1}}}),
                    ("/a//b", "Exact", {"service": {"name": "a", "port": {"number": 1}}}),
                    ("/a", "Nope", {"service": {"name": "a", "port": {"number": 1}}}),
                    ("/a", "Exact", {}),
                    ("/a", "Exact", {"service": {"name": "A_", "port": {"number": 0, "name": "B_"}}}),
                    ("/a", "Exact", {"service": {"name": "", "port": {}}}),
                    ("/a", "Exact", {"service": {"name": "a", "port": {"number": 1, "name": "b"}}}),
                )
            ),
        ),
    ],
    "enumerations of a pod": _pods(
        {"restartPolicy": "Nope"},
        {"dnsPolicy": "Nope"},
        {"preemptionPolicy": "Nope"},
        {"os": {"name": "Nope"}},
        {"activeDeadlineSeconds": 0},
        {"terminationGracePeriodSeconds": -1},
        _container(imagePullPolicy="Nope"),
        _container(terminationMessagePolicy="Nope"),
        _container(securityContext={"procMount": "Nope"}),
        _container(securityContext={"runAsUser": -1, "allowPrivilegeEscalation": False, "privileged": True}),
        _container(securityContext={"seccompProfile": {"type": "Nope"}}),
        _container(livenessProbe={}),
        _container(livenessProbe={"exec": {}}),
        _container(livenessProbe={"exec": {"command": ["a"]}, "tcpSocket": {"port": 1}}),
        _container(livenessProbe={"exec": {"command": ["a"]}, "periodSeconds": -1, "successThreshold": 2, "failureThreshold": -1}),
        _container(lifecycle={"preStop": {}}),
        _container(lifecycle={"preStop": {"sleep": {"seconds": 9999}}}),
        _container(restartPolicy="Nope"),
        _container(resizePolicy=[{"resourceName": "nope", "restartPolicy": "x"}]),
        {"tolerations": [{"operator": "Nope"}]},
        {"tolerations": [{"key": "a", "operator": "Exists", "value": "b"}]},
        {"tolerations": [{"key": "a", "effect": "Nope", "tolerationSeconds": 1}]},
        {"topologySpreadConstraints": [{"maxSkew": 0, "topologyKey": "", "whenUnsatisfiable": "Nope"}]},
        {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {}}}},
        {"securityContext": {"sysctls": [{"name": "A b"}], "fsGroupChangePolicy": "Nope"}},
        {"ephemeralContainers": [{"name": "e", "image": "i"}]},
        {"schedulingGates": [{"name": ""}]},
        {"hostNetwork": True, **_container(ports=[{"containerPort": 1, "hostPort": 2}])},
        {"shareProcessNamespace": True, "hostPID": True},
    ),
    "other enumerations": [
        *_posted(f"{_CORE}/secrets", {"type": "kubernetes.io/tls"}, {"type": "kubernetes.io/dockerconfigjson"}),
        *_posted(f"{_CORE}/secrets", {"type": "kubernetes.io/dockerconfigjson", "stringData": {".dockerconfigjson": "x"}}),
        *_posted(f"{_CORE}/secrets", {"type": "kubernetes.io/basic-auth"}, {"type": "kubernetes.io/ssh-auth"}),
        *_posted(f"{_CORE}/secrets", {"type": "kubernetes.io/service-account-token"}, {"type": "kubernetes.io/dockercfg"}),
        *_posted("/apis/storage.k8s.io/v1/storageclasses", {}, {"provisioner": "A_", "reclaimPolicy": "x", "volumeBindingMode": "y"}),
        *_posted("/apis/node.k8s.io/v1/runtimeclasses", {}, {"handler": "A_"}),
        *_posted("/apis/coordination.k8s.io/v1/namespaces/{ns}/leases", {"spec": {"leaseDurationSeconds": 0, "leaseTransitions": -1, "holderIdentity": ""}}),
        *_posted("/api/v1/persistentvolumes", {}, {"spec": {"accessModes": ["Nope"], "capacity": {"x": "1"}}}),
        *_posted(
            "/apis/rbac.authorization.k8s.io/v1/namespaces/{ns}/roles",
            {"rules": [{}]},
            {"rules": [{"verbs": ["get"], "nonResourceURLs": ["/a"]}]},
            {"rules": [{"verbs": [], "apiGroups": [""], "resources": ["pods"]}]},
        ),
        *_posted(
            "/apis/rbac.authorization.k8s.io/v1/namespaces/{ns}/rolebindings",
            {},
            {"roleRef": {"kind": "Nope", "name": "a", "apiGroup": "b"}},
            {"roleRef": {"kind": "Role", "name": "a"}, "subjects": [{"kind": "Nope", "name": "", "apiGroup": "x"}]},
            {"roleRef": {"kind": "Role", "name": "a"}, "subjects": [{"kind": "ServiceAccount", "name": "A_"}]},
        ),
        *_posted(
            "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
            {"webhooks": [{}]},
            {"webhooks": [{"name": "a", "sideEffects": "Nope", "admissionReviewVersions": ["x"], "clientConfig": {"url": "http://a"}}]},
            {"webhooks": [{"name": "a.b.c", "sideEffects": "None", "admissionReviewVersions": [], "clientConfig": {"url": "x"}, "timeoutSeconds": 31}]},
        ),
    ],
    "fields that cannot change": [
        *_changed(
            f"{_CORE}/configmaps",
            {"data": {"a": "b"}, "immutable": True},
            {"data": {"a": "c"}},
            {"immutable": False},
            {"binaryData": {"x": "YQ=="}},
            {"metadata": {"uid": "x"}},
            {"metadata": {"creationTimestamp": "2020-01-01T00:00:00Z"}},
            {"metadata": {"deletionTimestamp": "2020-01-01T00:00:00Z"}},
            {"metadata": {"generation": -1}},
        ),
        *_changed(f"{_CORE}/secrets", {"type": "a", "immutable": True}, {"type": "b"}, {"data": {"a": "YQ=="}}),
        *_changed(
            f"{_CORE}/pods",
            {"spec": _TEMPLATE["spec"]},
            {"spec": {"nodeName": "n"}},
            {"spec": {"containers": [{"name": "c", "image": "j", "args": ["x"]}]}},
            {"spec": {"containers": [{"name": "d", "image": "i"}]}},
            {"spec": {"containers": [{"name": "c", "image": ""}]}},
            {"spec": {"activeDeadlineSeconds": -1}},
            {"spec": {"tolerations": []}},
            {"spec": {"restartPolicy": "Never"}},
            {"spec": {"terminationGracePeriodSeconds": 5}},
            {"spec": {"ephemeralContainers": [{"name": "e", "image": "i"}]}},
        ),
        *_changed(
            f"{_APPS}/deployments",
            {"spec": {"selector": {"matchLabels": {"a": "b"}}, "template": _TEMPLATE}},
            {"spec": {"selector": {"matchLabels": {"a": "c"}}}},
        ),
        *_changed(
            f"{_APPS}/statefulsets",
            {"spec": {"selector": {"matchLabels": {"a": "b"}}, "template": _TEMPLATE, "serviceName": "s"}},
            {"spec": {"serviceName": "t"}},
            {"spec": {"podManagementPolicy": "Parallel"}},
        ),
        *_changed(
            "/apis/batch/v1/namespaces/{ns}/jobs",
            {"spec": _JOB},
            {"spec": {"completions": 5}},
            {"spec": {"template": {"spec": {"restartPolicy": "OnFailure"}}}},
            {"spec": {"selector": {"matchLabels": {"x": "y"}}}},
        ),
        *_changed(
            f"{_CORE}/services",
            {"spec": {"ports": [{"port": 1}]}},
            {"spec": {"clusterIP": "1.2.3.4"}},
            {"spec": {"clusterIP": ""}},
            {"spec": {"clusterIP": "None"}},
            {"spec": {"ipFamilies": ["IPv6"]}},
        ),
        *_changed(
            f"{_CORE}/persistentvolumeclaims",
            {"spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}},
            {"spec": {"accessModes": ["ReadWriteMany"]}},
            {"spec": {"resources": {"requests": {"storage": "2Gi"}}}},
            {"spec": {"volumeName": "v"}},
            {"spec": {"storageClassName": "s"}},
        ),
        *_changed(
            "/apis/rbac.authorization.k8s.io/v1/namespaces/{ns}/rolebindings",
            {"roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "a"}},
            {"roleRef": {"name": "b"}},
        ),
        *_changed(
            f"{_NETWORK}/ingresses",
            {"spec": {"defaultBackend": {"service": {"name": "a", "port": {"number": 1}}}}},
            {"spec": {"ingressClassName": "A_"}},
            {"spec": {"defaultBackend": None}},
        ),
    ],
    "warnings of pods": _pods(
        {"nodeSelector": {"beta.kubernetes.io/arch": "a", "beta.kubernetes.io/os": "b"}},
        {"nodeSelector": {"failure-domain.beta.kubernetes.io/zone": "a"}},
        _container(env=[{"name": "A", "value": "1"}, {"name": "A", "value": "2"}]),
        _container(env=[{"name": "A", "value": "1"}, {"name": "A", "value": "$(A)2"}]),
        _container(ports=[{"containerPort": 1}, {"containerPort": 1}]),
        _container(ports=[{"containerPort": 1, "hostPort": 1}, {"containerPort": 1}]),
        _container(ports=[{"containerPort": 1, "hostIP": "1.2.3.4"}]),
        _container(ports=[{"containerPort": 1, "protocol": "UDP"}, {"containerPort": 1}]),
        _container(resources={"limits": {"memory": "1.5"}, "requests": {"memory": "100m"}}),
        {"hostAliases": [{"ip": "1.2.3.4", "hostnames": ["a"]}, {"ip": "1.2.3.4", "hostnames": ["b"]}]},
        {"imagePullSecrets": [{"name": "a"}, {"name": "a"}, {}]},
        {"terminationGracePeriodSeconds": 0},
        {"volumes": [{"name": "a", "gitRepo": {"repository": "x"}}]},
        {"volumes": [{"name": "a", "rbd": {"monitors": ["a"], "image": "b"}}, {"name": "b", "flocker": {"datasetName": "c"}}]},
        {"volumes": [{"name": "a", "projected": {"sources": [{}]}}]},
        {"volumes": [{"name": "a", "configMap": {"name": "b", "items": [
            {"key": "a", "path": "b"}, {"key": "c", "path": "b"}]}}]},
        {"topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "beta.kubernetes.io/os", "whenUnsatisfiable": "DoNotSchedule"}]},
        {"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "a"}]}}},
        {"initContainers": [{"name": "i", "image": "i", "ports": [{"containerPort": 1, "name": "a"}]}],
         **_container(ports=[{"containerPort": 2, "name": "a"}])},
        {"overhead": {"memory": "1.5"}},
    ),
    "objects that exist or do not": [
        ("POST", f"{_CORE}/configmaps", {"metadata": {"name": "x"}}),
        ("POST", f"{_CORE}/configmaps", {"metadata": {"name": "x"}}),
        ("POST", f"{_CORE}/configmaps?dryRun=All", {"metadata": {"name": "x"}}),
        ("PUT", f"{_CORE}/configmaps/x", {"metadata": {"name": "x", "resourceVersion": "1"}}),
        ("PUT", f"{_CORE}/configmaps/x", {"metadata": {"name": "x", "resourceVersion": "x"}}),
        ("PUT", f"{_CORE}/configmaps/x", {"metadata": {"name": "x", "uid": "x"}}),
        ("DELETE", f"{_CORE}/configmaps/x", {"preconditions": {"resourceVersion": "1"}}),
        ("DELETE", f"{_CORE}/configmaps/x", {"preconditions": {"uid": "1"}}),
        ("GET", f"{_CORE}/configmaps/y", None),
        ("DELETE", f"{_CORE}/configmaps/y", None),
        ("PATCH", f"{_CORE}/configmaps/y", {}, _MERGE),
        ("PUT", f"{_CORE}/configmaps/y", {"metadata": {"name": "y"}}),
        ("GET", f"{_CORE}/nopes", None),
        ("GET", "/apis/nope/v1/nopes", None),
        ("GET", "/apis/apps/v9/deployments", None),
        ("GET", f"{_APPS}/deployments/x/scale", None),
        ("GET", f"{_APPS}/deployments/x/nope", None),
        ("POST", "/api/v1/namespaces/nope-{ns}/configmaps", {"metadata": {"name": "x"}}),
        ("DELETE", "/api/v1/namespaces/nope-{ns}", None),
        ("DELETE", "/api/v1/namespaces/kube-system?dryRun=All", None),
        ("POST", f"{_CORE}/pods/x/eviction", {}),
        ("POST", f"{_CORE}/pods/x/binding", {"target": {}}),
        ("POST", f"{_CORE}/serviceaccounts/x/token", {"spec": {}}),
        ("POST", f"{_CORE}/serviceaccounts/default/token", {"spec": {"expirationSeconds": 1}}),
        ("GET", f"{_CORE}/configmaps/x", None, {"Impersonate-User": "jane"}),
        ("POST", f"{_CORE}/pods", {"metadata": {"name": "x"}}, {"Impersonate-User": "jane"}),
        ("GET", f"{_CORE}/pods/x/log", None, {"Impersonate-User": "jane"}),
        ("GET", "/api/v1/pods", None, {"Impersonate-User": "jane", "Impersonate-Group": "a"}),
        ("GET", "/nope", None, {"Impersonate-User": "jane"}),
        (
            "POST",
            "/apis/rbac.authorization.k8s.io/v1/namespaces/{ns}/roles",
            {"metadata": {"name": "x"}, "rules": [{"verbs": ["*"], "apiGroups": [""], "resources": ["pods"]}]},
            {"Impersonate-User": "jane"},
        ),
    ],
}  # fmt: skip
