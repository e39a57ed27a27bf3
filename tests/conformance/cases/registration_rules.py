"""Rules of admissionregistration.k8s.io, apiregistration.k8s.io and storagemigration.k8s.io."""

from __future__ import annotations

from typing import Any

from tests.conformance.rule_steps import Body, Step, change, create, delete, lifecycle, rejections

_API = "/apis/admissionregistration.k8s.io/v1"
_VALIDATING = f"{_API}/validatingwebhookconfigurations"
_MUTATING = f"{_API}/mutatingwebhookconfigurations"
_POLICIES = f"{_API}/validatingadmissionpolicies"
_BINDINGS = f"{_API}/validatingadmissionpolicybindings"
_MUTATIONS = f"{_API}/mutatingadmissionpolicies"
_MUTATION_BINDINGS = f"{_API}/mutatingadmissionpolicybindings"
_SERVICES = "/apis/apiregistration.k8s.io/v1/apiservices"
_MIGRATIONS = "/apis/storagemigration.k8s.io/v1/storageversionmigrations"

# Only objects of a group that does not exist are matched, so that no other test is affected.
_RULE = {
    "operations": ["CREATE"],
    "apiGroups": ["never-{ns}.example.com"],
    "apiVersions": ["v1"],
    "resources": ["things"],
}
_HOOK: Body = {
    "name": "a.example.com",
    "clientConfig": {"url": "https://127.0.0.1:1/a"},
    "rules": [_RULE],
    "sideEffects": "None",
    "admissionReviewVersions": ["v1"],
}


def _hooks(*hooks: Body) -> Body:
    return {"webhooks": list(hooks)}


def _hook(**changes: Any) -> Body:
    hook = {**_HOOK, **changes}
    return _hooks({key: value for key, value in hook.items() if value is not None})


def _hook_rule(**changes: Any) -> Body:
    return _hook(rules=[{**_RULE, **changes}])


def _service(**changes: Any) -> Body:
    return _hook(clientConfig={"service": {"name": "a", "namespace": "{ns}", **changes}})


_POLICY: Body = {
    "matchConstraints": {"resourceRules": [_RULE]},
    "validations": [{"expression": "true"}],
}


def _policy(**changes: Any) -> Body:
    spec = {**_POLICY, **changes}
    return {"spec": {key: value for key, value in spec.items() if value is not None}}


def _binding(**changes: Any) -> Body:
    return {"spec": {"policyName": "p-{ns}", "validationActions": ["Deny"], **changes}}


_MUTATION: Body = {
    "matchConstraints": {"resourceRules": [_RULE]},
    "reinvocationPolicy": "Never",
    "mutations": [
        {"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": "Object{}"}}
    ],
}


def _mutation(**changes: Any) -> Body:
    spec = {**_MUTATION, **changes}
    return {"spec": {key: value for key, value in spec.items() if value is not None}}


def _api_service(**changes: Any) -> Body:
    spec = {
        "group": "{ns}.example.com",
        "version": "v1",
        "groupPriorityMinimum": 100,
        "versionPriority": 10,
        "insecureSkipTLSVerify": True,
        "service": {"name": "a", "namespace": "{ns}"},
        **changes,
    }
    spec = {key: value for key, value in spec.items() if value is not None}
    return {"metadata": {"name": "v1.{ns}.example.com"}, "spec": spec}


