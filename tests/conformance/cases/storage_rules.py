"""Rules of storage.k8s.io: defaults, immutable fields, rejected values."""

from __future__ import annotations

from tests.conformance.rule_steps import Step, change, create, delete, lifecycle, rejections

_API = "/apis/storage.k8s.io/v1"
_CLASSES = f"{_API}/storageclasses"
_DRIVERS = f"{_API}/csidrivers"
_NODES = f"{_API}/csinodes"
_ATTACHMENTS = f"{_API}/volumeattachments"
_CAPACITIES = f"{_API}/namespaces/{{ns}}/csistoragecapacities"
_ATTRIBUTES = f"{_API}/volumeattributesclasses"

_CLASS = {"provisioner": "example.com/disks"}
_DRIVER_IN_NODE = {"name": "csi.example.com", "nodeID": "n-1"}
_ATTACHMENT = {
    "spec": {
        "attacher": "csi.example.com",
        "nodeName": "n-1",
        "source": {"persistentVolumeName": "v-1"},
    }
}
_ERROR = {"message": "failed", "time": "2024-01-01T00:00:00Z"}

CASES: dict[str, list[Step]] = {
    "a sparse storage class": lifecycle(_CLASSES, _CLASS),
    "the provisioner of a storage class is required": rejections(_CLASSES, {}),
    "wrong values of a storage class": rejections(
        _CLASSES,
        {"provisioner": "not a name"},
        {"provisioner": "Example.com/Disks", "reclaimPolicy": "Recycle"},
        {**_CLASS, "volumeBindingMode": "Later"},
        {**_CLASS, "volumeBindingMode": ""},
        {**_CLASS, "parameters": {"": "x"}},
        {
            **_CLASS,
            "allowedTopologies": [{"matchLabelExpressions": [{"key": "zone", "values": []}]}],
        },
        {
            **_CLASS,
            "allowedTopologies": [
                {"matchLabelExpressions": [{"key": "a b", "values": ["x", "x"]}]}
            ],
        },
        {
            **_CLASS,
            "allowedTopologies": [
                {"matchLabelExpressions": [{"key": "zone", "values": ["x"]}]},
                {"matchLabelExpressions": [{"key": "zone", "values": ["x"]}]},
            ],
        },
        {
            **_CLASS,
            "allowedTopologies": [
                {
                    "matchLabelExpressions": [
                        {"key": "zone", "values": ["x"]},
                        {"key": "zone", "values": ["y"]},
                    ]
                }
            ],
        },
        {"provisioner": "", "reclaimPolicy": "x", "volumeBindingMode": "y"},
    ),
    "a storage class with all fields": lifecycle(
        _CLASSES,
        {
            **_CLASS,
            "allowVolumeExpansion": True,
            "mountOptions": ["ro"],
            "parameters": {"type": "fast"},
            "reclaimPolicy": "Retain",
            "volumeBindingMode": "WaitForFirstConsumer",
            "allowedTopologies": [
                {"matchLabelExpressions": [{"key": "zone", "values": ["a", "b"]}]}
            ],
        },
        change(_CLASSES, {"metadata": {"labels": {"a": "b"}}, "allowVolumeExpansion": False}),
        change(_CLASSES, {"mountOptions": None}),
    ),
    "fixed fields of a storage class": lifecycle(
        _CLASSES,
        _CLASS,
        change(_CLASSES, {"provisioner": "example.com/other"}),
        change(_CLASSES, {"parameters": {"a": "b"}}),
        change(_CLASSES, {"reclaimPolicy": "Retain"}),
        change(_CLASSES, {"volumeBindingMode": "WaitForFirstConsumer"}),
        change(_CLASSES, {"provisioner": "other", "reclaimPolicy": "Retain"}),
        change(_CLASSES, {"reclaimPolicy": "x"}),
        change(
            _CLASSES,
            {"allowedTopologies": [{"matchLabelExpressions": [{"key": "", "values": []}]}]},
        ),
    ),
    "a sparse driver": lifecycle(_DRIVERS, {"spec": {}}),
    "a driver without a spec": lifecycle(_DRIVERS, {}),
    "a driver with all fields": lifecycle(
        _DRIVERS,
        {
            "spec": {
                "attachRequired": False,
                "podInfoOnMount": True,
                "volumeLifecycleModes": ["Ephemeral"],
                "storageCapacity": True,
                "fsGroupPolicy": "File",
                "tokenRequests": [{"audience": "a", "expirationSeconds": 3600}],
                "requiresRepublish": True,
                "seLinuxMount": True,
                "nodeAllocatableUpdatePeriodSeconds": 60,
                "serviceAccountTokenInSecrets": True,
            }
        },
        change(_DRIVERS, {"spec": {"attachRequired": True}}),
        change(_DRIVERS, {"spec": {"volumeLifecycleModes": ["Persistent"]}}),
        change(_DRIVERS, {"spec": {"volumeLifecycleModes": None}}),
        change(_DRIVERS, {"spec": {"podInfoOnMount": False, "requiresRepublish": False}}),
        change(_DRIVERS, {"spec": {"fsGroupPolicy": "None", "storageCapacity": None}}),
        change(_DRIVERS, {"spec": {"tokenRequests": None}}),
    ),
    "wrong values of a driver": rejections(
        _DRIVERS,
        {"spec": {"fsGroupPolicy": "Never"}},
        {"spec": {"volumeLifecycleModes": ["Persistent", "Forever", "x"]}},
        {"spec": {"tokenRequests": [{"audience": "a"}, {"audience": "a"}]}},
        {"spec": {"tokenRequests": [{"audience": "a", "expirationSeconds": 1}]}},
        {"spec": {"tokenRequests": [{"audience": "a", "expirationSeconds": 4294967297}]}},
        {"spec": {"nodeAllocatableUpdatePeriodSeconds": 1}},
        {"spec": {"serviceAccountTokenInSecrets": False}},
        {"metadata": {"name": "Bad_Name-{ns}"}, "spec": {}},
    ),
    "a sparse node of drivers": lifecycle(_NODES, {"spec": {"drivers": []}}),
    "a node of drivers without a spec": lifecycle(_NODES, {}),
    "wrong values of a node of drivers": rejections(
        _NODES,
        {"spec": {"drivers": [{}]}},
        {"spec": {"drivers": [_DRIVER_IN_NODE, _DRIVER_IN_NODE]}},
        {"spec": {"drivers": [{**_DRIVER_IN_NODE, "topologyKeys": ["", "a", "a", "x y"]}]}},
        {"spec": {"drivers": [{**_DRIVER_IN_NODE, "allocatable": {"count": -1}}]}},
        {"spec": {"drivers": [{"name": "-bad-", "nodeID": "x" * 257}]}},
        {"spec": {"drivers": [{"name": "c" * 64, "nodeID": "x"}]}},
    ),
    "drivers of a node are fixed": lifecycle(
        _NODES,
        {"spec": {"drivers": [{**_DRIVER_IN_NODE, "topologyKeys": ["a"]}]}},
        change(_NODES, {"spec": {"drivers": [{**_DRIVER_IN_NODE, "nodeID": "n-2"}]}}),
        change(_NODES, {"spec": {"drivers": [{**_DRIVER_IN_NODE, "topologyKeys": ["b"]}]}}),
        change(
            _NODES,
            {
                "spec": {
                    "drivers": [
                        {**_DRIVER_IN_NODE, "topologyKeys": ["a"], "allocatable": {"count": 5}},
                        {"name": "other.example.com", "nodeID": "n-1"},
                    ]
                }
            },
        ),
        change(_NODES, {"spec": {"drivers": []}}),
    ),
    "a volume attachment": lifecycle(
        _ATTACHMENTS,
        {**_ATTACHMENT, "status": {"attached": True}},
        change(_ATTACHMENTS, {"spec": {"nodeName": "n-2"}}),
        change(_ATTACHMENTS, {"spec": {"source": {"persistentVolumeName": "v-2"}}}),
        change(_ATTACHMENTS, {"status": {"attached": True}}),
        change(_ATTACHMENTS, {"status": {"attached": True}}, part="status"),
        change(
            _ATTACHMENTS,
            {"status": {"attachmentMetadata": {"a": "b"}, "attachError": _ERROR}},
            part="status",
        ),
        change(
            _ATTACHMENTS,
            {"status": {"detachError": {"message": "x", "errorCode": -1}}},
            part="status",
        ),
        change(_ATTACHMENTS, {"status": {"attachError": {"message": "x" * 1025}}}, part="status"),
        change(_ATTACHMENTS, {"spec": {"nodeName": "n-2"}}, part="status"),
    ),
    "wrong values of a volume attachment": rejections(
        _ATTACHMENTS,
        {},
        {"spec": {}},
        {"spec": {"attacher": "a b", "nodeName": "N", "source": {"persistentVolumeName": ""}}},
        {"spec": {"attacher": "a" * 64, "nodeName": "n", "source": {"persistentVolumeName": "A"}}},
        {
            "spec": {
                "attacher": "csi.example.com",
                "nodeName": "n",
                "source": {
                    "persistentVolumeName": "v",
                    "inlineVolumeSpec": {
                        "accessModes": ["ReadWriteOnce"],
                        "capacity": {"storage": "1Gi"},
                        "csi": {"driver": "csi.example.com", "volumeHandle": "h"},
                    },
                },
            }
        },
        {
            "spec": {
                "attacher": "csi.example.com",
                "nodeName": "n",
                "source": {"inlineVolumeSpec": {"accessModes": ["ReadWriteOnce"]}},
            }
        },
    ),
    "a volume attachment with an inline volume": lifecycle(
        _ATTACHMENTS,
        {
            "spec": {
                "attacher": "csi.example.com",
                "nodeName": "n",
                "source": {
                    "inlineVolumeSpec": {
                        "accessModes": ["ReadWriteOnce"],
                        "csi": {"driver": "csi.example.com", "volumeHandle": "h"},
                    }
                },
            }
        },
    ),
    "a storage capacity": lifecycle(
        _CAPACITIES,
        {"storageClassName": "fast", "capacity": "10Gi", "maximumVolumeSize": "1Gi"},
        change(_CAPACITIES, {"capacity": "5Gi"}),
        change(_CAPACITIES, {"capacity": "-5Gi"}),
        change(_CAPACITIES, {"storageClassName": "slow"}),
        change(_CAPACITIES, {"nodeTopology": {"matchLabels": {"zone": "a"}}}),
    ),
    "wrong values of a storage capacity": rejections(
        _CAPACITIES,
        {},
        {"storageClassName": "A B", "capacity": "-1"},
        {"storageClassName": "a", "maximumVolumeSize": "-1"},
        {
            "storageClassName": "a",
            "nodeTopology": {"matchExpressions": [{"key": "a", "operator": "Near"}]},
        },
        {"storageClassName": "a", "nodeTopology": {"matchLabels": {"a b": "-x-"}}},
    ),
    "a class of volume attributes": lifecycle(
        _ATTRIBUTES,
        {"driverName": "csi.example.com", "parameters": {"iops": "100"}},
        change(_ATTRIBUTES, {"driverName": "other.example.com"}),
        change(_ATTRIBUTES, {"parameters": {"iops": "200"}}),
        change(_ATTRIBUTES, {"parameters": None}),
        change(_ATTRIBUTES, {"metadata": {"annotations": {"a": "b"}}}),
        # On kube-apiserver alone no controller would remove it after the deletion.
        change(_ATTRIBUTES, {"metadata": {"finalizers": None}}),
    ),
    "wrong values of a class of volume attributes": rejections(
        _ATTRIBUTES,
        {},
        {"driverName": "csi.example.com"},
        {"driverName": "a b", "parameters": {"": "b"}},
    ),
    "names of storage objects": [
        create(_CLASSES, _CLASS, "Bad_{ns}"),
        create(_NODES, {"spec": {"drivers": []}}, "Bad_{ns}"),
        create(_ATTACHMENTS, _ATTACHMENT, "Bad_{ns}"),
        create(_CAPACITIES, {"storageClassName": "a"}, "Bad_{ns}"),
        delete(_CLASSES, "missing-{ns}"),
    ],
}
