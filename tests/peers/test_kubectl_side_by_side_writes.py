"""Commands that change things, by kubectl and by kubeloop: same output, same objects.

Each command runs against an embedded server of its own, which starts with the same objects. What
differs on purpose is in `DIFFERENT`, and in a table of docs/how-to/cli.md.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from kubeloop_testing import APIServer
from kubeloop_testing.workloads import Workloads

OBJECTS = """
{apiVersion: v1, kind: Namespace, metadata: {name: shop}}
---
{apiVersion: v1, kind: Node, metadata: {name: n1, labels: {zone: a}}}
---
{apiVersion: v1, kind: Node, metadata: {name: n2, labels: {zone: b}}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: m1, namespace: default, labels: {app: m, old: gone}, annotations: {note: one}}
data: {colour: blue, size: "1"}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: m2, namespace: default, labels: {app: m}}
data: {colour: red}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: other, namespace: shop, labels: {app: m}}}
---
{apiVersion: v1, kind: Secret, metadata: {name: s1, namespace: default}, stringData: {a: b}}
---
{apiVersion: v1, kind: ServiceAccount, metadata: {name: robot, namespace: default}}
---
apiVersion: v1
kind: Pod
metadata: {name: p1, namespace: default, labels: {app: web}}
spec: {containers: [{name: main, image: "app:1"}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: default, labels: {app: web}}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: main, image: "app:1"}]}
---
apiVersion: batch/v1
kind: CronJob
metadata: {name: nightly, namespace: default}
spec:
  schedule: "0 3 * * *"
  jobTemplate:
    spec:
      template:
        spec: {restartPolicy: Never, containers: [{name: main, image: "app:1"}]}
"""
FILES: dict[str, str | bytes] = {
    "two.yaml": """