CASES: dict[str, list[Step]] = {
    "a sparse validating webhook": lifecycle(_VALIDATING, _hooks(_HOOK)),
    "a sparse mutating webhook": lifecycle(_MUTATING, _hooks(_HOOK)),
    "a webhook configuration without webhooks": lifecycle(_VALIDATING, {}),
    "a webhook of a service": lifecycle(_VALIDATING, _service()),
    "wrong values of a webhook": rejections(
        _VALIDATING,
        _hook(name=""),
        _hook(name="short"),
        _hook(name="A.B.C"),
        _hooks(_HOOK, _HOOK),
        _hook(failurePolicy="Maybe"),
        _hook(matchPolicy="Roughly"),
        _hook(sideEffects=None),
        _hook(sideEffects="Some"),
        _hook(sideEffects="Unknown"),
        _hook(timeoutSeconds=0),
        _hook(timeoutSeconds=31),
        _hook(admissionReviewVersions=[]),
        _hook(admissionReviewVersions=["v9"]),
        _hook(admissionReviewVersions=["v1", "v1"]),
        _hook(admissionReviewVersions=["v1", "1"]),
        _hook(namespaceSelector={"matchLabels": {"a b": "c"}}),
        _hook(objectSelector={"matchExpressions": [{"key": "a", "operator": "x"}]}),
        _hook(matchConditions=[{"name": "", "expression": ""}]),
        _hook(matchConditions=[{"name": "a b", "expression": "true"}]),
        _hook(
            matchConditions=[
                {"name": "a", "expression": "true"},
                {"name": "a", "expression": "true"},
            ]
        ),
    ),
    "wrong clients of a webhook": rejections(
        _VALIDATING,
        _hook(clientConfig={}),
        _hook(clientConfig={"url": "http://a"}),
        _hook(clientConfig={"url": "https://"}),
        _hook(clientConfig={"url": "https://u:p@a/x"}),
        _hook(clientConfig={"url": "https://a/x?y=z"}),
        _hook(clientConfig={"url": "https://a/x#y"}),
        _hook(clientConfig={"url": "https://a", "service": {"name": "a", "namespace": "b"}}),
        _service(name="", namespace=""),
        _service(port=0),
        _service(port=70000),
        _service(path="a"),
        _service(path="/a//b"),
        _service(path="/a/b c"),
        _service(path="/"),
    ),
    "wrong rules of a webhook": rejections(
        _VALIDATING,
        _hook_rule(operations=[]),
        _hook_rule(operations=["*", "CREATE"]),
        _hook_rule(operations=["LOOK"]),
        _hook_rule(apiGroups=[]),
        _hook_rule(apiGroups=["*", "a"]),
        _hook_rule(apiVersions=[]),
        _hook_rule(apiVersions=["*", "a"]),
        _hook_rule(apiVersions=[""]),
        _hook_rule(resources=[]),
        _hook_rule(resources=[""]),
        _hook_rule(resources=["*", "a"]),
        _hook_rule(resources=["*/*", "a"]),
        _hook_rule(resources=["a/*", "a/b"]),
        _hook_rule(resources=["*/b", "a/b"]),
        _hook_rule(scope="World"),
    ),
    "a mutating webhook is invoked again": [
        *lifecycle(_MUTATING, _hook(reinvocationPolicy="IfNeeded")),
        *rejections(_MUTATING, _hook(reinvocationPolicy="Often")),
    ],
    "changes of a webhook": lifecycle(
        _VALIDATING,
        _hooks(_HOOK),
        change(_VALIDATING, _hook(timeoutSeconds=5)),
        change(_VALIDATING, _hook(timeoutSeconds=50)),
        change(_VALIDATING, {"metadata": {"labels": {"a": "b"}}}),
        change(_VALIDATING, {"webhooks": None}),
    ),
    "a sparse admission policy": lifecycle(_POLICIES, _policy()),
    "wrong values of an admission policy": rejections(
        _POLICIES,
        {},
        {"spec": {}},
        _policy(failurePolicy="Maybe"),
        _policy(matchConstraints=None),
        _policy(matchConstraints={}),
        _policy(matchConstraints={"resourceRules": [{}]}),
        _policy(matchConstraints={"resourceRules": [_RULE], "matchPolicy": "Roughly"}),
        _policy(
            matchConstraints={
                "resourceRules": [_RULE],
                "namespaceSelector": {"matchLabels": {"": ""}},
            }
        ),
        _policy(matchConstraints={"resourceRules": [{**_RULE, "operations": ["CONNECT", "*"]}]}),
        _policy(matchConstraints={"resourceRules": [{**_RULE, "resourceNames": ["a", "a", ""]}]}),
        _policy(matchConstraints={"resourceRules": [_RULE], "excludeResourceRules": [{}]}),
        _policy(paramKind={}),
        _policy(paramKind={"apiVersion": "a/b/c", "kind": "A"}),
        _policy(paramKind={"apiVersion": "A/1", "kind": "a b"}),
        _policy(validations=[]),
        _policy(validations=[{}]),
        _policy(validations=[{"expression": " ", "message": " "}]),
        _policy(validations=[{"expression": "true", "message": "a\nb"}]),
        _policy(validations=[{"expression": "true", "reason": "Bored"}]),
        _policy(validations=None, auditAnnotations=[{}]),
        _policy(auditAnnotations=[{"key": "a b", "valueExpression": "''"}]),
        _policy(auditAnnotations=[{"key": "a", "valueExpression": "''"}] * 2),
        _policy(variables=[{}]),
        _policy(variables=[{"name": "a b", "expression": "1"}]),
        _policy(matchConditions=[{"name": "", "expression": ""}]),
    ),
    "an admission policy with all fields": lifecycle(
        _POLICIES,
        _policy(
            failurePolicy="Ignore",
            paramKind={"apiVersion": "v1", "kind": "ConfigMap"},
            matchConditions=[{"name": "a", "expression": "true"}],
            variables=[{"name": "one", "expression": "1"}],
            validations=[{"expression": "true", "message": "never", "reason": "Forbidden"}],
            auditAnnotations=[{"key": "a", "valueExpression": "'b'"}],
        ),
        change(_POLICIES, {"spec": {"failurePolicy": "Fail"}}),
        change(_POLICIES, {"spec": {"failurePolicy": "x"}}),
    ),
    "a binding of an admission policy": lifecycle(_BINDINGS, _binding()),
    "wrong bindings of an admission policy": rejections(
        _BINDINGS,
        {},
        {"spec": {"policyName": "A B"}},
        _binding(validationActions=[]),
        _binding(validationActions=["Deny", "Warn"]),
        _binding(validationActions=["Deny", "Deny"]),
        _binding(validationActions=["Shout"]),
        _binding(paramRef={}),
        _binding(paramRef={"name": "a"}),
        _binding(paramRef={"name": "a", "parameterNotFoundAction": "Wait"}),
        _binding(
            paramRef={"name": "a", "selector": {}, "parameterNotFoundAction": "Deny"},
        ),
        _binding(matchResources={"resourceRules": [{}]}),
    ),
    "a binding with all fields": lifecycle(
        _BINDINGS,
        _binding(
            paramRef={"name": "a", "namespace": "{ns}", "parameterNotFoundAction": "Deny"},
            matchResources={"resourceRules": [_RULE]},
            validationActions=["Warn", "Audit"],
        ),
        change(_BINDINGS, {"spec": {"policyName": "other-{ns}"}}),
    ),
    "a mutating admission policy": lifecycle(_MUTATIONS, _mutation()),
    "wrong mutating admission policies": rejections(
        _MUTATIONS,
        {},
        {"spec": {}},
        _mutation(reinvocationPolicy="Often"),
        _mutation(reinvocationPolicy=None),
        _mutation(mutations=[]),
        _mutation(mutations=[{}]),
        _mutation(mutations=[{"patchType": "Magic"}]),
        _mutation(mutations=[{"patchType": "JSONPatch"}]),
        _mutation(
            mutations=[
                {
                    "patchType": "JSONPatch",
                    "jsonPatch": {"expression": "[JSONPatch{op: 'remove', path: '/a'}]"},
                    "applyConfiguration": {"expression": "Object{}"},
                }
            ]
        ),
        _mutation(matchConstraints=None),
        _mutation(matchConstraints={"resourceRules": [{**_RULE, "operations": ["DELETE"]}]}),
    ),
    "a binding of a mutating policy": [
        *lifecycle(_MUTATION_BINDINGS, {"spec": {"policyName": "p-{ns}"}}),
        *rejections(
            _MUTATION_BINDINGS,
            {},
            {"spec": {"policyName": "p", "paramRef": {}}},
        ),
    ],
    "an API service without a backend": [
        create(_SERVICES, _api_service(service=None, insecureSkipTLSVerify=None)),
        delete(_SERVICES, "v1.{ns}.example.com"),
    ],
    "wrong API services": rejections(
        _SERVICES,
        {},
        _api_service(group=""),
        _api_service(group="A B"),
        _api_service(version=""),
        _api_service(version="V 1"),
        _api_service(groupPriorityMinimum=0),
        _api_service(groupPriorityMinimum=20001),
        _api_service(versionPriority=0),
        _api_service(versionPriority=1001),
        _api_service(insecureSkipTLSVerify=False),
        _api_service(caBundle="YQ=="),
        _api_service(service={"name": "", "namespace": ""}),
        _api_service(service={"name": "a", "namespace": "b", "port": 0}),
        _api_service(service={"name": "a", "namespace": "b", "port": 70000}),
        _api_service(service=None, caBundle="YQ=="),
        _api_service(service=None, insecureSkipTLSVerify=True),
    ),
    "API services of the server": [
        ("GET", f"{_SERVICES}/v1.", None),
        ("GET", f"{_SERVICES}/v1.apps", None),
        ("GET", f"{_SERVICES}/v2.autoscaling", None),
        ("GET", f"{_SERVICES}/v1.rbac.authorization.k8s.io", None),
    ],
    "a migration of stored objects": lifecycle(
        _MIGRATIONS,
        {"spec": {"resource": {"group": "{ns}.example.com", "resource": "things"}}},
        change(_MIGRATIONS, {"spec": {"resource": {"resource": "others"}}}),
        change(_MIGRATIONS, {"status": {"resourceVersion": "5"}}, part="status"),
        change(_MIGRATIONS, {"status": {"resourceVersion": "6"}}, part="status"),
        change(_MIGRATIONS, {"status": {"conditions": [{"type": "Failed"}]}}, part="status"),
    ),
    "wrong migrations of stored objects": rejections(
        _MIGRATIONS,
        {},
        {"spec": {"resource": {"resource": "A B", "group": "C D"}}},
        create(_MIGRATIONS, {})[2],
    ),
}
