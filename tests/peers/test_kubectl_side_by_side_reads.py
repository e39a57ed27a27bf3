"""The commands that read, run by kubectl and by kubeloop against one server with a fixed state."""

from __future__ import annotations

import asyncio
import os
import shlex
import subprocess
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

import pytest
from click.testing import CliRunner

from kubeloop import blocking
from kubeloop.kit import SystemClock, Timeout, Timer
from kubeloop_cli.program import kubeloop as program
from kubeloop_testing import APIServer, Workloads
from kubeloop_testing.threads import LoopThread

STATE = Path(__file__).with_name("reads.yaml")
PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "cli.md"

SAME = """
get pods -n shop
get pods -A
get pods -n shop -o wide
get pods -n shop --show-labels
get pods -n shop -L app,pod-template-hash
get pods -n shop --no-headers
get pods -n shop --show-kind
get pods -n shop --sort-by=.metadata.name
get pods -n shop --sort-by={.spec.nodeName} -o wide
get pods -n shop --sort-by=.metadata.labels.app -o name
get pods -n shop -l app=web -o name
get pods -n shop -l 'app in (web,db)' -o name
get pods -n shop --field-selector status.phase=Succeeded -o name
get pods -n shop --chunk-size=2 -o name
get pods -n shop -o json
get cm -n shop -o yaml --show-managed-fields
get pods -n shop -o jsonpath='{.items[*].metadata.name}'
get pods -n shop -o jsonpath='{range .items[*]}{.metadata.name}{"\\t"}{.status.phase}{"\\n"}{end}'
get pods -n shop -o jsonpath-as-json='{.items[*].spec.nodeName}'
get pods -n shop -o custom-columns=NAME:.metadata.name,IMAGES:.spec.containers[*].image,X:.nope
get pods,cm -n shop -o custom-columns=NAME:.metadata.name,LABELS:.metadata.labels --no-headers
get deploy web -n shop -o yaml
get deploy/web sts/db -n shop
get deploy,sts,ds,job,cronjob -n shop
get all -A
get all -n shop -o name
get po,cm -n shop --no-headers
get po/alone cm/paint svc/web -n shop -o name
get svc,ns -A -o wide
get nodes -o wide
get pv,pvc,sc -n shop
get ct -A
get crontabs.example.com -n shop -o json
get secrets -n shop
get events -n shop -o name
get pods -n default
get pods -n default -o json
get pods nope alone -n shop
get pods nope -n shop
get pods nope -n shop --ignore-not-found
get cm nope -n shop -o json
get nothing
get pods -n shop -o nothing
get deploy web -n shop --subresource=scale
get deploy web -n shop --subresource=status -o name
get --raw /readyz
get --raw /apis/apps
describe pods -n shop
describe pod alone -n shop
describe pod al -n shop
describe pods web -n shop --show-events=true
describe pod nope -n shop
describe pod odd -n edge
describe deploy web -n shop
describe deploy web -n shop --show-events=false
describe rs -n shop
describe sts,ds -n shop
describe job,cronjob -n shop
describe svc -n shop
describe svc -n edge
describe ing -A
describe netpol -A
describe endpointslices -n shop
describe cm,secret -A
describe pv,pvc,sc -n shop
describe nodes
describe ns shop
describe ns edge
describe quota,limits,pdb -n shop
describe role,rolebinding,sa -n shop
describe hpa -A
describe flowschemas,apiservices
describe clusterrole urls
describe pc high
describe ingressclass
describe ct nightly -n shop
describe crd crontabs.example.com
describe pods -l app=web -n shop
describe pods -n default
events -n shop
events -A
events -n default
events -n shop --for deploy/web --no-headers
events -n shop --types Warning
events -n shop -o jsonpath='{.items[*].reason}'
api-resources
api-resources -o wide
api-resources -o name
api-resources --sort-by=kind --no-headers
api-resources --namespaced=false --api-group=''
api-resources --verbs=list,watch --categories=all
api-versions
explain pod
explain pod.spec.containers.ports.protocol
explain deploy.spec.strategy
explain deployments.apps.spec
explain pod --recursive
explain pod.spec --recursive --max-depth=1
explain ct.spec
explain ct.spec.mode
explain hpa --api-version=autoscaling/v1
explain nothing
""".strip().splitlines()

