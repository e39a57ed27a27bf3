"""Reading any document gives a value or an error of kubeloop.

Each entry point gets valid documents with one or more changed values, and arbitrary text. A
`TypeError` or the like would mean that the type of a value was not checked.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kubeloop.config import (
    ClusterConfig,
    ExecConfig,
    Impersonation,
    InvalidConfig,
    open_credentials,
)
from kubeloop.config.credentials import impersonation_headers
from kubeloop.config.exec_plugin import parse_output
from kubeloop.crd import module_from_crd
from kubeloop.discovery.parsing import (
    is_aggregated,
    parse_aggregated,
    parse_groups,
    parse_resources,
)
from kubeloop.errors import KubeError, api_error, status_from_object
from kubeloop.jsonpath import JSONPath
from kubeloop.kit import ManualClock
from kubeloop.meta import (
    ObjectKey,
    add_finalizer,
    check_annotations,
    controller_of,
    set_controller,
)
from kubeloop.patches import (
    apply_json_patch,
    apply_merge_patch,
    apply_strategic_patch,
    strategic_patch_between,
)
from kubeloop.selectors import (
    as_field_selector,
    as_selector,
    parse_fields,
    parse_labels,
    selector_from_wire,
)
from kubeloop.wire import Duration, Quantity, dump_yaml, facts_of, load_yaml, parse_time
from kubeloop.wire.apiextensions.v1 import CustomResourceDefinition
from kubeloop.wire.core.v1 import Pod
from tests.support.mutations import CRD, JSON, KUBECONFIG, POD, STATUS, TEXT, mutated

SELECTOR = {
    "matchLabels": {"a": "b"},
    "matchExpressions": [{"key": "k", "operator": "In", "values": ["a"]}],
}
EXEC = ExecConfig(
    command="plugin", api_version="client.authentication.k8s.io/v1", interactive_mode="Never"
)
CREDENTIAL = {
    "apiVersion": EXEC.api_version,
    "kind": "ExecCredential",
    "status": {"token": "s3cret", "expirationTimestamp": "2030-01-01T00:00:00Z"},
}
GROUPS = {
    "kind": "APIGroupDiscoveryList",
    "apiVersion": "apidiscovery.k8s.io/v2",
    "items": [
        {
            "metadata": {"name": "apps"},
            "versions": [
                {
                    "version": "v1",
                    "resources": [
                        {
                            "resource": "deployments",
                            "responseKind": {"group": "apps", "version": "v1", "kind": "Deployment"},
                            "scope": "Namespaced",
                            "verbs": ["get"],
                            "shortNames": ["deploy"],
                        }
                    ],
                }
            ],
        }
    ],
}  # fmt: skip
# Any text, including half a surrogate pair.
ANY_TEXT = TEXT | st.text(st.sampled_from("a\ud800\n =,:{}.[]\"'!()x1eG"), max_size=10)
DOCUMENTS = st.dictionaries(TEXT, JSON, max_size=3)


def text_of(document: object) -> bytes:
    return json.dumps(document).encode()


def read_pod(document: dict[str, Any]) -> None:
    pod = Pod.from_dict(document)
    assert pod == Pod.from_dict(pod.to_dict())
    pod.to_yaml()


def put_owner(document: dict[str, Any]) -> None:
    controller_of(document)
    set_controller(document, {**POD, "metadata": {"name": "o", "uid": "u"}})


ENTRY_POINTS: dict[str, tuple[st.SearchStrategy[Any], Callable[[Any], object]]] = {
    "a kubeconfig": (mutated(KUBECONFIG).map(text_of), ClusterConfig.from_kubeconfig),
    "a kubeconfig's text": (ANY_TEXT, ClusterConfig.from_kubeconfig),
    "a definition": (mutated(CRD), module_from_crd),
    "a typed definition": (
        mutated(CRD), lambda it: module_from_crd(CustomResourceDefinition.from_dict(it))),
    "an object": (mutated(POD), read_pod),
    "an object's text": (ANY_TEXT, Pod.from_json),
    "a manifest": (mutated(POD).map(text_of), load_yaml),
    "a manifest's text": (ANY_TEXT, load_yaml),
    "what is written as YAML": (st.dictionaries(ANY_TEXT, ANY_TEXT, max_size=2), dump_yaml),
    "a key": (DOCUMENTS | mutated(POD).filter(lambda it: isinstance(it, dict)),
        lambda it: hash(ObjectKey.of(it))),
    "an owned object": (mutated(POD).filter(lambda it: isinstance(it, dict)), put_owner),
    "a finalized object": (mutated(POD).filter(lambda it: isinstance(it, dict)),
        lambda it: add_finalizer(it, "a/b")),
    "a selector": (mutated(SELECTOR) | JSON, selector_from_wire),
    "labels": (ANY_TEXT | JSON, as_selector),
    "a label selector's text": (ANY_TEXT, parse_labels),
    "fields": (ANY_TEXT | JSON, as_field_selector),
    "a field selector's text": (ANY_TEXT, parse_fields),
    "annotations": (st.dictionaries(ANY_TEXT, ANY_TEXT, max_size=2), check_annotations),
    "a template": (ANY_TEXT, lambda it: JSONPath(it, allow_missing_keys=True).render(POD)),
    "a quantity": (ANY_TEXT | JSON, Quantity),
    "a duration": (ANY_TEXT, Duration.parse),
    "a time": (ANY_TEXT, parse_time),
    "a Status": (mutated(STATUS).filter(lambda it: isinstance(it, dict)),
        lambda it: str(api_error("GET pods", status_from_object(it)))),
    "a JSON patch": (mutated([{"op": "add", "path": "/spec/x", "value": 1}], 3),
        lambda it: apply_json_patch(POD, it)),
    "a merge patch": (mutated(POD), lambda it: apply_merge_patch(POD, it)),
    "a strategic patch": (mutated(POD), lambda it: apply_strategic_patch(POD, it, facts_of(Pod))),
    "a difference": (mutated(POD), lambda it: strategic_patch_between(POD, it, facts_of(Pod))),
    "a plugin's output": (mutated(CREDENTIAL).map(text_of), lambda it: parse_output(it, EXEC)),
    "aggregated discovery": (mutated(GROUPS).map(text_of), parse_aggregated),
    "groups": (mutated({"kind": "APIGroupList", "groups": [{"name": "a", "versions": []}]}).map(
        text_of), parse_groups),
    "resources": (mutated({"groupVersion": "a/v1", "resources": [{"name": "b", "verbs": ["get"]}]}
        ).map(text_of), parse_resources),
    "a content type": (ANY_TEXT, is_aggregated),
}  # fmt: skip


@pytest.mark.parametrize("name", ENTRY_POINTS)
@given(data=st.data())
def test_any_input_gives_a_value_or_a_kubeloop_error(name: str, data: st.DataObject) -> None:
    inputs, read = ENTRY_POINTS[name]
    given_value = data.draw(inputs)

    with contextlib.suppress(KubeError):
        read(given_value)


@given(
    st.fixed_dictionaries(
        {"server": ANY_TEXT},
        optional=dict.fromkeys(
            ("namespace", "token", "username", "password", "proxy_url", "user_agent"), ANY_TEXT
        ),
    )
)
@example({"server": "https://h", "username": "\ud800"})
def test_any_configuration_gives_credentials_or_a_kubeloop_error(
    fields: dict[str, Any],
) -> None:
    with contextlib.suppress(KubeError):
        config = ClusterConfig(**fields, anonymous=True)
        repr(config)
        open_credentials(config, clock=ManualClock())


@given(ANY_TEXT, st.lists(ANY_TEXT, max_size=2), st.dictionaries(ANY_TEXT, ANY_TEXT, max_size=2))
@example("jane\ud800", [], {})
@example("jane", ["a\r\nAuthorization: Bearer x"], {})
@example("jane", [], {"\ud800": "x"})
def test_an_impersonation_can_be_sent_or_is_refused(
    user: str, groups: list[str], extra: dict[str, str]
) -> None:
    with contextlib.suppress(InvalidConfig):
        who = Impersonation(
            user=user, groups=tuple(groups), extra={key: (text,) for key, text in extra.items()}
        )
        for name, value in impersonation_headers(who):
            assert name.isascii()
            assert set(value.encode()).isdisjoint(b"\r\n\0\x7f")


@pytest.mark.parametrize("user", ["jane\ud800", "jane\r\nAuthorization: Bearer x", "\x00"])
def test_an_impersonation_that_no_header_carries_is_refused_when_it_is_given(user: str) -> None:
    with pytest.raises(InvalidConfig, match="impersonate: user: "):
        Impersonation(user=user)
    with pytest.raises(InvalidConfig, match="impersonate: groups: "):
        Impersonation(user="jane", groups=(user,))


def test_groups_in_one_text_are_refused() -> None:
    """Each of its characters would become a group."""
    with pytest.raises(InvalidConfig, match="impersonate: groups: expected a tuple of strings"):
        Impersonation(user="jane", groups="admins")  # type: ignore[arg-type] # what is tested


@pytest.mark.parametrize("scope", [["Namespaced"], {"a": "Cluster"}, 5, None, "Everywhere"])
def test_a_definition_with_a_scope_that_is_none_is_refused(scope: object) -> None:
    broken = {**CRD, "spec": {**CRD["spec"], "scope": scope}}

    with pytest.raises(KubeError, match=r"spec\.scope: expected Namespaced or Cluster"):
        module_from_crd(broken)


BROKEN: list[tuple[Callable[[Any], object], object]] = [
    (status_from_object, {**STATUS, "apiVersion": ["v1"]}),
    (ObjectKey.of, {"metadata": ["web"]}),
    (ObjectKey.of, {"metadata": {"name": ["web"]}}),
    (ObjectKey.of, {"metadata": {"name": "web", "namespace": ["shop"]}}),
    (as_selector, {"app": {"a": "b"}}),
    (as_selector, {"app": None}),
    (controller_of, {"metadata": "web"}),
    (controller_of, {"metadata": {"ownerReferences": 5}}),
    (controller_of, {"metadata": {"ownerReferences": [5]}}),
    (lambda owner: set_controller({"metadata": {}}, owner), {**POD, "apiVersion": ["v1"]}),
    (check_annotations, {"a": "\ud800"}),
    (Pod.from_json, '"\ud800"'),
]


@pytest.mark.parametrize(("read", "value"), BROKEN)
def test_a_value_of_another_type_is_refused(read: Callable[[Any], object], value: object) -> None:
    with pytest.raises(KubeError):
        read(value)
