"""Authorization by roles and bindings."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubeloop_testing.server.access.bootstrap_roles import bootstrap_bindings, bootstrap_roles
from kubeloop_testing.server.access.escalation import check_write
from kubeloop_testing.server.access.rbac import Authorizer, aggregate_rules
from kubeloop_testing.server.access.rbac_rules import Rule, compact, uncovered
from kubeloop_testing.server.identity import Attributes, User, forbidden
from kubeloop_testing.server.statuses import StatusError

ANN = User("ann", groups=("dev", "system:authenticated"))
GROUP = "rbac.authorization.k8s.io"


class Policy:
    """Builds RBAC objects."""

    def __init__(self) -> None:
        self.objects: dict[str, list[dict[str, Any]]] = {}
        self.reads = 0

    def __call__(self, group: str, plural: str) -> Iterable[dict[str, Any]]:
        assert group == GROUP
        self.reads += 1
        return self.objects.get(plural, [])

    def clusterrole(self, name: str, *rules: dict[str, Any], **more: Any) -> Policy:
        labels = more.pop("labels", {})
        role = {"metadata": {"name": name, "labels": labels}, "rules": list(rules), **more}
        return self._add("clusterroles", role)

    def role(self, namespace: str, name: str, *rules: dict[str, Any]) -> Policy:
        return self._add(
            "roles", {"metadata": {"name": name, "namespace": namespace}, "rules": list(rules)}
        )

    def bind(self, role: str, *subjects: dict[str, str], namespace: str = "") -> Policy:
        kind, _, name = role.partition("/")
        meta = {"name": f"b-{name}"}
        if namespace:
            meta["namespace"] = namespace
        binding = {
            "metadata": meta,
            "roleRef": {"apiGroup": GROUP, "kind": kind, "name": name},
            "subjects": list(subjects),
        }
        return self._add("rolebindings" if namespace else "clusterrolebindings", binding)

    def _add(self, plural: str, obj: dict[str, Any]) -> Policy:
        self.objects.setdefault(plural, []).append(obj)
        return self


def _user(name: str) -> dict[str, str]:
    return {"kind": "User", "name": name}


def _rule(verbs: str, resources: str, groups: str = "", names: str = "") -> dict[str, Any]:
    rule: dict[str, Any] = {
        "verbs": verbs.split(),
        "apiGroups": groups.split() or [""],
        "resources": resources.split(),
    }
    return rule | ({"resourceNames": names.split()} if names else {})


def _attributes(verb: str, resource: str, *, user: User = ANN, **more: str) -> Attributes:
    plural, _, part = resource.partition("/")
    return Attributes(user, verb, resource=plural, subresource=part, **more)


@pytest.mark.parametrize(
    ("rule", "attributes", "allowed"),
    [
        (_rule("get", "pods"), _attributes("get", "pods"), True),
        (_rule("get", "pods"), _attributes("list", "pods"), False),
        (_rule("*", "pods"), _attributes("frobnicate", "pods"), True),
        (_rule("get", "pods"), _attributes("get", "pods/log"), False),
        (_rule("get", "pods/log"), _attributes("get", "pods/log"), True),
        (_rule("get", "pods/log"), _attributes("get", "pods"), False),
        (_rule("get", "*"), _attributes("get", "pods/log"), True),
        (_rule("get", "*/scale", "*"), _attributes("get", "deployments/scale", group="apps"), True),
        (_rule("get", "*/scale", "*"), _attributes("get", "deployments", group="apps"), False),
        (
            _rule("get", "*/scale", "*"),
            _attributes("get", "deployments/status", group="apps"),
            False,
        ),
        (_rule("get", "pods"), _attributes("get", "pods", group="apps"), False),
        (_rule("get", "pods", "*"), _attributes("get", "pods", group="apps"), True),
        (_rule("get", "pods", names="a b"), _attributes("get", "pods", name="b"), True),
        (_rule("get", "pods", names="a"), _attributes("get", "pods", name="b"), False),
        (_rule("list", "pods", names="a"), _attributes("list", "pods"), False),
        (_rule("get", "pods"), Attributes(ANN, "get", path="/healthz"), False),
    ],
)
def test_a_rule_allows_what_it_names(
    rule: dict[str, Any], attributes: Attributes, allowed: bool
) -> None:
    policy = Policy().clusterrole("r", rule).bind("ClusterRole/r", _user("ann"))

    assert Authorizer(policy).allows(attributes).allowed is allowed


@pytest.mark.parametrize(
    ("url", "path", "allowed"),
    [
        ("/healthz", "/healthz", True),
        ("/healthz", "/healthz/etcd", False),
        ("/healthz/*", "/healthz/etcd", True),
        ("/healthz/*", "/healthz", False),
        ("*", "/anything", True),
        ("/api*", "/apis/apps", True),
    ],
)
def test_paths_that_are_no_resources_match_by_prefix(url: str, path: str, allowed: bool) -> None:
    rule = {"verbs": ["get"], "nonResourceURLs": [url]}
    policy = Policy().clusterrole("r", rule).bind("ClusterRole/r", _user("ann"))

    assert Authorizer(policy).allows(Attributes(ANN, "get", path=path)).allowed is allowed


@pytest.mark.parametrize(
    ("subject", "user", "to"),
    [
        (_user("ann"), ANN, 'User "ann"'),
        ({"kind": "Group", "name": "dev"}, ANN, 'Group "dev"'),
        (
            {"kind": "ServiceAccount", "namespace": "shop", "name": "web"},
            User("system:serviceaccount:shop:web"),
            'ServiceAccount "web/shop"',
        ),
        (
            {"kind": "Group", "name": "system:serviceaccounts:shop"},
            User("system:serviceaccount:shop:web", groups=("system:serviceaccounts:shop",)),
            'Group "system:serviceaccounts:shop"',
        ),
    ],
)
def test_the_reason_names_binding_role_and_subject(
    subject: dict[str, str], user: User, to: str
) -> None:
    policy = Policy().clusterrole("y", _rule("get", "pods")).bind("ClusterRole/y", subject)

    decision = Authorizer(policy).allows(_attributes("get", "pods", user=user))

    assert decision.allowed
    assert decision.reason == (
        f'RBAC: allowed by ClusterRoleBinding "b-y" of ClusterRole "y" to {to}'
    )


def test_a_role_binding_counts_in_its_namespace_only() -> None:
    policy = Policy().role("shop", "r", _rule("get", "pods"))
    policy.bind("Role/r", {"kind": "ServiceAccount", "name": "web"}, namespace="shop")
    authorizer = Authorizer(policy)
    web = User("system:serviceaccount:shop:web")

    inside = authorizer.allows(_attributes("get", "pods", user=web, namespace="shop"))

    assert inside.reason == (
        'RBAC: allowed by RoleBinding "b-r/shop" of Role "r" to ServiceAccount "web/shop"'
    )
    assert not authorizer.allows(_attributes("get", "pods", user=web, namespace="other")).allowed
    assert not authorizer.allows(_attributes("get", "pods", user=web)).allowed


def test_a_service_account_without_namespace_in_a_cluster_wide_binding_matches_no_user() -> None:
    policy = Policy().clusterrole("r", _rule("get", "pods"))
    policy.bind("ClusterRole/r", {"kind": "ServiceAccount", "name": "web"})

    attributes = _attributes("get", "pods", user=User("system:serviceaccount::web"))

    assert not Authorizer(policy).allows(attributes).allowed


def test_a_missing_role_allows_nothing_and_is_reported() -> None:
    policy = Policy().bind("ClusterRole/gone", _user("ann"))
    policy.bind("Role/away", _user("ann"), namespace="shop")

    decision = Authorizer(policy).allows(_attributes("get", "pods", namespace="shop"))

    assert not decision.allowed
    assert decision.reason == (
        'RBAC: [clusterrole.rbac.authorization.k8s.io "gone" not found, '
        'role.rbac.authorization.k8s.io "away" not found]'
    )


def test_masters_may_do_everything_without_any_role() -> None:
    boss = User("root", groups=("system:masters",))

    assert Authorizer(Policy()).allows(_attributes("delete", "nodes", user=boss)).allowed
    assert Authorizer(Policy()).allows(Attributes(boss, "get", path="/metrics")).allowed


def test_aggregated_roles_follow_the_roles_they_aggregate() -> None:
    aggregation = {"clusterRoleSelectors": [{"matchLabels": {"to": "big"}}]}
    policy = Policy().clusterrole("big", aggregationRule=aggregation)
    policy.clusterrole("small", _rule("get", "pods"), labels={"to": "big"})
    policy.bind("ClusterRole/big", _user("ann"))
    authorizer = Authorizer(policy)
    assert authorizer.allows(_attributes("get", "pods")).allowed

    policy.objects["clusterroles"][1]["metadata"]["labels"] = {}

    assert not authorizer.allows(_attributes("get", "pods")).allowed


def test_roles_that_aggregate_each_other_terminate() -> None:
    everything: dict[str, Any] = {"clusterRoleSelectors": [{}]}
    policy = Policy()
    for name in "ab":
        policy.clusterrole(name, aggregationRule=everything)
    policy.clusterrole("leaf", _rule("get", "pods"))

    found = aggregate_rules(policy.objects["clusterroles"][0], policy.objects["clusterroles"])

    assert found == [{"verbs": ["get"], "apiGroups": [""], "resources": ["pods"]}]


def test_what_was_read_is_used_again_until_the_version_changes() -> None:
    policy, version = Policy().clusterrole("r", _rule("get", "pods")), [1]
    policy.bind("ClusterRole/r", _user("ann"))
    authorizer = Authorizer(policy, version=lambda: version[0])

    for _ in range(3):
        assert authorizer.allows(_attributes("get", "pods")).allowed
    assert policy.reads == 4  # each of the four collections once

    policy.objects["clusterroles"][0]["rules"] = []
    version[0] = 2
    assert not authorizer.allows(_attributes("get", "pods")).allowed


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        (
            _attributes("get", "pods/log", namespace="shop", name="a"),
            (
                'pods "a" is forbidden: User "ann" cannot get resource "pods/log" in API group "" in '
                'the namespace "shop"'
            ),
        ),
        (
            _attributes("list", "deployments", group="apps"),
            (
                'deployments.apps is forbidden: User "ann" cannot list resource "deployments" in API '
                'group "apps" at the cluster scope'
            ),
        ),
        (
            Attributes(ANN, "get", path="/metrics"),
            'forbidden: User "ann" cannot get path "/metrics"',
        ),
    ],
)
def test_a_denial_has_the_text_of_kube_apiserver(attributes: Attributes, message: str) -> None:
    error = forbidden(attributes)

    assert error.code == 403
    assert error.status["message"] == message


# --- bootstrap roles


@pytest.fixture
def bootstrapped() -> Policy:
    policy = Policy()
    policy.objects["clusterroles"] = bootstrap_roles()
    policy.objects["clusterrolebindings"] = bootstrap_bindings()
    return policy


def test_every_authenticated_user_can_discover_and_review_themselves(
    bootstrapped: Policy,
) -> None:
    authorizer = Authorizer(bootstrapped)
    stranger = User("system:anonymous", groups=("system:unauthenticated",))

    for path in ("/api", "/apis/apps/v1", "/openapi/v3", "/version", "/healthz"):
        assert authorizer.allows(Attributes(ANN, "get", path=path)).allowed
    review = _attributes("create", "selfsubjectaccessreviews", group="authorization.k8s.io")
    assert authorizer.allows(review).allowed
    assert authorizer.allows(Attributes(stranger, "get", path="/livez")).allowed
    assert not authorizer.allows(Attributes(stranger, "get", path="/api")).allowed
    assert not authorizer.allows(_attributes("list", "pods")).allowed


@pytest.mark.parametrize(
    ("role", "attributes", "group", "allowed"),
    [
        ("view", "get pods", "", True),
        ("view", "get pods/log", "", True),
        ("view", "get secrets", "", False),
        ("view", "create pods", "", False),
        ("edit", "get secrets", "", True),
        ("edit", "patch deployments", "apps", True),
        ("edit", "create roles", GROUP, False),
        ("edit", "get pods", "", True),
        ("admin", "create rolebindings", GROUP, True),
        ("admin", "delete jobs", "batch", True),
        ("admin", "get nodes", "", False),
        ("cluster-admin", "delete nodes", "", True),
    ],
)
def test_the_roles_people_build_on_allow_what_they_should(
    bootstrapped: Policy, role: str, attributes: str, group: str, allowed: bool
) -> None:
    bootstrapped.bind(f"ClusterRole/{role}", _user("ann"), namespace="shop")

    question = _attributes(*attributes.split(), group=group, namespace="shop")

    assert Authorizer(bootstrapped).allows(question).allowed is allowed


def test_the_aggregated_roles_are_seeded_with_their_rules() -> None:
    roles = {role["metadata"]["name"]: role for role in bootstrap_roles()}

    assert len(roles["view"]["rules"]) < len(roles["edit"]["rules"]) < len(roles["admin"]["rules"])


# --- escalation


def _role(name: str, *rules: dict[str, Any], namespace: str = "shop") -> dict[str, Any]:
    return {"metadata": {"name": name, "namespace": namespace}, "rules": list(rules)}


def _writer(policy: Policy, *rules: dict[str, Any]) -> Authorizer:
    policy.role("shop", "own", *rules).bind("Role/own", _user("ann"), namespace="shop")
    return Authorizer(policy)


def test_a_user_cannot_grant_permissions_that_they_do_not_have() -> None:
    authorizer = _writer(Policy(), _rule("get", "pods"))
    new = _role("more", _rule("get list delete", "pods"))

    with pytest.raises(StatusError) as error:
        check_write(authorizer, ANN, "roles", new=new)

    assert error.value.code == 403
    assert error.value.status["message"] == (
        'roles.rbac.authorization.k8s.io "more" is forbidden: user "ann" '
        '(groups=["dev" "system:authenticated"]) is attempting to grant RBAC permissions not '
        'currently held:\n{APIGroups:[""], Resources:["pods"], Verbs:["list" "delete"]}'
    )


def test_a_user_can_grant_permissions_that_they_have() -> None:
    authorizer = _writer(Policy(), _rule("get list", "pods services"))

    check_write(authorizer, ANN, "roles", new=_role("less", _rule("list", "pods", names="a")))


def test_the_verb_escalate_grants_anything() -> None:
    authorizer = _writer(Policy(), _rule("escalate", "roles", GROUP))

    check_write(authorizer, ANN, "roles", new=_role("more", _rule("*", "*", "*")))


def _binding(role: str) -> dict[str, Any]:
    kind, _, name = role.partition("/")
    return {
        "metadata": {"name": "b", "namespace": "shop"},
        "roleRef": {"apiGroup": GROUP, "kind": kind, "name": name},
    }


def test_binding_a_role_needs_its_rights_or_the_verb_bind() -> None:
    policy = Policy().clusterrole("big", _rule("delete", "pods"))
    authorizer = _writer(policy, _rule("get", "pods"))
    new = _binding("ClusterRole/big")
    with pytest.raises(StatusError, match="not currently held"):
        check_write(authorizer, ANN, "rolebindings", new=new)

    policy.clusterrole("binder", _rule("bind", "clusterroles", GROUP, names="big"))
    policy.bind("ClusterRole/binder", _user("ann"))

    check_write(authorizer, ANN, "rolebindings", new=new)


def test_binding_a_role_that_is_not_there_is_not_found() -> None:
    with pytest.raises(StatusError) as error:
        check_write(Authorizer(Policy()), ANN, "rolebindings", new=_binding("Role/gone"))

    assert error.value.code == 404


def test_an_aggregation_rule_needs_all_rights() -> None:
    new = {
        "metadata": {"name": "big"},
        "aggregationRule": {"clusterRoleSelectors": [{}]},
        "rules": [],
    }

    with pytest.raises(StatusError, match="must have cluster-admin privileges"):
        check_write(Authorizer(Policy()), ANN, "clusterroles", new=new)


def test_masters_and_the_garbage_collector_are_not_checked() -> None:
    policy, boss = Policy(), User("root", groups=("system:masters",))
    new = _role("more", _rule("*", "*", "*"))
    freed = {**new, "metadata": {**new["metadata"], "finalizers": ["x"]}}

    check_write(Authorizer(policy), boss, "roles", new=new)
    check_write(Authorizer(policy), ANN, "roles", new=freed, old=new)


# --- rules that cover rules

_words = st.lists(st.sampled_from(["a", "b", "*"]), min_size=1, max_size=2).map(tuple)
_resources = st.lists(
    st.sampled_from(["pods", "pods/log", "*/log", "*"]), min_size=1, max_size=2
).map(tuple)
_names = st.lists(st.sampled_from(["x", "y"]), max_size=2, unique=True).map(tuple)
_rules = st.builds(Rule, _words, _words, _resources, _names)


@given(_rules)
def test_a_rule_covers_itself_and_all_its_parts(rule: Rule) -> None:
    assert uncovered([rule], [rule]) == []


@given(_rules, _rules, st.sampled_from(["a", "b"]), st.sampled_from(["pods", "pods/log"]))
def test_a_rule_that_covers_another_allows_what_that_allows(
    owner: Rule, part: Rule, word: str, resource: str
) -> None:
    for name in ("", "x", "y"):
        attributes = _attributes(word, resource, group=word, name=name)
        if part.allows(attributes) and not uncovered([owner], [part]):
            assert owner.allows(attributes)


def test_missing_permissions_on_one_resource_are_reported_together() -> None:
    parts = Rule(("get", "list"), ("",), ("pods",)).parts()

    assert compact(parts) == [Rule(("get", "list"), ("",), ("pods",))]
