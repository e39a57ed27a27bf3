"""The generator: names, types, and nothing else, carried over from the API's description."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pytest
from assets import KUBERNETES
from kubeloop_generate.__main__ import LIBRARY, check_version, generate, main
from kubeloop_generate.api_server import Documents
from kubeloop_generate.discovery import rows_in
from kubeloop_generate.document import BadDocument, classes_in
from kubeloop_generate.naming import attribute, split_definition
from kubeloop_generate.openapi import openapi_data
from kubeloop_generate.render import render

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("wire", "name"),
    [
        ("name", "name"),
        ("clusterIP", "cluster_ip"),
        ("clusterIPs", "cluster_ips"),
        ("podCIDRs", "pod_cidrs"),
        ("podCIDR", "pod_cidr"),
        ("hostIPC", "host_ipc"),
        ("externalIPs", "external_ips"),
        ("fsGroup", "fs_group"),
        ("x509", "x509"),
        ("openAPIV3Schema", "open_api_v3_schema"),
        ("fieldsV1", "fields_v1"),
        ("stubPKCS10Request", "stub_pkcs10_request"),
        ("insecureSkipTLSVerify", "insecure_skip_tls_verify"),
        ("currentCPUUtilizationPercentage", "current_cpu_utilization_percentage"),
        ("serverAddressByClientCIDRs", "server_address_by_client_cidrs"),
        ("nonResourceURLs", "non_resource_urls"),
        ("targetWWNs", "target_wwns"),
        ("setHostnameAsFQDN", "set_hostname_as_fqdn"),
        ("scaleIO", "scale_io"),
        ("apiVersion", "api_version"),
        ("$ref", "ref"),
        ("x-kubernetes-list-type", "x_kubernetes_list_type"),
        ("from", "from_"),
        ("continue", "continue_"),
        ("not", "not_"),
        ("bool", "bool_"),
        ("int", "int_"),
        ("8ball", "field_8ball"),
        ("-", "field"),
    ],
)
def test_attributes_are_snake_case_with_acronyms_whole(wire: str, name: str) -> None:
    assert attribute(wire) == name


@pytest.mark.parametrize(
    ("key", "place"),
    [
        ("io.k8s.api.core.v1.Pod", ("core_v1", "Pod")),
        ("io.k8s.api.resource.v1alpha3.Device", ("resource_v1alpha3", "Device")),
        ("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta", ("meta_v1", "ObjectMeta")),
        ("io.k8s.apimachinery.pkg.api.resource.Quantity", None),
        ("com.example.v1.Website", None),
        ("io.k8s.api.core.v1.Evil\nimport os", None),
    ],
)
def test_a_definition_belongs_to_a_module_or_is_not_ours(
    key: str, place: tuple[str, str] | None
) -> None:
    assert split_definition(key) == place


SWAGGER: dict[str, Any] = {
    "definitions": {
        "io.k8s.api.shop.v1.Order": {
            "description": "A sentence that must not carry over.",
            "properties": {
                "apiVersion": {"type": "string", "description": "neither must this"},
                "kind": {"type": "string"},
                "metadata": {
                    "$ref": "#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"
                },
                "spec": {"$ref": "#/definitions/io.k8s.api.shop.v1.OrderSpec"},
            },
            "x-kubernetes-group-version-kind": [
                {"group": "shop.k8s.io", "version": "v1", "kind": "Order"}
            ],
        },
        "io.k8s.api.shop.v1.OrderSpec": {
            "required": ["price"],
            "properties": {
                "price": {"$ref": "#/definitions/io.k8s.apimachinery.pkg.api.resource.Quantity"},
                "clientIPs": {"type": "array", "items": {"type": "string"}},
                "from": {"type": "string"},
                "parts": {
                    "type": "array",
                    "items": {"$ref": "#/definitions/io.k8s.api.shop.v1.OrderSpec"},
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["from"],
                    "x-kubernetes-patch-strategy": "merge,retainKeys",
                    "x-kubernetes-patch-merge-key": "from",
                },
                "port": {"$ref": "#/definitions/io.k8s.apimachinery.pkg.util.intstr.IntOrString"},
                "secret": {"type": "string", "format": "byte"},
                "until": {"$ref": "#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.Time"},
                "free": {"type": "object"},
            },
        },
        "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta": {
            "properties": {"name": {"type": "string"}}
        },
        "com.example.v1.Website": {"properties": {"spec": {"type": "object"}}},
    },
}
DISCOVERY: dict[str, Any] = {
    "kind": "APIGroupDiscoveryList",
    "items": [
        {
            "metadata": {"name": "shop.k8s.io"},
            "versions": [
                {
                    "version": "v1",
                    "resources": [
                        {
                            "resource": "orders",
                            "responseKind": {"group": "", "version": "", "kind": "Order"},
                            "scope": "Cluster",
                            "singularResource": "order",
                            "verbs": ["list", "get"],
                            "subresources": [
                                {"subresource": "status", "responseKind": {}, "verbs": ["get"]}
                            ],
                        }
                    ],
                }
            ],
        }
    ],
}


def _files(swagger: dict[str, Any] = SWAGGER) -> dict[str, str]:
    return render(classes_in(swagger), rows_in([DISCOVERY]), source="a document")


def test_a_class_is_written_with_names_and_types_only() -> None:
    text = _files()["_generated/shop_v1.py"]

    assert (
        'class Order(Resource, group="shop.k8s.io", version="v1", plural="orders", namespaced=False):'
        in text
    )
    assert "    spec: OrderSpec = UNSET" in text
    assert '    client_ips: list[str] = field(default=UNSET, name="clientIPs")' in text
    assert "    from_: str | None = None" in text
    assert "    parts: list[OrderSpec] = UNSET" in text
    assert "    port: IntOrString | None = None" in text
    assert "    price: Quantity = UNSET" in text
    assert "    secret: bytes | None = None" in text
    assert "    until: Time | None = None" in text
    assert "    free: dict[str, Any] = UNSET" in text
    assert not any("sentence" in file or "neither" in file for file in _files().values())


def test_every_file_names_its_source_and_is_python() -> None:
    for name, text in _files().items():
        assert text.startswith("# Generated from a document by tools/kubeloop_generate."), name
        ast.parse(text)


def test_definitions_of_others_are_left_out() -> None:
    assert not any("Website" in text for text in _files().values())


def test_a_part_that_go_holds_by_value_is_readable_and_not_required() -> None:
    core, limits = (
        "io.k8s.api.core.v1",
        {"type": "object", "additionalProperties": {"type": "string"}},
    )
    parts = {"resources": f"{core}.Part", "lifecycle": f"{core}.Part"}
    container = {
        "required": ["name"],
        "properties": {
            "name": {"type": "string"},
            **{wire: {"$ref": f"#/definitions/{part}"} for wire, part in parts.items()},
        },
    }
    definitions = {
        f"{core}.Container": container,
        f"{core}.EphemeralContainer": container,
        f"{core}.Part": {"properties": {"limits": limits}},
    }

    text = render(classes_in({"definitions": definitions}), [], source="a test")

    readable = """    __optional__: ClassVar[frozenset[str]] = frozenset(['resources'])
    lifecycle: Part | None = None
    name: str = UNSET
    resources: Part = UNSET