apiVersion: v1
kind: ConfigMap
metadata: {name: m1}
data: {colour: green}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: new}
data: {colour: white}
""",
    "one.yaml": "{apiVersion: v1, kind: ConfigMap, metadata: {name: new}}",
    "folder/a.yaml": "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}",
    "folder/below/b.yaml": "{apiVersion: v1, kind: ConfigMap, metadata: {name: b}}",
    "kustomized/kustomization.yaml": "{resources: [map.yaml], namePrefix: my-}",
    "kustomized/map.yaml": "{apiVersion: v1, kind: ConfigMap, metadata: {name: map}}",
    "page.html": "<p>hello</p>\n",
    "picture": b"\xff\xfe",
    "settings.env": "# comment\nCOLOUR=blue\nEMPTY=\n",
    "patch.yaml": "data: {colour: black}\n",
}
COMPARED = (
    "namespaces", "nodes", "configmaps", "secrets", "serviceaccounts", "pods", "deployments",
    "jobs", "cronjobs",
)  # fmt: skip

# Each line is one command; those of a case run one after the other.
SAME = """
delete cm m1
delete cm/m1 secret/s1
delete cm m1 missing
delete cm missing --ignore-not-found
delete cm,secret -l app=m
delete cm -l app=none
delete cm --all -A --dry-run=server
delete cm --field-selector metadata.name=m2 -o name
delete cm m1 m2 --dry-run=client
delete -f two.yaml --ignore-not-found
delete deploy web --cascade=orphan
delete pod p1 --force --grace-period=0
delete pod p1 --now --wait=false
delete ns shop
create namespace dev; create namespace dev
create namespace dev --dry-run=client -o yaml
create cm made --from-literal=a=1 --from-file=page.html --from-file=key=page.html
create cm made --from-env-file=settings.env -n shop --dry-run=client -o yaml
create secret generic made --from-literal=a=1 --from-file=picture --type=example.com/x
create deployment made --image=registry.example/app:2 --replicas=3 --port=80
create deployment made --image=app --image=side:1 --dry-run=client -o yaml
create job made --image=app:1 -- date -u
create job made --from=cronjob/nightly
create serviceaccount made -o name
create -f one.yaml; create -f one.yaml
label cm m1 tier=front; label cm m1 tier=front
label cm m1 old-; label cm m1 absent-
label cm m1 app=other
label cm m1 app=other --overwrite
label cm --all tier=back
label cm m2 --list
annotate cm m1 note=two; annotate cm m1 note=two --overwrite; annotate cm m1 note-
annotate cm m1 m2 seen=yes --dry-run=server
patch cm m1 -p {"data":{"colour":"black"}}; patch cm m1 --patch-file=patch.yaml
patch deploy web -p {"spec":{"template":{"spec":{"containers":[{"name":"main","image":"app:2"}]}}}}
patch cm m1 --type=json -p [{"op":"remove","path":"/data/size"}]
patch cm m1 m2 --type=merge -p {"data":{"colour":null}}
patch deploy web --subresource=scale --type=merge -p {"spec":{"replicas":4}}
scale deploy/web --replicas=5
scale deploy web --replicas=5 --current-replicas=7
scale deploy --all --replicas=0 --dry-run=server
rollout restart deploy/web
rollout pause deploy/web; rollout pause deploy/web; rollout resume deploy/web
rollout restart deploy -l app=none
rollout history deploy/web; rollout history deploy/web --revision=9
cordon n1; cordon n1; uncordon n1; uncordon n1
cordon -l zone=a --dry-run=client
cordon n1 missing
run made --image=app:1 --port=80 --env=A=1 -- serve --fast
run made --image=app:1 --restart=Never --dry-run=client -o yaml --command -- date
apply -f two.yaml --dry-run=client
apply -f one.yaml; apply -f one.yaml; apply -f one.yaml --dry-run=server
apply -f folder; apply -f folder -R
apply -k kustomized; delete -k kustomized
apply -f two.yaml -n shop
apply -f folder -R -n shop --prune --applyset=set; apply -f one.yaml -n shop --prune --applyset=set
edit cm m1
wait cm --all --for=create
wait cm/m1 deploy/web --for=jsonpath={.metadata.namespace}=default
auth can-i create pods; auth can-i get pods/p1 --subresource=log -q
auth can-i --list
auth whoami --as=joe --as-group=a --as-group=b --as-uid=7
"""
SIMULATED = """
rollout status deploy/web; scale deploy web --replicas=3 --timeout=20s
rollout status deploy/web; rollout history deploy/web
delete pod p1
drain node-1 --force; uncordon node-1
wait pod/p1 --for=condition=Ready; exec p1 -- cat /etc/motd; exec p1 -- test -e /nope
wait pod/p1 --for=condition=Ready; logs p1 --tail=1; logs p1 --prefix --tail=1
wait pod/p1 --for=condition=Ready; cp page.html p1:/etc/page; exec p1 -- cat /etc/page
"""


class Different(NamedTuple):
    """A command that prints something else on purpose."""

    command: str
    kubectl: str
    kubeloop: str


DIFFERENT = [
    Different(
        'patch cm m1 --dry-run=server -p {"data":{"colour":"black"}}',
        "configmap/m1 patched\n",
        "configmap/m1 patched (server dry run)\n",
    ),
    Different("wait cm/missing --for=delete", "", "configmap/missing condition met\n"),
    Different(
        "delete cm m1 --dry-run",
        'configmap "m1" deleted from default namespace (dry run)\n',
        'configmap "m1" deleted from default namespace (server dry run)\n',
    ),
    Different(
        "apply -f one.yaml --server-side",
        "configmap/new serverside-applied\n",
        "configmap/new created\n",
    ),
]


def cases(text: str) -> list[str]:
    return text.strip().splitlines()


class Side:
    """One program, its server and its working directory."""

    def __init__(self, command: Sequence[str], folder: Path, programs: Path) -> None:
        self._command = command
        self._programs = programs
        self.folder = folder
        self.last_code: int | None = None
        self.server = APIServer(manifests=[folder / "objects.yaml"])

    async def run(self, arguments: Sequence[str]) -> tuple[bool, str]:
        """Whether a command succeeds, and its stdout."""
        process = await asyncio.create_subprocess_exec(
            *self._command,
            *arguments,
            cwd=self.folder,
            env={
                "KUBECONFIG": str(self.folder / "kubeconfig"),
                "HOME": str(self.folder),
                "PATH": f"{self._programs}{os.pathsep}{os.environ['PATH']}",  # for kustomize
                "KUBE_EDITOR": "sed -i s/blue/purple/",
                "KUBECTL_APPLYSET": "true",
            },
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        stdout, stderr = await process.communicate()
        assert b"Traceback" not in stderr, stderr.decode()
        self.last_code = process.returncode
        return process.returncode == 0, stdout.decode()

    async def objects(self) -> dict[str, Any]:
        """All objects of the compared kinds, without what every write changes."""
        found = {}
        async with self.server.client() as client:
            for kind in COMPARED:
                info = await client.mapper.find(kind)
                path = f"{info.group}/{info.version}" if info.group else info.version
                everywhere = client.dynamic.resource(path, info.kind, namespace="")
                for obj in await everywhere.list_all():
                    metadata = obj["metadata"]
                    found[f"{kind} {metadata.get('namespace')}/{metadata['name']}"] = plain(obj)
        return found


def plain(obj: dict[str, Any]) -> dict[str, Any]:
    """An object without identities, times, managers and the notes of kubectl."""
    text = json.dumps(obj)
    text = re.sub(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", "TIME", text)
    text = re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}", "UID", text)
    text = re.sub(r'"kube(ctl|loop)/v[^"]*"', '"TOOL"', text)
    plain: dict[str, Any] = json.loads(text)
    metadata = plain["metadata"]
    for key in ("managedFields", "resourceVersion"):
        metadata.pop(key, None)
    notes = metadata.get("annotations") or {}
    notes.pop("kubectl.kubernetes.io/last-applied-configuration", None)
    if not notes:
        metadata.pop("annotations", None)
    return plain


@pytest.fixture
def sides(tmp_path: Path, kubectl_program: str, kubectl_cache: Path) -> list[Side]:
    commands = {
        "kubectl": [kubectl_program, f"--cache-dir={kubectl_cache}"],
        "kubeloop": [sys.executable, "-m", "kubeloop_cli"],
    }
    found = []
    for name, command in commands.items():
        folder = tmp_path / name
        for file, text in {**FILES, "objects.yaml": OBJECTS}.items():
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            (folder / file).write_bytes(text.encode() if isinstance(text, str) else text)
        found.append(Side(command, folder, Path(kubectl_program).parent))
    return found


async def results(side: Side, text: str) -> list[tuple[bool, str]]:
    (side.folder / "kubeconfig").write_text(side.server.kubeconfig(), encoding="utf-8")
    return [await side.run(command.split()) for command in text.split("; ")]


@pytest.mark.parametrize("text", cases(SAME))
async def test_output_and_objects_are_those_of_kubectl(text: str, sides: list[Side]) -> None:
    kubectl, kubeloop = sides
    async with kubectl.server, kubeloop.server:
        expected, found = await asyncio.gather(results(kubectl, text), results(kubeloop, text))

        assert found == expected
        assert await kubeloop.objects() == await kubectl.objects()


@pytest.mark.parametrize("text", cases(SIMULATED))
async def test_output_is_that_of_kubectl_with_running_pods(text: str, sides: list[Side]) -> None:
    kubectl, kubeloop = sides
    for side in sides:  # brings `cat`, `tar` and `test`
        side.server.kubelet.files({"/etc/motd": "hello\n"})
    async with (
        kubectl.server,
        kubeloop.server,
        Workloads(kubectl.server.config),
        Workloads(kubeloop.server.config),
    ):
        expected, found = await asyncio.gather(results(kubectl, text), results(kubeloop, text))

    assert [(ok, out.splitlines()[-1:]) for ok, out in found] == [
        (ok, out.splitlines()[-1:]) for ok, out in expected
    ]


@pytest.mark.parametrize("different", DIFFERENT, ids=lambda each: each.command)
async def test_some_outputs_differ_on_purpose(different: Different, sides: list[Side]) -> None:
    kubectl, kubeloop = sides
    async with kubectl.server, kubeloop.server:
        text = different.command
        expected, found = await asyncio.gather(results(kubectl, text), results(kubeloop, text))

    assert (expected[0][1], found[0][1]) == (different.kubectl, different.kubeloop)


@pytest.mark.parametrize(("file", "code"), [("same.yaml", 0), ("one.yaml", 1), ("missing.yaml", 2)])
async def test_the_exit_code_of_diff_is_that_of_kubectl(
    file: str, code: int, sides: list[Side]
) -> None:
    for side in sides:
        (side.folder / "same.yaml").write_text(
            "{apiVersion: v1, kind: ConfigMap, metadata: {name: m2}, data: {colour: red}}"
        )
    kubectl, kubeloop = sides
    async with kubectl.server, kubeloop.server:
        commands = [f"apply --force-conflicts --server-side -f same.yaml; diff -f {file}"] * 2
        await asyncio.gather(*map(results, sides, commands))

        assert [side.last_code for side in sides] == [code, code]
