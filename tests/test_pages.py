"""The code of the pages runs as a reader runs it, each page on a new server if it needs one."""

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
from reference_pages import PAGES as REFERENCE

from kubeloop.blocking import Client
from kubeloop.wire.apps.v1 import Deployment
from kubeloop_testing import APIServer, SeenRequest, Workloads, running_in_thread
from tests.support.page_reader import (
    ROOT,
    SHOP,
    Reader,
    Terminal,
    blocks_of,
    installed_by,
    links_to_the_shop,
)
from tests.test_tutorial import PAGES as TUTORIAL

PAGES = (
    "README.md",
    "docs/how-to/blocking.md",
    "docs/explanation/cache.md",
    "docs/how-to/clients.md",
    "docs/how-to/connections.md",
    "docs/how-to/controllers.md",
    "docs/how-to/credentials.md",
    "docs/how-to/events.md",
    "docs/how-to/everyday.md",
    "docs/how-to/from-client-go.md",
    "docs/how-to/how-do-i.md",
    "docs/index.md",
    "docs/how-to/inspector.md",
    "docs/how-to/large-clusters.md",
    "docs/how-to/leader-election.md",
    "docs/how-to/metrics.md",
    "docs/how-to/migrating.md",
    "docs/how-to/models.md",
    "docs/how-to/streams.md",
    "docs/how-to/testing.md",
    "docs/how-to/webhooks.md",
    "docs/how-to/workqueues.md",
    "docs/reference/simulation.md",
    "packages/kubeloop/README.md",
    "packages/kubeloop-testing/README.md",
)
# Pages that other tests run.
ELSEWHERE = {
    **dict.fromkeys(TUTORIAL, "tests/test_tutorial.py"),
    "docs/how-to/cli.md": "packages/kubeloop-cli/tests/cli/test_cli_page.py",
}


@pytest.mark.timeout(300)  # interpreters start, one after the other
@pytest.mark.parametrize("page", PAGES)
def test_the_code_of_a_page_runs_as_its_reader_runs_it(page: str, tmp_path: Path) -> None:
    with Reader(tmp_path, installed=installed_by(page)) as reader:
        if links_to_the_shop(page):
            reader.open_shop()

        reader.follow(page)


def test_every_job_of_the_page_how_do_i_takes_at_most_five_lines() -> None:
    blocks = [
        [line for line in block.text.splitlines() if line and "import " not in line]
        for block in blocks_of("docs/how-to/how-do-i.md", "python")
        if block.title
    ]

    assert len(blocks) > 40
    assert [lines for lines in blocks if len(lines) > 5] == []


NEW_IS_LAST = """\
├─ ReplicaSet/web-5c in shop
└─ ReplicaSet/web-7f in shop
   ├─ Pod/web-7f-1 in shop
   └─ Pod/web-7f-2 in shop
"""
NEW_IS_FIRST = """\
├─ ReplicaSet/web-5c in shop
│  ├─ Pod/web-5c-1 in shop
│  └─ Pod/web-5c-2 in shop
└─ ReplicaSet/web-7f in shop
"""


@pytest.mark.parametrize("branches", [NEW_IS_LAST, NEW_IS_FIRST])
def test_the_tree_on_the_page_how_do_i_has_the_replica_sets_in_any_order(
    branches: str, tmp_path: Path
) -> None:
    """A restart puts its time into the template, so the name of the new one is random."""
    (page,) = [
        block.text
        for block in blocks_of("docs/how-to/how-do-i.md", "console")
        if "kubeloop tree deploy/web" in block.text
    ]
    shown = page.partition("\n")[2].partition("$ ")[0]
    (tmp_path / "tree").write_text(f"Deployment/web in shop\n{branches}", encoding="utf-8")
    terminal = Terminal(tmp_path, os.environ)

    terminal.play(f"$ cat tree\n{shown}")
    terminal.finish()


def test_tests_run_every_page_with_code() -> None:
    found = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").glob("*.md")]
    found += ROOT.glob("packages/*/README.md")
    pages = [str(path.relative_to(ROOT)) for path in sorted(found)]

    # The code of generated pages is signatures.
    run = {*PAGES, *ELSEWHERE, SHOP, *(f"docs/reference/{page}.md" for page in REFERENCE)}

    code = ("python", "console")
    assert [page for page in pages if blocks_of(page, *code) and page not in run] == []


@pytest.mark.parametrize("page", ELSEWHERE)
def test_the_test_that_runs_a_page_names_it(page: str) -> None:
    assert Path(page).name in (ROOT / ELSEWHERE[page]).read_text(encoding="utf-8")


def function_in(source: str, name: str) -> Callable[[Deployment], bool]:
    """A function of a program, without running the program."""
    found = [each for each in ast.parse(source).body if getattr(each, "name", "") == name]
    names: dict[str, Any] = {"Deployment": Deployment}
    exec(compile(ast.Module(found, []), name, "exec"), names)
    return cast("Callable[[Deployment], bool]", names[name])


def rolled_out_by(path: str) -> Callable[[Deployment], bool]:
    if path.endswith(".py"):
        return function_in((ROOT / path).read_text(encoding="utf-8"), "is_rolled_out")
    blocks = [
        block.text for block in blocks_of(path, "python") if "def is_rolled_out" in block.text
    ]
    return function_in("".join(blocks), "is_rolled_out")


@pytest.mark.parametrize(
    "path",
    ["docs/how-to/controllers.md", "examples/deployment.py", "examples/blocking_deployment.py"],
)
def test_a_rollout_is_complete_when_all_pods_are_new_and_available(path: str) -> None:
    is_rolled_out = rolled_out_by(path)
    done = {"replicas": 2, "updatedReplicas": 2, "availableReplicas": 2}

    def complete(desired: int, status: Mapping[str, int], generation: int = 2) -> bool:
        rollout = {
            "metadata": {"name": "web", "generation": generation},
            "spec": {"replicas": desired},
            "status": {"observedGeneration": 2, **status},
        }
        return is_rolled_out(Deployment.from_dict(rollout))

    assert complete(2, done)
    assert complete(0, {})  # counts of zero are not sent
    assert not complete(2, done, generation=3)  # of an older spec
    assert not complete(2, {**done, "replicas": 3, "updatedReplicas": 1})  # a new pod cannot start
    assert not complete(2, {**done, "replicas": 3})  # an old pod is left
    assert not complete(2, {**done, "availableReplicas": 1})


@pytest.mark.timeout(120)
def test_the_script_for_a_new_image_fails_if_the_image_cannot_be_pulled(
    tmp_path: Path,
) -> None:
    def broken(seen: SeenRequest) -> SeenRequest | None:
        """Make every new image one that cannot be pulled."""
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

        # One second instead of two minutes shows the timeout, too.
        Reader(tmp_path, replacements={"=120": "=1"}).write_files("docs/how-to/migrating.md")
        ended = run_python("new_image.py", folder=tmp_path)

        deployments.wait_for("web", condition="Available")  # the old pods still run
    assert ended.returncode != 0
    assert "runs the new image" not in ended.stdout
    assert "WaitTimeout" in ended.stderr
    assert "ImagePullBackOff" in ended.stderr


@pytest.mark.timeout(120)
def test_the_tests_of_the_controllers_page_do_not_use_the_readers_cluster(tmp_path: Path) -> None:
    Reader(tmp_path).write_files("docs/how-to/controllers.md")
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