"""
    assert text["_generated/core_v1.py"].count(readable) == 2


def test_merge_rules_are_written_as_data() -> None:
    found: dict[str, Any] = {}
    exec(_files()["_generated/facts.py"], found)

    assert found["FACTS"]["shop_v1.OrderSpec"]["parts"] == (
        "map", ("from",), "", ("merge", "retainKeys"), "from",
    )  # fmt: skip


def test_resources_are_written_as_data() -> None:
    found: dict[str, Any] = {}
    exec(_files()["_generated/resources.py"], found)

    assert found["RESOURCES"] == (
        ("shop.k8s.io", "v1", "orders", "Order", "order", False, ("get", "list"), (), (),
         (("status", "shop.k8s.io", "v1", "", ("get",)),)),
    )  # fmt: skip
    assert found["GROUPS"] == {("shop.k8s.io", "v1"): "shop_v1"}


def test_the_same_documents_give_the_same_text_in_any_order() -> None:
    shuffled = SWAGGER | {"definitions": dict(reversed(SWAGGER["definitions"].items()))}

    assert _files(shuffled) == _files()


@pytest.mark.parametrize(
    "change",
    [
        {"x-kubernetes-patch-merge-key": '"; import os'},
        {"x-kubernetes-list-type": "map\n"},
        {"x-kubernetes-list-map-keys": ["a b"]},
    ],
)
def test_text_that_is_no_name_never_becomes_code(change: dict[str, Any]) -> None:
    prop = {"type": "array", "items": {"type": "string"}} | change
    document = {"definitions": {"io.k8s.api.a.v1.B": {"properties": {"c": prop}}}}

    with pytest.raises(BadDocument):
        classes_in(document)


@pytest.mark.parametrize("name", ["a\nimport os", 'a"', "a = 1; b", "a\\", "é"])
def test_a_fields_name_cannot_break_out_of_its_line(name: str) -> None:
    document = {"definitions": {"io.k8s.api.a.v1.B": {"properties": {name: {"type": "string"}}}}}

    with pytest.raises(BadDocument, match="not a name"):
        classes_in(document)


def test_two_fields_that_would_share_an_attribute_are_refused() -> None:
    properties = {"hostIP": {"type": "string"}, "hostIp": {"type": "string"}}
    document = {"definitions": {"io.k8s.api.a.v1.B": {"properties": properties}}}

    with pytest.raises(BadDocument, match="host_ip"):
        classes_in(document)


@pytest.mark.parametrize("document", [{}, {"definitions": {}}, {"definitions": []}])
def test_a_document_of_another_kind_is_refused(document: dict[str, Any]) -> None:
    with pytest.raises(BadDocument):
        classes_in(document)


DOCUMENTS = Documents(version="v1.99.0", openapi=SWAGGER, discovery=(DISCOVERY,))


def test_checking_tells_what_would_change_and_writes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert generate(DOCUMENTS, tmp_path, check=True) == 1
    assert f"would change: {tmp_path / LIBRARY / 'wire' / '_generated' / 'shop_v1.py'}" in (
        capsys.readouterr().err
    )
    assert list(tmp_path.iterdir()) == []
    assert generate(DOCUMENTS, tmp_path) == 0
    assert generate(DOCUMENTS, tmp_path, check=True) == 0


@pytest.mark.parametrize("package", ["wire", "clients"])
def test_a_file_that_is_no_longer_generated_is_removed(tmp_path: Path, package: str) -> None:
    generate(DOCUMENTS, tmp_path)
    stale = tmp_path / LIBRARY / package / "_generated" / "old_v1.py"
    stale.write_text("# Generated from x by tools/kubeloop_generate. Do not edit.\n")

    assert generate(DOCUMENTS, tmp_path, check=True) == 1
    assert generate(DOCUMENTS, tmp_path) == 0
    assert not stale.exists()


def test_missing_programs_are_one_line_and_an_exit_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("KUBEBUILDER_ASSETS", str(tmp_path))

    assert main([]) == 2
    assert "or run `make assets`" in capsys.readouterr().err


def test_a_server_of_another_version_than_the_pinned_one_is_refused() -> None:
    with pytest.raises(BadDocument, match=f"is v1.99.0, and tools/assets.py pins {KUBERNETES} "):
        check_version(DOCUMENTS)


def test_a_version_cannot_break_out_of_the_first_line(tmp_path: Path) -> None:
    documents = Documents(version="1\nimport os", openapi=SWAGGER, discovery=(DISCOVERY,))

    with pytest.raises(BadDocument, match="not a version"):
        generate(documents, tmp_path)


def test_what_only_version_3_says_is_written_for_the_embedded_server() -> None:
    reference = {"$ref": "#/components/schemas/b"}
    fields = {
        "a": {"default": ""},
        "b": {"type": "array", "items": {"default": 0}},
        "c": {"additionalProperties": {"default": ""}},
        "d": {"allOf": [reference], "default": {}},
        "e": reference,
        "f": {"type": "string"},
    }
    document = {"components": {"schemas": {"k": {"properties": fields}, "empty": {}}}}

    data = json.loads(openapi_data({}, [document], source="a test"))

    assert data["defaults"] == {"k": {"a": "", "b[]": 0, "c[]": "", "d": {}}}
    assert data["undescribed"] == {"k": ["e"]}


GENERATED = [
    *ROOT.glob("packages/kubeloop/src/kubeloop/wire/*/*.py"),
    ROOT / "packages/kubeloop/src/kubeloop/clients/_generated/clientset.py",
]


def test_every_generated_file_is_of_the_pinned_version() -> None:
    """If this fails, run: make generate"""
    lines = {path: path.read_text("utf-8").partition("\n")[0] for path in GENERATED}
    minor = KUBERNETES.removeprefix("v").rpartition(".")[0]
    expected = f"# Generated from the OpenAPI document of Kubernetes {minor} by "

    assert len(lines) > 80
    assert [path for path, line in lines.items() if not line.startswith(expected)] == []
