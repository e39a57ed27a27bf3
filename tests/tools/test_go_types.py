"""The facts of the Go sources belong to the version of Kubernetes that the tests run."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from assets import KUBERNETES
from kubeloop_generate.document import BadDocument
from kubeloop_generate.go_sources import PROGRAM, go_packages, messages_of, render_groups
from kubeloop_generate.protobuf import NUMBERS

from kubeloop.wire import resources
from kubeloop_testing.server.values.go_types import go_type_of, source_version

ROOT = Path(__file__).parents[2]


# Of the Go modules: `v0.37.1` for `v1.37.1`.
MODULES = KUBERNETES.replace("v1.", "v0.", 1)


def test_the_program_is_pinned_to_the_version_of_kube_apiserver() -> None:
    text = (ROOT / "tools" / "go_types" / "go.mod").read_text(encoding="utf-8")
    direct = text.partition("require (")[2].partition(")")[0]
    pinned = dict(re.findall(r"^\s*(k8s\.io/\S+) (v\S+)$", direct, re.MULTILINE))

    assert len(pinned) == 4
    assert set(pinned.values()) == {MODULES}


def test_the_tables_were_written_with_that_version() -> None:
    """If this fails, run: make go-types"""
    recorded = (ROOT / "packages/kubeloop-testing/tests/testing/server/round_trips.json").read_text(
        encoding="utf-8"
    )
    numbers = json.loads(NUMBERS.read_text("utf-8"))

    assert source_version() == MODULES
    assert json.loads(recorded)["version"] == MODULES
    assert f" {MODULES}, by " in numbers["source"]


def test_every_built_in_kind_and_its_subresources_have_a_go_type() -> None:
    kinds = {(each.group, each.version, each.kind) for each in resources()}
    kinds |= {
        (part.group, part.version, part.kind) for each in resources() for part in each.subresources
    }

    for group, version, kind in kinds:
        api_version = f"{group}/{version}".removeprefix("/")
        assert go_type_of(api_version, kind), (api_version, kind)


PROTO = """
/* Licensed; message Not { optional string a = 1; } */
syntax = "proto2";

package k8s.io.api.shop.v1;

import "k8s.io/apimachinery/pkg/runtime/generated.proto";

// Order is a message; it has comments.
message Order {
  // optional string old = 1;
  optional .k8s.io.apimachinery.pkg.runtime.RawExtension data = 2;

  repeated OrderItem items = 1;
  map<string, bytes> notes = 3;
}

message Empty {
}
"""


def test_a_proto_file_gives_number_rule_and_type_of_each_field() -> None:
    assert messages_of(PROTO) == {
        "k8s.io.api.shop.v1.Order": {
            "data": (2, "optional", ".k8s.io.apimachinery.pkg.runtime.RawExtension"),
            "items": (1, "repeated", "OrderItem"),
            "notes": (3, "map", "map<string, bytes>"),
        },
        "k8s.io.api.shop.v1.Empty": {},
    }


@pytest.mark.parametrize("text", ["oneof x { string a = 1; }", "reserved 2;", "string a = 1;"])
def test_what_the_generator_of_kubernetes_does_not_write_is_refused(text: str) -> None:
    with pytest.raises(BadDocument, match="not a field"):
        messages_of(f"package a;\nmessage B {{\n  {text}\n}}\n")


def test_a_file_without_a_package_is_refused() -> None:
    with pytest.raises(BadDocument, match="no package"):
        messages_of("")


def test_the_go_packages_are_those_of_the_definitions() -> None:
    keys = [
        "io.k8s.api.apps.v1.Deployment",
        "io.k8s.api.apps.v1.DeploymentSpec",
        "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta",
        "io.k8s.apimachinery.pkg.version.Info",
        "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON",
        "com.example.v1.Website",
    ]

    packages = go_packages({"definitions": {key: {} for key in keys}})

    assert packages == [
        "k8s.io/api/apps/v1",
        "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1",
        "k8s.io/apimachinery/pkg/apis/meta/v1",
    ]
    text = render_groups(packages)
    assert '\tappsv1 "k8s.io/api/apps/v1"\n' in text
    assert "\tappsv1.AddToScheme,\n" in text
    assert "metav1" not in text


def test_the_program_imports_the_packages_of_all_models() -> None:
    """If this fails, run: make go-types generate"""
    text = (PROGRAM / "groups.go").read_text("utf-8")
    imported = {f"{group}_{version}" for group, version in re.findall(r'/(\w+)/(v\w+)"', text)}
    modules = {
        path.stem for path in ROOT.glob("packages/kubeloop/src/kubeloop/wire/_generated/*_v*.py")
    }

    assert modules - {"meta_v1"} == imported
