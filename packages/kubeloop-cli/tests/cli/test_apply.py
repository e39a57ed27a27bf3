"""`kubeloop apply` applies manifests, and reports the outcome of each object."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from kubeloop.blocking import Client
from kubeloop_testing import APIServer, Match

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


# --- where manifests come from


def test_folders_are_read_with_those_below_only_if_recursive(
    kubeloop: Call, tmp_path: Path
) -> None:
    (tmp_path / "maps" / "below").mkdir(parents=True)
    (tmp_path / "maps" / "a.yaml").write_text(a_map("a"))
    (tmp_path / "maps" / "below" / "b.yaml").write_text(a_map("b"))

    plain = kubeloop("apply", "-f", "maps")
    recursive = kubeloop("apply", "-f", "maps", "-R")

    assert plain.stdout == "configmap/a created\n"
    assert recursive.stdout == "configmap/a unchanged\nconfigmap/b created\n"


class QuietHandler(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002 - its signature
        pass


@pytest.fixture
def web_server(tmp_path: Path) -> Iterator[str]:
    """The address of a web server with the files of the test."""
    handler = partial(QuietHandler, directory=str(tmp_path))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_a_manifest_can_be_a_url(kubeloop: Call, tmp_path: Path, web_server: str) -> None:
    (tmp_path / "map.yaml").write_text(a_map("paint"))

    found = kubeloop("apply", "-f", f"{web_server}/map.yaml")
    missing = kubeloop("apply", "-f", f"{web_server}/none.yaml")
    unreachable = kubeloop("apply", "-f", "http://127.0.0.1:1/map.yaml")

    assert found.stdout == "configmap/paint created\n"
    assert missing.exit_code == unreachable.exit_code == 1
    assert (
        missing.stderr
        == f"error: apply {web_server}/none.yaml: cannot read it: 404 File not found\n"
    )
    assert "cannot read it" in unreachable.stderr


def kustomize(folder: Path, text: str) -> None:
    """Install a program that stands for kustomize."""
    program = folder / "kustomize"
    program.write_text(f"#!{sys.executable}\nimport sys\n{text}\n")
    program.chmod(0o755)


@pytest.mark.skipif(sys.platform == "win32", reason="programs are not scripts there")
def test_a_kustomization_is_built_by_an_installed_program(
    kubeloop: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    missing = kubeloop("apply", "-k", "overlay")
    kustomize(tmp_path, f"print({a_map('paint')!r} if sys.argv[1:] == ['build', 'overlay'] else 0)")
    built = kubeloop("apply", "-k", "overlay")
    kustomize(tmp_path, "sys.exit('Error: no kustomization')")
    failed = kubeloop("apply", "-k", "overlay")

    assert missing.exit_code == failed.exit_code == 1
    assert "neither kustomize nor kubectl is installed" in missing.stderr
    assert built.stdout == "configmap/paint created\n"
    assert failed.stderr.endswith("kustomize build overlay failed: no kustomization\n")


def test_a_client_side_dry_run_sends_no_change(kubeloop: Call, kube_server: APIServer) -> None:
    kubeloop("apply", "-f", "-", stdin=a_map("paint"))
    before = len(kube_server.requests)

    result = kubeloop(
        "apply", "-f", "-", "--dry-run=client", stdin=f"{a_map('paint', 'red')}\n---\n{a_map('b')}"
    )

    assert result.stdout == "configmap/paint configured (dry run)\nconfigmap/b created (dry run)\n"
    assert {seen.method for seen in kube_server.requests[before:]} == {"GET"}


def test_an_object_of_another_namespace_than_the_flag_is_refused(
    kubeloop: Call, kube_blocking_client: Client
) -> None:
    text = "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: default}}"

    result = kubeloop("apply", "-f", "-", "-n", "shop", stdin=text)

    assert result.exit_code == 2
    assert 'does not match the namespace "shop"' in result.stderr
    assert not kube_blocking_client.core_v1.config_maps("default").exists("a")


# --- apply sets


def apply_set(kubeloop: Call, *names: str, parent: str = "set") -> str:
    result = kubeloop(
        "apply", "-f", "-", "-n", "shop", "--prune", f"--applyset={parent}",
        stdin="\n---\n".join(map(a_map, names)),
    )  # fmt: skip
    assert result.exit_code == 0, result.stderr
    return result.stdout


def test_members_that_are_not_applied_any_more_are_pruned(
    kubeloop: Call, kube_blocking_client: Client
) -> None:
    kubeloop("apply", "-f", "-", "-n", "shop", stdin=a_map("unrelated"))

    assert apply_set(kubeloop, "a", "b") == "configmap/a created\nconfigmap/b created\n"
    assert apply_set(kubeloop, "b") == "configmap/b unchanged\nconfigmap/a pruned\n"

    maps = kube_blocking_client.core_v1.config_maps("shop").list_all()
    assert [each.metadata.name for each in maps] == ["b", "unrelated"]
    parent = kube_blocking_client.core_v1.secrets("shop").get("set").metadata
    member = maps.items[0].metadata.labels["applyset.kubernetes.io/part-of"]
    assert parent.labels == {"applyset.kubernetes.io/id": member}
    assert parent.annotations.pop("applyset.kubernetes.io/tooling").startswith("kubeloop/v")
    assert parent.annotations == {
        "applyset.kubernetes.io/contains-group-kinds": "ConfigMap",
        "applyset.kubernetes.io/additional-namespaces": "",
    }


def test_a_kind_without_members_leaves_the_list_of_the_parent_when_it_was_pruned(
    kubeloop: Call, kube_blocking_client: Client
) -> None:
    account = "{apiVersion: v1, kind: ServiceAccount, metadata: {name: robot}}"
    words = ("apply", "-f", "-", "-n", "shop", "--prune", "--applyset=configmaps/set")
    kinds = "applyset.kubernetes.io/contains-group-kinds"
    maps = kube_blocking_client.core_v1.config_maps("shop")

    kubeloop(*words, stdin=f"{a_map('a')}\n---\n{account}")
    both = maps.get("set").metadata.annotations[kinds]
    tried = kubeloop(*words, "--dry-run", stdin=a_map("a")).stdout
    pruned = kubeloop(*words, stdin=a_map("a")).stdout

    assert both == "ConfigMap,ServiceAccount"
    assert tried == (
        "configmap/a unchanged (server dry run)\nserviceaccount/robot pruned (server dry run)\n"
    )
    assert pruned == "configmap/a unchanged\nserviceaccount/robot pruned\n"
    assert maps.get("set").metadata.annotations[kinds] == "ConfigMap"


def test_a_crd_and_objects_of_it_can_be_in_one_apply_set(kubeloop: Call) -> None:
    words = ("apply", "-f", "-", "-n", "shop", "--prune", "--applyset=set")

    first = kubeloop(*words, stdin=f"{WEBSITE}\n---\n{CRD}")
    second = kubeloop(*words, stdin=CRD)

    crd = "customresourcedefinition.apiextensions.k8s.io/websites.example.com"
    assert first.stdout == f"{crd} created\nwebsite.example.com/home created\n", first.stderr
    assert second.stdout == f"{crd} unchanged\nwebsite.example.com/home pruned\n", second.stderr


def test_an_object_that_cannot_be_pruned_is_a_line_on_stderr(
    kubeloop: Call, kube_server: APIServer
) -> None:
    apply_set(kubeloop, "a", "b", "c")
    kube_server.faults.fail(403, match=Match(verb="delete", name="a"))

    result = kubeloop(
        "apply", "-f", "-", "-n", "shop", "--prune", "--applyset=set", "-o", "name",
        stdin=a_map("c"),
    )  # fmt: skip

    assert (result.exit_code, result.stdout) == (1, "configmap/c\nconfigmap/b\n")
    (line,) = result.stderr.splitlines()
    assert line.startswith("error: DELETE configmaps/a in shop: 403 Forbidden")


@pytest.mark.parametrize(
    "bad",
    [
        "{apiVersion: v1, kind: ConfigMap, metadata: {name: Not A Name}}",
        "{apiVersion: v1, kind: ConfigMap}",
        "{apiVersion: example.com/v1, kind: Nothing, metadata: {name: a}}",
    ],
)
def test_nothing_is_pruned_after_an_error(
    kubeloop: Call, kube_blocking_client: Client, bad: str
) -> None:
    apply_set(kubeloop, "a", "b")

    result = kubeloop(
        "apply", "-f", "-", "-n", "shop", "--prune", "--applyset=set",
        stdin=f"{a_map('a')}\n---\n{bad}",
    )  # fmt: skip

    assert result.exit_code != 0
    assert "pruned" not in result.stdout
    assert kube_blocking_client.core_v1.config_maps("shop").exists("b")


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--prune"], "--prune requires --applyset=NAME"),
        (["--applyset=set", "-n", "shop"], "--applyset requires --prune"),
        (["--prune", "--applyset=set"], "a namespace is required"),
        (["--prune", "--applyset=nodes/set", "-n", "shop"], "cannot be a parent (use a Secret"),
        (["--prune", "--applyset=cm/plain", "-n", "shop"], "without the annotation applyset"),
        (
            ["--prune", "--applyset=cm/theirs", "-n", "shop"],
            "is managed by kubectl/v1.37.0, expected kubeloop",
        ),
    ],
)
def test_a_parent_that_cannot_be_used_is_an_error(
    kubeloop: Call, arguments: list[str], text: str
) -> None:
    kubeloop("create", "cm", "plain", "-n", "shop")
    kubeloop("create", "cm", "theirs", "-n", "shop")
    note = "applyset.kubernetes.io/tooling=kubectl/v1.37.0"
    kubeloop("annotate", "cm", "theirs", note, "-n", "shop")

    result = kubeloop("apply", "-f", "-", *arguments, stdin=a_map("a"))

    assert (result.exit_code, result.stdout) == (2, "")
    (line,) = result.stderr.splitlines()
    assert text in line
