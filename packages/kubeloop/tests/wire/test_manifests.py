"""Manifests: many documents in, many out."""

from __future__ import annotations

import pytest

from kubeloop.wire import DecodeError, Model, Resource, dump_yaml, load_yaml
from kubeloop.wire.apps.v1 import Deployment
from kubeloop.wire.core.v1 import ConfigMap, Namespace

TEXT = """
# a comment
apiVersion: v1
kind: Namespace
metadata: {name: shop}
---
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec: {replicas: 2}
---
apiVersion: example.com/v1
kind: Website
metadata: {name: shop}
spec: {image: "web:1"}
"""


class WebsiteSpec(Model):
    image: str


class Website(Resource, group="example.com", version="v1", plural="websites"):
    spec: WebsiteSpec


def test_built_in_kinds_come_typed_and_others_as_they_are() -> None:
    namespace, deployment, website = load_yaml(TEXT)

    assert isinstance(namespace, Namespace)
    assert isinstance(deployment, Deployment)
    assert deployment.spec.replicas == 2
    assert isinstance(website, dict)


def test_a_users_kind_comes_typed_when_its_class_is_given() -> None:
    *_, website = load_yaml(TEXT, kinds=[Website])

    assert isinstance(website, Website)
    assert website.spec.image == "web:1"


@pytest.mark.parametrize(
    "text",
    [
        "{apiVersion: v1, kind: List, items: [{apiVersion: v1, kind: ConfigMap, data: {a: b}}]}",
        "{apiVersion: v1, kind: ConfigMapList, items: [{data: {a: b}}]}",
        "{apiVersion: v1, kind: ConfigMapList, items: [{kind: ConfigMap, data: {a: b}}]}",
    ],
)
def test_the_items_of_a_list_are_objects_of_their_own(text: str) -> None:
    assert load_yaml(text) == [ConfigMap(data={"a": "b"})]


def test_a_kind_that_is_only_called_a_list_is_an_object() -> None:
    text = "{apiVersion: example.com/v1, kind: AllowList, spec: {}}"

    assert load_yaml(text) == [{"apiVersion": "example.com/v1", "kind": "AllowList", "spec": {}}]


def test_what_is_written_reads_the_same() -> None:
    objects = load_yaml(TEXT)

    assert load_yaml(dump_yaml(*objects)) == objects


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[1, 2]", "expected an object"),
        ("kind: Pod", "apiVersion"),
        ("apiVersion: v1", "kind"),
        ("apiVersion: v1\nkind: Pod\nspec: {containers: 5}", "spec.containers"),
        (TEXT + "---\nnonsense", "site.yaml document 4"),
        ("a: [", "line"),
    ],
)
def test_an_error_names_the_document_and_the_position(text: str, message: str) -> None:
    with pytest.raises(DecodeError) as caught:
        load_yaml(text, source="site.yaml")

    assert message in str(caught.value)
