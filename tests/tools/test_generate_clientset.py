"""The generator's second output: the groups as methods."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from kubeloop_generate.__main__ import LIBRARY, generate
from kubeloop_generate.api_server import Documents
from kubeloop_generate.clientset import render_clientset
from kubeloop_generate.discovery import ResourceRow
from kubeloop_generate.document import BadDocument

ORDERS = ResourceRow("shop.k8s.io", "v1", "orders", "Order", "order", True, ("get",))
MODULES = [(("shop.k8s.io", "v1"), "shop_v1")]


def test_a_group_is_a_class_and_a_resource_a_method() -> None:
    text = render_clientset([ORDERS], MODULES, source="a document")["_generated/clientset.py"]

    assert text.startswith("# Generated from a document by tools/kubeloop_generate. Do not edit.")
    classes = {each.name for each in ast.parse(text).body if isinstance(each, ast.ClassDef)}
    assert classes == {"Resources", "_Group", "ShopV1", "Clientset"}
    assert (
        "def orders(self, namespace: str | None = None) -> ResourceClient[shop_v1.Order]:" in text
    )


@pytest.mark.parametrize(
    ("kind", "plural"), [("Order", "x(): pass"), ("Or der", "orders"), ("Order", "class")]
)
def test_what_is_no_name_is_never_written(kind: str, plural: str) -> None:
    row = ResourceRow("shop.k8s.io", "v1", plural, kind, "", True, ())

    with pytest.raises(BadDocument):
        render_clientset([row], MODULES, source="a document")


def test_the_clients_are_written_beside_wire(tmp_path: Path) -> None:
    kind = {"group": "shop.k8s.io", "version": "v1", "kind": "Order"}
    order = {
        "properties": {"spec": {"type": "object"}},
        "x-kubernetes-group-version-kind": [kind],
    }
    resource = {"resource": "orders", "responseKind": kind, "scope": "Cluster", "verbs": ["get"]}
    versions = [{"version": "v1", "resources": [resource]}]
    documents = Documents(
        version="v1.99.0",
        openapi={"definitions": {"io.k8s.api.shop.v1.Order": order}},
        discovery=({"items": [{"metadata": {"name": "shop.k8s.io"}, "versions": versions}]},),
    )

    assert generate(documents, tmp_path) == 0

    written = tmp_path / LIBRARY / "clients" / "_generated" / "clientset.py"
    assert "def orders(self) -> ResourceClient[shop_v1.Order]:" in written.read_text("utf-8")
    written.write_text("changed")
    assert generate(documents, tmp_path, check=True) == 1
