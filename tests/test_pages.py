"""The code on the pages runs as a reader runs it, each page on a fresh server if it has one."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, cast

import msgspec
import pytest

from kubeloop.blocking import Client
from kubeloop.testing import APIServer, SeenRequest, Workloads, running_in_thread
from kubeloop.wire.apps.v1 import Deployment
from tests.support.page_reader import ROOT, SHOP, Reader, blocks_of, installed_by, links_to_the_shop
from tests.test_tutorial import PAGES as TUTORIAL

PAGES = (
    "README.md",
    "docs/blocking.md",
    "docs/cache.md",
    "docs/clients.md",
    "docs/controllers.md",
    "docs/credentials.md",
    "docs/events.md",
    "docs/from-client-go.md",
    "docs/index.md",
    "docs/inspector.md",
    "docs/large-clusters.md",
    "docs/leader-election.md",
    "docs/metrics.md",
    "docs/migrating.md",
    "docs/models.md",
    "docs/testing.md",
    "docs/webhooks.md",
    "docs/workqueues.md",
)
# Pages that are run in a way of their own, and the tests that do it.
ELSEWHERE = {
    **dict.fromkeys(TUTORIAL, "tests/test_tutorial.py"),
    "docs/cli.md": "tests/cli/test_cli_page.py",
}


@pytest.mark.timeout(300)  # interpreters start, one after the other
@pytest.mark.parametrize("page", PAGES)
def test_the_code_of_a_page_runs_as_its_reader_runs_it(page: str, tmp_path: Path) -> None:
    with Reader(tmp_path, installed=installed_by(page)) as reader:
        if links_to_the_shop(page):
            reader.open_shop()

        reader.follow(page)


def test_no_page_has_code_that_nobody_runs() -> None:
    found = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").glob("*.md")]
    pages = [str(path.relative_to(ROOT)) for path in sorted(found)]

    run = {*PAGES, *ELSEWHERE, SHOP}

    code = ("python", "console")
    assert [page for page in pages if blocks_of(page, *code) and page not in run] == []


@pytest.mark.parametrize("page", ELSEWHERE)
def test_who_says_to_run_a_page_names_it(page: str) -> None:
    assert Path(page).name in (ROOT / ELSEWHERE[page]).read_text(encoding="utf-8")


def function_in(source: str, name: str) -> Callable[[Deployment], bool]:
    """A function of a program, without running the program."""
    found = [each for each in ast.parse(source).body if getattr(each, "name", "") == name]
    names: dict[str, Any] = {"Deployment": Deployment}
    exec(compile(ast.Module(found, []), name, "exec"), names)
    return cast("Callable[[Deployment], bool]", names[name])


def rolled_out_by(place: str) -> Callable[[Deployment], bool]:
    if place.endswith(".py"):
        return function_in((ROOT / place).read_text(encoding="utf-8"), "is_rolled_out")
    blocks = [
        block.text for block in blocks_of(place, "python") if "def is_rolled_out" in block.text
    ]
    return function_in("".join(blocks), "is_rolled_out")


@pytest.mark.parametrize(
    "place",
    ["docs/migrating.md", "docs/controllers.md", "examples/deployment.py",
     "examples/blocking_deployment.py"],
)  # fmt: skip
def test_a_rollout_is_over_when_all_pods_are_new_and_available(place: str) -> None:
    is_rolled_out = rolled_out_by(place)
    done = {"replicas": 2, "updatedReplicas": 2, "availableReplicas": 2}

    def over(wanted: int, status: Mapping[str, int], generation: int = 2) -> bool:
        rollout = {
            "metadata": {"name": "web", "generation": generation},
            "spec": {"replicas": wanted},
            "status": {"observedGeneration": 2, **status},
        }
        return is_rolled_out(Deployment.from_dict(rollout))

    assert over(2, done)
    assert over(0, {})  # counts of zero are not sent
    assert not over(2, done, generation=3)  # of an older spec
    assert not over(2, {**done, "replicas": 3, "updatedReplicas": 1})  # the new one cannot start
    assert not over(2, {**done, "replicas": 3})  # an old one is left
    assert not over(2, {**done, "availableReplicas": 1})


@pytest.mark.timeout(120)
def test_the_script_for_a_new_image_does_not_call_an_image_that_cannot_be_pulled_a_success(
    tmp_path: Path,
) -> None:
    def broken(seen: SeenRequest) -> SeenRequest | None:
        """Every image that is set from now on is none that can be pulled."""
        if (seen.verb, seen.resource) != ("patch", "deployments") or b"nginx:1.29" not in seen.body:
            return None
        change = seen.json()
        metadata = change["spec"]["template"].setdefault("metadata", {})
        metadata["annotations"] = {"kubeloop.testing/outcome": "no-image"}
        return msgspec.structs.replace(seen, body=msgspec.json.encode(change))

    (shop,) = blocks_of(SHOP, "yaml")
    (tmp_path / shop.title).write_text(shop.text, encoding="utf-8")
    with (
        running_in_thread(APIServer(manifests=[tmp_path / shop.title])) as server,
        running_in_thread(Workloads(server.config, delay=0.01)),
        Client(server.config) as client,
    ):
        deployments = client.apps_v1.deployments("shop")
        deployments.wait_for("web", jsonpath="{.status.availableReplicas}=2")
        server.faults.reactors.append(broken)
        (tmp_path / "kubeconfig").write_text(server.kubeconfig(), encoding="utf-8")

        # Two minutes are long for a test; that the time is up is seen after one second too.
        Reader(tmp_path, replacements={"=120": "=1"}).write_files("docs/migrating.md")
        ended = run_python("new_image.py", folder=tmp_path)

        deployments.wait_for("web", condition="Available")  # all the while: the old pods serve
    assert ended.returncode != 0
    assert "runs the new image" not in ended.stdout
    assert "WaitTimeout" in ended.stderr


@pytest.mark.timeout(120)
def test_the_tests_of_the_controllers_page_leave_the_readers_cluster_alone(tmp_path: Path) -> None:
    Reader(tmp_path).write_files("docs/controllers.md")
    with running_in_thread(APIServer()) as cluster:
        (tmp_path / "kubeconfig").write_text(cluster.kubeconfig(), encoding="utf-8")

        ended = run_python("-m", "pytest", folder=tmp_path)

        assert cluster.requests == []
    assert ended.returncode == 0, ended.stdout


def run_python(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run something in a folder whose kubeconfig is the one of its owner."""
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env={**os.environ, "KUBECONFIG": str(folder / "kubeconfig")},
        text=True,
        capture_output=True,
        check=False,
    )