DIFFERENT = {
    "describe servicecidrs": "`describe` of rare kinds, such as service CIDRs",
    "events -n shop -o name": "`events -o name`",
    "events -n shop -o json": "`events -o json`",
    "explain pod.nope": "`explain` of a field that does not exist",
    "explain deploy.apps": "`explain deploy.apps`",
    "get pod -l app=agent -n shop -o yaml": "`-o yaml` of long or special texts",
    "get pods -n shop --sort-by=.spec.nope": "`--sort-by` a field that no object has",
}
"""Commands with another output, and the first words of their row on the page."""


class StandingClock:
    """A clock that shows one moment in the past, so that ages are the same in every command."""

    def __init__(self) -> None:
        self._real = SystemClock()
        self._moment = datetime.now(UTC) - timedelta(days=100, hours=12)

    def now(self) -> float:
        return self._real.now()

    def time(self) -> datetime:
        return self._moment

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    def timeout(self, seconds: float | None) -> AbstractAsyncContextManager[Timeout]:
        return self._real.timeout(seconds)

    def timer(self, seconds: float, callback: Callable[[], None]) -> Timer:
        return self._real.timer(seconds, callback)


class Outcome(NamedTuple):
    """What a command printed to stdout, and whether it succeeded."""

    stdout: str
    succeeded: bool


class Programs:
    """kubectl and kubeloop, with one kubeconfig."""

    def __init__(self, kubectl: str, folder: Path) -> None:
        self._kubectl = [kubectl, f"--cache-dir={folder / 'cache'}"]
        self._environment = {
            "KUBECONFIG": str(folder / "kubeconfig"),
            "HOME": str(folder),
            "PATH": os.environ["PATH"],
        }

    def kubectl(self, line: str) -> Outcome:
        done = subprocess.run(
            [*self._kubectl, *shlex.split(line)],
            env=self._environment,
            capture_output=True,
            check=False,
        )
        return Outcome(done.stdout.decode(), done.returncode == 0)

    def kubeloop(self, line: str) -> Outcome:
        words = ["--kubeconfig", self._environment["KUBECONFIG"], *shlex.split(line)]
        done = CliRunner().invoke(program, words, prog_name="kubeloop")
        return Outcome(done.stdout, done.exit_code == 0)


def wait_for_workloads(client: blocking.Client) -> None:
    apps = client.apps_v1
    apps.deployments("shop").wait_for("web", jsonpath="{.status.availableReplicas}=2")
    apps.daemon_sets("shop").wait_for("agent", jsonpath="{.status.numberAvailable}=4")
    apps.stateful_sets("shop").wait_for("db", jsonpath="{.status.availableReplicas}=1")
    client.batch_v1.jobs("shop").wait_for("once", condition="Complete")
    client.core_v1.pods("shop").wait_for("alone", condition="Ready")
    client.core_v1.pods("edge").wait_for("odd", jsonpath="{.status.phase}=Succeeded")


@pytest.fixture(scope="module")
def programs(kubectl_program: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Programs]:
    folder, clock = tmp_path_factory.mktemp("side_by_side"), StandingClock()
    with (
        LoopThread() as thread,
        thread.running(APIServer(manifests=[STATE], clock=clock)) as server,
    ):
        (folder / "kubeconfig").write_text(server.kubeconfig(), encoding="utf-8")
        with (
            thread.running(Workloads(server.config, clock=clock)),
            blocking.Client(server.config) as client,
        ):
            wait_for_workloads(client)
        yield Programs(kubectl_program, folder)


@pytest.mark.parametrize("line", SAME)
def test_the_output_is_that_of_kubectl(programs: Programs, line: str) -> None:
    assert programs.kubeloop(line) == programs.kubectl(line)


@pytest.mark.parametrize("line", DIFFERENT)
def test_an_output_that_differs_is_explained_on_the_page(programs: Programs, line: str) -> None:
    assert programs.kubeloop(line) != programs.kubectl(line)
    assert f"\n| {DIFFERENT[line]} |" in PAGE.read_text(encoding="utf-8")
