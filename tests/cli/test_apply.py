"""`kubeloop apply` applies manifests, and reports the outcome of each object."""

from __future__ import annotations

from pathlib import Path

from kubeloop.blocking import Client
from kubeloop.testing import APIServer

from .conftest import Call

CRD = """
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: websites.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: websites, kind: Website}
  versions:
    - name: v1
      served: true
      storage: true
      schema:
        openAPIV3Schema:
          type: object
          properties: {spec: {type: object, properties: {domain: {type: string}}}}
"""
WEBSITE = """
apiVersion: example.com/v1
kind: Website
metadata: {name: home}
spec: {domain: example.com}
"""


def a_map(name: str, colour: str = "blue") -> str:
    return f"{{apiVersion: v1, kind: ConfigMap, metadata: {{name: {name}}}, data: {{colour: {colour}}}}}"


def test_the_outcome_of_each_object_is_printed(kubeloop: Call, tmp_path: Path) -> None:
    file = tmp_path / "map.yaml"

    outputs = []
    for colour in ("blue", "blue", "red"):
        file.write_text(a_map("paint", colour))
        outputs.append(kubeloop("apply", "-f", str(file)).stdout)

    assert outputs == [
        "configmap/paint created\n",
        "configmap/paint unchanged\n",
        "configmap/paint configured\n",
    ]


def test_a_directory_is_applied_with_crds_first(kubeloop: Call, tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(WEBSITE)
    (tmp_path / "b.yml").write_text(CRD)
    (tmp_path / "notes.txt").write_text("{")

    result = kubeloop("apply", "-f", str(tmp_path), "-n", "shop")

    assert result.exit_code == 0, result.stderr
    assert result.stdout.splitlines() == [
        "customresourcedefinition.apiextensions.k8s.io/websites.example.com created",
        "website.example.com/home created",
    ]
    assert kubeloop("get", "websites", "-A").stdout.splitlines()[1].startswith("shop")


def test_a_dry_run_changes_nothing(kubeloop: Call) -> None:
    result = kubeloop("apply", "-f", "-", "--dry-run", stdin=a_map("paint"))

    assert result.stdout == "configmap/paint created (server dry run)\n"
    assert kubeloop("get", "cm", "paint").exit_code == 1


def test_the_namespace_of_the_flags_applies_to_objects_without_one(
    kubeloop: Call, kube_blocking_client: Client
) -> None:
    kubeloop("apply", "-f", "-", "-n", "shop", stdin=a_map("paint"))

    assert kube_blocking_client.core_v1.config_maps("shop").exists("paint")


def test_a_rejected_object_does_not_prevent_others(kubeloop: Call) -> None:
    bad = "{apiVersion: example.com/v1, kind: Nothing, metadata: {name: a}}"

    result = kubeloop("apply", "-f", "-", stdin=f"{bad}\n---\n{a_map('paint')}")

    assert result.exit_code == 1
    assert result.stdout == "configmap/paint created\n"
    assert result.stderr.startswith("error: find kind Nothing.example.com in v1")


def test_a_field_of_another_manager_is_taken_only_with_force(kubeloop: Call) -> None:
    kubeloop("apply", "-f", "-", "--field-manager", "other", stdin=a_map("paint"))

    rejected = kubeloop("apply", "-f", "-", stdin=a_map("paint", "red"))
    forced = kubeloop("apply", "-f", "-", "--force-conflicts", stdin=a_map("paint", "red"))

    assert rejected.exit_code == 1
    assert "conflict" in rejected.stderr
    assert forced.stdout == "configmap/paint configured\n"


def test_every_error_is_one_line_and_valid_objects_are_applied(
    kubeloop: Call, tmp_path: Path
) -> None:
    broken, missing = tmp_path / "broken.yaml", tmp_path / "missing.yaml"
    broken.write_text("kind: [")
    documents = [
        a_map("one"),
        "[1, 2]",
        "{apiVersion: v1, kind: ConfigMap, metadata: {name: b}, data: 5}",
        "{apiVersion: v1, kind: ConfigMap}",
        "{apiVersion: example.com/v1, kind: Nothing, metadata: {name: c}}",
        "{apiVersion: v1, kind: ConfigMap, metadata: {name: Not A Name}}",
        a_map("two"),
    ]

    result = kubeloop(
        "apply", "-f", str(broken), "-f", str(missing), "-f", "-", stdin="\n---\n".join(documents)
    )

    assert result.exit_code == 2
    assert result.stdout == "configmap/one created\nconfigmap/two created\n"
    lines = result.stderr.splitlines()
    assert all(line.startswith("error: ") for line in lines)
    parts = (
        "broken.yaml, line 2", "missing.yaml: cannot read it", "YAML document 2: expected",
        "YAML document 3: ", "YAML document 4: the ConfigMap has no name", "find kind Nothing",
        "Not A Name",
    )  # fmt: skip
    assert [part in line for part, line in zip(parts, lines, strict=True)] == [True] * 7


def test_nothing_is_sent_when_no_manifest_can_be_read(
    kubeloop: Call, tmp_path: Path, kube_server: APIServer
) -> None:
    broken = tmp_path / "broken.yaml"
    broken.write_text("kind: [")
    before = len(kube_server.requests)

    result = kubeloop("apply", "-f", str(broken))

    assert result.exit_code == 2
    assert len(kube_server.requests) == before


def test_the_error_for_a_kustomization_shows_how_to_apply_it(
    kubeloop: Call, tmp_path: Path
) -> None:
    (tmp_path / "kustomization.yaml").write_text("resources: [map.yaml]\n")
    (tmp_path / "map.yaml").write_text(a_map("paint"))

    result = kubeloop("apply", "-f", str(tmp_path))

    assert (result.exit_code, result.stdout) == (2, "")
    assert f"(use kubeloop apply -k {tmp_path})" in result.stderr


def test_json_documents_may_follow_each_other(kubeloop: Call) -> None:
    """As `kubectl get -o json` and `jq -c` write them."""
    text = "\n".join(
        f'{{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"{name}"}}}}' for name in "ab"
    )

    result = kubeloop("apply", "-f", "-", stdin=text)

    assert result.stdout == "configmap/a created\nconfigmap/b created\n"


def test_a_manifest_without_objects_is_an_error(kubeloop: Call) -> None:
    result = kubeloop("apply", "-f", "-", stdin="# nothing\n")

    assert (result.exit_code, result.stdout) == (2, "")
    assert "no objects found" in result.stderr
