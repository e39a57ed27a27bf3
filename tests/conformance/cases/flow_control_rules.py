"""Rules of flowcontrol.apiserver.k8s.io."""

from __future__ import annotations

from tests.conformance.rule_steps import Body, Step, change, lifecycle, rejections

_API = "/apis/flowcontrol.apiserver.k8s.io/v1"
_SCHEMAS = f"{_API}/flowschemas"
_LEVELS = f"{_API}/prioritylevelconfigurations"

# A flow of a user that does not exist, so that no request of another test matches it.
_SUBJECT = {"kind": "User", "user": {"name": "stranger-{ns}"}}
_RESOURCES = {"verbs": ["get"], "apiGroups": [""], "resources": ["pods"], "namespaces": ["{ns}"]}
_RULE = {"subjects": [_SUBJECT], "resourceRules": [_RESOURCES]}


def _schema(**spec: object) -> Body:
    return {"spec": {"priorityLevelConfiguration": {"name": "global-default"}, **spec}}


def _rules(*rules: object) -> Body:
    return _schema(rules=list(rules))


def _subject(**subject: object) -> Body:
    return _rules({"subjects": [subject], "resourceRules": [_RESOURCES]})


def _resources(**changes: object) -> Body:
    return _rules({"subjects": [_SUBJECT], "resourceRules": [{**_RESOURCES, **changes}]})


def _urls(**changes: object) -> Body:
    rule = {"verbs": ["get"], "nonResourceURLs": ["/healthz"], **changes}
    return _rules({"subjects": [_SUBJECT], "nonResourceRules": [rule]})


def _limited(**limited: object) -> Body:
    response = {"limitResponse": {"type": "Reject"}}
    return {"spec": {"type": "Limited", "limited": {**response, **limited}}}


def _queuing(**queuing: object) -> Body:
    return _limited(limitResponse={"type": "Queue", "queuing": queuing})


_CONDITION = {"type": "Dangling", "status": "False"}

CASES: dict[str, list[Step]] = {
    "a flow schema with all fields": lifecycle(
        _SCHEMAS,
        _schema(
            matchingPrecedence=9000,
            distinguisherMethod={"type": "ByUser"},
            rules=[
                _RULE,
                {
                    "subjects": [
                        {"kind": "Group", "group": {"name": "nogroup-{ns}"}},
                        {
                            "kind": "ServiceAccount",
                            "serviceAccount": {"name": "*", "namespace": "{ns}"},
                        },
                    ],
                    "nonResourceRules": [{"verbs": ["*"], "nonResourceURLs": ["/never/*"]}],
                },
            ],
        ),
        change(_SCHEMAS, {"spec": {"matchingPrecedence": -1}}),
    ),
    "wrong values of a flow schema": rejections(
        _SCHEMAS,
        {},
        {"spec": {}},
        _schema(matchingPrecedence=-1),
        _schema(matchingPrecedence=1),
        _schema(matchingPrecedence=10001),
        _schema(distinguisherMethod={"type": "ByMood"}),
        {"spec": {"priorityLevelConfiguration": {"name": "A B"}}},
        _rules({}),
        _rules({"subjects": [_SUBJECT]}),
    ),
    "wrong subjects of a flow schema": rejections(
        _SCHEMAS,
        _subject(kind="Crowd"),
        _subject(kind="User"),
        _subject(kind="User", user={"name": ""}),
        _subject(kind="User", user={"name": "a"}, group={"name": "b"}),
        _subject(kind="Group"),
        _subject(kind="Group", group={"name": ""}),
        _subject(kind="Group", group={"name": "g"}, user={"name": "u"}),
        _subject(kind="ServiceAccount"),
        _subject(kind="ServiceAccount", serviceAccount={"name": "", "namespace": ""}),
        _subject(kind="ServiceAccount", serviceAccount={"name": "A B", "namespace": "C D"}),
    ),
    "wrong rules of a flow schema": rejections(
        _SCHEMAS,
        _resources(verbs=[]),
        _resources(verbs=["*", "get"]),
        _resources(verbs=["peek", "get"]),
        _resources(apiGroups=[]),
        _resources(apiGroups=["*", ""]),
        _resources(resources=[]),
        _resources(resources=["*", "pods"]),
        _resources(namespaces=[]),
        _resources(namespaces=["*", "a"]),
        _resources(namespaces=["A B"]),
        _urls(verbs=[]),
        _urls(verbs=["peek"]),
        _urls(verbs=["*", "get"]),
        _urls(nonResourceURLs=[]),
        _urls(nonResourceURLs=["*", "/a"]),
        _urls(nonResourceURLs=["", "a", "/a b", "/a//b", "/a*", "/*/*", "/"]),
    ),
    "rules of a flow schema for cluster objects": lifecycle(
        _SCHEMAS,
        _schema(
            matchingPrecedence=9500,
            rules=[
                {
                    "subjects": [_SUBJECT],
                    "resourceRules": [
                        {
                            "verbs": ["get"],
                            "apiGroups": [""],
                            "resources": ["nodes"],
                            "clusterScope": True,
                        }
                    ],
                }
            ],
        ),
    ),
    "a priority level that rejects": lifecycle(
        _LEVELS,
        _limited(),
        change(_LEVELS, {"spec": {"limited": {"nominalConcurrencyShares": 0}}}),
        change(_LEVELS, {"spec": {"limited": {"lendablePercent": 50, "borrowingLimitPercent": 5}}}),
        change(_LEVELS, {"spec": {"limited": {"lendablePercent": 101}}}),
        change(_LEVELS, {"spec": {"type": "Exempt"}}),
    ),
    "a priority level that queues": lifecycle(
        _LEVELS,
        _queuing(),
        change(_LEVELS, {"spec": {"limited": {"limitResponse": {"queuing": {"queues": 128}}}}}),
        change(_LEVELS, {"spec": {"limited": {"limitResponse": {"queuing": None}}}}),
        change(_LEVELS, {"spec": {"limited": {"limitResponse": {"type": "Reject"}}}}),
    ),
    "wrong values of a priority level": rejections(
        _LEVELS,
        {},
        {"spec": {}},
        {"spec": {"type": "Free"}},
        {"spec": {"type": "Exempt"}},
        {"spec": {"type": "Limited"}},
        {"spec": {"type": "Limited", "limited": {}}},
        {"spec": {"type": "Limited", "limited": {"limitResponse": {"type": "Drop"}}}},
        _limited(nominalConcurrencyShares=-1),
        _limited(lendablePercent=-1, borrowingLimitPercent=-1),
        _limited(limitResponse={"type": "Queue"}),
        _limited(limitResponse={"type": "Reject", "queuing": {}}),
        _queuing(queues=-1, handSize=-1, queueLengthLimit=-1),
        _queuing(queues=4, handSize=5),
        _queuing(queues=10000001),
        _queuing(queues=10000, handSize=20),
        {**_limited(), "spec": {**_limited()["spec"], "exempt": {}}},
        {"metadata": {"name": "Bad_{ns}"}, **_limited()},
    ),
    "status of a priority level": lifecycle(
        _LEVELS,
        _limited(),
        change(_LEVELS, {"status": {"conditions": [_CONDITION]}}, part="status"),
        change(_LEVELS, {"status": {"conditions": [{"status": "True"}]}}, part="status"),
        change(_LEVELS, {"status": {"conditions": [_CONDITION, _CONDITION]}}, part="status"),
        change(_LEVELS, {"spec": {"limited": {"lendablePercent": 1}}}, part="status"),
    ),
}
