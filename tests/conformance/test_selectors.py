"""Which objects a selector matches."""

from __future__ import annotations

import pytest

from tests.conformance.raw_client import RawClient
from tests.conformance.samples import config_map, pod
from tests.conformance.widgets import WIDGETS, CustomKind

LABELS: dict[str, dict[str, str]] = {
    "a": {"env": "prod", "n": "1"},
    "b": {"env": "test", "n": "5"},
    "c": {"env": ""},
    "d": {"in": "x", "n": "many"},
    "e": {"example.com/env": "prod"},
}


@pytest.mark.parametrize(
    ("selector", "names"),
    [
        ("env", "abc"),
        ("!env", "de"),
        ("env=prod", "a"),
        ("env==prod", "a"),
        ("env!=prod", "bcde"),
        ("env=", "c"),
        ("env!=", "abde"),
        ("env in (prod,test)", "ab"),
        ("env in (prod, test )", "ab"),
        ("env in ()", "c"),
        ("env in (,prod)", "ac"),
        ("env notin (prod)", "bcde"),
        ("env notin (prod,test),env", "c"),
        ("n>1", "b"),
        ("n<5", "a"),
        ("n>0,n<9", "ab"),
        ("in", "d"),
        ("in in (x)", "d"),
        ("example.com/env=prod", "e"),
        ("env=prod,n=1", "a"),
        ("env=prod,n=2", ""),
        (" env = prod ", "a"),
        ("", "abcde"),
    ],
)
async def test_a_label_selector_finds(api: RawClient, selector: str, names: str) -> None:
    """API-1, API-2, API-3, API-4, API-5, API-6, API-C1, API-C2: grammar and matching of label selectors."""
    for name, labels in LABELS.items():
        await api.create(api.at("configmaps"), config_map(name, labels=labels))

    reply = await api.get(api.at("configmaps"), labelSelector=selector)

    assert (reply.code, reply.names) == (200, list(names))


@pytest.mark.parametrize(
    "selector",
    [
        "x,,y", ",x,y", "a in (xyz),", "a in (xyz abc)", "a notin(", "(", "x nott in (y)",
        "x=a||y=b", "x==a==b", "!x=a", "x<a", "a in xyz", "x=a b",
    ],
)  # fmt: skip
async def test_an_invalid_label_selector_is_400(api: RawClient, selector: str) -> None:
    """API-C1: invalid label selectors."""
    reply = await api.get(api.at("configmaps"), labelSelector=selector)

    assert (reply.code, reply.reason) == (400, "BadRequest")


@pytest.mark.parametrize(
    ("selector", "names"),
    [
        ("metadata.name=a", "a"),
        ("metadata.name==a", "a"),
        ("metadata.name!=a", "bc"),
        ("metadata.namespace={ns}", "abc"),
        ("metadata.namespace=other", ""),
        ("metadata.name=a,metadata.namespace={ns}", "a"),
        ("spec.nodeName=", "abc"),
        ("spec.nodeName=one", ""),
        ("status.phase=Pending", "abc"),
        ("status.phase!=Pending", ""),
        ("spec.restartPolicy=Never", "c"),
        ("spec.schedulerName=default-scheduler", "abc"),
        ("spec.serviceAccountName=", "abc"),
        ("metadata.name=a,,", "a"),
        ("", "abc"),
    ],
)
async def test_a_field_selector_finds_pods(api: RawClient, selector: str, names: str) -> None:
    """API-11, API-13, API-14, API-C4: grammar and matching of field selectors."""
    for name in "abc":
        body = pod(name)
        body["spec"]["restartPolicy"] = "Never" if name == "c" else "Always"
        await api.create(api.at("pods"), body)

    reply = await api.get(api.at("pods"), fieldSelector=selector)

    assert (reply.code, reply.names) == (200, list(names))


@pytest.mark.parametrize(
    ("resource", "selector"),
    [
        ("secrets", "type=Opaque"),
        ("events", "involvedObject.kind=Pod"),
        ("events", "reason=Because"),
        ("services", "spec.clusterIP=None"),
        ("services", "spec.type=ClusterIP"),
        ("replicationcontrollers", "status.replicas=0"),
        ("batch/v1/jobs", "status.successful=0"),
    ],
)
async def test_these_kinds_can_be_selected_by_these_fields(
    api: RawClient, resource: str, selector: str
) -> None:
    """API-14: supported field selectors."""
    reply = await api.get(api.at(resource), fieldSelector=selector)

    assert (reply.code, reply.items) == (200, [])


@pytest.mark.parametrize(
    ("selector", "names"),
    [("spec.color=red", "b"), ("spec.color!=red", "a"), ("metadata.name=a", "a")],
)
async def test_a_custom_kind_is_selected_by_the_fields_it_declares(
    api: RawClient, widgets: CustomKind, selector: str, names: str
) -> None:
    """API-14: supported field selectors."""
    await api.create(api.at(WIDGETS), widgets.new("a", spec={"size": 1}))
    await api.create(api.at(WIDGETS), widgets.new("b", spec={"size": 1, "color": "red"}))

    reply = await api.get(api.at(WIDGETS), fieldSelector=selector)

    assert reply.names == list(names)


async def test_both_selectors_must_match(api: RawClient) -> None:
    for name, labels in LABELS.items():
        await api.create(api.at("configmaps"), config_map(name, labels=labels))

    reply = await api.get(
        api.at("configmaps"), labelSelector="env", fieldSelector="metadata.name!=a"
    )

    assert reply.names == ["b", "c"]
