"""The known differences between the embedded server and kube-apiserver.

Guarantees: every line is in docs/reference/conformance.md as well, and a test is marked with
`differs` for it, or a recorded case named: against the embedded server these must fail.
"""

from __future__ import annotations

from typing import Final

import pytest

__all__ = ["DIFFERENCES", "RECORDED_DIFFERENCES", "differs"]

# what differs -> why it stays so
DIFFERENCES: Final[dict[str, str]] = {
    "expressions": (
        "CEL is not evaluated: admission policies and their bindings are stored, and each write "
        "has a warning that says so"
    ),
    "owners of dropped fields": (
        "a field of a disabled feature and the time of a device taint have no owner in "
        "`managedFields`, because they are dropped or set later than there"
    ),
    "narrow impersonation": (
        "impersonation needs the verb `impersonate`; the narrower verbs, which no default role "
        "grants, are not supported"
    ),
    "rare sentences": (
        "some sentences, printed values and orders of causes of rare errors, and a few rare rules, "
        "are not yet those of kube-apiserver"
    ),
    "unknown methods": "the HTTP library responds with 400 to a method that it does not know",
    "tests of JSON patches": (
        "`test` compares values; kube-apiserver compares texts, so a number or string in another "
        "notation (`1.50`, `<` unescaped) fails"
    ),
}


# recorded case -> the difference above that it shows
RECORDED_DIFFERENCES: Final[dict[str, str]] = {
    "accepted_inputs: bodies of JSON patches": "rare sentences",
    "accepted_inputs: bodies of an apply": "rare sentences",
    "accepted_inputs: bytes as base64": "rare sentences",
    "accepted_inputs: integers in other notations": "rare sentences",
    "accepted_inputs: options of a deletion": "rare sentences",
    "access_rules: reviews of access in a namespace": "rare sentences",
    "access_rules: reviews of one's own access": "rare sentences",
    "applies: data that are no object": "rare sentences",
    "bad_fields: bytes that have another type": "rare sentences",
    "bad_fields: numbers that have another type": "rare sentences",
    "bad_names: names of a definition": "rare sentences",
    "bad_names: names of a device class": "rare sentences",
    "bad_names: names of a namespace": "rare sentences",
    "bad_names: names of a replication controller": "rare sentences",
    "bad_names: names of an address": "rare sentences",
    "bad_patches: results of JSON patches": "rare sentences",
    "bad_patches: strategic patches of the wrong type": "rare sentences",
    "bad_patches: unknown fields in patches": "rare sentences",
    "bad_values: addresses of a pod": "rare sentences",
    "bad_values: addresses of endpoints": "rare sentences",
    "bad_values: fields that cannot change": "rare sentences",
    "bad_values: networks of a node": "rare sentences",
    "bad_values: networks of a policy": "rare sentences",
    "bad_values: quantities": "rare sentences",
    "certificate_rules: a certificate request of a pod": "rare sentences",
    "certificate_rules: wrong values of a trust bundle": "rare sentences",
    "core_rules: a bad claim": "rare sentences",
    "core_rules: a service with an address out of range": "rare sentences",
    "core_rules: bad limits": "rare sentences",
    "core_rules: change a volume": "rare sentences",
    "custom_objects: a status with a subresource": "rare sentences",
    "custom_objects: an embedded resource": "rare sentences",
    "custom_objects: metadata of every kind": "rare sentences",
    "custom_objects: multiples": "rare sentences",
    "definitions: a status and the root": "rare sentences",
    "definitions: defaults that are not valid": "rare sentences",
    "definitions: extensions that are not valid": "rare sentences",
    "definitions: names that are not valid": "rare sentences",
    "definitions: rules that are not valid without being compiled": "rare sentences",
    "definitions: updates that are rejected": "rare sentences",
    "network_rules: an address": "rare sentences",
    "network_rules: backends of an ingress": "rare sentences",
    "network_rules: bad addresses": "rare sentences",
    "network_rules: bad service networks": "rare sentences",
    "pod_rules: a stop signal": "owners of dropped fields",
    "pod_rules: a stop signal with an os": "owners of dropped fields",
    "pod_rules: an absolute seccomp profile": "rare sentences",
    "pod_rules: annotations of a pod": "rare sentences",
    "pod_rules: change the command of a pod": "rare sentences",
    "pod_rules: change the priority": "rare sentences",
    "pod_rules: containers with bad fields": "rare sentences",
    "pod_rules: dns config": "rare sentences",
    "pod_rules: projected volumes": "rare sentences",
    "pod_rules: the security context of a pod": "rare sentences",
    "pod_rules: tolerations": "rare sentences",
    "pod_rules: topology spread constraints": "rare sentences",
    "pod_rules: volumes of networks and clouds": "rare sentences",
    "registration_rules: a binding of a mutating policy": "expressions",
    "registration_rules: a binding of an admission policy": "expressions",
    "registration_rules: a binding with all fields": "expressions",
    "registration_rules: a migration of stored objects": "rare sentences",
    "registration_rules: a mutating admission policy": "expressions",
    "registration_rules: a sparse admission policy": "expressions",
    "registration_rules: an admission policy with all fields": "expressions",
    "registration_rules: wrong bindings of an admission policy": "rare sentences",
    "registration_rules: wrong mutating admission policies": "rare sentences",
    "registration_rules: wrong values of an admission policy": "rare sentences",
    "resource_claims: a rule of device taints": "owners of dropped fields",
    "resource_claims: a template of claims": "rare sentences",
    "resource_claims: the status of a claim": "rare sentences",
    "resource_claims: wrong constraints and configurations of a claim": "rare sentences",
    "resource_claims: wrong device classes": "rare sentences",
    "resource_claims: wrong devices of a slice": "rare sentences",
    "resource_claims: wrong requests of a claim": "rare sentences",
    "resource_claims: wrong rules of device taints": "rare sentences",
    "resource_claims: wrong slices": "rare sentences",
    "scheduling_rules: wrong values of a runtime class": "rare sentences",
    "status_writes: the status of an admission policy is applied": "expressions",
    "status_writes: the status of an admission policy is written": "expressions",
    "storage_rules: drivers of a node are fixed": "rare sentences",
    "storage_rules: wrong values of a driver": "rare sentences",
    "storage_rules: wrong values of a node of drivers": "rare sentences",
    "subresource_writes: ephemeral containers are replaced": "rare sentences",
    "update_strategies: a policy binding is created and updated": "expressions",
    "update_strategies: a version is sent in an update": "rare sentences",
    "update_strategies: an admission policy is created and updated": "expressions",
    "warnings: a secret that is no pair": "rare sentences",
    "warnings: fractions of bytes": "rare sentences",
    "workload_rules: a bad cron job": "rare sentences",
    "workload_rules: a bad daemon set": "rare sentences",
    "workload_rules: a daemon set": "rare sentences",
    "workload_rules: a stateful set": "rare sentences",
    "workload_rules: change a suspended job": "rare sentences",
    "workload_rules: metrics of an autoscaler": "rare sentences",
    "workload_rules: success policies": "rare sentences",
    "workload_rules: the status of a job": "rare sentences",
    "zero_values: a validating admission policy": "expressions",
    "zero_values: a validating admission policy binding": "expressions",
}


def differs(what: str) -> pytest.MarkDecorator:
    """Marks a test that kube-apiserver passes and the embedded server must not."""
    return pytest.mark.differs(what)
